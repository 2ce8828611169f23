"""The warm Python that runs the skills' checks in tests: a script ends in it as in a Python of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures import warm_python

SHOW = "import os, sys; print(sys.argv, os.getcwd(), os.environ['MARK'], sys.path[0], __name__, __file__); "
SCRIPTS = {
    "ends by itself": SHOW,
    "ends with a code": SHOW + "sys.exit(3)",
    "ends with a text": SHOW + "sys.exit('so it ends')",
    "ends with nothing said": SHOW + "sys.exit()",
    "finds its neighbour": SHOW + "import neighbour; print(neighbour.NAME)",
    "has a mistake": SHOW + "1 +",
    "cleans up at its end": SHOW + "import atexit; atexit.register(print, 'cleaned up')",
}


@pytest.mark.parametrize("source", SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_prints_and_ends_as_in_a_python_of_its_own(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARK", "of this test")
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / "neighbour.py").write_text("NAME = 'beside it'\n")
    script = scripts / "script.py"
    script.write_text(source)
    warm = warm_python.run(script, "one", "two words", cwd=tmp_path)
    own = subprocess.run(
        [sys.executable, str(script), "one", "two words"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (warm.returncode, warm.stdout, warm.stderr) == (own.returncode, own.stdout, own.stderr)
    assert (str(tmp_path) in warm.stdout) is not source.endswith("1 +")


def test_a_script_that_is_not_there_ends_as_in_a_python_of_its_own(tmp_path: Path) -> None:
    done = warm_python.run(tmp_path / "script.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "No such file or directory" in done.stderr


@pytest.mark.parametrize("word", ["a\0b", "a" * 200_000], ids=["nul", "long"])
def test_what_the_system_refuses_is_refused(word: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("print('it ran')")
    with pytest.raises((ValueError, OSError)):
        warm_python.run(script, word)


def test_an_error_of_a_script_is_its_traceback_and_the_next_script_runs(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import json\njson.loads = None\n1 / 0\n")
    failed = warm_python.run(script)
    assert (failed.returncode, failed.stderr.splitlines()[-1]) == (1, "ZeroDivisionError: division by zero")
    script.write_text("import json\nprint(json.loads('[1]'))\n")
    assert warm_python.run(script).stdout == "[1]\n"


def test_a_script_that_does_not_end_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import time\ntime.sleep(60)\n")
    with open(os.devnull, "wb") as nothing:
        argv = [sys.executable, str(script)]
        process = warm_python.start(argv, cwd=tmp_path, env=os.environ, stdout=nothing, stderr=nothing)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)
        os.killpg(process.pid, 9)
        assert process.wait(60) == -9


def test_a_script_keeps_its_bytecode_where_it_is_told_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys, neighbour; print(sys.pycache_prefix)")
    (tmp_path / "neighbour.py").write_text("")
    assert warm_python.run(script, cwd=tmp_path).stdout == "None\n"
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "kept"))
    assert warm_python.run(script, cwd=tmp_path).stdout == f"{tmp_path / 'kept'}\n"

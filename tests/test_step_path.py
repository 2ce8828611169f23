"""What a step imports: the standard library's cheap half and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures.skill import import_from_lockstep, install

SKILLS = Path(__file__).resolve().parent.parent / "skills"
LIBRARIES = {"lxml", "networkx", "click", "rich", "yaml", "jsonschema", "hypothesis", "pytest"}
# Each costs a millisecond or more at start-up (measured; docs/architecture.md has the figures).
COSTLY = {
    *("enum", "dataclasses", "typing", "re", "json", "argparse", "pathlib", "inspect", "shlex", "subprocess"),
    *("hashlib", "collections", "functools", "sqlite3", "datetime", "logging", "importlib.util", "contextlib"),
    *("traceback", "tempfile", "textwrap", "difflib", "string", "random", "threading"),
}


def loaded(script: Path, project: Path, *arguments: str) -> tuple[set[str], str, int]:
    """The modules that one call of a script imports, in an interpreter without site packages."""
    code = f"""
import atexit, os, sys
sys.argv = [{str(script)!r}, *{list(arguments)!r}]
left = os._exit
def leave(code):
    sys.stderr.write(" ".join(sys.modules))
    sys.stderr.flush()
    left(code)
os._exit = leave
__file__ = {str(script)!r}
exec(compile(open(__file__).read(), __file__, "exec"))
"""
    command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", code]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60, env=dict(os.environ))
    return set(done.stderr.split()), done.stdout, done.returncode


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    """The tour, once validated, so that it is known."""
    script = install(tmp_path, "tour")
    done = subprocess.run(
        [sys.executable, str(script), "--step", "1", "--stateless"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return script


CALLS = {
    "open": (["--step", "1", "--topic", "why it is slow"], 0),
    "stateless": (["--step", "plan", "--stateless"], 0),
    "refused": (["--step", "1", "--topic", "x"], 3),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_step_of_a_sealed_graph_imports_none_of_the_libraries(sealed: Path, tmp_path: Path, call: str) -> None:
    arguments, code = CALLS[call]
    modules, printed, ended = loaded(sealed, tmp_path, *arguments, "--project", str(tmp_path))
    assert ended == code, printed
    assert {module.partition(".")[0] for module in modules} & LIBRARIES == set()
    assert "skills.lib.blocks.xml" in modules
    assert "skills.lib.blocks.formatters" not in modules


@pytest.mark.parametrize("call", CALLS)
def test_a_step_imports_nothing_costly(sealed: Path, tmp_path: Path, call: str) -> None:
    arguments, _ = CALLS[call]
    modules, _, _ = loaded(sealed, tmp_path, *arguments, "--project", str(tmp_path))
    assert modules & COSTLY == set()
    assert ("skills.lib.ledger.ledger" in modules) == (call != "stateless")


def test_a_transition_imports_nothing_costly(sealed: Path, tmp_path: Path) -> None:
    project = ["--project", str(tmp_path)]
    _, printed, _ = loaded(sealed, tmp_path, "--step", "1", "--topic", "why it is slow", *project)
    run = printed.partition(' run="')[2].partition('"')[0]
    move = ["--step", "plan", "--run", run, "--turn", "1", "--record", "summary=s", *project]
    for step in ("plan", "plan"):
        modules, printed, code = loaded(sealed, tmp_path, *move)
        assert (code, f'id="{step}"' in printed) == (0, True)
        assert modules & COSTLY == set()
        assert {module.partition(".")[0] for module in modules} & LIBRARIES == set()


def test_a_step_of_a_graph_that_imports_from_lockstep_imports_two_modules_more(sealed: Path, tmp_path: Path) -> None:
    call = ("--step", "1", "--stateless", "--topic", "why it is slow", "--project", str(tmp_path))
    before, printed, _ = loaded(sealed, tmp_path, *call)
    import_from_lockstep(sealed)
    after, same, _ = loaded(sealed, tmp_path, *call)
    assert same == printed
    assert after - before == {"lockstep", "lockstep.library"}


@pytest.mark.parametrize("script", sorted(SKILLS.glob("*/scripts/*_workflow.[pj]*")), ids=lambda path: path.stem)
def test_the_skills_import_nothing_costly(script: Path, tmp_path: Path) -> None:
    entry = script.with_name(script.stem.replace("_workflow", "") + ".py")
    subprocess.run(
        [sys.executable, str(entry), "--step", "1", "--stateless"], capture_output=True, timeout=60, check=True
    )
    modules, printed, code = loaded(entry, tmp_path, "--step", "1", "--stateless", "--project", str(tmp_path))
    assert (code, printed.startswith("<step ")) == (0, True)
    assert modules & COSTLY == set()
    assert {module.partition(".")[0] for module in modules} & LIBRARIES == set()

"""Bytecode beside the modules of a project's skill, which may have come with a clone, never runs in their place."""

from __future__ import annotations

import py_compile
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from tests.fixtures.skill import install, source_of

STEPS = 'StepDef("one", "One", "Do.", {Outcome.OK: None}, requires=[Command(["check_it.py"], 20)])'
IMPORTS = "import helper\nfrom inner import more\n\n"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The entry script of a skill whose graph and check import modules beside them."""
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"):  # with either, Python passes over what is beside
        monkeypatch.delenv(name, raising=False)
    script = install(tmp_path / "project", "planted", IMPORTS + source_of("planted", STEPS))
    folder = script.parent
    (folder / "inner").mkdir()
    for name in ("check_it.py", "helper.py", "inner/__init__.py", "inner/more.py"):
        (folder / name).write_text(IMPORTS if name == "check_it.py" else "", encoding="utf-8")
    return script


def plant(module: Path, ran: Path) -> None:
    evil = module.with_name("evil.py")
    evil.write_text(f"open({str(ran)!r}, 'w').close()\n", encoding="utf-8")
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(evil), cache_from_source(str(module)), invalidation_mode=unchecked)
    evil.unlink()


@pytest.mark.parametrize("module", ["planted_workflow.py", "helper.py", "inner/__init__.py", "inner/more.py"])
@pytest.mark.parametrize("linked", [False, True], ids=["", "behind a link"])
def test_planted_bytecode_of_a_skills_modules_does_not_run(
    script: Path, tmp_path: Path, module: str, linked: bool
) -> None:
    plant(script.parent / module, tmp_path / "ran")
    if linked:
        (tmp_path / "link").symlink_to(script.parent)
        script = tmp_path / "link" / script.name
    project = tmp_path / "project"
    words = ["--project", str(project), "--step"]
    opened = subprocess.run([sys.executable, script, *words, "1"], capture_output=True, text=True, timeout=60)
    assert (opened.returncode, opened.stderr) == (0, "")
    run = opened.stdout.partition(' run="')[2].partition('"')[0]
    words += ["done", "--run", run, "--turn", "1"]
    ended = subprocess.run([sys.executable, script, *words], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, "<done" in ended.stdout) == (0, True)
    assert not (tmp_path / "ran").exists()

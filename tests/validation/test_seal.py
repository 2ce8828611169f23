"""Seals: left by a validation, good for one graph and one set of rules, and never half written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from skills.lib.errors import InvalidWorkflow, UnsealedWorkflow
from skills.lib.validation import identity, registration
from skills.lib.validation import validator as validation
from skills.lib.validation.rule import GRAPH
from skills.lib.validation.rules import rules_of
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.types import Outcome

ROOT = Path(__file__).parents[2]


def _workflow(title: str = "Boil water") -> Workflow:
    return Workflow("tea", StepDef("boil", title, next={Outcome.OK: None}))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the workflows that are validated."""
    names: list[str] = []
    real = validation.require_valid

    def counted(workflow: Workflow, file: str) -> None:
        names.append(workflow.name)
        real(workflow, file)

    monkeypatch.setattr(validation, "require_valid", counted)
    return names


def test_the_digest_of_the_rules_is_current() -> None:
    current = identity.rules_digest()
    assert current == registration.RULES, (
        f'a graph rule changed: write RULES = "{current}" in skills/lib/validation/registration.py'
    )


def test_the_digest_covers_what_the_graph_rules_are_built_on() -> None:
    """All that a module of graph rules imports of this room, but what gives line numbers or serves other rules."""
    room = Path(str(identity.__file__)).parent
    reached = {rule.check.__module__ for rule in rules_of(GRAPH)}
    waiting = list(reached)
    while waiting:
        source = room.parents[2].joinpath(*waiting.pop().split(".")).with_suffix(".py").read_text()
        found = set(re.findall(r"^from (skills\.lib\.validation\.[\w.]+) import", source, re.MULTILINE))
        found |= {
            f"skills.lib.validation.{name}"
            for names in re.findall(r"^from skills\.lib\.validation import (.+)$", source, re.MULTILINE)
            for name in names.split(", ")
        }
        waiting += found - reached
        reached |= found
    built_on = {name.rpartition(".")[2] for name in reached if ".rules." not in name}
    others = {"locations", "handlers", "function_source", "prompt_texts"}
    assert built_on - others == set(identity.FOUNDATION) - {"validator"}


@pytest.mark.req("W-02")
def test_a_valid_workflow_is_validated_once(calls: list[str], tmp_path: Path) -> None:
    file = str(tmp_path / "tea_workflow.py")
    registration.require(_workflow(), file)
    registration.require(_workflow(), file)
    assert calls == ["tea"]


def test_a_changed_workflow_is_validated_again(calls: list[str], tmp_path: Path) -> None:
    file = str(tmp_path / "tea_workflow.py")
    registration.require(_workflow(), file)
    registration.require(_workflow("Boil more water"), file)
    assert calls == ["tea", "tea"]


def test_other_rules_make_a_seal_worthless(calls: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(tmp_path / "tea_workflow.py")
    registration.write(registration.beside(_workflow(), file), registration.text(_workflow()))
    registration.require(_workflow(), file)
    assert calls == []
    monkeypatch.setattr(registration, "RULES", "other")
    registration.require(_workflow(), file)
    assert calls == ["tea"]


def test_a_seal_beside_the_workflow_is_taken(calls: list[str], tmp_path: Path) -> None:
    file = str(tmp_path / "tea_workflow.py")
    assert registration.beside(_workflow(), file) == str(tmp_path / "tea.seal")
    assert registration.write(registration.beside(_workflow(), file), registration.text(_workflow()))
    registration.require(_workflow(), file)
    assert calls == []


@pytest.mark.parametrize("content", ["", "\0" * 50, "something else\n", "é", "x" * 100_000])
def test_a_seal_that_says_something_else_is_none(content: str, calls: list[str], tmp_path: Path) -> None:
    (tmp_path / "tea.seal").write_text(content)
    registration.require(_workflow(), str(tmp_path / "tea_workflow.py"))
    assert calls == ["tea"]


def test_an_invalid_workflow_is_never_sealed(calls: list[str], tmp_path: Path) -> None:
    broken = Workflow("tea", StepDef("boil", "Boil water"))
    for _ in range(2):
        with pytest.raises(InvalidWorkflow):
            registration.require(broken, str(tmp_path / "tea_workflow.py"))
    assert calls == ["tea", "tea"]
    assert not list(tmp_path.rglob("*seal*/*"))


def test_a_cache_that_cannot_be_written_leaves_the_seal_with_the_project(
    calls: list[str], cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.write_text("a file where the folder should be")
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("LOCKSTEP_HOME", str(home))
    registration.require(_workflow(), str(tmp_path / "tea_workflow.py"))
    registration.require(_workflow(), str(tmp_path / "tea_workflow.py"))
    assert calls == ["tea"]
    assert [path.name for path in (home / "seals").iterdir()] == [f"{_workflow().fingerprint}-{registration.RULES}"]


def test_a_project_without_runs_gets_no_folder(
    calls: list[str], cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.write_text("a file where the folder should be")
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "none"))
    registration.require(_workflow(), str(tmp_path / "tea_workflow.py"))
    assert calls == ["tea"]
    assert not (tmp_path / "none").exists()


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tea.seal"
    path.write_text("old")

    def fail(source: str, target: str) -> None:
        raise OSError(28, "no space")

    monkeypatch.setattr(os, "replace", fail)
    assert registration.write(str(path), "new") is False
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["tea.seal"]


def test_writers_at_once_leave_one_whole_seal(tmp_path: Path) -> None:
    path = tmp_path / "seals" / "tea.seal"
    write = "[registration.write(sys.argv[1], 'x' * 60000) for _ in range(40)]"
    code = f"import sys; from skills.lib.validation import registration; {write}"
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=ROOT) for _ in range(4)]
    seen: set[str] = set()

    def read() -> None:
        while any(writer.poll() is None for writer in writers):
            if path.exists():
                seen.add(path.read_text())

    reader = threading.Thread(target=read)
    reader.start()
    assert [writer.wait(60) for writer in writers] == [0, 0, 0, 0]
    reader.join()
    assert seen | {path.read_text()} == {"x" * 60_000}
    assert [entry.name for entry in path.parent.iterdir()] == ["tea.seal"]


def test_without_the_graph_library_an_unsealed_workflow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("skills.lib.validation.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "networkx", None)
    monkeypatch.delattr("skills.lib.validation.validator", raising=False)
    with pytest.raises(UnsealedWorkflow) as raised:
        registration.require(_workflow(), str(tmp_path / "tea_workflow.py"))
    assert raised.value.exit_code == 4
    assert "networkx is not installed" in raised.value.what
    assert raised.value.remedy.startswith("pip install /path/to/lockstep")


def test_a_sealed_workflow_is_registered_without_the_graph_library(tmp_path: Path) -> None:
    file = tmp_path / "tea_workflow.py"
    file.write_text(
        "import sys\n"
        "from skills.lib.workflow.core import Outcome, StepDef, Workflow, register_workflow\n"
        'register_workflow(Workflow("tea", StepDef("boil", "Boil water", next={Outcome.OK: None})))\n'
        "print(sorted({'networkx', 'lxml', 'click', 'rich', 'yaml'} & set(sys.modules)))\n"
    )
    run = [sys.executable, str(file)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    registration.write(str(tmp_path / "tea.seal"), registration.text(_workflow()))
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

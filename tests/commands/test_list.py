from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.commands.conftest import Command, Walker
from tests.fixtures import skill

Install = Callable[..., Path]
BAD = "StepDef('one', 'One', 'Do.', {'ok': 'tow'}), StepDef('two', 'Two', 'Do.', {'ok': None})"


@pytest.mark.req("W-17")
def test_a_tree_is_listed_with_its_open_runs_and_its_broken_skills(
    cli: Command, installed: Install, walker: Callable[[Path], Walker], snapshot: SnapshotAssertion
) -> None:
    for name in ("gated", "brood"):
        installed(name)
    walk = walker(installed("plain"))
    walk.start()
    walk.start()
    installed("bad", skill.source_of("bad", BAD))
    installed("noisy", "print('loading')\nraise RuntimeError('not today')\n")
    (installed("tour").parents[1] / "SKILL.md").write_text("no frontmatter\n", encoding="utf-8")
    shown = cli("list", "skills")
    assert shown.code == 0
    assert shown.out == snapshot


def test_the_shipped_skills_are_listed_without_a_path(cli: Command) -> None:
    assert "problem-analysis" in cli("list").out


def test_gates_are_reviews_and_not_questions(cli: Command, installed: Install) -> None:
    for name in ("gated", "tour"):
        installed(name)
    found = {skill["name"]: skill["workflows"][0]["gates"] for skill in json.loads(cli("list", "skills", "--json").out)}
    assert found == {"gated": 1, "tour": 0}


def test_skills_are_listed_if_the_ledger_is_damaged(
    cli: Command, installed: Install, walker: Callable[[Path], Walker]
) -> None:
    walk = walker(installed("plain"))
    walk.start()
    walk.runner.ledger.close()
    file = Path(os.environ["LOCKSTEP_HOME"]) / "runs.db"
    file.write_bytes(file.read_bytes()[:5_000])
    shown = cli("list", "skills")
    assert shown.code == 0
    assert [line.split() for line in shown.out.splitlines()] == [
        ["SKILL", "WORKFLOW", "STEPS", "GATES", "PATH"],
        ["plain", "plain", "2", "skills/plain"],
    ]
    assert shown.err.startswith("Open runs are not shown: ")
    assert str(file) in shown.err
    (found,) = json.loads(cli("list", "skills", "--json").out)
    assert found["workflows"][0]["open_runs"] is None


def test_a_folder_that_is_no_project_is_not_searched_through(cli: Command, installed: Install, project: Path) -> None:
    for name in ("plain", "part"):
        installed(name)
    (project / ".git").rmdir()
    (project / "skills" / "part").rename(project / "part")
    names = [skill["name"] for skill in json.loads(cli("list", "--json").out)]
    assert "plain" in names
    assert "part" not in names


def test_json_stays_json_while_modules_print(cli: Command, installed: Install) -> None:
    installed("noisy", skill.source_of("noisy", "StepDef('one', 'One', 'Do.', {'ok': None})") + "print('loading')\n")
    shown = cli("list", "skills", "--json")
    (found,) = json.loads(shown.out)
    assert "loading" in shown.err
    assert found["name"] == "noisy"
    assert found["workflows"][0]["steps"] == 1
    assert found["workflows"][0]["open_runs"] == 0


def test_a_module_that_exits_is_a_broken_skill(cli: Command, installed: Install) -> None:
    installed("quits", "raise SystemExit(0)\n")
    shown = cli("list", "skills")
    assert shown.code == 0
    assert "exits while it is imported" in shown.out


def test_a_tree_without_skills_says_so(cli: Command, project: Path) -> None:
    shown = cli("list", ".")
    assert (shown.code, shown.out) == (0, "")
    assert "No skill is found under ." in shown.err


def test_a_path_that_does_not_exist_is_a_usage_error(cli: Command) -> None:
    shown = cli("list", "nowhere")
    assert shown.code == 2
    assert "nowhere is not a folder" in shown.err


@pytest.mark.req("W-17")
@pytest.mark.parametrize("name", ["tour", "brood"])
def test_show_tells_all_there_is_to_say(
    name: str, cli: Command, installed: Install, stable: Callable[[str], str], snapshot: SnapshotAssertion
) -> None:
    installed(name)
    shown = cli("show", name)
    assert (shown.code, shown.err) == (0, "")
    assert stable(shown.out) == snapshot


@pytest.mark.req("W-17")
def test_show_as_json_is_what_from_data_reads(cli: Command, installed: Install) -> None:
    from skills.lib.workflow.core import Workflow

    installed("gated")
    (found,) = json.loads(cli("show", "gated", "--json", "--paths").out)["workflows"]
    again = Workflow.from_data(found["workflow"])
    assert again.fingerprint == found["fingerprint"]
    assert [step.id for step in again.steps] == ["write", "design-review", "design-gate", "close"]
    assert ["-ok-> design-review", "-ok-> design-gate", "-fail-> write"] in [path[:3] for path in found["paths"]]


def test_show_names_the_conversation_and_model_that_a_step_asks_for(cli: Command, installed: Install) -> None:
    steps = """
        StepDef("look", "Look", "Look.", {Outcome.OK: "send"}, fresh=True, model="small"),
        StepDef("send", "Send", "Send.", {Outcome.OK: None}, Dispatch("explore", requires=[Field("cause")])),
    """
    installed("asks", skill.source_of("asks", steps))
    shown = cli("show", "asks").out
    assert "step (a fresh conversation, model small)" in shown
    assert "a task of its own, reporting cause" in shown
    (found,) = json.loads(cli("show", "asks", "--json").out)["workflows"]
    assert [found["workflow"]["steps"][0][name] for name in ("fresh", "model")] == [True, "small"]


@pytest.mark.req("W-17")
def test_paths_take_every_transition(cli: Command, installed: Install, snapshot: SnapshotAssertion) -> None:
    installed("tour")
    shown = cli("show", "tour", "--paths").out.partition("\n\n")[2]
    assert "-skip-> choose" in shown
    assert shown[shown.index("walks take") - 3 :] == snapshot


def test_an_unknown_skill_offers_the_nearest(cli: Command, installed: Install) -> None:
    installed("gated")
    shown = cli("show", "gatd")
    assert shown.code == 2
    assert "there is no skill 'gatd'; did you mean gated?" in shown.err


def test_a_skill_is_found_by_path_and_a_workflow_by_its_name(cli: Command, installed: Install) -> None:
    installed("brood")
    assert "Workflow brood" in cli("show", "./skills/brood").out
    assert "Workflow part" in cli("show", "part").out
    assert "Workflow part" in cli("show", "skills/brood/scripts/part.py").out


def test_a_folder_that_is_no_skill_is_named(cli: Command, project: Path) -> None:
    (project / "empty").mkdir()
    shown = cli("show", "./empty")
    assert shown.code == 2
    assert "./empty is not a skill" in shown.err


def test_showing_a_broken_skill_is_5_and_says_what_is_wrong(cli: Command, installed: Install) -> None:
    installed("bad", skill.source_of("bad", BAD))
    shown = cli("show", "bad")
    assert shown.code == 5
    assert "there is no step 'tow'" in shown.err


@pytest.mark.req("E-05")
def test_a_workflow_is_shown_as_the_yaml_that_it_could_be_written_in(
    cli: Command, installed: Install, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    from skills.lib.graphfile.compiling import compile_file

    installed("gated")
    shown = cli("show", "gated", "--yaml")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out == snapshot
    (tmp_path / "workflow.yaml").write_text(shown.out, encoding="utf-8")
    (found,) = json.loads(cli("show", "gated", "--json").out)["workflows"]
    assert compile_file(str(tmp_path / "workflow.yaml")).workflow.fingerprint == found["fingerprint"]


def test_several_workflows_are_several_documents(cli: Command, installed: Install) -> None:
    installed("brood")
    documents = cli("show", "brood", "--yaml").out.split("---\n")
    assert [document.splitlines()[:2] for document in documents] == [
        ["# brood.py", "name: brood"],
        ["# part.py", "name: part"],
    ]


def test_what_yaml_does_not_hold_is_told_beside_it(cli: Command, installed: Install) -> None:
    installed("ends", skill.source_of("ends", r"StepDef('a', 'A', 'Do it.\n', {'ok': None})"))
    shown = cli("show", "ends", "--yaml")
    assert shown.code == 0
    assert shown.err == "note: ends: a actions: not as it is, because workflow.yaml has no form for it\n"


def test_two_forms_at_once_are_refused(cli: Command, installed: Install) -> None:
    installed("gated")
    shown = cli("show", "gated", "--yaml", "--json")
    assert (shown.code, shown.out) == (2, "")
    assert "--yaml and --json are two forms" in shown.err


@pytest.mark.req("E-05")
def test_the_schema_of_workflow_yaml_is_printed_without_a_skill(cli: Command) -> None:
    shown = cli("show", "--schema")
    assert (shown.code, json.loads(shown.out)["title"]) == (0, "workflow.yaml of a skill")

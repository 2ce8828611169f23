"""Shipped skills with handlers, written with rules: the same data but for the handlers, the same ends and records."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from skills.lib.blocks import document
from skills.lib.blocks.command_line import CommandLine
from skills.lib.commands.console.app import lockstep
from skills.lib.engine.handlers import judge
from skills.lib.graphfile import compiled_json
from skills.lib.graphfile.compiling import GraphFile
from skills.lib.model.requirements import Arg, Field
from skills.lib.model.run import Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import Dispatch
from skills.lib.runtime import loading
from skills.lib.testing.transitions import check_walk
from skills.lib.testing.walks import every_walk
from tests.graphfile import rule_written
from tests.graphfile.as_yaml import as_yaml
from tests.skills.samples import samples_of

SKILLS = Path(__file__).parents[2] / "skills"
CONTEXTS = 10_000
SURE = 'confidence in ["high", "certain"]'
WRITTEN: dict[str, dict[str, dict[str, Any]]] = {
    "problem-analysis/scripts/problem_analysis": {
        "gate": {"outcomes": {"ok": 'verdict == "testable"', "iterate": 'verdict == "ask"', "fail": "else"}},
        "investigate": {
            "outcomes": {"ok": SURE, "iterate": "else"},
            "keep": {
                "log": {"append": "{evidence}", "where": 'not starts(it, "H")'},
                "added": {"append": "{evidence}", "where": 'starts(it, "H")'},
            },
        },
    },
    "incoherence/scripts/incoherence_explore": {
        "sweep": {"outcomes": {"ok": "gaps", "skip": "else"}},
        "gaps": {
            "outcomes": {"ok": "else"},
            "keep": {
                "findings": {"append": ["{sweep.findings}", "{more}"]},
                "unread": {"append": ["{sweep.unread}", "{left}"]},
            },
        },
    },
}
TEXTS = [
    "",
    "a",
    "H1: stands",
    "H5: it is. Refuted by: a look",
    "path | what",
    "x" * 1200,
    "ü {a} 'b' \"c\" \\ /",
    "H1",
]


def python(skill: str) -> Workflow:
    return loading.load_workflow(str(SKILLS / f"{skill}_workflow.py"))


@pytest.fixture(params=list(WRITTEN), ids=lambda skill: skill.rpartition("/")[2])
def both(request: pytest.FixtureRequest, compiled: Callable[..., GraphFile]) -> tuple[Workflow, Workflow]:
    """A workflow as it is in Python, and with rules."""
    original = python(request.param)
    return original, compiled(as_yaml(original, WRITTEN[request.param])).workflow


@pytest.mark.req("E-05")
def test_the_data_is_the_same_but_for_the_handlers(both: tuple[Workflow, Workflow]) -> None:
    original, written = (workflow.to_data() for workflow in both)
    for step, other in zip(original["steps"], written["steps"], strict=True):
        handler, rules = step.pop("handler", {}), other.pop("handler", {})
        declared = step.pop("outcomes", None)  # by a function; rules say so themselves
        assert declared is None or {rule[0] for rule in rules["rules"]} == set(declared)
        assert step == other
        assert list(step["next"]) == list(other["next"])
        if handler.get("$kind") == "Dispatch":
            then, made = handler.pop("then", None), rules.pop("then", None)
            assert (handler, bool(then)) == (rules, bool(made))
        else:
            assert ("$call" in handler) is (rules.get("$kind") == "Rules")
    assert original == written


@pytest.mark.req("E-05")
@pytest.mark.parametrize("count", [200, pytest.param(CONTEXTS, marks=pytest.mark.slow)])
def test_rules_end_a_step_and_record_as_the_handler_does(both: tuple[Workflow, Workflow], count: int) -> None:
    original, written = both
    chance = random.Random(7)
    tested = 0
    for step in original.steps:
        if step.function is None:
            continue
        outcomes: Counter[str] = Counter()
        for _ in range(count):
            params, state, visits = values(original, step, chance)
            run = Run(id="r", workflow=original.name, state=state, params={}, visits={step.id: visits}, step=step.id)
            own = state[step.id]
            found = judge(original, run, step, step.function, own, params)
            other = written.step(step.id)
            assert other.function is not None
            assert judge(written, run, other, other.function, own, params) == found
            outcomes[found[0]] += 1
        assert set(outcomes) == set(step.next), outcomes
        tested += 1
    assert tested == len([step for step in written.steps if step.function])


@pytest.mark.req("E-05")
def test_each_step_is_printed_the_same_from_the_json(both: tuple[Workflow, Workflow]) -> None:
    original, written = both
    line = CommandLine("python3", "/skills/x/scripts/x.py", "/project")

    def refuse(name: str) -> Any:
        raise AssertionError(f"{name} was looked up")

    text = compiled_json.to_json(written.to_data(), {})
    restored = Workflow.restored(json.loads(text)["workflow"], refuse)
    for step in original.steps:
        pages = [
            document.render(workflow, document.look_document(workflow, workflow.step(step.id), line))
            for workflow in (original, restored)
        ]
        assert pages[0] == pages[1]


def values(workflow: Workflow, step: StepDef, chance: random.Random) -> tuple[dict[str, Any], dict[str, Any], int]:
    """Parameters, the state of every step, and a number of visits, as a run may have them on leaving the step."""
    params = {arg.name: value(arg, chance) for arg in workflow.params if arg.step in (None, step.id)}
    state = {
        one.id: {spec.name: value(spec, chance) for spec in one.requires if isinstance(spec, Field)}
        for one in workflow.steps
    }
    own = state[step.id]
    if isinstance(step.handler, Dispatch):
        own["results"] = [result(chance) for _ in range(chance.randrange(5))]
    for name in ("log", "added"):
        if chance.random() < 0.5:
            own[name] = [chance.choice(TEXTS) for _ in range(chance.randrange(1, 4))]
    return params, state, chance.randrange(1, 6)


def value(spec: Arg | Field, chance: random.Random) -> Any:
    if spec.type == "list":
        return [chance.choice(TEXTS) for _ in range(max(int(spec.minimum or 0), chance.choice([0, 1, 1, 2, 5])))]
    if spec.choices:
        return chance.choice(list(spec.choices))
    return chance.choice(TEXTS) if spec.type == "text" else chance.randrange(9)


def result(chance: random.Random) -> dict[str, Any]:
    if chance.random() < 0.5:
        return {"child": "c", "target": chance.choice(TEXTS), "status": "lost", "reason": chance.choice(TEXTS)}
    return {"child": "c", "target": chance.choice(TEXTS), "status": "done", "values": {"result": chance.choice(TEXTS)}}


@pytest.mark.slow
@pytest.mark.req("E-05")
@pytest.mark.parametrize("skill", list(WRITTEN), ids=lambda skill: skill.rpartition("/")[2])
def test_every_transition_is_taken_with_rules_in_place_of_the_handlers(
    skill: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)
    script = written_with_rules(skill, tmp_path / "skills")
    values, files, prepare = samples_of(script)
    walks = every_walk(loading.workflow_of_script(str(script)))
    assert [str(walk) for walk in walks] == [str(walk) for walk in every_walk(python(skill))]
    for number, walk in enumerate(walks):
        project = tmp_path / f"project{number}"
        project.mkdir()
        if prepare:
            prepare(project)
        check_walk(script, walk, project, values=values, files=files)


@pytest.mark.slow
@pytest.mark.req("E-05")
def test_every_story_of_a_skill_holds_with_rules_in_place_of_the_handlers(tmp_path: Path) -> None:
    skills = tmp_path / "skills"
    for skill in WRITTEN:
        written_with_rules(skill, skills)
    stories = [f"tests/skills/test_{folder.name.replace('-', '_')}.py" for folder in skills.iterdir()]
    told = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", rule_written.__name__, *stories],
        cwd=SKILLS.parent,
        env={**os.environ, rule_written.COPIES: str(skills), "PYTHONPATH": str(SKILLS.parent)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert told.returncode == 0, told.stdout[-10_000:]


def written_with_rules(skill: str, skills: Path) -> Path:
    """The script of a copy of a skill, of which one graph is in YAML alone; it is compiled."""
    copy = skills / skill.partition("/")[0]
    shutil.copytree(SKILLS / copy.name, copy, ignore=shutil.ignore_patterns("__pycache__", "*.seal"))
    script = skills / f"{skill}.py"
    script.with_name(f"{script.stem}_workflow.py").unlink()
    text = as_yaml(python(skill), WRITTEN[skill])
    script.with_name(f"{script.stem}_workflow.yaml").write_text(text, encoding="utf-8")
    sealed = CliRunner().invoke(lockstep, ["validate", str(copy), "--seal"])
    assert (sealed.exit_code, script.with_name(f"{script.stem}_workflow.json").is_file()) == (0, True), sealed.output
    return script

"""An author's suite takes every way through a review: its made-up reports hold against what a review asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.runtime import loading
from skills.lib.testing.agent import Agent
from skills.lib.testing.transitions import SharedBeginnings, check_walk
from skills.lib.testing.walks import Walk, every_walk
from tests.fixtures.skill import install, source_of

LAST = 'StepDef("last", "Last", "Stop.", {Outcome.OK: None})'
FREE = 'Dispatch("quality-reviewer", task="Review it.", covers=[{covers}])'
SCRIPT = 'Dispatch("quality-reviewer", script="{part}.py", covers=[{covers}])'
PART = (
    'StepDef("split", "Split", "Split.", {Outcome.OK: "judge"}, requires=[Field("statements", "statements")]),'
    'StepDef("judge", "Judge", "Judge.", {Outcome.OK: None}, needs=["split.statements"],'
    ' requires=[Field("answers", "answers")COMMAND])'
)
# It fails once, and prints lines that look like findings.
RED = (
    ', Command(["sh", "-c", "test -e green || { touch green; printf \'no\\\\nb (MUST) of it\\\\n- c (MUST): d\'; '
    'exit 1; }"], 20, severity="MUST")'
)


def skill(folder: Path, name: str, reviewer: str, command: str = "") -> tuple[Path, list[Walk]]:
    """The entry script of a skill whose two reviews each pass and fail on some walk, and these walks."""
    unique = f"{name}part"
    part = install(folder / "part", unique, source_of(unique, PART.replace("COMMAND", command), 'reverify="judge"'))
    steps = (
        'StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"}, requires=[Field("paths", "list")]),'
        f'*review_loop("d", work="work", passed="more", bound=1, reviewer={reviewer.replace("{part}", unique)}),'
        'StepDef("more", "More", "Work.", {Outcome.OK: "e-review"}),'
        f'*review_loop("e", work="more", passed="last", bound=1, reviewer={reviewer.replace("{part}", unique)}), {LAST}'
    )
    entry = install(folder, name, source_of(name, steps))
    for file in part.parent.glob("*.py"):
        file.rename(entry.parent / file.name)
    return entry, list(every_walk(loading.workflow_of_script(str(entry))))


def walked(entry: Path, walk: Walk, project: Path, **files: str) -> Agent:
    project.mkdir()
    named = {name.replace("_", "/", 1) + ".py": text for name, text in files.items()}
    return check_walk(entry, walk, project, files=named)


def places(agent: Agent) -> set[str]:
    """Every place that a reviewer reported."""
    runs = {event.run for event in agent.events() if "." in event.run}
    found = [item for run in runs for state in agent.state(run).state.values() for item in state.get("items", ())]
    return {item["place"] for item in found if not item.get("command")}


@pytest.mark.req("W-20")
@pytest.mark.parametrize("kind", [pytest.param("free", marks=pytest.mark.slow), "script"])
@pytest.mark.parametrize(
    "covers, place",
    [
        ('"src/**"', "src/sample.txt:1"),
        ('"docs/*.md"', "docs/sample.md:1"),
        ('"out"', "out/sample.txt:1"),
        ('"{draft,plan}/v[12]?.json"', "draft/v1s.json:1"),
        ('"{work.paths}"', "What was found for paths 1.:1"),
    ],
)
def test_a_sample_answer_names_a_file_that_the_review_covers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, covers: str, place: str
) -> None:
    monkeypatch.delenv("LOCKSTEP_HOME")  # the ledger is copied with the project
    name = f"place{kind}{sum(map(ord, covers))}"
    reviewer = (SCRIPT if kind == "script" else FREE).replace("{covers}", covers)
    entry, walks = skill(tmp_path, name, reviewer)
    shared = SharedBeginnings(walks, tmp_path)
    for walk in walks:
        agent = check_walk(entry, walk, shared)
        assert places(agent) == {place}, walk


@pytest.mark.req("W-20")
def test_a_sample_answer_names_a_file_of_the_author_if_there_is_one(tmp_path: Path) -> None:
    entry, walks = skill(tmp_path, "placeown", SCRIPT.replace("{covers}", '"src/**"'))
    agent = walked(entry, walks[-1], tmp_path / "project", src_a="one\n")
    assert places(agent) == {"src/a.py:1"}
    assert not (tmp_path / "project/src/sample.txt").exists()


@pytest.mark.req("W-20")
def test_a_finding_of_several_lines_has_one_sample_answer(tmp_path: Path) -> None:
    entry, walks = skill(tmp_path, "severallines", SCRIPT.replace("{covers}", '"src/**"'), RED)
    walk = next(walk for walk in walks if str(walk) == "d-gate -fail (revise)-> work")
    agent = walked(entry, walk, tmp_path / "project")
    shown = [block.context["d.findings"] for block in agent.blocks if "d.findings" in block.context]
    assert any("\n  b (MUST) of it\n  - c (MUST): d" in findings for findings in shown), shown

"""The quick way of planner: who may propose it and who chooses it, its one review, and what it costs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.cost import agent as cost
from skills.lib.runtime import loading
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import filled
from skills.lib.testing.transitions import ProjectCopies
from tests.skills.follower import reached
from tests.skills.samples import planner as sample
from tests.skills.test_planner import (
    EXPLORER,
    PLAN,
    REQUEST,
    SCRIPTS,
    Judged,
    answers,
    checked,
    dispatched,
    play,
)

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from skills.lib.testing.blocks import PrintedBlock

FILES = [
    "src/greet.py | an empty name greets all",
    "tests/test_greet.py | the empty name",
    "README.md | says whom it greets",
]
NAMES = ("area", "interface", "data", "dependency", "migration", "security", "undo")
CRITERIA = [f"{name} | no | git grep greet: src/greet.py:1 alone" for name in NAMES]
SETTLED = {
    "approaches": ["A1 | or in greet() | src/greet.py | none | blanks", "A2 | refuse it | src/ | callers | all"],
    "assumptions": ["Q1 | blanks are a name | assumed | if not: strip() in greet()"],
    "recommendation": "A1, since callers send an empty name today.",
    "commands": ["test | python -m pytest -q | 1 passed"],
    "strategy": "One test of the empty name in tests/test_greet.py; nothing else changes.",
    "against": [],
}
COPIES = {
    "src/greet.py": sample.GREET_AFTER,
    "tests/test_greet.py": sample.TEST_AFTER,
    "README.md": sample.README_AFTER,
    "COMMENTS.json": '{"src/greet.py": ["greet(): whom an empty name stands for"]}',
}
RAN = {"ran": ["python -m pytest -q | 2 passed; 1 of them failed over the old src/"]}


def quick_plan(**changed: Any) -> dict[str, Any]:
    """A plan of the quick way: the code and its manual in one milestone."""
    one = {**sample.CODE, "files": [*sample.CODE["files"], "README.md"], **changed}
    return {"way": "quick", **sample.plan(one)}


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> ProjectCopies:
    return ProjectCopies(tmp_path_factory.mktemp("quick"))


@pytest.fixture
def agent(copies: ProjectCopies, monkeypatch: pytest.MonkeyPatch) -> Agent:
    """An agent in a small project: one function, one test, a README."""
    monkeypatch.setenv("LOCKSTEP_HOME", str(copies.project / ".lockstep"))
    copies.clear()
    (copies.project / ".git").mkdir()
    made = Agent(SCRIPTS / "planner.py", copies.project)
    for path in ("src/greet.py", "tests/test_greet.py", "README.md"):
        made.write(path, sample.FILES[path])
    return made


def asked(agent: Agent, **recorded: list[str]) -> PrintedBlock:
    """The block after the first step."""
    return agent.follow(agent.open(request=REQUEST, plan=PLAN), **{"files": FILES, "criteria": CRITERIA, **recorded})


@pytest.fixture
def explored(agent: Agent, copies: ProjectCopies) -> PrintedBlock:
    """The block in which everything is worked out that the user is asked."""
    return reached(copies, "explored", agent, lambda: dispatched(agent, agent.answer(asked(agent), "quick"), EXPLORER))


@pytest.fixture
def agreed(agent: Agent, explored: PrintedBlock, copies: ProjectCopies) -> PrintedBlock:
    """The block in which the plan and the change are written."""
    return reached(
        copies,
        "agreed",
        agent,
        lambda: agent.follow(agent.follow(explored, **SETTLED), answer="yes, and keep it short"),
    )


def written(agent: Agent, block: PrintedBlock, plan: dict[str, Any], **fixes: list[str]) -> PrintedBlock:
    """Write a draft and the copies, and leave the step."""
    agent.write(f"{PLAN}/draft.json", json.dumps(plan))
    for path, text in COPIES.items():
        agent.write(f"{PLAN}/.changes/M-001/{path}", text)
    return agent.follow(block, **RAN, **fixes)


def gated(agent: Agent, block: PrintedBlock, *judged: Judged) -> PrintedBlock:
    """Have the one review done; its gate is walked through."""
    reports: dict[str, dict[str, Any]] = {
        "read": {"statements": [f"{one.scope} | {one.check}" for one in judged]},
        "verify": {"answers": answers(*judged)},
    }
    return dispatched(agent, block, reports)


@pytest.mark.req("E-02", "W-03", "W-10")
def test_a_small_change_is_planned_with_one_explorer_one_question_and_one_review(
    agent: Agent, agreed: PrintedBlock
) -> None:
    assert agreed.context["quick-agree.answer"] == "yes, and keep it short"
    review = written(agent, agreed, quick_plan())
    assert [child.target for child in review.children] == [""]
    again = gated(agent, review, Judged("M-001", "FAIL", "no input is named"), Judged("plan"))
    assert (again.step, again.root.get("iteration")) == ("quick-write", "2")
    assert "no input is named" in again.context["quick.findings"]
    review = written(agent, again, quick_plan(), fixes=[f"S1 | changed | {PLAN}/draft.json"])
    first = agent.run_command(review.children[0].command)
    assert (first.step, "no input is named" in first.text) == ("verify", False)
    assert gated(agent, review, Judged("M-001", finding="it is named now"), Judged("plan")).kind == "done"

    run = agent.blocks[0].run
    assert [one.step for one in agent.taken(run)] == [
        *("size", "way", "quick-explore", "quick-settle", "quick-agree"),
        *("quick-write", "quick-review", "quick-gate", "quick-write", "quick-review", "quick-gate"),
    ]
    chosen = [event.detail for event in agent.events(run) if event.detail.get("from") == "way"]
    assert [(one["answer"], one["by"]) for one in chosen] == [("quick", "person")]
    assert (agent.project / "src/greet.py").read_text(encoding="utf-8") == sample.GREET


@pytest.mark.req("E-02")
def test_the_executor_knows_by_the_plan_s_folder_which_way_was_approved(agent: Agent, agreed: PrintedBlock) -> None:
    assert checked("executor_approval.py", agent.project, PLAN, "")[0] == 1
    review = written(agent, agreed, quick_plan())
    assert gated(agent, review, Judged("plan")).kind == "done"
    code, told = checked("executor_approval.py", agent.project, PLAN, "")
    assert (code, f"approved by run {agent.blocks[0].run} of planner" in told) == (0, True), told
    work = json.loads(checked("plan_data.py", agent.project, "work", PLAN)[1])
    assert (work["way"], work["waves"]) == ("quick", {"code": [["M-001"]], "documentation": []})
    other = {**quick_plan(), "way": "full"}
    agent.write("other.json", json.dumps(other))
    assert checked("plan_data.py", agent.project, "save", PLAN, "other.json")[0] == 0
    assert checked("executor_approval.py", agent.project, PLAN, "")[0] == 1


@pytest.mark.req("E-02")
def test_the_user_is_asked_and_no_agent_answers_for_them(agent: Agent) -> None:
    block = asked(agent)
    assert block.kind == "waiting"
    assert "- src/greet.py | an empty name greets all" in block.words("QUESTION")
    refused = agent.run_command(filled(agent.blocks[-1].next, {"answer": "quick"}))
    assert (refused.exit_code, refused.code) == (3, "person-needed")
    assert agent.answer(block, "full").step == "discover"


@pytest.mark.req("E-02")
@pytest.mark.parametrize(
    "recorded",
    [
        {"criteria": [*CRITERIA[:2], "data | yes | src/store.py writes names", *CRITERIA[3:]]},
        {"files": [f"src/{at}.py | more" for at in range(9)]},
    ],
)
def test_what_speaks_against_the_quick_way_leads_to_the_full_one_without_a_question(
    agent: Agent, recorded: dict[str, list[str]]
) -> None:
    assert asked(agent, **recorded).step == "discover"


def test_where_nobody_is_asked_it_is_the_full_way(agent: Agent) -> None:
    assert agent.follow(agent.open(request=REQUEST, plan=PLAN)).step == "discover"


def test_what_the_explorer_finds_against_it_leads_to_the_full_way(agent: Agent, explored: PrintedBlock) -> None:
    block = agent.follow(explored, **{**SETTLED, "against": ["data | src/greet.py:1 | names are stored"]})
    assert (block.step, len(block.children)) == ("discover", 3)


@pytest.mark.parametrize(
    "plan, why",
    [
        (sample.plan(sample.CODE), 'the draft lacks "way": "quick"'),
        ({"way": "quick", **sample.DRAFT}, 'the one milestone M-001, and the draft has ["M-001", "M-002"]'),
        (quick_plan(files=[f"src/{at}.py" for at in range(9)]), "M-001 has 9 files, and a quick plan 8 at most"),
        (quick_plan(acceptance=[]), "/milestones/0/acceptance"),
        (quick_plan(files=[*sample.CODE["files"], "README.md", "src/more.py"]), ""),
    ],
)
def test_a_draft_of_the_quick_way_is_held_to_it(
    agent: Agent, agreed: PrintedBlock, plan: dict[str, Any], why: str
) -> None:
    block = written(agent, agreed, plan)
    assert (block.step == "quick-review") == (not why), block.text
    assert not why or (block.code == "missing-evidence" and why in block.why)


def test_without_its_copies_the_change_is_not_reviewed(agent: Agent, agreed: PrintedBlock) -> None:
    agent.write(f"{PLAN}/draft.json", json.dumps(quick_plan()))
    refused = agent.follow(agreed, **RAN)
    assert (refused.exit_code, refused.code) == (3, "missing-evidence")
    assert "M-001 has no change of src/greet.py" in refused.why


@pytest.mark.req("S-01")
@pytest.mark.parametrize("path", ["draft.json", ".changes/M-001/src/greet.py", "plan.md"])
def test_a_file_that_changes_after_the_review_leads_back_to_the_work(
    agent: Agent, agreed: PrintedBlock, path: str
) -> None:
    review = written(agent, agreed, quick_plan())
    reports: dict[str, dict[str, Any]] = {
        "read": {"statements": ["plan | it is so, as it says"]},
        "verify": {"answers": answers(Judged("plan"))},
    }
    [reviewer] = review.children
    reported = play(agent, reviewer.command, reports)
    agent.write(f"{PLAN}/{path}", json.dumps({**quick_plan(), "title": "Another"}))
    assert agent.run_command(reported.next).step == "quick-write"


def test_the_full_way_takes_no_plan_of_the_quick_one(agent: Agent) -> None:
    agent.write(f"{PLAN}/draft.json", json.dumps({"way": "quick", **sample.DRAFT}))
    code, told = checked("planner_check.py", agent.project, f"{PLAN}/draft.json", '["M-001"]', '["M-002"]')
    assert (code, told) == (1, "this run goes the full way, and the plan says otherwise")


@pytest.mark.parametrize(
    "files, criteria, told",
    [
        (FILES, CRITERIA, '{"way": "quick", "why": []}'),
        ([], [], '{"way": "full", "why": ["nothing was recorded that proposes the quick way"]}'),
        (FILES, [], "files and criteria go together"),
        (["src/greet.py"], CRITERIA, "write path | what changes there"),
        (["../up.py | so"], CRITERIA, "leads upwards"),
        (FILES, CRITERIA[:6], "undo"),
        (FILES, [*CRITERIA[:6], "undo | perhaps | src/greet.py:1 tells"], "undo: say yes or no, not 'perhaps'"),
        (FILES, [*CRITERIA[:6], "undo | no | none"], "undo: say by which place or search"),
        (["requirements-dev.txt | one more"], CRITERIA, "dependency is yes, as requirements-dev.txt"),
        (["app/migrations/0002.py | new"], CRITERIA, "migration is yes, as app/migrations/0002.py"),
    ],
)
def test_the_way_is_proposed_by_rules(agent: Agent, files: list[str], criteria: list[str], told: str) -> None:
    given = [json.dumps(rows) if rows else "{none}" for rows in (files, criteria)]
    code, printed = checked("planner_size.py", agent.project, *given)
    assert told in printed
    assert code == int(not told.startswith("{"))


def test_what_the_reviewer_of_a_quick_plan_sees(
    agent: Agent, agreed: PrintedBlock, snapshot: SnapshotAssertion
) -> None:
    review = written(agent, agreed, quick_plan())
    seen = play(agent, review.children[0].command, {"read": {"statements": "none: x y z"}, "verify": {"answers": []}})
    blocks = [block for block in agent.blocks if block.run == seen.run]
    assert "\n".join(blocks[0].words("DO").splitlines()) == snapshot(name="read")
    assert "yes, and keep it short" in blocks[0].context["answers"]


def test_the_quick_way_is_of_planner_s_own_graph() -> None:
    workflow = loading.workflow_of_script(str(SCRIPTS / "planner.py"))
    assert [step.id for step in workflow.steps][:2] == ["size", "way"]
    assert workflow.step("quick-gate").next


@pytest.mark.slow
@pytest.mark.req("E-01", "E-02")
def test_the_quick_way_costs_what_it_may() -> None:
    found = cost.measured("planner-quick").meter
    assert found.refused == 0
    assert found.commands <= 40
    assert found.read <= 120_000
    assert found.typed <= 25_000

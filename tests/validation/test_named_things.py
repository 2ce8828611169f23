"""Names in texts, parameters, limits and empty texts: what an author meant and did not write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skills.lib.validation.validator import validate, validate_source
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.requirements import Field
from skills.lib.workflow.types import Dispatch, Gate, Outcome, Person
from tests.validation.conftest import Load

END: dict[Any, Any] = {Outcome.OK: None}

TEXT = """
def decide(ctx):
    return Outcome.OK, {{"found": 1}}


def any_of_them(ctx):
    return Outcome.OK, dict(ctx.step_state)


WORKFLOW = Workflow(
    "inquiry",
    StepDef("draft-plan", "Plan", "Plan.", {{Outcome.OK: "ask"}}, requires=[Field("aim"), Field("areas", "list")]),
    StepDef(
        "ask", "Ask", "Ask.", {{Outcome.OK: "look"}}, Person("Good?", {{"yes": Outcome.OK}}), needs=["draft-plan.aim"]
    ),
    StepDef("look", "Look", "Look.", {{Outcome.OK: "weigh"}}, decide, needs=["draft-plan.areas"]),
    StepDef("weigh", "Weigh", "Weigh.", {{Outcome.OK: "report"}}, any_of_them, needs=["ask.answer", "look.found"]),
    StepDef("report", "Report", {text!r}, {{Outcome.OK: None}}),
)
"""


def _named(load: Load, text: str) -> list[tuple[str, str]]:
    workflow, file = load(TEXT.format(text=text))
    return [(one.value, one.do) for one in validate_source(workflow, file) if one.rule == "unknown-name"]


@pytest.mark.parametrize(
    "text, name, meant",
    [
        ("Read `draft-plan.aims` again.", "draft-plan.aims", "draft-plan.aim"),
        ("Read `draftplan.areas` again.", "draftplan.areas", "draft-plan.areas"),
        ("Read `look.founds` again.", "look.founds", "look.found"),
        ("If `ask.answr` is there, obey.", "ask.answr", "ask.answer"),
        ("Go back to step `draftplan`.", "draftplan", "draft-plan"),
        ("The `reprot` step says why.", "reprot", "report"),
    ],
)
def test_a_name_in_a_text_that_is_nothing_is_found_with_the_nearest(
    text: str, name: str, meant: str, load: Load
) -> None:
    assert _named(load, text) == [(name, f"write {meant}")]


@pytest.mark.parametrize(
    "text",
    [
        "Read `draft-plan.aim`, `draft-plan.areas`, `ask.answer`, `ask.reason` and `look.found`.",
        "Write `report.md` or `report.json`; leave `look.py` alone.",
        "A handler may have recorded `weigh.anything`.",
        "Call `os.path` and `self.aim`; `draft-plan` and `report` are steps, and so is step `look`.",
        "Step `elsewhere` is another skill's, and so is `elsewhere.value`.",
        "Nothing is quoted: draft-plan.aims.",
    ],
)
def test_a_name_of_something_else_is_not_reported(text: str, load: Load) -> None:
    assert _named(load, text) == []


def test_a_name_that_is_near_to_none_is_reported_with_the_existing_names(load: Load) -> None:
    workflow, file = load(TEXT.format(text="Read `draft-plan.budget` and `draft-plan.tex4`."))
    (found,) = [one for one in validate_source(workflow, file) if one.rule == "unknown-name"]
    assert found.what.endswith(
        "names draft-plan.budget, which is nothing in this workflow: draft-plan records aim, areas"
    )


def test_a_name_is_reported_at_its_line_in_the_prompts_file(load: Load, skill: Path) -> None:
    prompts = skill / "scripts" / "tea_prompts.md"
    prompts.write_text("# Tea\n\n## ask\n\nAsk.\n\n## report\n\nFirst.\nAnswer `ask.questions`.\n")
    workflow, file = load(
        """
PROMPTS = read_prompts(__file__)
WORKFLOW = Workflow(
    "tea",
    StepDef("ask", "Ask", PROMPTS["ask"], {Outcome.OK: "report"}, requires=[Field("question")]),
    StepDef("report", "Report", PROMPTS["report"], {Outcome.OK: None}, needs=["ask.question"]),
)
"""
    )
    (found,) = validate_source(workflow, file)
    assert (found.rule, found.file, found.line) == ("unknown-name", str(prompts), 10)


PARAMETERS = """
def weigh(ctx):
    return Outcome.OK if ctx.workflow_params["sure"] == "yes" else Outcome.FAIL


def parts(ctx):
    return [ctx.workflow_params["depth"], *{used}]


WORKFLOW = Workflow(
    "inquiry",
    StepDef(
        "look",
        "Look",
        "Look.",
        {{Outcome.OK: "weigh"}},
        Dispatch(AgentRole.EXPLORE, task="Look into {{target}} of {{topic}}.", targets=parts),
    ),
    StepDef("weigh", "Weigh", "Weigh.", {{Outcome.OK: "report", Outcome.FAIL: "report"}}, weigh, needs=["shown"]),
    StepDef("report", "Report", "Report.", {{Outcome.OK: None}}, needs=["weigh.why", "look.results"]),
    params=[
        *(Arg(name) for name in ("depth", "topic", "shown", "told", "idle")),
        *(Arg(name, step="weigh") for name in ("sure", "why", "late")),
        Arg("result", step="report"),
    ],
    closing="Tell the user about {{told}}.",
)
"""


def test_a_parameter_that_nothing_reads_is_found(load: Load) -> None:
    workflow, file = load(PARAMETERS.format(used='["a"]'))
    found = [(one.rule, one.where, one.value) for one in validate_source(workflow, file)]
    assert found == [
        ("unread-parameter", "inquiry:look", "idle"),
        ("unread-parameter", "inquiry:weigh", "late"),
    ]


def test_a_handler_that_cannot_be_followed_may_read_every_parameter(load: Load) -> None:
    workflow, file = load(PARAMETERS.format(used="ctx.workflow_params"))
    assert [one for one in validate_source(workflow, file) if one.rule == "unread-parameter"] == []


def _found(*steps: StepDef) -> list[tuple[str, str, str]]:
    return [(one.rule, one.where.partition(":")[2], one.value) for one in validate(Workflow("w", *steps))]


def test_a_step_without_a_word_is_found_among_steps_with_some() -> None:
    said = StepDef("a", "A", "Do it.", {Outcome.OK: "b"})
    assert _found(said, StepDef("b", "B", next=END)) == [("empty-actions", "b", "actions")]
    assert _found(said, StepDef("b", "B", ["", " "], END)) == [("empty-actions", "b", "actions")]
    silent = StepDef("b", "B", next={Outcome.OK: "c"}), StepDef("c", "C", next=END)
    assert _found(said, *silent) == []
    assert _found(StepDef("b", "B", [""], END)) == [("empty-actions", "b", "actions")]


@pytest.mark.parametrize("handler", [Dispatch("explore", task="Look."), Person("Good?", {"yes": Outcome.OK})])
def test_a_step_at_which_somebody_else_works_may_be_silent(handler: Dispatch | Person) -> None:
    assert _found(StepDef("a", "A", "Do it.", {Outcome.OK: "b"}), StepDef("b", "B", "", END, handler)) == []


@pytest.mark.parametrize("ways", [{"iterate": "a", "ok": None}, {"default": None}, {"fail": "a", "ok": None}])
def test_a_limit_whose_route_leads_back_is_not_reported_as_unused(ways: dict[Any, Any]) -> None:
    step = StepDef("a", "A", "Do it.", ways, when=dict.fromkeys(ways, "it is so"), max_iterations=3)
    assert "unused-limit" not in {rule for rule, _, _ in _found(step)}


def test_a_limit_without_such_a_route_is_found() -> None:
    ways: dict[Any, Any] = {"ok": "b", "skip": None}
    step = StepDef("a", "A", "Do it.", ways, when=dict.fromkeys(ways, "it is so"), max_iterations=3)
    assert _found(step, StepDef("b", "B", "Do it.", END)) == [("unused-limit", "a", "")]


def _between(*between: StepDef) -> list[tuple[str, str, str]]:
    """The findings about these steps between a review and its gate."""
    return _found(
        StepDef("work", "Work", "Do it.", {Outcome.OK: "review"}),
        StepDef(
            "review",
            "Review",
            "Wait.",
            {Outcome.OK: between[0].id},
            Dispatch("quality-reviewer", task="Review.", checkpoint="c"),
        ),
        *between,
        StepDef("gate", "Gate", "Go on.", {Outcome.OK: None, Outcome.FAIL: "work"}, Gate("c")),
    )


def test_work_between_a_review_and_its_gate_is_found() -> None:
    on: dict[Any, Any] = {Outcome.OK: "gate"}
    assert _between(StepDef("tidy", "Tidy", "Tidy up.", on)) == [("work-after-review", "tidy", "c")]
    for tools in (["read", "edit"], ["write"], ["shell(git)"], ["agent"], ["read", "mcp(files.put)"]):
        assert _between(StepDef("tidy", "Tidy", "Tidy up.", on, tools=tools)) == [("work-after-review", "tidy", "c")]
    assert _between(StepDef("fix", "Fix", "Wait.", on, Dispatch("developer", task="Fix it."))) == [
        ("work-after-review", "fix", "c")
    ]


def test_what_changes_nothing_may_stand_between_a_review_and_its_gate() -> None:
    on: dict[Any, Any] = {Outcome.OK: "gate"}
    assert _between(StepDef("read", "Read", "Read.", on, tools=["read", "search"])) == []
    assert _between(StepDef("look", "Look", "Wait.", on, Dispatch("explore", task="Look."))) == []
    assert (
        _between(StepDef("ask", "Ask", "Ask.", on, Person("Good?", {"yes": Outcome.OK}), requires=[Field("x")])) == []
    )


def test_work_that_leads_back_through_the_review_is_not_reported() -> None:
    ways: dict[Any, Any] = {Outcome.OK: "gate", Outcome.FAIL: "mend"}
    read = StepDef("read", "Read", "Read.", ways, when=dict.fromkeys(ways, "it is so"), tools=["read"])
    mend = StepDef("mend", "Mend", "Mend it.", {Outcome.OK: "review"})
    assert [one for one in _between(read, mend) if one[0] == "work-after-review"] == []

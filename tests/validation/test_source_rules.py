"""Findings from the sources of handlers, and when the rules rightly report nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.validation.validator import validate, validate_source
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.types import Outcome
from tests.validation.conftest import HEAD_LINES, Load

STEP = """

WORKFLOW = Workflow(
    "w",
    StepDef("first", "First", next={Outcome.OK: "second"}, requires=[Field("noted")]),
    StepDef(
        "second",
        "Second",
        next={Outcome.OK: "third", Outcome.ITERATE: "second"},
        handler=handler,
        max_iterations=3,
        needs=["first.noted", "topic"],
    ),
    StepDef("third", "Third", next={Outcome.OK: None}, needs=["second.sure"]),
    params=[Arg("topic"), Arg("sure", step="second"), Arg("late", step="third")],
)
"""


def _found(load: Load, handler: str) -> list[tuple[str, str]]:
    workflow, file = load(handler + STEP)
    assert validate(workflow, file) == []
    return [(finding.rule, finding.where) for finding in validate_source(workflow, file)]


SILENT = {
    "computed": """
def handler(ctx):
    return Outcome(ctx.workflow_params["sure"])
""",
    "through a variable": """
def handler(ctx):
    outcome = Outcome.ITERATE
    if ctx.workflow_params["sure"] == "yes":
        outcome = Outcome.OK
    return outcome, {}
""",
    "by another function": """
def decide(ctx):
    return Outcome.FAIL


def handler(ctx):
    return decide(ctx)
""",
    "annotated": """
def handler(ctx) -> tuple[Literal[Outcome.OK, Outcome.ITERATE], dict]:
    return pick(ctx)


def pick(ctx):
    return Outcome.OK, {}
""",
    "a function inside returns something else": """
def handler(ctx):
    def other():
        return Outcome.FAIL

    return Outcome.OK if other() else Outcome.ITERATE
""",
    "get bears a missing value": """
def handler(ctx):
    if ctx.workflow_params.get("nothing") or ctx.run_state.get("third", {}).get("x"):
        return Outcome.OK
    return Outcome.ITERATE
""",
    "its own field of an earlier iteration": """
def handler(ctx):
    if "count" in ctx.step_state and ctx.step_state["count"] > 1:
        return Outcome.OK
    return Outcome.ITERATE, {"count": 2}
""",
    "the limit gives OK": """
def handler(ctx):
    return Outcome.ITERATE
""",
}


@pytest.mark.parametrize("name", SILENT)
def test_valid_handlers_have_no_findings(name: str, load: Load) -> None:
    assert _found(load, SILENT[name]) == []


DEFECTIVE = {
    "a misspelt outcome": (
        """
def handler(ctx):
    return Outcome.OKK if ctx.iteration > 1 else Outcome.ITERATE
""",
        [("handler-no-outcome", "w:second")],
    ),
    "a text in place of an outcome": ("def handler(ctx):\n    return 'ok', {}", [("handler-no-outcome", "w:second")]),
    "a bare return": (
        "def handler(ctx):\n    if ctx.iteration:\n        return\n    return Outcome.OK",
        [("handler-no-outcome", "w:second")],
    ),
    "no return": ("def handler(ctx):\n    print(ctx.iteration)", [("handler-no-outcome", "w:second")]),
    "an outcome without a route": (
        """
def handler(ctx):
    if ctx.iteration > 2:
        return Outcome.FAIL, {}
    return Outcome.OK if ctx.iteration > 1 else Outcome.ITERATE
""",
        [("handler-unrouted-outcome", "w:second:fail")],
    ),
    "through a variable": (
        """
def handler(ctx):
    found = Outcome.SKIP if ctx.iteration > 1 else Outcome.ITERATE
    return found if ctx.iteration else Outcome.OK
""",
        [("handler-unrouted-outcome", "w:second:skip")],
    ),
    "by annotation": (
        """
def handler(ctx) -> Literal[Outcome.OK, Outcome.ITERATE, Outcome.SKIP]:
    return ctx.workflow_params["topic"]
""",
        [("handler-unrouted-outcome", "w:second:skip")],
    ),
    "known beside unknown": (
        """
def handler(ctx):
    return Outcome.FAIL if ctx.iteration > 1 else Outcome.OK


def handler(ctx):
    if ctx.iteration > 1:
        return Outcome.FAIL
    return Outcome(ctx.workflow_params["topic"])
""",
        [("handler-unrouted-outcome", "w:second:fail")],
    ),
    "a route that is never returned": (
        """
def handler(ctx):
    return Outcome.OK
""",
        [("handler-never-gives", "w:second:iterate")],
    ),
    "a parameter that is nowhere": (
        """
def handler(ctx):
    return Outcome.OK if ctx.workflow_params["subject"] else Outcome.ITERATE
""",
        [("handler-read-before-write", "w:second")],
    ),
    "a parameter of another step": (
        """
def handler(ctx):
    return Outcome.OK if ctx.workflow_params["late"] else Outcome.ITERATE
""",
        [("handler-read-before-write", "w:second")],
    ),
    "state of a step that does not write it": (
        """
def handler(ctx):
    return Outcome.OK if ctx.run_state["first"]["note"] else Outcome.ITERATE
""",
        [("handler-read-before-write", "w:second")],
    ),
    "state of a later step": (
        """
def handler(ctx):
    return Outcome.OK if ctx.run_state["third"]["late"] else Outcome.ITERATE
""",
        [("handler-read-before-write", "w:second")],
    ),
    "own state that nobody writes": (
        """
def handler(ctx):
    return Outcome.OK if ctx.step_state["count"] else Outcome.ITERATE
""",
        [("handler-read-before-write", "w:second")],
    ),
    "a returned key that nobody reads": (
        """
def handler(ctx):
    if ctx.iteration > 1:
        return Outcome.OK, {"why": "enough"}
    return Outcome.ITERATE
""",
        [("unread-value", "w:second")],
    ),
    "a lambda": (
        """
handler = lambda ctx: Outcome.OK if ctx.iteration > 1 else Outcome.ITERATE
""",
        [("unresolved-handler", "w:second")],
    ),
}


@pytest.mark.req("W-02")
@pytest.mark.parametrize("name", DEFECTIVE)
def test_a_defect_in_a_handler_is_found_and_nothing_else(name: str, load: Load) -> None:
    code, expected = DEFECTIVE[name]
    assert _found(load, code) == expected


def test_a_finding_about_a_handler_stands_at_the_line_of_its_source(load: Load) -> None:
    workflow, file = load(DEFECTIVE["an outcome without a route"][0] + STEP)
    (finding,) = validate_source(workflow, file)
    assert (finding.file, finding.line) == (file, HEAD_LINES + 4)
    assert finding.what == "the handler of second can return fail; the step has ok and iterate"


def test_a_parameter_of_another_step_is_reported_with_the_place_that_keeps_it(load: Load) -> None:
    workflow, file = load(DEFECTIVE["a parameter of another step"][0] + STEP)
    (finding,) = validate_source(workflow, file)
    assert finding.what == (
        'second reads late (ctx.workflow_params["late"]): it is reported on leaving third, and kept with that step'
        "; did you mean third.late?"
    )


def test_a_field_is_read_if_a_placeholder_a_dispatch_or_a_handler_names_it(load: Load) -> None:
    workflow, file = load(
        """
def handler(ctx):
    return Outcome.OK if ctx.step_state["d"] and ctx.run_state["one"]["a"] else Outcome.SKIP


WORKFLOW = Workflow(
    "w",
    StepDef(
        "one", "One", next={Outcome.OK: "two"}, requires=[Field("a"), Field("b"), Field("unused"), Artifact("{b}")]
    ),
    StepDef("two", "Two", next={Outcome.OK: "three"}, requires=[Field("c", "list")]),
    StepDef(
        "three", "Three", next={Outcome.OK: "four"}, handler=Dispatch(AgentRole.EXPLORE, task="Look.", targets="two.c")
    ),
    StepDef("four", "Four", next={Outcome.OK: None, Outcome.SKIP: "five"}, handler=handler, requires=[Field("d")]),
    StepDef("five", "Five", next={Outcome.OK: None}, requires=[Field("result")]),
)
"""
    )
    (finding,) = validate_source(workflow, file)
    assert finding.what == "one records unused, which nothing reads"


FOLLOWED = """
{code}


WORKFLOW = Workflow(
    "w",
    StepDef("one", "One", next={{Outcome.OK: "two"}}, requires=[Field("used"), Field("unused")]),
    StepDef("two", "Two", next={{Outcome.OK: "three"}}, handler=handler, requires=[Field("own")]),
    StepDef("three", "Three", next={{Outcome.OK: None}}, needs=["topic", "two.kept"]),
    params=[Arg("topic")],
)
"""
READ = """
    return Outcome.OK, {"kept": [one["used"], own["own"]]}"""
READING = {
    "a variable": "def handler(ctx):\n    one, own = ctx.run_state['one'], ctx.step_state" + READ,
    "a variable of a variable": "def handler(ctx):\n    every, own = ctx.run_state, ctx.step_state\n"
    "    one = every['one']" + READ,
    "another function": "def use(one, own):"
    + READ
    + "\n\n\ndef handler(ctx):\n    return use(ctx.run_state['one'], ctx.step_state)",
    "another function of the whole": "def use(given):\n    one, own = given.run_state['one'], given.step_state"
    + READ
    + "\n\n\ndef handler(ctx):\n    return use(ctx)",
    "another function by name": "def use(own, one):"
    + READ
    + "\n\n\ndef handler(ctx):\n    return use(one=ctx.run_state['one'], own=ctx.step_state)",
    "another function that calls itself": "def use(ctx, again):\n    one, own = ctx.run_state['one'], ctx.step_state\n"
    "    if again:\n        return use(ctx, False)" + READ + "\n\n\ndef handler(ctx):\n    return use(ctx, True)",
    "a function inside that uses something else": "def handler(ctx):\n"
    "    one, own = ctx.run_state['one'], ctx.step_state\n    sorted([1], key=lambda number: -number)" + READ,
}
UNFOLLOWED = {
    "a function of another module": "def handler(ctx):\n    return Outcome.OK, dict(ctx.run_state['one'])",
    "a method": "def handler(ctx):\n    return Outcome.OK, {'kept': ctx.run_state['one'].values()}",
    "a function inside": "def handler(ctx):\n    return Outcome.OK, {'kept': [(lambda: ctx.run_state)()]}",
    "a variable that is set again": "def handler(ctx):\n    one = ctx.run_state['one']\n    one = ctx.step_state\n"
    "    return Outcome.OK, {'kept': one['used']}",
    "an argument that is unpacked": "def use(one):\n    return Outcome.OK, {'kept': 1}\n\n\ndef handler(ctx):\n"
    "    return use(*[ctx])",
}


@pytest.mark.parametrize("how", READING)
def test_what_a_handler_reads_is_followed_through(how: str, load: Load) -> None:
    workflow, file = load(FOLLOWED.format(code=READING[how]))
    found = [(finding.rule, finding.value) for finding in validate_source(workflow, file)]
    assert found == [("unread-value", "unused")]
    workflow, file = load(FOLLOWED.format(code=READING[how].replace('"used"', '"usde"')))
    found = [(finding.rule, finding.value) for finding in validate_source(workflow, file)]
    assert sorted(found) == [
        ("handler-read-before-write", "one.usde"),
        ("unread-value", "unused"),
        ("unread-value", "used"),
    ]


@pytest.mark.parametrize("how", UNFOLLOWED)
def test_a_context_that_cannot_be_followed_keeps_the_rule_silent(how: str, load: Load) -> None:
    workflow, file = load(FOLLOWED.format(code=UNFOLLOWED[how]))
    assert validate_source(workflow, file) == []


def test_a_state_that_is_asked_for_by_get_may_be_missing_wherever_it_is_read(load: Load) -> None:
    code = """def use(seen):
    return seen["nothing"] if seen else 0


def handler(ctx):
    seen, one = ctx.run_state.get("nowhere", {}), ctx.run_state["one"]
    return Outcome.OK, {"kept": [use(seen), one["used"], one["unused"], ctx.step_state]}"""
    workflow, file = load(FOLLOWED.format(code=code))
    assert validate_source(workflow, file) == []


@pytest.mark.parametrize(
    "kept, found", [('kept["more"] = 1', []), ("pass", [("handler-read-before-write", "two.kept")])]
)
def test_what_a_handler_writes_is_followed_through_a_variable_that_nothing_changes(
    kept: str, found: list[tuple[str, str]], load: Load
) -> None:
    code = f"""def handler(ctx):
    kept = {{"other": [ctx.step_state["own"], ctx.run_state["one"]["used"], ctx.run_state["one"]["unused"]]}}
    {kept}
    return Outcome.OK, kept"""
    workflow, file = load(FOLLOWED.format(code=code))
    told = [(finding.rule, finding.value) for finding in validate_source(workflow, file)]
    assert [one for one in told if one[0] != "unread-value"] == found


def test_targets_that_a_function_of_the_module_filters_may_be_none(load: Load) -> None:
    workflow, file = load(
        """
def due(parts, done):
    return [part for part in parts if part not in done]


def unread(ctx):
    return due(ctx.run_state["scope"]["parts"], ctx.step_state.get("read", ()))


WORKFLOW = Workflow(
    "w",
    StepDef("scope", "Scope", next={Outcome.OK: "explore"}, requires=[Field("parts", "list")]),
    StepDef("explore", "Explore", "", {Outcome.OK: None}, Dispatch(AgentRole.EXPLORE, task="Look.", targets=unread)),
)
"""
    )
    (found,) = validate_source(workflow, file)
    assert (found.rule, found.where, found.line - HEAD_LINES) == ("targets-without-skip", "w:explore", 7)


def test_a_prompts_file_that_is_missing_is_found(load: Load) -> None:
    workflow, file = load(
        """
def later():
    return read_prompts(__file__)


WORKFLOW = Workflow("w", StepDef("one", "One", next={Outcome.OK: None}))
"""
    )
    (finding,) = validate_source(workflow, file)
    assert (finding.rule, finding.line) == ("unresolved-resource", HEAD_LINES + 3)
    assert "tea_prompts.md" in finding.what


def test_a_workflow_without_a_file_is_validated_all_the_same() -> None:
    workflow = Workflow("w", StepDef("one", next={Outcome.OK: None}, handler=_outside))
    assert [finding.line for finding in validate(workflow)] == [0]
    assert validate_source(workflow, "<interactive>") == []


def _outside(ctx: object) -> Outcome:
    return Outcome.OK


def test_a_file_that_does_not_parse_gives_no_lines(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("def (:\n")
    (finding,) = validate(Workflow("w", StepDef("one", next={Outcome.OK: None})), str(file))
    assert (finding.rule, finding.line) == ("missing-title", 0)

"""Any workflow is written as workflow.yaml, and reading that gives the same workflow."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from skills.lib.graphfile.compiling import compile_file
from skills.lib.graphfile.writing import differences, losses, to_yaml
from skills.lib.runtime import loading
from skills.lib.workflow.core import StepContext, StepDef, Workflow
from skills.lib.workflow.quality import review_loop
from skills.lib.workflow.requirements import Arg, Artifact, Command, Field
from skills.lib.workflow.types import Before, Check, Dispatch, NeverEndsFailed, Outcome, Passes, person
from tests.fixtures.strategies import workflows

SHIPPED = Path(__file__).resolve().parents[2] / "skills"
SCRIPTS = sorted(
    str(graph).rpartition("_workflow.")[0] + ".py"
    for graph in SHIPPED.glob("*/scripts/**/*_workflow.*")
    if graph.suffix in (".py", ".json")
)


@pytest.mark.slow
@pytest.mark.req("E-05")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: Path(script).stem)
def test_every_shipped_workflow_is_read_back_from_what_is_written(script: str) -> None:
    workflow = loading.workflow_of_script(script)
    assert differences(workflow, to_yaml(workflow)) == []


def read(text: str, folder: Path) -> Workflow:
    file = folder / "workflow.yaml"
    file.write_text(text, encoding="utf-8")
    return compile_file(str(file)).workflow


@pytest.mark.req("E-05")
def test_a_workflow_without_functions_has_the_same_fingerprint(tmp_path: Path) -> None:
    for name in ("decision-critic", "leon-writing-style"):
        (workflow,) = [found for script in SCRIPTS if (found := loading.workflow_of_script(script)).name == name]
        assert read(to_yaml(workflow), tmp_path).fingerprint == workflow.fingerprint


def decide(context: StepContext) -> Outcome:
    return Outcome.OK


def everything() -> Workflow:
    """A workflow with an entry of every kind."""
    more = {Outcome("more-tasks"): "collect", Outcome.OK: "brew", Outcome("no-time"): None}
    reviewer = Dispatch(
        "quality-reviewer",
        script="judge.py",
        params={"draft": "{collect.draft}"},
        covers=["{collect.draft}", "src/**"],
        checks=[Check("spelling", "MUST", "no word is misspelt", over="collect.parts"), Check("tone", "COULD", "calm")],
    )
    return Workflow(
        "everything",
        StepDef(
            "collect",
            "Collect: all of it",
            ["One line.", "Two lines,\n  one with blanks before it.", "# no comment, - no list: 'it''s'"],
            more,
            needs=["topic"],
            requires=[
                Field("draft"),
                Field("parts", "list", minimum=1, maximum=4.5, help="each: one"),
                Field("run", "json", required=False),
                Field("sure", choices=["yes", "no", "null", "1"]),
                Artifact("{draft}", {"type": "object", "properties": {"a": {"const": None}}}, help="the draft"),
                Command(["make", "-s", "test", "{draft}"], 60, "it passes", None, "proof", True),
            ],
            when=dict.fromkeys(more, "so it is: said"),
            max_iterations=3,
            at_limit=Outcome("no-time"),
            repeat=["Again."],
            forbidden=["Do not: guess."],
            tools=["read", "shell(make test)"],
            allow={"missing-title": "it's a test"},
            model="small",
            fresh=True,
        ),
        StepDef(
            "heat",
            "Heat",
            ["Heat."],
            {Outcome.OK: "brew"},
            requires=[Command(["kettle"], 60, "it boils")],
            automatic=True,
        ),
        StepDef(
            "brew",
            "Brew",
            ["Brew."],
            {Outcome.OK: "ask", Outcome.DEFAULT: "collect"},
            decide,
            outcomes=[Outcome.OK, Outcome("weak")],
        ),
        StepDef("ask", "Ask", ["Ask."], {Outcome.OK: "look"}, person("Is {collect.draft} good?", at_terminal=True)),
        StepDef(
            "look",
            "Look",
            ["Look."],
            {Outcome.OK: "work", Outcome.SKIP: "work"},
            Dispatch(
                "explore",
                task="Look at {target}.",
                targets="collect.parts",
                context="All\nof it",
                model="small",
                cap=3,
                requires=[Field("cause")],
                then=decide,
            ),
        ),
        StepDef("work", "Work", ["Work."], {Outcome.OK: "work-review"}),
        *review_loop("work", work="work", passed="end-step", reviewer=reviewer, bound=3),
        StepDef("end-step", "End", ["End."], {Outcome.OK: None}, person("Go?", {"yes": "ok", "no": "ok"})),
        title="Everything",
        description="All of it",
        start="collect",
        output="text",
        closing="Tell\nthem.",
        forbidden=["Nothing else."],
        tools=["read"],
        params=[
            Arg("topic", help="what about"),
            Arg("depth", "int", default=3, minimum=1),
            Arg("note", default=""),
            Arg("names", "list", default=["1", "no"], required=False),
            Arg("sure", "bool", default=False),
            Arg("why", step="brew", required=False),
        ],
        always=[Before("collect", "brew"), Passes("work"), NeverEndsFailed("work")],
        unchecked="whether it's good",
        ends={"no-time": "fail"},
    )


@pytest.mark.req("E-05")
def test_an_entry_of_every_kind_is_read_back() -> None:
    text = to_yaml(everything())
    assert differences(everything(), text) == []
    assert (
        "  brew:\n    title: Brew\n    do: Brew.\n    outcomes: [ok, weak]\n    handler: test_writing.py:decide\n"
        in text
    )
    assert losses(everything(), text) == []


def test_what_the_form_does_not_hold_is_told() -> None:
    workflow = Workflow("w", StepDef("a", "A", ["Do it.\n"], {Outcome.OK: None}))
    assert losses(workflow, to_yaml(workflow)) == ["a actions: not as it is, because workflow.yaml has no form for it"]
    odd = Workflow("w", StepDef("end", "A", ["Do it."], {Outcome.OK: None}))
    assert losses(odd, to_yaml(odd)) == [
        "workflow.yaml has no form for this: 'end' is the end of a run, and no name for a step"
    ]


@given(workflows())
@settings(max_examples=25, deadline=None)
def test_drawn_workflows_are_read_back(workflow: Workflow) -> None:
    assert differences(workflow, to_yaml(workflow)) == []


TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp", "Cn", "Co"), exclude_characters="\ufeff")
)


@st.composite
def said(draw: DrawFn) -> Workflow:
    """A workflow whose texts are any."""
    lines = st.lists(TEXTS, min_size=1, max_size=3).map("\n".join).map(lambda text: text.rstrip("\n"))
    words = TEXTS.map(lambda text: " ".join(text.split()))
    return Workflow(
        "drawn",
        StepDef(
            "a",
            draw(words),
            draw(st.lists(lines, max_size=2)),
            {Outcome.OK: None},
            when={Outcome.OK: draw(words)},
            requires=[Field("f", help=draw(lines), choices=draw(st.lists(TEXTS, max_size=2)))],
            allow={"missing-title": draw(TEXTS)},
        ),
        description=draw(words),
        params=[Arg("p", default=draw(st.none() | TEXTS))],
    )


@given(said())
@example(Workflow("drawn", StepDef("a", "A", ["x"], {Outcome.OK: None}, requires=[Field("f", help="a\n\xa0")])))
@settings(max_examples=60, deadline=None)
def test_any_text_is_read_back(workflow: Workflow) -> None:
    assert differences(workflow, to_yaml(workflow)) == []

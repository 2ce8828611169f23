"""Names in braces are read like needs, in the texts of a Dispatch and in closing too."""

from __future__ import annotations

from typing import Any

import pytest

from skills.lib.validation.validator import validate
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.requirements import Arg, Field
from skills.lib.workflow.types import Dispatch, Outcome

WAYS: dict[Any, Any] = {Outcome.OK: "look", Outcome.SKIP: "explore"}


def _found(closing: str = "", allow: dict[str, str] | None = None, **dispatch: Any) -> list[tuple[str, str, str, str]]:
    """The findings about a survey that plans, may look, dispatches and reports."""
    workflow = Workflow(
        "survey",
        StepDef("plan", "Plan", "Plan.", WAYS, when=dict.fromkeys(WAYS, "it is so")),
        StepDef("look", "Look", "Look.", {Outcome.OK: "explore"}, requires=[Field("areas", "list")]),
        StepDef(
            "explore",
            "Explore",
            "Wait.",
            {Outcome.OK: "report"},
            Dispatch("explore", **dispatch),
            allow=allow,
        ),
        StepDef("report", "Report", "Report.", {Outcome.OK: None}, requires=[Field("summary")]),
        params=[Arg("topic"), Arg("api_token")],
        closing=closing,
    )
    return [(finding.rule, finding.where, finding.value, finding.do) for finding in validate(workflow)]


@pytest.mark.req("S-04")
@pytest.mark.parametrize("place", ["task", "tasks", "context"])
@pytest.mark.parametrize(
    "name, rule, do",
    [
        ("look.area", "read-before-write", "read look.areas"),
        ("lok.areas", "read-before-write", "read look.areas"),
        ("report.summary", "read-before-write", "record the value in an earlier step, or do not read it"),
        ("topci", "read-before-write", "read topic"),
        ("target", "read-before-write", "record the value in an earlier step, or do not read it"),
        ("look.areas", "read-on-some-paths", 'allow={"read-on-some-paths:look.areas": "why"}'),
    ],
)
def test_the_texts_of_a_dispatch_are_read_like_needs(place: str, name: str, rule: str, do: str) -> None:
    text = f"Look into {{{name}}} of {{topic}}."
    dispatch: dict[str, Any] = {place: [text] if place == "tasks" else text}
    ((found, where, value, told),) = _found(**dispatch)
    assert (found, where, value) == (rule, "survey:explore", name)
    assert told.endswith(do)


@pytest.mark.parametrize(
    "text",
    [
        "Nothing is named here.",
        "Report as JSON: {}, { }, {1}, {\"path\": …} or {'a', 'b'}; leave ${HOME} and {a b} alone; {topic}",
        "Look into {target}, for {topic}.",
    ],
)
def test_braces_that_are_no_names_are_left_alone(text: str) -> None:
    assert _found(task=text, targets=["code"], context=text) == []


def test_braces_that_mean_themselves_are_waived_by_name() -> None:
    allow = {"read-before-write:id": "the form of a row, as it is written"}
    assert _found(task="Write each as {id} | {name}.", allow=allow) == [
        (
            "read-before-write",
            "survey:explore",
            "name",
            "record the value in an earlier step, or do not read it",
        )
    ]


@pytest.mark.parametrize(
    "closing, found",
    [
        ("Tell the user about {topic}.", []),
        ("Tell the user about {topics}.", [("read-before-write", "survey", "topics", "write {topic}")]),
        (
            "Tell {report.summary}.",
            [
                (
                    "read-before-write",
                    "survey",
                    "report.summary",
                    "name a parameter of the run, or say it without braces",
                )
            ],
        ),
        (
            "It used {api_token}.",
            [
                (
                    "secret-read",
                    "survey",
                    "api_token",
                    "give it another name if it is no secret; else leave it out of closing",
                )
            ],
        ),
    ],
)
def test_closing_names_parameters_of_the_run_alone(closing: str, found: list[tuple[str, str, str, str]]) -> None:
    assert _found(closing, task="Look.") == found

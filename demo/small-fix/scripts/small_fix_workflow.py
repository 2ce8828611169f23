"""The graph of small-fix: see it fail, find the cause, change one place until the tests pass, report."""

from __future__ import annotations

from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome

LOOK = ["read", "search"]

WORKFLOW = Workflow(
    "small-fix",
    StepDef(
        "see",
        "See it fail",
        ["Read the program and its tests, and change nothing. Say what it does, and what it should do instead."],
        {Outcome.OK: "cause"},
        needs=["fault"],
        requires=[
            Field("seen", help="what the program does, with file and line"),
            Field("expected", help="what it should do, and where that is written"),
        ],
        tools=LOOK,
    ),
    StepDef(
        "cause",
        "Find the cause",
        ["Name the one line that, changed, ends the fault, and say why it is this one."],
        {Outcome.OK: "change"},
        needs=["see.seen", "see.expected"],
        requires=[
            Field("cause", help="the line, and why it gives the wrong result"),
            Field("kind", choices=("wrong formula", "missing case", "wrong test"), help="what sort of fault it is"),
        ],
        tools=LOOK,
    ),
    StepDef(
        "change",
        "Change one place",
        ["Change the line that was found, and nothing else. Report it; the tests are then run for you."],
        {Outcome.OK: "report"},
        needs=["cause.cause", "cause.kind"],
        requires=[
            Field("changed", help="the change in a sentence"),
            Command(["run_tests.py"], 60, help="the tests of the project pass"),
        ],
        tools=["read", "edit"],
    ),
    StepDef(
        "report",
        "Report",
        ["Write what was wrong, why, and what was changed, for somebody who was not here."],
        {Outcome.OK: None},
        needs=["see.seen", "cause.cause", "change.changed"],
        requires=[Field("report", help="two or three sentences")],
        tools=["read"],
    ),
    title="Small fix",
    description="Mends one small fault of a program.",
    params=[Arg("fault", help="what is wrong, in the words of who found it")],
)

register_workflow(WORKFLOW)

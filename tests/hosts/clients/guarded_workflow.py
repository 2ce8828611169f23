"""The graph of guarded, a skill for tests: plan, look with few tools, note with others, report."""

from __future__ import annotations

from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Field
from skills.lib.workflow.types import Outcome

WORKFLOW = Workflow(
    "guarded",
    StepDef(
        "plan",
        "Plan the look",
        "Say in one line what is to be looked at.",
        {Outcome.OK: "look"},
        requires=[Field("topic", help="what is to be looked at")],
    ),
    StepDef(
        "look",
        "Look and change nothing",
        "Read what the topic names, yourself or through a sub-agent. Nothing is written here.",
        {Outcome.OK: "note"},
        needs=["plan.topic"],
        requires=[Field("seen", help="what stands there, in one line")],
        tools=["read", "agent"],
    ),
    StepDef(
        "note",
        "Write down what was seen",
        "Write what was seen into the file notes.txt of the project.",
        {Outcome.OK: "report"},
        needs=["look.seen"],
        requires=[Field("path", help="the file that was written")],
        tools=["read", "write"],
    ),
    StepDef(
        "report",
        "Report to the user",
        "Say in one line what was seen, and where it is written down.",
        {Outcome.OK: None},
        needs=["look.seen", "note.path"],
        requires=[Field("answer", help="the line for the user")],
    ),
    title="Guarded",
    description="Looks at one thing with few tools and writes down what it saw.",
)

register_workflow(WORKFLOW)

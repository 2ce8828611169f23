"""The graph of an explorer of incoherence: sweep one dimension, quote what differs, and look where nothing was seen."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepContext, StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
TASK = ("dimension", "scope")

FORM = '"path:line | statement | agrees or unclear | …"'
COMPARED = Command(["check_incoherence.py", "compared", "{compared}"], 60, help="each begins with a place that exists")
SWEEP: list[Requirement] = [
    Field("compared", "list", minimum=1, maximum=40, help=FORM),
    Field("findings", "list", maximum=10, help='"path:line "quote" | path:line "quote" | what cannot both be so"'),
    Field("gaps", "list", maximum=8, required=False, help='"path | what may be stated or decided there"'),
    Field("unread", maximum=600, required=False, help="what of this dimension nobody looked at, with the reason"),
    COMPARED,
    Command(["check_incoherence.py", "findings", "{findings}"], 60, help="every quotation stands in its line"),
    Command(["check_incoherence.py", "sources", "{gaps}"], 60, help="each gap begins with a path that exists"),
]
GAPS: list[Requirement] = [
    Field("compared", "list", minimum=1, maximum=40, help=FORM),
    Field("more", "list", maximum=10, required=False, help="findings beside those of the sweep"),
    Field("left", maximum=600, required=False, help="what is still not read, with the reason"),
    COMPARED,
    Command(["check_incoherence.py", "findings", "{more}"], 60, help="every quotation stands in its line"),
]


def missed(ctx: StepContext) -> Outcome:
    """Skip the second look where nothing was missed."""
    return Outcome.OK if ctx.step_state.get("gaps") else Outcome.SKIP


def together(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """The findings of both looks, and what neither has read."""
    sweep, given = ctx.run_state["sweep"], ctx.step_state
    both = {
        "findings": [*sweep["findings"], *given.get("more", ())],
        "unread": [look[name] for look, name in ((sweep, "unread"), (given, "left")) if name in look],
    }
    return Outcome.OK, {name: found for name, found in both.items() if found}


WORKFLOW = Workflow(
    "incoherence-explore",
    StepDef(
        "sweep",
        "Sweep the dimension",
        PROMPTS["sweep"],
        {Outcome.OK: "gaps", Outcome.SKIP: None},
        missed,
        needs=[*TASK, "sources"],
        requires=SWEEP,
        forbidden=PROMPTS["sweep (forbidden)"].splitlines(),
        when={
            Outcome.OK: "every path of the task was opened, or forty statements are compared; something was missed",
            Outcome.SKIP: "every path was opened, and nothing was missed",
        },
    ),
    StepDef(
        "gaps",
        "Look where nothing was seen",
        PROMPTS["gaps"],
        {Outcome.OK: None},
        together,
        needs=["dimension", "sweep.compared", "sweep.findings", "sweep.gaps"],
        requires=GAPS,
        forbidden=PROMPTS["sweep (forbidden)"].splitlines(),
        when={Outcome.OK: "every gap is read, or named as unread"},
    ),
    forbidden=PROMPTS["forbidden"].splitlines(),
    tools=["read", "search", "write", "shell", "web"],
    title="Incoherence: explore one dimension",
    description="Looks for disagreements of one kind, and quotes both sides of each.",
    params=[
        Arg("dimension", help="letter, paths and question, and the dimension's page of the catalogue"),
        Arg("scope", help="what the whole run checks"),
        Arg("sources", "list", help="where the repository states things"),
    ],
)

register_workflow(WORKFLOW)

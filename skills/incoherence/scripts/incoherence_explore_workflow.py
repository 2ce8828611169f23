"""The graph of an explorer of incoherence: sweep one dimension, see what was missed, fill the gaps, write it down."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepContext, StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
TASK = ("dimension", "scope")

SWEEP: list[Requirement] = [
    Field("compared", "list", minimum=1, maximum=40, help='"path:line | statement | agrees, differs or unclear | …"'),
    Field("read", "list", minimum=1, maximum=60, help="every file that was opened, as a path"),
    Command(["check_incoherence.py", "compared", "{compared}"], 60, help="each entry begins with a place that exists"),
    Command(["check_incoherence.py", "sources", "{read}"], 60, help="each path exists"),
]
COVERAGE: list[Requirement] = [
    Field("gaps", "list", maximum=8, help='"path | what may be stated or decided there"; [] where nothing is missing'),
    Command(["check_incoherence.py", "sources", "{gaps}"], 60, help="each gap begins with a path that exists"),
]
GAPS: list[Requirement] = [
    Field("compared", "list", minimum=1, maximum=40, help='"path:line | statement | agrees, differs or unclear | …"'),
    Field("unread", "list", maximum=8, required=False, help='"path | reason": what is still not read'),
    Command(["check_incoherence.py", "compared", "{compared}"], 60, help="each entry begins with a place that exists"),
]
FINDINGS: list[Requirement] = [
    Field("findings", "list", maximum=10, help='"path:line "quote" | path:line "quote" | what cannot both be so"'),
    Field("unread", maximum=600, required=False, help="what of this dimension nobody looked at, with the reason"),
    Command(["check_incoherence.py", "findings", "{findings}"], 60, help="every quotation stands in its line"),
]


def missed(ctx: StepContext) -> Outcome:
    """Skip the second look where nothing was missed."""
    return Outcome.OK if ctx.step_state["gaps"] else Outcome.SKIP


WORKFLOW = Workflow(
    "incoherence-explore",
    StepDef(
        "sweep",
        "Sweep the dimension",
        PROMPTS["sweep"],
        {Outcome.OK: "coverage"},
        needs=[*TASK, "sources"],
        requires=SWEEP,
        forbidden=PROMPTS["sweep (forbidden)"].splitlines(),
        when={Outcome.OK: "every path of the task was opened, or forty statements are compared"},
    ),
    StepDef(
        "coverage",
        "Check the coverage",
        PROMPTS["coverage"],
        {Outcome.OK: "gaps", Outcome.SKIP: "findings"},
        missed,
        needs=["dimension", "sources", "sweep.read", "sweep.compared"],
        requires=COVERAGE,
        when={Outcome.OK: "something was missed", Outcome.SKIP: "nothing was missed"},
    ),
    StepDef(
        "gaps",
        "Fill the gaps",
        PROMPTS["gaps"],
        {Outcome.OK: "findings"},
        needs=["dimension", "sweep.compared", "coverage.gaps"],
        requires=GAPS,
        when={Outcome.OK: "every gap is read, or named as unread"},
    ),
    StepDef(
        "findings",
        "Write the findings down",
        PROMPTS["findings"],
        {Outcome.OK: None},
        needs=["dimension", "sweep.compared", "gaps.compared", "gaps.unread"],
        requires=FINDINGS,
        forbidden=PROMPTS["findings (forbidden)"].splitlines(),
        when={Outcome.OK: "every finding has two places and two quotations, or there is none"},
        allow={
            "read-on-some-paths:gaps.compared": "where nothing was missed there is no second look to show",
            "read-on-some-paths:gaps.unread": "where nothing was missed there is no second look to show",
        },
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

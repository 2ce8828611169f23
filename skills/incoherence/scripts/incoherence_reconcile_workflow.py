"""The graph of a reconciler of incoherence: carry one item of the plan out, and account for it."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
ITEM = ("item", "decisions")

APPLY: list[Requirement] = [
    Field("status", choices=("applied", "blocked"), help="applied only if the whole item is done"),
    Field("changes", "list", maximum=20, help='"path:line "what stands there now" | was "what stood there""'),
    Field("ran", maximum=600, required=False, help="what was run, and how it ended"),
    Field("note", maximum=600, required=False, help="blocked: what is missing; applied: what else says the old thing"),
    Command(
        ["check_incoherence.py", "changes", "{item}", "{status}", "{changes}"],
        60,
        help="every file of the item is accounted for, and every new quotation stands in its line",
    ),
]

WORKFLOW = Workflow(
    "incoherence-reconcile",
    StepDef(
        "apply",
        "Apply the change, and account for it",
        PROMPTS["apply"],
        {Outcome.OK: None},
        needs=ITEM,
        requires=APPLY,
        forbidden=PROMPTS["apply (forbidden)"].splitlines(),
        when={Outcome.OK: "every file of the item is quoted as it stands now, or all are as they were"},
    ),
    title="Incoherence: carry one item out",
    description="Makes one change of the plan in its files and no others, and quotes what stands there now.",
    params=[
        Arg("item", help="id, issues, files, change, and how one sees that it is done"),
        Arg("decisions", "list", help="what the user decided, issue by issue"),
    ],
)

register_workflow(WORKFLOW)

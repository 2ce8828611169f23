"""The graph of a deep dive of incoherence: trace both sides of one candidate, then judge it."""

from __future__ import annotations

from skills.lib.conventions import get_convention
from skills.lib.prompts import read_prompts, read_resource
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome, Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
VERDICTS = read_resource(__file__, "verdicts.md").strip()
SEVERITY = get_convention("severity").partition("\n## ")[0].strip()
KINDS = ("false-alarm", "ambiguity", "gap", "drift", "contradiction")
CANDIDATE = ("candidate", "scope")

JUDGE: list[Requirement] = [
    Field(
        "evidence",
        "list",
        minimum=2,
        maximum=10,
        help='"path:line "quote" | what it shows"; "1 | …", "2 | …" of the candidate',
    ),
    Field("history", maximum=600, required=False, help="which side is the older, and what brought the newer"),
    Field("verdict", choices=KINDS, help="the first of the five whose test is met"),
    Field("severity", choices=tuple(Severity), help="of leaving it as it is; COULD for a false alarm"),
    Field("why", minimum=40, maximum=600, help="why this verdict and not the next"),
    Field(
        "options",
        "list",
        maximum=4,
        required=False,
        help='"a | what would be changed, and to what | files | what it costs"',
    ),
    Field("recommended", maximum=300, required=False, help='"a: because …"'),
    Command(
        ["check_incoherence.py", "evidence", "{candidate}", "{evidence}"], 60, help="every quotation stands in its line"
    ),
    Command(
        ["check_incoherence.py", "judgement", "{verdict}", "{options}", "{recommended}"],
        60,
        help="two to four lettered options, one of them recommended; none for a false alarm",
    ),
]

WORKFLOW = Workflow(
    "incoherence-deep-dive",
    StepDef(
        "judge",
        "Trace both sides, and judge",
        [PROMPTS["judge"], "", VERDICTS, "", SEVERITY],
        {Outcome.OK: None},
        needs=CANDIDATE,
        requires=JUDGE,
        forbidden=PROMPTS["judge (forbidden)"].splitlines(),
        when={Outcome.OK: "the verdict's test is met, and each option could be carried out as it stands"},
    ),
    tools=["read", "search", "write", "shell", "web"],
    title="Incoherence: look into one candidate",
    description="Follows both sides of one candidate to what decides them, and gives one of five verdicts.",
    params=[
        Arg("candidate", help="the candidate: id, two places with quotations, what cannot both be so"),
        Arg("scope", help="what the whole run checks"),
    ],
)

register_workflow(WORKFLOW)

"""The graph of the reviewer of implemented code: read, run, compare, probe, judge."""

from __future__ import annotations

from skills.lib.conventions import get_convention
from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
FORBIDDEN = PROMPTS["forbidden"].splitlines()

READ: list[Requirement] = [
    Field("changed", "list", minimum=1, maximum=120, help='each "path | milestone, or unplanned | what changed there"'),
]
RAN: list[Requirement] = [
    Field("ran", "list", minimum=1, maximum=40, help='each "command | how it ended, with numbers"'),
]
COMPARED: list[Requirement] = [
    Field("compared", "list", minimum=1, maximum=200, help='each "M-001 R1 | met or not | path:line | what is so"'),
    Command(["implementation_check.py", "{plan}", "compared", "{compared}"], 60, help="no promise of code is left out"),
]
PROBED: list[Requirement] = [
    Field("found", "list", maximum=40, help='each "SEVERITY | M-001 | path:line | what is wrong | what follows"'),
]
JUDGED: list[Requirement] = [
    Field("items", "items", help="one object per check, each with the milestones that it is about under scope"),
    Command(["implementation_check.py", "{plan}", "items", "{items}"], 60, help="scopes are ids of milestones, or all"),
]

WORKFLOW = Workflow(
    "planner-implementation-code",
    StepDef(
        "read",
        "Read what was built",
        PROMPTS["read"],
        {Outcome.OK: "run"},
        needs=["plan"],
        requires=READ,
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "run",
        "Run it",
        PROMPTS["run"],
        {Outcome.OK: "compare"},
        needs=["plan", "read.changed"],
        requires=RAN,
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "compare",
        "Hold it against the plan",
        PROMPTS["compare"],
        {Outcome.OK: "probe"},
        needs=["plan", "read.changed", "run.ran"],
        requires=COMPARED,
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "probe",
        "Try to break it",
        PROMPTS["probe"],
        {Outcome.OK: "judge"},
        needs=["plan", "read.changed", "compare.compared"],
        requires=PROBED,
        forbidden=FORBIDDEN,
    ),
    StepDef(
        "judge",
        "Judge it",
        [PROMPTS["judge"], "", get_convention("severity")],
        {Outcome.OK: None},
        needs=["plan", "run.ran", "compare.compared", "probe.found"],
        requires=JUDGED,
        forbidden=FORBIDDEN,
    ),
    tools=["read", "search", "write", "shell", "web"],
    title="Review of implemented code",
    description="Reviews the code that an executed plan brought: run, held against the plan, and probed.",
    params=[Arg("plan", help="the folder that the plan is kept in")],
)

register_workflow(WORKFLOW)

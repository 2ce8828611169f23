"""The first step of planner, which proposes a way, and the steps of its quick way."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import TOOLS, StepContext, StepDef
from skills.lib.workflow.quality import review_loop
from skills.lib.workflow.requirements import Artifact, Command, Field
from skills.lib.workflow.types import AgentRole, Dispatch, Outcome, person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
ROWS, CHECK, DATA = "planner_rows.py", "planner_check.py", "plan_data.py"
DRAFT = "{plan}/draft.json"
FIRST_FULL = "discover"

WHOLE = (
    "whole | Where does the request land: which code does it now, who calls that, which data pass through? How is that "
    "tested, and how do the test, lint and type commands end today? What would the change break? Which comments, "
    "usage texts and documents would become untrue?"
)
SIZE: list[Requirement] = [
    Field("files", "list", minimum=1, maximum=40, required=False, help='each "path | what changes there"'),
    Field("criteria", "list", minimum=7, maximum=7, required=False, help='each "name | yes or no | what shows it"'),
    Command(
        ["planner_size.py", "{files}", "{criteria}"], 60, help="the way that the rules propose", records="proposal"
    ),
]
SETTLE: list[Requirement] = [
    Field("approaches", "list", minimum=2, maximum=3, help='each "id | what is done | files | costs | how it fails"'),
    Field("assumptions", "list", maximum=8, help='each "id | what is so | source | what changes if wrong"'),
    Field("recommendation", minimum=20, maximum=500, help="the approach you would take, and what decides"),
    Field("commands", "list", minimum=1, maximum=6, help='each "purpose | command | how it ended today"'),
    Field("strategy", minimum=40, maximum=1200, help="what is tested how, where, and what stays untested and why"),
    Field("against", "list", maximum=7, help='each "criterion | path:line | what is so"; [] if there is nothing'),
    Command([ROWS, "approaches", "{approaches}"], 60, help="each approach has its five parts, and no two are one"),
    Command(
        [ROWS, "assumptions", "{approaches}", "{assumptions}", "{recommendation}"],
        60,
        help="each assumption has its four parts; the recommendation names an approach",
    ),
    Command([ROWS, "testing", "{commands}", "{strategy}"], 60, help="each command has its three parts"),
]
WRITE: list[Requirement] = [
    Field("ran", "list", minimum=1, maximum=20, help='each "command | how it ended"'),
    Artifact(DRAFT, help="the plan as JSON"),
    Command([CHECK, "quick", DRAFT], 60, help="it is a quick plan, of one milestone"),
    Command([DATA, "save", "{plan}", DRAFT], 60, help="saves the plan as a new version"),
    Command([DATA, "collect", "{plan}"], 120, help="computes the diffs, and saves them with the plan"),
    Command([DATA, "check", "{plan}", "--stage", "documented"], 120, help="the plan can be carried out as it stands"),
]
ANSWERS = (
    "By the quick way, as the user chose. On the approaches ({quick-settle.approaches}), the assumptions "
    "({quick-settle.assumptions}) and the testing strategy ({quick-settle.strategy}) the user's answer, given by the "
    "{quick-agree.answered_by}: {quick-agree.answer}\n"
    "What the agent gave is its report of what the user said; nobody confirmed it."
)


def sized(ctx: StepContext) -> Outcome:
    """The user is asked where the rules propose the quick way; else it is the full one."""
    return Outcome.OK if ctx.step_state["proposal"]["way"] == "quick" else Outcome.SKIP


def settled(ctx: StepContext) -> Outcome:
    """What was found against the quick way leads to the full one."""
    return Outcome.SKIP if ctx.step_state["against"] else Outcome.OK


def steps(form: str) -> tuple[list[StepDef], list[StepDef]]:
    """The steps before both ways, and those of the quick way; ``form`` is that of a plan."""
    return _first(), [*_agreed(), _written(form), *_reviewed()]


def _first() -> list[StepDef]:
    return [
        StepDef(
            "size",
            "See how large it is",
            PROMPTS["size"],
            {Outcome.OK: "way", Outcome.SKIP: FIRST_FULL},
            sized,
            needs=["request", "plan"],
            requires=[
                Command(["planner_folder.py", "{plan}"], 60, help="git does not ignore the plan's folder"),
                *SIZE,
            ],
            forbidden=PROMPTS["size (forbidden)"].splitlines(),
            when={
                Outcome.OK: "the rules propose the quick way: the user is asked",
                Outcome.SKIP: "a criterion speaks against it, there are too many files, or nothing was recorded",
            },
        ),
        StepDef(
            "way",
            "Have the user choose the way",
            PROMPTS["way"],
            {Outcome.OK: "quick-explore", Outcome.SKIP: FIRST_FULL},
            person(
                "The change looks small, and cheap to take back.\n\nFiles:\n{size.files}\n\nWhat would speak against "
                "the quick way:\n{size.criteria}\n\nquick: one explorer, one question, one review of plan and code "
                "together.\nfull: three explorers, two questions, three reviews.\nWhich way?",
                {"quick": Outcome.OK, "full": Outcome.SKIP},
                at_terminal=True,
            ),
            needs=["request"],
            when={Outcome.OK: "the user chooses the quick way", Outcome.SKIP: "the user chooses the full way"},
        ),
    ]


def _agreed() -> list[StepDef]:
    return [
        StepDef(
            "quick-explore",
            "Explore the project",
            PROMPTS["quick-explore"],
            {Outcome.OK: "quick-settle"},
            Dispatch(
                AgentRole.EXPLORE,
                script="explore.py",
                targets=(WHOLE,),
                params={"perspective": "{target}", "request": "{request}"},
            ),
            needs=["request"],
            forbidden=PROMPTS["quick-explore (forbidden)"].splitlines(),
        ),
        StepDef(
            "quick-settle",
            "Work out what is to be agreed",
            PROMPTS["quick-settle"],
            {Outcome.OK: "quick-agree", Outcome.SKIP: FIRST_FULL},
            settled,
            needs=["request", "size.criteria", "quick-explore.results"],
            requires=SETTLE,
            forbidden=PROMPTS["quick-settle (forbidden)"].splitlines(),
            when={
                Outcome.OK: "nothing speaks against the quick way: the user is asked",
                Outcome.SKIP: "against is not empty: it is the full way after all",
            },
        ),
        StepDef(
            "quick-agree",
            "Agree with the user",
            PROMPTS["quick-agree"],
            {Outcome.OK: "quick-write"},
            person(
                "Before the change is written.\n\nApproaches:\n{quick-settle.approaches}\n\nRecommended: "
                "{quick-settle.recommendation}\n\nTaken for granted:\n{quick-settle.assumptions}\n\nCommands:\n"
                "{quick-settle.commands}\n\nProof:\n{quick-settle.strategy}\n\nAnswer yes if all of this holds, or say "
                "what is different and which approach to take: no alone does not say what to plan."
            ),
            needs=["request"],
        ),
    ]


def _written(form: str) -> StepDef:
    return StepDef(
        "quick-write",
        "Write the plan and the change",
        [PROMPTS["quick-write"], "", form],
        {Outcome.OK: "quick-review"},
        needs=[
            *("request", "plan", "quick-explore.results", "quick-settle.approaches", "quick-settle.recommendation"),
            *("quick-settle.assumptions", "quick-settle.commands", "quick-settle.strategy", "quick-agree.answer"),
        ],
        requires=WRITE,
        repeat=PROMPTS["quick-write (again)"],
        forbidden=PROMPTS["quick-write (forbidden)"].splitlines(),
        tools=TOOLS,
    )


def _reviewed() -> tuple[StepDef, StepDef]:
    return review_loop(
        "quick",
        work="quick-write",
        passed=None,
        reviewer=Dispatch(
            AgentRole.QUALITY_REVIEWER,
            script="qr/plan_quick.py",
            params={"plan": "{plan}", "request": "{request}", "answers": ANSWERS, "ran": "{quick-write.ran}"},
            covers=[DRAFT, "{plan}/plan.*", "{plan}/.changes"],
        ),
        title="Quick plan",
        actions=[PROMPTS["quick-review"]],
        needs=["request", "plan"],
        forbidden=PROMPTS["quick-review (forbidden)"].splitlines(),
        stale="quick-write",
    )

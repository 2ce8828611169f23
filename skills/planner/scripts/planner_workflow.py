"""The graph of planner: from a request to an approved plan, with three review loops."""

from __future__ import annotations

import os

from skills.lib.prompts import read_prompts
from skills.lib.runtime.loading import load_module
from skills.lib.workflow.core import TOOLS, StepContext, StepDef, Workflow, register_workflow
from skills.lib.workflow.quality import blocking_now, review_loop
from skills.lib.workflow.requirements import Arg, Artifact, Command, Field
from skills.lib.workflow.types import AgentRole, Dispatch, Outcome, person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.workflow.requirements import Requirement
    from skills.lib.workflow.types import Targets

PROMPTS = read_prompts(__file__)
quick = load_module(os.path.join(os.path.dirname(__file__), "planner_quick.py"))
FIRST, QUICK = quick.steps(PROMPTS["form"])

SIDES = (
    "code | Where does the request land: which code does it now, who calls that, what does it call, which data and "
    "formats pass through?",
    "tests and tooling | How is the concerned behaviour tested today, with which helpers, and which commands test, "
    "lint and type-check the project? How does each command end today?",
    "conventions and documents | What do the project's documents, settings and history prescribe or promise that bears "
    "on the request, and which documents would become untrue?",
)
KNOWN = ("request", "discover.results", "testing.strategy", "testing.answer")
# How many findings a sub-agent is handed with its milestone, and how much of each.
HANDED, SHORT = 12, 400
# How many code milestones one reviewer judges: it may make 80 statements.
PART = 4

ROWS = "planner_rows.py"
TESTING: list[Requirement] = [
    Field("commands", "list", minimum=1, maximum=6, help='each "purpose | command | how it ended today"'),
    Field("strategy", minimum=40, maximum=1200, help="what is tested how, where, and what stays untested and why"),
    Command([ROWS, "testing", "{commands}", "{strategy}"], 60, help="each command has its three parts"),
]
APPROACHES: list[Requirement] = [
    Field(
        "approaches", "list", minimum=2, maximum=3, help='each "id | what is done | files | costs | risk"; A1 minimal'
    ),
    Command([ROWS, "approaches", "{approaches}"], 60, help="each approach has its five parts, and no two are one"),
]
ASSUMPTIONS: list[Requirement] = [
    Field("assumptions", "list", maximum=12, help='each "id | what is so | source | what changes if wrong"'),
    Field("recommendation", minimum=20, maximum=500, help="the approach you would take, and what decides"),
    Command(
        [ROWS, "assumptions", "{approaches.approaches}", "{assumptions}", "{recommendation}"],
        60,
        help="each assumption has its four parts; the recommendation names an approach",
    ),
]
MILESTONES: list[Requirement] = [
    Field("code", "list", maximum=40, help="ids of the code milestones; [] if there is none"),
    Field("documentation", "list", maximum=40, help="ids of the documentation milestones; [] if there is none"),
    Artifact("{plan}/draft.json", help="the plan as JSON"),
    Command(
        ["planner_check.py", "{plan}/draft.json", "{code}", "{documentation}"],
        60,
        help="the ids are the draft's",
        records="content",
    ),
    Command(["plan_data.py", "save", "{plan}", "{plan}/draft.json"], 60, help="saves the plan as a new version"),
    Command(
        ["plan_data.py", "check", "{plan}", "--stage", "draft"], 60, help="the plan can be carried out as it stands"
    ),
]


APPROVED_IDS = ("{milestones.code}", "{milestones.documentation}")
COPIES = "{plan}/.changes"
# The versions of the plan with plan.md, which is the latest of them for readers, and the parts that reviewers read.
VERSIONS, PARTS = "{plan}/plan.*", "{plan}/.parts"


def collected(stage: str) -> list[Requirement]:
    """The commands that turn the copies under .changes/ into diffs, and check the plan they are part of."""
    return [
        Command(
            ["planner_check.py", "{plan}", *APPROVED_IDS, "{milestones.content}"],
            60,
            help="the plan and its draft are as they were reviewed, but for the changes",
        ),
        Command(["plan_data.py", "collect", "{plan}"], 120, help="computes the diffs, and saves them with the plan"),
        Command(["plan_data.py", "check", "{plan}", "--stage", stage], 120, help=f"the plan bears checking as {stage}"),
    ]


def explored(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Keep what the explorers could not settle."""
    return Outcome.OK, {
        "unsure": [text for result in ctx.step_state["results"] for text in result.get("values", {}).get("unsure", ())]
    }


def to_develop(ctx: StepContext) -> list[str]:
    """The code milestones whose changes are to be written, each with the findings to fix."""
    return _due(ctx.run_state["milestones"]["code"], ctx.reviews.get("plan-code"))


def to_document(ctx: StepContext) -> list[str]:
    """The milestones whose comments and documents are to be written, each with the findings to fix."""
    milestones = ctx.run_state["milestones"]
    return _due([*milestones["code"], *milestones["documentation"]], ctx.reviews.get("plan-docs"))


def to_review(ctx: StepContext) -> list[str]:
    """The parts of the code that are reviewed at the same time: "code" is all of it, or the milestones of a part."""
    ids = ctx.run_state["milestones"]["code"]
    parts = [" ".join(ids[at : at + PART]) for at in range(0, len(ids), PART)]
    return parts if len(parts) > 1 else ["code"] * len(parts)


def _due(ids: Sequence[str], review: Mapping[str, Any] | None) -> list[str]:
    """Every id; after a failed review those that a finding names, as "id | finding; finding"; all if one names none.

    After a verdict that fell with changed files: the ids of the milestones that these are copies of.
    """
    named: dict[str, list[str]] = {name: [] for name in ids}
    for scope, text in _to_fix(review):
        for name in [name for name in ids if name in scope] or ids:
            named[name].append(text)
    return [_handed(name, texts) for name, texts in named.items() if texts] or list(ids)


def _to_fix(review: Mapping[str, Any] | None) -> list[tuple[list[str], str]]:
    """What sent the run back, each text with the words of its scope."""
    if review and review.get("passed"):
        return [(path.split("/"), f"{path} was changed after its review") for path in review.get("changed", ())]
    if not review or review["status"] != "fail":
        return []
    return [(item["scope"].replace(",", " ").split(), _told(item)) for item in blocking_now(review)]


def _told(item: Mapping[str, str]) -> str:
    place = f" [{item['place']}]" if item.get("place") else ""
    return f"{item['id']}: {(item['finding'] or item['check'])[:SHORT]}{place}"


def _handed(name: str, findings: Sequence[str]) -> str:
    more = [f"and {len(findings) - HANDED} more, which come back with the next review"] * (len(findings) > HANDED)
    return f"{name} | {'; '.join([*findings[:HANDED], *more])}"


def reviewer(script: str, covers: Sequence[str], targets: Targets | None = None, **params: str) -> Dispatch:
    """A quality reviewer who is told the plan and the request, and nothing of what was said on the way."""
    given = {"plan": "{plan}", "request": "{request}", **params}
    role = AgentRole.QUALITY_REVIEWER
    return Dispatch(role, script=f"qr/{script}.py", targets=targets or (), params=given, covers=covers)


def loop(
    checkpoint: str,
    work: str,
    passed: str | None,
    reviewed_by: Dispatch,
    skipped: str = "",
) -> tuple[StepDef, StepDef]:
    """The review step and the gate of a checkpoint."""
    return review_loop(
        checkpoint,
        work=work,
        passed=passed,
        reviewer=reviewed_by,
        actions=[PROMPTS["review"]],
        needs=["plan"],
        forbidden=PROMPTS["review (forbidden)"].splitlines(),
        stale=work,  # there, changed files become a version of the plan, which the reviewers read
        skipped=skipped,
    )


ANSWERS = (
    "On the testing strategy ({testing.strategy}) the user's answer, given by the {testing.answered_by}: "
    "{testing.answer}\n"
    "On the assumptions ({assumptions.assumptions}) and the approach the user's answer, given by the "
    "{assumptions.answered_by}: {assumptions.answer}\n"
    "What the agent gave is its report of what the user said; nobody confirmed it."
)
COMPLETE = loop(
    "plan-completeness",
    "milestones",
    "changes",
    reviewer("plan_completeness", ["{plan}/draft.json", VERSIONS], answers=ANSWERS),
)
CODED = loop(
    "plan-code",
    "changes",
    "document",
    reviewer("plan_code", [COPIES, VERSIONS, PARTS], to_review, part="{target}"),
    skipped="document",
)
# It takes the verdicts on the copies and on the versions over, and is the last to see the version that is approved.
DOCUMENTED = loop("plan-docs", "document", None, reviewer("plan_docs", [COPIES, VERSIONS, PARTS]))

WORKFLOW = Workflow(
    "planner",
    *FIRST,
    StepDef(
        "discover",
        "Explore the project from three sides",
        PROMPTS["discover"],
        {Outcome.OK: "testing"},
        Dispatch(
            AgentRole.EXPLORE,
            script="explore.py",
            targets=SIDES,
            params={"perspective": "{target}", "request": "{request}"},
            then=explored,
        ),
        needs=["request", "plan"],
        forbidden=PROMPTS["discover (forbidden)"].splitlines(),
    ),
    StepDef(
        "testing",
        "Settle how the work is proved",
        PROMPTS["testing"],
        {Outcome.OK: "approaches"},
        person(
            "This is how the finished work would be proved.\n\nCommands:\n{testing.commands}\n\nStrategy:\n"
            "{testing.strategy}\n\nIs that right? Answer yes, or say what should be different: no alone does not "
            "say what to plan."
        ),
        needs=["request", "discover.results"],
        requires=TESTING,
        forbidden=PROMPTS["testing (forbidden)"].splitlines(),
    ),
    StepDef(
        "approaches",
        "Find approaches that differ",
        PROMPTS["approaches"],
        {Outcome.OK: "assumptions"},
        needs=KNOWN,
        requires=APPROACHES,
        forbidden=PROMPTS["approaches (forbidden)"].splitlines(),
    ),
    StepDef(
        "assumptions",
        "Surface what is taken for granted",
        PROMPTS["assumptions"],
        {Outcome.OK: "milestones"},
        person(
            "Before the plan is written: what it would take for granted.\n{assumptions.assumptions}\n\nApproaches:\n"
            "{approaches.approaches}\n\nRecommended: {assumptions.recommendation}\n\nAnswer yes if all of this holds, "
            "or say what is different and which approach to take: no alone does not say what to plan."
        ),
        needs=["request", "discover.unsure", "testing.strategy", "testing.answer", "approaches.approaches"],
        requires=ASSUMPTIONS,
        forbidden=PROMPTS["assumptions (forbidden)"].splitlines(),
    ),
    StepDef(
        "milestones",
        "Choose, and write the plan",
        [PROMPTS["milestones"], "", PROMPTS["form"]],
        {Outcome.OK: "plan-completeness-review"},
        needs=[
            *("request", "plan", "discover.results", "testing.commands", "testing.strategy", "testing.answer"),
            *("approaches.approaches", "assumptions.assumptions", "assumptions.recommendation", "assumptions.answer"),
        ],
        requires=MILESTONES,
        repeat=PROMPTS["milestones (again)"],
        forbidden=PROMPTS["milestones (forbidden)"].splitlines(),
        tools=TOOLS,
    ),
    *COMPLETE,
    StepDef(
        "changes",
        "Have developers write the changes",
        PROMPTS["changes"],
        {Outcome.OK: "plan-code-review", Outcome.SKIP: "plan-code-review"},
        Dispatch(
            AgentRole.DEVELOPER,
            script="dev/fill_changes.py",
            targets=to_develop,
            params={"plan": "{plan}", "milestone": "{target}"},
            cap=40,
        ),
        needs=["plan"],
        requires=collected("coded"),
        forbidden=PROMPTS["changes (forbidden)"].splitlines(),
        when={
            Outcome.OK: "the changes of every code milestone are written and bear checking",
            Outcome.SKIP: "the plan has no code milestone: its review is skipped, too",
        },
    ),
    *CODED,
    StepDef(
        "document",
        "Have technical writers go over the changes",
        PROMPTS["document"],
        {Outcome.OK: "plan-docs-review"},
        Dispatch(
            AgentRole.TECHNICAL_WRITER,
            script="tw/plan_scrub.py",
            targets=to_document,
            params={"plan": "{plan}", "milestone": "{target}"},
            cap=40,
        ),
        needs=["plan"],
        requires=[
            Command(["planner_unchanged.py", "{plan}"], 60, help="the code is as its review approved it"),
            *collected("documented"),
        ],
        forbidden=PROMPTS["document (forbidden)"].splitlines(),
    ),
    *DOCUMENTED,
    *QUICK,
    tools=["read", "search", "write", "shell", "web", "agent", "ask"],
    title="Planner",
    description="Turns a request into an approved plan: explored, agreed with the user, written, reviewed three times.",
    closing=PROMPTS["closing"],
    params=[
        Arg("request", minimum=10, maximum=6000, help="what the user asked for, in their own words"),
        Arg("plan", maximum=120, help="the folder that the plan is kept in, such as plans/retry-queue"),
    ],
    unchecked="whether the plan is any good: it can be carried out, and its reviewers passed it",
)

register_workflow(WORKFLOW)

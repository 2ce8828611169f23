"""The graph of refactor: explore categories, triage, cluster and weigh, synthesize work items, review until passed."""

from __future__ import annotations

from skills.lib import rows
from skills.lib.conventions import convention_sections, get_convention
from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepContext, StepDef, Workflow, digest, register_workflow
from skills.lib.workflow.quality import review_loop
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import AgentRole, Check, Dispatch, Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
CHECK = "check_refactor.py"
# The table and how to choose from it; explorers know the categories of smell.
SEVERITY = get_convention("severity").partition("\n## Categories")[0].strip()
MOST = 16
# Seeds that follow from a scope stay below this, so that one can be typed.
SEEDS = 1_000_000
LEVELS = ("code-quality-baseline", "code-quality-coherence", "code-quality-drift")
# What each category is, by the name of its section. A name is looked up here and never opens a file.
CATEGORIES = {name: get_convention(level, name) for level in LEVELS for name in convention_sections(level)}

PARAMS = [
    Arg("scope", help="the paths to look at, or the question that the refactoring is to answer"),
    Arg("n", "int", minimum=1, maximum=MOST, default=10, help="how many categories are searched"),
    Arg("seed", "int", minimum=0, maximum=SEEDS - 1, required=False, help="picks the categories; else scope does"),
]
GROUND: list[Requirement] = [
    Field("domain", minimum=40, maximum=900, help="what the code is for, its words, what its form must obey"),
    Field("files", "list", minimum=1, maximum=12, help='"path | what is there"'),
    Command([CHECK, "paths", "{files}"], 60, help="each path exists"),
]
TRIAGED: list[Requirement] = [
    Field("triaged", "list", help='one row per finding: "F1 | SHOULD | what you saw", "F2 | drop | why"'),
    Command([CHECK, "triage", "{explore.findings}", "{triaged}"], 60, help="every finding has one row"),
]
CLUSTERED: list[Requirement] = [
    Field(
        "clusters",
        "list",
        minimum=1,
        maximum=30,
        help='"C1 | F1 F4 | root cause | what shows that it is one | refactor, leave or ask | reason, with a place"',
    ),
    Command([CHECK, "clusters", "{triage.holding}", "{clusters}"], 60, help="every finding is in one cluster"),
]
ITEMS: list[Requirement] = [
    Field("edits", "list", maximum=20, required=False, help='in an earlier item: W1 | "old words" -> "new words"'),
    Field("items", "json", required=False, help="work items, in the form that DO gives"),
    Field("strike", "list", maximum=40, required=False, help="ids of items to take out"),
    Field("left", "list", maximum=30, required=False, help='"C2 | why it is left after all, with a place"'),
    Field("path", maximum=300, required=False, help="where the file goes, if the user named a place"),
    Command(
        [
            *("make_items.py", "{items}", "{edits}", "{strike}", "{left}", "{path}"),
            *("{synthesize.kept}", "{synthesize.kept_left}", "{synthesize.items_file}"),
            *("{explore.pick}", "{explore.unread}", "{triage.holding}", "{cluster.clusters}"),
        ],
        60,
        help="ids resolve, the order has no circle, places exist; writes the file",
        records="items_file",
    ),
    Command(
        ["make_items.py", "kept", "{items}", "{edits}", "{strike}", "{synthesize.kept}"],
        60,
        records="kept",
    ),
]
EACH = "synthesize.work_items"
REVIEWED = [
    Check("keeps", "MUST", "what users or callers rely on survives the change, and the proof notices a break", EACH),
    Check("intent", "MUST", "no marker, test, document or commit says that the present form is meant", EACH),
    Check(
        "good",
        "SHOULD",
        "the change is at the cause that the places show; two developers would make the same one, and can ship it "
        "alone; its gain outweighs its risk",
        EACH,
    ),
    Check(
        "sound",
        "MUST",
        "the items of the file as it is now can be carried out without harm; what is left is better left",
    ),
    Check(
        "order", "SHOULD", "what an item needs is required by it, what excludes it is a conflict, and none is needless"
    ),
]


def pick(ctx: StepContext) -> list[str]:
    """What n categories are: those whose digest with the seed comes first, so a larger n only adds to a smaller."""
    seed = seed_of(ctx.workflow_params)
    names = sorted(CATEGORIES, key=lambda name: digest([seed, name]))[: ctx.workflow_params["n"]]
    return [f"{name}: {CATEGORIES[name].partition(chr(10))[2].strip()}" for name in names]


def seed_of(params: Mapping[str, Any]) -> int:
    """The seed that was given, or the one that follows from the scope's words."""
    given = params.get("seed")
    return int(digest(str(params["scope"]).split())[:12], 16) % SEEDS if given is None else int(given)


def number(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """The findings with an id each, what was searched with which seed, and what not; FAIL if nothing was searched."""
    findings: list[str] = []
    unread, searched = [], []
    for result in ctx.step_state["results"]:
        name = result["target"].partition(":")[0]
        if result["status"] != "done":
            unread.append(f"{name}: {result.get('reason', '')}")
            continue
        searched.append(name)
        if result["values"].get("unsearched"):
            unread.append(f"{name}, in part: {result['values']['unsearched']}")
        findings += [
            f"F{at} | {name} | {row}" for at, row in enumerate(result["values"]["findings"], len(findings) + 1)
        ]
    picked = f"seed {seed_of(ctx.workflow_params)}: {', '.join(searched) or 'nothing was searched'}"
    found = {"findings": findings, "unread": unread, "pick": picked}
    return Outcome.OK if searched else Outcome.FAIL, found


def keep(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Go on with the findings that hold, each with the severity and the look of triage; end where none does."""
    kept = {row[0]: row for row in map(cells, ctx.step_state["triaged"]) if row[1] != "drop"}
    holding = [
        " | ".join([*row[:3], kept[row[0]][1], *row[4:], "seen: " + " | ".join(filter(None, kept[row[0]][2:]))])
        for row in map(cells, ctx.run_state["explore"]["findings"])
        if row[0] in kept
    ]
    return Outcome.OK if kept else Outcome.SKIP, {"holding": holding}


def wanted(ctx: StepContext) -> Outcome:
    """Go on where a cluster is to be refactored; end where all are as they were meant to be."""
    rulings = [cells(row)[4] for row in ctx.step_state["clusters"]]
    return Outcome.OK if "refactor" in rulings else Outcome.SKIP


def assemble(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """The ids of the items as they stand after this round, and the clusters that are left after all."""
    state = ctx.step_state
    left = state.get("left", state.get("kept_left", []))
    return Outcome.OK, {"kept_left": left, "work_items": [item["id"] for item in state["kept"]]}


def cells(row: str) -> Sequence[str]:
    """The parts of a row, four at least."""
    parts = rows.cells(row)
    return [*parts, *[""] * (4 - len(parts))]


def forbidden(step: str) -> list[str]:
    """What the prompts forbid in that step, a rule a line."""
    return PROMPTS[f"{step} (forbidden)"].splitlines()


WORKFLOW = Workflow(
    "refactor",
    StepDef(
        "context",
        "Learn what the code is for",
        PROMPTS["context"],
        {Outcome.OK: "explore"},
        needs=["scope"],
        requires=GROUND,
        forbidden=forbidden("context"),
    ),
    StepDef(
        "explore",
        "Explore the categories",
        PROMPTS["explore"],
        {Outcome.OK: "triage", Outcome.FAIL: None},
        Dispatch(
            AgentRole.EXPLORE,
            script="explore.py",
            targets=pick,
            params={"category": "{target}", "domain": "{context.domain}", "files": "{context.files}"},
            cap=MOST,
            then=number,
        ),
        forbidden=forbidden("explore"),
        when={
            Outcome.OK: "every sub-agent has finished, or is accounted for as lost",
            Outcome.FAIL: "all are lost, so that nothing was searched: the run ends as failed",
        },
    ),
    StepDef(
        "triage",
        "Triage the findings",
        [PROMPTS["triage"], "", SEVERITY],
        {Outcome.OK: "cluster", Outcome.SKIP: None},
        keep,
        needs=["scope", "explore.pick", "explore.findings", "explore.unread"],
        requires=TRIAGED,
        forbidden=forbidden("triage"),
        when={Outcome.OK: "a finding holds", Outcome.SKIP: "none holds: tell the user what was searched, and why"},
    ),
    StepDef(
        "cluster",
        "Cluster by root cause, and weigh against intent",
        [PROMPTS["cluster"], "", get_convention("intent-markers")],
        {Outcome.OK: "synthesize", Outcome.SKIP: None},
        wanted,
        needs=["scope", "explore.pick", "explore.unread", "triage.holding"],
        requires=CLUSTERED,
        forbidden=forbidden("cluster"),
        when={
            Outcome.OK: "a cluster is worth refactoring",
            Outcome.SKIP: "none is: tell the user what was found and why it stays as it is",
        },
    ),
    StepDef(
        "synthesize",
        "Write the work items",
        [PROMPTS["synthesize"], "", PROMPTS["form"]],
        {Outcome.OK: "work-items-review"},
        assemble,
        needs=["triage.holding", "cluster.clusters", "synthesize.items_file"],
        requires=ITEMS,
        repeat=PROMPTS["synthesize (again)"],
        forbidden=forbidden("synthesize"),
    ),
    *review_loop(
        "work-items",
        work="synthesize",
        passed=None,
        reviewer=Dispatch(
            AgentRole.QUALITY_REVIEWER,
            task=PROMPTS["review (task)"],
            checks=REVIEWED,
            covers=["{synthesize.items_file}"],
        ),
        actions=[PROMPTS["review"]],
    ),
    forbidden=PROMPTS["forbidden"].splitlines(),
    title="Refactor",
    description="Finds what is worth refactoring and hands over reviewed work items.",
    closing=PROMPTS["closing"],
    params=PARAMS,
    unchecked="whether a search that found nothing was made with care",
)

register_workflow(WORKFLOW)

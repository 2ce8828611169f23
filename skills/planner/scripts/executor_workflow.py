"""The graph of planner-executor: from an approved plan to code and documents that were reviewed and run green."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepContext, StepDef, Workflow, register_workflow
from skills.lib.workflow.quality import blocking_now, review_loop
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import AgentRole, Check, Dispatch, ItemStatus, Outcome, person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)

# What a sub-agent is handed of each finding, and how many; a result is kept for the end in as much.
HANDED, SHORT = 12, 400
# The way of a plan with one milestone and one review.
QUICK = "quick"
# As many sub-agents as a plan has milestones at most.
MOST = 40
# A milestone that this many developers were lost over is left to the review.
LOST_AT_MOST = 2
# How much of what was red at the end is told to its developer, and how often the work goes back from there.
MOST_RED, BACK_AT_MOST = 2_000, 3


WAVES: list[Requirement] = [
    Command(
        ["executor_approval.py", "{plan}", "{unapproved}"],
        60,
        help="a run of planner approved this plan",
        records="approval",
    ),
    Command(
        ["plan_data.py", "work", "{plan}"],
        120,
        help="its changes are there and fit the tree; its waves, files and promises",
        records="work",
    ),
]
APPLY: list[Requirement] = [
    Command(
        ["executor_tree.py", "apply", "{plan}", "{waves.approval}", "{waves.outside}"],
        7200,
        help="puts the approved changes into the tree, and runs the plan's commands",
        records="tree",
    ),
]
DIFFERS = Command(
    ["executor_tree.py", "differs", "{plan}", "{apply.outside}"],
    120,
    help="what in the tree is not as it was approved",
    records="differs",
)
RETROSPECTIVE: list[Requirement] = [
    Field("ends", choices=("green", "red"), help="red where something is to be fixed in the work: it goes back"),
    Field(
        "summary", minimum=40, maximum=1500, help="what the project does now that it did not; or what is red, and why"
    ),
    Field(
        "departures",
        "list",
        maximum=20,
        help='each "milestone | planned | done | why"; [] if there is none',
        waives="what the plan says",
    ),
    Field("lessons", "list", maximum=10, help='each "what happened | what to do next time"; [] if there is none'),
    Field("open", "list", maximum=20, help='each "what is open | who can close it"; [] if nothing is'),
    Command(
        ["executor_approval.py", "{plan}", "{unapproved}", "{waves.approval}"],
        60,
        help="the plan was not changed since",
    ),
    Command(
        ["executor_proof.py", "{plan}", "{ends}", "{departures}"],
        7200,
        help="each change of the plan is in the tree or among the departures, and its commands end with 0",
        records="proof",
    ),
    DIFFERS,
]


def planned(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """The user is asked before the first wave, unless the run was begun with a reason to go without their approval."""
    work = ctx.step_state["work"]
    names = ("waves", "files", "promises", "documents", "described")
    kept = {"way": work.get("way", "full"), **{name: work[name] for name in names}, "outside": work.get("outside", {})}
    return (Outcome.SKIP if ctx.workflow_params["unapproved"] else Outcome.OK), kept


def applied(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Developers get what could not be put in, and what is red; the end comes next if there is nothing to judge."""
    tree = ctx.step_state["tree"]
    kept = {name: tree[name] for name in ("moved", "red", "outside")}
    return (Outcome.FAIL if tree["moved"] or tree["red"] else Outcome.OK), kept


def proved(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """What is red goes back to the developers, and what differs from the plan and was not judged to a review."""
    if ctx.step_state["ends"] == "red":
        return Outcome.FAIL, {}
    differs = ctx.step_state["differs"]
    if _unjudged(ctx, differs):
        return Outcome.ITERATE, {"sent": differs}
    return Outcome.OK, {}


def _unjudged(ctx: StepContext, differs: Sequence[str]) -> list[str]:
    """What differs from the plan and no review has seen as it is; what a review covers is held by its verdict."""
    code, documents = ("implementation-code" in ctx.reviews, "implementation-docs" in ctx.reviews)
    waves = ctx.run_state["waves"]
    held = {*(waves["files"] if code or documents else ()), *(waves["documents"] if documents else ())}
    seen = {*ctx.step_state.get("sent", ())}
    if code or documents:
        seen |= {*ctx.run_state.get("implement", {}).get("differs", ())}
    return [entry for entry in differs if entry not in seen and _parts(entry)[0] not in held]


def _parts(entry: str) -> list[str]:
    """The path, milestone and digest of a file that differs."""
    return entry.rsplit(" | ", 2)


def _differs(ctx: StepContext) -> list[str]:
    """What differs from the plan, as was seen after the last work on code, and at the end."""
    states = (
        ctx.run_state.get("implement", {}).get("differs", ()),
        ctx.run_state.get("retrospective", {}).get("sent", ()),
    )
    return list(dict.fromkeys(entry for entries in states for entry in entries))


def to_review(ctx: StepContext) -> list[str]:
    """The work as one target of the review, if it differs from the plan.

    What differs in documents alone is for the review of documents, which a quick plan does not have.
    """
    waves, review = ctx.run_state["waves"], ctx.reviews.get("implementation-code")
    if review and (not review.get("passed") or review.get("changed")):
        return ["code"]
    others = () if waves["way"] == QUICK else waves["documents"]
    if any(_parts(entry)[0] not in others for entry in _differs(ctx)):
        return ["code"]
    return []


def to_promise(ctx: StepContext) -> list[str]:
    """The promises of the milestones whose files differ from the plan; all of them if other files do, or none."""
    waves = ctx.run_state["waves"]
    promises = [*waves["promises"], *(waves["described"] if waves["way"] == QUICK else ())]
    names = {_parts(entry)[1] for entry in _differs(ctx)}
    mine = [text for text in promises if text.partition(".")[0] in names]
    return promises if "outside" in names or not mine else mine


def to_reconcile(ctx: StepContext) -> list[str]:
    """Every code milestone whose files were changed since the plan was made, or none where the check was declined."""
    return _names(_moved(ctx)) if ctx.workflow_params["reconciliation_check"] else []


def _moved(ctx: StepContext) -> list[list[str]]:
    """The milestones for developers that could not be put in, wave by wave; in a quick plan also those of documents."""
    waves, moved = ctx.run_state["waves"], ctx.run_state["apply"]["moved"]
    kinds = ("code", "documentation") if waves["way"] == QUICK else ("code",)
    left = [[name for name in wave if name in moved] for kind in kinds for wave in waves["waves"][kind]]
    return [wave for wave in left if wave]


def reconciled(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Keep what each reviewer judged; a milestone whose reviewer was lost counts as not done."""
    standing, missing = {}, {}
    for result in ctx.step_state["results"]:
        judged = result.get("values", {}).get("judged", {})
        standing[result["target"]] = judged.get("status", "NOT")
        missing[result["target"]] = "; ".join(judged.get("missing", ()))[:SHORT]
    return Outcome.OK, {"standing": standing, "missing": missing}


def to_implement(ctx: StepContext) -> list[str]:
    """The milestones of the first wave that is not done, or after a failed review those that findings name.

    Where no milestone is left, one developer fixes what is red, if anything is.
    """
    found = _open_findings(ctx.reviews.get("implementation-code"))
    if found:
        return _to_fix(found, ctx.run_state["waves"]["waves"]["code"])
    seen = ctx.run_state.get("reconcile", {})
    partly = {name for name, status in seen.get("standing", {}).items() if status == "PARTIAL"}
    wave = next(iter(_left(ctx, ctx.step_state.get("done", []), ctx.step_state.get("lost", []))), [])
    told = [f"{name} | in part there, missing: {seen['missing'][name]}" if name in partly else name for name in wave]
    red = (_red(ctx) or _red_at_first(ctx)) if ctx.run_state["waves"]["waves"]["code"] else ""
    return told or ([f"all findings | {red}"] if red else [])


def implemented(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Go on with the next wave while one is left; a milestone whose developer was lost comes once again."""
    results = ctx.step_state["results"]
    log = [*ctx.step_state.get("log", []), *[_logged(result) for result in results]]
    if _open_findings(ctx.reviews.get("implementation-code")):
        return Outcome.OK, {"log": log}
    done, lost = [*ctx.step_state.get("done", [])], [*ctx.step_state.get("lost", [])]
    for result in results:
        (done if result["status"] == "done" else lost).append(result["target"].partition(" | ")[0])
    left = _left(ctx, done, lost)
    return (Outcome.ITERATE if left else Outcome.OK), {"done": done, "lost": lost, "log": log}


def to_document(ctx: StepContext) -> list[str]:
    """One writer, with what is due: findings, milestones of documents, and what differs from the plan.

    None if nothing is due, and in a quick plan, whose one review judges its documents too.
    """
    found = _open_findings(ctx.reviews.get("implementation-docs"))
    if found:
        return [_handed("all", found)]
    waves = ctx.run_state["waves"]
    moved = [name for name in _names(waves["waves"]["documentation"]) if name in ctx.run_state["apply"]["moved"]]
    files = [_parts(entry)[0] for entry in _differs(ctx)]
    due = [f"bring in {', '.join(moved)}"] * bool(moved)
    due += [f"not as approved: {', '.join(files)[:MOST_RED]}"] * bool(files)
    due += [_red(ctx)] * bool(_red(ctx) and not waves["waves"]["code"])
    return [f"all | {'; '.join(due)}"] if due and waves["way"] != QUICK else []


def to_read(ctx: StepContext) -> list[str]:
    """The documents as one target of their review, if a writer was at work, or a verdict on them is open or fell."""
    review = ctx.reviews.get("implementation-docs")
    is_open = review is not None and (not review.get("passed") or bool(review.get("changed")))
    return ["documents"] if is_open or ctx.run_state["document"].get("results") else []


def _red(ctx: StepContext) -> str:
    """What is red at the end, as who is to fix it is told of it; empty if nothing is."""
    ended = ctx.run_state.get("retrospective", {})
    if ended.get("ends") != "red":
        return ""
    return " ".join(f"{ended['summary']} {'; '.join(ended['proof'])}".split())[:MOST_RED]


def _red_at_first(ctx: StepContext) -> str:
    """What was red once the plan was put in, until somebody has worked on it."""
    begun = ctx.run_state.get("implement", {}).get("log") or "implementation-code" in ctx.reviews
    return "" if begun else str(ctx.run_state["apply"]["red"])


def _names(waves: Sequence[Sequence[str]]) -> list[str]:
    return [name for wave in waves for name in wave]


def _left(ctx: StepContext, done: Sequence[str], lost: Sequence[str]) -> list[list[str]]:
    """The code that is still to be written, wave by wave, without what too many developers were lost over."""
    standing = ctx.run_state.get("reconcile", {}).get("standing", {})
    satisfied = [name for name, status in standing.items() if status == "SATISFIED"]
    settled = {*done, *satisfied, *[name for name in lost if lost.count(name) >= LOST_AT_MOST]}
    left = [[name for name in wave if name not in settled] for wave in _moved(ctx)]
    return [wave for wave in left if wave]


def _open_findings(review: Mapping[str, Any] | None) -> list[Mapping[str, str]]:
    """What blocks since the last review; what a lost reviewer never looked at is to be reviewed, not fixed."""
    if not review or review["status"] != "fail":
        return []
    return [item for item in blocking_now(review) if item["status"] != ItemStatus.TODO]


def _to_fix(found: Sequence[Mapping[str, str]], waves: Sequence[Sequence[str]]) -> list[str]:
    """A target for each milestone that findings name; one for all where these could come into each other's files."""
    named: dict[str, list[Mapping[str, str]]] = {}
    known = _names(waves)
    for item in found:
        scope = [name.partition(".")[0] for name in item["scope"].replace(",", " ").split()]
        for name in [name for name in dict.fromkeys(scope) if name in known] or ["all findings"]:
            named.setdefault(name, []).append(item)
    if len(named) > 1 and not any(set(named) <= set(wave) for wave in waves):
        return [_handed(", ".join(named), found)]
    return [_handed(name, items) for name, items in named.items()]


def _handed(head: str, found: Sequence[Mapping[str, str]]) -> str:
    told = [f"{item['id']}: {(item['finding'] or item['check'])[:SHORT]}" for item in found[:HANDED]]
    if len(found) > HANDED:
        told.append(f"and {len(found) - HANDED} more, which come back with the next review")
    return f"{head} | {'; '.join(told)}"


def _logged(result: Mapping[str, Any]) -> str:
    told = result["values"]["result"] if result["status"] == "done" else f"lost: {result['reason']}"
    return f"{result['target'][:SHORT]}: {told[:SHORT]}"


# The plan with its commands, which are run for the reviewers, and the parts of it that they read.
PLAN = ("{plan}/plan.*", "{plan}/.parts")
REVIEWING = PROMPTS["review (forbidden)"].splitlines()


def loop(checkpoint: str, work: str, passed: str, skipped: str = "", **reviewer: Any) -> tuple[StepDef, StepDef]:
    """The review step and the gate of a checkpoint."""
    return review_loop(
        checkpoint,
        work=work,
        passed=passed,
        reviewer=Dispatch(
            AgentRole.QUALITY_REVIEWER,
            script=f"qr/{checkpoint.replace('-', '_')}.py",
            params={"plan": "{plan}"},
            **reviewer,
        ),
        actions=[PROMPTS["review"]],
        needs=["plan"],
        forbidden=REVIEWING,
        skipped=skipped,
    )


CODE = loop(
    "implementation-code",
    "implement",
    "document",
    skipped="document",
    targets=to_review,
    checks=[Check("promise", "MUST", "holds", to_promise)],
    covers=["{waves.files}", *PLAN],
)
DOCS = loop(
    "implementation-docs",
    "document",
    "retrospective",
    skipped="retrospective",
    targets=to_read,
    checks=[Check("promise", "MUST", "holds", "waves.described")],
    covers=["{waves.files}", "{waves.documents}", *PLAN, "**/*.{md,rst,adoc}"],
)

WORKFLOW = Workflow(
    "planner-executor",
    StepDef(
        "waves",
        "Plan the waves",
        PROMPTS["waves"],
        {Outcome.OK: "approve", Outcome.SKIP: "apply"},
        planned,
        needs=["plan"],
        requires=WAVES,
        forbidden=PROMPTS["waves (forbidden)"].splitlines(),
        when={
            Outcome.OK: "the user is asked whether the plan is to be carried out",
            Outcome.SKIP: "the run was begun with a reason to go without that",
        },
    ),
    StepDef(
        "approve",
        "Have the user approve it",
        PROMPTS["approve"],
        {Outcome.OK: "apply", Outcome.FAIL: None},
        person(
            "Shall the plan in {plan} be carried out? It is {waves.approval}; plan.md in that folder can be read. "
            "approve begins with the first wave, decline ends this run and changes nothing.",
            {"approve": Outcome.OK, "decline": Outcome.FAIL},
            at_terminal=True,
        ),
        needs=["plan", "waves.approval"],
        when={Outcome.OK: "the user approves it", Outcome.FAIL: "the user does not"},
    ),
    StepDef(
        "apply",
        "Put in what was approved",
        PROMPTS["apply"],
        {Outcome.OK: "retrospective", Outcome.FAIL: "reconcile"},
        applied,
        needs=["plan"],
        requires=APPLY,
        forbidden=PROMPTS["apply (forbidden)"].splitlines(),
        when={
            Outcome.OK: "the tree is as approved, and the plan's commands ended with 0",
            Outcome.FAIL: "files of the plan were changed since it was made, or a command is red",
        },
    ),
    StepDef(
        "reconcile",
        "Find out what is done already",
        PROMPTS["reconcile"],
        {Outcome.OK: "implement", Outcome.SKIP: "implement"},
        Dispatch(
            AgentRole.QUALITY_REVIEWER,
            script="qr/reconciliation.py",
            targets=to_reconcile,
            params={"plan": "{plan}", "milestone": "{target}"},
            cap=MOST,
            then=reconciled,
        ),
        needs=["plan", "apply.moved"],
        forbidden=REVIEWING,
        when={
            Outcome.OK: "each code milestone is judged SATISFIED, PARTIAL or NOT, or its reviewer is accounted for",
            Outcome.SKIP: "the check was declined, or no code milestone is left",
        },
    ),
    StepDef(
        "implement",
        "Implement a wave",
        PROMPTS["implement"],
        {
            Outcome.OK: "implementation-code-review",
            Outcome.ITERATE: "implement",
            Outcome.SKIP: "implementation-code-review",
        },
        Dispatch(
            AgentRole.DEVELOPER,
            task=PROMPTS["implement (task)"],
            targets=to_implement,
            cap=MOST,
            then=implemented,
        ),
        requires=[DIFFERS],
        needs=["plan", "apply.moved", "reconcile.standing", "implement.done"],
        forbidden=PROMPTS["implement (forbidden)"].splitlines(),
        when={
            Outcome.OK: "the last wave is implemented, or the findings are fixed",
            Outcome.ITERATE: "a milestone is left: its wave comes next",
            Outcome.SKIP: "no code is to be written or fixed",
        },
        allow={
            "read-on-some-paths:reconcile.standing": "what was put in as approved is not reconciled",
            "loop-without-bound": "each entry finishes milestones of the plan, or loses a developer, at most twice",
        },
    ),
    *CODE,
    StepDef(
        "document",
        "Have the work documented",
        PROMPTS["document"],
        {Outcome.OK: DOCS[0].id, Outcome.SKIP: DOCS[0].id},
        Dispatch(
            AgentRole.TECHNICAL_WRITER,
            script="tw/post_implementation.py",
            targets=to_document,
            params={"plan": "{plan}", "assignment": "{target}"},
        ),
        needs=["plan"],
        forbidden=PROMPTS["document (forbidden)"].splitlines(),
        when={
            Outcome.OK: "the writer is done, or accounted for",
            Outcome.SKIP: "the documents are as approved, and so is the code that they tell of",
        },
    ),
    *DOCS,
    StepDef(
        "retrospective",
        "Prove it, and look back",
        PROMPTS["retrospective"],
        {Outcome.OK: None, Outcome.FAIL: "implement", Outcome.ITERATE: CODE[0].id},
        proved,
        needs=["plan", "unapproved", "implement.differs", "implement.log", "document.results"],
        requires=RETROSPECTIVE,
        forbidden=PROMPTS["retrospective (forbidden)"].splitlines(),
        max_iterations=BACK_AT_MOST,
        allow={
            f"read-on-some-paths:{name}": "nobody worked on what was put in as approved"
            for name in ("implement.differs", "implement.log", "document.results")
        },
        when={
            Outcome.OK: "all is green, and what differs from the plan was judged",
            Outcome.ITERATE: "a file is not as it was approved, and nobody has judged that",
            Outcome.FAIL: "something is red that developers are to fix: it is reviewed again after that",
        },
    ),
    title="Plan executor",
    closing=PROMPTS["closing"],
    description="Carries out an approved plan wave by wave: implemented, reviewed, documented, run green at the end.",
    params=[
        Arg("plan", maximum=120, help="the folder that the plan is kept in, such as plans/retry-queue"),
        Arg("reconciliation_check", "bool", default=True, help="false where nothing of the plan can be done already"),
        Arg(
            "unapproved",
            default="",
            maximum=300,
            help="why a plan is carried out that no run of planner, or no user at a terminal, approved",
            waives="the approval of the plan by planner and by the user",
        ),
    ],
    unchecked="whether somebody read the changes before they went in",
)

register_workflow(WORKFLOW)

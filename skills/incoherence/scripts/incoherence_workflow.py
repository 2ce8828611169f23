"""The graph of incoherence: find and judge by sub-agents, settle with the user in batches, reconcile in waves."""

from __future__ import annotations

import os

from skills.lib.prompts import read_prompts, read_resource
from skills.lib.workflow.core import StepContext, StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Command, Field
from skills.lib.workflow.types import AgentRole, Dispatch, Outcome, person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from skills.lib.workflow.core import Handler
    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
VERDICTS = read_resource(__file__, "verdicts.md").strip()
# Each dimension under its letter: heading, what it compares, how to look, what counts.
DIMENSIONS = {part[0]: part.strip() for part in read_resource(__file__, "dimensions.md").split("\n## ")[1:]}
HEADS = [text.split("\nLook:")[0].replace("\n\nCompares:", ":") for text in DIMENSIONS.values()]
CATALOGUE = "\n".join("   " + head.replace("\n", "\n      ") for head in HEADS)

BATCH = 4
# No more items than waves, so that a plan whose items all touch one file is still carried out.
ITEMS = WAVES = 6

SURVEY: list[Requirement] = [
    Field("scope", minimum=20, maximum=600, help="what is to be checked and what for, in the user's words"),
    Field("sources", "list", minimum=1, maximum=20, help='each "path | kind | what it states"'),
    Field("left_out", maximum=600, required=False, help="what is not looked at, with the reason"),
    Command(["check_incoherence.py", "sources", "{sources}"], 60, help="each source begins with a path that exists"),
]
CHOICE: list[Requirement] = [
    Field("dimensions", "list", minimum=1, maximum=6, help='each "letter | paths on both sides | what could disagree"'),
    Field("skipped", "list", maximum=9, help='every other letter: "letter | reason"'),
    Command(["check_incoherence.py", "dimensions", "{dimensions}", "{skipped}"], 60, help="every letter stands once"),
]
CANDIDATES: list[Requirement] = [
    Field("joined", "list", maximum=12, help='"I1 | A1, C2" or "I1 | A1, C2 | what it says besides"'),
    Field("dropped", "list", maximum=60, required=False, help='findings that became no candidate: "A3 | reason"'),
    Command(
        ["check_incoherence.py", "candidates", "{explore.found}", "{joined}", "{dropped}"],
        60,
        help="every finding is in one candidate, or dropped",
    ),
]
ANALYSIS: list[Requirement] = [
    Field(
        "listed",
        "list",
        maximum=12,
        help='in order of presentation: "I1 | title"; to correct: "I1 | drift | SHOULD | title"',
    ),
    Field("dismissed", "list", maximum=12, required=False, help='"I2 | false-alarm, duplicate or unjudged | reason"'),
    Command(
        [
            "check_incoherence.py",
            "verdicts",
            "{candidates.candidates}",
            "{deep-dive.judged}",
            "{listed}",
            "{dismissed}",
        ],
        60,
        help="every candidate stands once, with a word that it may have",
    ),
]
ENTRIES: list[Requirement] = [
    Field("entries", "list", maximum=BATCH, required=False, help="texts in place of those that a script makes"),
    Command(
        [
            *("check_incoherence.py", "batch", "{verdicts.due}", "{collect-answers.due}", "{verdicts.issues}"),
            *("{deep-dive.judged}", "{collect-answers.asked}", "{entries}"),
        ],
        60,
        help="makes the entry of each issue that is due; each has lettered options and one recommendation",
        records="shown",
    ),
]
RESOLUTIONS: list[Requirement] = [
    Field(
        "resolutions",
        "list",
        minimum=1,
        maximum=BATCH,
        help='"I1 | a", "I1 | own | what is to be done", "I2 | deferred | why"',
    ),
    Command(
        ["check_incoherence.py", "resolutions", "{batch.shown}", "{resolutions}"],
        60,
        help="every issue of the batch stands once, resolved, deferred, rejected or again",
    ),
]
PLAN: list[Requirement] = [
    Field("items", "list", minimum=1, maximum=ITEMS, help='"W1 | I1, I3 | files | how one sees it", and what else'),
    Command(
        ["check_incoherence.py", "plan", "{collect-answers.log}", "{items}"],
        60,
        help="every resolved issue is in one item; every file exists, or is marked (new)",
    ),
]
WAVE: list[Requirement] = [
    Field("outcomes", "list", minimum=1, maximum=ITEMS, help='"W1 | applied | path:line "quote"", "W2 | again | why"'),
    Field("ran", maximum=600, help="what was run, and how it ended; or none, and why"),
    Command(
        ["check_incoherence.py", "wave", "{reconcile.wave}", "{outcomes}"],
        60,
        help="every item of the wave stands once; what is applied is quoted from its file",
    ),
]
REPORT: list[Requirement] = [
    Field("summary", minimum=40, maximum=1500, help="what the user should know first"),
    Field("path", maximum=300, required=False, help="where the report goes, if the user named a place"),
    Command(
        [
            *("incoherence_report.py", "{summary}", "{path}", "{survey.left_out}", "{dimensions.dimensions}"),
            *("{dimensions.skipped}", "{explore.unread}", "{candidates.candidates}", "{candidates.dropped}"),
            *("{verdicts.issues}", "{verdicts.dismissed}", "{collect-answers.log}", "{collect.endings}"),
            *("{collect.log}", "{collect.notes}", "{collect.ran}"),
        ],
        60,
        help="writes the report, with a line for each candidate",
        records="report",
    ),
]


def cells(entry: str) -> list[str]:
    """The parts of an entry that bars separate."""
    return [part.strip() for part in entry.split("|")]


def name(entry: str) -> str:
    """The id that an entry begins with."""
    return cells(entry)[0]


def brief(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Give each chosen dimension its page of the catalogue: all that its explorer will see."""
    chosen = ctx.step_state["dimensions"]
    return Outcome.OK, {"briefs": [f"{entry}\n\n{DIMENSIONS.get(name(entry), '')}".strip() for entry in chosen]}


def gather(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Number what the explorers found by dimension (A1, A2, C1); SKIP if nothing was found, FAIL if nobody looked."""
    found, unread, looked = [], [], False
    for child in ctx.step_state["results"]:
        letter = name(child["target"])
        if child["status"] != "done":
            unread.append(f"{letter} | nobody looked: {child['reason']}")
            continue
        looked = True
        values = child["values"]
        found += [f"{letter}{at} | {finding}" for at, finding in enumerate(values.get("findings", ()), 1)]
        said = values.get("unread", "none")
        unread.append(f"{letter} | {said if isinstance(said, str) else '; '.join(said)}")
    outcome = Outcome.OK if found else Outcome.SKIP if looked else Outcome.FAIL
    return outcome, {"found": found, "unread": unread}


def admit(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Make each candidate of its first finding and what is said besides; go on if there is one."""
    found = {name(row): row.partition("|")[2].strip() for row in ctx.run_state["explore"]["found"]}
    made = []
    for row in ctx.step_state["joined"]:
        own, used, besides = [*row.split("|", 2), ""][:3]
        text = found[used.split(",")[0].strip()] + (f"; {besides.strip()}" if besides.strip() else "")
        made.append(f"{own.strip()} | {text} | {used.strip()}")
    return Outcome.OK if made else Outcome.SKIP, {"candidates": made}


def judged(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Put each candidate beside its verdict; one whose sub-agent was lost is unjudged; FAIL if all are."""
    found = []
    for child in ctx.step_state["results"]:
        done = child["status"] == "done"
        values = {key: value for key, value in child.get("values", {}).items() if key not in ("evidence", "history")}
        said = values if done else {"verdict": "unjudged", "why": f"nobody looked: {child['reason']}"}
        found.append({"candidate": child["target"], **said})
    looked = any(child["status"] == "done" for child in ctx.step_state["results"])
    return Outcome.OK if looked else Outcome.FAIL, {"judged": found}


def confirm(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Ask the user if there is anything to ask, about the first four issues first; a title has the verdict it got."""
    judged = {name(one["candidate"]): one for one in ctx.run_state["deep-dive"]["judged"]}
    issues = []
    for entry in ctx.step_state["listed"]:
        issue, *said = cells(entry)
        given = said if len(said) > 1 else [judged[issue]["verdict"], judged[issue]["severity"], *said]
        issues.append(" | ".join([issue, *given]))
    due = [name(entry) for entry in issues][:BATCH]
    return Outcome.OK if issues else Outcome.SKIP, {"issues": issues, "due": due}


def settle(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Keep what was answered; ITERATE while an issue is open, then OK if any is to be resolved."""
    given = [in_full(entry, ctx.run_state["batch"]["shown"]) for entry in ctx.step_state["resolutions"]]
    log = [*ctx.step_state.get("log", ()), *[entry for entry in given if cells(entry)[1:2] != ["again"]]]
    asked = [entry for entry in given if cells(entry)[1:2] == ["again"]]
    answered = [name(entry) for entry in log]
    due = [issue for issue in map(name, ctx.run_state["verdicts"]["issues"]) if issue not in answered][:BATCH]
    resolved = [entry for entry in log if cells(entry)[1:2] == ["resolved"]]
    outcome = Outcome.ITERATE if due else Outcome.OK if resolved else Outcome.SKIP
    return outcome, {"log": log, "asked": asked, "due": due}


def in_full(resolution: str, shown: Sequence[str]) -> str:
    """A resolution with what its option says: "I1 | resolved | a | what is to be done"."""
    issue, word, *rest = cells(resolution)
    if word == "own":
        return " | ".join([issue, "resolved", word, *rest])
    if word not in ("a", "b", "c", "d"):
        return resolution
    entry = next(text for text in shown if text.startswith(f"{issue}:"))
    option = next(line for line in entry.splitlines() if line.startswith(f"{word}) "))[3:].partition("; costs: ")[0]
    return " | ".join([issue, "resolved", word, "; ".join([option, *rest])])


def files(item: str) -> set[str]:
    """The files that an item of the plan touches, each written one way only."""
    named = [*item.split("|"), "", ""][2].split(",")
    paths = [path.strip().removesuffix("(new)").strip(" `") for path in named]
    return {os.path.normpath(path) for path in paths if path}


def wave(ctx: StepContext) -> list[str]:
    """The open items of which none shares a file with an earlier open one; what failed before is told."""
    state = ctx.run_state.get("collect", {})
    closed = [name(entry) for entry in state.get("log", ())]
    before = {name(entry): entry for entry in state.get("again", ())}
    chosen, touched = [], set[str]()
    for item in ctx.run_state["plan"]["items"]:
        if name(item) in closed:
            continue
        if not touched & files(item):
            told = before.get(name(item))
            chosen.append(f"{item}\nTried before: {told.split('|', 2)[2].strip()}" if told else item)
        touched |= files(item)
    return chosen


def came_back(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Say which items the wave was made of."""
    return Outcome.OK, {"wave": [name(child["target"]) for child in ctx.step_state["results"]]}


def close(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Keep what a wave came to and what its notes say; ITERATE while an item is open, unfinished at the limit."""
    given = ctx.step_state["outcomes"]
    log = [*ctx.step_state.get("log", ()), *[entry for entry in given if cells(entry)[1:2] != ["again"]]]
    again = [entry for entry in given if cells(entry)[1:2] == ["again"]]
    came = {name(entry): cells(entry)[1:2] for entry in log}
    plan = ctx.run_state["plan"]["items"]
    endings = []
    for item in plan:
        word = "".join(came.get(name(item), ["unfinished"]))
        endings += [f"{issue.strip()} | {word} | {name(item)}" for issue in cells(item)[1].split(",")]
    left = [item for item in plan if name(item) not in came]
    said = [(name(child["target"]), child["values"].get("note", "none")) for child in _done(ctx)]
    notes = [*ctx.step_state.get("notes", ()), *[f"{item} | {note}" for item, note in said if note.lower() != "none"]]
    kept = {"log": log, "again": again, "endings": endings, "notes": notes}
    return Outcome.ITERATE if left else Outcome.OK, kept


def _done(ctx: StepContext) -> list[dict[str, Any]]:
    """The reconcilers of the last wave that came back."""
    return [child for child in ctx.run_state["reconcile"]["results"] if child["status"] == "done"]


def step(
    id: str,
    title: str,
    ways: dict[Outcome, tuple[str | None, str]],
    handler: Handler | Dispatch | None = None,
    needs: Sequence[str] = (),
    requires: Sequence[Requirement] = (),
    actions: Sequence[str] = (),
    **more: Any,
) -> StepDef:
    """One step: its prompts stand under its id; ``ways`` says for each outcome where it leads and when."""
    routes = {outcome: target for outcome, (target, _) in ways.items()}
    when = {outcome: words for outcome, (_, words) in ways.items()}
    forbidden = PROMPTS[f"{id} (forbidden)"].splitlines() if f"{id} (forbidden)" in PROMPTS else []
    texts = [PROMPTS[id], *actions]
    return StepDef(
        id, title, texts, routes, handler, needs=needs, requires=requires, when=when, forbidden=forbidden, **more
    )


SEARCH = ("survey.scope", "dimensions.dimensions", "explore.unread")
JUDGED = ("verdicts.issues", "verdicts.dismissed")
DECIDED = ("collect-answers.log", "collect.endings", "collect.notes", "collect.ran")
WRITTEN = ("candidates.candidates", "candidates.dropped", "collect.log")
SKIPPED = dict.fromkeys(
    [f"read-on-some-paths:{value}" for value in (*JUDGED, *DECIDED, *WRITTEN)],
    "the report is also where a run ends that found, or was to change, nothing",
)
ANSWERED = ("collect-answers.log", "collect-answers.asked", "collect-answers.due")

WORKFLOW = Workflow(
    "incoherence",
    step(
        "survey",
        "Survey the repository",
        {Outcome.OK: ("dimensions", "somebody else could say from the sources where to look")},
        requires=SURVEY,
    ),
    step(
        "dimensions",
        "Choose the dimensions",
        {Outcome.OK: ("explore", "every letter is chosen, or skipped with a reason")},
        brief,
        ["survey.scope", "survey.sources"],
        CHOICE,
        ["", CATALOGUE],
    ),
    step(
        "explore",
        "Explore each dimension",
        {
            Outcome.OK: ("candidates", "every explorer is accounted for, and there is a finding"),
            Outcome.SKIP: ("report", "every explorer is accounted for, and there is none"),
            Outcome.FAIL: (None, "every explorer is lost, so that nobody looked: the run ends as failed"),
        },
        Dispatch(
            AgentRole.EXPLORE,
            script="incoherence_explore.py",
            targets="dimensions.briefs",
            params={"dimension": "{target}", "scope": "{survey.scope}", "sources": "{survey.sources}"},
            cap=6,
            then=gather,
        ),
        [],
    ),
    step(
        "candidates",
        "Make candidates of the findings",
        {
            Outcome.OK: ("deep-dive", "there is a candidate"),
            Outcome.SKIP: ("report", "every finding was dropped"),
        },
        admit,
        ["survey.scope", "explore.found"],
        CANDIDATES,
    ),
    step(
        "deep-dive",
        "Look into each candidate",
        {
            Outcome.OK: ("verdicts", "every sub-agent is accounted for"),
            Outcome.FAIL: (None, "every sub-agent is lost, so that nobody judged: the run ends as failed"),
        },
        Dispatch(
            AgentRole.EXPLORE,
            script="incoherence_deep_dive.py",
            targets="candidates.candidates",
            params={"candidate": "{target}", "scope": "{survey.scope}"},
            cap=12,
            then=judged,
        ),
        [],
    ),
    step(
        "verdicts",
        "Weigh the verdicts",
        {
            Outcome.OK: ("batch", "an issue is to be put to the user"),
            Outcome.SKIP: ("report", "no candidate is an issue"),
        },
        confirm,
        ["survey.scope", "deep-dive.judged"],
        ANALYSIS,
        ["", VERDICTS],
    ),
    step(
        "batch",
        "Write the next batch",
        {Outcome.OK: ("present", "every issue that is due can be decided from its entry alone")},
        None,
        ["verdicts.issues", "deep-dive.judged", *ANSWERED],
        ENTRIES,
        ["", PROMPTS["entries"]],
        repeat=[PROMPTS["batch (again)"], "", PROMPTS["entries"]],
    ),
    StepDef(
        "present",
        "Present the batch to the user",
        PROMPTS["present"],
        {Outcome.OK: "collect-answers"},
        person(PROMPTS["present (question)"]),
        forbidden=["Do not decide in the user's place, and do not shorten the options."],
    ),
    step(
        "collect-answers",
        "Record what the user decided",
        {
            Outcome.OK: ("plan", "no issue is open, and one at least is to be resolved"),
            Outcome.ITERATE: ("batch", "an issue is open"),
            Outcome.SKIP: ("report", "no issue is open, and none is to be resolved"),
        },
        settle,
        ["batch.shown", "present.answer"],
        RESOLUTIONS,
    ),
    step(
        "plan",
        "Plan the resolution",
        {Outcome.OK: ("reconcile", "each item can be carried out from its line alone")},
        None,
        ["survey.scope", "candidates.candidates", "collect-answers.log"],
        PLAN,
    ),
    step(
        "reconcile",
        "Reconcile, one wave",
        {Outcome.OK: ("collect", "every reconciler of the wave is accounted for")},
        Dispatch(
            AgentRole.DEVELOPER,
            script="incoherence_reconcile.py",
            targets=wave,
            params={"item": "{target}", "decisions": "{collect-answers.log}"},
            cap=ITEMS,
            then=came_back,
        ),
        [],
    ),
    step(
        "collect",
        "Look at what the wave did",
        {
            Outcome.OK: ("report", "no item is open"),
            Outcome.ITERATE: ("reconcile", "an item is open: it waits for a file, or is tried again"),
        },
        close,
        ["plan.items", "reconcile.results", "collect-answers.log"],
        WAVE,
        max_iterations=WAVES,
    ),
    step(
        "report",
        "Write the report",
        {Outcome.OK: (None, "the report names every candidate and how it ended")},
        None,
        [*SEARCH, *JUDGED, *DECIDED],
        REPORT,
        allow=SKIPPED,
    ),
    forbidden=PROMPTS["forbidden"].splitlines(),
    title="Incoherence",
    description="Finds where a repository contradicts itself, and settles each contradiction with the user.",
    closing=PROMPTS["closing"],
    unchecked="whether a sweep that found nothing was made with care",
)

register_workflow(WORKFLOW)

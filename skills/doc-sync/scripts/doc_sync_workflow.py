"""The graph of doc-sync: discover, survey by area, audit, migrate, update indexes, review until passed, report."""

from __future__ import annotations

import os

from skills.lib.conventions import get_convention
from skills.lib.prompts import read_prompts
from skills.lib.rows import cells
from skills.lib.workflow.core import StepContext, StepDef, Workflow, register_workflow
from skills.lib.workflow.quality import review_loop
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import AgentRole, Check, Dispatch, Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
CHECK = "check_docs.py"
QUESTIONS = get_convention("temporal", "Five questions")
# What is said of documents that are audited; comments in code are not.
FORMS = ("Index: one per folder", "README: invisible knowledge", "When code changes")

PARAMS = [
    Arg("scope", choices=("repo", "directory", "file"), default="repo", help="how much is brought in line"),
    Arg("path", default=".", help="the directory or file, relative to the project's root; . for the whole"),
]
MAP: list[Requirement] = [
    Field(
        "areas", "list", minimum=1, maximum=8, help='each "paths of documents and code | what to find out | first file"'
    ),
    Field("left_out", "list", maximum=20, required=False, help='each "path | why its documents are not looked at"'),
    Field("rules", maximum=800, required=False, help="what is generated, by what command; the project's own rules"),
    Command([CHECK, "areas", "{scope}", "{path}", "{areas}", "{left_out}"], 120, help="every document is in an area"),
    Command([CHECK, "faults", "{scope}", "{path}", "{left_out}"], 120, help="looks for faults", records="faults"),
]
AUDIT: list[Requirement] = [
    Field("findings", "list", maximum=60, help='"D1 | kind | path:line | what is wrong | what is right, from where"'),
    Field(
        "compared",
        "list",
        maximum=20,
        required=False,
        help='only if nothing is to be done: "document:line | statement | path:line that decides it"',
    ),
    Command(
        [CHECK, "audit", "{scope}", "{path}", "{discover.left_out}", "{findings}", "{compared}"],
        120,
        help="every place exists; each fault has a finding",
    ),
    Command([CHECK, "digests", "{scope}", "{path}", "{findings}"], 120, help="keeps digests", records="before"),
]
SETTLED: list[Requirement] = [
    Field("undone", "list", maximum=60, required=False, help='each finding that is left: "D4 | why"'),
    Field(
        "homes", "list", maximum=60, required=False, help='of kind invisible and misplaced: "D3 | path of the document"'
    ),
    Command(
        [
            CHECK,
            "settled",
            "{audit.findings}",
            "{audit.before}",
            "{undone}",
            "{homes}",
            "{migrate.rows}",
            "{migrate.places}",
        ],
        60,
        help="the document of each other finding has changed",
    ),
    Command(
        [CHECK, "faults", "{scope}", "{path}", "{discover.left_out}"], 120, help="looks for faults", records="faults"
    ),
]
INDEXED: list[Requirement] = [
    Field("indexes", "list", maximum=40, required=False, help='each "path | rows added, changed, struck"'),
    Field("exceptions", "list", maximum=20, required=False, help='each "document | words as they stand | why right"'),
    Command(
        [
            CHECK,
            "remaining",
            "{scope}",
            "{path}",
            "{discover.left_out}",
            "{audit.findings}",
            "{indexes}",
            "{exceptions}",
        ],
        120,
        help="no fault is left but exempt and excepted ones",
    ),
]
CHECKS = [
    Check("true", "MUST", "what the document now says there is so by the code", "migrate.done"),
    Check("now", "MUST", "no statement of it, changed or not, is false by the code", "indexes.documents"),
    Check("left", "SHOULD", "it was rightly left: the code would have to change, or the reason holds", "migrate.left"),
    Check("excepted", "SHOULD", "the words are an example, or name what the reader makes", "indexes.excepted"),
    Check("index", "COULD", "each row names a task, and the contents of its file", "indexes.indexes"),
    Check("whole", "MUST", "what was struck or moved stands elsewhere, or the code says it plainly"),
    Check(
        "written",
        "SHOULD",
        "what was added gives what the code does not show, stands once, near its subject, and tells of what is so",
    ),
]
REPORT: list[Requirement] = [
    Field("note", minimum=60, maximum=1500, help="what the user has to know first"),
    Command(
        [
            *(
                CHECK,
                "report",
                "{note}",
                "{discover.left_out}",
                "{audit.findings}",
                "{audit.compared}",
                "{migrate.done}",
            ),
            *("{migrate.left}", "{indexes.indexes}", "{indexes.excepted}"),
        ],
        60,
        help="puts the report together",
        records="report",
    ),
]
WRONG = ("migrate.left", "migrate.exempt", "indexes.exceptions")
# What becomes of a finding without a row of its own.
INDEX, EXEMPT = "index", "exempt"


def spread(ctx: StepContext) -> Outcome:
    """Several areas are surveyed by sub-agents; one, or a single file, is audited at once."""
    alone = ctx.workflow_params["scope"] == "file" or len(ctx.step_state["areas"]) == 1
    return Outcome.SKIP if alone else Outcome.OK


def anything_due(ctx: StepContext) -> Outcome:
    """Go on where something is to be mended; report at once where the documents are true."""
    kinds = [row.partition("|")[2].partition("|")[0].strip() for row in ctx.step_state["findings"]]
    return Outcome.OK if set(kinds) - {"exempt"} else Outcome.SKIP


def settle(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """What was done, each finding with its document, and what is left or exempt, each as it stands.

    A round that names nothing as left, or as written elsewhere, keeps what the rounds before named.
    """
    state = ctx.step_state
    undone, homes = (state.get(name, state.get(kept, [])) for name, kept in (("undone", "rows"), ("homes", "places")))
    reasons = {cells(row)[0]: row.partition("|")[2].strip() for row in undone}
    written = {cells(row)[0]: cells(row)[1].strip("`") for row in homes}
    found = {cells(row)[0]: row for row in ctx.run_state["audit"]["findings"]}
    done, documents = [], set()
    for name, row in found.items():
        kind, place, _, *right = cells(row)[1:]
        if kind not in (INDEX, EXEMPT) and name not in reasons:
            document = written.get(name, place.strip("`").rpartition(":")[0])
            done.append(f"{name} | {document} on: {' | '.join(right)}")
            documents.add(os.path.normpath(document))
    return Outcome.OK, {
        "rows": undone,
        "places": homes,
        "done": done,
        "documents": sorted(documents),
        "left": [f"{found[name]} | left: {why}" for name, why in reasons.items()],
        "exempt": [row for row in found.values() if cells(row)[1] == EXEMPT],
    }


def hand_over(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Name what the reviewer checks beside the findings that are done: the documents that changed, the exceptions.

    ``looked_at`` has the documents that were left as they are, rightly or not: their verdict is about them, too.
    """
    migrate, indexes = ctx.run_state["migrate"], ctx.step_state.get("indexes", [])
    exceptions = ctx.step_state.get("exceptions", [])
    touched = [os.path.normpath(cells(row)[0].strip("`")) for row in indexes]
    as_it_is = [cells(row)[2].partition(":")[0].strip(" `") for row in (*migrate["left"], *migrate["exempt"])]
    as_it_is += [cells(row)[0].strip("`") for row in exceptions]
    return Outcome.OK, {
        "indexes": indexes,
        "documents": sorted({*migrate["documents"], *touched}),
        "looked_at": sorted({os.path.normpath(path) for path in as_it_is}),
        "excepted": [*migrate["exempt"], *[f"X{at} | {row}" for at, row in enumerate(exceptions, 1)]],
    }


def forbidden(step: str) -> list[str]:
    """What the prompts forbid in that step, a rule a line."""
    return PROMPTS[f"{step} (forbidden)"].splitlines()


WORKFLOW = Workflow(
    "doc-sync",
    StepDef(
        "discover",
        "Discover documents and code",
        PROMPTS["discover"],
        {Outcome.OK: "survey", Outcome.SKIP: "audit"},
        spread,
        needs=["scope", "path"],
        requires=MAP,
        forbidden=forbidden("discover"),
        when={Outcome.OK: "two areas or more", Outcome.SKIP: "one area, or one file: no sub-agent is needed"},
    ),
    StepDef(
        "survey",
        "Survey the areas",
        PROMPTS["survey"],
        {Outcome.OK: "audit"},
        Dispatch(AgentRole.EXPLORE, task=PROMPTS["survey (task)"], targets="discover.areas", cap=8),
        needs=["scope", "path"],
        when={Outcome.OK: "every sub-agent has finished, or is accounted for as lost"},
    ),
    StepDef(
        "audit",
        "Audit the documents",
        [PROMPTS["audit"], *[part for title in FORMS for part in ("", get_convention("documentation", title))]],
        {Outcome.OK: "migrate", Outcome.SKIP: "report"},
        anything_due,
        needs=[
            *("scope", "path", "discover.areas", "discover.left_out", "discover.rules", "discover.faults"),
            "survey.results",
        ],
        requires=AUDIT,
        forbidden=forbidden("audit"),
        when={Outcome.OK: "something is to be mended", Outcome.SKIP: "nothing is: the documents are true"},
        allow={
            "read-on-some-paths:survey.results": "where no survey was made, the step says to read the documents oneself"
        },
    ),
    StepDef(
        "migrate",
        "Move and mend the content",
        [PROMPTS["migrate"], "", QUESTIONS],
        {Outcome.OK: "indexes"},
        settle,
        needs=["discover.rules", "audit.findings", "migrate.rows"],
        requires=SETTLED,
        repeat=PROMPTS["migrate (again)"],
        forbidden=forbidden("migrate"),
        when={Outcome.OK: "each finding is settled in the documents, or left with a reason"},
    ),
    StepDef(
        "indexes",
        "Update the indexes",
        [PROMPTS["indexes"], "", get_convention("documentation", "Index: one per folder")],
        {Outcome.OK: "documents-review"},
        hand_over,
        needs=["discover.rules", "audit.findings", "migrate.faults", "indexes.indexes", "indexes.exceptions"],
        requires=INDEXED,
        repeat=PROMPTS["indexes (again)"],
        forbidden=forbidden("indexes"),
        when={Outcome.OK: "the script finds nothing that is not an exception"},
    ),
    *review_loop(
        "documents",
        work="migrate",
        passed="report",
        reviewer=Dispatch(
            AgentRole.QUALITY_REVIEWER,
            task=PROMPTS["review (task)"],
            checks=CHECKS,
            covers=["{indexes.documents}", "{indexes.looked_at}"],
        ),
        actions=[PROMPTS["review"]],
    ),
    StepDef(
        "report",
        "Report",
        PROMPTS["report"],
        {Outcome.OK: None},
        needs=["scope", "path", "audit.findings", "audit.compared", *WRONG],
        requires=REPORT,
        when={Outcome.OK: "the user can read in it what changed and what was left"},
        allow=dict.fromkeys(
            [
                f"read-on-some-paths:{value}"
                for value in (*WRONG, "migrate.done", "indexes.indexes", "indexes.excepted")
            ],
            "where nothing was wrong no round was made, and the step says what to report",
        ),
    ),
    forbidden=PROMPTS["forbidden"].splitlines(),
    title="Doc sync",
    description="Brings documents back in line with the code.",
    params=PARAMS,
    closing=PROMPTS["closing"],
    unchecked="whether documents and code say the same at places that the review did not name",
)

register_workflow(WORKFLOW)

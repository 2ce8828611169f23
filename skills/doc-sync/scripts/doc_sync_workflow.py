"""The graph of doc-sync: discover, survey by area, audit, migrate, update indexes, review until passed, report."""

from __future__ import annotations

import os

from skills.lib.conventions import get_convention
from skills.lib.prompts import read_prompts
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

PARAMS = [
    Arg("scope", choices=("repo", "directory", "file"), default="repo", help="how much is brought in line"),
    Arg("path", default=".", help="the directory or file, relative to the project's root; . for the whole"),
]
MAP: list[Requirement] = [
    Field("layout", minimum=40, maximum=1500, help="what kinds of document there are, for whom, and what is generated"),
    Field(
        "areas", "list", minimum=1, maximum=8, help='each "paths, documents and code | what to find out | first file"'
    ),
    Field("left_out", "list", maximum=20, help='each "path | why its documents are not looked at"; [] where none is'),
    Command([CHECK, "areas", "{scope}", "{path}", "{areas}", "{left_out}"], 120, help="every document is in an area"),
]
AUDIT: list[Requirement] = [
    Field("findings", "list", maximum=60, help='"D1 | kind | path:line | what is wrong | what is right, from where"'),
    Field(
        "compared",
        "list",
        maximum=20,
        required=False,
        help='only if nothing is to be done: each "document:line | statement | path:line that decides it"',
    ),
    Command(
        [CHECK, "audit", "{scope}", "{path}", "{discover.left_out}", "{findings}", "{compared}"],
        120,
        help="every place exists, and what the script finds has a finding; where nothing is to be done, what was read",
    ),
]
SETTLED: list[Requirement] = [
    Field("settled", "list", maximum=60, help='"D1 | done | path:line and what stands there now" or "D1 | left | why"'),
    Command(
        [CHECK, "settled", "{audit.findings}", "{settled}"], 60, help="each finding but index and exempt has a row"
    ),
]
INDEXED: list[Requirement] = [
    Field("indexes", "list", maximum=40, help='each "path | rows added, changed, struck"; [] where none was touched'),
    Field("exceptions", "list", maximum=20, help='each "document | words as they stand there | why that is right"'),
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
        help="indexes match their folders; links and code-quoted paths lead somewhere, but where a finding is exempt",
    ),
]
CHECKS = [
    Check("true", "MUST", "what the document now says there is so by the code", "indexes.done"),
    Check("now", "MUST", "no statement of it, changed or not, is false by the code", "indexes.documents"),
    Check("left", "SHOULD", "it was rightly left: the code would have to change, or the reason holds", "migrate.left"),
    Check("excepted", "SHOULD", "the words are an example, or name what the reader makes", "indexes.excepted"),
    Check("index", "COULD", "each row names a task, and the contents of its file", "indexes.indexes"),
    Check("whole", "MUST", "what was struck or moved stands elsewhere, or the code says it plainly"),
    Check("reason", "SHOULD", "knowledge that was added gives a reason or an invariant that the code does not show"),
    Check("place", "SHOULD", "each fact stands once, as near to its subject as its readers will look"),
    Check("timeless", "SHOULD", "the text tells of what is so, not of what was done or will be"),
]
FIXED = ("migrate.log", "migrate.left", "migrate.exempt", "indexes.indexes", "indexes.exceptions")
REPORT = [Field("report", minimum=100, maximum=4000, help="the report as the user will read it")]


def spread(ctx: StepContext) -> Outcome:
    """Several areas are surveyed by sub-agents; one, or a single file, is audited at once."""
    alone = ctx.workflow_params["scope"] == "file" or len(ctx.step_state["areas"]) == 1
    return Outcome.SKIP if alone else Outcome.OK


def anything_due(ctx: StepContext) -> Outcome:
    """Go on where something is to be mended; report at once where the documents are true."""
    kinds = [row.partition("|")[2].partition("|")[0].strip() for row in ctx.step_state["findings"]]
    return Outcome.OK if set(kinds) - {"exempt"} else Outcome.SKIP


def log(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Keep what every round settled, the findings that are left to the user as they stand, and the exempt ones."""
    settled = [[part.strip() for part in row.split("|", 2)] for row in ctx.step_state["settled"]]
    reasons = {parts[0]: parts[2] for parts in settled if parts[1] == "left"}
    found = {row.partition("|")[0].strip(): row for row in ctx.run_state["audit"]["findings"]}
    return Outcome.OK, {
        "log": [*ctx.step_state.get("log", ()), f"Round {ctx.iteration}:", *ctx.step_state["settled"]],
        "left": [f"{found[name]} | left: {why}" for name, why in reasons.items()],
        "exempt": [row for row in found.values() if row.split("|")[1].strip() == "exempt"],
    }


def hand_over(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Name what the reviewer checks: the findings that are done, the documents that were changed, the exceptions.

    ``looked_at`` has the documents that were left as they are, rightly or not: their verdict is about them, too.
    """
    rows = [[part.strip() for part in row.split("|", 2)] for row in ctx.run_state["migrate"]["settled"]]
    done = [f"{name} | {what}" for name, how, what in rows if how == "done"]
    settled = [row.partition("|")[2].partition(":")[0].strip(" `") for row in done]
    indexes = [row.partition("|")[0].strip(" `") for row in ctx.step_state["indexes"]]
    kept = [*ctx.run_state["migrate"]["left"], *ctx.run_state["migrate"]["exempt"]]
    as_it_is = [row.split("|")[2].partition(":")[0].strip(" `") for row in kept]
    as_it_is += [row.partition("|")[0].strip(" `") for row in ctx.step_state["exceptions"]]
    exceptions = [f"X{at} | {row}" for at, row in enumerate(ctx.step_state["exceptions"], 1)]
    return Outcome.OK, {
        "done": done,
        "documents": sorted({os.path.normpath(path) for path in (*settled, *indexes)}),
        "looked_at": sorted({os.path.normpath(path) for path in as_it_is}),
        "excepted": [*ctx.run_state["migrate"]["exempt"], *exceptions],
    }


def forbidden(step: str) -> list[str]:
    """What the prompts forbid in that step and in all, a rule a line."""
    return [*PROMPTS[f"{step} (forbidden)"].splitlines(), *PROMPTS["all (forbidden)"].splitlines()]


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
        needs=["scope", "path", "discover.areas"],
        forbidden=forbidden("survey"),
        when={Outcome.OK: "every sub-agent has finished, or is accounted for as lost"},
    ),
    StepDef(
        "audit",
        "Audit the documents",
        [PROMPTS["audit"], "", get_convention("documentation")],
        {Outcome.OK: "migrate", Outcome.SKIP: "report"},
        anything_due,
        needs=["scope", "path", "discover.layout", "discover.areas", "discover.left_out", "survey.results"],
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
        log,
        needs=["scope", "path", "discover.layout", "audit.findings", "migrate.settled"],
        requires=SETTLED,
        repeat=[PROMPTS["migrate (again)"], "", QUESTIONS],
        forbidden=forbidden("migrate"),
        when={Outcome.OK: "each finding is settled in the documents, or left with a reason"},
    ),
    StepDef(
        "indexes",
        "Update the indexes",
        [PROMPTS["indexes"], "", get_convention("documentation", "Index: one per folder")],
        {Outcome.OK: "documents-review"},
        hand_over,
        needs=[
            *("scope", "path", "discover.layout", "discover.left_out", "audit.findings", "migrate.settled"),
            *("indexes.indexes", "indexes.exceptions"),
        ],
        requires=INDEXED,
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
        needs=["scope", "path"],
    ),
    StepDef(
        "report",
        "Report",
        PROMPTS["report"],
        {Outcome.OK: None},
        needs=[
            *("scope", "path", "discover.areas", "discover.left_out", "audit.findings", "audit.compared"),
            *FIXED,
        ],
        requires=REPORT,
        forbidden=forbidden("report"),
        when={Outcome.OK: "the user can read in it what changed and what was left"},
        allow=dict.fromkeys(
            [f"read-on-some-paths:{value}" for value in FIXED],
            "where nothing was wrong no round was made, and the step says what to report",
        ),
    ),
    title="Doc sync",
    description="Brings documents back in line with the code.",
    params=PARAMS,
    closing=PROMPTS["closing"],
    unchecked="whether documents and code say the same at places that the review did not name",
)

register_workflow(WORKFLOW)

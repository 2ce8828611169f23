"""The graph of one explorer of refactor: what the code is for, the category, the search, the judgement, the report."""

from __future__ import annotations

from skills.lib.conventions import convention_sections, get_convention
from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepContext, StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
CHECK = "check_refactor.py"
# The table and how to choose from it; the categories below repeat what the definition says.
SEVERITY = get_convention("severity").partition("\n## Categories")[0].strip()
LEVELS = ("code-quality-baseline", "code-quality-coherence", "code-quality-drift")
# What each category is, by the name of its section. A name is looked up here and never opens a file.
CATEGORIES = {name: get_convention(level, name) for level in LEVELS for name in convention_sections(level)}

PARAMS = [
    Arg("category", choices=tuple(CATEGORIES), help="the category of smell to look for"),
    Arg("scope", help="the paths to look at, or the question that the refactoring is to answer"),
]
GROUND: list[Requirement] = [
    Field("domain", minimum=40, maximum=900, help="what the code is for, its words, what its form must obey"),
    Field("files", "list", minimum=1, maximum=12, help='"path | what is there"'),
    Command([CHECK, "paths", "{files}"], 60, help="each path exists"),
]
SIGNS: list[Requirement] = [
    Field("signs", "list", minimum=2, maximum=6, help='"S1: sign | how to search for it | what would excuse it"'),
    Command([CHECK, "signs", "{signs}"], 60, help="S1, S2, … with their three parts"),
]
SEARCHED: list[Requirement] = [
    Field("searched", "list", minimum=2, maximum=12, help='"S1 | the search as it was run | how many hits"'),
    Field("candidates", "list", maximum=20, help='"path:line | what stands there"'),
    Command(
        [CHECK, "search", "{principle.signs}", "{searched}", "{candidates}"],
        60,
        help="each sign was searched for; each candidate's place exists",
    ),
]
JUDGED: list[Requirement] = [
    Field("findings", "list", maximum=8, help='"path:line | SHOULD | what is so | how it passes the threshold"'),
    Field("dismissed", "list", maximum=20, help='"path:line | why it is none"'),
    Command(
        [CHECK, "findings", "{findings}", "{search.candidates}", "{dismissed}"],
        60,
        help="each finding has its place and a severity; each candidate is in a finding or dismissed",
    ),
]
REPORT: list[Requirement] = [
    Field("summary", minimum=40, maximum=800, help="the common cause, and what was not searched"),
]


def look_up(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Keep the category's text with the run, for the steps that work by it."""
    return Outcome.OK, {"definition": CATEGORIES[ctx.workflow_params["category"]]}


def hand_over(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Take the findings along into the report, as they were judged."""
    return Outcome.OK, {"findings": ctx.run_state["judge"]["findings"]}


def forbidden(step: str) -> list[str]:
    """What the prompts forbid in that step, a rule a line."""
    return PROMPTS[f"{step} (forbidden)"].splitlines()


WORKFLOW = Workflow(
    "refactor-explore",
    StepDef(
        "context",
        "Learn what the code is for",
        PROMPTS["context"],
        {Outcome.OK: "principle"},
        look_up,
        needs=["category", "scope"],
        requires=GROUND,
        forbidden=forbidden("context"),
    ),
    StepDef(
        "principle",
        "Turn the category into signs",
        PROMPTS["principle"],
        {Outcome.OK: "search"},
        needs=["category", "context.definition", "context.domain", "context.files"],
        requires=SIGNS,
        forbidden=forbidden("principle"),
    ),
    StepDef(
        "search",
        "Search",
        PROMPTS["search"],
        {Outcome.OK: "judge"},
        needs=["context.files", "principle.signs"],
        requires=SEARCHED,
        forbidden=forbidden("search"),
    ),
    StepDef(
        "judge",
        "Judge the candidates",
        [PROMPTS["judge"], "", SEVERITY],
        {Outcome.OK: "report"},
        needs=["context.definition", "context.domain", "search.candidates"],
        requires=JUDGED,
        forbidden=forbidden("judge"),
    ),
    StepDef(
        "report",
        "Report",
        PROMPTS["report"],
        {Outcome.OK: None},
        hand_over,
        needs=["category", "scope", "search.searched", "judge.findings"],
        requires=REPORT,
        forbidden=forbidden("report"),
    ),
    tools=["read", "search", "write", "shell", "web"],
    title="Refactor: explore one category",
    description="Searches a scope for one category of smell.",
    params=PARAMS,
)

register_workflow(WORKFLOW)

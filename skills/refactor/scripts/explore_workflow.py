"""The graph of one explorer of refactor: search for the signs of one category, then judge what was found."""

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
CHECK = "check_refactor.py"
# The table and how to choose from it; what a category is says the rest.
SEVERITY = get_convention("severity").partition("\n## Categories")[0].strip()
PARAMS = [
    Arg("category", help="the category of smell to look for: its name, then what it is"),
    Arg("domain", help="what the code is for, its words, what its form must obey"),
    Arg("files", "list", help="the paths to look at, each with what is there"),
]
SEARCHED: list[Requirement] = [
    Field(
        "signs", "list", minimum=2, maximum=6, help='"sign | the search as it was run | hits | what would excuse it"'
    ),
    Field("candidates", "list", maximum=20, help='the most telling "path:line" of each hit that could be a violation'),
    Command([CHECK, "search", "{signs}", "{candidates}"], 60, help="each sign was searched for; each place exists"),
]
JUDGED: list[Requirement] = [
    Field("findings", "list", maximum=8, help='"path:line | SHOULD | what is so | how it passes the threshold"'),
    Field("dismissed", "list", maximum=20, help='every candidate that no finding names: "path:line | why it is none"'),
    Field("unsearched", maximum=400, required=False, help="what of the files was not searched, and why"),
    Command(
        [CHECK, "findings", "{findings}", "{search.candidates}", "{dismissed}"],
        60,
        help="each candidate is in a finding or dismissed",
    ),
]


WORKFLOW = Workflow(
    "refactor-explore",
    StepDef(
        "search",
        "Search",
        PROMPTS["search"],
        {Outcome.OK: "judge"},
        needs=["category", "domain", "files"],
        requires=SEARCHED,
        forbidden=PROMPTS["search (forbidden)"].splitlines(),
    ),
    StepDef(
        "judge",
        "Judge the candidates",
        [PROMPTS["judge"], "", SEVERITY],
        {Outcome.OK: None},
        needs=["category", "domain", "search.candidates"],
        requires=JUDGED,
        forbidden=PROMPTS["judge (forbidden)"].splitlines(),
    ),
    forbidden=PROMPTS["forbidden"].splitlines(),
    tools=["read", "search", "write", "shell", "web"],
    title="Refactor: explore one category",
    description="Searches a scope for one category of smell.",
    params=PARAMS,
)

register_workflow(WORKFLOW)

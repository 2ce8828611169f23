"""The graph of safe-shell-search: locate by the search tool, read the smallest part, widen by the shell, report."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepContext, StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.workflow.requirements import Requirement

PROMPTS = read_prompts(__file__)
CHECK = "check_search.py"
PRUNER = ("mcp(pruner.grep)", "mcp(pruner.read)")
SEARCHES = Field("searches", "list", minimum=1, maximum=12, help='each "tool | pattern | folder | hits"')
CANDIDATES = Field("candidates", "list", maximum=12, help='each "path:line | why"; [] where nothing was hit')
SEARCHED: list[Requirement] = [
    SEARCHES,
    CANDIDATES,
    Command([CHECK, "searches", "{searches}", "{candidates}"], 60, help="each search has its parts, each place exists"),
]
FOUND: list[Requirement] = [
    Field("findings", "list", maximum=12, help='each "path:line | `words` | what it shows"; [] where nothing is it'),
    Field("settled", choices=("yes", "no"), help="no while another search could change the answer"),
    Field("next_search", maximum=300, help='what to search next; "none" where it is settled'),
    Command([CHECK, "findings", "{findings}"], 60, help="each place has the words that are quoted from it"),
]
ANSWERED: list[Requirement] = [
    Field("verdict", choices=("found", "absent", "open")),
    Field("answer", minimum=20, maximum=1000, help="for the one who asked, with its places or searches"),
    Command(
        [CHECK, "answer", "{verdict}", "{answer}", "{confirm.found}", "{locate.searches}", "{widen.made}"],
        60,
        help="found rests on a finding, absent on two searches without a hit",
    ),
]


def located(ctx: StepContext) -> Outcome:
    """Read the candidates if there are any; else search wider."""
    return Outcome.OK if ctx.step_state["candidates"] else Outcome.SKIP


def confirmed(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Keep what every pass found; search wider until the question is settled."""
    state = ctx.step_state
    found = [*state.get("found", ()), *state["findings"]]
    return Outcome.OK if state["settled"] == "yes" else Outcome.ITERATE, {"found": found}


def widened(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Keep the searches of every pass; read what is new, or report that nothing is."""
    state = ctx.step_state
    made = [*state.get("made", ()), *state["searches"]]
    return Outcome.OK if state["candidates"] else Outcome.SKIP, {"made": made}


WORKFLOW = Workflow(
    "safe-shell-search",
    StepDef(
        "locate",
        "Locate by the search tool",
        PROMPTS["locate"],
        {Outcome.OK: "confirm", Outcome.SKIP: "widen"},
        located,
        needs=["question"],
        requires=SEARCHED,
        forbidden=PROMPTS["locate (forbidden)"].splitlines(),
        when={Outcome.OK: "there are candidates to read", Outcome.SKIP: "nothing was hit: search wider"},
        outcomes=[Outcome.OK, Outcome.SKIP],
        tools=["read", "search", *PRUNER],
    ),
    StepDef(
        "confirm",
        "Read the smallest part",
        PROMPTS["confirm"],
        {Outcome.OK: "report", Outcome.ITERATE: "widen"},
        confirmed,
        needs=["question", "locate.candidates", "widen.candidates", "confirm.found"],
        requires=FOUND,
        forbidden=PROMPTS["confirm (forbidden)"].splitlines(),
        max_iterations=3,
        when={Outcome.OK: "the question is settled", Outcome.ITERATE: "another search could change the answer"},
        tools=["read", "search", *PRUNER],
        allow={"read-on-some-paths:widen.candidates": "the first pass reads those of locate"},
    ),
    StepDef(
        "widen",
        "Search wider, by the shell last",
        PROMPTS["widen"],
        {Outcome.OK: "confirm", Outcome.SKIP: "report"},
        widened,
        needs=["question", "locate.searches", "widen.made", "confirm.found", "confirm.next_search"],
        requires=SEARCHED,
        forbidden=PROMPTS["widen (forbidden)"].splitlines(),
        when={Outcome.OK: "there is something new to read", Outcome.SKIP: "nothing new was hit: report"},
        tools=["read", "search", *PRUNER, "shell"],
        allow={
            f"read-on-some-paths:confirm.{name}": "nothing was hit, so nothing was read"
            for name in ("found", "next_search")
        },
    ),
    StepDef(
        "report",
        "Answer with the proof",
        PROMPTS["report"],
        {Outcome.OK: None},
        needs=["question", "confirm.found", "locate.searches", "widen.made"],
        requires=ANSWERED,
        forbidden=PROMPTS["report (forbidden)"].splitlines(),
        when={Outcome.OK: "the answer names its places, or its searches"},
        tools=["read"],
        allow={
            "read-on-some-paths:confirm.found": "nothing was hit, so nothing was read",
            "read-on-some-paths:widen.made": "the first search settled it",
        },
    ),
    title="Safe shell search",
    description="Finds whether and where something exists in a project, with the place or the searches that prove it.",
    params=[Arg("question", help="what is to be found or proved, and where")],
    tools=["read", "search", "shell"],
    forbidden=PROMPTS["rules"].splitlines(),
    closing=PROMPTS["closing"],
    unchecked="whether the searches could have hit what was asked for",
    policy="policy.yaml",
)

register_workflow(WORKFLOW)

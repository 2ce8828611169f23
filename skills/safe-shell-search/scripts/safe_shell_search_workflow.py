"""The graph of safe-shell-search: search by the search tool and read the smallest part, then widen by the shell."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.rows import with_paths
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
FIELDS: list[Requirement] = [
    Field("searches", "list", minimum=1, maximum=12, help='"pattern | folder | hits"; no folder for the whole project'),
    Field("findings", "list", maximum=12, help='"path:line | `words` | what it shows"'),
    Field("verdict", choices=("found", "absent", "open")),
    Field("answer", minimum=20, maximum=1000),
]
PROVED = "each place has its words; found rests on a finding, absent on two searches without a hit"


def proof(*before: str) -> Command:
    """The check of a step, with what was searched and found before it."""
    words = [CHECK, "proof", "{verdict}", "{answer}", "{searches}", "{findings}", *before]
    return Command(words, 60, help=PROVED, records="report")


def searched(ctx: StepContext) -> Outcome:
    """The run ends with what is found or absent; else it searches wider."""
    return Outcome.SKIP if ctx.step_state["verdict"] == "open" else Outcome.OK


def widened(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Keep the searches and findings of every pass; search on until the question is settled."""
    state = ctx.step_state
    kept = {
        "made": [*state.get("made", ()), *state["searches"]],
        "found": [*state.get("found", ()), *with_paths(state["findings"])],
    }
    return Outcome.ITERATE if state["verdict"] == "open" else Outcome.OK, kept


BEFORE = ("search.searches", "search.findings", "widen.made", "widen.found")
WORKFLOW = Workflow(
    "safe-shell-search",
    StepDef(
        "search",
        "Search by the search tool, read the smallest part",
        [PROMPTS["search"], "", PROMPTS["judge"]],
        {Outcome.OK: None, Outcome.SKIP: "widen"},
        searched,
        needs=["question"],
        requires=[*FIELDS, proof()],
        forbidden=PROMPTS["search (forbidden)"].splitlines(),
        when={Outcome.OK: "found or absent", Outcome.SKIP: "open: search wider"},
        outcomes=[Outcome.OK, Outcome.SKIP],
        tools=["read", "search", *PRUNER],
    ),
    StepDef(
        "widen",
        "Search wider, by the shell last",
        [PROMPTS["widen"], "", PROMPTS["judge"]],
        {Outcome.OK: None, Outcome.ITERATE: "widen"},
        widened,
        needs=["question", *BEFORE, "search.answer", "widen.answer"],
        requires=[*FIELDS, proof(*(f"{{{name}}}" for name in BEFORE))],
        forbidden=PROMPTS["widen (forbidden)"].splitlines(),
        max_iterations=3,
        when={Outcome.OK: "found or absent, or three passes are done", Outcome.ITERATE: "open: once more"},
        tools=["read", "search", *PRUNER, "shell"],
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

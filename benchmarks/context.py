"""What it saves that a skill's files are read when they are wanted: the tokens of all model calls of a run."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from benchmarks.adherence.hosts import own_ledgers
from benchmarks.report import Figures
from skills.lib.agent.agent import Agent
from skills.lib.agent.configuration.settings import Settings
from skills.lib.agent.middleware import LockstepMiddleware
from skills.lib.agent.prompt import Sections
from skills.lib.agent.watching.activity import Activity, path_in
from tests.agent.scripted import ScriptedModel, calling, report

if TYPE_CHECKING:
    from benchmarks.options import Options

# The example of the requirements: lines of each file, and how many model calls a run makes.
LINES = {"SKILL.md": 450, "reference.md": 1_200, "examples.md": 800, "templates/response.json": 300}
CALLS = 15
# A line has about 20 tokens. A file is read in parts that one call of ``read`` shows.
LINE = "The field of this name is required, and has a value of the kind that is named here."
PART = 400
# Which file is read at which call; the example of the requirements reads both, and counts the first alone.
BOTH, FIRST = {4: "reference.md", 7: "examples.md"}, {4: "reference.md"}
# With this budget of a model call, results that are no longer needed are left out.
BUDGET = 40_000


def figures(options: Options) -> list[Figures]:
    """One run with all files in the system prompt, and three with the files read when they are wanted."""
    calls = 9 if options.quick else CALLS
    ways = {
        "all files in the system prompt": at_once(calls),
        "both read when wanted": on_demand(BOTH, calls),
        f"the same with context_tokens={BUDGET:,}": on_demand(BOTH, calls, BUDGET),
        "the reference alone read when wanted": on_demand(FIRST, calls),
    }
    whole = sum(next(iter(ways.values())))
    rows: list[list[Any]] = [
        [name, sum(sent), sent[0], sent[-1], f"{100 * (1 - sum(sent) / whole):.0f} %"] for name, sent in ways.items()
    ]
    sizes = ", ".join(f"{name} {count:,}" for name, count in LINES.items())
    reads = " and ".join(f"{name} at call {call}" for call, name in BOTH.items())
    notes = [
        f"{calls} model calls each; lines: {sizes}. Read: {reads}; the template never. Four characters are a token."
    ]
    columns = ["way", "tokens of all calls", "of the first call", "of the last call", "fewer"]
    return [Figures("Tokens that the model calls of a run are sent", columns, rows, notes)]


def on_demand(reads: Mapping[int, str], calls: int = CALLS, budget: int = 200_000) -> list[int]:
    """The tokens of each model call of a run that reads files at some of its calls."""
    with _project() as project:
        skill = _skill(project)
        settings = Settings(max_iterations=calls, context_tokens=budget)
        agent = Agent(str(project), ScriptedModel(answer=_working(calls, reads)), settings=settings)
        ended = agent.advance(agent.start(str(skill), "Call the interface."))
        assert ended.status == "done", ended
        return _sent(agent, ended.run)


def at_once(calls: int = CALLS) -> list[int]:
    """The tokens of each model call of a run with all files of the skill in its system prompt."""
    with _project() as project:
        skill = _skill(project)
        agent = Agent(str(project), settings=Settings(max_iterations=calls, context_tokens=200_000))
        run = agent.start(str(skill), "Call the interface.")
        texts = "\n".join(_text(name) for name in LINES if name != "SKILL.md")
        forcing = LockstepMiddleware(run, str(project), settings=agent.settings, sections=Sections(general=texts))
        graph: Any = create_agent(ScriptedModel(answer=_working(calls, {})), [], middleware=[forcing])
        graph.invoke({"messages": [HumanMessage("Begin.")]}, {"recursion_limit": 1_000})
        forcing.close()
        return _sent(agent, run)


@contextmanager
def _project() -> Iterator[Path]:
    log = logging.getLogger("lockstep.agent")
    was, log.disabled = log.disabled, True
    try:
        with own_ledgers(), tempfile.TemporaryDirectory(prefix="lockstep-bench-") as folder:
            (Path(folder) / ".git").mkdir()
            yield Path(folder)
    finally:
        log.disabled = was


def _sent(agent: Agent, run: str) -> list[int]:
    with Activity(path_in(agent.home)) as activity:
        return [int(row.data["input"]) for row in activity.rows(run, kind="usage")]


def _text(name: str) -> str:
    return "\n".join([f"# {name}", *[LINE] * (LINES[name] - 1)]) + "\n"


def _skill(project: Path) -> Path:
    skill = project / "skills" / "api"
    head = "---\nname: api\ndescription: Calls an interface, when one is to be called.\n---\n\n"
    for name in LINES:
        (skill / name).parent.mkdir(parents=True, exist_ok=True)
        (skill / name).write_text((head if name == "SKILL.md" else "") + _text(name), encoding="utf-8")
    return skill


def _working(calls: int, reads: Mapping[int, str]) -> Any:
    """A model that looks at its list at each call, reads files at some, and reports at the last."""
    made = 0

    def answer(messages: list[BaseMessage], tools: list[dict[str, Any]]) -> AIMessage:
        nonlocal made
        made += 1
        if made == 1:
            return report(record={"objectives": ["The interface is called"]})
        if made == calls:
            done = {"number": 1, "status": "done", "place": "answer", "note": "called"}
            return report(record={"result": "It was called.", "objectives": [done]})
        name = reads.get(made)
        if name is None:
            return calling(("todoread", {}), text="Going on with the next part of the work.")
        parts = range(1, LINES[name] + 1, PART)
        given = [("read", {"path": f"skills/api/{name}", "offset": at, "limit": PART}) for at in parts]
        return calling(*given, text=f"{name} is needed now.")

    return answer

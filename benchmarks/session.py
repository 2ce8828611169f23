"""What following a run costs an agent of LangChain, beside the same loop without a run; no model is called."""

from __future__ import annotations

import os
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.adherence.hosts import own_ledgers
from benchmarks.report import Cell, Figures

if TYPE_CHECKING:
    from benchmarks.options import Options

CALLS, QUICK_CALLS, AT_MOST = 120, 20, 30
_SKILL = "---\nname: turning\ndescription: Use it to measure what a turn costs.\n---\n\nRun the script.\n"
_SCRIPT = "import sys\n\nsys.path.insert(0, {root!r})\n\nfrom skills.bootstrap import main\n\nmain(__file__)\n"
_GRAPH = """from skills.lib.workflow.core import *
from skills.lib.workflow.requirements import *
from skills.lib.workflow.types import *

WORKFLOW = Workflow(
    "turning",
    StepDef("look", "Look", ["Look at it. " * 100], {{Outcome.OK: "judge"}}, requires=[Field("seen")], tools=["read"]),
    StepDef(
        "judge",
        "Judge",
        ["Judge it. " * 100],
        {{Outcome.OK: None, Outcome.ITERATE: "look"}},
        needs=["look.seen"],
        max_iterations={most},
    ),
)
register_workflow(WORKFLOW)
"""


def figures(options: Options) -> list[Figures]:
    """Time what lies between two model calls, in a session and in a bare loop with the same checkpoints."""
    calls = QUICK_CALLS if options.quick else CALLS
    prefix = "lockstep-bench-"
    with own_ledgers(), tempfile.TemporaryDirectory(prefix=prefix) as folder, options.progress("session", 2) as tick:
        session = _session(_project(folder, calls), calls)
        tick()
        bare = _bare(folder, calls)
        tick()
    rows: list[list[Cell]] = [
        ["a call of a tool in a session", session["read"], session["read"] / bare, AT_MOST],
        ["a report that moves the run", session["report_step"], session["report_step"] / bare, AT_MOST],
        ["a call of a tool without a run", bare, 1.0, ""],
    ]
    notes = [f"Medians of {calls} model calls, SQLite, durability sync; from a model's answer to its next call."]
    return [Figures("A session", ["iteration", "ms", "ratio", "at most (ms)"], rows, notes)]


def _project(folder: str, calls: int) -> str:
    place = Path(folder, "project")
    scripts = place / "skills" / "turning" / "scripts"
    scripts.mkdir(parents=True)
    (place / ".git").mkdir()
    (place / "notes.md").write_text("one line\n", encoding="utf-8")
    (scripts.parent / "SKILL.md").write_text(_SKILL, encoding="utf-8")
    root = str(Path(__file__).resolve().parent.parent)
    (scripts / "turning.py").write_text(_SCRIPT.format(root=root), encoding="utf-8")
    (scripts / "turning_workflow.py").write_text(_GRAPH.format(most=calls), encoding="utf-8")
    return str(place)


def _session(project: str, calls: int) -> dict[str, float]:
    """The median milliseconds after each kind of call."""
    from skills.lib.agent import Agent

    left = [calls]

    def answer(step: str, last: str) -> tuple[str, dict[str, Any]]:
        left[0] -= 1
        if last != "read":
            return "read", {"path": "notes.md"}
        if step == "look":
            return "report_step", {"record": {"seen": "it"}}
        return "report_step", {"outcome": "iterate" if left[0] > 0 else "ok"}

    model = _model(answer)
    agent = Agent(project, model)
    ended = agent.advance(agent.start("turning"))
    if ended.status != "done":
        raise RuntimeError(f"the session ended {ended.status}: {ended.reason}")
    return {name: statistics.median(times) * 1000 for name, times in model.after.items()}


def _bare(folder: str, calls: int) -> float:
    from langchain.agents import create_agent
    from langchain_core.tools import StructuredTool
    from langgraph.checkpoint.sqlite import SqliteSaver

    left = [calls]

    def answer(step: str, last: str) -> tuple[str, dict[str, Any]]:
        left[0] -= 1
        return ("read", {"path": "notes.md"}) if left[0] > 0 else ("", {})

    def read(path: str) -> str:
        return f"one line of {path}"

    connection = sqlite3.connect(os.path.join(folder, "bare.db"), check_same_thread=False)
    connection.execute("PRAGMA synchronous=NORMAL")
    saver = SqliteSaver(connection)
    model = _model(answer)
    tool = StructuredTool.from_function(read, name="read", description="Read.")
    graph: Any = create_agent(model, [tool], checkpointer=saver)
    config = {"configurable": {"thread_id": "1"}, "recursion_limit": 10_000}
    graph.invoke({"messages": [("user", "begin")]}, config, durability="sync")
    connection.close()
    return float(statistics.median(model.after["read"]) * 1000)


def _model(answer: Any) -> Any:
    """A chat model that answers by a function at once; ``after`` has the seconds from each answer to the next call."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from pydantic import PrivateAttr

    class Scripted(BaseChatModel):
        _after: dict[str, list[float]] = PrivateAttr(default_factory=dict)
        _last: tuple[str, float] = PrivateAttr(default=("", 0.0))

        @property
        def after(self) -> dict[str, list[float]]:
            return self._after

        @property
        def _llm_type(self) -> str:
            return "scripted"

        def bind_tools(self, tools: Any, **options: Any) -> Any:
            return self

        def _generate(self, messages: list[BaseMessage], *given: Any, **options: Any) -> ChatResult:
            name, answered = self._last
            if name:
                self._after.setdefault(name, []).append(time.perf_counter() - answered)
            tool, arguments = answer(messages[0].text.partition(' id="')[2].partition('"')[0], name)
            number = sum(map(len, self._after.values()))
            calls = [{"name": tool, "args": arguments, "id": f"call{number}"}] if tool else []
            message = AIMessage("", tool_calls=calls)
            self._last = (tool, time.perf_counter())
            return ChatResult(generations=[ChatGeneration(message=message)])

    return Scripted()

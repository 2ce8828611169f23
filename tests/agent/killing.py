"""Kills sessions at each write, or at any moment, and follows them to their end: a program of its own.

It imports LangChain once and forks for each session, so that a kill costs no start of Python. Standard input has one
request a line as JSON, standard output one answer a line.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.sqlite import SqliteSaver

import skills.lib.agent.session  # noqa: F401  imported before any session forks
from skills.lib import paths
from skills.lib.agent import planning
from skills.lib.agent.agent import Agent
from skills.lib.agent.configuration.settings import Settings
from skills.lib.agent.watching.activity import Activity, path_in
from skills.lib.ledger import Ledger
from tests.agent.planning import plan_runs
from tests.agent.scripted import Answer, ScriptedModel, calling, report
from tests.agent.sessions import filled

PLANNED = "planned"
ITEMS = [{"check": "is it there", "severity": "MUST", "status": "PASS"}]
# What a skill without a graph reports: its objectives, and the entry of each at the end.
REPORTED = [{"number": number, "status": "done", "place": "answer", "note": "a line"} for number in (1, 2)]
VALUES = {"targets": ["a", "b"], "verdict": "pass", "summary": "all was seen", "thing": "it", "items": ITEMS}
WRITES = ((Ledger, "commit"), (Activity, "note"), (SqliteSaver, "put"), (SqliteSaver, "put_writes"))
LONGEST = 60.0


def script(messages: list[BaseMessage], tools: list[dict[str, Any]]) -> Answer:
    """Write one line in each step, look at it, and report; an interrupted line is not written again."""
    system = messages[0].text
    run, step = (system.partition(f' {name}="')[2].partition('"')[0] for name in ("run", "id"))
    turn = system.partition(' turn="')[2].partition('"')[0]
    line = f"{run} {step} {turn}"
    done = [
        one for one in messages if isinstance(one, ToolMessage) and one.name == "write" and line in asked(messages, one)
    ]
    if not done:
        return calling(("write", {"line": line}), ("look", {"line": line}))
    is_work = "result" in json.dumps(next(one for one in tools if one["name"] == "report_step"))
    values = {**VALUES, "objectives": REPORTED if is_work else ["a line in each step", "it is looked at"]}
    return report(**filled(tools, values, "ok"))


def asked(messages: list[BaseMessage], result: ToolMessage) -> str:
    """What a call asked for, by its result."""
    calls = [call for one in messages if isinstance(one, AIMessage) for call in one.tool_calls]
    return next((str(call["args"].get("line")) for call in calls if call["id"] == result.tool_call_id), "")


def tools(project: str) -> list[BaseTool]:
    """A tool that appends a line to a file, and one that only reads it."""
    path = os.path.join(project, "lines.txt")

    def write(line: str) -> str:
        with open(path, "a", encoding="utf-8") as file:
            file.write(line + "\n")
        return "written"

    def look(line: str) -> str:
        return str(os.path.exists(path) and line in open(path, encoding="utf-8").read())

    looking = StructuredTool.from_function(look, name="look", description="Look.", metadata={"reads": True})
    return [StructuredTool.from_function(write, name="write", description="Write a line."), looking]


def follow(project: str, skill: str) -> str:
    """Start the skill, or go on with it; how the session ended."""
    if skill == PLANNED:
        return execute(project)
    agent = Agent(project, ScriptedModel(answer=script), tools=tools(project), settings=Settings())
    return agent.advance(agent.start(skill, "look at all")).status


def execute(project: str) -> str:
    """Plan a skill, approve the plan and execute it, or go on with that; how the session ended."""
    host = plan_runs.agent(Path(project), plan_runs.honest())
    planner = planning.start(host, "books", plan_runs.GOAL)
    if host.advance(planner).status == "waiting":
        host.answer(planner, "approve")
        host.advance(planner)
    return host.advance(planning.execute(host, planner)).status


def forked(work: Callable[[], object], kill_after: float | None = None) -> int:
    """The exit code of work in a process of its own, or minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)
            work()
            os._exit(0)
        except BaseException as error:
            import traceback

            traceback.print_exception(error, file=sys.stderr)
            os._exit(1)
    with contextlib.suppress(OSError):  # the child does it too: whoever is first
        os.setpgid(child, child)
    end = time.monotonic() + (kill_after if kill_after is not None else LONGEST)
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.killpg(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_at(point: int, after: bool, project: str, skill: str) -> None:
    """Follow the skill; at that write, counted from 1, the process kills itself before or after it."""
    count, told = [0], [0]
    for owner, name in WRITES:
        original = getattr(owner, name)

        def wrapped(*given: Any, _original: Any = original, **named: Any) -> Any:
            count[0] += 1
            told[0] += "told" in given
            # Once a session has told how the last run ended, the same call is for another one.
            now = count[0] == point and not ("told" in given and told[0] == _runs(skill))
            if now and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            result = _original(*given, **named)
            if now:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        setattr(owner, name, wrapped)
    status = follow(project, skill)
    os._exit(0 if status == "done" else 3)


def was_told(project: str, skill: str) -> bool:
    """True if a session came to the end of its run and said so; it may have been killed just then."""
    home = paths.home(project)
    ledger = Ledger.existing(home)
    if ledger is None:
        return False
    with ledger, Activity(path_in(home)) as activity:
        roots = {event.run.partition(".")[0] for event in ledger.events_after(0, 10_000)}
        return sum(activity.count(root, kind="told") > 0 for root in roots) == _runs(skill)


def _runs(skill: str) -> int:
    """How many runs a skill takes: a plan has the planner's, and the one that executes it."""
    return 2 if skill == PLANNED else 1


def serve(request: dict[str, Any]) -> dict[str, Any]:
    """Carry out one request: a kill at a write, or kills at random moments, and then the run to its end."""
    project, skill = request["project"], request["skill"]
    codes = []
    if "point" in request:
        codes.append(forked(lambda: killed_at(request["point"], request["after"], project, skill)))
    chance = random.Random(request.get("seed", 0))
    for _ in range(request.get("kills", 0)):
        codes.append(forked(lambda: follow(project, skill), chance.uniform(0.02, request.get("longest", 1.5))))
        if codes[-1] == 0 or was_told(project, skill):
            return {"codes": [*codes, 0]}  # the same call would be for another run
    if codes[-1:] != [0]:
        codes.append(forked(lambda: os._exit(0 if follow(project, skill) == "done" else 3)))
    return {"codes": codes}


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(serve(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

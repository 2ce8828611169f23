"""Workers with a scripted model, as processes: ``python -m tests.fleet.working PROJECT`` forks one for each line.

A line of standard input is JSON: what Worker takes, ``project`` if it is another one, ``until_empty``, ``pause``, how
long the model thinks in seconds, and ``given``, the runs to follow past the queue. Standard output has the process of
each worker.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage

import skills.lib.agent.session  # noqa: F401  imported before any worker forks
from skills.lib.fleet.members import Members
from skills.lib.fleet.places import WORKERS, Place
from skills.lib.fleet.worker import SLOTS, Worker
from tests.agent.scripted import Answer, Answering, ScriptedModel, calling, report
from tests.agent.sessions import filled

# How long others leave to a worker what it follows past the queue, without a sign of life, in seconds.
_LONGEST = 600.0


def writing(pause: float = 0.0) -> Answering:
    """A script that writes a file in each step, named after it, and reports the step."""

    def answer(messages: list[BaseMessage], tools: list[dict[str, Any]]) -> Answer:
        time.sleep(pause)
        system = messages[0].text
        step = system.partition(' id="')[2].partition('"')[0]
        path = f"made/{step}.txt"
        task = system.partition("<task>")[2].partition("</task>")[0]
        if any(one for one in messages if isinstance(one, ToolMessage) and one.name == "write" and path in one.text):
            return report(**filled(tools, {"thing": task}, "ok"))
        return calling(("write", {"path": path, "content": f"{step} of {task}\n"}))

    return answer


def work(
    project: str, name: str, pause: float = 0.0, until_empty: bool = False, given: Sequence[str] = (), **options: Any
) -> None:
    """Be a worker until it is drained or ended, or has followed what it is given."""
    warnings.simplefilter("error")
    with Worker(project, ScriptedModel(answer=writing(pause)), name=name, **options) as worker:
        signal.signal(signal.SIGTERM, lambda *_: worker.leave())
        signal.signal(signal.SIGINT, lambda *_: worker.drain())
        if given:
            _follow(worker, given, options.get("slots", SLOTS))
        else:
            worker.work(until_empty)


def _follow(worker: Worker, runs: Sequence[str], slots: int) -> None:
    """Follow runs past the queue, that many at a time."""
    members = Members(Place(worker.project, WORKERS))
    try:
        members.join(worker.name, slots, _LONGEST)
        with ThreadPoolExecutor(slots) as threads:
            list(threads.map(worker.follow, runs))
    finally:
        members.close()


def forked(project: str, request: dict[str, Any]) -> int:
    """The id of a new process that is a worker."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        os.close(0)  # the end of this program is no end of a worker, and its answers are no worker's
        os.dup2(2, 1)
        work(project, **request)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def main() -> None:
    """Fork a worker for each line of standard input, and say its process."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system forgets those that end
    for line in sys.stdin:
        request = json.loads(line)
        print(forked(request.pop("project", sys.argv[1]), request), flush=True)


if __name__ == "__main__":
    main()

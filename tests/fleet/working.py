"""A worker with a scripted model, as a process of its own: ``python -m tests.fleet.working PROJECT [NAME [OPTIONS]]``.

OPTIONS is JSON: what Worker takes, ``until_empty``, and ``pause``, how long the model thinks in seconds.
"""

from __future__ import annotations

import json
import signal
import sys
import time
import warnings
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage

from skills.lib.fleet.worker import Worker
from tests.agent.scripted import Answer, Answering, ScriptedModel, calling, report
from tests.agent.sessions import filled


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


def main() -> None:
    warnings.simplefilter("error")
    project, name, *more = [*sys.argv[1:], ""][:3]
    options = json.loads(more[0] or "{}")
    pause, until_empty = options.pop("pause", 0.0), options.pop("until_empty", False)
    with Worker(project, ScriptedModel(answer=writing(pause)), name=name, **options) as worker:
        signal.signal(signal.SIGTERM, lambda *_: worker.leave())
        signal.signal(signal.SIGINT, lambda *_: worker.drain())
        worker.work(until_empty)


if __name__ == "__main__":
    main()

"""Lets a model follow a skill on its own: it tries to leave it in five ways, is killed once, goes on, and ends.

The model replays answers that were written beforehand; what becomes of them is decided while it runs. One process
follows the run, as ``lockstep agent run`` does; this one looks on from outside, and kills it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from dataclasses import replace

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from question import environment  # noqa: E402  these need the path set above
from replies import TASK, Replies  # noqa: E402

from skills.lib.agent.agent import Agent  # noqa: E402
from skills.lib.agent.watching.events import Event  # noqa: E402
from skills.lib.agent.watching.visibility import FULL  # noqa: E402
from skills.lib.commands.console.screen import Screen, open_screen  # noqa: E402
from skills.lib.commands.session.display import Lines  # noqa: E402

KEPT = os.path.join(ROOT, "build", "demo-agent")
SKILL = "small-fix"
WIDTH = 100
# How long each of the two processes may take, in seconds.
LONGEST = 120
FILES = {
    "stats.py": '''def mean(values):
    """The mean of some numbers; 0 for none."""
    return sum(values) / len(values)
''',
    "test_stats.py": """import unittest

from stats import mean


class Mean(unittest.TestCase):
    def test_of_none(self):
        # The dashboard shows a project before its first figure.
        self.assertEqual(mean([]), 0)

    def test_of_some(self):
        self.assertEqual(mean([1, 2]), 1.5)
""",
}
INTRODUCTION = (
    f"A project has a fault: {TASK}. A model shall mend it by the skill {SKILL}: see it fail, find the cause, change "
    "one place, report. Nobody reads along. The model is a script with prepared answers that tries five ways out; "
    "tools, tests, refusals and records are real. Per cent say how much of the way was reached."
)
# The remark on each way out, by the kind of event that shows it, in the order in which they come.
WAYS_OUT = {
    ("see", "refused"): "Way out 1, a tool that the step hides: it was refused at the call, and nothing was changed.",
    ("see", "sent-back"): "Way out 2, an early end: it does not count, and the model is sent back to its step.",
    ("cause", "sent-back"): "Way out 3, prose in place of a report: prose reports nothing.",
    ("cause", "refused"): "Way out 4, a value that is not among the choices: the run stays where it is.",
    ("change", "refused"): "Way out 5, two reports at once: neither counts, for the second was made without its step.",
}
KILLED = (
    "Now the process is killed (SIGKILL), in mid-step: the file is changed, and the model was asked what comes next. "
    "The same call again, in a new process, goes on. The change is not made twice."
)


def main() -> int:
    """Run the demo and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--project", help="the folder that keeps the run (default: build/demo-agent, made anew)")
    parser.add_argument("--session", choices=["first", "second"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.pop("LOCKSTEP_HOME", None)
    project = os.path.abspath(options.project or KEPT)
    if options.session:
        return follow(project, options.session)
    if options.project is None:
        shutil.rmtree(KEPT, ignore_errors=True)
    screen = open_screen()
    Demo(project, replace(screen, err=screen.out)).run()
    return 0


def follow(project: str, session: str) -> int:
    """Follow the run with the model, in a process of its own; the first one waits for an answer that never comes."""
    agent = Agent(project, Replies(stuck_at=("change", 1) if session == "first" else None))
    run = agent.start(SKILL, TASK)
    print(run, flush=True)
    return 0 if agent.advance(run).status == "done" else 1


class Demo:
    """What a person sees: the events of the run as they come, and a remark on each way out."""

    def __init__(self, project: str, screen: Screen) -> None:
        self.project, self.screen = project, screen
        self._make(project)
        self.agent = Agent(project)
        self.lines = Lines(screen, FULL, WIDTH)
        self.cursor = "0.0"
        self.told: set[tuple[str, str]] = set()

    def run(self) -> None:
        """Let the two processes follow the run, and show what is left."""
        self.say(INTRODUCTION)
        process, run = self._start("first")
        for event in self._events(process, run):
            if event.kind == "model" and event.step == "change" and self._has_edited(run):
                process.send_signal(signal.SIGKILL)
                process.wait(LONGEST)
                self.say(KILLED, "bold red")
                break
        process, same = self._start("second")
        for _ in self._events(process, run):
            pass
        if process.wait(LONGEST) or same != run or len(self.told) != len(WAYS_OUT):
            assert process.stderr is not None
            raise SystemExit(f"the run did not go as it should: {process.stderr.read()}")
        self._show_end(run)

    def say(self, text: str, style: str = "italic") -> None:
        """Print a remark to the reader."""
        self.screen.say()
        for line in textwrap.wrap(text, WIDTH):
            self.screen.say(self.screen.styled(line, style))
        self.screen.say()

    def _make(self, project: str) -> None:
        """Make a project with a fault, and the skill in it."""
        shutil.copytree(
            os.path.join(ROOT, "demo", SKILL),
            os.path.join(project, "skills", SKILL),
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        for name, text in FILES.items():
            with open(os.path.join(project, name), "w", encoding="utf-8") as file:
                file.write(text)

    def _start(self, session: str) -> tuple[subprocess.Popen[str], str]:
        """Start a process that follows the run; the run's id."""
        command = [sys.executable, os.path.abspath(__file__), "--project", self.project, "--session", session]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment())
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    def _events(self, process: subprocess.Popen[str], run: str) -> Iterator[Event]:
        """Show the events of the run as they come, until the process has ended."""
        end = time.monotonic() + LONGEST
        is_over = False
        while not is_over:
            is_over = process.poll() is not None or time.monotonic() > end
            for event in self.agent.follow(run, self.cursor, FULL):
                self.cursor = event.cursor
                self._show(event)
                yield event
            time.sleep(0.1)
        process.kill()

    def _show(self, event: Event) -> None:
        if event.kind in ("model", "usage"):
            return
        self.lines.show(event)
        way = (event.step, event.kind)
        if way in WAYS_OUT and way not in self.told:
            self.told.add(way)
            self.say(WAYS_OUT[way])

    def _has_edited(self, run: str) -> bool:
        return any(
            event.data.get("tool") == "edit" and event.data.get("ok") for event in self.agent.follow(run, level=FULL)
        )

    def _show_end(self, run: str) -> None:
        """Show what the run left: the changed line, and the commands that show its record."""
        events = list(self.agent.follow(run, level=FULL))
        kinds = [event.kind for event in events]
        edits = sum(event.kind == "call" and event.data["tool"] == "edit" for event in events)
        self.say(
            f"Two processes, {kinds.count('model')} model calls, {kinds.count('call')} tool calls, {edits} of them the "
            f"edit. {len(self.told)} ways out of the skill led nowhere. What the change left:"
        )
        with open(os.path.join(self.project, "stats.py"), encoding="utf-8") as file:
            self.screen.say(self.screen.styled(f"stats.py:3  {file.read().splitlines()[2].strip()}", "green"))
        self.say("The run is kept. To see its record:", "bold")
        near = os.path.relpath(self.project)
        kept = self.project if near.startswith("..") else near
        self.screen.print(f"{os.path.join(os.path.dirname(sys.executable), 'lockstep')} trace {run} --project {kept}")


if __name__ == "__main__":
    sys.exit(main())

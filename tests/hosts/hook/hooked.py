"""A host as the hook knows one: events in, exit code and texts out, through the process that a host starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skills.lib import status_files
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, filled
from tests.fixtures.skill import ENTRY, ROOT, install, source_of

HOOK = ROOT / "skills" / "lib" / "hosts" / "hook" / "run_hook.py"
EVENTS = Path(__file__).resolve().parent / "events"

GUARDED = source_of(
    "guarded",
    """
    StepDef("begin", "Begin", "Begin.", {Outcome.OK: "look"}),
    StepDef("look", "Look", "Look.", {Outcome.OK: "mend"}, tools=["read", "search"]),
    StepDef("mend", "Mend", "Mend.", {Outcome.OK: "hand-out"}, tools=["read", "edit", "shell(check.py)"]),
    StepDef("hand-out", "Hand out", "Hand out.", {Outcome.OK: "ask"},
            Dispatch("explore", script="part.py", targets=["a", "b"]), tools=["agent"]),
    StepDef("ask", "Ask", "Ask.", {Outcome.OK: None}, Person("Good?", {"yes": Outcome.OK}), tools=["read"]),
    """,
)
PART = source_of(
    "part",
    """
    StepDef("first", "First", "Look.", {Outcome.OK: "second"}, tools=["read"]),
    StepDef("second", "Second", "Write.", {Outcome.OK: None}, tools=["write"],
            requires=[Field("result", help="what was found")]),
    """,
)


@dataclass(frozen=True)
class Answer:
    """What the hook answered."""

    code: int
    said: str
    reason: str

    @property
    def context(self) -> str:
        """What it gives back to the agent."""
        return str(json.loads(self.said)["hookSpecificOutput"]["additionalContext"]) if self.said else ""


class Host:
    """A host with one session at a time, in a project, on the guarded skill."""

    def __init__(self, folder: Path, name: str = "claude", project: str = "project", source: str = GUARDED) -> None:
        self.name = name
        self.project = folder / project
        (self.project / ".lockstep").mkdir(parents=True, exist_ok=True)
        self.state = folder / "state"
        script = install(folder, "guarded", source)
        script.with_name("part_workflow.py").write_text(PART, encoding="utf-8")
        script.with_name("part.py").write_text(ENTRY.format(root=str(ROOT), name="part"), encoding="utf-8")
        self.agent = Agent(script, self.project)
        self.starts = [sys.executable, "-IS", str(HOOK)]
        self.session = "5f0c8f0e-6b1e-4a2d-9f39-1c2d3e4f5a6b"

    @staticmethod
    def event(session: str, project: Path, event: dict[str, Any]) -> str:
        """An event as text, with the fields that every event has."""
        common = {"session_id": session, "cwd": str(project), "hook_event_name": "PreToolUse"}
        return json.dumps({**common, **event})

    def tell(self, event: dict[str, Any] | bytes | str, *options: str, **env: str) -> Answer:
        """Start the hook with an event on its standard input; an object gets the fields that every event has."""
        if isinstance(event, dict):
            event = self.event(self.session, self.project, event)
        done = subprocess.run(
            [*self.starts, "--host", self.name, *options],
            input=event if isinstance(event, bytes) else event.encode(),
            capture_output=True,
            env={**os.environ, "LOCKSTEP_STATE": str(self.state), "CLAUDE_CODE_ENTRYPOINT": "cli", **env},
            cwd=self.project,
            timeout=60,
            check=False,
        )
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    def use(self, tool: str, *options: str, agent: str = "", **given: Any) -> Answer:
        """What the hook says to the call of a tool."""
        event = {"tool_name": tool, "tool_input": given}
        return self.tell({**event, **({"agent_id": agent, "agent_type": "Explore"} if agent else {})}, *options)

    def run(self, command: str, agent: str = "") -> Answer:
        """What the hook says to a command."""
        return self.use("Bash", agent=agent, command=command)

    def stop(self, *options: str, **more: Any) -> Answer:
        """What the hook says to the end of a turn."""
        return self.tell({"hook_event_name": "Stop", "stop_hook_active": False, **more}, *options)

    def say(self, prompt: str, **more: Any) -> Answer:
        """What the hook says to a prompt of the user."""
        return self.tell({"hook_event_name": "UserPromptSubmit", "prompt": prompt, **more})

    def go(self, block: PrintedBlock, agent: str = "", **values: Any) -> PrintedBlock:
        """Run a block's NEXT command as a host does: the hook is asked first."""
        command = filled(block.next, values)
        assert self.run(command, agent) == Answer(0, "", "")
        return self.agent.run_command(command)

    def at(self, step: str, *words: str) -> PrintedBlock:
        """Open a run with these words, and go on until it is at that step."""
        block = self.agent.open(*words)
        while block.step != step:
            for at, child in enumerate(block.children):
                self.finish(child.command, f"helper{at}")
            block = self.go(block)
        return block

    def finish(self, command: str, agent: str) -> None:
        """Be a sub-agent, to its end."""
        assert self.run(command, agent).code == 0
        block = self.go(self.agent.run_command(command), agent)
        self.go(block, agent, result="found")

    def sessions(self) -> dict[str, list[str]]:
        """Which runs each session file follows."""
        found = {}
        for path in sorted((self.state / "sessions").glob("*")):
            found[path.name] = [one["run"] for one in json.loads(path.read_text(encoding="utf-8"))["runs"]]
        return found

    def status_file(self, run: str) -> Path:
        """The status file of a run."""
        return Path(status_files.folder(str(self.project))) / run


def recorded(host: str) -> dict[str, str]:
    """The recorded events of a host by the names of their files, as text with placeholders."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted((EVENTS / host).glob("*.json"))}

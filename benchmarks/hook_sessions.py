"""What a policy adds to the hook over whole sessions: the sum of the hook's processes with the policy and without."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from benchmarks import hook_processes
from benchmarks.adherence.skills import ROOT
from benchmarks.report import Cell, Figures
from benchmarks.steps import lean_python
from skills.lib.guard.calls import calls_of
from skills.lib.guard.policy import Policy, compile_policy
from skills.lib.guard.shell_plain import commands

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchmarks.options import Options

ROUNDS, QUICK_ROUNDS, AT_MOST = 21, 1, 1.25
QUICK = ("files are removed (a part)", "a version is raised and pushed")
FILES = [f"src/part{part}/file{number}.py" for part in range(20) for number in range(10)]
_POLICY = os.path.join(ROOT, "policies", "coding.yaml")
_TODO = {"content": "Read what is there", "status": "pending", "activeForm": "Reading what is there"}
_TEXT = "one = 1\n" * 100
# What a session calls -> Claude Code's name of the tool, and its arguments.
_TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "read": ("Read", {"file_path": "/PROJECT/src/part1/file2.py"}),
    "search": ("Grep", {"pattern": "class.*Rule", "path": "/PROJECT/src", "output_mode": "content", "-n": True}),
    "glob": ("Glob", {"pattern": "src/**/*.py"}),
    "list": ("LS", {"path": "/PROJECT/src"}),
    "todo": ("TodoWrite", {"todos": [_TODO] * 4}),
    "fetch": ("WebFetch", {"url": "https://example.com/a", "prompt": "The steps, and the commands to start it."}),
    "agent": ("Task", {"description": "Do it", "prompt": "Read the ticket. " * 80, "subagent_type": "general-purpose"}),
    "output": ("BashOutput", {"bash_id": "c016b4"}),
    "edit": (
        "Edit",
        {"file_path": "/PROJECT/src/part1/file2.py", "old_string": "one = 1", "new_string": "one = 2\ntwo = 1"},
    ),
    "write": ("Write", {"file_path": "/PROJECT/src/part1/more.py", "content": _TEXT}),
}
_RESULTS: dict[str, dict[str, Any]] = {
    "Bash": {"stdout": _TEXT, "stderr": "", "interrupted": False, "isImage": False},
    "Edit": {"filePath": "/PROJECT/src/part1/file2.py", "originalFile": _TEXT, "structuredPatch": []},
}
# As ids of sessions are: letters, digits and dashes.
_PLAIN = str.maketrans(" ", "-", "(),")
_STOPPED = "stopped: looked at first, or denied"
_EDITS = "edits and writes"
_RULED = "commands that a rule is on, allowed"


class Called(NamedTuple):
    """A call of a session: the tool, and what it was given."""

    tool: str
    given: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Event:
    """A call of a session, or its result, with its place in the session."""

    session: str
    number: int
    called: Called
    is_result: bool


def figures(options: Options) -> list[Figures]:
    """Give every call and every result to the hook, in a project with the policy and in one without, in turn."""
    rounds = QUICK_ROUNDS if options.quick else ROUNDS
    chosen = {name: calls for name, calls in sessions().items() if not options.quick or name in QUICK}
    with tempfile.TemporaryDirectory(prefix="lockstep-bench-") as folder:
        place = _Place(folder)
        codes = {name: place.codes(name, calls) for name, calls in chosen.items()}
        took: dict[Event, list[tuple[float, float]]] = {event: [] for event in _events(chosen, codes)}
        shells: list[float] = []
        with options.progress("sessions", rounds) as tick:
            for at in range(rounds):
                for event, pairs in took.items():
                    code = 0 if event.is_result else codes[event.session][event.number]
                    pairs.append(
                        (place.seconds(event, place.plain, at, 0), place.seconds(event, place.guarded, at, code))
                    )
                shells.append(_unused(folder))
                tick()
    middle = {
        event: (statistics.median([pair[0] for pair in pairs]), statistics.median([pair[1] for pair in pairs]))
        for event, pairs in took.items()
    }
    return [_by_kind(middle, codes, rounds), _by_session(middle, codes, statistics.median(shells))]


class _Place:
    """Two projects with the same files, one of them with the policy, and the hook of a lean Python."""

    def __init__(self, folder: str) -> None:
        self.plain, self.guarded, self.state, self.cache = (
            os.path.join(folder, name) for name in ("plain", "guarded", "state", "cache")
        )
        for project in (self.plain, self.guarded):
            hook_processes.repository(project, FILES)
        shutil.copy(_POLICY, os.path.join(self.guarded, "lockstep.policy.yaml"))
        hook_processes.keep_compiled(self.guarded, self.cache)
        self.hook = hook_processes.command(lean_python(folder))

    def codes(self, name: str, calls: Sequence[Called]) -> list[int]:
        """The exit code of the hook for each call of a session, in which the results of allowed calls come."""
        found = []
        for number, called in enumerate(calls):
            given = [_text(Event(name, number, called, is_result), self.guarded, -1) for is_result in (False, True)]
            found.append(hook_processes.run(self.hook, given[0], self.state, self.cache).returncode)
            if not found[-1]:
                hook_processes.run(self.hook, given[1], self.state, self.cache)
        return found

    def seconds(self, event: Event, project: str, number: int, code: int) -> float:
        """The processor time of the hook for an event. Raises RuntimeError if it ends with another code."""
        given = _text(event, project, number)
        return hook_processes.processor_time(self.hook, given, self.state, code, self.cache)


def sessions() -> dict[str, list[Called]]:
    """The calls of each session, by its name."""
    with open(os.path.join(os.path.dirname(__file__), "hook_sessions.yaml"), encoding="utf-8") as file:
        found = yaml.safe_load(file)
    return {name: [called for entry in entries for called in _called(entry)] for name, entries in found.items()}


def _called(entry: dict[str, str] | list[str]) -> Iterator[Called]:
    if isinstance(entry, dict):
        yield Called("Bash", {"command": entry["shell"], "description": "Look at it"})
    else:
        for name in entry:
            yield Called(*_TOOLS[name])


def _events(chosen: dict[str, list[Called]], codes: dict[str, list[int]]) -> Iterator[Event]:
    """Every call, and the result of every call that was not stopped."""
    for name, calls in chosen.items():
        for number, called in enumerate(calls):
            yield Event(name, number, called, False)
            if not codes[name][number]:
                yield Event(name, number, called, True)


def _text(event: Event, project: str, number: int) -> bytes:
    """What Claude Code gives the hook; each round is a session of its own."""
    about: dict[str, Any] = {
        "session_id": "-".join([os.path.basename(project), f"{number}", event.session.translate(_PLAIN)]),
        "transcript_path": "/PROJECT.jsonl",
        "cwd": "/PROJECT",
        "permission_mode": "default",
        "hook_event_name": "PostToolUse" if event.is_result else "PreToolUse",
        "tool_name": event.called.tool,
        "tool_input": event.called.given,
        "tool_use_id": f"toolu_{number}_{event.number}",
    }
    if event.is_result:
        about["tool_response"] = _RESULTS.get(event.called.tool, {"content": _TEXT})
    return json.dumps(about).replace("/PROJECT", project).encode()


def _unused(folder: str) -> float:
    """The seconds of a result's hook where no policy has held yet: its shell ends before Python starts."""
    with open(os.path.join(ROOT, "hooks", "claude.json"), encoding="utf-8") as file:
        command = json.load(file)["hooks"]["PostToolUse"][0]["hooks"][0]["command"]
    home = ["env", "-u", "LOCKSTEP_STATE", "-u", "XDG_STATE_HOME", f"HOME={folder}/nobody"]
    subprocess.run([*home, "sh", "-c", command], check=True, stdin=subprocess.DEVNULL, capture_output=True)
    return hook_processes.processor_time([*home, "sh", "-c", command], b"", folder, 0)


def _by_kind(middle: dict[Event, tuple[float, float]], codes: dict[str, list[int]], rounds: int) -> Figures:
    """How often each kind of call comes, and what the policy adds to it."""
    policy = _policy()
    kinds: dict[str, list[tuple[float, float]]] = {}
    for event, pair in middle.items():
        kind = _kind(event, codes[event.session][event.number], policy)
        kinds.setdefault(f"{kind}: results" if event.is_result else kind, []).append(pair)
    rows: list[list[Cell]] = []
    for name, pairs in sorted(kinds.items(), key=lambda one: -len(one[1])):
        without, within = _sums(pairs)
        share = 100 * len(pairs) / len(middle)
        rows.append(
            [name, len(pairs), share, without / len(pairs) * 1000, within / len(pairs) * 1000, within / without]
        )
    notes = [
        "Calls and results of sessions of agents (hook_sessions.yaml has them, and where they are from), with",
        f"policies/coding.yaml and without it; {len(FILES)} files. Medians of {rounds}, interleaved; processor time.",
    ]
    return Figures("Sessions, by kind of call", ["kind", "number", "%", "ms without", "ms with", "ratio"], rows, notes)


def _by_session(middle: dict[Event, tuple[float, float]], codes: dict[str, list[int]], shell: float) -> Figures:
    """The sum over each session, and over all."""
    rows: list[list[Cell]] = []
    for name, found in codes.items():
        without, within = _sums(pair for event, pair in middle.items() if event.session == name)
        rows.append([name, len(found), sum(code != 0 for code in found), within / without, None])
    count, stopped = (sum(map(len, codes.values())), sum(code != 0 for found in codes.values() for code in found))
    without, within = _sums(middle.values())
    rows.append(["all", count, stopped, within / without, AT_MOST])
    calls = sum(pair[0] for event, pair in middle.items() if not event.is_result)
    unused = calls + shell * sum(event.is_result for event in middle)
    rows.append(["all, beside a machine on which no policy has held", count, stopped, within / unused, None])
    notes = [
        "There a host's hook starts no Python for a result, but a shell alone: "
        f"{shell * 1000:.1f} ms. Everywhere else a session's results start the hook, with a policy or without."
    ]
    return Figures(
        "Sessions, with the policy and without", ["session", "calls", "stopped", "ratio", "at most"], rows, notes
    )


def _sums(pairs: Iterable[tuple[float, float]]) -> tuple[float, float]:
    listed = list(pairs)
    return sum(pair[0] for pair in listed), sum(pair[1] for pair in listed)


def _policy() -> Policy:
    with open(_POLICY, encoding="utf-8") as file:
        return Policy(compile_policy(file.read(), "coding.yaml"))


def _kind(event: Event, code: int, policy: Policy) -> str:
    """The kind of a call: by what the hook answers, and by what it has to read for that."""
    if code:
        return _STOPPED
    if event.called.tool != "Bash":
        return _EDITS if event.called.tool in ("Edit", "Write") else "tools that no rule is on"
    line = event.called.given["command"]
    if len(calls_of(policy, "shell", {"command": line}, os.getcwd(), live=False)) > 1:
        return _RULED
    return "plain lines that no rule is on" if commands(line) else "other lines that no rule is on"

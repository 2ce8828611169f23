"""What the hook adds to a tool call: each kind beside a bare ``python -c pass``, interleaved, on a lean interpreter."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import tempfile
from typing import TYPE_CHECKING, NamedTuple
from unittest import mock

from benchmarks import hook_processes
from benchmarks.adherence.hosts import own_ledgers
from benchmarks.adherence.skills import ROOT
from benchmarks.report import Cell, Figures
from benchmarks.steps import BARE, QUICK_SAMPLES, SAMPLES, WARM_UP, lean_python
from skills.lib.blocks.command_line import CommandLine
from skills.lib.hosts.hook import sessions
from skills.lib.hosts.hook.event import name_of
from skills.lib.model.run import Request
from skills.lib.runtime import Runner, loading
from skills.lib.validation import registration

if TYPE_CHECKING:
    from benchmarks.options import Options

    Call = tuple[list[str], bytes, str]

Given = dict[str, str]

# Kind of call -> the bound of its ratio to bare; a denied call asks the ledger once more and has none.
BOUNDS: dict[str, float] = {
    "no run open": 1.25,
    "another session's run open": 1.25,
    "an allowed tool": 1.9,
    "the run's own command": 1.9,
}
_SKILL = "hooked"
_GRAPH = """from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.types import Outcome

WORKFLOW = Workflow(
    "hooked",
    StepDef("begin", "Begin", "Begin.", {Outcome.OK: "look"}),
    StepDef("look", "Look", "Look.", {Outcome.OK: None}, tools=["read", "search"]),
)
register_workflow(WORKFLOW)
"""

_EDIT: Given = {"file_path": "a.py", "old_string": "a", "new_string": "b"}


class Kind(NamedTuple):
    """A call in a project with the policy for coding, and the same in one without.

    ``session`` is one in which the tests have passed, or any other. A call that is not allowed ends with 2.
    """

    tool: str
    given: Given
    is_result: bool = False
    session: str = "other"
    expected: int = 0
    most: float | None = 1.25


def _line(line: str) -> Given:
    return {"command": line}


_GUARDED = {
    "a tool that no rule concerns": Kind("Read", {"file_path": "a.py"}),
    "its result": Kind("Read", {"file_path": "a.py"}, is_result=True),
    "ls -la | head, which no rule concerns": Kind("Bash", _line("ls -la | head")),
    'git commit -m "one two", which no rule concerns': Kind("Bash", _line('git commit -m "one two"')),
    "python x.py, which no rule concerns": Kind("Bash", _line("python x.py")),
    "ls *.py, which no rule concerns": Kind("Bash", _line("ls *.py")),
    r"ls \[ab].py, which no rule concerns, read as a shell reads it": Kind("Bash", _line("ls [ab].py")),
    "an edit, which makes a place unknown": Kind("Edit", _EDIT),
    "the result of an edit": Kind("Edit", _EDIT, is_result=True),
    "rm a.py, allowed by its words": Kind("Bash", _line("rm a.py")),
    "its result, rm": Kind("Bash", _line("rm a.py"), is_result=True),
    "make test, allowed": Kind("Bash", _line("make test")),
    "rm /x, denied": Kind("Bash", _line("rm /x"), expected=2),
    "make deploy, answered by a look": Kind("Bash", _line("make deploy"), session="", expected=2),
    "git push after tests, allowed: reads $tree": Kind("Bash", _line("git push"), session="tested", most=None),
    "the result of make test: reads $tree": Kind("Bash", _line("make test"), is_result=True, most=None),
}
_GIT = "git ls-files, which $tree starts once"


def figures(options: Options) -> list[Figures]:
    """Measure every kind of call in turn, round by round."""
    samples = QUICK_SAMPLES if options.quick else SAMPLES
    with own_ledgers(), tempfile.TemporaryDirectory(prefix="lockstep-bench-") as folder:
        calls = _calls(lean_python(folder), folder)
        took: dict[str, list[float]] = {name: [] for name in calls}
        with options.progress("hooks", samples + WARM_UP) as tick:
            for at in range(samples + WARM_UP):
                for name, call in calls.items():
                    seconds = hook_processes.seconds(*call, expected=2 if name == "a denied tool" else 0)
                    if at >= WARM_UP:
                        took[name].append(seconds)
                tick()
        policies = _with_policy(lean_python(folder), folder, samples, options)
    bare = statistics.median(took[BARE])
    rows: list[list[Cell]] = [
        [name, statistics.median(many) * 1000, statistics.median(many) / bare, BOUNDS.get(name)]
        for name, many in took.items()
    ]
    notes = [f"One process per event, as a host starts it; medians of {samples}, interleaved."]
    return [Figures("A hook", ["call", "ms", "ratio to bare", "at most"], rows, notes), policies]


def _with_policy(python: str, folder: str, samples: int, options: Options) -> Figures:
    """Measure each call in a project with a policy beside the same call in one without, round by round."""
    plain, guarded = (os.path.join(folder, name) for name in ("plain", "guarded"))
    for project in (plain, guarded):
        hook_processes.repository(project)
    shutil.copy(os.path.join(ROOT, "policies", "coding.yaml"), os.path.join(guarded, "lockstep.policy.yaml"))
    state, cache = os.path.join(folder, "guarded-state"), os.path.join(folder, "cache")
    hook_processes.keep_compiled(guarded, cache)
    hook, took = hook_processes.command(python), dict[str, list[list[float]]]()
    git = ["git", "-C", guarded, "ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard"]

    def seconds(project: str, kind: Kind, call: str, is_result: bool, session: str) -> float:
        event = {
            "session_id": f"{os.path.basename(project)}-{session}",
            "cwd": project,
            "hook_event_name": "PostToolUse" if is_result else "PreToolUse",
            "tool_name": kind.tool,
            "tool_input": kind.given,
            "tool_use_id": call,
            **({"tool_response": {"stdout": "ok", "stderr": "", "interrupted": False}} if is_result else {}),
        }
        expected = kind.expected if project == guarded else 0
        return hook_processes.processor_time(hook, json.dumps(event).encode(), state, expected, cache)

    for is_result in (False, True):
        seconds(guarded, Kind("Bash", _line("make test")), "tests", is_result, "tested")
    with options.progress("hooks with a policy", samples + WARM_UP) as tick:
        for at in range(samples + WARM_UP):
            for number, (name, kind) in enumerate(_GUARDED.items()):
                call, session = f"toolu_{number}_{at}", kind.session or f"new-{at}"
                if kind.is_result:
                    seconds(guarded, kind, call, False, session)
                pair = [seconds(project, kind, call, kind.is_result, session) for project in (plain, guarded)]
                if at >= WARM_UP:
                    took.setdefault(name, []).append(pair)
            if at >= WARM_UP:
                took.setdefault(_GIT, []).append(
                    [took[next(iter(_GUARDED))][-1][0], hook_processes.processor_time(git, b"", state, 0)]
                )
            tick()
    rows: list[list[Cell]] = []
    for name, pairs in took.items():
        without, within = (statistics.median(times) for times in zip(*pairs, strict=True))
        most = _GUARDED[name].most if name in _GUARDED else None
        rows.append([name, without * 1000, within * 1000, within / without, most])
    notes = [
        f"Processor time of a process and of what it starts; medians of {samples}, interleaved. No run is open.",
        "The policy is policies/coding.yaml. The last row is git alone, beside a hook.",
    ]
    return Figures("A hook with a policy", ["call", "ms without", "ms with", "ratio", "at most"], rows, notes)


def _calls(python: str, folder: str) -> dict[str, Call]:
    """For each kind of call its command, the event that it reads and the state folder."""
    project, none, state = (os.path.join(folder, name) for name in ("project", "none", "state"))
    os.makedirs(os.path.join(project, ".lockstep"))
    run, onward, script = _open_run(python, project, folder)
    with mock.patch.dict(os.environ, LOCKSTEP_STATE=state):
        sessions.bind(name_of("claude", "s1"), None, {"run": run, "project": project, "script": script, "signed": True})
    hook = hook_processes.command(python)

    def event(session: str, tool: str, **given: str) -> bytes:
        common = {"session_id": session, "cwd": project, "hook_event_name": "PreToolUse"}
        return json.dumps({**common, "tool_name": tool, "tool_input": given}).encode()

    return {
        BARE: ([python, "-c", "pass"], b"", none),
        "no run open": (hook, event("s1", "Read", file_path="a"), none),
        "another session's run open": (hook, event("s2", "Read", file_path="a"), state),
        "an allowed tool": (hook, event("s1", "Read", file_path="a"), state),
        "the run's own command": (hook, event("s1", "Bash", command=onward), state),
        "a denied tool": (hook, event("s1", "Write", file_path="a"), state),
    }


def _open_run(python: str, project: str, folder: str) -> tuple[str, str, str]:
    """Open a run of a small skill and go to its second step; its id, the command that goes on, and the script."""
    script = os.path.join(folder, _SKILL, "scripts", f"{_SKILL}.py")
    graph = script.removesuffix(".py") + loading.SUFFIX
    os.makedirs(os.path.dirname(script))
    with open(graph, "w", encoding="utf-8") as file:
        file.write(_GRAPH)
    workflow = loading.load_workflow(graph)
    registration.write(registration.beside(workflow, graph), registration.text(workflow))
    runner = Runner(CommandLine(python, script, project))
    try:
        opened = runner.start(workflow, {}).run
        assert opened is not None
        moved = runner.advance(workflow, opened.id, Request("look", run=opened.id, turn=1)).run
        assert moved is not None
        return moved.id, runner.command_line.step("done", moved), script
    finally:
        runner.close()

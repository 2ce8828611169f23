"""A project's runs as they are told: by id, as trees with their sub-agents' runs, what each is for and is at."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from skills.lib import compact_json, launcher, paths
from skills.lib.blocks.command_line import join
from skills.lib.clean_text import one_line
from skills.lib.errors import UsageError, did_you_mean, nearest
from skills.lib.hosts import skills
from skills.lib.ledger import Ledger, listing
from skills.lib.ledger.history import Event
from skills.lib.model.run import FINISHED, Run
from skills.lib.model.texts import shortened

# How many ids are compared with one that is not known, and how many are named of those that begin like one.
_NEAR, _NAMED = 1_000, 20
# How much of a value one line shows; lockstep trace --values shows all of it.
SHOWN = 60


class Records:
    """The ledger of a project, read as far as it is asked for, with the checksums of what is read checked."""

    def __init__(self, ledger: Ledger, project: str) -> None:
        self.ledger = ledger
        self.project = project
        self._events: dict[str, list[Event]] = {}
        self._steps: dict[str, tuple[str, ...]] = {}

    def run(self, run_id: str) -> Run:
        """The run of that id, or the only one whose id begins so; UsageError names those, or the nearest."""
        run = self.ledger.run(run_id) or self._begun_by(run_id)
        if run is None:
            known = listing.ids(self.ledger, run_id[:2], _NEAR) or listing.ids(self.ledger, "", _NEAR)
            near = did_you_mean(nearest(run_id, known))
            what = f"the ledger {self.ledger.path} has no run {run_id!r:.80}{near}"
            raise UsageError(what, remedy=command(self.project, "runs", "--all"))
        return run

    def _begun_by(self, prefix: str) -> Run | None:
        """The run whose id begins so; None if there is none. Raises UsageError if there are several."""
        if not prefix:
            return None
        deep = prefix.count(".")
        found = [one for one in listing.ids(self.ledger, prefix, _NEAR) if one.count(".") == deep]
        if len(found) > 1:
            raise UsageError(f"{prefix!r:.80} begins the ids of {len(found)} runs", valid=", ".join(found[:_NAMED]))
        return self.ledger.run(found[0]) if found else None

    def steps(self, run: Run) -> tuple[str, ...]:
        """The ids of the steps of a run's workflow, in order; empty for a run that has not begun."""
        if run.fingerprint and run.fingerprint not in self._steps:
            found = self.ledger.definition(run.fingerprint).get("steps", ())
            self._steps[run.fingerprint] = tuple(str(step.get("id")) for step in found)
        return self._steps.get(run.fingerprint, ())

    def events(self, run_id: str) -> list[Event]:
        """The events of a run, in sequence."""
        if run_id not in self._events:
            self._events[run_id] = self.ledger.events(run_id)
        return self._events[run_id]

    def tree(self, run: Run, depth: int = 0) -> Iterator[tuple[int, Run]]:
        """A run and all below it, replaced and ended ones included, each with its depth."""
        yield depth, run
        for child in listing.children(self.ledger, run.id):
            yield from self.tree(child, depth + 1)

    def roots(self, ended: bool = False) -> Iterator[Run]:
        """The open runs that no other run started, the last opened first; with ``ended`` those that ended too."""
        return listing.roots(self.ledger, ended)

    def moved_at(self, run: Run) -> float:
        """When the run, or one below it, last moved; seconds since the epoch, refusals not counted."""
        return listing.moved_at(self.ledger, run.id)

    def opened_at(self, run: Run) -> float:
        """When the run opened; seconds since the epoch."""
        return listing.opened_at(self.ledger, run.id)


def command(project: str, *words: str) -> str:
    """A lockstep command about a project, which it names unless the working directory is in that project."""
    try:
        here = paths.project_root()
    except OSError:  # the working directory was removed
        here = ""
    return join(["lockstep", *words, *([] if project == here else ["--project", project])])


def showing(run: Run, project: str) -> str:
    """The command that prints the present block of a run: the short one if the launcher knows the run."""
    return short_command(run.id, project) or command(project, "resume", run.id)


def short_command(run_id: str, project: str) -> str:
    """The short command that prints the present block of a run, good in any folder; empty if no launcher knows it."""
    path = launcher.path()
    is_known = path and os.access(path, os.X_OK) and launcher.entry(os.path.dirname(path), run_id)[2:] == (project,)
    return join([path, run_id]) if is_known else ""


def script_by_name(run: Run, project: str) -> str:
    """Find the run's script in the project's skill of that name, else in the shipped one; else its recorded path."""
    name = skill_of(run)
    below = os.path.relpath(run.script, _folder_of(run))
    every = [skill for skill in skills.find(project) if skill.name == name]
    named = [skill for skill in every if os.path.isfile(os.path.join(skill.path, below))]
    return os.path.join(skills.meant(project, name, named).path, below) if named else run.script


def skill_of(run: Run) -> str:
    """The name of the run's skill: the folder that holds its ``scripts``; else the workflow's name."""
    return os.path.basename(_folder_of(run)) or run.workflow


def _folder_of(run: Run) -> str:
    """The folder of the run's skill; empty if its script is in no ``scripts``."""
    parts = run.script.split(os.sep)
    at = next((at for at in range(len(parts) - 1, 0, -1) if parts[at] == "scripts"), 0)
    return os.sep.join(parts[:at])


def is_of(run: Run, name: str | None) -> bool:
    """True if a run belongs to that skill or workflow, or no name is given."""
    return name is None or name in (skill_of(run), run.workflow)


def ago(at: float) -> str:
    """How long ago a moment was, in one unit."""
    seconds = max(0.0, time.time() - at)
    for size, unit in ((86400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return f"{int(seconds)} s ago"


def moment(at: float) -> str:
    """A moment in the local time of the reader."""
    return _formatted("%Y-%m-%d %H:%M:%S", time.localtime, at)


def iso(at: float) -> str:
    """A moment in UTC, for a program."""
    return _formatted("%Y-%m-%dT%H:%M:%SZ", time.gmtime, at)


def _formatted(form: str, read: Callable[[float], time.struct_time], at: float) -> str:
    try:
        return time.strftime(form, read(at))
    except (OSError, OverflowError, ValueError):  # the clock was wrong by ages when it was written
        return f"{at:.0f}"


def described(run: Run, records: Records) -> dict[str, object]:
    """A run as plain data for a program."""
    return {
        "run": run.id,
        "skill": skill_of(run),
        "workflow": run.workflow,
        "status": run.status,
        "step": run.step,
        "number": number_of(run, records),
        "steps": len(records.steps(run)),
        "question": {"text": run.question["text"], "choices": run.question["choices"]} if run.question else None,
        "turn": run.turn,
        "iteration": run.iteration if run.step else None,
        "parent": run.parent,
        "opened": iso(records.opened_at(run)),
        "moved": iso(records.moved_at(run)),
        "params": run.params,
        "not_done": left_undone(run, records),
        "command": showing(run, records.project),
    }


def about(run: Run) -> str:
    """What a run is for, in one short line: its parameters, else the first text that it recorded."""
    recorded = [pair for step in run.visits for pair in run.state.get(step, {}).items()]
    texts = [{name: value} for name, value in recorded if isinstance(value, str) and " " in value]
    said = _purpose(run.params) or next(iter(texts), {})
    return short(" ".join(f"{name}={short(value)}" for name, value in said.items()))


def _purpose(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that say what a run is for: of one that is made from a SKILL.md or a plan, its task or goal."""
    if "instructions" in params or "plan" in params:
        params = {name: params[name] for name in ("task", "goal") if params.get(name)}
    return {name: value for name, value in params.items() if value is not None}


def short(value: Any) -> str:
    """A value on one line, cut after SHOWN characters."""
    return shortened(one_line(value if isinstance(value, str) else compact_json.readable(value)), SHOWN)


def number_of(run: Run, records: Records) -> int | None:
    """Which step of its workflow a run is at, from 1; None if it is at none."""
    steps = records.steps(run)
    return steps.index(run.step) + 1 if run.step in steps else None


def asked(run: Run) -> str:
    """What a run asks a person, with the choices, on one line; empty if it asks nothing."""
    if run.status != "waiting" or not run.question:
        return ""
    choices = ", ".join(map(one_line, run.question["choices"]))
    return one_line(run.question["text"]) + (f" ({choices})" if choices else "")


def status_line(run: Run) -> str:
    """The status of a run, the step at which it is, and the reason for which it ended."""
    at = f" at {run.step}" if run.step else ""
    why = f": {run.last['reason']}" if run.ended and run.last.get("reason") else ""
    return f"{run.status}{at}{why}"


def left_undone(run: Run, records: Records) -> list[dict[str, str]]:
    """What a run left undone; before its end, what it left undone so far, with the evidence that was waived."""
    found = list(run.not_done)
    if run.status in FINISHED or not run.fingerprint:
        return found
    for arg in records.ledger.definition(run.fingerprint).get("params", ()):
        step, name = arg.get("step"), arg.get("name")
        value = run.state.get(step, {}).get(name) if step else run.params.get(name)
        if arg.get("waives") and value:
            found.append({"kind": "evidence", "step": step or "", "what": f"{arg['waives']} was waived: {value}"})
    return found


def undone(entry: Mapping[str, str]) -> str:
    """One thing that a run left undone, in a line."""
    place = f" at {entry['step']}" if entry["step"] else ""
    return f"{entry['kind']}{place}: {one_line(entry['what'])}"


def outcome_of(detail: Mapping[str, Any]) -> str:
    """The outcome of a transition, marked if the step had used up its iterations."""
    return f"{detail.get('outcome')}{' (limit)' if 'limit' in detail else ''}"

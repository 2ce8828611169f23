"""What each tool does: a request as plain data in, a response as plain data out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from skills.lib import paths
from skills.lib.blocks.command_line import CommandLine, lockstep_command
from skills.lib.errors import LockstepError, UsageError, did_you_mean, nearest
from skills.lib.hosts.mcp import blocks, catalogue
from skills.lib.hosts.mcp.toolcalls import ToolCall
from skills.lib.ledger import Ledger
from skills.lib.model.run import Request, Run
from skills.lib.model.steps import Workflow
from skills.lib.model.texts import check_text, check_tree
from skills.lib.runtime import Response, Runner, loading, script

Given = Mapping[str, Any]
Answer = dict[str, Any]
_TEXTS = ("step", "outcome", "answer", "lost", "replace", "reason")


class UnknownRun(UsageError):
    """The project has no run of that id."""


def serve(given: Given) -> Answer:
    """The response to one request: ``text``, whether it is an ``error``, and ``data`` for a program."""
    try:
        return _OPERATIONS[given["tool"]](given)
    except LockstepError as error:
        return failed(error, given)


def _start(given: Given) -> Answer:
    found = catalogue.one(given["skill"], given["skills"])
    parameters = {_parameter(name): value for name, value in given.get("parameters", {}).items()}
    check_tree(parameters, "parameters")
    command_line = _command_line(given["project"], found.script)
    return _replied(
        command_line, found.workflow, lambda runner: runner.start(found.workflow, parameters, given.get("new", False))
    )


def _step(given: Given) -> Answer:
    run = _run(given)
    path = _script(run, given["project"])
    workflow = loading.workflow_of_script(path)
    request = _request(given, workflow)
    return _replied(
        _command_line(given["project"], path), workflow, lambda runner: runner.advance(workflow, run.id, request)
    )


def _state(given: Given) -> Answer:
    if "run" not in given:
        return _open_runs(given["project"])
    run = _run(given)
    if run.status == "pending":  # looking must not begin it
        begin = ToolCall("next_step", {"run": run.id, "step": "1"})
        text = f"Run {run.id} of {run.workflow} is a sub-agent's and has not begun: {begin.shown()}"
        return _said(text, {**_about(run), "next": begin._asdict()})
    path = _script(run, given["project"])
    workflow = loading.workflow_of_script(path)
    return _replied(_command_line(given["project"], path), workflow, lambda runner: runner.state(workflow, run.id))


def _skills(given: Given) -> Answer:
    found = catalogue.describe(given["skills"])
    return _said("\n\n".join(catalogue.shown(skill) for skill in found) or "No skill is found.", {"skills": found})


_OPERATIONS: dict[str, Callable[[Given], Answer]] = {
    "start_run": _start,
    "next_step": _step,
    "run_state": _state,
    "list_skills": _skills,
}


def _replied(command_line: CommandLine, workflow: Workflow, call: Callable[[Runner], Response]) -> Answer:
    """The whole document of a response; values that make it too long are in files that it names."""
    runner = Runner(command_line)
    try:
        response = call(runner)
        served = response.workflow or workflow
        step = response.run.step if response.run else None
        shown = blocks.for_client(response.element, command_line, served, step)
        text = script.render_response(Response(shown, response.exit_code, response.run, served), runner)
    finally:
        runner.close()
    return {"text": text, "error": response.exit_code != 0, "data": blocks.data_of(response, command_line)}


def _request(given: Given, workflow: Workflow) -> Request:
    """The request that the arguments make, each text checked as those of a command line are."""
    for name in _TEXTS:
        if given.get(name) is not None:
            check_text(given[name], name)
    records = dict(given.get("record", {}))
    errata = dict(given.get("errata", {}))
    parameters = {_parameter(name): value for name, value in given.get("parameters", {}).items()}
    check_tree(records, "record")
    check_tree(parameters, "parameters")
    check_tree(errata, "errata")
    for name, note in errata.items():
        if not isinstance(note, str) or not note.strip() or not name:
            what = f"errata: {name!r:.80} is not step.field, or a parameter of the run, with a text"
            raise UsageError(what, valid='{"step.field": "note"}')
    of_steps = {arg.name for arg in workflow.params if arg.step}
    for name in [name for name in records if name in of_steps]:
        parameters.setdefault(name, records.pop(name))
    if given.get("lost") is not None and given.get("replace") is not None:
        raise UsageError("lost gives up on a sub-agent and replace starts another", remedy="give one of the two")
    fields: dict[str, Any] = {name: given.get(name) for name in (*_TEXTS, "turn") if name != "step"}
    fields["errata"] = errata
    return Request(given.get("step", "next"), run=given["run"], params=parameters, records=records, **fields)


def _parameter(name: str) -> str:
    """A parameter's name, also if it is written as a flag."""
    return name.removeprefix("--").replace("-", "_")


def _script(run: Run, project: str) -> str:
    """The path of a run's script, also if the project was moved since."""
    moved = os.path.join(project, os.path.relpath(run.script, run.project))
    return moved if not os.path.exists(run.script) and os.path.exists(moved) else run.script


def _command_line(project: str, path: str) -> CommandLine:
    return CommandLine(sys.executable, path, project, lockstep_command())


def _run(given: Given) -> Run:
    """The run that is named; UnknownRun offers those that are open."""
    run_id = given["run"]
    check_text(run_id, "run")
    ledger, opened = Ledger.existing(paths.home(given["project"])), list[str]()
    if ledger is not None:
        with ledger:
            found = ledger.run(run_id)
            if found is not None:
                return found
            opened = [run.id for run in _roots(ledger)]
    raise UnknownRun(
        f"this project has no run {run_id!r:.80}{did_you_mean(nearest(run_id, opened))}",
        valid=", ".join(opened) or "none: no run is open",
        remedy="run_state() lists the open runs, start_run opens one",
    )


def _roots(ledger: Ledger) -> list[Run]:
    """The runs that go on and that no other run started."""
    return ledger.every_run("parent IS NULL AND status IN ('open', 'waiting')")


def _open_runs(project: str) -> Answer:
    ledger = Ledger.existing(paths.home(project))
    opened: list[Run] = []
    if ledger is not None:
        with ledger:
            opened = _roots(ledger)
    lines = [
        f"{run.workflow}, {run.status} at {run.step}, turn {run.turn}: "
        + ToolCall("run_state", {"run": run.id}).shown()
        for run in opened
    ]
    return _said("\n".join(lines) or "No run is open: start_run opens one.", {"runs": [_about(run) for run in opened]})


def _about(run: Run) -> dict[str, Any]:
    return {"run": run.id, "skill": run.workflow, "status": run.status, "step": run.step, "turn": run.turn}


def _said(text: str, data: dict[str, Any]) -> Answer:
    return {"text": text + "\n", "error": False, "data": data}


def failed(error: LockstepError, given: Given) -> Answer:
    """The response to an error: what was wrong, what is valid, what to try, and the call that goes on."""
    lines = error.lines()
    if isinstance(given.get("run"), str) and given["tool"] != "run_state":
        present = "" if isinstance(error, UnknownRun) else ToolCall("run_state", {"run": given["run"]}).shown()
        lines.append("Nothing was changed." + (f" The run's present block: {present}" if present else ""))
    data = {"kind": "error", "code": type(error).__name__, "what": error.what, "valid": error.valid}
    return {"text": "\n".join(lines) + "\n", "error": True, "data": {**data, "remedy": error.remedy}}

"""What each tool does: a request as plain data in, a response as plain data out.

A call has a process of its own, started by ``processes``: ``main`` reads the request as JSON from standard input, and
writes the reply as JSON to standard output.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any

from skills.lib import paths
from skills.lib.blocks.command_line import CommandLine, lockstep_command
from skills.lib.blocks.refused import flags_of, without_flags
from skills.lib.engine import children
from skills.lib.errors import PRINTED, EnvironmentProblem, LockstepError, UsageError, did_you_mean, nearest
from skills.lib.gateway import Gateway, GatewayResult
from skills.lib.hosts.mcp import blocks, catalogue
from skills.lib.hosts.mcp.blocks import REPORTS, ToolCall
from skills.lib.hosts.mcp.catalogue import Found
from skills.lib.ledger import Ledger
from skills.lib.model.run import Request, Run
from skills.lib.model.steps import Workflow
from skills.lib.model.texts import check_text, check_tree
from skills.lib.runtime import Response, Runner, loading, script, stored
from skills.lib.runtime.project import is_of_another_project

Given = Mapping[str, Any]
Answer = dict[str, Any]


class UnknownRun(UsageError):
    """The project has no run of that id."""


def main() -> None:
    """Serve the one request and exit; what a skill prints is sent to standard error."""
    # A process that was started in the background ignores interrupts, and so do its children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    wire = os.dup(1)
    os.dup2(2, 1)

    def answer() -> int:
        reply = json.dumps(serve(json.loads(sys.stdin.buffer.read()))).encode()
        with os.fdopen(wire, "wb") as out:
            out.write(reply)
        return PRINTED

    script.leave(script.exit_code(answer))


def serve(given: Given) -> Answer:
    """The response to one request: ``text``, whether it is an ``error``, and ``data`` for a program."""
    try:
        return _OPERATIONS[given["tool"]](given)
    except LockstepError as error:
        return failed(error, given)


def _start(given: Given) -> Answer:
    found = catalogue.one(given["skill"], given["skills"])
    parameters = _parameters(given)
    return _replied(given, found, lambda runner: runner.start(found.workflow, parameters, given.get("new", False)))


def _step(given: Given) -> Answer:
    run = _run(given)
    found = _served(run, given)
    request = _request(given, found.workflow)
    return _replied(given, found, lambda runner: runner.advance(found.workflow, run.id, request, brief=True))


def _state(given: Given) -> Answer:
    if "run" not in given:
        return _open_runs(given)
    run = _run(given)
    if run.status == "pending":  # looking must not begin it
        begin = ToolCall("next_step", {"run": run.id, "step": "1"})
        text = f"Run {run.id} of {run.workflow} is a sub-agent's and has not begun: {begin.shown()}"
        return _said(text, {**_about(run), "next": begin._asdict()})
    found = _served(run, given)
    return _replied(given, found, lambda runner: runner.state(found.workflow, run.id))


def _skills(given: Given) -> Answer:
    found = catalogue.describe(given["skills"])
    return _said("\n\n".join(catalogue.shown(skill) for skill in found) or "No skill is found.", {"skills": found})


def _command(given: Given) -> Answer:
    return _ended(Gateway(given["project"]).run(given["command"], given.get("params", {})))


def _script(given: Given) -> Answer:
    args, variables, stdin = given.get("args", []), given.get("env_vars", {}), given.get("stdin_text")
    return _ended(Gateway(given["project"]).run_python(given["script"], args, variables, stdin))


def _ended(result: GatewayResult) -> Answer:
    """The result of a command of the gateway; it is an error if the command did not end with 0."""
    text = result.text()
    data = {"document": text, "kind": "result", **result.fields(), "argv": list(result.argv)}
    return {"text": text, "error": not result.ok, "data": data}


_OPERATIONS: dict[str, Callable[[Given], Answer]] = {
    "safe_cli_executor": _command,
    "safe_py_runner": _script,
    "start_run": _start,
    "next_step": _step,
    "run_state": _state,
    "list_skills": _skills,
}


def _replied(given: Given, found: Found, call: Callable[[Runner], Response]) -> Answer:
    """The whole document of a response; values that make it too long are in files that it names."""
    command_line = CommandLine(sys.executable, found.script, given["project"], lockstep_command())
    runner = Runner(command_line)
    runner.runs_commands = bool(found.script)
    try:
        response = call(runner)
        workflow = response.workflow or found.workflow
        step = response.run.step if response.run else None
        shown = blocks.for_client(response.element, command_line, workflow, step)
        text = script.render_response(Response(shown, response.exit_code, response.run, workflow), runner)
    finally:
        runner.close()
    # Hosts show their model either the text or, as Codex does, the data alone.
    data = {"document": text, **blocks.data_of(response, command_line)}
    return {"text": text, "error": response.exit_code != 0, "data": data}


def _request(given: Given, workflow: Workflow) -> Request:
    """The request that the arguments make, each text checked as those of a command line are."""
    for name in ("step", *REPORTS):
        if given.get(name) is not None:
            check_text(given[name], name)
    records, errata = dict(given.get("record", {})), dict(given.get("errata", {}))
    check_tree(records, "record")
    parameters = _parameters(given)
    check_tree(errata, "errata")
    for name, note in errata.items():
        if not isinstance(note, str) or not note.strip() or not name:
            what = f"errata: {name!r:.80} is not step.field, or a parameter of the run, with a text"
            raise UsageError(what, valid='{"step.field": "note"}')
    for name in {arg.name for arg in workflow.params if arg.step} & records.keys():
        parameters.setdefault(name, records.pop(name))
    if given.get("lost") is not None and given.get("replace") is not None:
        raise UsageError("lost gives up on a sub-agent and replace starts another", remedy="give one of the two")
    fields: dict[str, Any] = {name: given.get(name) for name in (*REPORTS, "run", "turn")}
    return Request(given.get("step", "next"), params=parameters, records=records, errata=errata, **fields)


def _parameters(given: Given) -> dict[str, Any]:
    """The parameters by name, also if a name is written as a flag."""
    named = given.get("parameters", {})
    parameters = {name.removeprefix("--").replace("-", "_"): value for name, value in named.items()}
    check_tree(parameters, "parameters")
    return parameters


def _served(run: Run, given: Given) -> Found:
    """The workflow of a run and its script, also if the project was moved since; "" if the workflow is in no file."""
    if run.parent and not run.spec.get("script"):
        return Found(run.script, children.task_workflow(run.workflow, run.spec))
    if not run.script:
        with Ledger(paths.home(given["project"]), create=False) as ledger:
            return Found("", stored.rebuilt(run, ledger))
    moved = os.path.join(given["project"], os.path.relpath(run.script, run.project))
    path = moved if not os.path.exists(run.script) and os.path.exists(moved) else run.script
    if not (stored.may_load(run, path, given["project"]) or _is_of_a_skill(path, given["project"])):
        raise EnvironmentProblem(
            f"run {run.id} names {path}, which is of no skill of this project and was not run for it on this machine, "
            "so it is not loaded: the ledger may be anybody's",
            remedy="list_skills() says which skills there are",
        )
    return Found(path, loading.workflow_of_script(path))


def _is_of_a_skill(script: str, project: str) -> bool:
    """True if a script is in the folder ``scripts`` of a skill of the project, which this server offers."""
    below = os.sep + os.path.relpath(os.path.realpath(script), os.path.realpath(project))
    folder, mark, _ = below.rpartition(f"{os.sep}scripts{os.sep}")
    is_inside = bool(mark) and not below.startswith(f"{os.sep}..")
    return is_inside and os.path.isfile(os.path.join(project, folder.strip(os.sep), "SKILL.md"))


def _run(given: Given) -> Run:
    """The run that is named; UnknownRun offers those that are open."""
    run_id = given["run"]
    check_text(run_id, "run")
    ledger = Ledger.existing(paths.home(given["project"]))
    if ledger is not None:
        with ledger:
            found = ledger.run(run_id)
        if found is not None:
            return found
    opened = [run.id for run in _roots(given)]
    raise UnknownRun(
        f"this project has no run {run_id!r:.80}{did_you_mean(nearest(run_id, opened))}",
        valid=", ".join(opened) or "none: no run is open",
        remedy="run_state() lists the open runs, start_run opens one",
    )


def _roots(given: Given) -> list[Run]:
    """The runs that go on and that no other run started."""
    ledger = Ledger.existing(paths.home(given["project"]))
    if ledger is None:
        return []
    with ledger:
        found = ledger.every_run("parent IS NULL AND status IN ('open', 'waiting')")
    return [run for run in found if not is_of_another_project(run, given["project"])]


def _open_runs(given: Given) -> Answer:
    opened = _roots(given)
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
    what, valid, remedy = [without_flags(text, flags_of()) for text in (error.what, error.valid, error.remedy)]
    lines = LockstepError(what, valid=valid, remedy=remedy).lines()
    if isinstance(given.get("run"), str) and given["tool"] != "run_state":
        present = "" if isinstance(error, UnknownRun) else ToolCall("run_state", {"run": given["run"]}).shown()
        lines.append("Nothing was changed." + (f" The run's present block: {present}" if present else ""))
    text = "\n".join(lines) + "\n"
    data = {"document": text, "kind": "error", "code": type(error).__name__, "what": what, "valid": valid}
    return {"text": text, "error": True, "data": {**data, "remedy": remedy}}

"""What a person does to runs by the forms of the pages: start, answer, pause, abandon, cancel.

Each is recorded with the name that the person gave. A form carries a token of the session that it was made for.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from skills.lib import compact_json
from skills.lib.agent.runs import opener
from skills.lib.agent.watching.visibility import HIDDEN
from skills.lib.blocks.command_line import here
from skills.lib.errors import EnvironmentProblem, LockstepError, RefusedError, UsageError
from skills.lib.model.run import Request as Wanted
from skills.lib.model.texts import check_text
from skills.lib.runtime import Response as Reply
from skills.lib.runtime import Runner, pausing, script, serving
from skills.lib.views.records import script_by_name
from skills.lib.web.answers import answer as answered
from skills.lib.web.answers import explorer_of, failed, session_keys, session_of, to, wants_json
from skills.lib.web.run_page import found

if TYPE_CHECKING:
    from starlette.requests import Request

    from skills.lib.model.requirements import Arg
    from skills.lib.model.run import Run
    from skills.lib.model.steps import Workflow
    from skills.lib.web.explorer import Explorer

Form = Mapping[str, str]
# How many fields a form has, and how many characters a name.
FIELDS, LONGEST_NAME = 200, 80
# What a person can do in the pages, by the code of a refusal that says what an agent can do.
_REMEDIES = {"already-open": "tick “Another run” in the form, or go on with the run that is open"}


def posted(act: Callable[[Request, Form], Response]) -> Callable[[Request], Any]:
    """The endpoint of a form, which must carry the token of its session."""

    async def endpoint(request: Request) -> Response:
        body = await request.body()
        try:
            form = {name: values[-1] for name, values in _fields(body).items()}
            if not secrets.compare_digest(form.get("form_token", "").encode(), session_of(request).form_token.encode()):
                raise RefusedError(
                    "this form is not of your session: nothing was done", remedy="load the page again, and send it anew"
                )
            return await run_in_threadpool(act, request, form)
        except LockstepError as error:
            return await run_in_threadpool(failed, request, error)

    return endpoint


def _fields(body: bytes) -> dict[str, list[str]]:
    try:
        return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=FIELDS, errors="strict")
    except ValueError as error:
        raise UsageError(f"the form cannot be read: {error}") from error


def enter(request: Request) -> Response:
    """Begin a session by a link that works once; a program that only looks whether it is there does not use it up."""
    from skills.lib.web.answers import COOKIE

    if request.method == "HEAD":
        return Response(status_code=405, headers={"allow": "GET"})
    explorer = explorer_of(request)
    entered = explorer.access.enter(str(request.path_params["token"]))
    if entered is None:
        return answered(request, "closed.html", {"error": "this link was used, or never was one"}, 403)
    key, session = entered
    request.app.state.entered(session.role)
    response = to(request, "/")
    secure = request.url.scheme == "https"
    response.set_cookie(COOKIE, key, path=explorer.access.base, httponly=True, samesite="strict", secure=secure)
    return response


def leave(request: Request, form: Form) -> Response:
    """End the session."""
    from skills.lib.web.answers import COOKIE

    explorer = explorer_of(request)
    explorer.access.leave(session_keys(request))
    response = to(request, "/")
    response.delete_cookie(COOKIE, path=explorer.access.base)
    return response


def answer(request: Request, form: Form) -> Response:
    """Answer what a run asks a person."""
    explorer, run = _run(request)
    said = form.get("answer", "") or form.get("other", "")
    if not said.strip():
        raise UsageError("the answer is empty", valid=", ".join(map(str, (run.question or {}).get("choices", ()))))
    if run.status != "waiting":
        raise RefusedError(f"run {run.id} asks nobody anything: it is {run.status}")
    if form.get("turn") != str(run.turn):
        raise RefusedError(
            f"run {run.id} has moved since this page was made: nothing was answered", remedy="load the page again"
        )
    name, reason = _name(request, form), form.get("reason", "").strip() or None
    with explorer.alone():
        runner, workflow = _served(explorer, run)
        with closing(runner):
            wanted = Wanted("next", run=run.id, turn=run.turn, project=explorer.project, answer=said, reason=reason)
            kind = explorer.kind
            reply = script.quietly(lambda: runner.advance(workflow, run.id, wanted, by=name, kind=kind))
    _require_done(reply)
    return _done(request, f"/runs/{run.id}", run.id)


def pause(request: Request, form: Form) -> Response:
    """Let the agent of a run do other work, or hold it to the run again."""
    explorer, run = _run(request)
    _require_operator(request, explorer)
    detail = {"who": _name(request, form)}
    if form.get("reason", "").strip():
        check_text(form["reason"], "reason")
        detail["reason"] = form["reason"].strip()
    pauses = str(request.url.path).rpartition("/")[2] == "pause"
    pausing.noted(explorer.project, run.id, pauses, detail, "person (web)")
    return _done(request, f"/runs/{run.id}", run.id)


def abandon(request: Request, form: Form) -> Response:
    """End a run that nobody will finish."""
    explorer, run = _run(request)
    _require_operator(request, explorer)
    reason = form.get("reason", "").strip()
    if not reason:
        raise UsageError(
            "a run is abandoned for a reason, which is kept with it", remedy="say why nobody will finish it"
        )
    name = _name(request, form)
    with explorer.alone(), closing(Runner(here(run.script, explorer.project))) as runner:
        runner.abandon(run.id, reason, by=name, kind=explorer.kind)
    return _done(request, f"/runs/{run.id}", run.id)


def cancel(request: Request, form: Form) -> Response:
    """Stop the session of Lockstep's own agent before its next model call, or park a submitted run; the run stays."""
    explorer, run = _run(request)
    _require_operator(request, explorer)
    name = _name(request, form)
    try:
        from skills.lib.agent.agent import Agent
        from skills.lib.fleet import cancelling

        cancelling.cancel(Agent(explorer.project), run.id, name, explorer.kind)
    except ImportError as error:
        raise EnvironmentProblem("cancelling takes the extra [agent], which is not installed") from error
    return _done(request, f"/runs/{run.id}", run.id)


def start_form(request: Request) -> Response:
    """The form that opens a run of a skill, made from its parameters."""
    explorer = explorer_of(request)
    name = str(request.path_params["skill"])
    _, workflow = opener(explorer.project, _plain(name))
    data = {"skill": name, "workflow": workflow.name, "parameters": [_parameter(arg) for arg in _parameters(workflow)]}
    return answered(request, "start.html", data)


def start(request: Request, form: Form) -> Response:
    """Open a run of a skill."""
    explorer = explorer_of(request)
    name = str(request.path_params["skill"])
    person = _name(request, form)
    with explorer.alone():
        runner, workflow = opener(explorer.project, _plain(name))
        given = {arg.name: form[f"p-{arg.name}"] for arg in _parameters(workflow) if form.get(f"p-{arg.name}")}
        for arg in _parameters(workflow):
            if arg.type == "list" and arg.name in given:
                lines = [line.strip() for line in given[arg.name].splitlines() if line.strip()]
                given[arg.name] = compact_json.dumps(lines)
        with closing(runner):
            new = form.get("new") == "yes"
            kind = explorer.kind
            reply = script.quietly(lambda: runner.start(workflow, given, new, by=person, kind=kind))
    _require_done(reply)
    assert reply.run is not None
    return _done(request, f"/runs/{reply.run.id}", reply.run.id)


def _run(request: Request) -> tuple[Explorer, Run]:
    explorer = explorer_of(request)
    if explorer.level(session_of(request)) == HIDDEN:
        raise RefusedError("your role sees nothing of runs, and so does nothing to them")
    return explorer, found(explorer.records(), str(request.path_params["run"]))


def _served(explorer: Explorer, run: Run) -> tuple[Runner, Workflow]:
    """The runner that serves a run, and its workflow; a skill that moved is found by its name."""
    path = run.script if not run.script or os.path.exists(run.script) else script_by_name(run, explorer.project)
    return serving.runner_for(run, explorer.project, "agent", path)


def _name(request: Request, form: Form) -> str:
    """The name of the person, which the session keeps for the next form."""
    name = " ".join(form.get("name", "").split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise UsageError("your name is kept with what you do", valid=f"1 to {LONGEST_NAME} characters on one line")
    session_of(request).name = name
    return name


def _require_operator(request: Request, explorer: Explorer) -> None:
    session = session_of(request)
    if not session.is_operator:
        raise RefusedError(f"the role {session.role} does not pause, abandon or cancel runs", valid="DEVELOPER, ADMIN")
    if explorer.kind != "web":
        raise RefusedError("an agent's host started this server: what is done here is no person's word")


def _require_done(reply: Reply) -> None:
    if reply.refusal is not None:
        refusal = reply.refusal
        faults = "; ".join(f"{name}: {fault}" for name, fault in refusal.faults.items())
        valid = ", ".join(one for several in refusal.valid.values() for one in several)
        is_said = all(fault in refusal.why for fault in refusal.faults.values())
        remedy = _REMEDIES.get(refusal.code, "" if is_said else faults)
        raise RefusedError(refusal.why or faults, valid=valid, remedy=remedy)


def _done(request: Request, path: str, run_id: str) -> Response:
    if wants_json(request):
        return JSONResponse({"run": run_id})
    return to(request, path)


def _plain(name: str) -> str:
    """The name of a skill; a path is none: no page names a file to load."""
    if os.sep in name or name in (".", "..") or name.endswith((".py", ".yaml")):
        raise UsageError(f"{name!r:.80} is no name of a skill")
    return name


def _parameters(workflow: Workflow) -> list[Arg]:
    """The parameters with which a run opens."""
    return [arg for arg in workflow.params if arg.step is None]


def _parameter(arg: Arg) -> dict[str, Any]:
    return {
        "name": arg.name,
        "type": arg.type,
        "choices": [str(one) for one in arg.choices],
        "default": "" if arg.default is None else arg.default,
        "required": bool(arg.required),
        "help": arg.help,
        "minimum": arg.minimum,
        "maximum": arg.maximum,
    }

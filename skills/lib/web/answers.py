"""What is answered to a request: a page, or the same as JSON; an error in the words of Lockstep."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from skills import __version__
from skills.lib.errors import EnvironmentProblem, LockstepError, RefusedError, UsageError
from skills.lib.views.page import rendering

if TYPE_CHECKING:
    from starlette.requests import Request

    from skills.lib.web.access import Session
    from skills.lib.web.explorer import Explorer

_TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")
COOKIE = "lockstep"
# The status of each error, the first that it is one of.
_STATUSES = ((UsageError, 400), (RefusedError, 409), (EnvironmentProblem, 503), (LockstepError, 500))


class DataResponse(JSONResponse):
    """JSON in ASCII: a value may hold half a character, which no other encoding has."""

    def render(self, content: Any) -> bytes:
        """The bytes of the answer."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


class Missing(UsageError):
    """There is nothing at that address."""


def explorer_of(request: Request) -> Explorer:
    """The explorer that serves a request."""
    found: Explorer = request.app.state.explorer
    return found


def session_of(request: Request) -> Session:
    """The session of a request, which has one wherever this is asked."""
    found: Session = request.state.session
    return found


def session_keys(request: Request) -> list[str]:
    """The values of each cookie that may be a session's: another server of this machine may have set one too."""
    pairs = [pair.partition("=") for pair in ";".join(request.headers.getlist("cookie")).split(";")]
    return [value.strip() for name, _, value in pairs if name.strip() == COOKIE]


def wants_json(request: Request) -> bool:
    """True if a program asks."""
    accepted = request.headers.get("accept", "")
    return request.url.path.endswith(".json") or ("application/json" in accepted and "text/html" not in accepted)


def answer(request: Request, template: str, data: Mapping[str, Any], status: int = 200, **more: Any) -> Response:
    """The page of a template, or ``data`` as JSON; ``more`` is for the page alone."""
    if wants_json(request):
        return DataResponse(dict(data), status)
    return page(request, template, status, **data, **more)


def page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """The page of a template."""
    explorer = explorer_of(request)
    session = getattr(request.state, "session", None)
    text = (
        rendering.environment(_TEMPLATES)
        .get_template(template)
        .render(
            base=explorer.access.base,
            session=session,
            project=explorer.project,
            version=__version__,
            level=explorer.level(session) if session is not None else "HIDDEN",
            **values,
        )
    )
    return HTMLResponse(text, status)


def failed(request: Request, error: LockstepError) -> Response:
    """What was wrong, what is valid and what to try."""
    status = 404 if isinstance(error, Missing) else next(code for kind, code in _STATUSES if isinstance(error, kind))
    told = {"error": error.what, "valid": error.valid, "try": error.remedy}
    if wants_json(request):
        return DataResponse(told, status)
    return page(request, "error.html", status, told=told)


def to(request: Request, path: str) -> Response:
    """Go on at another page of this server, by a request that only reads."""
    return RedirectResponse(f"{explorer_of(request).access.base}{path}", 303)

"""The application: which address leads to which page, and who may see it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from skills.lib.errors import LockstepError
from skills.lib.views.page import rendering
from skills.lib.web import actions, compare_page, list_page, run_page, skills_page
from skills.lib.web.access import Access
from skills.lib.web.answers import Missing, answer, explorer_of, failed, session_keys
from skills.lib.web.explorer import Explorer
from skills.lib.web.guarding import Guard
from skills.lib.web.live import Live, live

if TYPE_CHECKING:
    from starlette.requests import Request

_STATIC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "static")
_RUN = "/runs/{run:str}"


def create(
    project: str,
    access: Access,
    port: int,
    hosts: Sequence[str] = (),
    entered: Callable[[str], None] = lambda role: None,
) -> Starlette:
    """The application for a project at a port of this machine, or under the names ``hosts`` too.

    ``access`` makes the links by which somebody gets in; ``entered`` is told the role of each that was used.
    """
    explorer = Explorer(project, access)
    source = Live(explorer)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        with contextlib.suppress(LockstepError):  # a page says what is wrong with the ledger
            await asyncio.to_thread(explorer.runs)  # the first page does not wait for it
        watching = asyncio.create_task(source.watch())
        try:
            yield
        finally:
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching
            explorer.close()

    app = Starlette(
        routes=[
            Mount(access.base, routes=_routes()),
            Route("/{path:path}", _outside),
        ],
        middleware=[Middleware(Guard, port=port, hosts=hosts)],
        exception_handlers={404: _nothing},
        lifespan=lifespan,
    )
    app.state.explorer, app.state.live, app.state.entered = explorer, source, entered
    return app


def _routes() -> list[Route | Mount]:
    seen = [
        ("/", list_page.runs),
        ("/runs", list_page.runs),
        (_RUN, run_page.run),
        (f"{_RUN}/turns/{{turn:str}}", run_page.turn),
        (f"{_RUN}/file", run_page.download),
        ("/compare", compare_page.compare),
        ("/skills", skills_page.listing),
        ("/skills/{skill:str}", skills_page.one),
        ("/skills/{skill:str}/start", actions.start_form),
    ]
    sent = [
        ("/leave", actions.leave),
        (f"{_RUN}/answer", actions.answer),
        (f"{_RUN}/pause", actions.pause),
        (f"{_RUN}/unpause", actions.pause),
        (f"{_RUN}/abandon", actions.abandon),
        (f"{_RUN}/cancel", actions.cancel),
        ("/skills/{skill:str}/start", actions.start),
    ]
    routes: list[Route | Mount] = [Route("/enter/{token:str}", actions.enter)]
    routes += [Route("/static/page.css", _page_css), Mount("/static", StaticFiles(directory=_STATIC))]
    routes.append(Route("/live", _for_sessions(live)))
    for path, act in sent:
        routes.append(Route(path, _for_sessions(actions.posted(act)), methods=["POST"]))
    for path, show in seen:
        if path not in ("/",):
            routes.append(Route(f"{path}.json", _for_sessions(_shown(show))))
        routes.append(Route(path, _for_sessions(_shown(show))))
    return routes


def _shown(show: Callable[[Request], Response]) -> Callable[[Request], Any]:
    """The endpoint of a page, whose errors are pages too."""

    async def endpoint(request: Request) -> Response:
        try:
            return await run_in_threadpool(show, request)
        except LockstepError as error:
            return await run_in_threadpool(failed, request, error)

    return endpoint


def _for_sessions(endpoint: Callable[[Request], Any]) -> Callable[[Request], Any]:
    """The endpoint for whoever came by a link; anybody else is told how to get in."""

    async def guarded(request: Request) -> Response:
        session = explorer_of(request).access.session(session_keys(request))
        if session is None:
            return _closed(request)
        request.state.session = session
        found: Response = await endpoint(request)
        return found

    return guarded


def _closed(request: Request) -> Response:
    return answer(request, "closed.html", {"error": "no session"}, 401)


async def _outside(request: Request) -> Response:
    """Nothing is outside the path that only the links name."""
    return Response("Open the link that lockstep web printed to its terminal.\n", 404, media_type="text/plain")


async def _nothing(request: Request, error: Exception) -> Response:
    session = explorer_of(request).access.session(session_keys(request))
    if session is None:
        return _closed(request)
    request.state.session = session
    return failed(request, Missing("there is no such page", remedy="go back to the list of runs"))


async def _page_css(request: Request) -> Response:
    return Response(rendering.css(), media_type="text/css", headers={"cache-control": "max-age=3600"})

"""Says to every open page which runs something happened to: one look at the ledger serves all of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from starlette.responses import PlainTextResponse, StreamingResponse

from skills.lib.errors import LockstepError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from skills.lib.web.explorer import Explorer

# How many pages follow at a time, and how many messages wait for a slow one.
FOLLOWERS, WAITING = 256, 100
# How often the ledger is looked at, and how often a page is told that nothing happened, in seconds.
PAUSE, BEAT = 0.25, 15.0


class Live:
    """The pages that follow. Used in the thread of the event loop alone."""

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer
        self._followers: set[asyncio.Queue[str | None]] = set()
        self._mark = (0, 0)

    async def watch(self) -> None:
        """Look at the ledger as long as the server runs."""
        while True:
            try:
                for message in await asyncio.to_thread(self._news):
                    self._tell(message)
            except LockstepError:  # a page says what is wrong with the ledger
                pass
            await asyncio.sleep(PAUSE)

    def close(self) -> None:
        """Let every page go."""
        for queue in self._followers:
            while queue.full():
                queue.get_nowait()
            queue.put_nowait(None)

    def follow(self) -> asyncio.Queue[str | None] | None:
        """A queue of what happens from now on; None if too many follow."""
        if len(self._followers) >= FOLLOWERS:
            return None
        queue: asyncio.Queue[str | None] = asyncio.Queue(WAITING)
        self._followers.add(queue)
        return queue

    def leave(self, queue: asyncio.Queue[str | None]) -> None:
        """Forget a page that is gone."""
        self._followers.discard(queue)

    def _news(self) -> list[str]:
        if not self._followers:
            return []
        found: list[dict[str, Any]] = [{"run": run, "seq": seq} for run, seq in self._explorer.look()]
        mark, self._mark = self._mark, self._explorer.activity_mark()
        if mark not in (self._mark, (0, 0)):
            found.append({"run": "*", "seq": 0})
        return [f"data: {json.dumps(one)}\n\n" for one in found]

    def _tell(self, message: str) -> None:
        for queue in self._followers:
            if queue.full():  # one message is as good as many: the page loads what is there
                continue
            queue.put_nowait(message)


async def live(request: Request) -> Response:
    """The stream of what happens: a line of JSON for each run that something happened to."""
    source: Live = request.app.state.live
    queue = source.follow()
    if queue is None:
        return PlainTextResponse(f"{FOLLOWERS} pages follow already.\n", 503, {"retry-after": "10"})

    async def lines() -> AsyncIterator[str]:
        try:
            yield "retry: 2000\n\n"
            while True:
                try:
                    message = await asyncio.wait_for(queue.get(), BEAT)
                except TimeoutError:
                    yield ": nothing happened\n\n"
                    continue
                if message is None:
                    return
                yield message
        finally:
            source.leave(queue)

    return StreamingResponse(lines(), media_type="text/event-stream", headers={"x-accel-buffering": "no"})

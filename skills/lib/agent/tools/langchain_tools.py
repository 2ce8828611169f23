"""The tools of a session for LangChain. An adapter: it imports the framework."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from skills.lib.agent.tools.tool import Tool, never


def adapted(tool: Tool, stopped: Callable[[], bool] = never) -> BaseTool:
    """A tool for LangChain. Its result's data are the artifact of the tool message; it raises LockstepError."""

    def call(arguments: dict[str, Any], is_over: Callable[[], bool]) -> tuple[str, dict[str, Any]]:
        result = tool.call(arguments, is_over)
        return result.text, dict(result.data)

    def run(**arguments: Any) -> tuple[str, dict[str, Any]]:
        return call(arguments, stopped)

    async def arun(**arguments: Any) -> tuple[str, dict[str, Any]]:
        cancelled = threading.Event()
        running = asyncio.ensure_future(asyncio.to_thread(call, arguments, lambda: cancelled.is_set() or stopped()))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            cancelled.set()
            await asyncio.wait([running])  # a file is written whole, and a command is ended with what it started
            raise

    return StructuredTool(
        name=tool.name,
        description=tool.about,
        args_schema=tool.schema,
        func=run,
        coroutine=arun,
        response_format="content_and_artifact",
        return_direct=tool.ends,
        metadata={"reads": tool.reads, "ends": tool.ends, "long": tool.is_long},
    )

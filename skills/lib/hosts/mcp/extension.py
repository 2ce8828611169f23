"""Skills over MCP (SEP-2640): the extension's methods over the library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio.to_thread
from mcp import MCPError
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.extension import Extension, MethodBinding
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, PaginatedRequestParams, RequestParams

from skills.lib.hosts.mcp.library import File, Library, Skill
from skills.lib.skillfile import SkillFileError

META = "io.modelcontextprotocol.skills/"
# A skill may change at any moment, and is the project's own.
_FRESHNESS = {"ttlMs": 0, "cacheScope": "private"}

_Context = ServerRequestContext[Any, Any]


class SkillParams(RequestParams):
    """The parameters of skills/get: the URI of a SKILL.md."""

    uri: str


class DirectoryParams(PaginatedRequestParams):
    """The parameters of resources/directory/read: the URI of a folder."""

    uri: str


class SkillsExtension(Extension):
    """Lists skills with the digest and size of each file; every list is one page."""

    identifier = "io.modelcontextprotocol/skills"

    def __init__(self, library: Library) -> None:
        self._library = library

    def settings(self) -> dict[str, Any]:
        """What the capability says."""
        return {"directoryRead": True}

    def methods(self) -> Sequence[MethodBinding]:
        """The methods of the extension."""
        return (
            MethodBinding("skills/list", PaginatedRequestParams, self._list),
            MethodBinding("skills/get", SkillParams, self._get),
            MethodBinding("resources/directory/read", DirectoryParams, self._directory),
        )

    async def _list(self, ctx: _Context, params: PaginatedRequestParams) -> HandlerResult:
        return {"skills": await anyio.to_thread.run_sync(self._entries), **_FRESHNESS}

    async def _get(self, ctx: _Context, params: SkillParams) -> HandlerResult:
        skill = await anyio.to_thread.run_sync(self._library.of, params.uri)
        if skill is None or skill.uri != params.uri:
            raise MCPError(INVALID_PARAMS, f"no skill is served at {params.uri:.200}: skills/list names them")
        try:
            return {"skill": _entry(skill, await anyio.to_thread.run_sync(skill.files)), **_FRESHNESS}
        except SkillFileError as error:
            raise MCPError(INTERNAL_ERROR, error.what) from error

    async def _directory(self, ctx: _Context, params: DirectoryParams) -> HandlerResult:
        uri = params.uri
        skill = await anyio.to_thread.run_sync(self._library.of, uri)
        children = await anyio.to_thread.run_sync(skill.children, uri) if skill else None
        if children is None:
            raise MCPError(INVALID_PARAMS, f"{uri:.200} is no folder of a skill that is served")
        resources = []
        for child, kind in children:
            name = child.rpartition("/")[2]
            resources.append({"uri": child, "name": name, "mimeType": kind or File(child, name, b"").type})
        return {"resources": resources}

    def _entries(self) -> list[dict[str, Any]]:
        return [_entry(skill, files) for skill, files in self._library.read()]


def _entry(skill: Skill, files: Sequence[File]) -> dict[str, Any]:
    assert skill.folder.loaded is not None
    resources = [{"uri": file.uri, "digest": file.digest, "size": len(file.data)} for file in files]
    return {"uri": skill.uri, "frontmatter": dict(skill.folder.loaded.metadata), "resources": resources}

"""The server on the official SDK: Lockstep's tools, the skills' resources, and skills over MCP (SEP-2640)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

import anyio.to_thread
from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.context import HandlerResult, ServerRequestContext
from mcp.server.extension import Extension, MethodBinding
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolResult,
    InputRequiredResult,
    PaginatedRequestParams,
    Resource,
    ResourceTemplate,
    TextContent,
    Tool,
)

from skills import __version__
from skills.lib.errors import LockstepError
from skills.lib.hosts.mcp import blocks, runner, tools
from skills.lib.hosts.mcp.library import SCHEME, File, Library, Skill
from skills.lib.hosts.mcp.processes import Workers
from skills.lib.skillfile import SkillFileError, SkillFolder

INSTRUCTIONS = (
    "Skills that are followed one block at a time: list_skills says which there are, start_run begins one (in place of "
    "the script that its SKILL.md names), next_step reports a step and gives the next, run_state gives the present "
    "block again, also after the conversation was cut short. Do what a block says, then make the call in its NEXT. "
    f"{blocks.ARGUMENTS}"
)
META = "io.modelcontextprotocol.skills/"
# A skill may change at any moment, and is the project's own.
_FRESHNESS = {"ttlMs": 0, "cacheScope": "private"}

# What is called in the place of a message that is too long to be read.
TOO_LONG = "lockstep/too-long"

_Context = ServerRequestContext[Any, Any]


class UriParams(PaginatedRequestParams):
    """The parameters of skills/get and resources/directory/read: the URI of a SKILL.md, or of a folder."""

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
            MethodBinding("skills/get", UriParams, self._get),
            MethodBinding("resources/directory/read", UriParams, self._directory),
            MethodBinding(TOO_LONG, PaginatedRequestParams, self._too_long),
        )

    async def _too_long(self, ctx: _Context, params: PaginatedRequestParams) -> HandlerResult:
        raise MCPError(INVALID_PARAMS, "the message is too long: write long texts to files and record their paths")

    async def _list(self, ctx: _Context, params: PaginatedRequestParams) -> HandlerResult:
        return {"skills": await anyio.to_thread.run_sync(self._library.read, _entry), **_FRESHNESS}

    async def _get(self, ctx: _Context, params: UriParams) -> HandlerResult:
        skill = await anyio.to_thread.run_sync(self._library.of, params.uri)
        if skill is None or skill.uri != params.uri:
            raise MCPError(INVALID_PARAMS, f"no skill is served at {params.uri:.200}: skills/list names them")
        try:
            return {"skill": _entry(skill, await anyio.to_thread.run_sync(skill.files)), **_FRESHNESS}
        except SkillFileError as error:
            raise MCPError(INTERNAL_ERROR, error.what) from error

    async def _directory(self, ctx: _Context, params: UriParams) -> HandlerResult:
        uri = params.uri
        skill = await anyio.to_thread.run_sync(self._library.of, uri)
        children = await anyio.to_thread.run_sync(skill.children, uri) if skill else None
        if children is None:
            raise MCPError(INVALID_PARAMS, f"{uri:.200} is no folder of a skill that is served")
        return {"resources": [{"uri": one, "name": one.rpartition("/")[2], "mimeType": kind} for one, kind in children]}


def _entry(skill: Skill, files: Sequence[File]) -> dict[str, Any]:
    assert skill.folder.loaded is not None
    resources = [{"uri": file.uri, "digest": file.digest, "size": len(file.data)} for file in files]
    return {"uri": skill.uri, "frontmatter": dict(skill.folder.loaded.metadata), "resources": resources}


class SkillServer(MCPServer[Any]):
    """Serves one project; ``find`` discovers the folders of its skills. With ``gateway`` it runs named commands too."""

    def __init__(self, project: str, find: Callable[[], list[SkillFolder]], gateway: bool = False) -> None:
        self.library = Library(find)
        self.workers = Workers(project)
        self._tools = {**tools.TOOLS, **(tools.GATEWAY_TOOLS if gateway else {})}
        super().__init__(
            "lockstep",
            title="Lockstep",
            description="Skills that an agent follows one printed step at a time.",
            instructions=INSTRUCTIONS,
            version=__version__,
            extensions=[SkillsExtension(self.library)],
            log_level="WARNING",
        )

    async def list_tools(self) -> list[Tool]:
        """The tools of a run, and any that were added."""
        return [*self._tools.values(), *await super().list_tools()]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Serve a call; what the engine refuses and what cannot be understood is a result that says the way on."""
        if name not in self._tools:
            return await super().call_tool(name, arguments, context)
        try:
            given = tools.checked(name, arguments)
            if name in ("list_skills", "start_run"):
                skills = await anyio.to_thread.run_sync(self.library.skills)
                given["skills"] = [skill.about() for skill in skills]
            reply = await self.workers.call({**given, "tool": name})
        except LockstepError as error:
            reply = runner.failed(error, {**arguments, "tool": name})
        content = [TextContent(type="text", text=reply["text"])]
        return CallToolResult(content=list(content), structured_content=reply["data"], is_error=reply["error"])

    async def list_resources(self) -> list[Resource]:
        """Every file of every served skill, and any resource that was added."""
        found = await anyio.to_thread.run_sync(self.library.read, _resources)
        return [*chain.from_iterable(found), *await super().list_resources()]

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        """The form of a skill's URIs, and any template that was added."""
        template = ResourceTemplate(
            uri_template=SCHEME + "{skill}/{+path}", name="skill-file", description="A file of a skill."
        )
        return [template, *await super().list_resource_templates()]

    async def read_resource(
        self, uri: Any, context: Context[Any, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """The content of a skill's file, byte for byte."""
        if not str(uri).startswith(SCHEME):
            return await super().read_resource(uri, context)
        file = await anyio.to_thread.run_sync(self._file, str(uri))
        content = file.data if file.text is None else file.text
        return [ReadResourceContents(content=content, mime_type=file.type, meta=_meta(file))]

    def _file(self, uri: str) -> File:
        try:
            skill = self.library.of(uri)
            file = skill.file(uri) if skill else None
        except SkillFileError as error:
            raise ResourceError(error.what) from error
        if file is None:
            raise ResourceNotFoundError(f"no skill that is served has the file {uri:.200}")
        return file


def _resources(skill: Skill, files: Sequence[File]) -> list[Resource]:
    return [_resource(skill, file) for file in files]


def _resource(skill: Skill, file: File) -> Resource:
    main = file.uri == skill.uri
    return Resource(
        uri=file.uri,
        name=skill.folder.name if main else file.uri[len(skill.root) + 1 :],
        description=skill.description if main else None,
        mime_type=file.type,
        size=len(file.data),
        _meta=_meta(file),
    )


def _meta(file: File) -> dict[str, Any]:
    return {f"{META}digest": file.digest, f"{META}size": len(file.data)}

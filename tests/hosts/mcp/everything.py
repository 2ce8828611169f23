"""Lockstep's server with the fixtures that the conformance suite asks of any server; the URL goes to standard error.

Started as ``python everything.py PROJECT``. The names and answers are the suite's. They are added by the public ways of
the server's class, so that each scenario goes through Lockstep's own handlers of tools and resources.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable
from typing import Any, Literal

from mcp.server.mcpserver import Context, Image
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.server.mcpserver.resources import TextResource
from mcp.types import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, Field

from skills.lib.hosts.mcp import transports
from skills.lib.hosts.mcp.server import SkillServer
from skills.lib.skillfile import discover

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

_Context = Context[Any, Any]


def embedded(uri: str, text: str, kind: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=kind, text=text))


def image() -> ImageContent:
    return ImageContent(type="image", data=PIXEL, mime_type="image/png")


class Account(BaseModel):
    """What a user is asked, one field of each kind with its default."""

    name: str = Field(default="John Doe")
    age: int = Field(default=30)
    score: float = Field(default=95.5)
    status: Literal["active", "inactive", "pending"] = Field(default="active")
    verified: bool = Field(default=True)


class Reply(BaseModel):
    """A user's answer."""

    username: str
    email: str


def add(server: SkillServer, *tools: Callable[..., Any]) -> None:
    """Add tools under the names of their functions; what they return is content and nothing else."""
    for tool in tools:
        server.add_tool(tool, description=f"The fixture {tool.__name__}.", structured_output=False)


def test_simple_text() -> str:
    return "This is a simple text response for testing."


def test_image_content() -> Image:
    return Image(data=base64.b64decode(PIXEL), format="png")


def test_audio_content() -> AudioContent:
    return AudioContent(type="audio", data=SILENCE, mime_type="audio/wav")


def test_embedded_resource() -> EmbeddedResource:
    return embedded("test://embedded-resource", "This is an embedded resource content.")


def test_multiple_content_types() -> list[Any]:
    text = TextContent(type="text", text="Multiple content types test:")
    return [text, image(), embedded("test://mixed-content-resource", '{"test": "data"}', "application/json")]


def test_error_handling() -> str:
    raise ToolError("This tool intentionally returns an error for testing")


async def test_tool_with_progress(ctx: _Context) -> str:
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"Completed {done} of 100")
    return "done"


async def test_sampling(prompt: str, ctx: _Context) -> str:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    result = await ctx.session.create_message(messages=[message], max_tokens=100)
    return f"LLM response: {getattr(result.content, 'text', result.content)}"


async def test_elicitation(message: str, ctx: _Context) -> str:
    return f"User response: {await ctx.elicit(message, Reply)}"


async def test_elicitation_sep1034_defaults(ctx: _Context) -> str:
    return f"Elicitation completed: {await ctx.elicit('Please check these values', Account)}"


def add_resources(server: SkillServer) -> None:
    server.add_resource(
        TextResource(
            uri="test://static-text",
            name="static-text",
            mime_type="text/plain",
            text="This is the content of the static text resource.",
        )
    )

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        return base64.b64decode(PIXEL)

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:
        return f'{{"id": "{id}", "templateTest": true, "data": "Data for ID: {id}"}}'


def add_prompts(server: SkillServer) -> None:
    @server.prompt(description="A prompt of the suite.")
    def test_simple_prompt() -> str:
        return "This is a simple prompt for testing."

    @server.prompt(description="A prompt of the suite.")
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt(description="A prompt of the suite.")
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:
        asked = embedded(resourceUri, "Embedded resource content for testing.")
        return [UserMessage(asked), UserMessage("Please process the embedded resource above.")]

    @server.prompt(description="A prompt of the suite.")
    def test_prompt_with_image() -> list[Message]:
        return [UserMessage(image()), UserMessage("Please analyze the image above.")]


def main(project: str) -> None:
    server = SkillServer(project, lambda: discover(project))
    add(server, test_simple_text, test_image_content, test_audio_content, test_embedded_resource)
    add(server, test_multiple_content_types, test_error_handling, test_tool_with_progress)
    add(server, test_sampling, test_elicitation, test_elicitation_sep1034_defaults)
    add_resources(server)
    add_prompts(server)
    transports.serve_http(server, "0")


if __name__ == "__main__":
    main(sys.argv[1])

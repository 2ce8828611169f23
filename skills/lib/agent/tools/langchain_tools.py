"""The tools of a session for LangChain. An adapter: it imports the framework."""

from __future__ import annotations

from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from skills.lib.agent.tools.tool import Tool


def adapted(tool: Tool) -> BaseTool:
    """A tool for LangChain. Its result's data are the artifact of the tool message; it raises LockstepError."""

    def run(**arguments: Any) -> tuple[str, dict[str, Any]]:
        result = tool.call(arguments)
        return result.text, dict(result.data)

    return StructuredTool(
        name=tool.name,
        description=tool.about,
        args_schema=tool.schema,
        func=run,
        response_format="content_and_artifact",
        return_direct=tool.ends,
        metadata={"reads": tool.reads, "ends": tool.ends},
    )

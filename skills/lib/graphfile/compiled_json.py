"""The JSON that a ``workflow.yaml`` is compiled to, as text; ``runtime/compiled`` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skills.lib import compact_json
from skills.lib.runtime.compiled import FORMAT


def to_json(data: Mapping[str, Any], sources: Mapping[str, str]) -> str:
    """The text of the JSON: one line for each source, for each field of the workflow, and for each field of a step."""
    parts = [
        f'"{name}":{compact_json.ordered(value)}' if name != "steps" else '"steps":' + _lines("[]", map(_step, value))
        for name, value in data.items()
    ]
    digests = [f"{compact_json.ordered(name)}:{compact_json.ordered(digest)}" for name, digest in sources.items()]
    head = f'"format":{FORMAT},\n"sources":{_lines("{}", digests)},\n"workflow":'
    return "{" + head + _lines("{}", parts) + "}\n"


def _step(step: Mapping[str, Any]) -> str:
    return _lines("{}", [f'"{name}":{compact_json.ordered(value)}' for name, value in step.items()])


def _lines(around: str, parts: Any) -> str:
    return around[0] + "\n" + ",\n".join(parts) + "\n" + around[1]

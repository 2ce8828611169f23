"""The memory of an execution: L1, the project's global context, and L2, the key outputs of the steps that passed.

L3, the conversation of a step, is LangGraph's; ``middleware`` clears it where a step is entered.
"""

from __future__ import annotations

import html
import os

from skills.lib import files, paths
from skills.lib.model.texts import present, printable
from skills.lib.runtime import plans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# Where L1 stands in a project: the first of these that is there.
GLOBAL_FILES = ("claude.md", "CLAUDE.md", "AGENTS.md")
# How many bytes are read of it, and how many characters a model is shown.
_READ, _SHOWN = 1_000_000, 20_000
_LINE_ENDS = {
    "\\": "\\\\",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    **{end: f"\\u{ord(end):04x}" for end in "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"},
}


def global_context(project: str) -> str:
    """The project's own words for every session of it, in ``<global_context>``; "" if it has none."""
    for name in GLOBAL_FILES:
        path = os.path.join(project, name)
        if not os.path.isfile(path) or not paths.is_of_project(path):
            continue
        try:
            text = files.read(path, _READ).decode("utf-8", "replace")
        except OSError:
            continue
        text = printable(text.strip())
        if len(text) > _SHOWN:
            text = f"{text[:_SHOWN]}\n[{len(text) - _SHOWN:,} characters of {name} left out]"
        return f'<global_context file="{name}">\n{html.escape(text, quote=False)}\n</global_context>' if text else ""
    return ""


def key_outputs(plan: Mapping[str, Any], state: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str, Any]]:
    """What the steps that passed brought, in the plan's order: the step, the key and the value of each."""
    found = []
    for step in plan["steps"]:
        checked = state.get(step["id"] + plans.CHECK, {})
        if checked.get("verdict") == plans.PASS:
            found += [(step["id"], key, checked[key]) for key in step.get("key_outputs", ()) if key in checked]
    return found


def lines(outputs: list[tuple[str, str, Any]]) -> list[str]:
    """``KEY=VALUE`` for each output; a key that is there already is a new line, ``KEY@step=VALUE``."""
    seen: set[str] = set()
    found = []
    for step, key, value in outputs:
        found.append(f"{f'{key}@{step}' if key in seen else key}={one_line(value)}")
        seen.add(key)
    return found


def one_line(value: Any) -> str:
    """A value on one line: a line end in it is written as ``\\n``."""
    text = value if isinstance(value, str) else present(value)
    return printable("".join(_LINE_ENDS.get(char, char) for char in text))


def skill_memory(plan: Mapping[str, Any], state: Mapping[str, Mapping[str, Any]]) -> str:
    """The key outputs in ``<skill_memory>``; "" if there are none yet. No value can end the element."""
    found = lines(key_outputs(plan, state))
    return (
        "\n".join(["<skill_memory>", *[html.escape(line, quote=False) for line in found], "</skill_memory>"])
        if found
        else ""
    )

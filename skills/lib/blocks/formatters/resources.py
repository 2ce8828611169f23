"""Reference material: embedded in place, or named as files to read."""

from __future__ import annotations

from collections.abc import Mapping

from skills.lib.blocks.formatters.fragments import block, exactly
from skills.lib.errors import UsageError
from skills.lib.model.types import Element, Rendered

_REREAD = "Read the content once, then the task, then the content a second time before you act on it."


def format_resource(name: str, content: str, purpose: str = "") -> Rendered:
    """Embed a reference text in place, exactly as it is, and ask for it to be read twice.

    On the second reading each part is taken in with the whole already known; RE2 measured this for questions. Source:
    Xu et al. 2023, "Re-Reading Improves Reasoning in Large Language Models", arXiv 2309.06275.
    """
    parts = [Element("read", None, _REREAD), Element("content", None, exactly(content))]
    return block("resource", {"name": name, "purpose": purpose or None}, *parts)


def format_read_files(files: Mapping[str, str]) -> Rendered:
    """Name files to read, with the reason for each: for what is too long to be printed in place."""
    if not files:
        raise UsageError("files is empty", remedy="give at least one path and the reason to read it")
    return block("read_files", None, *(Element("file", {"path": path}, why) for path, why in files.items()))


def format_output_template(template: str, name: str = "") -> Rendered:
    """Show the form of a result, exactly as it is to be written."""
    return block("output_template", {"name": name or None}, exactly(template))

"""Plain text: the formatters for simple skills, and the renderer of a document."""

from skills.lib.blocks.formatters.text import (
    format_text_gate,
    format_text_list,
    format_text_next,
    format_text_output,
    format_text_resource,
)
from skills.lib.blocks.text import render as render

__all__ = ["format_text_gate", "format_text_list", "format_text_next", "format_text_output", "format_text_resource"]

"""Plain text: the renderer of a document, and formatters for simple skills."""

from skills.lib.blocks.text import format_text_gate as format_text_gate
from skills.lib.blocks.text import format_text_list as format_text_list
from skills.lib.blocks.text import format_text_next as format_text_next
from skills.lib.blocks.text import format_text_output as format_text_output
from skills.lib.blocks.text import format_text_resource as format_text_resource
from skills.lib.blocks.text import render as render

__all__ = ["format_text_gate", "format_text_list", "format_text_next", "format_text_output", "format_text_resource"]

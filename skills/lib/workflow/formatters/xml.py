"""The formatters for authors, and the renderer of a document as XML."""

from skills.lib.blocks.xml import check_characters as check_characters
from skills.lib.blocks.xml import escape as escape
from skills.lib.blocks.xml import render as render
from skills.lib.workflow.formatters import *  # noqa: F403  # each name of its __all__

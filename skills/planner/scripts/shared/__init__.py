"""The names that older scripts import from ``shared``: each is the very object of the library.

    from shared import QRState, GateConfig, format_step_output, format_gate_step

New scripts import from ``skills.lib.workflow.types`` and ``skills.lib.workflow.formatters``. What belongs to the
guidance layer, and to no framework, is in ``shared.domain``.
"""

import os
import sys

root = os.path.realpath(__file__)
for _ in range(5):
    root = os.path.dirname(root)
if root not in sys.path and "skills" not in sys.modules:
    sys.path.insert(0, root)

import skills.lib.workflow.formatters as formatters
import skills.lib.workflow.formatters.text as text
from skills.lib.conventions import get_convention
from skills.lib.workflow.formatters import *  # noqa: F403
from skills.lib.workflow.formatters.text import *  # noqa: F403
from skills.lib.workflow.legacy import note, skill
from skills.lib.workflow.types import (
    AgentRole,
    BranchRouting,
    Confidence,
    Dispatch,
    GateConfig,
    LinearRouting,
    Outcome,
    QRState,
    QRStatus,
    Rendered,
    Routing,
    Step,
    TerminalRouting,
)

from .domain import BranchCommand, FlatCommand, GuidanceResult, NextCommand, format_guidance

__all__ = [
    "AgentRole",
    "BranchCommand",
    "BranchRouting",
    "Confidence",
    "Dispatch",
    "FlatCommand",
    "GateConfig",
    "GuidanceResult",
    "LinearRouting",
    "NextCommand",
    "Outcome",
    "QRState",
    "QRStatus",
    "Rendered",
    "Routing",
    "Step",
    "TerminalRouting",
    "format_guidance",
    "get_convention",
    "skill",
]
__all__ += formatters.__all__
__all__ += text.__all__

note("shared is the older layer")

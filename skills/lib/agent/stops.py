"""The codes by which programs tell why a session stopped, and why a call was not run."""

from __future__ import annotations

# Why a session stopped: the ``code`` of an event of the type ``error``.
CANCELLED, PAUSED, LIMIT, BUDGET, MODEL = "CANCELLED", "PAUSED", "LIMIT", "BUDGET", "MODEL"
GAVE_UP, UNREPORTED, PARTIAL, TOOL_FAILED, SUB_AGENT = "GAVE_UP", "UNREPORTED", "PARTIAL", "TOOL_FAILED", "SUB_AGENT"
STOPPED = "STOPPED"
# Why a call was not run that no policy and no limit is about.
UNKNOWN, BY_TEXT, UNSEEN = "unknown", "text", "unseen"

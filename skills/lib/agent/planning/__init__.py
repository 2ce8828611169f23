"""Plans for skills: a planner makes one, a person approves it, an optimizer and an evaluator execute it step by step.

Importing it loads no LangChain.
"""

from __future__ import annotations

from skills.lib.agent.planning.execution import execute, feedback, learn_from
from skills.lib.agent.planning.planner import start

__all__ = ["execute", "feedback", "learn_from", "start"]

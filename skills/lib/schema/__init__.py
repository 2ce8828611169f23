"""JSON Schema by the standard library alone: a subset of draft 2020-12, which docs/schemas.md describes.

``problems`` says what of a schema cannot be used, ``violations`` where a value does not meet one.
"""

from __future__ import annotations

from skills.lib.schema.checking import violations
from skills.lib.schema.keywords import problems
from skills.lib.schema.report import Problem, Violation, json_path, pointer

__all__ = ["Problem", "Violation", "json_path", "pointer", "problems", "violations"]

"""JSON Schema by the standard library alone: a subset of draft 2020-12, which docs/schemas.md describes.

``problems`` lists what cannot be used in a schema, ``violations`` lists where a value does not meet it.
"""

from __future__ import annotations

from skills.lib.schema.checking import violations
from skills.lib.schema.keywords import problems
from skills.lib.schema.report import Problem, Violation, json_path, pointer

__all__ = ["Problem", "Violation", "json_path", "pointer", "problems", "violations"]

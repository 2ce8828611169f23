"""One thing that a rule found: which rule, where, what is wrong, why it matters, what to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Self

from skills.lib.workflow.core import StepDef

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A defect: ``where`` is ``skill:step:outcome`` as far as it goes; ``line`` counts from 1, 0 is unknown.

    ``position`` is the step's place in the workflow, which findings are ordered by; it is not part of the data.
    """

    rule: str
    severity: Severity
    where: str
    file: str
    line: int
    what: str
    why: str
    do: str
    position: int = field(default=-1, compare=False)

    def to_data(self) -> dict[str, Any]:
        """The finding as plain JSON data."""
        return {
            "rule": self.rule,
            "severity": self.severity,
            "where": self.where,
            "file": self.file,
            "line": self.line,
            "what": self.what,
            "why": self.why,
            "do": self.do,
        }

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """The inverse of ``to_data``; TypeError for data of another form."""
        return cls(**data)


def is_allowed(step: StepDef, rule: str) -> bool:
    """Whether the step switches the rule off, with a reason; ``invalid-allow`` cannot be switched off."""
    reason = step.allow.get(rule) if step.allow and rule != "invalid-allow" else None
    return isinstance(reason, str) and bool(reason.strip())

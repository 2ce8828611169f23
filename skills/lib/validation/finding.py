"""One thing that a rule found: which rule, where, what is wrong, why it matters, what to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A defect: ``where`` is ``skill:step:outcome`` as far as it goes; ``line`` counts from 1, 0 is unknown.

    ``value`` is what of the step it is about, if the rule can find several things there: a field, an outcome, a
    parameter. ``waived`` is the reason that the step's ``allow`` gives for it. ``position`` is the step's place in the
    workflow, which findings are ordered by; it is not part of the data.
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
    value: str = ""
    waived: str = ""

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
            **({"value": self.value} if self.value else {}),
            **({"waived": self.waived} if self.waived else {}),
        }


def allow_key(rule: str, value: str = "") -> str:
    """The key under which ``allow`` waives the rule's finding about ``value``."""
    return f"{rule}:{value}" if value else rule

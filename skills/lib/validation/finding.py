"""One thing that a rule found: which rule, where, what is wrong, why it matters, what to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Self

from skills.lib.model.steps import StepDef

Severity = Literal["error", "warning"]

# A run that meets such a fault stops, or passes a gate that never closed: no reason makes it right.
STOPPING = frozenset(
    (
        *("duplicate-id", "malformed-id", "numeric-id", "reserved-id", "colliding-id", "repeated-name"),
        *("unknown-target", "dead-end", "trap", "loop-without-exit", "iteration-limit"),
        *(
            "unrouted-outcome",
            "unrouted-answer",
            "empty-range",
            "secret-targets",
            "too-many-targets",
            "unusable-targets",
        ),
        *("artifact-outside-project", "unsupported-schema", "child-parameter", "invalid-allow"),
        *("unresolved-handler", "unresolved-script", "unresolved-command"),
        *("gate-without-review", "bare-gate", "fail-without-return"),
        *("handler-unrouted-outcome", "handler-read-before-write"),
    )
)
# Findings of these belong to a workflow or to a skill, and a step cannot waive them.
OF_NO_STEP = frozenset(
    (
        *("malformed-name", "empty-workflow", "unknown-start", "no-end", "unknown-parameter-step"),
        *("unresolved-convention", "unresolved-resource", "unused-section", "bare-gate-call"),
        *("skill-specification", "skill-command", "skill-without-command", "unrelated-name"),
    )
)


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

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """The inverse of ``to_data``; TypeError for data of another form."""
        return cls(**data)


def is_allowed(step: StepDef, rule: str, value: str = "") -> bool:
    """Whether the step waives the rule's finding about ``value``, with a reason."""
    return bool(waiver(step, rule, value))


def waiver(step: StepDef, rule: str, value: str = "") -> str:
    """The reason that the step's ``allow`` gives for the rule's finding about ``value``; empty if it gives none."""
    if not step.allow or rule in STOPPING or rule in OF_NO_STEP:
        return ""
    reason = step.allow.get(allow_key(rule, value))
    return reason.strip() if isinstance(reason, str) else ""


def allow_key(rule: str, value: str = "") -> str:
    """The key under which ``allow`` waives the rule's finding about ``value``."""
    return f"{rule}:{value}" if value else rule

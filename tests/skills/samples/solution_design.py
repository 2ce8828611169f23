"""What the scripted agent reports for solution-design."""

from typing import Any

VALUES: dict[str, Any] = {
    "context.also": [],
    "context.limits": ["C1 | no new dependency | hard, set by the user"],
    "reflect.criteria": ["R1 | one order each | send it twice", "R2 | nobody waits | time it"],
    "synthesize.ideas": ["I1 | refuse a second one", "I2 | merge them"],
    "propose.corrected": [],
    "synthesize.built": ["K1 refuse | I1 | repeating on purpose", "K2 merge | I2 | seeing both"],
    "challenge.attacks": ["K1 | two at once | bends: an index refuses", "K2 | half done, then killed | breaks"],
    "challenge.met": ["K1 | R1 yes: the index; R2 yes", "K2 | R1 no: a job comes late; R2 yes"],
    "select.choice": "K1",
    "select.rejected": ["K2 | it comes late | orders that may be merged"],
    "output.steps": ["the index first | two at once"],
    "output.path": "design.md",
}
BY_SCRIPT: dict[str, dict[str, Any]] = {
    "perspective": {"criteria": '["R1 | one order each | send it twice", "R2 | nobody waits | time it"]'},
}
FILES: dict[str, str] = {}

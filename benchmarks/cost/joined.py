"""Steps of reviewers that were joined since the frozen texts were written: what each is a part of now."""

from __future__ import annotations

# By workflow, each former step with the present one.
JOINED = {
    "planner-plan-completeness": {"decisions": "read", "knowledge": "milestones"},
    "planner-plan-code": {"intent": "read", "correctness": "read", "tests": "structure"},
    "planner-plan-docs": {"comments": "read"},
}
# Checks that were joined: each with one of the former, whose judgement speaks for it.
JOINED_CHECKS = {"written": "timeless", "good": "cause"}

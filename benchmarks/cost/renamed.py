"""Where the frozen texts say what a step asks for now: the step that asked for it when they were written."""

from __future__ import annotations

# By "workflow.step", each field with its former step, or "step.name" if it had another name.
FORMER: dict[str, dict[str, str]] = {
    "planner-explore.trace": {"patterns": "precedents"},
    "planner-explore.limits": {"summary": "report"},
    "codebase-analysis-explore.explore": {"result": "task"},
}
# Workflows that speak by the texts of one with another name.
FORMER_WORKFLOW = {"codebase-analysis-explore": "codebase-analysis.survey"}
# Steps whose files a script writes now, from what the agent reports.
MADE = {"codebase-analysis.synthesize"}

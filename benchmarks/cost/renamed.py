"""Where the frozen texts say what a step asks for now: the step that asked for it when they were written."""

from __future__ import annotations

# By "workflow.step", each field with its former step, or "step.name" if it had another name; several are said as one.
# The step of another table stands as "table/step".
FORMER: dict[str, dict[str, str | tuple[str, ...]]] = {
    "planner-explore.trace": {"patterns": "precedents"},
    "planner-explore.limits": {"summary": "report"},
    "planner-fill-changes.prove": {"open": "report"},
    "planner-plan-scrub.write": {"writes": ("reasons", "documents")},
    "planner-plan-scrub.verify": {"wanted": "report", "open": "report"},
    "planner-post-implementation.write": {
        "written": ("comment.comments", "keep.knowledge", "write.documents", "index.indexes"),
        "writes": "keep",
    },
    "planner-reconciliation.judge": {"ran": "try"},
    "codebase-analysis-explore.explore": {"result": "task"},
    "deepthink.abstract": {"analogies": "recall"},
    "deepthink.plan": {"form": "characterize.answer_form", "tests": "characterize", "chosen": "characterize"},
    "deepthink.revise": {"faults": "critique", "designed": "design.perspectives"},
    "deepthink.gate": {f"claims_{at}": f"deepthink-perspective@P{at}/answer.claims" for at in (1, 2, 3)},
    "deepthink.refine": {"gaps": "aggregate", "first": "synthesize.claims"},
    "deepthink-perspective.gather": {"turns": "take-up"},
    "deepthink-perspective.answer": {"other_way": "reason"},
    "deepthink-perspective.report": {"standing": "challenge"},
    "refactor.context": {
        "domain": "refactor-explore@Duplication/context",
        "files": "refactor-explore@Duplication/context",
    },
    "decision-critic.extract": {"aim": "extract.purpose", "classified": "classify", "load_bearing": "classify"},
    "decision-critic.challenge": {
        "reframed": "reframe",
        "options": "reframe",
        "comparison": "reframe",
        "effect": "reframe",
    },
    "decision-critic.verdict": {"comparison": "reframe"},
    "safe-shell-search.search": {
        "searches": "locate",
        "findings": "confirm",
        "verdict": "report",
        "answer": "report",
    },
    "solution-design.context": {"stakes": "calibrate", "effort": "calibrate", "also": "calibrate"},
    "solution-design.select": {"met": "challenge"},
    "solution-design.synthesize": {
        **dict.fromkeys(("ideas", "disputes", "learned"), "aggregate"),
        "built": "synthesize.candidates",
    },
    "code-quality.review": {"files": "scope", "intent": "scope"},
    "incoherence-explore.sweep": {"findings": "findings", "unread": "findings", "gaps": "coverage"},
    "incoherence.verdicts": {"listed": "verdicts.issues"},
    "incoherence-deep-dive.judge": {"evidence": "trace", "history": "trace"},
    "incoherence-reconcile.apply": {"status": "account", "changes": "account", "note": "account"},
    "leon-writing-style.settle": {
        **dict.fromkeys(("request", "kind", "words"), "classify"),
        **dict.fromkeys(("reader", "aim", "points", "keep", "missing"), "purpose"),
    },
    "leon-writing-style.read": {"tells": "tells", "departures": "align"},
    "leon-writing-style.consolidate": {"marks": "marks"},
    "prompt-engineer-single-prompt.understand": {"cases": "assess", "findings": "assess"},
    "refactor.cluster": {"weighed": "weigh"},
    "refactor-explore.search": {"former_signs": "principle.signs"},
    "refactor-explore.judge": {"summary": "report"},
}
# Workflows that speak by the texts of one with another name.
FORMER_WORKFLOW = {"codebase-analysis-explore": "codebase-analysis.survey"}
# Steps that say where their file goes, each with the value of CONTEXT that has its path.
PLACED = {
    "leon-writing-style.draft": "settle.draft_file",
    "leon-writing-style.consolidate": "settle.text_file",
    "leon-writing-style.refine": "settle.text_file",
}
# Steps whose files a script writes now, from what the agent reports.
MADE = {"codebase-analysis.synthesize", "refactor.synthesize", "solution-design.output", "incoherence.report"}

"""The parts of a plan that sub-agents read, as Markdown: one for each milestone, and those for code and documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The parts of the reviewers of code and of documents; each of the others is named by its milestone.
CODE, DOCUMENTS = "code.md", "docs.md"


def as_parts(plan: Mapping[str, Any]) -> dict[str, str]:
    """Each part by the name of its file."""
    found = {f"{one['id']}.md": _of_milestone(plan, one) for one in plan["milestones"]}
    return {**found, CODE: _of_code(plan), DOCUMENTS: _of_documents(plan)}


def _of_milestone(plan: Mapping[str, Any], one: Mapping[str, Any]) -> str:
    """A milestone without its changes, with what it rests on, and with what those before it make."""
    describes = one["kind"] == "documentation"
    named = {name for intent in one["intent"] for name in intent["decisions"]}
    decisions = [entry for entry in plan["decisions"] if describes or entry["id"] in named]
    return _joined(
        plan,
        f"the part of {one['id']}",
        markdown.milestone_markdown(plan, {**one, "changes": []}),
        *(markdown.intent_section(other) for other in _before(plan, one)),
        markdown.decision_section(decisions),
        markdown.rejected_section(plan) if describes else "",
        markdown.constraint_section(plan),
        markdown.risk_section(_risks_of(plan, one)),
        markdown.knowledge_section(plan),
        markdown.testing_section(plan),
    )


def _of_code(plan: Mapping[str, Any]) -> str:
    """What the code is held to, and the milestones of code with their differences."""
    return _joined(
        plan,
        "the code",
        markdown.decision_section(plan["decisions"]),
        markdown.rejected_section(plan),
        markdown.constraint_section(plan),
        markdown.risk_section(plan["risks"]),
        markdown.knowledge_section(plan),
        markdown.testing_section(plan),
        *(markdown.milestone_markdown(plan, one) for one in plan["milestones"] if one["kind"] == "code"),
    )


def _of_documents(plan: Mapping[str, Any]) -> str:
    """The reasons that texts are to give, and each milestone with its files and the comments on them."""
    return _joined(
        plan,
        "comments and documents",
        markdown.decision_section(plan["decisions"]),
        markdown.rejected_section(plan),
        markdown.constraint_section(plan),
        markdown.knowledge_section(plan),
        *(_described(plan, one) for one in plan["milestones"]),
    )


def _described(plan: Mapping[str, Any], one: Mapping[str, Any]) -> str:
    """A milestone as the reader of its texts needs it: that of code without requirements, tests and intent."""
    told = [{**change, "diff": ""} for change in one["changes"] if change["comments"]]
    if one["kind"] == "documentation":
        return markdown.milestone_markdown(plan, {**one, "changes": told})
    empty: dict[str, Any] = {name: [] for name in ("requirements", "acceptance", "tests", "intent")}
    return markdown.milestone_markdown(plan, {**one, **empty, "changes": told})


def _before(plan: Mapping[str, Any], one: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The milestones that one depends on; for documents each of code."""
    for other in plan["milestones"]:
        if other["id"] in one["depends_on"] or (one["kind"] == "documentation" != other["kind"]):
            yield other


def _risks_of(plan: Mapping[str, Any], one: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The risks that name a file of the milestone."""
    for risk in plan["risks"]:
        if any(path in risk["risk"] + risk["mitigation"] for path in one["files"]):
            yield risk


def _joined(plan: Mapping[str, Any], what: str, *parts: str) -> str:
    head = f"# {markdown.line(plan['title'])}: {what}"
    return "\n\n".join([head, "Written from the plan; plan.md is all of it.", *filter(None, parts)]) + "\n"

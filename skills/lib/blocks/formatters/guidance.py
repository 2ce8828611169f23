"""How to do the work: what is expected, what bounds it, what is not allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skills.lib.blocks.formatters.fragments import block, elements, exactly, texts
from skills.lib.errors import UsageError
from skills.lib.model.types import Element, Rendered


def format_current_action(actions: Sequence[str] | str, title: str = "") -> Rendered:
    """Print what is to be done now; the lines may be text and blocks, mixed."""
    return block("current_action", {"title": title or None}, *texts(actions, "actions"), prose=True)


def format_forbidden(rules: Sequence[str] | str) -> Rendered:
    """List what must not be done in this step."""
    return block("FORBIDDEN", None, *elements("rule", rules, "rules"))


def format_expected_output(items: Sequence[str] | str) -> Rendered:
    """List what must be true, or must exist, when the step is done."""
    return block("expected_output", None, *elements("item", items, "items"))


def format_checklist(items: Sequence[str] | str, title: str = "") -> Rendered:
    """List what is to be checked, one by one."""
    return block("checklist", {"title": title or None}, *elements("item", items, "items"))


def format_constraints(constraints: Sequence[str] | str) -> Rendered:
    """List what bounds the work: given from outside, and not to be traded away."""
    return block("constraints", None, *elements("constraint", constraints, "constraints"))


def format_examples(good: Sequence[str] | str = (), bad: Sequence[str] | str = ()) -> Rendered:
    """Show what good work looks like, and what to avoid; each text stands exactly as it is."""
    pairs = [("good", text) for text in _several(good)] + [("bad", text) for text in _several(bad)]
    if not pairs:
        raise UsageError("examples: neither a good nor a bad one is given")
    return block("examples", None, *(Element(kind, None, exactly(text)) for kind, text in pairs))


def format_decision_table(rows: Sequence[tuple[str, str]], otherwise: str = "") -> Rendered:
    """Say which case calls for which action; ``otherwise`` covers the cases that no row does."""
    if not rows:
        raise UsageError("rows is empty", remedy="give at least one pair of a case and its action")
    cells = [Element("row", None, Element("if", None, case), Element("then", None, action)) for case, action in rows]
    if otherwise:
        cells.append(Element("otherwise", None, otherwise))
    return block("decision_table", None, *cells)


def format_terms(terms: Mapping[str, str]) -> Rendered:
    """Say what words mean in this skill."""
    if not terms:
        raise UsageError("terms is empty", remedy="give at least one word and its meaning")
    return block("terms", None, *(Element("term", {"name": name}, text) for name, text in terms.items()))


def format_stop_condition(stop_when: Sequence[str] | str, bound: int | None = None, at_bound: str = "") -> Rendered:
    """Say what must hold before the work may stop, and what happens after ``bound`` iterations."""
    parts = elements("when", stop_when, "stop_when")
    if at_bound:
        parts.append(Element("at_bound", None, at_bound))
    return block("stop_condition", {"bound": bound}, *parts)


def _several(given: Sequence[str] | str) -> Sequence[str]:
    return (given,) if isinstance(given, str) else given

"""Calls that must be looked at first: how often the same was asked for, and whether anything came of it."""

from __future__ import annotations

from skills.lib.guard.decisions import Deny, Look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from skills.lib.guard.calls import Call
    from skills.lib.guard.compiled import Rule
    from skills.lib.guard.policy import Policy

    Record = dict[str, Any]
    # What stands against a call, what a policy that only reports would have answered, the records to keep.
    Decided = tuple[Deny | Look | None, Deny | Look | None, list[Record]]

# How often one rule is answered by "look first" for the same place; then the call is denied.
LOOKS = 2


class Stuck(Look):
    """A look that led to nothing: a tool that should have shown the places has succeeded, or it was asked for twice."""


def of_doubt(one: Call, rule: Rule, policy: Policy) -> Look | None:
    """The look at a call of which only a shell knows whether it is made; None if its rule has no needs."""
    return Look(one.rule, "", (), (), one.doubt, f"{policy.file}:{rule.line}") if rule.needs else None


def of_lost(one: Call, rule: Rule, policy: Policy) -> Deny | None:
    """The denial of a call whose rule asks for counts that were lost; None if it asks for none, or only reports."""
    need = next((need for need in rule.needs if "calls(" in need[0]), None)
    if need is None or policy.mode == "report":
        return None
    why = "how often it was called is not known, because the facts of this policy were damaged"
    return Deny(one.rule, need[0], why, (), f"{policy.file}:{need[1]}")


def answer(records: Sequence[Record], mode: str, look: Look) -> Decided:
    """A look with the record of it; a Stuck one if a place of it was asked for before and nothing came of it."""
    before = [one for one in open_looks(records) if (one["rule"], one["need"]) == (look.rule, look.need)]
    same = [one for one in before if set(one["missing"]) & set(look.missing) or not (one["missing"] or look.missing)]
    if len(same) < LOOKS and not any(one["came"] for one in same):
        about = {"rule": look.rule, "need": look.need, "missing": list(look.missing), "tools": list(look.tools)}
        return look, None, [{"kind": "look", **about}]
    if mode == "look":  # which only asks to look, and denies nothing
        return None, look, []
    return Stuck(look.rule, look.need, look.missing, look.tools, look.reason, look.where), None, []


def open_looks(records: Sequence[Record]) -> list[Record]:
    """The looks with the places that did not become known since; ``came`` if a tool that shows them succeeded."""
    found: list[Record] = []
    for record in records:
        if record.get("kind") == "look":
            found.append({**record, "came": False})
        elif record.get("kind") == "ended":
            for one in found:
                one["came"] = one["came"] or bool(record["ok"] and set(record["tools"]) & set(one["tools"]))
                left = [place for place in one["missing"] if not _is_in(place, record["known"])]
                if left != one["missing"]:
                    one["missing"], one["is_over"] = left, not left
            found = [one for one in found if not one.get("is_over")]
    return found


def _is_in(place: str, known: Sequence[str]) -> bool:
    """True if one of the known places is this one, or around it."""
    return any(place == one or one == "." or place.startswith((f"{one}.", f"{one}[")) for one in known)

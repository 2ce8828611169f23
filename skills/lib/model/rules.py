"""Rules as a handler, held as data: how a step ends, and what it records besides what is reported.

Every condition is true or false: what is not recorded, and a comparison that makes no sense, are false.
"""

from __future__ import annotations

from skills.lib.field_checks import EMPTY, check_list, check_mapping, shown
from skills.lib.model.types import Outcome, StepContext
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from skills.lib.guard.expressions import Scope

    Node = list[Any]

# What stands between the entries of a list that a text names.
BETWEEN = " / "
_KEYS = frozenset(("append", "take", "of", "where", "first", "cut"))


class Rules(Record):
    """How a step ends: the outcome of the first rule that holds, and what is recorded before the rules are read.

    ``rules`` holds an outcome, the rule as it was written, and its compiled form (``skills/lib/graphfile/rules.py``).
    ``keep`` says by name what is recorded of the step's values: ``append`` adds entries to a list, ``take`` replaces
    it; ``where`` leaves entries out, ``first`` bounds their number and ``cut`` their length. ``gather`` does the same
    for the results of sub-agents: ``of`` names those that are done, lost, or all.
    """

    rules: Sequence[Any]
    keep: Mapping[str, Any] = EMPTY
    gather: Mapping[str, Any] = EMPTY

    def _check(self) -> None:
        rules = tuple(map(_checked, check_list(self.rules, "Rules", "[['ok', 'else', ['const', true]]]")))
        if not rules:
            raise ValueError("Rules: there is no rule; the last one is usually 'else'")
        self._set(
            rules=rules,
            keep=_recorded(self.keep, "Rules keep"),
            gather=_recorded(self.gather, "Rules gather"),
        )

    def __call__(self, context: StepContext) -> tuple[Outcome, dict[str, Any]]:
        """The outcome of the first rule that holds, and what is recorded with it. ValueError if none holds."""
        made: dict[str, Any] = {}
        state = dict(context.step_state)
        scope = _scope(state, context)
        for name, how in self.gather.items():
            made[name] = state[name] = _gathered(how, scope, state.get("results", ()))
        for name, how in self.keep.items():
            value = _kept(how, scope, state.get(name))
            if value is not None:
                made[name] = state[name] = value
        for outcome, _, node in self.rules:
            if holds(node, scope):
                return outcome, made
        raise ValueError("no rule holds: end the rules with one that is `else`")

    @property
    def name_in_data(self) -> str:
        """What stands for a function's name."""
        return "rules"

    @property
    def outcomes(self) -> frozenset[Outcome]:
        """The outcomes that the rules name."""
        return frozenset(outcome for outcome, _, _ in self.rules)

    @property
    def nodes(self) -> list[Node]:
        """The compiled form of every condition and value."""
        found = [node for _, _, node in self.rules]
        for how in (*self.keep.values(), *self.gather.values()):
            entries = how.get("append", ()) if "append" in how else [how["take"]]
            found += [*entries, *(how[key] for key in ("where", "first", "cut") if key in how)]
        return found

    @property
    def constants(self) -> list[Any]:
        """The texts, numbers and words of true and false that the rules name."""
        return [value for node in self.nodes for value in _constants(node) if value is not None]

    @property
    def reads(self) -> list[tuple[str, str | None, str]]:
        """What the rules read: the area of the root, the step of an earlier value, and the name."""
        return list(dict.fromkeys(read for node in self.nodes for read in _reads(node)))


def holds(node: Node, scope: Scope) -> bool:
    """True if a condition does: an empty list, an empty text, 0, and what is not recorded do not."""
    from skills.lib.guard.expressions import evaluated  # a step that is printed decides nothing
    from skills.lib.guard.values import Fault, Marker

    kind = node[0]
    if kind == "and":
        return all(holds(part, scope) for part in node[1])
    if kind == "or":
        return any(holds(part, scope) for part in node[1])
    if kind == "not":
        return not holds(node[1], scope)
    value = evaluated(node, scope)
    return not isinstance(value, (Fault, Marker)) and bool(value)


def _checked(rule: Any) -> tuple[Outcome, str, Node]:
    if not isinstance(rule, (list, tuple)) or len(rule) != 3:
        raise TypeError(f"Rules: {shown(rule)} is not an outcome, its rule, and the rule's compiled form")
    outcome, text, node = rule
    if not isinstance(text, str) or not _is_node(node):
        raise TypeError(f"Rules: {shown(rule)} is not an outcome, its rule, and the rule's compiled form")
    return Outcome(outcome), text, node


def _is_node(node: Any) -> bool:
    return isinstance(node, (list, tuple)) and bool(node) and isinstance(node[0], str)


def _reads(node: Any) -> Iterator[tuple[str, str | None, str]]:
    """The values that a compiled form reads."""
    if not isinstance(node, (list, tuple)):
        return
    if len(node) == 3 and node[0] == "get" and node[1] == ["root"]:
        area, *keys = node[2]
        if area == "steps":
            yield area, keys[0], keys[1]
        elif keys:
            yield area, None if area == "state" else "", keys[0]
    for part in node:
        yield from _reads(part)


def _constants(node: Any) -> Iterator[Any]:
    if isinstance(node, (list, tuple)):
        if len(node) == 2 and node[0] == "const":
            yield node[1]
        for part in node:
            yield from _constants(part)


def _recorded(given: Any, what: str) -> dict[str, Any]:
    found = dict(check_mapping(given, what, "{'log': {'append': […]}}"))
    for name, how in found.items():
        is_known = isinstance(how, dict) and set(how) <= _KEYS and ("append" in how) != ("take" in how)
        if not isinstance(name, str) or not is_known:
            raise TypeError(f"{what} {shown(name)}: {shown(how)} has neither append nor take, or more than {_KEYS}")
    return found


def _scope(state: dict[str, Any], context: StepContext) -> Scope:
    from skills.lib.guard.expressions import Scope

    root = {
        "state": state,
        "steps": context.run_state,
        "params": context.workflow_params,
        "iteration": context.iteration,
    }
    return Scope(root, {}, {}, {}, "")


def _kept(how: Mapping[str, Any], scope: Scope, before: Any) -> Any:
    """What is recorded under a name: the longer list, or the new value; None if there is nothing yet."""
    if "append" in how:
        new = [entry for node in how["append"] for entry in _entries(_value(node, scope))]
        log = [*(before if isinstance(before, list) else ()), *_chosen(how, new, scope)]
        return log or None
    value = _value(how["take"], scope)
    return _chosen(how, value, scope) if isinstance(value, list) else _cut(value, how, scope)


def _gathered(how: Mapping[str, Any], scope: Scope, results: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The entries that the results of sub-agents give."""
    of = how.get("of", "done")
    found: list[Any] = []
    for result in results:
        if of == "all" or (result.get("status") == "done") is (of == "done"):
            scope.variables["result"] = result
            found += _entries(_value(how["take"], scope))
    scope.variables.pop("result", None)
    return _chosen(how, found, scope)


def _entries(value: Any) -> list[Any]:
    """A list's own entries; another value as the only one; none for what is not recorded."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _chosen(how: Mapping[str, Any], entries: list[Any], scope: Scope) -> list[Any]:
    """The entries that stay, by ``where`` and ``first``, each as long as ``cut`` lets it be."""
    if "where" in how:
        entries = list(_where(how["where"], entries, scope))
    if "first" in how:
        most = _value(how["first"], scope)
        entries = entries[: most if isinstance(most, int) and most >= 0 else 0]
    return [_cut(entry, how, scope) for entry in entries]


def _where(node: Node, entries: list[Any], scope: Scope) -> Iterator[Any]:
    for entry in entries:
        scope.variables["it"] = entry
        if holds(node, scope):
            yield entry
    scope.variables.pop("it", None)


def _cut(value: Any, how: Mapping[str, Any], scope: Scope) -> Any:
    most = _value(how["cut"], scope) if "cut" in how else None
    return value[:most] if isinstance(value, str) and isinstance(most, int) else value


def _value(node: Node, scope: Scope) -> Any:
    """The value of a compiled expression, of a text with values in it, or of a mapping; None if there is none."""
    from skills.lib.guard.expressions import evaluated
    from skills.lib.guard.values import Fault, Marker

    if node[0] == "text":
        return "".join([part if isinstance(part, str) else _text(_value(part, scope)) for part in node[1]])
    if node[0] == "map":
        pairs = [(name, _value(part, scope)) for name, part in node[1]]
        return {name: value for name, value in pairs if value is not None}
    value = evaluated(node, scope)
    return None if isinstance(value, (Fault, Marker)) else list(value) if isinstance(value, list) else value


def _text(value: Any) -> str:
    """A value as it stands in a text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return BETWEEN.join(map(_text, value))
    if value is None:
        return ""
    from skills.lib import compact_json

    return compact_json.readable(value)

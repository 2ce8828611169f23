"""Which rules no run comes to, and whether one always holds, as far as finite choices prove it.

A value with choices has these, one of type bool has two, each of them may be missing if it is optional. A condition on
any other value is taken as one that may hold or not, whatever the rest is: what is proved so is true of every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from skills.lib.compact_json import dumps
from skills.lib.graphfile.names import Names
from skills.lib.graphfile.reader import At, Reader
from skills.lib.guard.expressions import Scope
from skills.lib.guard.values import ABSENT
from skills.lib.model.requirements import Arg
from skills.lib.model.rules import holds

# Combinations of values that are gone through; beyond this nothing is proved, and nothing reported.
MOST = 20_000
# Before the JSON of a condition that may hold or not, whatever the rest is.
_ATOM = "?"

Rule = tuple[At, str, list[Any]]


def check(reader: Reader, names: Names, rules: list[Rule]) -> None:
    """Note each rule that no run comes to, and rules of which none may hold."""
    if not rules:
        return
    ends_with_else = rules[-1][2] == ["const", True]
    first = list(_first_of_each(names, rules))
    if not first:
        _note_missing_else(reader, rules, ends_with_else)
        return
    for number, (at, outcome, _) in enumerate(rules):
        if number not in first:
            earlier = "the rules above hold whenever it does" if number else "it never holds"
            reader.note(at, f"no run comes to the rule of {outcome}: {earlier}", remedy="take it out, or move it up")
    if None in first:
        _note_missing_else(reader, rules, ends_with_else)


def _note_missing_else(reader: Reader, rules: list[Rule], ends_with_else: bool) -> None:
    if not ends_with_else:
        what = "it may be that no rule holds, and then the step cannot be left"
        reader.note(rules[-1][0], what, remedy="end the rules with one that is `else`")


def _first_of_each(names: Names, rules: list[Rule]) -> Iterator[int | None]:
    """The number of the rule that decides, for each combination of values; None where none does."""
    nodes = [node for _, _, node in rules]
    domains: dict[str, tuple[list[Any], list[Any]]] = {}
    atoms: dict[str, tuple[list[Any], list[Any]]] = {}
    for node in nodes:
        for leaf in _leaves(node):
            places = _places(leaf)
            found = [_domain(names, place) for place in places]
            if places and all(domain for domain in found):
                domains |= {
                    dumps(place): (place, domain) for place, domain in zip(places, found, strict=True) if domain
                }
            elif leaf[0] != "const":
                atoms[_ATOM + dumps(leaf)] = (leaf, [True, False])
    size = 1
    for _, values in (*domains.values(), *atoms.values()):
        size *= len(values)
    if size > MOST:
        return
    keys = [*domains, *atoms]
    for chosen in product(*(values for _, values in (*domains.values(), *atoms.values()))):
        given = dict(zip(keys, chosen, strict=True))
        scope = _scope([(domains[key][0], given[key]) for key in domains])
        yield next((at for at, node in enumerate(nodes) if _holds(node, scope, given)), None)


def _leaves(node: list[Any]) -> Iterator[list[Any]]:
    """The conditions that ``and``, ``or`` and ``not`` join."""
    if node[0] in ("and", "or"):
        for part in node[1]:
            yield from _leaves(part)
    elif node[0] == "not":
        yield from _leaves(node[1])
    else:
        yield node


def _places(node: Any) -> list[list[Any]]:
    """The places that a condition reads; an empty list for one that reads otherwise, too."""
    if not isinstance(node, list) or not node:
        return []
    if node[0] == "get":
        return [node]
    if node[0] == "cmp":
        parts = [node[1], *(part for _, part in node[2])]
        if all(part[0] in ("get", "const") or (part[0] == "list" and _is_constant(part)) for part in parts):
            return [part for part in parts if part[0] == "get"]
    return []


def _is_constant(node: list[Any]) -> bool:
    return all(part[0] == "const" for part in node[1])


def _domain(names: Names, place: list[Any]) -> list[Any]:
    """The values that a place may hold; empty if they are not few."""
    spec = names.spec(place)
    if spec is None:
        return []
    values: list[Any] = [True, False] if spec.type == "bool" else []
    if spec.choices and spec.type == "text":
        values = list(spec.choices)
    of_another = place[2][0] == "steps"  # which this run may not have come to
    is_optional = not spec.required or (isinstance(spec, Arg) and spec.default == "")
    return values + [ABSENT] * (bool(values) and (is_optional or of_another))


def _scope(given: list[tuple[list[Any], Any]]) -> Scope:
    root: dict[str, Any] = {}
    for place, value in given:
        inner = root
        for key in place[2][:-1]:
            inner = inner.setdefault(key, {})
        if value is not ABSENT:
            inner[place[2][-1]] = value
    return Scope(root, {}, {}, {}, "")


def _holds(node: list[Any], scope: Scope, given: dict[str, Any]) -> bool:
    if node[0] == "and":
        return all(_holds(part, scope, given) for part in node[1])
    if node[0] == "or":
        return any(_holds(part, scope, given) for part in node[1])
    if node[0] == "not":
        return not _holds(node[1], scope, given)
    free = given.get(_ATOM + dumps(node))
    return holds(node, scope) if free is None else bool(free)

"""Rules as a step has them in YAML, compiled to what ``model/rules.py`` evaluates.

The expression language is the guard's, without the places of a policy: what a rule names is resolved here.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

from skills.lib.errors import did_you_mean, nearest
from skills.lib.field_checks import shown
from skills.lib.graphfile import keys
from skills.lib.graphfile.names import RESULT, Names
from skills.lib.graphfile.reader import At, Missing, Reader
from skills.lib.guard.parsing import ExpressionError, UnknownFunction, parse
from skills.lib.model.rules import Rules

ELSE = "else"
# The functions of the language that a rule may call, by the names that they have here.
FUNCTIONS = {"count": "len", "distinct": "set"}
_SAME = ("all", "any", "exists", "lower", "max", "min", "starts", "sum")
_WRITTEN = {compiled: name for name, compiled in FUNCTIONS.items()}
_TEXT = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""")
_CALL = re.compile(r"\b(count|distinct)(?=\s*\()")
_HIDDEN = re.compile(r"\b(len|set)(?=\s*\()")
_COMPILED_CALL = re.compile(r"\b(len|set)(?=\(\))")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_OUTSIDE = {"arg": "$", "param": "%", "result": "result", "forget": "forget", "absent": "absent"}


def compiled(reader: Reader, names: Names, given: dict[str, Any], at: At, only: str) -> Rules | None:
    """The Rules of a step, of its ``outcomes`` and ``keep`` and the ``gather`` of its dispatch; None if it has none.

    ``only`` is the outcome of a step that has one route and no rules.
    """
    keep = _recorded(reader, names, given.get("keep"), (*at, "keep"), keys.KEEP)
    dispatch = given.get("dispatch")
    gather = {}
    if isinstance(dispatch, dict) and "gather" in dispatch:
        fields = _fields_of_children(dispatch)
        result: dict[str, list[Any]] = {name: ["get", ["var", "result"], [name]] for name in RESULT}
        result |= {name: ["get", ["var", "result"], ["values", name]] for name in fields}
        result["result"] = ["get", ["var", "result"], ["values", "result"]]
        gather = _recorded(reader, names, dispatch["gather"], (*at, "dispatch", "gather"), keys.GATHER, result)
    if "outcomes" not in given:
        if not keep and not gather:
            return None
        if not only:
            place = (*at, "keep") if keep else (*at, "dispatch", "gather")
            reader.fail(place, "which outcome is meant? this step has several routes", remedy="give it `outcomes:`")
        return reader.made(at, Rules, [[only, ELSE, ["const", True]]], keep=keep, gather=gather)
    rules = [
        [outcome, text, node]
        for place, outcome, text in pairs(reader, given["outcomes"], (*at, "outcomes"))
        if (node := condition(reader, names, text, place)) is not None
    ]
    return reader.made((*at, "outcomes"), Rules, rules, keep=keep, gather=gather) if rules else None


def pairs(reader: Reader, value: Any, at: At) -> list[tuple[At, str, str]]:
    """Each rule in order: its place, its outcome, and its text."""
    found = []
    for place, entry in [(at, value)] if isinstance(value, dict) else reader.items(value, at, "outcomes"):
        for outcome, text in reader.mapping(entry, place, "a rule").items():
            rule = reader.text(text, (*place, outcome), f"the rule of {outcome}")
            found.append(((*place, outcome), outcome, " ".join(rule.split())))
    for number, (place, _, text) in enumerate(found):
        if text == ELSE and number < len(found) - 1:
            reader.note(found[number + 1][0], "no run comes to this rule: the one above is `else`", remedy="move it up")
        if not text:
            reader.note(place, "the rule is empty", "a condition, or else")
    return [rule for rule in found if rule[2]]


def condition(reader: Reader, names: Names, text: str, at: At) -> list[Any] | None:
    """The compiled form of a condition; None if it is wrong, which is noted."""
    if text == ELSE:
        return ["const", True]
    try:
        return _resolved(reader, names, _parsed(reader, names, text, at), at)
    except Missing:
        return None


def _parsed(reader: Reader, names: Names, text: str, at: At) -> list[Any]:
    parts = _TEXT.split(text)  # every second one is a text in quotes
    ids = sorted((step for step in names.steps if "-" in step), key=len, reverse=True)
    for number in range(0, len(parts), 2):
        hidden = _HIDDEN.search(parts[number])
        if hidden:
            reader.fail(
                at,
                f"the rule `{text:.120}` calls {hidden[1]}, which is no function",
                remedy=f"use {_WRITTEN[hidden[1]]}",
            )
        parts[number] = _CALL.sub(lambda call: FUNCTIONS[call[1]], parts[number])
        for step in ids:
            parts[number] = re.sub(rf"(?<![\w.\-\"]){re.escape(step)}\.(?=\w)", f'.["{step}"].', parts[number])
    try:
        return parse("".join(parts))
    except UnknownFunction as error:
        _refuse_function(reader, error.name, at)
    except ExpressionError as error:
        what, remedy = (_COMPILED_CALL.sub(lambda call: _WRITTEN[call[1]], part) for part in (str(error), error.remedy))
        reader.fail(at, f"the rule `{text:.120}` {what}", remedy=remedy or "docs/workflow-yaml.md#rules")


def _refuse_function(reader: Reader, name: str, at: At) -> NoReturn:
    valid = sorted([*FUNCTIONS, *_SAME])
    reader.fail(at, f"a rule has no function {name:.40}{did_you_mean(nearest(name, valid))}", ", ".join(valid))


def _resolved(reader: Reader, names: Names, node: list[Any], at: At) -> list[Any]:
    """The compiled node with every name as a place of the run."""
    kind = node[0]
    if kind in _OUTSIDE:
        reader.fail(
            at, f"a rule has no {_OUTSIDE[kind]}: that is of a policy", "fields, STEP.NAME, parameters, iteration"
        )
    if kind == "call":
        if node[1] not in (*FUNCTIONS.values(), *_SAME):
            _refuse_function(reader, node[1], at)
        return ["call", node[1], [_resolved(reader, names, part, at) for part in node[2]]]
    if kind == "get":
        path = [_resolved(reader, names, key, at) if isinstance(key, list) else key for key in node[2]]
        if node[1] != ["root"]:
            return ["get", _resolved(reader, names, node[1], at), path]
        if not path or not isinstance(path[0], str):
            reader.fail(at, "a rule names a value", "fields, STEP.NAME, parameters, iteration")
        return names.path(reader, at, path)
    if kind == "cmp":
        made = ["cmp", _resolved(reader, names, node[1], at)]
        made.append([[operator, _resolved(reader, names, part, at)] for operator, part in node[2]])
        _check_comparison(reader, names, made, at)
        return made
    if kind == "for":
        _, element, variable, source, conditions = node
        before = dict(names.local)
        source = _resolved(reader, names, source, at)
        names.local |= {variable: ["var", variable], "key": ["var", "key"]}
        try:
            parts = [_resolved(reader, names, part, at) for part in (element, *conditions)]
        finally:
            names.local = before
        return ["for", parts[0], variable, source, parts[1:]]
    if kind in ("const", "var"):
        return node
    if kind in ("and", "or", "list"):
        return [kind, [_resolved(reader, names, part, at) for part in node[1]]]
    return [kind, *[_resolved(reader, names, part, at) for part in node[1:]]]


def _check_comparison(reader: Reader, names: Names, node: list[Any], at: At) -> None:
    """Note a comparison of which it is known beforehand that it makes no sense."""
    left = node[1]
    for operator, right in node[2]:
        for place, other, is_left in ((left, right, True), (right, left, False)):
            spec = names.spec(place)
            if spec is not None and other[0] in ("const", "list"):
                _check_value(reader, place, spec, operator, other, at, is_left)
        left = right


def _check_value(reader: Reader, place: Any, spec: Any, operator: str, other: list[Any], at: At, is_left: bool) -> None:
    name = place[2][-1]
    values = [part[1] for part in other[1] if part[0] == "const"] if other[0] == "list" else [other[1]]
    if operator in ("in", "not in"):
        if not is_left:  # a value in a recorded list or text
            if spec.type in ("int", "float", "bool"):
                reader.note(at, f"nothing is in {name}: it is of type {spec.type}", remedy=f"compare {name} with ==")
            return
        if other[0] != "list" and not isinstance(other[1], str):
            reader.note(at, f"{shown(other[1])} is no list", remedy=f'write {name} in ["a", "b"]')
    elif other[0] == "list" and spec.type != "list" and operator in ("==", "!="):
        reader.note(at, f"{name} is of type {spec.type} and no list", remedy=f"write {name} in […]")
        return
    elif operator[0] in "<>" and spec.type not in ("int", "float", "json"):
        instead = f"count({name})" if spec.type in ("list", "items", "answers", "statements") else name
        remedy = f"write {instead} {operator} …" if instead != name else "compare it with == or in"
        reader.note(at, f"{name} is of type {spec.type}, which is neither more nor less than anything", remedy=remedy)
        return
    for value in values if other[0] != "list" or operator in ("in", "not in") else ():
        _check_constant(reader, name, spec, value, at, is_part=operator in ("in", "not in") and other[0] != "list")


def _check_constant(reader: Reader, name: str, spec: Any, value: Any, at: At, is_part: bool) -> None:
    """Note a constant that the value never is."""
    kinds: dict[str, Any] = {"text": str, "int": (int, float), "float": (int, float), "bool": bool, "list": list}
    kind = kinds.get(spec.type)
    if kind is not None and (not isinstance(value, kind) or (isinstance(value, bool) and spec.type != "bool")):
        remedy = f"write {shown(value)[1:-1]} without quotes" if isinstance(value, str) else f'write "{value}"'
        remedy = f"write {shown(value)} in {name}" if spec.type == "list" else remedy
        reader.note(at, f"{name} is of type {spec.type} and never equals {shown(value)}", remedy=remedy)
    elif spec.choices and isinstance(value, str) and value not in spec.choices and not is_part and spec.type == "text":
        near = did_you_mean(nearest(value, spec.choices))
        reader.note(at, f"{name} is never {value[:60]!r}{near}", ", ".join(spec.choices))


def _recorded(
    reader: Reader, names: Names, value: Any, at: At, valid: tuple[str, ...], result: dict[str, list[Any]] | None = None
) -> dict[str, Any]:
    """The compiled form of ``keep`` or ``gather``; ``result`` are the names of a sub-agent's result."""
    found: dict[str, Any] = {}
    if value is None:
        return found
    for name, entry in reader.mapping(value, at, at[-1]).items():
        place = (*at, name)
        try:
            given = {"take": entry} if isinstance(entry, str) else entry
            found[name] = _how(reader, names, reader.known(given, place, valid, at[-1]), place, result)
        except Missing:
            continue
    return found


def _how(
    reader: Reader, names: Names, given: dict[str, Any], at: At, result: dict[str, list[Any]] | None
) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if ("append" in given) == ("take" in given):
        valid = "append, or take" if result is None else "take"
        reader.fail(at, f"{at[-2]} says of {at[-1]} what is recorded", valid)
    names.local = dict(result or {})
    try:
        if "append" in given:
            entries = reader.items(given["append"], (*at, "append"), "append")
            made["append"] = [_template(reader, names, entry, place) for place, entry in entries]
        else:
            made["take"] = _template(reader, names, given["take"], (*at, "take"))
        if "of" in given:
            made["of"] = reader.word(given["of"], (*at, "of"), ("done", "lost", "all"), "of")
        for key in ("first", "cut"):
            if key in given:
                made[key] = _count(reader, names, given[key], (*at, key))
        names.local = {"it": ["var", "it"]}
        if "where" in given:
            text = " ".join(reader.text(given["where"], (*at, "where"), "where").split())
            made["where"] = _resolved(reader, names, _parsed(reader, names, text, (*at, "where")), (*at, "where"))
    finally:
        names.local = {}
    return made


def _count(reader: Reader, names: Names, value: Any, at: At) -> list[Any]:
    """A number, or the name of one."""
    text = reader.text(value, at, at[-1])
    if text.isdigit():
        return ["const", int(text)]
    return _resolved(reader, names, _parsed(reader, names, text, at), at)


def _template(reader: Reader, names: Names, value: Any, at: At) -> list[Any]:
    """A text with values in braces, compiled; one that is a value in braces alone is that value."""
    if isinstance(value, dict):
        return ["map", [[key, _template(reader, names, entry, (*at, key))] for key, entry in value.items()]]
    text = reader.text(value, at, at[-1])
    parts = _PLACEHOLDER.split(text)  # every second one stood in braces
    made: list[Any] = []
    for number, part in enumerate(parts):
        if number % 2:
            made.append(_resolved(reader, names, _parsed(reader, names, part, at), at))
        elif "{" in part or "}" in part:
            reader.fail(at, "a brace has no partner", remedy="name a value as {name}")
        elif part:
            made.append(part)
    return made[0] if len(made) == 1 and isinstance(made[0], list) else ["text", made]


def _fields_of_children(dispatch: dict[str, Any]) -> list[str]:
    """The names of the fields that free-form sub-agents report."""
    found = []
    listed = dispatch.get("requires")
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, str):
            found.append(str(entry))
        elif isinstance(entry, dict):
            found.append(str(entry["field"]) if isinstance(entry.get("field"), str) else next(iter(entry), ""))
    return found

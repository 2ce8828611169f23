"""Checks a value against a schema and lists every violation, in the order of the value."""

from __future__ import annotations

import operator

from skills.lib.errors import did_you_mean, nearest
from skills.lib.schema.keywords import problems, resolved
from skills.lib.schema.patterns import TEXT_LIMIT, Pattern, TooMuchWork, Work
from skills.lib.schema.report import Violation, kind, names, shown, type_words, types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from skills.lib.schema.report import Path

    Check = Callable[["_Checker", Any, Any, Mapping[str, Any], Path], Iterator[Violation]]

# How many violations are listed, how deep schemas are followed, and how much work a check may take.
LISTED, DEPTH_LIMIT, WORK_LIMIT = 1_000, 200, 2_000_000


def violations(schema: object, value: object) -> list[Violation]:
    """The violations of a value, at most LISTED; empty if it meets the schema.

    Raises ValueError if the schema has problems. A value that is nested too deep, or takes too much work to check, has
    a violation that says so.
    """
    wrong = problems(schema)
    if wrong:
        raise ValueError("; ".join(map(str, wrong[:3])))
    found: list[Violation] = []
    try:
        for one in _Checker(schema).check(schema, value, ()):
            found.append(one)
            if len(found) == LISTED:
                break
    except (_TooDeep, RecursionError):
        what = f"it is nested too deep to be checked: a schema is followed {DEPTH_LIMIT} levels"
        found.append(Violation((), "", what, "a value that is less deep"))
    except TooMuchWork:
        valid = "a smaller value, or a schema with fewer alternatives"
        found.append(Violation((), "", "checking it takes too much work, and was given up", valid))
    return found


class _TooDeep(Exception):
    pass


class _Checker:
    """One check: the schema that references resolve in, its compiled patterns, and the work that is left."""

    def __init__(self, root: object) -> None:
        self.root = root
        self.spend = Work(WORK_LIMIT).spend
        self.depth = 0
        self._patterns: dict[str, Pattern] = {}
        self._targets: dict[str, object] = {}

    def check(self, schema: Any, value: Any, path: Path) -> Iterator[Violation]:
        """The violations of the value. If it has the wrong type, that is the only one."""
        self.spend(1)
        if schema is True or not schema:
            if schema is False:
                yield Violation(path, "", "no value is allowed here", "leave it out", value)
            return
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            raise _TooDeep
        if "type" in schema and not set(types(value)) & set(names(schema["type"])):
            expected = type_words(schema["type"])
            what = f"{shown(value)} is {kind(value)}, not {expected}"
            yield Violation(path, "type", what, _about(schema), value, schema)
        else:
            for keyword, argument in schema.items():
                about, check = _CHECKS.get(keyword, _NO_CHECK)
                if isinstance(value, about):
                    yield from check(self, argument, value, schema, path)
        self.depth -= 1

    def passes(self, schema: Any, value: Any, path: Path) -> bool:
        """True if nothing is wrong with the value."""
        depth = self.depth
        found = next(self.check(schema, value, path), None)
        self.depth = depth
        return found is None

    def target(self, reference: str) -> object:
        """The schema that a reference names."""
        if reference not in self._targets:
            self._targets[reference] = resolved(self.root, reference)[1]
        return self._targets[reference]

    def matches(self, pattern: str, text: str) -> bool:
        """True if the pattern is found in the text."""
        if pattern not in self._patterns:
            self._patterns[pattern] = Pattern(pattern)
        return self._patterns[pattern].is_found_in(text, self.spend)


def _key(checker: _Checker, value: Any) -> Any:
    """A hashable form: two values have the same one if JSON Schema calls them equal (1 and 1.0, but not 1 and true)."""
    checker.spend(1)
    if isinstance(value, dict):
        return "object", frozenset([(name, _key(checker, one)) for name, one in value.items()])
    if isinstance(value, (list, tuple)):
        return "array", tuple([_key(checker, one) for one in value])
    return isinstance(value, bool), value


def _about(schema: Any) -> str:
    """The description of a schema; empty if it has none."""
    return str(schema.get("description", "")) if isinstance(schema, dict) else ""


def _enum(checker: _Checker, choices: Any, value: Any, schema: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    wanted = _key(checker, value)
    if all(_key(checker, choice) != wanted for choice in choices):
        near = nearest(value, [one for one in choices if isinstance(one, str)]) if isinstance(value, str) else ""
        listed = ", ".join(map(shown, choices[:50])) + (" …" if len(choices) > 50 else "")
        yield Violation(
            path, "enum", f"{shown(value)} is not one of the values{did_you_mean(near)}", listed, value, schema
        )


def _const(checker: _Checker, wanted: Any, value: Any, schema: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    if _key(checker, wanted) != _key(checker, value):
        yield Violation(path, "const", f"{shown(value)} is not the required value", shown(wanted), value, schema)


def _ref(checker: _Checker, name: str, value: Any, schema: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    return checker.check(checker.target(name), value, path)


def _properties(
    checker: _Checker, inner: Mapping[str, Any], value: Any, schema: Mapping[str, Any], path: Path
) -> Iterator[Violation]:
    for name, one in value.items():
        if name in inner:
            yield from checker.check(inner[name], one, (*path, name))


def _pattern_properties(
    checker: _Checker, inner: Mapping[str, Any], value: Any, schema: Mapping[str, Any], path: Path
) -> Iterator[Violation]:
    for name, one in value.items():
        for pattern, sub in inner.items():
            if checker.matches(pattern, name):
                yield from checker.check(sub, one, (*path, name))


def _additional(
    checker: _Checker, inner: Any, value: Any, schema: Mapping[str, Any], path: Path
) -> Iterator[Violation]:
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    for name, one in value.items():
        if name in known or any(checker.matches(pattern, name) for pattern in patterns):
            continue
        if inner is not False:
            yield from checker.check(inner, one, (*path, name))
            continue
        what = f"{shown(name)} is not part of it{did_you_mean(nearest(name, known))}"
        yield Violation((*path, name), "additionalProperties", what, ", ".join(list(known)[:50]), one, schema)


def _property_names(
    checker: _Checker, inner: Any, value: Any, schema: Mapping[str, Any], path: Path
) -> Iterator[Violation]:
    for name in value:
        for one in checker.check(inner, name, path):
            yield Violation(path, "propertyNames", f"the name {one.what}", one.valid, value, schema)


def _required(
    checker: _Checker, names: Sequence[str], value: Any, schema: Mapping[str, Any], path: Path
) -> Iterator[Violation]:
    for name in dict.fromkeys(names):
        if name not in value:
            inner = schema.get("properties", {}).get(name)
            yield Violation(path, "required", f"{name} is missing", _about(inner), value, schema)


def _dependent(
    checker: _Checker, needs: Mapping[str, Sequence[str]], value: Any, schema: Mapping[str, Any], path: Path
) -> Iterator[Violation]:
    for name, others in needs.items():
        for other in others:
            if name in value and other not in value:
                what = f"{other} is missing, and {name} requires it"
                yield Violation(path, "dependentRequired", what, _about(schema), value, schema)


def _prefix(
    checker: _Checker, inner: Sequence[Any], value: Any, schema: Mapping[str, Any], path: Path
) -> Iterator[Violation]:
    for at, (sub, one) in enumerate(zip(inner, value, strict=False)):
        yield from checker.check(sub, one, (*path, at))


def _items(checker: _Checker, inner: Any, value: Any, schema: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    for at in range(len(schema.get("prefixItems", ())), len(value)):
        yield from checker.check(inner, value[at], (*path, at))


def _contains(checker: _Checker, inner: Any, value: Any, schema: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    found = sum(checker.passes(inner, one, (*path, at)) for at, one in enumerate(value))
    low, high = schema.get("minContains", 1), schema.get("maxContains")
    if found < low or (high is not None and found > high):
        wanted = f"at least {low}" if found < low else f"at most {high}"
        what = f"{found} of its entries match contains, and {wanted} must"
        yield Violation(path, "contains", what, _about(inner), value, schema)


def _unique(checker: _Checker, wanted: bool, value: Any, schema: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    first: dict[Any, int] = {}
    for at, one in enumerate(value if wanted else ()):
        before = first.setdefault(_key(checker, one), at)
        if before != at:
            what = f"{shown(one)} is already entry {before}"
            yield Violation((*path, at), "uniqueItems", what, "entries that differ", one, schema)


def _bounded(keyword: str, one: str, several: str) -> Check:
    """The check of a keyword that bounds the size of a text, list or object."""
    least = keyword.startswith("min")

    def check(checker: _Checker, bound: Any, value: Any, schema: Mapping[str, Any], path: Path) -> Iterator[Violation]:
        size = len(value)
        if size < bound if least else size > bound:
            counted = f"{size:,} {one if size == 1 else several}"
            has = f"{shown(value)} has {counted}, and {'at least' if least else 'at most'} {_count(bound)} are valid"
            yield Violation(path, keyword, has, _about(schema), value, schema)

    return check


def _count(bound: Any) -> str:
    """A bound in digits; Python refuses to write out a number of thousands of digits."""
    try:
        return f"{int(bound):,}"
    except (ValueError, OverflowError):
        return "more than can be written out"


def _compared(keyword: str, words: str, holds: Callable[[Any, Any], bool]) -> Check:
    def check(checker: _Checker, bound: Any, value: Any, schema: Mapping[str, Any], path: Path) -> Iterator[Violation]:
        if not isinstance(value, bool) and not holds(value, bound):
            what = f"{shown(value)} is not {words} {shown(bound)}"
            yield Violation(path, keyword, what, _about(schema), value, schema)

    return check


def _is_multiple(value: Any, of: Any) -> bool:
    """True if one number is a multiple of the other in decimals, as they are written: 0.3 is three times 0.1."""
    if isinstance(value, int) and isinstance(of, int):
        return value % of == 0
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return False
    from fractions import Fraction

    return Fraction(_exactly(value)) % Fraction(_exactly(of)) == 0


def _exactly(number: Any) -> Any:
    return number if isinstance(number, int) else repr(number)


def _pattern(checker: _Checker, pattern: str, value: Any, schema: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    if len(value) > TEXT_LIMIT:
        what = f"it has {len(value):,} characters, and a pattern is tried on at most {TEXT_LIMIT:,}"
        yield Violation(path, "pattern", what, _about(schema), value, schema)
    elif not checker.matches(pattern, value):
        what = f"{shown(value)} does not match the pattern {pattern}"
        yield Violation(path, "pattern", what, _about(schema), value, schema)


def _all_of(
    checker: _Checker, inner: Sequence[Any], value: Any, schema: Mapping[str, Any], path: Path
) -> Iterator[Violation]:
    for sub in inner:
        yield from checker.check(sub, value, path)


def _alternatives(keyword: str) -> Check:
    """The check of ``anyOf``, for which one alternative is enough, or of ``oneOf``, which only one may meet."""

    def check(
        checker: _Checker, inner: Sequence[Any], value: Any, schema: Mapping[str, Any], path: Path
    ) -> Iterator[Violation]:
        failed: list[list[Violation]] = []
        met: list[int] = []
        for number, sub in enumerate(inner, 1):
            found = list(checker.check(sub, value, path))
            if found:
                failed.append(found)
            elif keyword == "anyOf":
                return
            else:
                met.append(number)
        if len(met) > 1:
            what = f"{shown(value)} fits the alternatives {', '.join(map(str, met))}, and may fit only one"
            yield Violation(path, keyword, what, _about(schema), value, schema)
        elif not met:
            yield from _nearest_of(failed, keyword, value, schema, path)

    return check


def _nearest_of(
    failed: Sequence[list[Violation]], keyword: str, value: Any, schema: Mapping[str, Any], path: Path
) -> Iterator[Violation]:
    """The violations by the one alternative that has the value's type; if several have it, one that quotes each."""
    near = [found for found in failed if found[0].keyword != "type" or found[0].path != path]
    if len(near) == 1 or len(failed) == 1:
        yield from (near or failed)[0]
        return
    if not near:
        wanted = [names(found[0].schema["type"]) for found in failed]
        expected = list(dict.fromkeys(name for names in wanted for name in names))
        what = f"{shown(value)} is {kind(value)}, not {type_words(expected)}"
        yield Violation(path, "type", what, _about(schema), value, {**schema, "type": expected})
        return
    said = "; or ".join(dict.fromkeys(found[0].what for found in near))
    what = f"{shown(value)} fits none of {len(failed)} alternatives: {said}"
    yield Violation(path, keyword, what, _about(schema), value, schema)


def _not(checker: _Checker, inner: Any, value: Any, schema: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    if checker.passes(inner, value, path):
        yield Violation(path, "not", f"{shown(value)} is excluded here", _about(schema), value, schema)


def _if(checker: _Checker, inner: Any, value: Any, schema: Mapping[str, Any], path: Path) -> Iterator[Violation]:
    branch = "then" if checker.passes(inner, value, path) else "else"
    if branch in schema:
        yield from checker.check(schema[branch], value, path)


# Each keyword with the type of the values that it is about, and its check.
_NUMBER = (int, float)
_CHECKS: Mapping[str, tuple[Any, Check]] = {
    "$ref": (object, _ref),
    "enum": (object, _enum),
    "const": (object, _const),
    "required": (dict, _required),
    "properties": (dict, _properties),
    "patternProperties": (dict, _pattern_properties),
    "additionalProperties": (dict, _additional),
    "propertyNames": (dict, _property_names),
    "dependentRequired": (dict, _dependent),
    "minProperties": (dict, _bounded("minProperties", "name", "names")),
    "maxProperties": (dict, _bounded("maxProperties", "name", "names")),
    "prefixItems": (list, _prefix),
    "items": (list, _items),
    "contains": (list, _contains),
    "minItems": (list, _bounded("minItems", "entry", "entries")),
    "maxItems": (list, _bounded("maxItems", "entry", "entries")),
    "uniqueItems": (list, _unique),
    "minLength": (str, _bounded("minLength", "character", "characters")),
    "maxLength": (str, _bounded("maxLength", "character", "characters")),
    "pattern": (str, _pattern),
    "minimum": (_NUMBER, _compared("minimum", "at least", operator.ge)),
    "maximum": (_NUMBER, _compared("maximum", "at most", operator.le)),
    "exclusiveMinimum": (_NUMBER, _compared("exclusiveMinimum", "more than", operator.gt)),
    "exclusiveMaximum": (_NUMBER, _compared("exclusiveMaximum", "less than", operator.lt)),
    "multipleOf": (_NUMBER, _compared("multipleOf", "a multiple of", _is_multiple)),
    "allOf": (object, _all_of),
    "anyOf": (object, _alternatives("anyOf")),
    "oneOf": (object, _alternatives("oneOf")),
    "not": (object, _not),
    "if": (object, _if),
}
# For a keyword that checks nothing: no value has a type of none.
_NO_CHECK: tuple[Any, Check] = ((), _const)

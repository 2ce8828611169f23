"""The checker says valid and invalid as jsonschema does, for any schema of the subset and any value."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skills.lib.schema import problems, violations
from skills.lib.schema.keywords import TYPES
from skills.lib.schema.patterns import Pattern
from tests.extent import extent

# No line ends: ``$`` of jsonschema, which is that of Python, also holds before a last one.
CHARACTERS = "ab1-_ é"
TEXTS = st.text(CHARACTERS, max_size=5)
NAMES = st.sampled_from(["a", "b", "ab", "b1"])
NUMBERS = st.one_of(st.integers(-5, 5), st.sampled_from([0.0, 1.0, 0.5, -2.5, 4.0, 1e22, 10**30]))
SCALARS = st.one_of(TEXTS, NUMBERS, st.booleans(), st.none())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=10,
)
COUNTS = st.one_of(st.integers(0, 4), st.sampled_from([0.0, 2.0]))
PATTERNS = st.sampled_from(
    ["a", "^a", "b$", "^(a|b1?)*$", "[^a-b]", r"^\S+$", "a{2,3}", "^$", r"^[\w-]{1,2}$", r"^\d?$"]
)


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    named = st.dictionaries(NAMES, inner, max_size=3)
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "type": st.one_of(
            st.sampled_from(TYPES), st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True)
        ),
        "enum": st.lists(VALUES, min_size=1, max_size=4),
        "const": VALUES,
        "properties": named,
        "patternProperties": st.dictionaries(PATTERNS, inner, max_size=2),
        "additionalProperties": inner,
        "propertyNames": inner,
        "required": st.lists(NAMES, max_size=2, unique=True),
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=2),
        "prefixItems": several,
        "items": inner,
        "contains": inner,
        "uniqueItems": st.booleans(),
        "pattern": PATTERNS,
        "multipleOf": st.sampled_from([1, 2, 3, 0.5, 2.0]),
        "allOf": several,
        "anyOf": several,
        "oneOf": several,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "$ref": st.sampled_from(["#/$defs/a", "#/$defs/b1"]),
        "description": TEXTS,
        **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), NUMBERS),
        **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), COUNTS),
        **dict.fromkeys(("minContains", "maxContains"), st.integers(0, 3)),
    }
    one = st.sampled_from(sorted(keywords)).flatmap(lambda name: st.tuples(st.just(name), keywords[name]))
    return st.lists(one, max_size=4).map(dict)


LEAVES = st.one_of(
    st.booleans(),
    st.sampled_from([{"type": kind} for kind in TYPES]),
    st.sampled_from([{"minLength": 2}, {"maximum": 2}, {"const": 1}, {"enum": ["a", True, None]}, {"maxItems": 1}]),
)
SCHEMAS = st.recursive(LEAVES, _schemas, max_leaves=12)


@pytest.mark.req("S-07")
@settings(max_examples=extent(100, 300), deadline=None)
@given(schema=_schemas(SCHEMAS), leaf=SCHEMAS, values=st.lists(VALUES, min_size=3, max_size=6))
def test_any_value_is_judged_as_jsonschema_judges_it(schema: dict[str, Any], leaf: Any, values: list[Any]) -> None:
    # A reference may lead anywhere in $defs, and those to nothing but keywords of their own.
    schema = {**schema, "$defs": {"a": {"type": ["integer", "array"]}, "b1": leaf}}
    if problems(schema):
        assert all("circle" in problem.what for problem in problems(schema))
        return
    oracle = jsonschema.Draft202012Validator(schema)
    for value in values:
        found = violations(schema, value)
        assert (found == []) == oracle.is_valid(value), (schema, value, [str(one) for one in found])


@pytest.mark.req("S-07")
@settings(max_examples=extent(100, 300), deadline=None)
@given(schema=_schemas(SCHEMAS), value=VALUES)
def test_every_violation_names_a_place_that_there_is(schema: dict[str, Any], value: Any) -> None:
    schema = {**schema, "$defs": {"a": {}, "b1": {"type": "string"}}}
    for found in violations(schema, value) if not problems(schema) else ():
        place = value
        for part in found.path:
            place = place[part]
        assert found.what
        assert "\n" not in str(found)


@settings(max_examples=100, deadline=None)
@given(SCHEMAS)
def test_no_schema_of_the_subset_has_problems_but_circles(schema: Any) -> None:
    whole = {"items": schema, "$defs": {"a": {}, "b1": {"type": "string"}}}
    assert problems(whole) == []
    jsonschema.Draft202012Validator.check_schema(whole)


@settings(max_examples=extent(100, 300), deadline=None)
@given(
    st.recursive(
        st.one_of(SCALARS, st.just("#/a")),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(
                st.sampled_from(["type", "items", "$ref", "allOf", "properties", "pattern", "enum", "x"]), inner
            ),
        ),
        max_leaves=8,
    )
)
def test_anything_at_all_is_read_as_a_schema_or_refused(schema: Any) -> None:
    found = problems(schema)
    assert all(problem.what and problem.do for problem in found)
    if not found:
        violations(schema, {"a": [1]})


# Patterns from parts that Python's ``re`` reads in the same way; a text has no line ends and no other alphabets.
ATOMS = st.sampled_from(["a", "b", "1", "-", "_", " ", "é", ".", r"\d", r"\W", r"\w", r"\S", r"\-", r"\x61", r"\u00e9"])
MEMBERS = st.sampled_from(["a", "b", "a-b", "0-9", r"\d", r"\W", "_", r"\-", "é", r"\]"])
CLASSES = st.tuples(st.sampled_from(["", "^"]), st.lists(MEMBERS, min_size=1, max_size=3)).map(
    lambda parts: f"[{parts[0]}{''.join(parts[1])}]"
)
TIMES = st.sampled_from(["*", "+", "?", "{2}", "{1,}", "{0,2}", "{1,3}", "*?", "{0}"])
PARTS = st.recursive(
    st.one_of(ATOMS, CLASSES),
    lambda inner: st.one_of(
        st.lists(st.one_of(inner, st.sampled_from(["^", "$", r"\b", r"\B"])), max_size=4).map("".join),
        st.tuples(inner, inner).map("|".join),
        st.tuples(inner, TIMES).map(lambda parts: f"(?:{parts[0]}){parts[1]}"),
        inner.map(lambda part: f"({part})"),
    ),
    max_leaves=8,
)


@pytest.mark.req("S-07")
@settings(max_examples=extent(130, 400), deadline=None)
@given(PARTS, st.lists(st.text("ab1-_ é]", max_size=7), min_size=5, max_size=9))
def test_a_pattern_matches_what_it_matches_in_python(pattern: str, texts: list[str]) -> None:
    ours, theirs = Pattern(pattern), re.compile(pattern, re.ASCII)
    for text in texts:
        if not text and r"\B" in pattern:
            continue  # before Python 3.14 it is not found in an empty text, for no reason
        assert ours.is_found_in(text) == bool(theirs.search(text)), (pattern, text)


def test_the_schemas_that_are_shipped_are_of_the_subset() -> None:
    found = sorted((Path(__file__).parents[2] / "skills").glob("*/resources/*.schema.json"))
    assert [path.name for path in found] == [
        "plan.schema.json",
        *("evidence.schema.json", "phase-report.schema.json", "profile.schema.json"),
        *("task.schema.json", "verdict.schema.json"),
    ]
    for path in found:
        assert problems(json.loads(path.read_text())) == []

"""What is said of a value that does not meet its schema, and of a schema that cannot be used."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from skills.lib.schema import json_path, problems, violations
from skills.lib.schema.keywords import ANNOTATIONS, IN_PLACE, NAMED, ONE, SEVERAL
from skills.lib.schema.patterns import Pattern

ROOT = Path(__file__).resolve().parents[2]
PLAN = {
    "type": "object",
    "required": ["title", "milestones"],
    "additionalProperties": False,
    "properties": {
        "title": {"type": "string", "minLength": 3, "description": "What comes about."},
        "milestones": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/milestone"}},
    },
    "$defs": {
        "milestone": {
            "type": "object",
            "required": ["id"],
            "properties": {
                "id": {"type": "string", "pattern": "^M-[0-9]{3}$", "description": "M- and three digits."},
                "kind": {"enum": ["code", "documentation"]},
                "weight": {"type": ["integer", "null"], "minimum": 1, "exclusiveMaximum": 1_000_000.5},
                "lint": {"anyOf": [{"type": "array"}, {"type": "null"}]},
            },
        }
    },
}


def said(schema: Any, value: Any) -> list[str]:
    return [str(one) for one in violations(schema, value)]


@pytest.mark.req("S-07")
def test_every_fault_of_a_value_is_reported_with_its_place_and_what_is_valid() -> None:
    value = {
        "titel": "x",
        "milestones": [{"id": "M-001"}, {"id": "M1\n", "kind": "cod", "weight": 1_234_567, "lint": "ruff"}, 3, {}],
    }
    assert said(PLAN, value) == [
        "at $: title is missing (valid: What comes about.)",
        'at $.titel: "titel" is not part of it; did you mean title? (valid: title, milestones)',
        'at $.milestones[1].id: "M1\\n" does not match the pattern ^M-[0-9]{3}$ (valid: M- and three digits.)',
        'at $.milestones[1].kind: "cod" is not one of the values; did you mean code? (valid: "code", "documentation")',
        "at $.milestones[1].weight: 1234567 is not less than 1000000.5",
        'at $.milestones[1].lint: "ruff" is a string, not an array or null',
        "at $.milestones[2]: 3 is an integer, not an object",
        "at $.milestones[3]: id is missing (valid: M- and three digits.)",
    ]


@pytest.mark.parametrize(
    "schema, value, words",
    [
        (False, 1, "at $: no value is allowed here (valid: leave it out)"),
        ({"minLength": 5}, "tea", 'at $: "tea" has 3 characters, and at least 5 are valid'),
        ({"minItems": 2}, [1], "at $: [1] has 1 entry, and at least 2 are valid"),
        ({"maxItems": 1}, [1, 2], "at $: [1, 2] has 2 entries, and at most 1 are valid"),
        (
            {"uniqueItems": True},
            [1, True, 1.0],
            "at $[2]: 1.0 is already entry 0 (valid: entries that differ)",
        ),
        ({"multipleOf": 0.1}, 0.25, "at $: 0.25 is not a multiple of 0.1"),
        ({"const": 1}, True, "at $: true is not the required value (valid: 1)"),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "at $: b is missing, and a requires it"),
        (
            {"propertyNames": {"pattern": "^[a-z]+$"}},
            {"A": 1},
            'at $: the name "A" does not match the pattern ^[a-z]+$',
        ),
        ({"oneOf": [{}, {"type": "string"}]}, "x", 'at $: "x" fits the alternatives 1, 2, and may fit only one'),
        ({"not": {"type": "null"}}, None, "at $: null is excluded here"),
        ({"contains": {"const": 1}}, [2], "at $: 0 of its entries match contains, and at least 1 must"),
        ({"properties": {"a b": {"type": "null"}}}, {"a b": 1}, 'at $["a b"]: 1 is an integer, not null'),
        (
            {"anyOf": [{"minimum": 3}, {"multipleOf": 2}]},
            1,
            "at $: 1 fits none of 2 alternatives: 1 is not at least 3; or 1 is not a multiple of 2",
        ),
        (
            {"anyOf": [{"type": "null"}, {"items": {"type": "string"}}]},
            ["a", 1],
            "at $[1]: 1 is an integer, not a string",
        ),
        (
            {"if": {"type": "string"}, "then": {"minLength": 2}},
            "a",
            'at $: "a" has 1 character, and at least 2 are valid',
        ),
    ],
)
def test_a_fault_is_reported_in_words(schema: Any, value: Any, words: str) -> None:
    assert said(schema, value) == [words]


@pytest.mark.parametrize(
    "pattern", [r"\1", r"\p{L}", r"\A", r"\u12", r"\uD800", "((a{99}){99}){99}", "(" * 99 + ")" * 99]
)
def test_a_pattern_that_is_not_supported_or_too_large_is_a_problem(pattern: str) -> None:
    assert [problem.keyword for problem in problems({"pattern": pattern})] == ["pattern"]


def test_three_times_a_tenth_is_a_multiple_of_a_tenth() -> None:
    assert violations({"multipleOf": 0.1}, 0.3) == []
    assert said({"multipleOf": 0.5}, 10**400 + 1) == []
    assert len(said({"multipleOf": 0.3}, 1e300)) == 1


def test_the_end_of_a_pattern_is_the_end_of_the_text() -> None:
    assert [Pattern("^ok$").is_found_in(text) for text in ("ok", "ok\n", "\nok")] == [True, False, False]
    assert [Pattern(r"^\d$").is_found_in(text) for text in ("3", "\u0663")] == [True, False]


@pytest.mark.parametrize("keyword", ["type", "items", "enum", "pattern", "$ref"])
def test_a_property_may_be_called_as_a_keyword(keyword: str) -> None:
    schema = {"properties": {keyword: {"type": "integer"}}, "required": [keyword]}
    assert violations(schema, {keyword: 1}) == []
    assert len(violations(schema, {keyword: "x"})) == 1


@pytest.mark.parametrize(
    "schema, words",
    [
        ({"type": "text"}, '#/type: type is "text"; type takes one or a list of string, integer, number,'),
        (
            {"minlength": 3},
            "#/minlength: the keyword 'minlength' is not supported; use minLength, the nearest",
        ),
        (
            {"properties": {"a": {"unevaluatedProperties": False}}},
            "#/properties/a/unevaluatedProperties: the keyword 'unevaluatedProperties' is not supported; "
            "use additionalProperties, the nearest that is supported",
        ),
        ({"items": [{}]}, "#/items: [{}] is no schema"),
        ({"$ref": "#/$defs/x"}, '#/$ref: "#/$defs/x" leads nowhere: there is no "$defs" in #'),
        ({"$ref": "https://example.org/x.json"}, '#/$ref: "https://example.org/x.json" is no reference into the same'),
        ({"allOf": [{"$ref": "#"}]}, "#: the same value is sent round in a circle: # -> #/allOf/0 -> #;"),
        ({"pattern": "(?=a)"}, '#/pattern: the pattern "(?=a)" cannot be used: (?= at 0 is not supported'),
        ({"patternProperties": {"(": {}}}, '#/patternProperties/(: the pattern "(" cannot be used: the group at 0'),
        ({"maxLength": -1}, "#/maxLength: maxLength is -1; maxLength takes a whole number of 0 or more"),
        ({"maximum": float("nan")}, "#/maximum: maximum is nan; maximum takes a number"),
        ({"required": "a"}, '#/required: required is "a"; required takes a list of names'),
        ({"not": 3}, "#/not: 3 is no schema"),
        ({"properties": {1: {}}}, "#/properties: the name 1 is no text"),
        ({"$defs": {"a": {"$id": "https://example.org/a"}}}, "#/$defs/a/$id: $id inside of a schema is not supported"),
        ("string", '#: "string" is no schema'),
    ],
)
def test_what_a_schema_has_that_is_not_supported_is_named_with_its_place(schema: Any, words: str) -> None:
    [found] = problems(schema)
    assert str(found).startswith(words)
    with pytest.raises(ValueError, match="; "):
        violations(schema, 1)


@pytest.mark.parametrize(
    "pattern",
    ["(a", "a)", "[a", "[]", "[z-a]", "a**", "*a", "a{2,1}", "a{,3}", "a\\", "(?<n>a)", "(?i)a", "a{6000}"],
)
def test_a_pattern_of_another_dialect_is_a_problem(pattern: str) -> None:
    assert [problem.keyword for problem in problems({"pattern": pattern})] == ["pattern"]


HARD = [
    ({"pattern": "^(a+)+$"}, "a" * 100_000 + "!"),
    ({"pattern": "^(a|a)*b$"}, "a" * 100_000),
    ({"pattern": r"^(\w+\s?)*$"}, "word " * 20_000 + "!"),
    ({"pattern": "(.*a){50}c"}, "a" * 1_000 + "b" * 100_000),
    ({"pattern": "(a|b)*a(a|b){12}c"}, "abbab" * 20_000),
    ({"pattern": "a"}, "b" * 1_000_001),
    ({"items": {"$ref": "#"}, "type": "array"}, None),
    ({"anyOf": [{"items": {"$ref": "#"}}, {"prefixItems": [{"$ref": "#"}]}], "type": "array"}, 60),
    ({"uniqueItems": True}, [*range(200_000), 0]),
    ({"items": {"enum": list(range(5_000))}}, [-1] * 5_000),
]


@pytest.mark.req("S-07")
@pytest.mark.parametrize("schema, value", HARD, ids=lambda part: str(part)[:40])
def test_no_schema_and_no_value_make_the_check_hang_or_break(schema: Any, value: Any) -> None:
    if not isinstance(value, (str, list)):
        depth, value = value or 5_000, 1
        for _ in range(depth):
            value = [value]
    begun = time.process_time()
    assert violations(schema, value)
    assert time.process_time() - begun < 20


def test_a_thousand_faults_are_listed_and_no_more() -> None:
    assert len(violations({"items": {"type": "string"}}, [1] * 5_000)) == 1_000


def test_a_place_is_written_as_a_json_path() -> None:
    assert json_path(("milestones", 0, "id", "a.b", "é", "")) == '$.milestones[0].id["a.b"]["é"][""]'


def test_the_page_on_schemas_names_every_keyword() -> None:
    page = (ROOT / "docs" / "schemas.md").read_text(encoding="utf-8")
    from skills.lib.schema import checking, keywords

    checked = {*checking._CHECKS, *keywords._PLAIN, *ONE, *SEVERAL, *NAMED, *ANNOTATIONS}
    assert checked == {word for word in checked if f"`{word}`" in page}
    assert checked > IN_PLACE


def test_the_checker_needs_the_standard_library_alone() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from skills.lib.schema import violations; "
        "print(len(violations({'type': 'object', 'required': ['a']}, {})), 're' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("1 False\n", "")


@pytest.mark.parametrize("keyword", ["minLength", "minItems", "minProperties"])
def test_a_bound_of_thousands_of_digits_is_a_violation_like_any_other(keyword: str) -> None:
    value: object = {"minLength": "x", "minItems": ["x"], "minProperties": {"x": 1}}[keyword]
    [found] = violations({keyword: 10**5000}, value)
    assert "at least more than can be written out" in found.what


def test_comparing_with_many_big_choices_is_given_up() -> None:
    choices = [{"k": [number] * 500} for number in range(500)]
    found = violations({"items": {"enum": choices}}, [{"k": [-1] * 500}] * 100)
    assert found[-1].what == "checking it takes too much work, and was given up"

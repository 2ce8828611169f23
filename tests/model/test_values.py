"""Each reported value is read as it is declared, or refused with what would be right."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skills.lib import compact_json
from skills.lib.model.texts import number
from skills.lib.model.values import expectation, is_placeholder, is_secret, keepable, read
from skills.lib.workflow.requirements import TYPES, Arg, Artifact, Command, Field, fill
from tests.fixtures.strategies import hostile_texts


@pytest.mark.parametrize(
    "spec, raw, value",
    [
        (Field("x"), "a b", "a b"),
        (Field("x"), " a\n", " a\n"),
        (Field("x", "int"), "7", 7),
        (Field("x", "int"), 7, 7),
        (Field("x", "int"), " -7 ", -7),
        (Field("x", "float"), "1.5", 1.5),
        (Field("x", "float"), 2, 2.0),
        (Field("x", "bool"), "True", True),
        (Field("x", "bool"), False, False),
        (Field("x", "list"), '["a", "b"]', ["a", "b"]),
        (Field("x", "list"), "a", ["a"]),
        (Field("x", "list"), ["a"], ["a"]),
        (Field("x", "list"), "[]", []),
        (Field("x", "json"), '{"b": 1, "a": [null]}', {"b": 1, "a": [None]}),
        (Field("x", "json"), {"a": 1}, {"a": 1}),
        (Field("x", choices=("a", "b")), "b", "b"),
        (Field("x", "list", choices=("a", "b")), '["b","a"]', ["b", "a"]),
        (Field("x", "int", choices=("1", "2")), "2", 2),
        (Field("x", "int", choices=("01", "2")), "01", 1),
        (Field("x", "int", choices=("01", "2")), 1, 1),
        (Field("x", "float", choices=("1", "2.50")), "1", 1.0),
        (Field("x", "float", choices=("1", "2.50")), 2.5, 2.5),
        (Field("x", "bool", choices=("true",)), "true", True),
        (Field("x", "bool", choices=("true",)), True, True),
        (Field("x", "json", choices=("a", "true")), '"a"', "a"),
        (Field("x", "json", choices=("1", "true")), "true", True),
        (Arg("x", minimum=2, maximum=3), "abc", "abc"),
    ],
)
def test_a_value_that_fits(spec: Any, raw: Any, value: Any) -> None:
    found = read(spec, raw)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "spec, raw, words",
    [
        (Field("x"), "", "x is empty; put in a text"),
        (Field("x"), " \n", "x is empty"),
        (Field("x"), 3, "x: 3 is not a text"),
        (Field("x"), None, "x: null is not a text"),
        (Field("x", "int"), "7.5", "x: '7.5' is not a whole number"),
        (Field("x", "int"), 7.0, "x: 7.0 is not a whole number"),
        (Field("x", "int"), True, "x: true is not a whole number"),
        (Field("x", "int"), "9" * 5000, "is not a whole number"),
        (Field("x", "float"), "nan", "x: 'nan' is not a number"),
        (Field("x", "float"), "1e999", "x: '1e999' is not a number"),
        (Field("x", "bool"), "yes", "x: 'yes' is not true or false"),
        (Field("x", "list"), "[1]", "x: the entry 1 is not a text"),
        (Field("x", "list"), "[true]", "x: the entry true is not a text"),
        (Field("x", "list"), '["a", " "]', "x: the entry ' ' is empty; leave it out"),
        (Field("x", "list"), "", "x: the entry '' is empty; give [] for none"),
        (Field("x", "list", minimum=0), [""], "x: the entry '' is empty; give [] for none"),
        (
            Field("x", "list", minimum=1),
            "",
            "x: the entry '' is empty; put in a JSON array of texts with 1 or more entries",
        ),
        (Field("x", "list"), "[", "x is not JSON"),
        (
            Field("x", "list", maximum=3),
            "['a', 'b']",
            'put in a JSON array of texts with at most 3 entries, such as \'["one", "two"]\', or use --record-file',
        ),
        (Field("x", "list"), {"a": 1}, 'x: {"a": 1} is not a JSON array of texts'),
        (Field("x", "list"), ["FILL_x"], "x still stands as FILL_x; put in a JSON array of texts"),
        (Field("x", "json"), "{", "x is not JSON"),
        (Field("x", choices=("a", "b")), "c", "x: 'c' is not one of a, b"),
        (Field("x", "list", choices=("a", "b")), '["a","c"]', "x: 'c' is not one of a, b"),
        (Field("x", "bool", choices=("true",)), "false", "x: false is not one of true"),
        (Field("x", "float", choices=("1",)), "1.5", "x: 1.5 is not one of 1"),
        (Field("x", "int", choices=("01",)), "2", "x: 2 is not one of 01"),
        (Field("x", "json", choices=("1",)), "true", "x: true is not one of 1"),
        (Field("x", minimum=3), "ab", "x: 2 characters is out of range; put in a text of 3 or more characters"),
        (Field("x", maximum=3), "abcd", "x: 4 characters is out of range; put in a text of at most 3 characters"),
        (
            Field("x", "list", maximum=1),
            '["a","b"]',
            "2 entries is out of range; put in a JSON array of texts with at most 1 entries",
        ),
        (Field("x", maximum=1_234_567), ["x"], "is not a text of at most 1234567 characters"),
        (
            Field("x", "int", maximum=1_234_567),
            "1234568",
            "x: 1234568 is out of range; put in a whole number",
        ),
        (
            Field("x", "float", minimum=0.1234567),
            "0.1234566",
            "0.1234566 is out of range; put in a number of 0.1234567",
        ),
        (Field("x", "int", minimum=1, maximum=5), "9", "x: 9 is out of range; put in a whole number from 1 to 5"),
        (Field("x"), "FILL_x", "x still stands as FILL_x; put in a text"),
        (Field("x"), "'FILL_x'", "x still stands as"),
        (Field("x", choices=("a",)), "FILL_x", "x still stands as FILL_x; put in one of a"),
        (Field("x"), "y" * 100_001, "x has 100,001 characters, at most 100,000 are kept"),
        (Field("x", "items"), "[]", "give a JSON array of at least one item"),
    ],
)
def test_a_value_that_does_not_fit_says_what_would(spec: Any, raw: Any, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)) as told:
        read(spec, raw)
    assert len(str(told.value)) < 400


@settings(max_examples=200, deadline=None)
@given(
    kind=st.sampled_from(TYPES), raw=hostile_texts() | st.none() | st.integers() | st.lists(st.integers(), max_size=2)
)
def test_whatever_is_reported_is_read_or_refused(kind: str, raw: Any) -> None:
    try:
        value = read(Field("x", kind), raw)
    except ValueError:
        return
    assert compact_json.loads(compact_json.ordered(value)) == value


@pytest.mark.parametrize("text", ["FILL_name", " FILL_name", "FILL_anything_else", '"FILL_name"'])
def test_placeholders_are_known(text: str) -> None:
    assert is_placeholder(text, "name")


@pytest.mark.parametrize("text", ["fill_name", "it said FILL_other here", "FILL", "", "FILL_ in the form"])
def test_what_only_speaks_of_placeholders_is_none(text: str) -> None:
    assert not is_placeholder(text, "name")


def test_secrets_go_by_their_names() -> None:
    assert [
        name for name in ("API_KEY", "db_password", "tokens", "keyboard", "author", "secretary") if is_secret(name)
    ] == [
        "API_KEY",
        "db_password",
        "tokens",
        "secretary",
    ]
    assert keepable({"token": "x", "a": 1}) == {"token": "(not kept: named like a secret)", "a": 1}


def test_expectations_in_words() -> None:
    assert expectation(Field("x", "float", minimum=0.5)) == "a number of 0.5 or more"
    assert expectation(Field("x", "list", minimum=1, maximum=3)) == "a JSON array of texts with 1 to 3 entries"
    assert expectation(Field("x", "json")) == "a JSON value"


def test_templates_take_values_that_are_never_read_for_names() -> None:
    assert fill("{a}/{b}.txt", {"a": "{b}", "b": "x"}) == "{b}/x.txt"
    assert fill("{missing} {a", {"a": "x"}) == "{missing} {a"
    assert fill("{n} {l}", {"n": 3, "l": ["x"]}) == '3 ["x"]'


@pytest.mark.parametrize("name", ["", "1a", "a b", "a-b", "ä"])
def test_a_requirement_refuses_a_name_that_is_none(name: str) -> None:
    for kind in (Arg, Field):
        with pytest.raises(ValueError, match="is not a name"):
            kind(name)


def test_requirements_refuse_nonsense() -> None:
    with pytest.raises(ValueError, match="'texts' is not a type: use one of text, int, float, bool, list, json, items"):
        Field("x", "texts")
    with pytest.raises(ValueError, match="argv is a list of arguments, not 'make test'"):
        Command("make test")
    with pytest.raises(ValueError, match="argv is a list"):
        Command([])
    assert Artifact("x").schema is None
    assert Arg("max_depth").flag == "--max-depth"
    assert (Arg("x").required, Arg("x", default="1").required, Arg("x", default="1", required=True).required) == (
        True,
        False,
        True,
    )


@pytest.mark.parametrize(
    "value, text",
    [
        (1_234_567, "1234567"),
        (1_234_567.0, "1234567"),
        (10**17 + 1, "100000000000000001"),
        (0.1, "0.1"),
        (1234567.25, "1234567.25"),
        (1e22, "1e+22"),
        (-3.0, "-3"),
        (0.0, "0"),
    ],
)
def test_a_bound_is_printed_exactly(value: float, text: str) -> None:
    assert number(value) == text


@given(st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False)))
def test_no_digit_of_a_bound_is_lost(value: float) -> None:
    assert type(value)(number(value)) == value

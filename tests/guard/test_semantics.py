"""The table of semantics, row by row: what an expression is of a picture that is only partly known."""

from __future__ import annotations

import pytest

from skills.lib.guard.decisions import Deny
from skills.lib.guard.guard import Guard
from skills.lib.guard.values import OpenList
from tests.guard.guarded import asked, of_data, value

pytestmark = pytest.mark.req("G-01")

AND = {
    ("true", "true"): "TRUE",
    ("true", "x"): "UNKNOWN",
    ("true", "false"): "FALSE",
    ("x", "x"): "UNKNOWN",
    ("x", "false"): "FALSE",
    ("false", "false"): "FALSE",
}
OR = {
    ("true", "true"): "TRUE",
    ("true", "x"): "TRUE",
    ("true", "false"): "TRUE",
    ("x", "x"): "UNKNOWN",
    ("x", "false"): "UNKNOWN",
    ("false", "false"): "FALSE",
}


@pytest.mark.parametrize("operator, table", [("and", AND), ("or", OR)])
def test_and_and_or_are_those_of_kleene(operator: str, table: dict[tuple[str, str], str]) -> None:
    for (left, right), expected in table.items():
        assert value(f"{left} {operator} {right}") == expected
        assert value(f"{right} {operator} {left}") == expected


def test_not() -> None:
    assert [value(f"not {one}") for one in ("true", "x", "false")] == ["FALSE", "UNKNOWN", "TRUE"]


def test_a_place_that_occurs_twice_is_not_reasoned_about() -> None:
    assert value("a or not a") == "UNKNOWN"


def test_if_of_an_unknown_condition() -> None:
    assert value("(1 if x else 1) == 1") == "TRUE"
    assert value("(1 if x else 2) == 1") == "UNKNOWN"
    assert value("(a if x else b) == 1", {"a": "1", "b": "1"}) == "TRUE"
    assert value("(a if x else b) == 1", {"a": "1"}) == "UNKNOWN"


def test_if_takes_the_branch_that_its_condition_says() -> None:
    assert value("a == 1 if known(a) else b == 2", {"a": "1"}) == "TRUE"
    assert value("a == 1 if known(a) else b == 2", {"b": "2"}) == "TRUE"
    assert value("a == 1 if known(a) else b == 2", {"a": "2", "b": "2"}) == "FALSE"


@pytest.mark.parametrize(
    "need, expected",
    [
        ("1 in [1, x]", "TRUE"),
        ("2 in [1, x]", "UNKNOWN"),
        ("2 in [1, 3]", "FALSE"),
        ("x in []", "FALSE"),
        ("x in [1]", "UNKNOWN"),
        ("1 not in [1, x]", "FALSE"),
        ("2 not in [1, x]", "UNKNOWN"),
        ("2 not in [1]", "TRUE"),
        ("x not in []", "TRUE"),
        ("1 in x", "UNKNOWN"),
    ],
)
def test_members_of_a_list(need: str, expected: str) -> None:
    assert value(need) == expected


def test_a_chain_with_one_false_part_is_false() -> None:
    assert value("1 < 2 < 3") == "TRUE"
    assert value("x < 2 < 1") == "FALSE"
    assert value("3 < 2 < x") == "FALSE"
    assert value("1 < 2 < x") == "UNKNOWN"
    assert value("0 < x < 5", {"x": "3"}) == "TRUE"


@pytest.mark.parametrize("need", ["1", "'yes'", "null", "[]", "a + 1"])
def test_a_need_that_is_no_boolean_is_false(need: str) -> None:
    explained = asked(need, {"a": "1"})
    assert explained.value == "FALSE"
    assert "is not a yes or no" in explained.reason or "not a yes or no" in explained.reason


@pytest.mark.parametrize(
    "left, right, expected",
    [
        ("1", "true", "FALSE"),
        ("1", '"1"', "FALSE"),
        ("true", '"1"', "FALSE"),
        ('"true"', "true", "FALSE"),
        ("0", "false", "FALSE"),
        ("1", "1.0", "TRUE"),
        ("[1, [1]]", "[1.0, [1]]", "TRUE"),
        ("[1]", "[true]", "FALSE"),
        ("0.1 + 0.2", "0.3", "FALSE"),
        ('"a"', '"a"', "TRUE"),
        ("[1, x]", "[1, 2]", "UNKNOWN"),
        ("[1, x]", "[3, 2]", "FALSE"),
        ("[1]", "[1, x]", "FALSE"),
    ],
)
def test_equality(left: str, right: str, expected: str) -> None:
    opposite = {"TRUE": "FALSE", "FALSE": "TRUE", "UNKNOWN": "UNKNOWN"}
    assert value(f"{left} == {right}") == value(f"{right} == {left}") == expected
    assert value(f"{left} != {right}") == opposite[expected]


def test_null_is_known_and_equals_null_alone() -> None:
    assert value("known(a)", {"a": "null"}) == "TRUE"
    assert value("a == null", {"a": "null"}) == "TRUE"
    assert value("a == none", {"a": "null"}) == "TRUE"
    assert value("a == 0", {"a": "null"}) == "FALSE"
    assert value("a == false", {"a": "null"}) == "FALSE"
    assert value("a == ''", {"a": "null"}) == "FALSE"


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">="])
@pytest.mark.parametrize("other", ["1", "null", "x", "'a'"])
def test_an_order_with_null_is_false_with_the_reason(operator: str, other: str) -> None:
    explained = asked(f"a {operator} {other}", {"a": "null"})
    assert explained.value == "FALSE"
    assert "null is neither more nor less than anything" in explained.reason


def test_sum_and_len_of_an_open_map_are_unknown() -> None:
    facts = {"m.a": "1", "m.b": "2"}
    assert value("sum(m) == 3", facts) == "UNKNOWN"
    assert value("len(m) >= 1", facts) == "UNKNOWN"
    assert value("sum(v for v in m) == 3", facts) == "UNKNOWN"


def test_all_and_any_decide_early() -> None:
    facts = {"m.a": "1", "m.b": "2"}
    assert value("all(v < 2 for v in m)", facts) == "FALSE"
    assert value("all(v < 3 for v in m)", facts) == "UNKNOWN"
    assert value("any(v == 2 for v in m)", facts) == "TRUE"
    assert value("any(v == 3 for v in m)", facts) == "UNKNOWN"


def test_over_a_complete_map_all_is_told() -> None:
    policy = of_data(
        tools={
            "list": {"shows": {"m": "result"}},
            "call": {"needs": ["all(v < 3 for v in m)", "len(m) == 2", "sum(m) == 3", "any(key == 'a' for v in m)"]},
        }
    )
    guard = Guard([policy])
    guard.learn("list", {}, True, {"a": 1, "b": 2})
    assert [one.value for one in guard.explain("call", {})] == ["TRUE"] * 4


@pytest.mark.parametrize(
    "need",
    [
        "1 < 'a'",
        "not 1 < 'a'",
        "1 / 0 == 1",
        "not 1 / 0 == 1",
        "date('not a date') == date('2024-01-01')",
        "date(a) == date(a)",
        "'a' + 1 == 2",
        "true and 'yes'",
        "1 in 5",
        "number('twelve') == 12",
        "len(5) == 1",
        "sum(['a', 'b']) == 1",
        "abs('a') == 1",
        "a[null] == 1",
    ],
)
def test_a_fault_of_known_values_is_false_with_a_reason_and_never_a_look(need: str) -> None:
    guard = Guard([of_data(tools={"call": {"needs": [need]}, "set": {"changes": {"a": "5"}}})])
    guard.learn("set", {}, True, None)
    decision = guard.decide("call", {})
    assert isinstance(decision, Deny)
    assert decision.reason.startswith(f"{need} is FALSE: ")


def test_a_fault_beside_what_decides() -> None:
    assert value("1 < 'a' or true") == "TRUE"
    assert value("1 < 'a' or x") == "UNKNOWN"
    assert value("1 < 'a' and x") == "FALSE"
    assert value("1 < 'a' or false") == "FALSE"


def test_a_present_but_open_place_exists() -> None:
    assert value("exists(m)", {"m": "present(true)"}) == "TRUE"
    assert value("exists(m)", {"m": "present(false)"}) == "FALSE"
    assert value("exists(m)", {"m": "present(x)"}) == "UNKNOWN"
    assert value("exists(m.a)", {"m": "present(true)"}) == "UNKNOWN"


def test_what_is_known_inside_a_place_proves_the_place() -> None:
    assert value("exists(accounts.bob)", {"accounts.bob.balance": "5"}) == "TRUE"
    assert value("exists(accounts.bob)", {"accounts.bob.balance": "absent"}) == "UNKNOWN"
    assert value("accounts.bob.balance == 5", {"accounts.bob.balance": "absent"}) == "FALSE"


def test_forget_opens_a_complete_map_for_that_key_alone() -> None:
    tools = {
        "list": {"shows": {"m": "result"}},
        "stale": {"changes": {"m.a": "forget"}},
        "call": {"needs": ["exists(m.a)", "exists(m.b)", "exists(m.c)", "len(m) == 2", "m.b == 2"]},
    }
    guard = Guard([of_data(tools=tools)])
    guard.learn("list", {}, True, {"a": 1, "b": 2})
    assert [one.value for one in guard.explain("call", {})] == ["TRUE", "TRUE", "FALSE", "TRUE", "TRUE"]
    guard.learn("stale", {}, True, None)
    assert [one.value for one in guard.explain("call", {})] == ["UNKNOWN", "TRUE", "FALSE", "UNKNOWN", "TRUE"]


def test_an_argument_that_the_call_lacks_is_unknown() -> None:
    assert value("$user == 'bob'") == "UNKNOWN"
    assert value("$user == 'bob'", arguments={"user": "bob"}) == "TRUE"
    assert asked("$user == 'bob'").missing == ("$user",)


def test_what_is_known_not_to_be_there() -> None:
    facts = {"a": "absent"}
    assert value("exists(a)", facts) == "FALSE"
    assert value("known(a)", facts) == "TRUE"
    assert value("a == null", facts) == "FALSE"
    assert value("a != 1", facts) == "TRUE"
    assert value("a < 1", facts) == "FALSE"
    assert value("1 in a", facts) == "FALSE"
    assert value("all(v > 1 for v in a)", facts) == "TRUE"
    assert value("any(v > 1 for v in a)", facts) == "FALSE"
    assert "is FALSE: it is not there" in asked("a", facts).reason


@pytest.mark.parametrize(
    "need", ["m", "m < 5", "m + 1 == 2", "m == 5", "'a' in m", "m in 'abc'", "len(m) == 1", "exists(m)"]
)
def test_a_place_of_which_only_an_absent_key_is_known_may_be_anything(need: str) -> None:
    assert value(need, {"m.k": "absent"}) == "UNKNOWN"
    assert value("m.k == 1", {"m.k": "absent"}) == "FALSE"


@pytest.mark.parametrize("need", ["m", "m < 5", "m + 1 == 2", "m == 5"])
def test_a_place_of_which_a_key_is_there_is_a_map(need: str) -> None:
    assert value(need, {"m.k": "1"}) == "FALSE"


def test_two_maps_that_both_lack_a_key_may_be_equal() -> None:
    assert value("a == b", {"a.x": "absent", "b.y": "absent"}) == "UNKNOWN"
    assert value("a == b", {"a.x": "absent", "b.x": "1"}) == "FALSE"
    assert value("a == b", {"a.x": "1", "b.y": "absent"}) == "UNKNOWN"


def test_membership_in_what_may_be_a_list_a_map_or_a_text() -> None:
    assert value("1.5 in m", {"m": "present(true)"}) == "UNKNOWN"
    assert value("'k' in m", {"m.k": "absent"}) == "UNKNOWN"
    assert value("'k' in m", {"m.k": "absent", "m.j": "1"}) == "FALSE"
    assert value("1.5 in m", {"m.j": "1"}) == "FALSE"
    assert value("'i' in m", {"m.j": "1"}) == "UNKNOWN"


@pytest.mark.parametrize("need", ["[1] < x", "x >= {}", "'a' * x > 1", "x - [1] == 2", "x / 0 == 1"])
def test_what_is_a_fault_of_any_value_is_one_of_a_value_that_is_not_known(need: str) -> None:
    need = need.replace("{}", "$map")
    assert value(need, arguments={"map": {}}) == "FALSE"
    assert value(f"not ({need})", arguments={"map": {}}) == "FALSE"


@pytest.mark.parametrize(
    "need, expected",
    [
        ("a != gone", "TRUE"),  # whatever a is
        ("a * 2 != gone", "UNKNOWN"),  # a fault if a is a text
        ("a * 2 not in []", "UNKNOWN"),
        ("1 < 2 != a * 2 != gone", "UNKNOWN"),
        ("a * 2 == gone", "FALSE"),
        ("not (a * 2 == gone)", "UNKNOWN"),
        ("a[b] != gone", "UNKNOWN"),
        ("known(a) != gone", "TRUE"),
    ],
)
def test_a_value_that_may_turn_out_to_be_a_fault_makes_no_comparison_true(need: str, expected: str) -> None:
    assert value(need, {"gone": "absent"}) == expected


@pytest.mark.parametrize(
    "name", ["größe", "gro\u0308ße", "e\u0301", "\uff29\uff24", "\ufb01eld", "名前", "ª", "a·b", "__odd_x", "__root__"]
)
def test_a_name_is_the_one_that_is_written(name: str) -> None:
    given = {"map": {name: 1, "a": {name: {"in": 2}}}, name: 3}
    for need in (f"$map.{name} == 1", f"$map.a.{name}.in == 2", f"${name} == 3", f"all({name} > 0 for {name} in [1])"):
        assert value(need, arguments=given) == "TRUE", need
    assert value(f"{name}.x == 1 and .{name}.x == 1", {f".['{name}'].x": "1"}) == "TRUE"


@pytest.mark.parametrize("need", ["$amount <= 500", "not $amount > 500", "500 >= $amount", "0 < $amount < 500"])
def test_an_order_with_a_number_that_is_none_is_false_with_the_reason(need: str) -> None:
    explained = asked(need, arguments={"amount": float("nan")})
    assert explained.value == "FALSE"
    assert explained.reason.endswith("a number that is none (NaN) is neither more nor less than anything")


@pytest.mark.parametrize("key", [None, [1], {"a": 1}, True, 1.5])
def test_what_can_be_no_key_is_a_fault_also_of_a_place_that_is_not_known(key: object) -> None:
    explained = asked("accounts[$user].open", arguments={"user": key})
    assert explained.value == "FALSE"
    assert "a key that is" in explained.reason


@pytest.mark.parametrize(
    "need, facts",
    [
        ("len(v for v in m) == 1", {"m": "$map", "m.k": "forget", "m.k.j": "absent"}),
        ("sum(1 for v in set([x, 1])) == 2", {}),
        ("set([x, 1]) == [1]", {}),
        ("set(keys(m)) <= set(['k'])", {"m.k": "1"}),
        ("set([x, 1]) == set([1])", {}),
        ("$words[0] == 'push'", {}),
        ("any(key == 0 for v in $words)", {}),
        ("shares($words, 1)", {}),
        ("m in $map", {"m.j": "absent"}),
        ("all(v.k != 1 for v in [m])", {"m.k": "absent"}),
        ("not exists(n)", {"n": "absent", "m.k": "absent", "n.k": "m"}),
    ],
)
def test_what_depends_on_what_is_not_known_is_not_known(need: str, facts: dict[str, str]) -> None:
    arguments = {"map": {"k": 1}, "words": OpenList(["push"] if "shares" not in need else [])}
    assert value(need, facts, arguments) == "UNKNOWN"


@pytest.mark.parametrize(
    "need, expected",
    [
        ("1 in [1, x + 1]", "TRUE"),
        ("len([1, x + 1]) == 2", "UNKNOWN"),
        ("gone not in [1, x + 1]", "UNKNOWN"),
        ("gone != [1, x + 1]", "UNKNOWN"),
        ("gone != [v for v in x]", "UNKNOWN"),
        ("gone != keys(x)", "UNKNOWN"),
        ("all(true for v in [1] if x)", "UNKNOWN"),
        ("not any(false for v in [1] if x)", "UNKNOWN"),
        ("all(true for v in [1] if x == 1)", "TRUE"),
        ("all(true for v in [1] if shares(set(x), []))", "UNKNOWN"),
        ("gone[x] != 1", "UNKNOWN"),
        ("gone[$list] != 1", "FALSE"),
        ("(gone if 1 else x) != 1", "UNKNOWN"),
        ("any([true, 1 < 'a'])", "TRUE"),
        ("all([true, 1 < 'a'])", "FALSE"),
    ],
)
def test_what_may_turn_out_to_have_no_value_makes_nothing_true(need: str, expected: str) -> None:
    assert value(need, {"gone": "absent"}, {"list": [1]}) == expected


def test_a_member_taken_out_of_a_list_moves_those_after_it() -> None:
    for gone in ("absent", "forget"):
        facts = {"m": "[1, 2]", "m[0]": gone}
        assert value("m[1] == 2", facts) == "UNKNOWN"
        assert value("len(m) == 2", facts) == "UNKNOWN"
    assert value("m == [1, 2]", {"m": "[1, 2]", "m[0]": "1"}) == "TRUE"


def test_what_is_put_behind_the_end_of_a_list_makes_it_another_one() -> None:
    facts = {"m": "[1]", "m[$n]": "2"}
    assert value("m == [1]", facts, {"n": 3}) == "FALSE"
    assert value("m[$n] == 2", facts, {"n": 3}) == "TRUE"

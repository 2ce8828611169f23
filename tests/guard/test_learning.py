"""What the results of calls show and change, and what is kept of it."""

from __future__ import annotations

import json
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest

from skills.lib.errors import EnvironmentProblem
from skills.lib.guard.decisions import Allow, Deny, Look
from skills.lib.guard.guard import Guard
from tests.guard.guarded import of_data

pytestmark = pytest.mark.req("G-01")


def guard_of(*needs: str, start: Any = None, mode: str = "deny", **tools: Any) -> Guard:
    """A guard of one policy whose tool ``call`` has these needs."""
    return Guard([of_data(mode=mode, start=start or {}, tools={"call": {"needs": list(needs)}, **tools})])


def values(guard: Guard, **arguments: Any) -> list[str]:
    return [one.value for one in guard.explain("call", arguments)]


def test_what_is_known_at_the_start() -> None:
    guard = guard_of("a == 1", "b.c == 'x'", "not exists(d)", start={"a": 1, "b": {"c": "x"}, "d": "absent"})
    assert values(guard) == ["TRUE", "TRUE", "TRUE"]
    start = {"b.c": "'x'", "d": "x", "e": "2024-10-12", "f": "b.c", "g": "it is so", "h": "true", "i": "1 + 1"}
    needs = ["b.c == 'x'", "d == 'x'", "date(e) == date('2024-10-12')", "f == 'x'", "g == 'it is so'", "h", "i == 2"]
    assert values(guard_of(*needs, start=start)) == ["TRUE"] * 7


@pytest.mark.parametrize(
    "result, expected",
    [
        ('{"a": 1}', "TRUE"),
        ({"a": 1}, "TRUE"),
        ('{"a": 2}', "FALSE"),
        ('{"a": "1"}', "FALSE"),
        ("{'a': 1}", "UNKNOWN"),
        ('{"a": 1, "a": 2}', "UNKNOWN"),
        ("no such record", "UNKNOWN"),
        (None, "UNKNOWN"),
        ("[1]", "FALSE"),
    ],
)
def test_a_result_is_read_as_json(result: Any, expected: str) -> None:
    guard = guard_of("a == 1", show={"shows": {"a": "result.a"}})
    guard.learn("show", {}, True, result)
    assert values(guard) == [expected]


@pytest.mark.parametrize(
    "result, expected", [("True", "TRUE"), ("False", "FALSE"), (" true ", "TRUE"), ("yes", "FALSE")]
)
def test_true_and_false_alone_are_booleans(result: str, expected: str) -> None:
    guard = guard_of("a == true", show={"shows": {"a": "result"}})
    guard.learn("show", {}, True, result)
    assert values(guard) == [expected]


def test_a_tool_whose_name_begins_like_the_shell_is_a_tool_like_others() -> None:
    guard = guard_of("order.total == 5", shell_order={"shows": {"order": "result"}})
    guard.learn("shell_order", {}, True, '{"total": 5}')
    assert values(guard) == ["TRUE"]


class State(StrEnum):
    CLOSED = "closed"


@pytest.mark.parametrize(
    "result, expected",
    [
        ({1: {"state": "open"}}, ["TRUE", "FALSE", "TRUE"]),
        ({1: {"state": State.CLOSED}}, ["TRUE", "FALSE", "FALSE"]),
        ({"1": {"state": Decimal(1)}}, ["TRUE", "FALSE", "UNKNOWN"]),
        ({1: {"state": "open"}, "1": {}}, ["UNKNOWN", "UNKNOWN", "UNKNOWN"]),
        ({(1, 2): 3}, ["UNKNOWN", "UNKNOWN", "UNKNOWN"]),
        (({"state": "open"}, {"state": "closed"}), ["TRUE", "FALSE", "FALSE"]),
        ({1, 2}, ["UNKNOWN", "UNKNOWN", "UNKNOWN"]),
        (object(), ["UNKNOWN", "UNKNOWN", "UNKNOWN"]),
    ],
    ids="numbers enum decimal twice key tuple set object".split(),
)
def test_a_result_in_python_is_what_json_has_of_it(result: Any, expected: list[str]) -> None:
    needs = ["exists(orders[$id])", "not exists(orders[$id])", "orders[$id].state != 'closed'"]
    guard = Guard([of_data(tools={"call": {"needs": needs}, "list": {"shows": {"orders": "result"}}})])
    guard.learn("list", {}, True, result)
    assert [one.value for one in guard.explain("call", {"id": 1})] == expected
    assert json.loads(json.dumps(guard.facts())) == guard.facts()


def test_a_result_that_holds_itself_is_not_known_there() -> None:
    result: dict[str, Any] = {"a": 1}
    result["again"] = result
    guard = guard_of("x.a == 1", "x.again.a == 1", show={"shows": {"x": "result"}})
    guard.learn("show", {}, True, result)
    assert values(guard) == ["TRUE", "UNKNOWN"]


def test_an_argument_in_python_is_what_json_has_of_it() -> None:
    guard = Guard([of_data(tools={"call": {"needs": ["$state != 'closed'", "$ids == [1, 2]", "$amount < 5"]}})])
    given = {"state": State.CLOSED, "ids": (1, 2), "amount": Decimal(1)}
    assert [one.value for one in guard.explain("call", given)] == ["FALSE", "TRUE", "UNKNOWN"]


def test_a_failed_call_changes_only_what_on_false_says() -> None:
    tool = {"shows": {"a": "result"}, "changes": {"b": "1"}, "implies": {"c": "1"}, "on_false": {"d": "1"}}
    guard = guard_of("a == 5", "b == 1", "c == 1", "d == 1", tool=tool)
    guard.learn("tool", {}, False, 5)
    assert values(guard) == ["UNKNOWN", "UNKNOWN", "UNKNOWN", "TRUE"]
    guard.learn("tool", {}, True, 5)
    assert values(guard) == ["TRUE", "TRUE", "TRUE", "TRUE"]


def test_a_shell_command_that_did_not_end_with_0_changed_only_what_its_result_says() -> None:
    tool: Any = {"changes": {"passed": "result.exit == 0", "at": "$tree"}, "on_false": {"failed": "true"}}
    needs = ["passed", "at == 't'", "failed", "calls('shell(x)') == 1"]
    for code, expected in {
        0: ["TRUE", "TRUE", "UNKNOWN", "TRUE"],
        1: ["FALSE", "UNKNOWN", "TRUE", "FALSE"],
        None: ["UNKNOWN", "UNKNOWN", "UNKNOWN", "TRUE"],
    }.items():
        guard = guard_of(*needs, **{"shell(x)": tool})
        guard.learn("shell(x)", {"tree": "t"}, True, {"exit": code, "output": ""})
        assert values(guard) == expected, code


def test_values_are_computed_from_what_was_known_before_the_call() -> None:
    guard = guard_of("a == 2", "b == 1", start={"a": 1}, tool={"changes": {"a": "a + 1", "b": "a"}})
    guard.learn("tool", {}, True, None)
    assert values(guard) == ["TRUE", "TRUE"]


def test_a_change_of_an_unknown_key_makes_the_map_unknown() -> None:
    tools: dict[str, Any] = {"list": {"shows": {"m": "result"}}, "drop": {"changes": {"m[$key]": "absent"}}}
    guard = guard_of("m.a == 1", "m.b == 2", **tools)
    guard.learn("list", {}, True, {"a": 1, "b": 2})
    guard.learn("drop", {"key": "a"}, True, None)
    assert values(guard) == ["FALSE", "TRUE"]
    guard.learn("drop", {}, True, None)
    assert values(guard) == ["UNKNOWN", "UNKNOWN"]


def test_present_leaves_what_is_known_inside() -> None:
    tools: dict[str, Any] = {"list": {"shows": {"m": "result"}}, "login": {"changes": {"m": "present(true)"}}}
    guard = guard_of("m.a == 1", **tools)
    guard.learn("list", {}, True, {"a": 1})
    guard.learn("login", {}, True, None)
    assert values(guard) == ["TRUE"]


def test_a_listing_of_everything_leaves_what_other_tools_tell() -> None:
    tools: dict[str, Any] = {
        "list": {"shows": {".": "result"}},
        "login": {"changes": {"session.user": "$user"}},
    }
    guard = guard_of("session.user == 'bob'", "exists(orders.o1)", "exists(orders.o2)", "exists(refunds)", **tools)
    guard.learn("login", {"user": "bob"}, True, None)
    guard.learn("list", {}, True, {"orders": {"o1": {}}})
    assert values(guard) == ["TRUE", "TRUE", "FALSE", "FALSE"]
    guard = guard_of("session.user == 'bob'", "exists(refunds)", **tools)
    guard.learn("list", {}, True, {"orders": {"o1": {}}})
    assert values(guard) == ["UNKNOWN", "FALSE"]


def test_only_what_a_rule_reads_is_kept() -> None:
    tools: dict[str, Any] = {"get": {"shows": {"accounts[$user]": "result"}}, "other": {"shows": {"log": "result"}}}
    guard = guard_of("accounts[$user].balance > 5", "exists(accounts[$user].card)", **tools)
    card = {"number": "4111", "code": "123"}
    changes = guard.learn("get", {"user": "bob"}, True, {"balance": 9, "address": "x" * 1000, "card": card})
    assert [(change["at"], change["is"]) for change in changes] == [
        (["accounts", "bob"], [{"balance": 9, "card": {}}]),
    ]
    assert guard.learn("other", {}, True, "x" * 1000) == []
    assert values(guard, user="bob") == ["TRUE", "TRUE"]


def test_the_changes_make_another_guard_know_the_same() -> None:
    tools: dict[str, Any] = {
        "list": {"shows": {"m": "result"}},
        "stale": {"changes": {"m.a": "forget"}},
        "out": {"changes": {"session.user": "absent"}},
    }
    needs = ["m.a == 1", "m.b == 2", "exists(m.c)", "exists(session)", "exists(session.user)", "calls('call') < 1"]
    policy = of_data(tools={"call": {"needs": needs}, **tools})
    first = Guard([policy])
    facts = first.learn("list", {}, True, {"a": 1, "b": 2})
    facts += first.learn("stale", {}, True, None)
    facts += first.learn("out", {}, True, None)
    expected = ["UNKNOWN", "TRUE", "FALSE", "UNKNOWN", "FALSE", "TRUE"]
    for known in (facts, first.facts()):
        second = Guard([policy], json.loads(json.dumps(known)))
        assert [one.value for one in second.explain("call", {})] == expected
        assert second.facts() == first.facts()


def test_facts_of_another_policy_are_left_alone() -> None:
    known = guard_of("a == 1", tool={"changes": {"a": 1}}).learn("tool", {}, True, None)
    changed = Guard([of_data(tools={"call": {"needs": ["a == 1 "]}, "tool": {"changes": {"a": 1, "b": 1}}})], known)
    assert values(changed) == ["UNKNOWN"]


@pytest.mark.parametrize(
    "change",
    [{}, {"tool": 5}, {"policy": "P", "at": ["a"]}, {"policy": "P", "at": 5, "is": [1], "keep": []}, [], None]
    + [{"policy": "P", "at": ["a"], "is": is_, "keep": []} for is_ in ({}, {"?": "odd"}, [1, 2], "x", None)],
)
def test_facts_that_no_guard_wrote_are_an_error(change: Any) -> None:
    policy = of_data(tools={"call": {"needs": ["a == 1"]}})
    if isinstance(change, dict) and change.get("policy") == "P":
        change = {**change, "policy": policy.id}
    with pytest.raises(EnvironmentProblem, match="a fact of the guard cannot be read"):
        Guard([policy], [change])


def test_a_call_with_the_same_id_is_counted_once() -> None:
    guard = guard_of("calls('call') < 2")
    for _ in range(3):
        assert isinstance(guard.decide("call", {}, call="c1"), Allow)
    assert isinstance(guard.decide("call", {}, call="c2"), Allow)
    assert isinstance(guard.decide("call", {}, call="c3"), Deny)
    guard.learn("call", {}, False, "no", call="c2")
    assert isinstance(guard.decide("call", {}, call="c3"), Allow)


def test_a_call_that_nobody_asked_about_is_counted_when_it_succeeded() -> None:
    guard = guard_of("calls('call') < 1")
    guard.learn("call", {}, False, "no")
    assert values(guard) == ["TRUE"]
    guard.learn("call", {}, True, "yes")
    assert values(guard) == ["FALSE"]


def test_modes() -> None:
    known: dict[str, Any] = {"start": {"a": 1}}
    assert isinstance(guard_of("a == 2", **known).decide("call", {}), Deny)
    reported = guard_of("a == 2", mode="report", **known).decide("call", {})
    assert isinstance(reported, Allow)
    assert isinstance(reported.reported, Deny)
    look = guard_of("a == 2", mode="look", **known).decide("call", {})
    assert isinstance(look, Look)
    assert (look.missing, look.reason) == ((), "a == 2 is FALSE: a is 1")
    assert isinstance(guard_of("b == 2", mode="look", **known).decide("call", {}), Look)


def test_an_argument_is_asked_for_only_if_the_rule_reads_it() -> None:
    class Lazy(dict[str, Any]):
        asked: list[str] = []  # noqa: RUF012  one object

        def __missing__(self, name: str) -> str:
            self.asked.append(name)
            return "digest"

    guard = guard_of("a == $tree or b == 1", start={"a": "'digest'", "b": 1})
    arguments = Lazy()
    guard.decide("other", arguments)
    assert arguments.asked == []
    assert isinstance(guard.decide("call", arguments), Allow)
    assert arguments.asked == ["tree"]


@pytest.mark.parametrize("depth", [70, 900, 100_000])
def test_a_deep_result_is_not_known_and_harms_nothing(depth: int) -> None:
    guard = guard_of("a == a", "exists(a)", show={"shows": {"a": "result"}})
    changes = guard.learn("show", {}, True, "[" * depth + "]" * depth)
    json.dumps(changes)
    assert values(guard)[0] in ("UNKNOWN", "TRUE")


def test_only_offered_tools_are_named() -> None:
    policy = of_data(tools={"call": {"needs": ["a == 1"]}, "x": {"shows": {"a": "result"}}, "y": {"changes": {"a": 1}}})
    look = Guard([policy], offered=["call", "y"]).decide("call", {})
    assert isinstance(look, Look)
    assert look.tools == ("y",)


def test_a_look_says_what_is_missing() -> None:
    policy = of_data(tools={"call": {"needs": ["a.b > $n", "c"]}, "show": {"shows": {"a.b": "result"}}})
    answer = Guard([policy]).decide("call", {})
    assert isinstance(answer, Look)
    assert answer.reason == "a.b, $n, c are not known yet"
    assert answer.tools == ("show",)

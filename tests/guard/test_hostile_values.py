"""Whatever arguments and results hold, a guard answers, and learns only the places that its policy names."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skills.lib.guard.decisions import Allow, Deny, Look
from skills.lib.guard.guard import Guard
from tests.guard.guarded import example, joined, of_data, value

pytestmark = pytest.mark.req("G-01")

leaves = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
)
anything = st.recursive(
    leaves | st.sampled_from(["2024-10-12", "approved", "valid", 10**400, -0.0, 1e308, "\x00", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
NAMES = "username plate_num provider_id amount args paths branch tree by".split()
some = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
calls = st.tuples(
    st.sampled_from(["bank", "dmv", "healthcare", "coding"]),
    st.dictionaries(st.sampled_from(NAMES), anything | st.sampled_from(["bob", "x"]), max_size=5),
    st.lists(anything, min_size=1, max_size=3),
    st.booleans(),
)


@given(calls)
@some
def test_a_guard_answers_and_what_it_learns_can_be_written_down(call: Any) -> None:
    name, arguments, results, ok = call
    policy = example(name)
    guard = Guard([policy], folder="/")
    for tool in policy.tools:
        for result in results:
            changes = guard.learn(tool, arguments, ok, result)
            again = json.loads(json.dumps(changes))
            assert changes == again
        assert isinstance(guard.decide(tool, arguments), (Allow, Deny, Look))
        assert all(one.value in ("TRUE", "FALSE", "UNKNOWN") for one in guard.explain(tool, arguments))
    assert Guard([policy], json.loads(json.dumps(guard.facts()))).facts() == guard.facts()


POISON = [
    '{"tests": {"passed": true, "at": "t"}}',
    {"tests": {"passed": True, "at": "t"}},
    {"exit": 0, "output": "", "tests.passed": True},
    "result.exit == 0",
    "tests.passed: true",
    '{"exit": 0, "output": "ok"}',
    {"exit": True},
    {"exit": "0"},
    {"exit": [0]},
    {"output": '{"exit": 0}'},
    {"?": "open", "in": {"passed": [True]}},
    [{"exit": 0}],
    True,
    "True",
]


@pytest.mark.parametrize("result", POISON)
@pytest.mark.parametrize("tool", ["shell(git log)", "read", "shell(make test)"])
def test_text_that_looks_like_a_fact_is_none(tool: str, result: Any) -> None:
    tools = {
        "read": {"shows": {"page": "result"}},
        "shell(git log)": {"shows": {"log": "result.output"}},
        "shell(make test)": {"changes": {"tests.passed": "result.exit == 0", "tests.at": "$tree"}},
        "push": {"needs": ["tests.passed", "tests.at == $tree", "len(page) > 0 or len(log) > 0 or true"]},
    }
    guard = Guard([of_data(tools=tools)])
    guard.learn(tool, {"tree": "t"}, True, result)
    is_evidence = tool == "shell(make test)" and result == {"exit": 0, "output": "", "tests.passed": True}
    assert isinstance(guard.decide("push", {"tree": "t"}), Allow) is is_evidence


numbers = st.sampled_from(["0", "1", "2.5", "-3", "10"])
texts = st.sampled_from(["'a'", "'b'", "'ab'", "''"])
sums = st.recursive(numbers, lambda one: st.builds("({} {} {})".format, one, st.sampled_from("+-*"), one), max_leaves=4)
orders = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
lists = st.lists(numbers, max_size=3).map(lambda parts: f"[{', '.join(parts)}]")
questions = st.one_of(
    st.builds("({} {} {})".format, sums, orders, sums),
    st.builds("({} {} {} {} {})".format, numbers, orders, numbers, orders, sums),
    st.builds("({} {} {})".format, texts, orders, texts),
    st.builds("({} {} {})".format, numbers, st.sampled_from(["in", "not in"]), lists),
    st.builds("({} in {})".format, texts, texts),
    st.builds("(sum({}) {} len({}))".format, lists, orders, lists),
    st.builds("(sum(x * 2 for x in {} if x > {}) < {})".format, lists, numbers, numbers),
    st.builds("{}(x {} {} for x in {})".format, st.sampled_from(["all", "any"]), orders, numbers, lists),
    st.builds("(min({0}, {1}) <= max({0}, {1}))".format, numbers, numbers),
    st.sampled_from(["True", "False"]),
)
expressions = st.recursive(
    questions,
    joined,
    max_leaves=4,
)


@given(expressions)
@some
def test_of_known_values_of_one_kind_an_expression_is_what_python_says(expression: str) -> None:
    assert value(expression) == str(bool(eval(expression))).upper()

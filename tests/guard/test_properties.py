"""Properties of decisions: what is said of a partly known picture holds in every picture that it may turn out to be."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from skills.lib.guard.decisions import Allow, Deny, Look
from skills.lib.guard.guard import Guard
from skills.lib.guard.policy import Policy
from tests.guard.guarded import joined, of_data

pytestmark = pytest.mark.req("G-01")

# A place is unknown, known not to be there, or known to have one of these values.
UNKNOWN, ABSENT = "unknown", "absent"
VALUES: list[Any] = [True, False, 0, 1, 2.5, "s", None, [], [1, "s"], {"k": 1}]
PLACES = ("a", "b", "m.x", "m.y")
SMALL = [ABSENT, True, False, 1, "s", None, [1]]
pictures = st.fixed_dictionaries(
    {place: st.sampled_from([UNKNOWN, UNKNOWN, ABSENT]) | st.sampled_from(VALUES) for place in PLACES}
)
atoms = st.sampled_from([*PLACES, *PLACES, "true", "false", "0", "1", "2", "'s'", "null", "[]", "[1, a]", "[b, 's']"])
comparisons = st.builds(
    "({} {} {})".format, atoms, st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in", "not in"]), atoms
)
questions = st.one_of(
    comparisons,
    st.builds("({} < {} <= {})".format, atoms, atoms, atoms),
    st.builds("({} {} {} > 1)".format, atoms, st.sampled_from("+-*/"), atoms),
    st.builds("exists({})".format, st.sampled_from(PLACES)),
    st.builds("(len({}) > 0)".format, atoms),
    st.builds("(sum({}) == 1)".format, atoms),
    st.builds("(max({}, {}) == 1)".format, atoms, atoms),
    st.builds("shares({}, {})".format, atoms, atoms),
    st.builds("{}(v == {} for v in {} if v != {})".format, st.sampled_from(["all", "any"]), atoms, atoms, atoms),
    st.builds("any(v == 1 for v in {})".format, st.sampled_from(["m", "a"])),
    st.builds("all(v != 's' for v in {})".format, st.sampled_from(["m", "b"])),
    atoms,
)
needs = st.recursive(
    questions,
    lambda inner: joined(inner) | st.builds("({} == {})".format, inner, inner),
    max_leaves=5,
)
few = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def policy_of(*expressions: str) -> Policy:
    """A policy with these needs, and a tool to set and one to remove each place."""
    tools: dict[str, Any] = {"call": {"needs": list(expressions)}}
    for place in PLACES:
        tools[f"set {place}"] = {"changes": {place: "$value"}}
        tools[f"remove {place}"] = {"changes": {place: "absent"}}
    return of_data(tools=tools)


def guard_of(policy: Policy, picture: dict[str, Any]) -> Guard:
    """A guard that knows a picture."""
    guard = Guard([policy], folder="/")
    for place, value in picture.items():
        if value == ABSENT:
            guard.learn(f"remove {place}", {}, True, None)
        elif value != UNKNOWN:
            guard.learn(f"set {place}", {"value": value}, True, None)
    return guard


def completions(picture: dict[str, Any], values: list[Any]) -> list[dict[str, Any]]:
    """The pictures that a picture may turn out to be: each unknown place is absent, or has one of the values."""
    choices = [values if value == UNKNOWN else [value] for value in picture.values()]
    return [dict(zip(picture, chosen, strict=True)) for chosen in product(*choices)][:60]


@given(needs, pictures)
@example(
    "((len(true) > 0) if (a < null) else ((max(a, a) == 1) and any(v == 1 for v in m)))",
    dict.fromkeys(PLACES, UNKNOWN),
)
@few
def test_true_or_false_only_if_every_completion_says_so(need: str, picture: dict[str, Any]) -> None:
    policy = policy_of(need)
    (said,) = guard_of(policy, picture).explain("call", {})
    if said.value == "UNKNOWN":
        return
    for completion in completions(picture, SMALL):
        (full,) = guard_of(policy, completion).explain("call", {})
        assert full.value == said.value, completion


@given(needs, pictures)
@few
def test_of_a_known_picture_nothing_is_unknown(need: str, picture: dict[str, Any]) -> None:
    assume(UNKNOWN not in picture.values() and " in m" not in need and "s(m" not in need)
    assert [one.value for one in guard_of(policy_of(need), picture).explain("call", {})] != ["UNKNOWN"]


@given(st.lists(needs, min_size=1, max_size=3), pictures)
@few
def test_allow_only_if_all_needs_hold_in_every_completion_and_deny_only_if_one_fails(
    expressions: list[str], picture: dict[str, Any]
) -> None:
    policy = policy_of(*expressions)
    decision = guard_of(policy, picture).decide("call", {})
    if isinstance(decision, Look):
        assert decision.missing
        return
    for completion in completions(picture, SMALL):
        values = [one.value for one in guard_of(policy, completion).explain("call", {})]
        if isinstance(decision, Allow):
            assert values == ["TRUE"] * len(expressions), completion
        else:
            assert "FALSE" in values, completion


# Each of these reads one place of its own, and is TRUE for some and FALSE for some of that place's values.
SINGLE: dict[str, tuple[str, list[Any]]] = {
    "p1": ("p1", [True, False]),
    "p2": ("p2 == 1", [0, 1]),
    "p3": ("p3 < 2", [1, 3]),
    "p4": ("exists(p4)", [ABSENT, 1]),
    "p5": ("1 in p5", [[], [1]]),
    "p6": ("p6 != null", [None, 1]),
    "p7": ("len(p7) > 1", [[], [1, 2]]),
    "p8": ("any(v == 1 for v in p8)", [[0], [0, 1]]),
    "p9": ("1 <= p9 <= 3", [0, 2]),
}
names = st.permutations(list(SINGLE)).map(lambda order: order[:4])
shapes = st.sampled_from(
    [
        "({} and {}) or ({} and not {})",
        "({} or {}) and ({} or not {})",
        "not ({} and not {}) and {} or {}",
        "({} if {} else {}) and {}",
        "({} if {} else true) or {} and {}",
        "(true if {} else {}) and (false if {} else {})",
        "all(v for v in [{}, {}, {}, {}])",
        "any(v for v in [{}, {}, {}, {}])",
        "true in [{}, {}, {}, {}]",
        "({} == true) and ({} or ({} and {}))",
    ]
)


@given(shapes, names, st.data())
@few
def test_exact_where_each_place_occurs_once(shape: str, order: list[str], data: st.DataObject) -> None:
    need = shape.format(*(f"({SINGLE[name][0]})" for name in order))
    tools: dict[str, Any] = {"call": {"needs": [need]}}
    for name in order:
        tools[f"set {name}"] = {"changes": {name: "$value"}}
        tools[f"remove {name}"] = {"changes": {name: "absent"}}
    policy = of_data(tools=tools)
    picture = {name: data.draw(st.sampled_from([UNKNOWN, UNKNOWN, *SINGLE[name][1]])) for name in order}
    (said,) = guard_of(policy, picture).explain("call", {})
    choices: list[list[Any]] = [SINGLE[name][1] if value == UNKNOWN else [value] for name, value in picture.items()]
    found = {
        guard_of(policy, dict(zip(picture, chosen, strict=True))).explain("call", {})[0].value
        for chosen in product(*choices)
    }
    assert found == ({"TRUE", "FALSE"} if said.value == "UNKNOWN" else {said.value})


@given(
    st.dictionaries(st.sampled_from("abc"), st.sampled_from([1, True, None]), max_size=3), st.text("abc", max_size=1)
)
@few
def test_a_key_of_a_complete_map_is_there_or_not(listing: dict[str, Any], key: str) -> None:
    tools = {"list": {"shows": {"m": "result"}}, "call": {"needs": ["exists(m[$key])"]}}
    guard = Guard([of_data(tools=tools)])
    assert isinstance(guard.decide("call", {"key": key}), Look)
    guard.learn("list", {}, True, listing)
    assert isinstance(guard.decide("call", {"key": key}), Allow if key in listing else Deny)

"""What is said of a need over plain values without the evaluator is what the evaluator says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.lib.guard import plain_needs
from skills.lib.guard.decisions import Allow
from skills.lib.guard.guard import Guard
from skills.lib.guard.policy import Policy
from tests.guard.guarded import of_data

pytestmark = pytest.mark.req("G-01")
PARAMS = {"root": ".", "part": ["-k", "-m"], "most": 2, "yes": True, "none": None, "map": {"a": 1}}
WORDS = ["-k", "-km", "--force", "a.py", "../x", "/w/sub/b", "/", ".", "", "\0", "x"]
atoms = st.sampled_from(
    [
        *("$args", "$paths", "$branch", "$missing", "%root", "%part", "%most", "%yes", "%none", "%map", "place.x"),
        *(
            "'-k'",
            "'main'",
            "''",
            "0",
            "1",
            "1.0",
            "true",
            "false",
            "null",
            "[]",
            "['-k', 'x']",
            "[1, true]",
            "[$args]",
        ),
    ]
)
members = st.sampled_from(["a", "a", "key", "$branch", "'-k'", "%root"])
tests = st.one_of(
    st.builds("{} {} {}".format, atoms, st.sampled_from([*"== != < <= > >= in".split(), "not in"]), atoms),
    st.builds("0 < {} <= {}".format, atoms, atoms),
    st.builds("len({}) > {}".format, atoms, st.sampled_from("01")),
    st.builds("starts({}, {})".format, atoms, atoms),
    st.builds("inside({}, {})".format, atoms, atoms),
    atoms,
)
of_members = st.one_of(
    st.builds("starts({}, {})".format, members, members),
    st.builds("inside({}, %root)".format, members),
    st.builds("{} {} {}".format, members, st.sampled_from(["==", "!=", "in", "not in", "<"]), members | atoms),
)
loops = st.builds(
    "{}({} for a in {} if {})".format, st.sampled_from(["all", "any"]), of_members, atoms, of_members | st.just("true")
)
needs = st.recursive(
    tests | loops | st.builds("{}({})".format, st.sampled_from(["all", "any"]), atoms),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner),
        st.builds("not ({})".format, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
    ),
    max_leaves=6,
)
words = st.lists(st.sampled_from(WORDS), max_size=3)


def said(policy: Policy, given: dict[str, Any]) -> bool:
    """What is said without the evaluator."""
    rule = policy.rule("call")
    assert rule is not None
    return plain_needs.hold([need[2] for need in rule.needs], given.get, policy.params, "/w")


@given(st.lists(needs, min_size=1, max_size=2), words, words, st.sampled_from(["main", "x"]))
def test_needs_that_hold_are_allowed(expressions: list[str], args: list[str], paths: list[str], branch: str) -> None:
    policy = of_data(params=PARAMS, tools={"call": {"needs": expressions}, "show": {"shows": {"place.x": "result"}}})
    given = {"args": args, "paths": paths, "branch": branch}
    if said(policy, given):
        assert isinstance(Guard([policy], folder="/w").decide("call", given), Allow), expressions


@pytest.mark.parametrize(
    "need, holds",
    [
        ("all(inside(p, %root) and not inside(%root, p) for p in $paths)", True),
        ("len($paths) > 0", True),
        ("'--force' not in $args or $branch != 'main'", True),
        ("not any(starts(a, '--f') for a in $args if a != '-q')", True),
        ("%most >= 2 if %yes else false", True),
        ("'x' in $args", False),
        ("$unknown == 'x'", False),
        ("place.x", False),
        ("calls('call') < 1", False),
        ("date('2026-01-01') < date('2026-01-02')", False),
    ],
)
def test_needs_that_are_certain(need: str, holds: bool) -> None:
    policy = of_data(params=PARAMS, tools={"call": {"needs": [need]}, "show": {"shows": {"place.x": "result"}}})
    assert said(policy, {"args": ["-q", "a.py"], "paths": ["/w/sub/b", "/w/c"], "branch": "x"}) is holds

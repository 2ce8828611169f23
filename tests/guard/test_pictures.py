"""Properties of what is kept: nothing that a rule reads is lost, and a picture that is written down is read back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skills.lib.guard.guard import Guard
from skills.lib.guard.policy import Policy
from tests.guard.guarded import of_data

pytestmark = pytest.mark.req("G-01")

KEYS = ("x", "y", "7", "?", "in")
values: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([1, 2, "s", True, None]),
    lambda inner: st.dictionaries(st.sampled_from(KEYS), inner, max_size=3) | st.lists(inner, max_size=2),
    max_leaves=8,
)
EFFECTS: dict[str, Any] = {
    "all": {"shows": {".": "result"}},
    "a": {"shows": {"a": "result"}},
    "ax": {"shows": {"a.x": "result"}},
    "ak": {"shows": {"a[$k]": "result"}},
    "akx": {"shows": {"a[$k].x": "result.x"}},
    "a0": {"shows": {"a[0]": "result"}},
    "b": {"changes": {"b.x.y": "result", "b.y": "a.x"}},
    "forget": {"changes": {"a[$k]": "forget", "b.x": "forget"}},
    "absent": {"changes": {"a[$k].y": "absent", "b.x.y": "absent"}},
    "present": {"changes": {"a[$k]": "present(true)", "b": "present(result)"}},
}
READS = [
    *("a.x == 1", "a.x.y == 's'", "a[$k].y == 2", "exists(a[$k])", "exists(a.x.y)", "exists(a)", "exists(b.x)"),
    *("len(a) == 2", "any(v.x == 1 for v in a)", "all(v.y != 2 for v in a.x)", "'x' in a", "a.x == b.y", "b == a"),
    *("a[0] == 1", "a[0].x == 1", "$k in keys(a.x)", "known(a.y)", "sum(a.x) == 3", "b.x.y in a.x", "b.y.x == 1"),
    *("exists(.x)", "x == 1", "y.x == 1", "len(b.y) == 1", "2 in [a.x, a.y]", "shares(a, b)", "a[7] == 2"),
]
tools, keys = st.sampled_from(list(EFFECTS)), st.sampled_from([*KEYS, 7, 0, None])
steps = st.lists(st.tuples(tools, keys, values, st.sampled_from([True, True, False])), max_size=7)
some = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


def policy_of(needs: list[str], **more: Any) -> Policy:
    return of_data(tools={"call": {"needs": needs}, **EFFECTS, **more})


def learned(policy: Policy, told: list[Any]) -> tuple[Guard, list[Any]]:
    """A guard that learned these results, and the changes that it gave."""
    guard = Guard([policy], folder="/")
    changes: list[Any] = []
    for tool, key, result, ok in told:
        given = {} if key is None else {"k": key}
        changes += guard.learn(tool, given, ok, json.dumps(result) if ok else "no")
    return guard, changes


def said(guard: Guard, key: Any) -> list[str]:
    return [one.value for one in guard.explain("call", {"k": key})]


@given(st.lists(st.sampled_from(READS), min_size=1, max_size=3, unique=True), steps, st.sampled_from(KEYS))
@some
def test_what_is_left_out_changes_no_answer(needs: list[str], told: list[Any], key: str) -> None:
    small, _ = learned(policy_of(needs), told)
    whole, _ = learned(policy_of(needs, other={"needs": ["len(.) > 0", "len(a) > 0", "len(b) > 0"]}), told)
    assert said(small, key) == said(whole, key)


@given(steps, st.sampled_from(KEYS))
@some
def test_facts_are_read_back_as_they_were_learned(told: list[Any], key: str) -> None:
    policy = policy_of(READS)
    guard, changes = learned(policy, told)
    for facts in (changes, guard.facts()):
        again = Guard([policy], json.loads(json.dumps(facts)), folder="/")
        assert said(again, key) == said(guard, key)
        assert again.facts() == guard.facts()

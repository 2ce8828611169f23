"""A world that tools show and change piece by piece: what a guard says of it is so, whatever it has not seen."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from skills.lib.guard.guard import Guard
from tests.guard.guarded import of_data

pytestmark = pytest.mark.req("G-01")

PLACES = ("a", "a.x", "a.y", "a.x.z", "b", "b.x")
GONE = object()
NEEDS = [
    *("a == 1", "a.x == 1", "a.x != 1", "a.y == 's'", "a.x.z == 1", "b == null", "b.x == a.x", "a == b", "a < 2", "a"),
    *("exists(a)", "exists(a.x)", "exists(a.y)", "exists(a.x.z)", "exists(b)", "exists(c)", "not exists(b.x)"),
    *("'x' in a", "'y' not in a", "1 in a", "1 in a.x", "a.x in [1, 's']", "a in keys(b)", "'x' in keys(a)"),
    *("len(a) == 1", "len(a.x) > 0", "sum(a) == 2", "sum(v for v in a if v == 1) == 1", "len(v for v in a) == 2"),
    *("any(v == 1 for v in a)", "all(v != 1 for v in a)", "all(key == 'x' for v in a)", "any(v.z == 1 for v in a)"),
    *("a.x + 1 == 2", "a.x < a.y", "a.x == 1 or b == 1", "a.x == 1 and not b.x == 1", "1 if exists(a) else b"),
    *("min(a.x, 3) == 1", "shares(a, b)", "set(a) == set(b)", "a[0] == 1", "b[b.x] == 1", "a[a.y] == 1", "[a] == [b]"),
    *("(a.x == 1) if b == 1 else (a.x == 1)", "a.x in b or true", "max(v for v in a) == 1", "values(a) == [1]"),
    *("all(true for v in [1] if a)", "not any(false for v in [1] if a)", "all(a.x == 1 for v in a if v == 1 if b)"),
    *("[v for v in a] != b.y", "keys(a) != b.y", "b.y not in [1, clock(a)]", "[1, len(a)] != b.y", "a[b.x] != b.y"),
    *("len(v for v in a) == 1", "sum(1 for v in set([a.x, 1])) == 2", "set([a.x, 1]) == [1]", "set(a) <= set(b)"),
    *("all(true for v in [1] if shares(set(a), []))", "((a.x if 1 else b.x) != 1)", "any(shares(v, b) for v in a)"),
]
values: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([1, 1, 2, "s", "x", True, None]),
    lambda one: st.dictionaries(st.sampled_from("xyz"), one, max_size=2) | st.lists(one, max_size=2),
    max_leaves=4,
)
kinds = st.sampled_from(["show", "show", "see", "set", "remove", "forget"])
steps = st.lists(st.tuples(kinds, st.sampled_from(PLACES), st.just(GONE) | values), max_size=6)
worlds = st.dictionaries(st.sampled_from("abc"), values, max_size=3)


def read(world: Any, path: list[str]) -> Any:
    """What a place of the world holds; GONE if it is not there."""
    for key in path:
        if not isinstance(world, dict) or key not in world:
            return GONE
        world = world[key]
    return world


def write(world: dict[str, Any], path: list[str], value: Any) -> None:
    """Put a value at a place of the world, or take it away."""
    *above, last = path
    for key in above:
        if not isinstance(world.get(key), dict):
            if value is GONE:
                return
            world[key] = {}
        world = world[key]
    if value is GONE:
        world.pop(last, None)
    else:
        world[last] = copy.deepcopy(value)


def tools() -> dict[str, Any]:
    made: dict[str, Any] = {}
    for place in PLACES:
        made[f"show {place}"] = {"shows": {place: "result.value"}}
        made[f"see {place}"] = {"shows": {place: "present(result)"}}
        made[f"set {place}"] = {"changes": {place: "$value"}}
        made[f"remove {place}"] = {"changes": {place: "absent"}}
        made[f"forget {place}"] = {"changes": {place: "forget"}}
    return made


PARTLY = of_data(tools={"call": {"needs": NEEDS}, **tools()})
WHOLLY = of_data(tools={"call": {"needs": NEEDS}, "all": {"shows": {".": "result"}}})


@example({}, [("set", "a", {}), ("forget", "a.x", GONE), ("remove", "a.x.z", GONE)])
@example({}, [("set", "a", {}), ("set", "b", {"x": 1}), ("forget", "a.x", GONE)])
@example({"a": 1}, [("remove", "a.x", GONE), ("remove", "b.y", GONE)])
@example({"a": 1}, [("remove", "b.y", GONE)])
@example({"a": {"x": 1}}, [("set", "b", {})])
@example({"b": {"x": [1]}}, [("remove", "a", GONE), ("remove", "b.y", GONE)])
@example({}, [("remove", "a.x", GONE)])
@given(worlds, steps)
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_said_of_a_world_is_so(world: dict[str, Any], made: list[tuple[str, str, Any]]) -> None:
    world, guard = copy.deepcopy(world), Guard([PARTLY])
    for kind, place, value in made:
        path = place.split(".")
        if kind in ("set", "remove", "forget"):  # what is forgotten was changed in a way that nobody says
            kind = "remove" if kind == "set" and value is GONE else kind
            write(world, path, GONE if kind == "remove" else value)
        found = read(world, path)
        result = found is not GONE if kind == "see" else {} if found is GONE else {"value": copy.deepcopy(found)}
        guard.learn(f"{kind} {place}", {"value": copy.deepcopy(value)} if kind == "set" else {}, True, result)
    seer = Guard([WHOLLY])
    seer.learn("all", {}, True, world)
    said, so = ([one.value for one in each.explain("call", {})] for each in (guard, seer))
    wrong = [
        (need, one, other) for need, one, other in zip(NEEDS, said, so, strict=True) if one not in (other, "UNKNOWN")
    ]
    assert wrong == []
    assert "UNKNOWN" not in so

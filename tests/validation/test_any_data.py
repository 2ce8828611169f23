"""Whatever data a workflow is built from, it is refused in words or validated: nothing else is ever raised."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from skills.lib.errors import SkillError
from skills.lib.runtime import loading
from skills.lib.validation.validator import validate, validate_source, validate_tree
from skills.lib.workflow.core import Registered, Workflow
from skills.lib.workflow.types import Outcome
from tests.validation.test_any_graph import REVIEWED

ROOT = Path(__file__).parents[2]
SHIPPED = ("planner/scripts/planner", "refactor/scripts/refactor", "incoherence/scripts/incoherence")
WORDS = st.sampled_from(
    ["", "ok", "skip", "x", "a.b", "step", "{a}", "{a.b}", "explore", "text", "list", "shell(x)", "\ud800", "\0", "π"]
)
KEYS = st.sampled_from(
    "id title actions next handler needs requires when tools allow name type choices minimum path schema argv timeout"
    " agent targets params $kind $call $xml ok x".split()
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 10**40),
    st.floats(),
    WORDS,
    st.sampled_from(["Field", "Gate", "Dispatch", "Person", "Command", "Artifact", "Arg", "nobody:nothing"]),
)
ANYTHING = st.recursive(
    LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)), max_leaves=6
)


def judge(ctx: Any) -> Outcome:
    return Outcome.OK


def _resolve(name: str) -> Any:
    if not isinstance(name, str) or ":" not in name:
        raise SkillError(f"{name!r:.80} is not a function")
    return judge


@cache
def _bases() -> list[dict[str, Any]]:
    modules = [ROOT / "skills" / f"{name}_workflow.py" for name in SHIPPED]
    workflows = [loading.load_workflow(str(module)) for module in modules]
    return [workflow.to_data() for workflow in (*workflows, REVIEWED)]


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every container of the data with each of its keys."""
    found: list[tuple[Any, Any]] = []
    stack = [value]
    while stack:
        part = stack.pop()
        keys = list(part) if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ()
        found += [(part, key) for key in keys]
        stack += [part[key] for key in keys]
    return found


@st.composite
def documents(draw: st.DrawFn) -> Any:
    """The data of a workflow with some of it replaced, left out, doubled or added."""
    data = {"workflow": copy.deepcopy(draw(st.sampled_from(_bases())))}
    for _ in range(draw(st.integers(1, 4))):
        places = _places(data)
        part, key = places[draw(st.integers(0, len(places) - 1))]
        change = draw(st.sampled_from(["replace", "replace", "replace", "delete", "double", "add"]))
        if change == "replace":
            part[key] = draw(ANYTHING)
        elif change == "delete" and part is not data:
            del part[key]
        elif change == "double" and isinstance(part, list):
            part.append(copy.deepcopy(part[key]))
        elif change == "add" and isinstance(part[key], dict):
            part[key][draw(KEYS)] = draw(ANYTHING)
    return data["workflow"]


def _built(data: Any) -> Workflow | None:
    """The workflow of the data, or None if it was refused in words; anything else that is raised fails the test."""
    try:
        return Workflow.restored(data, _resolve)
    except SkillError as error:
        event("refused")
        return None if error.what else Workflow("an error without words")


@pytest.mark.req("W-02")
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=documents())
@pytest.mark.slow
def test_changed_data_of_a_workflow_is_refused_in_words_or_validated(
    data: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    workflow = _built(data)
    if workflow is None:
        return
    event("validated")
    file = str(ROOT / "skills" / "planner" / "scripts" / "planner_workflow.py")
    found = validate(workflow, file, waived=True) + validate_source(workflow, file, waived=True)
    found += validate_tree(str(tmp_path_factory.mktemp("tree")), [Registered(workflow, file)], waived=True)
    assert [one.what for one in found if one.rule == "unchecked-rule"] == []
    assert all(one.what and one.why and one.do for one in found)


@settings(max_examples=100, deadline=None)
@given(ANYTHING)
def test_data_of_any_form_is_refused_in_words(data: Any) -> None:
    assert _built(data) is None


@pytest.mark.parametrize("key", ["title", "steps", "params"])
def test_data_without_end_is_refused_in_words(key: str) -> None:
    data: Any = []
    for _ in range(100_000):
        data = [data]
    with pytest.raises(SkillError, match="this is not a workflow's data"):
        Workflow.from_data({"name": "w", "steps": [], key: data})

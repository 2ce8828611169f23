"""Whatever a SKILL.md names and a model reports, nothing but an error in words comes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skills.lib.agent.prose.skill import load
from skills.lib.agent.prose.workflow import followed
from skills.lib.engine.decision import Refused
from skills.lib.errors import LockstepError
from skills.lib.model.steps import StepContext
from skills.lib.runtime.objectives import judged
from skills.lib.skillfile import tool_names

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=8), inside, max_size=4),
    max_leaves=12,
)
ENTRIES = st.lists(
    st.fixed_dictionaries(
        {"number": st.integers(0, 3) | st.just("1"), "status": st.sampled_from(["done", "partial", "not", "well"])},
        optional={"place": st.sampled_from(["answer", "", "a.txt", "../a.txt", "a\0b"]) | VALUES, "note": VALUES},
    ),
    max_size=3,
)
NAMES = st.sampled_from(
    ["Read", "Bash", "Bash(git:*)", "Bash(rm -rf $HOME)", "Read(src/**)", "mcp__a__b", "*", "Skill"]
)


@given(report=VALUES | ENTRIES)
def test_a_report_ends_the_step_or_is_refused(report: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    state = {"objectives": {"objectives": ["one", "two"]}}
    context = StepContext({"workspace": str(tmp_path_factory.getbasetemp())}, {"objectives": report}, state, "work")
    try:
        outcome, found = judged(context)
    except Refused:
        return
    assert [one["number"] for one in found["objectives"]] == [1, 2]
    assert (outcome == "ok") == (found["done"] == 2)


@given(
    value=st.text(max_size=60) | st.lists(NAMES, max_size=4).map(", ".join) | st.lists(st.text(max_size=20), max_size=3)
)
@example("0")
@example("tool(search), mcp(0), Read")
def test_allowed_tools_make_a_workflow_or_an_error(value: str | list[str]) -> None:
    try:
        tools, _ = tool_names.read(value)
    except LockstepError:
        return
    assert followed("any", {"tools": list(tools)}).has("work")


@given(
    lines=st.lists(st.sampled_from(["max_iterations", "model", "agent", "metadata", "x"]), max_size=4), text=st.text()
)
def test_any_frontmatter_is_a_skill_or_an_error(
    lines: list[str], text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = Path(tmp_path_factory.mktemp("skill"))
    head = "".join(f"{line}: {text}\n" for line in lines)
    (folder / "SKILL.md").write_text(
        f"---\nname: any\ndescription: any\n{head}---\n{text}", encoding="utf-8", errors="replace"
    )
    try:
        found = load(folder)
    except LockstepError:
        return
    assert found.name == "any"

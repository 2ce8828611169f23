"""What the scripted models of the recovery benchmark take from the text of a failure."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.recovery.alternatives import Call, alternatives, looks, takes_from
from benchmarks.recovery.policies import instructions_in
from skills.lib.agent.tools import project_tools

READ = Call("read", {"path": "data/reading.csv"})


@pytest.fixture
def tools(tmp_path: Any) -> list[dict[str, Any]]:
    return [{"name": one.name, "parameters": one.schema} for one in project_tools(str(tmp_path))]


@pytest.mark.parametrize(
    "failure, expected",
    [
        (
            "there is no 'data/reading.csv'; did you mean data/readings.csv?",
            Call("read", {"path": "data/readings.csv"}),
        ),
        ('not utf-8\n  try:   read it with encoding="cp1252"', READ.changed(encoding="cp1252")),
        ("data/reading.csv has 9 lines; go on with offset=3", READ.changed(offset=3)),
        ("the disk is busy, try again later", READ),
        ("see a part of it by shell, such as head or tail", Call("shell", {"command": "head data/reading.csv"})),
    ],
)
def test_an_alternative_is_what_the_failure_names(tools: list[dict[str, Any]], failure: str, expected: Call) -> None:
    assert alternatives(failure, READ, tools, "", "") == [expected] + (
        [Call("shell", {"command": "tail data/reading.csv"})] if "tail" in failure else []
    )


def test_a_failure_that_names_nothing_leads_to_nothing(tools: list[dict[str, Any]]) -> None:
    assert alternatives("it failed", READ, tools, "", "") == []
    assert looks("it failed", READ, tools) == []


def test_a_choice_stands_for_the_value_that_is_quoted(tools: list[dict[str, Any]]) -> None:
    call = Call("shell", {"command": "python conv.py --format jsn"})
    failure = "conv.py: error: argument --format: invalid choice: 'jsn' (choose from 'csv', 'json')"
    assert alternatives(failure, call, tools, "", "")[0].arguments == {"command": "python conv.py --format json"}


def test_a_list_gives_the_names_that_are_nearest(tools: list[dict[str, Any]]) -> None:
    failure = "there is no 'data/reading.csv'\n  try:   find it by search"
    assert looks(failure, READ, tools)[0] == Call("search", {"glob": "**/*reading*"})
    found = takes_from("other/readings.csv\nx.csv\n[2 files in .]\n", READ, failure)
    assert found[0] == Call("read", {"path": "other/readings.csv"})


def test_a_script_is_taken_from_the_list_of_the_skill_s_files(tools: list[dict[str, Any]]) -> None:
    call = Call("shell", {"command": "radon cc app.py"})
    system = "files\n- scripts/branches.py: Counts the complexity of a module (script, 9 lines)\n"
    failure = "there is no program radon on PATH"
    assert alternatives(failure, call, tools, system, "Measure the complexity") == [
        Call("shell", {"command": "python scripts/branches.py app.py"})
    ]
    assert alternatives(failure, call, tools, system, "Draw a picture") == []


def test_instructions_are_the_numbered_calls_of_the_block() -> None:
    text = (
        '1. Read: `read(path="a.csv")`, whose result has `town`\n2. Think.\n3. Run: `shell(command="ls", timeout=5)`\n'
    )
    assert [(one.number, one.call, one.expected) for one in instructions_in(text)] == [
        (1, Call("read", {"path": "a.csv"}), "town"),
        (3, Call("shell", {"command": "ls", "timeout": 5}), ""),
    ]

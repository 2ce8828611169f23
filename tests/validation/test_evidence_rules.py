"""Evidence that can never be given, and evidence that proves nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from skills.lib.validation.validator import validate, validate_source
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.requirements import Artifact, Command, Field, Requirement
from skills.lib.workflow.types import Dispatch, Outcome
from tests.validation.conftest import Load

END: dict[Any, Any] = {Outcome.OK: None}
WAYS: dict[Any, Any] = {Outcome.OK: "write", Outcome.SKIP: "check"}


def _found(*steps: StepDef, **fields: Any) -> list[tuple[str, str, str]]:
    return [(one.rule, one.where.partition(":")[2], one.value) for one in validate(Workflow("w", *steps, **fields))]


@pytest.mark.req("S-04")
@pytest.mark.parametrize("tools", [["read"], ["read", "search", "web", "agent", "ask"]])
def test_a_file_that_no_tool_may_write_is_found(tools: list[str]) -> None:
    requires: list[Requirement] = [Field("path"), Artifact("{path}.md"), Artifact("b.md")]
    assert _found(StepDef("a", "A", next=END, requires=requires, tools=tools)) == [
        ("missing-tool", "a", "{path}.md"),
        ("missing-tool", "a", "b.md"),
    ]


@pytest.mark.parametrize("tools", [[], ["write"], ["edit"], ["shell"], ["shell(make)"]])
def test_a_file_that_some_tool_may_write_is_not_reported(tools: list[str]) -> None:
    assert _found(StepDef("a", "A", next=END, requires=[Artifact("b.md")], tools=tools)) == []


def test_the_tools_of_the_workflow_are_those_of_a_step_that_names_none() -> None:
    step = StepDef("a", "A", next=END, requires=[Artifact("b.md")])
    assert _found(step, tools=["read"]) == [("missing-tool", "a", "b.md")]
    assert _found(step, tools=["read", "mcp(files.put)"]) == []
    assert _found(step, tools=["read", "write"]) == []


def test_a_file_that_is_there_already_is_not_reported() -> None:
    write = StepDef(
        "write", "Write", next={Outcome.OK: "check"}, requires=[Field("path"), Artifact("{path}")], tools=["write"]
    )
    check = StepDef("check", "Check", next=END, requires=[Artifact("{write.path}")], tools=["read"])
    assert _found(write, check) == []
    skipping = StepDef("plan", "Plan", next=WAYS, when=dict.fromkeys(WAYS, "it is so"))
    assert _found(skipping, write, check) == [
        ("missing-tool", "check", "{write.path}"),
        ("read-on-some-paths", "check", "write.path"),
    ]


def test_a_file_that_a_command_before_it_or_a_sub_agent_may_write_is_not_reported() -> None:
    command: list[Requirement] = [Command(["make", "report"]), Artifact("report.md")]
    assert _found(StepDef("a", "A", next=END, requires=command, tools=["read"])) == []
    assert _found(StepDef("a", "A", next=END, requires=command[::-1], tools=["read"])) == [
        ("missing-tool", "a", "report.md")
    ]
    dispatch = Dispatch("developer", task="Write it.")
    assert _found(StepDef("a", "A", "", END, dispatch, requires=[Artifact("b.md")], tools=["read", "agent"])) == []


@pytest.mark.parametrize(
    "tools, found", [(["read"], [("missing-tool", "a", "agent")]), (["read", "agent"], []), ([], [])]
)
def test_sub_agents_that_no_tool_may_start_are_found(tools: list[str], found: list[Any]) -> None:
    assert _found(StepDef("a", "A", "", END, Dispatch("explore", task="Look."), tools=tools)) == found


@pytest.mark.parametrize(
    "least, cap, found", [(3, 2, [("too-many-targets", "explore", "")]), (3, 3, []), (None, 1, []), (2.5, 2, [])]
)
def test_a_list_that_must_be_longer_than_the_cap_is_found(least: Any, cap: int, found: list[Any]) -> None:
    steps = (
        StepDef("scope", "Scope", next={Outcome.OK: "explore"}, requires=[Field("areas", "list", minimum=least)]),
        StepDef("explore", "Explore", "", END, Dispatch("explore", task="Look.", targets="scope.areas", cap=cap)),
    )
    assert _found(*steps) == found


@pytest.mark.parametrize(
    "argv",
    [
        ["true"],
        ["/usr/bin/true"],
        [":"],
        ["echo", "all tests passed"],
        ["printf", "%s", "ok"],
        ["sh", "-c", "true"],
        ["bash", "-lc", "make test || true"],
        ["sh", "-c", "make test; exit 0"],
        ["sh", "-c", "make test | echo done"],
        ["sh", "-c", "make test || :;"],
        ["python3", "-c", "pass"],
        ["python3", "-c", "import sys; sys.exit(0)"],
        ["python3", "-c", "print('ok')"],
        ["env", "true"],
        ["env", "CI=1", "true"],
        ["test", "1"],
        ["[", "1", "]"],
        ["ls"],
        ["ls", "-l"],
        ["git", "status"],
        ["git", "diff", "--stat"],
        ["pytest", "--version"],
        ["pytest", "-h"],
        ["python3", "-m", "pytest", "--collect-only"],
        ["make", "-n"],
        ["sh", "-c", "pytest --version"],
    ],
)
def test_a_command_that_cannot_fail_is_found(argv: list[str]) -> None:
    found = _found(StepDef("a", "A", next=END, requires=[Command(argv)]))
    assert found == [("always-passing-command", "a", " ".join(argv))]


@pytest.mark.parametrize(
    "argv",
    [
        ["make", "true"],
        ["false"],
        ["sh", "-c", "make test && echo ok"],
        ["sh", "-c", "make test"],
        ["sh", "-c", "true || make test"],
        ["sh", "run.sh"],
        ["python3", "-c", "import tea"],
        ["true-tests"],
        ["test", "-f", "a"],
        ["test", ""],
        ["ls", "a"],
        ["git", "diff", "--check"],
        ["env", "CI=1", "make", "test"],
        ["psql", "-h", "db", "-c", "select 1"],
        ["ctest", "-V"],
        ["python3", "-c", "import sys; sys.exit(1)"],
        ["python3", "-m", "unittest"],
        ["sh", "-c", 'test "$READY"'],
    ],
)
def test_a_command_that_can_fail_is_not_reported(argv: list[str]) -> None:
    assert _found(StepDef("a", "A", next=END, requires=[Command(argv)])) == []


def _commands(load: Load, *argv: Sequence[str]) -> list[tuple[str, str]]:
    requires = ", ".join(f"Command({list(one)!r})" for one in argv)
    workflow, file = load(
        f'WORKFLOW = Workflow("tea", StepDef("boil", "Boil", next={{Outcome.OK: None}}, requires=[{requires}]))\n'
    )
    return [(one.rule, one.do) for one in validate_source(workflow, file)]


def test_a_misspelt_script_of_a_command_is_found_with_the_nearest(load: Load, skill: Path) -> None:
    (skill / "SKILL.md").write_text("")
    missing = str(skill / "resources" / "guid.md")
    assert _commands(load, ["exlpore.py"], ["explore.py", missing], ["zzz.py"]) == [
        ("unresolved-command", "write explore.py"),
        ("unresolved-command", "write guide.md"),
        ("unresolved-command", f"write {skill}/scripts/zzz.py, or name the file that is meant"),
    ]


def test_a_program_of_the_machine_or_of_the_project_is_not_looked_for(load: Load, skill: Path) -> None:
    argv = (
        ["explore.py", "a.md"],
        ["git", "diff", "--exit-code"],
        ["no-such-program"],
        ["tools/check.py"],
        ["explore.py", str(skill / "resources" / "guide.md"), "/etc/nothing.md", "{path}.py"],
    )
    assert [one for one in _commands(load, *argv) if one[0] == "unresolved-command"] == []

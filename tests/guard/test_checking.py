"""What a check finds in a policy that compiles."""

from __future__ import annotations

from typing import Any

import pytest

from skills.lib.guard.checking import Finding, check
from skills.lib.guard.policy import Policy
from tests.guard.guarded import example, of_data, policy

pytestmark = pytest.mark.req("G-06")


def names(found: list[Finding]) -> list[str]:
    return [finding.name for finding in found]


def found_in(*needs: str, params: Any = None, **tools: Any) -> list[Finding]:
    """The findings of a policy whose tool ``call`` has these needs, and another that shows most places."""
    shows = dict.fromkeys(("a", "b", "m[$key]", "tests.passed"), "result")
    rules = {"call": {"needs": list(needs)}, "show": {"shows": shows}, **tools}
    return check(of_data(params=params or {}, tools=rules))


@pytest.mark.parametrize("name", ["bank", "coding"])
def test_good_policies_have_no_findings(name: str) -> None:
    assert check(example(name)) == []


@pytest.mark.parametrize("name", ["dmv", "healthcare"])
def test_a_place_that_no_tool_shows(name: str) -> None:
    (finding,) = check(example(name))
    assert finding.name == "unknown-place"
    assert finding.what == "no tool shows or changes session.users[…], which exists(session.users[$username]) reads"


def test_the_nearest_place_and_the_line() -> None:
    text = "tools:\n  test: {changes: {tests.passed: 'true'}}\n  push:\n    needs:\n      - tests.pased\n"
    (finding,) = check(policy(text))
    assert (finding.name, finding.tool, finding.line) == ("unknown-place", "push", 5)
    assert finding.what == "no tool shows or changes tests.pased, which tests.pased reads; did you mean tests.passed?"


@pytest.mark.parametrize(
    "tool, argument, near",
    [
        ("edit", "$pth", "; did you mean $path?"),
        ("write", "$treee", "; did you mean $tree?"),
        ("answer", "$bye", "; did you mean $by?"),
        ("answer", "$person", ""),
    ],
)
def test_an_argument_that_a_tool_of_hosts_does_not_have(tool: str, argument: str, near: str) -> None:
    (finding,) = check(of_data(tools={tool: {"changes": {"seen": argument}}}))
    assert finding.name == "unknown-argument"
    assert finding.what == f"the rule of {tool} reads {argument}{near}"


def test_arguments_of_hosts_are_their_own() -> None:
    for argument in ("$path", "$paths", "$tree", "$file_path", "$filePath", "$whatever"):
        assert check(of_data(tools={"edit": {"changes": {"seen": argument}}})) == []
    assert check(of_data(tools={"answer": {"changes": {"by": "$by", "to": "$answer", "at": "$step"}}})) == []


def test_a_start_value_is_known() -> None:
    assert check(of_data(start={"a": 1}, tools={"call": {"needs": ["a == 1"]}})) == []


def test_that_a_place_is_there_tells_nothing_of_what_is_inside() -> None:
    tools = {"login": {"changes": {"accounts[$user]": "present(true)"}}}
    assert found_in("exists(accounts[$user])", **tools) == []
    assert names(found_in("accounts[$user].balance > 1", **tools)) == ["unknown-place"]


def test_a_place_that_is_only_forgotten_or_shown_by_the_call_itself() -> None:
    assert names(found_in("x == 1", other={"changes": {"x": "forget"}})) == ["unknown-place"]
    (finding,) = check(of_data(tools={"call": {"needs": ["x == 1"], "changes": {"x": 1}}}))
    assert finding.what == "only call itself shows or changes x, which it needs to know before"


def test_a_tool_that_the_workflow_does_not_offer_shows_nothing() -> None:
    found = of_data(tools={"call": {"needs": ["a == 1"]}, "show": {"shows": {"a": "result"}}})
    assert names(check(found, offered=["call", "show"])) == []
    assert names(check(found, offered=["call"])) == ["unknown-place"]


@pytest.mark.parametrize(
    "need",
    [
        "1 > 2",
        "a < null",
        "'x' + 1 == 2",
        "false",
        "a and false",
        "1 / 0 == a",
        "'yes'",
        "result == 1",
        "5",
        "a == absent",
    ],
)
def test_a_need_that_can_never_be_true(need: str) -> None:
    assert names(found_in(need)) == ["never-true"]


@pytest.mark.parametrize(
    "needs",
    [
        ("a == 1", "a == 2"),
        ("a == 1", "a != 1"),
        ("a == 'x' and b", "a == 'y'"),
        ("a > 5", "a < 5"),
        ("a >= 5", "a < 5"),
        ("5 < a", "a <= %low"),
        ("tests.passed", "not tests.passed"),
        ("$user == 'bob'", "$user == 'eve'"),
        ("3 < a < 2",),
    ],
)
def test_needs_that_exclude_each_other(needs: tuple[str, ...]) -> None:
    (finding,) = found_in(*needs, params={"low": 5})
    assert finding.name == "never-true"
    assert "exclude each other" in finding.what


@pytest.mark.parametrize(
    "needs",
    [
        ("a == 1", "b == 2"),
        ("a >= 5", "a <= 5"),
        ("a > 4", "a < 6"),
        ("a == 1 or a == 2",),
        ("m[$key] == 1", "m[$other] == 2"),
        ("a != 1", "a != 2"),
        ("a in [1, 2]", "a not in [1]"),
        ("calls('call') < 1",),
        ("known(a)",),
    ],
)
def test_needs_that_can_be_met(needs: tuple[str, ...]) -> None:
    assert found_in(*needs) == []


def test_arguments_that_a_shell_command_does_not_have() -> None:
    (finding,) = check(of_data(tools={"shell(git push)": {"needs": ["$brnch != 'main'"]}}))
    assert finding.name == "unknown-argument"
    assert finding.what == "the rule of shell(git push) reads $brnch; did you mean $branch?"


def test_arguments_that_are_known() -> None:
    found = of_data(tools={"transfer": {"needs": ["$amout < 5"], "changes": {"sent[$to]": "$amount"}}})
    given = {"transfer": ["amount", "to"]}
    (finding,) = check(found, parameters=given)
    assert finding.what == "the rule of transfer reads $amout; did you mean $amount?"


def test_names_of_tools() -> None:
    (finding,) = found_in("calls('shwo') < 1")
    assert finding.what == "calls('shwo') asks of a tool that the policy does not have; did you mean show?"
    assert names(check(of_data(tools={"shell(git push": {}}))) == ["malformed-tool"]


def test_a_text_without_quotes() -> None:
    (finding,) = found_in("a == 'open'", change={"changes": {"a": "open"}})
    assert finding.what == "no tool shows or changes open, which the value of a of change reads"
    assert finding.remedy == "a text has quotes of its own: \"'open'\""


def test_a_sink_without_a_tool_that_reads_text_from_outside() -> None:
    (finding,) = check(of_data(tools={"send": {"sinks": ["$to"]}}))
    assert (finding.name, finding.what) == (
        "unused-sink",
        "send keeps text from outside off $to, but no tool is untrusted",
    )
    assert check(of_data(tools={"send": {"sinks": ["$to"]}, "web": {"untrusted": True}})) == []


def test_an_argument_in_start() -> None:
    (finding,) = check(of_data(start={"a": "$user"}, tools={"call": {"needs": ["a == 1"]}}))
    assert finding.what == "start: a reads $user, but there is no call"


def test_a_host_that_says_nothing_of_a_tool() -> None:
    found: Policy = of_data(tools={"web": {"shows": {"page": "result"}}, "call": {"needs": ["page == 1"]}})
    (finding,) = check(found, silent={"web": "it calls no hook for its web search"}, host="Codex")
    assert finding.name == "silent-host"
    assert finding.what == "Codex never shows page, which page == 1 reads: it calls no hook for its web search"


@pytest.mark.parametrize(
    "tool, meant",
    [
        ("Shell(git push)", "shell(git push)"),
        ("shell (git push)", "shell(git push)"),
        ("Bash(git push)", "shell(git push)"),
        ("git push", "shell(git push)"),
        ("shell(git push", "shell(git push)"),
        ("mcp (github.merge)", "mcp(github.merge)"),
        ("mcp()", "mcp(SERVER.TOOL)"),
    ],
)
def test_a_name_that_is_no_tools(tool: str, meant: str) -> None:
    (finding,) = check(of_data(tools={tool: {}}))
    assert (finding.name, finding.remedy) == ("malformed-tool", f"write {meant}")


def test_a_field_that_the_result_of_a_shell_does_not_have() -> None:
    rules = {"shell(make test)": {"changes": {"passed": "result.exitcode == 0"}}, "call": {"needs": ["passed"]}}
    (finding,) = check(of_data(tools=rules))
    assert finding.name == "unknown-field"
    assert finding.what == "the result of shell(make test) has no exitcode; did you mean exit?"


@pytest.mark.parametrize(
    "need, remedy",
    [
        ("a == open", "add it to the shows or changes of a tool; a text has quotes of its own: 'open'"),
        ("a == TRUE", "write true"),
        ("open", "add it to the shows or changes of a tool"),
    ],
)
def test_a_word_that_may_be_a_text_or_a_constant(need: str, remedy: str) -> None:
    findings = check(of_data(tools={"call": {"needs": [need]}, "show": {"shows": {"a": "result"}}}))
    assert [finding.remedy for finding in findings] == [remedy]

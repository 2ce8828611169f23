"""The arguments of a step script become a request, whatever their order."""

from __future__ import annotations

import shlex
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.lib.blocks.command_line import CommandLine
from skills.lib.errors import UsageError
from skills.lib.model.run import Run
from skills.lib.runtime import cli
from skills.lib.runtime.help_text import help_text
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.requirements import Arg, Field
from skills.lib.workflow.types import Outcome

WORKFLOW = Workflow(
    "w",
    StepDef("one", "One", next={Outcome.OK: "two"}, requires=[Field("a"), Field("b", "list")]),
    StepDef("two", "Two", next={Outcome.OK: None}),
    params=[Arg("topic"), Arg("max_depth", "int", step="one")],
)


def parsed(*arguments: str) -> Any:
    return cli.parse(WORKFLOW, arguments)


@pytest.mark.req("W-09")
def test_every_flag_has_its_place() -> None:
    request = parsed(
        *("--step", "two", "--run", "r", "--turn", "3", "--project", "/p", "--record", "a=x=y", "--record", "b=1"),
        *("--record", "b=2", "--outcome", "ok", "--topic", "t", "--max-depth=4", "--qr-status", "pass"),
        *("--qr-iteration", "2", "--qr-fail", "--total-steps", "2", "--reason", "because"),
    )
    assert (request.step, request.run, request.turn, request.project) == ("two", "r", 3, "/p")
    assert request.records == {"a": "x=y", "b": ["1", "2"]}
    assert request.params == {"topic": "t", "max_depth": "4"}
    assert (request.outcome, request.reason) == ("ok", "because")
    assert (request.qr_status, request.qr_iteration, request.qr_fail, request.total_steps) == ("pass", 2, True, 2)


@pytest.mark.parametrize("before", [True, False])
def test_a_record_overrides_a_file_wherever_it_stands(tmp_path: Path, before: bool) -> None:
    (tmp_path / "one.json").write_text('{"a": "of one", "b": ["x"], "c": 1}')
    (tmp_path / "two.json").write_text('{"a": "of two", "d": null}')
    files = ["--record-file", str(tmp_path / "one.json"), "--record-file", str(tmp_path / "two.json")]
    records = ["--record", "b=y", "--record", "b=z", "--record", "c=2"]
    request = parsed("--step", "two", *(records + files if before else files + records))
    assert request.records == {"a": "of two", "b": ["y", "z"], "c": "2", "d": None}


@pytest.mark.req("W-09")
@pytest.mark.parametrize(
    "words, value",
    [
        (["--qr-fail"], True),
        (["--qr-fail=true"], True),
        (["--qr-fail=false"], False),
        (["--qr-fail", "false"], False),
        (["--qr-fail", "true"], True),
        ([], None),
    ],
)
def test_the_fail_flag_is_bare_or_has_a_value(words: list[str], value: bool | None) -> None:
    assert parsed("--step", "1", *words, "--turn", "1").qr_fail is value


def test_the_order_of_flags_does_not_matter() -> None:
    pairs = [["--step", "1"], ["--turn", "2"], ["--qr-fail"], ["--record", "a=1"]]
    requests = [parsed(*[word for pair in order for word in pair]) for order in permutations(pairs)]
    assert all(request == requests[0] for request in requests)


def test_a_value_may_look_like_a_flag() -> None:
    assert parsed("--step", "1", "--answer", "--yes").answer == "--yes"
    assert parsed("--step", "1", "--topic=--new").params == {"topic": "--new"}
    assert parsed("--step", "1", "--record", "a=").records == {"a": ""}


def test_the_words_are_read_before_the_workflow_is_known() -> None:
    words = ["--scope=one", "--step", "1", "--qr-fail", "--run", "r", "is", "-h", "--new", "--turn"]
    assert cli.read(words) == [
        *[("scope", "one"), ("step", "1"), ("qr-fail", None), ("run", "r")],
        *[("", "is"), ("help", None), ("new", None), ("turn", None)],
    ]


def test_a_request_keeps_the_step_as_it_was_typed() -> None:
    request = cli.resolve(WORKFLOW, parsed("--step", "2"))
    assert (request.step, request.typed) == ("two", "2")


@pytest.mark.parametrize("flag", ["-h", "--help", "--version"])
def test_help_is_asked_for_in_the_place_of_a_flag(flag: str) -> None:
    assert parsed("--step", "1", "--answer", flag).answer == flag
    assert parsed("--step", "1", "--topic", flag).params == {"topic": flag}
    with pytest.raises(cli.HelpRequested):
        parsed("--step", "1", "--topic", "x", flag)


VALUES = st.one_of(
    st.sampled_from(
        ["", "-h", "--help", "-1", "--", "--run", "-", "=", "a=b", "'", '"', "\n", "a\rb", "$(x)`y`", "\\"]
    ),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40),
    st.lists(st.sampled_from(["-", "'", '"', "=", " ", "\n", "\t", "h", "\\", "!", "#", "~"]), max_size=12).map(
        "".join
    ),
)


@given(VALUES, VALUES, VALUES)
def test_what_is_printed_is_read_back(topic: str, recorded: str, answer: str) -> None:
    command_line = CommandLine("/a python", "/a/script.py", "/a project")
    run = Run(id="k3f9q2mx", script="/a/script.py", turn=7)
    words = ["--topic", topic, "--record", f"a={recorded}", "--answer", answer]
    python, script, *arguments = shlex.split(command_line.step("one", run, *words))
    assert (python, script) == ("/a python", "/a/script.py")
    read = cli.parse(WORKFLOW, arguments)
    assert (read.step, read.run, read.turn, read.project) == ("one", "k3f9q2mx", 7, "/a project")
    assert (read.params, read.records, read.answer) == ({"topic": topic}, {"a": recorded}, answer)
    begun = cli.parse(WORKFLOW, shlex.split(command_line.start("--topic", topic))[2:])
    assert (begun.step, begun.params) == ("1", {"topic": topic})


@pytest.mark.parametrize("account", ["lost", "replace"])
@pytest.mark.parametrize(
    "words",
    [
        ["--record", "a=1"],
        ["--outcome", "ok"],
        ["--answer", "yes"],
        ["--qr-status", "pass"],
        ["--qr-iteration", "1"],
        ["--qr-fail=false"],
        ["--max-depth", "2"],
    ],
)
def test_who_accounts_for_a_sub_agent_reports_nothing_else(account: str, words: list[str]) -> None:
    child = [f"--{account}", "k3f9q2mx.1", "--reason", "it hangs", "--run", "k3f9q2mx", "--turn", "2", "--step", "next"]
    assert getattr(parsed(*child, "--topic", "x"), account) == "k3f9q2mx.1"
    with pytest.raises(UsageError) as told:
        parsed(*child, *words)
    assert f"--{account} " in told.value.what
    assert f" {words[0].partition('=')[0]} " in told.value.what


@pytest.mark.parametrize(
    "asked, step",
    [
        ("1", "one"),
        ("2", "two"),
        ("one", "one"),
        ("next", "next"),
        ("done", "done"),
        ("current", "current"),
        ("01", "one"),
    ],
)
def test_a_step_is_an_id_a_position_or_a_word(asked: str, step: str) -> None:
    assert cli.step_id(WORKFLOW, asked) == step


@pytest.mark.parametrize("asked", ["0", "3", "three", "One", "", " one", "one\n", "²", None])
def test_an_unknown_step_names_the_valid_ones(asked: str | None) -> None:
    with pytest.raises(UsageError) as told:
        cli.step_id(WORKFLOW, asked)
    assert told.value.valid == "1 one, 2 two, next, done, current"
    assert told.value.exit_code == 2


def test_help_and_version_are_asked_for() -> None:
    for arguments in (["--help"], ["-h"], ["--step", "1", "--help"]):
        with pytest.raises(cli.HelpRequested, match="prints one step of the workflow w"):
            cli.parse(WORKFLOW, arguments)
    with pytest.raises(cli.HelpRequested, match=r"lockstep \d+\.\d+\.\d+, protocol 1"):
        cli.parse(WORKFLOW, ["--version"])


def test_help_says_how_to_find_a_run_again_and_no_default_if_there_is_none() -> None:
    workflow = Workflow(
        "w",
        StepDef("one", "One", next={Outcome.OK: None}),
        params=[
            Arg("seed", "int", required=False),
            Arg("depth", "int", required=False, default=3),
            Arg("word", required=False, default=""),
            Arg("mode", choices=("quick", "full"), required=False, default="quick"),
        ],
    )
    lines = help_text(workflow).splitlines()
    assert "  --seed                   a whole number (fixed when the run opens)" in lines
    assert "  --depth                  a whole number (fixed when the run opens, default 3)" in lines
    assert '  --word                   a text (fixed when the run opens, default "")' in lines
    assert "  --mode                   one of quick, full (fixed when the run opens, default quick)" in lines
    assert "Lost:   --step current without --run refuses, and lists the open runs; lockstep resume does, too" in lines


@pytest.mark.parametrize(
    "words, remedy",
    [
        (["Should we move?"], "give it with its flag: --topic 'Should we move?'"),
        (["--topic", "t", "Should we move?"], "give it with its flag, or quote a value that has spaces"),
        (["--topic", "t", "is"], "give it with its flag, or quote a value that has spaces"),
        (["--run", "r", "is"], "give it with its flag, or quote a value that has spaces"),
        (["don't"], """give it with its flag: --topic 'don'"'"'t'"""),
        (["x" * 500], "give it with its flag: --topic …"),
    ],
)
def test_a_word_without_a_flag_names_the_flags_that_take_one(words: list[str], remedy: str) -> None:
    with pytest.raises(UsageError) as told:
        parsed("--step", "1", *words)
    assert told.value.what.endswith("is not a flag")
    assert told.value.valid.startswith("--topic --max-depth --record --record-file --erratum --outcome --answer ")
    assert "--new" not in told.value.valid.split()
    assert told.value.remedy == remedy

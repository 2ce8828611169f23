"""``lockstep stats`` of runs that an agent followed: success, model calls, recovery, failures, cost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool, StructuredTool

from skills.lib import paths
from skills.lib.agent.agent import Agent
from skills.lib.agent.watching.activity import path_in
from skills.lib.agent.watching.failures import is_retryable, kind_of
from skills.lib.commands.console.app import lockstep
from tests.agent.money.conftest import host
from tests.agent.scripted import Answer, ScriptedModel, calling, in_turn, report
from tests.agent.sessions import filled

Config = Callable[[str], Path]


def stats(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(lockstep, ["stats", *words, "--project", str(folder)], prog_name="lockstep")


def sessions(folder: Path) -> Any:
    return json.loads(stats(folder, "--json").output)[0]["sessions"]


def reader() -> BaseTool:
    """A tool that reads data.csv as latin-1 alone, and never again what takes too long."""

    def read(path: str, encoding: str = "utf-8") -> str:
        if path == "slow.csv":
            raise RuntimeError("it timed out")
        if encoding != "latin-1":
            raise RuntimeError(f"{path} is not UTF-8 at byte 3")
        return "town;people"

    return StructuredTool.from_function(read, name="read", description="Read a file.")


def following(folder: Path, *answers: Answer) -> str:
    """A run that these answers are given in; then each step is reported."""
    script = in_turn(*answers)
    left = list(answers)

    def answer(messages: list[BaseMessage], tools: list[dict[str, Any]]) -> Answer:
        if left:
            left.pop()
            return script(messages, tools)  # type: ignore[return-value]
        return report(**filled(tools, {}, "ok"))

    agent = Agent(str(folder), ScriptedModel(answer=answer, model_name="openai:gpt-5.2"), tools=[reader()])
    return agent.advance(agent.start("plain", f"task {answers!r:.60}", new=True)).status


def read(path: str = "data.csv", **more: str) -> AIMessage:
    return calling(("read", {"path": path, **more}))


def test_the_figures_of_sessions(plain: Path) -> None:
    assert following(plain, read(), read(encoding="latin-1")) == "done"
    assert following(plain, read(), read(encoding="latin-1"), read("slow.csv")) == "done"
    assert following(plain, "I am", "done", "with", "it") == "stopped"
    found = sessions(plain)
    cost = found.pop("cost")
    assert (cost["calls"], cost["unpriced"]) == (13, 0)
    assert found.pop("cost_by_model").keys() == {"openai:gpt-5.2"}
    assert found == {
        "runs": 3,
        "done": 2,
        "ended": 3,
        "success_rate": 0.6667,
        "model_calls_a_run": 4.5,
        "failed_calls": 3,
        "recovered": 2,
        "recovery_rate": 0.6667,
        "most_common_recovery": {
            "tool": "read",
            "failure": "encoding",
            "then": "read with another encoding",
            "times": 2,
        },
        "failures": {"retryable": 1, "fatal": 2},
    }


def test_a_person_reads_them_below_the_steps(plain: Path) -> None:
    following(plain, read(), read(encoding="latin-1"))
    shown = stats(plain).output
    below = shown[shown.index("Followed by") :].splitlines()
    assert below[:-1] == [
        "Followed by an agent: 1 run, 4 model calls",
        "  success rate   100%  (1 of 1 that ended or stopped are done)",
        "  model calls    4.0  in a run that is done",
        "  recovery rate  100%  (1 of 1 failed call)",
        "  most often     read, encoding: read with another encoding  (100%)",
        "  failures       0 retryable, 1 fatal",
    ]
    assert below[-1].startswith("  cost           openai:gpt-5.2 $")


def test_a_run_that_nobody_followed_has_none(plain: Path) -> None:
    host(plain).start("plain", "nobody follows it")
    assert sessions(plain) is None
    assert "Followed by" not in stats(plain).output


def test_damaged_activities_leave_the_rest(plain: Path) -> None:
    following(plain)
    Path(path_in(paths.home(str(plain)))).write_bytes(b"no database at all" * 200)
    shown = stats(plain)
    assert shown.exit_code == 0
    assert "What agents' sessions did is left out" in shown.output
    assert "plain" in shown.output


@pytest.mark.parametrize(
    "text, kind",
    [
        ("data.csv is not UTF-8: byte 0xe9 at 17", "encoding"),
        ("UnicodeDecodeError: 'utf-8' codec can't decode byte", "encoding"),
        ("there is no file dta.csv; did you mean data.csv?", "missing file"),
        ("cat: x: No such file or directory", "missing file"),
        ("there is no program radon in the project", "missing program"),
        ("sh: 1: radon: command not found", "missing program"),
        ("the command was ended after 120 s", "timeout"),
        ("curl: (28) Operation timed out", "timeout"),
        ("HTTP 429 Too Many Requests", "rate limit"),
        ("Connection reset by peer", "network"),
        ("database is locked", "busy"),
        ("Permission denied", "permission"),
        ("json.decoder.JSONDecodeError: Expecting value", "malformed"),
        ("exit 3", "other"),
        ("x" * 1_000_000 + " timed out", "timeout"),
        ("", "other"),
    ],
)
def test_failures_are_sorted_by_what_they_say(text: str, kind: str) -> None:
    assert kind_of(text) == kind


@pytest.mark.parametrize(
    "reason, retryable",
    [
        ("openai:x gave no answer: it limits how often it may be asked (HTTP 429)", True),
        ("openai:x gave no answer: it does not accept the key (HTTP 401)", False),
        ("the budget usd_per_day is spent", None),
    ],
)
def test_a_stop_for_its_model_may_pass_or_not(reason: str, retryable: bool | None) -> None:
    assert is_retryable(reason) is retryable

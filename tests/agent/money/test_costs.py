"""``lockstep agent cost`` and ``lockstep agent settings``: what operators read."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from skills.lib import paths
from skills.lib.agent.watching.activity import Activity, path_in
from skills.lib.commands.console.app import lockstep
from tests.agent.money.conftest import host, taking
from tests.agent.sessions import project

Config = Callable[[str], Path]


def call(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(lockstep, ["agent", *words, "--project", str(folder)], prog_name="lockstep")


def done(folder: Path, task: str, model: Any = None, skill: str = "plain") -> str:
    agent = host(folder, model)
    run = agent.start(skill, task)
    assert agent.advance(run).status == "done"
    return run


@pytest.mark.req("A-12.5")
def test_the_cost_is_told_by_model_with_what_is_unknown(plain: Path) -> None:
    done(plain, "one", taking(1_000, cached=400))
    done(plain, "two", taking(2_000, name="openai:my-own"))
    shown = call(plain, "cost")
    assert shown.exit_code == 0
    assert [line.split("  ") for line in shown.output.splitlines() if line] == [
        line.split("  ")
        for line in (
            "MODEL           CALLS  READ   FROM CACHE  WRITTEN  COST",
            # 2 * (600 * 1.75 + 400 * 0.175 + 100 * 14) dollars for a million
            "openai:gpt-5.2  2      2,000  800         200      $0.0050",
            "openai:my-own   2      4,000  0           200      unknown",
            "total           4      6,000  800         400      $0.0050 + 2 calls of unknown price",
            f'The price of openai:my-own is not known: set [agent.prices."openai:my-own"] in '
            f"{plain.parent / 'config' / 'lockstep.toml'}.",
        )
    ]


@pytest.mark.req("A-12.5")
def test_a_price_that_is_set_later_counts_for_calls_before(plain: Path, config: Config) -> None:
    run = done(plain, "one", taking(1_000, name="openai:my-own"))
    config('[agent.prices."openai:my-own"]\ninput = 1\noutput = 2')
    total = json.loads(call(plain, "cost", run, "--json").output)["total"]
    assert (total["calls"], total["usd"], total["unpriced"]) == (2, pytest.approx(2 * (1_000 + 200) / 1e6), 0)


@pytest.mark.req("A-12.5")
@pytest.mark.parametrize("by", ["run", "skill", "model", "user", "day"])
def test_it_is_summed_up_by_what_is_asked(plain: Path, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "alice")
    first = done(plain, "one")
    monkeypatch.setenv("LOGNAME", "bob")
    second = done(plain, "two")
    today = time.strftime("%Y-%m-%d", time.gmtime())
    found = json.loads(call(plain, "cost", "--by", by, "--json").output)["groups"]
    expected = {
        "run": {first, second},
        "skill": {"plain"},
        "model": {"openai:gpt-5.2"},
        "user": {"alice", "bob"},
        "day": {today},
    }
    assert set(found) == expected[by]
    assert sum(one["calls"] for one in found.values()) == 4


def test_sub_agents_are_of_their_run(tmp_path: Path, config: Config) -> None:
    folder = project(tmp_path / "p", "brood")
    values = {"targets": ["a", "b", "c", "d"], "verdict": "pass", "summary": "all was seen"}
    model = taking(1_000, values=values)
    run = done(folder, "look at all", model, "brood")
    calls = json.loads(call(folder, "cost", "--by", "run", "--json").output)["groups"][run]["calls"]
    assert calls == len(model.calls) == 15


def test_it_is_of_one_skill_and_since_a_time(tmp_path: Path, plain: Path) -> None:
    done(plain, "one")
    for words, calls in (
        (("--skill", "plain"), 2),
        (("--skill", "other"), 0),
        (("--since", "7d"), 2),
        (("--since", "12h"), 2),
        (("--since", "2020-01-01"), 2),
        (("--since", "2090-01-01"), 0),
    ):
        assert json.loads(call(plain, "cost", *words, "--json").output)["total"]["calls"] == calls, words
    shown = call(plain, "cost", "--since", "yesterday")
    assert (shown.exit_code, "'yesterday' is no time" in shown.output) == (2, True)


def test_calls_without_an_answer_are_named(plain: Path) -> None:
    run = done(plain, "one")
    with Activity(path_in(paths.home(str(plain)))) as activity:
        activity.note(run, 1, 1, "model", {"step": "note", "model": "openai:gpt-5.2"})
    shown = call(plain, "cost", run)
    assert "1 call got no answer: what that took is not known." in shown.output
    assert json.loads(call(plain, "cost", run, "--json").output)["total"]["unanswered"] == 1


def test_a_project_without_runs_has_no_cost(plain: Path) -> None:
    shown = call(plain, "cost")
    assert (shown.exit_code, shown.output) == (0, f"No model call was made in {plain}.\n")
    unknown = call(plain, "cost", "k3f9q2mx")
    assert unknown.exit_code == 4


def test_settings_say_what_is_in_force_and_where_it_is_from(plain: Path, config: Config) -> None:
    file = config("[agent]\nmax_iterations = 20\nmodel = 'opus'")
    (plain / "lockstep.toml").write_text("[agent]\nmax_iterations = 8\nmax_retries_per_tool = 9\n", encoding="utf-8")
    shown = call(plain, "settings").output
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert [line for line in lines if line.startswith("agent.model ")] == [f"agent.model opus {file}:3"]
    assert f"agent.max_iterations 8 {plain / 'lockstep.toml'}:2" in lines
    assert "agent.max_retries_per_tool 3 default" in lines
    assert lines[-1] == (
        f"{plain / 'lockstep.toml'}:3 changes nothing: a project can only narrow agent.max_retries_per_tool."
    )
    found = {one["key"]: one for one in json.loads(call(plain, "settings", "--json").output)}
    assert found["agent.max_iterations"] == {
        "key": "agent.max_iterations",
        "value": 8,
        "place": f"{plain / 'lockstep.toml'}:2",
        "unheeded": "",
    }
    assert found["agent.budgets.usd_per_day"]["value"] is None


def test_settings_say_that_the_environment_names_another_model(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTEP_MODEL", "openai:gpt-5.2")
    shown = call(plain, "settings")
    assert "LOCKSTEP_MODEL is set, and holds before agent.model: openai:gpt-5.2\n" in shown.output

"""Budgets in tokens and money of a run and of its user, what is warned of, and the rate of openings."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import BaseMessage

from skills.lib.agent import LockstepMiddleware
from skills.lib.agent.agent import Agent
from skills.lib.agent.money.pricing import Pricing, Usage
from skills.lib.agent.money.spending import Spending, Spent
from skills.lib.errors import EnvironmentProblem, RefusedError
from tests.agent.money.conftest import host, taking
from tests.agent.scripted import Answer, ScriptedModel, in_turn
from tests.agent.sessions import honest, project
from tests.fixtures.skill import ROOT

pytestmark = pytest.mark.req("A-13")
Config = Callable[[str], Path]


def budget(text: str) -> str:
    return f"[agent.budgets]\n{text}\n"


def warnings(agent: Agent, run: str) -> list[str]:
    return [event.text for event in agent.follow(run) if event.kind == "budget"]


def test_a_run_stops_in_order_at_its_budget_and_goes_on_with_a_larger_one(plain: Path, config: Config) -> None:
    file = config(budget("tokens_per_run = 1_100"))
    model = taking()
    agent = host(plain, model)
    run = agent.start("plain", "tidy up")
    ended = agent.advance(run)
    assert (ended.status, ended.step, len(model.calls)) == ("stopped", "again", 1)
    assert ended.reason == (
        f"The budget tokens_per_run is spent: 1,100 of 1,100 tokens in this run. To go on, raise it in {file}."
    )
    assert host(plain, model).advance(run).reason == ended.reason
    assert len(model.calls) == 1
    config(budget("tokens_per_run = 2_000"))
    assert host(plain, model).advance(run).status == "done"


@pytest.mark.parametrize("period", ["day", "month"])
def test_a_budget_of_the_user_holds_in_all_projects(tmp_path: Path, plain: Path, config: Config, period: str) -> None:
    config(budget(f"tokens_per_{period} = 2_200"))
    first, second = taking(), taking()
    agent = host(plain, first)
    assert agent.advance(agent.start("plain", "tidy up")).status == "done"
    other = host(project(tmp_path / "q", "plain"), second)
    with pytest.raises(RefusedError, match=f"tokens_per_{period} is spent: 2,200 of 2,200 tokens since"):
        other.start("plain", "tidy up")
    assert not (tmp_path / "q" / ".lockstep" / "runs.db").exists()
    assert len(second.calls) == 0


def test_a_budget_in_money_is_counted_by_the_price_of_the_model(plain: Path, config: Config) -> None:
    config(budget("usd_per_run = 0.003"))  # a call takes 1,000 * 1.75 and 100 * 14 dollars for a million
    agent = host(plain)
    ended = agent.advance(agent.start("plain", "tidy up"))
    assert ended.reason.startswith("The budget usd_per_run is spent: $0.0032 of $0.0030 in this run.")


def test_it_warns_once_at_80_percent_and_stops_at_all(plain: Path, config: Config) -> None:
    config(budget("tokens_per_run = 1_300\ntokens_per_day = 1_000_000"))
    agent = host(plain)
    run = agent.start("plain", "tidy up")
    assert agent.advance(run).status == "done"
    assert warnings(agent, run) == ["85 % of the budget tokens_per_run are spent: 1,100 of 1,300 tokens in this run."]


def test_each_run_warns_of_a_budget_of_the_user(tmp_path: Path, plain: Path, config: Config) -> None:
    config(budget("tokens_per_day = 10_000"))
    agent = host(plain, taking(3_900))
    runs = [agent.start("plain", task) for task in ("one", "two")]
    assert [agent.advance(run).status for run in runs] == ["done", "stopped"]
    assert [len(warnings(agent, run)) for run in runs] == [1, 0]


@pytest.mark.parametrize("name", ["openai:my-own", "scripted"])
def test_a_budget_in_money_refuses_a_model_of_unknown_price_before_a_run_is_opened(
    plain: Path, config: Config, name: str
) -> None:
    file = config(budget("usd_per_day = 5"))
    agent = host(plain, taking(name=name))
    with pytest.raises(RefusedError) as refused:
        agent.start("plain", "tidy up")
    assert refused.value.what == f"the price of {name} is not known, and the budget usd_per_day is in money"
    assert refused.value.remedy == (
        f'set [agent.prices."{name}"] input and output, in US dollars for a million tokens, in {file}'
    )
    assert not (plain / ".lockstep" / "runs.db").exists()
    config(budget("usd_per_day = 5") + f'[agent.prices."{name}"]\ninput = 1\noutput = 1')
    agent = host(plain, taking(name=name))
    assert agent.advance(agent.start("plain", "tidy up")).status == "done"


def test_a_session_stops_before_a_model_of_unknown_price(plain: Path, config: Config) -> None:
    run = host(plain).start("plain", "tidy up")
    config(budget("usd_per_day = 5"))
    model = taking(name="openai:my-own")
    ended = host(plain, model).advance(run)
    assert (ended.status, model.calls) == ("stopped", [])
    assert ended.reason.startswith(
        "The price of openai:my-own is not known, and the budget usd_per_day is in money. To go on, set [agent.prices."
    )


def test_sub_agents_count_with_their_run(tmp_path: Path, config: Config) -> None:
    config(budget("tokens_per_run = 2_000"))
    folder = project(tmp_path / "p", "brood")
    values = {"targets": ["a", "b", "c", "d"], "verdict": "pass", "summary": "all was seen"}
    model = taking()
    told = honest(values)

    def answer(messages: list[BaseMessage], tools: list[dict[str, Any]]) -> Answer:
        found = told(messages, tools)
        assert not isinstance(found, str)
        usage = {"input_tokens": 900, "output_tokens": 100, "total_tokens": 1_000}
        return found.model_copy(update={"usage_metadata": usage})

    model.answer = answer
    agent = host(folder, model)
    run = agent.start("brood", "look at all")
    ended = agent.advance(run)
    assert ended.status == "stopped"
    assert "tokens_per_run" in ended.reason
    # Those that begin at once may each make one call more.
    assert 2 <= len(model.calls) <= 6
    assert Spending(agent.home).of_run(run).tokens == 1_000 * len(model.calls)
    config("")
    assert host(folder, model).advance(run).status == "done"  # no sub-agent was given up


def test_sessions_at_once_count_together(tmp_path: Path, config: Config) -> None:
    config(budget("tokens_per_day = 11_000"))
    models = [taking() for _ in range(6)]
    agents = [host(project(tmp_path / f"p{number}", "plain"), model) for number, model in enumerate(models)]
    runs = [agent.start("plain", "tidy up") for agent in agents]
    threads = [threading.Thread(target=one.advance, args=(run,)) for one, run in zip(agents, runs, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    made = sum(len(model.calls) for model in models)
    assert Spending(str(tmp_path)).since(0).tokens == 1_100 * made
    assert 10 <= made <= 12  # 12 without a budget; of those that begin at once, none knows what another will take


def test_an_estimate_stands_until_the_answer_or_until_nothing_is_taken(plain: Path, config: Config) -> None:
    spending = Spending(str(plain))
    number = spending.begin("r1", "openai:gpt-5.2", 700, 0.001)
    assert spending.of_run("r1") == Spent(tokens=700, usd=0.001, unpriced=0)
    spending.end(number, 900, None)
    assert spending.of_run("r1") == Spent(tokens=900, usd=0.0, unpriced=1)
    spending.release(number)
    assert spending.of_run("r1") == Spent()


def test_a_call_without_an_answer_counts_only_if_it_may_cost(plain: Path, config: Config) -> None:
    from skills.lib.agent.models.model_errors import ModelError

    for kind, counted in (("authentication", False), ("timeout", True)):
        agent = host(plain, ScriptedModel(answer=in_turn(ModelError("no", kind=kind)), model_name="openai:gpt-5.2"))
        run = agent.start("plain", kind)
        assert agent.advance(run).status == "stopped"
        assert (Spending(agent.home).of_run(run).tokens > 0) is counted, kind


def test_a_run_that_goes_on_is_counted_once(plain: Path, config: Config) -> None:
    agent = host(plain)
    run = agent.start("plain", "tidy up")
    assert agent.advance(run).status == "done"
    assert agent.advance(run).status == "done"
    assert Spending(agent.home).of_run(run).tokens == 2_200
    assert Spending(agent.home).since(time.time() - 60).tokens == 2_200


def test_what_a_provider_does_not_say_is_estimated(plain: Path, config: Config) -> None:
    told = honest({}, outcome="ok")

    class Silent(ScriptedModel):
        def _message(self, answer: Answer, messages: list[BaseMessage]) -> Any:
            return super()._message(answer, messages).model_copy(update={"usage_metadata": None})

    agent = host(plain, Silent(answer=told, model_name="openai:gpt-5.2"))
    run = agent.start("plain", "tidy up")
    assert agent.advance(run).status == "done"
    rows = [event.data for event in agent.follow(run, level="FULL") if event.kind == "usage"]
    assert [row["estimate"] for row in rows] == [True, True]
    assert Spending(agent.home).of_run(run).tokens == sum(row["input"] + row["output"] for row in rows) > 100


def test_a_skill_is_opened_so_often_an_hour(tmp_path: Path, plain: Path, config: Config) -> None:
    config(budget("starts_per_hour = 2"))
    agent = host(plain)
    opened = [agent.start("plain", task) for task in ("one", "two", "one")]
    assert opened[0] == opened[2] != opened[1]  # the same task goes on: it is no new run
    other = host(project(tmp_path / "q", "plain"))
    with pytest.raises(RefusedError) as refused:
        other.start("plain", "three")
    assert refused.value.what == (
        "2 runs of plain were opened within the last hour, which is all that starts_per_hour allows"
    )
    assert refused.value.valid.startswith("another one from ")
    another = host(project(tmp_path / "r", "brood"))
    assert another.start("brood", "of another skill")


def test_the_hour_slides(plain: Path, config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    spending = Spending(str(plain))
    now = 1_000_000.0
    monkeypatch.setattr("skills.lib.agent.money.spending.time.time", lambda: now)
    assert [spending.start(f"r{number}", "plain", 2) for number in range(3)] == [0.0, 0.0, now + 3600]
    assert spending.start("r1", "plain", 2) == 0.0  # known
    now += 3601
    assert spending.start("r3", "plain", 2) == 0.0


def test_days_and_months_end_at_midnight_utc(plain: Path, config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    config(budget("tokens_per_day = 1_000\ntokens_per_month = 1_500"))
    agent, spending = host(plain), Spending(str(plain))
    run = agent.start("plain", "tidy up")
    now = 1_796_083_200.0 - 1  # 30 November 2026, 23:59:59
    monkeypatch.setattr("skills.lib.agent.money.spending.time.time", lambda: now)
    spending.begin("other", "openai:gpt-5.2", 1_000, None)
    assert "tokens_per_day" in agent.advance(run).reason
    now += 2
    assert agent.advance(run).status == "stopped"  # of 1,000 of the new day and 1,500 of the new month, 1,100 are spent
    assert Spending(agent.home).of_run(run).tokens == 1_100


def test_a_state_folder_that_cannot_be_written_stops_a_budget_alone(
    tmp_path: Path, plain: Path, config: Config
) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "agent").write_text("no folder", encoding="utf-8")
    agent = host(plain)
    assert agent.advance(agent.start("plain", "without a budget")).status == "done"
    config(budget("tokens_per_day = 1_000"))
    with pytest.raises(EnvironmentProblem, match=r"cannot be counted in .*spending\.db"):
        host(plain).start("plain", "with one")


def test_a_damaged_file_says_what_to_do(plain: Path, config: Config) -> None:
    config(budget("tokens_per_day = 1_000"))
    path = Spending(str(plain)).path
    os.makedirs(os.path.dirname(path))
    Path(path).write_bytes(b"no database at all" * 100)
    with pytest.raises(EnvironmentProblem) as raised:
        host(plain).start("plain", "tidy up")
    assert "move it aside" in raised.value.remedy


def test_the_file_is_its_owners_alone(plain: Path, config: Config) -> None:
    agent = host(plain)
    agent.advance(agent.start("plain", "tidy up"))
    path = Path(Spending(str(plain)).path)
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


def test_prices_are_the_users_first_then_those_of_the_library() -> None:
    from skills.lib.agent.configuration.lockstep_toml import Price

    pricing = Pricing({"openai:own": Price(input=1.0, output=2.0, cached_input=0.25)})
    million = Usage(input=1_000_000, output=500_000, cached=400_000)
    assert pricing.usd("openai:own", million) == pytest.approx(0.6 + 0.1 + 1.0)
    # 1.75 fresh, 0.175 cached, 14 written
    assert pricing.usd("openai:gpt-5.2", million) == pytest.approx(0.6 * 1.75 + 0.4 * 0.175 + 0.5 * 14)
    for unknown in ("gpt-5.2", "openai:nobody-has-it", "nobody:gpt-5.2", ""):
        assert pricing.usd(unknown, million) is None, unknown
    odd = Usage(input=10, output=0, cached=99)
    assert pricing.usd("openai:own", odd) == pytest.approx(10 * 0.25 / 1_000_000)


@pytest.mark.parametrize("is_async", [False, True])
def test_an_agent_of_langchain_is_held_to_the_budgets_too(plain: Path, config: Config, is_async: bool) -> None:
    config(budget("tokens_per_run = 1_100"))
    model = taking()
    agent = host(plain, model)
    run = agent.start("plain", "tidy up")
    middleware = LockstepMiddleware(run, str(plain))
    graph: Any = create_agent(model, tools=[], middleware=[middleware])
    given = {"messages": [("user", "begin")]}
    result = asyncio.run(graph.ainvoke(given)) if is_async else graph.invoke(given)
    middleware.close()
    assert result["messages"][-1].text.startswith("The budget tokens_per_run is spent: 1,100 of 1,100 tokens")
    assert len(model.calls) == 1
    assert Spending(agent.home).of_run(run).tokens == 1_100


KILLED = """
import os, signal, sys
sys.path.insert(0, {root!r})
from tests.agent.money.conftest import host
from tests.agent.scripted import ScriptedModel

def answer(messages, tools):
    os.kill(os.getpid(), signal.SIGKILL)

agent = host({folder!r}, ScriptedModel(answer=answer, model_name="openai:gpt-5.2"))
agent.advance({run!r})
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
def test_a_session_that_is_killed_in_a_call_counts_what_it_sent_and_no_call_twice(plain: Path, config: Config) -> None:
    agent = host(plain)
    run = agent.start("plain", "tidy up")
    code = KILLED.format(root=str(ROOT), folder=str(plain), run=run)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    sent = Spending(agent.home).of_run(run)
    assert sent.tokens > 300
    assert sent.usd == pytest.approx(sent.tokens * 1.75 / 1e6)
    assert agent.advance(run).status == "done"
    assert Spending(agent.home).of_run(run).tokens == sent.tokens + 2_200


def test_a_budget_of_the_project_is_said_to_be_raised_in_its_file(plain: Path, config: Config) -> None:
    config(budget("tokens_per_run = 9_000\nstarts_per_hour = 9"))
    file = plain / "lockstep.toml"
    file.write_text(budget("tokens_per_run = 1_100\nstarts_per_hour = 1"), encoding="utf-8")
    agent = host(plain, taking())
    ended = agent.advance(agent.start("plain", "tidy up"))
    assert ended.reason.endswith(f"To go on, raise it in {file}.")
    with pytest.raises(RefusedError) as refused:
        agent.start("plain", "something else")
    assert str(refused.value.remedy).endswith(f"starts_per_hour in {file}")

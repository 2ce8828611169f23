"""Which model a call is made with: the command's, the step's, the sub-agent's, the skill's, the user's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib.agent.agent import Agent
from skills.lib.agent.configuration.lockstep_toml import Configuration
from skills.lib.agent.models.aliases import MODELS
from skills.lib.agent.models.model_choice import ModelChoice
from skills.lib.agent.money.pricing import Pricing
from skills.lib.errors import UsageError
from tests.agent.sessions import project
from tests.agent.wires.protocols import Said
from tests.agent.wires.servers import Wire, serving
from tests.agent.wires.walking import reporting
from tests.fixtures.skill import source_of

Config = Callable[[str], Path]
URL = "http://127.0.0.1:1/v1"
STEPS = """
StepDef("look", "Look", ["Look."], {Outcome.OK: "ask"}, requires=[Field("seen")], model="haiku"),
StepDef("ask", "Ask", ["Ask."], {Outcome.OK: "close"}, Dispatch("explore", task="Read it.", model="opus")),
StepDef("close", "Close", ["Close."], {Outcome.OK: None}, requires=[Field("said")]),
"""


def chosen(*wanted: str, given: str | None = None, base_url: str = "", **configured: object) -> str:
    return ModelChoice(given, base_url, Configuration(**configured)).name(*wanted)  # type: ignore[arg-type]


def test_the_first_that_names_one_holds(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen() == ""
    assert chosen(model="openai:a") == "openai:a"
    monkeypatch.setenv("LOCKSTEP_MODEL", "openai:b")
    assert chosen(model="openai:a") == "openai:b"
    assert chosen("", "openai:c") == "openai:c"
    assert chosen("openai:d", "openai:c") == "openai:d"
    assert chosen("openai:d", given="openai:e") == "openai:e"


@pytest.mark.req("A-12.2")
@pytest.mark.parametrize("provider", ["anthropic", "openai", "google_genai"])
def test_aliases_are_models_of_the_provider_whose_price_is_known(config: Config, provider: str) -> None:
    for alias in ("haiku", "sonnet", "opus"):
        found = chosen(alias, model=f"{provider}:any")
        assert found == f"{provider}:{MODELS[provider][alias]}"
        assert Pricing({}).knows(found), found
    assert chosen("Opus", model="anthropic:any") == "anthropic:claude-opus-5-5"


@pytest.mark.req("A-12.2")
def test_the_provider_of_an_alias_is_that_of_the_key(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-1")
    assert chosen("haiku") == "anthropic:claude-haiku-5-5"
    assert chosen(model="sonnet") == "anthropic:claude-sonnet-5-5"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-2")
    assert chosen(model="opus") == "openai:gpt-5.6-sol"


@pytest.mark.req("A-12.2")
def test_the_user_sets_what_an_alias_stands_for(config: Config) -> None:
    own = {"haiku": "openai:own-small", "custom": "anthropic:tuned"}
    assert chosen("haiku", model="anthropic:any", models=own) == "openai:own-small"
    assert chosen("custom", model="anthropic:any", models=own) == "anthropic:tuned"
    assert chosen(given="custom", models=own) == "anthropic:tuned"
    assert chosen("sonnet", model="haiku", models=own) == "openai:gpt-5.6-terra"


@pytest.mark.req("A-12.3")
@pytest.mark.parametrize(
    "wanted, default, base_url",
    [
        ("opus", "ollama:llama3", ""),
        ("opus", "openai:llama3", URL),
        ("custom", "openai:gpt-5.2", ""),
        ("claude-opus-4", "openai:gpt-5.2", ""),
        ("inhouse-7b", "openai:gpt-5.2", ""),
    ],
)
def test_what_the_provider_does_not_have_is_the_default_and_said(
    config: Config, caplog: pytest.LogCaptureFixture, wanted: str, default: str, base_url: str
) -> None:
    assert chosen(wanted, model=default, base_url=base_url) == default
    assert f"{default} is used" in caplog.text


def test_a_default_without_a_provider_is_the_default_and_nothing_is_said(
    config: Config, caplog: pytest.LogCaptureFixture
) -> None:
    assert chosen(model="gpt-5.2") == "gpt-5.2"
    assert caplog.text == ""


def test_a_bare_name_in_a_skill_for_another_host_is_of_its_provider(config: Config) -> None:
    assert chosen("claude-opus-4-5", model="anthropic:any") == "anthropic:claude-opus-4-5"


@pytest.mark.parametrize("given, default", [("opus", "ollama:llama3"), ("opus", ""), (None, "opus")])
def test_an_alias_that_a_person_names_stands_for_a_model_or_is_refused(
    config: Config, given: str | None, default: str
) -> None:
    with pytest.raises(UsageError) as raised:
        chosen(given=given, model=default)
    assert raised.value.what.startswith("opus stands for no model of ")
    assert "haiku, sonnet, opus of anthropic, openai, google_genai" in raised.value.valid
    assert '[agent.models] opus = "provider:name"' in raised.value.remedy


@pytest.mark.req("A-12", "A-12.1", "A-12.4")
def test_steps_and_sub_agents_and_skills_have_models_of_their_own(
    tmp_path: Path, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving("openai", reporting) as wire:
        folder = told(tmp_path, config, wire, monkeypatch)
        agent = Agent(str(folder), base_url=wire.url, tools=[])
        run = agent.start("models", "look at all")
        assert agent.advance(run).status == "done"
        assert [asked.body["model"] for asked in wire.asked] == ["small", "powerful", "of-the-skill", "of-the-skill"]
        rows = [event.data for event in agent.follow(run, level="FULL") if event.kind in ("model", "usage")]
        assert [row["model"] for row in rows] == [
            *["openai:small"] * 2,
            *["openai:powerful"] * 2,
            *["openai:of-the-skill"] * 4,
        ]


@pytest.mark.req("A-12.3")
@pytest.mark.req("A-12.6")
def test_a_model_that_is_given_at_the_start_is_over_all(
    tmp_path: Path, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving("openai", reporting) as wire:
        folder = told(tmp_path, config, wire, monkeypatch)
        agent = Agent(str(folder), "openai:given", base_url=wire.url, tools=[])
        assert agent.advance(agent.start("models", "look at all")).status == "done"
        assert {asked.body["model"] for asked in wire.asked} == {"given"}
        (folder / "skills/models/SKILL.md").write_text(ABOUT.format(""), encoding="utf-8")
        wire.asked.clear()
        agent = Agent(str(folder), base_url=wire.url, tools=[])
        assert agent.advance(agent.start("models", "again")).status == "done"
        assert [asked.body["model"] for asked in wire.asked] == ["small", "powerful", "default", "default"]


@pytest.mark.req("A-12.1", "A-12.6")
@pytest.mark.parametrize("place", ["model: haiku", "metadata:\n  model: haiku"])
def test_a_skill_without_a_graph_names_its_model(
    tmp_path: Path, config: Config, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    with serving("openai", lambda asked: Said("I only talk.")) as wire:
        folder = told(tmp_path, config, wire, monkeypatch)
        (folder / "skills/quick").mkdir()
        about = f"---\nname: quick\ndescription: Use it for a quick search.\n{place}\n---\n\nLook around.\n"
        (folder / "skills/quick/SKILL.md").write_text(about, encoding="utf-8")
        for given, model in ((None, "small"), ("opus", "powerful")):
            agent = Agent(str(folder), given, base_url=wire.url)
            agent.require_model("quick")
            assert agent.advance(agent.start("quick", f"look around {given}")).status == "stopped"
            assert {asked.body["model"] for asked in wire.asked} == {model}
            wire.asked.clear()


ABOUT = "---\nname: models\ndescription: Use it when models are tried.\n{}---\n\nRun the script.\n"


def told(folder: Path, config: Config, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose skill, steps and sub-agent name models of one endpoint."""
    monkeypatch.setenv("LOCKSTEP_MODEL", "openai:default")
    config('[agent.models]\nhaiku = "openai:small"\nopus = "openai:powerful"')
    found = project(folder / "p", "models", source_of("models", STEPS))
    text = ABOUT.format('metadata:\n  model: "openai:of-the-skill"\n')
    (found / "skills/models/SKILL.md").write_text(text, encoding="utf-8")
    return found

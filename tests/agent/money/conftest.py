"""A user's configuration folder, and projects with a skill of two steps whose model says what it took."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from skills.lib.agent.agent import Agent
from skills.lib.agent.models import chat_models
from tests.agent.scripted import Answer, ScriptedModel
from tests.agent.sessions import honest, project


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of a provider."""
    for provider in chat_models.PROVIDERS.values():
        for variable in (*provider.keys, *provider.urls, chat_models.MODEL, chat_models.BASE_URL):
            monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Writes the user's lockstep.toml."""
    folder = tmp_path / "config"
    folder.mkdir()
    monkeypatch.setenv("LOCKSTEP_CONFIG", str(folder))
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))

    def write(text: str) -> Path:
        (folder / "lockstep.toml").write_text(text, encoding="utf-8")
        return folder / "lockstep.toml"

    write("")
    return write


@pytest.fixture
def plain(tmp_path: Path, config: object) -> Path:
    return project(tmp_path / "p", "plain")


def taking(
    tokens: int = 1_000, cached: int = 0, name: str = "openai:gpt-5.2", values: dict[str, Any] | None = None
) -> ScriptedModel:
    """A model that reports each step, and says that it read so many tokens and wrote 100."""
    inner = honest(values, outcome="ok")

    def answer(messages: list[BaseMessage], tools: list[dict[str, Any]]) -> Answer:
        usage = {
            "input_tokens": tokens,
            "output_tokens": 100,
            "total_tokens": tokens + 100,
            "input_token_details": {"cache_read": cached},
        }
        found = inner(messages, tools)
        assert not isinstance(found, str)
        return found.model_copy(update={"usage_metadata": usage})

    return ScriptedModel(answer=answer, model_name=name)


def host(folder: Path, model: Any = None, **options: Any) -> Agent:
    return Agent(str(folder), model if model is not None else taking(), tools=[], **options)

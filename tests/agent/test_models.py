"""Which model a name stands for, and what is said if it stands for none."""

from __future__ import annotations

import subprocess
import sys

import pytest
from langchain_core.language_models import BaseChatModel

from skills.lib.agent.models import chat_models
from skills.lib.agent.models.chat_models import Retries, cancellable, chat_model
from skills.lib.agent.models.model_errors import Failure, masked
from skills.lib.agent.models.retries import Attempts
from skills.lib.errors import EnvironmentProblem, LockstepError, UsageError
from tests.agent.scripted import ScriptedModel, in_turn

KEY = "sk-test-0123456789abcdef"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in chat_models.PROVIDERS.values():
        for variable in (*provider.keys, *provider.urls, chat_models.MODEL, chat_models.BASE_URL):
            monkeypatch.delenv(variable, raising=False)


def said(raised: pytest.ExceptionInfo[LockstepError]) -> str:
    return "\n".join(raised.value.lines())


def url(model: BaseChatModel) -> str | None:
    inner = model.inner  # type: ignore[attr-defined]
    found: str | None = inner.openai_api_base if hasattr(inner, "openai_api_base") else inner.anthropic_api_url
    return found


def test_without_a_name_it_says_what_to_set() -> None:
    with pytest.raises(UsageError) as raised:
        chat_model()
    assert said(raised) == (
        "no model is set\n"
        "  valid: provider:name, as openai:gpt-5.2 or anthropic:claude-sonnet-5\n"
        "  try:   set LOCKSTEP_MODEL, or give --model"
    )


@pytest.mark.parametrize(
    "name, what",
    [
        ("opnai:gpt-5", "there is no provider 'opnai'; did you mean openai?"),
        ("antropic:claude", "there is no provider 'antropic'; did you mean anthropic?"),
        ("zzz:x", "there is no provider 'zzz'"),
        ("gpt-5", "'gpt-5' names no provider; did you mean openai:gpt-5?"),
        ("claude-sonnet-5", "'claude-sonnet-5' names no provider; did you mean anthropic:claude-sonnet-5?"),
        ("llama", "'llama' names no provider"),
        ("openai:", "'openai:' names no provider"),
    ],
)
def test_a_name_that_is_none_gets_the_nearest(name: str, what: str) -> None:
    with pytest.raises(UsageError) as raised:
        chat_model(name)
    assert raised.value.what == what
    assert "openai" in raised.value.valid


@pytest.mark.parametrize("provider, variable", [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")])
def test_a_missing_key_is_named(provider: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError) as raised:
        chat_model(f"{provider}:x")
    assert said(raised) == (
        f"{provider} needs a key, and {variable} is not set\n"
        f"  try:   set {variable}; or LOCKSTEP_BASE_URL, for an endpoint of your own"
    )
    monkeypatch.setenv(variable, "ключ")
    with pytest.raises(UsageError, match=f"{variable} holds characters that no key has"):
        chat_model(f"{provider}:x")


def test_an_endpoint_of_ones_own_needs_no_key() -> None:
    assert url(chat_model("openai:llama3:8b", "http://127.0.0.1:8000/v1/")) == "http://127.0.0.1:8000/v1"
    assert chat_model("openai:llama3:8b", "http://127.0.0.1:8000/v1").model_name == "openai:llama3:8b"  # type: ignore[attr-defined]
    assert url(chat_model("Anthropic:x", "http://127.0.0.1:8000/v1")) == "http://127.0.0.1:8000"


@pytest.mark.parametrize("address", ["localhost:8000", "ftp://host", "http://", "http://host:x/", "not a url"])
def test_a_base_url_that_is_none_is_told(address: str) -> None:
    with pytest.raises(UsageError, match="the base URL is no address"):
        chat_model("openai:x", address)


def test_the_environment_names_model_and_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTEP_MODEL", "openai:x")
    monkeypatch.setenv("LOCKSTEP_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:2/v1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert url(chat_model()) == "http://127.0.0.1:1/v1"
    assert url(chat_model(base_url="http://127.0.0.1:3/v1")) == "http://127.0.0.1:3/v1"
    # The endpoint is that of the provider of LOCKSTEP_MODEL: another one's key is not sent there.
    assert url(chat_model("anthropic:x")) == "https://api.anthropic.com"
    monkeypatch.delenv("LOCKSTEP_BASE_URL")
    assert url(chat_model()) == "http://127.0.0.1:2/v1"


def test_a_model_of_langchain_is_taken_as_it_is() -> None:
    model = ScriptedModel(answer=in_turn("hello"))
    assert chat_model(model) is model
    assert cancellable(model, bool) is model
    with pytest.raises(UsageError, match="int is no chat model of LangChain"):
        chat_model(7)  # type: ignore[arg-type]


def test_a_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_models, "find_spec", lambda name: None if name == "langchain_openai" else name)
    with pytest.raises(EnvironmentProblem) as raised:
        chat_model("openai:x")
    assert "(langchain_openai)" in raised.value.what
    assert raised.value.remedy == "pip install '/path/to/lockstep[agent]'"


def test_a_missing_package_of_another_provider_says_what_to_install() -> None:
    with pytest.raises(EnvironmentProblem) as raised:
        chat_model("google-genai:gemini")
    assert said(raised) == "the provider google_genai needs a package\n  try:   pip install langchain-google-genai"


def test_no_key_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider, variable in (("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")):
        monkeypatch.setenv(variable, KEY)
        model = chat_model(f"{provider}:x")
        assert KEY not in repr(model) + str(model) + str(model.bind(stop=["x"])) + str(model.model_dump())


def test_a_session_can_cancel_its_model_and_leaves_the_budget_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = chat_model("openai:x", retries=Retries(tries=2))
    own = cancellable(model, all)  # type: ignore[arg-type]
    assert own.retries == Retries(tries=2, is_cancelled=all)  # type: ignore[arg-type, attr-defined]
    assert model.retries == Retries(tries=2)  # type: ignore[attr-defined]
    assert model.inner.max_retries == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("wrong", [{"tries": 0}, {"seconds": -1}, {"first": True}, {"longest": "60"}])
def test_a_budget_that_is_none_is_told(wrong: dict[str, object]) -> None:
    with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
        Retries(**wrong)  # type: ignore[arg-type]


def test_waits_double_and_differ_by_chance() -> None:
    failure = Failure("server", again=True)

    def waits(chance: float) -> list[float | None]:
        attempts = Attempts(Retries(tries=9, seconds=1000, longest=20, clock=lambda: 0.0, chance=lambda: chance))
        found = []
        for attempts.count in range(1, 10):
            found.append(attempts.pause(failure))
        return found

    assert waits(0.0) == [1, 2, 4, 8, 16, 20, 20, 20, None]
    assert waits(1.0) == [0.5, 1, 2, 4, 8, 10, 10, 10, None]


@pytest.mark.parametrize(
    "headers, seconds",
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Mon, 23 Nov 1998 11:00:00 GMT"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    class Response:
        pass

    class StatusError(Exception):
        status_code = 429
        response = Response()

    StatusError.response.headers = headers  # type: ignore[attr-defined]
    assert Failure.of(StatusError()).retry_after == seconds


@pytest.mark.parametrize(
    "text, shown",
    [
        (f"bad key {KEY}!", "bad key ***!"),
        ("Authorization: Bearer abc.def-ghi", "Authorization: ***"),
        ("one\n\ttwo\x1b[31m", "one two [31m"),
        ("p4ssw0rd is wrong", "*** is wrong"),
        ("x" * 400, "x" * 300 + "…"),
    ],
)
def test_what_a_provider_says_is_masked(text: str, shown: str) -> None:
    assert masked(text, ("p4ssw0rd",)) == shown


def test_importing_it_loads_nothing_of_langchain() -> None:
    code = (
        "import sys, skills.lib.agent.models.chat_models\n"
        "libraries = ('langchain', 'langgraph', 'openai', 'anthropic', 'httpx', 'pydantic')\n"
        "print([name for name in sys.modules if name.startswith(libraries)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"

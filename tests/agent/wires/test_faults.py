"""What goes wrong on the way to a provider and back: what passes is asked again, the rest is told in plain words."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from skills.lib.agent.models.chat_models import ModelError
from tests.agent.wires.conftest import KEY, MODES, Clock, Mode, Provider
from tests.agent.wires.protocols import Said
from tests.agent.wires.servers import Cut, Erring, Half, Hang, Raw, Reply, Reset, Status, Trickle

pytestmark = pytest.mark.req("A-14")


@pytest.fixture(params=[pytest.param(mode, marks=[pytest.mark.slow] * mode.is_async) for mode in MODES], ids=str)
def mode(request: pytest.FixtureRequest) -> Mode:
    found: Mode = request.param
    return found


ADD = ("call_1", "add", '{"a": 2, "b": 3}')
CALL = Said("I add the two numbers that you gave me.", (ADD,))
FIVE = Said("It is 5.")

PASSING: dict[str, Reply] = {
    "429": Status(429, "slow down", "rate_limit_error"),
    "429-with-seconds": Status(429, "slow down", "rate_limit_error", (("Retry-After", "7"),)),
    "500": Status(500),
    "502-of-a-proxy": Status(502),
    "503": Status(503),
    "529": Status(529, "Overloaded", "overloaded_error"),
    "408": Status(408),
    "reset": Reset(),
    "closed-in-mid-answer": Cut(CALL),
    "closed-near-the-end": Cut(CALL, 0.98),
    "half-an-answer": Half(CALL),
    "first-bytes-alone": Half(CALL, 0.05),
    "nothing-at-all": Half(CALL, 0),
    "error-in-mid-answer": Erring(CALL),
}


@pytest.mark.parametrize("fault", PASSING)
def test_what_passes_is_asked_again_and_nothing_is_done_twice(provider: Callable[..., Provider], fault: str) -> None:
    it = provider(PASSING[fault], CALL, PASSING[fault], PASSING[fault], FIVE)
    messages = it.messages()
    assert [message.text for message in messages] == ["What is 2 + 3?", CALL.text, "5", "It is 5."]
    assert it.added == [(2, 3)]
    assert len(it.wire.asked) == 5
    assert it.wire.bodies[0] == it.wire.bodies[1]
    # One second before the second try of the first answer; one and two before those of the second.
    assert it.clock.now == pytest.approx(21.0 if fault == "429-with-seconds" else 4.0)


@pytest.mark.parametrize(
    "status, kind, words, remedy",
    [
        (400, "refused-request", "it refused the request", "see what it says"),
        (401, "authentication", "it does not accept the key", "_API_KEY to a valid key"),
        (402, "quota", "no credit left", "add credit"),
        (403, "permission", "the key may not use this model", "ask for access"),
        (404, "not-found", "it does not know the model or the address", "check the name of the model"),
        (413, "too-long", "longer than it can read", "a model that reads more"),
        (422, "refused-request", "it refused the request", "see what it says"),
    ],
)
def test_what_does_not_pass_is_told_at_once(
    provider: Callable[..., Provider], status: int, kind: str, words: str, remedy: str
) -> None:
    it = provider(Status(status, f"no, since {KEY} \x1b[31mis\nso"))
    with pytest.raises(ModelError) as raised:
        it.messages()
    assert len(it.wire.asked) == 1
    error = raised.value
    assert (error.kind, error.status, error.tries) == (kind, status, 1)
    start = f"{it.mode.protocol}:test-model gave no answer: "
    assert error.what.startswith(start)
    assert words in error.what
    assert error.what.endswith("It said: no, since *** [31mis so")
    assert remedy in error.remedy
    assert KEY not in repr(error) + str(error.__cause__) + str(error.__context__)


@pytest.mark.parametrize(
    "fault, kind",
    [
        ("429", "rate-limit"),
        ("500", "server"),
        ("503", "overloaded"),
        ("529", "overloaded"),
        ("408", "timeout"),
        ("reset", "cut-off"),
        ("closed-in-mid-answer", "cut-off"),
        ("half-an-answer", "cut-off"),
        ("nothing-at-all", "cut-off"),
    ],
)
def test_what_stays_is_told_after_the_last_try(provider: Callable[..., Provider], fault: str, kind: str) -> None:
    it = provider(PASSING[fault])
    with pytest.raises(ModelError) as raised:
        it.messages(tries=3)
    assert (raised.value.kind, raised.value.tries, len(it.wire.asked)) == (kind, 3, 3)
    assert "; it was asked 3 times in 3 s" in raised.value.what
    assert it.added == []


def test_no_wait_goes_beyond_the_seconds_of_the_budget(provider: Callable[..., Provider]) -> None:
    it = provider(Status(429, headers=(("Retry-After", "3600"),)))
    with pytest.raises(ModelError, match=r"HTTP 429.*and says to come back in 3600 s"):
        it.messages(seconds=300)
    assert it.clock.now == 0
    it = provider(Status(500))
    with pytest.raises(ModelError) as raised:
        it.messages(tries=100, seconds=20)
    assert raised.value.tries == 5  # after 1 + 2 + 4 + 8 s; 16 more would be too many
    assert it.clock.now == pytest.approx(15.0)


def test_an_account_without_credit_is_not_asked_again(provider: Callable[..., Provider]) -> None:
    it = provider(Status(429, "You exceeded your current quota", "insufficient_quota"))
    with pytest.raises(ModelError, match="the account has no credit left") as raised:
        it.messages()
    assert (raised.value.kind, len(it.wire.asked)) == ("quota", 1)


def test_a_provider_may_say_that_asking_again_is_of_no_use(provider: Callable[..., Provider]) -> None:
    it = provider(Status(500, headers=(("x-should-retry", "false"),)))
    with pytest.raises(ModelError):
        it.messages()
    assert len(it.wire.asked) == 1


@pytest.mark.parametrize("reply", [Hang(15), Trickle()], ids=["silent", "byte-by-byte"])
def test_an_answer_that_takes_too_long_is_asked_for_again(provider: Callable[..., Provider], reply: Reply) -> None:
    it = provider(reply, FIVE)
    begun = time.monotonic()
    messages = it.messages(timeout=0.3, clock=time.monotonic, sleep=lambda seconds: None, first=0.0)
    assert messages[-1].text == "It is 5."
    assert time.monotonic() - begun < 12
    assert len(it.wire.asked) == 2


def test_a_page_in_place_of_an_answer_names_the_base_url(provider: Callable[..., Provider]) -> None:
    it = provider(Raw(b"<html><title>It works!</title></html>", "text/html"))
    with pytest.raises(ModelError) as raised:
        it.messages(tries=2)
    assert raised.value.kind in ("unreadable", "cut-off")
    assert "base URL" in raised.value.remedy or "endpoint" in raised.value.remedy


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"choices": []}',
        b'{"choices": null}',
        b'{"choices": [{}]}',
        b'"text"',
        b"\xff\xfe",
        b"7",
    ],
)
def test_json_that_is_no_answer_is_told_in_plain_words(provider: Callable[..., Provider], body: bytes) -> None:
    it = provider(Raw(body))
    with pytest.raises(ModelError) as raised:
        it.messages(tries=2)
    assert raised.value.kind in ("unreadable", "cut-off")
    assert "Traceback" not in raised.value.what


def test_an_error_in_place_of_an_answer_is_told(provider: Callable[..., Provider]) -> None:
    it = provider(Raw(b'{"error": {"message": "no such model here", "type": "not_found_error"}}'))
    with pytest.raises(ModelError) as raised:
        it.messages(tries=2)
    if not it.mode.streams and it.mode.protocol == "openai":
        assert raised.value.what.endswith("It said: no such model here")


def test_an_endless_answer_is_stopped(provider: Callable[..., Provider], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skills.lib.agent.models.answers.LARGEST", 1000)
    it = provider(Said("x" * 5000))
    with pytest.raises(ModelError, match=r"no answer of its protocol \(more than 1,000 characters\)"):
        it.messages()
    assert len(it.wire.asked) == 1


@pytest.mark.parametrize("reply", [Hang(15), Status(429, headers=(("Retry-After", "200"),))], ids=["answer", "retry"])
def test_a_cancelled_session_stops_waiting(provider: Callable[..., Provider], reply: Reply) -> None:
    it = provider(reply)
    began: list[float] = []

    def is_cancelled() -> bool:
        if it.wire.asked and not began:
            began.append(time.monotonic())
        return bool(began) and time.monotonic() > began[0] + 0.2

    with pytest.raises(ModelError, match="the session was cancelled") as raised:
        it.messages(timeout=15, clock=time.monotonic, sleep=time.sleep, is_cancelled=is_cancelled)
    assert raised.value.kind == "cancelled"
    assert time.monotonic() - began[0] < 5  # of 15, or 200
    assert len(it.wire.asked) == 1


def test_a_cancelled_session_asks_nothing(provider: Callable[..., Provider]) -> None:
    it = provider(FIVE)
    with pytest.raises(ModelError, match="the session was cancelled"):
        it.messages(is_cancelled=lambda: True)
    assert it.wire.asked == []


def test_a_provider_that_is_not_there_is_asked_again(mode: Mode) -> None:
    from skills.lib.agent.models.chat_models import Retries, chat_model

    clock = Clock()
    retries = Retries(tries=2, clock=clock, sleep=clock.sleep)
    model = chat_model(f"{mode.protocol}:test-model", "http://127.0.0.1:9", 5, retries)

    async def asked() -> Any:
        return await model.ainvoke("hello")

    with pytest.raises(ModelError, match=r"it cannot be reached \(.+\); it was asked 2 times") as raised:
        asyncio.run(asked()) if mode.is_async else model.invoke("hello")
    assert raised.value.kind == "connection"


def test_an_answer_after_the_loop_of_another_session_ended(provider: Callable[..., Provider]) -> None:
    from langchain.agents import create_agent

    it = provider(CALL, FIVE, CALL, FIVE)
    agent = create_agent(it.model(), [it.add])
    assert [it.follow(agent)[-1].text for _ in range(2)] == ["It is 5.", "It is 5."]

"""Whole sessions of a shipped skill over both protocols, with faults at their model calls."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import pytest

from skills.lib.agent.agent import Agent
from skills.lib.agent.models.chat_models import Retries, chat_model
from skills.lib.agent.results import SessionResult
from skills.lib.ledger import Ledger
from tests.agent.wires.conftest import KEY, MODES, Clock, Mode
from tests.agent.wires.protocols import Said
from tests.agent.wires.servers import Asked, Cut, Erring, Half, Hang, Reply, Reset, Script, Status, Wire, serving
from tests.agent.wires.walking import STEPS, reporting, step_of

pytestmark = [pytest.mark.req("A-14"), pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")]

TASK = "the suite is slow since Monday"
# Faults that pass, and those that stay until somebody does something.
PASSING: dict[str, Callable[[Said], Reply]] = {
    "429": lambda said: Status(429, headers=(("Retry-After", "7"),)),
    "500": lambda said: Status(500),
    "529": lambda said: Status(529, type="overloaded_error"),
    "reset": lambda said: Reset(),
    "closed-in-mid-answer": lambda said: Cut(said),
    "half-an-answer": lambda said: Half(said, 0.7),
    "error-in-mid-answer": lambda said: Erring(said),
}
STAYING: dict[str, tuple[Callable[[Said], Reply], str]] = {
    "401": (lambda said: Status(401, "invalid key"), "it does not accept the key (HTTP 401). It said: invalid key"),
    "429": (
        lambda said: Status(429, "slow down"),
        "it limits how often it may be asked (HTTP 429); it was asked 3 times",
    ),
    "half-an-answer": (lambda said: Half(said, 0.7), "its answer broke off"),
    "no-server": (lambda said: Reset(), "its answer broke off; it was asked 3 times"),
}
# What a model may say in place of a report.
ODD: dict[str, Callable[[Said], Reply]] = {
    "nothing": lambda said: Said(),
    "prose": lambda said: Said("I am done with it."),
    "a-refusal": lambda said: Said(refusal="I may not do that."),
    "an-unknown-reason": lambda said: Said("Wait", finish="pause_of_tomorrow"),
    "cut-off-arguments": lambda said: Said(calls=_cut(said), finish="length"),
    "arguments-that-are-no-json": lambda said: Said(calls=((said.calls[0][0], "report_step", "all is well"),)),
    "two-reports-with-one-id": lambda said: Said(calls=said.calls * 2),
    "a-report-without-an-id": lambda said: Said(calls=(("", *said.calls[0][1:]),)),
    "a-tool-that-is-not-there": lambda said: Said(calls=(("call_x", "teleport", "{}"),)),
    "a-thought": lambda said: said._replace(thought="This is what I think."),
}


def _cut(said: Said) -> tuple[tuple[str, str, str], ...]:
    call, name, arguments = said.calls[0]
    return ((call, name, arguments[: len(arguments) // 2]),)


class Walk:
    """A run of problem-analysis in a project, followed by a model over a wire."""

    def __init__(self, folder: Path, mode: Mode, wire: Wire) -> None:
        (folder / ".git").mkdir(parents=True)
        self.clock, self.wire = Clock(), wire
        retries = Retries(tries=3, clock=self.clock, sleep=self.clock.sleep, chance=lambda: 0.0)
        name = f"{mode.protocol}:test-model"
        self.agent = Agent(str(folder), chat_model(name, wire.url, 10, retries, streaming=mode.streams))
        self.run = self.agent.start("problem-analysis", TASK)

    def advance(self) -> SessionResult:
        return self.agent.advance(self.run)

    @property
    def steps(self) -> list[str]:
        """The step of each request."""
        return [step_of(asked) for asked in self.wire.asked]

    @property
    def turns(self) -> list[int]:
        """The turn of each transition that the ledger has of the run."""
        with Ledger(self.agent.home, create=False) as ledger:
            return [
                event.turn
                for event in ledger.events_after()
                if event.run == self.run and event.kind in ("moved", "finished")
            ]

    def kinds(self, kind: str) -> int:
        with self.agent.activity() as activity:
            return activity.count(self.run, kind=kind)


Start = Callable[[Script], Walk]


@pytest.fixture(params=[mode for mode in MODES if not mode.is_async], ids=str)
def mode(request: pytest.FixtureRequest) -> Mode:
    found: Mode = request.param
    return found


@pytest.fixture
def start(mode: Mode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts a run whose model answers by a script."""
    with ExitStack() as stack:

        def started(script: Script) -> Walk:
            number = len(list(tmp_path.iterdir()))
            folder = tmp_path / f"project {number}"
            monkeypatch.setenv("LOCKSTEP_HOME", str(folder / ".lockstep"))
            return Walk(folder, mode, stack.enter_context(serving(mode.protocol, script)))

        yield started


def at_call(number: int, fault: Callable[[Said], Reply], times: int = 1) -> Script:
    """A script that reports each step, but that gives a fault at one request, so many times."""
    asked: list[int] = []

    def script(request: Asked) -> Reply:
        asked.append(1)
        said = reporting(request)
        return fault(said) if number <= len(asked) - 1 < number + times else said

    return script


def test_a_shipped_skill_is_walked_over_the_wire(start: Start) -> None:
    walk = start(reporting)
    ended = walk.advance()
    assert ended.status == "done"
    assert ended.result["report"].splitlines()[0] == "Cause (confidence certain): the first comes before the second."
    assert walk.steps == STEPS
    assert walk.turns == [2, 3, 4, 5, 6]
    assert (walk.kinds("model"), walk.kinds("usage")) == (5, 5)


@pytest.mark.parametrize("fault", [pytest.param(name, marks=[pytest.mark.slow] * (name != "429")) for name in PASSING])
def test_a_fault_before_each_answer_is_not_seen_by_the_run(start: Start, fault: str) -> None:
    seen: list[str] = []

    def script(asked: Asked) -> Reply:
        said = reporting(asked)
        seen.append(step_of(asked))
        return PASSING[fault](said) if seen.count(seen[-1]) == 1 else said

    walk = start(script)
    assert walk.advance().status == "done"
    assert walk.steps == [step for step in STEPS for _ in range(2)]
    assert walk.turns == [2, 3, 4, 5, 6]
    assert (walk.kinds("model"), walk.kinds("stopped")) == (5, 0)
    assert walk.clock.now == pytest.approx(35.0 if fault == "429" else 5.0)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("fault", STAYING)
def test_a_fault_that_stays_stops_the_session_and_the_run_goes_on_later(start: Start, fault: str, number: int) -> None:
    reply, words = STAYING[fault]
    times = 1 if fault == "401" else 3
    walk = start(at_call(number, reply, times))
    ended = walk.advance()
    assert (ended.status, ended.step) == ("stopped", STEPS[number])
    assert words in ended.reason
    assert ended.text.startswith("The session stopped, the run did not: ")
    assert "Error" not in ended.text
    assert walk.turns == list(range(2, 2 + number))
    assert walk.advance().status == "done"
    assert walk.turns == [2, 3, 4, 5, 6]
    assert walk.steps == [*STEPS[:number], *[STEPS[number]] * times, *STEPS[number:]]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("odd", ODD)
def test_an_odd_answer_at_each_call_costs_a_call_and_no_transition(start: Start, odd: str, number: int) -> None:
    walk = start(at_call(number, ODD[odd]))
    assert walk.advance().status == "done"
    assert walk.turns == [2, 3, 4, 5, 6]
    assert walk.steps in (STEPS, [*STEPS[:number], STEPS[number], *STEPS[number:]])


def test_an_answer_that_never_ends_in_a_report_stops_in_order(start: Start) -> None:
    walk = start(lambda asked: Said(calls=_cut(reporting(asked)), finish="length"))
    ended = walk.advance()
    assert (ended.status, ended.step) == ("stopped", "gate")
    assert "Error" not in ended.reason
    assert walk.turns == []


def test_another_model_of_langchain_that_fails_stops_the_session_in_plain_words(mode: Mode, start: Start) -> None:
    walk = start(lambda asked: Status(401, f"{KEY} is not valid"))
    inner = cast("Any", chat_model(f"{mode.protocol}:test-model", walk.wire.url)).inner
    ended = Agent(walk.agent.project, inner).advance(walk.run)
    assert (ended.status, ended.step) == ("stopped", "gate")
    assert ended.reason == (
        "the model gave no answer: it does not accept the key (HTTP 401). It said: *** is not valid. "
        "To go on: set the variable of its key to a valid key."
    )


def test_a_session_that_is_cancelled_does_not_wait_for_its_model(start: Start) -> None:
    walk = start(lambda asked: Hang(18))
    ended: list[Any] = []
    session = threading.Thread(target=lambda: ended.append(walk.advance()), daemon=True)
    session.start()
    while not walk.wire.asked:
        assert session.is_alive()
        time.sleep(0.01)
    begun = time.monotonic()
    walk.agent.cancel(walk.run)
    session.join(15)
    assert time.monotonic() - begun < 8
    assert (ended[0].status, ended[0].step, ended[0].reason) == ("stopped", "gate", "The session was cancelled.")
    walk.wire.closing.set()

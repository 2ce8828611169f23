"""What a session of ``opencode serve`` does at a stop in mid-run, a scripted model in the model's place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.hosts.clients.clients import OpenCode
from tests.hosts.clients.model import Say
from tests.hosts.clients.plays import DELEGATED, block_in
from tests.hosts.clients.stage import at_look, to_the_end

if TYPE_CHECKING:
    from tests.hosts.clients.model import Turn
    from tests.hosts.clients.plays import Going
    from tests.hosts.clients.stage import Stage

pytestmark = [pytest.mark.parametrize("stage", [OpenCode()], indirect=True, ids=["opencode"]), pytest.mark.slow]


@pytest.mark.req("H-02", "H-07")
def test_a_session_goes_on_three_times_after_a_stop_in_mid_run_and_ends_when_the_run_is_done(stage: Stage) -> None:
    told = []

    def play(turn: Turn) -> Going:
        yield from at_look(stage)
        for number in range(1, 5):
            turn = yield Say(f"I stop here, {number}.")
            told.append(turn.told)
        yield from to_the_end(stage, block_in(turn.text))
        turn = yield Say("The guarded look is done.")
        told.append(turn.told)

    with stage.serving(play) as server:
        session = server.begin()
        server.prompt(session, "Take a guarded look.")
        server.rest(session, lambda: len(told) == 3)
        assert stage.runs() == [("guarded", "look", "open")]
        server.prompt(session, "Go on.")
        server.prompt(session, "Thanks.")
        prompts = server.prompts(session)
    assert stage.runs() == [("guarded", None, "done")]
    for reason in told[:3]:
        assert "is not at its end: it is at the step 'Look and change nothing'" in reason
        assert re.search(r"/lockstep/step [\w.]+ \d", reason)
    assert told[3:] == ["Go on.", "Thanks."]
    hidden = [(reason, True) for reason in told[:3]]
    assert prompts == [("Take a guarded look.", False), *hidden, ("Go on.", False), ("Thanks.", False)]


@pytest.mark.req("H-02", "H-07")
def test_a_session_that_the_user_interrupts_is_left_alone(stage: Stage) -> None:
    told = []

    def play(turn: Turn) -> Going:
        yield from at_look(stage)
        turn = yield Say("I stop here.")
        told.append(turn.told)
        server.interrupt(session)
        turn = yield Say("Nobody reads this.")
        told.append(turn.told)
        yield from to_the_end(stage, block_in(turn.text))

    with stage.serving(play) as server:
        session = server.begin()
        server.prompt(session, "Take a guarded look.")
        server.rest(session, lambda: len(told) == 1)
        assert stage.runs() == [("guarded", "look", "open")]
        server.prompt(session, "Go on.")
        prompts = server.prompts(session)
    assert stage.runs() == [("guarded", None, "done")]
    assert "is not at its end" in told[0]
    assert told[1:] == [f"{told[0]}\nGo on."]
    assert prompts == [("Take a guarded look.", False), (told[0], True), ("Go on.", False)]


@pytest.mark.req("H-02", "H-07")
def test_a_sub_agent_whose_answer_was_handed_up_is_not_set_to_work_again(stage: Stage) -> None:
    told, handed_up = [], []

    def play(turn: Turn) -> Going:
        turn = yield stage.client.delegate(f"{DELEGATED} take a guarded look.")
        handed_up.append(turn.output)

    def delegated(turn: Turn) -> Going:
        yield from at_look(stage)
        for number in range(1, 5):
            turn = yield Say(f"I stop here, {number}.")
            told.append(turn.told)

    with stage.serving(play, delegated) as server:
        session = server.begin()
        server.prompt(session, "Take a guarded look.")
        [agent] = server.sub_agents(session)
        server.rest(agent, lambda: len(server.prompts(agent)) > 1)
        server.prompt(session, "Thanks.")  # takes longer than the plugin would need
        server.rest(agent, lambda: True)
        (_, *hidden) = server.prompts(agent)
    assert stage.runs() == [("guarded", "look", "open")]
    # The reason comes when the sub-agent has ended; if it came in time, what the sub-agent said last is handed up.
    assert f"I stop here, {len(told) + 1}." in handed_up[0]
    assert all("is not at its end" in reason and is_hidden for reason, is_hidden in hidden)

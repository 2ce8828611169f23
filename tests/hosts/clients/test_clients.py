"""What the four clients really do with an installed skill and the hook, a scripted model in the model's place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.hosts.clients import clients
from tests.hosts.clients.clients import Codex, CodexInCode, OpenCode, Qwen
from tests.hosts.clients.model import SUMMARY, Say
from tests.hosts.clients.plays import DELEGATED, SEEN, begin, block_in, follow
from tests.hosts.clients.stage import at_look, to_the_end
from tests.skills.test_problem_analysis import CAUSE, DOUBT, REPORT, RIVALS, SETTLED, TESTABLE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts.clients.model import Turn
    from tests.hosts.clients.plays import Going
    from tests.hosts.clients.stage import Stage

pytestmark = pytest.mark.slow


@pytest.mark.req("H-07")
def test_the_client_finds_the_skill_and_walks_it_to_its_end(stage: Stage) -> None:
    steps = []

    def play(turn: Turn) -> Going:
        block = yield from begin(stage.client, stage.skill("guarded"))
        while block.kind == "step":
            steps.append(block.step)
            block = yield from follow(stage.client, block, SEEN)
        assert block.kind == "done"
        yield Say("The guarded look is done.")

    ended = stage.play(play)
    assert ended.code == 0, ended.errors
    assert "Looks at one thing with few tools" in stage.turns[0].text
    assert steps == ["plan", "look", "note", "report"]
    assert stage.runs() == [("guarded", None, "done")]
    assert "The guarded look is done." in ended.out


@pytest.mark.req("H-07")
@pytest.mark.parametrize("stage", [CodexInCode()], indirect=True, ids=["codex-code"])
def test_a_client_walks_a_real_skill_to_its_end(stage: Stage) -> None:
    reports = [
        *(("gate", TESTABLE), ("hypothesize", RIVALS)),
        *(("investigate", DOUBT), ("investigate", SETTLED), ("formulate", CAUSE), ("report", REPORT)),
    ]
    ends = []

    def play(turn: Turn) -> Going:
        block = yield from begin(stage.client, stage.skill("problem-analysis"))
        for step, values in reports:
            assert block.step == step
            block = yield from follow(stage.client, block, values)
        ends.append(block.kind)

    ended = stage.play(play, prompt="Why is it slow?")
    assert ended.code == 0, ended.errors
    assert ends == ["done"]
    assert stage.runs() == [("problem-analysis", None, "done")]


@pytest.mark.req("H-02", "H-07")
def test_a_tool_that_the_step_does_not_name_is_denied_also_in_a_sub_agent(stage: Stage) -> None:
    client, early, inside = stage.client, stage.project / "early.txt", stage.project / "inside.txt"
    told = {}

    def play(turn: Turn) -> Going:
        block = yield from at_look(stage)
        turn = yield client.write(early, "too early")
        told["main"] = turn.output
        turn = yield client.shell(f"echo early > {early}")
        told["shell"] = turn.output
        turn = yield client.delegate(f"{DELEGATED} write {inside}.")
        if wait := client.collect(turn):
            yield wait
        block = yield from follow(client, block, SEEN)
        yield client.write(stage.project / "notes.txt", "one line")
        yield from to_the_end(stage, block)

    def delegated(turn: Turn) -> Going:
        turn = yield client.write(inside, "from a sub-agent")
        told["sub-agent"] = turn.output
        yield client.hand_up(turn, "It was denied.")

    ended = stage.play(play, delegated)
    assert ended.code == 0, ended.errors
    assert set(told) == {"main", "shell", "sub-agent"}
    for reason in told.values():
        assert "is at the step 'Look and change nothing', which allows: read" in reason
        assert re.search(r"/lockstep/step [\w.]+ \d", reason)
    assert not early.exists()
    assert not inside.exists()
    assert (stage.project / "notes.txt").read_text().strip() == "one line"
    assert stage.runs() == [("guarded", None, "done")]


@pytest.mark.req("H-02", "H-07")
def test_a_stop_in_mid_run_is_refused_three_times_and_a_resumed_session_has_the_step(stage: Stage) -> None:
    told = []

    def stopping(turn: Turn) -> Going:
        yield from at_look(stage)
        for number in range(1, 9):
            turn = yield Say(f"I stop here, {number}.")
            told.append(turn.told)

    ended = stage.play(stopping)
    assert ended.code == 0, ended.errors
    assert stage.runs() == [("guarded", "look", "open")]
    assert len(told) == 3
    for reason in told:
        assert "is not at its end: it is at the step 'Look and change nothing'" in reason
        assert re.search(r"/lockstep/step [\w.]+ \d", reason)

    def resumed(turn: Turn) -> Going:
        yield from to_the_end(stage, block_in(turn.text))

    ended = stage.play(resumed, prompt="Go on.", again=True)
    assert ended.code == 0, ended.errors
    assert "A Lockstep run is open in this session" in stage.turns[0].text
    assert stage.runs() == [("guarded", None, "done")]


@pytest.mark.req("H-02", "H-07")
@pytest.mark.parametrize(
    "stage",
    [Codex(), CodexInCode(), OpenCode(), Qwen()],
    indirect=True,
    ids=["codex", "codex-code", "opencode", "qwen"],
)
def test_a_sub_agents_stop_in_the_middle_of_its_own_run_is_refused_three_times(stage: Stage) -> None:
    told, handed_up = [], []

    def play(turn: Turn) -> Going:
        block = yield from at_look(stage)
        while block.step != "report":  # a step that allows every tool
            block = yield from follow(stage.client, block, SEEN)
        turn = yield stage.client.delegate(f"{DELEGATED} say why it is slow.")
        if wait := stage.client.collect(turn):
            turn = yield wait
        handed_up.append(turn.output)
        yield from to_the_end(stage, block)

    def delegated(turn: Turn) -> Going:
        block = yield from begin(stage.client, stage.skill("problem-analysis"))
        yield from follow(stage.client, block, TESTABLE)
        for number in range(1, 5):
            turn = yield stage.client.hand_up(turn, f"I stop here, {number}.")
            told.append(turn.told)

    ended = stage.play(play, delegated)
    assert ended.code == 0, ended.errors
    assert len(told) == 3
    for reason in told:
        assert "of problem-analysis is not at its end: it is at the step 'Set up rival hypotheses'" in reason
        assert re.search(r"/lockstep/step [\w.]+ \d", reason)
    [answer] = handed_up
    assert "I stop here, 4." in answer
    assert sorted(stage.runs()) == [("guarded", None, "done"), ("problem-analysis", "hypothesize", "open")]


# What each client takes for a conversation that has become too long.
TOO_LONG = {"codex": 90_000, "opencode": 99_000, "qwen": 190_000, "gemini": 900_000}


@pytest.mark.req("H-02", "H-07")
def test_the_step_is_back_after_a_compaction(stage: Stage) -> None:
    seen = []

    def play(turn: Turn) -> Going:
        yield from at_look(stage)
        # Gemini CLI compresses when a turn begins, and a refused stop begins one; the others do between two requests.
        is_at_turns = stage.client.host == "gemini"
        turn = yield Say("I stop.") if is_at_turns else stage.client.write(stage.project / "early.txt", "too early")
        seen.append(turn)
        if stage.client.host == "qwen":  # compressed between hook and request: the next tool's result brings it
            seen.append((yield stage.client.write(stage.project / "early.txt", "too early")))
        yield from to_the_end(stage, block_in(seen[-1].text))

    def tokens(turn: Turn) -> int:
        return TOO_LONG[stage.client.host] if turn.is_aside or 'id="look"' in turn.output else 10

    ended = stage.play(play, tokens=tokens)
    assert ended.code == 0, ended.errors
    after = seen[-1]
    assert all(SUMMARY in turn.text for turn in seen)
    assert "Run this now" not in after.text
    assert "A Lockstep run is open in this session" in after.text
    assert stage.runs() == [("guarded", None, "done")]


@pytest.mark.req("H-02", "H-07")
def test_with_no_run_open_everything_passes_and_nothing_is_said(stage: Stage) -> None:
    def play(turn: Turn) -> Going:
        yield stage.client.write(stage.project / "free.txt", "free")
        yield stage.client.shell(f"echo shell > {stage.project / 'shell.txt'}")
        yield Say("Done, and nothing held me.")

    ended = stage.play(play, prompt="Write two files.")
    assert ended.code == 0, ended.errors
    assert (stage.project / "free.txt").read_text().strip() == "free"
    assert (stage.project / "shell.txt").read_text() == "shell\n"
    assert len(stage.turns) == 3
    assert not any("run is open in this session" in turn.text for turn in stage.turns)
    assert stage.sessions() == []


def test_a_client_that_is_not_installed_is_said_to_be_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(clients, "CLIENTS", tmp_path)
    monkeypatch.setattr(clients, "PROGRAMS", tmp_path)
    assert clients.why_not(CodexInCode()) == "no clients here: make clients brings them"
    (tmp_path / "installed").touch()
    assert clients.why_not(CodexInCode()) == "npm brought no codex"

"""Sub-agents in waves, how many may work at once, and a question that the agent prepares before it is put."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skills.lib.ledger import Ledger
from skills.lib.model.run import Run
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock
from skills.lib.testing.transitions import check_walk
from skills.lib.testing.walks import every_walk
from skills.lib.workflow.core import Workflow
from tests.fixtures.deviations import assert_refused

Factory = Callable[[str], Agent]


@pytest.fixture
def waves(agent: Factory) -> Agent:
    return agent("waves")


def played(waves: Agent, block: PrintedBlock) -> PrintedBlock:
    """The block after a wave whose sub-agents all answered."""
    for child in block.children:
        last = waves.finish(child.command)
    return waves.run_command(last.next)


def asking(waves: Agent) -> PrintedBlock:
    """The step that prepares the question."""
    return played(waves, waves.follow(waves.open(), areas=["a", "b"]))


@pytest.mark.req("W-04")
def test_targets_are_computed_on_entering_and_judged_on_leaving(waves: Agent) -> None:
    first = waves.follow(waves.open(), areas=["a", "b", "c"])
    assert [child.target for child in first.children] == ["a", "b"]
    second = played(waves, first)
    assert (second.step, [child.target for child in second.children]) == ("explore", ["c"])
    assert second.root.get("iteration") == "2"
    assert played(waves, second).context == {"explore.good": "- a\n- b\n- c"}


@pytest.mark.req("W-04")
def test_a_lost_sub_agents_target_comes_again(waves: Agent) -> None:
    first = waves.follow(waves.open(), areas=["a", "b"])
    waves.finish(first.children[0].command)
    again = waves.lose(first, first.children[1].id)
    second = waves.run_command(again.next)
    assert [child.target for child in second.children] == ["b"]


@pytest.mark.req("W-03", "W-04")
def test_no_target_starts_no_sub_agent_and_skips(waves: Agent) -> None:
    end = waves.follow(waves.open(), areas=[])
    assert end.kind == "done"
    assert [(one.step, one.outcome) for one in waves.taken(end.run)] == [("list", "ok"), ("explore", "skip")]


@pytest.mark.req("W-24")
def test_a_question_is_put_once_it_is_prepared(waves: Agent) -> None:
    ask = asking(waves)
    assert (ask.kind, ask.step) == ("step", "ask")
    assert ask.notices == ["Leaving this step puts a question to a person; the run then waits for the answer."]
    waiting = waves.follow(ask, questions=["Tea?", "Or milk?"])
    assert (waiting.kind, waiting.step, waiting.turn) == ("waiting", "ask", ask.turn + 1)
    assert waiting.words("QUESTION") == "Settle these:\n- Tea?\n- Or milk?"
    assert (list(ask.context), waiting.context) == (["explore.good"], {})
    assert waves.run_command(waves.blocks[-1].next).code == "unfilled"
    assert waves.follow(waiting, answer="good").kind == "done"


def test_the_end_says_what_is_to_be_done_then(waves: Agent) -> None:
    end = waves.follow(waves.open(topic="tea & <milk>"), areas=[])
    assert (end.kind, end.notices) == ("done", ["Tell the user about tea & <milk>."])
    look = waves.run_command(end_again(waves, end.run))
    assert look.text == end.text


def end_again(waves: Agent, run: str) -> str:
    return f"python {waves.script} --step current --run {run} --project {waves.project}"


@pytest.mark.req("W-24")
def test_the_agent_cannot_say_how_a_question_ends(waves: Agent) -> None:
    ask = asking(waves)
    assert_refused(waves, ask.next.replace("'FILL_questions'", "x") + " --outcome ok", "wrong-outcome")
    assert_refused(waves, ask.next.replace("'FILL_questions'", "x") + " --answer good", "no-question")
    assert_refused(waves, ask.next.replace("--record questions='FILL_questions'", ""), "missing-evidence")


@pytest.mark.req("W-24")
def test_the_question_is_prepared_anew_when_the_run_comes_back(waves: Agent) -> None:
    waiting = waves.follow(asking(waves), questions=["Tea?"])
    ask = waves.follow(waiting, answer="again")
    assert (ask.kind, ask.step) == ("step", "ask")
    assert waves.follow(ask, questions=["Milk?"]).words("QUESTION") == "Settle these:\n- Milk?"


@pytest.mark.req("W-04")
def test_so_many_sub_agents_work_at_once(waves: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTEP_AGENTS", "1")
    block = waves.follow(waves.open(), areas=["a", "b"])
    first, second = block.children
    assert (bool(first.command), second.command) == (True, "")
    assert "At most 1 work at once: 1 of them have no command yet." in block.words("DISPATCH/how")
    waves.run_command(first.command)
    early = waves.run_command(first.command.replace(first.id, second.id))
    assert (early.exit_code, early.code) == (3, "agents-busy")
    assert early.next == first.command.replace(first.id, second.id).replace("--step 1", "--step current")
    end = waves.finish(first.command)
    assert end.words("ORCHESTRATOR").startswith("This sub-agent is finished. 1 of 2 are left")
    then = waves.run_command(end.next)
    assert [bool(child.command) for child in then.children] == [False, True]
    assert waves.run_command(waves.finish(then.children[1].command).next).step == "ask"


def test_no_more_sub_agents_work_at_once_than_may_though_they_begin_together(
    waves: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_AGENTS", "1")
    wave = waves.follow(waves.open(), areas=["a", "b"])
    first = wave.children[0].command
    second = first.replace(f"{wave.run}.1", f"{wave.run}.2")
    commit, meanwhile = Ledger.commit, [second]

    def begun_between(*words: Any, **named: Any) -> Run:
        if meanwhile:
            assert waves.run_command(meanwhile.pop()).kind == "step"
        return commit(*words, **named)

    monkeypatch.setattr(Ledger, "commit", begun_between)
    refused = waves.run_command(first)
    assert (refused.exit_code, refused.code) == (3, "agents-busy")
    assert f"{wave.run}.2" in refused.why
    assert [waves.state(f"{wave.run}.{number}").status for number in (1, 2)] == ["pending", "open"]


@pytest.mark.parametrize("number", ["many", "0", "-1", "1.5", " 2", "9" * 5000], ids=lambda number: number[:5])
def test_an_invalid_number_is_reported_before_anything_changes(
    waves: Agent, monkeypatch: pytest.MonkeyPatch, number: str
) -> None:
    opened = waves.open()
    monkeypatch.setenv("LOCKSTEP_AGENTS", number)
    told = waves.follow(opened, areas=["a", "b"])
    assert told.exit_code == 2
    assert f"LOCKSTEP_AGENTS is {number!r:.40}" in told.errors
    assert waves.state(opened.run).turn == 1


@pytest.mark.req("W-03")
def test_every_transition_can_be_walked(waves: Agent) -> None:
    from skills.lib.testing import any_of

    walks = every_walk(waves.workflow)
    for at, walk in enumerate(walks):
        place = waves.project / str(at)
        place.mkdir()
        check_walk(waves.script, walk, place, values={"areas": any_of(["a"], list("abc"), list("abcde"), [])})
    assert {str(leg) for walk in walks for leg in walk.legs} >= {
        "explore -skip-> done",
        "explore -iterate-> explore",
        "ask -fail (again)-> ask",
    }


def test_a_workflow_with_functions_in_its_dispatch_is_data(waves: Agent) -> None:
    workflow = waves.workflow
    data = workflow.to_data()
    handler = data["steps"][1]["handler"]
    assert handler["targets"]["$call"].endswith(":due")
    assert handler["then"]["$call"].endswith(":sift")
    functions = {
        handler["targets"]["$call"]: workflow.steps[1].handler.targets,  # type: ignore[union-attr]
        handler["then"]["$call"]: workflow.steps[1].function,
    }
    assert Workflow.from_data(data, functions) == workflow  # type: ignore[arg-type]

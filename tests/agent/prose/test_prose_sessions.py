"""An ordinary SKILL.md is followed in a session: objectives, work, an honest end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from langchain_core.messages import AIMessage, BaseMessage

from skills.lib.agent.agent import Agent
from skills.lib.agent.watching.activity import Activity, path_in
from skills.lib.commands.console.app import lockstep
from tests.agent.prose.skills import prose, reported
from tests.agent.scripted import ScriptedModel, calling, in_turn, report


@pytest.mark.req("A-06.1")
def test_an_ordinary_skill_is_followed_to_its_end(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy")
    model = ScriptedModel(
        answer=in_turn(
            report(record={"objectives": ["notes.txt is there", "the person knows it"]}),
            calling(("write", {"path": "notes.txt", "content": "one\n"})),
            report(record=reported("done:notes.txt", "done:answer", result="It is written.")),
        )
    )
    host = Agent(str(folder), model)
    run = host.start("tidy", "write the notes")
    ended = host.advance(run)
    assert (ended.status, ended.result) == ("done", {"result": "It is written."})
    assert [one["status"] for one in ended.objectives] == ["done", "done"]
    assert host.start("tidy", "write the notes") != run


@pytest.mark.req("A-06.3")
def test_the_run_first_fixes_its_objectives_and_shows_skill_and_task_whole(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy", "# Tidy\n\nSay <so> & more.\n")
    model = ScriptedModel(
        answer=in_turn(report(record={"objectives": ["one"]}), report(record=reported("done:answer")))
    )
    host = Agent(str(folder), model)
    assert host.advance(host.start("tidy", "look")).status == "done"
    steps = [call.system.partition(' id="')[2].partition('"')[0] for call in model.calls]
    assert steps == ["objectives", "work"]
    assert all("Say &lt;so> &amp; more." in call.system for call in model.calls)
    assert all('<value name="task">look</value>' in call.system for call in model.calls)
    assert all("<task>" not in call.system and "--record" not in call.system for call in model.calls)
    assert '<value step="objectives" name="objectives">1. one</value>' in model.calls[1].system


@pytest.mark.req("A-02.5")
def test_a_partial_report_stops_the_session_and_the_same_command_tries_the_rest(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy")
    (folder / "a.txt").write_text("a\n", encoding="utf-8")
    first = ScriptedModel(
        answer=in_turn(
            report(record={"objectives": ["a.txt", "b.txt", "c.txt"]}),
            report(record=reported("done:a.txt", "partial:", "not:", result="The first is there.")),
        )
    )
    host = Agent(str(folder), first)
    run = host.start("tidy", "make three")
    ended = host.advance(run)
    assert (ended.status, ended.step) == ("stopped", "work")
    assert ended.reason == f"1 of 3 objectives is done; see lockstep trace {run}"
    assert ended.result == {"result": "The first is there."}
    assert [one["status"] for one in ended.objectives] == ["done", "partial", "not"]
    assert [event.progress for event in host.follow(run)][-1] == 35
    assert [event.code for event in host.follow(run) if event.type == "error"] == ["PARTIAL"]
    entry = first.calls[1].tools[-1]["parameters"]["properties"]["record"]["properties"]["objectives"]["items"]
    assert entry["properties"]["status"] == {"enum": ["done", "partial", "not"]}

    (folder / "b.txt").write_text("b\n", encoding="utf-8")
    second = ScriptedModel(answer=in_turn(report(record=reported("done:a.txt", "done:b.txt", "done:answer"))))
    again = Agent(str(folder), second)
    assert again.start("tidy", "make three") == run
    assert again.advance(run).status == "done"
    assert "Some objectives are not done" in second.calls[0].system
    lines = (
        "1. a.txt: done (a.txt; as it was asked)\n2. b.txt: partial (as it was asked)\n3. c.txt: not (as it was asked)"
    )
    assert f'<value step="objectives" name="objectives">{lines}</value>' in second.calls[0].system
    assert second.calls[0].system.count("c.txt") == 1
    assert [event.data.get("undone", False) for event in again.follow(run) if event.kind in ("moved", "finished")] == [
        False,
        True,
        False,
    ]


def test_zero_done_is_never_done(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy")
    model = ScriptedModel(answer=in_turn(report(record={"objectives": ["one"]}), report(record=reported("not:"))))
    host = Agent(str(folder), model)
    ended = host.advance(host.start("tidy", "look"))
    assert (ended.status, ended.reason.partition(";")[0]) == ("stopped", "0 of 1 objective is done")


@pytest.mark.parametrize(
    "entries, fault",
    [
        (("done:nowhere.txt", "done:answer"), "objective 1: its place 'nowhere.txt' is no file of the project"),
        (("done:", "done:answer"), "objective 1: say in its place which file of the project shows it"),
        (("done:../outside.txt", "done:answer"), "is no file of the project"),
        (("done:answer",), "nothing is said of objective 2"),
        (("finished:answer", "done:answer"), "the status 'finished' is none of done, partial, not"),
    ],
)
def test_a_report_that_does_not_hold_is_refused_and_says_why(tmp_path: Path, entries: tuple[str], fault: str) -> None:
    folder = prose(tmp_path / "p", "tidy")
    (tmp_path / "outside.txt").write_text("x", encoding="utf-8")
    model = ScriptedModel(
        answer=in_turn(
            report(record={"objectives": ["one", "two"]}),
            report(record=reported(*entries)),
            report(record=reported("done:answer", "done:answer")),
        )
    )
    host = Agent(str(folder), model)
    assert host.advance(host.start("tidy", "look")).status == "done"
    assert model.calls[2].messages[-1].text.count(fault) == 1


def test_an_entry_of_a_report_without_its_number_is_refused(tmp_path: Path) -> None:
    unnumbered = {"result": "x", "objectives": [{"objective": 1, "status": "done", "place": "answer", "note": "x"}]}
    steps = [{"objectives": ["one"]}, unnumbered, reported("done:answer")]
    model = ScriptedModel(answer=in_turn(*[report(record=record) for record in steps]))
    host = Agent(str(prose(tmp_path / "p", "tidy")), model)
    assert host.advance(host.start("tidy", "look")).status == "done"
    assert "an entry has no number" in model.calls[2].messages[-1].text


@pytest.mark.req("A-01.4")
def test_the_budget_is_that_of_the_run_and_its_last_call_may_only_report(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy", head="metadata:\n  max_iterations: 4\n")
    look = calling(("search", {"glob": "*"}))
    model = ScriptedModel(
        answer=in_turn(
            report(record={"objectives": ["one", "two"]}),
            look,
            look,
            report(record=reported("done:answer", "not:")),
        )
    )
    host = Agent(str(folder), model)
    ended = host.advance(host.start("tidy", "look"))
    assert ended.status == "stopped"
    assert [len(call.tool_names) > 1 for call in model.calls] == [True, True, True, False]
    assert "This is the last model call" in model.calls[3].system


@pytest.mark.req("A-01.1")
def test_a_skill_has_15_model_calls_if_nothing_else_is_set(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy")
    look = calling(("search", {"glob": "*"}))

    def answer(messages: list[BaseMessage], tools: list[dict[str, Any]]) -> AIMessage:
        return report(record={"objectives": ["x"]}) if len(messages) < 3 else look

    model = ScriptedModel(answer=answer)
    host = Agent(str(folder), model)
    ended = host.advance(host.start("tidy", "look"))
    assert len(model.calls) == 15
    assert ended.reason == "15 model calls were made in this run, which is all that max_iterations allows."


def test_the_run_is_known_to_runs_trace_and_resume(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy")
    model = ScriptedModel(answer=in_turn(report(record={"objectives": ["one"]}), report(record=reported("not:"))))
    host = Agent(str(folder), model)
    run = host.start("tidy", "look")
    host.advance(run)
    for words in (["runs"], ["trace", run], ["resume", run]):
        shown = CliRunner().invoke(lockstep, [*words, "--project", str(folder)], prog_name="lockstep")
        assert shown.exit_code == 0, shown.output
        assert run in shown.output
        assert "tidy" in shown.output


@pytest.mark.req("A-01", "A-01.2", "A-01.3", "A-01.5")
def test_thoughts_calls_and_results_are_noted_and_the_conversation_goes_on(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy")
    (folder / "data.csv").write_text("town\n", encoding="utf-8")
    model = ScriptedModel(
        answer=in_turn(
            report(record={"objectives": ["one"]}),
            calling(("read", {"path": "data.csv"}), text="I look at the data first."),
            calling(("write", {"path": "sum.txt", "content": "1 town\n"}), text="One town: I write it down."),
            report(record=reported("done:sum.txt")),
        )
    )
    host = Agent(str(folder), model)
    run = host.start("tidy", "sum it up")
    assert host.advance(run).status == "done"
    assert len(model.calls) == 4
    with Activity(path_in(host.home)) as activity:
        kinds = [row.kind for row in activity.rows(run) if row.kind in ("model", "thought", "call", "result")]
        thoughts = [row.data["text"] for row in activity.rows(run, kind="thought")]
    assert kinds == ["model", "model", "thought", "call", "result", "model", "thought", "call", "result", "model"]
    assert thoughts == ["I look at the data first.", "One town: I write it down."]
    said = [message.text for message in model.calls[3].messages]
    assert any("I look at the data first." in text for text in said)
    assert any("town" in text for text in said)


@pytest.mark.req("A-08")
def test_defaults_user_project_skill_and_command_hold_in_this_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = calling(("search", {"glob": "*"}))
    monkeypatch.setenv("LOCKSTEP_CONFIG", str(tmp_path / "config"))
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "lockstep.toml").write_text(
        "[agent]\nmax_iterations = 6\nmost_iterations = 7\n", encoding="utf-8"
    )
    folder = prose(tmp_path / "p", "tidy")
    prose(folder, "greedy", head="metadata:\n  max_iterations: 9\n")

    def calls(skill: str, **overrides: int) -> int:
        first = [report(record={"objectives": ["one"]})]
        model = ScriptedModel(answer=lambda messages, tools: first.pop() if first else look)
        host = Agent(str(folder), model, overrides=overrides)
        host.advance(host.start(skill, "look", new=True))
        return len(model.calls)

    assert calls("tidy") == 6
    assert calls("greedy") == 7
    assert calls("greedy", max_iterations=3) == 3
    (folder / "lockstep.toml").write_text("[agent]\nmax_iterations = 4\nmost_iterations = 5\n", encoding="utf-8")
    assert calls("tidy") == 4
    assert calls("greedy") == 5

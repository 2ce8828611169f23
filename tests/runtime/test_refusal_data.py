"""A refusal as data: a code, where the run is, what is valid by its kind, what is missing; no flag of a shell in it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.lib.blocks.command_line import CommandLine
from skills.lib.blocks.refused import Refusal, flags_of, without_flags
from skills.lib.errors import LockstepError
from skills.lib.model.run import Request, Run
from skills.lib.runtime import Response, Runner
from skills.lib.testing.agent import Agent
from skills.lib.workflow.core import Outcome, StepDef, Workflow
from skills.lib.workflow.requirements import Arg, Field
from skills.lib.workflow.types import Dispatch, person

WORKFLOW = Workflow(
    "served",
    StepDef("begin", "Begin", "Say.", {Outcome.OK: "choose"}, requires=[Field("summary"), Field("sure", "int")]),
    StepDef("choose", "Choose", "Choose.", {Outcome.OK: "send", Outcome.SKIP: "ask"}),
    StepDef("send", "Send", "Send.", {Outcome.OK: "ask"}, Dispatch("explore", tasks=["a", "b"])),
    StepDef("ask", "Ask", "Ask.", {Outcome.OK: None}, person("Good?", {"yes": "ok"})),
    params=[Arg("how_deep", choices=("low", "high"))],
)


class Served:
    """A run of WORKFLOW in a program."""

    def __init__(self, project: Path) -> None:
        self.runner = Runner(CommandLine(sys.executable, str(project / "served.py"), str(project)))

    def start(self, **parameters: Any) -> Response:
        return self.runner.start(WORKFLOW, parameters)

    def go(self, run: Run, step: str = "next", **fields: Any) -> Response:
        return self.runner.advance(WORKFLOW, run.id, Request(step, run=run.id, turn=run.turn, **fields))

    def at(self, step: str) -> Run:
        """A run at that step."""
        run = self.start(how_deep="low").run
        assert run is not None
        reports = {"choose": {"records": {"summary": "s", "sure": 3}}, "send": {"outcome": "ok"}}
        for name, report in reports.items():
            if run.step != step:
                run = self.go(run, **report).run  # type: ignore[arg-type]
                assert run is not None
                assert run.step == name
        return run


@pytest.fixture
def served(project: Path) -> Iterator[Served]:
    made = Served(project)
    yield made
    made.runner.close()


def refusal(response: Response) -> Refusal:
    assert response.refusal is not None
    assert "--" not in response.refusal.why
    assert response.element.attributes["code"] == response.refusal.code
    return response.refusal


def test_what_is_printed_has_no_refusal(served: Served) -> None:
    assert served.start(how_deep="low").refusal is None


def test_a_missing_parameter_is_named_with_its_choices(served: Served) -> None:
    found = refusal(served.start())
    assert (found.code, found.run, found.step) == ("missing-parameter", None, None)
    assert (found.missing, found.valid) == (("how_deep",), {"choices": ["low", "high"]})
    assert found.why.startswith("how_deep is missing")


def test_an_unknown_parameter_is_told_the_names_of_those_that_there_are(served: Served) -> None:
    found = refusal(served.start(how_deep="low", how_wide="x"))
    assert (found.code, found.valid) == ("unknown-parameter", {"names": ["how_deep"]})
    assert found.why == "how_wide is not asked for here."


def test_every_field_that_is_missing_is_named(served: Served) -> None:
    run = served.at("begin")
    found = refusal(served.go(run))
    assert (found.code, found.run, found.step, found.turn) == ("missing-evidence", run.id, "begin", 1)
    assert (found.missing, found.valid) == (("summary", "sure"), {})
    assert found.faults == {
        "summary": "summary is not recorded: a text.",
        "sure": "sure is not recorded: a whole number.",
    }
    assert refusal(served.go(run, records={"summary": "s", "sure": "FILL_sure"})).missing == ("sure",)
    assert refusal(served.go(run, records={"summary": "s", "colour": "red"})).valid["names"] == ["summary", "sure"]


def test_a_missing_or_wrong_outcome_is_told_those_that_there_are(served: Served) -> None:
    run = served.at("choose")
    found = refusal(served.go(run))
    assert (found.code, found.missing) == ("missing-outcome", ("outcome",))
    assert found.valid == {"outcomes": ["ok", "skip"], "steps": ["send", "ask"]}
    assert refusal(served.go(run, outcome="fail")).valid["outcomes"] == ["ok", "skip"]


def test_a_step_that_nothing_leads_to_is_told_those_that_there_are(served: Served) -> None:
    found = refusal(served.go(served.at("begin"), "ask"))
    assert (found.code, found.valid) == ("skipped-step", {"steps": ["choose"]})
    assert found.faults == {"step": "From begin the graph has no way to step ask."}


@pytest.mark.parametrize("turn, code", [(None, "no-turn"), (7, "wrong-turn")])
def test_a_turn_that_is_missing_or_wrong_is_named(served: Served, turn: int | None, code: str) -> None:
    run = served.at("begin")
    report = Request("next", run=run.id, turn=turn, records={"summary": "s", "sure": 3})
    found = refusal(served.runner.advance(WORKFLOW, run.id, report))
    assert (found.code, found.faults, found.valid) == (code, {"turn": found.why}, {})


def test_sub_agents_that_are_at_work_are_named(served: Served) -> None:
    run = served.at("send")
    found = refusal(served.go(run))
    assert (found.code, found.valid["runs"]) == ("unaccounted-child", [f"{run.id}.1", f"{run.id}.2"])
    found = refusal(served.go(run, "current", lost=f"{run.id}.1"))
    assert (found.code, found.missing) == ("no-reason", ("reason",))


def test_each_value_that_is_wrong_is_named_with_the_reason(served: Served) -> None:
    run = served.at("begin")
    found = refusal(served.go(run, records={"summary": " ", "sure": "many"}))
    assert (found.code, found.missing, found.valid) == ("bad-value", (), {})
    assert found.faults == {
        "summary": "summary is empty; put in a text.",
        "sure": "sure: 'many' is not a whole number.",
    }
    assert found.why == " ".join(found.faults.values())
    assert refusal(served.go(run, records={"summary": "s", "sure": 3, "colour": "red"})).faults == {
        "colour": "Step begin records no 'colour'."
    }


def test_each_of_several_wrong_fields_is_named_with_the_values_that_it_may_have(project: Path) -> None:
    fields = [Field("mode", choices=("lite", "full")), Field("colour", choices=("red", "blue")), Field("summary")]
    workflow = Workflow("chosen", StepDef("begin", "Begin", "Say.", {Outcome.OK: None}, requires=fields))
    served = Served(project)
    run = served.runner.start(workflow, {}).run
    assert run is not None

    def refused(**records: Any) -> Refusal:
        request = Request("next", run=run.id, turn=1, records=records)
        return refusal(served.runner.advance(workflow, run.id, request))

    found = refused(mode="medium")
    assert (found.code, [*found.missing], [*found.faults]) == (
        "bad-value",
        ["colour", "summary"],
        ["mode", "colour", "summary"],
    )
    assert (found.choices, found.valid) == ({"mode": ["lite", "full"], "colour": ["red", "blue"]}, {})
    found = refused(mode="medium", colour="red", summary="s")
    assert (found.choices, found.valid) == ({"mode": ["lite", "full"]}, {"choices": ["lite", "full"]})
    assert refused(mode="full", colour="red").choices == {}
    served.runner.close()


@pytest.mark.parametrize(
    "fields, code, names",
    [
        ({"params": {"how_deep": "high"}}, "fixed-parameter", ["how_deep"]),
        ({"params": {"how_wide": "x"}}, "unknown-parameter", ["how_wide"]),
        ({"answer": "yes"}, "no-question", ["answer"]),
        ({"qr_status": "pass"}, "forged-verdict", ["qr_status"]),
        ({"qr_fail": True}, "forged-verdict", ["qr_fail"]),
        ({"qr_iteration": 3}, "forged-verdict", ["qr_iteration"]),
        ({"errata": {"nothing": "it is not so any more"}}, "unknown-field", ["errata"]),
    ],
)
def test_an_argument_that_is_wrong_is_named_and_no_step_is(
    served: Served, fields: dict[str, Any], code: str, names: list[str]
) -> None:
    given: dict[str, Any] = {"records": {"summary": "s", "sure": 3}, **fields}
    found = refusal(served.go(served.at("begin"), **given))
    assert (found.code, [*found.faults]) == (code, names)
    assert found.faults == {names[0]: found.why}
    assert "steps" not in found.valid


def test_an_opening_that_is_refused_names_the_parameter_and_no_step_of_another_run(served: Served) -> None:
    found = refusal(served.start(how_deep="middling"))
    assert (found.code, found.valid) == ("bad-value", {"choices": ["low", "high"]})
    assert [*found.faults] == ["how_deep"]
    run = served.at("choose")
    found = refusal(served.start(how_deep="low"))
    assert (found.code, found.run, found.valid) == ("already-open", run.id, {})


def test_the_reason_speaks_of_nothing_that_only_a_document_has(served: Served) -> None:
    """The document goes on by telling its reader what to do with its parts."""
    run = served.at("send")
    children = f"{run.id}.1 (not begun), {run.id}.2 (not begun)"
    waits = served.go(run)
    lost = served.runner.advance(WORKFLOW, "zzzzzzzz", Request("next", run="zzzzzzzz", turn=1))
    twin = served.start(how_deep="low")
    for response, why in (
        (waits, f"send waits for 2 of its sub-agents: {children}."),
        (lost, f"The ledger {served.runner.ledger.path} has no run 'zzzzzzzz'."),
        (twin, f"Run {run.id} of this skill is open with the same parameters, at send, turn 3."),
    ):
        assert refusal(response).why == why
        assert f"<WHY>{why} " in response.text
        assert not any(word in refusal(response).why for word in ("NEXT", "VALID", "SHOW", "command"))
    assert f"<WHY>send waits for 2 of its sub-agents: {children}. NEXT shows the command of each" in waits.text
    assert refusal(lost).valid == {"runs": [f"{run.id}.1", f"{run.id}.2", run.id]}


def test_a_limit_that_is_an_argument_is_not_called_by_the_name_of_a_variable(project: Path) -> None:
    runner = Runner(CommandLine(sys.executable, str(project / "served.py"), str(project)), max_parallel=1)
    served = Served(project)
    run = served.at("send")
    first, second = run.children
    assert runner.advance(WORKFLOW, first, Request("1", run=first)).refusal is None
    found = refusal(runner.advance(WORKFLOW, second, Request("1", run=second)))
    assert found.why == f"At most 1 sub-agents of a run work at once, and these are at work: {first}."
    served.runner.close()
    runner.close()


def test_errors_name_no_flag_to_a_program_and_the_flags_to_a_shell(served: Served, tmp_path: Path) -> None:
    run = served.at("send")
    (tmp_path / "empty").mkdir()
    nowhere = Runner(CommandLine(sys.executable, "", str(tmp_path / "empty")), home=str(tmp_path / "none"))
    asked: list[tuple[Callable[[], object], str, str]] = [
        (lambda: nowhere.peek(run.id), "name the project of the run; or open a run", "give --project as it stands"),
        (lambda: served.go(run, "snd"), "send", "--step send"),
        (lambda: served.go(run, "zzz"), "current shows where a run stands", "--step current --run ID"),
        (lambda: served.go(run, total_steps=9), "leave the total out;", "leave --total-steps out;"),
        (lambda: served.runner.peek("zzzzzzzz"), "take the id of a run that this ledger has", "lockstep runs --all"),
        (lambda: served.runner.abandon("zzzzzzzz", "not wanted"), "take the id of a run", "lockstep runs --all"),
        (
            lambda: served.runner.start(WORKFLOW, {"how_deep": "low"}, origin="zzzzzzzz"),
            "take the id of a run",
            "lockstep runs --all",
        ),
        (
            lambda: served.runner.abandon(f"{run.id}.1", "not wanted"),
            f"advance run {run.id} with {run.id}.1 as lost, and a reason",
            f"{sys.executable} {served.runner.command_line.script} --step current --run {run.id}",
        ),
    ]
    for call, remedy, in_shell in asked:
        with pytest.raises(LockstepError) as told:
            call()
        error = told.value
        assert error.remedy.startswith(remedy), error.remedy
        assert not any("--" in text for text in (error.what, error.valid, error.remedy))
        assert f"try:   {in_shell}" in error.message(), error.message()


def test_a_question_names_its_choices(served: Served) -> None:
    run = served.go(served.at("choose"), outcome="skip").run
    assert run is not None
    found = refusal(served.go(run))
    assert (found.code, found.missing, found.valid) == ("unanswered", ("answer",), {"choices": ["yes"]})
    assert refusal(served.go(run, answer="maybe")).valid == {"choices": ["yes"]}


def test_a_lost_program_is_told_the_runs_that_it_may_mean(served: Served) -> None:
    run = served.at("begin")
    found = refusal(served.runner.advance(WORKFLOW, "zzzzzzzz", Request("next", run="zzzzzzzz", turn=1)))
    assert (found.code, found.run, found.valid) == ("unknown-run", None, {"runs": [run.id]})
    moved = served.go(run, records={"summary": "s", "sure": 3}).run
    assert moved is not None
    assert refusal(served.start(how_deep="low")).run == run.id


def test_the_shell_is_still_told_its_flags(agent: Callable[[str], Agent]) -> None:
    tour = agent("tour")
    refused = tour.run_command(tour.open().next.replace("--turn 1", ""))
    assert "--turn" in refused.why


@pytest.mark.parametrize(
    "text, words",
    [
        ("--topic is missing", "topic is missing"),
        ("say which with --outcome.", "say which with outcome."),
        ("--qr-status pass is not so: --qr-fail", "qr_status pass is not so: qr_fail"),
        ("--unknown-one is not asked for, --unknown-one", "unknown_one is not asked for, --unknown-one"),
        ("git diff --stat failed (--no-pager)", "git diff --stat failed (--no-pager)"),
        ("a--run, x/--run, y=--run -- run", "a--run, x/--run, y=--run -- run"),
        ("", ""),
    ],
)
def test_a_flag_becomes_the_name_of_an_argument(text: str, words: str) -> None:
    assert without_flags(text, flags_of() | {"topic"}) == words


@given(st.text("-ab run=.", max_size=30))
def test_a_text_without_flags_stays_as_it_is(text: str) -> None:
    found = without_flags(text, {"run"})
    assert found.replace("-", "").replace("_", "") == text.replace("-", "").replace("_", "")
    if "--" not in text:
        assert found == text

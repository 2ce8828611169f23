"""What an agent gets wrong or makes up is refused: nothing changes, and the way on is given and works."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest

from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, filled
from tests.fixtures.deviations import assert_refused, assert_way_on, edited, refusals
from tests.fixtures.skill import install, source_of

Factory = Callable[[str], Agent]
ITEMS = '[{"id":"a","scope":"","check":"c","severity":"MUST","status":"%s","finding":"f"}]'


@pytest.fixture
def tour(agent: Factory) -> Agent:
    return agent("tour")


@pytest.fixture
def begun(tour: Agent) -> PrintedBlock:
    return tour.open(topic="why it is slow")


def at_dig(tour: Agent, begun: PrintedBlock) -> PrintedBlock:
    return tour.follow(tour.follow(begun, summary="slow"), mode="full")


def at_choose(tour: Agent, begun: PrintedBlock) -> PrintedBlock:
    return tour.follow(tour.follow(begun, summary="slow"), mode="quick")


def at_gate(gated: Agent, verdict: str) -> PrintedBlock:
    """The gate of a review that ended with that verdict."""
    gated.write("out.txt", "done")
    review = gated.follow(gated.open())
    for child in review.children:
        last = gated.finish(child.command, verdict)
    return gated.run_command(last.next)


@pytest.mark.parametrize("to", ["dig", "prove", "close", "done", "3", "7"])
def test_a_skipped_step_is_refused(tour: Agent, begun: PrintedBlock, to: str) -> None:
    command = edited(filled(begun.next, {"summary": "all is well"}), step=to)
    refused = assert_refused(tour, command, "skipped-step", begun.run)
    assert "From begin the graph has no way to" in refused.why
    assert refused.valid == ["plan"]
    assert "at begin, step 1 of 7, turn 1" in refused.words("STANDS")
    assert assert_way_on(tour, refused, summary="slow").step == "plan"


@pytest.mark.parametrize("outcome", ["ok", "iterate", "fail", "nonsense"])
def test_an_outcome_that_the_handler_does_not_give_is_refused(tour: Agent, begun: PrintedBlock, outcome: str) -> None:
    block = at_dig(tour, begun)
    confidence = "low" if outcome == "ok" else "high"
    command = filled(block.next, {"confidence": confidence}) + f" --outcome {outcome}"
    refused = assert_refused(tour, command, "wrong-outcome", begun.run)
    assert assert_way_on(tour, refused, confidence="high").step == "choose"


def test_an_explicit_step_that_the_outcome_does_not_lead_to_is_refused(tour: Agent, begun: PrintedBlock) -> None:
    block = at_dig(tour, begun)
    command = edited(filled(block.next, {"confidence": "low"}), step="choose")
    refused = assert_refused(tour, command, "wrong-outcome", begun.run)
    assert refused.why == "dig ended with iterate, which leads to dig, not to choose."
    assert refused.valid == ["dig"]


def test_an_outcome_without_a_route_is_refused(tour: Agent, begun: PrintedBlock) -> None:
    block = at_choose(tour, begun)
    refused = assert_refused(tour, filled(block.next, {"outcome": "splendid"}), "wrong-outcome", begun.run)
    assert "no outcome 'splendid'" in refused.why
    assert assert_way_on(tour, refused, outcome="skip").kind == "waiting"


def test_a_missing_outcome_is_refused(tour: Agent, begun: PrintedBlock) -> None:
    block = at_choose(tour, begun)
    refused = assert_refused(tour, block.next.replace(" --outcome FILL_outcome", ""), "missing-outcome", begun.run)
    assert refused.valid == ["ok", "skip", "default"]


def test_missing_evidence_is_refused(tour: Agent, begun: PrintedBlock) -> None:
    command = begun.next.replace(" --record summary='FILL_summary'", "")
    refused = assert_refused(tour, command, "missing-evidence", begun.run)
    assert refused.why == "summary is not recorded: a text."
    assert assert_way_on(tour, refused, summary="slow").step == "plan"


@pytest.mark.parametrize("content", [None, ""])
def test_a_file_that_is_not_there_or_empty_is_no_evidence(
    tour: Agent, begun: PrintedBlock, content: str | None
) -> None:
    block = tour.follow(at_choose(tour, begun), outcome="ok")
    if content is not None:
        tour.write("proof.txt", content)
    refused = assert_refused(tour, filled(block.next, {"file": "proof.txt"}), "missing-evidence", begun.run)
    assert "proof.txt is" in refused.why
    tour.write("proof.txt", "it is so")
    assert assert_way_on(tour, refused, file="proof.txt").kind == "waiting"


def test_a_check_that_fails_is_refused_with_the_end_of_its_output(agent: Factory, tmp_path: Path) -> None:
    source = source_of(
        "checked",
        'StepDef("one", "One", "Do.", {Outcome.OK: None},'
        ' requires=[Command(["sh", "-c", "echo a; printf \'<b> & \\\\033[31mred\'; test -e ok"], 10)])',
    )
    script = install(tmp_path, "checked", source)
    checked = Agent(script, agent("tour").project)
    block = checked.open()
    refused = assert_refused(checked, block.next, "missing-evidence", block.run)
    assert "ended with 1, not 0. Its output ends:\na\n<b> & red" in refused.why
    checked.write("ok", "")
    assert assert_way_on(checked, refused).kind == "done"


def test_a_check_that_hangs_is_ended_at_its_timeout(agent: Factory, tmp_path: Path) -> None:
    steps = (
        'StepDef("one", "One", "Do.", {Outcome.OK: None}, requires=[Command(["sh", "-c", "sleep 60 & sleep 60"], 0.3)])'
    )
    hanging = Agent(install(tmp_path, "hanging", source_of("hanging", steps)), agent("tour").project)
    block = hanging.open()
    begun = monotonic()
    refused = assert_refused(hanging, block.next, "missing-evidence", block.run)
    assert monotonic() - begun < 10
    assert "did not end within 0.3 s" in refused.why


@pytest.mark.parametrize("record", ["other=1", "summary=1 --record other=2"])
def test_a_record_that_nobody_asked_for_is_refused(tour: Agent, begun: PrintedBlock, record: str) -> None:
    command = begun.next.replace("summary='FILL_summary'", record)
    refused = assert_refused(tour, command, "unknown-field", begun.run)
    assert refused.valid == ["summary"]


def test_an_old_command_with_another_report_is_refused(tour: Agent, begun: PrintedBlock) -> None:
    tour.follow(begun, summary="slow")
    old = filled(begun.next, {"summary": "rather fast"})
    refused = assert_refused(tour, old, "wrong-turn", begun.run)
    assert refused.why == "Turn 1 has already been taken: the run is at turn 2."
    assert assert_way_on(tour, refused, mode="full").step == "dig"


def test_a_command_of_a_turn_to_come_is_refused(tour: Agent, begun: PrintedBlock) -> None:
    command = edited(filled(begun.next, {"summary": "slow"}), turn="7")
    refused = assert_refused(tour, command, "wrong-turn", begun.run)
    assert "has not come yet" in refused.why
    assert assert_way_on(tour, refused, summary="slow").step == "plan"


def test_a_report_without_a_turn_is_refused(tour: Agent, begun: PrintedBlock) -> None:
    command = filled(begun.next, {"summary": "slow"}).replace(" --turn 1", "")
    refused = assert_refused(tour, command, "no-turn", begun.run)
    assert assert_way_on(tour, refused, summary="slow").step == "plan"


def test_a_move_without_a_turn_is_refused_and_a_look_is_not(tour: Agent, begun: PrintedBlock) -> None:
    assert_refused(tour, begun.next.partition(" --record")[0].replace(" --turn 1", ""), "no-turn", begun.run)
    for step in ("begin", "1", "current"):
        shown = tour.run_command(edited(begun.next.partition(" --turn")[0], step=step) + f" --project {tour.project}")
        assert shown.text == begun.text


@pytest.mark.parametrize("value", ["FILL_summary", "'FILL_summary'", " FILL_summary ", "FILL_other"])
def test_a_placeholder_that_was_not_filled_in_is_refused(tour: Agent, begun: PrintedBlock, value: str) -> None:
    refused = assert_refused(tour, filled(begun.next, {"summary": value}), "unfilled", begun.run)
    assert "still stands as" in refused.why
    assert assert_way_on(tour, refused, summary="slow").step == "plan"


def test_an_unfilled_choice_names_the_choices(tour: Agent, begun: PrintedBlock) -> None:
    block = tour.follow(begun, summary="slow")
    refused = assert_refused(tour, block.next, "unfilled", begun.run)
    assert refused.valid == ["quick", "full"]
    choose = tour.follow(block, mode="quick")
    refused = assert_refused(tour, choose.next, "unfilled", begun.run)
    assert refused.valid == ["ok", "skip", "default"]


@pytest.mark.req("W-09", "W-10")
@pytest.mark.parametrize(
    "verdict, flags",
    [
        ("fail", "--qr-status pass"),
        ("pass", "--qr-status fail"),
        ("fail", "--qr-fail=false"),
        ("pass", "--qr-fail"),
        ("pass", "--qr-fail=true"),
        ("fail", "--qr-iteration 1"),
        ("fail", "--qr-iteration 5"),
        ("fail", "--qr-status fail --qr-iteration 2 --qr-fail false"),
    ],
)
def test_a_forged_verdict_is_refused(agent: Factory, verdict: str, flags: str) -> None:
    gated = agent("gated")
    gate = at_gate(gated, verdict)
    assert gate.step == "design-gate"
    refused = assert_refused(gated, f"{gate.next} {flags}", "forged-verdict", gate.run)
    onward = assert_way_on(gated, refused)
    assert onward.step == ("close" if verdict == "pass" else "write")


@pytest.mark.req("W-09")
@pytest.mark.parametrize(
    "verdict, flags",
    [
        ("fail", "--qr-status fail"),
        ("fail", "--qr-status=fail --qr-fail --qr-iteration 2"),
        ("fail", "--qr-fail=true --total-steps 4"),
        ("pass", "--qr-status pass --qr-fail=false --qr-iteration=2"),
    ],
)
def test_an_echo_that_the_ledger_bears_out_is_accepted(agent: Factory, verdict: str, flags: str) -> None:
    gated = agent("gated")
    gate = at_gate(gated, verdict)
    assert gated.run_command(f"{gate.next} {flags}").step == ("close" if verdict == "pass" else "write")


@pytest.mark.req("W-09")
def test_a_forged_verdict_before_any_review_is_refused(agent: Factory) -> None:
    gated = agent("gated")
    gated.write("out.txt", "done")
    block = gated.open()
    assert_refused(gated, f"{block.next} --qr-status pass", "forged-verdict", block.run)
    assert gated.run_command(f"{block.next} --qr-iteration 1 --qr-fail=false").step == "design-review"


@pytest.mark.req("W-09")
def test_a_verdict_cannot_be_brought_along_when_a_run_opens(agent: Factory) -> None:
    gated = agent("gated")
    gated.open()
    command = gated.blocks[0].next.partition(" --step")[0] + f" --step 1 --project {gated.project} --new"
    for flags in ("--qr-status pass", "--qr-fail", "--qr-iteration 3"):
        assert_refused(gated, f"{command} {flags}", "no-run")
    assert gated.run_command(f"{command} --qr-iteration 1 --qr-fail=false").step == "write"


def test_a_step_of_a_run_without_its_id_is_refused_with_the_runs_that_are_open(
    tour: Agent, begun: PrintedBlock
) -> None:
    command = begun.next.partition(" --run")[0] + f" --project {tour.project} --record summary=slow"
    refused = assert_refused(tour, command, "no-run")
    assert any(begun.run in choice for choice in refused.valid)
    shown = assert_way_on(tour, refused)
    assert (shown.step, shown.run) == ("begin", begun.run)


def test_an_unknown_run_is_refused_with_the_runs_that_are_open(tour: Agent, begun: PrintedBlock) -> None:
    command = edited(filled(begun.next, {"summary": "slow"}), run="zzzzzzzz")
    refused = assert_refused(tour, command, "unknown-run")
    assert "'zzzzzzzz'" in refused.why
    assert assert_way_on(tour, refused).run == begun.run


def test_without_an_open_run_the_way_on_is_to_begin(tour: Agent) -> None:
    begun = tour.open(topic="why it is slow")
    walked = tour.follow(tour.follow(tour.follow(begun, summary="s"), mode="quick"), outcome="skip")
    done = tour.follow(tour.follow(walked, answer="yes"), report="r")
    assert done.kind == "done"
    refused = assert_refused(tour, edited(begun.next, run="nosuchrun"), "unknown-run")
    fresh = assert_way_on(tour, refused, topic="another thing")
    assert (fresh.step, fresh.turn) == ("begin", 1)
    assert fresh.run != begun.run


def test_the_run_of_another_workflow_is_refused_with_its_own_command(
    agent: Factory, tour: Agent, begun: PrintedBlock
) -> None:
    gated = agent("gated")
    command = begun.next.replace(tour.script, gated.script)
    refused = assert_refused(gated, command, "other-workflow")
    assert "is of tour, and this script walks gated" in refused.why
    assert assert_way_on(gated, refused).text == begun.text


def test_an_ended_run_is_refused(tour: Agent, begun: PrintedBlock) -> None:
    block = tour.follow(tour.follow(tour.follow(begun, summary="s"), mode="quick"), outcome="skip")
    close = tour.follow(block, answer="yes")
    tour.follow(close, report="r")
    refused = tour.run_command(filled(close.next, {"report": "another"}))
    assert (refused.exit_code, refused.code) == (3, "run-ended")


def test_a_report_with_current_is_refused_with_the_command_for_it(tour: Agent, begun: PrintedBlock) -> None:
    command = edited(filled(begun.next, {"summary": "slow"}), step="current")
    refused = assert_refused(tour, command, "skipped-step", begun.run)
    assert refused.why == "--step current only shows begin; what it reports is given with the step that it leads to."
    assert assert_way_on(tour, refused, summary="slow").step == "plan"


@pytest.mark.parametrize(
    "step, words", [("current", "this one reports something"), ("plan", "this one asks for another")]
)
def test_a_report_without_a_turn_is_refused_with_what_is_missing(
    tour: Agent, begun: PrintedBlock, step: str, words: str
) -> None:
    command = edited(filled(begun.next, {"summary": "slow"}).replace(" --turn 1", ""), step=step)
    refused = assert_refused(tour, command, "no-turn", begun.run)
    assert refused.why == f"Without --turn a command can only show the present step, and {words}."


def test_a_run_parameter_cannot_be_changed_on_the_way(tour: Agent, begun: PrintedBlock) -> None:
    command = filled(begun.next, {"summary": "slow"})
    refused = assert_refused(tour, f"{command} --topic 'another thing'", "fixed-parameter", begun.run)
    assert "why it is slow" in refused.why
    assert tour.run_command(f"{command} --topic 'why it is slow' --depth 2").step == "plan"


@pytest.mark.parametrize(
    "mode, code",
    [("sideways", "bad-value"), ("''", "bad-value"), ("FILL_mode", "unfilled")],
)
def test_a_parameter_that_is_not_in_its_choices_is_refused(
    tour: Agent, begun: PrintedBlock, mode: str, code: str
) -> None:
    block = tour.follow(begun, summary="slow")
    refused = assert_refused(tour, block.next.replace("FILL_mode", mode), code, begun.run)
    assert refused.valid == ["quick", "full"]
    assert assert_way_on(tour, refused, mode="full").step == "dig"


@pytest.mark.parametrize(
    "parameters, code, words",
    [
        ({"depth": 9}, "bad-value", "depth: 9 is out of range; put in a whole number from 1 to 5"),
        ({"depth": "deep"}, "bad-value", "depth: 'deep' is not a whole number from 1 to 5"),
        ({"topic": "x"}, "bad-value", "topic: 1 characters is out of range"),
        ({"topic": "FILL_topic"}, "unfilled", "topic still stands as FILL_topic"),
        ({"mode": "full"}, "unknown-parameter", "--mode is not asked for here"),
    ],
)
def test_a_run_does_not_open_with_parameters_that_do_not_fit(
    tour: Agent, parameters: dict[str, object], code: str, words: str
) -> None:
    refused = tour.open(**{"topic": "why it is slow", **parameters})
    assert (refused.exit_code, refused.code) == (3, code)
    assert words in refused.why
    assert refused.words("STANDS") == "No run was opened, nothing was changed."
    assert refused.run == ""
    assert not (tour.project / ".lockstep" / "runs.db").exists()
    assert assert_way_on(tour, refused, topic="why it is slow", depth=2).step == "begin"


def test_refusals_are_counted_for_those_who_write_skills(tour: Agent, begun: PrintedBlock) -> None:
    for to in ("dig", "done"):
        tour.run_command(edited(filled(begun.next, {"summary": "x"}), step=to))
    tour.run_command(begun.next)
    assert refusals(tour, begun.run) == ["skipped-step", "skipped-step", "unfilled"]


def test_reviewed_items_cannot_pass_unreviewed(agent: Factory) -> None:
    """A reviewer that leaves an item to do does not pass it."""
    gated = agent("gated")
    gated.write("out.txt", "done")
    review = gated.follow(gated.open())
    for child in review.children:
        task = gated.run_command(child.command)
        last = gated.follow(task, items=ITEMS % "TODO")
    gate = gated.run_command(last.next)
    assert "verdict fail" in gate.words("STATE")
    assert gated.run_command(gate.next).step == "write"


def test_a_refused_opening_gives_back_what_fitted(tour: Agent) -> None:
    refused = tour.open(topic="why it's slow", depth=9)
    assert shlex.split(refused.next)[-4:] == ["--topic", "why it's slow", "--depth", "FILL_depth"]
    refused = tour.open(topic="x", depth=2)
    assert refused.next.endswith("--depth 2 --topic 'FILL_topic'")


def test_of_several_open_runs_the_last_moved_is_shown_first(tour: Agent, begun: PrintedBlock) -> None:
    other = tour.open(topic="why it is wrong")
    assert other.run != begun.run
    tour.follow(begun, summary="slow")
    command = begun.next.partition(" --run")[0] + f" --project {tour.project} --topic 'what it costs'"
    refused = assert_refused(tour, command, "no-run")
    *runs, opening = refused.valid
    assert [run in choice for run, choice in zip((begun.run, other.run), runs, strict=True)] == [True, True]
    assert refused.why.endswith("each open run of this skill, the last moved first; its last opens another.")
    assert "--step 1" in opening
    assert opening.endswith("--topic 'what it costs'")
    shown = assert_way_on(tour, refused)
    assert (shown.step, shown.run) == ("plan", begun.run)

"""What cannot be understood is answered with what was wrong, what is valid and what to try; never with a traceback."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, filled
from skills.lib.testing.follower import InProcess
from tests.fixtures.deviations import assert_refused, assert_way_on, recorded_state
from tests.fixtures.skill import install, source_of
from tests.fixtures.strategies import MARKUP
from tests.runtime.calls import serve

Factory = Callable[[str], Agent]


@pytest.fixture
def tour(agent: Factory) -> Agent:
    return agent("tour")


@pytest.fixture
def begun(tour: Agent) -> PrintedBlock:
    return tour.open(topic="why it is slow")


STEPS = "1 begin, 2 plan, 3 dig, 4 choose, 5 prove, 6 ask, 7 close, next, done, current"


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--step", "begn"], f"tour has no step 'begn'\n  valid: {STEPS}\n  try:   --step begin"),
        (["--step", "0"], f"tour has no step '0'\n  valid: {STEPS}"),
        (["--step", "8"], "tour has no step '8'"),
        (["--step", "-1"], "tour has no step '-1'"),
        (["--step", "99999999999999999999"], "tour has no step '99999999999999999999'"),
        (["--step", ""], "tour has no step ''"),
        (["--step", "١"], "tour has no step '١'"),
        ([], f"--step is missing\n  valid: {STEPS}\n  try:   --step 1 opens a run"),
        (["--step", "1", "--total-steps", "5"], "tour does not have 5 steps\n  valid: 7"),
        (["--step", "1", "--total-steps", "many"], "--total-steps 'many' is not a whole number"),
        (["--step", "1", "--step", "2"], "--step is given twice"),
        (["--step", "1", "--turn", "x"], "--turn 'x' is not a whole number"),
        (["--step", "1", "--turn", "-1"], "--turn '-1' is not a whole number"),
        (["--step"], "--step has no value"),
        (
            ["--step", "1", "--verbose"],
            "--verbose is not a flag of this script\n  valid: --answer --depth --erratum --lost",
        ),
        (["--step", "1", "topic"], "'topic' is not a flag"),
        (["--step", "1", "--qr-fail=perhaps"], "--qr-fail='perhaps' is not a switch"),
        (["--step", "1", "--record", "summary"], "--record 'summary' is not NAME=VALUE"),
        (["--step", "1", "--new=yes"], "--new takes no value"),
        (
            ["--step", "1", "--topic", "a\x00b"],
            "--topic: U+0000 at position 1 is a character that XML 1.0 does not have",
        ),
        (["--step", "1", "--topic", "a\x1b[31m"], "--topic: U+001B at position 1"),
        (["--step", "1", "--topic", "\udce4"], "U+DCE4"),
        (["--step", "1", "--topic", "x" * 10_000_000], "--topic has 10,000,000 characters, at most 100,000 are read"),
        (["--step", "1", "--record-file", "nowhere.json"], "--record-file 'nowhere.json' is not a file"),
        (["--step", "next", "--stateless"], "--stateless prints a step, and next depends on a run"),
    ],
)
def test_what_is_wrong_what_is_valid_and_what_to_try(tour: Agent, arguments: list[str], words: str) -> None:
    block = serve(tour, *arguments)
    assert (block.exit_code, block.text) == (2, "")
    assert block.errors.startswith("lockstep: ")
    assert words in block.errors
    assert len(block.errors) < 1_200
    assert not (tour.project / ".lockstep" / "runs.db").exists()


@pytest.mark.parametrize(
    "content, words",
    [
        (b"{", "not JSON"),
        (b"[1]", "not a JSON object"),
        (b"\xff\xfe", "is not UTF-8: byte 0"),
        (b'{"summary": "\\u0000"}', "U+0000"),
        (b'{"summary": "\\ud800"}', "U+D800"),
        (b'{"summary": NaN}', "NaN is not JSON"),
        (b'{"summary": ' + b"[" * 50 + b"]" * 50 + b"}", "nested more than 30 deep"),
        (b'{"summary": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b'{"summary": "' + b"x" * 10_000_000 + b'"}', "is larger than 2,000,000 bytes"),
        (b'{"summary": "' + b"x" * 1_500_000 + b'"}', "has 1,500,000 characters, at most 100,000 are read"),
    ],
    ids=["cut", "array", "encoding", "null", "surrogate", "nan", "deep", "deepest", "10MB", "long"],
)
def test_a_record_file_that_cannot_be_read(
    tour: Agent, begun: PrintedBlock, tmp_path: Path, content: bytes, words: str
) -> None:
    file = tmp_path / "values.json"
    file.write_bytes(content)
    before = recorded_state(tour)
    block = tour.run_command(begun.next.replace("--record summary='FILL_summary'", f"--record-file {file}"))
    assert block.exit_code == 2, block.text
    assert words in block.errors
    assert recorded_state(tour) == before


@pytest.mark.parametrize("kind", ["folder", "fifo", "nothing"])
def test_a_record_file_that_is_no_file_is_not_waited_for(
    tour: Agent, begun: PrintedBlock, tmp_path: Path, kind: str
) -> None:
    place = tmp_path / "place"
    if kind == "folder":
        place.mkdir()
    elif kind == "fifo":
        os.mkfifo(place)
    block = tour.run_command(begun.next.replace("--record summary='FILL_summary'", f"--record-file {place}"))
    assert block.exit_code == 2
    assert "is not a file" in block.errors


def test_a_record_file_takes_texts_that_a_shell_would_not(tour: Agent, begun: PrintedBlock, tmp_path: Path) -> None:
    text = "\n".join(MARKUP)
    file = tmp_path / "values.json"
    file.write_text(json.dumps({"summary": text}), encoding="utf-8-sig")
    plan = tour.run_command(begun.next.replace("--record summary='FILL_summary'", f"--record-file {file}"))
    assert plan.context["begin.summary"] == text


@pytest.mark.parametrize("place", ["nowhere", "file.txt"])
def test_a_project_that_is_no_folder(tour: Agent, place: str) -> None:
    tour.write("file.txt", "x")
    assert isinstance(tour.call, InProcess)
    block = tour.call.serve(tour.script, ["--step", "1", "--topic", "why", "--project", str(tour.project / place)])
    assert block.exit_code == 2
    assert "is not a folder" in block.errors


def test_another_project_knows_nothing_of_the_run_and_is_left_alone(
    tour: Agent, begun: PrintedBlock, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    command = filled(begun.next, {"summary": "s"}).replace(str(tour.project), str(other))
    block = tour.run_command(command)
    assert block.exit_code in (3, 4)
    assert str(other) in block.text + block.errors
    assert list(other.iterdir()) == []
    assert tour.follow(begun, summary="s").step == "plan"


@pytest.mark.parametrize("own", [True, False])
def test_evidence_of_another_project_does_not_count(
    tour: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: bool
) -> None:
    """One ledger for many projects (LOCKSTEP_HOME): a command that names another project is not taken."""
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    prove = tour.follow(tour.follow(tour.follow(tour.open(topic="why"), summary="s"), mode="quick"), outcome="ok")
    other = tmp_path / "other"
    other.mkdir()
    (other / "proof.txt").write_text("it is so elsewhere")
    command = filled(prove.next, {"file": "proof.txt"})
    if own:
        tour.write("proof.txt", "it is so")
        assert tour.run_command(command).kind == "waiting"
        return
    block = tour.run_command(command.replace(f"--project {tour.project}", f"--project {other}"))
    assert (block.exit_code, block.code) == (3, "other-project")
    assert tour.state(prove.run).step == "prove"
    assert assert_way_on(tour, block).text == prove.text


@pytest.mark.parametrize(
    "path", ["../../etc/passwd", "/etc/passwd", "link/passwd", "link2", "sub/../../outside.txt", "."]
)
def test_a_path_outside_the_project_is_no_evidence(tour: Agent, begun: PrintedBlock, tmp_path: Path, path: str) -> None:
    (tour.project / "link").symlink_to("/etc")
    (tour.project / "link2").symlink_to("/etc/passwd")
    (tour.project / "sub").mkdir()
    (tmp_path / "outside.txt").write_text("outside")
    prove = tour.follow(tour.follow(tour.follow(begun, summary="s"), mode="quick"), outcome="ok")
    refused = assert_refused(tour, filled(prove.next, {"file": path}), "missing-evidence", begun.run)
    assert "root:" not in refused.text
    assert "leads outside" in refused.why or "is not a file" in refused.why
    tour.write("proof.txt", "it is so")
    assert assert_way_on(tour, refused, file="proof.txt").kind == "waiting"


def test_a_link_inside_the_project_is_evidence(tour: Agent, begun: PrintedBlock) -> None:
    tour.write("proof.txt", "it is so")
    (tour.project / "alias").symlink_to("proof.txt")
    prove = tour.follow(tour.follow(tour.follow(begun, summary="s"), mode="quick"), outcome="ok")
    assert tour.follow(prove, file="alias").kind == "waiting"


@pytest.mark.parametrize(
    "content, words",
    [
        ("{", "not JSON"),
        ('{"n": "x"}', 'at $.n: "x" is a string, not an integer'),
        ("[]", "at $: [] is an array, not an object"),
        ('{"n": "\\uffff\\ud800"}', "at $.n: "),
    ],
)
def test_a_file_that_does_not_meet_its_schema(tmp_path: Path, project: Path, content: str, words: str) -> None:
    schema = '{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}'
    steps = f'StepDef("a", "A", "Do.", {{Outcome.OK: None}}, requires=[Artifact("x.json", {schema})])'
    shaped = Agent(install(tmp_path, "shaped", source_of("shaped", steps)), project)
    block = shaped.open()
    shaped.write("x.json", content)
    refused = assert_refused(shaped, block.next, "missing-evidence", block.run)
    assert words in refused.why
    shaped.write("x.json", '{"n": 3}')
    assert assert_way_on(shaped, refused).kind == "done"


@pytest.mark.parametrize(
    "source, code, words",
    [
        ("def f(ctx): return ctx.step_state['nothing']", 5, "raised KeyError"),
        ("def f(ctx):\n    return len(7)", 5, "broken_workflow.py:"),
        ("def f(ctx): return 'ok'", 5, "returned 'ok'"),
        ("def f(ctx): return Outcome.SKIP", 5, "returned skip, which is not declared"),
        ("def f(ctx): return Outcome.OK, {'x': object()}", 5, "values that cannot be kept"),
        ("def f(ctx): return Outcome.OK, {'x': float('nan')}", 5, "values that cannot be kept"),
    ],
)
def test_a_handler_that_is_broken_leaves_the_run_as_it_was(
    tmp_path: Path, project: Path, source: str, code: int, words: str
) -> None:
    steps = 'StepDef("a", "A", "Do.", {Outcome.OK: None}, f)'
    text = source_of("broken", steps).replace("WORKFLOW", f"{source}\n\nWORKFLOW", 1)
    broken = Agent(install(tmp_path, "broken", text), project)
    block = broken.open()
    before = recorded_state(broken)
    failed = broken.run_command(block.next)
    assert (failed.exit_code, failed.text) == (code, "")
    assert words in failed.errors
    assert "Traceback" not in failed.errors
    assert recorded_state(broken) == before


@pytest.mark.parametrize(
    "text, words",
    [
        ("x = (", "broken_workflow.py:1: SyntaxError"),
        ("1 / 0", "broken_workflow.py:1: ZeroDivisionError"),
        ("import sys; sys.exit(3)", "exits while it is imported (3)"),
        ("", "registers 0 workflows"),
    ],
)
def test_a_graph_that_does_not_load_says_where(tmp_path: Path, project: Path, text: str, words: str) -> None:
    script = install(tmp_path, "broken", text)
    block = InProcess().serve(str(script), ["--step", "1", "--project", str(project)])
    assert (block.exit_code, block.text) == (5, "")
    assert words in block.errors


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    arguments=st.lists(
        st.sampled_from(
            "--step --run --turn --project --outcome --answer --lost --replace --reason --record --record-file --topic"
            " --mode --depth --qr-status --qr-fail --qr-iteration --total-steps --new --stateless --step=1 1 next done"
            " current begin = a=b summary=x -1 2".split()
        )
        | st.text(max_size=6),
        max_size=8,
    )
)
def test_no_arguments_bring_out_a_bug(tour: Agent, arguments: list[str]) -> None:
    assert isinstance(tour.call, InProcess)
    block = tour.call.serve(tour.script, ["--project", str(tour.project), *arguments])
    assert block.exit_code in (0, 2, 3, 4), block.errors
    assert block.text or block.errors
    if block.text and "--help" not in arguments:
        assert block.root.get("protocol") == "1"


def test_help_names_the_steps_the_parameters_and_the_flags(tour: Agent) -> None:
    block = serve(tour, "--help")
    assert block.exit_code == 0
    for words in ("Begin:  --step 1 --topic", "   2  plan", "--mode", "on leaving plan", "--record-file", "Exit codes"):
        assert words in block.text
    assert serve(tour, "--version").text.startswith("lockstep 0")


def test_the_step_command_reads_its_arguments_as_utf_8(tour: Agent) -> None:
    assert sys.getfilesystemencoding() == "utf-8"
    assert tour.open(topic="größe — 大小").context["topic"] == "größe — 大小"

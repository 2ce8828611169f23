"""A skill author's own suite: three lines for every transition, and a fixture for what is particular."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skills.lib.errors import UsageError
from skills.lib.testing import any_of, every_transition
from tests.fixtures.skill import install, source_of

pytestmark = pytest.mark.slow

pytest_plugins = ("pytester",)


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pytest.RunResult]:
    """Runs a test file beside the fixture skills, in a process as an author would."""
    install(pytester.path, "tour")
    install(pytester.path, "gated")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # the other plugins take long to import

    def run(source: str, *arguments: str) -> pytest.RunResult:
        pytester.makepyfile(source)
        return pytester.runpytest_subprocess("-p", "lockstep.pytest_plugin", "-p", "no:cacheprovider", *arguments)

    return run


@pytest.mark.req("W-20")
def test_three_lines_cover_every_transition(suite: Callable[..., pytest.RunResult]) -> None:
    result = suite(
        """
        from skills.lib.testing import every_transition

        test_transitions = every_transition("skills")
        """,
        "-v",
    )
    result.assert_outcomes(passed=8)
    result.stdout.fnmatch_lines_random(
        [
            "*tour: dig -ok (limit)-> choose*",
            "*gated: design-gate -ok (accept)-> close*",
            "*tour: ask -fail (no)-> plan*",
        ]
    )


@pytest.mark.req("W-20")
def test_an_author_learns_which_transition_a_skill_does_not_take(
    suite: Callable[..., pytest.RunResult], pytester: pytest.Pytester
) -> None:
    steps = (
        'StepDef("a", "A", "Do.", {Outcome.OK: None, Outcome.FAIL: None}, f, requires=[Field("word")],'
        ' outcomes=["ok", "fail"])'
    )
    source = source_of("never", steps).replace("WORKFLOW", "def f(ctx): return Outcome.OK\n\nWORKFLOW", 1)
    install(pytester.path, "never", source)
    result = suite(
        """
        from skills.lib.testing import every_transition

        test_transitions = every_transition("skills/never")
        """
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["never: nothing that was tried makes step a take a -fail-> done*"])
    result.stdout.no_fnmatch_line("*/testing/*")


def test_setup_furnishes_each_project(suite: Callable[..., pytest.RunResult], pytester: pytest.Pytester) -> None:
    steps = 'StepDef("a", "A", "Do.", {Outcome.OK: None}, requires=[Command(["test", "-d", "made/here"])])'
    install(pytester.path, "furnished", source_of("furnished", steps))
    result = suite(
        """
        from skills.lib.testing import every_transition

        def furnish(project):
            (project / "made/here").mkdir(parents=True)

        test_with = every_transition("skills/furnished", setup=furnish)
        test_without = every_transition("skills/furnished")
        """
    )
    result.assert_outcomes(passed=1, failed=1)


@pytest.mark.req("W-20")
def test_the_fixture_runs_a_skill_through_its_commands(suite: Callable[..., pytest.RunResult]) -> None:
    result = suite(
        """
        def test_tour(lockstep):
            run = lockstep("skills/tour")
            run.start(topic="why it is slow")
            assert (run.step, run.refused, run.done) == ("begin", "", False)
            assert run.block.context == {"topic": "why it is slow"}
            run.command(run.block.next.replace("--step plan", "--step close"))
            assert run.refused == "skipped-step"
            run.next(summary="it is")
            assert run.refused == "skipped-step" or run.step == "plan"

        def test_to_the_end(lockstep):
            run = lockstep("skills/tour/scripts/tour.py")
            run.start(topic="why")
            run.next(summary="it is")
            run.next(mode="quick")
            run.next(outcome="ok")
            run.next(file="proof.txt")
            assert run.refused == "missing-evidence"
            run.write("proof.txt")
            run.next(file="proof.txt")
            assert run.block.kind == "waiting"
            run.next(answer="yes")
            run.next(report="so", extra={"n": 1})
            assert run.done
            assert run.block.result == {"close.report": "so", "close.extra": '{"n": 1}'}
            assert [one.step for one in run.taken] == ["begin", "plan", "choose", "prove", "ask", "close"]

        def test_reviews(lockstep):
            run = lockstep("skills/gated")
            run.write("out.txt")
            run.start()
            run.next()
            run.children("fail")
            run.next()
            run.next()
            assert run.step == "write"
            assert "not as it should be" in run.block.context["design.findings"]

        def test_nothing_is_left_outside(lockstep, tmp_path):
            lockstep("skills/gated").start()
            assert (tmp_path / "project" / ".lockstep" / "runs.db").is_file()
        """
    )
    result.assert_outcomes(passed=4)


def test_a_place_without_a_skill_is_reported(suite: Callable[..., pytest.RunResult]) -> None:
    result = suite(
        """
        import pytest
        from skills.lib.errors import UsageError
        from skills.lib.testing import every_transition

        def test_nowhere(lockstep, tmp_path):
            with pytest.raises(UsageError, match="is found neither from"):
                every_transition("skills/nothing")
            with pytest.raises(UsageError, match="holds no skill"):
                lockstep(tmp_path)
            with pytest.raises(UsageError, match="has 2 scripts"):
                lockstep("skills")
        """
    )
    result.assert_outcomes(passed=1)


FIELDS = "topic, depth, begin.summary, plan.mode, dig.confidence, prove.file, close.report, close.extra"


@pytest.mark.parametrize(
    "given, what, valid, nearest",
    [
        ({"values": {"severty": "high"}}, "values has 'severty', which no step and no parameter asks for", FIELDS, ""),
        ({"values": {"sumary": "x"}}, "values has 'sumary'", FIELDS, "summary"),
        ({"values": {"begin.sumary": "x"}}, "values has 'begin.sumary'", FIELDS, "begin.summary"),
        ({"values": {"task.result": "x"}}, "values has 'task.result'", FIELDS, ""),
        ({"files": {"fil": "x"}}, "files has 'fil', which is neither a path nor", "file, a path with / or .", "file"),
    ],
)
def test_a_key_that_no_step_has_a_use_for_is_reported(
    tmp_path: Path, given: dict[str, Any], what: str, valid: str, nearest: str
) -> None:
    script = install(tmp_path, "tour")
    with pytest.raises(UsageError) as told:
        every_transition(script, **given)
    assert told.value.what.startswith(what)
    assert told.value.what.partition("; did you mean ")[2] == (f"{nearest}?" if nearest else "")
    assert told.value.valid == valid


def test_a_misspelt_key_is_seen_when_the_suite_is_run(suite: Callable[..., pytest.RunResult]) -> None:
    result = suite(
        """
        from skills.lib.testing import every_transition

        test_transitions = every_transition("skills/tour", values={"topik": "why"})
        """
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["E *UsageError: values has 'topik', which *", "E     valid: topic, depth, *"])


def test_keys_of_parameters_fields_sub_agents_and_paths_are_known(tmp_path: Path) -> None:
    every_transition(
        install(tmp_path, "tour"),
        values={"topic": "why", "begin.summary": "so", "mode": any_of("quick", "full"), "prove.file": "NOTICE"},
        files={"file": "proof", "NOTICE": "read", "go.mod": "module x", "notes/a": "b"},
    )
    every_transition(install(tmp_path, "gated"), values={"task.items": []}, files={"out.txt": "x"})
    install(tmp_path, "part")
    every_transition(install(tmp_path, "brood"), values={"result": "seen"})

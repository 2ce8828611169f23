"""Words are closed sets that take strings and refuse nonsense; values are frozen and equal by content."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from skills.lib.field_checks import coerce
from skills.lib.workflow.types import (
    AgentRole,
    BranchRouting,
    Confidence,
    Dispatch,
    Element,
    Gate,
    GateConfig,
    ItemStatus,
    LinearRouting,
    Outcome,
    Person,
    QRState,
    QRStatus,
    Rendered,
    Severity,
    Step,
    TerminalRouting,
    person,
)


@pytest.mark.req("W-05")
@pytest.mark.parametrize(
    "kind, members",
    [
        (Outcome, "ok fail skip iterate default"),
        (AgentRole, "quality-reviewer developer technical-writer explore general-purpose architect debugger"),
        (Confidence, "exploring low medium high certain"),
        (QRStatus, "pass fail"),
        (ItemStatus, "TODO PASS FAIL"),
        (Severity, "MUST SHOULD COULD"),
    ],
)
def test_each_vocabulary_is_a_closed_set_of_strings(kind: Any, members: str) -> None:
    assert [str(word) for word in kind] == members.split()
    assert len(kind) == len(members.split())
    for word in kind:
        assert kind(word) is word
        assert kind(word.value) is word
        assert kind(word.value.upper()) is word
        assert kind(word.value.lower()) is word
        assert str(word) == word.value
        assert pickle.loads(pickle.dumps(word)) is word
        assert copy.deepcopy(word) is word
        assert getattr(kind, word.name) is word
        assert word.value in kind
        assert isinstance(word, str)
    assert "nonsense" not in kind
    for nonsense in ("non sense", "", None, 3, f"{members.split()[0]}\n"):
        with pytest.raises(ValueError, match=f"is not an? {kind.__name__}: use one of {members.split()[0]}"):
            kind(nonsense)
    with pytest.raises(AttributeError, match="closed vocabulary"):
        kind.OTHER = "other"


@pytest.mark.req("W-05")
def test_the_routings_exclude_each_other() -> None:
    assert LinearRouting() == LinearRouting() != TerminalRouting()
    assert BranchRouting(if_pass=4, if_fail=3) == BranchRouting(4, 3)
    assert BranchRouting(4, 3) != BranchRouting(3, 4)
    with pytest.raises(TypeError):
        BranchRouting(if_pass=4)  # type: ignore[call-arg]
    match BranchRouting(4, 3):
        case LinearRouting() | TerminalRouting():
            raise AssertionError("a branch is neither")
        case BranchRouting(if_pass=onward):
            assert onward == 4


@pytest.mark.req("W-05")
def test_a_review_state_takes_strings_and_refuses_nonsense() -> None:
    state = QRState(iteration=2, failed=True, status="pass")
    assert (state.iteration, state.failed, state.status, state.passed) == (2, True, QRStatus.PASS, True)
    assert QRState() == QRState(1, False, None)
    assert not QRState(status="fail").passed
    for iteration in (0, -1, 1.5, "1", True, None):
        with pytest.raises(ValueError, match="is not a whole number of 1 or more"):
            QRState(iteration=iteration)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="QRState status: 'perhaps' is not a QRStatus"):
        QRState(status="perhaps")


@pytest.mark.req("W-05")
def test_a_gate_takes_the_names_of_the_document() -> None:
    gate = GateConfig(
        qr_name="Implementation Review",
        work_step=1,
        pass_step=4,
        pass_message="Implementation verified",
        self_fix=True,
        fix_target="developer",
    )
    assert gate.fix_target is AgentRole.DEVELOPER
    with pytest.raises(ValueError, match="GateConfig fix_target: 'develper' is not a AgentRole"):
        GateConfig("n", 1, 2, "m", fix_target="develper")
    with pytest.raises(ValueError, match="Gate bound: 0"):
        Gate("design", 0)


@pytest.mark.req("W-04", "W-05")
def test_a_dispatch_is_one_agent_a_template_or_distinct_tasks() -> None:
    assert Dispatch("explore").task == "Do what this step asks and report the result."
    assert Dispatch(AgentRole.EXPLORE, targets=["a", "b"]).targets == ("a", "b")
    assert Dispatch("explore", targets="scope.areas").targets == "scope.areas"
    assert Dispatch("developer", script="dev.py").task == ""
    with pytest.raises(ValueError, match="not both"):
        Dispatch("explore", targets=["a"], tasks=["b"])
    with pytest.raises(ValueError, match="Dispatch agent: 'develper' is not a AgentRole"):
        Dispatch("develper")


def test_a_question_has_choices_that_lead_somewhere() -> None:
    assert person("Ship?", ["yes", "no"]).choices == {"yes": Outcome.OK, "no": Outcome.OK}
    assert person("Ship?", {"no": "fail"}).choices == {"no": Outcome.FAIL}
    assert person("What?").choices == {}
    with pytest.raises(ValueError, match="Person choice no"):
        Person("Ship?", {"no": "not ever"})  # type: ignore[dict-item]


def test_values_are_frozen_equal_by_content_and_readable() -> None:
    step = Step("Title", "one action")
    assert step.actions == ("one action",)
    assert step == Step("Title", ["one action"], LinearRouting())
    assert repr(Gate("d", 3)) == "Gate(checkpoint='d', bound=3, stale=None)"
    assert pickle.loads(pickle.dumps(step)) == step
    assert copy.copy(Gate("d")) == Gate("d")
    assert Gate("d") != "d"
    with pytest.raises(AttributeError, match="Step is frozen: title cannot be changed"):
        step.title = "other"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="Step is frozen: title cannot be changed"):
        del step.title


def test_a_block_is_text_and_an_f_string_around_it_is_not_a_block() -> None:
    block = Rendered("<x/>")
    assert block == "<x/>"
    assert isinstance(block, Rendered)
    assert not isinstance(f"{block}", Rendered)
    assert Element("a", None, "x").attributes == {}


def test_a_nonsense_word_is_reported_with_its_place() -> None:
    with pytest.raises(ValueError, match="here: 'x' is not a Severity: use one of MUST, SHOULD, COULD"):
        coerce(Severity, "x", "here")

"""Words of a workflow's own as outcomes: their form, and workflows with them as data."""

from __future__ import annotations

import copy
import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.types import Outcome, person


@pytest.mark.req("E-07")
@pytest.mark.parametrize("word", ["more-tasks", "a", "done", "next", "stale", "v2", "no-", "x" * 24])
def test_a_word_of_its_own_is_an_outcome(word: str) -> None:
    outcome = Outcome(word)
    assert (outcome, str(outcome), outcome.value, outcome.is_own) == (word, word, word, True)
    assert repr(outcome) == f"Outcome('{word}')"
    assert pickle.loads(pickle.dumps(outcome)) == copy.deepcopy(outcome) == word
    assert word not in list(Outcome)


@pytest.mark.parametrize(
    "word", ["", "More-Tasks", "more_tasks", "2nd", "-a", "a b", "ok\n", "é", "x" * 25, None, 3, []]
)
def test_what_has_another_form_is_refused(word: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        Outcome(word)  # type: ignore[arg-type]


@given(st.text(max_size=30))
def test_the_form_is_the_documented_one(text: str) -> None:
    try:
        outcome = Outcome(text)
    except ValueError:
        assert not re.fullmatch(r"[a-z][a-z0-9-]{0,23}", text)
    else:
        assert outcome.is_own == (outcome not in ("ok", "fail", "skip", "iterate", "default"))
        assert re.fullmatch(r"[a-z][a-z0-9-]{0,23}", text.lower() if not outcome.is_own else text)


def test_the_five_words_are_what_they_were() -> None:
    assert [repr(word) for word in Outcome] == [
        "Outcome.OK",
        "Outcome.FAIL",
        "Outcome.SKIP",
        "Outcome.ITERATE",
        "Outcome.DEFAULT",
    ]
    assert Outcome("FAIL") is Outcome.FAIL
    assert not any(word.is_own for word in Outcome)


def test_default_serves_a_word_only_if_the_step_declares_it() -> None:
    plain = StepDef("a", next={Outcome.DEFAULT: "b"})
    assert (plain.route(Outcome.SKIP), plain.route(Outcome("later"))) == (("b",), None)
    assert StepDef("a", next={Outcome.DEFAULT: "b"}, outcomes=[Outcome("later")]).route(Outcome("later")) == ("b",)
    asked = StepDef("a", next={Outcome.DEFAULT: "b"}, handler=person("When?", {"in May": "later"}))
    assert asked.route(Outcome("later")) == ("b",)
    assert asked.route(Outcome("sooner")) is None


@pytest.mark.req("E-07")
def test_a_workflow_with_own_words_is_the_same_from_its_data() -> None:
    workflow = Workflow(
        "chores",
        StepDef(
            "work",
            "Do it",
            next={Outcome("more-tasks"): "work", Outcome.OK: None, Outcome("no-time"): None},
            when={
                Outcome("more-tasks"): "there is another",
                Outcome.OK: "all is done",
                Outcome("no-time"): "it is late",
            },
            max_iterations=3,
            at_limit=Outcome("no-time"),
        ),
        ends={"no-time": "fail"},
    )
    data = workflow.to_data()
    assert data["ends"] == {"no-time": "fail"}
    assert data["steps"][0]["at_limit"] == "no-time"
    again = Workflow.from_data(data)
    assert again.to_data() == data
    assert again.fingerprint == workflow.fingerprint
    assert again.ends_failed(Outcome("no-time"))


def test_ends_is_about_own_words_and_says_pass_or_fail() -> None:
    step = StepDef("a", "A", next={Outcome.OK: None})
    with pytest.raises(ValueError, match="workflow 'w' ends: ok has its own meaning at the end"):
        Workflow("w", step, ends={"ok": "fail"})
    with pytest.raises(ValueError, match="workflow 'w' ends: 'good' is not a QRStatus: use one of pass, fail"):
        Workflow("w", step, ends={"later": "good"})
    assert "ends" not in Workflow("w", step).to_data()

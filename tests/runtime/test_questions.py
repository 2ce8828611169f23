"""What a question to a person shows, and what a person's step may hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib.blocks.document import QUESTION_LIMIT
from skills.lib.errors import SkillError
from skills.lib.runtime import loading
from skills.lib.testing.agent import Agent
from tests.fixtures.skill import install, source_of
from tests.runtime.calls import OPEN_ENDED, leave

Skill = Callable[..., Agent]
ASKING = (
    'StepDef("ask", "Ask", "Ask.", {{Outcome.OK: "last", Outcome.FAIL: "ask"}}, '
    'person("{question}", {{"yes": "ok", "no": "fail"}}), '
    'requires=[Field("said"), Field("more", "list", required=False)]), '
    + OPEN_ENDED.replace("{", "{{").replace("}", "}}")
)


def test_a_question_shows_nothing_of_an_earlier_one(skill: Skill) -> None:
    agent = skill(ASKING.format(question="{ask.said}: {ask.more}"))
    waiting = leave(agent, agent.open(), "next", said="first", more=["drop the table"])
    assert waiting.words("QUESTION") == "first: - drop the table"
    again = agent.follow(waiting, answer="no")
    asked = leave(agent, again, "next", said="second")
    assert asked.words("QUESTION") == "second: "
    assert "more" not in agent.state(asked.run).state["ask"]


def test_a_question_that_is_cut_says_where_the_rest_is(skill: Skill) -> None:
    agent = skill(ASKING.format(question="{ask.said}"))
    waiting = leave(agent, agent.open(), "next", said="x" * (QUESTION_LIMIT + 1))
    told = waiting.words("QUESTION")
    assert f"… ({QUESTION_LIMIT + 1:,} characters)\nThe values in it are shown whole by: " in told
    assert f"trace {waiting.run} --values --project " in told


@pytest.mark.parametrize(
    "step, words",
    [
        (
            'StepDef("a", "A", "A.", {Outcome.OK: None}, person("Ok?"), requires=[Field("reason")])',
            "step 'a' requires: the engine records 'reason' of this step",
        ),
        (
            'StepDef("a", "A", "A.", {Outcome.OK: None}, person("Ok?"), requires=[Field("answered_by")])',
            "the engine records 'answered_by'",
        ),
        (
            'StepDef("a", "A", "A.", {Outcome.OK: None}, Dispatch("explore"), requires=[Field("results")])',
            "the engine records 'results'",
        ),
        (
            'StepDef("a", "A", "A.", {Outcome.OK: None, Outcome.ITERATE: "a"}, '
            'person("Ok?", {"y": "ok", "n": "iterate"}), max_iterations=2)',
            "step 'a': max_iterations bounds no answers",
        ),
        (
            'StepDef("a", "A", "A.", {Outcome.OK: None}, person("Ok?")), params=[Arg("x", step="a")]',
            "a asks a person as it is entered, and nothing is reported there",
        ),
    ],
)
def test_what_a_person_s_step_could_not_keep_is_no_workflow(
    tmp_path: Path, request: pytest.FixtureRequest, step: str, words: str
) -> None:
    name = "unkept" + str(abs(hash(step)))[:8]
    script = install(tmp_path, name, source_of(name, step))
    with pytest.raises(SkillError) as caught:
        loading.workflow_of_script(str(script))
    assert words in caught.value.what

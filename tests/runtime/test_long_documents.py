"""Long names, many choices, values and findings: a document stays a block."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from skills.lib.blocks.parts import BLOCK_LIMIT
from skills.lib.testing.agent import Agent
from tests.runtime.calls import LOOP, item, leave, review, serve

Skill = Callable[..., Agent]


def test_a_refusal_of_very_long_names_stays_a_block(skill: Skill) -> None:
    agent = skill('StepDef("first", "First", "Do.", {Outcome.OK: None}, requires=[Field("i", "items")])')
    block = agent.open()
    long = "k" * 90_000
    for refused in (
        leave(agent, block, "done", **{long: 1}),
        leave(agent, block, "done", i=[{long: 1}]),
        serve(agent, "--step", "done", "--run", block.run, "--turn", "1", "--qr-status", long),
        serve(agent, "--step", "done", "--run", block.run, "--turn", "1", "--outcome", long),
    ):
        assert refused.kind == "refused"
        assert len(refused.text) < BLOCK_LIMIT
        assert refused.next


def test_a_refusal_with_very_many_choices_counts_the_rest(skill: Skill) -> None:
    words = [f"choice-number-{at}" for at in range(500)]
    agent = skill(f'StepDef("first", "First", "Do.", {{Outcome.OK: None}}, requires=[Field("c", choices={words!r})])')
    refused = leave(agent, agent.open("--new"), "done", c="none")
    assert refused.valid == words[: len(refused.valid)]
    assert refused.why.endswith(f" {500 - len(refused.valid)} of what is valid is not shown here.")
    assert len(refused.text) < BLOCK_LIMIT + len("|".join(words))


def test_many_values_of_middling_length_stand_in_files(skill: Skill) -> None:
    names = [f"f{at}" for at in range(20)]
    agent = skill(
        f'StepDef("first", "First", "Do.", {{Outcome.OK: "last"}}, requires=[Field(name) for name in {names}]), '
        f'StepDef("last", "Last", "Stop.", {{Outcome.OK: None}}, needs=["first." + name for name in {names}])'
    )
    block = agent.show(leave(agent, agent.open(), "last", **dict.fromkeys(names, "word " * 118)).run)
    assert len(block.text) <= BLOCK_LIMIT
    files = [value.get("file") for value in block.root.iterfind("CONTEXT/value") if value.get("file")]
    assert files
    assert all(Path(file).read_text(encoding="utf-8") == "word " * 118 for file in files if file)


def test_long_targets_and_a_long_question_stay_a_block(skill: Skill) -> None:
    agent = skill(
        'StepDef("first", "First", "Do.", {Outcome.OK: "look"}, requires=[Field("all", "list")]), '
        'StepDef("look", "Look", "Look.", {Outcome.OK: "ask"}, Dispatch("explore", task="{target}", '
        'targets="first.all")), '
        'StepDef("ask", "Ask", "Ask.", {Outcome.OK: None}, person("Is {first.all} right?", ["yes"]))'
    )
    block = leave(agent, agent.open(), "look", all=["y" * 5_000] * 8)
    assert len(block.text) < BLOCK_LIMIT
    for child in block.children:
        agent.lose(block, child.id)
    asked = agent.follow(agent.blocks[-1])
    refused = serve(agent, "--step", "next", "--run", asked.run, "--turn", str(asked.turn))
    assert (asked.kind, refused.code) == ("waiting", "unanswered")
    assert max(len(asked.text), len(refused.text)) < BLOCK_LIMIT


def test_a_hundred_open_findings_are_named_and_counted(skill: Skill) -> None:
    agent = skill(LOOP.replace("{bound}", "1"))
    items = [{**item(f"i{at}", "FAIL"), "finding": "it is wrong " * 40} for at in range(100)]
    asked = review(agent, agent.follow(agent.open()), items)
    assert len(asked.text) < BLOCK_LIMIT
    assert "and 90 more, which lockstep trace" in asked.words("QUESTION")


def test_a_reason_that_zsh_would_read_as_a_path_is_quoted() -> None:
    from skills.lib.blocks.command_line import quote

    assert quote("=ls") == "'=ls'"
    assert quote("name=value") == "name=value"

"""A model call that fits its budget: what is left out, in which order, and what never is."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately

from skills.lib.agent import prompt, trimming
from skills.lib.agent.configuration.settings import Switches
from skills.lib.agent.prompt import BlockTooLarge, Sections

ON = Switches()
BLOCK = '<step skill="demo">\n  <DO>Read &lt;b&gt; &amp; go on.</DO>\n</step>'
WRAPPED = f'<mandatory-skill name="demo">\n{BLOCK}\n</mandatory-skill>'
FORCED = prompt.forced(Sections(base="You are an agent."), "demo", BLOCK, ["read"], switches=ON)
# The system prompt of FORCED by characters and by tokens.
CHARACTERS = len(prompt.system_prompt(FORCED, ON))
TOKENS = trimming.estimated_tokens([SystemMessage(prompt.system_prompt(FORCED, ON))])


def characters(messages: Sequence[BaseMessage]) -> int:
    """A counter for tests: one token for each character of the content, and of the arguments of calls."""
    calls = [call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
    return sum(len(str(message.content)) for message in messages) + sum(len(str(call["args"])) for call in calls)


def human(text: str) -> HumanMessage:
    return HumanMessage(text)


def calling(*ids: str, text: str = "", **args: Any) -> AIMessage:
    return AIMessage(text, tool_calls=[{"name": "read", "args": args, "id": one} for one in ids])


def result(id: str, text: str) -> ToolMessage:
    return ToolMessage(text, tool_call_id=id, name="read")


def fitted(
    messages: Sequence[AnyMessage], room: int, sections: Sections = FORCED, switches: Switches = ON
) -> tuple[str, list[AnyMessage]]:
    """What is sent if messages have so much room beside FORCED, counted by characters."""
    system, kept = trimming.fitted(sections, messages, [], CHARACTERS + room, switches, characters)
    return (str(system.content) if system else ""), kept


def contents(messages: Sequence[BaseMessage]) -> list[str]:
    return [str(message.content) for message in messages]


def pairs_are_whole(messages: Sequence[AnyMessage]) -> bool:
    """True if each call of a tool has its result and each result its call."""
    calls = [call["id"] for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
    return calls == [message.tool_call_id for message in messages if isinstance(message, ToolMessage)]


Story = list[AnyMessage]
STORY: Story = [
    human("task"),
    calling("1"),
    result("1", "one"),
    calling("2", "3"),
    result("2", "two"),
    result("3", "three"),
]


@pytest.mark.req("F-02")
@pytest.mark.parametrize(
    "room, left",
    [
        (100, ["task", "", "one", "", "two", "three"]),
        (21, ["task", "", "one", "", "two", "three"]),
        (20, ["task", "", "two", "three"]),
        (16, ["task", "", "two", "three"]),
    ],
)
def test_the_oldest_message_goes_first_and_a_call_goes_with_its_results(room: int, left: list[str]) -> None:
    """The arguments of each call are two characters."""
    system, kept = fitted(STORY, room)
    assert contents(kept) == left
    assert pairs_are_whole(kept)
    assert WRAPPED in system


@pytest.mark.req("F-02")
def test_everything_is_sent_as_it_is_if_it_fits() -> None:
    system, kept = fitted(STORY, 1000)
    assert system == prompt.system_prompt(FORCED, ON)
    assert all(one is other for one, other in zip(kept, STORY, strict=True))


@pytest.mark.req("F-02")
def test_the_newest_human_message_is_kept_and_older_ones_go() -> None:
    story: Story = [human("old task"), AIMessage("done"), human("new task"), AIMessage("x" * 10), AIMessage("y" * 10)]
    assert contents(fitted(story, 30)[1]) == ["new task", "x" * 10, "y" * 10]
    assert contents(fitted(story, 20)[1]) == ["new task", "y" * 10]


@pytest.mark.req("F-02")
def test_what_is_kept_begins_with_a_human_message_if_there_was_one() -> None:
    """Providers ask for it: the one before is kept, too, and cut if it is long."""
    story: Story = [human("q1"), AIMessage("a" * 30), human("q2" * 200), AIMessage("b" * 300), AIMessage("c" * 30)]
    story += [human("q3"), AIMessage("d")]
    assert contents(fitted(story, 735)[1]) == ["q2" * 200, "b" * 300, "c" * 30, "q3", "d"]
    cut, *rest = contents(fitted(story, 600)[1])
    assert cut.startswith("q2q2")
    assert cut.endswith("characters left out: the call has no room for them]")
    assert (len(cut) < 200, rest) == (True, ["b" * 300, "c" * 30, "q3", "d"])
    cut, *rest = contents(fitted(story, 340)[1])
    assert (cut[:4], rest) == ("q2q2", ["c" * 30, "q3", "d"])
    assert contents(fitted(story, 100)[1]) == ["q3", "d"]
    assert contents(fitted([AIMessage("a" * 8), AIMessage("b" * 8), human("q")], 10)[1]) == ["b" * 8, "q"]


@pytest.mark.req("F-02")
def test_system_messages_of_the_history_stay() -> None:
    story: Story = [human("old"), SystemMessage("note"), AIMessage("x" * 50), human("new")]
    assert contents(fitted(story, 10)[1]) == ["note", "new"]


@pytest.mark.req("F-02")
def test_a_result_that_comes_late_goes_with_its_call() -> None:
    story: Story = [human("task"), calling("1"), human("hurry"), result("1", "one"), AIMessage("ok")]
    assert contents(fitted(story, 100)[1]) == ["task", "", "hurry", "one", "ok"]
    assert contents(fitted(story, 8)[1]) == ["hurry", "ok"]
    invalid = AIMessage("", invalid_tool_calls=[{"name": "read", "args": "{", "id": "1", "error": None}])
    assert contents(fitted([invalid, result("1", "no"), human("task"), AIMessage("ok")], 7)[1]) == ["task", "ok"]


@pytest.mark.req("F-02")
def test_a_result_that_comes_last_is_kept_with_its_early_call() -> None:
    story: Story = [human("task"), calling("1"), AIMessage("a" * 30), AIMessage("b" * 30), result("1", "one")]
    assert contents(fitted(story, 45)[1]) == ["task", "", "b" * 30, "one"]
    assert contents(fitted(story, 10)[1]) == ["task", "", "one"]


@pytest.mark.req("F-02")
def test_no_system_message_is_cut() -> None:
    story: Story = [SystemMessage("n" * 500), human("h" * 500)]
    kept = contents(fitted(story, 800)[1])
    assert kept[0] == "n" * 500
    assert 200 < len(kept[1]) <= 300


@pytest.mark.req("F-02")
def test_sections_go_after_messages_and_before_a_message_is_cut(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "lockstep.agent")
    sections = FORCED.changed(memory="m" * 300, mode="o" * 300, environment="e" * 300)
    story: Story = [human("task"), AIMessage("a" * 300), calling("1"), result("1", "r" * 300)]
    system, kept = fitted(story, 1000, sections)
    assert contents(kept) == ["task", "", "r" * 300]
    assert ("m" * 300 in system, "o" * 300 in system, "e" * 300 in system) == (True, False, True)
    system, kept = fitted(story, 620, sections)
    assert contents(kept) == ["task", "", "r" * 300]
    assert ("m" * 300 in system, "o" * 300 in system, "e" * 300 in system) == (False, False, True)
    system, kept = fitted(story, 580, sections)
    assert len(str(kept[2].content)) <= 580 - 302 - 6
    assert "e" * 300 in system
    assert WRAPPED in system
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == [
        "messages left out, oldest first", "skill demo",
        "messages left out, oldest first", "skill demo",
        "messages left out, oldest first", "skill demo", "texts of messages cut",
    ]  # fmt: skip


@pytest.mark.req("F-02")
def test_the_longest_texts_are_cut_last_and_say_so() -> None:
    called = calling("1", text="t" * 300, text_of_a_file="f" * 900)
    story: Story = [human("h" * 400), called, result("1", "r" * 500)]
    _, kept = fitted(story, 1600)
    call = kept[1]
    assert isinstance(call, AIMessage)
    argument = str(call.tool_calls[0]["args"]["text_of_a_file"])
    assert contents(kept)[:2] == ["h" * 400, "t" * 300]
    for cut, letter, was in ((argument, "f", 900), (str(kept[2].content), "r", 500)):
        assert len(cut) < was
        beginning, _, said = cut.partition("\n")
        assert set(beginning) == {letter}
        assert said == f"[{was - len(beginning)} characters left out: the call has no room for them]"
    assert called.tool_calls[0]["args"]["text_of_a_file"] == "f" * 900  # the history itself is as it was


@pytest.mark.req("F-02")
def test_blocks_of_content_are_cut_but_no_signed_thought_and_no_image() -> None:
    thought = {"type": "thinking", "thinking": "s" * 500, "signature": "s"}
    image = {"type": "image", "base64": "i" * 500}
    blocks: list[Any] = ["p" * 500, {"type": "text", "text": "t" * 500}, thought, image]
    used = {"type": "tool_use", "id": "1", "name": "read", "input": {"path": ["a" * 500, 1]}}
    _, kept = fitted([human("task"), AIMessage([*blocks, used])], 2500)
    plain, text, *same, use = cast("list[Any]", kept[1].content)
    assert same == [thought, image]
    assert len(plain) == len(text["text"]) == len(use["input"]["path"][0]) < 500
    assert use["input"]["path"][1] == 1


@pytest.mark.req("F-02")
def test_a_call_that_cannot_fit_keeps_its_block_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    sections = FORCED.changed(rules="r" * 1000)
    system, kept = fitted([human("h" * 500)], 300, sections)
    assert WRAPPED in system
    assert len(kept[0].content) <= 200
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "over its budget" in caplog.text


@pytest.mark.req("F-02")
def test_a_block_over_the_budget_alone_is_refused() -> None:
    with pytest.raises(BlockTooLarge, match=f"is {len(WRAPPED)} tokens and a model call may have 50"):
        trimming.fitted(FORCED, [human("task")], [], 50, ON, characters)


def test_tools_take_their_part_of_the_budget() -> None:
    tools = [{"name": "read", "description": "d" * 4000}]
    story: Story = [human("task"), AIMessage("a" * 480), human("go on")]
    budget = TOKENS + 150
    assert len(trimming.fitted(FORCED, story, [], budget, ON)[1]) == 3
    assert len(trimming.fitted(FORCED, story, tools, budget + 990, ON)[1]) == 1
    assert len(trimming.fitted(FORCED, story, tools, budget + 1050, ON)[1]) == 3


def test_tokens_are_estimated_as_langchain_does_but_for_other_scripts() -> None:
    story: Story = [*STORY, AIMessage([{"type": "text", "text": "plain"}])]
    assert trimming.estimated_tokens(story) == count_tokens_approximately(story)
    assert trimming.estimated_tokens([human("漢字" * 100)]) == 204  # 3 for a message, 1 for its role
    assert trimming.estimated_tokens([calling("1", path="漢字" * 100)]) >= 200


# Histories: any order of questions, answers, calls with one to three results, and notes of the system.
TEXT = st.builds(str.__mul__, st.sampled_from(["a", "some words ", "漢"]), st.integers(0, 400))


@st.composite
def histories(draw: st.DrawFn, most: int = 12) -> Story:
    found: Story = []
    for number in range(draw(st.integers(0, most))):
        match draw(st.sampled_from(["human", "answer", "calls", "calls", "note"])):
            case "human":
                found.append(human(draw(TEXT)))
            case "answer":
                found.append(AIMessage(draw(TEXT)))
            case "note":
                found.append(SystemMessage("note"))
            case _:
                ids = [f"{number}.{at}" for at in range(draw(st.integers(1, 3)))]
                found.append(calling(*ids, text=draw(TEXT), path=draw(TEXT)))
                found += [result(one, draw(TEXT)) for one in ids]
    return [one.model_copy(update={"id": str(at)}) for at, one in enumerate(found)]


@pytest.mark.req("F-02")
@settings(deadline=None)
@given(history=histories(), room=st.integers(0, 3000), memory=TEXT, approximately=st.booleans())
def test_no_history_takes_the_block_or_parts_a_pair(
    history: list[AnyMessage], room: int, memory: str, approximately: bool
) -> None:
    count = count_tokens_approximately if approximately else trimming.estimated_tokens
    sections = FORCED.changed(memory=memory)
    budget = TOKENS + room
    system, kept = trimming.fitted(sections, history, [], budget, ON, count)
    assert system is not None
    assert str(system.content).count(WRAPPED) == 1
    assert pairs_are_whole(kept)
    places = [int(one.id or "") for one in kept]
    assert places == sorted(places)
    if history:
        newest_human = max((at for at, one in enumerate(history) if isinstance(one, HumanMessage)), default=-1)
        assert {len(history) - 1, newest_human} - {-1} <= {*places}
    notes = {at for at, one in enumerate(history) if isinstance(one, SystemMessage)}
    assert notes <= {*places}
    least = sum(count([one]) for one in trimming.shortened(kept, 0, count))
    assert count([system, *kept]) <= max(budget, count([system]) + least)


def untouched(messages: list[dict[str, str]], limit: int) -> list[dict[str, str]]:
    """What is done without a protected block, by characters: written anew from the words of the source document."""
    trimmed = [dict(one) for one in messages]

    def size() -> int:
        return sum(len(one["content"]) for one in trimmed)

    keep_system = bool(trimmed) and trimmed[0]["role"] == "system"
    first = 1 if keep_system else 0
    while size() > limit and len(trimmed) > first + 1:
        del trimmed[first]
    if size() > limit and keep_system and len(trimmed) > 1:
        del trimmed[0]
    if size() > limit and trimmed and trimmed[-1]["role"] != "system":
        largest = max(trimmed, key=lambda one: len(one["content"]))
        while size() > limit and len(largest["content"]) > 1:
            largest["content"] = largest["content"][:-1]
    return trimmed


ROLES: dict[str, Callable[[str], AnyMessage]] = {"human": HumanMessage, "ai": AIMessage}
PLAIN = st.lists(st.tuples(st.sampled_from(sorted(ROLES)), st.text("ab", max_size=30)), max_size=8)


@pytest.mark.req("F-07")
@settings(deadline=None)
@given(base=st.text("bs", max_size=30), history=PLAIN, budget=st.integers(1, 150))
def test_a_session_without_a_forced_skill_is_trimmed_as_ever(
    base: str, history: list[tuple[str, str]], budget: int
) -> None:
    messages: list[AnyMessage] = [ROLES[role](text) for role, text in history]
    system, kept = trimming.fitted(Sections(base=base), messages, [], budget, ON, characters)
    sent = [{"role": one.type, "content": str(one.content)} for one in ([system] if system else []) + [*kept]]
    before = [{"role": "system", "content": base}] if base else []
    assert sent == untouched([*before, *({"role": role, "content": text} for role, text in history)], budget)


@pytest.mark.req("F-06")
def test_without_its_protection_the_block_is_deleted_as_ever(caplog: pytest.LogCaptureFixture) -> None:
    switches = Switches(protect_block=False)
    story: Story = [human("old"), AIMessage("a" * 50), human("n" * CHARACTERS)]
    system, kept = fitted(story, 10, switches=switches)
    assert system == ""
    assert contents(kept) == ["n" * CHARACTERS]
    assert "the system message is left out" in caplog.text
    system, kept = fitted(story, 10)
    assert WRAPPED in system


@pytest.mark.req("F-02", "F-07")
@pytest.mark.parametrize("times", [10, 100, 1000])
@pytest.mark.parametrize("shape", ["many calls", "one long result", "one long question", "long arguments", "prose"])
def test_histories_of_many_times_the_budget(times: int, shape: str) -> None:
    budget = TOKENS + 400
    length = 4 * budget * times
    many = range(length // 2000)
    stories: dict[str, Callable[[], Story]] = {
        "many calls": lambda: [
            human("task"),
            *(one for at in many for one in (calling(f"{at}", path="p" * 500), result(f"{at}", "r" * 1500))),
        ],
        "one long result": lambda: [human("task"), calling("1"), result("1", "r" * length)],
        "one long question": lambda: [human("q" * length)],
        "long arguments": lambda: [human("task"), calling("1", text="f" * length), result("1", "written")],
        "prose": lambda: [human("task"), *(AIMessage("a" * 2000) for _ in many)],
    }
    story = stories[shape]()
    system, kept = trimming.fitted(FORCED, story, [], budget, ON)
    assert system is not None
    assert str(system.content) == prompt.system_prompt(FORCED, ON)
    assert trimming.estimated_tokens([system, *kept]) <= budget
    assert pairs_are_whole(kept)
    assert isinstance(kept[0], HumanMessage)
    assert str(kept[0].content)[:4] == str(story[0].content)[:4]
    assert kept[-1].type == story[-1].type


@pytest.mark.req("F-02")
@settings(max_examples=20, deadline=None)
@given(st.data())
def test_histories_of_any_shape_of_many_times_the_budget(data: st.DataObject) -> None:
    part: Story = [AIMessage("a" * 400), *data.draw(histories(most=10))]
    times = data.draw(st.integers(10, 1000))
    history = [one.model_copy() for _ in range(1 + times * 300 // trimming.estimated_tokens(part)) for one in part]
    system, kept = trimming.fitted(FORCED, history, [], TOKENS + 300, ON)
    assert system is not None
    assert str(system.content) == prompt.system_prompt(FORCED, ON)
    assert str(kept[-1].content)[:100] == str(history[-1].content)[:100]

"""Makes a model call fit its budget: the oldest messages go first, then sections of the system prompt, never the block.

Last, the longest texts of the remaining messages are cut. Without a protected block it is as it always was: message by
message, then the system message, then the largest message is cut.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately

from skills.lib.agent import prompt
from skills.lib.agent.configuration.settings import Switches
from skills.lib.agent.prompt import Sections, log

# The tokens of messages. `count_tokens_approximately` of langchain_core is one, and so is a provider's own counter.
Count = Callable[[Sequence[BaseMessage]], int]
# No text is cut to fewer characters.
SHORTEST = 200
# What stands in place of the rest of a text, and the most characters that it takes.
_LEFT_OUT, _ROOM = "\n[{:,} characters left out: the call has no room for them]", 70


def fitted(
    sections: Sections,
    messages: Sequence[AnyMessage],
    tools: Sequence[Any],
    budget: int,
    switches: Switches,
    count: Count | None = None,
) -> tuple[SystemMessage | None, list[AnyMessage]]:
    """The system message and the messages of a model call of at most ``budget`` tokens, its tools included.

    The newest human message, the newest message and all system messages are kept. A call of a tool is left out with its
    results or not at all. Raises BlockTooLarge if the block alone is over the budget; another call that cannot be made
    to fit is logged.
    """
    count = count or estimated_tokens
    room = budget - tokens_of_tools(tools)

    def tokens(text: str) -> int:
        return count([SystemMessage(text)])

    if not (sections.block and switches.protect_block):
        text = prompt.system_prompt(sections, switches)
        return _unprotected(SystemMessage(text) if text else None, messages, room, count)
    system = SystemMessage(prompt.system_prompt(sections, switches))
    if count([system, *messages]) <= room:
        return system, list(messages)
    kept = newest(messages, room - count([system]), count)
    sections = prompt.fitted(sections, count(kept), room, tokens, switches)
    system = SystemMessage(prompt.system_prompt(sections, switches))
    kept = shortened(kept, room - count([system]), count)
    if (over := count([system, *kept]) - room) > 0:
        log.warning(
            "skill %s: the call is %d tokens over its budget of %d; the block stays", sections.skill, over, budget
        )
    return system, kept


def estimated_tokens(messages: Sequence[BaseMessage]) -> int:
    """An estimate: a token for four ASCII characters or one other, 3 for each message, 85 for an image."""
    return count_tokens_approximately(messages) + sum(_surcharge(message) for message in messages)


def tokens_of_tools(tools: Sequence[Any]) -> int:
    """An estimate of the tokens of the tools that a call offers."""
    return count_tokens_approximately([], tools=list(tools)) if tools else 0


def _surcharge(message: BaseMessage) -> int:
    """What other characters than those of ASCII cost above a quarter of a token each."""
    texts: list[str] = [message.text]
    if isinstance(message, AIMessage):
        texts += [repr(call["args"]) for call in message.tool_calls]
    return sum(len(text) - len(text.encode("ascii", "ignore")) for text in texts) * 3 // 4


def newest(messages: Sequence[AnyMessage], budget: int, count: Count) -> list[AnyMessage]:
    """The newest messages that fit into ``budget`` tokens, in order; what ``fitted`` always keeps is among them."""
    groups = _groups(messages)
    human = next((at for at in reversed(range(len(groups))) if _is_human(groups[at])), None)
    always = {at for at, group in enumerate(groups) if isinstance(group[0][1], SystemMessage)}
    always |= {len(groups) - 1} | {at for at in (human,) if at is not None} if groups else set()
    kept = set(always)
    left = budget - sum(_size(groups[at], count) for at in always)
    for at in reversed(range(len(groups))):
        if at not in kept:
            left -= _size(groups[at], count)
            if left < 0:
                break
            kept.add(at)
    while kept != always and count(_in_order(groups, kept)) > budget:  # a counter may give more for all than for each
        kept.remove(min(kept - always))
    chosen = _in_order(groups, _led(groups, kept, always, budget, count))
    if len(chosen) < len(messages):
        log.info("messages left out, oldest first: %d of %d", len(messages) - len(chosen), len(messages))
    return chosen


_Group = list[tuple[int, AnyMessage]]


def _groups(messages: Sequence[AnyMessage]) -> list[_Group]:
    """The messages with their places; a message that calls tools is in one group with the results."""
    groups: list[_Group] = []
    of_call: dict[str, _Group] = {}
    for at, message in enumerate(messages):
        if isinstance(message, ToolMessage) and message.tool_call_id in of_call:
            of_call[message.tool_call_id].append((at, message))
            continue
        groups.append([(at, message)])
        if isinstance(message, AIMessage):
            for call in (*message.tool_calls, *message.invalid_tool_calls):
                of_call[call["id"] or ""] = groups[-1]
    return sorted(groups, key=lambda group: group[-1][0])


def _is_human(group: _Group) -> bool:
    return isinstance(group[0][1], HumanMessage)


def _size(group: _Group, count: Count) -> int:
    return count([message for _, message in group])


def _in_order(groups: list[_Group], kept: set[int]) -> list[AnyMessage]:
    return [message for _, message in sorted((one for at in kept for one in groups[at]), key=lambda one: one[0])]


def _led(groups: list[_Group], kept: set[int], always: set[int], budget: int, count: Count) -> set[int]:
    """What is kept, with the human message before it, as providers ask for one at the beginning; cut if it is long."""
    first = min((at for at in kept if not isinstance(groups[at][0][1], SystemMessage)), default=0)
    lead = next((at for at in reversed(range(first)) if _is_human(groups[at])), None)
    if lead is None or _is_human(groups[first]):
        return kept
    if count(_in_order(groups, kept | {lead})) > budget:
        groups[lead] = [(at, _cut(message, SHORTEST)) for at, message in groups[lead]]
    while kept != always and count(_in_order(groups, kept | {lead})) > budget:
        kept.remove(min(kept - always))
    return kept if kept == always else kept | {lead}


def shortened(messages: list[AnyMessage], budget: int, count: Count) -> list[AnyMessage]:
    """The messages with their longest texts cut to one length, so that they fit into ``budget`` tokens if they can."""
    if count(messages) <= budget:
        return messages
    longest = max((len(text) for message in messages for text in _cuttable(message)), default=0)
    if longest <= SHORTEST:
        return messages

    def cut_to(limit: int) -> list[AnyMessage]:
        return [_cut(message, limit) for message in messages]

    # The first limit that is too long, and one less; the range begins with the least limit that is used at all.
    over = bisect_left(range(SHORTEST + 1, longest), True, key=lambda limit: count(cut_to(limit)) > budget)
    limit = SHORTEST + over
    log.info("texts of messages cut: the longest, of %d characters, to %d", longest, limit)
    return cut_to(limit)


def _cuttable(message: AnyMessage) -> Iterator[str]:
    """The texts of a message that may be cut: its content, and the arguments of the tools that it calls."""
    if not isinstance(message, SystemMessage):
        yield from _strings(message.content)
    if isinstance(message, AIMessage):
        yield from _strings([call["args"] for call in message.tool_calls])


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _strings(_part(one))
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)


def _part(block: Any) -> Any:
    """What of a block of content may be cut: text and the input of a tool; no image, and no signed thought."""
    if isinstance(block, dict) and "type" in block:
        return {"text": block.get("text"), "tool_use": block.get("input")}.get(str(block["type"]))
    return block


def _cut(message: AnyMessage, limit: int) -> AnyMessage:
    if all(len(text) <= limit for text in _cuttable(message)):
        return message
    changed: dict[str, Any] = {"content": _cut_content(message.content, limit)}
    if isinstance(message, AIMessage):
        changed["tool_calls"] = [{**call, "args": _cut_value(call["args"], limit)} for call in message.tool_calls]
    return message.model_copy(update=changed)


def _cut_content(content: Any, limit: int) -> Any:
    return [_cut_block(block, limit) for block in content] if isinstance(content, list) else _cut_value(content, limit)


def _cut_block(block: Any, limit: int) -> Any:
    if not isinstance(block, dict):
        return _cut_value(block, limit)
    field = {"text": "text", "tool_use": "input"}.get(str(block.get("type")), "")
    return {**block, field: _cut_value(block[field], limit)} if field in block else block


def _cut_value(value: Any, limit: int) -> Any:
    """A value with each text in it cut: its beginning, and how much is left out."""
    if isinstance(value, str):
        kept = limit - _ROOM
        return value if len(value) <= limit else value[:kept] + _LEFT_OUT.format(len(value) - kept)
    if isinstance(value, list):
        return [_cut_value(one, limit) for one in value]
    if isinstance(value, dict):
        return {name: _cut_value(one, limit) for name, one in value.items()}
    return value


def _unprotected(
    system: SystemMessage | None, messages: Sequence[AnyMessage], budget: int, count: Count
) -> tuple[SystemMessage | None, list[AnyMessage]]:
    """What is done without a protected block: the oldest message, and so on; the system message; the largest is cut."""
    head = [system] if system else []
    removable = [at for at, one in enumerate(messages[:-1]) if not isinstance(one, SystemMessage)]

    def without(number: int) -> list[AnyMessage]:
        gone = set(removable[:number])
        return [one for at, one in enumerate(messages) if at not in gone]

    # The least number that fits, else all.
    number = bisect_left(range(len(removable)), True, key=lambda number: count([*head, *without(number)]) <= budget)
    kept = without(number)
    if number:
        log.info("messages left out, oldest first: %d of %d", number, len(messages))
    if system and kept and count([system, *kept]) > budget:
        log.warning("the system message is left out: the call is over its budget of %d tokens", budget)
        system, head = None, []
    if kept and count([*head, *kept]) > budget:
        largest = max(range(len(kept)), key=lambda at: count([kept[at]]))
        kept[largest] = _beginning(kept[largest], budget - count([*head, *kept[:largest], *kept[largest + 1 :]]), count)
    return system, kept


def _beginning(message: AnyMessage, budget: int, count: Count) -> AnyMessage:
    """A message with as much of the beginning of its text as fits."""
    text = message.content
    if not isinstance(text, str):
        return message

    def of(length: int) -> AnyMessage:
        return message.model_copy(update={"content": text[:length]})

    over = bisect_left(range(1, len(text)), True, key=lambda length: count([of(length)]) > budget)
    log.info("the largest message cut from %d characters to %d", len(text), over)
    return of(over)

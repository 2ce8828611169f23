"""Three temperaments of a model, as functions of what a model call is given: its messages and its tools.

They were written before the cases. They know no case, no file and no tool: they do the numbered calls that the
instructions name, one by one, and after a failure they take nothing but what the text of the failure, or a list that
they were shown, names. What a call belongs to stands in the text of the message that asks for it.
"""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from benchmarks.recovery.alternatives import Call, alternatives, looks, takes_from
from tests.agent.scripted import calling, report

Tools = list[dict[str, Any]]
# A numbered instruction, the call that it names, and what is to stand in the result of it.
_INSTRUCTION = re.compile(r"^\s*(\d+)\. (.+?): `(\w+)\((.*)\)`(?:, whose result has `(.+)`)?\s*$", re.MULTILINE)
# How often a thing is tried at most, and how often the same call, if its failure says that it may pass.
_TRIES, _SAME = 6, 3
# What a call says that is not made any more, and what a program says that did not succeed.
_REFUSED = re.compile(r"failed \d+ times")
_EXIT = re.compile(r"^\[(?:exit (?!0\b)|ended |killed )", re.MULTILINE)


class Instruction(NamedTuple):
    """One numbered call of the instructions."""

    number: int
    text: str
    call: Call
    expected: str


class Attempt(NamedTuple):
    """A call that was made for an instruction, what it came to, and whether it was a look around."""

    call: Call
    text: str
    ok: bool
    is_look: bool


def learner(messages: list[BaseMessage], tools: Tools) -> AIMessage:
    """Take the next alternative that a failure or a list names, until there is none."""
    return _work(messages, tools, _learnt)


def repeater(messages: list[BaseMessage], tools: Tools) -> AIMessage:
    """Make the same call until it is refused; then take the first alternative, in the same way."""
    return _work(messages, tools, _repeated)


def quitter(messages: list[BaseMessage], tools: Tools) -> AIMessage:
    """Give up everything that is left at the first failure."""
    return _work(messages, tools, _given_up, gives_up=True)


Next = Callable[[Instruction, Sequence[Attempt], Tools, str], "tuple[Call, bool] | None"]


def _work(messages: list[BaseMessage], tools: Tools, after_failure: Next, gives_up: bool = False) -> AIMessage:
    """Do the instructions in order; report what is asked for."""
    system = html.unescape(messages[0].text)
    instructions = instructions_in(system)
    wanted = _fields(tools)
    if "result" not in wanted:
        return report(record={"objectives": [one.text for one in instructions]})
    made = _attempts(messages)
    results: dict[int, str] = {}
    lost: dict[int, str] = {}
    for one in instructions:
        attempts = made.get(one.number, [])
        if gives_up and lost:
            lost[one.number] = "not begun: something before it failed"
            continue
        last = attempts[-1] if attempts else None
        if last and not last.is_look and _is_solved(one, last):
            results[one.number] = last.text
            continue
        if missing := next((number for number in _uses(one) if number in lost), 0):
            lost[one.number] = f"it needs what {missing} was to bring"
            continue
        chosen = (_filled(one.call, results), False) if last is None else after_failure(one, attempts, tools, system)
        if chosen is None or len(attempts) >= _TRIES * 2:
            lost[one.number] = (last.text if last else "nothing was tried").strip().splitlines()[0][:200]
            continue
        call, is_look = chosen
        return calling((call.tool, call.arguments), text=f"{one.number}{'?' if is_look else ''}: {one.text}")
    return _reported(instructions, results, lost)


def instructions_in(system: str) -> list[Instruction]:
    """The numbered calls that the system prompt names; a number that comes again is not taken again."""
    found: dict[int, Instruction] = {}
    for number, text, tool, arguments, expected in _INSTRUCTION.findall(system):
        keywords = ast.parse(f"f({arguments})", mode="eval").body.keywords  # type: ignore[attr-defined]
        call = Call(tool, {one.arg: ast.literal_eval(one.value) for one in keywords})
        found.setdefault(int(number), Instruction(int(number), text, call, expected))
    return [found[number] for number in sorted(found)]


def _learnt(one: Instruction, attempts: Sequence[Attempt], tools: Tools, system: str) -> tuple[Call, bool] | None:
    tried = [attempt.call for attempt in attempts]
    for attempt in reversed(attempts):
        if attempt.is_look and attempt.ok:
            before = _failed(attempts)
            found = [(call, False) for call in takes_from(attempt.text, before.call, before.text)]
        elif attempt.is_look:
            found = []
        else:
            found = [(call, False) for call in alternatives(attempt.text, attempt.call, tools, system, one.text)]
            found += [(call, True) for call in looks(attempt.text, attempt.call, tools)]
        for call, is_look in found:
            most = _SAME if call == attempt.call else 1
            if tried.count(call) < most and sum(not each.is_look for each in attempts) < _TRIES:
                return call, is_look
    return None


def _repeated(one: Instruction, attempts: Sequence[Attempt], tools: Tools, system: str) -> tuple[Call, bool] | None:
    last = attempts[-1]
    if not _REFUSED.search(last.text):
        return last.call, False
    failed = next(attempt for attempt in reversed(attempts) if not _REFUSED.search(attempt.text))
    tried = [attempt.call for attempt in attempts]
    left = [call for call in alternatives(failed.text, failed.call, tools, system, one.text) if call not in tried]
    return (left[0], False) if left else None


def _given_up(one: Instruction, attempts: Sequence[Attempt], tools: Tools, system: str) -> None:
    return None


def _failed(attempts: Sequence[Attempt]) -> Attempt:
    """The last call that was no look around."""
    return [attempt for attempt in attempts if not attempt.is_look][-1]


def _is_solved(one: Instruction, attempt: Attempt) -> bool:
    return attempt.ok and not _EXIT.search(attempt.text) and one.expected in attempt.text


def _uses(one: Instruction) -> list[int]:
    """The instructions whose results stand in the arguments of this one, as ``{1}``."""
    texts = [value for value in one.call.arguments.values() if isinstance(value, str)]
    return [int(number) for text in texts for number in re.findall(r"\{(\d+)\}", text)]


def _filled(call: Call, results: dict[int, str]) -> Call:
    def put(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return re.sub(r"\{(\d+)\}", lambda found: results.get(int(found[1]), found[0]).strip(), value)

    return Call(call.tool, {name: put(value) for name, value in call.arguments.items()})


def _attempts(messages: Sequence[BaseMessage]) -> dict[int, list[Attempt]]:
    """What was tried for each instruction, as the conversation has it."""
    results: dict[str, ToolMessage] = {one.tool_call_id: one for one in messages if isinstance(one, ToolMessage)}
    found: dict[int, list[Attempt]] = {}
    for message in messages:
        head = re.match(r"(\d+)(\??): ", message.text) if isinstance(message, AIMessage) else None
        if head is None or not isinstance(message, AIMessage):
            continue
        for call in message.tool_calls:
            result = results.get(call["id"] or "")
            if result is not None:
                ended = Attempt(Call(call["name"], call["args"]), result.text, result.status != "error", bool(head[2]))
                found.setdefault(int(head[1]), []).append(ended)
    return found


def _fields(tools: Tools) -> Sequence[str]:
    """What the report of the present step records."""
    schema = next(tool["parameters"] for tool in tools if tool["name"] == "report_step")
    return list(schema["properties"].get("record", {}).get("properties", {}))


def _reported(instructions: Sequence[Instruction], results: dict[int, str], lost: dict[int, str]) -> AIMessage:
    objectives = [
        {"number": one.number, "status": "not", "place": "", "note": lost[one.number]}
        if one.number in lost
        else {"number": one.number, "status": "done", "place": "answer", "note": "done as it was asked for"}
        for one in instructions
    ]
    words = f"{len(results)} of {len(instructions)} things are done."
    return report(record={"result": words, "objectives": objectives})

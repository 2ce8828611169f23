"""The sub-agents of a block: one command for each, as many as there is room for."""

from __future__ import annotations

from skills.lib.blocks import parts
from skills.lib.model.types import Dispatch, Element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.lib.blocks.command_line import CommandLine
    from skills.lib.model.run import Run

# How many characters the sub-agents of a block take, and how much of a target is printed.
ROOM, TARGET_LIMIT, SHORT_TARGET = 6_000, 120, 24
# The characters around a sub-agent's id and target, and around its command.
_ENTRY, _COMMAND = 60, 40


def dispatch_element(
    run: Run, dispatch: Dispatch, command_line: CommandLine, children: Sequence[Run], max_parallel: int | None
) -> Element:
    """The DISPATCH of a step: what to do with its sub-agents, and the commands of those that can be started."""
    present = _present(children)
    left = sum(not child.ended for child in present)
    given, listed = _fitting(present, command_line, max_parallel)
    longest = _target_limit(present)
    shown = []
    for child in present:
        if child.id not in listed:
            continue
        target = parts.clipped(child.spec.get("target") or "", longest) or None
        command = Element("command", None, parts.child_command(child, command_line))
        about = {"id": child.id, "status": child.status, "target": target}
        shown.append(Element("child", about, *([command] if child.id in given else [])))
    if left:
        lost = command_line.step("current", run, "--lost", "FILL_child") + " --reason 'FILL_reason'"
        shown.append(Element("lost", None, lost))
        shown.append(Element("replace", None, command_line.step("current", run, "--replace", "FILL_child")))
    how = _how(dispatch, children, left, left - len(given), len(present) - len(listed), max_parallel)
    return parts.dispatch(dispatch.agent, dispatch.model, len(present), left, how, *shown)


def are_held(children: Sequence[Run], command_line: CommandLine) -> bool:
    """True if the block had no room for every command, so that a child that has not begun may have none yet."""
    present = _present(children)
    longest = _target_limit(present)
    return sum(_size(child, longest) + _command_size(child, command_line) for child in present) > ROOM


def _present(children: Sequence[Run]) -> list[Run]:
    return [child for child in children if child.status != "replaced"]


def _how(
    dispatch: Dispatch, children: Sequence[Run], left: int, held: int, unlisted: int, max_parallel: int | None
) -> str:
    if not children:
        return "There is nothing to hand out here: no sub-agent is started. Go on with NEXT."
    if not left:
        return "Every sub-agent is accounted for. Go on with NEXT."
    how = (
        f"Start one {dispatch.agent} sub-agent per command, all at once, each with its command and nothing else: "
        "'Run this command and follow what it prints, to its end.' Wait for all. One that never comes back: lost "
        "gives it up, replace starts it anew. Without sub-agents, follow each command to its end yourself, one by one."
    )
    if held:
        why = "There is room for no more commands" if max_parallel is None else f"At most {max_parallel} work at once"
        how += (
            f" {why}: {held} of them have no command yet. Each time one has finished, the block that its end names "
            "gives the next."
        )
    return how + (f" {unlisted} are not listed here." if unlisted else "")


def _fitting(present: Sequence[Run], command_line: CommandLine, max_parallel: int | None) -> tuple[set[str], set[str]]:
    """The ids of the sub-agents whose command the block shows, and of all that it lists.

    Those that have begun come first, then as many of the others as may work, then those without a command.
    """
    begun = [child for child in present if not child.ended and child.status != "pending"]
    pending = [child for child in present if child.status == "pending"]
    may = len(pending) if max_parallel is None else max(0, max_parallel - len(begun))
    longest, room = _target_limit(present), ROOM
    given: set[str] = set()
    listed: set[str] = set()
    for child in (*begun, *pending[:may]):
        room -= _size(child, longest) + _command_size(child, command_line)
        if room < 0 and given:
            break
        given.add(child.id)
        listed.add(child.id)
    for child in (*pending, *[child for child in present if child.ended], *begun):
        if child.id not in listed:
            room -= _size(child, longest)
            if room >= 0:
                listed.add(child.id)
    return given, listed


def _target_limit(present: Sequence[Run]) -> int:
    return max(SHORT_TARGET, min(TARGET_LIMIT, ROOM // 2 // (len(present) or 1)))


def _size(child: Run, longest: int) -> int:
    return _ENTRY + len(child.id) + _length(parts.clipped(child.spec.get("target") or "", longest))


def _command_size(child: Run, command_line: CommandLine) -> int:
    return _COMMAND + _length(parts.child_command(child, command_line))


def _length(text: str) -> int:
    """The length of a text once it is escaped."""
    return len(text) + sum(5 for char in text if char in "&<>\"'\n")

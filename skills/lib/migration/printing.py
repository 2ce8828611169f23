"""What one way through a step prints, taken apart: its title, its actions, how it goes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skills.lib.errors import UsageError
from skills.lib.migration.calls import STEP_PRINTERS
from skills.lib.migration.execution import Printed, Way
from skills.lib.migration.lines import (
    COMMAND,
    commands,
    holds_value,
    is_command,
    is_frame,
    merged,
    position,
    readable,
    shown,
)
from skills.lib.migration.reading import Legacy
from skills.lib.migration.refusals import Book
from skills.lib.migration.values import Made, Parameter, Template, Unknown, first_unknown
from skills.lib.workflow.texts import check_characters
from skills.lib.workflow.types import BranchRouting, Dispatch, GateConfig, LinearRouting, Step, TerminalRouting

_IGNORED = frozenset(("step", "total", "title", "actions", "script", "qr", "options", "interpreter"))
_KNOWN = _IGNORED | {"routing", "dispatch", "next_command", "forbidden", "brief", "next_title"}
_RUNNING = "known only when the script runs"


@dataclass(frozen=True)
class To:
    """The step that comes next; None is the end."""

    step: int | None


@dataclass(frozen=True)
class Verdict:
    """The step after each verdict, which the agent gives."""

    passed: int
    failed: int


@dataclass(frozen=True)
class GateWay:
    """A gate of a review."""

    config: GateConfig


Onward = To | Verdict | GateWay


@dataclass(frozen=True)
class Said:
    """What one way through a step prints; ``carried`` are the flags of its next command."""

    title: str
    actions: tuple[Any, ...]
    onward: Onward
    line: int
    forbidden: tuple[str, ...] = ()
    dispatch: Dispatch | None = None
    plain: bool = False
    carried: Mapping[str, Any] = field(default_factory=dict, compare=False, hash=False)

    def words(self) -> tuple[Any, ...]:
        """All but the way on."""
        return (self.title, self.actions, self.forbidden, self.dispatch, self.plain)


class Reader:
    """Reads what the ways through one step print."""

    def __init__(self, legacy: Legacy, book: Book, step: int, total: int) -> None:
        self.legacy = legacy
        self.book = book
        self.step = step
        self.total = total

    def said(self, way: Way) -> Said | None:
        """What the way says; None, with a note in the book, where it cannot be told."""
        before = len(self.book)
        calls = [one for one in way.printed if isinstance(one.value, Made) and one.value.name in STEP_PRINTERS]
        rest = [one for one in way.printed if one not in calls]
        line = self.legacy.step_lines.get(self.step, self.legacy.main.lineno)
        found: Said | None = None
        for one in rest:
            if one.aside:
                do = "put it into the actions, or take it out"
                self.book.refuse(one.line, "a text on standard error", "a step of a Workflow has no such text", do)
        if not way.printed:
            do = "give it an entry, or lower total_steps"
            self.book.refuse(line, f"step {self.step} prints nothing", "there is nothing to make a step of", do)
        elif len(calls) > 1:
            do = "print one step at a time"
            self.book.refuse(calls[1].line, f"step {self.step} prints a second step", "a block holds one", do)
        elif calls:
            found = self._called(calls[0])
            self._only_frame(rest, found.title if found else "")
        else:
            found = self._raw(rest, line)
        if found is not None:
            self._check(found)
        return found if len(self.book) == before else None

    def look(self, way: Way) -> None:
        """Note the texts that cannot be told on a way of which something else could not be followed."""
        for one in way.printed:
            if isinstance(one.value, Made) and one.value.name in STEP_PRINTERS:
                given = one.value.given
                self._made(one.line, given.get("title", ""), _texts(given.get("actions")), To(None), {})

    def _called(self, printed: Printed) -> Said | None:
        made = printed.value
        if made.name == "format_gate_step":
            return self._gate(made)
        if made.name == "format_guidance":
            return self._guidance(made)
        strays = sorted(made.given.keys() - _KNOWN)
        if strays:
            do = "leave it out here, and give the new step its needs, requires or when by hand"
            self.book.refuse(made.line, f"{made.name}({strays[0]}=…)", "its part of a step is not read", do)
        given = made.given
        if given.get("step") != self.step:
            what = f"step {self.step} prints the step {given.get('step')!r}"
            self.book.refuse(made.line, what, "its number is then not its place", "print step=step")
        forbidden = self._forbidden(given.get("forbidden"), made.line)
        if made.name == "format_text_output":
            brief = given.get("brief") or ""
            actions = [brief, "", *_texts(given.get("actions"))] if brief else _texts(given.get("actions"))
            onward = To(None if given.get("next_title") is None else self.step + 1)
            return self._made(made.line, given.get("title"), actions, onward, {}, plain=True)
        onward_to, carried = self._onward(given, made.line)
        if onward_to is None:
            return None
        dispatch = given.get("dispatch")
        found = self._made(made.line, given.get("title"), _texts(given.get("actions") or ()), onward_to, carried)
        if found is None or (not forbidden and dispatch is None):
            return found
        if dispatch is not None and not isinstance(dispatch, Dispatch):
            do = "write the Dispatch out with literals"
            self.book.refuse(made.line, f"the dispatch of step {self.step}", f"it is {_RUNNING}", do)
            return None
        return Said(found.title, found.actions, found.onward, found.line, forbidden, dispatch, carried=carried)

    def _onward(self, given: Mapping[str, Any], line: int) -> tuple[To | Verdict | None, Mapping[str, Any]]:
        command, routing = given.get("next_command"), given.get("routing")
        options = given.get("options") if isinstance(given.get("options"), dict) else {}
        if command is not None:
            words = command.given.get("command") if isinstance(command, Made) else command
            target, carried = self._command(words, line)
            return target, carried
        carried = {str(name).replace("-", "_"): value for name, value in (options or {}).items()}
        if routing is None or isinstance(routing, LinearRouting):
            return To(self.step + 1 if self.step < self.total else None), carried
        if isinstance(routing, TerminalRouting):
            return To(None), carried
        if isinstance(routing, BranchRouting) and type(routing.if_pass) is int and type(routing.if_fail) is int:
            return Verdict(routing.if_pass, routing.if_fail), carried
        self.book.refuse(line, f"the routing of step {self.step}", f"it is {_RUNNING}", "write the routing out")
        return None, {}

    def _command(self, words: Any, line: int) -> tuple[To | None, Mapping[str, Any]]:
        targets, carried = commands(words)
        if isinstance(targets, str):
            do = "compute it from the step's number and a parameter that is compared with literals"
            self.book.refuse(
                line, f"the next command of step {self.step}: {targets}", f"where it leads is {_RUNNING}", do
            )
            return None, {}
        return To(targets[0] if targets else None), carried

    def _gate(self, made: Made) -> Said | None:
        config = made.given.get("gate")
        numbers = isinstance(config, GateConfig) and type(config.work_step) is int
        if not isinstance(config, GateConfig) or not numbers or type(config.pass_step) not in (int, type(None)):
            do = "write the GateConfig out, with numbers for its steps"
            self.book.refuse(made.line, f"the gate of step {self.step}", f"where it leads is {_RUNNING}", do)
            return None
        return self._made(made.line, made.given.get("title"), (), GateWay(config), {})

    def _guidance(self, made: Made) -> Said | None:
        guidance = made.given.get("guidance")
        given = guidance.given if isinstance(guidance, Made) else guidance
        if not isinstance(given, Mapping):
            self.book.refuse(made.line, "the guidance", f"it is {_RUNNING}", "build it from literals")
            return None
        onward: To | Verdict | None = To(None)
        command, carried = given.get("next_command", given.get("next")), dict[str, Any]()
        if isinstance(command, Made) and command.name == "BranchCommand":
            ends = [self._command(command.given[verdict], made.line)[0] for verdict in ("if_pass", "if_fail")]
            steps = [end.step if end else None for end in ends]
            onward = Verdict(steps[0], steps[1]) if steps[0] and steps[1] else None
        elif command is not None:
            words = command.given["command"] if isinstance(command, Made) else command
            onward, found = self._command(words, made.line)
            carried = dict(found)
        if onward is None:
            return None
        return self._made(made.line, given.get("title"), _texts(given.get("actions") or ()), onward, carried)

    def _made(
        self,
        line: int,
        title: Any,
        actions: Iterable[Any],
        onward: Onward,
        carried: Mapping[str, Any],
        plain: bool = False,
    ) -> Said | None:
        lines = tuple(actions)
        do = "write the text as a literal; what differs from run to run is a parameter, which needs shows in CONTEXT"
        if not isinstance(title, str):
            self._dynamic(f"the title of step {self.step}", title, line, do)
            return None
        for number, action in enumerate(lines, 1):
            if not isinstance(action, (str, Made)) or (isinstance(action, Made) and first_unknown(action.given)):
                self._dynamic(f"action {number} of step {self.step}", action, line, do)
                return None
        return Said(title, lines, onward, line, plain=plain, carried=carried)

    def _dynamic(self, what: str, value: Any, line: int, do: str) -> None:
        unknown = first_unknown(value)
        line = (value.line if isinstance(value, Template) else 0) or line
        if isinstance(unknown, Unknown):
            if not unknown.told:
                self.book.refuse(unknown.line or line, f"{what}: {unknown.what}", f"its text is {_RUNNING}", do)
            elif not len(self.book):
                self.book.refuse(line, what, f"its text is {_RUNNING}", do)
            return
        by = f" depends on {unknown.flag}" if isinstance(unknown, Parameter) else " is no literal"
        self.book.refuse(line, f"{what}{by}", f"its text is {_RUNNING}", do)

    def _forbidden(self, value: Any, line: int) -> tuple[str, ...]:
        if value is None:
            return ()
        rules = value.given.get("rules") if isinstance(value, Made) and value.name == "format_forbidden" else None
        texts = tuple(_texts(rules))
        if not texts or not all(isinstance(text, str) for text in texts):
            do = "write format_forbidden([…]) with literal texts"
            self.book.refuse(line, f"what step {self.step} forbids", f"it is {_RUNNING}", do)
            return ()
        return texts

    def _only_frame(self, rest: Sequence[Printed], title: str) -> None:
        """Note every text beside a printed step that is more than a frame."""
        for piece, line in merged(rest):
            text = shown(piece)
            if COMMAND.search(text) or holds_value(piece) or not is_frame(text, title, self.legacy.name):
                self._stray(text, line)

    def _stray(self, line: str, at: int) -> None:
        do = "put the text into the step's actions, or take it out"
        self.book.refuse(at, f"the text {readable(line)!r}", "it is neither title, action nor next command", do)

    def _raw(self, printed: Sequence[Printed], line: int) -> Said | None:
        """What a step of STEPS says that is printed line by line."""
        entry = self.legacy.steps.get(self.step)
        title = entry.get("title") if isinstance(entry, dict) else getattr(entry, "title", None)
        actions = _texts(entry.get("actions", ()) if isinstance(entry, dict) else getattr(entry, "actions", ()))
        if entry is None or (not isinstance(entry, (dict, Step))):
            do = "print a step with format_step_output, or have its title and actions in STEPS"
            self.book.refuse(line, f"step {self.step} has no entry in STEPS", "what is its title is not told", do)
            return None
        pieces = list(merged(printed))
        found: list[str] = []
        for action in actions:
            if not isinstance(action, str):
                self._dynamic(f"an action of step {self.step}", action, line, "print it with format_step_output")
                return None
            at = position(pieces, action.split("\n"))
            if at is None:
                do = "print every action on every way, or print the step with format_step_output"
                self.book.refuse(
                    line, f"step {self.step} does not print the action {action[:50]!r}", "it is in STEPS", do
                )
                return None
            count = len(action.split("\n"))
            found.append("\n".join(shown(piece) for piece, _ in pieces[at : at + count]))
            self._frame(pieces[:at], title)
            pieces = pieces[at + count :]
        target, carried = self._frame(pieces, title)
        return None if target is None else self._made(line, title, found, target, carried)

    def _frame(self, pieces: Sequence[tuple[Any, int]], title: Any) -> tuple[To | None, Mapping[str, Any]]:
        """Note what is no frame, and find the one command among it."""
        found: list[tuple[To | None, Mapping[str, Any]]] = []
        for piece, line in pieces:
            text = shown(piece)
            known = (str(title), self.legacy.name)
            if COMMAND.search(text) and is_command(text, *known):
                found.append(self._command(piece, line))
            elif COMMAND.search(text) or holds_value(piece) or not is_frame(text, *known):
                self._stray(text, line)
        if len({target for target, _ in found}) > 1:
            do = "print one command, by a parameter that is compared with literals"
            self.book.refuse(pieces[-1][1], "several next commands", "which one is taken is not told", do)
        return found[0] if found else (To(None), {})

    def _check(self, said: Said) -> None:
        """Note what no block can hold, and targets that are no steps."""
        for text in (said.title, *said.actions, *said.forbidden):
            if isinstance(text, str):
                try:
                    check_characters(text, f"step {self.step}")
                except UsageError as error:
                    self.book.refuse(said.line, error.what, "no block can hold it", "take the character out")
                if COMMAND.search(text):
                    do = "take the command out of the text: NEXT prints the one that goes on"
                    self.book.refuse(said.line, f"a command in the text of step {self.step}", "it no longer runs", do)
        onward = said.onward
        targets = [onward.step] if isinstance(onward, To) else []
        if isinstance(onward, Verdict):
            targets = [onward.passed, onward.failed]
        if isinstance(onward, GateWay):
            targets = [onward.config.work_step, onward.config.pass_step]  # type: ignore[list-item]  # numbers, by _gate
        for target in targets:
            if target is not None and not 1 <= target <= self.total:
                what = f"step {self.step} leads to step {target}"
                self.book.refuse(said.line, what, f"there are {self.total} steps", "lead it to one, or to the end")


def _texts(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return list(value)
    return [] if value is None else [value]

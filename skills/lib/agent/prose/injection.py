"""Commands in a SKILL.md, as ``!`git status` ``: what they print takes their place before a model is asked.

They run as the tool ``shell`` runs commands: without a shell, in the project, ended with all that they started.
"""

from __future__ import annotations

import re
import time

from skills.lib.agent.tools import command_lines, shell
from skills.lib.agent.tools.tool import never
from skills.lib.errors import LockstepError
from skills.lib.guard.offering import SHELL, Offer
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from skills.lib.agent.configuration.lockstep_toml import Shell
    from skills.lib.agent.tools.workspace import Workspace

# What one command may take (seconds), and how many characters of its output are taken.
SECONDS, CHARACTERS = 5, 10_000
# What those of one skill may take together, and how many of them run.
ALL_SECONDS, ALL_CHARACTERS, MOST = 30, 40_000, 50
# Bytes: a character has up to four, and the beginning of a stream is half of what is kept of it.
_KEPT = 8 * CHARACTERS
_SAID = 500
_FENCE = re.compile(r"[ \t]*(?:[-*+>][ \t]+|[0-9]+[.)][ \t]+)*(?P<signs>`{3,}|~{3,})(?P<info>[^\n]*)")
# Text between two or more backticks stands for itself.
_MARK = re.compile(r"(?P<code>(?<!`)`{2,}(?!`)[^\n]*?(?<!`)`{2,}(?!`))|(?<![\w`\\!])!`(?P<command>[^`\n]+)`(?!`)")


class Found(Record):
    """A command in a text, and where its mark begins and ends."""

    command: str
    begin: int
    end: int


class Printed(Record):
    """What stands in place of a command, and what is recorded of it: ``exit`` is None if it did not end by itself."""

    command: str
    text: str
    why: str = ""
    exit: int | None = None
    seconds: float = 0.0
    size: int = 0

    def redacted(self, redact: Callable[[str], str]) -> Printed:
        """The same without what ``redact`` takes out of texts."""
        texts = {name: redact(getattr(self, name)) for name in ("command", "text", "why")}
        return Printed(**{**self.fields(), **texts})  # type: ignore[arg-type]

    def data(self) -> dict[str, Any]:
        """What is recorded."""
        return {name: value for name, value in self.fields().items() if name != "text"}


def found(text: str) -> list[Found]:
    """The commands of a text, in order; none of those in blocks of code."""
    inside = _blocks(text)
    return [
        Found(match["command"].strip(), match.start(), match.end())
        for match in _MARK.finditer(text)
        if match["command"]
        and match["command"].strip()
        and not any(begin <= match.start() < end for begin, end in inside)
    ]


def run(
    commands: Sequence[str],
    files: Workspace,
    allowed: Sequence[str],
    noted: Callable[[Printed], Printed],
    configured: Shell | None = None,
) -> list[Printed]:
    """Run commands one after the other, each at most once, as far as the tools ``allowed`` admit them.

    ``noted`` is given each one as soon as it has ended, and returns what stands in its place.
    """
    until, left = time.monotonic() + ALL_SECONDS, ALL_CHARACTERS
    ran: dict[str, Printed] = {}
    for command in commands:
        if command in ran:
            continue
        why = why_not(command, files, allowed)
        if not why and len(ran) >= MOST:
            why = f"at most {MOST} commands of a skill run"
        if not why and time.monotonic() >= until:
            why = f"the {ALL_SECONDS} seconds for all commands are over"
        ran[command] = noted(refused(command, why) if why else _ran(command, files, left, until, configured))
        left -= len(ran[command].text)
    return [ran[command] for command in commands]


def refused(command: str, why: str) -> Printed:
    """What stands in place of a command that is not run."""
    return Printed(command, f"[not run: {_plain(command)}: {why}]", why)


def injected(text: str, printed: Sequence[Printed]) -> list[str]:
    """The text in parts: what the author wrote, and in between what stands in place of its commands, in turn."""
    parts, at = [], 0
    for one, output in zip(found(text), printed, strict=True):
        parts += [text[at : one.begin], output.text]
        at = one.end
    return [*parts, text[at:]]


def why_not(command: str, files: Workspace, allowed: Sequence[str]) -> str:
    """Why a command is not run; "" if it may be."""
    if not any(name.partition("(")[0] == SHELL for name in allowed):
        return "allowed-tools of SKILL.md names no commands, such as Bash(git status:*)"
    try:
        parts = command_lines.read_line(command, files.project)
    except LockstepError as error:
        return error.lines()[0]
    if any(part.writes for part in parts):
        return "a command in a SKILL.md writes no file by >"
    offer = Offer(allowed, commands_of=lambda line: [part.argv for part in parts])
    return "allowed-tools of SKILL.md does not admit it" if offer.why_not(SHELL, {"command": command}) else ""


def _ran(command: str, files: Workspace, left: int, until: float, configured: Shell | None) -> Printed:
    begin = time.monotonic()
    seconds = max(min(SECONDS, until - begin), 0.1)
    limits = shell.limits_of(configured, seconds, _KEPT)
    sandbox = configured.sandbox if configured else ()
    try:
        result = shell.run(files, command, limits, (), never, sandbox)
    except LockstepError as error:
        why = error.lines()[0]
        return Printed(command, f"[failed: {_plain(command)}: {why}]", why, seconds=round(time.monotonic() - begin, 3))
    output = result.output.strip("\n")
    most = max(min(CHARACTERS, left), 0)
    notes = [] if len(output) <= most and not result.is_cut else [f"[cut: {result.printed:,} bytes were printed]"]
    if not result.ok:
        said = " ".join(result.errors.split())[:_SAID]
        notes.append(f"[failed: {_plain(command)}: {result.ending()}{f': {said}' if said else ''}]")
    text = "\n".join(filter(None, [_as_data(output[:most]), *notes])) or "[nothing was printed]"
    return Printed(command, text, "", result.exit, result.seconds, result.printed)


def _as_data(output: str) -> str:
    """An output as Markdown takes a text for itself: it cannot end the code that it stands in."""
    longest = max(map(len, re.findall("`+", output)), default=0)
    if "\n" in output:
        fence = "`" * max(3, longest + 1)
        return f"\n{fence}output\n{output}\n{fence}"
    signs = "`" * (longest + 1)
    blank = " " if output.startswith("`") or output.endswith("`") else ""
    return f"{signs}{blank}{output}{blank}{signs}" if output else ""


def _plain(command: str) -> str:
    return command if len(command) <= 200 else f"{command[:200]}…"


def _blocks(text: str) -> list[tuple[int, int]]:
    """Where blocks of code begin and end; one that is not closed goes on to the end."""
    blocks, begin, fence, at = [], 0, "", 0
    for line in text.splitlines(keepends=True):
        match = _FENCE.match(line)
        if not fence and match and not (match["signs"][0] == "`" and "`" in match["info"]):
            begin, fence = at, match["signs"]
        elif fence and _closes(line, fence):
            blocks.append((begin, at + len(line)))
            fence = ""
        at += len(line)
    return [*blocks, (begin, at)] if fence else blocks


def _closes(line: str, fence: str) -> bool:
    signs = line.strip(" \t\r\n>")
    return len(signs) >= len(fence) and not signs.strip(fence[0])

"""Printed commands as an agent fills them in: with a report in a here-document, or with flags."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skills.lib import compact_json, short_commands
from skills.lib.blocks.command_line import with_report

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Flags that say which run a command belongs to: a field may have such a name.
_OF_THE_RUN = ("--step", "--run", "--turn", "--project")
_PLACEHOLDER = re.compile(r"'?FILL_(?P<name>\w+)'?")


def argv(command: str) -> list[str]:
    """The words of a printed command, long if it is short; a report in a here-document becomes ``--record`` words."""
    head, report = _parts(command)
    words = shlex.split(head)
    words = short_commands.long_words(words) or words
    if report is None:
        return words
    words.remove("-")
    return words + [word for name, value in report.items() for word in ("--record", f"{name}={text_of(value)}")]


def called(command: str) -> tuple[list[str], str]:
    """The words of the long command that a printed one stands for, and what it gives to standard input."""
    words, text = short_commands.split(command)
    words = words or shlex.split(command)
    return short_commands.long_words(words) or words, text


def placeholders(command: str) -> list[str]:
    """The names of the placeholders that are to be filled in."""
    return [found["name"] for found in _PLACEHOLDER.finditer(command)]


def filled(command: str, values: Mapping[str, Any]) -> str:
    """The printed command with these values, quoted for the shell, in place of its placeholders.

    Text stands as it is and anything else as JSON; a placeholder without a value stays. A value that a refusal
    gave back is replaced in its place.
    """
    head, report = _parts(command)
    given = {name: value for name, value in values.items() if value is not None}
    if report is not None:
        report |= {name: given.pop(name) for name in report if name in given}

    def fill(found: re.Match[str]) -> str:
        value = given.get(found["name"])
        return found[0] if value is None else shlex.quote(text_of(value))

    others = {name: value for name, value in given.items() if name not in placeholders(head)}
    head = _PLACEHOLDER.sub(fill, head)
    if report is not None:
        return _with_report(head, report)
    return _replaced(head, others) if others else head


def with_more(command: str, more: Mapping[str, Any], words: Sequence[str]) -> str:
    """The command that reports more: in its here-document, by one if it is short, or by these words."""
    head, report = _parts(command)
    if not more or not takes_report(command):
        return f"{command} {shlex.join(words)}" if words else command
    return _with_report(head if report is not None else f"{head} -", {**(report or {}), **more})


def takes_report(command: str) -> bool:
    """True if a command is short: it takes a report in a here-document, though it may have none yet."""
    return bool(short_commands.long_words(short_commands.split(command)[0]))


def text_of(value: Any) -> str:
    """A value as a word of a command has it."""
    return value if isinstance(value, str) else compact_json.readable(value)


def _with_report(head: str, report: Mapping[str, Any]) -> str:
    """The command with a report; its head ends with the word that says so."""
    return with_report(head.removesuffix(" -"), shlex.split(head)[1], report)


def _parts(command: str) -> tuple[str, dict[str, Any] | None]:
    """A command without its here-document, and the report in that; None if it has none."""
    words, text = short_commands.split(command)
    if not words or not text:
        return command, None
    return shlex.join(words), compact_json.load_object(text)


def _replaced(command: str, values: Mapping[str, Any]) -> str:
    """The command with these values in place of those that it reports already, by argument or by a record file."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    found, more = False, []
    for at, word in enumerate(words[1:], 1):
        flag, name = words[at - 1], word.partition("=")[0]
        if flag == "--record" and name in values:
            words[at], found = f"{name}={text_of(values[name])}", True
        elif flag[:2] == "--" and flag not in _OF_THE_RUN and flag[2:].replace("-", "_") in values:
            words[at], found = text_of(values[flag[2:].replace("-", "_")]), True
        elif flag == "--record-file":
            filed = compact_json.loads(Path(word).read_text(encoding="utf-8")) if Path(word).is_file() else {}
            more += [
                part for name in filed if name in values for part in ("--record", f"{name}={text_of(values[name])}")
            ]
    return shlex.join([*words, *more]) if found or more else command

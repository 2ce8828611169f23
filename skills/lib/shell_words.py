"""The words of a shell's line, unquoted: of one simple command for certain, or of all commands, to search in."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Which shell reads a line: one of POSIX; PowerShell; on Windows one of those that there are.
POSIX, POWERSHELL, WINDOWS = "posix", "powershell", "windows"
OPERATORS = frozenset(";|&<>()`$\n\r\0")
# A shell reads on in the next line, and reads nothing of this.
_CONTINUED = "\\\n"
# These are special only at the start of a word.
_WORD_START = frozenset("{}!#")
# A longer command is not examined: nobody types one, and a scan of megabytes takes seconds.
LONGEST = 200_000


def simple_command(line: str) -> list[str]:
    """The words of one simple command, unquoted; empty if the line has an operator, an expansion, or nothing.

    A line with what only a shell can expand (variables, substitutions) is no simple command, nor is one with a variable
    set before it. A pattern such as ``*.py`` stands as it was typed.
    """
    found = _split(line.strip(" \t\n"), strict=True) if len(line) <= LONGEST else None
    return found[0] if found and not sets_variable(found[0][:1]) else []


def sets_variable(words: Sequence[str]) -> bool:
    """True if the first word is no program's name: ``PATH=/tmp`` and what it has a shell find instead."""
    name, equals, _ = words[0].partition("=") if words else ("", "", "")
    return bool(equals) and (name[:1].isalpha() or name[:1] == "_") and "/" not in name


def commands_in(line: str) -> list[list[str]]:
    """The words of each command of a line, as far as they can be found without a shell; to search in."""
    return _split(line[:LONGEST], strict=False) or []


def _split(line: str, strict: bool) -> list[list[str]] | None:
    """The words of each command; None if ``strict`` and the line is not one simple command."""
    commands: list[list[str]] = [[]]
    word: list[str] | None = None
    brace = False  # whether the word has one that is not quoted: with a comma or a range a shell makes words of it
    at = 0
    while at < len(line):
        char = line[at]
        if not strict and line.startswith(_CONTINUED, at):
            at += len(_CONTINUED)
            continue
        brace = char == "{" or (brace and char not in " \t")
        if strict and brace and (char == "," or line.startswith("..", at)):
            return None
        special = char in OPERATORS or (char in _WORD_START and not word)
        if strict and special:
            return None
        if special or char == " " or char == "\t":
            if word is not None:
                commands[-1].append("".join(word))
            if special and commands[-1]:
                commands.append([])
            word, at = None, at + 1
            continue
        text, at = _quoted(line, at, strict) if char in "'\"\\" else (char, at + 1)
        if at < 0:
            return None
        if word is None:
            word = []
        word.append(text)
    if word is not None:
        commands[-1].append("".join(word))
    return commands


def _quoted(line: str, at: int, strict: bool) -> tuple[str, int]:
    """The text that is quoted from there, and where it ends; -1 if ``strict`` does not allow it."""
    char = line[at]
    if char == "\\":
        escaped = line[at + 1 : at + 2]
        return escaped, -1 if strict and escaped in ("", "\n", "\0") else at + 2
    if char == '"':
        return _double_quoted(line, at + 1, strict)
    text, end = single_quoted(line, at)
    if end < 0:
        return text, -1 if strict else len(line)
    return text, -1 if strict and "\0" in text else end


def single_quoted(line: str, at: int) -> tuple[str, int]:
    """The text in single quotes from there, and where it ends; -1 if it has no end."""
    close = line.find("'", at + 1)
    return (line[at + 1 :], -1) if close < 0 else (line[at + 1 : close], close + 1)


def _double_quoted(line: str, at: int, strict: bool) -> tuple[str, int]:
    """The text up to the closing quote; ``strict`` allows none that is open or has a shell run something."""
    text: list[str] = []
    while at < len(line):
        char = line[at]
        if char == '"':
            return "".join(text), at + 1
        if not strict and line.startswith(_CONTINUED, at):
            at += len(_CONTINUED)
            continue
        if strict and (char in "`\0" or (char == "$" and line[at + 1 : at + 2] in ("(", "{", "["))):
            return "", -1
        if char == "\\" and line[at + 1 : at + 2] in ('"', "\\", "$", "`"):
            at += 1
        text.append(line[at])
        at += 1
    return "".join(text), -1 if strict else at

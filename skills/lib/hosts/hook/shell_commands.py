"""Shell commands of a tool call: their words, the run that they name, and the commands that are always allowed."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

# Subcommands of lockstep that an agent may always call.
LIFELINES = frozenset("doctor resume abandon runs trace show list".split())
_BLANKS = frozenset(" \t\n")
# With this, a command that looks writes a file.
_WRITING = ("--html",)
# The start of an option or a home folder, and the characters of patterns: a shell may make another path of these.
_LEADING, _PATTERNS = ("-", "~"), frozenset("*?[$")

OPERATORS = frozenset(";|&<>()`$\n\r\0")
# These are special only at the start of a word.
_WORD_START = frozenset("{}!#")
_SHELLS = frozenset(("sh", "bash", "zsh", "dash"))
_INTERPRETERS = _SHELLS | frozenset(("python", "python3", "node"))
# A longer command is not examined: nobody types one, and a scan of megabytes takes seconds.
LONGEST = 200_000


def value_of(flag: str, command: str) -> str:
    """The value of a flag in a command line; the last one counts, as it does for the command."""
    value = ""
    for words in _commands(command):
        for at, word in enumerate(words):
            if word == flag and at + 1 < len(words):
                value = words[at + 1]
            elif word.startswith(flag + "="):
                value = word[len(flag) + 1 :]
    return value


def is_own(words: Sequence[str], script: str, folder: str) -> bool:
    """True if the words start that script, or with ``--step`` another one of its skill."""
    if len(words) < 2 or not _is_python(words[0]) or not _is_plain(words[1]):
        return False
    called, script = os.path.realpath(os.path.join(folder, words[1])), os.path.realpath(script)
    if called == script:
        return True
    scripts = _scripts_of(script)
    return bool(scripts) and called.startswith(scripts + os.sep) and called.endswith(".py") and "--step" in words


def is_lifeline(words: Sequence[str], folder: str) -> bool:
    """True if the words are a subcommand of lockstep that is always allowed."""
    rest = _lockstep_arguments(words, folder)
    return bool(rest) and rest[0] in LIFELINES and not any(word.partition("=")[0] in _WRITING for word in rest)


def script_named(command: str, script: str, folder: str) -> str:
    """The script that a command line names of the skill that ``script`` is of, or of a copy; "" if there is none.

    The folder that a line itself changes to is unknown: a script of the same name there counts as ``script``.
    """
    scripts, script = _scripts_of(os.path.realpath(script)), os.path.realpath(script)
    for words in _commands(command):
        for word in words:
            if not word.endswith(".py") or "\0" in word:
                continue
            called = os.path.realpath(os.path.join(folder, word))
            if called == script or (scripts and called.startswith(scripts + os.sep)):
                return called
            beside = os.path.join(os.path.dirname(script), os.path.basename(word))
            if beside == script or os.path.isfile(beside):
                return called if os.path.isabs(word) else script
    return ""


def answers_for_a_person(command: str) -> bool:
    """True if a command line would answer a question as the person at the terminal does, as far as it is visible.

    Any word with a blank may be a line that some program hands to a shell. What only a shell can expand (variables,
    pipes, aliases) is not seen: the record of an answer says who gave it.
    """
    name = ""  # of the program that the command before may have found: $(which lockstep) answer
    for words in _commands(command, is_quoted=True):
        if _has_answer([name, *words]):
            return True
        name = words[-1] if words else ""
    return False


def _commands(line: str, deep: int = 3, is_quoted: bool = False) -> list[list[str]]:
    """The words of each command of a line, and of the lines in it that a shell reads: after ``-c``, and substituted.

    With ``is_quoted`` each word with a blank counts as a line.
    """
    found = []
    for words in commands_in(line):
        found.append(words)
        for at, word in enumerate(words if deep else ()):
            is_line = "`" in word or "$(" in word or (at and words[at - 1][:1] == "-" and words[at - 1][-1:] == "c")
            if is_line or (is_quoted and not _BLANKS.isdisjoint(word)):
                found += _commands(word, deep - 1, is_quoted)
    return found


def _has_answer(words: Sequence[str]) -> bool:
    """True if ``answer`` and something to answer follow ``lockstep``, with nothing but flags and their values between.

    A text that only speaks of ``lockstep answer`` has nothing behind it.
    """
    is_after = False
    for at, word in enumerate(words[:-1]):
        if is_after and word == "answer":
            return True
        is_value = is_after and words[at - 1][:1] == "-"
        is_after = (is_after and (word[:1] == "-" or is_value)) or _is_lockstep(word)
    return False


def _is_lockstep(word: str) -> bool:
    """True if a word names lockstep, or is an option with it, or a substitution that finds it."""
    name = word.rpartition(" ")[2].rstrip(")`").rpartition("/")[2]
    is_option = word[:1] == "-" and (name.endswith("lockstep") or name == "-mskills")
    return name in ("lockstep", "lockstep.exe", "skills") or is_option or word.endswith("skills/__main__.py")


def _lockstep_arguments(words: Sequence[str], folder: str) -> Sequence[str]:
    """The words after ``lockstep`` if it is called, by its name, its package's path or its module's name; else none."""
    if not words:
        return ()
    if words[0].rpartition("/")[2] == "lockstep":
        return words[1:]
    if not _is_python(words[0]):
        return ()
    if list(words[1:3]) == ["-m", "skills"]:
        return words[3:]
    called = os.path.realpath(os.path.join(folder, words[1])) if len(words) > 1 else ""
    return words[2:] if called.endswith(os.path.join(os.sep, "skills", "__main__.py")) else ()


def _is_plain(word: str) -> bool:
    """True if a word is the path that it reads as, and no option, home or pattern that leads out of its folder."""
    leads = ".." in word.split("/") and not _PATTERNS.isdisjoint(word)
    return not leads and not word.startswith(_LEADING)


def _is_python(word: str) -> bool:
    name = word.rpartition("/")[2]
    return name == "python" or (name.startswith("python3") and is_interpreter(word))


def _scripts_of(script: str) -> str:
    """The folder of a skill's scripts that a script is in; "" if it is in no folder of that name."""
    above, found, _ = script.rpartition(f"{os.sep}scripts{os.sep}")
    return f"{above}{os.sep}scripts" if found else ""


def is_interpreter(word: str) -> bool:
    """True if a word names a program that runs the script which follows it: python3.12, bash, node."""
    name = word.rpartition("/")[2]
    return name in _INTERPRETERS or (name.startswith("python3.") and name[len("python3.") :].isdigit())


def command_of(given: Mapping[str, Any]) -> str:
    """The command line of a shell tool's call as text, or what is typed into one; "" if there is none."""
    command, typed = _command(given), given.get("chars")
    line = " ".join(command) if isinstance(command, list) else command
    return f"{line}\n{typed}" if isinstance(typed, str) else line


def words_of(given: Mapping[str, Any]) -> list[str]:
    """The words of a shell tool's call if it is one simple command, else empty."""
    command = _command(given)
    return command if isinstance(command, list) else simple_command(command)


def _command(given: Mapping[str, Any]) -> str | list[str]:
    """The command line, or the words if no shell reads them; for a list that hands a line to a shell, that line."""
    command = given.get("command", given.get("cmd"))
    if isinstance(command, str):
        return command
    if not isinstance(command, list) or not all(isinstance(word, str) and "\0" not in word for word in command):
        return ""
    hands_over = len(command) == 3 and command[1] in ("-c", "-lc", "-ic", "-lic")
    return command[2] if hands_over and command[0].rpartition("/")[2] in _SHELLS else command


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
    close = line.find("'", at + 1)
    if close < 0:
        return line[at + 1 :], -1 if strict else len(line)
    text = line[at + 1 : close]
    return text, -1 if strict and "\0" in text else close + 1


def _double_quoted(line: str, at: int, strict: bool) -> tuple[str, int]:
    """The text up to the closing quote; ``strict`` allows none that is open or has a shell run something."""
    text: list[str] = []
    while at < len(line):
        char = line[at]
        if char == '"':
            return "".join(text), at + 1
        if strict and (char in "`\0" or (char == "$" and line[at + 1 : at + 2] in ("(", "{", "["))):
            return "", -1
        if char == "\\" and line[at + 1 : at + 2] in ('"', "\\", "$", "`"):
            at += 1
        text.append(line[at])
        at += 1
    return "".join(text), -1 if strict else at

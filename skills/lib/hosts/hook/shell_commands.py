"""What a command line means for a run: the words of its flags, its skill's own commands, and those always allowed."""

from __future__ import annotations

import os

from skills.lib.hosts.hook import tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Subcommands of lockstep that an agent may always call.
LIFELINES = frozenset("doctor resume abandon runs trace show list status".split())
_BLANKS = frozenset(" \t\n")
# With these, a command that looks writes a file.
_WRITING = ("--html", "--write")
# What a shell may make another path of: options of the interpreter, a home, patterns and variables.
_LEADING, _PATTERNS = ("-", "~"), frozenset("*?[$")


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
    """Whether the words start that script, or with ``--step`` another one of its skill."""
    if len(words) < 2 or not _is_python(words[0]) or not _is_plain(words[1]):
        return False
    called, script = os.path.realpath(os.path.join(folder, words[1])), os.path.realpath(script)
    if called == script:
        return True
    scripts = _scripts_of(script)
    return bool(scripts) and called.startswith(scripts + os.sep) and called.endswith(".py") and "--step" in words


def is_lifeline(words: Sequence[str], folder: str) -> bool:
    """Whether the words are a subcommand of lockstep that is always allowed."""
    rest = _lockstep_arguments(words, folder)
    return bool(rest) and rest[0] in LIFELINES and not any(word.partition("=")[0] in _WRITING for word in rest)


def script_named(command: str, script: str, folder: str) -> str:
    """The script that a command line names of the skill that ``script`` is of, or of a copy; "" where it names none.

    The folder that a line itself changes to is not known: there a script of the same name counts as ``script``.
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
    """Whether a command line would answer a question as the person at the terminal does, as far as that is plain.

    Any word with a blank may be a line that some program hands to a shell. What only a shell can put together
    (variables, pipes, aliases) is not seen: the record of an answer says who gave it.
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
    for words in tools.commands_in(line):
        found.append(words)
        for at, word in enumerate(words if deep else ()):
            is_line = "`" in word or "$(" in word or (at and words[at - 1][:1] == "-" and words[at - 1][-1:] == "c")
            if is_line or (is_quoted and not _BLANKS.isdisjoint(word)):
                found += _commands(word, deep - 1, is_quoted)
    return found


def _has_answer(words: Sequence[str]) -> bool:
    """Whether ``answer`` and something to answer follow ``lockstep``, with nothing but flags and their values between.

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
    """Whether a word names lockstep, or is an option with it, or a substitution that finds it."""
    name = word.rpartition(" ")[2].rstrip(")`").rpartition("/")[2]
    is_option = word[:1] == "-" and (name.endswith("lockstep") or name == "-mskills")
    return name in ("lockstep", "lockstep.exe", "skills") or is_option or word.endswith("skills/__main__.py")


def _lockstep_arguments(words: Sequence[str], folder: str) -> Sequence[str]:
    """What follows ``lockstep`` where the words call it, by its name, its package's path or its module's name."""
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
    """Whether a word is the path that it reads as, and no option, home or pattern that leads out of its folder."""
    leads = ".." in word.split("/") and not _PATTERNS.isdisjoint(word)
    return not leads and not word.startswith(_LEADING)


def _is_python(word: str) -> bool:
    name = word.rpartition("/")[2]
    return name == "python" or (name.startswith("python3") and tools.is_interpreter(word))


def _scripts_of(script: str) -> str:
    """The folder of a skill's scripts that a script is in; "" where there is none of that name."""
    place = os.path.dirname(script)
    while os.path.basename(place) != "scripts":
        above = os.path.dirname(place)
        if above == place:
            return ""
        place = above
    return place

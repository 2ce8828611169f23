"""Shell commands of a tool call: the run that they name, and the commands that are always allowed."""

from __future__ import annotations

import os
import sys

from skills.lib import paths
from skills.lib.hosts.hook.shell_calls import LIFELINES, SHELLS, STEERING
from skills.lib.shell_words import commands_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

# Subcommands that are a person's alone.
_OF_A_PERSON = frozenset(("answer", "pause", "unpause"))
_CONSENT = ("gateway", "trust")
_BLANKS = frozenset(" \t\n")
# With this, a command that looks writes a file.
_WRITING = ("--html",)
# The start of an option or a home folder, and the characters of patterns: a shell may make another path of these.
_LEADING, _PATTERNS = ("-", "~"), frozenset("*?[$")

_PYTHONS = frozenset(("python", "python3"))
_INTERPRETERS = SHELLS | _PYTHONS | {"node"}
# The program that hosts start for each event, as the end of its path, and the package of its modules.
_HOOK = os.path.join(os.sep, "skills", "lib", "hosts", "hook", "run_hook.py")
_HOOK_MODULES = "lib.hosts.hook"
# In how many of the folders that a line changes to, the last ones, a path in it is looked for.
_PLACES = 4


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
    """True if the words are a Python and that script, or with ``--step`` another one of its skill that has a graph.

    Which Python it is, is another question (``is_python``).
    """
    if len(words) < 2 or not is_interpreter(words[0], _PYTHONS) or not _is_plain(words[1]):
        return False
    called, script = os.path.realpath(os.path.join(folder, words[1])), os.path.realpath(script)
    if called == script:
        return True
    scripts = scripts_of(script)
    return bool(scripts) and called.startswith(scripts + os.sep) and "--step" in words and is_entry(called)


def is_entry(script: str) -> bool:
    """True if a file is the entry script of a workflow: it has its graph, or what chooses one, beside it."""
    stem = script.removesuffix(".py")
    return stem != script and any(os.path.isfile(f"{stem}_{kind}.py") for kind in ("workflow", "choice"))


def is_python(word: str, folder: str, known: Callable[[], Sequence[str]]) -> bool:
    """True if a word starts a Python by its bare name, the hook's own, one on PATH, or one of ``known``."""
    if not is_interpreter(word, _PYTHONS):
        return False
    place = _located(word, folder)
    return not place or place in (_located(sys.executable), _on_path(word)) or place in map(_located, known())


def is_lockstep(words: Sequence[str], folder: str, known: Callable[[], Sequence[str]]) -> bool:
    """True if the words call the installed ``lockstep``: by its name, its path, or the path of its package.

    A program of that name anywhere else may be anything. ``known`` gives the Pythons that the runs were printed with.
    """
    if not words or words[0].rpartition("/")[2] != "lockstep":
        return len(words) > 1 and is_python(words[0], folder, known) and _is_main(words[1], folder)
    place = _located(words[0], folder)
    if not place or place == _on_path(words[0]):
        return True
    pythons = [sys.executable, *known()]
    return place in [os.path.join(os.path.dirname(_located(python)), "lockstep") for python in pythons]


def lifeline(words: Sequence[str]) -> Sequence[str]:
    """The words from the subcommand on if they call one of lockstep's that is always allowed; else none."""
    if any(word.partition("=")[0] in _WRITING for word in words):
        return ()
    at = 1 if words and words[0].rpartition("/")[2] == "lockstep" else 2
    return words[at:] if len(words) > at and words[at] in LIFELINES else ()


def sets_variables(command: str, folder: str) -> bool:
    """True if a line that runs a skill's script, or the launcher, sets a variable that takes it elsewhere.

    LOCKSTEP_HOME is one, PYTHONPATH another.
    """
    commands = _commands(command) if any(name in command for name in STEERING) else []
    if not any(word.startswith(STEERING) and "=" in word for words in commands for word in words):
        return False
    scripts = [word for words in commands if "--step" in words for word in words if "\0" not in word]
    places = [folder, *(os.path.join(folder, words[1]) for words in commands if words[:1] == ["cd"] and words[1:])]
    if any(word.endswith("/step") and _is_launcher(word) for words in commands for word in words):
        return True
    return any("\0" not in place and is_entry(os.path.join(place, word)) for place in places for word in scripts)


def _is_launcher(word: str) -> bool:
    from skills.lib.short_commands import is_launcher  # few lines name one

    return is_launcher(word)


def launched(command: str) -> list[str]:
    """The words of the long command for a call of the launcher somewhere in a command line; empty if there is none."""
    if "/step" not in command:
        return []
    from skills.lib.short_commands import is_launcher, long_words

    calls = [words[at:] for words in _commands(command) for at, word in enumerate(words) if is_launcher(word)]
    return next((found for found in map(long_words, calls) if found), [])


def without_launcher(command: str) -> str:
    """The run that a command line calls the launcher for, if the launcher is missing; else empty."""
    if "/step" not in command:
        return ""
    from skills.lib.short_commands import missing_for

    return next(filter(None, map(missing_for, _commands(command))), "")


def script_named(command: str, script: str, folder: str) -> str:
    """The script that a command line starts of the skill that ``script`` is of, or of a copy; "" if there is none.

    A line that only mentions a script starts none. The folder that a line itself changes to is unknown: a script of the
    same name there counts as ``script``.
    """
    scripts, script = scripts_of(os.path.realpath(script)), os.path.realpath(script)
    for words in _commands(command):
        for at, word in enumerate(words):
            if not word.endswith(".py") or "\0" in word:
                continue
            if at and not any(is_interpreter(before, _PYTHONS) for before in words[:at]):
                continue
            called = os.path.realpath(os.path.join(folder, word))
            if called == script or (scripts and called.startswith(scripts + os.sep)):
                return called
            beside = os.path.join(os.path.dirname(script), os.path.basename(word))
            if beside == script or os.path.isfile(beside):
                return called if os.path.isabs(word) else script
    return ""


def starts_phase(command: str) -> bool:
    """True if a command line opens the run of a phase: it has ``lockstep phase PHASE --start``, also behind ``env``."""
    for words in _commands(command) if "--start" in command and "phase" in command else ():
        at = next((at for at, word in enumerate(words) if _is_lockstep(word)), len(words))
        plain = [word for word in words[at + 1 :] if word[:1] != "-"]
        if plain[:1] == ["phase"] and "--start" in words[at:]:
            return True
    return False


def acts_for_a_person(command: str) -> bool:
    """True if a command line would answer, pause or consent as a person at a terminal does, as far as it is visible.

    Any word with a blank may be a line that some program hands to a shell. What only a shell can expand (variables,
    pipes, aliases) is not seen: the record of an answer says who gave it.
    """
    name = ""  # of the program that the command before may have found: $(which lockstep) answer
    for words in _commands(command, is_quoted=True):
        if _has_persons_command([name, *words]):
            return True
        name = words[-1] if words else ""
    return False


def calls_hook(command: str, folder: str) -> bool:
    """True if a command line names the program that a host starts for each event: its path, a link to it, its module.

    Whoever starts it can say what the user said. What only a shell can expand is not seen, apart from a pattern for the
    file's name.
    """
    places = [folder]
    for words in _commands(command, is_quoted=True) if command else ():
        if len(words) > 1 and words[0] in ("cd", "pushd"):
            places.append(os.path.join(places[-1], os.path.expanduser(words[1])))
        for word in words:
            given = os.path.expanduser(word.rpartition("=")[2])
            if _HOOK_MODULES in word or any(_is_hook(os.path.join(place, given)) for place in places[-_PLACES:]):
                return True
    return False


def _is_hook(path: str) -> bool:
    """True if a path, its links followed, is the hook's program of any copy of this package, or a pattern for it."""
    above, name = os.path.split(path)
    if not _PATTERNS.isdisjoint(name):
        return os.path.isdir(above) and os.path.realpath(above).endswith(os.path.dirname(_HOOK))
    return os.path.isfile(path) and os.path.realpath(path).endswith(_HOOK)


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


def _has_persons_command(words: Sequence[str]) -> bool:
    """True if ``answer`` or its like and a run follow ``lockstep``, with nothing but flags and their values between.

    A text that only speaks of ``lockstep answer`` has nothing behind it.
    """
    is_after = False
    for at, word in enumerate(words[:-1]):
        if is_after and (word in _OF_A_PERSON or _is_consent(words[at:])):
            return True
        is_value = is_after and words[at - 1][:1] == "-"
        is_after = (is_after and (word[:1] == "-" or is_value)) or _is_lockstep(word)
    return False


def _is_consent(words: Sequence[str]) -> bool:
    """True if the words are ``gateway`` and, behind flags, ``trust``."""
    plain = [word for word in words if word[:1] != "-"]
    return (words[0], *plain[1:2]) == _CONSENT


def _is_lockstep(word: str) -> bool:
    """True if a word names lockstep, or is an option with it, or a substitution that finds it."""
    name = word.rpartition(" ")[2].rstrip(")`").rpartition("/")[2]
    is_option = word[:1] == "-" and (name.endswith("lockstep") or name == "-mskills")
    return name in ("lockstep", "lockstep.exe", "skills") or is_option or word.endswith("skills/__main__.py")


def is_shipped(script: str) -> bool:
    """True if a script, its links followed, is in this package: it came with Lockstep."""
    return script.startswith(package() + os.sep) and os.path.isfile(script)


def package() -> str:
    """The folder of this package ``skills``, links followed."""
    folder = os.path.realpath(__file__)
    for _ in range(4):
        folder = os.path.dirname(folder)
    return folder


def _is_main(word: str, folder: str) -> bool:
    """True if a word is the path of this package's command, or of that of an installed runtime."""
    called = os.path.realpath(os.path.join(folder, word))
    if called == os.path.join(package(), "__main__.py"):
        return True
    runtimes = os.path.join(os.path.realpath(paths.data()), "runtimes")
    version, _, below = called.removeprefix(runtimes + os.sep).partition(os.sep)
    return bool(version) and called.startswith(runtimes + os.sep) and below == os.path.join("skills", "__main__.py")


def _located(word: str, folder: str = "") -> str:
    """The path of a program, the links to its folder followed and not its own (a venv); "" for a bare name."""
    if "/" not in word or "\0" in word:
        return ""
    place, name = os.path.split(os.path.join(folder, word))
    return os.path.join(os.path.realpath(place), name)


def _on_path(word: str) -> str:
    """Where a program of that name is found on PATH, as ``_located`` has it."""
    name = word.rpartition("/")[2]
    for place in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(place, name)
        if os.path.isabs(place) and os.access(path, os.X_OK):
            return _located(path)
    return ""


def _is_plain(word: str) -> bool:
    """True if a word is the path that it reads as, and no option, home or pattern that leads out of its folder."""
    leads = ".." in word.split("/") and not _PATTERNS.isdisjoint(word)
    return not leads and not word.startswith(_LEADING)


def scripts_of(script: str) -> str:
    """The folder of a skill's scripts that a script is in; "" if it is in no folder of that name."""
    above, found, _ = script.rpartition(f"{os.sep}scripts{os.sep}")
    return f"{above}{os.sep}scripts" if found else ""


def is_interpreter(word: str, names: Container[str] = _INTERPRETERS) -> bool:
    """True if a word names a program that runs the script which follows it: python3.12, bash, node."""
    name = word.rpartition("/")[2]
    return name in names or (name.startswith("python3.") and name[len("python3.") :].isdigit())

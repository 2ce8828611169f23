"""Tells a command that proves nothing: it ends with 0 whatever was done, or runs nothing of the work."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_PASSING = frozenset(": clear date echo hostname id nproc printf pwd sleep true uname uptime whoami".split())
_SHELLS = frozenset("bash dash ksh sh zsh".split())
# Programs that run another. The options of some take a value, so only calls without options are seen through.
_WRAPPERS = frozenset("env nice nohup time".split())
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_PYTHON = re.compile(r"python[\d.]*(?:\.exe)?")
# With these a program prints something about itself. -h often takes a value, so it counts as the last argument alone.
_ABOUT, _ABOUT_LAST = ("--help", "--version"), ("--help", "--version", "-h")
# Programs that print a list, if no argument but options follows; with an argument they may fail.
_LISTING = (["ls"], ["git", "branch"], ["git", "diff"], ["git", "log"], ["git", "status"])
_FAILING = frozenset(("--check", "--exit-code", "--quiet"))
# Options with which a program runs nothing of the work.
_RUNS_NOTHING = {
    "make": frozenset(("-n", "--dry-run", "--just-print", "--recon")),
    "pytest": frozenset(("--co", "--collect-only", "--fixtures", "--markers", "--setup-plan")),
}
_RUNS_NOTHING |= {"gmake": _RUNS_NOTHING["make"], "py.test": _RUNS_NOTHING["pytest"]}
# Python code that imports nothing of the project, prints constants, and ends with 0.
_IDLE = re.compile(
    r"(?:import (?:os|sys|time)\b|from sys import exit\b|pass\b|print\((?:'[^']*'|\"[^\"]*\"|\d*)\)"
    r"|(?:raise )?(?:exit|quit|sys\.exit|os\._exit|SystemExit)\((?:0|None|)\)|raise SystemExit\b|\d|[;\s])*"
)
# The last command of a shell's script, after what parts it from the one before; && hands a failure on.
_LAST = re.compile(r"(?:.*(?:;|\|\||\n|(?<!\|)\|(?!\|)))?\s*(.*)", re.DOTALL)


def always_passes(argv: Sequence[str]) -> bool:
    """True if a command proves nothing: ``true`` and the like, alone or in a shell's script, or a help text."""
    argv = _plain(argv)
    program = os.path.basename(argv[0]) if argv else ":"
    if program in _SHELLS and len(argv) == 3 and argv[1].endswith("c"):
        found = _LAST.fullmatch(argv[2].rstrip().rstrip(";"))
        words = found[1].split() if found else []
        if not words or "&&" in words:
            return False
        return words == ["exit", "0"] or words[0] in _PASSING or _tells(words[0], words[1:])
    if _PYTHON.fullmatch(program) and argv[1:2] == ["-c"]:
        return len(argv) == 3 and bool(_IDLE.fullmatch(argv[2]))
    return program in _PASSING or _tells(program, argv[1:]) or _is_a_word(program, argv[1:])


def _plain(argv: Sequence[str]) -> list[str]:
    """The command that is run by ``env NAME=VALUE …`` and its like, or by ``python -m``."""
    words = list(argv)
    while words and os.path.basename(words[0]) in _WRAPPERS:
        words = words[1:]
        while words and _ASSIGNMENT.fullmatch(words[0]):
            words = words[1:]
    if words and _PYTHON.fullmatch(os.path.basename(words[0])) and words[1:2] == ["-m"] and words[2:]:
        return words[2:]
    return words


def _tells(program: str, arguments: Sequence[str]) -> bool:
    """True if the program only prints: about itself, a list, or what it would do."""
    if any(word in _RUNS_NOTHING.get(program, ()) for word in arguments):
        return True
    if any(word in _ABOUT for word in arguments[:1]) or any(word in _ABOUT_LAST for word in arguments[-1:]):
        return True
    words = [program, *arguments]
    plain = [word for word in words if not word.startswith("-")]
    return plain in _LISTING and not _FAILING.intersection(words)


def _is_a_word(program: str, arguments: Sequence[str]) -> bool:
    """True for ``test WORD`` and ``[ WORD ]``, which look at nothing."""
    if program == "[" and arguments[-1:] == ["]"]:
        program, arguments = "test", arguments[:-1]
    return program == "test" and len(arguments) == 1 and bool(arguments[0])

"""Finds a parameter in a place of an argument list where an interpreter would read its value as program text."""

from __future__ import annotations

import os

from skills.lib.gateway.specs import CONSTANTS, names_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_SHELLS = frozenset("sh bash dash zsh ksh mksh ash fish csh tcsh busybox su script".split())
# Programs that join all words after them to a line for a shell.
_JOIN_WORDS = frozenset("ssh rsh watch eval".split())
_LANGUAGES = frozenset("python pypy perl ruby node nodejs deno bun php lua tclsh osascript".split())
_WINDOWS = frozenset("cmd powershell pwsh wscript cscript".split())
# Programs whose next word is a program, or program text.
_RUN_WORDS = frozenset("env sudo doas nohup setsid xargs exec command time source awk gawk mawk sed".split())
# The letters of short options after which program text stands, also among others: -lc.
_LETTERS = {"shells": "c", "languages": "ceEprR"}
_LONG = ("--command", "--eval", "--print", "--exec", "-command", "-encodedcommand", "-ec", "-exec", "-execdir", "-ok")


def first_value(words: Sequence[str]) -> str:
    """The first name in braces whose value an interpreter or a wrapper among the words would run; empty if none."""
    kind, is_code = "", False
    for word in words:
        name = next((one for one in names_in(word) if one not in CONSTANTS), "")
        if name and (is_code or kind == "joined"):
            return f"{{{name}}}"
        if name and word.lower().startswith(_LONG) and kind:
            return f"{{{name}}}"
        is_code = _is_before_code(word, kind)
        program = os.path.basename(word.replace("\\", "/")).lower().removesuffix(".exe")
        if program in _JOIN_WORDS:
            kind = "joined"
        elif program in _SHELLS:
            kind = "shells"
        elif program in _LANGUAGES or program.rstrip("0123456789.") in _LANGUAGES or word == "{python}":
            kind = "languages"
        elif program in _WINDOWS:
            kind = "windows"
        elif program in _RUN_WORDS:
            kind, is_code = kind or "wrapper", True
        elif program in ("find", "fd"):
            kind = kind or "find"
    return ""


def _is_before_code(word: str, kind: str) -> bool:
    """True if what follows a word is program text."""
    low = word.lower()
    if low.startswith(_LONG):
        return "=" not in word
    if kind == "windows":
        return low in ("/c", "/k", "/r", "-c", "-e")
    if word.startswith("-") and not word.startswith("--") and kind in _LETTERS:
        return any(letter in _LETTERS[kind] for letter in word[1:])
    return False

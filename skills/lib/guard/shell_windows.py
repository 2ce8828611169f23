"""Lines of PowerShell and cmd: the few that can be taken apart for certain, which both read in the same way."""

from __future__ import annotations

from skills.lib.shell_words import POWERSHELL

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/\\:=+-~")
# In quotes these are still special: to PowerShell, which takes typographic quotes for quotes, and to cmd.
_SPECIAL = frozenset('"$`\0\n\r\u2018\u2019\u201a\u201b\u201c\u201d\u201e')
_OF_CMD = frozenset("%!^&|<>")
# Words of these shells that run what follows, or what they find elsewhere; and "sl", which changes the folder.
_RUNNING = frozenset(
    "foreach where sal nal saps sajb icm ii ihy r h iwmi icim nsn etsn ipmo trcm sbp for if else while do until switch"
    " try catch finally function filter class data begin process end trap workflow param return throw exit break"
    " continue using dynamicparam parallel sequence inlinescript configuration clean in not doskey sl".split()
)
# What PowerShell's own commands of these verbs run, they do not get by plain words.
_LOOKING = ("get-", "test-", "select-", "sort-", "format-", "out-", "write-", "compare-", "resolve-")


def commands_of(line: str, shell: str) -> list[list[str]] | None:
    """The words of each command of a line, joined by ``&&``; None if it cannot be taken apart for certain."""
    found = []
    for part in line.split("&&"):
        words = _words(part, shell)
        if not words or _may_run(words[0]):
            return None
        found.append(words)
    return found


def words_of(line: str, shell: str) -> list[str]:
    """The words of a line that is one simple command for certain; else empty."""
    found = commands_of(line, shell) or []
    return found[0] if len(found) == 1 else []


def _words(text: str, shell: str) -> list[str] | None:
    quotes = "\"'" if shell == POWERSHELL else '"'
    special = _SPECIAL if shell == POWERSHELL else _SPECIAL | _OF_CMD
    words: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == " ":
            at += 1
            continue
        if text[at] in quotes:
            end = text.find(text[at], at + 1)
            word, at = text[at + 1 : end], end + 1
            # Windows PowerShell loses an empty word, and a backslash before the last quote takes it for a part.
            if end < 0 or not word or word[-1] == "\\" or not special.isdisjoint(word) or not words:
                return None
        else:
            end = text.find(" ", at)
            end = len(text) if end < 0 else end
            word, at = text[at:end], end
            # PowerShell makes two words of some options that begin with one dash.
            is_split = word[0] == "-" and word[1:2] != "-" and not set(word).isdisjoint(".:")
            if is_split or not _PLAIN.issuperset(word):
                return None
        if text[at : at + 1] not in ("", " "):
            return None
        words.append(word)
    return words


def _may_run(program: str) -> bool:
    """True if a word may be no program, but a command of the shell that runs others."""
    name = program.lower()
    if not name[0].isalpha() and name[0] not in "./\\~":
        return True
    is_own = "-" in name and not name.endswith(".exe") and not name.startswith(_LOOKING)
    return name in _RUNNING or is_own or "=" in name

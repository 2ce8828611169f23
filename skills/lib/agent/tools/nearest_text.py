"""Finds the lines of a file that are most like a text which it does not have."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# A longer file, and a longer text, are not compared line by line. A line is compared by its first characters.
_LINES, _TEXT, _COMPARED = 20_000, 200, 200
# How many lines are shown, of each so many characters, and how alike two of them must be.
_SHOWN, _LINE, _LIKE = 6, 160, 0.6


def nearest_text(text: str, lines: Sequence[str]) -> str:
    """The place in the lines that is nearest to the text, in words; empty if none is near."""
    wanted = [_plain(line) for line in text.split("\n")]
    while wanted and not wanted[0]:
        wanted.pop(0)
    while wanted and not wanted[-1]:
        wanted.pop()
    if not wanted or len(lines) > _LINES or len(wanted) > _TEXT:
        return ""
    plain = [_plain(line) for line in lines]
    size = len(wanted)
    for at in range(len(plain) - size + 1):
        if plain[at : at + size] == wanted:
            return f"it differs in blanks alone from {_quoted(lines, at, size)}"
    at = _nearest_line(wanted, plain)
    return f"the nearest is {_quoted(lines, at, size)}" if at >= 0 else ""


def _nearest_line(wanted: Sequence[str], plain: Sequence[str]) -> int:
    """The first of the lines that are most like those wanted; -1 if none is like them."""
    from difflib import SequenceMatcher  # it takes milliseconds, and only a wrong text needs it

    best, found = _LIKE, -1
    longest = max(range(len(wanted)), key=lambda at: len(wanted[at]))
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(wanted[longest][:_COMPARED])
    for at, line in enumerate(plain):
        matcher.set_seq1(line[:_COMPARED])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and (ratio := matcher.ratio()) > best:
            best, found = ratio, max(at - longest, 0)
    return found


def _quoted(lines: Sequence[str], at: int, size: int) -> str:
    """Lines of the file with their place."""
    last = min(at + size, len(lines))
    cut = [line if len(line) <= _LINE else line[:_LINE] + "…" for line in lines[at : min(last, at + _SHOWN)]]
    more = "\n…" if last > at + _SHOWN else ""
    where = f"line {at + 1:,}" if last - at == 1 else f"lines {at + 1:,} to {last:,}"
    return f"{where}:\n" + "\n".join(cut) + more


def _plain(line: str) -> str:
    return " ".join(line.split())

r"""Unified diffs: made by difflib, read back, and found again in a file that may have moved on.

Lines end at \n and nowhere else, so a carriage return or a form feed is part of its line, and a last line without its
end is marked as ``\ No newline at end of file``. A text of None is a file that is not there.
"""

from __future__ import annotations

import difflib
import re
from typing import NamedTuple

NO_END = "\\ No newline at end of file"
ABSENT = "/dev/null"
CONTEXT = 3
TODO, DONE, LOST = "to do", "done", "lost"

_HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NAMED = re.compile(r"[A-Za-z_$]")


class Hunk(NamedTuple):
    """One piece of a diff: the index of its first line before and after, and its lines before and after."""

    start: int
    start_after: int
    before: tuple[str, ...]
    after: tuple[str, ...]


class Diff(NamedTuple):
    """A diff of one file."""

    creates: bool
    removes: bool
    path: str
    hunks: tuple[Hunk, ...]


def lines_of(text: str) -> list[str]:
    r"""The lines with their ends; only \n ends a line."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def diff_of(path: str, before: str | None, after: str | None) -> str:
    """The unified diff from one text to the other, headers included; empty where they are the same."""
    if before == after:
        return ""
    old, new = lines_of(before or ""), lines_of(after or "")
    head = [f"--- {ABSENT if before is None else 'a/' + path}\n", f"+++ {ABSENT if after is None else 'b/' + path}\n"]
    made = list(difflib.unified_diff(old, new, n=CONTEXT))[2:]
    return "".join(head + [_shown(line, old) for line in made])


def _shown(line: str, old: list[str]) -> str:
    head = _HEAD.match(line) if line.startswith("@@") else None
    if head:
        name = _enclosing(old, int(head[1]) - 1)
        return f"{head[0]} {name}\n" if name else f"{head[0]}\n"
    return line if line.endswith("\n") else f"{line}\n{NO_END}\n"


def _enclosing(old: list[str], start: int) -> str:
    """The line above ``start`` that begins a function or class, or nothing."""
    for line in reversed(old[: max(start, 0)]):
        if _NAMED.match(line):
            return "".join(char for char in line.strip()[:60] if char.isprintable())
    return ""


def read(diff: str) -> Diff:
    """Read a diff of one file; ValueError says in which line it is none."""
    rows = diff.split("\n")
    if rows[-1] == "":
        rows.pop()
    if len(rows) < 2 or not rows[0].startswith("--- ") or not rows[1].startswith("+++ "):
        raise ValueError("it does not begin with the lines --- and +++")
    old, new = rows[0][4:], rows[1][4:]
    creates, removes = old == ABSENT, new == ABSENT
    path = new[2:] if creates or not removes else old[2:]
    if (creates and removes) or (not creates and old != "a/" + path) or (not removes and new != "b/" + path):
        raise ValueError("its --- and +++ do not name one file as a/path and b/path, or /dev/null for one of them")
    hunks, at = [], 2
    while at < len(rows):
        hunk, at = _read_hunk(rows, at)
        hunks.append(hunk)
    if not hunks and not creates and not removes:
        raise ValueError("it changes nothing")
    return Diff(creates, removes, path, tuple(hunks))


def _read_hunk(rows: list[str], at: int) -> tuple[Hunk, int]:
    head = _HEAD.match(rows[at])
    if not head:
        raise ValueError(f"line {at + 1} is not the head of a hunk (@@ -a,b +c,d @@)")
    old, new = (int(count) if count is not None else 1 for count in (head[2], head[4]))
    before: list[str] = []
    after: list[str] = []
    sides: tuple[list[str], ...] = ()
    at += 1
    while at < len(rows) and (len(before) < old or len(after) < new or rows[at] == NO_END):
        row = rows[at]
        if row == NO_END and sides:
            for side in sides:
                side[-1] = side[-1][:-1]
            sides = ()
        elif row[:1] in (" ", "-", "+"):
            sides = {" ": (before, after), "-": (before,), "+": (after,)}[row[0]]
            for side in sides:
                side.append(row[1:] + "\n")
        else:
            raise ValueError(f"line {at + 1} begins with none of blank, - and +")
        at += 1
    if (len(before), len(after)) != (old, new):
        raise ValueError(f"a hunk says {old} and {new} lines and has {len(before)} and {len(after)}")
    return Hunk(int(head[1]) - bool(old), int(head[3]) - bool(new), tuple(before), tuple(after)), at


def apply(diff: str, text: str | None) -> str | None:
    """The text after the diff, pieces that are in it already left alone; ValueError where a piece finds no place."""
    return standing(diff, text)[1]


def standing(diff: str, text: str | None) -> tuple[str, str | None]:
    """Whether a diff is to do or done, and the text after it; ValueError where a piece finds no single place.

    A file of which some pieces are in and some are not counts as to do.
    """
    change = read(diff)
    if change.creates or change.removes:
        return _whole(change, text)
    if text is None:
        raise ValueError("the file is not there")
    lines, shift, todo = lines_of(text), 0, False
    for number, hunk in enumerate(change.hunks, 1):
        state, at = _place(hunk, lines, shift)
        if state == LOST:
            raise ValueError(f"piece {number} of {len(change.hunks)} ({hunk_name(hunk)}) finds no single place in it")
        if state == TODO:
            todo = True
            lines[at : at + len(hunk.before)] = hunk.after
        shift = at - hunk.start_after
    return (TODO if todo else DONE), "".join(lines)


def undone(diff: str, text: str) -> bool:
    """Whether a text was written without what a diff does: one of its pieces is not in the text.

    A piece that stands there neither as before nor as after was worked on since if half of its new lines are left, or
    none of its removed ones; so was a file that the diff creates.
    """
    change = read(diff)
    lines = lines_of(text)
    for hunk in () if change.removes else change.hunks:
        state = LOST if change.creates else _place(hunk, lines, 0)[0]
        if state == TODO or (state == LOST and not _worked_on(hunk, set(lines))):
            return True
    return False


def _worked_on(hunk: Hunk, lines: set[str]) -> bool:
    new = {line for line in hunk.after if line.strip()} - set(hunk.before)
    gone = {line for line in hunk.before if line.strip()} - set(hunk.after)
    return 2 * len(new & lines) >= len(new) if new else not gone & lines


def hunk_name(hunk: Hunk) -> str:
    """A piece by its first changed line, for people."""
    kept = zip(hunk.before, hunk.after, strict=False)
    same = next((at for at, pair in enumerate(kept) if pair[0] != pair[1]), min(len(hunk.before), len(hunk.after)))
    line = (hunk.before[same:] or hunk.after[same:] or ("",))[0].strip()
    return f"line {hunk.start + same + 1}: {line!r:.60}"


def _whole(change: Diff, text: str | None) -> tuple[str, str | None]:
    content = "".join(line for hunk in change.hunks for line in (hunk.after if change.creates else hunk.before))
    wanted, given = (None, content) if change.creates else (content, None)
    if text == given:
        return DONE, given
    if text == wanted:
        return TODO, given
    if change.creates:
        raise ValueError("it is to be created and is there already, with another content")
    raise ValueError("it is to be removed and has another content by now")


def _place(hunk: Hunk, lines: list[str], shift: int) -> tuple[str, int]:
    """Where a hunk stands, as it was or as it will be: at its own place, else at the one place that there is.

    ``shift`` is how far the lines before it have moved since the diff was made. A hunk that reached an edge of the
    file is looked for at that edge first.
    """
    expected = hunk.start_after + shift
    sides = ((TODO, hunk.before), (DONE, hunk.after))
    for edges in (_edges(hunk), (False, False)):
        for state, wanted in sides:
            if _stands(wanted, lines, expected, edges):
                return state, expected
    for state, wanted in sides:
        found = [at for at in range(len(lines) - len(wanted) + 1) if wanted and _stands(wanted, lines, at)]
        if found:
            return (state, found[0]) if len(found) == 1 else (LOST, 0)
    return LOST, 0


def _edges(hunk: Hunk) -> tuple[bool, bool]:
    """Whether a hunk has less context before, and after, its change than a diff gives away from an edge."""
    pairs = list(zip(hunk.before, hunk.after, strict=False))
    lead = next((at for at, pair in enumerate(pairs) if pair[0] != pair[1]), len(pairs))
    back = list(zip(reversed(hunk.before), reversed(hunk.after), strict=False))
    tail = next((at for at, pair in enumerate(back) if pair[0] != pair[1]), len(back))
    return lead < CONTEXT, tail < CONTEXT


def _stands(wanted: tuple[str, ...], lines: list[str], at: int, edges: tuple[bool, bool] = (False, False)) -> bool:
    if not wanted:
        # Without a line before it, a hunk fits an empty file alone.
        return not lines
    if (edges[0] and at != 0) or (edges[1] and at + len(wanted) != len(lines)):
        return False
    return at >= 0 and tuple(lines[at : at + len(wanted)]) == wanted

"""The plain text that everything has which a pattern matches: a quick search for it rules out most lines."""

from __future__ import annotations


def literal_of(pattern: str) -> str:
    """The longest text that each match of a valid pattern (``skills.lib.schema.patterns``) has; empty if none is sure.

    Only what stands outside of groups and classes is looked at.
    """
    runs, run, at = [""], "", 0
    while at < len(pattern):
        char, end = pattern[at], _end_of_part(pattern, at)
        text = char if end == at + 1 and char not in "^$." else ""
        if char == "\\" and end == at + 2 and not pattern[at + 1].isalnum():
            text = pattern[at + 1]
        if char == "|":
            return ""
        is_empty = char in "^$" or pattern[at:end] in ("\\b", "\\B")
        after = _end_of_times(pattern, end)
        if is_empty and after == end:
            at = end
            continue
        if text and (after == end or pattern[end] == "+"):
            run += text
            runs.append(run)
        if not text or after != end:
            run = ""
        at = after
    return max(runs, key=len)


def _end_of_part(pattern: str, at: int) -> int:
    """Where a character, an escape, a class or a group that begins at a place ends."""
    char = pattern[at]
    if char == "\\":
        return at + {"x": 4, "u": 6}.get(pattern[at + 1], 2)
    if char == "[":
        at += 1
        while pattern[at] != "]":
            at += 2 if pattern[at] == "\\" else 1
        return at + 1
    if char == "(":
        at += 1
        while pattern[at] != ")":
            at = _end_of_part(pattern, at)
        return at + 1
    return at + 1


def _end_of_times(pattern: str, at: int) -> int:
    """Where a repetition that stands at a place ends; the place itself if none does."""
    char = pattern[at : at + 1]
    if char not in ("*", "+", "?", "{"):
        return at
    at = pattern.index("}", at) + 1 if char == "{" else at + 1
    return at + 1 if pattern[at : at + 1] == "?" else at

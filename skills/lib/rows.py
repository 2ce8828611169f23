"""Rows in their short form: the path of the row before, and the number that follows, are left out."""

from __future__ import annotations


def with_paths(rows: list[str]) -> list[str]:
    """The rows with their paths: a row that begins with ":12" is about the file of the row before it."""
    found, path = [], ""
    for row in rows:
        path = path if row.startswith(":") else row.partition(":")[0]
        found.append(path + row if row.startswith(":") else row)
    return found


def numbered(rows: list[str], letter: str, last: int = 0) -> list[str]:
    """The rows as "F1: what it says"; a row without an id has the number after the one before it."""
    found = []
    for row in rows:
        name = row.partition(":")[0].strip()
        if name[:1] == letter and name[1:].isascii() and name[1:].isdigit():
            last, text = int(name[1:]), row
        else:
            last += 1
            text = f"{letter}{last}: {row}"
        found.append(text)
    return found

"""Rows of parts between bars, without ``re``; in their short form the path of the row before is left out."""

from __future__ import annotations


def with_paths(rows: list[str]) -> list[str]:
    """The rows with their paths: a row that begins with ":12" is about the file of the row before it."""
    found, path = [], ""
    for row in rows:
        path = path if row.startswith(":") else row.partition(":")[0]
        found.append(path + row if row.startswith(":") else row)
    return found


def cells(row: str) -> list[str]:
    """The parts of a row between its bars, without the space around them; a bar between backquotes is no such bar."""
    pieces = row.split("`")
    pieces[1:-1:2] = [piece.replace("|", "\0") for piece in pieces[1:-1:2]]
    return [part.strip().replace("\0", "|") for part in "`".join(pieces).split("|")]

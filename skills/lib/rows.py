"""Rows in their short form: the path of the row before is left out."""

from __future__ import annotations


def with_paths(rows: list[str]) -> list[str]:
    """The rows with their paths: a row that begins with ":12" is about the file of the row before it."""
    found, path = [], ""
    for row in rows:
        path = path if row.startswith(":") else row.partition(":")[0]
        found.append(path + row if row.startswith(":") else row)
    return found

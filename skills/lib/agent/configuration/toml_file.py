"""A TOML file of settings: its values, and the line of each."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from typing import Any

from skills.lib import files
from skills.lib.errors import UsageError
from skills.lib.record import Record

# No file of settings is longer (bytes).
_LIMIT = 1 << 20
_HEADER = re.compile(r"\s*\[\[?\s*(.+?)\s*\]\]?\s*(?:#.*)?")
_KEY = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+))*)\s*=""")
_NAME = re.compile(r""""([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+)""")


class TomlFile(Record):
    """The tables below ``prefix`` of a file."""

    path: str
    prefix: Sequence[str]
    values: dict[str, Any]
    lines: dict[tuple[str, ...], int]

    @classmethod
    def read(cls, path: str, prefix: Sequence[str] = ()) -> TomlFile | None:
        """The file; None if there is nothing below ``prefix``, or no file. Raises UsageError if it cannot be read."""
        try:
            text = files.read(path, _LIMIT).decode("utf-8-sig")
            values: Any = tomllib.loads(text)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, RecursionError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)[:200]
            raise UsageError(f"{path} cannot be read: {reason}", valid="a file of TOML in UTF-8") from error
        for name in prefix:
            values = values.get(name, {}) if isinstance(values, dict) else {}
        return cls(path, tuple(prefix), values, _lines(text)) if values and isinstance(values, dict) else None

    def place(self, names: Sequence[str]) -> str:
        """The file and the line of a key, or of the nearest one above it: ``/project/lockstep.toml:3``."""
        full = (*self.prefix, *names)
        for length in range(len(full), 0, -1):
            if full[:length] in self.lines:
                return f"{self.path}:{self.lines[full[:length]]}"
        return self.path

    def is_at(self, path: str) -> bool:
        """True if the file is the one at ``path``."""
        return os.path.realpath(self.path) == os.path.realpath(path)


def _lines(text: str) -> dict[tuple[str, ...], int]:
    """The line of each key that begins one, by its names; tomllib does not tell them."""
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.fullmatch(line):
            table = _names(header[1])
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            found.setdefault((*table, *_names(key[1])), number)
    return found


def _names(dotted: str) -> tuple[str, ...]:
    return tuple("".join(groups) for groups in _NAME.findall(dotted))

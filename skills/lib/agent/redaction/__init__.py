"""Takes secrets and personal data out of what a session reads and keeps."""

from __future__ import annotations

import os
import re
from functools import cache

from skills.lib.agent.redaction.assignments import FIELDS, Assignments, is_field, normal
from skills.lib.agent.redaction.personal_data import PERSONAL
from skills.lib.agent.redaction.secret_patterns import IN_PLACE, KEY_LINE, KEYS, Pattern
from skills.lib.model.values import is_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

_MARK = re.compile(r"\[redacted: ([a-z0-9-]{1,40})\]")
_BEGIN = "[redacted:"
# What is sealed by who wrote it, and could not be read back if it were changed; none of it is readable.
_SEALED = frozenset(("signature", "encrypted_content", "thought_signature"))
# A shorter value of a variable is no secret: it would stand in many a word.
_SHORTEST = 8


def has_mark(value: Any) -> bool:
    """True if a text has the mark of something that was redacted, or a value has such a text."""
    return bool(marks(value))


def marks(value: Any) -> list[str]:
    """The marks in a text, or in the texts of a value."""
    if isinstance(value, str):
        return [found[0] for found in _MARK.finditer(value)]
    parts = [one for pair in value.items() for one in pair] if isinstance(value, dict) else value
    return [mark for one in parts for mark in marks(one)] if isinstance(parts, list | tuple) else []


class Redactor:
    """Replaces secrets and personal data by marks that say their kind, as ``[redacted: github-token]``.

    ``fields`` are names beside those of FIELDS whose values are always replaced. ``environment`` has variables: the
    values of those that are named like secrets are replaced wherever they stand.
    """

    def __init__(self, fields: Iterable[str] = (), environment: Mapping[str, str] | None = None) -> None:
        self._fields = normal((*FIELDS, *fields))
        self._assignments = Assignments(self._fields)
        variables = os.environ if environment is None else environment
        values = {value for name, value in variables.items() if is_secret(name) and _is_secret_value(value)}
        self._known = sorted(values, key=len, reverse=True)

    def text(self, text: str) -> str:
        """The text without secrets and personal data. It takes time in proportion to its length."""
        return _without(self._without_secrets(text), PERSONAL)

    def value(self, value: Any) -> Any:
        """A value of JSON without secrets and personal data; the same value if it has none."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            changed: Any = {self._name(name): self._of_field(name, one) for name, one in value.items()}
        elif isinstance(value, list | tuple):
            changed = type(value)([self.value(one) for one in value])
        else:
            return value
        return value if changed == value else changed

    def secrets(self, text: str) -> list[str]:
        """The kinds of secrets in a text, sorted; personal data are none."""
        return sorted(_kinds(self._without_secrets(text)) - _kinds(text))

    def _without_secrets(self, text: str) -> str:
        for value in self._known:
            text = text.replace(value, _mark("environment"))
        text = _without(text, (*KEYS, KEY_LINE, *IN_PLACE))
        return self._assignments.replaced(text, lambda value: value if has_mark(value) else _mark("secret"))

    def _name(self, name: Any) -> Any:
        return self.text(name) if isinstance(name, str) else name

    def _of_field(self, name: Any, value: Any) -> Any:
        if name in _SEALED:
            return value
        return _all_marked(value) if is_field(name, self._fields) else self.value(value)


def _all_marked(value: Any) -> Any:
    """A value with a mark in place of each text and number in it."""
    if isinstance(value, dict):
        return {name: _all_marked(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_all_marked(one) for one in value]
    if value is None or isinstance(value, bool) or value == "":
        return value
    return value if has_mark(value) else _mark("secret")


def _mark(kind: str) -> str:
    return f"[redacted: {kind}]"


def _kinds(text: str) -> set[str]:
    """The kinds of the marks in a text."""
    return set(_MARK.findall(text))


def _without(text: str, patterns: Iterable[Pattern]) -> str:
    for pattern in patterns:
        if not pattern.words or any(word in text for word in pattern.words):
            text = pattern.expression.sub(_replacing(pattern), text)
    return text


@cache
def _replacing(pattern: Pattern) -> Any:
    group = "secret" if "secret" in pattern.expression.groupindex else 0
    mark = _mark(pattern.kind)

    def replacement(found: re.Match[str]) -> str:
        if not pattern.is_one(found) or _BEGIN in found[0]:
            return found[0]
        begin, end = found.start(group) - found.start(), found.end(group) - found.start()
        return f"{found[0][:begin]}{mark}{found[0][end:]}"

    return replacement


def _is_secret_value(value: str) -> bool:
    return len(value) >= _SHORTEST and not value.isalpha() and not value.startswith(("/", "."))

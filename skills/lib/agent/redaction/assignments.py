"""Values that are secrets by the name before them: ``password: …``, ``API_KEY=…``, ``"token": "…"``, ``--secret …``.

Code names such things everywhere. A value counts as a secret if it looks like one: no placeholder, no name, no call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from skills.lib.agent.redaction.secret_patterns import AFTER_ESCAPE

# The names of what is secret by itself, also at the end of a longer name: ``db_password``, ``githubToken``.
FIELDS = (
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "token",
    "api_key",
    "apikey",
    "access_key",
    "secret_key",
    "secret_key_base",
    "account_key",
    "auth_key",
    "private_key",
    "encryption_key",
    "signing_key",
    "credential",
    "credentials",
)
# A value of these is a secret even if it is a plain word.
_PASSWORDS = ("password", "passwd", "pwd", "passphrase")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PLACEHOLDER = re.compile(
    r"(?:[<{\[(%$*#].*|.*[>}\])]|x+|X+|\.+|\*+|-+|_+|none|null|nil|true|false|undefined|string|str|text|required|optional|"
    r"redacted|hidden|changeme|change[-_ ]me|(?:your|my|the|an?|some|insert|enter|todo)[-_ ].*|.*\.\.\..*|.*…)",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z_]*\d{0,2}(?:\.[A-Za-z_]\w*)*\(?", re.ASCII)
# A value without quotes, as far as it is looked at.
_WORD, _LONGEST = r"[^\s\"'`,;<>\[\](){}|\\]", 200
_REST = re.compile(rf"{_WORD}*")
_ATTRIBUTE = re.compile(r"[A-Za-z_]\w*\.[A-Za-z_]", re.ASCII)
_OPENING = ("(", "[", "{", "`")
_ENVIRONMENT = re.compile(r"[A-Z][A-Z0-9_]*")


def is_field(name: object, fields: frozenset[str]) -> bool:
    """True if a name is one of these fields, or ends with one: ``db_password``, ``githubToken``, ``API-KEY``."""
    if not isinstance(name, str) or len(name) > 200:
        return False
    words = _CAMEL.sub("_", name.strip()).lower().replace("-", "_").replace(" ", "_").replace(".", "_")
    return any(words == field or words.endswith(f"_{field}") for field in fields)


def normal(fields: Iterable[str]) -> frozenset[str]:
    """The names of fields as ``is_field`` compares them."""
    return frozenset(_CAMEL.sub("_", field.strip()).lower().replace("-", "_").replace(" ", "_") for field in fields)


class Assignments:
    """Finds the values of fields that are named so in a text."""

    def __init__(self, fields: frozenset[str]) -> None:
        self.fields = fields
        ends = "|".join(sorted((re.escape(one).replace("_", "[-_. ]?") for one in fields), key=len, reverse=True))
        self._words = re.compile(ends, re.ASCII | re.IGNORECASE)
        # The name; what is between; a text in quotes, with them; or a word.
        self._assigned = re.compile(
            rf"(?:(?<![\w.\\-])|{AFTER_ESCAPE})(?P<name>(?:[\w.-]{{0,80}}[-_.\w])??(?:{ends}))(?P<close>\\?[\"'])?"
            r"(?P<sign>[ \t]{0,9}(?:=>|:=|:|=(?!=))[ \t]{0,9}|(?<=-)[ \t]|[ \t]{1,3})"
            r"(?:(?P<quote>\\?[\"'])(?P<quoted>(?:(?!(?P=quote))[^\n\r]){1,4000})(?P=quote)"
            rf"|(?P<word>{_WORD}{{4,{_LONGEST}}}+))",
            re.ASCII | re.IGNORECASE,
        )

    def replaced(self, text: str, mark: Callable[[str], str]) -> str:
        """The text with a mark in place of each value."""
        if not self._words.search(text):
            return text
        parts, done, at = [], 0, 0
        while found := self._assigned.search(text, at):
            group = "quoted" if found["quoted"] is not None else "word"
            at = found.start(group)
            if self._is_secret(found, found[group]):
                parts += [text[done:at], mark(found[group])]
                done = at = _REST.match(text, found.end()).end() if group == "word" else found.end(group)  # type: ignore[union-attr]
        return "".join([*parts, text[done:]])

    def _is_secret(self, found: re.Match[str], value: str) -> bool:
        name, sign = found["name"], found["sign"].strip()
        if not is_field(name.lstrip("-"), self.fields) or _PLACEHOLDER.fullmatch(value):
            return False
        if found["word"] is not None and found.string[found.end() : found.end() + 1] in _OPENING:
            return False  # of a call, a subscript
        if not sign:  # an option of a command, as --token VALUE
            return name.startswith("-") and found["close"] is None and _is_mixed(value, 6)
        is_password = is_field(name.lstrip("-"), _PASSWORD_FIELDS)
        is_quoted = found["quoted"] is not None
        if found["close"] and is_quoted:  # a field of JSON
            return value.casefold() != name.casefold()
        if is_quoted:
            plain = is_password and len(value) >= 6 and not _is_word(value)
            return " " not in value and (plain or _is_mixed(value, 6 if is_password else 8))
        if sign == "=" and _ENVIRONMENT.fullmatch(name) and found["sign"] == "=":  # a line of an environment
            return (len(value) >= 6 and not _NAME.fullmatch(value)) or _is_mixed(value, 4) or is_password
        is_name = value.lower().startswith(tuple(self.fields)) if is_password else _NAME.fullmatch(value)
        return _is_mixed(value, 6 if is_password else 8) and not is_name and not _ATTRIBUTE.match(value)


_PASSWORD_FIELDS = frozenset(_PASSWORDS)


def _is_mixed(value: str, least: int) -> bool:
    """True if a value has letters and digits, and so many characters at least."""
    return len(value) >= least and any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _is_word(value: str) -> bool:
    """True for a name of code or a word, as in ``password="password_field"``."""
    return bool(re.fullmatch(r"[A-Za-z]+(?:[_-][A-Za-z]+)*", value))

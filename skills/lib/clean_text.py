"""Texts from anywhere as they may be shown on a terminal."""

from __future__ import annotations

# Characters that a terminal obeys, and those that turn the direction of what follows them.
_OBEYED = [*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000)]
_CLEAN = {code: "?" for code in _OBEYED if chr(code) not in "\n\t"} | {0x2028: "\n", 0x2029: "\n"}

_NO_CHARACTER = {0xFFFE: "?", 0xFFFF: "?"}
# Our own sign for how often something happened.
TIMES = "\N{MULTIPLICATION SIGN}"


def clean(text: object) -> str:
    """The text with every character that a terminal would obey shown as ``?``; line ends and tabs stay."""
    return str(text).translate(_CLEAN)


def in_xml(text: object) -> str:
    """The clean text with ``?`` also for the two characters that no document of XML or HTML has."""
    return clean(text).translate(_NO_CHARACTER)


def one_line(text: object) -> str:
    """The clean text on one line."""
    return " ".join(clean(text).split())

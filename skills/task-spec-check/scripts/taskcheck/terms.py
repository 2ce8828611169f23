"""The words of a criterion that evidence has to show: its fragments in backquotes, names and numbers, other words."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from skills.lib import checks

_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|'([^' ]+)'")
# Names of code that stand without backquotes: snake_case, camelCase, calls, paths, options.
_NAME = re.compile(r"(?<![\w-])(--?[a-z][\w-]*|[\w.-]*/[\w./-]+|\w+_\w+|[a-z]+[A-Z]\w*|\w+\(\)|\w+\.\w{1,5})(?!\w)")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?![\w])")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_DENIES = re.compile(
    r"(?i)\b(?:no|not|never|none|without|cannot|\w+n't|neither|nor|removed?|deleted?|dropped|gone|absent|free of"
    r"|instead)\b"
)
_VAGUE = re.compile(
    r"(?i)\b(?:clean(?:ly)?|readab\w+|maintainab\w+|intuitive\w*|user-friendly|elegant\w*|robust\w*|performant"
    r"|efficient\w*|good|nice\w*|easy|easily|easier|well|properly|appropriate\w*|reasonabl\w+|sensibl\w+|quality"
    r"|best practices?|idiomatic\w*|as expected|fast|quick\w*|secure\w*|scalab\w+|modern|understandable"
    r"|professional\w*|better|improved?)\b"
)
_COMMON = frozenset(
    "about above added after again also always and another appears are because been before being below between both "
    "but can cannot class code contain contains correct correctly could define defined defines deleted does down "
    "each either else every exist exists fail fails file files following for from function gets given gives has "
    "have having into its itself leave left longer made make makes method module more most must name named never "
    "none not one only other over pass passes properly provide provided provides removed return returned returning "
    "returns shall should shows some such test tested tests than that the their them then there these they this "
    "those through under until upon used uses using value values was what when where which while will with within "
    "without works would yields".split()
)
_ENDINGS = ("ingly", "edly", "ing", "ied", "ies", "ed", "es", "ly", "s", "e")
_COMMENT = re.compile(r"\s*(?:#(?!\w+!?\[)|//|/\*|\*|--|;|<!--|%|rem\s)", re.IGNORECASE)
_PROSE = (".md", ".mdx", ".rst", ".txt", ".adoc", ".markdown", ".html")


class Terms(NamedTuple):
    """What a criterion names: fragments as lists of words, numbers, and stems of other words."""

    fragments: list[frozenset[str]]
    numbers: list[str]
    stems: list[str]
    denies: bool


def terms_of(criterion: str) -> Terms:
    """The terms of a criterion."""
    fragments = [next(filter(None, found.groups())) for found in _QUOTED.finditer(criterion)]
    rest = _QUOTED.sub(" ", criterion)
    fragments += _NAME.findall(rest)
    rest = _NAME.sub(" ", rest)
    stems = [stem(word) for word in checks.words(rest) if (len(word) > 2 or not word.isascii()) and word not in _COMMON]
    named = [words for fragment in fragments if (words := frozenset(_words(fragment)))]
    numbers = [plain_number(found) for found in _NUMBER.findall(rest)]
    stems = [one for one in dict.fromkeys(stems) if not one.isdigit()]
    return Terms(list(dict.fromkeys(named)), list(dict.fromkeys(numbers)), stems, bool(_DENIES.search(rest)))


def is_about(criterion: str, text: str) -> bool:
    """True if a text names half of a criterion's terms, two at least, and one of its fragments if it has any."""
    terms, words = terms_of(criterion), _vocabulary(text)
    fragments, stems = _held(terms, words)
    count = len(terms.fragments) + len(terms.stems)
    wanted = max(min(2, count), math.ceil(count / 2))
    return bool(count) and (bool(fragments) or not terms.fragments) and fragments + stems >= wanted


def lacking(criterion: str, text: str) -> str:
    """What a text does not show of a criterion: fragments, numbers, more than a third of the other words."""
    terms, words = terms_of(criterion), _vocabulary(text)
    missing = [" ".join(sorted(one)) for one in terms.fragments if not one <= words]
    shown = {plain_number(found) for found in _NUMBER.findall(re.sub(r"[_a-zA-Z]", " ", text))}
    missing += [number for number in terms.numbers if number not in shown]
    if missing:
        return ", ".join(missing)
    fragments, stems = _held(terms, words)
    if stems * 3 < len(terms.stems) * 2:
        return ", ".join(one for one in terms.stems if not _is_among(one, words))
    return "" if fragments + stems else "any word of it"


def is_vague(criterion: str) -> bool:
    """True if a criterion is a matter of taste, and has no number to hold the work to."""
    rest = _QUOTED.sub(" ", criterion)
    return bool(_VAGUE.search(rest)) and not _NUMBER.search(rest)


def denies(criterion: str) -> bool:
    """True if a criterion says that something is not so, or is gone."""
    return terms_of(criterion).denies


def without_comments(path: str, lines: list[str]) -> list[str]:
    """The lines that are no comments; of a document, all."""
    return lines if path.lower().endswith(_PROSE) else [line for line in lines if not _COMMENT.match(line)]


def stem(word: str) -> str:
    """A word without the ending that its forms differ in."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def plain_number(text: str) -> str:
    """A number without what parts its thousands."""
    return re.sub(r"[,_](?=\d{3})", "", text)


def _held(terms: Terms, words: frozenset[str]) -> tuple[int, int]:
    """How many fragments and other words of a criterion are among the words."""
    return sum(one <= words for one in terms.fragments), sum(_is_among(one, words) for one in terms.stems)


def _is_among(one: str, words: frozenset[str]) -> bool:
    """True if a stem is the beginning of a word; ``logg`` of ``logged`` is that of ``logger`` and of ``log``."""
    short = one[:-1] if len(one) > 3 and one[-1] == one[-2] else one
    return one in words or (one.isascii() and len(short) > 2 and any(word.startswith(short) for word in words))


def _words(text: str) -> list[str]:
    parts = re.findall(r"[^\W_]+", _CAMEL.sub(" ", text))
    return [part.lower() for part in parts]


def _vocabulary(text: str) -> frozenset[str]:
    """The words of a text, of names in it the parts, each also as its stem."""
    words = {*_words(text), *checks.words(text), *(part.lower() for part in re.findall(r"[^\W_]+", text))}
    return frozenset(words | {stem(word) for word in words})

"""The words of a criterion that evidence has to show: its fragments in backquotes, names and numbers, other words."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from skills.lib import checks

if TYPE_CHECKING:
    from collections.abc import Sequence

_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|'([^' ]+)'")
# Names of code that stand without backquotes: snake_case, camelCase, calls, paths, options.
_NAME = re.compile(r"(?<![\w-])(--?[a-z][\w-]*|[\w.-]*/[\w./-]+|\w+_\w+|[a-z]+[A-Z]\w*|\w+\(\)|\w+\.\w{1,5})(?!\w)")
_CAPITALS = re.compile(
    r"\b(?!(?:AND|OR|NOT|NO|MUST|SHOULD|MAY|OK|ALL|IF|API|CLI|UI|HTTP|URL|ID)\b)[A-Z][A-Z0-9]+\b(?![\w.])"
)
# A number that something gives back, which a test of it names.
_RESULT = re.compile(
    r"(?i)\b(?:returns?|status|code|exits?|answers?|responds?|gives?|prints?|equals?|is)(?: with)?(?: an?| the)?"
    r" (\d+(?:[.,]\d+)*)(?!\w|[.,]?\d| ?%| percent)"
)
# What a file is or has, which its text shows; anything else is what it does.
_STATIC = frozenset(
    "argument column constant creat declar default defin document export field import includ key list mention nam new "
    "option paramet present says set sign stat there typ version".split()
)
# Those of them that say that something stands there, in a criterion which quotes what that is.
_STANDS = frozenset(
    "creat declar defin describ document explain includ list mention nam present says set stat there".split()
)
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
_SETTINGS = (".toml", ".yaml", ".yml", ".json", ".ini", ".cfg", ".conf", ".env", ".properties", ".xml")


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
    fragments += _CAPITALS.findall(rest)
    rest = _CAPITALS.sub(" ", rest)
    stems = [stem(word) for word in checks.words(rest) if (len(word) > 2 or not word.isascii()) and word not in _COMMON]
    named = [words for fragment in fragments if (words := frozenset(_words(fragment)))]
    numbers = [plain_number(found) for found in _NUMBER.findall(rest)]
    stems = [one for one in dict.fromkeys(stems) if not one.isdigit()]
    return Terms(list(dict.fromkeys(named)), list(dict.fromkeys(numbers)), stems, bool(_DENIES.search(rest)))


def is_about(criterion: str, text: str) -> bool:
    """True if a text names half of a criterion's terms, two at least, half of its fragments, and what it gives."""
    terms, words = terms_of(criterion), _vocabulary(text)
    fragments, stems = _held(terms, words)
    count = len(terms.fragments) + len(terms.stems)
    wanted = max(min(2, count), math.ceil(count / 2))
    shown = _numbers(text)
    if any(plain_number(found) not in shown for found in _RESULT.findall(_QUOTED.sub(" ", criterion))):
        return False
    return bool(count) and fragments * 2 >= len(terms.fragments) and fragments + stems >= wanted


def lacking(criterion: str, text: str, paths: Sequence[str] = ()) -> str:
    """What a text does not show of a criterion: fragments, numbers, more than a third of the other words.

    If all its ``paths`` are documents and settings, and the criterion quotes what is to stand there, a word that says
    that it does need not stand there, too.
    """
    terms, words = terms_of(criterion), _vocabulary(text)
    quoted = {next(filter(None, found.groups())) for found in _QUOTED.finditer(criterion)}
    if quoted.difference(paths) and all(path.lower().endswith((*_PROSE, *_SETTINGS)) for path in paths):
        terms = terms._replace(stems=[one for one in terms.stems if one not in _STANDS])
    missing = [" ".join(sorted(one)) for one in terms.fragments if not one <= words]
    shown = _numbers(text)
    missing += [number for number in terms.numbers if number not in shown]
    if missing:
        return ", ".join(missing)
    fragments, stems = _held(terms, words)
    if stems * 3 < len(terms.stems) * 2:
        return ", ".join(one for one in terms.stems if not _is_among(one, words))
    return "" if fragments + stems else "any word of it"


def fragments_of(criterion: str) -> list[str]:
    """The fragments of a criterion, letter for letter: what is quoted, and names of code."""
    quoted = [" ".join(next(filter(None, found.groups())).split()) for found in _QUOTED.finditer(criterion)]
    return [*quoted, *_NAME.findall(_QUOTED.sub(" ", criterion))]


def is_static(criterion: str) -> bool:
    """True if a criterion names what stands somewhere, and says nothing of what that does."""
    terms = terms_of(criterion)
    return bool(terms.fragments) and all(stem in _STATIC for stem in terms.stems)


def is_of_document(criterion: str, path: str) -> bool:
    """True if a path is a document, and the criterion speaks of it: by its name, or by its folder."""
    names = [part for part in _words(path.rpartition(".")[0]) if len(part) > 2]
    return is_prose(path) and any(name in _vocabulary(criterion) for name in names)


def is_prose(path: str) -> bool:
    """True for a document, which is written for people."""
    return path.lower().endswith(_PROSE)


def words_of(text: str) -> frozenset[str]:
    """The words of a text, of names in it the parts."""
    return frozenset(_words(text))


def numbers_of(criterion: str) -> list[str]:
    """The numbers of a criterion that stand in no fragment."""
    return terms_of(criterion).numbers


def is_vague(criterion: str) -> bool:
    """True if a criterion is a matter of taste, and has no number to hold the work to."""
    rest = _QUOTED.sub(" ", criterion)
    return bool(_VAGUE.search(rest)) and not _NUMBER.search(rest)


def denies(criterion: str) -> bool:
    """True if a criterion says that something is not so, or is gone."""
    return terms_of(criterion).denies


def without_comments(path: str, lines: list[str]) -> list[str]:
    """The lines that are no comments; of a document, all."""
    return lines if is_prose(path) else [line for line in lines if not _COMMENT.match(line)]


def stem(word: str) -> str:
    """A word without the ending that its forms differ in."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def plain_number(text: str) -> str:
    """A number without what parts its thousands."""
    return re.sub(r"[,_](?=\d{3})", "", text)


def _numbers(text: str) -> set[str]:
    return {plain_number(found) for found in _NUMBER.findall(re.sub(r"[_a-zA-Z]", " ", text))}


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

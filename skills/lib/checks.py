"""What the check scripts of skills share: rows with bars, places in files, texts that say nothing, and the call itself.

A check script is run as command evidence, in the project's root. Each fault is one sentence that says what to write.
"""

from __future__ import annotations

import json
import os
import re
import sys

from skills.lib import files
from skills.lib.field_checks import is_reason as is_reason
from skills.lib.passing import always_passes as always_passes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Check = Callable[..., list[str]]

# How many faults are printed.
SHOWN = 12
# How many bytes of a file are read; no larger one is compared with anything.
FILE_LIMIT = 10_000_000
# How many letters and digits a quotation has at least, unless it is the whole line.
LEAST = 3

_LINES = r":(?P<first>\d+)(?:-(?P<last>\d+))?"
# A fragment in backquotes may follow the place at once, or after a bar.
_LOCATION = re.compile(rf"`?(?P<path>[^\s`|:][^`|:]*?){_LINES}`?(?:\s*`[^`]*`)?")
_MENTION = re.compile(rf"(?<=[^\s`|:]){_LINES}")
_QUOTATION = re.compile(rf"(?<=[^\s`|:]){_LINES}`?\s*\|?\s*`(?P<fragment>[^`]+)`")
# What no path has, and what only one that is there may have.
_NO_PATH = re.compile(r"[`|:\n]")
_APART = " \t\r'\"()[],;"
# How much of a text before a line number may be its path, in characters.
_PATH = 300
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+(?:['\u2019][^\W_]+)*")
_CELL = re.compile(r"((?:`[^`]*`|[^|])*+)\|")
_NEVER_RECORDED = re.compile(r"\{[\w.-]+\}")


def cells(row: str) -> list[str]:
    """The parts of a row between its bars, without the space around them; a bar between backquotes is no such bar."""
    return [part.strip() for part in _CELL.findall(f"{row}|")]


def repeated(names: Iterable[str]) -> list[str]:
    """The names that occur more than once, each once."""
    seen = list(names)
    return [name for name in dict.fromkeys(seen) if seen.count(name) > 1]


def row_faults(rows: Iterable[str], form: str) -> list[str]:
    """A fault for each row that lacks a part of a form such as ``id | what | why``, or that stands there twice.

    The last part may have bars of its own.
    """
    rows, count = list(rows), form.count("|")
    lacking = [
        row for row in rows if len(parts := cells(row)) <= count or not all([*parts[:count], any(parts[count:])])
    ]
    found = [f"{row[:60]!r}: write {form}; no part is empty" for row in dict.fromkeys(lacking)]
    alike = (" | ".join(map(flat, cells(row))) for row in rows)
    return found + [f"{row[:60]!r} is given twice" for row in repeated(alike)]


def coverage(known: Iterable[str], given: Iterable[str], kind: str) -> list[str]:
    """A fault for each name that is known and not given, given and not known, or given twice."""
    known, given = list(known), list(given)
    found = [f"{kind} {name} is missing" for name in known if name not in given]
    found += [f"{name:.60} is no {kind} of this run" for name in dict.fromkeys(given) if name not in known]
    return found + [f"{kind} {name:.60} is given twice" for name in repeated(given)]


def words(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation; of a script without spaces, its characters."""
    return _WORD.findall(text.lower())


def content(path: str) -> bytes:
    """The content of a file. Raises OSError, and ValueError for what is no regular file or larger than FILE_LIMIT."""
    try:
        return files.read(path, FILE_LIMIT)
    except (files.NotRegular, files.TooLarge) as error:
        raise ValueError(f"{path}: {error.strerror}") from None


def text(path: str, errors: str = "strict") -> str:
    """The text of a UTF-8 file, its line ends as \\n. Raises OSError and ValueError as ``content`` does."""
    return content(path).decode("utf-8-sig", errors).replace("\r\n", "\n").replace("\r", "\n")


def line_count(path: str) -> int:
    """How many lines a file has, whatever its size. Raises OSError."""
    count, last = 0, b"\n"
    with open(path, "rb") as opened:
        while part := opened.read(1 << 20):
            count, last = count + part.count(b"\n"), part[-1:]
    return count + (last != b"\n")


def says_little(text: str, least: int = 3) -> bool:
    """True if a text has fewer than ``least`` different words."""
    return len(set(words(text))) < least


def path_fault(path: str, root: str = ".") -> str:
    """Why nothing of the project has this path; empty if something has."""
    full = _resolved(path, root)
    if not full:
        return "outside the project; paths are relative to its root"
    return "" if path and os.path.exists(full) else "no such file or folder; paths are relative to the project's root"


def location(text: str) -> str:
    """The path:line that a text begins with, without the lines after the first; empty if it begins otherwise."""
    match = _LOCATION.match(text.strip())
    return f"{match['path']}:{match['first']}" if match else ""


def names_location(text: str, root: str = ".") -> bool:
    """True if a text names a path:line of the project that can be opened."""
    return any(
        not location_fault(f"{_path_before(text, match.start(), root)}{match[0]}", root)
        for match in _MENTION.finditer(text)
    )


def location_fault(text: str, root: str = ".") -> str:
    """Why a text is not path:line, or path:first-last, of a file of the project; empty if it is."""
    match = _LOCATION.fullmatch(text.strip())
    if match is None:
        return "it does not begin with path:line"
    why = path_fault(match["path"], root)
    if why:
        return why
    lines = _lines(match["path"], root)
    if lines is None:
        return f"not a file that can be read: a text of at most {FILE_LIMIT:,} bytes"
    return _range_fault(match, lines)


def quotation_faults(text: str, root: str = ".") -> list[str]:
    """A fault for each place with a fragment in backquotes right behind it, such as path:line | `fragment`, if the
    fragment is not in those lines; white space may differ, and … leaves something out.

    Not compared: a fragment that is itself a place, and a place outside the project.
    """
    found = []
    for match in _QUOTATION.finditer(text):
        path, fragment = _path_before(text, match.start(), root), match["fragment"]
        lines = None if not path or _LOCATION.fullmatch(fragment) else _lines(path, root)
        place = f"{path}:{match['first']}" + (f"-{match['last']}" if match["last"] else "")
        if lines is None:
            if "/" in path.strip("/") and _resolved(path, root) and not os.path.exists(os.path.join(root, path)):
                found.append(f"{place}: no such file; paths are relative to the project's root")
            continue
        why = _range_fault(match, lines) or _fragment_fault(match, lines, fragment)
        found += [f"{place}: {why}"] if why else []
    return found


def quoted_fault(place: str, quoted: str, root: str = ".") -> str:
    """Why a part of a row is not words in backquotes that stand at its place, path:line; empty if it is."""
    if len(quoted) < 3 or quoted[0] != "`" or quoted[-1] != "`":
        return "quote the words of that line between backquotes"
    match, why = _LOCATION.fullmatch(place.strip()), location_fault(place, root)
    lines = _lines(match["path"], root) if match and not why else None
    if match is None or lines is None:
        return why
    words = _words_at(match, lines)
    # A line may itself have backquotes.
    parts = [quoted[1:-1]] if _holds(words, quoted[1:-1]) else re.findall(r"`([^`]+)`", quoted)
    told = sum(len(part) for part in re.findall(r"\w+", quoted))
    if told < LEAST and flat(words) != flat(quoted[1:-1]):
        return f"`{flat(words)[:80]}` stands there: quote a word of that line at least"
    return next((why for part in parts if (why := _fragment_fault(match, lines, part))), "")


def write_new(text: str, free: str, ending: str, path: str = "", own: str = "") -> str:
    """Write a text to a file of the project, and return its path.

    ``own`` is written anew; else ``path``, or without one ``free`` with a number if need be, has to be new or to say
    the same already. Raises OSError, and ValueError for a path that is taken or leads out of the project.
    """
    for place in [own or path] if own or path else [f"{free}{at}{ending}" for at in ("", *range(2, 100))]:
        full = _resolved(place, ".")
        if not full:
            raise ValueError(f"{place[:200]} is outside the project; paths are relative to its root")
        if own or not os.path.lexists(full):
            files.write(full, text.encode("utf-8", "replace"))
        if os.path.isfile(full) and content(full) == text.encode("utf-8", "replace"):
            return place
    raise ValueError(f"{(path or free)[:200]} is there already; name another place, or none")


def slug(text: str, most: int = 8) -> str:
    """The first words of a text as a file's name; empty if it has none in Latin letters."""
    return "-".join(re.findall(r"[a-z0-9]+", text.lower())[:most])


def run(script: str, checks: Mapping[str, tuple[Check, str]], arguments: list[str]) -> int:
    """Print the faults that the named check finds in its values; 0 if there are none, 2 for a call of another form.

    ``checks`` has each check with the form of its values: ``text``, or ``rows`` for a JSON array of texts. Rows that
    were never recorded, so that the argument still is their name in braces, are empty.
    """
    check, forms = checks.get(arguments[0] if arguments else "", (None, ""))
    values = arguments[1:]
    if check is None or len(values) != len(forms.split()):
        _tell(f"usage: {script} " + " | ".join(f"{name} {forms}" for name, (_, forms) in checks.items()))
        return 2
    try:
        found = check(*(_value(text, form) for form, text in zip(forms.split(), values, strict=True)))
    except (OSError, ValueError) as error:
        found = [f"{values[0][:200] if values else script} cannot be read: {error}"]
    return report(found)


def write(script: str, arguments: list[str], count: int, written: Callable[[list[str]], list[str] | str]) -> int:
    """Have a file made of so many values; print its path as JSON, or the faults, and return 1 if there are any.

    ``written`` gets the values, of which one that was never recorded is empty, and returns the faults or the path.
    """
    if len(arguments) != count:
        _tell(f"usage: {script} VALUE…")
        return 2
    try:
        made = written(["" if _NEVER_RECORDED.fullmatch(value) else value for value in arguments])
    except (OSError, ValueError) as error:
        made = [f"the file cannot be written: {error}"]
    if isinstance(made, str):
        _tell(json.dumps(made))
        return 0
    return report(made)


def rows_of(text: str) -> list[str]:
    """The texts of a JSON array; none if the text is empty."""
    found: list[str] = json.loads(text) if text else []
    return found


def flat(text: str) -> str:
    """The text in one line."""
    return " ".join(text.split())


def report(found: list[str], most: int = SHOWN) -> int:
    """Print so many faults at most, and how many more there are; 1 if there is one, else 0."""
    more = [f"and {len(found) - most} more"] if len(found) > most else []
    _tell(*found[:most], *more)
    return 1 if found else 0


def _tell(*lines: str) -> None:
    """Print lines in UTF-8, whatever the terminal has."""
    sys.stdout.flush()
    sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))
    sys.stdout.flush()


def _value(text: str, form: str) -> object:
    if form == "text":
        return text
    return [] if _NEVER_RECORDED.fullmatch(text) else json.loads(text)


def _resolved(path: str, root: str) -> str:
    """The real path; empty if it is outside the root."""
    base = os.path.realpath(root)
    full = os.path.realpath(os.path.join(base, path))
    return full if full == base or full.startswith(base.rstrip(os.sep) + os.sep) else ""


def _lines(path: str, root: str) -> list[str] | None:
    """The lines of a file of the project; None for anything else, and for a file too large to search."""
    full = _resolved(path, root)
    try:
        found = content(full).decode("utf-8-sig", "replace") if full else None
    except (OSError, ValueError):
        return None
    return found.removesuffix("\n").split("\n") if found else None if found is None else []


def _path_before(text: str, end: int, root: str) -> str:
    """The path that ends there: the longest that is a file of the project, else what no space or bracket parts."""
    head = _NO_PATH.split(text[max(0, end - _PATH) : end])[-1]
    starts = [at for at in range(len(head)) if head[at] not in " \t\r" and (not at or head[at - 1] in _APART)]
    is_there = (head[at:] for at in starts if os.path.isfile(os.path.join(root, head[at:])))
    return next((path for path in is_there if _resolved(path, root)), re.split(f"[{re.escape(_APART)}]", head)[-1])


def _words_at(match: re.Match[str], lines: list[str]) -> str:
    return "\n".join(lines[int(match["first"]) - 1 : int(match["last"] or match["first"])])


def _fragment_fault(match: re.Match[str], lines: list[str], fragment: str) -> str:
    """Why a fragment is not in the lines of a place; empty if it is."""
    if not fragment.replace("...", "").replace("…", "").strip():
        return f"`{fragment:.80}` quotes nothing; quote the line letter for letter"
    if _holds(_words_at(match, lines), fragment):
        return ""
    at = next((at for at, line in enumerate(lines, 1) if _holds(line, fragment)), 0)
    return f"`{fragment:.80}` is not in that line; " + (
        f"line {at} has it" if at else "quote the line letter for letter"
    )


def _range_fault(match: re.Match[str], lines: list[str]) -> str:
    first, last = int(match["first"]), int(match["last"] or match["first"])
    return "" if 1 <= first <= last <= len(lines) else f"the file has {len(lines)} lines"


def _holds(text: str, fragment: str) -> bool:
    """True if the pieces of a fragment, parted by …, occur in a text one after another."""
    flat, at = " ".join(text.split()), 0
    for piece in fragment.replace("...", "…").split("…"):
        wanted = " ".join(piece.split())
        at = flat.find(wanted, at)
        if at < 0:
            return False
        at += len(wanted)
    return True

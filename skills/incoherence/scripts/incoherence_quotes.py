"""Reads entries of incoherence that quote a line, and looks whether the quotation stands there."""

from __future__ import annotations

import os
import re

import skills.lib.checks as checks

LONGEST = 600
SHORTEST_QUOTE = 3

_PLACE = r'`?(?P<path{n}>[^\s`|:"][^`|:"]*?):(?P<first{n}>\d+)(?:-(?P<last{n}>\d+))?`?'
_QUOTED = _PLACE + r'\s+"(?P<quote{n}>.+?)"'
ONE = _QUOTED.format(n=1)
PAIR = rf"{ONE}\s+\|\s+{_QUOTED.format(n=2)}\s+\|\s+(?P<what>\S.*)"

_FINDING = re.compile(PAIR, re.DOTALL)
_EVIDENCE = re.compile(rf"{ONE}\s+\|\s+\S.*", re.DOTALL)
_CHANGE = re.compile(rf'{ONE}\s+\|\s+was\s+"(?P<was>.*)"', re.DOTALL)
_QUOTE = re.compile(ONE, re.DOTALL)


def finding_fault(entry: str) -> str:
    """Why an entry is not two quoted places and what cannot both be so; or nothing."""
    match = _FINDING.fullmatch(entry.strip())
    if not match:
        return 'it is not: path:line "quote" | path:line "quote" | what cannot both be so'
    if len(entry) > LONGEST:
        return f"it has {len(entry)} characters, at most {LONGEST}: shorten the quotations to what matters"
    if match["path1"] == match["path2"] and match["first1"] == match["first2"] and match["quote1"] == match["quote2"]:
        return "both sides are the same words in the same line"
    return quote_fault(match, 1) or quote_fault(match, 2)


def evidence_fault(entry: str) -> str:
    """Why an entry is not one quoted place and what it shows; or nothing."""
    match = _EVIDENCE.fullmatch(entry.strip())
    return quote_fault(match, 1) if match else 'it is not: path:line "quote" | what it shows'


def count(text: str) -> int:
    """How many quoted places a text has."""
    return len(_QUOTE.findall(text))


def quoted_fault(text: str) -> str:
    """Why a text does not begin with one quoted place; or nothing."""
    match = _QUOTE.match(text.strip())
    return quote_fault(match, 1) if match else 'it does not begin with path:line "quote"'


def change_fault(entry: str, files: list[str]) -> tuple[str, str]:
    """The file that a change is in, and why the change cannot be seen there; the latter empty where it can."""
    match = _CHANGE.fullmatch(entry.strip())
    if not match:
        return "", 'it is not: path:line "what stands there now" | was "what stood there"'
    path = plain(match["path1"])
    if path not in files:
        return path, f"{path} is not a file of the item, which names {', '.join(files)}"
    fault = quote_fault(match, 1)
    if fault:
        return path, fault
    was, now = _flat(match["was"]), _flat(_lines(path, match["first1"], match["last1"]))
    if was and was == _flat(match["quote1"]):
        return path, "what stands there now is what stood there"
    if was and was in now and was not in _flat(match["quote1"]):
        return path, f'"{was[:80]}" still stands in that line'
    return path, ""


def quote_fault(match: re.Match[str], number: int) -> str:
    """Why the quotation of that number does not stand at its place; or nothing."""
    path, first, last = match[f"path{number}"], match[f"first{number}"], match[f"last{number}"]
    quote = _flat(match[f"quote{number}"])
    place = f"{path}:{first}" + (f"-{last}" if last else "")
    fault = place_fault(path, first, last)
    if fault:
        return f"{place}: {fault}"
    if len(quote) < SHORTEST_QUOTE:
        return f"{place}: quote {SHORTEST_QUOTE} characters or more, letter for letter"
    if quote in _flat(_lines(path, first, last)):
        return ""
    elsewhere = [at for at, line in enumerate(_text(path).split("\n"), 1) if quote in _flat(line)]
    where = f"; it stands in line {elsewhere[0]}" if elsewhere else "; quote the line letter for letter"
    return f'{place}: "{quote[:80]}" does not stand there{where}'


def place_fault(path: str, first: str, last: str | None) -> str:
    """Why a place cannot be opened, or nothing."""
    fault = path_fault(path)
    if fault:
        return fault
    if not os.path.isfile(path):
        return "it is a folder; name a file"
    count = len(_text(path).removesuffix("\n").split("\n"))
    return "" if 1 <= int(first) <= int(last or first) <= count else f"the file has {count} lines"


def path_fault(path: str) -> str:
    """Why a path, from the project's root, is none that exists in the project; or nothing."""
    root = os.path.realpath(os.curdir)
    file = os.path.realpath(path)
    if file != root and not file.startswith(root.rstrip(os.sep) + os.sep):
        return "outside the project; paths are relative to its root"
    return "" if os.path.exists(file) else "no such file; paths are relative to the project's root"


def plain(path: str) -> str:
    """A path without a leading ./ and doubled separators."""
    return os.path.normpath(path.strip(" `"))


def _lines(path: str, first: str, last: str | None) -> str:
    return "\n".join(_text(path).split("\n")[int(first) - 1 : int(last or first)])


def _text(path: str) -> str:
    return checks.text(path, "replace")


def _flat(text: str) -> str:
    return " ".join(text.split())

"""Reads the rows in which an agent reports: a criterion with its verdict and confidence, and one thing of it a row.

C1 PASS high | test | tests/test_cart.py:12-15 | pytest -q tests/test_cart.py::test_empty | assert total([]) == 0
C2 INCONCLUSIVE low | no test sends a mail, and src/mail.py:30 needs a server
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .task import Criterion

# What stands behind each kind of evidence; the last part may have bars in it, and may be left out if it is in brackets.
FORMS = {
    "test": ("location", "command", "quote"),
    "command": ("command", "[expect]"),
    "code": ("location", "quote"),
    "file": ("location",),
    "absence": ("location", "[quote]"),
}
_HEAD = re.compile(r"(?P<criterion>C\d{1,2}) (?P<verdict>PASS|FAIL|INCONCLUSIVE) (?P<confidence>high|medium|low)")
# Words by which a shell would do more than run one program.
_OF_A_SHELL = frozenset("| || & && ; > >> < <<".split())
_BAR = " | "
# The words of the step for the names of the schema.
_WORDS = {"location": "place", "command": "program and arguments", "[expect]": "[output]", "[quote]": "[words]"}


class Row(NamedTuple):
    """What a row says: the criterion with verdict and confidence, and evidence or a finding, if any."""

    head: dict[str, str]
    evidence: dict[str, Any]
    finding: str


def reports(rows: Sequence[str], criteria: Iterable[Criterion]) -> tuple[list[dict[str, Any]], list[str]]:
    """A report on each criterion, as its schema has it, and what is wrong with the rows.

    A criterion for which the task gives commands needs no row: then these alone decide.
    """
    found: dict[str, dict[str, Any]] = {}
    faults: list[str] = []
    for at, text in enumerate(rows, 1):
        try:
            row = _read(text)
        except ValueError as error:
            faults.append(f"row {at}, {text[:60]!r}: {error}")
            continue
        report = found.setdefault(row.head["criterion"], {**row.head, "evidence": []})
        if {**report, **row.head} != report:
            faults.append(f"row {at}: another row of {row.head['criterion']} has another verdict or confidence")
        if row.evidence:
            report["evidence"].append(row.evidence)
        if row.finding:
            report["finding"] = " ".join(filter(None, [report.get("finding"), row.finding]))
    for one in criteria:
        if one.verify and one.id not in found:
            found[one.id] = {"criterion": one.id, "verdict": "PASS", "confidence": "high", "evidence": []}
    return list(found.values()), faults


def _read(text: str) -> Row:
    """What a row says. Raises ValueError."""
    head, _, rest = (part.strip() for part in text.partition("|"))
    match = _HEAD.fullmatch(" ".join(head.split()))
    if match is None:
        raise ValueError('it begins with criterion, verdict and confidence: "C1 PASS high"')
    kind, bar, more = (part.strip() for part in rest.partition("|"))
    if kind in FORMS:
        return Row(match.groupdict(), {"type": kind, **_parts(kind, more)}, "")
    if bar and match["verdict"] == "PASS":
        raise ValueError(f"{kind[:40]!r} is no kind of evidence; there are {', '.join(FORMS)}")
    return Row(match.groupdict(), {}, rest)


def _parts(kind: str, text: str) -> dict[str, Any]:
    """The parts of some evidence by name. Raises ValueError."""
    form = FORMS[kind]
    given = [part.strip() for part in text.split(_BAR, len(form) - 1)]
    given = [part for part in given if part]
    if len(given) < len([name for name in form if name[0] != "["]):
        raise ValueError(f'write "… | {_BAR.join([kind, *(_WORDS.get(name, name) for name in form)])}"')
    parts: dict[str, Any] = {name.strip("[]"): part for name, part in zip(form, given, strict=False)}
    if "command" in parts:
        parts["command"] = _words(parts["command"])
    return parts


def _words(command: str) -> list[str]:
    """The arguments of a command. Raises ValueError."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"the command {command[:60]!r} cannot be read: {error}") from None
    if not words or _OF_A_SHELL & {*words}:
        raise ValueError(f"the command {command[:60]!r}: name one program with its arguments; there is no shell")
    return words

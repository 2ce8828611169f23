"""Findings for readers: lines of text, JSON, SARIF 2.1.0, annotations of a CI run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from skills.lib.validation.rule import Finding
from skills.lib.validation.rules import RULES

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def lines(findings: Iterable[Finding], root: str | None = None) -> Iterator[str]:
    """Each finding as four lines: place, severity and rule; what; why; what to do. Files are relative to ``root``."""
    for finding in findings:
        head = f"{_relative(finding.file, root)}:{finding.line}: " if finding.line else ""
        if finding.file and not finding.line:
            head = f"{_relative(finding.file, root)}: "
        yield f"{head}{finding.severity}[{finding.rule}] {_printable(finding.where)}"
        yield f"    {_printable(finding.what)}"
        yield f"    why: {_printable(finding.why)}"
        yield f"    do:  {_printable(finding.do)}"


def as_json(findings: Sequence[Finding], root: str | None = None, waived: Sequence[Finding] = ()) -> str:
    """One JSON object: the counts, and every finding as ``to_data`` gives it, apart from those that were waived."""
    data = {
        "version": 1,
        "errors": sum(finding.severity == "error" for finding in findings),
        "warnings": sum(finding.severity == "warning" for finding in findings),
        "waived": len(waived),
        "findings": [{**finding.to_data(), "file": _relative(finding.file, root)} for finding in findings],
        "waivers": [{**finding.to_data(), "file": _relative(finding.file, root)} for finding in waived],
    }
    return json.dumps(data, indent=2, ensure_ascii=False)


def as_sarif(findings: Sequence[Finding], root: str | None = None, version: str = "0") -> str:
    """A SARIF 2.1.0 log with one run; every rule is described, also those that found nothing.

    A finding that was waived is a result that is suppressed in the source, with the reason.
    """
    index = {name: at for at, name in enumerate(RULES)}
    driver = {
        "name": "lockstep",
        "version": version,
        "rules": [
            {
                "id": rule.name,
                "shortDescription": {"text": rule.title},
                "fullDescription": {"text": _on_one_line(rule.sections["What it does"])},
                "help": {"text": _on_one_line(rule.sections["Why it is bad"]), "markdown": rule.text},
                "defaultConfiguration": {"level": rule.severity},
            }
            for rule in RULES.values()
        ],
    }
    results = [_result(finding, index.get(finding.rule), root) for finding in findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False)


def github(findings: Iterable[Finding], root: str | None = None) -> Iterator[str]:
    """One workflow command of GitHub Actions per finding, which shows it beside the line."""
    for finding in findings:
        properties = {"file": _relative(finding.file, root)} if finding.file else {}
        if finding.line:
            properties["line"] = str(finding.line)
        properties["title"] = f"{finding.rule} {finding.where}"
        listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
        yield f"::{finding.severity} {listed}::{_message(_sentences(finding))}"


def _result(finding: Finding, index: int | None, root: str | None) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(finding.file, root)}}
    if finding.line:
        physical["region"] = {"startLine": finding.line}
    location: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": finding.where}]}
    if finding.file:
        location["physicalLocation"] = physical
    suppression = {"kind": "inSource", "justification": finding.waived}
    return {
        "ruleId": finding.rule,
        **({} if index is None else {"ruleIndex": index}),
        "level": finding.severity,
        "message": {"text": _sentences(finding)},
        "locations": [location],
        **({"suppressions": [suppression]} if finding.waived else {}),
    }


def _sentences(finding: Finding) -> str:
    parts = (finding.what, finding.why, finding.do)
    return " ".join(part if part.endswith((".", "?")) else part + "." for part in parts)


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _relative(file: str, root: str | None) -> str:
    if not root or not file:
        return file
    relative = os.path.relpath(os.path.realpath(file), os.path.realpath(root))
    return file if relative.startswith("..") else relative


def _uri(file: str, root: str | None) -> str:
    from pathlib import PurePath
    from urllib.parse import quote

    relative = PurePath(_relative(file, root)).as_posix()
    return ("file://" if relative.startswith("/") else "") + quote(os.fsencode(relative))  # a name need not be UTF-8


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def _printable(text: str) -> str:
    """The text on one line, control characters spelt out: an id may hold anything."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)

"""The requirements at the end of a test session: each row of docs/requirements.md, its tests, and whether they passed.

A whole session fails on a row without a test, unless the row says what it waits for. A test shows a row by carrying
``@pytest.mark.req("W-07")``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "requirements.md"

_ROW = re.compile(r"\| (?P<id>[A-Z]-\d\d(?:\.\d)?) \| (?P<what>.+) \| (?P<waits>.*?) ?\|")
# What makes a session partial: a row may then be without its tests for no fault of its own.
_SELECTING = (
    "keyword",
    "markexpr",
    "lf",
    "last_failed",
    "stepwise",
    "deselect",
    "ignore",
    "ignore_glob",
    "collectonly",
)


@dataclass(frozen=True, slots=True)
class Row:
    """One requirement; ``waits`` names the milestone that it waits for, or is empty."""

    id: str
    what: str
    waits: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A row, its tests with their outcomes, and whether it stands as it should."""

    row: Row
    outcomes: Mapping[str, str]
    state: str

    @property
    def missing(self) -> bool:
        """Whether the row has no passing test although it waits for nothing."""
        return self.state in ("no test", "skipped")


def read_rows(table: Path = TABLE) -> dict[str, Row]:
    """The rows of the requirements table by id; ValueError for an id that stands twice."""
    rows: dict[str, Row] = {}
    for line in table.read_text(encoding="utf-8").splitlines():
        if match := _ROW.fullmatch(line):
            if match["id"] in rows:
                raise ValueError(f"{table}: {match['id']} stands twice")
            rows[match["id"]] = Row(match["id"], match["what"], match["waits"])
    return rows


def assess(rows: Mapping[str, Row], outcomes: Mapping[str, Mapping[str, str]]) -> list[Finding]:
    """Each row with the state of its tests: failed, passed, skipped, waits for a milestone, or no test."""
    findings = []
    for row in rows.values():
        tests = outcomes.get(row.id, {})
        seen = set(tests.values())
        if "failed" in seen:
            state = "failed"
        elif "passed" in seen:
            state = "passed"
        elif row.waits:
            state = f"waits for {row.waits}"
        else:
            state = "skipped" if seen else "no test"
        findings.append(Finding(row, tests, state))
    return findings


class RequirementsReport:
    """A pytest plugin; the ids travel in each report's user properties, so that xdist's controller sees them."""

    def __init__(self, config: pytest.Config, table: Path = TABLE) -> None:
        self.config = config
        self.rows = read_rows(table)
        self.outcomes: dict[str, dict[str, str]] = defaultdict(dict)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            for marker in item.iter_markers("req"):
                if unknown := [name for name in marker.args if name not in self.rows]:
                    raise pytest.UsageError(f"{item.nodeid}: {', '.join(unknown)}: no such row in {TABLE.name}")
                item.user_properties.extend(("req", name) for name in marker.args)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.passed:
            return
        for kind, value in report.user_properties:
            if kind == "req" and self.outcomes[str(value)].get(report.nodeid) != "failed":
                self.outcomes[str(value)][report.nodeid] = report.outcome

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus == pytest.ExitCode.OK and self.missing(session):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def missing(self, session: pytest.Session) -> list[Finding]:
        """The rows that a whole session leaves without a passing test; none if it was partial."""
        if hasattr(self.config, "workerinput") or not is_whole(self.config) or session.shouldstop or session.shouldfail:
            return []
        return [finding for finding in assess(self.rows, self.outcomes) if finding.missing]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.outcomes:
            return
        whole = is_whole(self.config)
        findings = assess(self.rows, self.outcomes)
        terminalreporter.section("requirements")
        for finding in findings:
            if finding.outcomes or whole:
                colour = {"passed": "green", "failed": "red", "no test": "red", "skipped": "red"}.get(finding.state)
                markup = {colour: True} if colour else {}
                terminalreporter.line(self.line(finding), **markup)
        if whole and (without := [finding.row.id for finding in findings if finding.missing]):
            terminalreporter.line(f"without a passing test: {', '.join(without)}", red=True)
        if self.config.get_verbosity() > 0:
            for name, tests in sorted(self.outcomes.items()):
                for test, outcome in sorted(tests.items()):
                    terminalreporter.line(f"{name} {outcome} {test}")

    def line(self, finding: Finding) -> str:
        """One row for the summary: id, state, number of tests, the files they are in."""
        files = sorted({test.partition("::")[0].removeprefix("tests/") for test in finding.outcomes})
        shown = ", ".join(files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")
        count = f"{len(finding.outcomes)} tests: {shown}" if finding.outcomes else finding.row.what[:60]
        return f"{finding.row.id}  {finding.state:<20}  {count}"


def is_whole(config: pytest.Config) -> bool:
    """Whether the session was asked for every test: no paths, no -k, -m, --lf and the like."""
    if any(config.getoption(name, None) for name in _SELECTING):
        return False
    arguments = [(config.invocation_params.dir / argument).resolve() for argument in config.args]
    return arguments in ([ROOT / "tests"], [ROOT])

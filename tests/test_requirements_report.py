"""The requirements report, run in small projects of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.requirements_report import TABLE, read_rows

pytestmark = pytest.mark.slow

TESTS = Path(__file__).resolve().parent
ROWS = """# Requirements

| id | what | waits for |
|---|---|---|
| W-01 | The first thing | |
| W-02 | The second thing | |
| H-01 | A thing of hosts | hosts |
"""
HEAD = "import pytest\n"
FIRST = HEAD + '@pytest.mark.req("W-01")\ndef test_first():\n    assert True\n'
SECOND = HEAD + '@pytest.mark.req("W-02")\ndef test_second():\n    assert {outcome}\n'
BOTH = HEAD + '@pytest.mark.req("W-01", "W-02")\ndef test_both():\n    assert True\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "requirements.md").write_text(ROWS)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["."]\n'
        'markers = ["req(id, ...): rows", "slow"]\n'
        'addopts = ["--import-mode=importlib", "-p", "no:lockstep"]\n'
    )
    for name in ("__init__.py", "conftest.py", "requirements_report.py"):
        shutil.copy(TESTS / name, tmp_path / "tests" / name)
    return tmp_path


def session(project: Path, *arguments: str, **tests: str) -> tuple[int, str]:
    for name, text in tests.items():
        (project / "tests" / f"test_{name}.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "xdist.plugin", *arguments]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # the other plugins take ten times as long to import
    done = subprocess.run(command, cwd=project, env=alone, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("arguments", [[], ["-n", "2"]], ids=["one process", "two workers"])
def test_a_session_says_how_many_slow_tests_it_leaves_out(project: Path, arguments: list[str]) -> None:
    slow = HEAD + "@pytest.mark.slow\n@pytest.mark.parametrize('at', [1, 2])\ndef test_slow(at):\n    assert at\n"
    code, printed = session(project, "-m", "not slow", *arguments, first=FIRST, slow=slow)
    assert code == 0
    assert "2 slow tests were left out; make test-all runs them, as CI does\n" in printed
    assert "left out" not in session(project, *arguments)[1]


@pytest.mark.parametrize("arguments", [[], ["-n", "2"]], ids=["one process", "two workers"])
def test_a_whole_session_with_all_rows_passes(project: Path, arguments: list[str]) -> None:
    code, printed = session(project, *arguments, first=FIRST, second=SECOND.format(outcome="True"))
    assert code == 0
    assert "W-01  passed                1 tests: test_first.py\n" in printed
    assert "W-02  passed                1 tests: test_second.py\n" in printed
    assert "H-01  waits for hosts       A thing of hosts\n" in printed


@pytest.mark.parametrize("arguments", [[], ["-n", "2"], ["tests"]], ids=["one process", "two workers", "by path"])
def test_a_row_without_a_test_fails_a_whole_session(project: Path, arguments: list[str]) -> None:
    code, printed = session(project, *arguments, first=FIRST)
    assert code == 1
    assert "1 passed" in printed
    assert "W-02  no test               The second thing\n" in printed
    assert "without a passing test: W-02\n" in printed


@pytest.mark.parametrize(
    "arguments", [["tests/test_first.py"], ["-k", "first"], ["-m", "req"], ["--deselect", "tests/test_x.py"]]
)
def test_a_partial_session_needs_no_row(project: Path, arguments: list[str]) -> None:
    code, printed = session(project, *arguments, first=FIRST)
    assert code == 0
    assert "without a passing test" not in printed


@pytest.mark.parametrize("arguments", [[], ["-n", "2"]], ids=["one process", "two workers"])
def test_one_failing_test_fails_its_row(project: Path, arguments: list[str]) -> None:
    code, printed = session(project, *arguments, both=BOTH, second=SECOND.format(outcome="False"))
    assert code == 1
    assert "W-01  passed                1 tests: test_both.py\n" in printed
    assert "W-02  failed                2 tests: test_both.py, test_second.py\n" in printed


def test_a_row_whose_tests_were_all_skipped_is_not_shown(project: Path) -> None:
    skipped = SECOND.format(outcome="True").replace("def", '@pytest.mark.skip(reason="no")\ndef')
    code, printed = session(project, first=FIRST, second=skipped)
    assert code == 1
    assert "W-02  skipped               1 tests: test_second.py\n" in printed
    assert "without a passing test: W-02\n" in printed


def test_an_error_in_a_fixture_fails_the_row(project: Path) -> None:
    broken = HEAD + '@pytest.mark.req("W-02")\ndef test_second(nothing_of_the_kind):\n    pass\n'
    code, printed = session(project, first=FIRST, second=broken)
    assert code == 1
    assert "W-02  failed                1 tests: test_second.py\n" in printed


def test_a_mark_of_an_unknown_row_stops_the_session(project: Path) -> None:
    code, printed = session(project, first=FIRST.replace("W-01", "W-99"))
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "tests/test_first.py::test_first: W-99: no such row in requirements.md" in printed


def test_a_row_that_stands_twice_is_refused(project: Path) -> None:
    table = project / "docs" / "requirements.md"
    table.write_text(ROWS + "| W-01 | Again | |\n")
    with pytest.raises(ValueError, match="W-01 stands twice"):
        read_rows(table)


def test_the_projects_table_is_complete() -> None:
    rows = read_rows(TABLE)
    counts = {letter: sum(name.startswith(letter) for name in rows) for letter in "WHFPAL"}
    assert counts == {"W": 24, "H": 7, "F": 7, "P": 8, "A": 94, "L": 7}
    assert {row.waits for row in rows.values()} == {""}

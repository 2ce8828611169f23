"""What check scripts of skills share: rows, places, quotations, and how a check is called."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.lib import checks

TEXT = "alpha = 1\nbeta  =  2\n\ngamma = [\n    3,\n]\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(TEXT, encoding="utf-8")
    (tmp_path / "empty.md").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "text, why",
    [
        ("src/a.py:1", ""),
        (" `src/a.py:4-6` ", ""),
        ("src/a.py:2 `beta`", ""),
        ("src/a.py", "it does not begin with path:line"),
        ("x", "it does not begin with path:line"),
        ("src/a.py:7", "the file has 6 lines"),
        ("src/a.py:0", "the file has 6 lines"),
        ("src/a.py:3-2", "the file has 6 lines"),
        ("empty.md:1", "the file has 0 lines"),
        ("src/b.py:1", "no such file or folder; paths are relative to the project's root"),
        ("src:1", "not a file that can be read: a text of at most 10,000,000 bytes"),
        ("../../../etc/passwd:1", "outside the project; paths are relative to its root"),
        ("/etc/passwd:1", "outside the project; paths are relative to its root"),
    ],
)
def test_a_place_can_be_opened(project: Path, text: str, why: str) -> None:
    assert checks.location_fault(text) == why


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("src/a.py:1 | `alpha = 1` is set", []),
        ("read src/a.py:2 `beta = 2` -> two", []),
        ("`src/a.py:4-6` `gamma = [ 3, ]`", []),
        ("(src/a.py:4-6 `gamma … ]`)", []),
        ("src/a.py:1 says `alpha = 9`", []),
        ("src/a.py:1 | `src/a.py:2`", []),
        ("localhost:80 `GET /`", []),
        ("/etc/passwd:1 `nothing of this`", []),
        ("../x.py:1 `nothing of this`", []),
        ("https://x.org:80/y `z`", []),
        ("src/a.py:1 | `beta = 2`", ["src/a.py:1: `beta = 2` is not in that line; line 2 has it"]),
        ("src/a.py:1 | `delta`", ["src/a.py:1: `delta` is not in that line; quote the line letter for letter"]),
        (
            "src/a.py:4-6 `] … gamma`",
            ["src/a.py:4-6: `] … gamma` is not in that line; quote the line letter for letter"],
        ),
        ("src/a.py:9 `alpha`", ["src/a.py:9: the file has 6 lines"]),
        ("src/none.py:1 `alpha`", ["src/none.py:1: no such file; paths are relative to the project's root"]),
        (
            "src/a.py:1 `beta`, src/a.py:2 `alpha`",
            [
                "src/a.py:1: `beta` is not in that line; line 2 has it",
                "src/a.py:2: `alpha` is not in that line; line 1 has it",
            ],
        ),
    ],
)
def test_a_fragment_behind_a_place_is_compared_with_its_line(project: Path, text: str, wanted: list[str]) -> None:
    assert checks.quotation_faults(text) == wanted


@pytest.mark.parametrize("path", ["app/[id]/(all)/page.tsx", "my notes/a, b.md", "(x)/it's.py"])
def test_a_path_with_blanks_or_brackets_is_compared_like_any_other(project: Path, path: str) -> None:
    file = project / path
    file.parent.mkdir(parents=True)
    file.write_text("first\nsecond\n")
    for row in (f"{path}:2 | `{{}}` | why", f"F1: (read {path}:2 `{{}}`)", f"see `{path}:2` | `{{}}`"):
        assert checks.quotation_faults(row.format("second")) == []
        assert checks.quotation_faults(row.format("made up")) == [
            f"{path}:2: `made up` is not in that line; quote the line letter for letter"
        ]
    assert checks.names_location(f"it is dropped, see {path}:2")
    assert not checks.names_location(f"it is dropped, see {path}:3")


@pytest.mark.parametrize("fragment", ["…", "...", " ", "… ..."])
def test_a_fragment_without_a_word_quotes_nothing(project: Path, fragment: str) -> None:
    assert checks.quotation_faults(f"src/a.py:1 | `{fragment}`") == [
        f"src/a.py:1: `{fragment}` quotes nothing; quote the line letter for letter"
    ]


@pytest.mark.parametrize(
    "place, quoted, why",
    [
        ("src/a.py:1", "`alpha = 1`", ""),
        ("`src/a.py:1`", "`alpha` and `1`", ""),
        ("src/a.py:6", "`]`", ""),
        ("src/ticks.md:1", "`run `make` first`", ""),
        ("src/ticks.md:1", "`make` then `first`", ""),
        ("src/ticks.md:1", "`make` then `last`", "`last` is not in that line; quote the line letter for letter"),
        ("src/a.py:1", "alpha", "quote the words of that line between backquotes"),
        ("src/a.py:1", "`a`", "`alpha = 1` stands there: quote a word of that line at least"),
        ("src/a.py:1", "`…`", "`alpha = 1` stands there: quote a word of that line at least"),
        ("src/a.py:1", "`src/a.py:1`", "`src/a.py:1` is not in that line; quote the line letter for letter"),
        ("src/a.py:1 `alpha`", "`delta`", "`delta` is not in that line; quote the line letter for letter"),
        ("src/a.py:9", "`alpha`", "the file has 6 lines"),
    ],
)
def test_a_row_quotes_words_of_its_place(project: Path, place: str, quoted: str, why: str) -> None:
    (project / "src" / "ticks.md").write_text("run `make` first\n")
    assert checks.quoted_fault(place, quoted) == why


def test_rows_that_differ_in_blanks_around_bars_are_the_same() -> None:
    assert checks.row_faults(["a | b c | d", "a|b  c|d"], "a | b | d") == ["'a | b c | d' is given twice"]


def test_a_link_that_leads_outside_is_not_compared(project: Path) -> None:
    (project / "src" / "link").symlink_to("/etc/passwd")
    assert checks.quotation_faults("src/link:1 `root`") == []
    assert checks.location_fault("src/link:1") == "outside the project; paths are relative to its root"


@given(st.text(max_size=200))
def test_any_text_can_be_looked_at(text: str) -> None:
    assert isinstance(checks.quotation_faults(text), list)
    assert isinstance(checks.location_fault(text), str)
    assert len(checks.words(text)) <= len(text)


@pytest.mark.parametrize(
    "text, little",
    [
        ("x", True),
        ("x x x x", True),
        ("X, x; x!", True),
        ("no reason", True),
        ("it is vendored", False),
        ("the user's own", False),
        ("第三方代码", False),
        ("", True),
    ],
)
def test_a_text_says_little_with_fewer_than_three_words(text: str, little: bool) -> None:
    assert checks.says_little(text) is little


def test_ids_are_covered_once() -> None:
    assert checks.coverage(["A", "B", "C"], ["A", "A", "D"], "point") == [
        "point B is missing",
        "point C is missing",
        "D is no point of this run",
        "point A is given twice",
    ]
    assert checks.coverage(["A"], ["A"], "point") == []


def many(rows: list[str], count: str) -> list[str]:
    return [f"{at} … of {len(rows)}" for at in range(int(count))]


CHECKS: dict[str, tuple[checks.Check, str]] = {"many": (many, "rows text")}


@pytest.mark.parametrize(
    "arguments, code, lines",
    [
        (["many", "[]", "0"], 0, []),
        (["many", json.dumps(["a"]), "2"], 1, ["0 … of 1", "1 … of 1"]),
        (["many", "{step.field}", "1"], 1, ["0 … of 0"]),
        (["many", "[", "0"], 1, ["[ cannot be read: Expecting value: line 1 column 2 (char 1)"]),
        (["many", "[]"], 2, ["usage: x.py many rows text"]),
        (["few"], 2, ["usage: x.py many rows text"]),
        ([], 2, ["usage: x.py many rows text"]),
    ],
)
def test_a_check_is_called_by_its_name(
    capfd: pytest.CaptureFixture[str], arguments: list[str], code: int, lines: list[str]
) -> None:
    assert checks.run("x.py", CHECKS, arguments) == code
    assert capfd.readouterr().out.splitlines() == lines


def test_many_faults_are_cut_and_counted(capfd: pytest.CaptureFixture[str]) -> None:
    assert checks.run("x.py", CHECKS, ["many", "[]", "15"]) == 1
    lines = capfd.readouterr().out.splitlines()
    assert (len(lines), lines[-1]) == (13, "and 3 more")


def test_a_file_that_is_too_large_or_no_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open("large.md", "wb") as file:
        file.truncate(checks.FILE_LIMIT + 1)
    os.mkfifo("fifo.md")
    with pytest.raises(ValueError, match=r"^large\.md: it is larger than 10,000,000 bytes$"):
        checks.text("large.md")
    with pytest.raises(ValueError, match=r"^fifo\.md: it is not a regular file$"):
        checks.text("fifo.md")
    fault = "not a file that can be read: a text of at most 10,000,000 bytes"
    assert checks.location_fault("large.md:1") == checks.location_fault("fifo.md:1") == fault


def test_the_text_of_a_file_has_its_lines_and_no_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\n\nfive")
    assert checks.text(str(path)) == "one\ntwo\nthree\n\nfive"
    assert checks.line_count(str(path)) == 4
    assert checks.line_count(os.devnull) == 0
    path.write_bytes(b"\xff")
    with pytest.raises(ValueError, match="utf-8"):
        checks.text(str(path))
    assert checks.text(str(path), "replace") == "\ufffd"


ITEM = {
    **dict.fromkeys(("title", "change", "gain", "risk", "proof"), "x"),
    "id": "W1",
    "size": "small",
    "clusters": ["C1"],
    "places": ["small.md:1"],
}
# The call of each check script that reads a file which an agent names; {} is the file.
READING = {
    "codebase-analysis/scripts/make_report.py": [
        *("{}", "`small.md:1` `small.md:2` `small.md:3`", "[]", "[]", "x", "[]", "x"),
        *("[]", "[]", "[]", "[]", "x", "low"),
    ],
    "doc-sync/scripts/check_docs.py": ["list", "repo", "."],
    "incoherence/scripts/incoherence_report.py": ["x", "{}", "x", *["[]"] * 11, "x"],
    "planner/scripts/planner_check.py": ["{}", "[]", "[]"],
    "refactor/scripts/make_items.py": [
        *(json.dumps([ITEM]), "[]", "[]", "[]", "{}", "[]", "[]", "{file}", "x", "[]", "[]"),
        '["C1 | F1 | x | x | refactor"]',
    ],
    "solution-design/scripts/make_design.py": [
        *("{}", "x", '["x | x"]', "x", "x", "x", "[]", "x", "[]", "[]", '["K1 x | x | x | x"]', "[]"),
        *("K1", "x", "x", "[]", "[]", "[]", "[]"),
    ],
}


@pytest.mark.parametrize("script", READING)
def test_a_check_script_reads_no_file_without_end(script: str, tmp_path: Path) -> None:
    with open(tmp_path / "large.md", "wb") as file:
        file.truncate(3_000_000_000)
    (tmp_path / "small.md").write_text("1\n2\n3\n")
    words = ["large.md" if word == "{}" else word for word in READING[script]]
    command = [sys.executable, str(Path(checks.__file__).parents[1] / script), *words]
    bounded = ["sh", "-c", 'ulimit -v 400000; exec "$@"', "sh", *command]  # in kB
    done = subprocess.run(bounded, cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (1, "")
    assert "larger than 10,000,000 bytes" in done.stdout


@pytest.mark.parametrize(
    "row, parts",
    [
        ("", [""]),
        ("a", ["a"]),
        ("a | b |", ["a", "b", ""]),
        ("F1 | a.py:3 | `x | y` | why", ["F1", "a.py:3", "`x | y`", "why"]),
        ("F1 | a ` b | c", ["F1", "a ` b", "c"]),
    ],
)
def test_a_bar_in_quoted_words_parts_no_row(row: str, parts: list[str]) -> None:
    assert checks.cells(row) == parts


def test_quoted_bars_are_no_parts_of_a_form() -> None:
    assert checks.row_faults(["F1 | `x | y`"], "id | words | why") == [
        "'F1 | `x | y`': write id | words | why; no part is empty"
    ]
    assert checks.row_faults(["F1 | `x | y` | why | and more |"], "id | words | why") == []


@given(st.text("ab |`", max_size=40))
def test_a_row_without_quotes_has_the_parts_between_its_bars(row: str) -> None:
    plain = row.replace("`", "")
    assert checks.cells(plain) == [part.strip() for part in plain.split("|")]

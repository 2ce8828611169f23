"""``search`` finds names and lines within bounds, and no pattern can hang it."""

from __future__ import annotations

import os
import re
import subprocess
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skills.lib.agent.tools import searching
from skills.lib.agent.tools.literals import literal_of
from skills.lib.schema.patterns import Pattern, PatternError
from tests.agent.tools.conftest import Session


def git(session: Session, *words: str) -> None:
    subprocess.run(["git", *words], cwd=session.project, check=True, capture_output=True, timeout=30)


def test_lines_are_found_by_a_pattern_with_their_places(session: Session) -> None:
    assert session.call("search", pattern=r"^def \w+\(") == (
        "src/a.py:1: def f(x):\nsrc/a.py:5: def g(y):\n[2 lines in 1 file; searched in .: 2 files]\n"
    )
    assert session.call("search", pattern="Readme", path="src") == "[0 lines in 0 files; searched in src: 1 file]\n"
    assert session.call("search", pattern="Readme", path="README.md").startswith("README.md:1: # Readme\n")


@pytest.mark.parametrize(
    "glob, found",
    [
        ("*.py", ["src/a.py"]),
        ("src/*", ["src/a.py"]),
        ("**/*.py", ["src/a.py"]),
        ("*", ["README.md", "src/a.py"]),
        ("*.{md,txt}", ["README.md"]),
        ("src", ["src/a.py"]),
        ("[R]*", ["README.md"]),
        ("*.rs", []),
        ("/etc/*", []),
        ("../*", []),
    ],
)
def test_names_are_found_by_a_glob(session: Session, glob: str, found: list[str]) -> None:
    assert session.call("search", glob=glob).splitlines()[:-1] == found


def test_a_glob_and_a_path_narrow_what_is_searched_for_lines(session: Session) -> None:
    assert session.call("search", pattern=".", glob="*.md").startswith("README.md:1: # Readme\n[1 line in 1 file;")


def test_what_git_ignores_is_left_out_unless_it_is_named(session: Session) -> None:
    git(session, "init", "-q")
    (session.project / ".gitignore").write_text("*.log\nbuilt/\n", encoding="utf-8")
    (session.project / "built").mkdir()
    (session.project / "built/out.txt").write_text("needle\n", encoding="utf-8")
    (session.project / "a.log").write_text("needle\n", encoding="utf-8")
    (session.project / "new.txt").write_text("needle\n", encoding="utf-8")
    assert session.call("search", pattern="needle").splitlines()[:-1] == ["new.txt:1: needle"]
    assert session.call("search", pattern="needle", path="built").splitlines()[:-1] == ["built/out.txt:1: needle"]
    assert session.call("search", pattern="needle", path="a.log").splitlines()[:-1] == ["a.log:1: needle"]


def test_a_repository_in_the_project_is_searched_too(session: Session) -> None:
    git(session, "init", "-q")
    git(session, "init", "-q", "vendor/inner")
    (session.project / "vendor/inner/x.txt").write_text("needle\n", encoding="utf-8")
    assert session.call("search", pattern="needle").splitlines()[:-1] == ["vendor/inner/x.txt:1: needle"]


def test_without_git_what_programs_make_is_left_out(session: Session) -> None:
    for folder in ("node_modules", "__pycache__", ".git", ".lockstep"):
        (session.project / folder).mkdir(exist_ok=True)
        (session.project / folder / "x.py").write_text("needle\n", encoding="utf-8")
    assert session.call("search", pattern="needle").startswith("[0 lines in 0 files;")


def test_binary_large_and_other_files_and_links_that_lead_out_are_not_searched(session: Session) -> None:
    (session.project / "data").write_bytes(b"needle\0")
    with open(session.project / "large", "wb") as file:
        file.truncate(1 << 30)
    os.mkfifo(session.project / "fifo")
    (session.project / "link").symlink_to("../secret.txt")
    (session.project / "out").symlink_to("..")
    assert session.call("search", pattern="needle|secret") == (
        "[0 lines in 0 files; searched in .: 6 files; left out: 4 that are binary, very large or links]\n"
    )
    assert "outside of" in session.fault("search", pattern="x", path="out")
    assert "outside of" in session.fault("search", pattern="x", path="..")


def test_many_matches_and_long_lines_are_cut(session: Session) -> None:
    (session.project / "many").write_text("needle\n" * 1_000, encoding="utf-8")
    lines = session.call("search", pattern="needle").splitlines()
    assert len(lines) == 201
    assert lines[-1] == (
        "[200 lines in 1 file; searched in .: 2 files; stopped: more than 200 lines were found: "
        "narrow pattern, glob or path]"
    )
    (session.project / "many").write_text("needle" + "x" * 5_000, encoding="utf-8")
    assert len(session.call("search", pattern="needle").splitlines()[0]) < 350


def test_hostile_names_are_shown_on_one_line_each(session: Session) -> None:
    (session.project / "a\nb").write_text("needle\n", encoding="utf-8")
    (session.project / "esc\x1b[31m").write_text("needle\n", encoding="utf-8")
    with open(os.fsencode(session.project) + b"/\xff.txt", "w", encoding="utf-8") as file:
        file.write("needle\n")
    found = session.call("search", pattern="needle")
    found.encode()
    assert found.splitlines()[:-1] == [
        '"a\\nb":1: needle',
        '"esc\\u001b[31m":1: needle',
        '"\\udcff.txt":1: needle',
    ]
    assert session.call("read", path="a\nb") == "     1\tneedle\n"


def test_a_pattern_that_hangs_others_takes_no_time(session: Session) -> None:
    (session.project / "long").write_text("a" * 40_000 + "\n", encoding="utf-8")
    begin = time.monotonic()
    assert session.call("search", pattern="(a+)+$b").startswith("[0 lines")
    assert session.call("search", pattern="(a|aa)+b").startswith("[0 lines")
    assert session.call("search", glob="*a*a*a*a*a*a*a*b").startswith("[0 files")
    assert time.monotonic() - begin < 10


def test_a_search_ends_at_its_time_limit_and_says_so(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "SECONDS", 0.0)
    assert "stopped: 0 seconds are over: narrow pattern, glob or path" in session.call("search", pattern="x")


def test_a_wrong_pattern_and_no_question_are_told(session: Session) -> None:
    assert "there is no lookaround" in session.fault("search", pattern="(?=x)")
    assert "the group at 0 is not closed" in session.fault("search", pattern="(")
    assert session.fault("search", path="src").startswith("search: neither pattern nor glob is given")
    assert "did you mean src?" in session.fault("search", pattern="x", path="srcs")


@pytest.mark.parametrize(
    "pattern, literal",
    [
        ("needle", "needle"), (r"def \w+\(self", "(self"), ("a|b", ""), ("x*yz+q", "yz"), ("(ab|cd)efg?", "ef"),
        (r"\bclass\b Foo", "class Foo"), (r"^import$", "import"), ("[abc]def", "def"), (r"a\.b", "a.b"),
        (r"\d{4}-\d\d", "-"), ("(a(b)[)]c)xy", "xy"), ("ab{0,3}c", "a"), ("a+?b", "a"), (r"\u0041BC", "BC"),
    ],
)  # fmt: skip
def test_the_text_that_every_match_has(pattern: str, literal: str) -> None:
    assert literal_of(pattern) == literal


PATTERNS = st.text(st.sampled_from("abc.\\|()[]*+?{},1^$-wb"), max_size=10)


@settings(max_examples=500, deadline=None)
@given(pattern=PATTERNS, text=st.text(st.sampled_from("abc.-\\ 1"), max_size=10))
def test_whatever_matches_has_that_text(pattern: str, text: str) -> None:
    try:
        compiled = Pattern(pattern)
    except PatternError:
        return
    if compiled.is_found_in(text):
        assert literal_of(pattern) in text


@settings(max_examples=200, deadline=None)
@given(words=st.lists(st.sampled_from([r"\w+", "a", "b*", "[ab]", r"\.", "(?:a|b)", "a{2}"]), max_size=5))
def test_a_pattern_finds_what_re_finds(words: list[str]) -> None:
    pattern = "".join(words)
    for text in ("", "ab.ba", "aab", "b a .", "aaaa"):
        assert Pattern(pattern).is_found_in(text) == bool(re.search(pattern, text))


def test_a_text_that_is_no_pattern_is_told_as_one(session: Session) -> None:
    assert 'pattern="total\\[0"' in session.fault("search", pattern="total[0")

"""Covered files and places of a hostile project: odd names, patterns and sizes end in time and print no secrets."""

from __future__ import annotations

import fnmatch
import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.lib.errors import UsageError
from skills.lib.ledger import contents, places
from skills.lib.ledger.globs import Glob, expression
from tests.fixtures import small_project


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A committed project."""
    return small_project.make(tmp_path / "shop")


@pytest.mark.parametrize("pattern", [".", "src", "src/**", "**/*.py", "src/?.py", "src/*", "s*/*.*", "**/s*/*.p*"])
def test_a_name_with_a_line_end_is_covered(shop: Path, pattern: str) -> None:
    small_project.write(shop, {"src/\n.py": "one"})
    assert "src/\n.py" in contents.manifest(str(shop), [pattern])
    assert contents.covered(str(shop), [pattern], ["src/\n.py"]) == {"src/\n.py"}


@pytest.mark.parametrize(
    "pattern", ["**/" * 30 + "b", "*a" * 30 + "b", "**a" * 20 + "b", "?*" * 30 + "/b", "*" * 50 + "!"]
)
def test_a_pattern_with_many_wildcards_ends_in_time(tmp_path: Path, pattern: str) -> None:
    begin = time.monotonic()
    paths = ["/".join(["a"] * 60) + "/c", "a" * 200, "a" * 200 + "/c"]
    assert contents.covered(str(tmp_path), [pattern], [*paths, "b", "a" * 30 + "b"]) <= {"b", "a" * 30 + "b"}
    assert time.monotonic() - begin < 1


@given(st.lists(st.sampled_from(["a", "b", "/", "*", "**", "**/", "?", "[ab]", "[!a]"]), max_size=8), st.text("ab/\n"))
def test_both_ways_of_matching_agree(parts: list[str], path: str) -> None:
    glob = "".join(parts)
    assert Glob(glob).fullmatch(path) == bool(re.fullmatch(expression(glob), path, re.DOTALL))


@given(st.text("ab*?", max_size=8).filter(lambda glob: "**" not in glob), st.text("ab", max_size=8))
def test_a_glob_in_one_folder_matches_as_fnmatch_does(glob: str, name: str) -> None:
    assert Glob(glob).fullmatch(name) == fnmatch.fnmatchcase(name, glob)


def test_a_pattern_with_too_many_choices_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="stands for more than 1,000 patterns"):
        contents.covered(str(tmp_path), ["{a,b}" * 40], ["a"])


def test_a_huge_file_is_known_by_its_size_and_time(shop: Path) -> None:
    huge = shop / "huge.bin"
    huge.touch()
    os.truncate(huge, 1 << 40)
    os.utime(huge, ns=(0, 5))
    begin = time.monotonic()
    assert contents.manifest(str(shop), ["huge.bin"]) == {"huge.bin": f"large:{1 << 40}:5"}
    seen = places.look(str(shop), "huge.bin:2 `x`")
    assert seen["why"] == "huge.bin is too large: only its first 16,777,216 bytes are looked at, which have 1 lines"
    assert time.monotonic() - begin < 3


@pytest.mark.parametrize("line", ["9" * 5_000, "1-" + "9" * 5_000, "9" * 5_000 + "-" + "9" * 5_001])
def test_a_line_of_thousands_of_digits_is_not_there(shop: Path, line: str) -> None:
    assert places.look(str(shop), f"shop/prices.py:{line}")["why"] == "shop/prices.py has 6 lines"


@pytest.mark.parametrize(
    "text", ["a" + " " * 50_000 + "b", "a" + " “x" * 50_000, "a" + " `x" * 50_000 + "\n", "`" * 99_999]
)
def test_a_place_of_any_text_is_read_in_time(shop: Path, text: str) -> None:
    begin = time.monotonic()
    assert places.look(str(shop), text)["file"] in ("", text)
    assert time.monotonic() - begin < 0.5


@pytest.mark.parametrize("marks", ["``", '""', "“”", '“"', '"”'])
@pytest.mark.parametrize("place", ["shop/prices.py:4", "`shop/prices.py:4`", "shop/prices.py:4-6 "])
def test_a_place_may_quote_its_line_in_any_marks(shop: Path, marks: str, place: str) -> None:
    assert places.look(str(shop), f"{place} {marks[0]}def total(lines{marks[1]}")["why"] == ""
    why = places.look(str(shop), f"{place} {marks[0]}def other{marks[1]}")["why"]
    assert why.startswith("shop/prices.py has something else in line 4: 'def total(lines, discount=0):")


@pytest.mark.parametrize("path", [".env", ".git/config", "ignored.txt", ".ssh/key", "link.txt"])
def test_a_place_in_a_file_that_git_would_not_take_prints_nothing_of_it(shop: Path, path: str) -> None:
    small_project.write(shop, {"ignored.txt": "s3kr1t", ".env": "s3kr1t", ".ssh/key": "s3kr1t", ".gitignore": "ign*\n"})
    (shop / "link.txt").symlink_to(".env")
    why = places.look(str(shop), f"{path}:1 `zz`")["why"]
    assert why == f"{path} has something else in line 1"


def test_a_place_in_a_new_file_prints_its_line(shop: Path) -> None:
    small_project.write(shop, {"new.txt": "hello\n"})
    assert places.look(str(shop), "new.txt:1 `zz`")["why"] == "new.txt has something else in line 1: 'hello'"


def test_a_place_in_a_file_that_cannot_be_read_is_reported(shop: Path) -> None:
    (shop / "mem").symlink_to("/proc/self/mem")
    (shop / "closed.txt").write_text("x")
    (shop / "closed.txt").chmod(0)
    why = places.look(str(shop), "closed.txt:1 `x`")["why"]
    assert why == ("" if os.geteuid() == 0 else "closed.txt cannot be read: Permission denied")
    assert places.look(str(shop), "mem:1")["file"] in ("", "mem")

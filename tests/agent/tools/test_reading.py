"""``read`` shows the numbered lines of a text file within bounds, and says what else a file is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.agent.tools.conftest import Session


def test_lines_are_numbered(session: Session) -> None:
    assert session.call("read", path="README.md") == "     1\t# Readme\n"
    assert session.call("read", path="src/a.py", offset=5) == (
        "     5\tdef g(y):\n     6\t    return y\n[lines 5 to 6, the last]\n"
    )


def test_a_part_says_how_to_go_on(session: Session) -> None:
    assert session.call("read", path="src/a.py", offset=2, limit=1) == (
        "     2\t    return x + 1\n[lines 2 to 2 of 6; go on with offset=3]\n"
    )


def test_a_long_file_and_a_long_line_are_cut(session: Session) -> None:
    (session.project / "long.txt").write_text("x" * 5_000 + "\n" + "y\n" * 5_000, encoding="utf-8")
    lines = session.call("read", path="long.txt").splitlines()
    assert lines[0] == "     1\t" + "x" * 2_000 + " [3,000 characters more]"
    assert lines[-1] == "[lines 1 to 2,000 of 5,001; go on with offset=2001]"
    (session.project / "wide.txt").write_text(("z" * 1_990 + "\n") * 500, encoding="utf-8")
    assert len(session.call("read", path="wide.txt")) < 42_000


def test_only_a_line_feed_ends_a_line(session: Session) -> None:
    (session.project / "odd.txt").write_bytes("a\u2028b\x0cc\r\nd".encode())
    assert session.call("read", path="odd.txt") == "     1\ta\u2028b\x0cc\n     2\td\n"


def test_an_empty_file_is_said_to_be_empty(session: Session) -> None:
    (session.project / "empty").touch()
    assert session.call("read", path="empty") == "[empty is empty]\n"


@pytest.mark.parametrize(
    "data, what",
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "a PNG image"),
        (b"\xff\xd8\xff\xe0", "a JPEG image"),
        (b"GIF89a\x01\xff\xfe", "a GIF image"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "a WebP image"),
        (b"%PDF-1.7\n\xe2\xe3\xcf\xd3", "a PDF document"),
        (b"\x7fELF\x02\x01\x01\0", "a program"),
        (b"abc\0def", "binary"),
    ],
)
def test_what_is_no_text_is_refused_by_its_kind(session: Session, data: bytes, what: str) -> None:
    (session.project / "file").write_bytes(data)
    assert session.fault("read", path="file").startswith(f"file is {what}, {len(data)} bytes")


def test_a_text_that_begins_as_an_image_does_is_text(session: Session) -> None:
    (session.project / "file").write_bytes(b"BM25 is a ranking\n")
    assert session.call("read", path="file") == "     1\tBM25 is a ranking\n"


def test_a_missing_file_a_folder_and_a_wrong_offset_are_told(session: Session) -> None:
    assert session.fault("read", path="src/b.py") == (
        "there is no 'src/b.py'; did you mean src/a.py?\n  try:   find it by search"
    )
    assert session.fault("read", path="src").startswith("src is a folder\n")
    assert session.fault("read", path="README.md", offset=3) == "README.md has 1 line\n  valid: an offset of 1 to 1"


def test_a_file_of_a_gigabyte_a_fifo_and_a_device_are_not_read(session: Session) -> None:
    with open(session.project / "large", "wb") as file:
        file.truncate(1 << 30)
    os.mkfifo(session.project / "fifo")
    assert session.fault("read", path="large").startswith(
        "large has 1,073,741,824 bytes, and at most 16,777,216 are read\n  try:   see a part of it by shell"
    )
    assert "fifo is no regular file" in session.fault("read", path="fifo")


@pytest.mark.parametrize(
    "path", ["../secret.txt", "/etc/passwd", "src/../../secret.txt", "out/secret.txt", "link", "..", "src\\..\\..\\x"]
)
def test_nothing_outside_of_the_project_is_read(session: Session, path: str) -> None:
    (session.project / "out").symlink_to("..")
    (session.project / "link").symlink_to("../secret.txt")
    message = session.fault("read", path=path)
    assert "outside of" in message
    assert f"valid: a path below {session.project}" in message


def test_a_readable_folder_is_read_and_never_written(session: Session, tmp_path: Path) -> None:
    skill = tmp_path / "skill"
    skill.mkdir()
    (skill / "SKILL.md").write_text("do it\n", encoding="utf-8")
    with_skill = Session(session.project, readable=[str(skill)])
    assert with_skill.call("read", path=str(skill / "SKILL.md")) == "do it\n"
    assert "outside of" in with_skill.fault("write", path=str(skill / "new"), content="x")


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({}, "read: call: path is missing"),
        ({"path": 3}, "read: path: 3 is an integer, not a string"),
        ({"path": "a", "offset": 0}, "read: offset: 0 is not at least 1"),
        ({"path": "a", "lines": 1}, 'read: lines: "lines" is not part of it'),
        ({"path": "a\0b"}, "is no path of a file"),
        ({"path": "\udcff"}, "read: path is no text in UTF-8"),
    ],
)
def test_wrong_arguments_are_told_with_the_right_ones(
    session: Session, arguments: dict[str, object], message: str
) -> None:
    assert message in session.fault("read", **arguments)


def test_an_archive_is_told_with_what_shows_it(session: Session) -> None:
    (session.project / "a.zip").write_bytes(b"PK\x03\x04\0\0")
    assert "`python -m zipfile -l a.zip` by shell" in session.fault("read", path="a.zip")

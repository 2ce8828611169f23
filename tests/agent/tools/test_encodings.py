"""``read`` takes the encoding of a file: one that does not fit is an error which names those that do."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.agent.agent import Agent
from tests.agent.scripted import ScriptedModel, calling, in_turn, report
from tests.agent.sessions import project
from tests.agent.tools.conftest import Session


def test_a_file_that_is_not_utf_8_is_told_with_the_byte_its_line_and_what_to_try(session: Session) -> None:
    (session.project / "data.csv").write_bytes(b"name\ncaf\xe9\n")
    assert session.fault("read", path="data.csv") == (
        "data.csv is not utf-8: byte 0xE9 in line 2 cannot be read (invalid continuation byte)\n"
        '  try:   read it with encoding="cp1252" or encoding="latin-1": a wrong one shows wrong letters'
    )
    assert session.call("read", path="data.csv", encoding="latin-1") == (
        "     1\tname\n     2\tcaf\u00e9\n[read as latin-1; what write writes is UTF-8]\n"
    )


@pytest.mark.parametrize(
    "given, data, text",
    [
        ("ISO-8859-1", b"\xe9", "\u00e9"),
        ("windows-1252", b"\x80", "\u20ac"),
        ("utf_8_sig", b"\xef\xbb\xbfa", "a"),
        ("utf-16", b"\xff\xfea\0", "a"),
        ("Shift-JIS", b"\x83A", "\u30a2"),
        ("gb18030", b"\xd6\xd0", "\u4e2d"),
        ("koi8-r", b"\xc1", "\u0430"),
    ],
)
def test_encodings_go_by_their_names(session: Session, given: str, data: bytes, text: str) -> None:
    (session.project / "file").write_bytes(data)
    assert session.call("read", path="file", encoding=given).splitlines()[0] == f"     1\t{text}"


@pytest.mark.parametrize("name", ["rot13", "zlib", "hex", "idna", "unicode_escape", "utf-7", "os", "", "x" * 100])
def test_what_is_no_encoding_of_texts_is_refused(session: Session, name: str) -> None:
    said = session.fault("read", path="README.md", encoding=name)
    assert "is no encoding of texts" in said
    assert "valid: utf-8, utf-8-sig, utf-16, " in said


def test_a_byte_order_mark_names_its_encoding(session: Session) -> None:
    (session.project / "wide.txt").write_bytes("one\ntwo\n".encode("utf-16"))
    assert session.fault("read", path="wide.txt") == ('wide.txt is not utf-8\n  try:   read it with encoding="utf-16"')
    assert session.call("read", path="wide.txt", encoding="utf-16").startswith("     1\tone\n     2\ttwo\n")


def test_another_encoding_that_does_not_fit_is_told_too(session: Session) -> None:
    (session.project / "a.txt").write_text("caf\u00e9\n", encoding="utf-8")
    said = session.fault("read", path="a.txt", encoding="ascii")
    assert said.startswith("a.txt is not ascii: byte 0xC3 in line 1 cannot be read")
    assert 'read it with encoding="utf-8"' in said


def test_a_file_that_was_read_in_its_encoding_may_be_written(session: Session) -> None:
    (session.project / "wide.txt").write_bytes("\u010a one\ntwo".encode("utf-16"))
    assert "was not read in this session" in session.fault("write", path="wide.txt", content="one\n")
    session.fault("read", path="wide.txt")
    assert "was not read in this session" in session.fault("write", path="wide.txt", content="one\n")
    session.call("read", path="wide.txt", encoding="utf-16", limit=1)
    assert "it would be lost" in session.fault("write", path="wide.txt", content="one\n")
    session.call("read", path="wide.txt", encoding="utf-16")
    session.call("write", path="wide.txt", content="one\n")
    assert session.text("wide.txt") == "one\n"


@pytest.mark.req("A-02.3")
def test_another_encoding_is_another_way_after_three_failures(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    (folder / "data.csv").write_bytes(b"caf\xe9\n")
    failing = [calling(("read", {"path": "data.csv", "encoding": "utf-8"})) for _ in range(4)]
    other = calling(("read", {"path": "data.csv", "encoding": "latin-1"}))
    ends = [report(record={"thing": "a"}), report(outcome="ok")]
    model = ScriptedModel(answer=in_turn(*failing, other, *ends))
    host = Agent(str(folder), model)
    assert host.advance(host.start("plain")).status == "done"
    told = [call.messages[-1].text for call in model.calls[1:6]]
    assert ["data.csv is not utf-8" in text for text in told] == [True, True, True, False, False]
    assert "this call failed 3 times" in told[3]
    assert told[4].startswith("     1\tcaf\u00e9\n")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_told_by_its_zero_bytes(session: Session, encoding: str) -> None:
    (session.project / "data.csv").write_bytes("name,town\nJosé,Köln\n".encode(encoding))
    assert f'read it with encoding="{encoding}"' in session.fault("read", path="data.csv")
    (session.project / "data.bin").write_bytes(b"\0\1\2" * 50)
    assert "is binary, 150 bytes" in session.fault("read", path="data.bin")

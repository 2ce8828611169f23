"""``write`` and ``edit`` change files of the project whole or not at all, and nothing that was not read is lost."""

from __future__ import annotations

import contextlib
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from skills.lib.agent.tools import project_tools
from skills.lib.errors import LockstepError, RefusedError
from tests.agent.tools.conftest import CODE, Session


def test_a_new_file_is_written_with_its_folders(session: Session) -> None:
    assert session.call("write", path="docs/new/a.md", content="# A\n") == "new: docs/new/a.md, 1 line\n"
    assert session.text("docs/new/a.md") == "# A\n"


def test_a_file_is_only_replaced_if_it_was_read_to_its_end(session: Session) -> None:
    assert session.fault("write", path="src/a.py", content="x") == (
        "src/a.py is there, and was not read in this session: it would be lost\n"
        "  try:   read it to its end and write it then, or change a part of it by edit"
    )
    session.call("read", path="src/a.py", limit=2)
    assert session.fault("write", path="src/a.py", content="x").startswith(
        "src/a.py was read up to line 2 of 6: it would be lost"
    )
    session.call("read", path="src/a.py", offset=4)
    assert "was read up to line 2" in session.fault("write", path="src/a.py", content="x")
    session.call("read", path="src/a.py", offset=3)
    assert session.call("write", path="src/a.py", content="x\ny") == "replaced: src/a.py, 2 lines\n"
    assert session.call("write", path="src/a.py", content="x\ny") == "unchanged: src/a.py had this content, 2 lines\n"
    assert session.text("src/a.py") == "x\ny"
    session.call("write", path="src/a.py", content="its own is known\n")
    assert session.text("src/a.py") == "its own is known\n"


def test_a_file_that_changed_since_it_was_read_is_not_replaced(session: Session) -> None:
    session.call("read", path="src/a.py")
    (session.project / "src/a.py").write_text("of another\n", encoding="utf-8")
    assert session.fault("write", path="src/a.py", content="x").startswith("src/a.py has changed since it was read")
    assert session.text("src/a.py") == "of another\n"


def test_what_was_read_by_another_session_is_not_known(session: Session) -> None:
    session.call("read", path="src/a.py")
    assert "was not read" in Session(session.project).fault("write", path="src/a.py", content="x")


def test_the_same_content_and_an_empty_file_need_no_reading(session: Session) -> None:
    assert session.call("write", path="src/a.py", content=CODE) == "unchanged: src/a.py had this content, 6 lines\n"
    (session.project / "empty").touch()
    session.call("write", path="empty", content="now it has text\n")
    assert session.text("empty") == "now it has text\n"


def test_permissions_are_kept_and_no_second_name_or_link_is_written_through(session: Session) -> None:
    script = session.project / "src/run.sh"
    script.write_text("echo 1\n", encoding="utf-8")
    script.chmod(0o775)
    os.link(script, session.project / "second")
    session.call("edit", path="src/run.sh", old="1", new="2")
    assert stat.S_IMODE(script.stat().st_mode) == 0o775
    assert session.text("second") == "echo 1\n"
    (session.project / "link").symlink_to("src/a.py")
    session.call("edit", path="link", old="x + 1", new="x + 2")
    assert (session.project / "link").is_symlink()
    assert "x + 2" in session.text("src/a.py")


@pytest.mark.parametrize(
    "path",
    [
        "../new", "/tmp/new", "out/new", "src/../../new", "loop/new", "dangling",
        ".git/config", ".GIT/hooks/x", "src/.git/config", ".lockstep/runs.db", "lockstep.policy.yaml",
        "Lockstep.Gateway.yaml", ".claude/settings.json", ".mcp.json", "skills/x/run.py", "scripts/x.py",
        "ＳＣＲＩＰＴＳ/x.py", "src/SKILL.md", "src/ſkill.md", "node_modules/x.js", "venv/bin/python", ".", "src/..",
    ],
)  # fmt: skip
def test_nothing_is_written_outside_or_in_what_decides(session: Session, path: str) -> None:
    project = session.project
    (project / "out").symlink_to("..")
    (project / "loop").symlink_to("loop")
    (project / "dangling").symlink_to("../not-there")
    (project / "venv").mkdir()
    (project / "venv/pyvenv.cfg").touch()
    before = sorted(str(one) for one in project.parent.rglob("*"))
    session.fault("write", path=path, content="x")
    session.fault("edit", path=path, old="x", new="y")
    assert sorted(str(one) for one in project.parent.rglob("*")) == before


def test_the_ledger_is_not_written_wherever_it_is(session: Session) -> None:
    home = session.project / "state"
    home.mkdir()
    write = next(one for one in project_tools(str(session.project), str(home)) if one.name == "write")
    with pytest.raises(RefusedError, match="which is only read"):
        write.call({"path": "STATE/agent/x", "content": ""})


def test_an_edit_shows_what_is_there_now(session: Session) -> None:
    shown = session.call("edit", path="src/a.py", old="    return x + 1\n", new="    x += 1\n    return x\n")
    assert shown == "edited: src/a.py; lines 2 to 3 are now\n     2\t    x += 1\n     3\t    return x\n"
    assert session.text("src/a.py") == CODE.replace("    return x + 1\n", "    x += 1\n    return x\n")
    assert session.call("edit", path="src/a.py", old="def g(y):\n    return y\n", new="") == (
        "edited: src/a.py; line 6 is now\n"
    )


def test_a_text_that_is_not_there_or_several_times_is_refused_with_the_nearest(session: Session) -> None:
    assert session.fault("edit", path="src/a.py", old="def g(z):", new="") == (
        "src/a.py does not have this text: 'def g(z):'\n"
        "  valid: the nearest is line 5:\ndef g(y):\n"
        '  try:   old="def g(y):" stands there'
    )
    assert session.fault("edit", path="src/a.py", old="def g(y):\n  return y", new="") == (
        "src/a.py does not have this text: 'def g(y):\\n  return y'\n"
        "  valid: it differs in blanks alone from lines 5 to 6:\ndef g(y):\n    return y\n"
        "  try:   read the file again"
    )
    assert session.fault("edit", path="src/a.py", old="return", new="") == (
        "src/a.py has this text several times, in lines 2, 6: 'return'\n"
        "  try:   give more of the text around it, so that it stands there once"
    )
    assert session.fault("edit", path="src/a.py", old="zzzzzzzz", new="").count("\n") == 1
    assert session.text("src/a.py") == CODE


def test_a_text_that_overlaps_itself_is_not_there_once(session: Session) -> None:
    (session.project / "aaa").write_text("aaa", encoding="utf-8")
    assert "several times" in session.fault("edit", path="aaa", old="aa", new="b")


def test_line_ends_of_windows_are_kept(session: Session) -> None:
    (session.project / "dos.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    session.call("edit", path="dos.txt", old="one\ntwo\n", new="1\n2\n")
    assert (session.project / "dos.txt").read_bytes() == b"1\r\n2\r\nthree\r\n"


def test_a_file_in_another_encoding_is_edited_byte_by_byte(session: Session) -> None:
    (session.project / "latin").write_bytes(b"caf\xe9 one\n")
    session.call("edit", path="latin", old="one", new="two")
    assert (session.project / "latin").read_bytes() == b"caf\xe9 two\n"
    assert "not ASCII" in session.fault("edit", path="latin", old="two", new="dœux")


def test_a_binary_file_a_folder_and_a_missing_file_are_not_edited(session: Session) -> None:
    (session.project / "data").write_bytes(b"a\0b")
    assert "data is binary" in session.fault("edit", path="data", old="a", new="b")
    assert "src is a folder" in session.fault("edit", path="src", old="a", new="b")
    assert "did you mean README.md?" in session.fault("edit", path="README.mb", old="a", new="b")
    assert "minLength" not in session.fault("edit", path="README.md", old="", new="b")
    assert "the same text" in session.fault("edit", path="README.md", old="a", new="a")


def test_edits_of_one_file_by_several_sub_agents_at_once_lose_nothing(session: Session) -> None:
    (session.project / "many").write_text("".join(f"line {number};\n" for number in range(40)), encoding="utf-8")
    sessions = [session, *[Session(session.project) for _ in range(3)]]

    def edit(number: int) -> None:
        sessions[number % 4].call("edit", path="many", old=f"line {number};", new=f"done {number};")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(edit, range(40)))
    assert session.text("many") == "".join(f"done {number};\n" for number in range(40))


TEXTS = st.text(st.sampled_from("ab \n\r\t\u00e9\u4e16\U0001f600\u2028"), max_size=30)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=TEXTS, old=TEXTS.filter(bool), after=TEXTS, new=TEXTS)
def test_all_but_the_replaced_text_stays_byte_by_byte(
    session: Session, before: str, old: str, after: str, new: str
) -> None:
    data = (before + old + after).encode()
    assume(old != new and data.count(b"\n") != data.count(b"\r\n"))
    assume([at for at in range(len(data)) if data.startswith(old.encode(), at)] == [len(before.encode())])
    path = session.project / "text"
    path.write_bytes(data)
    session.call("edit", path="text", old=old, new=new)
    assert path.read_bytes() == (before + new + after).encode()


NAMES = "..|.|src|SRC|out|in|.git|.Git|ſcripts|scripts|SKILL.md|new|é|e\u0301|a b|".split("|")


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parts=st.lists(st.sampled_from(NAMES), min_size=1, max_size=6),
    separator=st.sampled_from("/\\"),
    root=st.sampled_from(["", "/", "PROJECT/"]),
)
def test_no_path_leads_outside(session: Session, parts: list[str], separator: str, root: str) -> None:
    """Whatever is written lies in the project and in no folder that is kept; everything else is refused."""
    project = session.project
    for link, target in (("out", ".."), ("in", "src")):
        if not (project / link).is_symlink():
            (project / link).symlink_to(target)
    outside = {one: one.lstat().st_mtime_ns for one in project.parent.iterdir() if one != project}
    path = root.replace("PROJECT", str(project)) + separator.join(parts)
    with contextlib.suppress(LockstepError):
        session.call("write", path=path, content="written\n")
    assert {one: one.lstat().st_mtime_ns for one in project.parent.iterdir() if one != project} == outside
    for one in project.rglob("*"):
        if one.is_file() and one.read_text(encoding="utf-8") == "written\n":
            folded = [part.casefold() for part in one.relative_to(project).parts]
            assert folded[0] != "scripts"
            assert not {".git", "skill.md"} & set(folded)
            one.unlink()


def test_a_text_that_is_not_there_is_told_as_it_stands(session: Session) -> None:
    (session.project / "a.conf").write_text("name = a\nlevel  =  1\n", encoding="utf-8")
    message = session.fault("edit", path="a.conf", old="level = 1", new="level = 2")
    assert message.endswith('  try:   old="level  =  1" stands there')


def test_a_place_outside_of_the_project_is_told_with_one_inside(session: Session) -> None:
    assert 'in the project: path="out.txt"' in session.fault("write", path="/tmp/out.txt", content="x")

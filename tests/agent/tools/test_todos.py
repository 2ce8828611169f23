"""``todowrite`` and ``todoread`` keep a run's own list; ``abort`` ends a session and stores nothing."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from skills.lib.agent.tools import essential_tools
from skills.lib.errors import UsageError
from tests.agent.tools.conftest import Session

TODOS = [{"content": "read the code", "status": "completed"}, {"content": "run the tests", "status": "in_progress"}]


def test_a_list_is_kept_for_its_run_and_for_its_owner_alone(session: Session) -> None:
    assert session.call("todoread") == "The list is empty.\n"
    shown = "[x] read the code\n[>] run the tests\n[1 of 2 done]\n"
    assert session.call("todowrite", todos=TODOS) == shown
    assert Session(session.project).call("todoread") == shown
    [file] = (session.project / ".lockstep/agent/todos").iterdir()
    assert (file.name, stat.S_IMODE(file.stat().st_mode)) == ("run-1.json", 0o600)
    other = {tool.name: tool for tool in essential_tools(str(session.project / ".lockstep"), "run-2")}
    assert other["todoread"].call({}).text == "The list is empty.\n"


@pytest.mark.parametrize(
    "todos",
    [[{"content": "x"}], [{"content": "x", "status": "done"}], ["x"], "x", [{"content": "", "status": "pending"}]],
)
def test_what_is_no_list_of_todos_is_refused_and_the_old_one_stays(session: Session, todos: object) -> None:
    session.call("todowrite", todos=TODOS)
    assert session.fault("todowrite", todos=todos).startswith("todowrite: todos")
    assert "[1 of 2 done]" in session.call("todoread")


@pytest.mark.parametrize("data", [b"", b"{}", b'[{"content": 1}]', b"[[", b"\xff"])
def test_a_damaged_list_is_told_and_written_anew(session: Session, data: bytes) -> None:
    session.call("todowrite", todos=TODOS)
    path = session.project / ".lockstep/agent/todos/run-1.json"
    path.write_bytes(data)
    if data != b"{}":
        assert "try:   write the list anew by todowrite" in session.fault("todoread")
    session.call("todowrite", todos=TODOS)
    assert "[1 of 2 done]" in session.call("todoread")


@pytest.mark.parametrize("run", ["", "../x", "a/b", "a.b", "é", "a\0"])
def test_only_an_id_names_a_list(tmp_path: Path, run: str) -> None:
    with pytest.raises(UsageError, match="is no id of a run"):
        essential_tools(str(tmp_path), run)


def test_abort_gives_its_reason_back_and_stores_nothing(session: Session) -> None:
    result = session.result("abort", reason="the build machine is gone")
    assert (result.text, result.data["reason"]) == (
        "The session ends: the build machine is gone\n",
        "the build machine is gone",
    )
    assert not list((session.project / ".lockstep").iterdir())
    assert "the reason is empty" in session.fault("abort", reason=" ")

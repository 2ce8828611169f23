"""What an agent's session thought and called is shown at its turn, as far as the reader's role goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib import paths
from skills.lib.agent.watching.activity import Activity, path_in
from skills.lib.ledger import Ledger, history
from skills.lib.model.run import Run
from tests.web.conftest import Enter, Install, Walk


@pytest.fixture
def driven(installed: Install, walker: Walk, project: Path) -> Run:
    """A run whose first step an agent did: it thought, called three tools, of which one failed and one is hidden."""
    walk = walker(installed("tour"))
    run = walk.start(topic="a topic")
    home = paths.home(str(project))
    with Ledger(home, create=False) as ledger:
        after = history.last(ledger.database)
    read = {"tool": "read", "arguments": {"path": "a.csv"}}
    with Activity(path_in(home)) as activity:
        activity.note(run.id, 1, after, "model", {"call": 1})
        activity.note(run.id, 1, after, "thought", {"text": "I read the file first"})
        activity.note(run.id, 1, after, "call", read)
        activity.note(run.id, 1, after, "result", {"tool": "read", "ok": False, "text": "a.csv is not UTF-8\nat 7"})
        activity.note(run.id, 1, after, "call", {"tool": "shell"}, "hidden")
        activity.note(run.id, 1, after, "result", {"tool": "shell", "ok": True}, "hidden")
        activity.note(run.id, 1, after, "task", {"text": "count the rows"}, "summary")
    (project / "chart.html").write_text("<p>7</p>", encoding="utf-8")
    with Activity(path_in(home)) as activity:
        made = {"path": "chart.html", "size": 8, "kind": "HTML page", "new": True}
        activity.note(run.id, 1, after, "made", {"files": [made, {**made, "path": "gone.html"}]})
    return walk.go(run, records={"summary": "seen"})


def test_a_developer_sees_each_thought_and_call_that_is_not_hidden(enter: Enter, driven: Run) -> None:
    visit = enter("DEVELOPER").json(f"/runs/{driven.id}")["visits"][0]
    assert visit["counts"] == "1 model call, 2 tool calls (1 without success)"
    assert [one["text"] for one in visit["session"]] == [
        "Model call 1 of this step",
        "I read the file first",
        'read(path="a.csv")',
        "read failed: a.csv is not UTF-8 (2 lines)",
        "shell: hidden",
        "shell ended: hidden",
        "Task: count the rows",
        "Files: new: chart.html (HTML page, 8 bytes), gone.html (HTML page, 8 bytes)",
    ]
    assert visit["session"][3]["whole"] == "a.csv is not UTF-8\nat 7"
    assert "I read the file first" in enter("DEVELOPER").get(f"/runs/{driven.id}").text


def test_an_end_user_sees_what_a_summary_has(enter: Enter, driven: Run) -> None:
    user = enter("END_USER")
    visit = user.json(f"/runs/{driven.id}")["visits"][0]
    assert [one["text"] for one in visit["session"]] == ["Task: count the rows"]
    assert "I read the file first" not in user.get(f"/runs/{driven.id}").text
    assert "a.csv" not in user.get(f"/runs/{driven.id}/turns/1").text


def test_what_commands_made_is_downloaded_as_long_as_it_is_there(enter: Enter, driven: Run) -> None:
    user = enter("END_USER")
    assert [one["path"] for one in user.json(f"/runs/{driven.id}")["outputs"]] == ["chart.html"]
    answer = user.get(f"/runs/{driven.id}/file?path=chart.html")
    assert (answer.text, answer.headers["content-type"]) == ("<p>7</p>", "application/octet-stream")
    assert user.get(f"/runs/{driven.id}/file?path=gone.html").status_code == 404


def test_runs_of_lockstep_s_agent_are_found_by_it_as_their_host(enter: Enter, driven: Run) -> None:
    assert enter().json("/runs")["runs"][0]["host"] == "lockstep"
    assert enter().json("/runs?host=lockstep")["matching"] == 1
    assert enter().json("/runs?host=codex")["matching"] == 0


def test_cost_is_for_those_who_operate(enter: Enter, driven: Run) -> None:
    [workflow] = enter("ADMIN").json("/skills/tour")["workflows"]
    assert workflow["sessions"]["cost"]["calls"] == 1
    assert workflow["sessions"]["failed_calls"] == 1
    [workflow] = enter("END_USER").json("/skills/tour")["workflows"]
    assert not [name for name in workflow["sessions"] if name.startswith("cost")]

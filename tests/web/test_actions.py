"""What a person does by the forms: recorded with a name, as a person's word only where it is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib import paths, terminal
from skills.lib.ledger import Ledger
from skills.lib.ledger.history import Event
from skills.lib.model.run import Run
from skills.lib.views import statistics
from tests.web.conftest import Enter, Install


def last(project: Path, run: str) -> Event:
    with Ledger(paths.home(str(project)), create=False) as ledger:
        return ledger.events(run)[-1]


@pytest.mark.req("X-01", "W-24")
def test_an_answer_is_recorded_as_a_persons_with_the_name(enter: Enter, asking: Run, project: Path) -> None:
    user = enter("END_USER")
    answer = user.post(f"/runs/{asking.id}/answer", answer="yes", turn=str(asking.turn), name="Ada  L.", reason="fine")
    assert (answer.status_code, answer.headers["location"]) == (303, f"{user.access.base}/runs/{asking.id}")
    event = last(project, asking.id)
    assert (event.kind, event.actor, event.detail["who"]) == ("moved", "person (web)", "Ada L.")
    assert (event.detail["answer"], event.detail["by"], event.detail["reason"]) == ("yes", "person", "fine")
    assert "a person, in the run explorer" in enter().get(f"/runs/{asking.id}?turn={asking.turn}").text
    assert 'value="Ada L."' in user.get("/skills/tour/start").text


@pytest.mark.parametrize(
    "fields, status, why",
    [
        ({"answer": "maybe"}, 409, "maybe"),
        ({"answer": ""}, 400, "the answer is empty"),
        ({"answer": "yes", "turn": "1"}, 409, "has moved since this page was made"),
        ({"answer": "yes", "name": " "}, 400, "your name is kept"),
        ({"answer": "yes", "name": "x" * 81}, 400, "your name is kept"),
        ({"answer": "yes", "name": "a\x1b[2Jb"}, 400, "your name is kept"),
    ],
)
def test_an_answer_that_is_none_changes_nothing(
    fields: dict[str, str], status: int, why: str, enter: Enter, asking: Run, project: Path
) -> None:
    browser = enter()
    answer = browser.post(f"/runs/{asking.id}/answer", **{"turn": str(asking.turn), **fields})
    assert answer.status_code == status
    assert why in answer.text
    assert browser.json(f"/runs/{asking.id}")["run"]["status"] == "waiting"


def test_a_question_is_answered_once(enter: Enter, asking: Run) -> None:
    browser = enter()
    fields = {"answer": "yes", "turn": str(asking.turn)}
    assert browser.post(f"/runs/{asking.id}/answer", **fields).status_code == 303
    again = browser.post(f"/runs/{asking.id}/answer", **fields)
    assert again.status_code == 409
    assert "asks nobody anything" in again.text


@pytest.mark.parametrize("variable", list(terminal.AGENTS))
def test_what_is_done_in_a_server_that_an_agent_started_is_no_persons_word(
    variable: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, asking: Run, project: Path
) -> None:
    monkeypatch.setenv(variable, "1")
    browser = request.getfixturevalue("enter")()
    browser.post(f"/runs/{asking.id}/answer", answer="yes", turn=str(asking.turn))
    event = last(project, asking.id)
    assert event.actor == "agent"
    assert event.detail.get("by") != "person"
    assert browser.post(f"/runs/{asking.id}/abandon", reason="it is mine now").status_code == 409


def test_an_operator_pauses_and_abandons_a_run(enter: Enter, asking: Run, project: Path) -> None:
    browser = enter("DEVELOPER")
    assert browser.post(f"/runs/{asking.id}/pause", reason="a hotfix comes first").status_code == 303
    event = last(project, asking.id)
    assert (event.kind, event.actor) == ("paused", "person (web)")
    assert event.detail == {"who": "Ada", "reason": "a hotfix comes first"}
    assert browser.json(f"/runs/{asking.id}")["paused"] is True
    assert browser.post(f"/runs/{asking.id}/unpause").status_code == 303
    assert browser.json(f"/runs/{asking.id}")["paused"] is False
    assert browser.post(f"/runs/{asking.id}/abandon").status_code == 400
    assert browser.post(f"/runs/{asking.id}/abandon", reason="the ticket was closed").status_code == 303
    event = last(project, asking.id)
    assert (event.kind, event.actor, event.detail["who"]) == ("abandoned", "person (web)", "Ada")
    assert browser.post(f"/runs/{asking.id}/abandon", reason="the ticket was closed").status_code == 409


@pytest.mark.parametrize("reason", ["x" * 1_000_000, "a\x1b[2Jb", "a\x00b"])
def test_a_reason_that_no_document_holds_pauses_nothing(reason: str, enter: Enter, asking: Run) -> None:
    browser = enter()
    for action in ("pause", "abandon", "answer"):
        fields = {"answer": "yes", "turn": str(asking.turn), "reason": reason}
        answer = browser.post(f"/runs/{asking.id}/{action}", **fields)
        assert answer.status_code in (400, 409), action
        assert len(answer.text) < 10_000
    told = browser.json(f"/runs/{asking.id}")
    assert (told["paused"], told["run"]["status"]) == (False, "waiting")


def test_an_end_user_ends_nothing(enter: Enter, asking: Run) -> None:
    user = enter("END_USER")
    for action in ("pause", "abandon", "cancel"):
        answer = user.post(f"/runs/{asking.id}/{action}", reason="because I can")
        assert answer.status_code == 409
        assert "END_USER does not pause, abandon or cancel" in answer.text
    assert user.json(f"/runs/{asking.id}")["run"]["status"] == "waiting"
    assert "Abandon the run" not in user.get(f"/runs/{asking.id}").text


def test_a_session_that_nobody_drives_cannot_be_cancelled(enter: Enter, asking: Run) -> None:
    answer = enter().post(f"/runs/{asking.id}/cancel")
    assert answer.status_code == 409
    assert "there is no session to cancel" in answer.text


@pytest.mark.req("X-01")
def test_a_skill_is_started_by_a_form_made_from_its_parameters(enter: Enter, installed: Install, project: Path) -> None:
    installed("tour")
    browser = enter("END_USER")
    told = browser.json("/skills/tour/start")
    topic = told["parameters"][0]
    assert (topic["name"], topic["type"], topic["required"]) == ("topic", "text", True)
    assert 'name="p-topic"' in browser.get("/skills/tour/start").text
    answer = browser.post("/skills/tour/start", **{"p-topic": "a topic"})
    assert answer.headers["location"] == f"{browser.access.base}/runs/testrun1"
    event = last(project, "testrun1")
    assert (event.kind, event.actor, event.detail["who"]) == ("opened", "person (web)", "Ada")
    run = enter().json("/runs/testrun1")["run"]
    assert (run["params"]["topic"], run["step"]) == ("a topic", "begin")


def test_a_skill_that_is_open_with_the_same_parameters_is_refused_with_what_to_do(
    enter: Enter, asking: Run, project: Path
) -> None:
    with Ledger(paths.home(str(project)), create=False) as ledger:
        before = statistics.refusals(ledger)
    answer = enter().post("/skills/tour/start", **{"p-topic": "a topic"})
    assert answer.status_code == 409
    assert "is open with the same parameters" in answer.text
    assert "tick “Another run” in the form, or go on with the run that is open" in answer.text
    assert last(project, asking.id).detail["code"] == "already-open"
    with Ledger(paths.home(str(project)), create=False) as ledger:
        assert statistics.refusals(ledger) == before  # they are those of agents


def test_a_form_that_a_skill_does_not_take_says_what_is_wrong(enter: Enter, installed: Install, project: Path) -> None:
    installed("tour")
    browser = enter()
    for fields in ({}, {"p-topic": "a topic", "p-depth": "deep"}):
        answer = browser.post("/skills/tour/start", **fields)
        assert answer.status_code in (400, 409)
        assert "p-topic" not in answer.text
    assert Ledger.existing(paths.home(str(project))) is None


@pytest.mark.parametrize("name", ["nothing", "..", "%2e%2e%2ftour", "tour.py"])
def test_only_a_skill_by_its_name_is_started(name: str, enter: Enter, installed: Install) -> None:
    installed("tour")
    assert enter().post(f"/skills/{name}/start").status_code in (400, 404, 405)


def test_a_program_gets_json_for_a_form(enter: Enter, asking: Run) -> None:
    browser = enter()
    answer = browser.post(
        f"/runs/{asking.id}/answer", {"accept": "application/json"}, answer="yes", turn=str(asking.turn)
    )
    assert answer.json() == {"run": asking.id}
    wrong = browser.post(f"/runs/{asking.id}/answer", {"accept": "application/json"}, answer="yes", turn="1")
    assert wrong.status_code == 409
    assert set(wrong.json()) == {"error", "valid", "try"}

"""The explorer over both kinds of ledger: each kind of page, also as JSON, what forms do, and the live stream."""

from __future__ import annotations

import pytest

from skills.lib.model.run import Run
from tests.fixtures.kinds import Kind, closed_connections, kind
from tests.fixtures.postgres import database_url, postgres
from tests.web.conftest import Enter, Install, Served, Walk
from tests.web.test_live import seconds_until_told

__all__ = ["closed_connections", "database_url", "kind", "postgres"]


@pytest.mark.req("X-01", "X-04")
def test_each_page_is_shown_and_a_question_is_answered(kind: Kind, asking: Run, enter: Enter) -> None:
    browser = enter()
    run = f"/runs/{asking.id}"
    pages = ["/runs", run, f"{run}/turns/{asking.turn}", f"/compare?a={asking.id}&b={asking.id}", "/skills"]
    for page in [*pages, "/skills/tour", "/skills/tour/start"]:
        assert browser.get(page).status_code == 200, page
        assert browser.json(page), page
    [waiting] = browser.json("/runs")["runs"]
    assert (waiting["run"], waiting["status"]) == (asking.id, "waiting")
    assert browser.post(f"{run}/answer", answer="yes", turn=str(asking.turn)).status_code == 303
    assert browser.json(run)["run"]["status"] == "open"
    assert browser.post(f"{run}/pause", reason="a hotfix comes first").status_code == 303
    assert browser.post("/skills/tour/start", **{"p-topic": "another topic"}).status_code == 303
    assert {one["run"] for one in browser.json("/runs")["runs"]} == {asking.id, "testrun2"}
    assert browser.post(f"{run}/abandon", reason="enough of it").status_code == 303
    assert browser.json(run)["run"]["status"] == "abandoned"


@pytest.mark.slow
@pytest.mark.req("X-01", "X-04")
def test_an_open_page_is_told_of_a_move(kind: Kind, served: Served, installed: Install, walker: Walk) -> None:
    assert seconds_until_told(served, walker(installed("plain"))) < 10

"""Who gets in, as whom, and what of requests from elsewhere is refused."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from skills.lib.errors import UsageError
from skills.lib.model.run import Run
from skills.lib.web import app
from skills.lib.web.access import SESSIONS, Access
from tests.fixtures.terminal import at_terminal
from tests.web.conftest import Enter

NAMED = ["build.example.org", "BUILD.example.org:8710", "build.example.org:8711"]
PAGES = ["/", "/runs", "/runs/testrun1", "/runs/testrun1/turns/1", "/runs/testrun1/file", "/skills", "/skills/tour"]
PAGES += ["/skills/tour/start", "/compare", "/live", "/runs.json", "/nothing"]


@pytest.mark.parametrize("path", PAGES)
def test_nothing_is_shown_without_a_session(path: str, enter: Enter, asking: Run) -> None:
    answer = enter("").get(path)
    assert answer.status_code == 401
    assert "testrun1" not in answer.text
    assert "tour" not in answer.text


@pytest.mark.parametrize("path", ["/", "/runs", "/static/explorer.js", "/live"])
def test_nothing_is_outside_the_path_that_links_name(path: str, enter: Enter, asking: Run) -> None:
    browser = enter()
    answer = browser.client.get(path, headers={"cookie": browser.cookie})
    assert answer.status_code == 404
    assert browser.access.base not in answer.text


def test_a_link_works_once_and_its_cookie_is_for_no_script_and_no_other_path(enter: Enter) -> None:
    browser = enter("")
    link = browser.access.link("END_USER")
    first = browser.client.get(link, follow_redirects=False)
    assert first.status_code == 303
    assert first.headers["location"] == f"{browser.access.base}/"
    parts = {part.strip().lower() for part in first.headers["set-cookie"].split(";")[1:]}
    assert {"httponly", "samesite=strict", f"path={browser.access.base.lower()}"} <= parts
    browser.client.cookies.clear()
    again = browser.client.get(link, follow_redirects=False)
    assert again.status_code == 403
    assert "set-cookie" not in again.headers
    assert browser.client.get(f"{browser.access.base}/enter/guessed").status_code == 403


def test_a_look_whether_a_link_is_there_does_not_use_it_up(enter: Enter) -> None:
    browser = enter("")
    link = browser.access.link("END_USER")
    looked = browser.client.head(link, follow_redirects=False)
    assert (looked.status_code, looked.headers["allow"]) == (405, "GET")
    assert "set-cookie" not in looked.headers
    assert browser.client.get(link, follow_redirects=False).status_code == 303


def test_the_role_is_the_links_and_never_the_querys(enter: Enter, asking: Run) -> None:
    user = enter("END_USER")
    assert ">end user<" in user.get("/?role=ADMIN").text
    run = user.json(f"/runs/{asking.id}?role=ADMIN&level=FULL")
    assert run["run"]["about"] == ""
    assert enter("ADMIN").json(f"/runs/{asking.id}")["run"]["about"] == "topic=a topic depth=2"


def test_a_cookie_that_another_server_of_the_machine_set_shuts_nobody_out(enter: Enter) -> None:
    browser = enter("DEVELOPER")
    for cookie in (f"{browser.cookie}; lockstep=theirs", f"lockstep=theirs; role=ADMIN; {browser.cookie}"):
        answer = browser.client.get(f"{browser.access.base}/", headers={"cookie": cookie})
        assert answer.status_code == 200
        assert ">developer<" in answer.text


def test_links_are_for_known_roles() -> None:
    with pytest.raises(UsageError, match="no role 'ROOT'"):
        Access().link("ROOT")


def test_the_oldest_session_ends_for_a_new_one() -> None:
    access = Access()
    keys = []
    for _ in range(SESSIONS + 1):
        entered = access.enter(access.link("END_USER").rpartition("/")[2])
        assert entered is not None
        keys.append(entered[0])
    assert access.session(keys[:1]) is None
    assert access.session(keys[1:2]) is not None


def test_signing_out_ends_the_session(enter: Enter) -> None:
    browser = enter()
    assert browser.post("/leave").status_code == 303
    assert browser.get("/").status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1:1", "127.0.0.1", "evil.example:8710", ""])
def test_another_host_is_refused(host: str, enter: Enter, asking: Run) -> None:
    answer = enter().get("/", host=host)
    assert answer.status_code == 421
    assert "testrun1" not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1:8710", "localhost:8710", "LOCALHOST:8710", "[::1]:8710"])
def test_this_machine_is_served_by_its_names(host: str, enter: Enter) -> None:
    assert enter().get("/", host=host).status_code == 200


def test_a_named_host_is_served_with_and_without_a_port(project: Path) -> None:
    access = Access()
    served = app.create(str(project), access, 8710, ["Build.Example.org"])
    with TestClient(served, base_url="https://build.example.org") as client:
        assert client.get(access.link("ADMIN")).status_code == 200
        answers = [client.get(f"{access.base}/", headers={"host": host}).status_code for host in NAMED]
    assert answers == [200, 200, 421]


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:5000", "http://localhost:8710", ""]
)
def test_a_form_from_another_origin_does_nothing(origin: str, enter: Enter, asking: Run) -> None:
    browser = enter()
    answer = browser.post(f"/runs/{asking.id}/abandon", {"origin": origin}, reason="because of it")
    assert answer.status_code == 403
    assert browser.json(f"/runs/{asking.id}")["run"]["status"] == "waiting"


def test_a_form_without_an_origin_does_nothing(enter: Enter, asking: Run) -> None:
    browser = enter()
    fields = {"form_token": browser.token(), "name": "Ada", "reason": "because of it"}
    path = f"{browser.access.base}/runs/{asking.id}/abandon"
    assert browser.client.post(path, data=fields, headers={"cookie": browser.cookie}).status_code == 403
    assert browser.json(f"/runs/{asking.id}")["run"]["status"] == "waiting"


@pytest.mark.parametrize("token", ["", "guessed", "of another session"])
def test_a_form_without_the_token_of_its_session_does_nothing(token: str, enter: Enter, asking: Run) -> None:
    browser = enter()
    token = enter().token() if token == "of another session" else token
    answer = browser.post(f"/runs/{asking.id}/abandon", form_token=token, reason="because of it")
    assert answer.status_code == 409
    assert "not of your session" in answer.text
    assert browser.json(f"/runs/{asking.id}")["run"]["status"] == "waiting"


def test_another_site_may_not_read(enter: Enter) -> None:
    assert enter().get("/", origin="http://evil.example").status_code == 403


def test_nothing_changes_by_a_request_that_reads(enter: Enter, asking: Run) -> None:
    browser = enter()
    for action in ("answer", "abandon", "pause", "unpause", "cancel"):
        assert browser.get(f"/runs/{asking.id}/{action}?answer=yes&reason=because").status_code == 405


def test_a_form_that_is_too_long_is_refused(enter: Enter, asking: Run) -> None:
    answer = enter().post(f"/runs/{asking.id}/answer", answer="yes", reason="x" * 2_100_000)
    assert answer.status_code == 413


def test_each_answer_forbids_scripts_that_are_not_the_servers(enter: Enter, asking: Run) -> None:
    browser = enter()
    for path in ("/", f"/runs/{asking.id}", "/nothing", "/static/explorer.js"):
        headers = browser.get(path).headers
        assert "script-src 'self';" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["content-security-policy"].startswith("default-src 'none';")
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
    assert browser.get("/").headers["cache-control"] == "no-store"


def test_links_are_a_persons_at_a_terminal(project: Path, cli: object) -> None:
    piped = cli("web", "--port", "0")  # type: ignore[operator]
    assert piped.code == 3
    assert "standard input is not a terminal" in piped.err
    assert "http" not in piped.out
    code, shown = at_terminal("web", "--port", "0", "--project", str(project), env={"CLAUDECODE": "1"})
    assert code == 3
    assert "Claude Code runs this command" in shown
    assert "http" not in shown


def test_an_address_that_others_reach_takes_the_name_of_the_host(project: Path) -> None:
    code, shown = at_terminal("web", "--host", "0.0.0.0", "--port", "0", "--project", str(project))
    assert code == 2
    assert "0.0.0.0 can be reached from other machines" in shown
    assert "/enter/" not in shown


@pytest.mark.parametrize("name", ["http://build.example.org/", "a b", "", "x:port", "\x1b[2J"])
def test_what_is_no_name_of_a_host_is_refused(name: str, project: Path) -> None:
    code, shown = at_terminal("web", "--allow-host", name, "--port", "0", "--project", str(project))
    assert code == 2
    assert "is no name of a host" in shown
    assert "/enter/" not in shown
    assert "\x1b[2J" not in shown


def test_a_port_that_is_taken_and_a_host_that_is_unknown_are_told_in_words(project: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, shown = at_terminal("web", "--port", port, "--project", str(project))
    assert (code, shown) == (
        4,
        f"lockstep: 127.0.0.1:{port} cannot be listened at: Address already in use\n"
        "  try:   choose another port; --port 0 takes a free one\n",
    )
    words = ["--host", "nowhere.invalid", "--allow-host", "nowhere.invalid", "--port", "0"]
    code, shown = at_terminal("web", *words, "--project", str(project))
    assert code == 4
    assert "Unknown error" not in shown
    assert "try:   give an address of this machine" in shown

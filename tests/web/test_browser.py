"""The pages in a real browser: live, by keyboard, on a phone, without JavaScript, for everybody, and safe.

Debian's Chromium is driven by Playwright. Where either is missing, these tests are skipped.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from skills.lib import paths
from skills.lib.ledger import Ledger
from skills.lib.model.run import Run
from tests.commands.conftest import Walker
from tests.commands.test_trace_html import FORM, TASTE
from tests.fixtures import skill
from tests.web.conftest import Install, Served, Walk
from tests.web.test_pages import HOSTILE, refused

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed (extra [test])")
CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (on Debian: apt-get install chromium)"),
]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
FLAGS += ["--disable-background-networking", "--disable-component-update"]
LONG = "a_value_without_any_place_to_break_it_" * 10
NO_PAGES = ("/runs/nothing", "/enter/used")
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """One browser, with a new and empty profile."""
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def tab(chromium: Any, served: Served) -> Iterator[Open]:
    """Open the explorer in a role; no page may report an error, open a dialog, or ask anything of another server."""
    contexts, wrong = [], []

    def opened(role: str = "ADMIN", **settings: Any) -> Any:
        context = chromium.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("console", lambda message: wrong.append(message.text) if is_wrong(message) else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.on("request", lambda sent: wrong.append(sent.url) if not sent.url.startswith(served.root) else None)
        page.goto(served.root + served.access.link(role))
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def is_wrong(message: Any) -> bool:
    """True for an error or a warning that a browser notes, as of what the policy of a page forbids."""
    return message.type in ("error", "warning") and not message.location["url"].endswith(NO_PAGES)


@pytest.fixture
def address(served: Served) -> Callable[[str], str]:
    """The address of a page."""
    return lambda path: f"{served.root}{served.access.base}{path}"


@pytest.mark.req("X-02", "X-01")
def test_the_list_shows_a_move_within_a_second(tab: Open, installed: Install, walker: Walk) -> None:
    walk = walker(installed("tour"))
    run = walk.start(topic="a topic")
    page = tab()
    assert page.locator("tbody tr").count() == 1
    times: list[float] = []
    for _ in range(4):
        began = time.monotonic()
        walk.start(topic="a topic")
        page.locator(f"tbody tr:nth-child({len(times) + 2})").wait_for()
        times.append(time.monotonic() - began)
    assert min(times) < 1.0, times
    walk.go(run, records={"summary": "seen"})
    page.locator(f"#row-{run.id} .c-step", has_text="plan").wait_for()


def test_a_person_answers_and_the_other_page_shows_it(
    tab: Open, address: Callable[[str], str], asking: Run, project: Path
) -> None:
    watching = tab("DEVELOPER")
    page = tab("END_USER")
    page.get_by_text("Is it good?").click()
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("Reason").fill("read it twice")
    page.get_by_role("button", name="yes", exact=True).click()
    page.wait_for_url(address(f"/runs/{asking.id}"))
    assert page.locator("#question").count() == 0
    watching.locator("section.asked").wait_for(state="detached")
    with Ledger(paths.home(str(project)), create=False) as ledger:
        detail = ledger.events(asking.id)[-1].detail
    assert [detail[name] for name in ("answer", "who", "by", "reason")] == ["yes", "Ada", "person", "read it twice"]


def test_runs_are_filtered_as_soon_as_a_filter_is_chosen(
    tab: Open, asking: Run, installed: Install, walker: Walk
) -> None:
    walk = walker(installed("plain"))
    walk.start()
    page = tab()
    assert page.locator("tbody tr").count() == 2
    page.locator("select[name=status]").select_option("waiting")
    page.wait_for_url("**/runs?*status=waiting*")
    assert page.locator("tbody tr").count() == 1
    page.get_by_role("link", name="clear").click()
    page.locator("#search").fill("plain")
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs?*q=plain*")
    assert page.locator("tbody tr .c-run strong").all_inner_texts() == ["plain"]


def test_a_link_to_a_turn_opens_it_wherever_it_is(
    tab: Open, address: Callable[[str], str], installed: Install, walker: Walk
) -> None:
    steps = "StepDef('one', 'One', 'Do.', {'ok': None, 'iterate': 'one'}, requires=[Field('seen')])"
    walk = walker(installed("loop", skill.source_of("loop", steps)))
    run = walk.start()
    for number in range(55):
        run = walk.go(run, records={"seen": f"number {number}"}, outcome="iterate")
    page = tab()
    page.goto(address(f"/runs/{run.id}#turn-3"))
    page.wait_for_url(f"**/runs/{run.id}?turn=3#turn-3")
    assert page.get_by_text("number 2", exact=True).is_visible()
    assert not page.get_by_text("number 9", exact=True).is_visible()
    page.locator("#turn-1").wait_for()
    assert page.evaluate("Math.abs(document.getElementById('turn-3').getBoundingClientRect().top) < 200")


def test_the_keyboard_leads_everywhere(
    tab: Open, address: Callable[[str], str], asking: Run, installed: Install, walker: Walk
) -> None:
    walker(installed("plain")).start()
    page = tab()
    keys = page.keyboard
    chosen = "document.querySelector('[data-row].selected')"
    keys.press("j")
    assert page.evaluate(f"{chosen}.className").startswith("card")
    keys.press("j")
    keys.press("j")
    assert page.evaluate(f"{chosen}.id") == "row-testrun2"
    keys.press("k")
    assert page.evaluate(f"{chosen}.id") == "row-testrun1"
    keys.press("?")
    assert page.locator("dialog#help").is_visible()
    keys.press("Escape")
    assert not page.locator("dialog#help").is_visible()
    keys.press("/")
    page.keyboard.type("gr?j")
    assert page.locator("#search").input_value() == "gr?j"
    keys.press("Escape")
    keys.press("k")
    keys.press("Enter")
    page.wait_for_url(f"**/runs/{asking.id}#question")
    keys.press("g")
    keys.press("s")
    page.wait_for_url(address("/skills"))
    keys.press("/")
    page.wait_for_url(address("/#search"))
    assert page.evaluate("document.activeElement.id") == "search"
    page.goto(address("/compare"))
    keys.press("g")
    keys.press("r")
    page.wait_for_url(address("/"))
    keys.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.goto(address("/skills"))
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.fixture
def pages(asking: Run, installed: Install, walker: Walk, project: Path) -> list[str]:
    """A page of each kind, with values that a page is easily broken by."""
    walk = walker(installed("tour"))
    long = walk.go(walk.start(topic=LONG), records={"summary": LONG})
    evidence = [{"kind": "command", "what": LONG, "ok": False, "exit": 3, "why": LONG, "output": LONG}]
    detail = {"code": "odd", "asked": LONG, "why": LONG, "step": long.step, "evidence": evidence}
    walk.runner.ledger.note(long.id, long.turn, "refused", "agent", detail)
    (project / "out.txt").write_text("x\n", encoding="utf-8")
    gated = reviewed(walker(installed("gated")))
    return [
        "/",
        "/runs?q=nothing",
        f"/runs/{asking.id}",
        f"/runs/{long.id}",
        f"/runs/{gated.id}",
        f"/runs/{asking.id}/turns/4",
        "/skills",
        "/skills/tour",
        "/skills/tour/start",
        "/compare",
        f"/compare?a={asking.id}&b={long.id}",
        *NO_PAGES,
    ]


def reviewed(walk: Walker) -> Run:
    """A run with a review that found something."""
    run = walk.start()
    run = walk.go(run)
    first, second = walk.children(run)
    walk.child(first, items=[{**FORM, "status": "FAIL", "finding": f"it has none: {LONG}"}])
    walk.child(second, items=[TASTE])
    return walk.go(run)


OPEN_ALL = "document.querySelectorAll('details').forEach(function (one) { one.open = true; })"


@pytest.mark.req("X-02")
def test_a_phone_shows_each_page_without_scrolling_sideways(
    tab: Open, address: Callable[[str], str], pages: list[str]
) -> None:
    page = tab(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    wide = {}
    for path in pages:
        page.goto(address(path))
        page.evaluate(OPEN_ALL)
        if page.evaluate("document.documentElement.scrollWidth > 390"):
            wide[path] = page.evaluate(
                "Array.from(document.querySelectorAll('main *')).filter(e => e.getBoundingClientRect().right > 391)"
                ".slice(0, 5).map(e => e.outerHTML.slice(0, 100))"
            )
    assert wide == {}


@pytest.mark.req("X-02")
def test_without_javascript_all_is_read_and_answered(
    tab: Open, address: Callable[[str], str], asking: Run, project: Path
) -> None:
    page = tab(java_script_enabled=False)
    page.locator("select[name=skill]").select_option("tour")
    page.get_by_role("button", name="Filter").click()
    page.locator(f"a[href$='/runs/{asking.id}']").click()
    page.locator("#turn-4 > details").get_by_text("test -s proof.txt").first.wait_for()
    summary = page.locator("#turn-1 summary").first
    summary.click()
    assert page.locator("#turn-1").get_by_text("seen", exact=True).is_visible()
    assert not page.locator("#theme").is_visible()
    assert not page.locator("#keys").is_visible()
    assert page.locator("svg .box").first.is_visible()
    page.get_by_label("Your name").first.fill("Ada")
    page.get_by_role("button", name="no", exact=True).click()
    page.wait_for_url(address(f"/runs/{asking.id}"))
    assert page.locator("#question").count() == 0


@pytest.mark.req("X-02")
@pytest.mark.parametrize("theme, rules, least", [("light", None, 10), ("dark", "color-contrast", 1)])
def test_axe_finds_nothing_on_any_page(
    theme: str, rules: str | None, least: int, tab: Open, address: Callable[[str], str], pages: list[str]
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed (extra [test])")
    options = {"resultTypes": ["violations"], **({"runOnly": [rules]} if rules else {})}
    page = tab(color_scheme=theme)
    found = {}
    for path in [*pages, "keys"]:
        if path == "keys":
            page.keyboard.press("?")
        else:
            page.goto(address(path))
        page.evaluate(OPEN_ALL)
        results = axe.Axe().run(page, options=options).response
        assert len(results["passes"]) >= least, path
        for one in results["violations"]:
            found[path, one["id"]] = [node["html"][:200] for node in one["nodes"]][:3]
    assert found == {}


@pytest.mark.parametrize("role", ["ADMIN", "END_USER"])
def test_no_value_of_a_run_does_anything_in_a_browser(
    role: str, tab: Open, address: Callable[[str], str], installed: Install, walker: Walk
) -> None:
    walk = walker(installed("tour"))
    run = refused(walk, " ".join(HOSTILE))
    page = tab(role)
    for path in ("/", f"/runs/{run.id}", f"/runs/{run.id}/turns/1", f"/compare?a={run.id}&b={run.id}", "/runs?q=<b>"):
        page.goto(address(path))
        page.evaluate(OPEN_ALL)
        assert page.locator("script:not([src]), img, main [onload], main [onerror]").count() == 0

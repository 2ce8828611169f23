"""What the pages show of runs and skills, to a person, to a program, and to each role."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import html

from skills.lib import paths
from skills.lib.ledger import Ledger
from skills.lib.model.run import Run
from tests.commands.conftest import Walker
from tests.web.conftest import Enter, Install, Walk


def texts(root: html.HtmlElement, path: str) -> list[str]:
    return [" ".join(" ".join(found.itertext()).split()) for found in root.xpath(path)]


def page(text: str) -> html.HtmlElement:
    assert text.lstrip().startswith("<!DOCTYPE html>")
    return html.document_fromstring(text)


@pytest.fixture
def hidden(project: Path) -> None:
    """The setting that shows end users nothing of runs."""
    (project / "lockstep.toml").write_text('[agent.visibility.roles]\nEND_USER = "HIDDEN"\n', encoding="utf-8")


@pytest.fixture
def several(installed: Install, walker: Walk, asking: Run) -> list[Run]:
    """The run that asks, and three of plain that are open."""
    walk = walker(installed("plain"))
    opened = [walk.start() for _ in range(3)]
    return [asking, *opened]


@pytest.mark.req("X-01")
def test_runs_that_wait_for_a_person_come_first_with_their_question(enter: Enter, several: list[Run]) -> None:
    browser = enter()
    told = browser.json("/runs")
    assert [told[name] for name in ("total", "matching", "waiting", "pages")] == [4, 4, 1, 1]
    assert told["runs"][0]["run"] == several[0].id
    assert told["runs"][0]["waits"] == {several[0].id: {"text": "Is it good?", "choices": ["yes", "no"], "step": "ask"}}
    assert [one["number"] for one in told["runs"]] == [6, 1, 1, 1]
    root = page(browser.get("/").text)
    assert texts(root, "//li[@class='card']//*[@class='question']") == ["Is it good?"]
    assert texts(root, "//li[@class='card']//*[@class='chip']") == ["yes", "no"]
    assert texts(root, "//tbody/tr[1]//*[@class='steps']") == ["step 6 of 7"]


@pytest.mark.parametrize(
    "query, found",
    [
        ("q=topic", 1),
        ("q=TESTRUN2", 1),
        ("q=plain+testrun", 3),
        ("q=nowhere", 0),
        ("skill=tour", 1),
        ("status=waiting", 1),
        ("status=open", 3),
        ("status=done", 0),
        ("step=ask", 1),
        ("age=1h", 4),
        ("host=codex", 0),
        ("skill=tour&status=open", 0),
        ("page=99", 4),
        ("page=-1", 4),
        ("age=never", 4),
    ],
)
def test_runs_are_searched_and_filtered(query: str, found: int, enter: Enter, several: list[Run]) -> None:
    assert enter().json(f"/runs?{query}")["matching"] == found


def test_a_run_that_moves_is_up_to_date_in_the_list(
    enter: Enter, asking: Run, installed: Install, walker: Walk
) -> None:
    browser = enter()
    assert browser.json("/runs")["total"] == 1
    walk = walker(installed("plain"))
    opened = walk.start()
    assert browser.json("/runs")["runs"][1]["step"] == opened.step
    walk.runner.abandon(opened.id, "nobody wants it")
    assert browser.json("/runs")["runs"][1]["status"] == "abandoned"


def test_a_project_without_runs_says_what_to_do(enter: Enter, project: Path) -> None:
    browser = enter()
    assert "No run was ever opened" in browser.get("/").text
    assert browser.json("/runs")["runs"] == []
    assert browser.get("/runs/k3f9q2mx").status_code == 404
    assert Ledger.existing(paths.home(str(project))) is None


@pytest.mark.req("X-01")
def test_a_run_shows_its_way_its_turns_and_what_was_proved(enter: Enter, asking: Run) -> None:
    browser = enter()
    root = page(browser.get(f"/runs/{asking.id}").text)
    assert texts(root, "//section[@id='question']//*[@class='question-text']") == ["Is it good?"]
    assert [button.get("value") for button in root.xpath("//section[@id='question']//button")] == ["yes", "no"]
    here = texts(root, "//*[contains(@class, 'box') and contains(@class, 'here')]")
    assert len(here) == 1
    assert here[0].startswith("6 ask (person)")
    base = browser.access.base
    assert f"{base}/runs/{asking.id}?turn=4#turn-4" in root.xpath("//*[local-name()='svg']//*[local-name()='a']/@href")
    prove = root.xpath("//li[@id='turn-4']")[0]
    assert texts(prove, ".//div[@class='event refused']/p/strong") == ["refused: missing-evidence"]
    assert [row[:3] for row in [texts(row, "td") for row in prove.xpath(".//table[last()]//tr[td]")]][-1][:2] == [
        "command",
        "test -s proof.txt",
    ]
    told = browser.json(f"/runs/{asking.id}")
    assert [visit["step"] for visit in told["visits"]][-2:] == ["prove", "ask"]
    assert told["visits"][-2]["report"]["evidence"][1]["exit"] == 0
    assert told["run"]["question"] == {"text": "Is it good?", "choices": ["yes", "no"]}


def test_a_turn_has_the_block_as_it_was_printed(enter: Enter, installed: Install, walker: Walk, project: Path) -> None:
    walk = walker(installed("tour"))
    first = walk.runner.start(walk.workflow, {"topic": "a topic"}, True)
    assert first.run is not None
    second = walk.go(first.run, records={"summary": "seen"})
    told = enter().json(f"/runs/{second.id}/turns/1")
    assert told["block"] == first.text
    assert told["visit"]["report"]["facts"] == [{"name": "summary", "value": "seen", "plain": False}]
    assert (told["before"], told["after"]) == (None, 2)
    for number in ("0", "9", "-1", "x", "9" * 5_000):
        assert enter().get(f"/runs/{second.id}/turns/{number}").status_code == 404


def test_each_role_sees_what_its_level_shows(enter: Enter, asking: Run, project: Path) -> None:
    user = enter("END_USER")
    text = user.get(f"/runs/{asking.id}").text
    assert "Is it good?" in text
    assert "test -s proof.txt" not in text
    assert "missing-evidence" not in text
    told = user.json(f"/runs/{asking.id}")
    assert told["visits"][3]["report"]["facts"] == []
    assert told["run"]["params"] == {}
    assert user.json(f"/compare?a={asking.id}&b={asking.id}")["params"] == []
    assert "a topic" not in text
    assert [one["ok"] for one in told["visits"][3]["report"]["evidence"]] == [True, True]
    assert user.json(f"/runs/{asking.id}/turns/4")["block"] == ""


def test_a_role_that_sees_nothing_sees_and_does_nothing(hidden: None, asking: Run, enter: Enter) -> None:
    user = enter("END_USER")
    text = user.get(f"/runs/{asking.id}").text
    assert "Is it good?" not in text
    assert "prove" not in text
    told = user.json(f"/runs/{asking.id}")
    assert (told["visits"], told["run"]["question"], told["run"]["params"]) == ([], None, {})
    assert user.json("/runs")["runs"][0]["waits"] == {}
    assert user.get(f"/runs/{asking.id}/turns/1").status_code == 404
    assert user.post(f"/runs/{asking.id}/answer", answer="yes", turn=str(asking.turn)).status_code == 409


def test_the_way_through_a_long_run_is_in_parts(
    enter: Enter, installed: Install, walker: Walk, loops: Callable[[int], Run]
) -> None:
    run = loops(120)
    browser = enter()
    told = browser.json(f"/runs/{run.id}")
    assert (told["pages"], told["page"], told["turns"]) == (3, 3, 121)
    assert len(told["visits"]) == 21
    assert browser.json(f"/runs/{run.id}?page=1")["visits"][0]["turn"] == 1
    assert browser.json(f"/runs/{run.id}?turn=60")["page"] == 2
    assert 'id="turn-60"' in browser.get(f"/runs/{run.id}?turn=60").text


@pytest.fixture
def loops(installed: Install, project: Path) -> Callable[[int], Run]:
    """A run of one step that was repeated so often."""

    def walked(times: int) -> Run:
        from tests.fixtures import skill

        steps = "StepDef('one', 'One', 'Do.', {'ok': None, 'iterate': 'one'}, requires=[Field('seen')])"
        walk = Walker(installed("loop", skill.source_of("loop", steps)), project)
        run = walk.start()
        for number in range(times):
            run = walk.go(run, records={"seen": str(number)}, outcome="iterate")
        return run

    return walked


def test_two_runs_are_compared_step_by_step(enter: Enter, asking: Run, installed: Install, walker: Walk) -> None:
    walk = walker(installed("tour"))
    other = walk.go(walk.start(topic="another"), records={"summary": "seen"})
    told = enter().json(f"/compare?a={asking.id}&b={other.id}")
    assert told["same_workflow"] is True
    assert told["params"][0] == {"name": "topic", "values": ["a topic", "another"]}
    steps = {one["step"]: [run["entered"] for run in one["runs"]] for one in told["steps"]}
    assert steps["prove"] == [1, 0]
    assert enter().get(f"/compare?a={asking.id}&b=nothing").status_code == 404
    assert "Compare two runs" in enter().get("/compare").text


@pytest.mark.req("X-01")
def test_a_skill_shows_where_agents_stumble(enter: Enter, asking: Run) -> None:
    told = enter().json("/skills/tour")
    [workflow] = told["workflows"]
    assert workflow["runs"] == 1
    prove = next(step for step in workflow["steps"] if step["step"] == "prove")
    assert (prove["entered"], prove["refusals"], prove["refused_for"]) == (1, 1, {"missing-evidence": 1})
    root = page(enter().get("/skills/tour").text)
    assert texts(root, "//*[local-name()='svg' and @class='plot']/*[local-name()='title']") == [
        "Refusals an entry, by step: prove 1.00"
    ]
    assert enter().get("/skills/nothing").status_code == 404
    row = next(one for one in enter().json("/skills")["skills"] if one["skill"] == "tour")
    assert [row[name] for name in ("runs", "ended", "success_rate", "startable")] == [1, 0, None, True]
    assert row["statuses"] == {"waiting": 1}


def test_a_person_starts_the_workflows_that_no_sub_agent_walks(enter: Enter, asking: Run) -> None:
    browser = enter()
    told = {one["workflow"]: one for one in browser.json("/skills/planner")["workflows"]}
    assert [name for name, one in told.items() if one["startable"]] == ["planner", "planner-executor"]
    assert list(told)[:2] == ["planner", "planner-executor"]
    assert told["planner-explore"]["of_sub_agents"] is True
    listed = {one["skill"]: one["startable"] for one in browser.json("/skills")["skills"]}
    assert [listed[name] for name in ("planner", "problem-analysis", "prompt-engineer")] == [True, True, False]
    folded = texts(page(browser.get("/skills/planner").text), "//details[@class='panel']/summary")
    assert "planner-explore Exploration for a plan: walked by sub-agents" in folded


@pytest.mark.parametrize(
    "path", ["/", "/runs/testrun1", "/runs/testrun1/turns/4", "/skills", "/skills/tour", "/compare"]
)
def test_each_page_is_sound_and_runs_no_inline_script(path: str, enter: Enter, asking: Run) -> None:
    text = enter().get(path).text
    root = page(text)
    assert root.xpath("//html/@lang") == ["en"]
    assert len(root.xpath("//h1")) == 1
    assert len(root.xpath("//main")) == 1
    ids = root.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert not root.xpath("//@style | //style")
    assert not root.xpath("//script[not(@src)]")
    assert not [name for found in root.iter() for name in found.attrib if name.startswith("on")]
    for link in root.xpath("//@href | //@src | //@action"):
        assert re.match(r"/|#|\?", link), link
    labelled = set(root.xpath("//label/@for"))
    fields = root.xpath("//input[not(@type='hidden')] | //select | //textarea")
    assert all(field.get("id") in labelled or field.xpath("ancestor::label") for field in fields)
    targets = {link[1:] for link in root.xpath("//a/@href") if link.startswith("#")}
    assert targets <= set(ids)


HOSTILE = [
    "</textarea></div><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "\x1b[2J\x07\x9b31m red",
    "\u202egnp.exe\u2066x",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(1)",
]


def refused(walk: Walker, text: str) -> Run:
    """A run in which that text stands as a parameter, a value, and in a refusal, which may hold any character."""
    printable = text.replace("\x1b", "").replace("\x07", "")
    run = walk.start(topic=printable)
    evidence = [{"kind": "command", "what": text, "ok": False, "exit": 3, "why": "", "output": text}]
    detail = {"code": text, "asked": text, "why": text, "step": run.step, "evidence": evidence}
    walk.runner.ledger.note(run.id, run.turn, "refused", "agent", detail)
    return walk.go(run, records={"summary": printable})


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_values_are_shown_as_text(text: str, enter: Enter, installed: Install, walker: Walk) -> None:
    walk = walker(installed("tour"))
    run, plain = refused(walk, text), refused(walk, "plain words")
    browser = enter()
    for path in ("/runs/{}", "/runs/{}/turns/1", "/compare?a={}&b=" + run.id):
        answer = browser.get(path.format(run.id))
        assert answer.status_code == 200
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", answer.text)
        counts = [
            len(page(browser.get(path.format(one.id)).text).xpath("//script | //img | //*[local-name()='svg']"))
            for one in (run, plain)
        ]
        assert counts[0] == counts[1]
    told = browser.json(f"/runs/{run.id}")
    assert told["visits"][0]["events"][0]["facts"][1]["value"] == text


def test_half_a_character_is_in_the_data_as_it_is_in_the_record(enter: Enter, installed: Install, walker: Walk) -> None:
    walk = walker(installed("plain"))
    run = walk.start()
    walk.runner.ledger.note(run.id, run.turn, "refused", "agent", {"code": "odd", "why": "a\udcffb"})
    browser = enter()
    assert browser.json(f"/runs/{run.id}")["visits"][0]["events"][0]["facts"][1]["value"] == "a\udcffb"
    assert "a?b" in browser.get(f"/runs/{run.id}").text


@pytest.mark.parametrize("name", ["..\\runs\\testrun1\\pause?", "a?b#c", "<b>", "\u202etour"])
def test_the_name_of_a_skill_leads_to_its_own_pages_alone(
    name: str, enter: Enter, asking: Run, project: Path, installed: Install
) -> None:
    script = installed("plain")
    script.parent.parent.rename(project / name)
    (project / ".claude" / "skills").mkdir(parents=True, exist_ok=True)
    (project / name).rename(project / ".claude" / "skills" / name)
    root = page(enter().get("/skills").text)
    for link in root.xpath("//main//a/@href | //main//form/@action"):
        assert re.fullmatch(r"/[\w-]+/(skills/[^/?#\\<>]+(/start)?|runs\?skill=[^/?#\\<>]+)", link), link


def test_a_field_of_a_megabyte_makes_no_page_of_megabytes(enter: Enter, installed: Install, walker: Walk) -> None:
    walk = walker(installed("part"))
    run = walk.start(what="x")
    walk.runner.ledger.note(run.id, run.turn, "refused", "agent", {"code": "odd", "why": "y" * 1_000_000})
    browser = enter()
    assert len(browser.get(f"/runs/{run.id}").text) < 60_000
    assert len(browser.get("/").text) < 60_000
    [asked, why] = browser.json(f"/runs/{run.id}")["visits"][0]["events"][0]["facts"]
    assert (asked["value"], why["value"]) == ("", "y" * 1_000_000)


@pytest.mark.parametrize("name", ["..", "%2e%2e", "a%2fb", "%00", "x" * 3_000, "testrun1%0d%0aset-cookie:x=1"])
def test_a_strange_address_is_no_page(name: str, enter: Enter, asking: Run) -> None:
    answer = enter().get(f"/runs/{name}")
    assert answer.status_code in (200, 404)  # a client makes the list of runs of /runs/..
    assert "set-cookie" not in answer.headers
    assert asking.id not in answer.text or name in ("..", "%2e%2e")


def test_a_file_is_downloaded_and_no_other(enter: Enter, asking: Run, project: Path) -> None:
    browser = enter()
    answer = browser.get(f"/runs/{asking.id}/file?path=proof.txt")
    assert answer.content == b"x\n"
    assert answer.headers["content-disposition"] == 'attachment; filename="proof.txt"'
    assert answer.headers["content-type"] == "application/octet-stream"
    for path in ("../project/proof.txt", "/etc/passwd", ".lockstep/runs.db", "nothing.txt", ""):
        assert browser.get(f"/runs/{asking.id}/file?path={path}").status_code == 404
    (project / "proof.txt").unlink()
    (project / "proof.txt").symlink_to("/etc/hostname")
    assert browser.get(f"/runs/{asking.id}/file?path=proof.txt").status_code == 404


def test_a_damaged_ledger_is_told_and_the_server_stays(enter: Enter, asking: Run, project: Path) -> None:
    browser = enter()
    with Ledger(paths.home(str(project))) as ledger, ledger.database:
        ledger.database.execute("UPDATE runs SET sum='x'")
    answer = browser.get(f"/runs/{asking.id}")
    assert answer.status_code == 503
    assert "is damaged" in answer.text
    assert browser.get("/skills/tour/start").status_code == 200

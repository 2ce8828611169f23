"""lockstep status: what a tree of skills holds, and the page that says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from skills.lib.commands.queries import inventory
from skills.lib.validation import registration
from tests.commands.conftest import Command
from tests.fixtures import skill

pytestmark = pytest.mark.slow

Install = Callable[..., Path]
ROOT = Path(__file__).resolve().parents[2]
BAD = "StepDef('one', 'One', 'Do.', {'ok': 'tow'}), StepDef('two', 'Two', 'Do.', {'ok': None})"


@pytest.fixture
def suite(project: Path) -> Callable[..., Path]:
    """Writes a test that takes every transition of the project's skills, or of one of them."""

    def write(where: str = "skills", name: str = "test_walks.py") -> Path:
        file = project / "tests" / name
        file.parent.mkdir(exist_ok=True)
        words = f'from skills.lib.testing import every_transition\n\ntest_it = every_transition("{where}")\n'
        file.write_text(words, encoding="utf-8")
        return file

    return write


def catalogued(project: Path, **purposes: str) -> None:
    (project / "skills" / "catalogue.json").write_text(json.dumps(purposes), encoding="utf-8")


@pytest.mark.req("W-14")
def test_a_tree_is_counted_against_its_catalogue(
    cli: Command, installed: Install, project: Path, suite: Callable[..., Path], snapshot: SnapshotAssertion
) -> None:
    for name in ("brood", "gated", "tour"):
        installed(name)
    suite()
    catalogued(project, tour="a tour", planner="plans | carries out", gated="a loop")
    shown = cli("status", "--json")
    assert shown.code == 0
    found = {one["name"]: one for one in json.loads(shown.out)}
    assert list(found) == ["tour", "planner", "gated", "brood"]
    assert found["planner"] == {
        "name": "planner",
        "purpose": "plans | carries out",
        "path": None,
        "workflow": False,
        "skill_md_faults": None,
        "workflows": [],
    }
    (tour,) = found["tour"]["workflows"]
    assert tour == {
        "file": "skills/tour/scripts/tour_workflow.py",
        "name": "tour",
        "steps": 7,
        "reviews": 0,
        "questions": 1,
        "transitions": 12,
        "tested": 12,
        "sealed": False,
        "error": "",
    }
    (gated,) = found["gated"]["workflows"]
    assert (gated["steps"], gated["reviews"], gated["transitions"], gated["tested"]) == (4, 1, 5, 5)
    assert [one["name"] for one in found["brood"]["workflows"]] == ["brood", "part"]
    assert cli("status").out == snapshot


def test_without_a_catalogue_the_tree_alone_is_counted(cli: Command, installed: Install) -> None:
    installed("plain")
    (found,) = json.loads(cli("status", "--json").out)
    assert (found["name"], found["purpose"], found["workflow"]) == ("plain", "A skill of a test, called plain", True)
    assert "1 of 1 skills are Workflows: 1 workflow" in cli("status").out


def test_what_is_broken_is_no_workflow_and_is_told(cli: Command, installed: Install) -> None:
    installed("bad", skill.source_of("bad", BAD))
    (installed("plain").parents[1] / "SKILL.md").write_text("no frontmatter\n", encoding="utf-8")
    shown = cli("status")
    assert shown.code == 0
    assert "1 of 2 skills are Workflows" in shown.out
    assert "bad: " in shown.err
    rows = {line.split()[0]: line for line in shown.out.splitlines()}
    assert "broken" in rows["bad"]
    assert "1 error" in rows["plain"]


def test_a_skill_without_a_graph_is_no_workflow(cli: Command, project: Path) -> None:
    (project / "skills" / "prose").mkdir(parents=True)
    text = "---\nname: prose\ndescription: Words alone. And more.\n---\n\n# Prose\n"
    (project / "skills" / "prose" / "SKILL.md").write_text(text, encoding="utf-8")
    (found,) = json.loads(cli("status", "--json").out)
    assert (found["workflow"], found["purpose"], found["skill_md_faults"]) == (False, "Words alone", 0)
    assert "no workflow" in cli("status").out


def test_a_graph_without_an_entry_script_is_not_tested(cli: Command, installed: Install) -> None:
    installed("plain").unlink()
    (found,) = json.loads(cli("status", "--json").out)
    (graph,) = found["workflows"]
    assert (graph["tested"], graph["error"]) == (0, "no entry script beside plain_workflow.py")
    assert graph["transitions"] > 0


def test_a_seal_counts_only_where_it_is_good(cli: Command, installed: Install) -> None:
    script = installed("plain")
    assert cli("validate", "skills", "--seal").code == 0
    assert json.loads(cli("status", "--json").out)[0]["workflows"][0]["sealed"] is True
    script.with_name("plain.seal").write_text(f"0000 {registration.RULES}\n", encoding="ascii")
    assert json.loads(cli("status", "--json").out)[0]["workflows"][0]["sealed"] is False


@pytest.mark.req("W-14")
def test_the_page_is_written_checked_and_found_stale(cli: Command, installed: Install, project: Path) -> None:
    installed("plain")
    page = project / "MIGRATION_STATUS.md"
    assert cli("status", "--check").code == 1
    assert not page.exists()
    assert cli("status", "--write").code == 0
    assert "| plain | A skill of a test, called plain | plain (2) |" in page.read_text(encoding="utf-8")
    assert cli("status", "--check").code == 0
    page.write_text("Before.\n\n" + page.read_text(encoding="utf-8") + "\nAfter.\n", encoding="utf-8")
    assert cli("status", "--check").code == 0
    installed("part")
    stale = cli("status", "--check")
    assert stale.code == 1
    assert "\n+| part | " in stale.out
    assert "lockstep status --write" in stale.err
    cli("status", "--write")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("Before.\n\n# Migration status\n")
    assert text.endswith("\nAfter.\n")
    assert cli("status", "--check").code == 0


def test_a_page_without_the_marks_is_left_alone(cli: Command, installed: Install, project: Path) -> None:
    installed("plain")
    (project / "MIGRATION_STATUS.md").write_text("# Mine\n", encoding="utf-8")
    shown = cli("status", "--write")
    assert shown.code == 3
    assert "add the lines <!-- skills --> and <!-- /skills -->" in shown.err
    assert (project / "MIGRATION_STATUS.md").read_text(encoding="utf-8") == "# Mine\n"


@pytest.mark.parametrize("text", ["[]", "{", '{"a": 1}', "\xff"])
def test_a_catalogue_that_is_none_is_named(text: str, cli: Command, installed: Install, project: Path) -> None:
    installed("plain")
    (project / "skills" / "catalogue.json").write_bytes(text.encode("latin-1"))
    shown = cli("status")
    assert shown.code == 2
    assert str(project / "skills" / "catalogue.json") in shown.err


@pytest.mark.parametrize("words", [["--write", "--check"], ["--check", "--json"], ["nowhere"]])
def test_what_cannot_be_meant_is_refused(words: list[str], cli: Command, installed: Install) -> None:
    installed("plain")
    assert cli("status", *words).code == 2


def test_a_tree_without_skills_is_no_error(cli: Command, project: Path) -> None:
    shown = cli("status", "--write")
    assert (shown.code, shown.out) == (0, "")
    assert "No skill is found" in shown.err
    assert not (project / "MIGRATION_STATUS.md").exists()


def test_what_a_purpose_holds_stays_in_its_cell(project: Path) -> None:
    text = "a | b\n<!-- /skills --> `c`\x1b[2J"
    page = inventory.page("", [inventory.SkillStatus("odd", text)])
    assert page.count("<!-- /skills -->") == 1
    (row,) = [line for line in page.splitlines() if line.startswith("| odd ")]
    assert row == "| odd | a \\| b &lt;!-- /skills --> \\`c\\`?[2J | not yet |  |  |  |  |"


def counts(cli: Command) -> dict[str, tuple[int, int]]:
    """The tested transitions of each skill, and all."""
    found = json.loads(cli("status", "--json").out)
    return {
        one["name"]: tuple(sum(each[what] for each in one["workflows"]) for what in ("tested", "transitions"))
        for one in found
    }


@pytest.mark.req("W-14")
def test_a_transition_counts_as_tested_only_while_a_test_takes_it(
    cli: Command, installed: Install, project: Path, suite: Callable[..., Path]
) -> None:
    installed("gated")
    installed("plain")
    assert counts(cli) == {"gated": (0, 5), "plain": (0, 3)}
    assert "0 of 8 transitions are taken by tests." in cli("status").out
    suite("skills/gated")
    other = suite("skills/plain", "plain_test.py")
    before = sorted(project.rglob("*"))
    assert counts(cli) == {"gated": (5, 5), "plain": (3, 3)}
    assert sorted(project.rglob("*")) == before
    assert cli("status", "--write").code == 0
    other.unlink()
    stale = cli("status", "--check")
    assert stale.code == 1
    assert "\n+| plain | A skill of a test, called plain | plain (2) |  | 0 of 3 |" in stale.out


def test_a_test_of_one_s_own_takes_the_walks_that_it_is_given(cli: Command, installed: Install, project: Path) -> None:
    installed("tour")
    (project / "test_one.py").write_text(
        """
import pytest
from skills.lib.runtime import loading
from skills.lib.testing import every_walk

SCRIPT = "skills/tour/scripts/tour.py"
WALKS = sorted(every_walk(loading.workflow_of_script(SCRIPT)), key=lambda walk: len(walk.legs))

@pytest.mark.parametrize("script, walk", [(SCRIPT, WALKS[0])])
def test_one(script, walk): ...

@pytest.mark.parametrize("walk", WALKS)
def test_another(walk): ...
""",
        encoding="utf-8",
    )
    assert counts(cli) == {"tour": (5, 12)}


@pytest.mark.parametrize(
    "source, why",
    [
        ("every_transition\n", "test_walks.py cannot be collected, and is not counted: "),
        ("import os\nos._exit(3)  # every_transition\n", "pytest cannot collect the tests: it ended with 3"),
    ],
)
def test_tests_that_cannot_be_collected_are_told_and_no_page_is_written(
    source: str, why: str, cli: Command, installed: Install, suite: Callable[..., Path], project: Path
) -> None:
    installed("plain")
    suite("skills/plain", "test_good.py")
    suite().write_text(source, encoding="utf-8")
    shown = cli("status")
    assert shown.code == 0
    assert why in shown.err
    for word in ("--write", "--check"):
        refused = cli("status", word)
        assert refused.code == 4
        assert why in refused.err
    assert not (project / "MIGRATION_STATUS.md").exists()


def test_without_pytest_nothing_is_said_to_be_tested(
    cli: Command, installed: Install, suite: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    installed("plain")
    suite()
    monkeypatch.setattr("skills.lib.commands.queries.coverage.find_spec", lambda name: None)
    shown = cli("status")
    assert shown.err == "pytest is not installed: which transitions are tested is not known\n"
    assert cli("status", "--check").code == 4


def test_the_catalogue_of_this_tree_names_every_skill_that_it_has() -> None:
    known = inventory.catalogue(str(ROOT))
    assert len(known) == 11
    assert {path.parent.name for path in (ROOT / "skills").glob("*/SKILL.md")} <= set(known)

"""What a run of each skill costs: measured, bounded, and as README says; and that the counting counts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.cost import answers, figures, texts
from benchmarks.cost.agent import Walk
from benchmarks.cost.meter import Meter
from benchmarks.cost.texts import Missing, Point
from skills.lib.testing.blocks import PrintedBlock, Spec

pytestmark = pytest.mark.slow

SKILLS = [
    *(
        "code-quality",
        "codebase-analysis",
        "decision-critic",
        "deepthink",
        "doc-sync",
        "incoherence",
        "leon-writing-style",
    ),
    *("planner", "problem-analysis", "prompt-engineer", "refactor", "safe-shell-search"),
    *("solution-design", "task-spec-check"),
]
# Characters of all that the texts of a skill say: a form may change, what is said does not shrink.
SAID = {
    "code-quality": 2_811,
    "codebase-analysis": 9_252,
    "decision-critic": 9_185,
    "deepthink": 24_968,
    "doc-sync": 6_715,
    "incoherence": 18_216,
    "leon-writing-style": 5_666,
    "planner": 56_681,
    "problem-analysis": 6_822,
    "prompt-engineer": 6_821,
    "refactor": 12_174,
    "safe-shell-search": 737,
    "solution-design": 12_893,
    "task-spec-check": 202,
}
BLOCK = """<step protocol="1" skill="tea" id="brew" number="1" of="2" title="Brew" run="abcdefgh" turn="1">
  <STATE>Tea: step 1 of 2.</STATE>
  <CONTEXT>
    <value name="leaf">green</value>
    <value step="find" name="notes" file="FOLDER/notes.txt">long … (9 characters; read the file for all of it)</value>
  </CONTEXT>
  <DO>
Read `guide.md` once. Another one, `README.md`, is the project's.

  1. Brew it.
  </DO>
  <RECORD>
    <field name="minutes" type="int" required="true">how long it drew</field>
  </RECORD>
  <FORBIDDEN>
    <rule>Do not drink it yet.</rule>
  </FORBIDDEN>
  <INVOKE_AFTER>
    <outcome name="ok" to="done">it is brewed</outcome>
  </INVOKE_AFTER>
  <NEXT required="true">python3 tea.py --step done --record minutes=FILL_minutes</NEXT>
</step>
"""


@pytest.mark.req("E-01")
@pytest.mark.parametrize("skill", [*SKILLS, "planner-quick"])
def test_an_honest_run_stays_within_its_bound_and_costs_what_readme_says(skill: str) -> None:
    found = figures.cost(skill)
    assert found.meter.refused == 0
    assert found.total <= figures.BUDGETS[skill]
    told = re.search(rf"^\| {skill} \|(.*)\|$", figures.README.read_text(encoding="utf-8"), re.MULTILINE)
    assert told is not None
    commands, read, repeated, typed, _, plain = [cell.strip() for cell in told[1].split("|")]
    again = "run python -m benchmarks.cost, which writes README's table"
    assert int(commands) == found.meter.commands, again
    assert thousands(read) == pytest.approx(found.meter.read, rel=0.02, abs=600), again
    assert thousands(typed) == pytest.approx(found.meter.typed, rel=0.02, abs=600), again
    assert int(repeated.split()[0]) == pytest.approx(100 * found.meter.repeated.total() / found.meter.read, abs=2), (
        again
    )
    assert float(plain.split()[-2]) == pytest.approx(found.times, abs=0.2), again


def thousands(cell: str) -> float:
    return 1000 * float(cell.removesuffix(" k").replace(",", ""))


def test_each_skill_of_the_catalogue_is_walked() -> None:
    assert texts.skills() == SKILLS
    assert sorted(figures.BUDGETS) == sorted([*SKILLS, "planner-quick"])
    assert sorted(path.parent.name for path in figures.README.parent.glob("skills/*/SKILL.md")) == SKILLS


@pytest.mark.parametrize("skill", SKILLS)
def test_what_the_texts_say_does_not_shrink(skill: str) -> None:
    def said(value: object) -> int:
        if isinstance(value, dict):
            return sum(map(said, value.values()))
        return sum(map(said, value)) if isinstance(value, list) else len(str(value))

    loaded = texts.Texts(skill)
    assert said(loaded.said) >= SAID[skill]


def test_a_report_is_typed_once() -> None:
    typed = figures.cost("problem-analysis").meter.typed
    said = sum(len(str(value)) for table in texts.Texts("problem-analysis").said.values() for value in table.values())
    assert typed < 1.6 * said


def test_a_block_is_counted_by_its_parts_and_what_comes_again_as_repeated(tmp_path: Path) -> None:
    meter = metered(tmp_path)
    text = BLOCK.replace("FOLDER", str(tmp_path / "shop"))
    meter.print(PrintedBlock(0, text))
    neutral = BLOCK.replace("FOLDER", "/home/user/shop")
    assert meter.read == len(neutral) + len("0123456\n8\n") + len("Steep it.\n")
    assert meter.sections["STATE"] == len("  <STATE>Tea: step 1 of 2.</STATE>\n")
    assert meter.sections["FORBIDDEN"] == len("  <FORBIDDEN>\n    <rule>Do not drink it yet.</rule>\n  </FORBIDDEN>\n")
    assert meter.sections["files"] == len("0123456\n8\n") + len("Steep it.\n")
    assert (meter.commands, meter.refused, meter.repeated.total()) == (1, 0, 0)
    once = meter.read
    meter.print(PrintedBlock(0, text))
    assert (meter.commands, meter.read) == (2, 2 * once)
    assert meter.repeated.total() == once - len("\n")


@pytest.mark.parametrize("milestone", ["M-001", "M-001 | S1: no hour is named"])
def test_the_part_of_the_milestone_of_context_is_a_file_that_is_handed(tmp_path: Path, milestone: str) -> None:
    meter = metered(tmp_path)
    part = tmp_path / "shop" / "plan" / ".parts" / "M-001.md"
    part.parent.mkdir(parents=True)
    part.write_text("One milestone.\n")
    given = f'<value name="plan">plan</value>\n    <value name="milestone">{milestone}</value>'
    text = BLOCK.replace("FOLDER", str(tmp_path / "shop")).replace("guide.md", ".parts/ID.md")
    meter.print(PrintedBlock(0, text.replace('<value name="leaf">green</value>', given)))
    assert meter.sections["files"] == len("0123456\n8\n") + len("One milestone.\n")


def test_the_plain_way_has_each_line_of_the_texts_once(tmp_path: Path) -> None:
    meter = metered(tmp_path)
    for _ in range(2):
        meter.print(PrintedBlock(0, BLOCK.replace("FOLDER", str(tmp_path / "shop"))))
    assert {"1. Brew it.", "<rule>Do not drink it yet.</rule>", "how long it drew"} <= meter.prose
    assert "green" not in " ".join(meter.prose)
    assert list(meter.references.values()) == ["Steep it.\n"]


def metered(folder: Path) -> Meter:
    """A meter of a project and a skill in a folder."""
    for path, text in {
        "shop/notes.txt": "0123456\n8\n",
        "shop/README.md": "Tea.\n",
        "tea/resources/guide.md": "Steep it.\n",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    project, skill = str(folder / "shop"), str(folder / "tea")
    return Meter([(project, "/home/user/shop")], project, skill, [f"{project}/README.md"])


def test_what_is_typed_is_counted_wherever_the_project_lies(tmp_path: Path) -> None:
    meter = metered(tmp_path)
    meter.type(f"python3 tea.py --project {tmp_path / 'shop'}")
    assert meter.typed == len("python3 tea.py --project /home/user/shop")


def test_a_walk_stops_if_no_text_says_what_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)
    walk = Walk("problem-analysis", tmp_path)
    monkeypatch.setattr(walk.texts, "step", lambda *names: {})
    with pytest.raises(Missing, match=r"no text says problem-analysis.gate.problem"):
        walk.walk()


@pytest.fixture
def points() -> list[Point]:
    def point(name: str, step: str, kind: str, scope: str, **judged: str) -> Point:
        first = {"status": "PASS", "place": "a.py:1", "finding": "", **judged}
        return Point(name, step, kind, scope, [], f"{name} holds", "MUST", "", [first, {"place": "a.py:2"}])

    return [
        point("C-01", "read", "", "plan"),
        point("C-02", "look", "keeps", "W1", status="FAIL", finding="it does not"),
        point("C-03", "look", "keeps", "W2"),
    ]


def test_one_judgement_is_given_in_the_form_that_a_block_asks_for(points: list[Point]) -> None:
    def field(name: str, kind: str) -> Spec:
        return Spec(name, kind, True, (), None, None, "")

    said = {"id": "S2", "status": "FAIL", "place": "a.py:1", "severity": "MUST", "finding": "it does not"}
    assert answers.formed(field("answers", "answers"), "S2", points[1], 1) == said
    assert (
        answers.formed(field("answers", "list"), "C-02", points[1], 1)
        == "C-02 | W1 | C-02 holds | FAIL | a.py:1: it does not"
    )
    item = {**said, "id": "C-02", "scope": "W1", "check": "C-02 holds"}
    assert answers.formed(field("items", "items"), "C-02", points[1], 1) == item
    assert answers.formed(field("items", "items"), "C-02", points[1], 2)["status"] == "PASS"


def test_targets_of_a_check_that_fare_alike_share_an_answer(points: list[Point]) -> None:
    assert answers.checked("keeps", ["W1", "W2"], points, 1) == [
        {"id": "keeps", "status": "FAIL", "finding": "it does not", "place": {"W1": "a.py:1"}},
        {"id": "keeps", "status": "PASS", "place": {"W2": "a.py:1"}},
    ]
    assert answers.checked("keeps", ["W1", "W2"], points, 2) == [
        {"id": "keeps", "status": "PASS", "place": {"W1": "a.py:2", "W2": "a.py:2"}},
    ]
    assert answers.of_one_check([("C-01", "plan"), ("keeps-1", "W1"), ("keeps-2", "W2")], points) == {
        "keeps-1": "keeps",
        "keeps-2": "keeps",
    }
    assert answers.of_one_check([("C-01", "plan"), ("keeps-1", "W1")], points) == {}


def test_the_file_of_a_finding_s_place_is_read_off_its_line() -> None:
    assert answers.place_in("- now-1 (MUST) it holds: docs/a.md:3 says [no]. [docs/a.md:3-5]") == "docs/a.md"
    assert answers.place_in("- now-1 (MUST) it holds: docs/a.md:3 says no") == ""
    assert answers.is_at("M-001/src/a.py", "plans/p/.changes/M-001/src/a.py")
    assert not answers.is_at("a.py", "plans/p/.changes/M-001/src/ba.py")
    assert not answers.is_at("", "a.py")


def test_the_place_of_a_copy_is_told_without_its_folder() -> None:
    given = [{"id": "S1", "place": "plan/.changes/M-001/a.py:1"}, {"id": "b", "place": {"M-001": "plan/plan.md:2"}}]
    assert answers.without_folder(given, "plan/.changes/") == [
        {"id": "S1", "place": "M-001/a.py:1"},
        {"id": "b", "place": {"M-001": "plan/plan.md:2"}},
    ]


def test_what_is_to_be_judged_is_read_off_the_block(points: list[Point]) -> None:
    assert answers.items_in("- C-01 (SHOULD, M-001): it holds\n- S2 (MUST, whole): so does this") == [
        ("C-01", "M-001"),
        ("S2", "whole"),
    ]
    listed = (
        "- keeps (MUST): it survives. Targets: W1, W2\n- sound (MUST): all can be done.\n"
        "- true (MUST), for each target:\n    a.md: it is so\n    b.md: so is this\n"
        "- left (SHOULD): it was rightly left. Targets:\n-   D2: the code is wrong"
    )
    assert answers.checks_in(listed) == {
        "keeps": ["W1", "W2"],
        "sound": ["all"],
        "true": ["a.md", "b.md"],
        "left": ["D2"],
    }
    assert [
        answers.point_of(name, scope, points).id for name, scope in (("C-01", ""), ("keeps-7", "W2"), ("S2", ""))
    ] == [
        "C-01",
        "C-03",
        "C-02",
    ]
    with pytest.raises(Missing, match=r"no text judges order-1 \(all\)"):
        answers.point_of("order-1", "all", points)


def test_the_tables_have_a_row_for_each_skill_and_part(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "walks", lambda: ["planner", "problem-analysis"])
    assert main(["cost", "--quick", "--json"]) == 0
    skills, parts, largest = json.loads(capsys.readouterr().out)["benchmarks"]["cost"]
    assert [row["skill"] for row in skills["rows"]] == ["problem-analysis"]
    assert {"DO", "CONTEXT", "RECORD", "FORBIDDEN", "NEXT"} <= {row["part"] for row in parts["rows"]}
    assert sum(row["characters"] for row in parts["rows"]) == skills["rows"][0]["read"]
    assert len(largest["rows"]) == 6

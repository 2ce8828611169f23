"""The parts of a plan: what each sub-agent reads of it, written with every version."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.fixtures import small_project
from tests.fixtures.small_project import plan, plan_data, write

WHERE = "plans/shop"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The small project under git, with its plan saved and its changes collected."""
    small_project.make(tmp_path)
    small_project.save_plan(tmp_path, WHERE)
    return tmp_path


def part(root: Path, name: str) -> str:
    """A part as its sub-agent reads it."""
    return (root / WHERE / ".parts" / name).read_text(encoding="utf-8")


def test_a_milestone_s_part_has_what_it_rests_on_and_no_other_milestone(root: Path) -> None:
    own = part(root, "M-002.md")
    assert "Files: `shop/export.py`, `tests/test_export.py`" in own
    assert "- to_csv(orders) gives a row for each order" in own
    assert "D-002 (assumed) A name that begins like a formula gets a quote in front." in own
    assert "D-001" not in own.replace("(D-001)", "")
    assert "## Made by M-001\n\n- I-001 `shop/prices.py`: total() adds up count * cents" in own
    assert "- C-001 (user-specified) No dependencies." in own
    assert "- The accountant opens the CSV in a spreadsheet." in own
    assert "- lint: `" in own
    assert "three lines of 5 cents at 50 percent cost 8 cents" not in own
    assert "README.md" not in own
    assert "```diff" not in own


def test_the_part_of_documents_rests_on_every_decision_and_on_all_code(root: Path) -> None:
    own = part(root, "M-003.md")
    for text in (
        "- D-001 (documented)",
        "- D-002 (assumed)",
        "- R-001 Decimal",
        "## Made by M-001",
        "## Made by M-002",
    ):
        assert text in own


def test_the_reviewer_of_code_is_handed_the_code_with_its_differences(root: Path) -> None:
    code = part(root, "code.md")
    assert "+    return (full * (100 - discount) + 50) // 100" in code
    assert "- K-001 Totals of old orders change by cents.: Accepted by the user." in code
    assert "The README tells of both" not in code
    assert "## Request" not in code


def test_the_reviewer_of_documents_is_handed_reasons_files_and_comments(root: Path) -> None:
    texts = part(root, "docs.md")
    assert "CH-001 `shop/prices.py`\n\n- total(): why the sum is rounded and not the lines" in texts
    assert "- It says when the discount is rounded, and what to_csv does with odd names" in texts
    assert "to_csv(orders) gives a row for each order" not in texts
    assert "```diff" not in texts


def test_a_milestone_is_handed_the_risks_in_its_files_and_texts_with_their_blanks(root: Path) -> None:
    draft = plan()
    draft["risks"].append({"id": "K-002", "risk": "shop/prices.py:6 may overflow.", "mitigation": "A test."})
    draft["milestones"][0]["acceptance"] = ["as_text() gives '  3:00\n  shop'"]
    write(root, {f"{WHERE}/draft.json": json.dumps(draft)})
    plan_data(root, "save", WHERE, f"{WHERE}/draft.json")
    own, other = part(root, "M-001.md"), part(root, "M-002.md")
    assert "- K-002 shop/prices.py:6 may overflow.: A test." in own
    assert "K-001" not in own
    assert "K-002" not in other
    assert "- as_text() gives '  3:00 shop'" in own


def test_a_new_version_rewrites_the_parts_and_drops_those_of_former_milestones(root: Path) -> None:
    write(root, {f"{WHERE}/.parts/notes.md": "mine\n"})
    draft = plan("M-001")
    draft["milestones"][0]["requirements"] = ["total() rounds half up"]
    write(root, {f"{WHERE}/draft.json": json.dumps(draft)})
    plan_data(root, "save", WHERE, f"{WHERE}/draft.json")
    names = sorted(path.name for path in (root / WHERE / ".parts").iterdir())
    assert names == [".gitignore", "M-001.md", "code.md", "docs.md", "notes.md"]
    assert "- total() rounds half up" in part(root, "M-001.md")


def test_parts_are_in_no_commit_and_the_executor_writes_them_again(root: Path) -> None:
    listed = small_project.git(root, "ls-files", "--others", "--exclude-standard", WHERE)
    assert [path for path in listed.split() if ".parts" in path] == []
    before = part(root, "code.md")
    small_project.git(root, "add", ".")
    small_project.git(root, "clean", "-qxdf")
    assert not (root / WHERE / ".parts").exists()
    plan_data(root, "work", WHERE)
    assert part(root, "code.md") == before


def test_parts_are_written_into_no_folder_that_a_link_leads_to(tmp_path: Path) -> None:
    root, other = tmp_path / "shop", tmp_path / "other"
    other.mkdir()
    small_project.make(root)
    write(root, {f"{WHERE}/draft.json": json.dumps(plan())})
    (root / WHERE / ".parts").symlink_to(other, target_is_directory=True)
    with pytest.raises(subprocess.CalledProcessError) as caught:
        plan_data(root, "save", WHERE, f"{WHERE}/draft.json")
    assert caught.value.returncode == 4
    assert "version 1 is kept, and .parts beside it cannot be written" in caught.value.stdout
    assert list(other.iterdir()) == []

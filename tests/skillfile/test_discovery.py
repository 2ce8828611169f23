from __future__ import annotations

import os
from pathlib import Path

import pytest

from skills.lib.errors import UsageError
from skills.lib.skillfile import discover

ENTRY = 'from skills.bootstrap import main\n\nif __name__ == "__main__":\n    main(__file__)\n'


def make(folder: Path, name: str | None = None) -> Path:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {name or folder.name}\ndescription: d\n---\n")
    return folder


def paths(root: Path) -> list[str]:
    return [skill.path.relative_to(root).as_posix() for skill in discover(root)]


def test_finds_skills_wherever_they_live_sorted_by_path(tmp_path: Path) -> None:
    for place in ("skills/b", "skills/a", ".claude/skills/c", ".agents/skills/d", "e", "deep/er/still/f"):
        make(tmp_path / place)
    assert paths(tmp_path) == [".agents/skills/d", ".claude/skills/c", "deep/er/still/f", "e", "skills/a", "skills/b"]


def test_the_root_itself_may_be_a_skill(tmp_path: Path) -> None:
    assert [skill.name for skill in discover(make(tmp_path / "x"))] == ["x"]


def test_skips_what_is_not_the_authors(tmp_path: Path) -> None:
    for place in (".git/a", ".venv/b", "node_modules/c", "__pycache__/d", ".lockstep/e"):
        make(tmp_path / place)
    make(tmp_path / "env" / "lib" / "f")
    (tmp_path / "env" / "pyvenv.cfg").touch()
    assert paths(tmp_path) == []


def test_finds_entry_scripts_and_workflows_at_any_depth(tmp_path: Path) -> None:
    scripts = make(tmp_path / "x") / "scripts"
    (scripts / "qr").mkdir(parents=True)
    for name in ("x.py", "qr/review.py"):
        (scripts / name).write_text(ENTRY)
    for name in ("x_workflow.py", "qr/review_workflow.py", "helper.py"):
        (scripts / name).write_text("WORDS = 'from skills.bootstrap import main'\n")
    [skill] = discover(tmp_path)
    assert [path.relative_to(scripts).as_posix() for path in skill.scripts] == ["qr/review.py", "x.py"]
    assert [path.relative_to(scripts).as_posix() for path in skill.workflows] == [
        "qr/review_workflow.py",
        "x_workflow.py",
    ]
    assert skill.loaded is not None
    assert skill.loaded.description == "d"


def test_an_entry_script_with_broken_syntax_is_still_one(tmp_path: Path) -> None:
    scripts = make(tmp_path / "x") / "scripts"
    scripts.mkdir()
    (scripts / "x.py").write_text(ENTRY + "def (:\n")
    assert [path.name for path in discover(tmp_path)[0].scripts] == ["x.py"]


def test_a_broken_skill_is_found_with_its_error(tmp_path: Path) -> None:
    make(tmp_path / "good")
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: x\nname: y\n---\n")
    broken, good = discover(tmp_path)
    assert (broken.name, broken.loaded) == ("broken", None)
    assert str(broken.error) == f"{folder / 'SKILL.md'}:3:1: the frontmatter has the key 'name' twice"
    assert good.error is None


def test_a_file_called_otherwise_is_a_broken_skill(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "skill.md").write_text("---\nname: x\ndescription: d\n---\n")
    [skill] = discover(tmp_path)
    assert skill.error is not None
    assert skill.error.remedy == "rename it to SKILL.md"


def test_a_page_about_skills_is_no_skill(tmp_path: Path) -> None:
    (tmp_path / "skill.md").write_text("# What a skill is\n")
    assert discover(tmp_path) == []


def test_an_entry_script_with_odd_bytes_is_still_one(tmp_path: Path) -> None:
    scripts = make(tmp_path / "x") / "scripts"
    scripts.mkdir()
    (scripts / "x.py").write_bytes(b"# caf\xe9\x0c\n" + ENTRY.encode())
    assert [path.name for path in discover(tmp_path)[0].scripts] == ["x.py"]


def test_links_out_of_the_root_are_not_followed(tmp_path: Path) -> None:
    outside = make(tmp_path / "outside" / "x")
    (outside / "scripts").mkdir()
    (outside / "scripts" / "x_workflow.py").touch()
    root = tmp_path / "root"
    inside = make(root / "y")
    (inside / "scripts").mkdir()
    (inside / "scripts" / "y_workflow.py").symlink_to(outside / "scripts" / "x_workflow.py")
    (root / "x").symlink_to(outside)
    (root / "loop").symlink_to(root)
    (root / "z").mkdir()
    (root / "z" / "SKILL.md").symlink_to(outside / "SKILL.md")
    found = {skill.name: skill for skill in discover(root)}
    assert sorted(found) == ["y", "z"]
    assert found["y"].workflows == ()
    assert "leads out of its folder" in str(found["z"].error)


def test_a_folder_whose_listing_fails_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "good")
    (tmp_path / "closed").mkdir()
    scandir = os.scandir

    def failing(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", failing)
    closed, good = discover(tmp_path)
    assert str(closed.error) == f"{tmp_path / 'closed'}: cannot be listed: Permission denied"
    assert good.error is None


def test_a_root_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a folder"):
        discover(tmp_path / "nowhere")

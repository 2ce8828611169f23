from __future__ import annotations

import os
from pathlib import Path

import pytest

from skills.lib.skillfile import SkillFileError, load_skill

GOOD = "---\nname: x\ndescription: d\n---\n"


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SkillFileError, match="cannot be opened: No such file") as caught:
        load_skill(tmp_path)
    assert str(tmp_path / "SKILL.md") in str(caught.value)


def test_a_folder_of_that_name_is_reported(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").mkdir()
    with pytest.raises(SkillFileError, match="is not a regular file"):
        load_skill(tmp_path)


def test_a_fifo_is_refused_and_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "SKILL.md")
    with pytest.raises(SkillFileError, match="is not a regular file"):
        load_skill(tmp_path)


def test_a_device_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SkillFileError, match="is not a regular file"):
        load_skill("/dev/zero")


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(GOOD)
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / "SKILL.md").symlink_to(outside)
    with pytest.raises(SkillFileError, match="leads out of its folder"):
        load_skill(folder)


def test_a_link_inside_the_folder_and_a_linked_folder_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / "text.md").write_text(GOOD)
    (folder / "SKILL.md").symlink_to("text.md")
    (tmp_path / "link").symlink_to("x")
    assert load_skill(tmp_path / "link").name == "x"


def test_a_link_to_itself_is_reported(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").symlink_to("SKILL.md")
    with pytest.raises(SkillFileError):
        load_skill(tmp_path)


def test_a_hard_link_to_another_file_does_not_show_its_content(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("---\ntoken: hunter2 : hunter2\n---\n")
    os.link(secret, tmp_path / "SKILL.md")
    with pytest.raises(SkillFileError) as caught:
        load_skill(tmp_path)
    assert "hunter2" not in "\n".join(caught.value.lines())


def test_an_unreadable_name_is_reported() -> None:
    with pytest.raises(SkillFileError, match="cannot be opened"):
        load_skill("a\0b")

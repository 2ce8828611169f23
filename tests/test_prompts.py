from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from skills.lib.errors import SkillError, UsageError
from skills.lib.prompts import read_prompts, read_resource

TEXT = """# Prompts of the test

What stands here is for readers of the file.

## gate

State one testable problem.

```markdown
## not a section
```

## investigate (again)
Look further.
"""


def module(folder: Path) -> str:
    scripts = folder / "scripts"
    scripts.mkdir()
    (folder / "resources" / "deep").mkdir(parents=True)
    return str(scripts / "problem_analysis_workflow.py")


def test_sections_are_read_by_title(tmp_path: Path) -> None:
    file = module(tmp_path)
    (tmp_path / "scripts" / "problem_analysis_prompts.md").write_text(TEXT, encoding="utf-8")
    prompts = read_prompts(file)
    assert dict(prompts) == {
        "gate": "State one testable problem.\n\n```markdown\n## not a section\n```",
        "investigate (again)": "Look further.",
    }


@pytest.mark.parametrize(
    "title, what, remedy",
    [
        (
            "report",
            "problem_analysis_prompts.md has no section 'report'",
            "add a line `## report` to it and the text under that",
        ),
        (
            "gatte",
            "problem_analysis_prompts.md has no section 'gatte'; did you mean 'gate'?",
            "write 'gate', or add a line `## gatte` to it and the text under that",
        ),
        (
            "Gate",
            "problem_analysis_prompts.md has no section 'Gate'; it has 'gate', and upper and lower case count",
            "write 'gate'",
        ),
    ],
)
def test_a_missing_section_is_reported_with_the_existing_ones_and_the_nearest(
    tmp_path: Path, title: str, what: str, remedy: str
) -> None:
    file = module(tmp_path)
    (tmp_path / "scripts" / "problem_analysis_prompts.md").write_text(TEXT, encoding="utf-8")
    with pytest.raises(SkillError) as caught:
        read_prompts(file)[title]
    assert caught.value.lines() == [what, "  valid: gate, investigate (again)", f"  try:   {remedy}"]


def test_a_section_that_stands_twice_is_refused(tmp_path: Path) -> None:
    file = module(tmp_path)
    (tmp_path / "scripts" / "problem_analysis_prompts.md").write_text("## a\none\n## a\ntwo\n", encoding="utf-8")
    with pytest.raises(SkillError, match="has the section 'a' twice"):
        read_prompts(file)


def test_a_missing_or_unreadable_prompt_file_is_reported(tmp_path: Path) -> None:
    file = module(tmp_path)
    path = tmp_path / "scripts" / "problem_analysis_prompts.md"
    with pytest.raises(SkillError, match="cannot be read: No such file"):
        read_prompts(file)
    path.write_bytes(b"## a\n\xff")
    with pytest.raises(SkillError, match="is not UTF-8 text"):
        read_prompts(file)
    path.write_text("## a\n" + "x" * 1_000_001, encoding="utf-8")
    with pytest.raises(SkillError, match="is larger than 1,000,000 characters"):
        read_prompts(file)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(SkillError, match="is not a regular file"):
        read_prompts(file)


def test_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    file = module(tmp_path)
    (tmp_path / "scripts" / "problem_analysis_prompts.md").write_bytes(b"## a\r\none\r\ntwo\r\n")
    assert read_prompts(file)["a"] == "one\ntwo"


@pytest.mark.req("W-16")
@pytest.mark.parametrize("place", ["", "deep/"])
def test_a_resource_is_read_from_its_skill(tmp_path: Path, place: str) -> None:
    file = module(tmp_path)
    (tmp_path / "resources" / place / "guide.md").write_text("the guide\n", encoding="utf-8")
    assert read_resource(file, place + "guide.md") == "the guide\n"
    deeper = str(tmp_path / "scripts" / "qr" / "review_workflow.py")
    assert read_resource(deeper, place + "guide.md") == "the guide\n"


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "../resources-evil/x", "link", "", "a\0b"])
def test_a_resource_outside_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    file = module(tmp_path)
    evil = tmp_path / "resources-evil"
    evil.mkdir()
    (evil / "x").write_text("secret", encoding="utf-8")
    (tmp_path / "resources" / "link").symlink_to(evil / "x")
    with pytest.raises(UsageError):
        read_resource(file, name)


def test_a_missing_resource_is_reported(tmp_path: Path) -> None:
    file = module(tmp_path)
    with pytest.raises(SkillError, match="cannot be read: No such file"):
        read_resource(file, "guide.md")
    with pytest.raises(SkillError, match="is not a regular file"):
        read_resource(file, "deep")


def test_a_module_outside_a_skill_has_no_resources(tmp_path: Path) -> None:
    with pytest.raises(SkillError, match="is not in a skill"):
        read_resource(str(tmp_path / "x_workflow.py"), "guide.md")


def test_reading_prompts_and_conventions_imports_nothing_dear() -> None:
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    code = (
        f"import sys; sys.path.insert(0, {root!r}); import skills.lib.prompts, skills.lib.conventions; "
        "skills.lib.conventions.get_convention('severity'); "
        "print(sorted(sys.modules.keys() & {'re', 'pathlib', 'typing', 'enum', 'dataclasses', 'json', 'difflib'}))"
    )
    printed = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout == "[]\n"

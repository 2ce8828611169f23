"""Copies and drift of the <tooling_guidance> block in prompt files, and their slim form."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.errors import UsageError
from skills.lib.layers import prompts

pytestmark = pytest.mark.req("L-04")
BLOCK = "<tooling_guidance>\n- Search with the pruner first.\n- Shell last.\n</tooling_guidance>\n"
LINE = "Follow the skill core for every search, read and shell command."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Prompts: three with the block (one of them indented), one with another, one without, and two that are broken."""
    texts = {
        "a.md": f"# A\n\n{BLOCK}\nDo a.\n",
        "b.md": f"# B\n\n{BLOCK}\nDo b.",
        "sub/c.md": "# C\n\n" + BLOCK.replace("- S", "  - S"),
        "d.md": f"# D\n\n{BLOCK.replace('Shell last', 'Shell whenever')}\nDo d.\n",
        "e.md": "# E\n\nDo e.\n",
        "f.md": "# F\n\n<tooling_guidance>\nno end\n",
        "g.md": f"{BLOCK}{BLOCK}",
    }
    for name, text in texts.items():
        path = tmp_path / "prompts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "prompts"


def test_each_prompt_is_identical_drifted_missing_or_broken(folder: Path) -> None:
    found = prompts.scan(str(folder), "core")
    assert {Path(one.path).name: one.state for one in found} == {
        "a.md": "identical",
        "b.md": "identical",
        "c.md": "identical",
        "d.md": "drifted",
        "e.md": "missing",
        "f.md": "broken",
        "g.md": "broken",
    }
    [drifted] = [one for one in found if one.state == "drifted"]
    assert drifted.drift == (
        "--- a/<tooling_guidance> of d.md\n+++ b/<tooling_guidance> of d.md\n@@ -1,4 +1,4 @@\n <tooling_guidance>\n"
        " - Search with the pruner first.\n-- Shell last.\n+- Shell whenever.\n </tooling_guidance>\n"
    )
    assert [one.why for one in found if one.state == "broken"] == [
        "it has 1 tags of tooling_guidance: one block has two",
        "it has 4 tags of tooling_guidance: one block has two",
    ]


def test_the_right_block_may_be_that_of_a_file(folder: Path) -> None:
    found = prompts.scan(str(folder), "core", str(folder / "d.md"))
    assert [Path(one.path).name for one in found if one.state == "identical"] == ["d.md"]
    with pytest.raises(UsageError, match=r"e\.md has no <tooling_guidance> block"):
        prompts.scan(str(folder), "core", str(folder / "e.md"))


def test_the_slim_form_has_one_line_in_place_of_the_block(folder: Path) -> None:
    first = prompts.scan(str(folder), "core")[0]
    assert first.slim == f"# A\n\n{LINE}\n\nDo a.\n"
    assert prompts.diff(first, str(folder)) == (
        "--- a/a.md\n+++ b/a.md\n@@ -1,8 +1,5 @@\n # A\n \n-<tooling_guidance>\n-- Search with the pruner first.\n"
        f"-- Shell last.\n-</tooling_guidance>\n+{LINE}\n \n Do a.\n"
    )
    assert prompts.slimmed("no block", "core") == "no block"


def test_a_plan_is_another_one_once_a_prompt_changed(folder: Path) -> None:
    before = prompts.plan(prompts.scan(str(folder), "core"))
    assert prompts.plan(prompts.scan(str(folder), "core")) == before
    (folder / "a.md").write_text("# A\n", encoding="utf-8")
    assert prompts.plan(prompts.scan(str(folder), "core")) != before


def test_links_and_binary_files_are_told_and_never_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(BLOCK)
    (folder / "h.md").symlink_to(tmp_path / "secret")
    (folder / "i.md").write_bytes(b"\xff\xfe")
    found = {Path(one.path).name: one for one in prompts.scan(str(folder), "core")}
    assert (found["h.md"].state, found["i.md"].state) == ("broken", "broken")
    assert found["h.md"].text == ""

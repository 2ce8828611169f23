"""Links between the files of this tree lead somewhere, and what the pages name exists."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from skills import __version__
from skills.lib.commands.console.app import SUBCOMMANDS
from skills.lib.runtime import loading

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    page
    for folder in (
        ROOT,
        ROOT / "docs",
        ROOT / "docs" / "hosts",
        ROOT / "skills" / "lib" / "workflow",
        ROOT / "conventions",
    )
    for page in folder.glob("*.md")
)
README = (ROOT / "README.md").read_text(encoding="utf-8")
# Kinds of fence whose content is run or written by docs/transcript.py, or is data that a test here reads.
FENCE = r"^(?P<ticks>```+)(?P<kind>\w*)\n.*?^(?P=ticks)\n"
FENCES = {"console", "json", "python", "text", "xml", "markdown", "sh", "yaml"}


def prose(page: Path) -> str:
    """The page without its fences and inline code."""
    text = re.sub(FENCE, "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "`code`", text)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as hosts of Markdown make them."""
    text = re.sub(FENCE, "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        assert found.is_relative_to(ROOT), target
        if anchor:
            assert anchor in anchors(found), target


def test_every_page_of_docs_is_listed() -> None:
    listed = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert f"({page.name})" in listed or page.name == "README.md", page.name
    hosts = (ROOT / "docs" / "hosts" / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs" / "hosts").glob("*.md"):
        assert f"({page.name})" in hosts or page.name == "README.md", page.name


@pytest.mark.parametrize("page", ["README.md", "docs/authoring.md", "docs/protocol.md", "docs/architecture.md"])
def test_every_fence_is_of_a_kind_that_is_run_or_read(page: str) -> None:
    fences = re.finditer(FENCE, (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    kinds = {fence["kind"] for fence in fences}
    assert kinds <= FENCES
    if page != "README.md":
        assert not {"sh", "yaml"} & kinds


def test_the_commands_of_the_readme_are_tasks() -> None:
    [shown] = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    tasks = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    commands = [line.split("#")[0].split() for line in shown.splitlines()]
    assert commands == [["make", "demo"], ["make", "demo-agent"], ["make", "test"]]
    assert {"demo", "demo-agent", "test", "docs", "docs-check", "bench"} <= set(tasks)


def test_the_hook_and_the_action_of_the_readme_exist() -> None:
    hook, action = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)]
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    [repository] = hook["repos"]
    assert [one["id"] for one in repository["hooks"]] == [one["id"] for one in hooks]
    inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    used = action["steps"][-1]
    assert set(used["with"]) <= set(inputs)
    assert used["uses"].partition("@")[2] == repository["rev"] == f"v{__version__}"


def test_every_skill_has_its_row(generate: Any) -> None:
    there = {path.parent.name for path in (ROOT / "skills").glob("*/SKILL.md")}
    assert there <= set(generate.migration_status.CATALOGUE)
    for name in there:
        steps = ", ".join(str(len(one.steps)) for one in generate.workflows(name)[0])
        assert f"| [{name}](skills/{name}/SKILL.md) | {generate.migration_status.CATALOGUE[name]} | {steps} |" in README
    assert loading.SUFFIX == "_workflow.py"


def test_the_changelog_names_every_subcommand_and_the_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{__version__}]" in text
    listed = text.partition("The `lockstep` command:")[2].partition("\n- ")[0]
    assert re.findall(r"`([a-z]+)`", listed) == list(SUBCOMMANDS)


def test_the_first_screen_of_the_readme_has_the_picture_the_installs_the_request_and_the_skills() -> None:
    screen = README.splitlines()[:40]
    wanted = (
        "](docs/refusal.svg)",
        "| Claude Code | `/plugin ",
        "| Codex | `codex plugin ",
        "| Gemini CLI | `gemini ",
        "`pip install <LOCKSTEP>`, then `lockstep install`",
        "> Use the skill problem-analysis ",
        "| [problem-analysis](",
    )
    found = [next((at for at, line in enumerate(screen) if text in line), 40) for text in wanted]
    assert found == sorted(found)
    assert found[-1] < 40


def test_the_cost_that_the_readme_sums_up_is_that_of_its_table() -> None:
    table = README.partition("<!-- cost -->")[2].partition("<!-- /cost -->")[0]
    times = [float(cell) for cell in re.findall(r": ([\d.]+) times \|$", table, re.MULTILINE)]
    assert f": {min(times)} to {max(times)} times the characters" in README


def test_the_readme_has_a_place_for_the_figures() -> None:
    assert re.search(r"^<!-- figures -->\n.*^<!-- /figures -->$", README, re.DOTALL | re.MULTILINE)

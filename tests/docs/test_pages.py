"""Every page is as its commands, examples and sources make it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "docs" / "generate.py"
PACKAGING = """.agents/plugins/marketplace.json .claude-plugin/marketplace.json .claude-plugin/plugin.json
.codex-plugin/plugin.json gemini-extension.json hooks/claude.json hooks/codex.json""".split()
PAGES: list[Any] = [
    "README.md",
    "MIGRATION_STATUS.md",
    "docs/api.md",
    pytest.param("docs/adopting.md", marks=pytest.mark.req("E-06")),
    "docs/architecture.md",
    pytest.param("docs/authoring.md", marks=pytest.mark.req("W-20")),
    "docs/cli.md",
    "docs/founding/autonomous-execution.md",
    "docs/founding/forced-skills.md",
    "docs/founding/layered-skills.md",
    "docs/founding/plans.md",
    pytest.param("docs/hooks.md", marks=pytest.mark.req("H-02")),
    pytest.param("docs/hosts/README.md", marks=pytest.mark.req("H-01", "H-04")),
    "docs/lockstep.rng",
    pytest.param("docs/migrating.md", marks=pytest.mark.req("W-14")),
    pytest.param("docs/operating.md", marks=pytest.mark.req("A-08.3")),
    pytest.param("docs/protocol.md", marks=pytest.mark.req("W-11", "W-24")),
    "docs/refusal.svg",
    "docs/rules.md",
    pytest.param("docs/workflow.schema.json", marks=pytest.mark.req("E-05")),
    pytest.param("skills/lib/workflow/README.md", marks=pytest.mark.req("W-23")),
]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *words], capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_the_page_is_as_its_sources_make_it(page: str) -> None:
    done = run("--check", page)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.req("H-05")
def test_the_files_for_hosts_are_as_their_sources_make_them() -> None:
    done = run("--check", *PACKAGING)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_generated_page_is_checked_here(generate: Any) -> None:
    named = [*PACKAGING] + [str(page.values[0]) if hasattr(page, "values") else page for page in PAGES]
    assert sorted(named) == sorted(generate.PAGES)


def test_a_stale_page_is_named_and_shown_and_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo two\none\n```\n")
    done = run("--check", str(page))
    assert done.returncode == 1
    assert f"stale: {page}" in done.stderr
    assert "\n-one\n+two\n" in done.stdout
    assert page.read_text() == "```console\n$ echo two\none\n```\n"


def test_a_stale_page_is_written_anew(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo two\none\n```\n")
    assert run(str(page)).returncode == 0
    assert page.read_text() == "```console\n$ echo two\ntwo\n```\n"
    assert run("--check", str(page)).returncode == 0


def test_a_page_whose_example_fails_is_named_and_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\n1 / 0\n```\n")
    done = run(str(page))
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert page.read_text() == "```python\n1 / 0\n```\n"


@pytest.mark.slow
def test_a_page_without_its_section_is_an_error(generate: Any) -> None:
    with pytest.raises(ValueError, match="there is no section skills"):
        generate.migration("# Migration status\n")


@pytest.mark.slow
def test_the_migration_table_says_what_the_tree_says(generate: Any) -> None:
    page = generate.migration("<!-- skills -->\n<!-- /skills -->\n".replace("\n<!-- /", "\n\n<!-- /"))
    assert "14 of 14 skills are Workflows: " in page
    assert "not yet" not in page
    assert "problem-analysis (5)" in page


@pytest.mark.parametrize(
    "page, codes",
    [
        ("README.md", ["skipped-step"]),
        ("docs/protocol.md", ["missing-evidence", "person-needed"]),
        pytest.param(
            "docs/authoring.md",
            ["missing-evidence", "skipped-step", "forged-verdict"],
            marks=pytest.mark.req("W-20"),
        ),
    ],
)
def test_the_page_shows_these_refusals_and_no_other(page: str, codes: list[str]) -> None:
    """Writing a page anew takes what is printed; this holds it to what the page is about."""
    assert re.findall(r'<refused .*code="([a-z-]+)"', (ROOT / page).read_text(encoding="utf-8")) == codes


@pytest.mark.req("W-20")
def test_the_author_s_guide_comes_to_a_valid_tested_gated_and_sealed_skill() -> None:
    page = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
    assert page.count("Nothing is wrong in 1 skill, 1 workflow.") == 3
    assert re.findall(r"^(\d+) passed", page, re.MULTILINE) == ["2", "4"]
    assert "error[unknown-target] release-notes:approve:fail" in page
    assert "reviewed, verdict fail." in page
    assert "\nrelease-notes.seal\n" in page


@pytest.mark.slow
def test_the_example_of_the_author_s_guide_has_types(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
    for name in ("release_notes_workflow.py", "test_release_notes.py"):
        source = re.search(rf"<!-- file: \S*{name} -->\n\n```python\n(.*?)```", page, re.DOTALL)
        assert source is not None
        (tmp_path / name).write_text(source[1], encoding="utf-8")
    words = [
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        os.devnull,
        "--cache-dir",
        str(tmp_path / "cache"),
        str(tmp_path),
    ]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines()[-1:] == ["Success: no issues found in 2 source files"], done.stdout

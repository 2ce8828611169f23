"""What an installation of the first format left, copies of the library, is replaced; the user's edits stay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fixtures.skill import ROOT
from tests.hosts.conftest import Command, sign, tree

pytestmark = pytest.mark.req("H-01")
FILES: dict[str, str] = json.loads((ROOT / "tests" / "fixtures" / "installed_v1.json").read_text())
SKILL = ".agents/skills/problem-analysis"


@pytest.fixture
def first(project: Path) -> Path:
    """A project with such an installation for Codex, of one skill with a few files of its library."""
    for name, text in FILES.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return project


def test_its_manifest_without_a_signature_is_named_with_the_command_that_replaces_it(cli: Command, first: Path) -> None:
    shown = cli("installed")
    assert "codex  project  unknown" in shown.out
    assert "codex.json was not written on this machine, and decides nothing" in shown.out
    assert "lockstep install codex --scope project takes its place" in shown.out


INSTALL = ("install", "codex", "--scope", "project", "--skill", "problem-analysis")


def test_an_installation_replaces_the_copies(cli: Command, first: Path) -> None:
    shown = cli(*INSTALL)
    assert shown.code == 0, shown.err
    assert {name for name, data in tree(first).items() if data is not None} == {
        *(f"{SKILL}/SKILL.md", f"{SKILL}/scripts/problem_analysis.py"),
        *(f"{SKILL}/scripts/problem_analysis_{part}" for part in ("prompts.md", "workflow.py")),
        *(".codex/hooks.json", ".lockstep/.gitignore", ".lockstep/installed/codex.json"),
    }
    assert (
        "/runtimes/" in json.loads((first / ".codex/hooks.json").read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    )
    assert cli("uninstall", "codex").code == 0
    assert tree(first) == {".git": None}


def test_the_users_edits_stay(cli: Command, first: Path) -> None:
    edited = [f"{SKILL}/SKILL.md", ".codex/agents/architect.toml"]
    for name in edited:
        (first / name).write_text(FILES[name] + "\n# Mine.\n")
    shown = cli(*INSTALL)
    assert (shown.code, "2 files stay as you have them" in shown.err) == (3, True)
    assert [(first / name).read_text() for name in edited] == [FILES[name] + "\n# Mine.\n" for name in edited]
    assert cli("uninstall", "codex").code == 3
    assert [name for name in edited if (first / name).is_file()] == edited
    assert cli("uninstall", "codex", "--force").code == 0
    assert tree(first) == {".git": None}


def test_one_that_was_interrupted_is_completed(cli: Command, first: Path) -> None:
    record = first / ".lockstep" / "installed" / "codex.json"
    manifest = json.loads(record.read_text())
    name = f"{SKILL}/SKILL.md"
    digest = manifest["files"].pop(name)
    journal = {
        "tag": "abc",
        "committed": True,
        "puts": {name: [digest, ""]},
        "removals": {},
        "folders": [],
        "then": None,
    }
    record.write_text(json.dumps({**manifest, "intended": journal}))
    sign(record)
    assert "codex  project  interrupted" in cli("installed").out
    assert cli("upgrade").code == 0
    assert cli("uninstall", "codex").code == 0
    assert tree(first) == {".git": None}

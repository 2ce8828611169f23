"""Manifests that were damaged, or that a cloned project brings along: none reaches what is not Lockstep's."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.conftest import SKILL, Command, plant, tree

pytestmark = pytest.mark.req("H-01")
COMMANDS = (["installed"], ["upgrade", "--force"], ["uninstall", "claude", "--force"])


# What belongs to an installation.


@pytest.mark.parametrize(
    "name",
    [
        ".claude/settings.local.json",
        ".claude/CLAUDE.md",
        ".claude/commands/mine.md",
        ".claude/agents/mine.md",
        ".claude/agents/deep/architect.md",
        ".claude/skills/own/SKILL.md",
        ".claude/skills/README.md",
        ".claude/skills",
    ],
)
@pytest.mark.parametrize("place", ["files", "first files", "puts", "removals"])
def test_a_planted_manifest_does_not_reach_the_users_own_files(
    cli: Command, project: Path, name: str, place: str
) -> None:
    path = project / name
    path.parent.mkdir(parents=True)
    path.write_text("{}") if path.suffix else path.mkdir()
    digest = sha256(b"{}").hexdigest()
    under_way: dict[str, Any] = {"puts": {}, "removals": {}, "then": None}
    planted: dict[str, dict[str, Any]] = {
        "files": {"files": {name: [digest]}},
        "first files": {"format": 1, "merged": {}, "files": {name: digest}},
        "puts": {"format": 1, "merged": {}, "intended": {**under_way, "puts": {name: [digest, digest]}}},
        "removals": {"format": 1, "merged": {}, "intended": {**under_way, "removals": {name: digest}}},
    }
    plant(project, "claude", **planted[place])
    before = tree(project)
    for command in COMMANDS:
        shown = cli(*command)
        assert (shown.code, f"nothing of claude belongs at {name!r}" in shown.err) == (4, True), shown
    assert tree(project) == before


@pytest.mark.parametrize("name", ["../x", "/x", "a/b", "", ".", "..", "x\n", "x\\y", "x\ud800"])
def test_a_planted_manifest_names_no_skill_that_is_a_path(cli: Command, project: Path, name: str) -> None:
    plant(project, skills={name: "skills/x"})
    shown = cli("installed")
    assert shown.code == 4
    assert "cannot be used: " in shown.err
    assert "is no name" in shown.err


# What a manifest that this machine did not write decides.


def test_a_foreign_manifest_does_not_choose_scope_skills_or_hooks(cli: Command, project: Path, home: Path) -> None:
    plant(project, hooks=False, skills={"evil": "evil"})
    evil = project / "evil" / "scripts"
    evil.mkdir(parents=True)
    (evil.parent / "SKILL.md").write_text("---\nname: evil\ndescription: Does x. Use it.\n---\n")
    (evil / "evil.py").write_text("main(__file__)\n")
    (evil / "evil_workflow.py").write_text(f"open({str(project / 'ran')!r}, 'w').close()\n")
    before = tree(project)
    shown = cli("install", "claude")
    assert shown.code == 0, shown.err
    assert shown.out.startswith("claude, user scope: ")
    assert (home / ".claude" / "settings.json").is_file()
    assert tree(project) == before
    assert cli("install", "claude", "--scope", "project").code == 0
    listed = {one["scope"]: one for one in json.loads(cli("installed", "--json").out)}
    assert (listed["project"]["hooks"], "evil" in listed["project"]["skills"]) == (True, False)
    assert not (project / "ran").exists()
    assert not (project / ".claude" / "skills" / "evil").exists()


def test_a_foreign_manifest_brings_no_folder_from_outside_into_the_project(
    cli: Command, project: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "SKILL.md").write_text("---\nname: v\ndescription: Does x. Use it.\n---\n")
    (outside / "key.txt").write_text("secret")
    planted = plant(project, skills={"v": "../outside"})
    before = tree(project)
    for command in ("upgrade", "uninstall claude", "upgrade claude --scope project --force"):
        shown = cli(*command.split())
        assert (shown.code, f"{planted} was not written on this machine" in shown.err) == (2, True), shown
    assert tree(project) == before


def test_a_foreign_manifest_beside_an_installation_is_named(cli: Command, project: Path) -> None:
    cli("install", "codex", "--scope", "project", "--skill", SKILL)
    planted = plant(project, "qwen", skills={"x": "skills/x"})
    shown = cli("upgrade")
    assert (shown.code, f"{planted} was not written on this machine, and decides nothing" in shown.err) == (0, True)
    assert json.loads(cli("installed", "--json").out)[1]["state"] == "unknown"


def test_a_manifest_that_was_changed_by_hand_is_foreign(cli: Command, project: Path) -> None:
    cli("install", "codex", "--scope", "project", "--skill", SKILL)
    path = project / ".lockstep" / "installed" / "codex.json"
    path.write_text(path.read_text().replace('"hooks": true', '"hooks": false'))
    assert "was not written on this machine" in cli("upgrade").err
    assert cli("install", "codex", "--scope", "project", "--skill", SKILL).code == 0
    assert json.loads(cli("installed", "--json").out)[0]["state"] == "current"
    assert cli("uninstall", "codex").code == 0
    assert tree(project) == {".git": None}


# Values of another kind.


@pytest.mark.parametrize(
    "more",
    [
        {"files": {".claude/skills/x/\ud800": ["d"]}},
        {"files": {".claude/skills/x/" + "a" * 300: ["d"]}},
        {"files": {".claude/skills/x/" + "a/" * 2500 + "b": ["d"]}},
        {"files": {".claude/skills/x/\0": ["d"]}},
        {"files": {".claude/skills/x/y": "d"}},
        {"files": {".claude/skills/x/y": [1]}},
        {"files": []},
        {"skills": {"x": 5}},
        {"skills": {"x": "/a\0b"}},
        {"skills": {"x": "/a\ud800"}},
        {"stops": -5},
        {"stops": "3"},
        {"stops": True},
        {"entries": {"Stop": 5}},
        {"entries": ["Stop"]},
        {"format": 3},
        {"format": 1, "merged": {}, "intended": "x"},
        {"format": 1, "merged": {".claude/settings.local.json": []}},
        {"format": 1, "merged": {".claude/settings.local.json": {"entries": {"Stop": 5}, "made": []}}},
        {"format": 1, "merged": {"a": {}, "b": {}}},
    ],
)
def test_a_manifest_with_values_of_another_kind_cannot_be_used(
    cli: Command, project: Path, more: dict[str, Any]
) -> None:
    plant(project, **{"skills": {"x": "skills/x"}, **more})
    before = tree(project)
    for command in COMMANDS:
        shown = cli(*command)
        assert (shown.code, "claude.json cannot be used: " in shown.err) == (4, True), shown
    assert tree(project) == before


@pytest.mark.parametrize(
    "text", ["[" * 200_000, '{"format":1,"stops":1e400}', '{"format":1,"stops":' + "9" * 5_000 + "}"]
)
def test_a_manifest_that_no_reader_takes_cannot_be_used(cli: Command, project: Path, text: str) -> None:
    plant(project).write_text(text)
    for command in COMMANDS:
        assert cli(*command).code == 4


# One host's damage.


def test_a_damaged_manifest_does_not_hold_up_hosts_with_folders_of_their_own(cli: Command, project: Path) -> None:
    assert cli("install", "claude", "--scope", "project", "--skill", SKILL).code == 0
    damaged = plant(project, "gemini")
    damaged.write_text("{")
    shown = cli("installed")
    assert (shown.code, f"the manifest {damaged} cannot be used" in shown.err) == (4, True)
    assert "claude  project  current" in shown.out
    listed = {one["host"]: (one["state"], one["problem"]) for one in json.loads(cli("installed", "--json").out)}
    assert listed["claude"] == ("current", "")
    assert listed["gemini"][0] == "unknown"
    assert f"the manifest {damaged} cannot be used" in listed["gemini"][1]
    skill_file = project / ".claude" / "skills" / SKILL / "SKILL.md"
    skill_file.unlink()
    shown = cli("upgrade")
    assert (shown.code, f"the manifest {damaged} cannot be used" in shown.err) == (4, True)
    assert skill_file.is_file()
    assert cli("install", "claude", "--scope", "project", "--skill", SKILL).code == 0
    assert cli("uninstall", "claude").code == 0
    assert not skill_file.exists()


def test_a_damaged_manifest_holds_up_the_hosts_that_share_a_folder_with_it(cli: Command, project: Path) -> None:
    assert cli("install", "codex", "--scope", "project", "--skill", SKILL).code == 0
    plant(project, "gemini").write_text("{")
    before = tree(project)
    shown = cli("uninstall", "codex")
    assert (shown.code, "gemini.json cannot be used" in shown.err) == (4, True)
    assert tree(project) == before


def test_a_damaged_manifest_of_the_other_scope_does_not_undo_what_was_said(
    cli: Command, project: Path, home: Path
) -> None:
    place = home / ".local" / "state" / "lockstep" / "installed" / "claude.json"
    place.parent.mkdir(parents=True)
    place.write_text("{")
    shown = cli("install", "claude", "--scope", "project", "--skill", SKILL)
    assert (shown.code, "To start a skill" in shown.err) == (0, True)

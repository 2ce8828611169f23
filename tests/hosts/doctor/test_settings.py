"""Settings that cannot be edited, that are no file, or that switch hooks off; and what an uninstallation leaves."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.conftest import SKILL, Command, place_of, tree
from tests.hosts.doctor.examined import of, only

pytestmark = [pytest.mark.req("H-01"), pytest.mark.usefixtures("path")]
SETTINGS = {
    "claude": ".claude/settings.local.json",
    "codex": ".codex/hooks.json",
    "qwen": ".qwen/settings.json",
    "gemini": ".gemini/settings.json",
}


def commented(cli: Command, project: Path, host: str = "gemini") -> Path:
    """An installation whose settings have a comment since."""
    assert cli("install", host, "--scope", "project", "--skill", SKILL).code == 0
    path = project / SETTINGS[host]
    path.write_text("// mine\n" + path.read_text())
    return path


# A comment in settings, after the installation.


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_uninstall_leaves_settings_that_it_cannot_edit_and_takes_the_rest(
    cli: Command, project: Path, force: list[str]
) -> None:
    path = commented(cli, project)
    text = path.read_text()
    gone = cli("uninstall", "gemini", *force)
    assert gone.code == 3
    assert gone.err == (
        "Hooks stay in settings that are no plain JSON any more. Make it plain and run the same command again, or take "
        "out by hand what names run_hook.py:\n  .gemini/settings.json: Expecting value: line 1 column 1 (char 0)\n"
    )
    assert path.read_text() == text
    assert sorted(tree(project)) == [
        ".gemini",
        ".gemini/settings.json",
        ".git",
        ".lockstep",
        ".lockstep/.gitignore",
        ".lockstep/installed",
        ".lockstep/installed/gemini.json",
    ]
    assert "  kept     .gemini/settings.json (hooks)\n" in cli("installed").out
    path.write_text(text.removeprefix("// mine\n"))
    assert cli("uninstall", "gemini").code == 0
    assert tree(project) == {".git": None}


@pytest.mark.parametrize("host", sorted(SETTINGS))
def test_hooks_that_are_added_by_hand_as_told_are_those_of_an_installation(
    cli: Command, project: Path, host: str
) -> None:
    path = commented(cli, project, host)
    written = json.loads(path.read_text().removeprefix("// mine\n"))
    (project / ".lockstep" / "installed" / f"{host}.json").unlink()
    refused = cli("install", host, "--scope", "project", "--skill", SKILL)
    assert refused.code == 3
    assert json.loads(refused.err.partition("by hand: ")[2])["hooks"] == written["hooks"]


def test_settings_whose_hooks_were_taken_out_by_hand_are_left_alone(cli: Command, project: Path) -> None:
    path = commented(cli, project)
    path.write_text("// mine\n{}\n")
    assert cli("uninstall", "gemini").code == 0
    assert tree(project) == {".git": None, ".gemini": None, ".gemini/settings.json": b"// mine\n{}\n"}


def test_an_installation_without_hooks_goes_on_if_settings_cannot_be_edited(
    cli: Command, doctor: Any, project: Path
) -> None:
    path = commented(cli, project)
    skill_file = project / ".agents" / "skills" / SKILL / "SKILL.md"
    skill_file.unlink()
    without = f"lockstep install gemini --scope project --skill {SKILL} --no-hooks"
    remedy = f"make it plain JSON; or go without hooks: {without}; then you may add by hand: {{"
    refused = cli("upgrade")
    assert (refused.code, f"  try:   {remedy}" in refused.err) == (3, True)
    assert set(json.loads(refused.err.partition("by hand: ")[2])["hooks"]) >= {"BeforeTool", "AfterAgent"}
    assert only(doctor("gemini"), "gemini", "files").remedy.startswith(remedy)
    assert f"  try:   {remedy}" in cli("installed").out
    done = cli("install", "gemini", "--scope", "project", "--skill", SKILL, "--no-hooks")
    assert (done.code, "line 1 column 1 (char 0)" in done.err) == (3, True)
    assert skill_file.is_file()
    assert json.loads(cli("installed", "--json").out)[0]["state"] == "stuck"
    result = only(doctor("gemini"), "gemini", "files")
    assert result.remedy == f"make it plain JSON; then lockstep upgrade gemini --scope project --project {project}"
    path.write_text(path.read_text().removeprefix("// mine\n"))
    assert cli("upgrade").code == 0
    assert not path.exists()
    assert json.loads(cli("installed", "--json").out)[0]["state"] == "current"


# To the byte.


@pytest.mark.parametrize(
    "text, left",
    [
        ("{ }", "{}"),
        ('{"a": [1, 2], "é": {}}', '{"a": [1, 2], "é": {}}'),
        ('{ "a" : [1,2 , 3] }', '{"a": [1, 2, 3]}'),
        ('{\n\t"a": [1]}\n', '{\n\t"a": [\n\t\t1\n\t]\n}\n'),
        ('{"hooks":{ "PreToolUse":[ ] ,"X":[{"hooks":[]}]}}', '{"hooks": {"X": [{"hooks": []}]}}'),
    ],
)
def test_settings_keep_their_values_and_indentation(cli: Command, project: Path, text: str, left: str) -> None:
    """Spaces that no JSON writer would put are lost, and so are empty lists of events."""
    path = project / SETTINGS["claude"]
    path.parent.mkdir()
    path.write_text(text)
    assert cli("install", "claude", "--scope", "project", "--skill", SKILL).code == 0
    assert set(json.loads(path.read_text())["hooks"]) >= {"PreToolUse", "Stop"}
    assert cli("install", "claude", "--scope", "project", "--stops", "5").code == 0
    assert cli("uninstall", "claude").code == 0
    assert path.read_text() == left


# Settings that are no file.


@pytest.mark.req("H-03")
@pytest.mark.parametrize("host", ["claude", "opencode"])
@pytest.mark.parametrize("kind", ["device", "pipe", "folder"])
def test_settings_that_are_no_file_are_reported_and_not_read(doctor: Any, project: Path, host: str, kind: str) -> None:
    """The doctor read a terminal for ever, and waited for a writer of a pipe."""
    path = Path(place_of(host, "project", project).hooks)
    path.parent.mkdir(parents=True)
    if kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    result = only(doctor(host), host, "hooks")
    assert (result.status, result.where, result.remedy) == ("problem", str(path), "move it away")
    assert result.what == "the settings of hooks (project) are no regular file, and are not read"


# Hooks that are switched off.


@pytest.mark.req("H-03")
@pytest.mark.parametrize(
    "host, name, text, key",
    [
        ("claude", ".claude/settings.local.json", '{"disableAllHooks": true}', "disableAllHooks"),
        ("claude", ".claude/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
        ("claude", "~/.claude/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
        ("qwen", ".qwen/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
        ("qwen", "~/.qwen/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
        ("gemini", ".gemini/settings.json", '{"hooksConfig": {"enabled": false}}', "hooksConfig.enabled"),
        ("gemini", "~/.gemini/settings.json", '{"hooksConfig": {"enabled": false}}', "hooksConfig.enabled"),
    ],
)
def test_hooks_that_settings_switch_off_are_reported(
    doctor: Any, cli: Command, project: Path, home: Path, host: str, name: str, text: str, key: str
) -> None:
    path = home / name[2:] if name.startswith("~") else project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    assert cli("install", host, "--scope", "project", "--skill", SKILL).code == 0
    result = only(doctor(host), host, "hooks")
    assert (result.status, result.where) == ("warning", str(path))
    assert result.what == f"hooks are installed, and {key} in these settings switches all of them off"
    assert result.remedy == f"take {key} out of it"


@pytest.mark.req("H-03")
@pytest.mark.parametrize("host", ["claude", "qwen", "gemini", "codex"])
@pytest.mark.parametrize("text", ['{"disableAllHooks": false, "hooksConfig": {"enabled": true}}', '{"hooksConfig": 1}'])
def test_hooks_that_settings_do_not_switch_off_are_well(
    doctor: Any, cli: Command, project: Path, host: str, text: str
) -> None:
    path = project / SETTINGS[host]
    path.parent.mkdir()
    path.write_text(text)
    assert cli("install", host, "--scope", "project", "--skill", SKILL).code == 0
    assert [one.status for one in of(doctor(host), host, "hooks")] == ["ok"]


# What is in the way, and what is left.


@pytest.mark.req("H-03")
@pytest.mark.parametrize("kind", ["a link", "a file with a second name (a hard link)"])
def test_what_is_in_the_place_of_an_installed_file_is_reported_with_what_helps(
    doctor: Any, cli: Command, project: Path, kind: str
) -> None:
    assert cli("install", "claude", "--scope", "project", "--skill", SKILL).code == 0
    path = project / ".claude" / "skills" / SKILL / "SKILL.md"
    path.rename(project / "real.md")
    path.symlink_to(project / "real.md") if kind == "a link" else os.link(project / "real.md", path)
    result = only(doctor("claude"), "claude", "files")
    assert f"{path} is {kind}, and is neither followed nor replaced" in result.what
    remedy = "put a plain file or folder there, or move it away; then run the same command again"
    assert result.remedy == remedy
    assert f"  try:   {remedy}\n" in cli("installed").out


@pytest.mark.parametrize("host", ["claude", "codex", "opencode"])
def test_an_installation_after_its_manifest_was_lost_is_taken_away_whole(
    cli: Command, project: Path, host: str
) -> None:
    """As a damaged manifest's remedy has it: it left all folders behind."""
    (project / ".claude").mkdir()
    (project / ".claude" / "mine.md").write_text("mine")
    before = tree(project)
    assert cli("install", host, "--scope", "project", "--skill", SKILL).code == 0
    (project / ".lockstep" / "installed" / f"{host}.json").rename(project / "aside")
    assert cli("install", host, "--scope", "project", "--skill", SKILL, "--force").code == 0
    (project / "aside").unlink()
    assert cli("uninstall", host).code == 0
    left = tree(project)
    if host != "opencode":  # settings that stood there stay, though nothing is in them any more
        before |= {SETTINGS[host]: b"{}\n", os.path.dirname(SETTINGS[host]): None}
    assert left == before

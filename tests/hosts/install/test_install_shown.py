"""What install, upgrade and uninstall tell a person: a plan that fits the screen, and how to go on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.hosts.conftest import ROLED, SKILL, Command

pytestmark = pytest.mark.req("H-01")
PLACES = {
    "codex": ".codex/hooks.json",
    "claude": ".claude/settings.local.json",
    "opencode": ".opencode/plugin/lockstep.js",
    "qwen": ".qwen/settings.json",
    "gemini": ".gemini/settings.json",
}


def counted(text: str) -> str:
    """The text without the numbers of files, which change with Lockstep."""
    return re.sub(r"\d\d+ ", "N ", re.sub(r"\(\d\d+ files\) *", "(N files)  ", text))


def test_a_plan_of_all_skills_fits_the_screen_and_ends_with_the_sum(cli: Command, project: Path) -> None:
    shown = cli("install", "codex", "--scope", "project", "--dry-run")
    lines = shown.out.splitlines()
    assert (shown.code, shown.err) == (0, "")
    assert len(lines) < 20
    assert lines[0].split() == ["WOULD", "FILE", "WHAT", "IT", "IS"]
    assert re.search(rf"^write  \.agents/skills/{SKILL}/ \(\d+ files\) +skill {SKILL}$", shown.out, re.MULTILINE)
    assert re.search(r"^write  \.codex/agents/ \(6 files\) +roles$", shown.out, re.MULTILINE)
    told = re.fullmatch(r"Nothing was written; (\d+) would be written\.", lines[-1])
    assert told
    done = cli("install", "codex", "--scope", "project")
    assert done.out.startswith(f"codex, project scope: {told[1]} written.\n")


def test_every_file_is_listed_on_request(cli: Command, project: Path) -> None:
    shown = cli("install", "codex", "--scope", "project", "--skill", SKILL, "--dry-run", "--verbose").out
    [told] = json.loads(cli("install", "codex", "--scope", "project", "--skill", SKILL, "--dry-run", "--json").out)
    paths = [change["path"].removeprefix(f"{project}/") for change in told["changes"]]
    assert [line.split()[1] for line in shown.splitlines()[1:-1]] == paths
    assert f".agents/skills/{SKILL}/scripts/problem_analysis_prompts.md" in paths


def test_a_plan_says_why_if_there_is_a_reason(cli: Command, project: Path, snapshot: SnapshotAssertion) -> None:
    cli("install", "qwen", "--scope", "project", "--skill", ROLED)
    cli("install", "qwen", "--scope", "project", "--skill", ROLED, "--stops", "5")
    (project / ".agents" / "skills" / ROLED / "SKILL.md").unlink()
    (project / ".qwen" / "agents" / "quality-reviewer.md").write_text("mine")
    shown = cli("install", "qwen", "--scope", "project", "--skill", ROLED, "--no-hooks", "--dry-run")
    assert shown.code == 3
    assert counted(shown.out) == snapshot


def test_a_plan_of_nothing_is_one_line(cli: Command, project: Path) -> None:
    cli("install", "agents", "--scope", "project", "--skill", SKILL)
    shown = cli("install", "agents", "--skill", SKILL, "--dry-run").out
    assert shown == "Nothing would change; 4 are as they should be.\n"


def test_a_project_that_is_named_is_where_the_skills_go(
    cli: Command, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    [told] = json.loads(cli("install", "agents", "--skill", SKILL, "--project", str(project), "--json").out)
    assert told["scope"] == "project"
    assert (project / ".agents" / "skills" / SKILL / "SKILL.md").is_file()
    assert json.loads(cli("install", "codex", "--skill", SKILL, "--json").out)[0]["scope"] == "user"


def test_a_plan_of_taking_away_counts_what_would_go_and_what_stays(cli: Command, project: Path) -> None:
    for host in ("codex", "gemini"):
        cli("install", host, "--scope", "project", "--skill", ROLED)
    shown = cli("uninstall", "codex", "--dry-run").out
    # The two roles and the hooks of Codex go.
    assert shown.splitlines()[-1] == "Nothing was written; 3 would be removed; 7 are left to another host."
    assert (project / ".codex" / "hooks.json").is_file()


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_without_a_host_it_says_which_there_are(cli: Command, project: Path, command: str) -> None:
    shown = cli(command)
    assert (shown.code, shown.out) == (2, "")
    assert shown.err == (
        f"lockstep: lockstep {command}: HOST is missing\n"
        "  valid: codex, claude, opencode, qwen, gemini, agents\n"
        f"  try:   lockstep {command} codex\n"
    )


@pytest.mark.parametrize("command", ["install", "uninstall", "upgrade", "doctor"])
def test_an_unknown_host_is_reported_with_the_known_ones(cli: Command, project: Path, command: str) -> None:
    shown = cli(command, "quen")
    assert (shown.code, shown.out) == (2, "")
    assert shown.err == (
        f"lockstep: lockstep {command}: there is no host 'quen'\n"
        "  valid: codex, claude, opencode, qwen, gemini, agents\n"
        f"  try:   lockstep {command} qwen\n"
    )


@pytest.mark.parametrize("host", [*PLACES, "agents"])
def test_it_says_how_a_skill_is_started(cli: Command, project: Path, host: str) -> None:
    for words in (["--scope", "project"], ["--scope", "user", "--no-hooks"]):
        assert f'"Use the skill {SKILL} on ' in cli("install", host, "--skill", SKILL, *words).err.splitlines()[-1]


@pytest.mark.parametrize("host, path", PLACES.items())
def test_it_says_what_is_of_this_machine_and_not_to_be_committed(
    cli: Command, project: Path, host: str, path: str
) -> None:
    said = f"{path} names this machine's Python by its path: do not commit it."
    done = cli("install", host, "--scope", "project", "--skill", SKILL)
    assert said in done.err
    assert "List it in .git/info/exclude" in done.err
    assert said not in cli("install", host, "--scope", "project", "--skill", SKILL, "--no-hooks").err
    assert "do not commit" not in cli("install", host, "--skill", SKILL, "--scope", "user").err


def test_in_settings_that_were_there_it_is_the_entries_that_are_not_to_be_committed(
    cli: Command, project: Path
) -> None:
    (project / ".qwen").mkdir()
    (project / ".qwen" / "settings.json").write_text("{}\n")
    done = cli("install", "qwen", "--scope", "project", "--skill", SKILL)
    assert "The hooks in .qwen/settings.json name this machine's Python by its path: do not commit them" in done.err


def test_a_folder_without_hooks_has_nothing_that_is_not_to_be_committed(cli: Command, project: Path) -> None:
    assert "do not commit" not in cli("install", "agents", "--scope", "project", "--skill", SKILL).err

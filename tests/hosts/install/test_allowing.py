"""The host's own rule by which an agent runs the step scripts, and no others, without a question to its user."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest

from tests.hosts.conftest import ROLED, Command, place_of, tree
from tests.hosts.install.test_install import SETTINGS, written
from tests.hosts.install.test_install_prompts import at_terminal

pytestmark = pytest.mark.req("H-01")
FORMS = {"claude": "Bash({}:*)", "qwen": "run_shell_command({})"}


def scripts(folder: Path) -> list[Path]:
    """The step scripts of the skill as they are installed; it has no others."""
    return sorted((folder / ROLED / "scripts").glob("*[!w].py"))


@pytest.mark.parametrize("host", list(FORMS))
def test_rules_are_added_to_the_users_own_settings_and_taken_out_again(
    cli: Command, project: Path, home: Path, host: str
) -> None:
    place = place_of(host, "user", project)
    settings = written(Path(place.hooks), SETTINGS)
    install = ("install", host, "--scope", "user", "--skill", ROLED, "--allow")
    assert (cli(*install, "--dry-run").code, settings.read_text(encoding="utf-8")) == (0, SETTINGS)
    assert cli(*install).code == 0
    allowed = json.loads(settings.read_text(encoding="utf-8"))["permissions"]["allow"]
    assert allowed[:2] == ["Bash(ls:*)", "Read"]
    for script in scripts(Path(place.skills)):
        for line in (f"python3 {script}", f'python3 "{script}"', f"{sys.executable} {script}"):
            assert FORMS[host].format(line) in allowed
    named = {
        word.strip('"') for rule in allowed[2:] for word in rule.partition("(")[2][:-1].split() if "scripts" in word
    }
    assert {word.removesuffix(":*").strip('"') for word in named} == {str(path) for path in scripts(Path(place.skills))}
    assert " current " in cli("installed").out
    assert cli("upgrade", host).code == 0
    assert json.loads(settings.read_text(encoding="utf-8"))["permissions"]["allow"] == allowed
    assert cli("uninstall", host, "--scope", "user").code == 0
    assert settings.read_text(encoding="utf-8") == SETTINGS


@pytest.mark.parametrize("host", ["claude", "qwen", "codex", "gemini", "opencode"])
def test_what_would_run_without_a_question_is_shown_before_and_after(
    cli: Command, project: Path, home: Path, host: str
) -> None:
    install = ("install", host, "--scope", "user", "--skill", ROLED)
    assert not [line for line in cli(*install, "--dry-run").out.splitlines() if line.startswith("allow ")]
    plan = cli(*install, "--allow", "--dry-run")
    [row] = [line for line in plan.out.splitlines() if line.startswith("allow ")]
    assert "/skills/ (2 files) " in row
    assert row.endswith(" they run without a question")
    every = cli(*install, "--allow", "--dry-run", "--verbose").out
    assert len([line for line in every.splitlines() if line.startswith("allow ")]) == 2
    done = json.loads(cli(*install, "--allow", "--json").out)
    installed = scripts(Path(place_of(host, "user", project).skills))
    assert done[0]["allowed"] == [str(path) for path in installed]
    assert "allowed without a question: 2 step scripts" in cli(*install).out


@pytest.mark.parametrize("host", ["claude", "qwen", "codex", "gemini", "opencode"])
def test_scripts_of_a_project_are_never_allowed_because_an_agent_may_edit_them(
    cli: Command, project: Path, host: str
) -> None:
    install = ("install", host, "--scope", "project", "--skill", ROLED)
    refused = cli(*install, "--allow")
    assert refused.code == 2
    assert "an agent may edit the scripts there, and would run what it wrote without a question" in refused.err
    assert f"lockstep install {host} --scope user --allow" in refused.err
    assert tree(project) == {".git": None}


def test_without_being_asked_for_no_rule_is_written_and_it_can_be_taken_back(
    cli: Command, project: Path, home: Path
) -> None:
    settings = home / ".claude" / "settings.json"
    install = ("install", "claude", "--scope", "user", "--skill", ROLED)
    assert cli(*install).code == 0
    plain = settings.read_bytes()
    assert b"permissions" not in plain
    assert cli(*install, "--allow").code == 0
    assert b"permissions" in settings.read_bytes()
    assert cli(*install).code == 0
    assert b"permissions" in settings.read_bytes()
    assert cli(*install, "--no-allow").code == 0
    assert settings.read_bytes() == plain


def test_rules_without_hooks_are_all_that_a_settings_file_gets(cli: Command, project: Path, home: Path) -> None:
    install = ("install", "qwen", "--scope", "user", "--skill", ROLED, "--allow", "--no-hooks")
    assert cli(*install).code == 0
    assert list(json.loads((home / ".qwen" / "settings.json").read_text(encoding="utf-8"))) == ["permissions"]
    assert cli("uninstall", "qwen").code == 0
    assert not (home / ".qwen" / "settings.json").exists()


def test_a_rule_that_the_user_had_already_stays_theirs(cli: Command, project: Path, home: Path) -> None:
    own = f"Bash(python3 {home / '.claude/skills/refactor/scripts/refactor.py'}:*)"
    settings = written(home / ".claude" / "settings.json", json.dumps({"permissions": {"allow": [own]}}))
    assert cli("install", "claude", "--scope", "user", "--skill", ROLED, "--allow").code == 0
    assert json.loads(settings.read_text(encoding="utf-8"))["permissions"]["allow"].count(own) == 1
    assert cli("uninstall", "claude").code == 0
    assert json.loads(settings.read_text(encoding="utf-8")) == {"permissions": {"allow": [own]}}


def test_codex_gets_one_rule_in_a_file_of_its_own(cli: Command, project: Path, home: Path) -> None:
    place = place_of("codex", "user", project)
    assert cli("install", "codex", "--scope", "user", "--skill", ROLED, "--allow").code == 0
    rules = Path(place.rules)
    assert (rules.parent.name, rules.parent.parent.name, rules.name) == ("rules", ".codex", "lockstep.rules")
    text = rules.read_text(encoding="utf-8")
    pattern = json.loads(text.partition("pattern = ")[2].partition(", decision")[0])
    assert pattern[1] == [str(path) for path in scripts(Path(place.skills))]
    assert {"python3", sys.executable} <= set(pattern[0])
    assert cli("uninstall", "codex", "--scope", "user").code == 0
    assert not rules.exists()


def test_gemini_cli_gets_a_policy_of_the_user(cli: Command, project: Path, home: Path) -> None:
    assert cli("install", "gemini", "--scope", "user", "--skill", ROLED, "--allow").code == 0
    policy = home / ".gemini" / "policies" / "lockstep.toml"
    [rule] = tomllib.loads(policy.read_text(encoding="utf-8"))["rule"]
    assert (rule["toolName"], rule["decision"]) == ("run_shell_command", "allow")
    [script, *_] = scripts(home / ".agents" / "skills")
    assert {f"python3 {script}", f'python3 "{script}"', f"{sys.executable} {script}"} <= set(rule["commandPrefix"])
    assert all(" " in prefix and "/scripts/" in prefix for prefix in rule["commandPrefix"])
    assert cli("uninstall", "gemini", "--scope", "user").code == 0
    assert not policy.exists()


def test_a_folder_for_any_host_takes_no_rule(cli: Command, project: Path) -> None:
    refused = cli("install", "agents", "--skill", ROLED, "--allow")
    assert (refused.code, "agents takes no rule by which scripts run without a question" in refused.err) == (2, True)
    assert "  valid: codex, claude, opencode, qwen, gemini\n" in refused.err


def test_the_plugin_of_opencode_has_the_commands(cli: Command, project: Path, home: Path) -> None:
    plugin = Path(place_of("opencode", "user", project).hooks)
    install = ("install", "opencode", "--scope", "user", "--skill", ROLED)
    assert cli(*install).code == 0
    assert "const ALLOWED = [];" in plugin.read_text(encoding="utf-8")
    assert cli(*install, "--allow").code == 0
    [script, *_] = scripts(home / ".agents" / "skills")
    assert json.dumps(f"python3 {script} *") in plugin.read_text(encoding="utf-8")


def test_it_is_asked_for_at_a_terminal_once(project: Path, home: Path) -> None:
    words = ("install", "claude", "--scope", "user", "--skill", ROLED)
    shown = at_terminal(project, "y\n", *words)
    assert (shown.code, "Let Claude Code run the step scripts, and no others" in shown.err) == (0, True)
    settings = home / ".claude" / "settings.json"
    assert json.loads(settings.read_text(encoding="utf-8"))["permissions"]["allow"]
    again = at_terminal(project, "", *words)
    assert (again.code, "Let Claude Code" in again.err) == (0, False)

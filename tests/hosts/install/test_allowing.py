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


@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("host", list(FORMS))
def test_rules_are_added_to_the_users_own_settings_and_taken_out_again(
    cli: Command, project: Path, home: Path, host: str, scope: str
) -> None:
    place = place_of(host, scope, project)
    settings = written(Path(place.hooks), SETTINGS)
    install = ("install", host, "--scope", scope, "--skill", ROLED, "--allow")
    shown = cli(*install, "--dry-run")
    assert (shown.code, settings.read_text(encoding="utf-8")) == (0, SETTINGS)
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
    assert cli("uninstall", host, "--scope", scope).code == 0
    assert settings.read_text(encoding="utf-8") == SETTINGS


def test_without_being_asked_for_no_rule_is_written_and_it_can_be_taken_back(cli: Command, project: Path) -> None:
    settings = project / ".claude" / "settings.local.json"
    install = ("install", "claude", "--scope", "project", "--skill", ROLED)
    assert cli(*install).code == 0
    plain = settings.read_bytes()
    assert b"permissions" not in plain
    assert cli(*install, "--allow").code == 0
    assert b"permissions" in settings.read_bytes()
    assert cli(*install).code == 0
    assert b"permissions" in settings.read_bytes()
    assert cli(*install, "--no-allow").code == 0
    assert settings.read_bytes() == plain


def test_rules_without_hooks_are_all_that_a_settings_file_gets(cli: Command, project: Path) -> None:
    install = ("install", "qwen", "--scope", "project", "--skill", ROLED, "--allow", "--no-hooks")
    assert cli(*install).code == 0
    assert list(json.loads((project / ".qwen" / "settings.json").read_text(encoding="utf-8"))) == ["permissions"]
    assert cli("uninstall", "qwen").code == 0
    assert tree(project) == {".git": None}


def test_a_rule_that_the_user_had_already_stays_theirs(cli: Command, project: Path) -> None:
    [script, *_] = scripts(project / ".claude" / "skills") or [project / ".claude/skills/refactor/scripts/refactor.py"]
    own = f"Bash(python3 {script}:*)"
    settings = written(project / ".claude" / "settings.local.json", json.dumps({"permissions": {"allow": [own]}}))
    assert cli("install", "claude", "--scope", "project", "--skill", ROLED, "--allow").code == 0
    assert json.loads(settings.read_text(encoding="utf-8"))["permissions"]["allow"].count(own) == 1
    assert cli("uninstall", "claude").code == 0
    assert json.loads(settings.read_text(encoding="utf-8")) == {"permissions": {"allow": [own]}}


@pytest.mark.parametrize("scope", ["project", "user"])
def test_codex_gets_one_rule_in_a_file_of_its_own(cli: Command, project: Path, home: Path, scope: str) -> None:
    place = place_of("codex", scope, project)
    assert cli("install", "codex", "--scope", scope, "--skill", ROLED, "--allow").code == 0
    rules = Path(place.rules)
    assert (rules.parent.name, rules.parent.parent.name, rules.name) == ("rules", ".codex", "lockstep.rules")
    text = rules.read_text(encoding="utf-8")
    pattern = json.loads(text.partition("pattern = ")[2].partition(", decision")[0])
    assert pattern[1] == [str(path) for path in scripts(Path(place.skills))]
    assert {"python3", sys.executable} <= set(pattern[0])
    assert cli("uninstall", "codex", "--scope", scope).code == 0
    assert not rules.exists()


def test_gemini_cli_gets_a_policy_of_the_user_and_none_of_a_project(cli: Command, project: Path, home: Path) -> None:
    refused = cli("install", "gemini", "--scope", "project", "--skill", ROLED, "--allow")
    assert (refused.code, "takes no rule of a project" in refused.err) == (2, True)
    assert "lockstep install gemini --scope user --allow" in refused.err
    assert tree(project) == {".git": None}
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
    assert (refused.code, "takes no rule" in refused.err) == (2, True)


def test_the_plugin_of_opencode_has_the_commands(cli: Command, project: Path) -> None:
    plugin = project / ".opencode" / "plugin" / "lockstep.js"
    install = ("install", "opencode", "--scope", "project", "--skill", ROLED)
    assert cli(*install).code == 0
    assert "const ALLOWED = [];" in plugin.read_text(encoding="utf-8")
    assert cli(*install, "--allow").code == 0
    [script, *_] = scripts(project / ".agents" / "skills")
    assert json.dumps(f"python3 {script} *") in plugin.read_text(encoding="utf-8")


def test_it_is_asked_for_at_a_terminal_once(project: Path, home: Path) -> None:
    words = ("install", "claude", "--scope", "project", "--skill", ROLED)
    shown = at_terminal(project, "y\n", *words)
    assert (shown.code, "Let Claude Code run the step scripts, and no others" in shown.err) == (0, True)
    settings = project / ".claude" / "settings.local.json"
    assert json.loads(settings.read_text(encoding="utf-8"))["permissions"]["allow"]
    again = at_terminal(project, "", *words)
    assert (again.code, "Let Claude Code" in again.err) == (0, False)

"""Installing, changing a file, upgrading and uninstalling, on every host and in both scopes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from skills.lib.hosts.hook import tools
from skills.lib.hosts.install import hooks, manifest, roles
from skills.lib.hosts.known_hosts import KNOWN
from skills.lib.roles import role_names
from tests.fixtures.skill import ROOT
from tests.hosts.conftest import ROLED, SKILL, Command, place_of, tree

HOSTS = ["codex", "claude", "opencode", "qwen", "gemini", "agents"]
MERGING = ["codex", "claude", "qwen", "gemini"]
SCOPES = ["project", "user"]
OWN_HOOK = {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}
# Settings with an indentation of their own, and something after the hooks.
SETTINGS = (
    json.dumps(
        {
            "model": "x",
            "permissions": {"allow": ["Bash(ls:*)", "Read"], "deny": []},
            "hooks": OWN_HOOK,
            "last": [1.5, "é"],
        },
        indent=4,
        ensure_ascii=False,
    )
    + "\n"
)
# Codex reads nothing but hooks from its file.
CODEX_SETTINGS = json.dumps({"hooks": OWN_HOOK}, indent=4) + "\n"


@pytest.fixture
def own(cli: Command, project: Path) -> Path:
    """A skill of the project's own, which can be edited; its folder."""
    assert cli("new", "my-skill").code == 0
    return project / "skills" / "my-skill"


def settings_of(host: str) -> str:
    return CODEX_SETTINGS if host == "codex" else SETTINGS


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.req("H-01")
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("host", HOSTS)
def test_install_edit_upgrade_uninstall(
    cli: Command, own: Path, project: Path, home: Path, host: str, scope: str
) -> None:
    place = place_of(host, scope, project)
    if host in MERGING:
        written(Path(place.hooks), settings_of(host))
    if place.roles:
        written(Path(place.roles, "mine.md"), "mine")
    before = tree(project), tree(home)

    done = cli("install", host, "--scope", scope, "--skill", "my-skill")
    assert done.code == 0, done.err
    copy = Path(place.skills, "my-skill")
    assert not (copy / "skills").exists()
    [state] = json.loads(cli("installed", "--json").out)
    assert (state["host"], state["scope"], state["state"], state["skills"]) == (host, scope, "current", ["my-skill"])
    script = copy / "scripts" / "my_skill.py"
    first = subprocess.run(
        [sys.executable, "-I", "-S", str(script), "--step", "frame", "--stateless"], capture_output=True, check=False
    )
    assert (first.returncode, first.stderr) == (0, b"")

    edited = copy / "SKILL.md"
    edited.write_text(edited.read_text() + "\nMine.\n")
    prompts = own / "scripts" / "my_skill_prompts.md"
    prompts.write_text(prompts.read_text() + "\nMore.\n")
    states = {Path(file["path"]).name: file["state"] for file in json.loads(cli("installed", "--json").out)[0]["files"]}
    assert (states["SKILL.md"], states["my_skill_prompts.md"], states["my_skill.py"]) == ("changed", "stale", "current")

    upgraded = cli("upgrade", host)
    assert upgraded.code == 3
    assert "1 file stays as you have it" in upgraded.err
    assert "SKILL.md: skill my-skill, changed by you" in upgraded.err
    assert edited.read_text().endswith("\nMine.\n")
    assert (copy / "scripts" / "my_skill_prompts.md").read_text().endswith("\nMore.\n")

    gone = cli("uninstall", host, "--scope", scope)
    assert gone.code == 3
    assert [path for path in copy.rglob("*") if path.is_file()] == [edited]
    assert cli("uninstall", host, "--scope", scope, "--force").code == 0
    (own / "scripts" / "my_skill_prompts.md").write_bytes(
        before[0]["skills/my-skill/scripts/my_skill_prompts.md"]  # type: ignore[arg-type]
    )
    assert (tree(project), tree(home)) == before


@pytest.mark.req("H-01")
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("host", HOSTS)
def test_uninstalling_leaves_nothing_behind(cli: Command, project: Path, home: Path, host: str, scope: str) -> None:
    before = tree(project), tree(home)
    assert cli("install", host, "--scope", scope, "--skill", SKILL).code == 0
    cache = Path(place_of(host, scope, project).skills, SKILL, "scripts", "__pycache__")
    written(cache / "problem_analysis_workflow.cpython-311.pyc", "left by Python")
    assert cli("uninstall", host, "--scope", scope).code == 0
    assert (tree(project), tree(home)) == before


@pytest.mark.req("H-01")
def test_a_dry_run_tells_every_place_and_writes_nothing(
    cli: Command, project: Path, home: Path, snapshot: SnapshotAssertion
) -> None:
    written(project / ".claude" / "settings.local.json", SETTINGS)
    before = tree(project), tree(home)
    shown = cli("install", "claude", "--scope", "project", "--skill", SKILL, "--dry-run")
    assert (shown.code, shown.err) == (0, "")
    assert (tree(project), tree(home)) == before
    assert re.search(rf"^write +\.claude/skills/{SKILL}/ \(\d+ files\)", shown.out, re.MULTILINE)
    assert re.sub(r"\b\d{3} (files|would)", r"N \1", shown.out) == snapshot


@pytest.mark.req("H-01")
def test_a_plan_can_be_read_by_a_program(cli: Command, project: Path) -> None:
    [told] = json.loads(cli("install", "codex", "--scope", "project", "--skill", SKILL, "--dry-run", "--json").out)
    assert (told["host"], told["scope"], told["done"]) == ("codex", "project", False)
    actions = {change["path"]: change["action"] for change in told["changes"]}
    assert actions[str(project / ".codex" / "hooks.json")] == "add"
    assert actions[str(project / ".agents" / "skills" / SKILL / "SKILL.md")] == "add"
    [told] = json.loads(cli("install", "codex", "--scope", "project", "--skill", SKILL, "--json").out)
    assert told["done"] is True
    both = json.loads(cli("install", "codex", "qwen", "--scope", "project", "--skill", SKILL, "--json").out)
    assert [one["host"] for one in both] == ["codex", "qwen"]
    [told] = json.loads(cli("uninstall", "codex", "--json").out)
    assert (told["host"], told["done"]) == ("codex", True)


@pytest.mark.req("H-01")
def test_without_a_name_all_shipped_skills_are_installed(cli: Command, project: Path) -> None:
    assert cli("install", "agents", "--scope", "project").code == 0
    shipped = {path.parent.name for path in (ROOT / "skills").glob("*/SKILL.md")}
    assert {path.name for path in (project / ".agents" / "skills").iterdir()} == shipped
    assert SKILL in shipped


@pytest.mark.req("H-01")
def test_a_second_skill_is_put_beside_the_first(cli: Command, own: Path, project: Path) -> None:
    cli("install", "codex", "--scope", "project", "--skill", SKILL)
    cli("install", "codex", "--scope", "project", "--skill", "my-skill", "--stops", "7")
    [state] = json.loads(cli("installed", "--json").out)
    assert (state["skills"], state["stops"], state["state"]) == (["my-skill", SKILL], 7, "current")
    again = cli("install", "codex", "--scope", "project", "--skill", SKILL)
    assert again.out.startswith("codex, project scope: ")
    assert re.match(r"codex, project scope: \d+ as they should be\.\n", again.out)


@pytest.mark.req("H-01")
def test_what_two_hosts_share_stays_until_the_last_goes(cli: Command, project: Path) -> None:
    before = tree(project)
    for host in ("codex", "gemini"):
        assert cli("install", host, "--scope", "project", "--skill", SKILL).code == 0
    gone = cli("uninstall", "codex")
    assert (gone.code, "left to another host" in gone.out) == (0, True)
    assert (project / ".agents" / "skills" / SKILL / "SKILL.md").is_file()
    assert not (project / ".codex").exists()
    assert json.loads(cli("installed", "--json").out)[0]["state"] == "current"
    assert cli("uninstall", "gemini").code == 0
    assert tree(project) == before


@pytest.mark.req("H-01")
def test_a_shared_file_that_one_host_upgrades_is_current_for_the_other(cli: Command, own: Path, project: Path) -> None:
    for host in ("codex", "gemini"):
        assert cli("install", host, "--scope", "project", "--skill", "my-skill").code == 0
    prompts = own / "scripts" / "my_skill_prompts.md"
    prompts.write_text(prompts.read_text() + "\nMore.\n")
    assert cli("upgrade", "codex").code == 0
    assert {one["state"] for one in json.loads(cli("installed", "--json").out)} == {"current"}
    prompts.write_text(prompts.read_text() + "\nAnd more.\n")
    assert cli("upgrade").code == 0
    assert {one["state"] for one in json.loads(cli("installed", "--json").out)} == {"current"}


@pytest.mark.req("H-01")
def test_a_file_of_the_users_own_is_never_replaced_unasked(cli: Command, project: Path) -> None:
    mine = written(project / ".claude" / "agents" / "quality-reviewer.md", "mine")
    done = cli("install", "claude", "--scope", "project", "--skill", ROLED)
    assert done.code == 3
    assert (
        ".claude/agents/quality-reviewer.md: role quality-reviewer, yours, and no part of an installation" in done.err
    )
    assert mine.read_text() == "mine"
    assert cli("uninstall", "claude").code == 0
    assert mine.read_text() == "mine"
    assert cli("install", "claude", "--scope", "project", "--skill", ROLED, "--force").code == 0
    assert mine.read_text().startswith("---\nname: quality-reviewer\n")


@pytest.mark.req("H-01")
def test_a_missing_file_is_reported_and_written_again(cli: Command, project: Path) -> None:
    cli("install", "agents", "--scope", "project", "--skill", SKILL)
    (project / ".agents" / "skills" / SKILL / "SKILL.md").unlink()
    shown = cli("installed")
    assert "agents  project  missing" in shown.out
    assert f"  missing  .agents/skills/{SKILL}/SKILL.md (skill {SKILL})\n" in shown.out
    assert "1 written again" in cli("upgrade").out
    assert "current" in cli("installed").out


@pytest.mark.req("H-01")
def test_a_skill_that_is_found_no_more_is_taken_away_at_an_upgrade(cli: Command, own: Path, project: Path) -> None:
    cli("install", "agents", "--scope", "project", "--skill", SKILL, "--skill", "my-skill")
    shutil.rmtree(own)
    shown = cli("upgrade")
    assert (shown.code, "The skill my-skill is not found any more" in shown.err) == (0, True)
    assert [path.name for path in (project / ".agents" / "skills").iterdir()] == [SKILL]


@pytest.mark.req("H-01")
def test_a_skill_is_never_installed_over_its_own_source(cli: Command, own: Path, project: Path) -> None:
    (project / ".agents" / "skills").mkdir(parents=True)
    copy = project / ".agents" / "skills" / "my-skill"
    shutil.copytree(own, copy)
    assert (
        cli("install", "codex", "--scope", "project", "--skill", "my-skill", "--dry-run").code == 3
    )  # the copy's entry has another head
    shutil.rmtree(own)
    before = tree(project)
    shown = cli("install", "codex", "--scope", "project", "--skill", "my-skill", "--force")
    assert (shown.code, shown.out) == (3, "")
    assert "would be installed over itself" in shown.err
    assert tree(project) == before


@pytest.mark.req("H-01")
def test_hooks_in_both_scopes_are_reported(cli: Command, project: Path) -> None:
    assert "both scopes" not in cli("install", "codex", "--scope", "project", "--skill", SKILL).err
    assert "Hooks are on in both scopes" in cli("install", "codex", "--scope", "user", "--skill", SKILL).err
    assert "both scopes" not in cli("install", "codex", "--scope", "project", "--skill", SKILL, "--no-hooks").err


def test_nothing_installed_is_said_plainly(cli: Command, project: Path) -> None:
    before = tree(project)
    assert cli("installed").err.startswith("Nothing is installed")
    assert json.loads(cli("installed", "--json").out) == []
    gone = cli("uninstall", "codex")
    assert (gone.code, gone.out) == (2, "")
    assert gone.err.startswith("lockstep: nothing is installed that could be removed for codex in the project scope\n")
    assert cli("upgrade").code == 2
    assert tree(project) == before


def test_an_unknown_host_or_skill_is_a_usage_error(cli: Command, project: Path) -> None:
    assert cli("install", "emacs", "--scope", "project").code == 2
    shown = cli("install", "codex", "--scope", "project", "--skill", "problem-analisys")
    assert (shown.code, "did you mean problem-analysis?" in shown.err) == (2, True)
    assert tree(project) == {".git": None}


@pytest.mark.parametrize("command", ["install", "installed", "uninstall", "upgrade", "export"])
def test_help_has_examples(cli: Command, command: str) -> None:
    shown = cli(command, "--help")
    assert (shown.code, "Examples:" in shown.out) == (0, True)


def hook_entries(path: Path) -> dict[str, dict[str, Any]]:
    """Our entry of each event in a settings file, with the one hook in it."""
    found = {}
    for event, groups in json.loads(path.read_text())["hooks"].items():
        for group in groups:
            if "run_hook.py" in group["hooks"][0]["command"]:
                assert event not in found
                found[event] = {**group, **group["hooks"][0]}
    return found


@pytest.mark.req("H-01", "H-02")
@pytest.mark.parametrize("host", MERGING)
def test_the_hook_of_each_host_is_the_one_program_and_runs(cli: Command, project: Path, host: str) -> None:
    cli("install", host, "--scope", "project", "--skill", SKILL, "--stops", "1")
    entries = hook_entries(Path(place_of(host, "project", project).hooks))
    assert set(entries) == set(hooks.EVENTS[host])
    for event, entry in entries.items():
        words = hooks.words_of(entry["command"])
        assert words[1:2] == ["-IS"]
        assert words[3:] == ["--host", host, "--stops", "1"]
        assert all(os.path.isabs(word) for word in (words[0], words[2]))
        # Far above the five seconds after which the hook speaks for itself, in the host's unit.
        expected = 30_000 if host in ("qwen", "gemini") else 30
        assert entry["timeout"] == (3 if (host, event) == ("codex", "SessionEnd") else expected)
        of_tools = ("PreToolUse", "BeforeTool", "PostToolUse", "PostToolUseFailure", "AfterTool")
        assert entry.get("matcher") == ("*" if event in of_tools else None)
    event_given = json.dumps({"hook_event_name": "Stop", "session_id": "s", "cwd": str(project)})
    done = subprocess.run(
        ["sh", "-c", entry["command"]], input=event_given, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.req("H-01")
@pytest.mark.parametrize("host", MERGING)
def test_hooks_can_be_left_out_and_taken_out(cli: Command, project: Path, host: str) -> None:
    path = written(Path(place_of(host, "project", project).hooks), settings_of(host))
    cli("install", host, "--scope", "project", "--skill", SKILL, "--no-hooks")
    assert path.read_text() == settings_of(host)
    cli("upgrade")
    assert path.read_text() == settings_of(host)
    cli("install", host, "--scope", "project", "--skill", SKILL, "--hooks")
    assert len(hook_entries(path)) == len(hooks.EVENTS[host])
    cli("install", host, "--scope", "project", "--skill", SKILL, "--no-hooks")
    assert path.read_text() == settings_of(host)


@pytest.mark.req("H-01")
def test_a_hook_that_the_user_changed_is_kept_and_goes_at_the_end(cli: Command, project: Path) -> None:
    path = written(project / ".claude" / "settings.local.json", SETTINGS)
    cli("install", "claude", "--scope", "project", "--skill", SKILL)
    path.write_text(path.read_text().replace('"timeout": 30', '"timeout": 77', 1))
    shown = cli("install", "claude", "--scope", "project", "--skill", SKILL, "--stops", "9")
    assert shown.code == 3
    assert "hook Stop, changed by you" in shown.err
    entries = hook_entries(path)
    assert (entries["Stop"]["timeout"], entries["Stop"]["command"].endswith("--stops 3")) == (77, True)
    assert all(entry["command"].endswith("--stops 9") for event, entry in entries.items() if event != "Stop")
    assert cli("install", "claude", "--scope", "project", "--skill", SKILL, "--force").code == 0
    assert hook_entries(path)["Stop"]["timeout"] == 30
    cli("uninstall", "claude")
    assert path.read_text() == SETTINGS


@pytest.mark.req("H-01")
def test_a_hook_that_was_taken_out_is_missing_and_comes_back(cli: Command, project: Path) -> None:
    path = project / ".qwen" / "settings.json"
    cli("install", "qwen", "--scope", "project", "--skill", SKILL)
    whole = path.read_text()
    settings = json.loads(whole)
    del settings["hooks"]["Stop"]
    path.write_text(json.dumps(settings, indent=2))
    assert "  missing  .qwen/settings.json (hooks)\n" in cli("installed").out
    assert cli("upgrade").code == 0
    assert "Stop" in hook_entries(path)


@pytest.mark.req("H-01")
@pytest.mark.parametrize(
    "text, what",
    [
        ('{\n  // mine\n  "a": 1\n}\n', "is not plain JSON (Expecting property name enclosed in double quotes: line 2"),
        ('{"a": 1, /* mine */ "b": 2}\n', "is not plain JSON"),
        ('{"a": 1,}\n', "is not plain JSON"),
        ('{"a": 1\n', "is not plain JSON"),
        ('{"a": 1, "a": 2}\n', "the name 'a' stands there twice"),
        ('{"a": 1e400}\n', "has more digits than can be kept"),
        ('{"a": 1.00000000000000000001}\n', "has more digits than can be kept"),
        ('{"a": NaN}\n', "is no number of JSON"),
        ('{"a": "\\ud800"}\n', "is not UTF-8 text"),
        ("[]\n", "holds no JSON object"),
        ('{"hooks": []}\n', "hooks is not a list of entries for each event"),
        ("\xff", "is not UTF-8 text"),
    ],
)
def test_settings_that_cannot_be_edited_safely_are_left_alone(
    cli: Command, project: Path, text: str, what: str
) -> None:
    path = project / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(text.encode("latin-1"))
    before = tree(project)
    shown = cli("install", "gemini", "--scope", "project", "--skill", SKILL)
    assert (shown.code, shown.out) == (3, "")
    assert f"{path}" in shown.err
    assert what in shown.err
    assert "--no-hooks" in shown.err
    assert tree(project) == before


@pytest.mark.req("H-01")
@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{}\n",
        '{\n\t"a": 1\n}\n',
        '{\r\n  "a": 1\r\n}\r\n',
        '\ufeff{\n  "a": "é"\n}\n',
        CODEX_SETTINGS,
        SETTINGS,
    ],
)
def test_settings_are_as_they_were_after_it(cli: Command, project: Path, text: str) -> None:
    path = project / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_bytes(text.encode())
    assert cli("install", "claude", "--scope", "project", "--skill", SKILL).code == 0
    merged = json.loads(path.read_bytes().decode("utf-8-sig"))
    given = json.loads(text.removeprefix("\ufeff"))
    assert {name: merged[name] for name in given if name != "hooks"} == {
        name: given[name] for name in given if name != "hooks"
    }
    assert len(hook_entries_of(merged)) == len(hooks.EVENTS["claude"])
    assert cli("upgrade").code == 0
    assert cli("uninstall", "claude").code == 0
    assert path.read_bytes() == text.encode()


def hook_entries_of(settings: dict[str, Any]) -> list[str]:
    return [
        event
        for event, groups in settings["hooks"].items()
        for group in groups
        if any("run_hook.py" in hook["command"] for hook in group["hooks"])
    ]


@pytest.mark.req("H-01")
def test_a_users_hook_beside_ours_in_one_entry_stays(cli: Command, project: Path) -> None:
    path = project / ".claude" / "settings.local.json"
    cli("install", "claude", "--scope", "project", "--skill", SKILL)
    settings = json.loads(path.read_text())
    settings["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "say done"})
    path.write_text(json.dumps(settings, indent=2))
    assert cli("uninstall", "claude").code == 0
    assert json.loads(path.read_text()) == {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}
    }


@pytest.mark.req("H-01")
@pytest.mark.parametrize("host", ["claude", "qwen", "gemini", "opencode"])
def test_a_role_is_what_its_host_reads(host: str) -> None:
    found = roles.definitions(host, role_names())
    assert {name.removesuffix(".md") for name in found} == set(role_names()) - KNOWN[host].built_in
    for name, data in found.items():
        _, head, body = data.decode().split("---\n", 2)
        fields = yaml.safe_load(head)
        assert body.strip().startswith("# ")
        assert len(fields["description"]) > 40
        if host == "opencode":
            assert fields["mode"] == "subagent"
            assert set(fields) <= {"description", "mode", "permission"}
            continue
        assert (fields["name"], set(fields)) == (name.removesuffix(".md"), {"name", "description", "tools"})
        listed = fields["tools"].split(", ") if host == "claude" else fields["tools"]
        assert {tool for tool in listed if not any(tool in names[host] for names in tools.TABLE.values())} == set()
    reviewer = found["quality-reviewer.md"].decode()
    assert ("edit: deny" in reviewer) if host == "opencode" else ("edit" not in reviewer.split("---\n")[1].lower())


@pytest.mark.req("H-01")
def test_a_role_for_gemini_names_only_tools_that_gemini_takes_in_a_role() -> None:
    known = {"glob", "grep_search", "search_file_content", "list_directory", "read_file", "read_many_files"}
    known |= {"replace", "write_file", "run_shell_command", "web_fetch", "google_web_search"}
    for name, data in roles.definitions("gemini", role_names()).items():
        fields = yaml.safe_load(data.decode().split("---\n", 2)[1])
        assert set(fields["tools"]) <= known, name


@pytest.mark.req("H-01")
def test_a_role_for_codex_is_toml_with_the_whole_text() -> None:
    found = roles.definitions("codex", role_names())
    assert set(found) == {f"{name}.toml" for name in role_names()}
    fields = tomllib.loads(found["explore.toml"].decode())
    assert set(fields) == {"name", "description", "developer_instructions"}
    assert fields["developer_instructions"].startswith("# Explorer\n")
    assert "`path:line`" in fields["developer_instructions"]


def test_the_generic_folder_has_neither_roles_nor_hooks(cli: Command, project: Path) -> None:
    assert roles.definitions("agents", role_names()) == {}
    cli("install", "agents", "--scope", "project", "--skill", SKILL)
    assert {path.name for path in project.iterdir()} == {".git", ".agents", ".lockstep"}


@pytest.mark.req("H-01")
def test_a_user_keeps_settings_elsewhere(
    cli: Command, project: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))
    for host in ("codex", "opencode"):
        assert cli("install", host, "--scope", "user", "--skill", ROLED).code == 0
    assert (tmp_path / "codex" / "hooks.json").is_file()
    assert (tmp_path / "codex" / "agents" / "explore.toml").is_file()
    assert (tmp_path / "config" / "opencode" / "plugin" / "lockstep.js").is_file()
    assert {path.name for path in home.iterdir()} == {".agents"}
    assert {path.name for path in (tmp_path / "state" / "installed").iterdir()} == {"codex.json", "opencode.json"}
    for host in ("codex", "opencode"):
        assert cli("uninstall", host, "--scope", "user").code == 0
    assert list(home.iterdir()) == []
    assert not (tmp_path / "codex").exists()


@pytest.mark.req("H-01")
def test_a_project_can_be_moved(cli: Command, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("install", "codex", "--scope", "project", "--skill", SKILL)
    moved = tmp_path / "moved"
    project.rename(moved)
    monkeypatch.chdir(moved)
    assert json.loads(cli("installed", "--json").out)[0]["state"] == "current"
    assert cli("uninstall", "codex").code == 0
    assert tree(moved) == {".git": None}


@pytest.mark.req("H-01")
@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "src/main.py", ".agents/skills/../../x", ".git/config"]
)
def test_a_manifest_that_names_other_files_is_not_followed(cli: Command, project: Path, name: str) -> None:
    cli("install", "codex", "--scope", "project", "--skill", SKILL)
    path = Path(manifest.path_of(place_of("codex", "project", project)))
    told = json.loads(path.read_text())
    told["files"][name] = "0" * 64
    path.write_text(json.dumps(told))
    before = tree(project)
    shown = cli("uninstall", "codex", "--force")
    assert shown.code == 4
    assert f"nothing of codex belongs at {name!r}" in shown.err
    assert tree(project) == before


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 2}', '{"format": 1}', '{"format": 1, "host": "qwen"}'])
def test_a_damaged_manifest_is_reported_with_its_name(cli: Command, project: Path, text: str) -> None:
    path = Path(manifest.path_of(place_of("codex", "project", project)))
    written(path, text)
    for command in (["install", "codex"], ["uninstall", "codex"], ["installed"], ["upgrade"]):
        shown = cli(*command)
        assert (shown.code, shown.out) == (4, "")
        assert f"the manifest {path} cannot be used" in shown.err


@pytest.mark.req("H-01")
def test_a_graph_that_the_user_broke_does_not_hold_up_other_hosts(cli: Command, project: Path) -> None:
    for host in ("claude", "codex"):
        assert cli("install", host, "--scope", "project", "--skill", SKILL).code == 0
    scripts = project / ".claude" / "skills" / SKILL / "scripts"
    graph = scripts / "problem_analysis_workflow.py"
    graph.write_text(graph.read_text() + "\nraise RuntimeError('torn')\n")
    missing = project / ".agents" / "skills" / SKILL / "SKILL.md"
    for words in (("upgrade",), ("install", "claude", "codex", "--scope", "project", "--skill", SKILL)):
        missing.unlink()
        shown = cli(*words)
        assert (shown.code, "RuntimeError: torn" in shown.err) == (5, True)
        assert missing.is_file()
        assert "codex, project scope: 1 written again" in shown.out
    assert "claude, project scope, is not upgraded as a whole:" in cli("upgrade").err


@pytest.mark.req("H-01")
def test_a_users_installation_says_nothing_of_a_projects_hooks(cli: Command, project: Path) -> None:
    for host in ("codex", "gemini"):
        assert "a project's hooks" not in cli("install", host, "--scope", "user", "--skill", SKILL).err
        assert "a project's hooks" in cli("install", host, "--scope", "project", "--skill", SKILL).err


@pytest.mark.req("H-02")
def test_without_its_python_geminis_hook_blocks_tools_in_a_session_with_a_run_and_no_prompt(
    cli: Command, project: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "it's a python"
    python.symlink_to(sys.executable)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", str(python))
        assert cli("install", "gemini", "--scope", "project", "--skill", SKILL).code == 0
    events = json.loads((project / ".gemini" / "settings.json").read_text())["hooks"]

    def ended(event: str) -> tuple[int, str]:
        [entry] = events[event][0]["hooks"]
        done = subprocess.run(["sh", "-c", entry["command"]], input="{}", capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    assert {event: ended(event) for event in events} == dict.fromkeys(events, (0, ""))
    python.unlink()
    assert {event: ended(event) for event in events} == dict.fromkeys(events, (0, ""))
    followed = home / ".local" / "state" / "lockstep" / "sessions" / "gemini-x"
    followed.parent.mkdir(parents=True)
    followed.write_text("{}")
    code, said = ended("BeforeTool")
    assert (code, f"{python} or " in said, "lockstep doctor gemini" in said) == (2, True, True)
    assert {event: ended(event) for event in events if event != "BeforeTool"} == {
        event: (0, "") for event in events if event != "BeforeTool"
    }

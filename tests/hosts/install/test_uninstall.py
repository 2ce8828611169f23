"""What an uninstallation keeps because the user changed it: it is reported, asked for again, and removed by force."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from skills.lib.hosts.install import manifest
from tests.hosts.conftest import ROLED, SKILL, Command, place_of, tree
from tests.hosts.doctor.examined import step

pytestmark = pytest.mark.req("H-01")
SKILL_FILE = f".agents/skills/{SKILL}/SKILL.md"
# Said if no other test left an installation.
NOTHING_LEFT = "Nothing is installed any more; lockstep upgrade --prune removes the runtime, too.\n"


@pytest.fixture
def kept(cli: Command, project: Path) -> Path:
    """A SKILL.md that was changed, and stayed when Codex was uninstalled."""
    assert cli("install", "codex", "--scope", "project", "--skill", SKILL).code == 0
    path = project / SKILL_FILE
    path.write_text(path.read_text() + "\nMine.\n")
    gone = cli("uninstall", "codex")
    assert (gone.code, "--force replaces or removes what you changed" in gone.err) == (3, True)
    assert [one for one in path.parent.rglob("*") if one.is_file()] == [path]
    return path


def states(cli: Command) -> dict[str, str]:
    """The state of each host that has something."""
    return {one["host"]: one["state"] for one in json.loads(cli("installed", "--json").out)}


def record_of(host: str, project: Path) -> Path:
    return Path(manifest.path_of(place_of(host, "project", project)))


def test_what_was_kept_is_listed_and_goes_with_force(cli: Command, project: Path, kept: Path) -> None:
    shown = cli("installed")
    assert "codex  project  kept   0       none" in shown.out
    assert "codex, project scope: uninstalled, but for what you changed: lockstep uninstall codex --force" in shown.out
    assert f"  kept     {SKILL_FILE} (skill {SKILL})\n" in shown.out
    again = cli("uninstall", "codex")
    assert (again.code, again.out) == (3, "codex, project scope: nothing.\n")
    forced = cli("uninstall", "codex", "--force")
    said = forced.err.removesuffix(NOTHING_LEFT)
    assert (forced.code, forced.out, said) == (0, "codex, project scope: 1 removed.\n", "")
    assert tree(project) == {".git": None}


@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("host", ["claude", "codex", "opencode"])
def test_a_kept_role_is_remembered_in_either_scope(
    cli: Command, project: Path, home: Path, host: str, scope: str
) -> None:
    assert cli("install", host, "--scope", scope, "--skill", ROLED).code == 0
    role = next(Path(place_of(host, scope, project).roles).glob("quality-reviewer.*"))
    role.write_text("mine")
    assert cli("uninstall", host, "--scope", scope).code == 3
    assert states(cli) == {host: "kept"}
    assert cli("uninstall", host, "--scope", scope, "--force").code == 0
    assert not role.parent.parent.exists()
    assert states(cli) == {}


def test_a_dry_run_says_what_force_would_take(cli: Command, project: Path, kept: Path) -> None:
    before = tree(project)
    shown = cli("uninstall", "codex", "--force", "--dry-run")
    assert shown.code == 0
    assert shown.out.startswith("WOULD   FILE ")
    assert f"remove  {SKILL_FILE} " in shown.out
    assert tree(project) == before


def test_an_upgrade_leaves_what_was_kept_alone(cli: Command, project: Path, kept: Path) -> None:
    before = tree(project)
    for words in (["upgrade"], ["upgrade", "codex"], ["upgrade", "--force"]):
        shown = cli(*words)
        assert (shown.code, "nothing is installed that could be upgraded" in shown.err) == (2, True)
    assert tree(project) == before


def test_an_installation_over_it_keeps_it_until_it_is_forced(cli: Command, project: Path, kept: Path) -> None:
    done = cli("install", "codex", "--scope", "project", "--skill", SKILL)
    assert done.code == 3
    assert f"{SKILL_FILE}: skill {SKILL}, changed by you" in done.err
    assert kept.read_text().endswith("\nMine.\n")
    assert (kept.parent / "scripts" / "problem_analysis.py").is_file()
    assert states(cli) == {"codex": "changed"}
    assert cli("upgrade").code == 3
    assert cli("upgrade", "--force").code == 0
    assert not kept.read_text().endswith("\nMine.\n")
    assert states(cli) == {"codex": "current"}
    assert cli("uninstall", "codex").code == 0
    assert tree(project) == {".git": None}


def test_an_installation_begins_with_the_settings_of_a_first_one(cli: Command, project: Path) -> None:
    cli("install", "codex", "--scope", "project", "--skill", SKILL, "--no-hooks", "--stops", "9")
    (project / SKILL_FILE).write_text("mine")
    cli("uninstall", "codex")
    cli("install", "codex", "--scope", "project", "--skill", SKILL)
    [told] = json.loads(cli("installed", "--json").out)
    assert (told["hooks"], told["stops"], told["skills"]) == (True, 3, [SKILL])


def test_a_kept_file_of_another_skill_is_not_forgotten_by_an_installation(
    cli: Command, project: Path, kept: Path
) -> None:
    done = cli("install", "codex", "--scope", "project", "--skill", "decision-critic")
    assert (done.code, f"{SKILL_FILE}: skill {SKILL}, changed by you" in done.err) == (3, True)
    assert cli("uninstall", "codex").code == 3
    assert states(cli) == {"codex": "kept"}
    assert cli("uninstall", "codex", "--force").code == 0
    assert tree(project) == {".git": None}


def test_a_skill_that_is_found_no_more_leaves_a_record_of_what_was_changed(cli: Command, project: Path) -> None:
    assert cli("new", "my-skill").code == 0
    assert cli("install", "agents", "--scope", "project", "--skill", "my-skill").code == 0
    shutil.rmtree(project / "skills")
    copy = project / ".agents" / "skills" / "my-skill"
    (copy / "SKILL.md").write_text("mine")
    assert cli("upgrade").code == 3
    assert [one.name for one in copy.rglob("*")] == ["SKILL.md"]
    assert states(cli) == {"agents": "changed"}
    assert cli("upgrade", "--force").code == 0
    assert not copy.exists()


def test_what_the_user_removed_or_changed_back_is_no_longer_kept(cli: Command, project: Path, kept: Path) -> None:
    mine = kept.read_text()
    kept.write_text(mine.removesuffix("\nMine.\n"))
    assert cli("uninstall", "codex").out == "codex, project scope: 1 removed.\n"
    assert tree(project) == {".git": None}


def test_a_record_of_a_file_that_is_gone_says_nothing_and_goes(cli: Command, project: Path, kept: Path) -> None:
    kept.unlink()
    assert cli("installed").err.startswith("Nothing is installed")
    assert cli("uninstall", "codex").code == 0
    assert tree(project) == {".git": None}


def test_what_one_host_kept_is_no_hindrance_to_another(cli: Command, project: Path, kept: Path) -> None:
    assert cli("install", "gemini", "--scope", "project", "--skill", SKILL).code == 3
    assert kept.read_text().endswith("\nMine.\n")
    assert cli("install", "gemini", "--scope", "project", "--skill", SKILL, "--force").code == 0
    assert states(cli) == {"gemini": "current"}
    assert cli("uninstall", "codex", "--force").code == 0
    assert kept.is_file()
    assert not record_of("codex", project).exists()
    assert cli("uninstall", "gemini").code == 0
    assert tree(project) == {".git": None}


def test_another_host_takes_away_what_it_put_over_a_kept_file(cli: Command, project: Path, kept: Path) -> None:
    assert cli("install", "gemini", "--scope", "project", "--skill", SKILL, "--force").code == 0
    assert cli("uninstall", "gemini").code == 0
    assert not (project / ".agents").exists()
    assert states(cli) == {}


def test_a_kept_file_of_a_skill_that_another_host_uses_is_left_to_it(cli: Command, project: Path, kept: Path) -> None:
    """It was removed by the command that ``installed`` gave, and the skill of the other host did not start."""
    assert cli("install", "gemini", "--scope", "project", "--skill", SKILL).code == 3
    assert states(cli) == {"gemini": "changed"}
    forced = cli("uninstall", "codex", "--force")
    assert (forced.code, forced.out) == (0, "codex, project scope: 1 left to another host.\n")
    assert kept.read_text().endswith("\nMine.\n")
    assert cli("uninstall", "gemini").code == 0
    assert states(cli) == {"codex": "kept"}
    assert cli("uninstall", "codex", "--force").code == 0
    assert tree(project) == {".git": None}


def test_an_open_run_of_what_goes_is_named(cli: Command, project: Path) -> None:
    cli("install", "agents", "--scope", "project", "--skill", SKILL)
    script = project / ".agents" / "skills" / SKILL / "scripts" / "problem_analysis.py"
    step(project, script, "--step", "1")
    [run] = json.loads(cli("runs", "--json").out)
    gone = cli("uninstall", "agents")
    ending = f"lockstep abandon {run['run']} --reason '…' ends it."
    said = gone.err.removesuffix(NOTHING_LEFT)
    assert (gone.code, said) == (0, f"The run {run['run']} of {SKILL} is open: {ending}\n")


# A project that is the home: the places of both scopes are the same.


@pytest.fixture
def both(cli: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in the home itself."""
    (home / ".git").mkdir()
    monkeypatch.chdir(home)
    return home


@pytest.mark.parametrize("host", ["claude", "codex", "opencode", "qwen", "gemini", "agents"])
@pytest.mark.parametrize("last", ["project", "user"])
def test_what_one_scope_has_is_left_to_it_by_the_other(cli: Command, both: Path, host: str, last: str) -> None:
    first = "project" if last == "user" else "user"
    (both / ".qwen").mkdir()
    (both / ".qwen" / "settings.json").write_text('{"a": 1}')
    before = tree(both)
    assert cli("install", host, "--scope", first, "--skill", SKILL).code == 0
    assert cli("install", host, "--scope", last, "--skill", SKILL).code == 0
    assert cli("uninstall", host, "--scope", first).code == 0
    [told] = json.loads(cli("installed", "--json").out)
    assert (told["scope"], told["state"]) == (last, "current")
    assert cli("uninstall", host, "--scope", last).code == 0
    left = tree(both)
    assert {name: left[name] for name in left if name not in (".local", ".local/state", ".config", ".codex")} == before


def test_a_host_that_is_not_installed_is_named_with_what_is(cli: Command, project: Path) -> None:
    cli("install", "claude", "--scope", "project", "--skill", SKILL)
    for words, done in ((("upgrade", "codex", "--scope", "project"), "upgraded"), (("uninstall", "codex"), "removed")):
        shown = cli(*words)
        assert shown.code == 2
        assert f"nothing is installed that could be {done} for codex in the project scope" in shown.err
        assert "  valid: claude --scope project\n" in shown.err

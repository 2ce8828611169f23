"""An installation that is stopped, that meets a full disk, links or another installation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.extent import extent
from tests.fixtures.skill import ROOT
from tests.hosts.conftest import ROLED, SKILL, Command, place_of, sign, tree

pytestmark = pytest.mark.slow

KILLED = Path(__file__).with_name("killed.py")


def python(*words: str, cwd: Path, **environment: str) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.Popen(
        [sys.executable, *words], cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.req("H-01")
@pytest.mark.parametrize(
    "what, host, scope, at_least",
    [
        ("install", "qwen", "project", 30),
        ("install", "codex", "user", 30),
        ("upgrade", "opencode", "project", 20),
        ("upgrade", "qwen", "user", 20),
        ("uninstall", "qwen", "project", 25),
        ("uninstall", "codex", "user", 25),
        ("keep", "qwen", "project", 20),
        ("keep", "codex", "user", 20),
        ("force", "qwen", "project", 10),
    ],
)
def test_killed_at_every_operation_it_leaves_what_the_same_command_completes(
    tmp_path: Path, home: Path, what: str, host: str, scope: str, at_least: int
) -> None:
    done = python(str(KILLED), what, host, scope, str(tmp_path / "killed"), cwd=tmp_path)
    out, err = done.communicate(timeout=300)
    assert (done.returncode, err) == (0, "")
    told = json.loads(out)
    assert told["wrong"] == []
    assert told["operations"] >= at_least - extent(3, 1)


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.argv = ["lockstep", *sys.argv[2:]]
from skills.lib.commands import main
main()
"""


@pytest.mark.req("H-01")
@pytest.mark.parametrize("limit", ["0", "10000"])
def test_a_full_disk_changes_nothing(
    project: Path, home: Path, limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_DATA", str(tmp_path / "data"))
    before = tree(project), tree(home)
    done = python("-c", LIMITED, limit, "install", "codex", "--skill", SKILL, cwd=project)
    out, err = done.communicate(timeout=120)
    assert (done.returncode, out) == (4, "")
    assert "cannot be written: File too large" in err
    assert "Traceback" not in err
    assert (tree(project), tree(home)) == before


@pytest.mark.req("H-01")
def test_a_disk_that_fills_up_leaves_what_the_next_command_completes(
    cli: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("install", "codex", "--scope", "project", "--skill", ROLED)
    before = tree(project)

    rename = os.rename

    def full(source: str, target: str, **folders: int) -> None:
        if "explore" in target:
            raise OSError(28, "No space left on device")
        rename(source, target, **folders)

    (project / ".codex" / "agents" / "explore.toml").unlink()
    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", full)
        shown = cli("upgrade")
    assert (shown.code, shown.out) == (4, "")
    assert "explore.toml cannot be read or written: No space left on device" in shown.err
    assert "codex  project  interrupted" in cli("installed").out
    assert cli("upgrade").code == 0
    assert tree(project) == before


def test_an_installation_that_a_person_interrupts_says_what_completes_it(
    cli: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = os.rename

    def interrupted(source: str, target: str, **folders: int) -> None:
        if "explore" in target:
            raise KeyboardInterrupt
        rename(source, target, **folders)

    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", interrupted)
        shown = cli("install", "codex", "--scope", "project", "--skill", ROLED)
    assert (shown.code, shown.out, shown.err) == (
        130,
        "",
        "\ncodex, project scope: the next lockstep install, upgrade or uninstall completes this"
        "\nlockstep: interrupted\n",
    )
    assert cli("uninstall", "codex", "--scope", "project").code == 0
    assert tree(project) == {".git": None}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_reported(cli: Command, project: Path) -> None:
    (project / ".codex").mkdir(mode=0o500)
    shown = cli("install", "codex", "--scope", "project", "--skill", SKILL)
    assert (shown.code, ".codex" in shown.err) == (4, True)
    assert tree(project) == {".git": None, ".codex": None}


# What stands in the way, below the project -> what it is called. "out" is a folder beside the project.
WAYS = {
    ".agents": "a link",
    ".agents/skills": "a link",
    f".agents/skills/{ROLED}": "a link",
    f".agents/skills/{ROLED}/scripts": "a link",
    f".agents/skills/{ROLED}/SKILL.md": "a link",
    ".codex": "a link",
    ".codex/agents": "a link",
    ".codex/agents/explore.toml": "a link",
    ".codex/hooks.json": "a link",
    ".lockstep": "a link",
    ".lockstep/installed": "a link",
    ".lockstep/installed/codex.json": "a link",
}


@pytest.mark.req("H-01")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_link_in_the_way_is_neither_followed_nor_replaced(
    cli: Command, project: Path, tmp_path: Path, way: str, force: list[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "victim").write_text("{}")
    (project / way).parent.mkdir(parents=True, exist_ok=True)
    (project / way).symlink_to(out / "victim" if "." in Path(way).name[1:] else out)
    before = tree(project), tree(out)
    for command in ("install", "upgrade") if way.endswith("codex.json") else ("install",):
        shown = cli(
            command, "codex", "--scope", "project", *(["--skill", ROLED] if command == "install" else []), *force
        )
        assert (shown.code, shown.out) == (3, "")
        assert f"{project / way} is {WAYS[way]}, and is neither followed nor replaced" in shown.err
    assert (tree(project), tree(out)) == before


@pytest.mark.req("H-01")
@pytest.mark.parametrize("way", [".codex/hooks.json", ".codex/agents/explore.toml", f".agents/skills/{ROLED}/SKILL.md"])
@pytest.mark.parametrize("kind", ["hard link", "folder", "fifo"])
def test_what_is_no_file_of_its_own_is_refused(
    cli: Command, project: Path, tmp_path: Path, way: str, kind: str
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("{}")
    path = project / way
    path.parent.mkdir(parents=True)
    if kind == "hard link":
        os.link(victim, path)
    elif kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    names = set(os.listdir(path.parent))
    shown = cli("install", "codex", "--scope", "project", "--skill", ROLED, "--force")
    assert (shown.code, shown.out) == (3, "")
    assert f"{path} is {'a file with a second name' if kind == 'hard link' else 'no regular file'}" in shown.err
    assert set(os.listdir(path.parent)) == names
    assert victim.read_text() == "{}"
    assert not (project / ".lockstep").exists()


@pytest.mark.req("H-01")
def test_a_link_that_appears_after_the_plan_was_made_is_not_followed(
    cli: Command, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    out.mkdir()

    mkdir = os.mkdir

    def swap(path: str, *mode: int, **folder: int) -> None:
        if path == "agents":
            os.symlink(out, project / ".codex" / path)
        mkdir(path, *mode, **folder)

    monkeypatch.setattr(os, "mkdir", swap)
    shown = cli("install", "codex", "--scope", "project", "--skill", ROLED)
    assert (shown.code, shown.out) == (3, "")
    assert ".codex/agents is a link" in shown.err
    assert list(out.iterdir()) == []


@pytest.mark.req("H-01")
def test_a_skill_that_another_tool_linked_there_is_refused(cli: Command, project: Path) -> None:
    """As ``npx skills add`` does it for one of its hosts."""
    (project / ".agents" / "skills" / SKILL).mkdir(parents=True)
    (project / ".claude" / "skills").mkdir(parents=True)
    (project / ".claude" / "skills" / SKILL).symlink_to(f"../../.agents/skills/{SKILL}")
    before = tree(project)
    shown = cli("install", "claude", "--scope", "project", "--skill", SKILL)
    assert (shown.code, shown.out) == (3, "")
    assert f".claude/skills/{SKILL} is a link" in shown.err
    assert tree(project) == before


@pytest.mark.req("H-01")
def test_an_interrupted_installation_is_reported(cli: Command, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("install", "codex", "--scope", "project", "--skill", SKILL)
    records = Path(place_of("codex", "project", project).records)
    told = json.loads((records / "codex.json").read_text())
    told["complete"] = False
    (records / "codex.json").write_text(json.dumps(told))
    sign(records / "codex.json")
    assert "codex  project  interrupted" in cli("installed").out
    assert cli("upgrade").code == 0
    assert "codex  project  current" in cli("installed").out


@pytest.mark.req("H-01")
def test_two_installations_at_once_both_take_effect(cli: Command, project: Path, home: Path) -> None:
    before = tree(project)
    hosts = ["codex", "gemini", "codex", "opencode"]
    words = ["--skill", SKILL, "--project", str(project)]
    calls = [python("-m", "skills", "install", host, "--scope", "project", *words, cwd=project) for host in hosts]
    for call in calls:
        out, err = call.communicate(timeout=120)
        assert (call.returncode, "Traceback" in err) == (0, False), err
        assert "project scope: " in out
    told = json.loads(cli("installed", "--json").out)
    assert [(one["host"], one["state"]) for one in told] == [
        ("codex", "current"),
        ("opencode", "current"),
        ("gemini", "current"),
    ]
    calls = [python("-m", "skills", "uninstall", host, cwd=project) for host in ("codex", "gemini", "opencode")]
    for call in calls:
        assert (call.communicate(timeout=120)[1], call.returncode) == ("", 0)
    assert tree(project) == before


@pytest.mark.req("H-01")
def test_an_installation_waits_no_longer_than_it_says(
    cli: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from skills.lib.hosts.install import manifest

    monkeypatch.setattr(manifest, "PATIENCE", 0.1)
    with manifest.locked(place_of("codex", "project", project)):
        shown = cli("install", "gemini", "--scope", "project", "--skill", SKILL)
    assert (shown.code, shown.out) == (4, "")
    assert "another lockstep command has been installing here" in shown.err

"""What a cloned project may bring along for the doctor: it removes nothing outside, and its remedies run no name."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from skills.lib.hosts.hook import sessions
from tests.hosts.conftest import Command, plant, sign, tree
from tests.hosts.doctor.examined import of, only, program

pytestmark = pytest.mark.usefixtures("path")
# A name that a shell would carry out.
SHELLED = "x$(touch pwned)x; touch pwned;"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A folder beside the project, with files whose names could be those of runs."""
    folder = tmp_path / "victim"
    (folder / "open" / "sub").mkdir(parents=True)
    for name in ("thesis", "notes.part", "open/thesis", "open/notes.part"):
        (folder / name).write_text("precious")
        os.utime(folder / name, (1, 1))
    return folder


def words_of(remedy: str) -> list[str]:
    """The words of a command, as a shell that carries out nothing has them."""
    assert "pwned" in remedy
    return list(shlex.shlex(remedy, posix=True, punctuation_chars=True))


# Files that --fix removes.


@pytest.mark.req("H-03")
@pytest.mark.parametrize("link", [".lockstep", ".lockstep/open"])
def test_a_linked_folder_of_status_files_is_reported_and_nothing_is_removed_through_it(
    link: str, doctor: Any, cli: Command, project: Path, victim: Path
) -> None:
    (project / link).parent.mkdir(exist_ok=True)
    (project / link).symlink_to(victim if link == ".lockstep" else victim / "open")
    before = tree(victim)
    result = only(doctor(), "project", "status")
    assert (result.status, result.where) == ("problem", str(project / link))
    assert result.what == "a link is in the place of the folder, and its files are left alone"
    assert result.remedy == f"rm {project / link}"
    assert cli("doctor", "--fix").code == 1
    assert tree(victim) == before


@pytest.mark.req("H-03")
def test_a_linked_folder_that_LOCKSTEP_HOME_names_below_the_project_is_not_followed(
    cli: Command, project: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", "var/steps")
    (project / "var").symlink_to(victim.parent)
    (victim.parent / "steps").symlink_to(victim)
    before = tree(victim)
    assert cli("doctor", "--fix").code == 1
    assert tree(victim) == before


@pytest.mark.req("H-03")
def test_fix_removes_regular_files_with_the_name_of_a_run_and_no_others(
    doctor: Any, cli: Command, project: Path, victim: Path
) -> None:
    folder = project / ".lockstep" / "open"
    folder.mkdir(parents=True)
    for name in ("abc", "def.7.part", "my thesis", "My-notes.part", "id_rsa"):
        (folder / name).write_text("x")
        os.utime(folder / name, (1, 1))
    (folder / "link").symlink_to(victim / "thesis")
    (folder / "sub").mkdir()
    os.mkfifo(folder / "pipe")
    told = {Path(one.where).name: (one.status, one.stale != "") for one in of(doctor(), "project", "status")}
    odd = ("problem", False)
    fixed = {"abc": ("warning", True), "def.7.part": ("warning", True)}
    assert told == {**fixed, "link": odd, "sub": odd, "pipe": odd}
    cli("doctor", "--fix")
    assert sorted(os.listdir(folder)) == ["My-notes.part", "id_rsa", "link", "my thesis", "pipe", "sub"]
    assert (victim / "thesis").read_text() == "precious"


@pytest.mark.req("H-03")
def test_fix_removes_no_file_of_another_kind_from_the_folder_of_sessions(
    cli: Command, project: Path, victim: Path
) -> None:
    folder = Path(sessions.folder())
    folder.mkdir(parents=True)
    for name in ("claude-s", "claude~0a.b~1", "claude-s.9.part", "thesis", "My notes.part"):
        (folder / name).write_text("x")
        os.utime(folder / name, (1, 1))
    (folder / "claude-link").symlink_to(victim / "thesis")
    cli("doctor", "--fix")
    assert sorted(os.listdir(folder)) == ["My notes.part", "claude-link", "thesis"]
    folder.rename(folder.with_name("others"))
    folder.symlink_to(folder.with_name("others"))
    (folder / "claude-s").write_text("x")
    cli("doctor", "--fix")
    assert (folder / "claude-s").is_file()


@pytest.mark.req("H-03")
@pytest.mark.parametrize("link", ["", "context"])
def test_prune_removes_nothing_through_a_link(
    link: str, cli: Command, opened: Any, project: Path, tmp_path: Path
) -> None:
    run, _ = opened()
    assert cli("abandon", run, "--yes", "--reason", "x").code == 0
    home = project / ".lockstep"
    (home / "context" / run).mkdir(parents=True)
    (home / "context" / run / "thesis").write_text("precious")
    shutil.move(home / link, tmp_path / "elsewhere")
    (home / link).symlink_to(tmp_path / "elsewhere")
    refused = cli("prune", "--older", "0", "--yes")
    assert (refused.code, "is a link" in refused.err) == (4, True)
    kept = tmp_path / "elsewhere" / (run if link else f"context/{run}") / "thesis"
    assert kept.read_text() == "precious"


@pytest.mark.req("H-03")
def test_prune_removes_the_texts_of_a_run(cli: Command, opened: Any, project: Path) -> None:
    run, _ = opened()
    assert cli("abandon", run, "--yes", "--reason", "x").code == 0
    (project / ".lockstep" / "context" / run).mkdir(parents=True)
    (project / ".lockstep" / "context" / run / "text").write_text("x")
    assert cli("prune", "--older", "0", "--yes").code == 0
    assert list((project / ".lockstep" / "context").iterdir()) == []


# Names in remedies.


@pytest.mark.req("H-03")
def test_a_skill_of_a_planted_manifest_is_one_word_of_the_remedy(doctor: Any, project: Path) -> None:
    sign(plant(project, hooks=False, skills={SHELLED: "skills/x"}))
    result = only(doctor("claude"), "claude", "hooks")
    assert words_of(result.remedy)[-2:] == [SHELLED, "--hooks"]


@pytest.mark.req("H-03")
def test_a_folder_of_skills_is_one_word_of_the_remedy(doctor: Any, project: Path) -> None:
    script = project / ".agents" / "skills" / SHELLED / "scripts" / f"{SHELLED}.py"
    script.parent.mkdir(parents=True)
    script.write_text("import sys; sys.exit(9)")
    (script.parent.parent / "SKILL.md").write_text("---\nname: x\ndescription: Does y. Use it.\n---\n")
    remedy = only(doctor("agents"), "agents", "start").remedy
    assert words_of(remedy.partition(": ")[2]) == ["lockstep", "export", SHELLED]


@pytest.mark.req("H-03")
def test_paths_of_this_machine_are_single_words_of_the_remedies(
    doctor: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_STATE", SHELLED)
    [remedy] = [one.remedy for one in of(doctor(), "lockstep", "variables") if one.remedy]
    assert shlex.split(remedy) == ["export", f"LOCKSTEP_STATE={os.path.abspath(SHELLED)}"]
    place = tmp_path / SHELLED
    place.write_text("")
    monkeypatch.setenv("LOCKSTEP_STATE", str(place))
    remedy = only(doctor(), "lockstep", "state").remedy
    assert words_of(remedy) == ["mv", str(place), f"{place}.aside"]


# Settings that a clone brings along.


@pytest.mark.req("H-03")
@pytest.mark.parametrize(
    "host, file", [("claude", ".claude/settings.local.json"), ("opencode", ".opencode/plugin/lockstep.js")]
)
@pytest.mark.parametrize("installed", [True, False])
def test_a_program_that_no_installation_wrote_into_the_settings_is_not_started(
    doctor: Any, cli: Command, project: Path, host: str, file: str, installed: bool
) -> None:
    if installed:
        cli("install", host, "--scope", "project", "--skill", "problem-analysis")
        assert [one.what for one in of(doctor(host), host, "call")] == ["the hook runs"]
    bad = project / "bin" / "py"
    bad.parent.mkdir()
    program(bad, f"touch {shlex.quote(str(project / 'ran'))}; echo 3 11")
    (project / "run_hook.py").write_text("")
    words = [str(bad), "-IS", str(project / "run_hook.py"), "--host", host]
    entry = {"hooks": [{"type": "command", "command": shlex.join(words)}]}
    settings = project / file
    settings.parent.mkdir(parents=True, exist_ok=True)
    if host == "opencode":
        settings.write_text(f"const COMMAND = {json.dumps(words)}\n")
    else:
        settings.write_text(json.dumps({"hooks": {"PreToolUse": [entry]}}))
    result = only(doctor(host), host, "call")
    assert (result.status, "no installation wrote there" in result.what) == ("warning", True)
    assert not (project / "ran").exists()


@pytest.mark.req("H-03")
def test_settings_that_no_reader_takes_are_no_error_of_lockstep(doctor: Any, cli: Command, project: Path) -> None:
    settings = project / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text("[" * 200_000)
    assert not [one for one in doctor("claude") if "check failed" in one.result.what]
    settings.write_text("[" * 9_000_000)
    assert not [one for one in doctor("claude") if "check failed" in one.result.what]


@pytest.mark.req("H-03")
def test_settings_with_many_names_are_read_in_a_moment(cli: Command, project: Path) -> None:
    settings = project / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"hooks": {f"e{number}": [] for number in range(60_000)}}))
    begun = time.process_time()
    cli("install", "claude", "--scope", "project", "--skill", "problem-analysis", "--dry-run")
    assert time.process_time() - begun < 10


@pytest.mark.req("H-03")
def test_a_huge_skill_file_is_not_read(doctor: Any, project: Path) -> None:
    file = project / ".claude" / "skills" / "zz" / "SKILL.md"
    file.parent.mkdir(parents=True)
    with file.open("wb") as opened:
        opened.truncate(400_000_000)
    tracemalloc.start()
    try:
        doctor("claude")
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.req("H-03")
@pytest.mark.parametrize("installed", [True, False])
def test_a_script_that_no_installation_wrote_is_not_started(
    doctor: Any, cli: Command, project: Path, path: Path, installed: bool
) -> None:
    (path / "python3").unlink()  # a link
    program(path / "python3", f'exec {shlex.quote(sys.executable)} "$@"')
    name = "problem-analysis" if installed else "evil"
    if installed:
        cli("install", "agents", "--scope", "project", "--skill", name)
        assert [one.what for one in of(doctor("agents"), "agents", "start")] == [
            "each of them (project) prints its first step"
        ]
    script = project / ".agents" / "skills" / name / "scripts" / f"{name.replace('-', '_')}.py"
    script.parent.mkdir(parents=True, exist_ok=True)
    (script.parent.parent / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Does y. Use it.\n---\n")
    script.write_text(f"open({str(project / 'ran')!r}, 'w').close()\n")
    [result] = of(doctor("agents"), "agents", "start")
    assert (result.status, result.what) == ("ok", f"not started, as no installation wrote them (project): {name}")
    assert not (project / "ran").exists()

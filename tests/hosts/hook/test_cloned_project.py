"""What a cloned project may bring along, and commands that the hook denies: none runs code by being there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skills.lib import status_files
from skills.lib.hosts.hook import sessions
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock
from tests.fixtures.skill import ROOT, source_of
from tests.hosts.conftest import Command
from tests.hosts.hook.hooked import HOOK, Answer, Host

SILENT = Answer(0, "", "")
THREE = """
    StepDef("a", "A", "Do.", {Outcome.OK: "b"}),
    StepDef("b", "B", "Do.", {Outcome.OK: "c"}, tools=["read"]),
    StepDef("c", "C", "Do.", {Outcome.OK: None}),
"""
ENTRY = ROOT / "skills" / "problem-analysis" / "scripts" / "problem_analysis.py"


@pytest.mark.req("H-02")
def test_what_is_no_simple_command_of_a_script_is_denied(host: Host) -> None:
    host.at("mend")
    script = host.agent.script
    folder = os.path.dirname(script)
    tried = [
        *("X=/check.py rm -rf .", f"A=/python3 {script}", "A=/lockstep runs", "PATH=/tmp/x lockstep runs"),
        *("python3 -c/check.py", "python3 '-cimport os #/check.py'", "bash '-cid #/check.py'", "node -e/check.py"),
        *(f"python3 -c 'x' {script} --step 2", f"python3 -i {script} --step 2", f"python3 -m {script}"),
        *(f"python3 {script} --step 1 # note", f"python3 {script}\nrm x", f"python3 {script} --step$IFS1"),
        *(f"python3 {script} <(ls)", f"python3 {script} <<E\nE", f"python3 {script} --x \\\nfoo"),
        *(f"python3 {script} --step {{1,2}}", f"python3 {folder}/{{,x/y/z}}/../../../guarded.py --step 1"),
        *(f"python3 {folder}/.[.]/../guarded.py --step 1", f"python3 {folder}/*/../guarded.py --step 1"),
        *(f'python3 "{folder}/$x/../guarded.py" --step 1', f"python3 ~/../{script}", f"python3\u3000{script}"),
        *("lockstep trace r --html ~/.profile --force", "lockstep trace r --html=x", "lockstep validate skills --seal"),
    ]
    assert [line for line in tried if host.run(line) == SILENT] == []
    free = [f"python3 {script} --step 'a b'", "check.py 'a{b,c}' d{e} f@{0} *.txt", "lockstep trace r --values"]
    assert [line for line in free if host.run(line) != SILENT] == []
    assert "Mend" in host.use("Bash", command=["python3", "a\0.py"]).reason


@pytest.mark.req("H-02")
def test_an_option_that_is_a_link_to_the_script_is_an_option(host: Host) -> None:
    host.at("look")
    (host.project / "-cprint(1)").symlink_to(host.agent.script)
    assert host.run("python3 '-cprint(1)'").code == 2


@pytest.mark.req("H-02")
def test_a_denial_has_no_control_characters(host: Host) -> None:
    block = host.at("look")
    status_file = json.loads(host.status_file(block.run).read_text())
    title = "a\x1b]0;title\x07\x1b[2J\u202eb\x9b\r"
    host.status_file(block.run).write_text(json.dumps({**status_file, "title": title}))
    answers = [host.use("Write\x1b[31m\r"), host.use("\x1b" * 10_000_000), host.stop(), host.tell(b'{"\x1b[2J": ')]
    assert [answer.code for answer in answers] == [2, 2, 2, 2]
    for answer in answers:
        assert not any(not (char.isprintable() or char == "\n") for char in answer.reason)
        assert len(answer.reason) < 10_000


@pytest.mark.req("H-02")
def test_a_run_is_followed_only_by_a_command_of_its_own_skill(host: Host) -> None:
    """A project's own text may tell an agent to ``make --run x``: no run is followed by that."""
    block = host.at("look")
    host.session = "another"
    for line in (f"make test --run {block.run}", f"echo 'x.py' --run {block.run}", f"python3 x.py --run={block.run}"):
        assert host.run(line) == SILENT
    assert "claude-another" not in host.sessions()
    for line in (f"grep --run {block.run} {host.agent.script}", f"cat {host.agent.script} --run {block.run}"):
        assert host.run(line) == SILENT
    assert "claude-another" not in host.sessions()
    assert host.run(f"cd {Path(host.agent.script).parent} && python3 guarded.py --run {block.run} --help").code == 2
    assert "claude-another" in host.sessions()


class Clone:
    """A cloned project that brings a skill, a run of it, a status file, and code that leaves a trace if it runs."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        (self.project / ".git").mkdir(parents=True, exist_ok=True)
        self.skill = self.project / "skills" / "evil"
        scripts = self.skill / "scripts"
        scripts.mkdir(parents=True)
        (self.skill / "SKILL.md").write_text(
            "---\nname: evil\ndescription: Does it. Use it when asked.\n---\n\n# Evil\n"
        )
        self.script = scripts / "evil.py"
        self.script.write_text(ENTRY.read_text().replace("problem_analysis", "evil"))
        graph = self.script.with_name("evil_workflow.py")
        graph.write_text(source_of("evil", THREE))
        agent = Agent(self.script, self.project)
        with pytest.MonkeyPatch.context() as another_user:
            another_user.setenv("LOCKSTEP_STATE", str(folder / "another user"))
            self.block: PrintedBlock = agent.run_command(agent.open().next)
        self.trace = folder / "trace"
        graph.write_text(f"open({str(self.trace)!r}, 'w').close()\n{source_of('evil', THREE)}")

    def has_run(self) -> bool:
        """Whether its code has been run; forgets it."""
        found = self.trace.exists()
        self.trace.unlink(missing_ok=True)
        return found


@pytest.mark.req("H-02")
def test_a_cloned_project_has_none_of_its_code_run_by_the_hook(tmp_path: Path, host: Host) -> None:
    clone = Clone(tmp_path)
    status_file = Path(status_files.folder(str(clone.project))) / clone.block.run
    events = [{"hook_event_name": name, "source": "compact"} for name in ("UserPromptSubmit", "SessionStart", "Stop")]

    def all_events() -> list[int]:
        return [host.use("Write").code, host.use("Read").code, *[host.tell(event).code for event in events]]

    assert host.run(f"echo {clone.block.run}") == SILENT
    assert all_events() == [0] * 5
    # It is named, and a person may still refuse it: the hook is asked before.
    assert host.run(clone.block.next) == SILENT
    assert all_events() == [2, 0, 0, 0, 2]
    for text in (host.tell(events[1]).context, host.use("Write").reason, host.stop().reason):
        assert f"resume {clone.block.run}" not in text
        assert str(clone.script) not in text
        assert f"abandon {clone.block.run} --project {clone.project} --reason" in text
    for content in (None, "{", status_file.read_text().replace('"turn":2', '"turn":1')):
        status_file.unlink(missing_ok=True)
        if content is not None:
            status_file.write_text(content)
        host.session += "x"
        host.run(clone.block.next)
        all_events()
    assert not clone.has_run()


@pytest.mark.req("H-02")
def test_a_cloned_projects_run_that_a_denied_command_names_is_not_followed(tmp_path: Path, host: Host) -> None:
    clone = Clone(tmp_path)
    run = host.at("look").run
    assert host.run(f"cd / && python3 {clone.script} --run {clone.block.run}").code == 2
    assert host.run(clone.block.next).code == 2
    assert host.sessions() == {f"claude-{host.session}": [run]}


@pytest.mark.req("H-02")
def test_a_skill_that_was_run_in_the_session_is_given_back_whole(tmp_path: Path, host: Host) -> None:
    clone = Clone(tmp_path)
    agent = Agent(clone.script, clone.project)
    assert host.run(clone.block.next) == SILENT
    block = agent.run_command(clone.block.next)
    assert block.text in host.tell({"hook_event_name": "SessionStart", "source": "compact"}).context
    (Path(status_files.folder(str(clone.project))) / block.run).unlink()
    assert host.use("Write") == SILENT


@pytest.mark.req("H-02")
def test_another_script_that_a_ledger_names_is_not_loaded(tmp_path: Path, host: Host) -> None:
    clone = Clone(tmp_path)
    good = tmp_path / "good" / "evil" / "scripts" / "evil.py"
    shutil.copytree(clone.skill, good.parent.parent)
    good.with_name("evil_workflow.py").write_text(source_of("evil", THREE))
    command = clone.block.next.replace(str(clone.script), str(good))
    assert host.run(command) == SILENT
    Agent(good, clone.project).run_command(command)
    host.tell({"hook_event_name": "SessionStart", "source": "compact"})
    (Path(status_files.folder(str(clone.project))) / clone.block.run).unlink(missing_ok=True)
    host.use("Write")
    assert not clone.has_run()


def planted(clone: Clone) -> None:
    """Let the clone bring a manifest that names its skill as installed, and a folder that looks like Lockstep's."""
    (clone.skill.parent / "bootstrap.py").write_text("")
    place = clone.project / ".lockstep" / "installed" / "claude.json"
    place.parent.mkdir(parents=True)
    told = {"format": 2, "host": "claude", "scope": "project", "version": "0.1", "hooks": True, "stops": 3}
    more = {"skills": {"evil": "skills/evil"}, "files": {}, "entries": {}, "made": False}
    place.write_text(json.dumps({**told, **more, "complete": True, "uninstalled": False}))


@pytest.mark.req("H-01")
def test_looking_at_a_cloned_project_runs_none_of_its_code(tmp_path: Path, cli: Command) -> None:
    clone = Clone(tmp_path)
    planted(clone)
    run = clone.block.run
    for line in ("installed", "installed --json", "runs --all", f"trace {run} --values", "stats"):
        assert cli(*line.split()).code in (0, 1), line
        assert not clone.has_run(), line
    assert cli("uninstall", "claude").code == 2
    assert not clone.has_run()


@pytest.mark.req("H-01")
def test_a_users_skill_is_not_taken_from_another_project(
    tmp_path: Path, home: Path, cli: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was: an upgrade in a project with a skill of that name replaced the user's, and in any other removed it."""
    mine = tmp_path / "mine" / "evil"
    clone = Clone(tmp_path)
    shutil.copytree(clone.skill, mine)
    (mine / "scripts" / "evil_workflow.py").write_text(source_of("evil", THREE))
    assert cli("install", "agents", "--scope", "user", "--skill", str(mine)).code == 0
    installed = home / ".agents" / "skills" / "evil"
    before = (installed / "scripts" / "evil_workflow.py").read_bytes()
    empty = tmp_path / "empty"
    (empty / ".git").mkdir(parents=True)
    for place in (project, empty):
        monkeypatch.chdir(place)
        for line in ("installed", "upgrade", "install agents --scope user --skill problem-analysis"):
            assert cli(*line.split()).code == 0
            assert (installed / "scripts" / "evil_workflow.py").read_bytes() == before
            assert not clone.has_run()


@pytest.mark.req("H-01")
def test_a_copy_that_was_changed_is_reported_without_running_it(tmp_path: Path, cli: Command) -> None:
    clone = Clone(tmp_path)
    assert cli("install", "agents", "--scope", "project", "--skill", "evil").code == 0
    seal = clone.project / ".agents" / "skills" / "evil" / "scripts" / "evil.seal"
    clone.has_run()

    def states() -> set[str]:
        [told] = json.loads(cli("installed", "--json").out)
        return {file["state"] for file in told["files"]}

    assert states() == {"current"}
    text = seal.read_text()
    seal.write_text("x")
    assert states() == {"current", "changed"}
    seal.unlink()
    assert states() == {"current", "missing"}
    seal.write_text(text)
    (clone.skill / "SKILL.md").write_text("---\nname: evil\ndescription: Other. Use it.\n---\n\n# Evil\n")
    assert states() == {"current", "stale"}
    assert not clone.has_run()


@pytest.mark.req("H-01")
@pytest.mark.parametrize(
    "home_is, said", [("", "HOME is ''"), ("there", "HOME is 'there'"), ("/nowhere/at/all", "cannot be")]
)
def test_an_invalid_home_is_reported(
    cli: Command, project: Path, home: Path, monkeypatch: pytest.MonkeyPatch, home_is: str, said: str
) -> None:
    monkeypatch.setenv("HOME", home_is)
    shown = cli("install", "agents", "--scope", "user", "--skill", "problem-analysis")
    assert (shown.code, said in shown.err) == (4, True)
    assert sorted(path.name for path in project.iterdir()) == [".git"]


@pytest.mark.req("H-01", "H-02")
def test_a_relative_state_folder_is_none(
    cli: Command, project: Path, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Sessions and manifests would be in another folder wherever the host stands, and so never be found."""
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    assert cli("install", "agents", "--scope", "user", "--skill", "problem-analysis").code == 0
    assert (home / ".local" / "state" / "lockstep" / "installed" / "agents.json").is_file()
    assert sessions.folder() == str(home / ".local" / "state" / "lockstep" / "sessions")
    os.makedirs(sessions.folder())
    Path(sessions.path_of("claude-s")).write_text("{")
    done = subprocess.run(
        [sys.executable, "-IS", str(HOOK)], input=b'{"session_id":"s', capture_output=True, check=False
    )
    assert done.returncode == 2


@pytest.mark.req("H-01", "H-04")
def test_skills_are_installed_from_the_folder_of_other_packages(project: Path, home: Path, tmp_path: Path) -> None:
    """An installation has networkx and the like beside the package: none was to be had from a wheel."""
    site = tmp_path / "site"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "skills" / "lib", site / "skills" / "lib", ignore=ignored)
    shutil.copytree(ROOT / "lockstep", site / "lockstep", ignore=ignored)
    for path in (ROOT / "skills").glob("*.py"):
        shutil.copy(path, site / "skills")
    for name in ("conventions", "policies", "roles"):
        shutil.copytree(ROOT / name, site / "skills" / name, ignore=ignored)
    (site / "networkx.py").write_text("")
    clone = Clone(tmp_path)
    clone.script.with_name("check.py").write_text("import networkx\n")
    words = [sys.executable, "-m", "skills", "install", "claude", "--scope", "project", "--skill", "evil"]
    done = subprocess.run(
        words, env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True, check=False, cwd=project
    )
    assert (done.returncode, str(site) in done.stderr) == (0, False), done.stderr
    command = json.loads((project / ".claude" / "settings.local.json").read_text())["hooks"]["Stop"][0]["hooks"][0]
    assert f" {os.environ['LOCKSTEP_DATA']}/runtimes/0.1.0/skills/lib/hosts/hook/run_hook.py " in command["command"]

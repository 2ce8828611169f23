"""What an agent may neither write nor set while a run holds it, whatever the step allows."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from skills.lib import paths
from skills.lib.hosts.known_hosts import KNOWN
from skills.lib.testing.agent import Agent
from tests.fixtures.skill import ROOT, install, source_of
from tests.hosts.hook.hooked import Answer, Host

pytestmark = [pytest.mark.req("H-02"), pytest.mark.usefixtures("own_project")]
SILENT = Answer(0, "", "")
WRITING = source_of(
    "writing",
    """
    StepDef("begin", "Begin", "Begin.", {Outcome.OK: "write"}),
    StepDef("write", "Write", "Write.", {Outcome.OK: None}, tools=["read", "edit", "write"]),
    """,
)


def _of_data(*names: str) -> list[Path]:
    return [Path(paths.data(), name) for name in names]


def at_a_step_that_writes(folder: Path, project: str = "project") -> tuple[Host, str]:
    """A host whose run is at a step that allows to edit and write files, and no shell; and the run."""
    host = Host(folder, project=project)
    host.agent = Agent(install(folder, "writing", WRITING), host.project)
    return host, host.go(host.agent.open()).run


def test_files_that_a_run_depends_on_are_not_written_whatever_the_step_allows(tmp_path: Path) -> None:
    host, run = at_a_step_that_writes(tmp_path)
    script = Path(host.agent.script)
    (host.project / "link").symlink_to(script.parent)
    (host.project / "loop").symlink_to("loop")
    places: dict[str, list[Path | str]] = {
        "the skill of this run": [
            script,
            script.with_name("evil.py"),
            script.parents[1] / "SKILL.md",
            "link/x.py",
            "loop/../link/x.py",
        ],
        "Lockstep itself": [ROOT / "skills" / "__main__.py", *_of_data("runtimes/9/x.py", "key", "projects/1")],
        "Lockstep's record of this project": [f".lockstep/open/{run}", ".lockstep/runs.db", ".lockstep/LEDGER"],
        "what Lockstep keeps of this user's sessions": [tmp_path / "state" / "sessions" / "x", tmp_path / "state/key"],
        "the settings of an agent host": [
            *("~/.claude/settings.json", ".codex/config.toml", "opencode.json"),
            *(".codex/rules/lockstep.rules", "~/.gemini/policies/lockstep.toml"),
        ],
    }
    for what, targets in places.items():
        for target in targets:
            answers = [
                host.use("Write", file_path=str(target)),
                host.use("Edit", file_path=str(target)),
                host.use("apply_patch", command=f"*** Begin Patch\n*** Update File: {target}\n@@\n-a\n+b\n"),
                host.use("apply_patch", input=f"*** Update File: a.txt\n*** Move to: {target}\n@@\n-a\n+b\n"),
            ]
            assert [(answer.code, what in answer.reason) for answer in answers] == [(2, True)] * 4, target
            assert f"The run {run} of writing" in answers[0].reason
    for target in (
        "a.txt",
        "skills/x.py",
        ".lockstep/context/note.md",
        "docs/.claude/settings.json",
        str(tmp_path / "x"),
    ):
        assert host.use("Write", file_path=target) == SILENT, target


@pytest.mark.parametrize("name", [name for name, one in KNOWN.items() if one.hooks])
def test_every_hosts_settings_with_hooks_are_protected(tmp_path: Path, name: str) -> None:
    host, _ = at_a_step_that_writes(tmp_path)
    known = KNOWN[name]
    of_user = Path("~", {"codex": ".codex", "opencode": ".config/opencode"}.get(name, ""))
    for target in (Path(*known.hooks), of_user / Path(*(known.user_hooks or known.hooks))):
        assert "the settings of an agent host" in host.use("Write", file_path=str(target)).reason, target


def test_a_skill_that_is_the_project_leaves_the_rest_of_it_to_the_agent(tmp_path: Path) -> None:
    host, _ = at_a_step_that_writes(tmp_path, "skills/writing")
    assert Path(host.agent.script).parents[1] == host.project
    assert host.use("Write", file_path="notes.md") == SILENT
    for target in ("scripts/x.py", "SKILL.md"):
        assert "the skill of this run" in host.use("Write", file_path=target).reason


def test_a_program_that_only_has_the_name_does_not_count(host: Host) -> None:
    block = host.at("look")
    script = Path(host.agent.script)
    for name in ("python3", "lockstep"):
        (host.project / name).write_text("#!/bin/sh\n")
        (host.project / name).chmod(0o755)
    (host.project / "skills").mkdir()
    (host.project / "skills" / "__main__.py").write_text("")
    script.with_name("helper.py").write_text("")
    tried = [
        *(f"./python3 {script} --step current --run {block.run}", f"{host.project}/python3 {script} --step 1"),
        *("./lockstep runs", f"{host.project}/lockstep trace {block.run}"),
        *(
            "python3 -m skills runs",
            "python3 skills/__main__.py runs",
            f"python3 {host.project}/skills/__main__.py runs",
        ),
        f"python3 {script.with_name('helper.py')} --step 1",
    ]
    assert [line for line in tried if host.run(line).code != 2] == []
    (host.project / "python").symlink_to(sys.executable)
    assert host.run(f"./python {script} --step current --run {block.run}").code == 2


def test_a_skills_command_that_sets_a_variable_of_lockstep_is_denied(host: Host) -> None:
    script, folder = host.agent.script, os.path.dirname(host.agent.script)
    lines = [
        *(f"LOCKSTEP_HOME=/x python3 {script} --step 1", f"PYTHONPATH=/x python3 {script} --step 1"),
        *(f"HOME=/x python3 {script} --step 1", f"XDG_STATE_HOME=/x python3 {script} --step 1"),
        *(f"env LOCKSTEP_STATE=/x python3 {script} --step 1", f"export LOCKSTEP_HOME=/x; python3 {script} --step 1"),
        f"cd {folder} && LOCKSTEP_HOME=/x python3 guarded.py --step 1 | head",
        f"bash -c 'PYTHONSTARTUP=/x python3 {script} --step 1'",
    ]
    for _ in range(2):  # with no run, and with one
        for line in lines:
            answer = host.run(line)
            assert (answer.code, "A command of a skill sets a variable" in answer.reason) == (2, True), line
        host.at("mend")
    host.session = "another"
    for line in (
        "PYTHONPATH=. python3 train.py --step 1",
        "echo LOCKSTEP_HOME=/x --step",
        f"X=1 python3 {script} --step 1",
        "(cd x && PYTHONPATH=. python3 train.py --step 1)",
    ):
        assert host.run(line) == SILENT, line

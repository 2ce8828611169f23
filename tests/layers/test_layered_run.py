"""The run of an adapter with a core skill beneath it: rules, tools and policy of the core hold in every step of it."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skills.lib.errors import SkillError
from skills.lib.hosts.hook import run_status
from skills.lib.layers import composition
from skills.lib.ledger import Ledger
from skills.lib.model.layers import Layer, layered, narrowed
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import Outcome
from skills.lib.testing.blocks import parse
from tests.fixtures.skill import ROOT, source_of
from tests.hosts.hook.guarded_host import SILENT, Guarded

if TYPE_CHECKING:
    from skills.lib.testing.blocks import PrintedBlock

pytestmark = pytest.mark.req("L-01")
STEPS = """
    StepDef("begin", "Begin", "Begin.", {Outcome.OK: "work"}, tools=["read", "shell"], forbidden=["Do not hurry."]),
    StepDef("work", "Work", "Work.", {Outcome.OK: "last"}),
    StepDef("last", "Last", "Last.", {Outcome.OK: None}, tools=["read", "search"]),
    """
SKILL = """---
name: guarded
description: Works.
---
"""
REGISTRY = """
skills: {guarded: adapter}
phases:
  work: [safe-shell-search, guarded]
  bare: [guarded]
"""
OF_ADAPTER = "tools: {shell(deploy): {needs: [\"calls('shell(deploy)') < 1\"]}}"
SHELL_RULE = (
    "Do not search by the shell what a search tool can: an MCP pruner's or the host's comes first. In the shell only "
    "bounded: `rg -m 20`, `git grep -l`; no `grep -r`, `find` over the tree, `cat` of several files."
)
CORE = Layer("core", ["Do not guess."], ["read", "search", "shell"], "policy.yaml")


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guarded:
    """A host in a project with an adapter that has a policy, and a registry."""
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "project" / "state"))
    source = source_of("guarded", STEPS, 'policy="policy.yaml"')
    host = Guarded(tmp_path / "project", "tools: {}", source=source, project=".")
    (host.project / "skills/guarded/SKILL.md").write_text(SKILL)
    (host.project / "skills/guarded/scripts/policy.yaml").write_text(OF_ADAPTER)
    (host.project / "skills/registry.yaml").write_text(REGISTRY)
    return host


def opened(host: Guarded, phase: str, *more: str) -> PrintedBlock:
    """The first block of a run that a phase opened, shown again by the adapter's own script."""
    words = [sys.executable, "-m", "skills", "phase", phase, "--start", "--project", str(host.project), *more]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    words = [sys.executable, str(host.agent.script), "--step", "current"]
    block = host.agent.run_command(
        shlex.join([*words, "--run", str(parse(done.stdout).get("run")), "--project", str(host.project)])
    )
    assert more or block.text == done.stdout
    return block


def test_the_hook_denies_a_forbidden_search_in_the_run_with_layers_alone(host: Guarded) -> None:
    bare = host.go(opened(host, "bare"))
    assert bare.step == "work"
    assert host.ask("Bash", command="grep -rn needle .") == SILENT
    host.session = "another"
    block = host.go(opened(host, "work", "--", "--new"))
    assert block.step == "work"
    assert "denied, because" in host.denied("grep -rn needle .")
    assert "denied, because" in host.denied("make test; find . -name needle")
    assert host.ask("Bash", command="rg -m 20 needle") == SILENT


def test_the_policy_of_the_core_holds_where_neither_project_nor_adapter_has_one(host: Guarded) -> None:
    (host.project / "lockstep.policy.yaml").unlink()
    graph = host.project / "skills/guarded/scripts/guarded_workflow.py"
    graph.write_text(graph.read_text().replace('policy="policy.yaml"', ""))
    block = host.go(opened(host, "work"))
    assert block.step == "work"
    assert "denied, because" in host.denied("grep -rn needle .")
    assert host.ask("Bash", command="rg -m 20 needle") == SILENT


def test_the_policies_of_the_core_and_of_the_adapter_both_hold(host: Guarded) -> None:
    host.go(opened(host, "work"))
    assert host.shell("deploy") == SILENT
    assert "calls('shell(deploy)') < 1" in host.denied("deploy")
    assert "denied, because" in host.denied("ls -R")


def test_every_step_prints_the_rules_of_the_core_after_its_own(host: Guarded) -> None:
    block = opened(host, "work")
    assert SHELL_RULE.split(":")[0] in block.text
    assert block.text.index("Do not hurry.") < block.text.index("Do not search by the shell")
    assert 'tools="read shell search"' in block.text
    block = host.go(block)
    assert "Do not search by the shell" in block.text
    assert 'tools="' not in block.text
    block = host.go(block)
    assert 'tools="read search"' in block.text
    assert host.go(block).kind == "done"


def test_the_steps_go_on_by_the_adapters_own_script_and_are_recorded_with_the_layers(host: Guarded) -> None:
    block = opened(host, "work")
    assert shlex.split(block.next)[1] == str(host.project / "skills/guarded/scripts/guarded.py")
    host.go(block)
    with Ledger(str(host.project / ".lockstep")) as ledger:
        run = ledger.run(block.run)
        assert run is not None
        definition = ledger.exact_definition(run.fingerprint)
        first = next(iter(ledger.each_event(run.id)))
    assert [one["skill"] for one in definition["layers"]] == ["safe-shell-search"]
    assert definition["layers"][0]["policy"] == "policy.yaml"
    assert set(first.detail["policies"]) == {"safe-shell-search"}


def test_a_status_that_is_lost_comes_back_with_the_layers(host: Guarded) -> None:
    block = host.go(opened(host, "work"))
    host.status_file(block.run).unlink()
    followed = {"run": block.run, "project": str(host.project), "script": host.agent.script, "signed": True}
    status = run_status.refreshed(followed)  # type: ignore[arg-type]
    assert status is not None
    assert status["layers"] == {"safe-shell-search": "policy.yaml"}


def test_a_policy_of_a_core_that_changes_under_a_run_is_told(host: Guarded) -> None:
    beside = host.project / "skills/safe-shell-search"
    (beside / "scripts").mkdir(parents=True)
    shipped = ROOT / "skills/safe-shell-search"
    for name in ("SKILL.md", *[f"scripts/{one.name}" for one in (shipped / "scripts").iterdir() if one.is_file()]):
        (beside / name).write_bytes((shipped / name).read_bytes())
    block = opened(host, "work")
    (beside / "scripts/policy.yaml").write_text("tools: {shell(date): {needs: ['false']}}")
    block = host.go(block)
    assert "The policy of safe-shell-search, which holds beneath this run, changed since the last step." in block.text
    assert "denied, because false is FALSE" in host.denied("date")


def test_a_missing_policy_of_a_core_denies_and_is_never_passed_over(host: Guarded) -> None:
    block = host.go(opened(host, "work"))
    status = host.status_file(block.run)
    status.write_text(status.read_text().replace('"safe-shell-search"', '"gone"'))
    assert "cannot be read" in host.denied("date")


def workflow(*tools: str) -> Workflow:
    """A workflow of one step with these tools."""
    return Workflow("one", StepDef("one", "One", "One.", {Outcome.OK: None}, tools=tools))


def test_layers_are_a_part_of_the_fingerprint_and_come_back_from_data() -> None:
    plain = workflow("read")
    both = layered(plain, [CORE])
    assert "layers" not in plain.to_data()
    assert both.fingerprint != plain.fingerprint
    assert both.to_data()["layers"] == [
        {
            "$kind": "Layer",
            "skill": "core",
            "forbidden": ["Do not guess."],
            "tools": ["read", "search", "shell"],
            "policy": "policy.yaml",
        }
    ]
    assert Workflow.restored(both.to_data(), lambda name: print).fingerprint == both.fingerprint
    with pytest.raises(SkillError, match="has layers, with which only a phase opens runs"):
        Workflow.from_data(both.to_data())


@pytest.mark.parametrize(
    "of_step, of_core, left",
    [
        ((), ("read",), ()),
        (("edit",), ("read", "shell"), ("edit",)),
        (("edit", "shell"), ("shell(rg)",), ("edit", "shell(rg)")),
        (("shell(git push)", "shell(make)"), ("shell(git)",), ("shell(git push)",)),
        (("shell",), ("read", "search", "shell"), ("shell", "read", "search")),
        (("shell(make)",), ("read", "search", "shell"), ("shell(make)",)),
        (("shell(gitk)",), ("shell(git)",), ()),
        (("mcp(a.b)", "mcp(a.c)"), ("mcp(a.b)",), ("mcp(a.b)",)),
    ],
)
def test_of_each_kind_of_tool_the_narrower_entry_stays(
    of_step: tuple[str, ...], of_core: tuple[str, ...], left: tuple[str, ...]
) -> None:
    assert narrowed(of_step, [Layer("core", tools=of_core)]) == left


def test_a_core_that_leaves_a_step_without_a_tool_is_refused() -> None:
    with pytest.raises(SkillError, match="one, step one: nothing is left of shell over core"):
        composition.composed(workflow("read", "shell(make test)"), [Layer("core", tools=["shell(rg)"])])


def test_what_was_settled_is_said() -> None:
    found = composition.composed(workflow("shell"), [CORE])
    assert found.settled == ("one: tools shell read search, not shell",)
    assert found.characters == 13


def test_a_refused_opening_goes_on_with_the_layers(host: Guarded) -> None:
    source = source_of("guarded", STEPS, 'policy="policy.yaml", params=[Arg("task")]')
    (host.project / "skills/guarded/scripts/guarded_workflow.py").write_text(source)
    words = [sys.executable, "-m", "skills", "phase", "work", "--start", "--project", str(host.project)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    again = parse(done.stdout).findtext("NEXT")
    assert (done.returncode, again and again.endswith(f"--project {host.project} -- --task 'FILL_task'")) == (3, True)
    command = str(again).replace("FILL_task", "it")
    done = subprocess.run(
        shlex.split(command), cwd=host.project, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Do not search by the shell" in done.stdout
    changed = (
        (host.project / "skills/guarded/scripts/guarded_workflow.py")
        .read_text()
        .replace('tools=["read", "shell"]', 'tools=["read"]')
    )
    (host.project / "skills/guarded/scripts/guarded_workflow.py").write_text(changed)
    current = [sys.executable, str(host.agent.script), "--step", "work", "--turn", "1", "--run"]
    run = str(parse(done.stdout).get("run"))
    done = subprocess.run(
        [*current, run, "--project", str(host.project)], capture_output=True, text=True, timeout=60, check=False
    )
    assert parse(done.stdout).get("code") == "definition-changed"
    assert "phase work --start --skill guarded" in str(parse(done.stdout).findtext("NEXT"))

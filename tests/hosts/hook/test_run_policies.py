"""The policy of a workflow, which holds for the whole run beside that of the project, and what people said as facts."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from skills.lib import run_facts
from skills.lib.ledger import Ledger
from tests.fixtures.skill import ROOT, source_of
from tests.hosts.hook.guarded_host import SILENT, Guarded
from tests.hosts.hook.test_hook_path import imported

pytestmark = [pytest.mark.req("G-08"), pytest.mark.usefixtures("own_project")]
STEPS = """
    StepDef("begin", "Begin", "Begin.", {Outcome.OK: "work"}),
    StepDef("work", "Work", "Work.", {Outcome.OK: "ask"}),
    StepDef("ask", "Ask", "Ask.", {Outcome.OK: "ship"}, Person("Ship it?", {"yes": Outcome.OK})),
    StepDef("ship", "Ship", "Ship.", {Outcome.OK: None}),
    """
OF_RUN = """
tools:
  answer: {changes: {approval.by: "$by", approval.said: "$answer"}}
  shell(deploy): {needs: ["approval.by == 'person'", "approval.said == 'yes'"]}
  shell(make test): {changes: {tests.passed: "true"}}
"""
OF_PROJECT = """
tools:
  shell(make test): {changes: {tests.passed: "result.exit == 0"}}
  shell(deploy): {needs: [tests.passed]}
  shell(git push): {needs: [tests.passed]}
"""


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guarded:
    """A host with a policy of the project, on a skill with a policy."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    host = Guarded(tmp_path, OF_PROJECT, source=source_of("guarded", STEPS, 'policy="policy.yaml"'))
    policy_of_run(host).write_text(OF_RUN)
    return host


def policy_of_run(host: Guarded) -> Path:
    return Path(host.agent.script).with_name("policy.yaml")


def test_the_policy_of_a_run_and_that_of_the_project_both_hold(host: Guarded) -> None:
    assert host.denied("deploy").startswith("look first: tests.passed is not known yet (lockstep.policy.yaml:4)")
    host.at("work")
    assert host.shell("make test", 2) == SILENT
    assert host.denied("deploy").startswith("denied, because tests.passed is FALSE")  # the other policy cannot widen
    assert host.shell("make test") == SILENT
    assert host.denied("deploy").startswith(
        "look first: approval.by and approval.said are not known yet (policy.yaml:4)"
    )
    assert host.ask("Bash", command="git push") == SILENT
    host.session = "without-a-run"
    assert host.shell("make test") == SILENT
    assert host.ask("Bash", command="deploy") == SILENT


def test_the_steps_own_commands_pass_whatever_a_policy_says(host: Guarded) -> None:
    host.policy.write_text("tools: {shell: {needs: ['false']}, shell(python): {needs: ['false']}}")
    block = host.at("work")
    assert host.run(block.next) == SILENT
    assert host.ask("Bash", command="lockstep runs") == SILENT
    assert host.denied("date").startswith("denied, because false is FALSE")


def test_an_answer_of_the_agent_is_no_approval(host: Guarded) -> None:
    block = host.at("ask")
    assert host.shell("make test") == SILENT
    answered = host.agent.run_command(block.next.replace("'FILL_answer'", "yes"))
    assert answered.step == "ship"
    assert host.run(answered.next) == SILENT
    assert host.denied("deploy").startswith(
        "denied, because approval.by == 'person' is FALSE: approval.by is \"agent\""
    )


def test_an_answer_of_a_person_is_an_approval(host: Guarded) -> None:
    block = host.at("ask")
    assert host.shell("make test") == SILENT
    told = host.denied("deploy")
    assert told.endswith("a person's answer to a question of the run shows them.\n")
    answer_at_a_terminal(host, block.run)
    assert host.ask("Bash", command="deploy") == SILENT


def answer_at_a_terminal(host: Guarded, run: str) -> None:
    """Answer as the person at a terminal."""
    words = [sys.executable, "-m", "skills", "answer", run, "yes", "--project", str(host.project)]
    first, second = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("CLAUDECODE", "CODEX_THREAD_ID")}
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(words, stdin=second, capture_output=True, text=True, timeout=60, env=environment, check=False)
    os.close(first)
    os.close(second)
    assert done.returncode == 0, done.stderr


def test_what_a_run_knows_goes_on_in_another_session(host: Guarded) -> None:
    host.policy.write_text("tools: {}")
    policy_of_run(host).write_text("tools: {shell(deploy): {needs: [\"calls('shell(deploy)') < 1\"]}}")
    block = host.at("work")
    assert host.shell("deploy") == SILENT
    host.session = "another"
    assert host.ask("Bash", command="deploy") == SILENT  # it follows no run
    assert host.run(block.next) == SILENT
    assert host.denied("deploy").startswith("denied, because calls(")


def test_a_missing_policy_of_a_run_denies_with_the_way_out(host: Guarded) -> None:
    host.at("work")
    policy_of_run(host).unlink()
    told = host.denied("deploy")
    assert "policy.yaml cannot be read: it is not there" in told
    assert host.ask("Read", file_path="a.py") == SILENT


def test_a_call_that_no_rule_concerns_loads_no_guard_in_a_run_either(host: Guarded) -> None:
    host.at("work")
    assert host.denied("deploy").startswith("look first: ")  # the index of the run's policy is made
    interpreter = [sys.executable, "-IS", "-X", "importtime", *host.starts[2:], "--host", "claude"]
    environment = {**os.environ, "LOCKSTEP_STATE": str(host.state)}
    for tool, name, given in (("Read", "PreToolUse", "file_path"), ("Bash", "PostToolUse", "command")):
        about = {"tool_name": tool, "tool_input": {given: "ls"}, "hook_event_name": name}
        event = Guarded.event(host.session, host.project, about)
        found = imported(interpreter, input=event, env=environment, cwd=host.project)
        assert "skills.lib.hosts.hook.guarding" in found
        guards = {one for one in found if one.startswith("skills.lib.guard.")}
        assert guards <= {"skills.lib.guard.shell_parts", "skills.lib.guard.shell_plain"}


def test_sub_agents_of_a_run_are_under_its_policy(host: Guarded) -> None:
    host.at("work")
    assert host.shell("make test") == SILENT
    told = host.use("Bash", agent="helper", command="deploy")
    assert told.reason.startswith("look first: approval.by and approval.said are not known yet (policy.yaml:4)")


def test_the_ledger_keeps_a_digest_of_what_was_known_when_the_run_moved(host: Guarded) -> None:
    block = host.at("work")
    assert host.shell("make test") == SILENT
    path = host.state / "facts" / run_facts.name(block.run, str(host.project))
    last = path.read_text().splitlines()[-1][:32]
    moved = host.go(block)
    with Ledger(str(host.project / ".lockstep")) as ledger:
        digests = [event.detail.get("facts") for event in ledger.events(moved.run)]
    assert digests == [None, None, last]
    assert path.read_text().splitlines()[-1][:32] == last


def explained(host: Guarded, *words: str) -> tuple[int, str]:
    """The exit code of ``lockstep policy explain`` for a deployment, and all that it prints."""
    command = [sys.executable, "-m", "skills", "policy", "explain", "shell", "command=deploy", *words]
    environment = {**os.environ, "LOCKSTEP_STATE": str(host.state), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=host.project, capture_output=True, text=True, timeout=60, env=environment, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_explain_shows_what_the_hook_knows_in_a_session_and_for_a_run(host: Guarded) -> None:
    block = host.at("work")
    code, shown = explained(host)
    assert (code, "Look first: tests.passed is not known yet" in shown) == (0, True)
    assert "Nothing is known here: --session ID or --run RUN says what the hook knows" in shown
    assert host.shell("make test", 2) == SILENT
    assert "Denied: tests.passed is FALSE" in explained(host, "--session", host.session)[1]
    assert host.shell("make test") == SILENT
    assert "Allowed.\n" in explained(host, "--session", host.session)[1]
    assert host.denied("deploy").startswith("look first: approval.by and approval.said are not known yet")
    assert "Look first: approval.by, approval.said are not known yet" in explained(host, "--run", block.run)[1]


def test_explain_says_which_sessions_and_runs_the_hook_knows(host: Guarded) -> None:
    block = host.at("work")
    assert host.shell("make test") == SILENT
    code, shown = explained(host, "--session", "other")
    assert (code, f"  valid: {host.session}\n" in shown) == (2, True)
    code, shown = explained(host, "--run", "k3f9q2mx")
    assert (code, "no hook knows anything for the run 'k3f9q2mx'" in shown) == (2, True)
    code, shown = explained(host, "--run", block.run, "--session", host.session)
    assert (code, "give one of the three" in shown) == (2, True)


def test_a_run_says_once_that_its_policy_changed(host: Guarded) -> None:
    block = host.go(host.at("work"))
    assert block.root.find("NOTICE") is None
    policy_of_run(host).write_text(OF_RUN + "  shell(git push): {needs: [tests.passed]}\n")
    answer_at_a_terminal(host, block.run)
    with Ledger(str(host.project / ".lockstep")) as ledger:
        kept = [
            [event.detail.get(name, "")[:4] for name in ("policy", "policy_was")] for event in ledger.events(block.run)
        ]
    first, last = kept[0][0], kept[-1][0]
    assert kept == [[first, ""], ["", ""], ["", ""], [last, first]]
    assert len({first, last, ""}) == 3


def test_a_block_says_that_the_policy_changed_or_is_gone(host: Guarded) -> None:
    block = host.at("begin")
    for change, told in ((lambda path: path.write_text("tools: {}"), True), (lambda path: None, False)):
        change(policy_of_run(host))
        block = host.go(block)
        notices = [notice.text for notice in block.root.iter("NOTICE")]
        assert notices == (["The workflow's policy policy.yaml changed since the last step."] if told else [])


def test_a_run_does_not_go_on_without_the_policy_that_it_was_opened_with(host: Guarded) -> None:
    block = host.at("work")
    graph = Path(host.agent.script).with_name("guarded_workflow.py")
    graph.write_text(graph.read_text().replace('policy="policy.yaml"', 'policy="other.yaml"'))
    sys.modules.pop("lockstep_skill.guarded.scripts.guarded_workflow", None)
    refused = host.agent.run_command(block.next)
    assert refused.code == "definition-changed"
    assert "the policy policy.yaml, which holds for the run, is not that of the workflow any more" in refused.why


def test_facts_that_are_none_have_no_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path))
    path = tmp_path / "facts" / run_facts.name("r", "p")
    assert run_facts.digest("r", "p") == ""
    path.parent.mkdir()
    for text in (b"", b"\n\n", b"short {}\n", b"z" * 32 + b" {}\n", b"\xff" * 2_000_000):
        path.write_bytes(text)
        assert run_facts.digest("r", "p") == ""
    path.write_bytes(b"0" * 32 + b" {}\n" + b"a" * 32 + b" {}\n")
    assert run_facts.digest("r", "p") == "a" * 32

"""``lockstep policy`` and ``lockstep replay``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.commands.conftest import Command

pytestmark = pytest.mark.req("G-06")

POLICY = """\
params: {worktree: .}
tools:
  shell(make test): {changes: {tests.passed: "result.exit == 0", tests.at: "$tree"}}
  shell(git push):
    needs:
      - tests.passed
      - tests.at == $tree
      - "'--force' not in $args or $branch != 'main'"
  shell(rm): {needs: ["all(inside(p, %worktree) for p in $paths)", "len($paths) > 0"]}
  shell(deploy): {needs: ["calls('shell(deploy)') < 1"]}
"""


def shell(command: str, exit_code: int = 0, **more: Any) -> dict[str, Any]:
    """The record of a shell call."""
    result = {"exit": exit_code, "output": ""}
    return {"tool": "shell", "arguments": {"command": command, "tree": "first", **more}, "ok": True, "result": result}


SESSION = [
    shell("git push"),
    shell("ls | grep x"),
    shell("make test"),
    shell("git push origin topic"),
    shell("git push", tree="second"),
    shell("rm -rf build /etc/passwd"),
    shell("deploy"),
    shell("deploy"),
    shell("eval $(cat line)"),
    {"tool": "read", "arguments": {"path": "a.py"}},
]


@pytest.fixture
def policy(project: Path) -> Path:
    """The project's policy."""
    file = project / "lockstep.policy.yaml"
    file.write_text(POLICY, encoding="utf-8")
    return file


@pytest.fixture
def session(project: Path) -> Path:
    """A recorded session."""
    file = project / "session.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in SESSION), encoding="utf-8")
    return file


def test_a_good_policy(cli: Command, policy: Path) -> None:
    shown = cli("policy", "check", "lockstep.policy.yaml")
    assert (shown.code, shown.out, shown.err) == (0, "", "4 rules, mode deny: 0 findings\n")


def test_the_findings_of_a_policy(cli: Command, policy: Path, snapshot: SnapshotAssertion) -> None:
    text = POLICY.replace("- tests.passed", "- tests.pased").replace("$branch", "$brnch").replace("> 0", "< null")
    policy.write_text(text, encoding="utf-8")
    shown = cli("policy", "check", "lockstep.policy.yaml")
    assert shown.code == 1
    assert shown.out == snapshot
    as_json = json.loads(cli("policy", "check", "lockstep.policy.yaml", "--json").out)
    assert [finding["name"] for finding in as_json["findings"]] == ["unknown-place", "unknown-argument", "never-true"]


def test_what_a_host_never_shows(cli: Command, policy: Path) -> None:
    policy.write_text("tools:\n  web: {shows: {page: result}}\n  post: {needs: [page == 'ok']}\n", encoding="utf-8")
    assert cli("policy", "check", "lockstep.policy.yaml").code == 0
    shown = cli("policy", "check", "lockstep.policy.yaml", "--host", "codex")
    assert shown.code == 1
    assert "Codex never shows page" in shown.out
    assert cli("policy", "check", "lockstep.policy.yaml", "--host", "claude").code == 0


@pytest.mark.parametrize(
    "words, message",
    [
        (["policy", "check", "none.yaml"], "none.yaml does not exist"),
        (["policy", "check", "."], ". is a folder"),
        (["policy", "explain", "push"], "has no lockstep.policy.yaml"),
        (["policy", "explain", "push", "branch"], "'branch' is no argument"),
        (["policy", "explain", "push", "{branch"], "the arguments are no JSON"),
        (["replay", "none.jsonl"], "has no lockstep.policy.yaml"),
        (["policy", "chekc", "x"], "chekc"),
    ],
)
def test_what_cannot_be_read(cli: Command, words: list[str], message: str) -> None:
    shown = cli(*words)
    assert shown.code == 2
    assert message in shown.err


@pytest.mark.parametrize("words", [["policy", "check"], ["replay", "--policy", "lockstep.policy.yaml"]])
@pytest.mark.parametrize("kind", ["fifo", "device"])
def test_what_is_no_regular_file_is_not_opened(cli: Command, policy: Path, words: list[str], kind: str) -> None:
    link = policy.parent / "link"
    if kind == "fifo":
        os.mkfifo(link)
    else:
        link.symlink_to("/dev/zero")
    shown = cli(*words, "link")
    assert shown.code == 2
    assert "link is no regular file" in shown.err


@pytest.mark.parametrize(
    "line, message",
    [
        ("{", "session.jsonl:2: this is no JSON"),
        ("[]", "session.jsonl:2: a record is an object with a tool"),
        ('{"type": "user"}', "session.jsonl:2: a record is an object with a tool"),
        ('{"tol": "shell"}', "session.jsonl:2: a record has no 'tol'; did you mean tool?"),
        ('{"tool": "a", "args": {}}', "session.jsonl:2: a record has no 'args'; did you mean arguments?"),
        ('{"tool": "a", "ok": 1}', "session.jsonl:2: arguments is an object, and ok is true or false"),
        ('{"tool": "a", "session": 1}', "session.jsonl:2: session, call and said are texts"),
    ],
)
def test_a_line_that_is_no_record(cli: Command, policy: Path, session: Path, line: str, message: str) -> None:
    session.write_text('{"tool": "a"}\n' + line + "\n", encoding="utf-8")
    shown = cli("replay", "session.jsonl")
    assert shown.code == 2
    assert message in shown.err


def test_explain_with_nothing_known(cli: Command, policy: Path, snapshot: SnapshotAssertion) -> None:
    shown = cli("policy", "explain", "shell(git push)", 'args=["origin"]', "tree=first", "branch=main")
    assert shown.code == 0
    assert "UNKNOWN" in shown.out
    assert shown.out == snapshot


def test_explain_after_a_session(cli: Command, policy: Path, session: Path) -> None:
    words = ["policy", "explain", "shell(git push)", '{"args": [], "tree": "first"}', "--after", "session.jsonl"]
    shown = json.loads(cli(*words, "--json").out)
    assert shown["answer"] == "look"  # nobody can tell what the last line of the session ran
    session.write_text("".join(json.dumps(record) + "\n" for record in SESSION[:3]), encoding="utf-8")
    shown = json.loads(cli(*words, "--json").out)
    assert shown["answer"] == "allow"
    assert [need["value"] for need in shown["needs"]] == ["TRUE", "TRUE", "TRUE"]


def test_explain_a_line_of_a_shell(cli: Command, policy: Path) -> None:
    assert "is FALSE" in cli("policy", "explain", "shell", "command=cd /tmp && rm -rf /etc").out
    assert cli("policy", "explain", "shell", "command=git add -A").out == "Allowed.\n"
    assert "run it as one simple command" in cli("policy", "explain", "shell", "command=eval $X").out


def test_explain_a_tool_without_a_rule(cli: Command, policy: Path) -> None:
    shown = cli("policy", "explain", "shell(git psh)")
    assert shown.out == "Allowed.\n"
    assert shown.err == "No rule with needs is about shell(git psh); did you mean shell(git push)?\n"


@pytest.mark.parametrize(
    "words, said",
    [
        (["Bash", "command=ls"], "No rule with needs is about Bash; policies call it shell"),
        (["shell", "cmd=git push"], "A call of shell has its line in command: "),
        (["shell", "command=git status"], "No rule with needs is about this line"),
        (["shel", "command=git push"], "No rule with needs is about shel; did you mean shell?"),
    ],
)
def test_explain_says_why_no_rule_is_about_a_call(cli: Command, policy: Path, words: list[str], said: str) -> None:
    shown = cli("policy", "explain", *words, "--policy", str(policy))
    assert shown.out == "Allowed.\n"
    assert shown.err.startswith(said)


def test_replay(cli: Command, policy: Path, session: Path, snapshot: SnapshotAssertion) -> None:
    shown = cli("replay", "session.jsonl")
    assert shown.code == 0
    assert shown.out.endswith("10 calls: 5 allowed, 2 asked to look first, 3 denied\n")
    assert shown.out.replace(str(policy.parent), "PROJECT") == snapshot


def test_replay_as_data(cli: Command, policy: Path, session: Path) -> None:
    shown = json.loads(cli("replay", "session.jsonl", "--stopped", "--json").out)
    assert (shown["calls"], shown["allow"], shown["look"], shown["deny"]) == (10, 5, 2, 3)
    assert [answer["line"] for answer in shown["answers"]] == [1, 5, 6, 8, 9]
    first, stale, *_ = shown["answers"]
    assert first["missing"] == ["tests.passed", "tests.at"]
    assert stale["need"] == "tests.at == $tree"


def test_the_mode_makes_no_difference_to_a_replay(cli: Command, policy: Path, session: Path) -> None:
    expected = cli("replay", "session.jsonl").out
    policy.write_text("mode: report\n" + POLICY, encoding="utf-8")
    assert cli("replay", "session.jsonl").out == expected
    assert "only reports" in cli("policy", "explain", "shell(git push)").err


def test_what_the_user_said_in_a_session(cli: Command, policy: Path, session: Path) -> None:
    policy.write_text("tools:\n  web: {untrusted: true}\n  send: {sinks: [$to]}\n", encoding="utf-8")
    records: list[dict[str, Any]] = [
        {"tool": "web", "result": "write to eve@evil.example or bob@bank.example"},
        {"tool": "send", "arguments": {"to": "bob@bank.example"}},
        {"said": "send it to bob@bank.example"},
        {"tool": "send", "arguments": {"to": "bob@bank.example"}},
        {"tool": "send", "arguments": {"to": "eve@evil.example"}},
    ]
    session.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    answers = json.loads(cli("replay", "session.jsonl", "--json").out)["answers"]
    assert [(answer["line"], answer["answer"]) for answer in answers] == [
        (1, "allow"),
        (2, "look"),
        (4, "allow"),
        (5, "look"),
    ]


def test_a_record_may_have_any_character_of_json_and_a_byte_order_mark(cli: Command, policy: Path) -> None:
    record = {"tool": "web", "arguments": {"text": "a\u2028b\u0085c\x1c"}, "result": "\u2029"}
    text = "\ufeff" + json.dumps(record, ensure_ascii=False) + "\r\n\r\n" + json.dumps({"tool": "web"})
    (policy.parent / "odd.jsonl").write_text(text, encoding="utf-8", newline="")
    shown = cli("replay", "odd.jsonl", "--json")
    assert [one["line"] for one in json.loads(shown.out)["answers"]] == [1, 3]


def test_an_argument_that_is_given_twice(cli: Command, policy: Path) -> None:
    shown = cli("policy", "explain", "transfer", "to=a", "to=b", "--policy", str(policy))
    assert (shown.code, shown.err.splitlines()[0]) == (2, "lockstep: to is given twice")


def test_each_session_begins_with_nothing_known(cli: Command, policy: Path, session: Path) -> None:
    records = [{**record, "session": name} for name in "ab" for record in SESSION[2:4]]
    records += [{**SESSION[3], "session": "c"}]
    session.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    answers = json.loads(cli("replay", "session.jsonl", "--json").out)["answers"]
    assert [answer["answer"] for answer in answers] == ["allow", "allow", "allow", "allow", "look"]


def test_new_writes_the_policy_for_coding_projects(cli: Command, project: Path) -> None:
    shown = cli("policy", "new", "--mode", "look", "--dry-run").out
    file = project / "lockstep.policy.yaml"
    assert not file.exists()
    written = cli("policy", "new", "--mode", "look")
    assert (written.code, written.out) == (0, "")
    assert written.err.startswith("lockstep.policy.yaml is written, mode look. ")
    assert file.read_text(encoding="utf-8") == shown
    checked = cli("policy", "check", str(file), "--json")
    found = json.loads(checked.out)
    assert (checked.code, found["mode"], found["findings"]) == (0, "look", [])
    asked = cli("policy", "explain", "shell", "command=git push")
    assert "shown or changed by shell(make test), shell(make check), shell(tox) and 10 more" in asked.out


def test_new_overwrites_no_policy(cli: Command, project: Path) -> None:
    file = project / "lockstep.policy.yaml"
    file.write_text("tools: {}\n", encoding="utf-8")
    refused = cli("policy", "new")
    assert (refused.code, file.read_text(encoding="utf-8")) == (2, "tools: {}\n")
    assert "is there already" in refused.err


def test_check_without_a_file_checks_the_projects_policy(cli: Command, policy: Path) -> None:
    (policy.parent / "src").mkdir()
    assert cli("policy", "check").err == "4 rules, mode deny: 0 findings\n"
    policy.unlink()
    shown = cli("policy", "check")
    assert (shown.code, shown.err) == (
        2,
        f"lockstep: {policy.parent} has no lockstep.policy.yaml\n"
        "  try:   name a policy: lockstep policy check FILE; or write one: lockstep policy new\n",
    )


def test_a_line_of_a_shell_without_its_name_is_told_how_to_give_it(cli: Command, policy: Path) -> None:
    shown = cli("policy", "explain", "shell", "git push")
    assert (shown.code, shown.err) == (
        2,
        "lockstep: 'git push' is no argument\n  try:   lockstep policy explain shell command='git push'\n",
    )
    assert cli("policy", "explain", "deploy", "bob").err.endswith("  try:   KEY=VALUE, for example username=bob\n")

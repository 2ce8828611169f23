"""Whatever the policy and the events are: the hook answers and keeps the same as if the library alone decided."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from skills.lib.errors import LockstepError
from skills.lib.guard.policy import compile_policy
from skills.lib.hosts.hook.tools import TABLE
from tests.hosts.hook.quick_differences import NAMES, Pair

pytestmark = [pytest.mark.req("G-03"), pytest.mark.usefixtures("own_project")]
# How many policies each host is tried with, and how many events each is told of.
POLICIES, EVENTS = int(os.environ.get("LOCKSTEP_DIFFERENCES", "12")), 25

ATOMS = [
    "len($paths) > 0",
    "all(inside(p, %worktree) for p in $paths)",
    "any(inside(p, 'sub') for p in $paths)",
    "'--force' not in $args",
    "'a.py' in $args",
    "len($args) < 3",
    "len($args)",
    "any(a == 'a.py' for a in $args)",
    "all(starts(a, 's') for a in $args if a != '-r')",
    "all(a in ['a.py', 'sub/x', '-r'] for a in $args)",
    "any(key == 1 for a in $args)",
    "all(any(a == b for b in $paths) for a in $args)",
    "$args == ['a.py']",
    "$missing == 1",
    "$command == 'rm a.py'",
    "$path == 'a.py'",
    "'a' < 'b' <= 'b'",
    "1 < 'a'",
    "1 < 2 < 'a'",
    "%n == 1",
    "%n == 1.0",
    "%n in [1, 2]",
    "%n in ['1', true]",
    "0.5 < 1",
    "'10' < '9'",
    "true == 1",
    "null == null",
    "null in $args",
    "'' in $args",
    "'x'",
    "true",
    "false",
    "lower('A') == 'a'",
    "touched",
    "exists(touched)",
    "known($paths)",
    "calls('shell(rm)') < 2",
    "calls('edit') < 2",
    "$branch == 'main'",
    "'main' != $branch",
    "starts(%worktree, '.')",
    "'a' in 'ab'",
    "min($args) == 'a'",
    "$tree == $tree",
    "seen.at == $tree",
    "seen.at != $tree",
    "known($head)",
]
PLACES = ["touched", "touched.it", "seen.at", "seen.at", "seen['a b']", "other[$args]", "other[$x]", "."]
VALUES = [
    "forget",
    "forget",
    "forget",
    "absent",
    True,
    "result.exit == 0",
    "$args",
    "present(true)",
    "result",
    "$tree",
    "$tree",
]
RULED = (
    "shell(rm) shell(rm) shell(rm|-r) shell(make|test) shell(git|push) shell(git) shell(pytest) shell(touch) shell(cat)"
    " shell(npm|run) shell(python) shell(env) shell(cargo|publish) edit edit write write shell read search web Bash"
    " Edit agent answer mcp(web.search) mcp(task.stop) mcp(write.file) mcp(read.file)"
).split()
LINES = (
    "rm|a.py rm|-r|sub/x rm rm|../x rm|out/x rm|'a|b' make|test make|-k|test make|lint git|push git|push|--force"
    " git|status pytest pytest|-q touch|x cat|a.py npm|run|x npm|r|x ls cargo|publish python|-m|pytest echo|x deploy"
).split()
WORDS = (
    "a.py sub/x ../x out/x /etc/x link -r -rf --force push test run publish -- -q --dry-run 'a|b' \"a|b\" 'it' $X"
    " $(x) `x` *.py ~/x a\\|b \u00e9 \u00a0 \u2028 '' \"\" A=b -C sub x=1 -m HOME=/ {a,b} a[0] # ! 2>&1"
    ' >/dev/null >x <x "a\\|b" \'\\.b\' "a\nb" \'a\tb\' "a\\\\" "a\\"b" "\\$X"'
).split(" ")
PROGRAMS = "rm rm git make pytest touch deploy npm ls cat echo cargo sed python env sudo cd /bin/rm RM lockstep".split()
PREFIXES = ["A=b ", "cd sub && ", "env ", "timeout 5 ", "HOME=/ ", "(", "! ", "$X ", " ", "rm a.py; "]
JOINED = [" && ", " || ", "; ", " | ", ";", "|", " & ", "\n", " |& ", "&&"]
PATHS = (
    "a.py a.py sub/new.py ./a.py ../x out/x link lockstep.policy.yaml sub/lockstep.policy.yaml lockstep.gateway.yaml"
    " sub/../lockstep.policy.yaml ~/x sub/ . \u00e9.py a\\b.py"
).split()
PATCH = "*** Begin Patch\n*** Update File: {}\n-a\n+b\n*** End Patch"
# What a call has besides.
MORE: list[dict[str, Any]] = [
    *({"workdir": "sub"}, {"cwd": "sub"}, {"args": ["x"]}, {"paths": ["/x"]}, {"cmd": "rm /x"}, {"chars": "x"}),
    *({"description": "command"}, {"description": 'it\'s "command": "ls"'}, {"x": {"command": "ls"}}),
    *({"run_in_background": True}, {"tool_use_id": "c1"}, {"path": "a.py"}, {"tree": "x", "branch": "main"}),
]
ANSWERS: list[Any] = [
    {"stdout": "", "stderr": "", "interrupted": False},
    {"stdout": "", "stderr": "", "interrupted": False},
    {"stdout": "false", "stderr": "", "interrupted": True},
    {"output": "x", "exit": 0},
    {"output": "x", "exit": 1},
    {"llmContent": "Output: x\nError: (none)\nExit Code: 1\nSignal: (none)\nProcess Group PGID: 5"},
    {"llmContent": "Output: x\nProcess Group PGID: 5"},
    {"llmContent": "<untrusted_context>\nfalse\n</untrusted_context>"},
    {"error": "x"},
    {"isError": True, "content": [{"type": "text", "text": "no"}]},
    {"content": [{"type": "text", "text": " False\n"}]},
    {"filePath": "a.py", "userModified": False},
    {"command": "ls"},
    *("false", "done", "", False, None, ["false"]),
]
ABOUT = [
    {"agent_id": "A1"},
    {"transcript_path": "/x"},
    {"permission_mode": "plan"},
    {"tool_use_id": ""},
    {"x": "/step"},
]
# What is written into the facts, and how far from their end.
DAMAGE = [(1, b""), (1, b"x"), (40, b"\n"), (80, b"\0"), (3, b"}"), (300, b"x"), (90, b"")]


def need(by: Random, depth: int = 2) -> str:
    """An expression."""
    form = by.choice(FORMS) if depth and by.random() < 0.4 else "{}"
    parts = [need(by, depth - 1) if form != "{}" else by.choice(ATOMS) for _ in range(form.count("{}"))]
    return form.format(*parts)


FORMS = [
    "({}) and ({})",
    "({}) or ({})",
    "not ({})",
    "({}) if ({}) else ({})",
    "all(({}) for q in $args)",
    "any(q != 'z' for q in $args if ({}))",
]


def effects(by: Random) -> dict[str, Any]:
    return {by.choice(PLACES): by.choice(VALUES) for _ in range(by.choice([1, 1, 2]))}


def rule(by: Random) -> dict[str, Any]:
    """A rule that is often one of those that are decided quickly."""
    found: dict[str, Any] = {}
    if by.random() < 0.6:
        found["needs"] = [need(by) for _ in range(by.choice([1, 1, 2]))]
    if by.random() < 0.3:
        found["changes"] = {"touched": "forget"} if by.random() < 0.5 else effects(by)
    for name in ("shows", "on_false"):
        if by.random() < 0.08:
            found[name] = effects(by)
    if by.random() < 0.05:
        found |= by.choice([{"untrusted": True}, {"sinks": ["$args"]}])
    return found


def policy_by(by: Random) -> str:
    """A policy that can be compiled; each says something of the command ``begin``."""
    while True:
        tools = {by.choice(RULED).replace("|", " "): rule(by) for _ in range(by.choice([1, 2, 3, 5, 8]))}
        mode = by.choice(["deny", "deny", "deny", "look", "report"])
        policy = {"params": {"worktree": ".", "n": 1}, "mode": mode, "tools": {**tools, "shell(begin)": {}}}
        try:
            compile_policy(json.dumps(policy), "x.yaml")
        except LockstepError:
            continue
        return json.dumps(policy)


def line_by(by: Random) -> str:
    """A command line."""
    if by.random() < 0.5:
        return by.choice(LINES).replace("|", " ")
    commands = []
    for _ in range(by.choice([1, 1, 1, 2])):
        words = [by.choice(PROGRAMS), *(by.choice(WORDS).replace("|", " ") for _ in range(by.randrange(4)))]
        commands.append(by.choice([" ", " ", " ", "  ", "\t", "\n"]).join(words))
    return (by.choice(PREFIXES) if by.random() < 0.2 else "") + by.choice(JOINED).join(commands)


def call_by(by: Random, host: str) -> dict[str, Any]:
    """The call of a tool of a host."""
    more = by.choice(MORE) if by.random() < 0.15 else {}
    kind = by.choice(["shell", "shell", "shell", "edit", "edit", "patch", "other"])
    if kind == "shell":
        tool = by.choice([*TABLE["shell"][host] * 3, "Bash", "PowerShell"])
        given = {"command": line_by(by)}
    elif kind == "edit":
        tool = by.choice([*TABLE["edit"][host], *TABLE["write"][host], "Edit"])
        field = by.choice(["file_path", "file_path", "filePath", "path", "notebook_path", "input"])
        given = {field: by.choice(PATHS)}
    elif kind == "patch":
        tool, given = "apply_patch", {"command": PATCH.format(by.choice(PATHS))}
    else:
        tools = [*TABLE["read"][host], "web_search", "task_stop", "read_file", "write_file", "mcp__a__b", "TodoWrite"]
        tool, given = by.choice(tools), {"file_path": by.choice(PATHS)}
    return {"tool_name": tool, "tool_input": {**given, **more}}


def events_by(by: Random, host: str) -> list[dict[str, Any]]:
    """A call, its result, or both."""
    before, after = ("BeforeTool", "AfterTool") if host == "gemini" else ("PreToolUse", "PostToolUse")
    at: dict[str, Any] = (
        {"tool_use_id": f"c{by.randrange(40)}"} if by.random() < 0.95 else by.choice([{"timestamp": "t"}, {"x": 1}])
    )
    told = {**call_by(by, host), "timestamp": "t", **at, **(by.choice(ABOUT) if by.random() < 0.1 else {})}
    answer: dict[str, Any] = {"hook_event_name": after, "tool_response": by.choice(ANSWERS)}
    failure = {"hook_event_name": after + "Failure", "error": "Exit code 1\nno"}
    return [
        {**told, **more}
        for more in by.choice(
            [
                *([{"hook_event_name": before}], [{"hook_event_name": before}, answer]),
                *([answer], [{"hook_event_name": before}, failure]),
            ]
        )
    ]


def happen(by: Random, pair: Pair) -> None:
    """What changes around a session: a file, or which sessions follow a run."""
    if by.random() < 0.1:
        pair.edit(by.choice("xyz"))
    if by.random() < 0.04:
        pair.follow(by.choice([NAMES, ("another",)]))
    elif by.random() < 0.1:
        pair.leave()


def same(pair: Pair, about: dict[str, Any]) -> None:
    """Tell both sessions of an event."""
    quickly, slowly = pair.tell(about)
    assert quickly == slowly, about
    assert not pair.is_exact or pair.facts("quick") == pair.facts("long"), about


@pytest.mark.parametrize("host", ["claude", "codex", "opencode", "qwen", "gemini"])
def test_an_event_is_answered_and_kept_as_by_the_library(host: str, tmp_path: Path) -> None:
    quick = 0
    for seed in range(POLICIES):
        by = Random(f"{host} {seed}")
        with pytest.MonkeyPatch.context() as patch:
            policy = policy_by(by)
            pair = Pair(tmp_path / str(seed), patch, policy, host)
            try:
                same(
                    pair, {"tool_name": TABLE["shell"][host][0], "tool_input": {"command": "begin"}, "tool_use_id": "b"}
                )
                for _ in range(EVENTS):
                    if by.random() < 0.03:
                        policy = policy_by(by)
                        pair.change(policy)
                    elif by.random() < 0.03:
                        pair.damage(*by.choice(DAMAGE))
                    happen(by, pair)
                    for about in events_by(by, host):
                        with pair.locked() if by.random() < 0.1 else contextlib.nullcontext():
                            same(pair, about)
            except AssertionError as error:
                raise AssertionError(f"{host} {seed} {policy}") from error
            quick += pair.quick
    assert quick > POLICIES * 3

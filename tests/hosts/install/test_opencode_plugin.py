"""opencode's plugin, run by node with a client that only notes its calls: what it sends to the hook, and does."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from skills.lib.hosts.install import hooks

Happening: TypeAlias = "tuple[str, dict[str, Any]]"

pytestmark = [pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"), pytest.mark.slow]

PLAYED = """
import { Lockstep } from "./lockstep.mjs";
const asked = [];
const get = async ({ path }) => {
  asked.push(path.id);
  return { data: { parentID: path.id === "kid" ? "top" : undefined } };
};
const client = { session: { get } };
const hooks = await Lockstep({ client, directory: process.cwd() });
const said = [];
for (const sessionID of ["top", "kid"]) {
  try {
    await hooks["tool.execute.before"]({ tool: "edit", sessionID, callID: "1" }, { args: { filePath: "x" } });
    said.push("allowed");
  } catch (error) {
    said.push(error.message);
  }
}
const system = ["first"], context = [];
await hooks["experimental.chat.system.transform"]({ sessionID: "top" }, { system });
await hooks["experimental.chat.system.transform"]({}, { system });
await hooks["experimental.session.compacting"]({ sessionID: "top" }, { context });
await hooks.event({ event: { type: "session.deleted", properties: { info: { id: "top" } } } });
console.log(JSON.stringify({ said, system, context, asked }));
"""
# Stands for the hook: denies an edit in the top session's sub-agent and each stop, and says what it was asked.
STANDING_IN = """
import json, sys
event = json.load(sys.stdin)
with open("events.jsonl", "a") as file:
    file.write(json.dumps(event) + "\\n")
if event["hook_event_name"] in ("Stop", "SubagentStop"):
    sys.stderr.write("go on")
    sys.exit(2)
if event.get("agent_id"):
    sys.stderr.write("not in a sub-agent")
    sys.exit(2)
if event["hook_event_name"] == "SessionStart":
    said = {"hookEventName": "SessionStart", "additionalContext": "step " + event["source"]}
    print(json.dumps({"hookSpecificOutput": said}))
"""
# Tells the plugin what happens in opencode, and prints what it asks opencode to do.
STOPPED = """
import { Lockstep } from "./lockstep.mjs";
const sent = [];
const get = async ({ path }) => ({ data: { parentID: path.id === "kid" ? "top" : undefined } });
const prompt = async ({ path, body }) => {
  sent.push(["prompt", path.id, body]);
  return { data: { info: { id: "put" }, parts: [{ id: "put-part" }] } };
};
const promptAsync = async ({ path, body }) => sent.push(["promptAsync", path.id, body]);
const client = { session: { get, prompt, promptAsync } };
const hooks = await Lockstep({ client, directory: process.cwd() });
for (const [type, properties] of HAPPENINGS) await hooks.event({ event: { type, properties } });
console.log(JSON.stringify(sent));
"""


def stand_in(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the plugin call the hook's stand-in."""
    hook = project / "hook.py"
    hook.write_text(STANDING_IN)
    monkeypatch.setattr(hooks, "command", lambda host, stops: [sys.executable, str(hook)])


def played(project: Path, script: str) -> Any:
    """What a script prints that runs beside the plugin."""
    (project / "lockstep.mjs").write_bytes(hooks.plugin(3))
    (project / "play.mjs").write_text(script)
    done = subprocess.run(["node", "play.mjs"], cwd=project, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def sent(project: Path, happenings: list[Happening]) -> Any:
    """What the plugin asks opencode to do when these things happen in it."""
    return played(project, STOPPED.replace("HAPPENINGS", json.dumps(happenings)))


def stops(project: Path) -> list[dict[str, Any]]:
    """The stops that the hook was asked about."""
    path = project / "events.jsonl"
    events = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [event for event in events if event["hook_event_name"] in ("Stop", "SubagentStop")]


def answer(message: str = "m1", session: str = "top", **more: Any) -> Happening:
    """The model begins an answer, or something of it changes."""
    info = {"id": message, "role": "assistant", "sessionID": session, "time": {"created": 1}}
    model = {"agent": "plan", "providerID": "loopback", "modelID": "scripted", "variant": "high"}
    return "message.updated", {"info": {**info, **model, **more}}


def part(kind: str, message: str = "m1", session: str = "top", **more: Any) -> Happening:
    """A part of a message is there, or is another one now."""
    return "message.part.updated", {"part": {"type": kind, "messageID": message, "sessionID": session, **more}}


def status(kind: str, session: str = "top") -> Happening:
    return "session.status", {"sessionID": session, "status": {"type": kind}}


END = part("step-finish", reason="stop")
IDLE = ("session.idle", {"sessionID": "top"})
# The reason that the stand-in gives, as the plugin puts it into the session, and the event that it is there.
REASON = {"type": "text", "text": "go on", "synthetic": True}
PUT = {
    "agent": "plan",
    "model": {"providerID": "loopback", "modelID": "scripted"},
    "variant": "high",
    "parts": [REASON],
    "noReply": True,
}
THERE = part("text", message="put", text="go on", synthetic=True)
# The same of a sub-agent.
END_OF_KID = part("step-finish", session="kid", reason="stop")
THERE_IN_KID = part("text", message="put", session="kid", text="go on", synthetic=True)
IDLE_KID = ("session.idle", {"sessionID": "kid"})


@pytest.mark.req("H-02")
def test_the_plugin_of_opencode_hands_on_what_the_hook_says(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(project, monkeypatch)
    assert played(project, PLAYED) == {
        "said": ["allowed", "not in a sub-agent"],
        "system": ["first", "step resume"],
        "context": ["step compact"],
        "asked": ["top", "kid"],
    }
    events = [json.loads(line) for line in (project / "events.jsonl").read_text().splitlines()]
    assert [event["hook_event_name"] for event in events] == [
        "PreToolUse",
        "PreToolUse",
        "SessionStart",
        "SessionStart",
        "SessionEnd",
    ]
    assert events[0] == {
        "session_id": "top",
        "agent_id": "",
        "cwd": str(project),
        "hook_event_name": "PreToolUse",
        "tool_name": "edit",
        "tool_input": {"filePath": "x"},
        "tool_use_id": "1",
    }
    assert (events[1]["session_id"], events[1]["agent_id"]) == ("top", "kid")


RESULTS = """
import { Lockstep } from "./lockstep.mjs";
const client = { session: { get: async () => ({ data: {} }) } };
const hooks = await Lockstep({ client, directory: process.cwd() });
const after = hooks["tool.execute.after"];
const call = { sessionID: "top", callID: "1" };
await after({ ...call, tool: "bash", args: { command: "false" } }, { output: "x", metadata: { exit: 1, output: "x" } });
await after({ ...call, tool: "bash", args: { command: "sleep 9" } }, { output: "late", metadata: { exit: null } });
await after({ ...call, tool: "bank_balance", args: {} }, { content: [{ type: "text", text: "7" }], isError: false });
await after({ ...call, tool: "task" }, undefined);
const state = { status: "error", input: { filePath: "x" }, error: "not found" };
const part = { type: "tool", tool: "edit", callID: "2", sessionID: "top", messageID: "m", state };
await hooks.event({ event: { type: "message.part.updated", properties: { part } } });
console.log(JSON.stringify(null));
"""


@pytest.mark.req("G-02")
@pytest.mark.parametrize("has_facts", [True, False])
def test_the_plugin_of_opencode_reports_results_if_facts_are_kept(
    project: Path, monkeypatch: pytest.MonkeyPatch, has_facts: bool
) -> None:
    stand_in(project, monkeypatch)
    state = project / "state"
    (state / "facts").mkdir(parents=True)
    if has_facts:
        (state / "facts" / "opencode-top.7").write_text("")
    monkeypatch.setenv("LOCKSTEP_STATE", str(state))
    played(project, RESULTS)
    path = project / "events.jsonl"
    events = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    found = [(e["hook_event_name"], e["tool_name"], e["tool_use_id"], e.get("tool_response")) for e in events]
    if not has_facts:
        assert found == []
        return
    assert found == [
        ("PostToolUse", "bash", "1", {"output": "x", "exit": 1}),
        ("PostToolUse", "bash", "1", {"output": "late", "exit": None}),
        ("PostToolUse", "bank_balance", "1", {"content": [{"type": "text", "text": "7"}], "isError": False}),
        ("PostToolUse", "task", "1", {}),
        ("PostToolUseFailure", "edit", "2", None),
    ]
    assert events[-1]["error"] == "not found"


@pytest.mark.req("H-02")
@pytest.mark.parametrize("failing", ['return { error: { name: "busy" } };', 'throw new Error("busy");'])
def test_a_sub_agent_that_could_not_be_looked_up_once_is_held_from_then_on(
    project: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    stand_in(project, monkeypatch)
    script = PLAYED.replace("asked.push(path.id);", f"asked.push(path.id);\n  if (asked.length === 2) {failing}")
    script = script.replace('of ["top", "kid"]', 'of ["top", "kid", "kid", "kid"]')
    told = played(project, script)
    assert told["said"] == ["allowed", "allowed", "not in a sub-agent", "not in a sub-agent"]
    assert told["asked"] == ["top", "kid", "kid"]


@pytest.mark.req("H-02")
def test_a_plugin_that_is_installed_in_both_scopes_asks_and_says_once(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(project, monkeypatch)
    one = "const hooks = await Lockstep({ client, directory: process.cwd() });"
    two = """
    const other = await import("./user.mjs");
    const both = [await Lockstep({ client, directory: process.cwd() })];
    await Lockstep({ client, directory: process.cwd() + "/elsewhere" });
    both.push(await other.Lockstep({ client, directory: process.cwd() }));
    const hooks = {};
    for (const name of Object.keys(both[0])) {
      hooks[name] = async (...given) => { for (const one of both) await one[name](...given); };
    }
    """
    (project / "user.mjs").write_bytes(hooks.plugin(3))
    late = [answer(), END, status("busy"), status("idle"), IDLE]
    assert [
        what for what, *_ in played(project, STOPPED.replace("HAPPENINGS", json.dumps(late)).replace(one, two))
    ] == [
        "prompt",
        "promptAsync",
    ]
    assert len(stops(project)) == 1
    told = played(project, PLAYED.replace(one, two))
    assert (told["said"], told["system"]) == (["allowed", "not in a sub-agent"], ["first", "step resume"])


@pytest.mark.req("H-02")
@pytest.mark.parametrize("is_followed", [True, False])
def test_the_plugin_of_opencode_denies_if_its_hook_cannot_be_run(
    project: Path, monkeypatch: pytest.MonkeyPatch, is_followed: bool
) -> None:
    monkeypatch.setattr(hooks, "command", lambda host, stops: [str(project / "gone" / "python"), "hook.py"])
    state = project / "state"
    (state / "sessions").mkdir(parents=True)
    if is_followed:
        (state / "sessions" / "opencode-top").write_text("{}")
    monkeypatch.setenv("LOCKSTEP_STATE", str(state))
    said = played(project, PLAYED)["said"]
    if is_followed:
        assert all("Lockstep's hook cannot be run" in text and "lockstep install opencode" in text for text in said)
    else:
        assert said == ["allowed", "allowed"]


@pytest.mark.req("H-02")
def test_the_reason_of_a_refused_stop_is_put_behind_the_answer_and_not_said_twice(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(project, monkeypatch)
    happenings = [status("busy"), answer(), part("text", text="I stop."), END, THERE, answer(finish="stop")]
    assert sent(project, [*happenings, status("busy"), IDLE, IDLE]) == [["prompt", "top", PUT]]
    assert stops(project) == [
        {
            "session_id": "top",
            "agent_id": "",
            "cwd": str(project),
            "hook_event_name": "Stop",
            "stop_hook_active": False,
            "background_tasks": [],
        }
    ]


@pytest.mark.req("H-02")
def test_an_idle_session_that_had_looked_too_early_is_prompted_once_with_the_same_message(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(project, monkeypatch)
    late = [answer(), END, status("busy"), status("idle"), IDLE, IDLE, THERE, status("busy"), status("idle"), IDLE]
    again = {**PUT, "messageID": "put", "parts": [{**REASON, "id": "put-part"}]}
    again.pop("noReply")
    assert sent(project, late) == [["prompt", "top", PUT], ["promptAsync", "top", again]]
    assert len(stops(project)) == 1


@pytest.mark.req("H-02")
@pytest.mark.parametrize("name", ["MessageAbortedError", "APIError"])
def test_a_session_that_was_interrupted_or_whose_provider_failed_is_not_prompted(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    stand_in(project, monkeypatch)
    failed = ("session.error", {"sessionID": "top", "error": {"name": name}})
    broken = answer("m2", error={"name": name}, time={"created": 1, "completed": 2})
    assert sent(project, [answer(), failed, broken, status("idle"), IDLE]) == []
    assert stops(project) == []
    late = [answer(), END, status("busy"), failed, status("idle"), IDLE]
    assert sent(project, late) == [["prompt", "top", PUT]]


@pytest.mark.req("H-02")
@pytest.mark.parametrize(
    "happenings",
    [
        [answer(), part("step-finish", reason="tool-calls")],
        [answer(), part("step-finish", reason="content-filter")],
        [answer(), part("tool"), END],
        [answer(summary=True), END],
        [answer(finish="stop"), END],
    ],
    ids=["with tools", "filtered", "with a tool and no word of it", "a summary", "over already"],
)
def test_an_answer_that_is_no_stop_is_none(
    project: Path, monkeypatch: pytest.MonkeyPatch, happenings: list[Happening]
) -> None:
    stand_in(project, monkeypatch)
    assert sent(project, [*happenings, status("busy"), status("idle"), IDLE]) == []
    assert stops(project) == []


@pytest.mark.req("H-02")
def test_the_hook_learns_of_a_second_stop_and_of_sub_agents_at_work(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(project, monkeypatch)
    kid = ("session.created", {"info": {"id": "kid", "parentID": "top"}})
    first = [kid, status("busy", "kid"), answer(), END, THERE, status("busy")]
    second = [status("idle", "kid"), answer("m2"), part("step-finish", "m2", reason="length"), THERE, status("busy")]
    anew = [IDLE, answer("m3"), part("step-finish", "m3", reason="stop")]
    assert sent(project, [*first, *second, *anew]) == [["prompt", "top", PUT]] * 3
    told = [(event["stop_hook_active"], event["background_tasks"]) for event in stops(project)]
    assert told == [(False, [{"type": "subagent", "status": "running"}]), (True, []), (False, [])]


@pytest.mark.req("H-02")
def test_a_sub_agents_refused_stop_is_put_into_its_own_session(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(project, monkeypatch)
    below = ("session.created", {"info": {"id": "below", "parentID": "kid"}})
    first = [below, status("busy", "below"), answer(session="kid"), END_OF_KID, THERE_IN_KID, status("busy", "kid")]
    second = [status("idle", "below"), answer("m2", "kid"), part("step-finish", "m2", "kid", reason="stop")]
    assert sent(project, [*first, *second]) == [["prompt", "kid", PUT]] * 2
    told = {"session_id": "top", "agent_id": "kid", "cwd": str(project), "hook_event_name": "SubagentStop"}
    assert stops(project) == [
        {**told, "stop_hook_active": False, "background_tasks": [{"type": "subagent", "status": "running"}]},
        {**told, "stop_hook_active": True, "background_tasks": []},
    ]


@pytest.mark.req("H-02")
def test_a_sub_agent_that_had_ended_before_the_reason_came_is_left_at_rest(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(project, monkeypatch)
    late = [answer(session="kid"), END_OF_KID, status("busy", "kid"), THERE_IN_KID, status("idle", "kid"), IDLE_KID]
    again = [answer("m2", "kid"), part("step-finish", "m2", "kid", reason="stop")]
    assert sent(project, [*late, *again]) == [["prompt", "kid", PUT]] * 2
    assert [event["stop_hook_active"] for event in stops(project)] == [False, False]


@pytest.mark.req("H-02")
def test_a_session_is_not_kept_going_if_the_hook_cannot_be_run(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "command", lambda host, stops: [str(project / "gone" / "python"), "hook.py"])
    (project / "state" / "sessions").mkdir(parents=True)
    (project / "state" / "sessions" / "opencode-top").write_text("{}")
    monkeypatch.setenv("LOCKSTEP_STATE", str(project / "state"))
    assert sent(project, [answer(), END, status("busy"), IDLE]) == []


# What the user says, and what the plugin says in their place; then settings of users.
CHATTED = """
import { Lockstep } from "./lockstep.mjs";
const get = async ({ path }) => ({ data: { parentID: path.id === "kid" ? "top" : undefined } });
const hooks = await Lockstep({ client: { session: { get } }, directory: process.cwd() });
const put = { type: "text", text: "put there", synthetic: true };
const said = [{ type: "text", text: "yes," }, { type: "file", url: "x" }, { type: "text", text: "ship it" }];
await hooks["chat.message"]({ sessionID: "top" }, { message: {}, parts: [...said, put] });
await hooks["chat.message"]({ sessionID: "top" }, { message: {}, parts: [put] });
await hooks["chat.message"]({ sessionID: "kid" }, { message: {}, parts: [said[0]] });
await Lockstep({ client: { session: { get } }, directory: process.cwd() }); // the project's, which takes over the rest
const found = [{}, { permission: "ask" }, { permission: { edit: "ask", bash: "ask" } }, { permission: { bash: {} } }];
for (const config of found) await hooks.config(config);
console.log(JSON.stringify(found.map((config) => config.permission ?? null)));
"""


@pytest.mark.req("W-24")
@pytest.mark.parametrize("words", [[], ["run"]])
def test_the_plugin_of_opencode_hands_on_what_the_user_says_and_nothing_that_opencode_run_says(
    project: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    stand_in(project, monkeypatch)
    mark = 'import { Lockstep } from "./lockstep.mjs";\n'
    played(project, CHATTED.replace(mark, f"{mark}process.argv.push(...{json.dumps(words)});\n"))
    path = project / "events.jsonl"
    events = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    told = [(event["hook_event_name"], event["agent_id"], event["prompt"]) for event in events]
    said = [("UserPromptSubmit", "", "yes,\nship it"), ("UserPromptSubmit", "kid", "yes,")]
    assert told == ([] if words else said)


@pytest.mark.req("H-01")
def test_the_plugin_of_opencode_allows_the_commands_that_it_was_given_and_changes_no_other_rule(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(project, monkeypatch)
    plugin, rules = hooks.plugin, {"python3 /x.py *": "allow"}
    assert played(project, CHATTED)[0] is None
    monkeypatch.setattr(hooks, "plugin", lambda stops: plugin(stops, list(rules)))
    assert played(project, CHATTED) == [
        {"bash": rules},
        {"*": "ask", "bash": rules},
        {"edit": "ask", "bash": {"*": "ask", **rules}},
        {"bash": rules},
    ]

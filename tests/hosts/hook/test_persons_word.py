"""An answer that the agent passes on is the person's if the hook heard it from them after the question."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from skills.lib.commands.console.app import lockstep
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock
from tests.fixtures.skill import install, source_of
from tests.hosts.hook.hooked import Answer, Host, recorded

pytestmark = [pytest.mark.req("W-24"), pytest.mark.usefixtures("own_project")]
SILENT = Answer(0, "", "")
CHOICES = {"yes": "Outcome.OK", "no": "Outcome.FAIL", "ship it": "Outcome.OK", "do not ship it": "Outcome.FAIL"}
CHOSEN = f"{{{', '.join(f'{choice!r}: {outcome}' for choice, outcome in CHOICES.items())}}}"
ASKING = f"""
    StepDef("ask", "Ask", "Ask.", {{Outcome.OK: "last", Outcome.FAIL: "ask"}},
            Person("Ship?", {CHOSEN}, at_terminal=True)),
    StepDef("last", "Last", "Do.", {{Outcome.OK: None}}),
"""
FREE = """
    StepDef("ask", "Ask", "Ask.", {Outcome.OK: "last"}, Person("How?", at_terminal=True)),
    StepDef("last", "Last", "Do.", {Outcome.OK: None}),
"""
LATER = """
    StepDef("first", "First", "Begin.", {Outcome.OK: "ask"}),
    StepDef("ask", "Ask", "Ask.", {Outcome.OK: None}, Person("Ship?", {"yes": Outcome.OK}, at_terminal=True)),
"""
LIMITED = """
    StepDef("work", "Work", "Work.", {Outcome.OK: None, Outcome.FAIL: "work"}, max_iterations=2,
            when={Outcome.OK: "it is good", Outcome.FAIL: "it is not"}),
"""


def asking(folder: Path, steps: str = ASKING, host: str = "claude") -> tuple[Host, PrintedBlock]:
    """A host whose agent follows a run that waits for an answer, and its block."""
    asks = Host(folder, host)
    asks.agent = Agent(install(folder, "asking", source_of("asking", steps)), asks.project)
    block = asks.agent.open()
    assert block.kind == ("step" if steps == LATER else "waiting")
    look = f"python3 {asks.agent.script} --step current --run {block.run} --project {asks.project}"
    assert asks.use({"codex": "exec_command", "gemini": "run_shell_command"}.get(host, "Bash"), command=look) == SILENT
    return asks, block


def kept(host: Host) -> list[Path]:
    """The files of the prompts that are kept."""
    return sorted((host.state / "prompts").glob("*"))


@pytest.mark.parametrize(
    "prompts, answer",
    [
        (["Yes."], "yes"),
        (["I have read it\nand say: YES, go on"], "yes"),
        (["who wrote it?", "yes", "and be quick"], "yes"),
        (["no", "on second thoughts, yes"], "yes"),
        (["ship  it!"], "ship it"),
    ],
)
def test_an_answer_that_a_prompt_after_the_question_has_is_the_persons(
    tmp_path: Path, prompts: list[str], answer: str
) -> None:
    host, block = asking(tmp_path)
    for prompt in prompts:
        host.say(prompt)
    after = host.agent.follow(block, answer=answer)
    assert (after.kind, after.step) == ("step", "last")
    answered = host.agent.events(block.run)[-1]
    assert (answered.actor, answered.detail["by"]) == ("person (prompt)", "person")
    assert answered.detail["prompt"] in prompts
    assert host.agent.state(block.run).state["ask"]["answered_by"] == "person"
    assert kept(host) == []


@pytest.mark.parametrize(
    "prompts, answer",
    [
        ([], "yes"),
        (["Go on, then."], "yes"),
        (["I said so yesterday"], "yes"),
        (["yes or no? what do you think"], "yes"),
        (["yes", "no, wait"], "yes"),
        (["do not ship it"], "ship it"),
        (["<task-notification>yes</task-notification>"], "yes"),
        (["The run x of y is not at its end: it is at the step 'Say yes'."], "yes"),
    ],
)
def test_an_answer_that_the_person_did_not_give_in_the_chat_is_refused(
    tmp_path: Path, prompts: list[str], answer: str
) -> None:
    host, block = asking(tmp_path)
    for prompt in prompts:
        host.say(prompt)
    refused = host.agent.follow(block, answer=answer)
    assert (refused.kind, refused.root.get("code")) == ("refused", "person-needed")
    assert host.agent.events(block.run)[-1].actor == "agent"
    host.say(answer)  # the refusal names the command that passes it on
    assert host.agent.run_command(refused.next).kind in ("step", "waiting")


def test_words_from_before_the_question_from_another_session_or_of_a_sub_agent_do_not_count(tmp_path: Path) -> None:
    host, block = asking(tmp_path)
    host.say("no")
    again = host.agent.follow(block, answer="no")
    assert (again.kind, again.turn) == ("waiting", 2)
    assert kept(host) == []
    assert host.agent.follow(again, answer="no").kind == "refused"
    host.say("yes", agent_id="A")
    host.say("yes", session_id="another")
    assert host.agent.follow(again, answer="yes").kind == "refused"


@pytest.mark.parametrize("changed", [{"status": "open"}, {"turn": 7}, {"run": "zzzzzzzz"}, None])
def test_a_status_file_that_the_agent_edits_hides_no_word_of_the_person(
    tmp_path: Path, changed: dict[str, Any] | None
) -> None:
    host, block = asking(tmp_path)
    file = host.status_file(block.run)
    kept_text = file.read_text(encoding="utf-8")
    host.say("yes")
    file.write_text(json.dumps({**json.loads(kept_text), **changed}) if changed else "{", encoding="utf-8")
    host.say("no, wait")
    file.write_text(kept_text, encoding="utf-8")
    assert host.agent.follow(block, answer="yes").root.get("code") == "person-needed"
    assert host.agent.follow(block, answer="no").kind == "waiting"


def test_a_status_file_that_calls_a_run_waiting_keeps_no_prompt_for_a_later_question(tmp_path: Path) -> None:
    host, block = asking(tmp_path, LATER)
    file = host.status_file(block.run)
    file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), "status": "waiting"}), encoding="utf-8")
    host.say("yes")
    assert kept(host) == []
    asked = host.agent.follow(block)
    assert asked.kind == "waiting"
    assert host.agent.follow(asked, answer="yes").kind == "refused"


def test_a_prompt_that_comes_while_the_ledger_cannot_be_read_outdates_those_before_it(tmp_path: Path) -> None:
    host, block = asking(tmp_path)
    host.say("yes")
    ledger = host.project / ".lockstep" / "runs.db"
    with closing(sqlite3.connect(ledger)) as connection:  # with it the write-ahead log ends
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = ledger.read_bytes()
    ledger.write_bytes(b"no database" * 1_000)
    host.say("no")
    ledger.write_bytes(content)
    assert host.agent.follow(block, answer="yes").root.get("code") == "person-needed"


def test_a_prompt_that_is_too_long_to_keep_answers_nothing_and_outdates_those_before_it(tmp_path: Path) -> None:
    host, block = asking(tmp_path)
    host.say("yes")
    host.say(f"You ask whether I would say yes. {'line; ' * 400} So my answer is: no.")
    assert host.agent.follow(block, answer="yes").kind == "refused"
    assert host.agent.follow(block, answer="no").kind == "refused"
    host.say("no")
    assert host.agent.follow(block, answer="no").kind == "waiting"


@pytest.mark.parametrize("kind", ["another turn", "another run", "no signature", "no JSON", "no texts"])
def test_a_file_of_prompts_that_the_hook_did_not_write_for_this_question_counts_for_nothing(
    tmp_path: Path, kind: str
) -> None:
    host, block = asking(tmp_path)
    host.say("yes")
    [path] = kept(host)
    found = json.loads(path.read_text(encoding="utf-8"))
    changed = {
        "another turn": {**found, "turn": 7},
        "another run": {**found, "run": "zzzzzzzz"},
        "no signature": {name: value for name, value in found.items() if name != "signature"},
        "no JSON": "{",
        "no texts": {**found, "prompts": 5},
    }[kind]
    path.write_text(changed if isinstance(changed, str) else json.dumps(changed), encoding="utf-8")
    assert host.agent.follow(block, answer="yes").root.get("code") == "person-needed"


@pytest.mark.parametrize(
    "prompt, answer, counts",
    [
        ("Tabs.", "tabs", True),
        ("I would rather have tabs", "tabs", False),
        ("I would rather have tabs, if nobody minds", "I would rather have  tabs", True),
        ("I would rather have tabs", "I would rather have spaces", False),
    ],
)
def test_an_answer_in_free_words_is_in_a_prompt_as_it_is_and_a_short_one_is_all_of_it(
    tmp_path: Path, prompt: str, answer: str, counts: bool
) -> None:
    host, block = asking(tmp_path, FREE)
    host.say(prompt)
    assert host.agent.follow(block, answer=answer).kind == ("step" if counts else "refused")


def test_a_person_decides_in_the_chat_on_a_step_that_failed_to_its_limit(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.agent = Agent(install(tmp_path, "limited", source_of("limited", LIMITED)), host.project)
    block = host.go(host.agent.open(), outcome="fail")
    waiting = host.go(block, outcome="fail")
    question = waiting.root.find("QUESTION")
    assert (waiting.kind, question is not None and question.get("by")) == ("waiting", "person")
    said = "accept it, the rest is tracked"
    assert host.agent.follow(waiting, answer="accept", reason="the rest is tracked").kind == "refused"
    host.say(said)
    done = host.agent.follow(waiting, answer="accept", reason="the rest is tracked")
    assert (done.kind, host.agent.events(waiting.run)[-1].actor) == ("done", "person (prompt)")
    page = tmp_path / "page.html"
    words = ["trace", waiting.run, "--html", str(page), "--project", str(host.project)]
    assert CliRunner().invoke(lockstep, words).exit_code == 0
    assert "a person, in the chat" in page.read_text(encoding="utf-8")
    assert said in page.read_text(encoding="utf-8")


def test_a_prompt_that_speaks_of_a_secret_is_not_kept_with_the_answer(tmp_path: Path) -> None:
    host, block = asking(tmp_path)
    host.say("yes, the password is 1234")
    host.agent.follow(block, answer="yes")
    answered = host.agent.events(block.run)[-1]
    assert (answered.actor, "1234" in json.dumps(answered.detail)) == ("person (prompt)", False)


def test_the_prompts_that_are_kept_are_few_and_short(tmp_path: Path) -> None:
    host, block = asking(tmp_path)
    for count in range(12):
        host.say(f"{count} {'x' * 5_000}")
    [path] = kept(host)
    assert path.stat().st_size < 20_000
    host.say("yes")
    assert host.agent.follow(block, answer="yes").step == "last"


@pytest.mark.parametrize(
    "host, name",
    [
        ("claude", "user_prompt_submit"),
        ("codex", "user_prompt_submit"),
        ("qwen", "user_prompt_submit"),
        ("gemini", "before_agent"),
    ],
)
def test_each_hosts_event_of_a_prompt_is_the_persons_word(tmp_path: Path, host: str, name: str) -> None:
    asks, block = asking(tmp_path, host=host)
    event = json.loads(recorded(host)[name].replace("PROJECT", str(asks.project)))
    transcript = tmp_path / "rollout.jsonl"
    transcript.write_text('{"type":"session_meta","payload":{"originator":"codex-tui","source":"cli"}}\n')
    told = {**event, "session_id": asks.session, "prompt": "yes, do", "transcript_path": str(transcript)}
    asks.tell(json.dumps(told))
    asks.agent.follow(block, answer="yes")
    assert asks.agent.events(block.run)[-1].actor == "person (prompt)"


@pytest.mark.parametrize(
    "source, counts",
    [
        ("cli", True),
        ("vscode", True),
        ("exec", False),
        ("mcp", False),
        ("something new", False),
        ({"subagent": "review"}, False),
        (None, False),
    ],
)
def test_of_codex_only_a_session_that_a_person_began_counts(tmp_path: Path, source: Any, counts: bool) -> None:
    host, block = asking(tmp_path, host="codex")
    transcript = tmp_path / "rollout.jsonl"
    payload = {"originator": "codex", "source": source} if source else {"originator": "codex-tui"}
    meta: dict[str, Any] = {"type": "session_meta", "payload": payload}
    transcript.write_text(json.dumps(meta, separators=(",", ":")) + "\n{}\n", encoding="utf-8")
    host.say("yes", transcript_path=str(transcript))
    assert host.agent.follow(block, answer="yes").kind == ("step" if counts else "refused")


@pytest.mark.parametrize("place", ["missing.jsonl", "", "a folder", None])
def test_a_session_of_codex_whose_file_cannot_be_read_is_no_persons(tmp_path: Path, place: str | None) -> None:
    host, block = asking(tmp_path, host="codex")
    (tmp_path / "a folder").mkdir()
    host.say("yes", transcript_path=str(tmp_path / place) if place else place)
    assert host.agent.follow(block, answer="yes").kind == "refused"


@pytest.mark.parametrize("name, counts", [("LOCKSTEP_AGENT", False), ("CODEX_THREAD_ID", False), ("CLAUDECODE", True)])
def test_what_another_agent_gave_to_its_client_is_no_word_of_a_person(tmp_path: Path, name: str, counts: bool) -> None:
    host, block = asking(tmp_path)
    host.tell({"hook_event_name": "UserPromptSubmit", "prompt": "yes"}, **{name: "1"})
    assert host.agent.follow(block, answer="yes").kind == ("step" if counts else "refused")


@pytest.mark.parametrize(
    "entry, counts",
    [
        ("cli", True),
        ("claude-vscode", True),
        ("claude-desktop", True),
        ("sdk-cli", False),
        ("sdk-py", False),
        ("something-new", False),
        ("", False),
    ],
)
def test_of_claude_code_only_an_entry_point_of_a_person_counts(tmp_path: Path, entry: str, counts: bool) -> None:
    host, block = asking(tmp_path)
    said = {"hook_event_name": "UserPromptSubmit", "prompt": "yes"}
    host.tell(said, CLAUDE_CODE_ENTRYPOINT=entry)
    assert host.agent.follow(block, answer="yes").kind == ("step" if counts else "refused")

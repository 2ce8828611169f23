"""A session follows a run: the block at each model call, one way on, sub-agents, people, early ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage

from tests.agent.scripted import Answer, ScriptedModel, calling, in_turn, report
from tests.agent.sessions import agent, honest, project, touch


def test_a_session_walks_a_skill_with_its_sub_agents_to_the_end(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "brood")
    model = ScriptedModel(answer=honest({"targets": ["a", "b & <c>"], "verdict": "pass", "summary": "all was seen"}))
    host = agent(folder, model)
    run = host.start("brood", "look at all")
    ended = host.advance(run)
    assert (ended.status, ended.result) == ("done", {"summary": "all was seen"})
    threads = {call.system.partition('run="')[2].partition('"')[0] for call in model.calls}
    assert threads == {run, *(f"{run}.{number}" for number in range(1, 7))}


def test_each_model_call_has_the_block_of_the_present_step(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    model = ScriptedModel(answer=honest(outcome="ok"))
    host = agent(folder, model)
    assert host.advance(host.start("plain", "tidy up")).status == "done"
    steps = [call.system.partition(' id="')[2].partition('"')[0] for call in model.calls]
    assert steps == ["note", "again"]
    assert all('<mandatory-skill name="plain">' in call.system for call in model.calls)
    assert "<task>tidy up</task>" in model.calls[0].system


def test_an_early_end_is_sent_back_three_times_and_the_run_stays_open(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    model = ScriptedModel(answer=lambda messages, tools: "I am done.")
    host = agent(folder, model)
    run = host.start("plain")
    ended = host.advance(run)
    assert (ended.status, ended.step) == ("stopped", "note")
    assert "ended its turn 4 times at note" in ended.reason
    assert [message.text for message in model.calls[-1].messages if message.type == "human"][-1].startswith(
        "The run is not done: it is at note, step 1 of 2."
    )
    model.answer = honest(outcome="ok")
    assert host.advance(run).status == "done"


def test_two_reports_in_one_message_are_both_refused(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    both = calling(("report_step", {"record": {"thing": "a"}}), ("report_step", {"record": {"thing": "b"}}))
    model = ScriptedModel(answer=in_turn(both, report(record={"thing": "c"}), report(outcome="ok")))
    host = agent(folder, model)
    run = host.start("plain")
    assert host.advance(run).status == "done"
    refused = [message for message in model.calls[1].messages if isinstance(message, ToolMessage)]
    assert [message.status for message in refused] == ["error", "error"]
    assert all("stands alone in a message" in message.text for message in refused)


def test_reports_of_one_message_that_run_side_by_side_are_noted_once(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    reports = [("report_step", {"record": {"thing": f"{number}"}}) for number in range(16)]
    model = ScriptedModel(answer=in_turn(calling(*reports), report(record={"thing": "c"}), report(outcome="ok")))
    host = agent(folder, model)
    run = host.start("plain")
    assert host.advance(run).status == "done"
    with host.activity() as activity:
        assert activity.count(run, kind="refused") == 1


def test_a_refused_report_says_what_is_wrong_by_its_name(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    model = ScriptedModel(
        answer=in_turn(
            report(record={"thng": "a"}), report(record={"thing": "a"}), report(outcome="again"), report(outcome="ok")
        )
    )
    host = agent(folder, model)
    assert host.advance(host.start("plain")).status == "done"
    told = [call.messages[-1].text for call in model.calls]
    assert "thng" in told[1]
    assert told[3].startswith("Refused (wrong-outcome)")


def test_a_hidden_tool_that_is_called_anyway_does_not_run(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "guarded", SOURCE)
    model = ScriptedModel(
        answer=in_turn(calling(("write", {"path": "out.txt", "text": "x"})), report(record={"seen": "y"}))
    )
    host = agent(folder, model, tools=[touch("out.txt", folder)])
    assert host.advance(host.start("guarded")).status == "done"
    assert model.calls[0].tool_names == ["abort", "todowrite", "todoread", "report_step"]
    assert "does not allow write" in model.calls[1].messages[-1].text
    assert not (folder / "out.txt").exists()


def test_a_policy_of_the_project_holds_in_a_session(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    (folder / "lockstep.policy.yaml").write_text(
        "tools:\n  shell(ls): {changes: {tests: 'result.exit == 0'}}\n  shell(true): {needs: [tests]}\n"
    )
    model = ScriptedModel(
        answer=in_turn(
            calling(("shell", {"command": "true"})),
            calling(("shell", {"command": "ls"})),
            calling(("shell", {"command": "true"})),
            report(record={"thing": "c"}),
            report(outcome="ok"),
        )
    )
    host = agent(folder, model, tools=None)
    assert host.advance(host.start("plain")).status == "done"
    told = [call.messages[-1].text for call in model.calls]
    assert told[1].startswith("Refused, nothing was done: look first")
    assert "ls" in told[1]
    assert "exit 0" in told[2]
    assert "exit 0" in told[3]


SOURCE = """from skills.lib.workflow.core import *
from skills.lib.workflow.requirements import *
from skills.lib.workflow.types import *

WORKFLOW = Workflow(
    "guarded", StepDef("look", "Look", "Look.", {Outcome.OK: None}, requires=[Field("seen")], tools=["read", "ask"])
)
register_workflow(WORKFLOW)
"""


def test_a_question_waits_in_the_ledger_and_the_answer_goes_there(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "asked", ASKED)
    model = ScriptedModel(answer=honest())
    host = agent(folder, model)
    run = host.start("asked")
    waiting = host.advance(run)
    assert (waiting.status, waiting.step) == ("waiting", "ask")
    assert (waiting.question, waiting.choices) == ("Go on?", ("yes", "no"))
    calls = len(model.calls)
    assert host.advance(run).status == "waiting"
    assert len(model.calls) == calls
    host.answer(run, "yes")
    assert host.advance(run).status == "done"


ASKED = """from skills.lib.workflow.core import *
from skills.lib.workflow.requirements import *
from skills.lib.workflow.types import *

WORKFLOW = Workflow(
    "asked",
    StepDef("look", "Look", "Look.", {Outcome.OK: "ask"}, requires=[Field("seen")]),
    StepDef(
        "ask",
        "Ask",
        "Ask.",
        {Outcome.OK: "close", Outcome.FAIL: None},
        person("Go on?", {"yes": Outcome.OK, "no": Outcome.FAIL}),
    ),
    StepDef("close", "Close", "Close.", {Outcome.OK: None}, requires=[Field("summary")]),
)
register_workflow(WORKFLOW)
"""


def test_the_budget_of_a_step_stops_the_session_and_not_the_run(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    model = ScriptedModel(answer=lambda messages, tools: report(record={}))
    host = agent(folder, model, max_iterations=4)
    run = host.start("plain")
    ended = host.advance(run)
    assert (ended.status, len(model.calls)) == ("stopped", 4)
    assert ended.reason == "4 model calls were made in this step, which is all that max_iterations allows."


def test_a_graph_that_leads_back_for_ever_stops_the_session(tmp_path: Path) -> None:
    """Sub-agents that never report are given up, and their step leads back to where they come from."""
    folder = project(tmp_path / "p", "brood")
    walks = honest({"targets": ["a"], "summary": "seen"})

    def answer(messages: list[BaseMessage], tools: list[dict[str, Any]]) -> Answer:
        run = messages[0].text.partition(' run="')[2].partition('"')[0]
        return calling(("todoread", {})) if "." in run else walks(messages, tools)

    model = ScriptedModel(answer=answer)
    host = agent(folder, model, max_iterations=2, max_model_calls=10)
    ended = host.advance(host.start("brood"))
    assert ended.reason == "10 model calls were made in this session, which is all that max_model_calls allows."
    own = [call for call in model.calls if f'run="{ended.run}"' in call.system]
    assert len(own) == 10


def test_importing_the_agent_loads_no_framework() -> None:
    frameworks = "('lang', 'openai', 'anthropic', 'pydantic', 'filelock')"
    code = f"import sys, skills.lib.agent.agent; print([name for name in sys.modules if name.startswith({frameworks})])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert out.stdout.strip() == "[]"


def test_a_policy_knows_the_agents_own_tools_by_the_names_that_steps_use(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    rules = [f"  {tool}: {{needs: [\"$path == 'yes.txt'\"]}}\n" for tool in ("read", "search", "write", "edit")]
    (folder / "lockstep.policy.yaml").write_text("tools:\n" + "".join(rules))
    calls = [
        ("read", {"path": "no.txt"}),
        ("search", {"path": "no.txt", "pattern": "x"}),
        ("write", {"path": "no.txt", "content": "x"}),
        ("edit", {"path": "no.txt", "old": "x", "new": "y"}),
    ]
    steps = [calling(call) for call in calls]
    model = ScriptedModel(answer=in_turn(*steps, report(record={"thing": "c"}), report(outcome="ok")))
    host = agent(folder, model, tools=None)
    assert host.advance(host.start("plain")).status == "done"
    told = [call.messages[-1].text for call in model.calls[1:5]]
    assert ["denied" in text for text in told] == [True] * 4, told

"""The scenarios and journeys of autonomous execution, each from what a person asks to what that person sees."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool, StructuredTool

from skills.lib.agent.agent import Agent
from skills.lib.agent.results import SessionResult
from skills.lib.agent.tools import of as tools_of
from skills.lib.agent.watching.activity import Activity, path_in
from skills.lib.commands.console.app import lockstep
from tests.agent.prose.skills import prose, reported
from tests.agent.scripted import ScriptedModel, calling, in_turn, report

ROWS = "".join(f"customer {number},Köln,{number * 3}\n" for number in range(1, 101))
CHECK = '"""Validates a CSV file: each line has as many fields as the first."""\nimport sys\n' + (
    "lines = open(sys.argv[1], encoding=sys.argv[2]).read().splitlines()\n"
    "assert len({line.count(',') for line in lines}) == 1\nprint(f'valid, {len(lines)} rows')\n"
)
PROCESSING = """# Data processor

1. Read the input file with its encoding.
2. Validate it with scripts/check.py.
3. Write a summary report.
"""


def _processor(folder: Path) -> Path:
    prose(folder, "data-processor", PROCESSING, "allowed-tools: Read, Write, Bash(python:*)\n")
    scripts = folder / "skills/data-processor/scripts"
    scripts.mkdir()
    (scripts / "check.py").write_text(CHECK, encoding="utf-8")
    (folder / "data.csv").write_bytes(ROWS.encode("latin-1"))
    return folder


def _processing() -> ScriptedModel:
    """A model that meets a wrong encoding, takes the one that the error names, and goes on."""
    check = "python skills/data-processor/scripts/check.py data.csv"
    todos = [{"content": "read", "status": "completed"}, {"content": "report", "status": "in_progress"}]
    return ScriptedModel(
        answer=in_turn(
            report(record={"objectives": ["data.csv is read and validated", "summary.txt has its rows and its sum"]}),
            calling(("read", {"path": "data.csv"}), text="I need to read the CSV file first."),
            calling(("read", {"path": "data.csv", "encoding": "latin-1"}), text="UTF-8 failed, trying latin-1."),
            calling(("shell", {"command": f"{check} utf-8"}), text="The data is loaded; now I validate it."),
            calling(("shell", {"command": f"{check} latin-1"}), text="The script needs the encoding too."),
            calling(("todowrite", {"todos": todos})),
            calling(("write", {"path": "summary.txt", "content": "100 rows, sum 15150\n"}), text="Writing the report."),
            report(
                record=reported("done:data.csv", "done:summary.txt", result="Processed 100 rows, generated summary.txt")
            ),
        )
    )


def _finished(folder: Path, model: ScriptedModel, skill: str, task: str, **options: Any) -> tuple[Agent, SessionResult]:
    host = Agent(str(folder), model, **options)
    return host, host.advance(host.start(skill, task))


@pytest.mark.req("A-17")
def test_a_business_user_gets_a_report_although_the_encoding_was_wrong(tmp_path: Path) -> None:
    """Scenario 1 and the first journey."""
    folder = _processor(tmp_path / "p")
    model = _processing()
    host, ended = _finished(folder, model, "data-processor", "Process data.csv and create a summary report")
    assert (ended.status, ended.result["result"]) == ("done", "Processed 100 rows, generated summary.txt")
    assert (folder / "summary.txt").read_text() == "100 rows, sum 15150\n"
    assert len(model.calls) == 8
    seen = [event.text for event in host.follow(ended.run, level="SUMMARY")]
    assert seen[-1].endswith("The run is done.")
    everything = "\n".join(seen)
    assert "without success" in everything  # that something was tried again is told, in plain words
    for word in ("Traceback", "UnicodeDecodeError", "Error", "utf-8", "read(", "shell("):
        assert word not in everything
    shares = [event.progress for event in host.follow(ended.run, level="SUMMARY")]
    assert shares == sorted(shares)
    assert shares[-1] == 100


@pytest.mark.req("A-17")
def test_supporting_files_are_in_a_model_call_only_after_they_were_read(tmp_path: Path) -> None:
    """Scenario 2: the sizes of the document."""
    folder = prose(tmp_path / "p", "api-integration", "# Api\n" + "Call the interface with care.\n" * 449)
    own = folder / "skills/api-integration"
    (own / "templates").mkdir()
    for name, count in (("reference.md", 1_200), ("examples.md", 800), ("templates/response.json", 300)):
        (own / name).write_text("".join(f"{name} line {at}\n" for at in range(count)), encoding="utf-8")
    read = "skills/api-integration/{}".format
    answers = [report(record={"objectives": ["the interface is called"]})]
    answers += [calling(("todoread", {})) for _ in range(2)]
    answers += [calling(("read", {"path": read("reference.md")}), text="I need the authentication format.")]
    answers += [calling(("todoread", {})) for _ in range(2)]
    answers += [calling(("read", {"path": read("examples.md")}), text="Let me see an example of error handling.")]
    answers += [report(record=reported("done:answer"))]
    model = ScriptedModel(answer=in_turn(*answers))
    _, ended = _finished(folder, model, "api-integration", "call it")
    assert ended.status == "done"
    given = ["\n".join(message.text for message in call.messages) for call in model.calls]
    assert ["reference.md line 7" in text for text in given] == [False] * 4 + [True] * 4
    assert ["examples.md line 7" in text for text in given] == [False] * 7 + [True]
    assert not any("response.json line 7" in text for text in given)
    assert all("response.json (300 lines)" in text for text in given)


@pytest.mark.req("A-17")
def test_a_developer_reads_why_each_thing_was_tried(tmp_path: Path) -> None:
    """The second journey: a program is missing, and the whole trace says what was done instead."""
    folder = prose(tmp_path / "p", "quality", "# Quality\n\nSuggest improvements of the code.\n")
    (folder / "src").mkdir()
    (folder / "src/main.py").write_text("# TODO: split\ndef main():\n    return 1\n", encoding="utf-8")
    model = ScriptedModel(
        answer=in_turn(
            report(record={"objectives": ["the code is judged"]}),
            calling(("search", {"glob": "**/*.py"}), text="I need to find the Python files."),
            calling(("search", {"pattern": "TODO|FIXME"}), text="Checking for common smells."),
            calling(("shell", {"command": "radon-of-nobody cc src/"}), text="Analyzing the complexity."),
            calling(("read", {"path": "src/main.py"}), text="Radon is missing, so I read the file."),
            report(record=reported("done:src/main.py", result="1 improvement: split main.")),
        )
    )
    host, ended = _finished(folder, model, "quality", "analyze the codebase")
    assert ended.status == "done"
    events = list(host.follow(ended.run, level="FULL"))
    thoughts = [event.text for event in events if event.kind == "thought"]
    assert thoughts == [
        "I need to find the Python files.",
        "Checking for common smells.",
        "Analyzing the complexity.",
        "Radon is missing, so I read the file.",
    ]
    calls = [event.text for event in events if event.kind == "call"]
    assert 'shell(command="radon-of-nobody cc src/")' in calls
    failed = [event for event in events if event.kind == "result" and event.data["ok"] is False]
    assert [event.data["text"].splitlines()[0] for event in failed] == ["there is no program radon-of-nobody on PATH"]


@pytest.mark.req("A-17")
def test_an_operator_sees_how_runs_go_and_hides_what_is_sensitive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third journey: figures of a skill, and a database whose results nobody reads."""
    folder = _processor(tmp_path / "p")
    (folder / "lockstep.toml").write_text(
        '[agent.visibility]\ndefault_visibility = "SUMMARY"\n'
        'sensitive_tools = [{ type = "DATABASE", visibility = "HIDDEN" }]\n\n'
        '[agent.tool_types]\nquery = ["DATABASE"]\n',
        encoding="utf-8",
    )
    monkeypatch.chdir(folder)
    _finished(folder, _processing(), "data-processor", "Process data.csv")
    prose(folder, "customers", "# Customers\n\nAsk the database.\n")

    def query(sql: str) -> str:
        return "Ada, 4111 rows of a secret table"

    database: BaseTool = StructuredTool.from_function(query, name="query", description="Ask the database.")
    asking = ScriptedModel(
        answer=in_turn(
            report(record={"objectives": ["it was asked"]}),
            calling(("query", {"sql": "select name from customers"})),
            report(record=reported("done:answer")),
        )
    )
    tools = [*tools_of(str(folder), os.path.join(folder, ".lockstep")), database]
    host, ended = _finished(folder, asking, "customers", "ask", tools=tools)
    assert ended.status == "done"
    with Activity(path_in(host.home)) as activity:
        noted = json.dumps([row.data for row in activity.rows(ended.run)])
    assert "secret table" not in noted
    assert "select name" not in noted
    shown = CliRunner().invoke(lockstep, ["stats", "--json"])
    assert shown.exit_code == 0, shown.output
    figures = json.dumps(json.loads(shown.output))
    assert "data-processor" in figures
    table = CliRunner().invoke(lockstep, ["stats", "--skill", "data-processor"]).output
    assert "100" in table


def test_a_conversation_goes_on_over_all_calls(tmp_path: Path) -> None:
    folder = _processor(tmp_path / "p")
    model = _processing()
    _finished(folder, model, "data-processor", "Process data.csv")
    counts = [sum(isinstance(one, AIMessage) for one in call.messages) for call in model.calls]
    assert counts == list(range(8))

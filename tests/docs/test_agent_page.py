"""The programs of docs/agent.md run as they stand on the page, with a model behind a wire of its provider."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agent.wires.protocols import Said
from tests.agent.wires.servers import Asked, Reply, Wire, serving
from tests.fixtures.skill import install

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "agent.md").read_text(encoding="utf-8")
SECONDS = 120
README = "# Cups\n\nIt counts cups of tea.\n"
LINE = "It counts cups of tea."


def programs(heading: str) -> list[tuple[str, str]]:
    """The programs of a section, each with what the page says that it prints."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```\n", section, re.DOTALL | re.MULTILINE)
    return [(code, printed) for code, printed in found]


def answer(asked: Asked) -> Reply:
    """What a model does that reads what it is offered: it works with the tools of the step, and then reports it."""
    offered = {tool["function"]["name"] for tool in asked.body["tools"]}
    last = asked.body["messages"][-1]
    is_result = last["role"] == "tool" and "Recorded." not in last["content"]
    if "read" in offered:
        call = ("report_step", {"record": {"line": LINE}}) if is_result else ("read", {"path": "README.md"})
    elif is_result:
        call = ("report_step", {"record": {"file": "SUMMARY.md"}})
    else:
        call = ("write", {"path": "SUMMARY.md", "content": LINE + "\n"})
    assert call[0] in offered
    return Said(calls=((f"call-{len(asked.body['messages'])}", call[0], json.dumps(call[1])),))


@pytest.fixture
def wire() -> Iterator[Wire]:
    with serving("openai", answer) as wire:
        yield wire


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with the skill of the page."""
    [source] = re.findall(r"^```python\n(from lockstep import .*?)^```\n", PAGE, re.DOTALL | re.MULTILINE)
    (tmp_path / ".git").mkdir()
    (tmp_path / "README.md").write_text(README, encoding="utf-8")
    script = install(tmp_path, "tidy", source)
    about = "---\nname: tidy\ndescription: Use it to sum a project up in one line.\n---\n\nRun the script.\n"
    (script.parent.parent / "SKILL.md").write_text(about, encoding="utf-8")
    return tmp_path


def run(folder: Path, words: list[str], wire: Wire) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    environment |= {"PYTHONPATH": str(ROOT), "OPENAI_BASE_URL": wire.url, "OPENAI_API_KEY": "sk-test"}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS
    )


CASES = [
    ("In a program", 0),
    ("In a program", 1),
    ("Tools", 0),
    ("In your own agent", 0),
    ("In a loop of your own", 0),
]
PROMPT = "A prompt of your own"


def test_every_program_of_the_page_is_run() -> None:
    counted: dict[str, int] = {}
    for heading, number in CASES:
        counted[heading] = max(counted.get(heading, 0), number + 1)
    assert {heading: len(programs(heading)) for heading in counted} == counted
    assert len(programs(PROMPT)) == 1
    assert PAGE.count("\n```python\n") == len(CASES) + 2


@pytest.mark.slow
@pytest.mark.parametrize("heading, number", CASES)
def test_a_program_prints_what_the_page_says(heading: str, number: int, folder: Path, wire: Wire) -> None:
    code, printed = programs(heading)[number]
    (folder / "program.py").write_text(code, encoding="utf-8")
    done = run(folder, ["program.py"], wire)
    assert (done.stdout, done.stderr) == (printed, "")
    assert (folder / "SUMMARY.md").read_text(encoding="utf-8") == LINE + "\n"


def test_a_prompt_is_what_the_page_says(folder: Path, wire: Wire) -> None:
    [(code, printed)] = programs(PROMPT)
    (folder / "program.py").write_text(code, encoding="utf-8")
    done = run(folder, ["program.py"], wire)
    assert (done.stdout, done.stderr) == (printed, "")


@pytest.mark.slow
def test_the_first_run_prints_what_the_page_says(folder: Path, wire: Wire) -> None:
    section = PAGE.partition("\n## First run\n")[2].partition("\n## ")[0]
    [line] = re.findall(r"^```sh\n(.*)\n```$", section, re.MULTILINE)
    [printed] = re.findall(r"^```text\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    done = run(folder, ["-m", "lockstep", *shlex.split(line)[1:], "--model", "openai:gpt-5.2"], wire)
    [found] = re.findall(r"^Run (\w{16})$", done.stderr, re.MULTILINE)
    assert (done.stdout + done.stderr).replace(found, "x2wjq2qpvgk6hjyz").replace(
        f"{sys.executable} -m lockstep", "lockstep"
    ) == printed
    assert done.returncode == 0


def test_the_middleware_takes_five_lines() -> None:
    [(code, _)] = programs("In your own agent")
    assert len([line for line in code.splitlines() if line and not re.match(r"from|import", line)]) == 5


def _of(page: str, heading: str) -> dict[str, str]:
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|", section, re.MULTILINE))


def test_the_settings_are_those_of_the_page() -> None:
    from skills.lib.agent import Settings, Switches

    fields: dict[str, Any] = Settings().fields()
    rows = _of(PAGE, "Settings")
    assert rows.keys() == fields.keys() | Switches().fields().keys()
    assert {name: rows[name] for name in fields} == {name: _as_told(value) for name, value in fields.items()}


def _as_told(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (int, float)):
        return f"{value:,}" if value else "none"
    return f"`{value}`" if isinstance(value, str) else "all on"


def test_the_tools_are_those_of_the_page(folder: Path) -> None:
    from skills.lib.agent.tools import essential_tools, project_tools

    section = PAGE.partition("\n## Tools\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| ((?:`[^`]*` ?)*)\|", section, re.MULTILINE)
    told = {name: re.findall(r"\w+", words) for names, words in rows for name in re.findall(r"\w+", names)}
    made = [*project_tools(str(folder)), *essential_tools(str(folder / ".lockstep"), "run")]
    assert sorted(told) == sorted(tool.name for tool in made)
    for tool in made:
        assert set(tool.parameters) == (set(told[tool.name]) if tool.name != "todoread" else set())

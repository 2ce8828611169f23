"""docs/prose-skills.md says what is: its settings, its two forms of a skill, and what its first command prints."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from skills.lib.agent.prose import skill
from skills.lib.agent.prose.settable import SETTABLE
from tests.agent.wires.protocols import Said
from tests.agent.wires.servers import Asked, Reply, serving

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "prose-skills.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


@pytest.mark.req("A-06.5")
def test_the_two_forms_of_a_moved_skill_are_read_as_the_page_says(tmp_path: Path) -> None:
    before, after = re.findall(r"^```markdown\n(.*?)^```$", section("Moving a skill"), re.DOTALL | re.MULTILINE)
    loaded = []
    for name, text in (("before", before), ("after", after)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "SKILL.md").write_text(text, encoding="utf-8")
        (folder / "encodings.md").write_text("utf-8, latin-1\n", encoding="utf-8")
        loaded.append(skill.load(folder))
    first, second = loaded
    assert first.settings == {"max_iterations": 20, "execution_mode": "simple"}
    assert second.settings == {"max_iterations": 20}
    assert first.tools == second.tools == ("shell(python)", "read", "write")
    assert [note.partition(":")[0] for note in first.notes] == ["max_iterations, execution_mode", "hooks"]
    assert second.notes == ()
    assert [file.about for file in second.files] == ["what encodings it takes"]


def test_the_settings_are_those_of_the_page() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", section("Settings"), re.MULTILINE)
    assert sorted(rows) == sorted([*SETTABLE, "context", "agent", "model"])


@pytest.mark.slow
def test_the_first_command_prints_what_the_page_says(tmp_path: Path) -> None:
    [line] = re.findall(r"^```sh\n(lockstep agent run .*?)\s+#.*\n```$", PAGE, re.MULTILINE)
    printed = re.findall(r"^```text\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[0]
    (tmp_path / ".git").mkdir()
    (tmp_path / "README.md").write_text("# Cups\n\nIt counts cups of tea.\n", encoding="utf-8")
    folder = tmp_path / ".claude" / "skills" / "notes"
    folder.mkdir(parents=True)
    about = "---\nname: notes\ndescription: Use it to note what a project is.\n---\n\nRead README.md, and say it.\n"
    (folder / "SKILL.md").write_text(about, encoding="utf-8")
    with serving("openai", answer) as wire:
        environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        environment |= {"PYTHONPATH": str(ROOT), "OPENAI_BASE_URL": wire.url, "OPENAI_API_KEY": "sk-test"}
        done = subprocess.run(
            [sys.executable, "-m", *shlex.split(line), "--model", "openai:gpt-5.2"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert (done.returncode, done.stdout) == (0, printed), done.stderr


def answer(asked: Asked) -> Reply:
    """What a model does that reads what it is offered."""
    last = asked.body["messages"][-1]
    call: tuple[str, dict[str, Any]]
    if "Recorded" not in str(last["content"]) and last["role"] != "tool":
        call = ("report_step", {"record": {"objectives": ["The answer says what the project is for"]}})
    elif "Recorded" in str(last["content"]):
        call = ("read", {"path": "README.md"})
    else:
        done = {"number": 1, "status": "done", "place": "README.md", "note": "its second line says it"}
        call = ("report_step", {"record": {"result": "It counts cups of tea.", "objectives": [done]}})
    return Said(calls=((f"call-{len(asked.body['messages'])}", call[0], json.dumps(call[1])),))

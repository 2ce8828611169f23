"""The program of docs/plans.md runs as it stands on the page, and its plan is the one that a person is shown."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from skills.lib.agent.planning import cases
from skills.lib.runtime import plans
from tests.agent.planning.plan_runs import LINE, PLAN, honest, project

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "plans.md").read_text(encoding="utf-8")


def test_the_program_plans_executes_and_keeps_what_a_person_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_DATA", str(tmp_path / "data"))
    folder = project(tmp_path / "p")
    monkeypatch.chdir(folder)
    monkeypatch.setattr("builtins.input", lambda question: "approve")
    monkeypatch.setattr("skills.lib.agent.models.chat_models.chat_model", lambda *given, **named: honest())
    monkeypatch.setattr(
        "skills.lib.agent.models.model_choice.chat_model", lambda *given, **named: honest(), raising=False
    )
    [(code, printed)] = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```\n", PAGE, re.DOTALL | re.MULTILINE)
    out = io.StringIO()
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(out):
        exec(compile(code, "docs/plans.md", "exec"), names)
    assert out.getvalue() == printed
    assert (folder / "SUMMARY.md").read_text() == f"{LINE}\n"
    assert "(done): shorter, please" in cases.read(str(folder), "books")


def test_the_plan_of_the_page_is_what_a_person_is_shown() -> None:
    assert "\n".join(plans.shown(PLAN).splitlines()[:5]) in PAGE


def test_each_part_of_a_step_is_on_the_page() -> None:
    steps = plans.SCHEMA["properties"]["steps"]["items"]["properties"]
    section = PAGE.partition("## A step\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(steps)

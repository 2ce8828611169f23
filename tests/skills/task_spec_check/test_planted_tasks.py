"""The planted tasks of cases.yaml, judged through the printed commands: no false PASS, and none that is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.skills.follower import SKILLS
from tests.skills.task_spec_check.planted import CASES, Ended, walk

RESOURCES = SKILLS / "task-spec-check" / "resources"


@pytest.mark.slow
@pytest.mark.req("L-03")
@pytest.mark.parametrize("name", CASES)
def test_a_planted_task_gets_the_verdict_that_it_deserves(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)
    case = CASES[name]
    ended = walk(case, tmp_path)
    assert case.get("refused", "") in "\n".join(ended.refused)
    if "stuck" in case:
        assert ended.written("phase-report.json") is None
        return
    assert_artifacts(ended)
    found = ended.written("evidence.json")
    outcome = case.get("expect", "FAIL")
    assert (found["outcome"], ended.written("phase-report.json")["outcome"]) == (
        outcome,
        {"PASS": "passed", "FAIL": "failed"}[outcome],
    ), json.dumps(found, indent=1)
    verdicts = {one["id"]: one["verdict"] for one in found["criteria"]}
    wanted = case.get("verdicts") or dict.fromkeys(verdicts, "PASS")
    assert verdicts == wanted, json.dumps(found["criteria"], indent=1)
    forbidden = case.get("forbidden", [])
    assert found["files"]["verdict"] == case.get("files_verdict", "FAIL" if forbidden else "PASS"), found["files"]
    assert all(any(one in finding for finding in found["files"]["findings"]) for one in forbidden), found["files"]


def assert_artifacts(ended: Ended) -> None:
    """Every file that was written meets its schema, and feedback is there exactly if the task failed."""
    report, found = ended.written("phase-report.json"), ended.written("evidence.json")
    for name, value in (("phase-report", report), ("verdict", found)):
        jsonschema.validate(value, json.loads((RESOURCES / f"{name}.schema.json").read_text(encoding="utf-8")))
    feedback = ended.project / ".lockstep-task/T1/task-feedback.md"
    assert feedback.exists() == (report["outcome"] == "failed")
    if feedback.exists():
        text = feedback.read_text(encoding="utf-8")
        missed: list[dict[str, Any]] = [one for one in found["criteria"] if one["verdict"] != "PASS"]
        assert all(f"- {one['id']} {one['verdict']}: {one['text']}" in text for one in missed)
        assert all(" ".join(why.split()) in text for one in missed for why in one["findings"])


def test_there_are_sixty_cases_and_each_kind_is_among_them() -> None:
    assert len(CASES) >= 60
    assert {name.partition(":")[0] for name in CASES} == {"honest", "lazy", "files"}

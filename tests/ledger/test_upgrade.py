"""A ledger of each older format is upgraded in place, and its runs go on, are shown and are traced as before."""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from skills.lib import paths
from skills.lib.ledger import Ledger, verification
from skills.lib.ledger.database import VERSION
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock
from skills.lib.testing.follower import show_again
from tests.fixtures.ledgers import build

LEDGERS = Path(build.__file__).parent
FORMATS = sorted(folder.name for folder in LEDGERS.glob("v*"))
RUNS = [
    (version, entry["kind"])
    for version in FORMATS
    for entry in json.loads((LEDGERS / version / "runs.json").read_text(encoding="utf-8"))
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the skills that the ledgers were made with, and what their evidence needs."""
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)
    folder = tmp_path / "shop"
    folder.mkdir()
    build.install_skills(folder)
    (folder / "out.txt").write_text("out", encoding="utf-8")
    (folder / ".lockstep").mkdir()
    return folder


def restore(version: str, project: Path) -> dict[str, dict[str, str]]:
    content = gzip.decompress((LEDGERS / version / "runs.db.gz").read_bytes())
    (project / ".lockstep" / "runs.db").write_bytes(content)
    shutil.copyfile(LEDGERS / version / "runs.json", project / "runs.json")
    return {entry["kind"]: entry for entry in json.loads((project / "runs.json").read_text(encoding="utf-8"))}


def test_there_is_a_ledger_of_every_older_format() -> None:
    assert [f"v{number}" for number in range(1, VERSION)] == FORMATS


@pytest.mark.parametrize("version", FORMATS)
def test_an_older_ledger_is_upgraded_in_place_and_stays_whole(version: str, project: Path) -> None:
    runs = restore(version, project)
    ledger = Ledger(paths.home(str(project)), create=False)
    try:
        verification.verify(ledger)
        for entry in runs.values():
            [run] = ledger.runs([entry["run"]])
            assert (run.workflow, run.status, run.step or "") == (entry["skill"], entry["status"], entry["step"])
            assert ledger.events(run.id)[0].kind == "opened"
    finally:
        ledger.close()
    plain = sqlite3.connect(project / ".lockstep" / "runs.db")
    assert plain.execute("PRAGMA user_version").fetchone() == (VERSION,)
    plain.close()


def go_on(agent: Agent, block: PrintedBlock) -> PrintedBlock:
    """Do honestly what the block asks, sub-agents included, and go on."""
    while left := [child for child in block.children if child.command]:
        for child in left:
            found = build.named(agent.run_command(child.command))  # what a reviewer is to verify again
            passes = {**build.FAILS, "status": "PASS", "finding": "it holds now"}
            agent.given["task.items"] = [{**passes, "id": name} for name in found] or None
            agent.finish(child.command)
        block = agent.run_command(show_again(block))
    if block.kind == "waiting":
        question = block.root.find("QUESTION")
        assert question is not None
        choice = next(iter((question.get("choices") or "yes").split("|")))
        if question.get("by") == "person":
            return agent.answer(block, choice, "it was looked at")
        return agent.follow(block, answer=choice)
    values = {"summary": "s", "mode": "quick", "confidence": "high", "report": "r", "thing": "t", "outcome": "ok"}
    fixes = [f"{name} | changed | it was mended" for name in build.named(block)]
    lists = {"targets": ["north"], "areas": ["one"], "questions": ["which?"], "fixes": fixes}
    return agent.follow(block, file="out.txt", **values, **lists)


@pytest.mark.parametrize("version, kind", RUNS)
def test_a_run_of_an_older_ledger_is_resumed_and_ends(version: str, kind: str, project: Path) -> None:
    entry = restore(version, project)[kind]
    agent = build.agent(entry["skill"], project)
    current = f"python {agent.script} --step current --run {entry['run']} --project {project}"
    block = agent.run_command(current)
    assert (block.exit_code, block.run) == (0, entry["run"]), block.text + block.errors
    for _ in range(20):
        if block.kind == "done":
            break
        assert block.exit_code == 0, block.text + block.errors
        block = go_on(agent, block)
    assert block.kind == "done", block.text
    ledger = Ledger(paths.home(str(project)), create=False)
    verification.verify(ledger)
    ledger.close()

"""Runs of task-spec-check themselves: what its blocks print and its record keeps is read as the engine's verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.commands.queries.transcripts import HostTerms
from skills.lib.layers.replaying import counting, verdicts
from skills.lib.layers.replaying.reading import Transcript
from skills.lib.layers.replaying.tasks import Task
from tests.commands.conftest import Command
from tests.layers.replaying.rendering import claude
from tests.skills.follower import Follower
from tests.skills.task_spec_check.planted import SCRIPT, evidence, planted

pytestmark = [pytest.mark.req("L-07"), pytest.mark.slow]


def test_what_the_engine_judged_is_shown(cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)
    project = planted({}, tmp_path, "judged")
    agent = Follower(SCRIPT, project)
    block = agent.begin()
    given = {"C1": ["test"], "C2": "INCONCLUSIVE: nobody can tell"}
    after = agent.follow(block, {"evidence": evidence({}, given, block.turn)})
    assert verdicts.checked_in(after.text) == {"1": "PASS", "2": "INCONCLUSIVE", "": "FAIL"}

    said = {"say": "C1: PASS\nC2: PASS - src/cart.py:1\nVerdict: FAIL"}
    step = {"shell": {"command": "python3 task_spec_check.py --step next --run k3", "output": after.text}}
    session = tmp_path / "session.jsonl"
    session.write_text(claude([step, said]), encoding="utf-8")
    found = counting.count(Transcript(str(session), HostTerms()).events(), Task(), HostTerms())
    assert [one.what for one in found.findings] == ["criterion 2 is PASS, and the engine found INCONCLUSIVE"]

    trace = tmp_path / "trace.json"
    trace.write_text(cli("trace", block.run, "--json", "--project", str(project)).out, encoding="utf-8")
    found = counting.count(Transcript(str(trace), HostTerms()).events(), Task(), HostTerms())
    assert found.judged == {"1", "2"}
    assert not found.findings

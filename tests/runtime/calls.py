"""What several tests of runs do: serve a call, leave a step with a report, review, verify the ledger."""

from __future__ import annotations

import json

from skills.lib import paths
from skills.lib.ledger import Ledger, verification
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock
from skills.lib.testing.follower import InProcess

OPEN_ENDED = 'StepDef("last", "Last", "Stop.", {Outcome.OK: None})'
LOOP = (
    'StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"}), '
    '*review_loop("d", work="work", passed="last", gate_actions="Go.", bound={bound}), ' + OPEN_ENDED
)


def serve(agent: Agent, *arguments: str) -> PrintedBlock:
    assert isinstance(agent.call, InProcess)
    return agent.call.serve(agent.script, ["--project", str(agent.project), *arguments])


def leave(agent: Agent, block: PrintedBlock, to: str, **records: object) -> PrintedBlock:
    """Leave the block's step with these records, given in a file."""
    agent.write("report.json", json.dumps(records))
    file = str(agent.project / "report.json")
    return serve(agent, "--step", to, "--run", block.run, "--turn", str(block.turn), "--record-file", file)


def verify(agent: Agent) -> None:
    with Ledger(paths.home(str(agent.project)), create=False) as ledger:
        verification.verify(ledger)


def item(name: str, status: str, check: str = "it holds") -> dict[str, str]:
    finding = "it holds now" if status == "PASS" else "it does not"
    return {"id": name, "scope": "", "check": check, "severity": "MUST", "status": status, "finding": finding}


def review(agent: Agent, block: PrintedBlock, *reports: list[dict[str, str]]) -> PrintedBlock:
    """Report these items, reviewer by reviewer, and go on to the gate's decision."""
    last = block
    for child, items in zip(block.children, reports, strict=True):
        last = leave(agent, agent.run_command(child.command), "done", items=items)
        assert last.kind == "done", last.text
    return agent.follow(agent.run_command(last.next))

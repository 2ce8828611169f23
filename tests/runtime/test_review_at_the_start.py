"""A run may begin with a review: the files that its reviewers are handed are kept with the opening."""

from __future__ import annotations

from pathlib import Path

from skills.lib.testing.agent import Agent
from tests.fixtures.skill import install, source_of
from tests.runtime.calls import verify

STEPS = """
StepDef("look", "Look", "Look.", {Outcome.OK: "last", Outcome.FAIL: "mend"},
        Dispatch("quality-reviewer", task="Review it.", covers=["out.txt"])),
StepDef("mend", "Mend", "Mend.", {Outcome.OK: "look"}),
StepDef("last", "Last", "Stop.", {Outcome.OK: None}),
"""


def test_the_files_of_a_review_with_which_a_run_begins_are_kept(tmp_path: Path, project: Path) -> None:
    agent = Agent(install(tmp_path, "begins", source_of("begins", STEPS)), project)
    agent.write("out.txt", "x\n")
    block = agent.open()
    verify(agent)
    last = agent.finish(block.children[0].command)
    assert agent.run_command(last.next).step == "last"
    verify(agent)

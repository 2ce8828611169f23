"""Every pattern of the workflow package's README is walked, every transition of it, through the printed commands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from skills.lib.runtime import loading
from skills.lib.testing import any_of, every_walk
from skills.lib.testing.transitions import check_walk
from skills.lib.testing.walks import Walk
from skills.lib.workflow.types import Outcome

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "skills" / "lib" / "workflow" / "README.md").read_text(encoding="utf-8")
EXAMPLES = {
    name: code
    for code in re.findall(r"```python\n(.*?)```\n", PAGE, re.DOTALL)
    for name in re.findall(r'Workflow\(\n    "([a-z-]+)",', code)
}
ENTRY = (ROOT / "skills" / "problem-analysis" / "scripts" / "problem_analysis.py").read_text(encoding="utf-8")
WALKS = {
    "line": 1,
    "confidence": 2,
    "modes": 2,
    "reported": 2,
    "chores": 3,
    "approval": 2,
    "one-agent": 1,
    "template": 1,
    "measure": 1,
    "distinct": 1,
    "waves": 3,
    "two-steps": 2,
    "one-step": 2,
    "reviewer": 1,
    "covered": 2,
    "evidence": 1,
}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A skill with each example as a workflow module beside its entry script."""
    folder = tmp_path_factory.mktemp("patterns") / "skills" / "patterns" / "scripts"
    folder.mkdir(parents=True)
    for name, code in EXAMPLES.items():
        module = code.replace("from show import show\n", "").replace("show(WORKFLOW)\n", "")
        (folder / f"{name}_workflow.py").write_text(module, encoding="utf-8")
        (folder / f"{name}.py").write_text(ENTRY.replace("problem_analysis", name), encoding="utf-8")
    return folder


def test_the_examples_are_these() -> None:
    assert list(EXAMPLES) == list(WALKS)


def parameters(walk: Walk) -> dict[str, Any]:
    """What is reported so that the run can take the walk."""
    quick = any(leg.outcome is Outcome.SKIP for leg in walk.legs)
    return {"mode": "quick" if quick else "full", "topics": any_of(["a"], list("abcde"), [])}


@pytest.mark.req("W-03", "W-04", "W-10", "W-23")
@pytest.mark.parametrize("name", WALKS)
def test_every_transition_of_the_pattern_is_taken(
    name: str, scripts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOCKSTEP_HOME")
    script = scripts / f"{name}.py"
    walks = every_walk(loading.workflow_of_script(str(script)))
    taken: set[tuple[str, str | None]] = set()
    for at, walk in enumerate(walks):
        project = tmp_path / str(at)
        (project / "src").mkdir(parents=True)
        (project / "src" / "queue.py").write_text("limit = 5\n", encoding="utf-8")  # what a review covers
        agent = check_walk(script, walk, project, values=parameters(walk), files={"path": '{"cause": "a race"}'})
        taken.update((one.step, one.target) for one in agent.taken(agent.blocks[0].run))
    graph = loading.workflow_of_script(str(script))
    assert len(walks) == WALKS[name]
    assert taken == {(step.id, target) for step in graph.steps for target in step.next.values()}

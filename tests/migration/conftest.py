"""Sources of legacy skills, and the Workflow that becomes of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from skills.lib.migration import Refusal, Unprovable, migrate
from skills.lib.runtime import loading
from skills.lib.workflow.core import Workflow

Migrated = Callable[..., Workflow]
Refused = Callable[..., list[Refusal]]

HEAD = """\
import argparse
import sys
from shared import *

STEPS = {
    1: {"title": "Look", "actions": ["Look around."]},
    2: {"title": "Work", "actions": ["Work on it."]},
    3: {"title": "Tell", "actions": ["Tell the user."]},
}
"""
MAIN = """

@skill(name="legacy", total_steps=3)
def main(step: int = None, total_steps: int = None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--step", type=int)
    parser.add_argument("--total-steps", type=int)
    parser.add_argument("--mode", choices=["quick", "full"], required=True)
    parser.add_argument("--level", choices=["low", "high"], help="how sure")
    parser.add_argument("--target")
    parser.add_argument("--count", type=int, default=1)
    args = parser.parse_args()
    info = STEPS[step]
    onward = step + 1
"""
END = """
    command = ["python3", __file__, "--step", str(onward)] if onward <= total_steps else None
    routing = TerminalRouting() if command is None else None
    print(format_step_output(step, total_steps, info["title"], info["actions"], routing, next_command=command))


if __name__ == "__main__":
    main()
"""


def source(body: str = "", module: str = "", end: str = END) -> str:
    """A legacy skill of three steps, with lines of its main function or of the module added."""
    inside = "".join(f"    {line}\n" for line in body.splitlines())
    return HEAD + module + MAIN + inside + end


@pytest.fixture
def migrated(tmp_path: Path) -> Migrated:
    """Migrate a source, write it as a skill and load its Workflow, which validates it."""

    def register(text: str, **more: object) -> Workflow:
        made = migrate(text, "legacy", **more)  # type: ignore[arg-type]
        scripts = tmp_path / made.name / "scripts"
        scripts.mkdir(parents=True)
        (scripts / "legacy_workflow.py").write_text(made.workflow, encoding="utf-8")
        (scripts / "legacy_prompts.md").write_text(made.prompts, encoding="utf-8")
        return loading.load_workflow(str(scripts / "legacy_workflow.py"))

    return register


@pytest.fixture
def refused() -> Refused:
    """Everything that is refused of a source."""

    def refuse(text: str, bounds: Mapping[str, int] | None = None) -> list[Refusal]:
        with pytest.raises(Unprovable) as caught:
            migrate(text, "legacy", bounds=bounds)
        return list(caught.value.refusals)

    return refuse

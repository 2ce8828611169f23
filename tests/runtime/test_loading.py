"""A module that cannot be loaded is reported with the wrong line, and with the nearest valid name if there is one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures.skill import HEAD, install

LINE = HEAD.count("\n") + 1


def told(folder: Path, source: str) -> str:
    """What the entry script of such a module prints; it ends as a broken skill does, with no word on its output."""
    script = install(folder, "bad", HEAD + source)
    (script.parent / "bad_prompts.md").write_text("## close\nDo.\n", encoding="utf-8")
    done = subprocess.run([sys.executable, str(script), "--step", "1"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (5, "")
    return done.stderr.replace(str(script.parent), "SCRIPTS")


@pytest.mark.parametrize(
    "source, expected",
    [
        (
            "StepDef('one', require=[])",
            f"lockstep: SCRIPTS/bad_workflow.py:{LINE}: StepDef has no parameter 'require'; did you mean requires?\n"
            "  valid: id, title, actions, next, handler, needs, requires, when, repeat, forbidden, max_iterations, "
            "at_limit, outcomes, tools, allow, fresh, model, automatic\n"
            "  try:   write requires\n",
        ),
        (
            "from skills.lib.prompts import read_prompts; read_prompts(__file__)['clos']",
            f"lockstep: SCRIPTS/bad_workflow.py:{LINE}: bad_prompts.md has no section 'clos'; did you mean 'close'?\n"
            "  valid: close\n"
            "  try:   write 'close', or add a line `## clos` to it and the text under that\n",
        ),
        (
            "raise RuntimeError('torn')",
            f"lockstep: SCRIPTS/bad_workflow.py:{LINE}: RuntimeError: torn\n"
            "  try:   fix the module; runs are untouched\n",
        ),
    ],
    ids=["a parameter", "a section", "an error of its own"],
)
def test_a_module_that_cannot_be_loaded_is_reported(tmp_path: Path, source: str, expected: str) -> None:
    assert told(tmp_path, source + "\n") == expected


def test_an_invalid_graph_is_reported_by_its_findings_alone(tmp_path: Path) -> None:
    printed = told(tmp_path, "register_workflow(Workflow('bad', StepDef('one', 'One', 'Do.', {'ok': 'tow'})))\n")
    assert printed.startswith("lockstep: the workflow bad has ")
    assert "one -ok-> tow: there is no step 'tow'" in printed


def test_a_graph_with_nearly_the_right_name_is_named(tmp_path: Path) -> None:
    script = install(tmp_path, "bad", HEAD)
    script.with_name("bad_workflow.py").unlink()
    (script.parents[1] / "workflow.yml").write_text("name: bad\n", encoding="utf-8")
    done = subprocess.run([sys.executable, str(script), "--step", "1"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 5
    assert done.stderr == (
        f"lockstep: {script.parent}/bad_workflow.py is missing\n"
        f"  try:   rename workflow.yml to workflow.yaml, in {script.parents[1]}\n"
    )

"""The skills ship their seals, so that a clone runs on any Python 3.11 without a library installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skills.lib.runtime import loading
from skills.lib.validation import registration

ROOT = Path(__file__).parents[2]
MODULES = sorted(ROOT.glob("skills/*/scripts/**/*_workflow.[pj]*"))


@pytest.mark.req("W-02")
@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_the_seal_beside_the_graph_is_good(module: Path) -> None:
    workflow = loading.load_workflow(str(module))
    shipped = Path(registration.beside(workflow, str(module)))
    assert shipped.is_file(), f"{shipped.name} is missing: run `make seals`"
    assert shipped.read_text() == registration.text(workflow), f"{shipped.name} is stale: run `make seals`"


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_a_step_prints_without_any_library(module: Path, tmp_path: Path) -> None:
    """``-S`` leaves site-packages out, and an empty cache holds no other seal."""
    entry = module.with_name(module.stem.replace("_workflow", "") + ".py")
    command = [sys.executable, "-S", str(entry), "--step", "1", "--stateless", "--project", str(tmp_path)]
    environment = {"PATH": "", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("<step ")

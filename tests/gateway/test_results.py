"""How a command of the gateway ended is kept for the hook, which reads it once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skills.lib import gateway_results
from tests.fixtures.skill import ROOT
from tests.gateway.conftest import Setup

pytestmark = pytest.mark.req("P-07")


@pytest.mark.parametrize("code", [0, 3])
def test_the_exit_code_of_a_command_is_kept_for_its_command_line(setup: Setup, code: int) -> None:
    (setup.project / "scripts" / "stop.py").write_text(f"raise SystemExit({code})\n", encoding="utf-8")
    words = ["gateway", "run", "python_run", "script=scripts/stop.py"]
    done = subprocess.run([sys.executable, str(ROOT / "skills" / "__main__.py"), *words], timeout=60)
    assert done.returncode == (1 if code else 0)
    assert gateway_results.take([*words, "--json"], str(setup.project)) is None
    assert gateway_results.take(words, str(setup.around)) is None
    assert gateway_results.take(words, str(setup.project)) == code
    assert gateway_results.take(words, str(setup.project)) is None


def test_a_command_at_its_time_limit_has_no_exit_code(setup: Setup) -> None:
    gateway_results.keep(["x"], str(setup.project), None)
    assert gateway_results.take(["x"], str(setup.project)) is None


def test_a_result_that_is_old_or_not_signed_is_none(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    project = str(setup.project)

    def change(words: list[str], old: str, new: str) -> None:
        before = set(os.listdir(gateway_results.folder())) if os.path.isdir(gateway_results.folder()) else set()
        gateway_results.keep(words, project, 1)
        [name] = set(os.listdir(gateway_results.folder())) - before
        path = Path(gateway_results.folder()) / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    change(["a"], '"exit":1', '"exit":0')
    assert gateway_results.take(["a"], project) is None
    change(["b"], "{", "[")
    assert gateway_results.take(["b"], project) is None
    gateway_results.keep(["c"], project, 0)
    later = time.time() + gateway_results.FORGOTTEN + 1
    monkeypatch.setattr(time, "time", lambda: later)
    assert gateway_results.take(["c"], project) is None

"""Lockstep's state folder for tests of the hook."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def state_of_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps that tests run keep what is the user's where the hook of a Host looks for it."""
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))

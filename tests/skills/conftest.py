"""The skills' own checks run in a Python that is already started; what a real shell runs starts its own."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace

import pytest

from skills.lib.ledger import command
from tests.fixtures import warm_python


@pytest.fixture(autouse=True)
def warm_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts that a step runs as its evidence run in the warm Python."""
    monkeypatch.setattr(command, "subprocess", SimpleNamespace(**{**vars(subprocess), "Popen": warm_python.start}))

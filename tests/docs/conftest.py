"""The documents of this tree, and the modules that keep them true."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def generate() -> Any:
    """docs/generate.py."""
    return _module("generate")


@pytest.fixture(scope="session")
def transcript() -> Any:
    """docs/transcript.py."""
    return _module("transcript")


@pytest.fixture(scope="session")
def recording() -> Any:
    """docs/recording.py."""
    return _module("recording")


def _module(name: str) -> Any:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT / "docs"))

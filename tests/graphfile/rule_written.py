"""A pytest plugin: the stories of tests/skills walk copies of the skills, in the folder that the environment names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.extent import EXHAUSTIVE
from tests.skills import follower

COPIES = "TEST_COPIES_OF_SKILLS"


def pytest_configure() -> None:
    """Have the modules of the stories, which are imported later, find the copies."""
    follower.SKILLS = Path(os.environ[COPIES])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave what walks a skill, and of a test with several cases the first; all of them with LOCKSTEP_EXHAUSTIVE=1.

    No test of a skill's checks alone depends on the form of its graph.
    """
    walks = [item for item in items if "agent" in getattr(item, "fixturenames", ())]
    first = {item.nodeid.partition("[")[0]: item for item in reversed(walks)}
    items[:] = walks if EXHAUSTIVE else [item for item in walks if item in first.values()]

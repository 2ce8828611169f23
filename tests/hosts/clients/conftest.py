"""A room for a client, a skill with guarded steps in it, and the session that a test plays."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fixtures import skill
from tests.hosts.clients import clients
from tests.hosts.clients.clients import Client, Room
from tests.hosts.clients.stage import Stage

if TYPE_CHECKING:
    pass

SKILL_MD = """---
name: guarded
description: Looks at one thing with few tools and writes down what it saw. Use when a test asks for a guarded look.
license: MIT
---

# Guarded

## Run this now

SKILL_DIR stands for the absolute path of the folder that holds this SKILL.md; put it in.

```
python3 "SKILL_DIR/scripts/guarded.py" --step 1
```
"""
ENTRY = """import os
import sys

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)

from skills.bootstrap import main

main(__file__)
"""


@pytest.fixture
def room(tmp_path: Path) -> Room:
    """A home and a project that are new."""
    room = Room(tmp_path / "home", tmp_path / "project")
    for folder in (room.home / "tmp", room.project):
        folder.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", str(room.project)], check=True, env=clients.common_environment(room))
    return room


@pytest.fixture(params=clients.ALL, ids=lambda client: client.name)
def stage(request: pytest.FixtureRequest, room: Room, guarded: Path) -> Stage:
    """A client that knows the skills guarded and problem-analysis and calls the hook."""
    client: Client = request.param
    if missing := clients.why_not(client):
        pytest.skip(f"{client.name}: {missing}")
    lockstep(
        room,
        "install",
        client.host,
        "--scope",
        "project",
        "--skill",
        "problem-analysis",
        "--project",
        str(room.project),
    )
    shutil.copytree(guarded, room.project / ".agents" / "skills" / "guarded")
    return Stage(client, room)


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The skill guarded, made self-contained."""
    author = tmp_path_factory.mktemp("author")
    folder = author / "skills" / "guarded"
    skill.install(author, "guarded", (Path(__file__).parent / "guarded_workflow.py").read_text(encoding="utf-8"))
    (folder / "SKILL.md").write_text(SKILL_MD, encoding="utf-8")
    (folder / "scripts" / "guarded.py").write_text(ENTRY, encoding="utf-8")
    room = Room(author, author)
    lockstep(room, "export", "guarded", "--to", str(author / "made"), "--project", str(author))
    return author / "made" / "guarded"


def lockstep(room: Room, *arguments: str) -> str:
    """Run the command as the room's user."""
    done = subprocess.run(
        [sys.executable, "-m", "skills", *arguments],
        cwd=clients.ROOT,
        env=clients.common_environment(room),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout

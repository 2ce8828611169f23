"""Which transitions the tests of a tree take: what pytest collects there, and runs none of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec

from skills.lib.commands.queries import skills
from skills.lib.skillfile.discovery import SKIPPED
from skills.lib.testing import collected

# A test file that takes walks has one of these words.
WORDS = (b"every_transition", b"every_walk")
SECONDS = 300
FILE_LIMIT = 1_000_000


@dataclass(frozen=True)
class Coverage:
    """The routes that tests take, by the real path of the entry script: pairs of step and outcome.

    ``problem`` says why some or all of them are not known; empty if they are.
    """

    routes: Mapping[str, frozenset[tuple[str, str]]] = field(default_factory=dict)
    problem: str = ""


def take(root: str) -> Coverage:
    """Have pytest collect the test files under ``root`` that take walks; report those that it cannot collect."""
    files = list(_files(root))
    if not files:
        return Coverage()
    if find_spec("pytest") is None:
        return Coverage(problem="pytest is not installed: which transitions are tested is not known")
    with tempfile.TemporaryDirectory(prefix="lockstep-status-") as folder:
        report = os.path.join(folder, "collected.json")
        words = ["-q", "--collect-only", "-p", "no:cacheprovider", "-p", collected.__name__]
        try:
            done = subprocess.run(
                [sys.executable, "-m", "pytest", *words, *files],
                cwd=root,
                env={**os.environ, "PYTHONPATH": _path(), "PYTHONDONTWRITEBYTECODE": "1", collected.VARIABLE: report},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Coverage(problem=f"pytest did not collect the tests within {SECONDS} s: pytest --collect-only")
        return _read(report, done)


def _files(root: str) -> Iterator[str]:
    """The test files that may take walks, relative to the root, sorted by folder."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not _is_venv(folder, name))
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py")) and _has_walks(path):
                yield os.path.relpath(path, root)


def _is_venv(folder: str, name: str) -> bool:
    return os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))


def _has_walks(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            text = file.read(FILE_LIMIT)
    except OSError:
        return False
    return any(word in text for word in WORDS)


def _path() -> str:
    """Where Lockstep is imported from goes first, so that the tests are of this one."""
    return os.pathsep.join([os.path.dirname(skills.shipped()), *filter(None, [os.environ.get("PYTHONPATH")])])


def _read(report: str, done: subprocess.CompletedProcess[bytes]) -> Coverage:
    """What was collected. Pytest's exit code says nothing: other plugins fail a session that collects a part."""
    try:
        with open(report, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        said = (done.stdout + b"\n" + done.stderr).decode("utf-8", "replace").split("\n")
        why = next((line.strip() for line in reversed(said) if line.strip()), f"it ended with {done.returncode}")
        return Coverage(problem=f"pytest cannot collect the tests: {why}")
    routes = {script: frozenset((step, route) for step, route in pairs) for script, pairs in found["routes"].items()}
    failed = [f"{file} cannot be collected, and is not counted: {why}" for file, why in found["failed"].items()]
    return Coverage(routes, "\n".join(failed))

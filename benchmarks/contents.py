"""What it costs to hash the files that a review covers, beside ``git status`` in the same tree, interleaved."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from functools import partial
from typing import TYPE_CHECKING

from benchmarks.report import Cell, Figures
from benchmarks.timing import medians
from skills.lib.ledger import contents

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.options import Options

FILES, QUICK_FILES, FOLDERS, CHANGED = 10_000, 1_000, 100, 20
REPEATS, QUICK_REPEATS = 31, 3
# At most so many milliseconds for FILES files of which CHANGED differ from what git has.
BOUND = 50.0
STATUS = "git status --porcelain"
COVERS = {"a glob, src/**": ["src/**"], "a folder that is named, src": ["src"], "the whole project": ["."]}


def figures(options: Options) -> list[Figures]:
    """Measure each way to cover a tree in turn, round by round."""
    count, repeats = (QUICK_FILES, QUICK_REPEATS) if options.quick else (FILES, REPEATS)
    with tempfile.TemporaryDirectory(prefix="lockstep-bench-") as folder:
        _make(folder, count)
        functions: dict[str, Callable[[], object]] = {STATUS: partial(_git, folder, "status", "--porcelain")}
        functions.update({name: partial(contents.manifest, folder, covers) for name, covers in COVERS.items()})
        for covers in COVERS.values():
            assert len(contents.manifest(folder, covers)) == count
        found = medians(functions, repeats)
    rows: list[list[Cell]] = [
        [name, ms, ms / found[STATUS], None if name == STATUS else BOUND] for name, ms in found.items()
    ]
    notes = [f"{count:,} files in {FOLDERS} folders, {CHANGED} of them changed; medians of {repeats}, interleaved."]
    return [Figures("Covered files", ["call", "ms", "ratio to git status", "at most"], rows, notes)]


def _make(folder: str, count: int) -> None:
    """A checkout of so many files, some changed since."""
    paths = [os.path.join(folder, "src", f"part{at % FOLDERS}", f"file{at}.py") for at in range(count)]
    for at, path in enumerate(paths):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"number = {at}\n")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first")):
        _git(folder, *words)
    # git reads again what was changed in the second in which it wrote its index.
    time.sleep(1.1)
    _git(folder, "status")
    for path in paths[:CHANGED]:
        with open(path, "a", encoding="utf-8") as file:
            file.write("changed = True\n")


def _git(folder: str, *words: str) -> None:
    command = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)

"""Kills an installation at every operation on the disk, and looks at what is left: run as a script, prints JSON.

    killed.py install|upgrade|uninstall|keep|force HOST SCOPE WORK

To keep is to uninstall where the user changed a file, to force is to take that file away afterwards.

Each time a process of its own (a fork) is stopped by SIGKILL right before its N-th operation, with N from 1 until it is
through. The same command must then do the rest, and an uninstallation must leave nothing. What is installed is a skill
of three files, so that every operation can be tried.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

from skills.lib.hosts.install import installed_skill, installing, locations, runtime
from tests.extent import extent

OLD = {"SKILL.md": b"old", "scripts/a.py": b"old", "scripts/gone.py": b"old"}
NEW = {"SKILL.md": b"new", "scripts/a.py": b"new", "scripts/deep/b.py": b"new"}
SETTINGS = '{\n  "model": "x"\n}\n'
# What Python reports before it changes the disk, beside a file that is opened to be made.
CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir")
# The folder that the tiny skill is taken from.
SOURCE = "source/tiny"


def call(work: Path, what: str, host: str, scope: str) -> None:
    """Do what is to be killed, or what comes after it."""
    place = locations.locations(host, scope, str(work / "project"))
    files = OLD if what == "install" else NEW
    installed_skill.contents = lambda folder, version: dict(files)
    if what in ("uninstall", "keep"):
        installing.uninstall(place, str(work / "project"))
    elif what == "force":
        installing.uninstall(place, str(work / "project"), lambda kept: None)
    else:
        installing.install(place, str(work / "project"), {"tiny": str(work / SOURCE)})


def state(work: Path) -> dict[str, str | None]:
    """All that is in the project and the home, but for the folders in which programs keep their state."""
    found: dict[str, str | None] = {}
    for path in sorted(work.rglob("*")):
        name = str(path.relative_to(work))
        found[name] = None if path.is_dir() else path.read_text()
    return {name: text for name, text in found.items() if name not in ("home/.local", "home/.local/state")}


def differing(one: dict[str, str | None], other: dict[str, str | None]) -> list[str]:
    """The names of what is not the same in both."""
    return sorted(name for name in {*one, *other} if one.get(name, 0) != other.get(name, 0))


def killed_at(number: int, work: Path, what: str, host: str, scope: str) -> bool:
    """Do it in a process that is killed before its N-th operation; say whether it got that far."""
    child = os.fork()
    if child == 0:
        count = 0

        def operation() -> None:
            nonlocal count
            count += 1
            if count == number:
                os.kill(os.getpid(), signal.SIGKILL)

        def watch(event: str, given: tuple[Any, ...]) -> None:
            if event in CHANGES or (event == "open" and given[2] & os.O_CREAT):
                operation()

        os.fsync = lambda fd: operation()
        sys.addaudithook(watch)
        call(work, what, host, scope)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"operation {number}: the call failed")
    return False


def fresh(base: Path) -> Path:
    """A project and a home with settings of the user's own, and a skill."""
    shutil.rmtree(base, ignore_errors=True)
    (base / "project" / ".git").mkdir(parents=True)
    (base / "home").mkdir()
    (base / SOURCE).mkdir(parents=True)
    (base / SOURCE / "SKILL.md").write_text("---\nname: tiny\n---\n")
    os.environ["HOME"] = str(base / "home")
    for root in (base / "project", base / "home"):
        (root / ".qwen").mkdir()
        (root / ".qwen" / "settings.json").write_text(SETTINGS)
    return base


def main(what: str, host: str, scope: str, folder: str) -> None:
    """Try every operation, and print how many there were and what was found wrong."""
    os.fsync = lambda fd: None  # a killed process loses nothing that it wrote, and the disk has other work
    runtime.ensure()
    runtime.ensure = runtime.version  # it is there, and stays
    work = fresh(Path(folder, "work"))
    nothing = state(work)
    if what != "install":
        call(work, "install", host, scope)
    if what in ("keep", "force"):
        Path(locations.locations(host, scope, str(work / "project")).skills, "tiny", "SKILL.md").write_text("mine")
    if what == "force":
        call(work, "keep", host, scope)
    last = "force" if what in ("keep", "force") else "uninstall"
    begin = state(work)
    shutil.copytree(work, Path(folder, "begin"), symlinks=True)
    call(work, what, host, scope)
    end = state(work)
    assert begin != end
    wrong: list[str] = []
    every = extent(3, 1)
    for number in itertools.count(1, every):
        shutil.rmtree(work)
        shutil.copytree(Path(folder, "begin"), work, symlinks=True)
        if not killed_at(number, work, what, host, scope):
            break
        shutil.copytree(work, Path(folder, "left"), symlinks=True)
        for after, wanted in (((what,), end), ((what, last), nothing), ((last,), nothing)):
            shutil.rmtree(work)
            shutil.copytree(Path(folder, "left"), work, symlinks=True)
            for command in after:
                call(work, command, host, scope)
            if state(work) != wanted:
                wrong.append(f"{number}: {' and '.join(after)} left {differing(state(work), wanted)}")
        shutil.rmtree(Path(folder, "left"))
    print(json.dumps({"operations": number - every, "wrong": wrong}))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Runs the commands and examples of a Markdown page, and writes the page anew with what they print.

A page is one session in an empty project. In the order of the page,

- a fence after ``<!-- file: PATH -->`` is written to that file of the project;
- each ``$ command`` of a ``console`` fence is run by bash, and its output follows it; a line that holds only
  ``[…]`` matches any number of lines, and the lines around it are found again by the first of each group;
- a ``python`` fence is run as a file of its own, and its output is in the next fence.

What differs from run to run and machine to machine is told in fixed words: ``<PYTHON>``, ``<PROJECT>``, ``<LOCKSTEP>``
(the folder that holds ``skills``), ``<USER>`` (the user's state folder, with the launcher), run ids by their order,
times.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# One place for all sessions: to compile the library for each takes longer than most of a page.
BYTECODE = ROOT / "build" / "bytecode"
ELISION = "[…]"
SECONDS = 120
BUG = 70  # the exit code of a bug in Lockstep, which no page is to show
RUN_IDS = ("k3f9q2mx", "w7hd4npe", "b8t5yva6", "m2cr9xks", "q6zj3fgu", "d4wn8bth", "y9pe2mva", "g5sk7qrc")
_FENCE = re.compile(r"^(?P<ticks>```+)(?P<kind>\w*)\n(?P<body>.*?)^(?P=ticks)\n", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"<!-- file: (?P<path>\S+) -->\n\n?\Z")
_NEW_RUN = re.compile(r"(?:run=\"|--run |/step |\"run\": \")([a-hj-km-np-z2-9]{8})\b")
_TIMES = (
    (re.compile(r"\b\d+ (?:s|min) ago\b"), "0 s ago"),
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b"), "2026-01-01 12:00:00"),
    (re.compile(r"\bin \d+\.\d+s\b( \(\d+:\d\d:\d\d\))?"), "in 0.50s"),
    (re.compile(r"\b(\d+\.\d+\.\d+)\+[0-9a-f]{12}\b"), r"\1"),
)


class TranscriptError(Exception):
    """A page that cannot be run: what is wrong, and where."""


@dataclass
class Session:
    """One empty project with its own home, and the run ids that were seen in it, in order."""

    folder: Path
    ids: dict[str, str] = field(default_factory=dict)
    status: int = 0

    @property
    def project(self) -> Path:
        """The project's root."""
        return self.folder / "project"

    @property
    def state(self) -> str:
        """The user's state folder of Lockstep."""
        return str(self.folder / "home" / ".local" / "state" / "lockstep")

    def prepare(self) -> None:
        """Make the project, the home, and the commands ``python3`` and ``lockstep``."""
        for name in ("project/.git", "home", "bin"):
            (self.folder / name).mkdir(parents=True)
        for name, words in (("python3", ""), ("lockstep", f' "{ROOT}/skills/__main__.py"')):
            script = self.folder / "bin" / name
            script.write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n')
            script.chmod(0o755)

    def write(self, path: str, content: str) -> None:
        """Write a file of the project."""
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")

    def command(self, text: str) -> list[str]:
        """Run one command line of the page; return the printed lines, with what varies in fixed words."""
        words = text.replace("<PYTHON>", shlex.quote(sys.executable))
        words = words.replace("<PROJECT>", shlex.quote(str(self.project))).replace("<LOCKSTEP>", shlex.quote(str(ROOT)))
        words = words.replace("<USER>", shlex.quote(self.state))
        for actual, shown in self.ids.items():
            words = words.replace(shown, actual)
        done = self._run(
            ["bash", "-c", f"(exit {self.status}); {words}"], terminal=words.startswith("lockstep answer ")
        )
        self.status = done.returncode
        told = self.told(done.stdout.decode())
        if done.returncode == BUG or "Traceback (most recent call last)" in told:
            raise TranscriptError(f"a command fails:\n$ {text}\n{told}")
        return told.splitlines()

    def python(self, code: str) -> str:
        """Run a Python example and return what it prints, told in fixed words."""
        file = self.project / "example.py"
        file.write_text(code, encoding="utf-8")
        done = self._run([sys.executable, str(file)])
        if done.returncode:
            raise TranscriptError(f"an example fails:\n{code}\n{done.stdout.decode()}")
        return self.told(done.stdout.decode())

    def told(self, text: str) -> str:
        """The text with paths, run ids and times in fixed words."""
        for name in _NEW_RUN.findall(text):
            if name not in self.ids:
                self.ids[name] = RUN_IDS[len(self.ids)]
        for actual, shown in self.ids.items():
            text = text.replace(actual, shown)
        beside = os.path.join(os.path.dirname(sys.executable), "lockstep")
        for place in (sys.executable, beside, str(ROOT), str(self.folder)):
            # On the page a path is not quoted, even if the shell needs it.
            if shlex.quote(place) != place:
                text = re.sub(f"'({re.escape(place)}[^'\n]*)'", r"\1", text)
        for actual, shown in (
            (f"{sys.executable} {ROOT}/skills/__main__.py", "lockstep"),
            (f"{beside} ", "lockstep "),
            (sys.executable, "<PYTHON>"),
            (str(self.project), "<PROJECT>"),
            (str(ROOT), "<LOCKSTEP>"),
            (self.state, "<USER>"),
            (str(self.folder), "<TEMP>"),
        ):
            text = text.replace(actual, shown)
        for pattern, shown in _TIMES:
            text = pattern.sub(shown, text)
        return "".join(f"{line.rstrip()}\n" for line in text.splitlines())

    def _run(self, command: list[str], terminal: bool = False) -> subprocess.CompletedProcess[bytes]:
        """Run a command; with ``terminal`` its input is one, as a person's is."""
        environment = {
            "PATH": f"{self.folder}/bin:{os.environ.get('PATH', os.defpath)}",
            "HOME": str(self.folder / "home"),
            "XDG_CACHE_HOME": str(self.folder / "home" / "cache"),
            "PYTHONPATH": str(ROOT),
            "PYTHONPYCACHEPREFIX": str(BYTECODE),
            "LC_ALL": "C.UTF-8",
            "NO_COLOR": "1",
            "COLUMNS": "100",
            # Without the other plugins that are installed here, which take long to import.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_ADDOPTS": "-p lockstep.pytest_plugin",
        }
        ends = os.openpty() if terminal else ()
        try:
            return subprocess.run(
                command,
                cwd=self.project,
                env=environment,
                stdin=ends[1] if ends else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=SECONDS,
                check=False,
            )
        finally:
            for end in ends:
                os.close(end)


def replay(page: str) -> str:
    """The page with every command and example run and its output as it is now; TranscriptError if one cannot be."""
    with session() as project:
        return "".join(_replayed(project, page))


@contextmanager
def session() -> Iterator[Session]:
    """A session in an empty project that is removed afterwards."""
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="lockstep-docs-")))
    try:
        project = Session(folder)
        project.prepare()
        yield project
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(f"{BYTECODE}{folder}", ignore_errors=True)


def _replayed(session: Session, page: str) -> Iterator[str]:
    at, printed = 0, ""
    for fence in _FENCE.finditer(page):
        before, kind, body = page[at : fence.start()], fence["kind"], fence["body"]
        at = fence.end()
        named = _FILE.search(before)
        if printed and not before.strip() and kind in ("text", "xml"):
            body = "".join(f"{line}\n" for line in elided(body.splitlines(), printed.splitlines()))
        printed = ""
        if named:
            session.write(named["path"], body)
        elif kind == "console":
            body = "".join(_console(session, body))
        elif kind == "python":
            printed = session.python(body)
        yield f"{before}{fence['ticks']}{kind}\n{body}{fence['ticks']}\n"
    yield page[at:]


def _console(session: Session, body: str) -> Iterator[str]:
    for part in re.split(r"^(?=\$ )", body, flags=re.MULTILINE):
        lines = part.splitlines()
        if not lines:
            continue
        count = 1
        while lines[count - 1].endswith("\\") and count < len(lines):
            count += 1
        command = "\n".join(lines[:count]).removeprefix("$ ")
        yield "".join(f"{line}\n" for line in [*lines[:count], *elided(lines[count:], session.command(command))])


def elided(shown: list[str], printed: list[str]) -> list[str]:
    """The output, shortened as the page shortens it.

    Raises TranscriptError if the lines after an elision are not printed any more.
    """
    groups: list[list[str]] = [[]]
    for line in shown:
        if line.strip() == ELISION:
            groups.append([line])
        else:
            groups[-1].append(line)
    if len(groups) == 1:
        return printed
    found, at = printed[: len(groups[0])], len(groups[0])
    for mark, *lines in groups[1:]:
        if not lines:
            found.append(mark)
            continue
        try:
            start = printed.index(lines[0], at)
        except ValueError:
            raise TranscriptError(f"after {ELISION} this is not printed any more:\n{lines[0]}") from None
        found += [mark, *printed[start : start + len(lines)]]
        at = start + len(lines)
    if groups[-1][1:] and at < len(printed):
        found += printed[at:]
    return found

"""What is learned of a skill in a project: ``skills.md`` in the user's data folder, which no project can bring along.

Each case is one line, which begins with the run and the turn that it is from: a case is never written twice.
"""

from __future__ import annotations

import os
from contextlib import contextmanager

from skills.lib import compact_json, files, paths
from skills.lib.agent.kept import own_file
from skills.lib.agent.planning import memory
from skills.lib.errors import EnvironmentProblem
from skills.lib.model.texts import shortened
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FILE = "skills.md"
SUCCESS, FAILURE, FEEDBACK = SECTIONS = ("Success Cases", "Failure Cases", "Human Feedback")
# How many cases a section keeps, the newest ones; how long one is; how many bytes are read.
KEPT, LONGEST, _READ = 30, 1_500, 1_000_000


class Case(Record):
    """One case: its section, where it is from (``RUN.TURN``), and what it says."""

    section: str
    place: str
    text: str

    @property
    def line(self) -> str:
        """The case as it stands in the file."""
        return shortened(f"- [{self.place}] {memory.one_line(self.text)}", LONGEST)


def path_of(project: str, skill: str) -> str:
    """The file of the cases of a skill in a project."""
    root = os.path.realpath(project)
    folder = f"{os.path.basename(root) or 'root'}-{compact_json.digest(root)[:12]}"
    return os.path.join(paths.data(), "projects", folder, skill, FILE)


def read(project: str, skill: str) -> str:
    """The cases as they stand in the file; "" if there are none."""
    return _text({name: found for name, found in _sections(path_of(project, skill)).items() if found})


def add(project: str, skill: str, cases: Iterable[Case]) -> int:
    """Keep cases that are not kept yet; how many were new. Raises EnvironmentProblem if the file cannot be written."""
    given = list(cases)
    if not given:
        return 0
    path = path_of(project, skill)
    with _locked(path):
        sections = _sections(path)
        known = {line.partition("]")[0] for found in sections.values() for line in found}
        new = [one for one in given if one.line.partition("]")[0] not in known]
        for case in new:
            sections[case.section].append(case.line)
        if new:
            kept = {name: found[-KEPT:] for name, found in sections.items()}
            _write(path, f"# {skill}\n\n{_text(kept)}")
    return len(new)


def _sections(path: str) -> dict[str, list[str]]:
    """The lines of each section."""
    found: dict[str, list[str]] = {name: [] for name in SECTIONS}
    if os.path.islink(path):
        raise EnvironmentProblem(f"{path} is a link, which may lead to what others wrote", remedy="remove the link")
    try:
        text = files.read(path, _READ).decode("utf-8", "replace")
    except FileNotFoundError:
        return found
    except OSError as error:
        raise EnvironmentProblem(f"{path} cannot be read: {error.strerror}", remedy="move it away") from error
    now: list[str] = []
    for line in text.splitlines():
        if line.startswith("## "):
            now = found.get(line[3:].strip(), [])
        elif line.startswith("- "):
            now.append(line)
    return found


def _text(sections: dict[str, list[str]]) -> str:
    return "\n\n".join("\n".join([f"## {name}", *found]) for name, found in sections.items()) + "\n" if sections else ""


def _write(path: str, text: str) -> None:
    try:
        files.write(path, text.encode())
        os.chmod(path, 0o600)
    except OSError as error:
        raise EnvironmentProblem(
            f"{path} cannot be written: {error.strerror}", remedy="make it writable, or set LOCKSTEP_DATA"
        ) from error


@contextmanager
def _locked(path: str) -> Iterator[None]:
    """Hold the file of the cases: nobody else adds to it meanwhile."""
    from filelock import FileLock  # of the extra

    own_file.make(f"{path}.lock", "lock of the cases")
    with FileLock(f"{path}.lock", mode=0o600, timeout=30):
        yield

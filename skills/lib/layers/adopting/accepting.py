"""Makes a draft that a person has corrected the workflow of its skill."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from skills.lib import files
from skills.lib.errors import EnvironmentProblem, RefusedError
from skills.lib.graphfile import compiling
from skills.lib.graphfile.reader import LIMIT, read
from skills.lib.layers.adopting.writing import HEAD, HEAD_ENDS, WORKFLOW
from skills.lib.runtime import drafts
from skills.lib.validation import registration, validator

if TYPE_CHECKING:
    from pathlib import Path

    from skills.lib.model.steps import Workflow
    from skills.lib.validation.rule import Finding

_ACCEPTED = "# Made from SKILL.md by lockstep adopt, and accepted by a person."


class Corrected(NamedTuple):
    """A draft as it is now: its file, its workflow, what validation finds, and how many guesses are still marked."""

    file: str
    workflow: Workflow
    findings: list[Finding]
    guesses: int

    @property
    def errors(self) -> list[Finding]:
        """The findings with which it cannot be accepted."""
        return [finding for finding in self.findings if finding.severity == "error" and not finding.waived]


def look(folder: str | Path) -> Corrected:
    """Read the draft of a skill and validate it.

    Raises RefusedError if there is none, and GraphFileError with all that is wrong in the file.
    """
    file = os.path.join(os.path.realpath(folder), WORKFLOW)
    if not os.path.isfile(file):
        raise RefusedError(f"{file} is not there: no draft to accept", remedy=f"lockstep adopt {folder}")
    if not drafts.is_draft(file):
        raise RefusedError(f"{file} is no draft: it is the skill's workflow already", remedy="lockstep validate")
    workflow = compiling.compile_file(file, drafts=True).workflow
    text = files.read(file, LIMIT).decode()
    guesses = sum(line.lstrip().startswith("# guess: ") for line in text.split("\n"))
    return Corrected(file, workflow, validator.validate(workflow, file), guesses)


def accept(draft: Corrected) -> list[str]:
    """Take the mark of the draft away, compile it and seal it; gives the files that were written.

    Raises EnvironmentProblem if one cannot be written; the draft is then as it was.
    """
    before = files.read(draft.file, LIMIT)
    lines = before.decode().split("\n")
    del lines[read(draft.file).line(("draft",)) - 1]
    try:
        files.write(draft.file, "\n".join(_without_head(lines)).encode())
        made = compiling.compile_file(draft.file)
        seal = registration.beside(made.workflow, made.target)
        for path, text in ((made.target, made.to_json()), (seal, registration.text(made.workflow))):
            files.write(path, text.encode())
    except OSError as error:
        files.write(draft.file, before)
        what = f"{error.filename or draft.file} cannot be written: {error.strerror}"
        raise EnvironmentProblem(what, remedy="make the folder of the skill writable") from error
    return [draft.file, made.target, seal]


def _without_head(lines: list[str]) -> list[str]:
    """The lines with a comment that is true of a workflow in place of that which says that it is a draft."""
    if not lines[0].startswith(HEAD):
        return lines
    end = next((at for at, line in enumerate(lines) if line == HEAD_ENDS), -1)
    return [_ACCEPTED, *lines[end + 1 :]] if 0 <= end < 10 else lines

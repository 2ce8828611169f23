"""What a check is given, a project and hosts, and what it yields: fine, a warning or a problem, and what fixes it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from skills.lib.hosts.doctor.probe import Answer, ask

# How long a program may take to say its version, or what it sees (seconds).
SOON, LATER = 15.0, 40.0
OK, WARNING, PROBLEM = "ok", "warning", "problem"


@dataclass(slots=True)
class DoctorContext:
    """A project and the hosts that are examined; ``named`` is true if the user asked for just these.

    Answers of programs are remembered: two hosts share a folder, and two checks a question.
    """

    project: str
    hosts: tuple[str, ...]
    named: bool = False
    remembered: dict[tuple[str, ...], Answer] = field(default_factory=dict)

    def program(self, host: str) -> str:
        """The path of a host's program; empty if it is not on the PATH, or the host has none."""
        return "" if host == "agents" else shutil.which(host) or ""

    def ask(
        self, *words: str, seconds: float = SOON, cwd: str | None = None, env: Mapping[str, str] | None = None
    ) -> Answer:
        """The answer of a program in the project, or in ``cwd``. Each command is run once."""
        if words not in self.remembered:
            self.remembered[words] = ask(words, seconds, cwd=cwd or self.project, env=env)
        return self.remembered[words]

    def python(self) -> str:
        """The Python that SKILL.md tells agents to call; empty if there is none."""
        return shutil.which("python3") or ("" if os.name != "nt" else sys.executable)


@dataclass(frozen=True, slots=True)
class Result:
    """One result. ``stale`` is a file that may be removed without loss, which --fix does."""

    status: str
    what: str
    where: str = ""
    remedy: str = ""
    stale: str = ""


@dataclass(frozen=True, slots=True)
class CheckedResult:
    """A result with the name of its check and of what was checked: lockstep, project, or a host."""

    subject: str
    check: str
    result: Result

    def to_data(self) -> dict[str, Any]:
        """The result as plain data, for a program."""
        data = asdict(self.result)
        del data["stale"]
        return {"subject": self.subject, "check": self.check, **data, "fixable": bool(self.result.stale)}


# A result that asks for nothing; one that costs something, or soon will; one that keeps something from working.
ok, warning, problem = partial(Result, OK), partial(Result, WARNING), partial(Result, PROBLEM)


def counted(number: int, noun: str) -> str:
    """A number of things, in words: ``1 run``, ``2 runs``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"

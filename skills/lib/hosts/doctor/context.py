"""What the doctor looks at: a project, hosts, and the answers of programs."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from skills.lib.hosts.doctor.probe import Answer, ask

# How long a program may take to say its version, or what it sees (seconds).
SOON, LATER = 15.0, 40.0


@dataclass(slots=True)
class DoctorContext:
    """A project and the hosts that are examined; ``named`` is true if the user asked for just these.

    Answers of programs are remembered: two hosts share a folder, and two checks a question.
    """

    project: str
    hosts: tuple[str, ...]
    named: bool = False
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    remembered: dict[tuple[str, ...], Answer] = field(default_factory=dict)

    def program(self, host: str) -> str:
        """The path of a host's program; empty if it is not on the PATH, or the host has none."""
        return "" if host == "agents" else shutil.which(host) or ""

    def ask(self, *words: str, seconds: float = SOON) -> Answer:
        """The answer of a program in the project, asked once."""
        if words not in self.remembered:
            self.remembered[words] = ask(words, seconds, cwd=self.project)
        return self.remembered[words]

    def python(self) -> str:
        """The Python that SKILL.md tells agents to call; empty if there is none."""
        return shutil.which("python3") or ("" if os.name != "nt" else sys.executable)

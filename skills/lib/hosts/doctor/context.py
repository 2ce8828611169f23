"""What is looked at: the project, the hosts, and what the installer knows of them."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skills.lib.errors import LockstepError
from skills.lib.hosts.doctor.probe import Answer, ask

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills.lib.hosts.install.installing import Installed
    from skills.lib.hosts.install.locations import Locations
    from skills.lib.hosts.install.manifest import Manifest

SCOPES = ("project", "user")
# Host -> the program that a user starts.
PROGRAMS = {"codex": "codex", "claude": "claude", "opencode": "opencode", "qwen": "qwen", "gemini": "gemini"}
# How long a program may take to say its version, or what it sees (seconds).
SOON, LATER = 15.0, 40.0


@dataclass(slots=True)
class DoctorContext:
    """A project and the hosts that are asked about; ``named`` says that the user asked for just these.

    What was asked once is remembered: two hosts share a folder, and two checks a question.
    """

    project: str
    hosts: tuple[str, ...]
    named: bool = False
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    remembered: dict[tuple[str, ...], Answer] = field(default_factory=dict)

    def program(self, host: str) -> str:
        """The path of a host's program; empty where it is not on the PATH."""
        name = PROGRAMS.get(host)
        return (shutil.which(name) or "") if name else ""

    def place(self, host: str, scope: str) -> Locations:
        """Where things go for a host."""
        from skills.lib.hosts.install import locations

        return locations.locations(host, scope, self.project)

    def manifest(self, host: str, scope: str) -> Manifest | None:
        """What is installed for a host in a scope, by its manifest."""
        told = self.record(host, scope)
        return None if told is None or told.uninstalled else told

    def record(self, host: str, scope: str) -> Manifest | None:
        """The manifest of a host in a scope, also one of what an uninstallation kept."""
        from skills.lib.hosts.install import manifest

        return manifest.read(self.place(host, scope))

    def inspected(self, host: str, scope: str) -> Installed | None:
        """How what is installed compares with what would be put there now, from the folders that it was taken from."""
        from skills.lib.hosts.install import installing

        told = self.manifest(host, scope)
        known = {name: path for name, path in told.skills.items() if os.path.isdir(path)} if told else {}
        return installing.inspect(self.place(host, scope), self.project, known)

    def is_installed(self, host: str) -> bool:
        """Whether a manifest says that something is installed for a host; a damaged one says so too."""
        try:
            return any(self.manifest(host, scope) is not None for scope in SCOPES)
        except LockstepError:
            return True

    def ask(self, *words: str, seconds: float = SOON) -> Answer:
        """The answer of a program in the project, asked once."""
        if words not in self.remembered:
            self.remembered[words] = ask(words, seconds, cwd=self.project)
        return self.remembered[words]

    def python(self) -> str:
        """The Python that SKILL.md tells agents to call; empty where there is none."""
        return shutil.which("python3") or ("" if os.name != "nt" else sys.executable)

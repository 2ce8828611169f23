"""Where skills, role definitions, hooks and records of a host are, in a project and for a user."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass

from skills.lib import paths
from skills.lib.errors import EnvironmentProblem, UsageError
from skills.lib.hosts.known_hosts import HOSTS, KNOWN, SCOPES


@dataclass(frozen=True, slots=True)
class Locations:
    """Where things go for one host and scope; absolute paths.

    ``roles``, ``hooks`` and ``rules`` (of commands that run without a question) are empty if it has none.

    ``bases`` are the folders that are taken as they are: below them no link is followed. The first is the project's
    root, or the home. ``records`` is the folder of the manifests.
    """

    host: str
    scope: str
    bases: tuple[str, ...]
    skills: str
    roles: str
    hooks: str
    records: str
    rules: str = ""

    @property
    def is_merged(self) -> bool:
        """True if the host's hooks are entries in a settings file, and no file of their own."""
        return self.hooks.endswith(".json")

    def skill_of(self, path: str) -> str:
        """The name of the skill that a file is of; empty if it is of none."""
        inside = path.startswith(self.skills + os.sep)
        return os.path.relpath(path, self.skills).split(os.sep)[0] if inside else ""


def locations(host: str, scope: str, project: str) -> Locations:
    """Where things go for a host, in a project or for the user. Raises UsageError for another host or scope."""
    if host not in HOSTS:
        raise UsageError(f"there is no host {host!r:.80}", valid=", ".join(HOSTS))
    if scope not in SCOPES:
        raise UsageError(f"there is no scope {scope!r:.80}", valid=", ".join(SCOPES))
    known = KNOWN[host]
    rules: tuple[str, ...] = known.rules if scope != "project" else ()
    if scope == "project":
        root = base = os.path.realpath(project)
        roles, hooks = known.roles, known.hooks
        records = os.path.join(root, ".lockstep", "installed")
    else:
        root = _home()
        base = _settings_base(host, root)
        roles, hooks = known.user_roles or known.roles, known.user_hooks or known.hooks
        records = os.path.join(os.path.realpath(paths.state()), "installed")
    return Locations(
        host,
        scope,
        tuple(dict.fromkeys((root, base))),
        os.path.join(root, *known.skills),
        os.path.join(base, *roles) if roles else "",
        os.path.join(base, *hooks) if hooks else "",
        records,
        os.path.join(base, *rules) if rules else "",
    )


def remove_empty_above(path: str) -> None:
    """Remove the folders above a path that are empty, as far as they are ~/.local or below it."""
    local, place = os.path.join(_home(), ".local"), os.path.dirname(os.path.realpath(path))
    with suppress(OSError):
        while (place + os.sep).startswith(local + os.sep):
            os.rmdir(place)
            place = os.path.dirname(place)


def found_hosts() -> list[str]:
    """The hosts that this user seems to have: the program is on the PATH, or its settings are in the home."""
    home = _home()
    return [
        host
        for host, known in KNOWN.items()
        if known.package
        and (shutil.which(host) or os.path.isdir(os.path.join(_settings_base(host, home), known.settings)))
    ]


def _settings_base(host: str, home: str) -> str:
    """The folder that a host keeps a user's settings under."""
    if host == "codex":
        return os.path.realpath(os.environ.get("CODEX_HOME") or os.path.join(home, ".codex"))
    if host == "opencode":
        config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        return os.path.join(os.path.realpath(config), "opencode")
    return home


def _home() -> str:
    given = os.environ.get("HOME", os.sep)
    if not os.path.isabs(given):
        raise EnvironmentProblem(f"HOME is {given!r:.200}, which is no absolute path", remedy="set it to your home")
    return os.path.realpath(os.path.expanduser("~"))

"""Where each host looks for skills, role definitions and hooks, in a project and in a user's home.

Read in the vendors' documents and in the clients (November 2026); docs/hosts/ has a page for each.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass

from skills.lib.errors import EnvironmentProblem, UsageError
from skills.lib.hosts.hook import sessions

HOSTS = ("codex", "claude", "opencode", "qwen", "gemini", "agents")
SCOPES = ("project", "user")
# Four clients read this folder of a project and of a home; what is put there serves them all.
_SHARED = (".agents", "skills")

# Host -> where its skills go, in both scopes.
_SKILLS = {"claude": (".claude", "skills")}
# Host -> the folder of its role definitions, below the project or the base of the user's settings.
_ROLES = {
    "claude": (".claude", "agents"),
    "codex": (".codex", "agents"),
    "opencode": (".opencode", "agent"),
    "qwen": (".qwen", "agents"),
    "gemini": (".gemini", "agents"),
}
# Host -> the file of its hooks: settings that are merged, or a plugin of ours.
_HOOKS = {
    "claude": (".claude", "settings.local.json"),
    "codex": (".codex", "hooks.json"),
    "opencode": (".opencode", "plugin", "lockstep.js"),
    "qwen": (".qwen", "settings.json"),
    "gemini": (".gemini", "settings.json"),
}
# What the user's scope has under another name, below its base.
_USER_ROLES = {"codex": ("agents",), "opencode": ("agent",)}
_USER_HOOKS = {
    "claude": (".claude", "settings.json"),
    "codex": ("hooks.json",),
    "opencode": ("plugin", "lockstep.js"),
}
# The folder of a user's settings below its base; of the other hosts the base is that folder.
_OWN = {"codex": "", "claude": ".claude", "opencode": "", "qwen": ".qwen", "gemini": ".gemini"}
# Roles that the host brings along under the same name: its own is left alone.
BUILT_IN = {
    "claude": frozenset({"general-purpose"}),
    "opencode": frozenset({"explore"}),
    "qwen": frozenset({"general-purpose", "explore"}),
}
# What a user calls each host.
NAMES = {
    "codex": "Codex",
    "claude": "Claude Code",
    "opencode": "opencode",
    "qwen": "Qwen Code",
    "gemini": "Gemini CLI",
    "agents": "the agent",
}
# What a user has to know or do once, per host.
NOTES = {
    "codex": "Codex reads a project's hooks once it trusts the project, and skips hooks that it does not trust: start "
    "codex here, open /hooks, and trust them.",
    "claude": "Claude Code reads hooks when a session starts: begin a new one, and see /hooks.",
    "opencode": "opencode loads plugins when it starts: begin anew.",
    "qwen": "Qwen Code reads hooks when it starts: begin anew, and see /hooks.",
    "gemini": "Gemini CLI runs a project's hooks in a trusted folder only: see /hooks.",
    "agents": "This folder has no hooks and no role definitions: steps are printed, and nothing is enforced.",
}


@dataclass(frozen=True, slots=True)
class Locations:
    """Where things go for one host and scope; absolute paths. ``roles`` and ``hooks`` are empty if it has none.

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

    @property
    def is_merged(self) -> bool:
        """True if the host's hooks are entries in a settings file, and no file of their own."""
        return self.hooks.endswith(".json")


def locations(host: str, scope: str, project: str) -> Locations:
    """Where things go for a host, in a project or for the user; UsageError for another host or scope."""
    if host not in HOSTS:
        raise UsageError(f"there is no host {host!r:.80}", valid=", ".join(HOSTS))
    if scope not in SCOPES:
        raise UsageError(f"there is no scope {scope!r:.80}", valid=", ".join(SCOPES))
    skills = _SKILLS.get(host, _SHARED)
    if scope == "project":
        root = os.path.realpath(project)
        return Locations(
            host,
            scope,
            (root,),
            os.path.join(root, *skills),
            _below(root, _ROLES.get(host)),
            _below(root, _HOOKS.get(host)),
            records(scope, project),
        )
    home = _home()
    base = _settings_base(host, home)
    return Locations(
        host,
        scope,
        tuple(dict.fromkeys((home, base))),
        os.path.join(home, *skills),
        _below(base, _USER_ROLES.get(host, _ROLES.get(host))),
        _below(base, _USER_HOOKS.get(host, _HOOKS.get(host))),
        records(scope, project),
    )


def records(scope: str, project: str) -> str:
    """The folder of the manifests: in the project's .lockstep, or in the user's state folder."""
    if scope == "project":
        return os.path.join(os.path.realpath(project), ".lockstep", "installed")
    _home()
    return os.path.join(os.path.realpath(os.path.dirname(sessions.folder())), "installed")


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


def _below(base: str, parts: tuple[str, ...] | None) -> str:
    return os.path.join(base, *parts) if parts else ""


def found_hosts() -> list[str]:
    """The hosts that this user seems to have: the program is on the PATH, or its settings are in the home."""
    home = _home()
    settings = {host: os.path.join(_settings_base(host, home), own) for host, own in _OWN.items()}
    return [host for host in HOSTS if host in settings and (shutil.which(host) or os.path.isdir(settings[host]))]

"""The host's own rule by which an agent runs the step scripts without asking its user: these scripts, and no more.

Claude Code and Qwen Code have a list in their settings, Codex and Gemini CLI take a file of rules, and opencode takes
them from the plugin. The commands that a block prints begin with a Python and the path of a script; in the first one,
which a SKILL.md names, the path is quoted.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Iterable, Sequence

from skills.lib import paths
from skills.lib.blocks.command_line import quote
from skills.lib.errors import RefusedError, UsageError
from skills.lib.hosts.install import hooks
from skills.lib.hosts.install.locations import Locations
from skills.lib.hosts.install.manifest import Manifest
from skills.lib.hosts.known_hosts import KNOWN
from skills.lib.runtime import loading

# Where python3 is usually found, beside the Python that installs.
_PYTHONS = ("/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3")
# What a command becomes as an entry of the list permissions.allow, by host.
_ENTRIES = {"claude": "Bash({}:*)", "qwen": "run_shell_command({})"}
_HEAD = "# Written by lockstep install --allow; lockstep uninstall removes it. Step scripts run without a question.\n"


def is_possible(place: Locations) -> bool:
    """True if the host takes such a rule, and the scripts are the user's: an agent may edit those of its project."""
    return place.scope == "user" and _takes_rules(place.host)


def check(place: Locations, allow: bool | None) -> None:
    """Raise UsageError if a rule is asked for that the host does not take, or for scripts that an agent may edit."""
    if not allow or is_possible(place):
        return
    if not _takes_rules(place.host):
        raise UsageError(
            f"--allow: {place.host} takes no rule by which scripts run without a question",
            valid=", ".join(host for host in KNOWN if _takes_rules(host)),
            remedy="leave --allow out",
        )
    raise UsageError(
        "--allow in a project: an agent may edit the scripts there, and would run what it wrote without a question",
        remedy=f"lockstep install {place.host} --scope user --allow",
    )


def _takes_rules(host: str) -> bool:
    return host in _ENTRIES or host == "opencode" or bool(KNOWN[host].rules)


def scripts(files: Collection[str]) -> list[str]:
    """The step scripts among the files of an installation: those that have their graph beside them.

    A path that a shell would not take as it is gets no rule.
    """
    stems = [(path, path.removesuffix(".py")) for path in files if path.endswith(".py")]
    graphs = (paths.MODULE, paths.COMPILED, loading.CHOICE)
    return sorted(path for path, stem in stems if quote(path) == path and any(stem + end in files for end in graphs))


def entries(host: str, of: Iterable[str]) -> list[str]:
    """The entries of the list in the host's settings for these scripts; none for a host without such a list."""
    form = _ENTRIES.get(host)
    return [form.format(line) for line in _lines(of)] if form else []


def patterns(of: Iterable[str]) -> list[str]:
    """The commands that opencode's plugin allows."""
    return [f"{line} *" for line in _lines(of)]


def file_of(host: str, of: Sequence[str]) -> bytes:
    """The file of rules for these scripts, of Codex or Gemini CLI."""
    if host == "codex":
        pattern = json.dumps([["python3", *_pythons()], list(of)])
        return f'{_HEAD}prefix_rule(pattern = {pattern}, decision = "allow")\n'.encode()
    prefixes = "".join(f"  {json.dumps(line)},\n" for line in _lines(of))
    rule = '[[rule]]\ntoolName = "run_shell_command"\ndecision = "allow"\npriority = 100\n'
    return f"{_HEAD}{rule}commandPrefix = [\n{prefixes}]\n".encode()


def merged(path: str, data: bytes | None, wanted: Sequence[str], old: Manifest) -> tuple[bytes | None, tuple[str, ...]]:
    """A settings file with these entries and without the others that ``old`` put there, and those that are ours now.

    An entry that the user has there already stays theirs. RefusedError if the file is not plain JSON.
    """
    if not wanted and not old.rules:
        return data, ()
    settings = hooks.read_settings(path, data)
    permissions = settings.setdefault("permissions", {})
    listed = permissions.setdefault("allow", []) if isinstance(permissions, dict) else None
    if not isinstance(listed, list):
        raise RefusedError(f"{path}: permissions.allow is not a list", remedy=hooks.PLAIN)
    theirs = [entry for entry in listed if entry not in old.rules]
    ours = [entry for entry in wanted if entry not in theirs]
    permissions["allow"] = [entry for entry in listed if entry in theirs or entry in ours]
    permissions["allow"] += [entry for entry in ours if entry not in listed]
    if not permissions["allow"]:
        del permissions["allow"]
    if not permissions:
        del settings["permissions"]
    return hooks.written_settings(settings, data), tuple(ours)


def _lines(of: Iterable[str]) -> list[str]:
    """The beginnings of the commands that run these scripts."""
    return [line for script in of for line in _lines_of(script)]


def _lines_of(script: str) -> list[str]:
    return [f'python3 "{script}"', *(f"{python} {script}" for python in ("python3", *_pythons()))]


def _pythons() -> list[str]:
    """The Pythons of this machine that a printed command may name, by their paths."""
    found = dict.fromkeys((sys.executable, *filter(os.path.exists, _PYTHONS)))
    return [python for python in found if quote(python) == python]

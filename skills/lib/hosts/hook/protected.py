"""What an agent's editing tools may not change while a run holds it, whatever the step allows.

What is written there would change what the run asks for, or what the hook does. An agent with a shell can still write
it: that is for the host's permissions to prevent.
"""

from __future__ import annotations

import os

from skills.lib import paths
from skills.lib.errors import UsageError
from skills.lib.hosts.hook.shell_commands import package, scripts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.lib.hosts.hook.followed import Followed

# The settings of hosts that may name hooks, plugins or permissions, below the project, the working directory or a home.
SETTINGS = (
    *(".claude/settings.json", ".claude/settings.local.json", ".codex/config.toml", ".codex/hooks.json"),
    *(".gemini/settings.json", ".qwen/settings.json", "opencode.json", "opencode.jsonc"),
    *(".codex/rules", ".gemini/policies"),
    *(".opencode/plugin", ".opencode/plugins", ".opencode/opencode.json", ".config/opencode"),
)
# A variable that moves the settings of a user, and the folder that it stands for.
_MOVED = {"CODEX_HOME": ".codex", "CLAUDE_CONFIG_DIR": ".claude"}
# What the ledger's folder has that is not for an agent; it may have other things in it.
_RECORD = ("runs.db", "runs.db-wal", "runs.db-shm", "runs.db-journal", "LEDGER", ".gitignore", "open", "installed")


def what(targets: Sequence[str], folder: str, followed: Followed) -> str:
    """What one of these paths of an editing tool belongs to that no agent may change, in words; "" if none does."""
    project = followed["project"]
    places = {
        "the skill of this run": _of_skill(followed["script"], project),
        "Lockstep itself": _of_library(project),
        "Lockstep's record of this project": [os.path.join(paths.home(project), name) for name in _RECORD],
        "what Lockstep keeps of this user's sessions": [paths.state()],
        "the settings of an agent host": _of_hosts(project, folder),
    }
    for target in targets:
        path = os.path.join(folder, os.path.expanduser(target).replace("\0", ""))
        parent, name = os.path.split(path)
        meant = {os.path.realpath(path), _real(path), os.path.join(os.path.realpath(parent), name)}
        for of, protected in places.items():
            if any(_is_in(one, os.path.realpath(place)) for one in meant for place in protected):
                return of
    return ""


def _real(path: str) -> str:
    """The path with every link followed: some tools open it with each ``..`` taken out, whatever stands before that."""
    try:
        return paths.real(os.path.normpath(path))
    except UsageError:
        return path


def _of_skill(script: str, project: str) -> list[str]:
    """The folder of a run's skill. If the project itself is that folder, its scripts and its SKILL.md."""
    script = os.path.realpath(script)
    scripts = scripts_of(script)
    if not scripts:
        stem = script.removesuffix(".py")
        return [
            script,
            *(f"{stem}{end}" for end in (paths.MODULE, paths.COMPILED, "_" + paths.YAML)),
            f"{stem}_choice.py",
        ]
    skill = os.path.dirname(scripts)
    return [scripts, os.path.join(skill, "SKILL.md")] if _is_in(project, skill) else [skill]


def _of_library(project: str) -> list[str]:
    """The package, and what is in the data folder; not a package that is a part of the project, which is the work."""
    data = [os.path.join(paths.data(), name) for name in ("runtimes", "key", "projects")]
    return data if _is_in(package(), project) else [*data, package()]


def _of_hosts(project: str, folder: str) -> list[str]:
    bases = [project, folder, os.path.expanduser("~")]
    found = [os.path.join(base, *name.split("/")) for base in bases for name in SETTINGS]
    for variable, usual in _MOVED.items():
        place = os.environ.get(variable, "")
        inside = [name.removeprefix(usual + "/") for name in SETTINGS if name.startswith(usual + "/")]
        found += [os.path.join(place, name) for name in inside if os.path.isabs(place)]
    config = os.environ.get("XDG_CONFIG_HOME", "")
    return [*found, os.path.join(config, "opencode")] if os.path.isabs(config) else found


def _is_in(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip(os.sep) + os.sep)

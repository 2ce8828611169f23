"""The policies that hold for a call: of the projects that its folder is in, of runs, and those that held before.

A policy is compiled once (``policy_texts``) and kept in the user's cache by the checksum of its text.
"""

from __future__ import annotations

import os

from skills.lib.hosts.hook import quick

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from skills.lib.guard.policy import Policy

# A project's policy and its gateway, at its root; agents' editing tools change neither.
NAME, GATEWAY = quick.POLICIES


class Source:
    """Where a policy comes from: its file, the folder that paths in it begin at, and the name of its facts.

    ``digest`` is the checksum of the text by which it held before, for a file that is gone since.
    """

    __slots__ = ("digest", "facts", "path", "root", "run")

    def __init__(self, path: str, root: str, facts: str, run: str = "", digest: str = "") -> None:
        self.path = path
        self.root = root
        self.facts = facts
        self.run = run
        self.digest = digest


def near(folders: Iterable[str]) -> list[str]:
    """The policies of these folders and of those above, links followed."""
    return _named_near(folders, (NAME,))


def protected_near(folders: Iterable[str]) -> list[str]:
    """The policy and gateway files of these folders and of those above."""
    return _named_near(folders, (NAME, GATEWAY))


def _named_near(folders: Iterable[str], names: tuple[str, ...]) -> list[str]:
    found: dict[str, None] = {}
    for folder in folders:
        start = place = os.path.realpath(folder)
        while True:
            there = [path for name in names if os.path.lexists(path := os.path.join(place, name))]
            if there and (place == start or not _is_shared(place)):
                found |= dict.fromkeys(there)
            if place == os.path.dirname(place):
                break
            place = os.path.dirname(place)
    return list(found)


def _is_shared(folder: str) -> bool:
    """True for a folder such as /tmp, in which everybody may make files: it is no project of what is below it."""
    try:
        return bool(os.stat(folder).st_mode & 0o1000)
    except OSError:
        return False


def of_status(status: dict[str, Any]) -> str:
    """The file of the policy of a run's workflow, beside its script; "" if it has none."""
    name, script = status.get("policy"), status.get("script")
    if not isinstance(name, str) or not isinstance(script, str) or not is_name(name):
        return ""
    from skills.lib import paths

    return paths.of_skill(os.path.join(os.path.dirname(script), name))


def of_layers(status: dict[str, Any]) -> list[tuple[str, str]]:
    """The core skills whose layers a run has, each with the file of its policy."""
    named, script = status.get("layers"), status.get("script")
    if not isinstance(named, dict) or not isinstance(script, str):
        return []
    from skills.lib import paths

    return [
        (skill, paths.of_layer(script, str(status["project"]), skill, name))
        for skill, name in named.items()
        if os.path.basename(skill) == skill and skill.strip(".") and isinstance(name, str) and is_name(name)
    ]


def is_name(name: str) -> bool:
    """True if a name can be that of a workflow's policy: a YAML file beside the script."""
    return os.path.basename(name) == name and name.endswith((".yaml", ".yml")) and name[0] != "."


def known(source: Source) -> Policy | None:
    """The policy of a source whose text was read before, in the state that it has now; None if it was not."""
    digest = quick.index(source.path)[1]
    return of_digest(digest, source) if digest else None


def of_digest(digest: str, source: Source) -> Policy | None:
    """The policy of a text that was compiled before; None if there is none that this version can use."""
    from skills.lib.guard.compiled import kept
    from skills.lib.guard.policy import Policy

    compiled = kept(digest)
    if compiled is None:
        return None
    try:
        policy = Policy(compiled)
    except Exception as error:
        from skills.lib.errors import LockstepError

        if not isinstance(error, (KeyError, LockstepError)):
            raise
        return None  # another version kept it
    return named(policy, source)


def named(policy: Policy, source: Source) -> Policy:
    """The policy with the name of its file here: the same text may have been compiled elsewhere."""
    policy.file = os.path.basename(source.path)
    return policy

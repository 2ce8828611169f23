"""The policies that hold for a call: of the projects that its folder is in, of runs, and those that held before.

A policy is compiled once, in a process of its own that has PyYAML, and kept in the user's cache by the checksum of its
text. A hook that finds no compiled form and cannot make one denies: a policy is never passed over.
"""

from __future__ import annotations

import os
import sys

from skills.lib import compact_json, files, paths
from skills.lib.errors import EnvironmentProblem, LockstepError
from skills.lib.hosts.hook import quick

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from skills.lib.guard.policy import Policy

# A project's policy and its gateway, at its root; agents' editing tools change neither.
NAME, GATEWAY = "lockstep.policy.yaml", "lockstep.gateway.yaml"
LONGEST = 1_000_000
# How long a compilation may take, in seconds; the hook gives up after five.
_PATIENCE = 4.0


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
    return paths.of_skill(os.path.join(os.path.dirname(script), name))


def is_name(name: str) -> bool:
    """True if a name can be that of a workflow's policy: a YAML file beside the script."""
    return os.path.basename(name) == name and name.endswith((".yaml", ".yml")) and name[0] != "."


def load(source: Source) -> Policy:
    """The policy of a source. Raises EnvironmentProblem or UsageError if it cannot be read or compiled."""
    from skills.lib.guard import kept
    from skills.lib.guard.policy import Policy

    try:
        about = quick.about_file(source.path)
        text = files.read(source.path, LONGEST)
    except (FileNotFoundError, NotADirectoryError):
        if not source.digest:
            raise _unreadable(source.path, "it is not there") from None
        return _kept(source.digest, source) or _gone(source)
    except (OSError, ValueError) as error:
        raise _unreadable(source.path, getattr(error, "strerror", None) or str(error)) from error
    policy = _kept(compact_json.checksum(text), source)
    if policy is None:
        compiled = compile_apart(text, source.path)
        kept.keep(compiled)
        policy = _named(Policy(compiled), source)
    if not quick.index(source.path)[0]:
        quick.keep(source.path, source.facts.partition(".")[2] or "run", _free(policy), about)
    return policy


def _kept(digest: str, source: Source) -> Policy | None:
    """The policy of a text that was compiled before; None if there is none that this version can use."""
    from skills.lib.guard import kept
    from skills.lib.guard.policy import Policy

    compiled = kept.read(digest)
    try:
        return _named(Policy(compiled), source) if compiled else None
    except (KeyError, LockstepError):  # another version kept it
        return None


def _named(policy: Policy, source: Source) -> Policy:
    """The policy with the name of its file here: the same text may have been compiled elsewhere."""
    policy.file = os.path.basename(source.path)
    return policy


def index_gateway(path: str) -> None:
    """Keep the index of a gateway file, which is on the tools alone that edit and write, if there is none."""
    if os.path.basename(path) == GATEWAY and not quick.index(path)[0]:
        try:
            quick.keep(path, "gateway", _tools_but({"edit", "write"}), quick.about_file(path))
        except OSError:
            return


def _tools_but(rules: set[str]) -> set[str]:
    """The hosts' names of the tools that the table has, but for those of these canonical names or own names."""
    from skills.lib.hosts.hook.tools import ALSO, FREE, TABLE

    named = {own: name for name, hosts in TABLE.items() for names in hosts.values() for own in names} | ALSO
    concerned = {own for name, hosts in TABLE.items() if name in rules for names in hosts.values() for own in names}
    return ({own for own, name in named.items() if name not in rules} | FREE) - concerned - rules


def _free(policy: Policy) -> list[str]:
    """The hosts' names of tools that a policy says nothing of, and that change no file and run no command."""
    from skills.lib.hosts.hook.tools import TABLE

    free = _tools_but({*policy.tools, "edit", "write", "shell"})
    programs = {words[0].rpartition("/")[2] for _, words in policy.shell_rules() if words}
    plain = {f"$ {program}" for program in quick.LOOKING - programs}
    if "git" not in programs:
        plain |= {f"$ git {word}" for word in quick.LOOKING_OF_GIT}
    shells = set() if "shell" in policy.tools else {own for names in TABLE["shell"].values() for own in names}
    return sorted(free | plain | {f"shell {own}" for own in shells - set(policy.tools)})


def compile_apart(text: bytes, path: str) -> dict[str, Any]:
    """The compiled form of a text, made by a Python that has its packages: the hook runs without any.

    Raises EnvironmentProblem.
    """
    import subprocess

    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compile_policy.py")
    remedy = f"a person at a terminal: lockstep policy check {path}"
    try:
        done = subprocess.run(
            [sys.executable, "-I", script, os.path.basename(path)],
            input=text,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise EnvironmentProblem(f"the policy {path} cannot be compiled: {error}", remedy=remedy) from error
    try:
        compiled = compact_json.loads(done.stdout.decode()) if not done.returncode else None
    except ValueError:
        compiled = None
    if not isinstance(compiled, dict):
        said = done.stderr.decode("utf-8", "replace").strip()[:2_000] or f"exit code {done.returncode}"
        raise EnvironmentProblem(f"the policy {path} cannot be compiled: {said}", remedy=remedy)
    return compiled


def _unreadable(path: str, why: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"the policy {path} cannot be read: {why}",
        remedy="a person makes it a readable file, or removes it",
    )


def _gone(source: Source) -> Policy:
    raise EnvironmentProblem(
        f"the policy {source.path} held in this session and is gone",
        remedy="a person puts it back, or begins a new session",
    )

"""The text of a policy file: it is read and compiled once for each of its states, and an index of it is kept.

It is compiled in a process of its own that has PyYAML. A hook that finds no compiled form and cannot make one denies: a
policy is never passed over.
"""

from __future__ import annotations

import os
import sys

from skills.lib import compact_json, files
from skills.lib.errors import EnvironmentProblem
from skills.lib.guard import compiled as compiled_policies
from skills.lib.guard.policy import Policy
from skills.lib.hosts.hook import policies, quick

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from skills.lib.hosts.hook.policies import Source

LONGEST = 1_000_000
# How long a compilation may take, in seconds; the hook gives up after five.
_PATIENCE = 4.0


def load(source: Source) -> Policy:
    """The policy of a source. Raises EnvironmentProblem or UsageError if it cannot be read or compiled."""
    try:
        about = quick.about_file(source.path)
        text = files.read(source.path, LONGEST)
    except (FileNotFoundError, NotADirectoryError):
        if not source.digest:
            raise _unreadable(source.path, "it is not there") from None
        return policies.of_digest(source.digest, source) or _gone(source)
    except (OSError, ValueError) as error:
        raise _unreadable(source.path, getattr(error, "strerror", None) or str(error)) from error
    digest = compact_json.checksum(text)
    policy = policies.of_digest(digest, source)
    if policy is None:
        compiled = compile_apart(text, source.path)
        compiled_policies.keep(compiled)
        policy = policies.named(Policy(compiled), source)
    if quick.index(source.path)[1] != digest:
        quick.keep(source.path, source.facts.partition(".")[2] or "run", digest, _free(policy), about)
    return policy


def index_gateway(path: str) -> None:
    """Keep the index of a gateway file, which is on the tools alone that edit and write, if there is none."""
    if not quick.index(path)[0]:
        try:
            quick.keep(path, "gateway", "", _tools_but({"edit", "write"}), quick.about_file(path))
        except OSError:
            return


def _tools_but(rules: set[str]) -> set[str]:
    """The hosts' names of the tools that the table has, but for those of these canonical names or own names."""
    from skills.lib.hosts.hook.tools import ALSO, FREE, TABLE

    named = {own: name for name, hosts in TABLE.items() for names in hosts.values() for own in names} | ALSO
    concerned = {own for name, hosts in TABLE.items() if name in rules for names in hosts.values() for own in names}
    return ({own for own, name in named.items() if name not in rules} | FREE) - concerned - rules


def _free(policy: Policy) -> list[str]:
    """The names of an index: the hosts' of tools that a policy says nothing of, and the programs that it has rules on.

    Tools that change files are none of them: they could change the policy itself.
    """
    from skills.lib.hosts.hook.tools import TABLE

    free = _tools_but({*policy.tools, "edit", "write", "shell"})
    ruled = {quick.RULED + _ruled(words) for _, words in policy.shell_rules() if words}
    shells = set() if "shell" in policy.tools else {own for names in TABLE["shell"].values() for own in names}
    return sorted(free | ruled | {f"shell {own}" for own in shells - set(policy.tools)})


def _ruled(rule: Sequence[str]) -> str:
    """The program that a rule is on, of git with the command if the rule has one."""
    from skills.lib.guard.shell_parts import base

    program = base(rule[0])
    command = next((word for word in rule[1:] if word[:1] != "-"), "")
    return f"{program} {command}" if program == "git" and command else program


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

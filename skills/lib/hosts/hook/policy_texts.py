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
from skills.lib.hosts.hook import policies, policy_index, quick

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.hosts.hook.policies import Source

LONGEST = 1_000_000
# How long a compilation may take, in seconds; the hook gives up after five.
_PATIENCE = 4.0


def load(source: Source) -> Policy:
    """The policy of a source. Raises EnvironmentProblem or UsageError if it cannot be read or compiled."""
    try:
        about = quick.about_settled(source.path)
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
        policy_index.keep(source.path, source.facts.partition(".")[2] or "run", policy, about)
    return policy


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

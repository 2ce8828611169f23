"""Policies as commands read them: from files, and the words that say what a guard answers."""

from __future__ import annotations

import os
from collections.abc import Sequence

from skills.lib import files
from skills.lib.conventions import read_shared
from skills.lib.errors import EnvironmentProblem, UsageError
from skills.lib.guard import compiled as compiled_policies
from skills.lib.guard.decisions import Allow, Deny, Look
from skills.lib.guard.policy import Policy, compile_policy
from skills.lib.guard.replaying import Recorded, read_records

# A project's own policy, at its root.
PROJECT_POLICY = "lockstep.policy.yaml"
LARGEST = 100_000_000
# How many tools a sentence names; JSON has them all.
_NAMED = 3


def read(file: str) -> Policy:
    """The policy of a YAML file, kept for hooks without YAML. Raises UsageError or EnvironmentProblem that names it."""
    compiled = compile_policy(_text(file, "a policy"), file)
    compiled_policies.keep(compiled)
    return Policy(compiled)


def for_coding(mode: str) -> str:
    """The text of the policy for coding projects that ships with Lockstep, in a mode."""
    text = read_shared("policies", "coding.yaml")
    assert text is not None
    return text.replace("\nmode: deny\n", f"\nmode: {mode}\n") + "\n"


def create(project: str, text: str) -> str:
    """The path of the project's policy, written. Raises UsageError if there is one."""
    file = os.path.join(project, PROJECT_POLICY)
    try:
        with open(file, "x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError as error:
        remedy = f"see what it says: lockstep policy check {file}; or compare: lockstep policy new --dry-run"
        raise UsageError(f"{file} is there already", remedy=remedy) from error
    except OSError as error:
        raise EnvironmentProblem(f"{file} cannot be written: {error.strerror}", remedy="make it writable") from error
    return min(file, os.path.relpath(file), key=len)


def of_project(named: Sequence[str], project: str) -> list[Policy]:
    """The policies of these files, or that of the project if there are none."""
    if named:
        return [read(file) for file in named]
    return [read(project_file(project, "--policy FILE"))]


def project_file(project: str, other: str) -> str:
    """The path of the project's policy. Raises UsageError if there is none; ``other`` names a policy."""
    file = os.path.join(project, PROJECT_POLICY)
    if not os.path.isfile(file):
        remedy = f"name a policy: {other}; or write one: lockstep policy new"
        raise UsageError(f"{project} has no {PROJECT_POLICY}", remedy=remedy)
    return min(file, os.path.relpath(file), key=len)


def records(file: str) -> list[tuple[int, Recorded]]:
    """The calls of a recorded session, one JSON object a line."""
    text = _text(file, "a recorded session").removeprefix("\ufeff")
    return read_records(text.split("\n"), file)  # a text in a record may have U+2028, at which splitlines cuts


def _text(file: str, what: str) -> str:
    try:
        text = files.read(file, LARGEST).decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8 text", remedy=f"name {what}") from error
    except files.TooLarge as error:
        raise UsageError(f"{file} is larger than {LARGEST // 1_000_000} MB") from error
    except files.NotRegular as error:
        kind = "a folder" if os.path.isdir(file) else "no regular file"
        raise UsageError(f"{file} is {kind}", remedy=f"name {what}") from error
    except FileNotFoundError as error:
        raise UsageError(f"{file} does not exist", remedy=f"name {what}") from error
    except OSError as error:
        raise EnvironmentProblem(f"{file} cannot be read: {error.strerror}", remedy=f"name {what}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def because(answer: Allow | Deny | Look) -> str:
    """Why a guard answers so, as a sentence; empty for a call that is allowed."""
    if isinstance(answer, Allow):
        return because(answer.reported) if answer.reported is not None else ""
    return answer.reason + told_by(answer.tools)


def told_by(tools: Sequence[str]) -> str:
    """The first tools that show or change a place, as the end of a sentence; empty without one."""
    more = f" and {len(tools) - _NAMED} more" if len(tools) > _NAMED else ""
    return f"; shown or changed by {', '.join(tools[:_NAMED])}{more}" if tools else ""

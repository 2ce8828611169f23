"""Checks of the files that decide for a project: its policy and its gateway."""

from __future__ import annotations

import os
from collections.abc import Iterator
from shlex import quote

from skills.lib import files
from skills.lib.gateway.places import GATEWAY_FILE, POLICY_FILE
from skills.lib.guard.policy import Policy, compile_policy
from skills.lib.hosts.doctor.examination import DoctorContext, Result, counted, ok, problem, warning

_LARGEST = 4_000_000


def policy(context: DoctorContext) -> Iterator[Result]:
    """Whether the project's policy can be used; a file whose name is almost that of a policy or a gateway decides
    nothing."""
    place = os.path.join(context.project, POLICY_FILE)
    if os.path.lexists(place):
        yield _read(place)
    else:
        yield ok("the project has no policy of its own")
    for name in sorted(os.listdir(context.project)):
        meant = name.casefold().removesuffix(".yml").removesuffix(".yaml") + ".yaml"
        if meant in (POLICY_FILE, GATEWAY_FILE) and not _is(context.project, name, meant):
            path = os.path.join(context.project, name)
            what = f"{name} is not read: the file is called {meant}"
            yield warning(what, path, f"mv {quote(path)} {quote(os.path.join(context.project, meant))}")


def _read(place: str) -> Result:
    try:
        found = Policy(compile_policy(files.read(place, _LARGEST).decode(), place))
    except (files.TooLarge, files.NotRegular, UnicodeDecodeError):
        return problem("the policy is no text, or too large: each call that it may concern is denied", place)
    return ok(f"the project's policy: {counted(len(found.tools), 'rule')}, mode {found.mode}", place)


def _is(project: str, name: str, meant: str) -> bool:
    """True if both names are those of one file, as on a system that does not tell case apart."""
    try:
        return name == meant or os.path.samefile(os.path.join(project, name), os.path.join(project, meant))
    except OSError:
        return False

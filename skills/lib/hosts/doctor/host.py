"""Checks of a host itself: is its program there, and is it of a version that Lockstep knows?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skills.lib.hosts.doctor import installed
from skills.lib.hosts.doctor.context import DoctorContext
from skills.lib.hosts.doctor.result import Result, ok, problem, warning
from skills.lib.hosts.known_hosts import KNOWN

_VERSION = re.compile(r"\b(\d+)\.(\d+)(?:\.(\d+))?")


def found(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether the host's program is on the PATH."""
    program, remedy = context.program(host), KNOWN[host].package
    if host == "agents":
        yield ok("a folder for any host that reads .agents/skills; there is no program to look for")
    elif program:
        yield ok(f"{host} is on the PATH", program)
    elif context.named:
        yield problem(f"{host} is not on the PATH", remedy=remedy)
    elif installed.is_installed(context, host):
        yield warning(f"{host} is not on the PATH, and skills are installed for it", remedy=remedy)
    else:
        yield ok(f"{host} is not on the PATH, and nothing is installed for it")


def version(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether the host is of a version that the hooks were tried with."""
    program, known = context.program(host), KNOWN[host]
    if not program:
        return
    answer = context.ask(program, "--version")
    shown = _VERSION.search(answer.out or answer.err)
    if answer.code != 0 or shown is None:
        yield problem(f"{host} --version fails: {answer.why or answer.last_words()}", program, known.package)
        return
    if known.supported is None:
        yield ok(f"version {shown[0]}; the hooks are built from its documents, see docs/hosts")
        return
    first, beyond = known.supported
    span = f"{'.'.join(map(str, first))} and later, below {'.'.join(map(str, beyond))}"
    if first <= tuple(int(part) for part in shown.groups() if part is not None) < beyond:
        yield ok(f"version {shown[0]} (supported: {span})")
    else:
        yield warning(f"version {shown[0]}; the hooks were tried with {span}", program, known.package)

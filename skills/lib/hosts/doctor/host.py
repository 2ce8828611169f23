"""Checks of a host itself: whether its program is there, and whether it is of a version that Lockstep knows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skills.lib.hosts.doctor.context import PROGRAMS, DoctorContext
from skills.lib.hosts.doctor.result import Result, ok, problem, warning

# How a program is had.
PACKAGES = {
    "codex": "npm install -g @openai/codex",
    "claude": "npm install -g @anthropic-ai/claude-code",
    "opencode": "npm install -g opencode-ai",
    "qwen": "npm install -g @qwen-code/qwen-code",
    "gemini": "npm install -g @google/gemini-cli",
}
# Host -> the version that the hooks were tried with, and the first that may be another thing. Claude Code is built
# from its documents and tried with recorded events only.
SUPPORTED: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "codex": ((0, 169), (1,)),
    "opencode": ((1, 18), (2,)),
    "qwen": ((0, 24), (1,)),
    "gemini": ((0, 61), (1,)),
}
_VERSION = re.compile(r"\b(\d+)\.(\d+)(?:\.(\d+))?")


def found(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether the host's program is on the PATH."""
    if host not in PROGRAMS:
        yield ok("a folder for any host that reads .agents/skills; there is no program to look for")
        return
    program = context.program(host)
    if program:
        yield ok(f"{PROGRAMS[host]} is on the PATH", program)
    elif context.named:
        yield problem(f"{PROGRAMS[host]} is not on the PATH", remedy=PACKAGES[host])
    elif context.is_installed(host):
        yield warning(f"{PROGRAMS[host]} is not on the PATH, and skills are installed for it", remedy=PACKAGES[host])
    else:
        yield ok(f"{PROGRAMS[host]} is not on the PATH, and nothing is installed for it")


def version(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether the host is of a version that the hooks were tried with."""
    program = context.program(host)
    if not program:
        return
    answer = context.ask(program, "--version")
    told = _VERSION.search(answer.out or answer.err)
    if answer.code != 0 or told is None:
        reason = answer.why or answer.last_words()
        yield problem(f"{PROGRAMS[host]} --version fails: {reason}", program, PACKAGES[host])
        return
    number = tuple(int(part) for part in told.groups() if part is not None)
    if host not in SUPPORTED:
        yield ok(f"version {told[0]}; the hooks are built from its documents, see docs/hosts")
        return
    first, beyond = SUPPORTED[host]
    span = f"{'.'.join(map(str, first))} and later, below {'.'.join(map(str, beyond))}"
    if first <= number < beyond:
        yield ok(f"version {told[0]} (supported: {span})")
    else:
        yield warning(f"version {told[0]}; the hooks were tried with {span}", program, PACKAGES[host])

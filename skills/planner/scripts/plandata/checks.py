"""Runs the test, lint and type commands that a plan names, one after another, without a shell."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from .command import plan_in
from .faults import USAGE, PlanError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SECONDS = 1_800
# How much is shown of the output of what failed, over all of it.
SHOWN = 1_000
_USAGE = "usage: project_checks.py PLAN_DIR [SECONDS]: runs the plan's commands, each for so long at most (1800)"


class Ran(NamedTuple):
    """A command and how it ended; ``why`` is empty where it ended with 0."""

    kind: str
    argv: tuple[str, ...]
    why: str
    seconds: float
    output: str


def commands_of(plan: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each command of a plan with its kind: test, lint or types."""
    for kind in ("test", "lint", "types"):
        for argv in plan["testing"]["commands"][kind] or ():
            yield kind, tuple(argv)


def run(kind: str, argv: Sequence[str], seconds: float) -> Ran:
    """Run one command in the working directory."""
    begun = time.monotonic()
    # A file, not a pipe: what the command leaves running in the background must not hold this up.
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        except (OSError, ValueError) as error:
            return Ran(kind, tuple(argv), f"cannot be run: {error}", 0.0, "")
        try:
            code = process.wait(seconds)
            why = f"ended with {code}" if code else ""
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            why = f"did not end within {seconds:.15g} s"
        output.seek(max(0, output.seek(0, 2) - SHOWN))
        text = output.read().decode("utf-8", "replace")
    return Ran(kind, tuple(argv), why, time.monotonic() - begun, text)


def main(arguments: list[str]) -> int:
    """Run a plan's commands and tell how each ended; 0 if all ended with 0."""
    try:
        seconds = float(arguments[1]) if len(arguments) == 2 else SECONDS
        if len(arguments) not in (1, 2) or not 0 < seconds < 1e6:
            raise ValueError
    except ValueError:
        print(_USAGE)
        return USAGE
    try:
        commands = list(commands_of(plan_in(arguments[0])[1]))
    except PlanError as error:
        print(f"project_checks.py: {error.what}")
        return error.code
    done = []
    for kind, argv in commands:
        print(f"running {kind}: {' '.join(argv)}", file=sys.stderr, flush=True)
        done.append(run(kind, argv, seconds))
    return _tell(done)


def _tell(done: Sequence[Ran]) -> int:
    """Print the end of what each failed one put out, then a line for each: whoever sees only the end sees all."""
    failed = [one for one in done if one.why]
    for line in (*tails_of(failed), *lines_of(done)):
        print(line)
    return 1 if failed else 0


def tails_of(failed: Sequence[Ran]) -> list[str]:
    """The end of what each failed command put out, below the command."""
    room = SHOWN // (len(failed) or 1)
    return [f"--- {one.kind}: {' '.join(one.argv)}\n{one.output[-room:].strip()}" for one in failed]


def lines_of(done: Sequence[Ran]) -> list[str]:
    """How each command ended, and last how many did and failed."""
    told = [
        f"{'FAILED' if one.why else 'passed'} {one.kind}: {' '.join(one.argv)}: {one.why or 'ended with 0'}"
        for one in done
    ]
    failed = len([one for one in done if one.why])
    return [*told, f"{len(done)} commands, {failed} failed" if done else "the plan names no commands"]

"""Checks of the project: its ledger, the runs in it, and ledgers above it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from shlex import quote

from skills.lib import paths
from skills.lib.errors import LedgerError
from skills.lib.hosts.doctor.context import DoctorContext
from skills.lib.hosts.doctor.result import Result, ok, problem, warning
from skills.lib.ledger import Ledger
from skills.lib.ledger.database import FILE, exists


def ledger(context: DoctorContext) -> Iterator[Result]:
    """Whether every checksum holds and the events lead to the runs as they stand."""
    home = paths.home(context.project)
    if not os.path.isdir(home) or (os.access(home, os.X_OK) and not exists(home)):
        yield ok("no run was ever opened here", home)
        return
    if not os.access(home, os.W_OK | os.X_OK):
        yield problem("the ledger's folder cannot be written", home, f"chmod u+rwx {quote(home)}")
        return
    try:
        with Ledger(home, create=False) as opened:
            opened.verify()
            count = len(opened.every_run())
    except LedgerError as error:
        aside = f"mv {quote(home)} {quote(home + '.aside')}"
        moved = "damaged" in error.what or "missing" in error.what or "not a ledger" in error.what
        yield problem(error.what, os.path.join(home, FILE), aside if moved else error.remedy)
        return
    yield ok(f"the ledger is whole: {count} run{'' if count == 1 else 's'}", os.path.join(home, FILE))


def open_runs(context: DoctorContext) -> Iterator[Result]:
    """Whether the script of each open run is still there."""
    opened = Ledger.existing(paths.home(context.project))
    if opened is None:
        return
    with opened:
        runs = [run for run in opened.every_run("parent IS NULL") if not run.ended]
    for run in runs:
        if not os.path.isfile(run.script):
            yield problem(
                f"the run {run.id} of {run.workflow} is open, and its script is gone",
                run.script,
                f"lockstep abandon {quote(run.id)} --reason 'its skill is gone' --project {quote(context.project)}",
            )
    if runs:
        yield ok(f"{len(runs)} run{'' if len(runs) == 1 else 's'} open: lockstep runs")


def ledgers_above(context: DoctorContext) -> Iterator[Result]:
    """Whether a folder above has a ledger too: an agent that starts there finds other runs than one from here."""
    if os.path.isabs(context.environment.get("LOCKSTEP_HOME") or ""):
        return
    folder = context.project
    while os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        if os.path.isfile(os.path.join(folder, ".lockstep", "runs.db")):
            yield warning(
                "a folder above has a ledger of its own; which one counts depends on where an agent starts",
                os.path.join(folder, ".lockstep"),
                f"lockstep runs --project {quote(folder)}",
            )

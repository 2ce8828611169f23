"""``lockstep agent work``."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from skills.lib import terminal
from skills.lib.commands.console.options import examples, project_option
from skills.lib.commands.console.screen import Screen, one_line
from skills.lib.commands.fleet import extra
from skills.lib.model.texts import counted

if TYPE_CHECKING:
    from skills.lib.fleet.worker import Worker


@click.command(
    short_help="Follow submitted runs until drained.",
    epilog=examples(
        "lockstep agent work  # two runs at a time; ^C takes nothing new, ^C again leaves what runs to others",
        "lockstep agent work --slots 4 --per-user 2  # four at a time, and at most two of one user in all workers",
        "lockstep agent work --until-empty  # end once no submitted run can go on",
    ),
)
@click.option("--name", metavar="NAME", default="", help="The worker's name (default: the machine's, with a number).")
@click.option("--slots", type=click.IntRange(1), metavar="N", default=2, show_default=True, help="Runs at a time.")
@click.option(
    "--per-user",
    type=click.IntRange(1),
    metavar="N",
    default=8,
    show_default=True,
    help="Runs of one user at a time, in all workers.",
)
@click.option(
    "--patience",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    default=20.0,
    show_default=True,
    help="Without a sign of life for so long, other workers take over.",
)
@click.option("--model", metavar="PROVIDER:NAME", help="The model, over all that skills and steps name.")
@click.option("--base-url", metavar="URL", help="An endpoint that speaks the provider's protocol.")
@click.option("--until-empty", is_flag=True, help="End once no submitted run can go on.")
@project_option
@click.pass_obj
def work(
    screen: Screen,
    name: str,
    slots: int,
    per_user: int,
    patience: float,
    model: str | None,
    base_url: str | None,
    until_empty: bool,
    project: str,
) -> None:
    """Follow the submitted runs of the project, each in a worktree of its own, with as many workers as you start.

    Without LOCKSTEP_LEDGER_URL the queue is a file beside the ledger: no server is needed. SIGTERM stops the sessions
    before their next model call; other workers go on with the runs. --slots and --per-user hold for all workers: the
    one that starts last sets them.
    """
    terminal.forbid_lockstep_agent("an agent's session starts no worker")
    extra.require()
    from skills.lib.fleet.worker import Worker

    with Worker(
        project, model, name=name, slots=slots, per_user=per_user, patience=patience, base_url=base_url or ""
    ) as worker:
        screen.say(
            f"Worker {worker.name}: {counted(slots, 'run')} at a time. "
            "^C takes nothing new, and ends once what runs is done."
        )
        with _shown(screen), _signals(screen, worker):
            worker.work(until_empty)
    screen.say(f"Worker {worker.name} has ended.")


@contextmanager
def _signals(screen: Screen, worker: Worker) -> Iterator[None]:
    """Have ^C drain the worker, and a second one, or SIGTERM, end it; what was set before comes back."""

    def interrupted(number: int, frame: object) -> None:
        if number == signal.SIGTERM or worker.is_ending:
            worker.leave()
        else:
            worker.drain()
            screen.say(f"Nothing new is taken; {len(worker.runs)} at work. ^C again leaves them to other workers.")

    before = {number: signal.signal(number, interrupted) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _shown(screen: Screen) -> Iterator[None]:
    """Print what the worker logs."""

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            screen.say(one_line(record.getMessage()))

    log = logging.getLogger("lockstep.fleet")
    handler, level, propagates = Handler(), log.level, log.propagate
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        log.propagate = propagates

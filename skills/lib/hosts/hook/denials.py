"""The texts of the hook: what a denial, a fault or a reminder says, which command goes on, and the way out."""

from __future__ import annotations

import os

from skills.lib import launcher
from skills.lib.blocks.command_line import here, join, lockstep_command
from skills.lib.hosts.hook import sessions, tools
from skills.lib.hosts.hook.event import LONGEST, printable
from skills.lib.hosts.hook.shell_calls import LIFELINES
from skills.lib.hosts.hook.shell_commands import without_launcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.lib.hosts.hook.followed import Followed, Status

VARIABLES = (
    "A command of a skill sets a variable (LOCKSTEP_…, PYTHON…, HOME, XDG_…_HOME) for itself. That would lead "
    "the run out of the record, so run the command as it was printed. If such a variable is wanted, a person sets it "
    "where the host is started."
)
NOT_AT_ITS_END = "is not at its end"
_NOT_RUN = (
    "Nothing shows that its skill ran on this machine, so the run may have come with the project, and no command is "
    "named here that would run it. Ask the user whether it is wanted.\n"
)


def denial(held: Status, host: str, tool: str) -> str:
    """Why a tool is denied."""
    why = (
        f"The run {_run(held)} is at {_step(held)}, which allows: "
        f"{tools.named(held['tools'], host)}. {tool[:80]} is not among them here."
    )
    return f"{why} {_onward(held)}{_way_out(held)}"


def protected(held: Status, tool: str, what: str) -> str:
    """Why a tool may not change a file that a run, or the hook, depends on."""
    why = f"The run {_run(held)} is at {_step(held)}. {tool[:80]} would change {what}, which no step allows."
    return f"{why} {_onward(held)}{_way_out(held)}"


def not_yet(held: Status) -> str:
    """Why a stop is refused."""
    why = f"The run {_run(held)} {NOT_AT_ITS_END}: it is at {_step(held)}."
    onward = f"Do what the step says, then run:\n  {_command(held)}\n" if held["is_trusted"] else _NOT_RUN
    return f"{why} {onward}{_way_out(held)}"


def answering(held: Status) -> str:
    """Why an agent may not answer as the person at the terminal."""
    return (
        "lockstep answer is for a person at a terminal, and so are pause, unpause and gateway trust; an answer that an "
        "agent gives in their place is worth nothing. Ask the person to run it, and go on with run "
        f"{held['run']} by its own command."
    )


def forging(held: Status) -> str:
    """Why an agent's shell may not name the hook's program."""
    return (
        "The hook is started by the host: what it is told counts as the user's word, so no command of an agent may "
        f"name its program while a run is open. Go on with run {held['run']} by its own command."
    )


def no_launcher(run: str) -> str:
    """Why a short command is not run: its program is missing, and what restores it; empty for an unknown run.

    The run's entry says that this user ran its script.
    """
    place = launcher.entry(os.path.dirname(launcher.place()), run)
    if not place:
        return ""
    again = join([*lockstep_command(), "resume", run, "--project", place[2]])
    return f"{launcher.place()}, the launcher of short commands, is missing. This writes it again: {again}"


def lost(runs: Sequence[Followed]) -> str:
    """That the ledger of these runs was removed, and what to do."""
    names = ", ".join(one["run"] for one in runs)
    return printable(
        f"The ledger that holds the Lockstep run {names} is gone from {runs[0]['project']} (git clean -xdf removes it, "
        "for one): the run cannot go on, nothing it recorded is left, and the user should be told; if the work is "
        "still wanted, begin a new run."
    )


def fault(error: Exception) -> str:
    """What went wrong in the hook itself."""
    lines = getattr(error, "lines", None)
    what = "; ".join(line.strip() for line in lines()) if lines else f"{type(error).__name__}: {error}"
    return f"Lockstep's hook could not do its work ({what[:2_000]})."


def blocked(error: Exception, name: str) -> str:
    """What went wrong, and how to go on in spite of it; ``name`` is the session's file, "" if it is unknown."""
    place = sessions.path_of(name) + "*" if name else sessions.folder()
    return (
        f"{fault(error)} A run is open in this session or a policy holds, so nothing goes on unseen. The way out: "
        "lockstep runs lists the runs; lockstep abandon RUN --reason '…' ends one, and frees this session even if the "
        f"ledger cannot be written. Always allowed: {', '.join(sorted(LIFELINES))}. For a person at a terminal: "
        f"lockstep doctor says what is wrong; what holds this session is {place}, and without it the session is free."
    )


def _run(held: Status) -> str:
    return f"{held['run']} of {held['workflow']}" if held["workflow"] else str(held["run"])


def _step(held: Status) -> str:
    return f"the step '{held['title']}'" if held["title"] else "a step"


def _onward(held: Status) -> str:
    """How the run goes on. The commands of a run that came with the project would run what the project names."""
    if not held["is_trusted"]:
        return _NOT_RUN
    return f"This command goes on, and is always allowed as one simple command:\n  {_command(held)}\n"


def _command(held: Status) -> str:
    """The command that goes on; if it is very long, not known or cannot be run, the one that prints the block."""
    onward = str(held["next"]).rstrip("\n")
    is_usable = 0 < len(onward) <= LONGEST // 2 and not without_launcher(onward)
    return onward if is_usable else lockstep("resume", held)


def _way_out(held: Status) -> str:
    again = f"To see the step again: {lockstep('resume', held)}\n" if held["is_trusted"] else ""
    return (
        f"{again}If the work is no longer wanted: {lockstep('abandon', held)} --reason '…'\n"
        f"If other work comes first, a person runs at a terminal: {lockstep('pause', held)}"
    )


def lockstep(subcommand: str, run: Followed | Status) -> str:
    """A lockstep command line about a run, for this machine."""
    return join([*lockstep_command(), subcommand, run["run"], "--project", run["project"]])


def reminder(status: Status, loads: bool, longest: int = LONGEST) -> str:
    """The current block with a line that says what it is; if it is too long or unreadable, how to see it.

    With ``loads`` the skill's code may be run to make it.
    """
    of = f" of {status['workflow']}" if status["workflow"] else ""
    head = (
        f"A Lockstep run is open in this session: {status['run']}{of}. It goes on step by step, "
        "each printed by a command."
    )
    shorter = _named(status, head)
    if not loads:
        return shorter[:longest]
    try:
        text = f"{head} This is its present step, as the command printed it:\n{_block(status)}"
    except Exception as error:
        why = printable(f"{type(error).__name__}: {str(error)[:300]}")
        return f"{shorter}(The block could not be made here: {why})\n"[:longest]
    return text if len(text) <= longest else shorter[:longest]


def _named(status: Status, head: str) -> str:
    """The step of the run, and what prints its block; no text of a status file that the skill did not write here."""
    if not status["is_trusted"]:
        return printable(f"{head} {_onward(status)}{_way_out(status)}\n")
    printed = f"printed by:\n  {lockstep('resume', status)}\n"
    if not status["next"] or without_launcher(status["next"]):
        return printable(f"{head} Its present step is {printed}")
    at = f"{head} This is its present step: '{status['title']}', turn {status['turn']}. Its block is {printed}"
    return printable(f"{at}The command that goes on:\n  {status['next']}\n")


def _block(status: Status) -> str:
    from skills.lib.runtime import Runner, loading, script

    path = status["script"]
    runner = Runner(here(path, status["project"]))
    try:
        response = runner.state(loading.workflow_of_script(path), status["run"])
        return script.render_response(response, runner)
    finally:
        runner.close()

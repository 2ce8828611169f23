"""The one place that turns an error into a message and an exit code."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable

import click

from skills.lib.commands.console.screen import clean
from skills.lib.errors import (
    INTERRUPTED,
    PRINTED,
    EnvironmentProblem,
    LockstepError,
    UsageError,
    did_you_mean,
    nearest,
    tell,
)
from skills.lib.runtime import bugs, script

# A disk or a quota is full, a file has all that it may have, or the device is broken.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_RUNS = "lockstep runs, which lists them"
# The command that lists what an argument may be, by the argument's name.
_LISTED = {"run_id": _RUNS, "run_ids": _RUNS, "skill": "lockstep list, which lists them"}


def serve(call: Callable[[], object]) -> int:
    """Call, and return the exit code: what the call returns, or that of the error that it raises.

    A message goes to standard error: what was wrong, what is valid, what to try. A reader that went away is no error.
    """
    if sys.stdout is None:  # the caller closed it
        return report(EnvironmentProblem("standard output is closed", remedy="run it with an output"))
    try:
        code = call()
        sys.stdout.flush()
        return code if isinstance(code, int) else PRINTED
    except LockstepError as error:
        return report(error)
    except click.ClickException as error:
        return report(_as_usage(error))
    except (click.Abort, KeyboardInterrupt, EOFError):
        tell("lockstep: interrupted\n")
        return INTERRUPTED
    except BrokenPipeError:
        return script.silence_output()
    except OSError as error:
        if error.errno not in _NO_ROOM:
            return bugs.report()
        script.silence_output()
        what = f"{error.filename} cannot be written" if error.filename else "the output cannot be written"
        return report(EnvironmentProblem(f"{what}: {error.strerror}", remedy="make room, or write elsewhere"))
    except Exception:
        return bugs.report()


def report(error: LockstepError) -> int:
    """Say on standard error what was wrong, what is valid and what to try; return the exit code."""
    tell("lockstep: " + "\n".join(clean(line) for line in error.lines()) + "\n")
    return error.exit_code


def _as_usage(error: click.ClickException) -> UsageError:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "lockstep"
    valid, remedy = "", f"{path} --help"
    # A user does not know click's names of types; and some of click's guesses are far away.
    what = error.format_message().rstrip(".")
    what = what.replace(" a valid float range", " a valid number").replace(" a valid integer range", " a valid integer")
    if context is not None and (of_group := _about_commands(context, what)) is not None:
        return of_group
    if isinstance(error, click.NoSuchOption) and context is not None:
        options = [
            option for param in context.command.get_params(context) for option in param.opts if option[:2] == "--"
        ]
        near = nearest(error.option_name.lstrip("-"), [option[2:] for option in options])
        what = f"no such option {error.option_name!r:.80}{did_you_mean(near and f'--{near}')}"
        valid = ", ".join(options)
    elif isinstance(error, click.MissingParameter):
        what, _, choices = what.partition(". Choose from:")
        valid = ", ".join(choices.replace(",", " ").split())
        listed = _LISTED.get(error.param.name or "") if error.param else None
        remedy = f"{listed}; or {remedy}" if listed else remedy
    elif isinstance(error, click.BadParameter) and error.param and isinstance(error.param.type, click.Choice):
        given = what.partition(": '")[2].partition("' is not one of")[0]
        what += did_you_mean(nearest(given, [str(choice) for choice in error.param.type.choices]))
    return UsageError(f"{path}: {what[:1].lower()}{what[1:]}", valid=valid, remedy=remedy)


def _about_commands(context: click.Context, what: str) -> UsageError | None:
    """The error of a group that was called without a command, or with one that it does not have; else None."""
    group, given = context.command, what.partition("No such command '")[2].partition("'")[0]
    if not isinstance(group, click.Group) or not (given or what.startswith("Usage: ")):
        return None
    path, names = context.command_path, group.list_commands(context)
    near = did_you_mean(nearest(given, names))
    wrong = f"there is no command {given!r:.80}{near}" if given else "a command is missing"
    return UsageError(f"{path}: {wrong}", valid=", ".join(names), remedy=f"{path} --help")

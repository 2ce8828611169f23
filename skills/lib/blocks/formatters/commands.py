"""Commands that a bare formatter prints: every argument quoted for the shell."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from skills.lib.errors import UsageError
from skills.lib.model.standalone import QRState

INTERPRETER = "python3"


def command_line(arguments: Sequence[str], what: str = "command") -> str:
    """Return the arguments as one line for the shell; raise UsageError for a text in the place of a list."""
    if isinstance(arguments, str) or not arguments:
        raise UsageError(
            f"{what}: {arguments!r} is not a list of arguments",
            remedy='give each argument by itself, as in ["make", "test"]: it is quoted for the shell',
        )
    if os.name == "nt":
        from subprocess import list2cmdline

        return list2cmdline(arguments)
    from shlex import join

    return join(arguments)


def script_arguments(
    script: str,
    step: int | str,
    total: int | None,
    options: Mapping[str, object] | None = None,
    interpreter: str = INTERPRETER,
) -> list[str]:
    """Return the arguments that call a script at a step; an option of True is a bare flag, None and False leave it out.

    Raises UsageError for a script that would be read as an option, and for an option name that cannot be a flag.
    """
    if not script or script.startswith("-"):
        raise UsageError(f"script: {script!r} is not the path of a script", remedy="give the path, as ./name.py")
    arguments = [interpreter, script, "--step", str(step)]
    if total is not None:
        arguments += ["--total-steps", str(total)]
    for name, value in (options or {}).items():
        if value is True:
            arguments.append(flag(name))
        elif value is not None and value is not False:
            arguments.append(f"{flag(name)}={value}")
    return arguments


def flag(name: str) -> str:
    """Return the flag of an option, ``a_name`` as ``--a-name``; raise UsageError for what cannot be one."""
    word = name.replace("_", "-")
    if not (word.isascii() and word.replace("-", "a").isalnum() and word[0].isalpha()):
        raise UsageError(f"option: {name!r} is not a name", valid="a letter, then letters, digits, - and _")
    if word in ("step", "total-steps"):
        raise UsageError(f"option: --{word} is set by the formatter", remedy="choose another name")
    return "--" + word


def review_options(qr: QRState | None) -> dict[str, object]:
    """Return the options that carry a review loop's state from one command to the next."""
    if qr is None:
        return {}
    return {"qr_iteration": qr.iteration, "qr_fail": qr.failed, "qr_status": qr.status}

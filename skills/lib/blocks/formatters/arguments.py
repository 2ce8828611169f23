"""What formatters are given: each function returns the checked argument or raises UsageError that names it."""

from __future__ import annotations

from skills.lib.blocks.command_line import join
from skills.lib.errors import UsageError
from skills.lib.field_checks import coerce
from skills.lib.model.types import Element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Sized
    from typing import Any

    from skills.lib.model.standalone import QRState

INTERPRETER = "python3"


def texts(given: Iterable[str] | str, what: str) -> tuple[str, ...]:
    """Return the texts of a list, a single text as a list of one; an empty list is refused."""
    found = (given,) if isinstance(given, str) else tuple(given)
    if not found:
        raise UsageError(f"{what} is empty", remedy=f"give at least one text, or leave the block of {what} out")
    return found


def elements(tag: str, given: Iterable[str] | str, what: str) -> list[Element]:
    """Return one element per text; an empty list is refused."""
    return [Element(tag, None, text) for text in texts(given, what)]


def check_filled(given: Sized, what: str, least: str) -> None:
    """Refuse an empty list or mapping; ``least`` is what to give at least."""
    if not given:
        raise UsageError(f"{what} is empty", remedy=f"give at least one {least}")


def exactly(text: str) -> str:
    """Return ``text`` as plain text even if it is Rendered: what is quoted is shown, never nested."""
    return str.__str__(text)


def word(kind: type[Any], value: object, what: str) -> Any:
    """Return ``value`` as a word of the vocabulary ``kind``."""
    try:
        return coerce(kind, value, what)
    except ValueError as error:
        raise UsageError(str(error)) from None


def whole(number: object, what: str) -> int:
    """Return a whole number of 1 or more."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise UsageError(f"{what}: {number!r} is not a whole number of 1 or more")
    return number


def position(step: int | str, total: int) -> None:
    """Refuse a step that is neither a step id nor a number from 1 to ``total``."""
    whole(total, "total")
    if isinstance(step, str):
        if not step:
            raise UsageError("step: an empty text is not a step id")
    elif whole(step, "step") > total:
        raise UsageError(f"step: {step} is past the last of {total}", valid=f"1 to {total}")


def command_line(arguments: Sequence[str], what: str = "command") -> str:
    """Return the arguments as one line for the shell; a text in place of a list is refused."""
    if isinstance(arguments, str) or not arguments:
        raise UsageError(
            f"{what}: {arguments!r} is not a list of arguments",
            remedy='give each argument by itself, as in ["make", "test"]: it is quoted for the shell',
        )
    return join(arguments)


def script_command(
    script: str | None,
    step: int | str,
    total: int | None,
    options: Mapping[str, object] | None = None,
    interpreter: str = INTERPRETER,
) -> str:
    """Return the command that calls a script at a step, an empty text without a script.

    An option of True is a bare flag, None and False leave it out. A script that would be read as an option is refused,
    and so is an option name that cannot be a flag.
    """
    if script is None:
        return ""
    if not script or script.startswith("-"):
        raise UsageError(f"script: {script!r} is not the path of a script", remedy="give the path, as ./name.py")
    arguments = [interpreter, script, "--step", str(step)]
    if total is not None:
        arguments += ["--total-steps", str(total)]
    for name, value in (options or {}).items():
        if value is True:
            arguments.append(_flag(name))
        elif value is not None and value is not False:
            arguments.append(f"{_flag(name)}={value}")
    return join(arguments)


def review_options(qr: QRState | None) -> dict[str, object]:
    """Return the options that carry a review loop's state from one command to the next."""
    return {} if qr is None else {"qr_iteration": qr.iteration, "qr_fail": qr.failed, "qr_status": qr.status}


def _flag(name: str) -> str:
    word = name.replace("_", "-")
    if not (word.isascii() and word.replace("-", "a").isalnum() and word[0].isalpha()):
        raise UsageError(f"option: {name!r} is not a name", valid="a letter, then letters, digits, - and _")
    if word in ("step", "total-steps"):
        raise UsageError(f"option: --{word} is set by the formatter", remedy="choose another name")
    return "--" + word

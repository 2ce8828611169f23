"""How a formatter's arguments become elements, and elements a Rendered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from skills.lib.blocks.xml import render
from skills.lib.errors import UsageError
from skills.lib.model.types import Element, Rendered


def block(
    tag: str, attributes: Mapping[str, object] | None = None, *children: Element | str, prose: bool = False
) -> Rendered:
    """Render one element as a Rendered, which stands as it is in an action list."""
    return Rendered(render(Element(tag, attributes, *children, prose=prose)))


def texts(given: Iterable[str] | str, what: str) -> tuple[str, ...]:
    """Return the texts of a list, one text being a list of one; raise UsageError, naming ``what``, for an empty one."""
    found = (given,) if isinstance(given, str) else tuple(given)
    if not found:
        raise UsageError(f"{what} is empty", remedy=f"give at least one text, or leave the block of {what} out")
    return found


def elements(tag: str, given: Iterable[str] | str, what: str) -> list[Element]:
    """Return one element per text; raise UsageError, naming ``what``, for an empty list."""
    return [Element(tag, None, text) for text in texts(given, what)]


def exactly(text: str) -> str:
    """Return ``text`` as plain text even where it is a Rendered: what is quoted is shown, never nested."""
    return str.__str__(text)


def whole(number: object, what: str) -> int:
    """Return a whole number of 1 or more; raise UsageError, naming ``what``, for anything else."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise UsageError(f"{what}: {number!r} is not a whole number of 1 or more")
    return number


def position(step: int | str, total: int) -> None:
    """Raise UsageError unless ``step`` is a step id, or a number from 1 to ``total``."""
    whole(total, "total")
    if isinstance(step, str):
        if not step:
            raise UsageError("step: an empty text is not a step id")
    elif whole(step, "step") > total:
        raise UsageError(f"step: {step} is past the last of {total}", valid=f"1 to {total}")

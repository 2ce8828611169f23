"""Checks what a program gives to a runner before anything is done with it: what cannot be kept or printed is refused.

The step command and the MCP server check what their users write, and say it in the words of their users.
"""

from __future__ import annotations

from skills.lib.errors import UsageError
from skills.lib.model.run import Request
from skills.lib.model.steps import Workflow
from skills.lib.model.texts import check_text, check_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TEXTS = ("step", "typed", "outcome", "answer", "lost", "replace", "reason", "qr_status")
_VALUES = ("params", "records", "errata")
# How many characters a name and a key have at most.
LONGEST = 200


def check_workflow(workflow: Any) -> None:
    """Raise UsageError for anything but a workflow."""
    if not isinstance(workflow, Workflow):
        raise UsageError(f"workflow is {_shown(workflow)}", valid="a Workflow")


def check_id(run_id: Any) -> None:
    """Raise UsageError for what is no text, or a text that no document can hold; any other is of an unknown run."""
    if not isinstance(run_id, str):
        raise UsageError(f"run is {_shown(run_id)}", valid="the id of a run")
    check_text(run_id, "run")


def check_line(text: Any, what: str) -> None:
    """Raise UsageError for what is no text, or a text that is too long or cannot be printed on one line."""
    if not isinstance(text, str) or len(text) > LONGEST or not text.isprintable():
        raise UsageError(f"{what} is {_shown(text)}", valid=f"at most {LONGEST} characters that can be printed")


def check_reason(text: Any) -> None:
    """Raise UsageError for what is no text, or a text that no document can hold."""
    if not isinstance(text, str):
        raise UsageError(f"reason is {_shown(text)}", valid="a text")
    check_text(text, "reason")


def check_values(values: Any, what: str) -> None:
    """Raise UsageError for what is no mapping of names to JSON values that a document can hold."""
    try:
        named = dict(values)
    except (TypeError, ValueError):
        raise UsageError(f"{what} is {_shown(values)}", valid="a mapping of names to JSON values") from None
    check_tree(named, what)


def check_request(run_id: Any, request: Any) -> None:
    """Raise UsageError for what is no request about that run whose values can be kept and printed."""
    check_id(run_id)
    if not isinstance(request, Request):
        raise UsageError(f"request is {_shown(request)}", valid="a Request")
    if request.run is not None and request.run != run_id:
        raise UsageError(f"the request is about run {request.run!r:.80}, not {run_id:.80}", remedy="name one run")
    if request.turn is not None and type(request.turn) is not int:
        raise UsageError(f"turn is {_shown(request.turn)}", valid="a whole number, or None")
    for name in _TEXTS:
        if getattr(request, name) is not None:
            check_text(getattr(request, name), name)
    for name in _VALUES:
        check_values(getattr(request, name), name)
    for name, note in request.errata.items():
        if not isinstance(note, str):
            raise UsageError(f"the note on {name} is {_shown(note)}", valid="a text")


def _shown(value: Any) -> str:
    """The value as an error names it, cut if it is long; its kind if it cannot be written."""
    try:
        return f"{value!r:.80}"
    except Exception:
        return f"a value of the kind {type(value).__name__}"

"""A whole step of an author's own script, and the parts that lead on from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skills.lib.blocks.formatters.commands import INTERPRETER, command_line, review_options, script_arguments
from skills.lib.blocks.formatters.dispatch import dispatch_block
from skills.lib.blocks.formatters.fragments import block, position, texts
from skills.lib.errors import UsageError
from skills.lib.model.standalone import BranchRouting, LinearRouting, QRState, Routing, TerminalRouting
from skills.lib.model.types import Dispatch, Element, Rendered


def format_step_output(
    step: int | str,
    total: int,
    title: str,
    actions: Sequence[str] | str = (),
    routing: Routing | None = None,
    dispatch: Dispatch | None = None,
    *,
    script: str | None = None,
    next_command: Sequence[str] | Rendered | None = None,
    invoke_after: Rendered | None = None,
    qr: QRState | None = None,
    options: Mapping[str, str] | None = None,
    context: Rendered | None = None,
    record: Rendered | None = None,
    forbidden: Rendered | None = None,
    interpreter: str = INTERPRETER,
) -> Rendered:
    """Print one step of an author's own script: actions, and the command that goes on.

    The actions mix text and blocks. With ``script`` the next command follows from the routing: the step after this one,
    or one command for each verdict; ``qr`` and ``options`` are carried along in it. After the last step, or a
    TerminalRouting, there is none. ``next_command`` (arguments, or what ``format_next_block`` made) and
    ``invoke_after`` (of ``format_invoke_after``) replace what the routing says. ``context``, ``record`` and
    ``forbidden`` take the blocks of ``format_context``, ``format_record_block`` and ``format_forbidden``. The fields of
    a ``Step`` fit as they are: ``format_step_output(step=1, total=4, script="script.py", **STEPS[1].fields())``.

    What it prints carries no run and no turn. Raises UsageError for a step past the total, and where no next command
    can be told.
    """
    position(step, total)
    lines = list(texts(actions, "actions")) if actions else []
    if dispatch is not None:
        lines.append(dispatch_block(dispatch, interpreter))
    onward: list[Element | Rendered]
    if next_command is not None or invoke_after is not None:
        onward = [invoke_after] if invoke_after is not None else []
        if next_command is not None:
            onward.append(next_command if isinstance(next_command, Rendered) else _next(next_command))
    else:
        carried: dict[str, object] = {**(options or {}), **review_options(qr)}
        onward = _routed(routing or LinearRouting(), step, total, script, carried, interpreter)
    state = f"Step {step} of {total}." + ("" if onward else " This is the last step.")
    parts = [context, Element("DO", None, *lines, prose=True), record, forbidden, *onward]
    attributes = {"number": step, "of": total, "title": title, "iteration": qr and qr.iteration}
    return block("step", attributes, Element("STATE", None, state), *(part for part in parts if part is not None))


def format_invoke_after(
    next: Mapping[str, int | str | None],
    when: Mapping[str, str] | None = None,
    commands: Mapping[str, Sequence[str]] | None = None,
) -> Rendered:
    """Say where each outcome leads, None being the end, when it is the right one, and by which command.

    Raises UsageError for a condition or a command of an outcome that leads nowhere.
    """
    if not next:
        raise UsageError("next is empty", remedy="give at least one outcome and the step that it leads to")
    strays = [name for name in {**(when or {}), **(commands or {})} if name not in next]
    if strays:
        raise UsageError(f"outcome {strays[0]!r} has no step to lead to", valid=", ".join(next))
    return block("INVOKE_AFTER", None, *_routes(next, when or {}, commands or {}))


def format_next_block(command: Sequence[str]) -> Rendered:
    """Print the one command that goes on, every argument quoted for the shell."""
    return block("NEXT", {"required": True}, command_line(command))


def _next(command: Sequence[str]) -> Element:
    return Element("NEXT", {"required": True}, command_line(command, "next_command"))


def _routed(
    routing: Routing, step: int | str, total: int, script: str | None, options: dict[str, object], interpreter: str
) -> list[Element | Rendered]:
    if isinstance(routing, TerminalRouting) or (isinstance(routing, LinearRouting) and step == total):
        return []
    if script is None:
        raise UsageError("no next command can be told", remedy="give script, next_command, or TerminalRouting()")
    if isinstance(routing, BranchRouting):
        targets = {"pass": routing.if_pass, "fail": routing.if_fail}
        commands = {
            verdict: script_arguments(script, target, total, {**options, "qr_status": verdict}, interpreter)
            for verdict, target in targets.items()
        }
        when = {"pass": "nothing that blocks is open", "fail": "a finding that blocks is open"}
        return [Element("INVOKE_AFTER", None, *_routes(targets, when, commands))]
    if isinstance(step, str):
        raise UsageError(f"step {step!r} has no number to count on from", remedy="give next_command")
    return [_next(script_arguments(script, step + 1, total, options, interpreter))]


def _routes(
    targets: Mapping[str, int | str | None], when: Mapping[str, str], commands: Mapping[str, Sequence[str]]
) -> list[Element]:
    routes = []
    for name, target in targets.items():
        parts = [Element("when", None, when[name])] if name in when else []
        if name in commands:
            parts.append(Element("command", None, command_line(commands[name])))
        routes.append(Element("outcome", {"name": name, "to": "done" if target is None else target}, *parts))
    return routes

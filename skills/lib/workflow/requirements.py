"""What a step asks to be reported and proved before it may be left, as data."""

from __future__ import annotations

from skills.lib import compact_json
from skills.lib.workflow.types import (
    Severity,
    Value,
    check_list,
    check_mapping,
    check_text,
    coerce,
    shown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

TYPES = ("text", "int", "float", "bool", "list", "json", "items", "statements", "answers")


class Arg(Value):
    """A parameter of the workflow: of the run (fixed at opening), or of leaving the one ``step`` it names.

    ``type`` is one of TYPES; ``minimum`` and ``maximum`` bound a number, or the length of a text or list. ``waives``
    names the evidence that a value stands in for: it is then a reason of more than a word, and ``done`` lists it.
    """

    __slots__ = ("name", "type", "choices", "minimum", "maximum", "default", "required", "step", "help", "waives")
    name: str
    type: str
    choices: tuple[str, ...]
    minimum: float | None
    maximum: float | None
    default: Any
    required: bool
    step: str | None
    help: str
    waives: str

    def __init__(
        self,
        name: str,
        type: str = "text",
        *,
        choices: Sequence[str] = (),
        minimum: float | None = None,
        maximum: float | None = None,
        default: object = None,
        required: bool | None = None,
        step: str | None = None,
        help: str = "",
        waives: str = "",
    ) -> None:
        what = "Arg"
        _check(name, type, what)
        if default is not None and not isinstance(default, (str, int, float, list, dict)):
            raise TypeError(f"Arg {name} default: {shown(default)} is not a text, number, list or mapping")
        self._set(
            name=name,
            type=type,
            choices=_choices(choices, what, name) if choices else (),
            minimum=None if minimum is None else _bound(minimum, what, name),
            maximum=None if maximum is None else _bound(maximum, what, name),
            default=default,
            required=(default is None) if required is None else bool(required),
            step=None if step is None else check_text(step, "Arg step"),
            help=check_text(help, "Arg help"),
            waives=check_text(waives, "Arg waives"),
        )

    @property
    def flag(self) -> str:
        """The command-line flag of this parameter."""
        return "--" + self.name.replace("_", "-")


class Field(Value):
    """A value to record on leaving a step, given as ``--record NAME=VALUE`` or in a record file.

    A reviewer records ``statements`` ("scope | statement", which the engine numbers, or "none: reason") and then
    ``answers``, one for each statement, check and item; the items of the review are derived from these. ``waives``
    names what the value stands in for: ``done`` lists each of its entries.
    """

    __slots__ = ("name", "type", "choices", "minimum", "maximum", "required", "help", "waives")
    name: str
    type: str
    choices: tuple[str, ...]
    minimum: float | None
    maximum: float | None
    required: bool
    help: str
    waives: str

    def __init__(
        self,
        name: str,
        type: str = "text",
        *,
        choices: Sequence[str] = (),
        minimum: float | None = None,
        maximum: float | None = None,
        required: bool = True,
        help: str = "",
        waives: str = "",
    ) -> None:
        what = "Field"
        _check(name, type, what)
        self._set(
            name=name,
            type=type,
            choices=_choices(choices, what, name) if choices else (),
            minimum=None if minimum is None else _bound(minimum, what, name),
            maximum=None if maximum is None else _bound(maximum, what, name),
            required=bool(required),
            help=check_text(help, "Field help"),
            waives=check_text(waives, "Field waives"),
        )


class Artifact(Value):
    """A non-empty file that must exist under the project; ``schema`` is a JSON Schema its content must meet.

    ``path`` is relative to the project's root and may name a recorded field or parameter as ``{field}``.
    """

    __slots__ = ("path", "schema", "help")
    path: str
    schema: Mapping[str, Any] | None
    help: str

    def __init__(self, path: str, schema: Mapping[str, Any] | None = None, help: str = "") -> None:
        if schema is not None:
            schema = dict(check_mapping(schema, f"Artifact {shown(path)} schema", "{'type': 'object'}"))
        self._set(path=check_text(path, "Artifact path"), schema=schema, help=check_text(help, "Artifact help"))


class Command(Value):
    """A command that must exit 0, run by the script itself in the project's root; ``timeout`` is in seconds.

    An argument of the list may name a recorded field or parameter as ``{field}`` (a list or number stands as JSON); no
    shell is involved. A list that begins with a bare ``name.py`` runs the script of that name beside the skill's entry
    script, by the same interpreter. With ``severity``, in a reviewer's workflow, it may fail: how it ended becomes an
    item of the review. With ``records`` the JSON value that it prints is recorded under that name, so that the agent
    does not type it; with ``may_fail`` too, how it ended is recorded: {"ok": …, "exit": …, "output": …}.
    """

    __slots__ = ("argv", "timeout", "help", "severity", "records", "may_fail")
    argv: tuple[str, ...]
    timeout: float
    help: str
    severity: Severity | None
    records: str
    may_fail: bool | None

    def __init__(
        self,
        argv: Sequence[str],
        timeout: float = 600,
        help: str = "",
        severity: Severity | str | None = None,
        records: str = "",
        may_fail: bool | None = None,
    ) -> None:
        if isinstance(argv, str) or not argv:
            raise ValueError(f"Command: argv is a list of arguments, not {shown(argv)}")
        parts = check_list(argv, "Command argv", "['program', 'argument']")
        for part in parts:
            if part is None or isinstance(part, (bytes, list, tuple, dict, Value)):
                raise TypeError(f"Command {shown(parts)}: the argument {shown(part)} is not text")
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
            raise TypeError(f"Command {shown(parts)} timeout: {shown(timeout)} is not a number of seconds")
        if not 0 < timeout < 1e9:
            raise ValueError(f"Command {shown(parts)} timeout: {timeout} is not a number of seconds above 0")
        if records != "":
            _check(records, "json", "Command records")
        elif may_fail:
            raise ValueError(
                f"Command {shown(parts)}: how it ends matters to nothing; give records, or leave may_fail out"
            )
        self._set(
            argv=tuple(map(str, parts)),
            timeout=timeout,
            help=check_text(help, "Command help"),
            severity=None if severity is None else coerce(Severity, severity, "Command severity"),
            records=records,
            may_fail=True if may_fail else None,  # the form as data has no False
        )


Requirement = Field | Artifact | Command


def fill(template: str, fields: Mapping[str, Any]) -> str:
    """Put recorded values in place of ``{name}``; values are never read for names in their turn."""
    parts, rest = [], template
    while True:
        head, brace, tail = rest.partition("{")
        name, closed, after = tail.partition("}")
        parts.append(head)
        if not brace:
            return "".join(parts)
        if closed and name in fields:
            value = fields[name]
            parts.append(value if isinstance(value, str) else compact_json.dumps(value))
            rest = after
        else:
            parts.append("{")
            rest = tail


def _check(name: str, type: str, what: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"{what} name: {shown(name)} is not text")
    if not (name.isascii() and name.replace("_", "a").isalnum() and name[:1].isalpha()):
        raise ValueError(f"{what}: {name!r} is not a name (letters, digits and _; a letter first)")
    if type not in TYPES:
        raise ValueError(f"{what} {name}: {shown(type)} is not a type: use one of {', '.join(TYPES)}")


def _choices(value: Sequence[str], what: str, name: str) -> tuple[str, ...]:
    choices = check_list(value, f"{what} {name} choices", f"choices=[{shown(value)}]")
    for choice in choices:
        if not isinstance(choice, (str, int, float)):
            raise TypeError(f"{what} {name} choices: {shown(choice)} is not a text or number")
    return tuple(map(str, choices))


def _bound(value: float, what: str, name: str) -> float:
    """Return a minimum or maximum; raise TypeError or ValueError if it is no finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{what} {name}: the bound {shown(value)} is not a number")
    if not -1e308 < value < 1e308:
        raise ValueError(f"{what} {name}: the bound {shown(value)} is not a finite number")
    return value

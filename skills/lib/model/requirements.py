"""What a step asks to be reported and proved before it may be left, as data."""

from __future__ import annotations

from skills.lib import compact_json
from skills.lib.field_checks import check_list, check_mapping, coerce, shown
from skills.lib.model.types import Severity
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from dataclasses import KW_ONLY
    from typing import Any

TYPES = ("text", "int", "float", "bool", "list", "json", "items", "statements", "answers")


class Arg(Record):
    """A parameter of the workflow: of the run (fixed at opening), or of leaving the one ``step`` it names.

    ``type`` is one of TYPES; ``minimum`` and ``maximum`` bound a number, or the length of a text or list. ``waives``
    names the evidence that a value stands in for: it is then a reason of more than a word, and ``done`` lists it.
    """

    name: str
    type: str = "text"
    _: KW_ONLY
    choices: Sequence[Any] = ()
    minimum: float | None = None
    maximum: float | None = None
    default: Any = None
    required: bool | None = None
    step: str | None = None
    help: str = ""
    waives: str = ""

    def _check(self) -> None:
        _check_declaration(self)
        default = self.default
        if default is not None and not isinstance(default, (str, int, float, list, dict)):
            raise TypeError(f"Arg {self.name} default: {shown(default)} is not a text, number, list or mapping")
        if default is not None and default != "":
            _check_default(self)
        self._set(required=default is None if self.required is None else bool(self.required))

    @property
    def flag(self) -> str:
        """The command-line flag of this parameter."""
        return "--" + self.name.replace("_", "-")


class Field(Record):
    """A value to record on leaving a step, given as ``--record NAME=VALUE`` or in a record file.

    A reviewer records ``statements`` ("scope | statement", which the engine numbers, or "none: reason") and then
    ``answers``, one for each statement, check and item; the items of the review are derived from these. ``waives``
    names what the value stands in for: ``done`` lists each of its entries.
    """

    name: str
    type: str = "text"
    _: KW_ONLY
    choices: Sequence[Any] = ()
    minimum: float | None = None
    maximum: float | None = None
    required: bool = True
    help: str = ""
    waives: str = ""

    def _check(self) -> None:
        _check_declaration(self)


class Artifact(Record):
    """A non-empty file that must exist under the project; ``schema`` is a JSON Schema its content must meet.

    ``path`` is relative to the project's root and may name a recorded field or parameter as ``{field}``.
    """

    path: str
    schema: Mapping[str, Any] | None = None
    help: str = ""

    def _check(self) -> None:
        if self.schema is not None:
            what = f"Artifact {shown(self.path)} schema"
            self._set(schema=dict(check_mapping(self.schema, what, "{'type': 'object'}")))


class Command(Record):
    """A command that must exit 0, run by the script itself in the project's root; ``timeout`` is in seconds.

    An argument of the list may name a recorded field or parameter as ``{field}`` (a list or number stands as JSON); no
    shell is involved. A list that begins with a bare ``name.py`` runs the script of that name beside the skill's entry
    script, by the same interpreter. With ``severity``, in a reviewer's workflow, it may fail: how it ended becomes an
    item of the review. With ``records`` the JSON value that it prints is recorded under that name, so that the agent
    does not type it; with ``may_fail`` too, how it ended is recorded: {"ok": …, "exit": …, "output": …}.
    """

    argv: Sequence[Any]
    timeout: float = 600
    help: str = ""
    severity: Severity | str | None = None
    records: str = ""
    may_fail: bool | None = None

    def _check(self) -> None:
        argv, timeout = self.argv, self.timeout
        if isinstance(argv, str) or not argv:
            raise ValueError(f"Command: argv is a list of arguments, not {shown(argv)}")
        parts = check_list(argv, "Command argv", "['program', 'argument']")
        for part in parts:
            if part is None or isinstance(part, (bytes, list, tuple, dict, Record)):
                raise TypeError(f"Command {shown(parts)}: the argument {shown(part)} is not text")
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
            raise TypeError(f"Command {shown(parts)} timeout: {shown(timeout)} is not a number of seconds")
        if not 0 < timeout < 1e9:
            raise ValueError(f"Command {shown(parts)} timeout: {timeout} is not a number of seconds above 0")
        if self.records != "":
            _check_name(self.records, "Command records")
        elif self.may_fail:
            what = "how it ends matters to nothing; give records, or leave may_fail out"
            raise ValueError(f"Command {shown(parts)}: {what}")
        self._set(
            argv=tuple(map(str, parts)),
            severity=None if self.severity is None else coerce(Severity, self.severity, "Command severity"),
            may_fail=True if self.may_fail else None,  # the form as data has no False
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


def _check_declaration(spec: Arg | Field) -> None:
    what, name = type(spec).__name__, spec.name
    _check_name(name, what)
    if spec.type not in TYPES:
        raise ValueError(f"{what} {name}: {shown(spec.type)} is not a type: use one of {', '.join(TYPES)}")
    spec._set(choices=_choices(spec.choices, what, name))
    for bound in (spec.minimum, spec.maximum):
        _check_bound(bound, what, name)


def _check_default(arg: Arg) -> None:
    from skills.lib.model import values  # it knows Arg, and few parameters have a default

    try:
        read = values.read(arg, arg.default)
    except ValueError as error:
        raise ValueError(f"Arg {arg.name} default: {error}") from None
    if read != arg.default or isinstance(read, bool) != isinstance(arg.default, bool):
        raise TypeError(
            f"Arg {arg.name} default: {shown(arg.default)} is not {values.expectation(arg)}; write {read!r}"
        )


def _check_name(name: str, what: str) -> None:
    if not (name.isascii() and name.replace("_", "a").isalnum() and name[:1].isalpha()):
        raise ValueError(f"{what}: {name!r} is not a name (letters, digits and _; a letter first)")


def _choices(value: Sequence[object], what: str, name: str) -> tuple[str, ...]:
    choices = check_list(value, f"{what} {name} choices", f"choices=[{shown(value)}]")
    for choice in choices:
        if not isinstance(choice, (str, int, float)):
            raise TypeError(f"{what} {name} choices: {shown(choice)} is not a text or number")
    return tuple(map(str, choices))


def _check_bound(value: float | None, what: str, name: str) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{what} {name}: the bound {shown(value)} is not a number")
    if not -1e308 < value < 1e308:
        raise ValueError(f"{what} {name}: the bound {shown(value)} is not a finite number")

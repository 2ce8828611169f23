"""What a step asks to be reported and proved before it may be left, as data."""

from __future__ import annotations

from skills.lib import compact_json
from skills.lib.workflow.types import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

TYPES = ("text", "int", "float", "bool", "list", "json", "items")


class Arg(Value):
    """A parameter of the workflow: of the run (fixed at opening), or of leaving the one ``step`` it names.

    ``type`` is one of TYPES; ``minimum`` and ``maximum`` bound a number, or the length of a text or list.
    """

    __slots__ = ("name", "type", "choices", "minimum", "maximum", "default", "required", "step", "help")
    name: str
    type: str
    choices: tuple[str, ...]
    minimum: float | None
    maximum: float | None
    default: Any
    required: bool
    step: str | None
    help: str

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
    ) -> None:
        _check(name, type, "Arg")
        self._set(
            name=name,
            type=type,
            choices=tuple(str(choice) for choice in choices),
            minimum=minimum,
            maximum=maximum,
            default=default,
            required=(default is None) if required is None else bool(required),
            step=step,
            help=help,
        )

    @property
    def flag(self) -> str:
        """The command-line flag of this parameter."""
        return "--" + self.name.replace("_", "-")


class Field(Value):
    """A value to record on leaving a step, given as ``--record NAME=VALUE`` or in a record file."""

    __slots__ = ("name", "type", "choices", "minimum", "maximum", "required", "help")
    name: str
    type: str
    choices: tuple[str, ...]
    minimum: float | None
    maximum: float | None
    required: bool
    help: str

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
    ) -> None:
        _check(name, type, "Field")
        self._set(
            name=name,
            type=type,
            choices=tuple(str(choice) for choice in choices),
            minimum=minimum,
            maximum=maximum,
            required=bool(required),
            help=help,
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
        self._set(path=path, schema=None if schema is None else dict(schema), help=help)


class Command(Value):
    """A command that must exit 0, run by the script itself in the project's root; ``timeout`` is in seconds.

    An argument of the list may name a recorded field or parameter as ``{field}`` (a list or number stands as JSON); no
    shell is involved. A list that begins with a bare ``name.py`` runs the script of that name beside the skill's entry
    script, by the same interpreter.
    """

    __slots__ = ("argv", "timeout", "help")
    argv: tuple[str, ...]
    timeout: float
    help: str

    def __init__(self, argv: Sequence[str], timeout: float = 600, help: str = "") -> None:
        if isinstance(argv, str) or not argv:
            raise ValueError(f"Command: argv is a list of arguments, not {argv!r}")
        self._set(argv=tuple(str(part) for part in argv), timeout=timeout, help=help)


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
    if not (name.isascii() and name.replace("_", "a").isalnum() and name[:1].isalpha()):
        raise ValueError(f"{what}: {name!r} is not a name (letters, digits and _; a letter first)")
    if type not in TYPES:
        raise ValueError(f"{what} {name}: {type!r} is not a type: use one of {', '.join(TYPES)}")

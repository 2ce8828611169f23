"""The values that a legacy script's expressions have while it is only read.

What is known is a plain Python value. The rest is one of the classes here: it may be passed on, joined into a text or
compared, and says at last whether anything depended on it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


class Other:
    """Any text that the script compares with nothing."""

    def __repr__(self) -> str:
        return "another value"


OTHER = Other()


@dataclass(frozen=True)
class Parameter:
    """What the command line gives under a flag; ``choices`` is empty where any value of the type may come."""

    name: str
    type: str = "text"
    choices: tuple[str, ...] = ()
    default: Any = None
    required: bool = False
    help: str = ""
    line: int = 0

    @property
    def flag(self) -> str:
        """The flag on the command line."""
        return "--" + self.name.replace("_", "-")


@dataclass(frozen=True)
class Shifted:
    """A number parameter with a constant added: how a script counts its passes."""

    parameter: Parameter
    by: int


@dataclass(frozen=True)
class Place:
    """A path of the script or its interpreter: known when it runs, and no part of what a step says."""

    word: str = "SCRIPT"


@dataclass(frozen=True)
class Unknown:
    """What only running would tell; ``told`` where the reason stands in the book already."""

    line: int
    what: str
    told: bool = False


@dataclass(frozen=True)
class Template:
    """A text of which some parts are not known, put together at a line."""

    parts: tuple[Any, ...]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Made:
    """A call of a formatter or a value of the library, by the names of its parameters."""

    name: str
    given: Mapping[str, Any]
    line: int


@dataclass(frozen=True)
class Named:
    """A name of the library, the standard library or the builtins, such as ``sys.exit``."""

    name: str


@dataclass(frozen=True)
class Method:
    """A method of a value."""

    owner: Any
    name: str


@dataclass(frozen=True)
class Function:
    """A function of the script."""

    node: ast.FunctionDef

    def __deepcopy__(self, memo: object) -> Function:
        return self


@dataclass
class Parser:
    """An argparse parser while it is filled."""

    parameters: dict[str, Parameter] = field(default_factory=dict)


@dataclass(frozen=True)
class Arguments:
    """What a parser gave."""

    parser: Parser


ABSTRACT = (Parameter, Shifted, Place, Unknown, Template, Made, Named, Method, Function, Parser, Arguments, Other)


def is_known(value: Any) -> bool:
    """Whether a value is plain through and through."""
    if isinstance(value, dict):
        return all(is_known(key) and is_known(item) for key, item in value.items())
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(is_known(item) for item in value)
    return not isinstance(value, ABSTRACT)


def is_word(value: Any) -> bool:
    """Whether a value is a word of one of the library's vocabularies, such as AgentRole.EXPLORE."""
    return isinstance(value, str) and hasattr(value, "name") and hasattr(value, "value")


def joined(parts: Iterable[Any], line: int = 0) -> str | Template | Unknown:
    """Texts and others as one text: plain where every part is, unknown where one is."""
    flat: list[Any] = []
    for part in parts:
        if isinstance(part, Unknown):
            return part
        for piece in part.parts if isinstance(part, Template) else (part,):
            if flat and isinstance(piece, str) and isinstance(flat[-1], str):
                flat[-1] += str(piece)
            else:
                flat.append(piece)
    if all(isinstance(piece, str) for piece in flat):
        return "".join(flat)
    return Template(tuple(flat), line)


def first_unknown(value: Any) -> Any:
    """The first part of a value that is not known, or None."""
    if isinstance(value, Template):
        return next((part for part in value.parts if not isinstance(part, str)), None)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return next((found for item in value if (found := first_unknown(item)) is not None), None)
    return value if isinstance(value, ABSTRACT) else None

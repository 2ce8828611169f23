"""The base of the value classes: a frozen record whose annotations are its fields, read once for each class.

It costs nothing at start-up that can be measured (for nineteen classes: ``exec`` 2 ms, NamedTuple 14, dataclass 29,
attrs 41; docs/architecture.md).
"""

from __future__ import annotations

from skills.lib.field_checks import CHECKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, dataclass_transform
else:

    def dataclass_transform(**_):
        return lambda base: base


class _Fields(type):
    """Takes the slots, defaults and initializer of a class from its annotations; those after KW_ONLY go by name."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> _Fields:
        kinds = dict(body.get("__annotations__", ()))
        by_name = list(kinds)[list(kinds.values()).index("KW_ONLY") + 1 :] if "KW_ONLY" in kinds.values() else []
        kinds = {field: kind for field, kind in kinds.items() if kind != "KW_ONLY"}
        defaults = {field: body.pop(field) for field in kinds if field in body}
        body["__slots__"] = tuple(kinds)
        if kinds and "__init__" not in body:
            body["__init__"] = _initializer(body["__qualname__"], kinds, by_name, defaults)
        return super().__new__(mcs, name, bases, body)


def _arguments() -> dict[str, Any]:
    return locals()


_Function: Any = type(_arguments)
_assign = object.__setattr__


def _initializer(cls: str, kinds: dict[str, str], by_name: list[str], defaults: dict[str, Any]) -> Callable[..., None]:
    positional = [field for field in kinds if field not in by_name]
    code = _arguments.__code__.replace(
        co_name="__init__", co_qualname=f"{cls}.__init__", co_varnames=("self", *kinds), co_nlocals=len(kinds) + 1,
        co_argcount=len(positional) + 1, co_kwonlyargcount=len(by_name),
    )  # fmt: skip
    bind = _Function(code, globals(), "__init__", tuple([defaults[name] for name in positional if name in defaults]))
    bind.__kwdefaults__ = {name: defaults[name] for name in by_name if name in defaults}
    bind.__annotations__ = kinds
    checks = [(field, CHECKS[kind]) for field, kind in kinds.items() if kind in CHECKS]

    def __init__(*given: Any, **named: Any) -> None:
        fields = bind(*given, **named)  # Python's own TypeError for a wrong, missing or double argument
        self: Record = fields.pop("self")
        for field, value in fields.items():
            _assign(self, field, value)
        for field, check in checks:
            _assign(self, field, check(fields[field], f"{self._label} {field}"))
        self._check()

    __init__.__wrapped__ = bind  # type: ignore[attr-defined]  # from which inspect takes the signature
    return __init__


@dataclass_transform(frozen_default=True)
class Record(metaclass=_Fields):
    """A frozen record: slots, equality by value, a readable repr. CHECKS holds what each kind of field must be."""

    @property
    def _label(self) -> str:
        """The name of this record in an error message."""
        return type(self).__name__

    def _check(self) -> None:
        """Check the other fields and replace them by ``_set``; raise TypeError or ValueError that names the field."""

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            _assign(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be deleted")

    def __setstate__(self, state: tuple[None, dict[str, object]]) -> None:
        self._set(**state[1])

    def fields(self) -> dict[str, object]:
        """Every public field by name, in the order of declaration."""
        return {name: getattr(self, name) for name in type(self).__slots__ if name[0] != "_"}  # type: ignore[attr-defined]

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.fields() == other.fields()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([f'{name}={value!r}' for name, value in self.fields().items()])})"

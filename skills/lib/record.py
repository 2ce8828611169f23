"""The base of the value classes, which costs no time at start-up; docs/architecture.md has what a dataclass costs."""

from __future__ import annotations

from skills.lib.field_checks import CHECKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, dataclass_transform
else:

    def dataclass_transform(**_):
        return lambda base: base


class _Fields(type):
    """Takes the slots, defaults and initializer of a class from its annotations; those after KW_ONLY go by name."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> _Fields:
        kinds: dict[str, str] = dict(body.get("__annotations__", ()))
        by_name = list(kinds)[[*kinds.values(), "KW_ONLY"].index("KW_ONLY") + 1 :]
        kinds = {field: kind for field, kind in kinds.items() if kind != "KW_ONLY"}
        defaults = {field: body.pop(field) for field in kinds if field in body}
        body["__slots__"] = tuple(kinds)
        if kinds and "__init__" not in body:
            body["__init__"] = _initializer(body["__qualname__"], kinds, by_name, defaults)
        return super().__new__(mcs, name, bases, body)


def _initializer(cls: str, kinds: dict[str, str], by_name: list[str], defaults: dict[str, Any]) -> Any:
    assign = object.__setattr__
    code = (lambda: locals()).__code__.replace(  # of a function that returns its arguments by name
        co_name="__init__", co_qualname=f"{cls}.__init__", co_varnames=("self", *kinds), co_nlocals=len(kinds) + 1,
        co_argcount=len(kinds) - len(by_name) + 1, co_kwonlyargcount=len(by_name),
    )  # fmt: skip
    by_place = tuple([value for field, value in defaults.items() if field not in by_name])
    bind: Any = type(_initializer)(code, globals(), "__init__", by_place)  # type: ignore[misc]
    bind.__kwdefaults__ = {field: defaults[field] for field in by_name if field in defaults}
    bind.__annotations__ = kinds
    checks = [(field, CHECKS[kind]) for field, kind in kinds.items() if kind in CHECKS]

    def __init__(*given: Any, **named: Any) -> None:
        fields = bind(*given, **named)  # Python's own TypeError for a wrong, missing or double argument
        self: Record = fields.pop("self")
        for field, value in fields.items():
            assign(self, field, value)
        for field, check in checks:
            assign(self, field, check(fields[field], f"{self._label} {field}"))
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
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object = None) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be changed")

    __delattr__ = __setattr__

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

"""What a value is read for. Only type checkers import this module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Spec(Protocol):
    """What is read: an Arg or a Field."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def choices(self) -> Sequence[Any]: ...
    @property
    def minimum(self) -> float | None: ...
    @property
    def maximum(self) -> float | None: ...

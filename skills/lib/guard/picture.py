"""The picture: one partly known document, made of what the results of tools showed or changed."""

from __future__ import annotations

from skills.lib.guard.values import ABSENT, UNKNOWN, Maybe, Open, OpenList, child, exists, is_moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    Path = Sequence[str | int]


class Picture:
    """What is known, as one map that is open at its root."""

    __slots__ = ("root",)

    def __init__(self) -> None:
        self.root: dict[str, Any] = Open()

    def value(self, path: Path) -> Any:
        """What is known of a place: a value, UNKNOWN or ABSENT."""
        value: Any = self.root
        for key in path:
            value = child(value, key)
        return value

    def write(self, path: Path, value: Any, keep: Collection[str] = ()) -> None:
        """Put a value, UNKNOWN or ABSENT at a place; what it held before is gone.

        An open value without a key says that the place is there: what is known inside it stays. A map that is written
        to the whole picture shows which names there are; a name of ``keep`` that it lacks stays as it is.
        """
        if not path:
            self._write_root(value, keep)
            return
        if isinstance(value, Open) and not value and exists(self.value(path)) is True:
            return
        odd = odd_member(self.root, path, value)
        if odd is not None:
            self.write(path[:odd], UNKNOWN)  # such as a list that has become shorter
            if value is UNKNOWN or value is ABSENT:
                return
        inner: Any = self.root
        for at, key in enumerate(path[:-1]):
            inner = self._entered(inner, key, path[at + 1], value)
            if inner is None:
                return
        self._put(inner, path[-1], value)

    def _write_root(self, value: Any, keep: Collection[str]) -> None:
        if isinstance(value, dict):
            kept = {name: known for name, known in self.root.items() if name in keep}
            if not isinstance(value, Open):
                kept = {**dict.fromkeys(keep, UNKNOWN), **kept}
            self.root = type(value)({**kept, **value})
        elif value is UNKNOWN:
            self.root = Open()

    @staticmethod
    def _entered(inner: Any, key: str | int, following: str | int, value: Any) -> Any:
        """The value at a key, made an open map if nothing is there that could be entered; None to write nothing."""
        found = child(inner, key)
        if isinstance(found, dict) or (isinstance(found, list) and isinstance(following, int)):
            return found
        if value is UNKNOWN:
            Picture._put(inner, key, UNKNOWN)
            return None
        if value is ABSENT and found is not UNKNOWN:
            return None  # a place that is not there, or holds a single value, has nothing inside
        made = Open() if exists(value) is True else Maybe()
        Picture._put(inner, key, made)
        return made

    @staticmethod
    def _put(inner: Any, key: str | int, value: Any) -> None:
        if isinstance(inner, list):
            if isinstance(key, int) and -len(inner) <= key < len(inner):
                inner[key] = UNKNOWN if value is ABSENT else value
            return
        key = str(key)
        if (value is ABSENT and not isinstance(inner, Open)) or (value is UNKNOWN and isinstance(inner, Open)):
            inner.pop(key, None)
        else:
            inner[key] = value


def odd_member(root: Any, path: Path, value: Any) -> int | None:
    """How many keys lead to a list whose other members a write at a place concerns; None if it is in no such list.

    A member that is taken out moves those after it, and so may one that is forgotten; one after the last makes the list
    another one.
    """
    inner = root
    for at, key in enumerate(path):
        if isinstance(inner, list) and isinstance(key, int):
            is_there = not isinstance(inner, OpenList) and -len(inner) <= key < len(inner)
            if not is_there or (at == len(path) - 1 and (value is ABSENT or value is UNKNOWN)):
                is_told = value is ABSENT and not is_there and not isinstance(inner, OpenList)
                return None if is_told else at
        inner = child(inner, key)
    return None


def encoded(value: Any) -> Any:
    """A value as JSON: ``[value]`` if all of it is known, else ``{"?": …}`` with its parts in the same form."""
    if value is UNKNOWN or value is ABSENT:
        return {"?": "unknown" if value is UNKNOWN else "absent"}
    if isinstance(value, Open):
        form = "maybe" if isinstance(value, Maybe) else "open"
        return {"?": form, "in": {key: encoded(part) for key, part in value.items()}}
    if isinstance(value, list):
        listed = [encoded(part) for part in value]
        if not isinstance(value, OpenList) and all(type(part) is list for part in listed):
            return [[part[0] for part in listed]]
        return {"?": "more" if isinstance(value, OpenList) else "list", "in": listed}
    if isinstance(value, dict):
        parts = {key: encoded(part) for key, part in value.items()}
        if all(type(part) is list for part in parts.values()):
            return [{key: part[0] for key, part in parts.items()}]
        return {"?": "map", "in": parts}
    return [str(value) if is_moment(value) else value]


def decoded(data: Any) -> Any:
    """The value that ``encoded`` made data of. Raises ValueError, KeyError or TypeError for anything else."""
    if isinstance(data, list):
        (value,) = data
        return _copied(value)
    form, parts = data["?"], data.get("in")
    if form in ("unknown", "absent"):
        return UNKNOWN if form == "unknown" else ABSENT
    if form in ("list", "more"):
        made = [decoded(part) for part in parts]
        return OpenList(made) if form == "more" else made
    if form not in ("open", "maybe", "map"):
        raise ValueError(f"a fact of the form {form!r:.40}")
    inside = {key: decoded(part) for key, part in parts.items()}
    return inside if form == "map" else Maybe(inside) if form == "maybe" else Open(inside)


def _copied(value: Any) -> Any:
    """A JSON value of its own: the picture changes what it holds."""
    if isinstance(value, dict):
        return {key: _copied(part) for key, part in value.items()}
    return [_copied(part) for part in value] if isinstance(value, list) else value

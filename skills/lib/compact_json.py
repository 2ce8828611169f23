"""JSON by the C accelerator alone: ``import json`` costs 5 ms at start-up, most of it ``re``.

The accelerator is private to CPython; if it is missing or has changed, the public module is used.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:40]} is too large a number")
    return value


def _unique(pairs: "list[tuple[str, Any]]") -> "dict[str, Any]":
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice[:40]!r} stands twice in one object")
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _reader(object_pairs_hook: "Any" = None) -> "Any":
    """The attributes that the C scanner reads from its context; a class for them costs 20 µs."""
    namespace: Any = type(sys.implementation)  # that of ``types``, which costs 1 ms
    return namespace(
        strict=True, object_hook=None, object_pairs_hook=object_pairs_hook, parse_float=_finite, parse_int=int,
        parse_constant=_no_constant, memo={},
    )  # fmt: skip


def _unserialisable(value: object) -> object:
    raise TypeError(f"a {type(value).__name__} cannot be kept: use text, numbers, true, false, null, lists and objects")


try:
    from _json import encode_basestring, encode_basestring_ascii, make_encoder, make_scanner

    _encode = make_encoder(None, _unserialisable, encode_basestring_ascii, None, ":", ",", True, False, False)
    _encode_readable = make_encoder(None, _unserialisable, encode_basestring, None, ": ", ", ", False, False, False)
    _encode_ordered = make_encoder(None, _unserialisable, encode_basestring_ascii, None, ":", ",", False, False, False)
    _scan = make_scanner(_reader())
    _scan_strictly = make_scanner(_reader(_unique))
    _encode({"a": [1, None]}, 0)
    _scan('{"a":[1,null]}', 0)
except (ImportError, TypeError, AttributeError):
    _scan = _scan_strictly = None  # type: ignore[assignment]


def dumps(value: "Any") -> str:
    """Render ``value`` as compact JSON with sorted keys: the canonical form that digests are taken over.

    Raises TypeError or ValueError for what JSON does not have (other types, NaN, infinities).
    """
    if _scan is not None:
        return "".join(_encode(value, 0))
    import json

    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_unserialisable)


def digest(value: "Any") -> str:
    """32 hex digits over the canonical JSON of ``value``."""
    return checksum(dumps(value).encode())


def checksum(data: bytes) -> str:
    """32 hex digits over some bytes; ``hashlib`` costs 2 ms, and the C module is enough."""
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return blake2b(data, digest_size=16).hexdigest()


def ordered(value: "Any") -> str:
    """Render ``value`` as compact JSON with its keys in their own order, so that reading it gives back the same."""
    if _scan is not None:
        return "".join(_encode_ordered(value, 0))
    import json

    return json.dumps(value, separators=(",", ":"), allow_nan=False, default=_unserialisable)


def readable(value: "Any") -> str:
    """Render ``value`` as JSON on one line for a reader: spaces, its own order, every script as it is."""
    if _scan is not None:
        return "".join(_encode_readable(value, 0))
    import json

    return json.dumps(value, ensure_ascii=False, default=_unserialisable)


def loads(text: str, *, strict: bool = False) -> "Any":
    """Read JSON as ``dumps`` writes it; anything else goes the long way, which raises ValueError and says where.

    With ``strict`` a name that stands twice in one object is such an error: none of its two values is the right one.
    """
    scan = _scan_strictly if strict else _scan
    if scan is not None:
        try:
            value, end = scan(text, 0)
            if end == len(text):
                return value
        except (StopIteration, SystemError, ValueError, RecursionError):
            pass
    import json

    try:
        hook = _unique if strict else None
        return json.loads(text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=hook)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def load_object(text: str) -> "dict[str, Any]":
    """The JSON object in a text. Raises TypeError or ValueError if it is none."""
    found = loads(text)
    if not isinstance(found, dict):
        raise TypeError("not an object")
    return found

"""Facts to which records are added before the library is loaded, if nothing else is to be done with them.

The last line is checked alone: what was damaged before it is found by the next call whose rule asks for what is known,
and that puts all of the file aside.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# A file of more bytes is left to the library, which shortens it.
LONG = 200_000
_SUM = 32
_ID = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_IN_A_HOST = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_OPENED = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def add(path: str, digest: str, records: "Sequence[str]", is_wanted: "Callable[[bytes], bool]") -> bool:
    """Add records, in canonical JSON, to facts that begin with a policy of that checksum; False if that is not certain.

    ``is_wanted`` says by the bytes of the file whether the records belong to it.
    """
    import fcntl

    file = os.open(path, _OPENED)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        about, there = os.fstat(file), os.stat(path, follow_symlinks=False)
        if not os.path.samestat(about, there) or about.st_mode & 0o170000 != 0o100000 or about.st_size > LONG:
            return False
        data = os.pread(file, about.st_size, 0)
        last = _last_sum(data, digest)
        if not last or not is_wanted(data):
            return False
        added = bytearray()
        for record in records:
            last = _sum(last, record.encode())
            added += last + b" " + record.encode() + b"\n"
        if os.pwrite(file, added, len(data)) != len(added):
            os.ftruncate(file, len(data))
            return False
        return True
    finally:
        os.close(file)


def facts_of(state: str, host: str, session: str, own: str) -> str:
    """The facts of a session for a policy; ``session`` and ``own`` are the ends of their names."""
    agent = "".join([char for char in host.lower() if char in _IN_A_HOST])[:40]
    return os.path.join(state, "facts", f"{agent}-{session}.{own}")


def is_id(call: str) -> bool:
    """True for an id of a call that JSON writes as it is."""
    return 0 < len(call) <= 200 and _ID.issuperset(call)


def is_open(data: bytes, call: str) -> bool:
    """True if the result of a call has not come, by the bytes of the facts, and the call has its id alone."""
    known = data.count(f'"call":"{call}'.encode())
    return not known or (known == 1 and f'"call":"{call}","forgets":'.encode() in data)


def _last_sum(data: bytes, digest: str) -> bytes:
    """The checksum of the last line; b"" if that line, or the first, is not as it was written, or of another policy."""
    end = data.find(b"\n")
    first = data[: max(end, 0)]
    if not first[_SUM:].startswith(f' {{"digest":"{digest}","kind":"policy",'.encode()) or data[-1:] != b"\n":
        return b""
    if _sum(b"", first[_SUM + 1 :]) != first[:_SUM]:
        return b""
    at = data.rfind(b"\n", 0, -1) + 1
    if not at:
        return first[:_SUM]
    before, last = data.rfind(b"\n", 0, at - 1) + 1, data[at:-1]
    return last[:_SUM] if _sum(data[before : at - 1][:_SUM], last[_SUM + 1 :]) == last[:_SUM] else b""


def _sum(last: bytes, text: bytes) -> bytes:
    """The checksum of a line that follows one with that checksum, as ``facts`` has it."""
    from _blake2 import blake2b

    return blake2b(last + text, digest_size=16).hexdigest().encode()

"""What is known for a policy: an append-only file in the user's state folder, one for each policy of a session or run.

Only the hook writes it, a line for each change, under a lock; no project brings one. Each line carries a checksum
chained to the line before. If one does not fit, the file is put aside and what it held is not known any more: that
lets no call pass.
"""

from __future__ import annotations

import os
import time

from skills.lib import compact_json, run_facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from skills.lib.errors import EnvironmentProblem

# How long one process waits for another's lock, in seconds; the hook gives up after five.
PATIENCE = 2.0
# A file of more bytes is written anew, with what its lines come to.
LONG = 200_000
# The most bytes that are read; a file has fewer unless somebody else wrote it.
LONGEST = 20_000_000
# Facts that nothing was added to for so long (seconds) are forgotten when a file is begun.
FORGOTTEN = 30 * 24 * 3600
# The end of the name of a file that was put aside.
DAMAGED = ".damaged"
# Files with these endings were put aside, or are being written (files.PART).
_NO_FACTS = (DAMAGED, ".part")
# The first record of a file that takes the place of a damaged one.
LOST = {"kind": "lost"}
_LONGEST_FIRST = 20_000
_SEEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_OPENED = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def names() -> list[str]:
    """The names of the files of facts."""
    try:
        return [name for name in os.listdir(run_facts.folder()) if not name.endswith(_NO_FACTS)]
    except OSError:
        return []


def of_session(session: str, policy: str) -> str:
    """The name of the facts of a policy file in a session, whose own name is that of its main agent."""
    return f"{session}.{compact_json.digest(policy)}"


def forget(name: str) -> None:
    """Remove the facts of that name, and with the last of them the folder, without which results start no hook."""
    from skills.lib import files

    files.remove(os.path.join(run_facts.folder(), name))
    files.remove(os.path.join(run_facts.folder(), name + DAMAGED))
    try:  # noqa: SIM105  contextlib costs the hook 2 ms
        os.rmdir(run_facts.folder())
    except OSError:
        pass


def forget_old() -> None:
    """Remove the facts that nothing was added to for long."""
    for name in names():
        try:
            if time.time() - os.stat(os.path.join(run_facts.folder(), name)).st_mtime > FORGOTTEN:
                forget(name)
        except OSError:
            continue


class Facts:
    """The facts of one policy, locked from ``with`` on; ``records`` are the changes, oldest first."""

    __slots__ = ("_file", "_last", "_size", "name", "path", "records")

    def __init__(self, name: str) -> None:
        self.name = name
        self.path = os.path.join(run_facts.folder(), name)
        self.records: list[dict[str, Any]] = []
        self._file = -1
        self._last = ""
        self._size = 0

    def __enter__(self) -> Facts:
        try:
            self._file = self._locked()
            found = self._read()
            if found is None:
                self._put_aside()
            else:
                self.records = found
        except OSError as error:
            self.__exit__()
            raise _unusable(self.path, error.strerror or str(error)) from error
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    @property
    def is_long(self) -> bool:
        """True if the file should be written anew with what its records come to."""
        return self._size > LONG

    def append(self, records: Sequence[dict[str, Any]]) -> None:
        """Add records. Raises EnvironmentProblem if they cannot be written; a part of them is no fact then."""
        data, last = _lines(records, self._last)
        try:
            written = os.pwrite(self._file, data, self._size)
            if written != len(data):
                raise OSError(0, "the disk is full")
        except OSError as error:
            try:  # noqa: SIM105
                os.ftruncate(self._file, self._size)
            except OSError:
                pass
            raise _unusable(self.path, error.strerror or str(error)) from error
        self.records.extend(records)
        self._last, self._size = last, self._size + len(data)

    def rewrite(self, records: Sequence[dict[str, Any]]) -> None:
        """Replace all records by these. Raises EnvironmentProblem if they cannot be written."""
        import fcntl

        data, last = _lines(records, "")
        part = f"{self.path}.{os.getpid()}.part"
        try:
            file = os.open(part, _OPENED | os.O_TRUNC, 0o600)
            fcntl.flock(file, fcntl.LOCK_EX)  # before others see it: nobody else adds to what is written here
            if os.write(file, data) != len(data):
                raise OSError(0, "the disk is full")
            os.fsync(file)
            os.replace(part, self.path)
            os.close(self._file)
            self._file = file
        except OSError as error:
            raise _unusable(self.path, error.strerror or str(error)) from error
        self.records, self._last, self._size = list(records), last, len(data)

    def _locked(self) -> int:
        """The open file, which no other process writes now."""
        try:
            import fcntl
        except ImportError:
            from skills.lib.errors import EnvironmentProblem

            raise EnvironmentProblem(
                "the facts of a policy cannot be kept, because this Python has no file locks (fcntl)",
                remedy="work on Linux, on macOS or in WSL, or a person takes the rule out of the policy",
            ) from None
        end = time.monotonic() + PATIENCE
        while True:
            try:
                file = os.open(self.path, _OPENED, 0o600)
            except FileNotFoundError:
                os.makedirs(run_facts.folder(), 0o700, exist_ok=True)
                continue
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(file, self.path):  # another process may have written it anew
                    return file
            except BlockingIOError:
                if time.monotonic() > end:
                    os.close(file)
                    raise _unusable(self.path, f"another process has held it for {PATIENCE:g} seconds") from None
                time.sleep(0.01)
            os.close(file)

    def _read(self) -> list[dict[str, Any]] | None:
        """The records of the file; None if it is damaged."""
        import stat

        about = os.fstat(self._file)
        if not stat.S_ISREG(about.st_mode) or about.st_size > LONGEST:
            return None
        data, self._size = os.pread(self._file, about.st_size, 0), about.st_size
        checksum = compact_json.checksum
        texts, last = [], b""
        for line in data.splitlines(keepends=True):
            text = line[33:-1]
            if line[-1:] != b"\n" or checksum(last + text).encode() != line[:32] or line[32:33] != b" ":
                return None
            last = line[:32]
            texts.append(text)
        try:
            records: list[dict[str, Any]] = compact_json.loads(f"[{b','.join(texts).decode()}]")
        except ValueError:
            return None
        if len(records) != len(texts) or not all(type(record) is dict for record in records):
            return None
        self._last = last.decode()
        return records

    def _put_aside(self) -> None:
        """Keep a damaged file beside, and begin anew. No other process finds none, which would say that none was."""
        damaged = self.path + DAMAGED
        try:
            if os.path.lexists(damaged):
                os.unlink(damaged)
            os.link(self.path, damaged)
        except OSError:
            pass  # not every file system has hard links; what is damaged is of use to nobody but a reader
        self.rewrite([LOST])


def _sum(last: str, text: bytes) -> bytes:
    return compact_json.checksum(last.encode() + text).encode()


def _lines(records: Sequence[dict[str, Any]], last: str) -> tuple[bytes, str]:
    """The lines of records that follow one with that checksum, and the checksum of the last of them."""
    lines = []
    for record in records:
        text = compact_json.dumps(record).encode()
        last = _sum(last, text).decode()
        lines.append(last.encode() + b" " + text + b"\n")
    return b"".join(lines), last


def _is_at(file: int, path: str) -> bool:
    """True if an open file is what the path names now."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _unusable(path: str, why: str) -> EnvironmentProblem:
    from skills.lib.errors import EnvironmentProblem

    return EnvironmentProblem(
        f"the facts of a policy in {path} cannot be used: {why}",
        remedy="run the same command again; if that does not help, a person removes that file at a terminal, and what "
        "it held must be shown again",
    )


def first(name: str) -> dict[str, Any]:
    """The record that a file of facts begins with, which says of which policy they are; {} if it cannot be read."""
    try:
        with open(os.path.join(run_facts.folder(), name), "rb", opener=lambda path, _: os.open(path, _SEEN)) as file:
            line = file.readline(_LONGEST_FIRST).rstrip(b"\n")
        about = compact_json.loads(line[33:].decode())
    except (OSError, ValueError):
        return {}
    is_first = isinstance(about, dict) and about.get("kind") == "policy" and _sum("", line[33:]) == line[:32]
    texts = [about.get(field) for field in ("path", "root", "digest")] if is_first else [None]
    return about if all(isinstance(text, str) for text in texts) else {}

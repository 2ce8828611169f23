"""What the write scripts share: a path of the project that may be written, and the text that is written there."""

from __future__ import annotations

import os
import sys

from skills.lib import paths
from skills.lib.errors import LockstepError, RefusedError, UsageError, tell
from skills.lib.gateway import tree_files
from skills.lib.gateway.gateway import Gateway
from skills.lib.gateway.reading import LONGEST_PATH, PATH
from skills.lib.gateway.specs import WRITE
from skills.lib.schema.patterns import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def serve(usage: str, text_of: Callable[[Sequence[str]], str], least: int, most: int | None = None) -> int:
    """Write what ``text_of`` makes of the arguments after the path, and return the exit code of the script.

    At least ``least`` of them are needed, and at most ``most`` are taken.
    """
    try:
        path, *rest = sys.argv[1:] or [""]
        if not path or len(rest) < least:
            raise UsageError("the arguments are not complete", valid=usage)
        if most is not None and len(rest) > most:
            raise UsageError(f"{rest[most]!r:.80} is one argument too many", valid=usage)
        done = write(os.environ.get("LOCKSTEP_PROJECT") or paths.project_root(), path, text_of(rest))
        sys.stdout.write(done + "\n")
    except LockstepError as error:
        tell(error.message())
        return error.exit_code
    return 0


def write(project: str, path: str, text: str) -> str:
    """Write a text to a path of the project, and return what was written in words.

    Raises RefusedError if the path may not be written, UsageError for what is no text in UTF-8.
    """
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise UsageError("the text is not UTF-8") from None
    if len(path) > LONGEST_PATH or not Pattern(f"^(?:{PATH})$").is_found_in(path):
        raise RefusedError(f"{path!r:.200} is no path as the gateway takes it", valid=PATH)
    target = Gateway(project).places.resolve(path, WRITE, ("." + os.sep,))
    tree_files.write(target, data)
    return f"wrote {len(data):,} bytes: {target}"


def standard_input() -> str:
    """The text on standard input. Raises UsageError if it is not UTF-8."""
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError("standard input is not UTF-8") from error

"""Tells a command that cannot fail, and so proves nothing."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_PASSING = frozenset(": clear date echo hostname id nproc printf pwd sleep true uname uptime whoami".split())
_SHELLS = frozenset("bash dash ksh sh zsh".split())
_PYTHON = re.compile(r"python[\d.]*(?:\.exe)?")
# The last command of a shell's script, after what parts it from the one before; && hands a failure on.
_LAST = re.compile(r"(?:.*(?:;|\|\||\n|(?<!\|)\|(?!\|)))?\s*(.*)", re.DOTALL)


def always_passes(argv: Sequence[str]) -> bool:
    """True if a command ends with 0 whatever was done: ``true`` and the like, alone or in a shell's script."""
    program = os.path.basename(argv[0])
    if program in _SHELLS and len(argv) == 3 and argv[1].endswith("c"):
        found = _LAST.fullmatch(argv[2].rstrip().rstrip(";"))
        words = found[1].split() if found else []
        return "&&" not in words and (words == ["exit", "0"] or (bool(words) and words[0] in _PASSING))
    if _PYTHON.fullmatch(program) and argv[1:2] in (("-c",), ["-c"]):
        return len(argv) == 3 and argv[2].strip() in ("", "pass")
    return program in _PASSING

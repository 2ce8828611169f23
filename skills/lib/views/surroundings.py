"""What was around a command that was run as evidence."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from skills.lib.clean_text import one_line

# How many test files that were removed stand in a line.
TESTS = 3
_OF_THE_SYSTEM = ("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin")


def surroundings(evidence: Mapping[str, Any], whole: bool = False) -> list[str]:
    """Notes on a command beside its exit code: its program, changed search paths, missing test files."""
    notes = []
    program = str(evidence.get("program", ""))
    # The Python of a skill's own check goes without saying, and in a line a program of the system does.
    first = str(evidence.get("what", "")).partition(" ")[0]
    is_own = first.endswith(".py") and os.path.basename(first) == first
    if program and not is_own and (whole or os.path.dirname(program) not in _OF_THE_SYSTEM):
        notes.append(f"program {one_line(program)}")
    for name, path in (evidence.get("search_paths") or {}).items():
        notes.append(f"another {name.upper()} than at the opening" + (f": {path or 'none'}" if whole else ""))
    removed = evidence.get("removed_tests") or ()
    if removed:
        named = [one_line(path) for path in (removed if whole else removed[:TESTS])]
        more = f" and {len(removed) - TESTS} more" if len(removed) > len(named) else ""
        notes.append(f"without the tests {', '.join(named)}{more}")
    return notes

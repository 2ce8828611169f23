"""``python -m skills.lib.hosts.doctor [HOST …]``: the doctor where the ``lockstep`` command cannot be loaded."""

from __future__ import annotations

import os
import sys

from skills.lib.hosts.doctor.context import PROGRAMS, DoctorContext
from skills.lib.hosts.doctor.registry import examine
from skills.lib.hosts.doctor.result import OK, PROBLEM


def main(hosts: list[str]) -> int:
    """Examine the project in the working directory, and print what is not as it should be; 1 where something is wrong.

    Plain lines, and nothing but the standard library.
    """
    unknown = [host for host in hosts if host not in (*PROGRAMS, "agents")]
    if unknown:
        sys.stderr.write(f"doctor: there is no host {unknown[0]!r:.80}; valid: {', '.join((*PROGRAMS, 'agents'))}\n")
        return 2
    wrong = 0
    for told in examine(DoctorContext(_project(), tuple(hosts or (*PROGRAMS, "agents")), named=bool(hosts))):
        result = told.result
        wrong += result.status == PROBLEM
        if result.status != OK:
            lines = [f"{result.status}: {told.subject}, {told.check}: {result.what}"]
            lines += [f"  where: {result.where}"] if result.where else []
            lines += [f"  try:   {result.remedy}"] if result.remedy else []
            _print("\n".join(lines))
    _print(f"{wrong} wrong")
    return 1 if wrong else 0


def _print(text: str) -> None:
    """Print in ASCII, which every terminal takes; what it would obey is spelt out."""
    shown = "".join(char if char >= " " or char == "\n" else "?" for char in text)
    sys.stdout.write(shown.encode("ascii", "backslashreplace").decode() + "\n")


def _project() -> str:
    """The project's root, or the working directory where that cannot be told."""
    try:
        from skills.lib import paths

        return paths.project_root()
    except ImportError:
        return os.path.realpath(os.getcwd())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

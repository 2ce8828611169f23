"""``python -m skills.lib.hosts.doctor [HOST …]``: the doctor for when the ``lockstep`` command cannot be loaded."""

from __future__ import annotations

import os
import sys

from skills.lib.hosts.doctor.examination import OK, PROBLEM, DoctorContext
from skills.lib.hosts.doctor.registry import examine
from skills.lib.hosts.known_hosts import HOSTS


def main(hosts: list[str]) -> int:
    """Examine the project in the working directory and print what is not fine. Returns 1 if there is a problem.

    Prints plain lines, and imports nothing but the standard library.
    """
    unknown = [host for host in hosts if host not in HOSTS]
    if unknown:
        sys.stderr.write(f"doctor: there is no host {unknown[0]!r:.80}; valid: {', '.join(HOSTS)}\n")
        return 2
    wrong = 0
    for one in examine(DoctorContext(_project(), tuple(hosts) or HOSTS, named=bool(hosts))):
        result = one.result
        wrong += result.status == PROBLEM
        if result.status != OK:
            lines = [f"{result.status}: {one.subject}, {one.check}: {result.what}"]
            lines += [f"  where: {result.where}"] if result.where else []
            lines += [f"  try:   {result.remedy}"] if result.remedy else []
            _print("\n".join(lines))
    _print(f"{wrong} wrong")
    return 1 if wrong else 0


def _print(text: str) -> None:
    """Print in ASCII, which every terminal takes, with control characters shown as ``?``."""
    shown = "".join(char if char >= " " or char == "\n" else "?" for char in text)
    sys.stdout.write(shown.encode("ascii", "backslashreplace").decode() + "\n")


def _project() -> str:
    """The project's root; the working directory if ``paths`` cannot be loaded."""
    try:
        from skills.lib import paths

        return paths.project_root()
    except ImportError:
        return os.path.realpath(os.getcwd())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

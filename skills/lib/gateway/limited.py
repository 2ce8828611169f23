"""A script: sets limits on this process and becomes the program that is named after them.

It is run with ``python -I -S`` and imports nothing of Lockstep.
"""

import contextlib
import json
import os
import resource
import sys


def main() -> None:
    """Set the limits of the first argument, a JSON object, and run the rest of the arguments."""
    limits = json.loads(sys.argv[1])
    if "cpu" in limits:
        _limit(resource.RLIMIT_CPU, limits["cpu"])
    if "memory" in limits:
        # Data is what a program writes to; the address space is also what runtimes only reserve (node, Go, Java).
        _limit(resource.RLIMIT_DATA if sys.platform.startswith("linux") else resource.RLIMIT_AS, limits["memory"])
    running = _processes_of_user()
    if "processes" in limits and running:  # the system counts all processes of a user
        _limit(resource.RLIMIT_NPROC, running + limits["processes"])
    try:
        os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606  there is to be no shell
    except OSError as error:
        sys.stderr.write(f"{sys.argv[2]} cannot be run: {error.strerror}\n")
        sys.exit(126)


def _limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    most = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(ValueError, OSError):  # the system does not know it
        resource.setrlimit(kind, (most, most))


def _processes_of_user() -> int:
    """How many processes and threads this user has; 0 where the system does not say."""
    count = 0
    try:
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    if os.stat("/proc/" + name).st_uid == os.getuid():
                        count += len(os.listdir("/proc/" + name + "/task"))
                except OSError:
                    continue
    except OSError:
        return 0
    return count


if __name__ == "__main__":
    main()

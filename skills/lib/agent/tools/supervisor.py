"""A script: runs the programs that are described on standard input, joined by pipes, and ends with their caller.

It is run with ``python -I -S``. Its exit code is that of the last program, 128 and more for one that a signal ended.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys

# How often it is looked whether the caller is still there, in seconds.
EVERY = 0.2


def main() -> int:
    """Run the programs to their end."""
    about = json.load(sys.stdin.buffer)
    _watch(about["caller"], about["strays"])
    # Each program has its ends of the pipes alone: else one would wait for an end that never comes.
    opened: list[int] = []
    running: list[subprocess.Popen[bytes] | None] = []
    given = os.open(os.devnull, os.O_RDONLY)
    for at, part in enumerate(about["parts"]):
        is_last = at == len(about["parts"]) - 1
        following, output = (-1, os.dup(1)) if is_last else os.pipe()
        opened = [given, output]
        try:
            descriptors = {0: given, 1: output, 2: 2}
            for number, kind, target in part["redirections"]:
                descriptors[number] = descriptors[int(target)] if kind == "same" else _open(kind, target, opened)
            stdin, stdout, stderr = descriptors[0], descriptors[1], descriptors[2]
            running.append(
                subprocess.Popen(part["argv"], executable=part["program"], stdin=stdin, stdout=stdout, stderr=stderr)
            )
        except (OSError, ValueError) as error:
            sys.stderr.write(f"{part['argv'][0]} cannot be run: {error}\n")
            running.append(None)
        for one in opened:
            os.close(one)
        given = following
    codes = [126 if process is None else _code(process.wait()) for process in running]
    for part, code in zip(about["parts"][:-1], codes, strict=False):
        if code not in (0, 128 + signal.SIGPIPE):
            sys.stderr.write(f"[{part['argv'][0]} before the pipe: exit {code}]\n")
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)  # Python takes its handler away before it has ended
    return codes[-1]


def _open(kind: str, path: str, opened: list[int]) -> int:
    flags = os.O_RDONLY if kind == "read" else os.O_WRONLY | os.O_CREAT
    if kind != "read":
        flags |= os.O_TRUNC if kind == "write" else os.O_APPEND
    if path != os.devnull:
        flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    opened.append(os.open(path, flags, 0o666))
    if path != os.devnull and hasattr(os, "set_blocking"):
        os.set_blocking(opened[-1], True)
    return opened[-1]


def _code(code: int) -> int:
    return code if code >= 0 else 128 - code


def _watch(caller: int, strays: str) -> None:
    """Have everything killed that was started, and this process, as soon as the caller has ended."""
    if not hasattr(signal, "setitimer"):
        return

    def look(*_: object) -> None:
        if os.getppid() == caller:
            return
        with contextlib.suppress(Exception):  # it is only a search for what left the group
            import runpy

            found = runpy.run_path(strays)
            found["end"](os.environ[found["MARK"]], os.getpid())
        os.killpg(0, signal.SIGKILL)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, EVERY, EVERY)


if __name__ == "__main__":
    sys.exit(main())

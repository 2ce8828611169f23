"""Whether a policy has nothing to say of a tool, found out before the library is loaded: most calls read and search.

For each policy file an index in the user's cache has the hosts' names of the tools that it says nothing of, the
programs that it has rules on, the checksum of its text, and what ``stat`` said of the file that it was made from.
Whatever is not certain is left to the library.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skills.lib.guard.shell_parts import Word

_LONGEST = 100_000
# What begins the names of programs, and of commands of git, that a policy has rules on.
RULED = "$ "
_NOTHING: tuple[str, str, frozenset[str]] = ("", "", frozenset())


def is_free(tool: str, line: str, session: str, policies: Iterable[str], facts: Sequence[str]) -> bool:
    """True if none of these policies says anything of a call, and the session has facts of no other policy.

    ``line`` is a command line, "" if there is none that can be found at once. ``session`` is the end of the names of
    the session's facts, before the dot.
    """
    found = [index(path) for path in policies]
    if not tool or not found or not all(is_unconcerned(tool, line, names) for *_, names in found):
        return False
    known = {own for own, *_ in found}
    held = [name.partition(".") for name in facts if name.partition(".")[0].endswith(session)]
    return bool(session) and all(own in known for _, _, own in held)


def is_unconcerned(tool: str, line: str, names: frozenset[str]) -> bool:
    """True if a policy, whose index has these names, says nothing of a call of a tool or of a command line."""
    return tool in names or (f"shell {tool}" in names and is_unruled(line, names))


def is_unruled(line: str, names: frozenset[str]) -> bool:
    """True if a line certainly runs only programs, and commands of git, that the policy has no rule on."""
    if not line:
        return False
    from skills.lib.guard.shell_plain import commands  # most calls are of other tools

    found = commands(line)
    return bool(found) and not any(_is_ruled(words[0].text, words[1:2], names) for words in found)


def _is_ruled(program: str, following: Sequence[Word], names: frozenset[str]) -> bool:
    """True if the policy has a rule on a program, or on the command of git that follows."""
    is_command = program == "git" and f"{RULED}git {following[0].text}" in names
    return is_command or RULED + program in names


def index(path: str) -> tuple[str, str, frozenset[str]]:
    """The end of the names of a policy's facts, the checksum of its text, and the tools that it says nothing of.

    All are empty if that is not known.
    """
    try:
        with open(place_of(path), "rb") as file:
            about, own, digest, *names = file.read(_LONGEST).decode().split("\n")
        return (
            (own, digest, frozenset(names)) if about and about == about_file(path) and names[-1:] == [""] else _NOTHING
        )
    except (OSError, ValueError):
        return _NOTHING


def keep(path: str, own: str, digest: str, names: Iterable[str], about: str) -> None:
    """Keep the index of a policy; ``about`` is what ``about_file`` said before the policy was read."""
    if not about:
        return
    from skills.lib import files  # an index is written once for each state of a policy

    try:  # noqa: SIM105  contextlib costs the hook 2 ms
        files.write(place_of(path), "\n".join([about, own, digest, *sorted(names), ""]).encode())
    except OSError:
        pass


def about_file(path: str) -> str:
    """What tells one state of a file from another; "" for a link, whose target may change. Raises OSError."""
    found = os.stat(path, follow_symlinks=False)
    if found.st_mode & 0o170000 == 0o120000:
        return ""
    return f"2 {found.st_mode} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_size} {found.st_ino}"


def place_of(path: str) -> str:
    """Where the index of a policy is kept."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    name = path.replace("%", "%25").replace(os.sep, "%2F")
    return os.path.join(os.path.abspath(base), "lockstep", "policies", name[-200:] + ".names")

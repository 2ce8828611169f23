"""Whether a policy has nothing to say of a tool, found out before the library is loaded: most calls read and search.

For each policy file an index in the user's cache has the hosts' names of the tools that it says nothing of, and what
``stat`` said of the file that it was made from. Whatever is not certain is left to the library.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LONGEST = 100_000
# A line with only these characters means to a shell what it reads as: no quotes, no expansions, no redirections.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._/:@%+,=-|;&")
# Programs that run no other program, whatever they are given, and of git those commands that are no alias.
LOOKING = frozenset(
    "ls cat head tail wc pwd echo date stat file du df uname whoami uniq cut tr nl basename dirname realpath true false"
    " grep diff which cd".split()
)
LOOKING_OF_GIT = frozenset(("status", "log", "diff", "show", "add"))
_NOTHING: tuple[str, frozenset[str]] = ("", frozenset())


def is_free(tool: str, line: str, session: str, policies: Iterable[str], facts: Sequence[str]) -> bool:
    """True if none of these policies says anything of a call, and the session has facts of no other policy.

    ``line`` is a command line, "" if there is none that can be found at once. ``session`` is the end of the names of
    the session's facts, before the dot.
    """
    found = [index(path) for path in policies]
    if not tool or not found or not all(is_unconcerned(tool, line, names) for _, names in found):
        return False
    known = {own for own, _ in found}
    held = [name.partition(".") for name in facts if name.partition(".")[0].endswith(session)]
    return bool(session) and all(own in known for _, _, own in held)


def is_unconcerned(tool: str, line: str, names: frozenset[str]) -> bool:
    """True if a policy, whose index has these names, says nothing of a call of a tool or of a command line."""
    return tool in names or (f"shell {tool}" in names and is_plain(line, names))


def is_plain(line: str, names: frozenset[str]) -> bool:
    """True if a line runs only programs that run no other, and of which the policy says nothing."""
    if not line or not _PLAIN.issuperset(line):
        return False
    parts = line.replace("&&", ";").replace("||", ";").replace("|", ";").split(";")
    for words in [part.split(" ") for part in parts]:
        given = [word for word in words if word]
        if not given or "&" in "".join(given):
            return False
        if f"$ {given[0]}" not in names and f"$ {' '.join(given[:2])}" not in names:
            return False
    return True


def index(path: str) -> tuple[str, frozenset[str]]:
    """The end of the names of a policy's facts, and the tools that it says nothing of: none if that is not known."""
    try:
        with open(place_of(path), "rb") as file:
            about, own, *names = file.read(_LONGEST).decode().split("\n")
        return (own, frozenset(names)) if about == about_file(path) and names[-1:] == [""] else _NOTHING
    except (OSError, ValueError):
        return _NOTHING


def keep(path: str, own: str, names: Iterable[str], about: str) -> None:
    """Keep the index of a policy; ``about`` is what ``about_file`` said before the policy was read."""
    from skills.lib import files  # an index is written once for each state of a policy

    try:  # noqa: SIM105  contextlib costs the hook 2 ms
        files.write(place_of(path), "\n".join([about, own, *sorted(names), ""]).encode())
    except OSError:
        pass


def about_file(path: str) -> str:
    """What tells one state of a file from another. Raises OSError."""
    found = os.stat(path, follow_symlinks=False)
    return f"1 {found.st_mode} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_size} {found.st_ino}"


def place_of(path: str) -> str:
    """Where the index of a policy is kept."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    name = path.replace("%", "%25").replace(os.sep, "%2F")
    return os.path.join(os.path.abspath(base), "lockstep", "policies", name[-200:] + ".names")

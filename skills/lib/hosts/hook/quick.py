"""Whether a policy has nothing to say of a tool, found out before the library is loaded: most calls read and search.

For each policy file an index in the user's cache has the hosts' names of the tools that it says nothing of, the
programs that it has rules on, the checksum of its text, and what ``stat`` said of the file that it was made from.
Whatever is not certain is left to the library.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skills.lib.guard.shell_parts import Word

    # The end of the names of a policy's facts, the checksum of its text, and the names of the index.
    Index = tuple[str, str, frozenset[str]]

_LONGEST = 100_000
# The form of an index, and of the rules beside it; one of another form is made anew.
FORM = "5"
# What begins the names of programs, and of a program with its command (``git push``), that the policy has rules on: one
# that reads the words and paths of a command alone, one that learns from its result too, and one that asks for more.
RULED, LEARNING, ASKING = MARKS = "$=%"
# What begins the name of a tool that edits or writes: behind it stands its canonical name and, if the policy has a rule
# on it, after a tab each of the changes that a call makes, as JSON.
EDITING = "~ "
# What begins the checksum of the rules on commands.
RULES = "! "
# What a project has at its root: its policy, and the commands that it adds to the gateway.
POLICIES = ("lockstep.policy.yaml", "lockstep.gateway.yaml")
# How long ago a file must have changed for an index of it to be kept (nanoseconds): two ticks and more of the clocks of
# file systems, and of those that count seconds.
SETTLED, COARSE = 50_000_000, 4_000_000_000
_NOTHING: "Index" = ("", "", frozenset())


def is_known(session: str, facts: "Sequence[str]", found: "Sequence[Index]") -> bool:
    """True if a session has facts of no other policy than those with these indexes."""
    known = {own for own, *_ in found}
    held = [name.partition(".") for name in facts if session in name]
    return all(own in known for name, _, own in held if name.endswith(session))


def edit_of(tool: str, names: "Iterable[str]") -> "list[str]":
    """The canonical name of a tool that edits or writes, and the changes that a call makes; [""] for a rule with none.

    Empty if a policy, whose index has these names, asks for more.
    """
    found = [name for name in names if name.startswith(f"{EDITING}{tool} ")]
    return found[0].split(" ", 2)[2].split("\t") if len(found) == 1 else []


def is_unconcerned(tool: str, line: str, names: "frozenset[str]") -> bool:
    """True if a policy, whose index has these names, says nothing of a call of a tool or of a command line."""
    return concerned(tool, line, names) == []


def concerned(tool: str, line: str, names: "frozenset[str]") -> "list[str] | None":
    """The names of an index by which the policy may have rules on a call; None if that is not known."""
    if tool in names:
        return []
    return ruled(line, names) if f"shell {tool}" in names else None


def ruled(line: str, names: "frozenset[str]") -> "list[str] | None":
    """The names of an index for the programs, and their commands, that a line runs and the policy has rules on.

    None for a line of which it is not certain which programs it runs.
    """
    if not line:
        return None
    from skills.lib.guard.shell_plain import commands  # most calls are of other tools

    found = commands(line)
    return [name for words in found for name in _ruled(words[0].text.lower(), words[1:], names)] if found else None


def _ruled(program: str, following: "Sequence[Word]", names: "frozenset[str]") -> "list[str]":
    """The names for a program, and for those of its commands that may be among the words.

    The command of git is its first word. Some programs take a part of a command for it.
    """
    found = [name for mark in MARKS if (name := f"{mark} {program}") in names]
    begin = f" {program} "
    commands = [name for name in names if name.startswith(begin, 1) and name[0] in MARKS]
    if not commands or any(word.glob for word in following):
        return found + commands
    given = [word.text for word in (following[:1] if program == "git" else following) if word.text]
    for name in commands:
        command = name[len(begin) + 1 :]
        if command in given or (program != "git" and command.startswith(tuple(given))):
            found.append(name)
    return found


def index(path: str) -> "Index":
    """The end of the names of a policy's facts, the checksum of its text, and the tools that it says nothing of.

    All are empty if that is not known.
    """
    try:
        with open(place_of(path), "rb") as file:
            if not is_own(file.fileno()):
                return _NOTHING
            about, own, digest, *names = file.read(_LONGEST).decode().split("\n")
        return (
            (own, digest, frozenset(names)) if about and about == about_file(path) and names[-1:] == [""] else _NOTHING
        )
    except (OSError, ValueError):
        return _NOTHING


def keep(path: str, own: str, digest: str, names: "Iterable[str]", about: str) -> None:
    """Keep the index of a policy; ``about`` is what ``about_settled`` said before the policy was read."""
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
    return f"{FORM} {found.st_mode} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_size} {found.st_ino}"


def about_settled(path: str) -> str:
    """What ``about_file`` says; "" also for a file that may change once more without its times showing it.

    A clock of a file system stands still between its ticks, some for two seconds. Raises OSError.
    """
    import time

    now, about = time.time_ns(), about_file(path)
    changed = int(about.split(" ")[3]) if about else now
    return about if now - changed > (COARSE if changed % 1_000_000_000 == 0 else SETTLED) else ""


def place_of(path: str) -> str:
    """Where the index of a policy is kept."""
    name = path.replace("%", "%25").replace(os.sep, "%2F")
    return os.path.join(cache(), "policies", name[-200:] + ".names")


def rules_of(checksum: str) -> str:
    """Where rules on commands with that checksum are kept."""
    return os.path.join(cache(), "policies", checksum + ".rules")


def is_own(file: int) -> bool:
    """True if an open file is the user's, or root's: in a folder that others write, it may be anybody's."""
    return os.fstat(file).st_uid in (0, getattr(os, "geteuid", int)())


def cache() -> str:
    """The user's cache folder for Lockstep, as ``paths.cache`` has it."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    base = base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "lockstep")

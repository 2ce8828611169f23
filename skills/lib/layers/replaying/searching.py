"""Which lines of a shell search files, where a search tool would do it."""

from __future__ import annotations

from skills.lib.layers.replaying.lines import Command, Line, feeders, git_subcommand, name_of, read

# Programs that search in files.
GREPS = frozenset("grep egrep fgrep rgrep zgrep ggrep rg ripgrep ag ack ack-grep pt ugrep".split())
# Programs that search for files.
FINDERS = frozenset("find gfind fd fdfind locate mlocate plocate".split())
# Programs that print files, or their names: what filters their output searches in files.
_READERS = frozenset("cat tac head tail nl less more bat ls tree".split()) | FINDERS
# With one of these alone, a program searches nothing.
_ASKING = frozenset(("--version", "-V", "--help", "-h"))
_LOOKING = (
    _READERS | GREPS | frozenset("wc file stat echo printf basename dirname sort realpath md5sum sha256sum".split())
)


def is_search(line: str) -> bool:
    """True if a line searches in files, or for files.

    A filter of what another command prints is no search, unless that command prints files or their names. Nor is
    ``find`` one that removes what it finds, or gives it to a program that does more than look.
    """
    found = read(line)
    return any(_searches(found, command) for command in found.commands)


def _searches(line: Line, command: Command) -> bool:
    for at, words in enumerate(command.programs):
        name = name_of(words)
        if name in GREPS and not _asks(words):
            is_given_names = any(name_of(outer) in ("xargs", "parallel", *FINDERS) for outer in command.programs[:at])
            if is_given_names or command.reads or not _filters(line, command):
                return True
        elif (name in FINDERS and not _asks(words) and not _acts(command, at)) or git_subcommand(words) == "grep":
            return True
    return False


def _asks(words: tuple[str | None, ...]) -> bool:
    return len(words) == 2 and words[1] in _ASKING


def _filters(line: Line, command: Command) -> bool:
    """True for a program that reads what another command, or the line itself, gives it."""
    before = feeders(line, command)
    if not before:
        return command.is_fed
    return not any(_prints_files(one) for one in before)


def _prints_files(command: Command) -> bool:
    for words in command.programs:
        if name_of(words) in _READERS | GREPS or git_subcommand(words) in ("ls-files", "grep"):
            return True
    return False


def _acts(command: Command, at: int) -> bool:
    """True for a finder that changes what it finds."""
    words = command.programs[at]
    if "-delete" in words:
        return True
    return any(name_of(inner) not in _LOOKING for inner in command.programs[at + 1 :])

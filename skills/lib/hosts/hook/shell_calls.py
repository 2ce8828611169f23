"""The command line that a call of a shell tool gives."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

SHELLS = frozenset(("sh", "bash", "zsh", "dash"))
# Subcommands of lockstep that an agent may always call: they run nothing of the project. ``resume`` does, so it must be
# of a run whose skill ran on this machine.
LIFELINES = frozenset("resume abandon runs trace".split())
# With these at its start, a variable says where Lockstep keeps its record and its keys, or what Python runs.
STEERING = ("LOCKSTEP_", "PYTHON", "HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")


def may_concern_lockstep(command: str) -> bool:
    """True if a command line may be always allowed, or may set a variable that takes a run out of its record."""
    return any(word in command for word in (*LIFELINES, *STEERING))


def command_of(given: "Mapping[str, Any]") -> str:
    """The command line of a shell tool's call as text, or what is typed into one; "" if there is none."""
    command, typed = _command(given), given.get("chars")
    line = " ".join(command) if isinstance(command, list) else command
    return f"{line}\n{typed}" if isinstance(typed, str) else line


def words_of(given: "Mapping[str, Any]") -> list[str]:
    """The words of a shell tool's call if it is one simple command, else empty."""
    command = _command(given)
    if isinstance(command, list):
        return command
    from skills.lib.shell_words import simple_command  # most policies ask for the line, and for no words

    return simple_command(command)


def _command(given: "Mapping[str, Any]") -> str | list[str]:
    """The command line, or the words if no shell reads them; for a list that hands a line to a shell, that line."""
    command = given.get("command", given.get("cmd"))
    if isinstance(command, str):
        return command
    if not isinstance(command, list) or not all(isinstance(word, str) and "\0" not in word for word in command):
        return ""
    hands_over = len(command) == 3 and command[1] in ("-c", "-lc", "-ic", "-lic")
    return command[2] if hands_over and command[0].rpartition("/")[2] in SHELLS else command

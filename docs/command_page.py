"""The page docs/cli.md, made from the subcommands themselves."""

from __future__ import annotations

import click

from skills.lib.commands.console.app import SUBCOMMANDS, lockstep

_WIDTH = 96
_HELP = ["-h", "--help"]
_HEAD = """# The `lockstep` command

This page is made from the command's own help; `tests/commands/test_reference.py` checks that it is current.

`lockstep` is installed with the package; `python -P -m lockstep` is the same, and so is `python skills/__main__.py` of
a copy that is not installed. Without `-P`, Python looks for modules in the working directory first: in a cloned
project, `python -m lockstep` and `python -m skills` may run that project's code. Standard output holds what was asked
for, standard error what is said about it. A table that is piped on has plain columns and is never cut; control
characters of what is shown stand as `?`.

## Exit codes

| code | meaning |
|---|---|
| 0 | done |
| 1 | looked, and something is not as it should be: `doctor` found a problem, a `gateway` command failed |
| 2 | usage: what was given cannot be understood, or names nothing that exists |
| 3 | refused: understood, and not allowed from where things stand; nothing was changed |
| 4 | environment: the ledger cannot be read, a program or a folder is missing |
| 5 | a skill is broken; `validate` found something wrong |
| 70 | a bug of Lockstep; one line names the log |
| 130 | interrupted |

## Environment

| variable | meaning |
|---|---|
| `LOCKSTEP_HOME` | the folder of the ledger, in place of `.lockstep` in the project's root |
| `LOCKSTEP_LEDGER_URL` | the database of [a ledger that machines share](postgres.md) |
| `LOCKSTEP_LEDGER_PROJECT` | the name of the project in that database |
| `NO_COLOR` | set to anything: no colour, as with `--no-color` |
| `FORCE_COLOR` | set to anything but 0: colour when piped on, too |
| `LC_ALL`, `LC_CTYPE`, `LANG` | set to C or POSIX: drawings in ASCII |
| `EDITOR` | what `walk` opens for long values |"""


def reference() -> str:
    """The text of docs/cli.md."""
    parts = [_HEAD, f"## lockstep\n\n{_help(lockstep, None, 'lockstep')}"]
    with click.Context(lockstep, info_name="lockstep", help_option_names=_HELP) as root:
        for name, summary in SUBCOMMANDS.items():
            command = lockstep.get_command(root, name)
            assert command is not None
            parts.append(f"## lockstep {name}\n\n{summary}\n\n{_help(command, root, name)}")
            parts += _below(command, root, name)
    return "\n\n".join(parts) + "\n"


def _below(command: click.Command, root: click.Context, name: str) -> list[str]:
    """The commands of a group, each with its help."""
    if not isinstance(command, click.Group):
        return []
    with click.Context(command, parent=root, info_name=name, help_option_names=_HELP) as group:
        return [
            f"### lockstep {name} {one}\n\n{_help(below, group, one)}"
            for one, below in sorted(command.commands.items())
        ]


def _help(command: click.Command, parent: click.Context | None, name: str) -> str:
    with click.Context(
        command, parent=parent, info_name=name, terminal_width=_WIDTH, help_option_names=_HELP
    ) as context:
        return f"```text\n{command.get_help(context).rstrip()}\n```"

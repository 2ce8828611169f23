"""The ``lockstep`` group: its subcommands, loaded when one is called, and the options of all."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from skills import __version__
from skills.lib.commands.console import exits
from skills.lib.commands.console.screen import open_screen
from skills.lib.errors import UsageError, nearest

# In the order of help: finding and checking skills, making one, runs, hosts, the shell.
SUBCOMMANDS = {
    "list": "List the skills of a tree: workflows, steps, gates, open runs.",
    "show": "Show one skill: its workflows, steps, routes, parameters, requirements.",
    "validate": "Check skills: graphs, handlers, prompts, SKILL.md.",
    "graph": "Draw a workflow: every edge, every outcome, the edges that a run took.",
    "new": "Make a new skill: running, valid and tested.",
    "adopt": "Make the draft of a workflow from a skill in prose.",
    "phase": "Say which skills serve a phase, and open its run.",
    "walk": "Play the agent: walk a skill block by block.",
    "runs": "List the runs of a project.",
    "trace": "Show the record of a run.",
    "resume": "Print the block with which a run goes on.",
    "abandon": "End a run that nobody will finish, and record why.",
    "answer": "Answer what a run asks a person.",
    "pause": "Let the agent of a run do other work until the run goes on.",
    "unpause": "Hold the agent of a paused run to its step again.",
    "prune": "Remove the records of runs that ended long ago.",
    "stats": "Show where agents stumble: refusals and iterations by step.",
    "export": "Make a self-contained copy of a skill, to be put anywhere.",
    "install": "Put skills, role definitions and hooks where an agent host looks for them.",
    "installed": "List what is installed for which host, and whether it is as it was put there.",
    "upgrade": "Bring what is installed up to date with this version.",
    "uninstall": "Take away what was installed for a host.",
    "doctor": "Say what is installed, trusted, stale or broken, and the command that fixes it.",
    "gateway": "Run named commands with checked values, without a shell.",
    "policy": "Check a policy on tool calls, and explain what it says of a call.",
    "replay": "Say what a policy would have answered in a recorded session, or compare two.",
    "agent": "Let a model follow a skill on its own.",
    "mcp": "Serve skills and runs to MCP clients.",
    "web": "Show the runs in a browser: live, to read, answer, start and stop.",
    "completion": "Print the completion script of a shell.",
}


class _Lockstep(click.Group):
    """Imports a subcommand's module when it is called, and maps every error to its exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in SUBCOMMANDS:
            return None
        module = import_module(f"skills.lib.commands.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in SUBCOMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            near = nearest(name, SUBCOMMANDS)
            raise UsageError(
                f"lockstep has no subcommand {name!r:.80}",
                valid=", ".join(SUBCOMMANDS),
                remedy=f"lockstep {near}" if near else "lockstep --help",
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Subcommands"):
            formatter.write_dl(list(SUBCOMMANDS.items()))

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, *_: Any, **extra: Any) -> Any:
        extra["standalone_mode"] = False
        words, name, call = list(sys.argv[1:] if args is None else args), prog_name or "lockstep", super().main

        def called() -> Any:
            try:
                return call(words, name, **extra)
            except click.UsageError as error:
                error.ctx = error.ctx or _context_of(self, name, words)
                raise

        sys.exit(exits.serve(called))


def _context_of(group: click.Group, name: str, words: Sequence[str]) -> click.Context:
    """The context of the command that words name: click does not say which one an option without its value is of."""
    context = click.Context(group, info_name=name)
    for word in words:
        found = context.command.get_command(context, word) if isinstance(context.command, click.Group) else None
        context = click.Context(found, info_name=word, parent=context) if found else context
    return context


@click.group(
    cls=_Lockstep,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
    epilog="Exit codes: 0 done, 1 something is wrong (doctor), 2 usage, 3 refused, "
    "4 environment, 5 a skill is broken, 70 a bug of Lockstep, 130 interrupted. NO_COLOR and FORCE_COLOR are "
    "respected.",
)
@click.option("--no-color", is_flag=True, help="Print without colour.")
@click.version_option(__version__, "--version", message="lockstep %(version)s, protocol 1")
@click.pass_context
def lockstep(ctx: click.Context, no_color: bool) -> None:
    """Make agents follow skills: look at skills and check them, follow runs and step in where a person is needed."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    ctx.obj = open_screen(no_color)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())

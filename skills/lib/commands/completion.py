"""``lockstep completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from skills.lib.commands.console.options import examples


@click.command(
    epilog=examples(
        'eval "$(lockstep completion bash)"  # in ~/.bashrc',
        'eval "$(lockstep completion zsh)"  # in ~/.zshrc',
        "lockstep completion fish > ~/.config/fish/completions/lockstep.fish  # once",
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that teaches SHELL to complete subcommands, options, skill names and run ids."""
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "lockstep", "_LOCKSTEP_COMPLETE").source())

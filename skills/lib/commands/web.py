"""``lockstep web``."""

from __future__ import annotations

import getpass
import sys

import click

from skills.lib import terminal
from skills.lib.commands.console.options import examples, project_option
from skills.lib.commands.console.screen import Screen
from skills.lib.errors import EnvironmentProblem

_EXTRA = "pip install '/path/to/lockstep[web]'"


@click.command(
    epilog=examples(
        "lockstep web  # at http://127.0.0.1:8710, for this machine alone",
        "lockstep web --port 0  # at any free port",
        "lockstep web --host 0.0.0.0 --allow-host build.example.org  # for other machines; put TLS in front of it",
    )
)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="HOST", help="Where to listen.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=8710, show_default=True, help="The port; 0 is any free one."
)
@click.option(
    "--allow-host",
    "hosts",
    metavar="NAME",
    multiple=True,
    help="Also serve requests to this host name; needed to listen where other machines reach it.",
)
@project_option
@click.pass_obj
def web(screen: Screen, host: str, port: int, hosts: tuple[str, ...], project: str) -> None:
    """Show the project's runs in a browser: live, with their graphs, records and reviews, to answer, start and stop.

    A link for each role is printed to the terminal. It works once: the browser that opens it gets a cookie, and what
    is done there is recorded as a person's. So it takes a person at a terminal, in a shell that no agent's host runs.

    It needs the extra: pip install '/path/to/lockstep[web]'
    """
    try:
        from skills.lib.web import server
    except ImportError as error:
        if (error.name or "").partition(".")[0] in ("skills", ""):
            raise
        raise EnvironmentProblem(
            f"lockstep web needs the extra [web] ({error.name} is not installed for {sys.executable})", remedy=_EXTRA
        ) from error
    terminal.require_person("the links of the run explorer are a person's", "open it in a terminal of your own")
    if hosts and not server.is_loopback(host):
        screen.say("Other machines can reach this address, and without TLS in front of it they can read along.")

    def say(text: str, links: dict[str, str]) -> None:
        screen.print(text)
        for role, link in links.items():
            screen.print(f"  {role:<10} {link}")

    server.serve(project, host, port, hosts, _login(), say)


def _login() -> str:
    """The name of whoever is logged in, which the forms propose; empty if the system does not know it."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""

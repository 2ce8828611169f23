"""``lockstep mcp``."""

from __future__ import annotations

import sys
from functools import partial

import click

from skills.lib.commands.console.options import examples, project_option
from skills.lib.errors import EnvironmentProblem, UsageError
from skills.lib.hosts import skills

_EXTRA = "pip install '/path/to/lockstep[mcp]'"


@click.command(
    epilog=examples(
        "lockstep mcp --project /path/to/project  # the command that an MCP client starts",
        "lockstep mcp --http 8808  # at http://127.0.0.1:8808/mcp, for this machine alone",
    )
)
@click.option("--http", "address", metavar="[HOST:]PORT", help="Serve streamable HTTP (default: standard input).")
@click.option(
    "--allow-host",
    "hosts",
    metavar="NAME",
    multiple=True,
    help="Also serve requests to this host name; needed to listen where other machines reach it.",
)
@click.option("--gateway", is_flag=True, help="Also offer safe_cli_executor and safe_py_runner (docs/gateway.md).")
@project_option
def mcp(address: str | None, hosts: tuple[str, ...], gateway: bool, project: str) -> None:
    """Serve the project's skills and runs to MCP clients: skills as resources, runs as tools.

    The tools are list_skills, start_run, next_step and run_state. A run that is opened here is the same as one that
    is opened by a script: runs, trace, answer and resume know it.

    It needs the extra: pip install '/path/to/lockstep[mcp]'
    """
    if hosts and address is None:
        raise UsageError("--allow-host is about HTTP", remedy="give --http with it")
    try:
        from skills.lib.hosts.mcp import transports
        from skills.lib.hosts.mcp.server import SkillServer
    except ImportError as error:
        if (error.name or "").partition(".")[0] in ("skills", ""):
            raise
        # A package that is missing is of the extra; what it is called says nothing to who installs that.
        absent = isinstance(error, ModuleNotFoundError) and "." not in (error.name or ".")
        raise EnvironmentProblem(
            "lockstep mcp needs the extra [mcp] (the package mcp, version 2.3 or later), which is not installed for "
            f"{sys.executable}{'' if absent else f': {error}'}",
            remedy=_EXTRA,
        ) from error
    server = SkillServer(project, partial(skills.find, project), gateway)
    if address is None:
        transports.serve_stdio(server)
    else:
        transports.serve_http(server, address, hosts)

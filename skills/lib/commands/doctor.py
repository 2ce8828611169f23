"""``lockstep doctor``."""

from __future__ import annotations

import sys

import click

from skills import __version__
from skills.lib.commands.console.options import examples, json_option, project_option
from skills.lib.commands.console.screen import Screen, clean, counted, one_line
from skills.lib.commands.queries import install_output
from skills.lib.errors import PRINTED
from skills.lib.hosts.doctor import registry
from skills.lib.hosts.doctor.examination import OK, PROBLEM, WARNING, CheckedResult, DoctorContext
from skills.lib.hosts.known_hosts import HOSTS

# Something is wrong; warnings alone are no failure.
UNWELL = 1
_COLOURS = {OK: "green", WARNING: "yellow", PROBLEM: "bold red"}


@click.command(
    epilog=examples(
        "lockstep doctor  # Lockstep, this project, and every host",
        "lockstep doctor codex  # one host, which is then expected to be there",
        "lockstep doctor --fix  # remove files of runs that have ended, restore the launcher",
        "lockstep doctor --json  # for a program",
    )
)
@install_output.hosts_argument
@click.option("--fix", is_flag=True, help="Remove files that outlived their run, and write a broken launcher again.")
@json_option
@project_option
@click.pass_obj
def doctor(screen: Screen, hosts: tuple[str, ...], fix: bool, as_json: bool, project: str) -> int:
    """Say what is installed, trusted, stale or broken, and the command that fixes it.

    HOST is codex, claude, opencode, qwen, gemini or agents (default: all). Hosts are asked without a model. Exit code
    0 if nothing is wrong, 1 if something is; a warning is not wrong.
    """
    context = DoctorContext(project, hosts or HOSTS, named=bool(hosts))
    reports = _examined(screen, context)
    reports = registry.fixed(reports) if fix else reports
    if as_json:
        screen.json(_as_data(project, reports))
    else:
        _show(screen, reports)
    return UNWELL if _count(reports, PROBLEM) else PRINTED


def _examined(screen: Screen, context: DoctorContext) -> list[CheckedResult]:
    """The results of every check. A line on standard error says what is being looked at, if a person reads it."""
    shows = screen.err.is_terminal and not screen.err.is_dumb_terminal and not screen.err.no_color

    def write(text: str) -> None:
        if shows:
            sys.stderr.write(f"\r\x1b[K{clean(text)[:60]}")
            sys.stderr.flush()

    try:
        return list(registry.examine(context, write))
    finally:
        write("")


def _show(screen: Screen, reports: list[CheckedResult]) -> None:
    subject = ""
    for one in reports:
        if one.subject != subject:
            subject = one.subject
            screen.print(screen.styled(subject, "bold"))
        result = one.result
        status = screen.styled(f"  {result.status:8}", _COLOURS[result.status])
        screen.print(status, screen.styled(f"{one.check:13}", "dim"), one_line(result.what))
        if result.status != OK:
            for name, text in (("where", result.where), ("do", result.remedy)):
                if text:
                    screen.print(" " * 10, screen.styled(f"{name + ':':13}", "dim"), one_line(text))
    wrong, warned = _count(reports, PROBLEM), _count(reports, WARNING)
    if not wrong and not warned:
        screen.say(screen.styled("Nothing is wrong.", "green"))
    else:
        colour = "red" if wrong else "yellow"
        screen.say(screen.styled(f"{counted(wrong, 'problem')}, {counted(warned, 'warning')}.", colour))


def _as_data(project: str, reports: list[CheckedResult]) -> dict[str, object]:
    return {
        "version": __version__,
        "project": project,
        "problems": _count(reports, PROBLEM),
        "warnings": _count(reports, WARNING),
        "results": [one.to_data() for one in reports],
    }


def _count(reports: list[CheckedResult], status: str) -> int:
    return sum(one.result.status == status for one in reports)

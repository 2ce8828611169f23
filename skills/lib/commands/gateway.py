"""``lockstep gateway``."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import click

from skills.lib import gateway_results, paths, terminal
from skills.lib.commands.console import prompts
from skills.lib.commands.console.options import examples, json_option, project_option
from skills.lib.commands.console.screen import Screen, one_line
from skills.lib.errors import EnvironmentProblem, RefusedError, UsageError
from skills.lib.gateway import Gateway, GatewayResult, consent
from skills.lib.gateway.gateway import STDIN_LIMIT, Prepared, project_file
from skills.lib.gateway.places import GATEWAY_FILE
from skills.lib.gateway.specs import Command, GatewayFile, Setting
from skills.lib.model.texts import number

# The exit code if the command ran and did not end with 0.
FAILED = 1


@click.group(
    epilog=examples(
        "lockstep gateway list  # the commands, and what each takes",
        "lockstep gateway run read_file path=README.md  # one of them",
        "lockstep gateway trust  # consent to the project's own commands",
    )
)
def gateway() -> None:
    """Run named commands with checked values, without a shell.

    A project adds commands of its own in lockstep.gateway.yaml, once a person has consented to the file.
    """


@gateway.command(
    epilog=examples(
        "lockstep gateway run tree path=docs  # a command with a parameter",
        "lockstep gateway run copy_file source=a.txt destination=build --dry-run  # nothing runs",
        "lockstep gateway run python_run script=scripts/sum.py args=a args=b  # two arguments",
        "lockstep gateway run python_run script=scripts/write_file.py args=a.md --stdin < a.txt  # a file",
    )
)
@click.argument("name", metavar="NAME")
@click.argument("values", metavar="[KEY=VALUE]...", nargs=-1)
@click.option("--env", "env_vars", metavar="NAME=VALUE", multiple=True, help="Set a variable that the runner lists.")
@click.option("--stdin", "reads_stdin", is_flag=True, help="Pass standard input on.")
@click.option("--dry-run", is_flag=True, help="Check the call and print the argument list; nothing runs.")
@json_option
@project_option
@click.pass_obj
def run(
    screen: Screen,
    name: str,
    values: tuple[str, ...],
    env_vars: tuple[str, ...],
    reads_stdin: bool,
    dry_run: bool,
    as_json: bool,
    project: str,
) -> int | None:
    """Run the command NAME with checked values. A key that is given again adds a value.

    Exit code 0 if the command ended with 0, 1 if it did not: standard error then says how. A call that the gateway
    refuses runs nothing, and has exit code 2 or 3.
    """
    given = _pairs(values, "KEY=VALUE", "path=README.md")
    variables = {
        key: texts if isinstance(texts, str) else texts[-1]
        for key, texts in _pairs(env_vars, "NAME=VALUE, which --env takes", "TZ=UTC").items()
    }
    stdin_text = _standard_input() if reads_stdin else None
    _require_own(project)
    opened = Gateway(project)
    if dry_run:
        _show_prepared(screen, opened.prepare(name, given, variables, stdin_text), as_json)
        return None
    with _ending_by_signals():
        result = opened.run(name, given, variables, stdin_text)
    gateway_results.keep(sys.argv[1:], project, result.exit)  # some hosts do not tell the hook how a command ended
    _show_result(screen, result, as_json)
    return None if result.ok else FAILED


@gateway.command(name="list", epilog=examples("lockstep gateway list --json  # for a program"))
@json_option
@project_option
@click.pass_obj
def list_commands(screen: Screen, as_json: bool, project: str) -> None:
    """List the commands: what each does, and the parameters that it takes."""
    opened = Gateway(project)
    commands = opened.file.commands.values()
    if as_json:
        found = [_about(command) for command in commands]
        screen.json({"commands": found, "trusted": not opened.is_untrusted})
    else:
        rows = [[command.name, _parameters(command), command.about] for command in commands]
        screen.table(("COMMAND", "PARAMETERS", "WHAT IT DOES"), rows)
    if opened.is_untrusted:
        screen.say(f"No person has consented to {GATEWAY_FILE}, so its commands are not known: lockstep gateway trust")


@gateway.command(
    epilog=examples(
        "lockstep gateway trust  # shows the commands, and asks",
        "lockstep gateway trust --withdraw  # take the consent back",
    )
)
@click.option("--withdraw", is_flag=True, help="Take the consent back.")
@project_option
@click.pass_obj
def trust(screen: Screen, withdraw: bool, project: str) -> None:
    """Consent to the commands of this project's lockstep.gateway.yaml. It takes a person at a terminal.

    The consent is for the file as it is: after any change it is asked for again. It is kept in the user's state folder.
    """
    data = consent.read(project)
    if data is None:
        raise UsageError(f"{project} has no {GATEWAY_FILE}", remedy="docs/gateway.md says what is in one")
    if withdraw:
        consent.withdraw(project, data)
        screen.print("The consent is withdrawn.")
        return
    terminal.require_person(f"consent to {GATEWAY_FILE} is a person's")
    _show_file(screen, project_file(project, data))
    if consent.is_given(project, data):
        screen.print("These commands are trusted already.")
        return
    if not prompts.confirmed("May agents run these commands in this project?"):
        raise RefusedError("no consent was given, and nothing was changed")
    consent.give(project, data)
    screen.print(f"{GATEWAY_FILE} is trusted as it is now.")


@contextlib.contextmanager
def _ending_by_signals() -> Iterator[None]:
    """A context that a signal to end leaves as Ctrl-C does, and what runs in it is ended: exit code 128 + number."""

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = [signal.signal(number, end) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _require_own(project: str) -> None:
    """RefusedError if an agent names another project than that of its working directory."""
    here = paths.project_root()
    if project != here and terminal.why_no_person():
        raise RefusedError(
            f"{project} is not the project of the working directory, which is {here}",
            valid="the project of the working directory, or a person who types this command at a terminal",
        )


def _pairs(words: tuple[str, ...], what: str, example: str) -> dict[str, str | list[str]]:
    """The values by key; the values of a key that is given more than once as a list."""
    found: dict[str, list[str]] = {}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign or not key:
            raise UsageError(f"{word!r:.80} is not {what}", valid=f"a name, = and the value: {example}")
        found.setdefault(key, []).append(value)
    return {key: texts[0] if len(texts) == 1 else texts for key, texts in found.items()}


def _standard_input() -> str:
    if sys.stdin is None:  # the caller closed it
        raise EnvironmentProblem(
            "standard input is closed", remedy="give the text by a pipe or a file: --stdin < a.txt"
        )
    try:
        return sys.stdin.buffer.read(STDIN_LIMIT + 1).decode()
    except OSError as error:
        raise EnvironmentProblem(
            f"standard input cannot be read: {error.strerror or error}", remedy="give the text by a pipe or a file"
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError("standard input is not UTF-8") from error


def _show_prepared(screen: Screen, call: Prepared, as_json: bool) -> None:
    if as_json:
        limits = call.setting.limits.fields()
        screen.json({"command": call.command.name, "argv": list(call.argv), "folder": call.folder, "limits": limits})
        return
    for word in call.argv:
        screen.print(repr(word))


def _show_result(screen: Screen, result: GatewayResult, as_json: bool) -> None:
    if as_json:
        screen.json({**result.fields(), "argv": list(result.argv)})
        return
    if result.output:
        screen.print(result.output.removesuffix("\n"))
    if result.errors:
        screen.say(result.errors.removesuffix("\n"))
    screen.say(f"{result.command}: {result.ending()}")


def _show_file(screen: Screen, file: GatewayFile) -> None:
    """What a person is asked about: each argument list and its limits, and the scripts that runners would run."""
    for command in file.commands.values():
        screen.print(screen.styled(command.name, "bold"), f"  {one_line(command.about)}")
        words = [repr(word) if isinstance(word, str) else f"[{', '.join(map(repr, word))}]" for word in command.argv]
        screen.print(
            "  ", one_line(f"runs {' '.join(words)} in {command.folder}, paths below {', '.join(command.roots)}")
        )
        for parameter in command.parameters.values():
            use = f", a path to {parameter.path}" if parameter.path else ""
            screen.print("  ", one_line(f"{parameter.name}: {parameter.pattern}{use}"))
        _show_setting(screen, command.setting)
    for suffix, runner in file.runners.items():
        screen.print(screen.styled(f"scripts {suffix}", "bold"))
        screen.print("  ", one_line(f"runs {' '.join(map(repr, runner.argv))}"))
        _show_setting(screen, runner.setting)


def _show_setting(screen: Screen, setting: Setting) -> None:
    limits = [
        f"{name} {number(value)}" for name, value in setting.limits.fields().items() if isinstance(value, int | float)
    ]
    screen.print(f"  limits: {', '.join(limits)} (0 is none)")
    fixed = [f"{name}={value}" for name, value in setting.env.items()]
    for what, words in (
        ("sandbox", setting.sandbox),
        ("variables that are set", fixed),
        ("variables that are passed on", setting.inherit),
        ("variables that a caller may set", setting.env_vars),
    ):
        if words:
            screen.print("  ", one_line(f"{what}: {' '.join(words)}"))


def _parameters(command: Command) -> str:
    shown = []
    for name, parameter in command.parameters.items():
        mark = "..." if parameter.many else ""
        is_optional = parameter.optional or parameter.default is not None
        shown.append(f"[{name}{mark}]" if is_optional else name)
    return " ".join(shown)


def _about(command: Command) -> dict[str, Any]:
    parameters: dict[str, Mapping[str, object]] = {
        name: {
            "pattern": one.pattern,
            "path": one.path,
            "required": not (one.optional or one.default is not None),
            "many": one.many,
            "about": one.about,
        }
        for name, one in command.parameters.items()
    }
    return {"command": command.name, "about": command.about, "parameters": parameters, "project": command.of_project}

"""``lockstep replay``."""

from __future__ import annotations

import click

from skills.lib.commands.console.options import examples, json_option, policies_option, project_option
from skills.lib.commands.console.screen import Cell, Screen, counted
from skills.lib.commands.queries import policies
from skills.lib.guard.calls import SHELL
from skills.lib.guard.decisions import Allow
from skills.lib.guard.replaying import Answered, Recorded, Replay

_STYLES = {"allow": "green", "look": "yellow", "deny": "red"}


@click.command(
    epilog=examples(
        "lockstep replay session.jsonl  # by the project's policy",
        "lockstep replay session.jsonl --policy new.yaml --stopped  # only the calls that it would have stopped",
        "lockstep replay session.jsonl --policy a.yaml --policy b.yaml --json  # two policies, for a program",
    )
)
@click.argument("trace", metavar="TRACE.jsonl")
@policies_option
@click.option("--stopped", is_flag=True, help="List only the calls that would not have been allowed.")
@json_option
@project_option
@click.pass_obj
def replay(screen: Screen, trace: str, files: tuple[str, ...], stopped: bool, as_json: bool, project: str) -> None:
    """Say what a policy would have answered to each call of the recorded session TRACE.jsonl.

    A line is a JSON object: tool, arguments, ok (false if the call failed) and result; a shell result has exit and
    output. A line with said alone is what the user said. Where session changes, nothing is known again. Nothing is
    called, and the folder of the project is not asked what its branch, commit or content is: a record may have tree,
    branch and head among its arguments. The mode of a policy makes no difference to what is listed.
    """
    followed = list(Replay(policies.of_project(files, project), project).follow(policies.records(trace)))
    counts = {word: sum(one.word == word for one in followed) for word in _STYLES}
    shown = [one for one in followed if not (stopped and one.word == "allow")]
    if as_json:
        screen.json({"calls": len(followed), **counts, "answers": [_data(one) for one in shown]})
        return
    if shown:
        rows: list[list[Cell]] = [
            [str(one.number), _call(one.call), screen.styled(one.word, _STYLES[one.word]), policies.because(one.answer)]
            for one in shown
        ]
        screen.table(("LINE", "CALL", "ANSWER", "BECAUSE"), rows)
        screen.print("")
    screen.print(
        f"{counted(len(followed), 'call')}: {counts['allow']} allowed, {counts['look']} asked to look first, "
        f"{counts['deny']} denied"
    )


def _call(call: Recorded) -> str:
    """A call in short: a shell's line, or the tool with its arguments."""
    line = call.arguments.get("command")
    text = line if call.tool == SHELL and isinstance(line, str) else f"{call.tool}({_values(call)})"
    return text if len(text) <= 70 else text[:69] + "…"


def _values(call: Recorded) -> str:
    return ", ".join(f"{name}={value}" for name, value in call.arguments.items())


def _data(one: Answered) -> dict[str, object]:
    """An answer as JSON; its fields are those of the answer."""
    fields = {} if isinstance(one.answer, Allow) else one.answer.fields()
    return {
        "line": one.number,
        "session": one.call.session,
        "tool": one.call.tool,
        "arguments": one.call.arguments,
        "ok": one.call.ok,
        "answer": one.word,
        "because": policies.because(one.answer),
        **fields,
    }

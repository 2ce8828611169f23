"""``lockstep replay``."""

from __future__ import annotations

import click

from skills.lib.commands.console.options import examples, json_option, policies_option, project_option
from skills.lib.commands.console.screen import Cell, Screen, counted, one_line
from skills.lib.commands.queries import policies, transcripts
from skills.lib.errors import REFUSED, UsageError
from skills.lib.guard.calls import SHELL
from skills.lib.guard.decisions import Allow
from skills.lib.guard.replaying import Answered, Recorded, Replay
from skills.lib.layers.replaying import comparing, counting
from skills.lib.layers.replaying.comparing import Comparison, Pair, Side

_STYLES = {"allow": "green", "look": "yellow", "deny": "red"}
# What heads the column of each measure, and what a sentence calls it.
_MEASURES = {
    counting.ERRORS: ("ERRORS", "command errors"),
    counting.SEARCHES: ("SEARCHES", "shell searches"),
    counting.CLAIMS: ("CLAIMS", "unproved claims"),
    counting.FILES: ("FILES", "files outside of filesAllowed"),
    counting.VERDICTS: ("VERDICTS", "wrong verdicts"),
}


@click.command(
    epilog=examples(
        "lockstep replay session.jsonl  # by the project's policy",
        "lockstep replay session.jsonl --policy new.yaml --stopped  # only the calls that it would have stopped",
        "lockstep replay session.jsonl --policy a.yaml --policy b.yaml --json  # two policies, for a program",
        "lockstep replay before/ after/  # sessions without and with a layered skill, paired by their names",
        "lockstep replay before.jsonl after.jsonl --task T1.task.json --findings  # one pair, each finding",
        "lockstep replay before/ after/ --policy policy.yaml --json  # and what the policy would have stopped before",
    )
)
@click.argument("session", metavar="SESSION")
@click.argument("layered", metavar="[LAYERED]", required=False)
@policies_option
@click.option("--stopped", is_flag=True, help="Of one session, list only the calls that would not have been allowed.")
@click.option("--task", metavar="FILE", default="", help="Of two: the task (default: NAME.task.json beside a session).")
@click.option("--findings", is_flag=True, help="Of two: list what was counted, with file and line.")
@json_option
@project_option
@click.pass_obj
def replay(
    screen: Screen,
    session: str,
    layered: str | None,
    files: tuple[str, ...],
    stopped: bool,
    task: str,
    findings: bool,
    as_json: bool,
    project: str,
) -> int | None:
    """Say what a policy would have answered in the recorded SESSION, or compare SESSION with LAYERED.

    One session: a line is a JSON object: tool, arguments, ok (false if the call failed) and result; a shell result has
    exit and output. A line with said alone is what the user said. Where session changes, nothing is known again.
    Nothing is called, and the folder of the project is not asked what its branch, commit or content is: a record may
    have tree, branch and head among its arguments. The mode of a policy makes no difference to what is listed. A
    session as a host records it is taken, too.

    Two sessions of one task, or two folders of them: counts command errors, shell searches although a search tool was
    at hand, claims that no result shows, changed files that the task does not allow, and wrong verdicts. Exit code 3
    says that LAYERED has more of any in any pair, or that a session has no partner.
    """
    if layered is None:
        if task or findings:
            raise UsageError("--task and --findings are for two sessions", remedy="name LAYERED, too")
        _answer(screen, session, files, stopped, as_json, project)
        return None
    if stopped:
        raise UsageError("--stopped is for one session", remedy="leave LAYERED away, or use --findings")
    found = comparing.compare(session, layered, task, transcripts.HostTerms())
    answers = _answers_to(found, files, project)
    if as_json:
        screen.json({**comparing.as_data(found), **({"policy": answers} if files else {})})
    else:
        _print(screen, found, answers, findings)
    return None if found.holds() else REFUSED


def _answer(screen: Screen, session: str, files: tuple[str, ...], stopped: bool, as_json: bool, project: str) -> None:
    """Print what the policies answer to each call of a session."""
    followed = list(Replay(policies.of_project(files, project), project).follow(transcripts.records(session)))
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


def _answers_to(found: Comparison, files: tuple[str, ...], project: str) -> dict[str, dict[str, int]]:
    """How many calls of each baseline the policies would have allowed, looked at, or denied; empty without a policy."""
    if not files:
        return {}
    guards = policies.of_project(files, project)
    answers = {}
    for pair in found.pairs:
        words = [one.word for one in Replay(guards, project).follow(transcripts.of_host(pair.baseline.file))]
        answers[pair.name] = {word: words.count(word) for word in _STYLES}
    return answers


def _print(screen: Screen, found: Comparison, answers: dict[str, dict[str, int]], findings: bool) -> None:
    """A comparison for a person: a row for each pair, the sums, what is worse, and what has no partner."""
    rows = [[pair.name, *_cells(screen, pair), *_stopped(pair, answers)] for pair in found.pairs]
    sums = {side: found.sums(side) for side in ("baseline", "layered")}
    totals = [
        _change(screen, sums["baseline"][name], sums["layered"][name]) if found.knows(name) else "?"
        for name in _MEASURES
    ]
    stops = [str(sum(one["look"] + one["deny"] for one in answers.values()))] if answers else []
    headings = ["SESSION", *[heading for heading, _ in _MEASURES.values()], *(["STOPPED"] if answers else [])]
    if rows:
        screen.table(headings, [*rows, [screen.styled("all", "bold"), *totals, *stops]])
        screen.print("")
    if findings:
        for pair in found.pairs:
            for side in (pair.baseline, pair.layered):
                _print_findings(screen, side)
    for pair in found.pairs:
        for side in (pair.baseline, pair.layered):
            if side.is_cut:
                screen.print(f"{side.file}: its last line is cut off, and was left out")
        if not pair.baseline.count.judged and not pair.layered.count.judged:
            screen.print(f"{pair.name}: neither session states a verdict on a criterion")
    for name in found.only_baseline:
        screen.print(screen.styled(f"{name} has no partner among the layered sessions", "red"))
    for name in found.only_layered:
        screen.print(screen.styled(f"{name} has no partner among the baseline sessions", "red"))
    _print_verdict(screen, found)


def _print_verdict(screen: Screen, found: Comparison) -> None:
    pairs = counted(len(found.pairs), "pair")
    worse = [pair for pair in found.pairs if pair.worse()]
    if not worse:
        screen.print(f"{pairs}: layered is worse in none")
        return
    screen.print(screen.styled(f"{pairs}: layered is worse in {len(worse)}", "red"))
    for pair in worse:
        counts = pair.baseline.count, pair.layered.count
        parts = [f"{_MEASURES[name][1]} {counts[0].of(name)} → {counts[1].of(name)}" for name in pair.worse()]
        screen.print(f"  {pair.name}: {', '.join(parts)}")


def _print_findings(screen: Screen, side: Side) -> None:
    for finding in side.count.findings:
        where = f"{side.file}:{finding.number}" if finding.number else side.file
        screen.print(f"{where}: {_MEASURES[finding.measure][1]}: {one_line(finding.what)}")


def _cells(screen: Screen, pair: Pair) -> list[Cell]:
    before, after = pair.baseline.count, pair.layered.count
    return [
        "?" if name == counting.FILES and not before.files_known else _change(screen, before.of(name), after.of(name))
        for name in _MEASURES
    ]


def _change(screen: Screen, before: int, after: int) -> Cell:
    text = str(before) if before == after else f"{before} → {after}"
    return screen.styled(text, "red" if after > before else "green" if after < before else "")


def _stopped(pair: Pair, answers: dict[str, dict[str, int]]) -> list[Cell]:
    """How many calls of the baseline the policies would not have allowed."""
    return [str(answers[pair.name]["look"] + answers[pair.name]["deny"])] if answers else []

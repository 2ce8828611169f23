"""``lockstep policy``."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from typing import Any

import click

from skills.lib.commands.console.options import examples, json_option, policies_option, project_option
from skills.lib.commands.console.screen import Cell, Screen, counted
from skills.lib.commands.queries import live_facts, policies
from skills.lib.errors import UsageError
from skills.lib.guard.calls import SHELL, calls_of, is_line
from skills.lib.guard.checking import Finding, check
from skills.lib.guard.compiled import MODES
from skills.lib.guard.decisions import Allow, strictest
from skills.lib.guard.explaining import Explained
from skills.lib.guard.guard import Guard
from skills.lib.guard.replaying import Replay
from skills.lib.guard.whole_calls import answer_to
from skills.lib.hosts.hook.tools import HOSTS, TABLE
from skills.lib.hosts.known_hosts import KNOWN

# The exit code if a policy has findings.
FOUND = 1
_STYLES = {"TRUE": "green", "FALSE": "red", "UNKNOWN": "yellow"}
_TITLES = {"allow": "Allowed.", "deny": "Denied: ", "look": "Look first: "}


@click.group(
    epilog=examples(
        "lockstep policy new  # one for a coding project, to begin with",
        "lockstep policy check lockstep.policy.yaml  # everything that is wrong with a policy",
        "lockstep policy explain shell command='git push'  # what the project's policy says of a call",
    )
)
def policy() -> None:
    """Write a policy on tool calls, check it, and explain what it says of a call.

    A policy says when an agent may call a tool. docs/guard.md has the language.
    """


@policy.command(
    epilog=examples(
        "lockstep policy new  # into the project's root",
        "lockstep policy new --mode report --dry-run  # see it; report what it would deny, and deny nothing",
    )
)
@click.option("--mode", type=click.Choice(MODES), default="deny", show_default=True, help="What follows from a need.")
@click.option("--dry-run", is_flag=True, help="Print the policy; write nothing.")
@project_option
@click.pass_obj
def new(screen: Screen, mode: str, dry_run: bool, project: str) -> None:
    """Write a policy for a coding project, lockstep.policy.yaml, at the project's root.

    Content is pushed once its tests passed, nothing is forced onto a protected branch or removed outside of the
    project, and a release takes a person's word. Change it to the commands of the project.
    """
    text = policies.for_coding(mode)
    if dry_run:
        screen.print(text.rstrip())
        return
    file = policies.create(project, text)
    screen.say(f"{file} is written, mode {mode}. It holds where hooks are installed: lockstep install HOST")


@policy.command(
    name="check",
    short_help="Say what is wrong with a policy.",
    epilog=examples(
        "lockstep policy check  # the project's",
        "lockstep policy check policy.yaml  # a policy beside a workflow",
        "lockstep policy check lockstep.policy.yaml --host codex  # also what this host never shows",
    ),
)
@click.argument("file", metavar="[FILE]", required=False)
@click.option("--host", type=click.Choice(HOSTS), help="Name the places that this host can never show.")
@json_option
@project_option
@click.pass_obj
def check_policy(screen: Screen, file: str | None, host: str | None, as_json: bool, project: str) -> int | None:
    """Check the policy FILE: needs that can never be TRUE, places that no tool shows, unknown arguments and names.

    Without FILE, the project's policy. Exit code 0 if nothing is wrong, 1 if there are findings, 2 if the file is no
    policy.
    """
    file = file or policies.project_file(project, "lockstep policy check FILE")
    found = policies.read(file)
    silent = dict(KNOWN[host].unreported) if host else {}
    findings = check(found, silent=silent, host=KNOWN[host].title if host else "")
    if as_json:
        screen.json({"file": file, "mode": found.mode, "rules": len(found.tools), "findings": _as_data(findings)})
    else:
        for finding in findings:
            screen.print(f"{finding.file}:{finding.line}: ", screen.styled(finding.name, "bold"), f" {finding.what}")
            if finding.remedy:
                screen.print(f"  try: {finding.remedy}")
        screen.say(f"{counted(len(found.tools), 'rule')}, mode {found.mode}: {counted(len(findings), 'finding')}")
    return FOUND if findings else None


def _as_data(findings: list[Finding]) -> list[dict[str, object]]:
    return [finding.fields() for finding in findings]


@policy.command(
    short_help="Say what a policy answers to a call.",
    epilog=examples(
        "lockstep policy explain shell command='git push origin main'  # a line of a shell, taken apart",
        'lockstep policy explain transfer \'{"to": "bob", "amount": 5}\' --policy bank.yaml  # arguments as JSON',
        "lockstep policy explain deploy --after session.jsonl  # with what a recorded session showed",
        "lockstep policy explain shell command='git push' --session 5f0c8f0e  # with what the hook knows now",
    ),
)
@click.argument("tool", metavar="TOOL")
@click.argument("arguments", metavar="[KEY=VALUE]...", nargs=-1)
@policies_option
@click.option("--after", metavar="TRACE.jsonl", help="Learn from a recorded session first.")
@click.option("--session", metavar="ID", help="With what the hook knows in a host's session of that id.")
@click.option("--run", metavar="RUN", help="By the policy of that run's workflow, with what the hook knows for it.")
@json_option
@project_option
@click.pass_obj
def explain(
    screen: Screen,
    tool: str,
    arguments: tuple[str, ...],
    files: tuple[str, ...],
    after: str | None,
    session: str | None,
    run: str | None,
    as_json: bool,
    project: str,
) -> None:
    """Say what a policy answers to a call of TOOL: each need with TRUE, FALSE or UNKNOWN, and why.

    A VALUE is JSON, or text if it is no JSON; the arguments may also be one JSON object. Nothing is called, and nothing
    is known but what the policy starts with, and what --after, --session or --run shows.
    """
    given = _arguments(tool, arguments)
    guards = _guards(files, after, session, run, project)
    needs: list[Explained] = []
    answers: list[Any] = []
    for guard in guards:
        for call in calls_of(guard, tool, given, project):
            answers.append(answer_to(guard, call))
            needs += guard.explain(call.rule, call.arguments) if not call.doubt else []
    answer = strictest(answers)
    shown = answer.reported if isinstance(answer, Allow) and answer.reported is not None else answer
    word, sentence = type(shown).__name__.lower(), policies.because(shown)
    if as_json:
        rules = {"answer": word, "because": sentence, "reported_only": shown is not answer}
        screen.json({**rules, "needs": [need.fields() for need in needs]})
        return
    if needs:
        rows: list[list[Cell]] = [
            [need.need, screen.styled(need.value, _STYLES[need.value]), _why(need), need.where] for need in needs
        ]
        screen.table(("NEED", "VALUE", "BECAUSE", "WHERE"), rows)
        screen.print("")
    screen.print(_TITLES[word] + sentence)
    if shown is not answer:
        screen.say("The policy only reports (mode: report): the call is let through.")
    if not needs and word == "allow":
        _say_no_rule(screen, tool, given, [policy for guard in guards for policy in guard.policies])
    if word == "look" and not (after or session or run):
        screen.say(
            "Nothing is known here: --session ID or --run RUN says what the hook knows, --after what a record shows"
        )


def _guards(files: Sequence[str], after: str | None, session: str | None, run: str | None, project: str) -> list[Guard]:
    """A guard for each policy, with what is known."""
    if sum(map(bool, (after, session, run))) > 1 or (run and files):
        raise UsageError(
            "--after, --session and --run each say what is known, and --run which policy",
            remedy="give one of the three; --policy goes with --after and --session",
        )
    if run:
        return [live_facts.of_run(run, project)]
    found = policies.of_project(files, project)
    if session:
        names = files or [os.path.join(project, policies.PROJECT_POLICY)]
        return [live_facts.of_session(session, one, name, project) for one, name in zip(found, names, strict=True)]
    replay = Replay(found, project)
    list(replay.follow(policies.records(after) if after else []))
    return replay.guards


def _why(need: Explained) -> str:
    reason = need.reason.removeprefix(f"{need.need} is {need.value}").removeprefix(": ")
    return reason + policies.told_by(need.tools)


def _say_no_rule(screen: Screen, tool: str, given: dict[str, Any], found: Any) -> None:
    """Say that no rule with needs is about the call, and which name may have been meant."""
    from skills.lib.errors import did_you_mean, nearest

    names = [name for policy in found for name in policy.tools]
    canonical = next((name for name in TABLE if tool.lower() in (name, *_of_hosts(name))), "")
    if is_line(tool, given):
        screen.say("No rule with needs is about this line")
    elif tool == SHELL:
        screen.say("A call of shell has its line in command: lockstep policy explain shell command='git push'")
    elif tool not in names and canonical and canonical != tool:
        screen.say(f"No rule with needs is about {tool}; policies call it {canonical}")
    else:
        near = "" if tool in names else did_you_mean(nearest(tool, [*names, *TABLE]))
        screen.say(f"No rule with needs is about {tool}{near}")


def _of_hosts(canonical: str) -> list[str]:
    """What hosts call a tool, in small letters."""
    return [name.lower() for names in TABLE[canonical].values() for name in names]


def _arguments(tool: str, words: tuple[str, ...]) -> dict[str, Any]:
    """The arguments of a call: one JSON object, or pairs."""
    if len(words) == 1 and words[0].lstrip().startswith("{"):
        try:
            found = json.loads(words[0])
        except ValueError as error:
            raise UsageError(f"the arguments are no JSON: {error}", remedy="KEY=VALUE for each argument") from error
        return dict(found)
    given: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            line = f"lockstep policy explain shell command={shlex.quote(word)}"
            remedy = line if tool == SHELL else "KEY=VALUE, for example username=bob"
            raise UsageError(f"{word!r:.80} is no argument", remedy=remedy)
        if name in given:
            raise UsageError(f"{name} is given twice", remedy="give a list as JSON: KEY='[1, 2]'")
        try:
            given[name] = json.loads(value)
        except ValueError:
            given[name] = value
    return given

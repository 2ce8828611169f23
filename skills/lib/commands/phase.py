"""``lockstep phase``."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from skills.lib import files, paths
from skills.lib.agent.configuration import lockstep_toml
from skills.lib.blocks.command_line import join, lockstep_command, quote
from skills.lib.commands.console.options import examples, json_option, project_option
from skills.lib.commands.console.screen import Screen, counted
from skills.lib.commands.queries import phases
from skills.lib.errors import BROKEN_SKILL, PRINTED, EnvironmentProblem, LockstepError, RefusedError, UsageError
from skills.lib.layers import listing, opting, prompts
from skills.lib.layers.registry import CORE, Registry
from skills.lib.runtime import script

_SETTING = ("phases", "use_layered_skills")
_CORE_OF_BLOCK = "safe-shell-search"
_LIMIT = 1_000_000


@click.command(
    epilog=examples(
        "lockstep phase  # every phase with its skills",
        "lockstep phase code_review  # what each skill contributes, and what was settled",
        "lockstep phase code_review --start -- --subject 'the last commit'  # open the run",
        "lockstep phase code_review --issue issue.json --prompt prompts/review.md  # what the agent is given",
        "lockstep phase --prompts prompts  # copies and drift of the block, and the slim difference",
        "lockstep phase --agents AGENTS.md --check  # for CI",
    )
)
@click.argument("phase", required=False)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- PARAMETERS]")
@click.option("--start", is_flag=True, help="Open the run of the phase's adapter; its parameters stand after --.")
@click.option("--skill", metavar="NAME", default="", help="The adapter to open, if a phase has several.")
@click.option("--issue", metavar="FILE", help="An issue.json: its status.settings.useLayeredSkills decides.")
@click.option(
    "--prompt", metavar="FILE", help="Print what the agent is given: this prompt, or its slim form with skills."
)
@click.option("--prompts", "folder", metavar="DIR", help="Compare the <tooling_guidance> blocks of the prompts in DIR.")
@click.option("--reference", metavar="FILE", help="With --prompts: the prompt whose block is the right one.")
@click.option("--agents", metavar="FILE", help="The listing of skills and phases in FILE, as an AGENTS.md has it.")
@click.option("--check", is_flag=True, help="With --agents: exit 5 if the listing is stale.")
@click.option("--write", is_flag=True, help="Write what would be changed. With --prompts, --plan names the dry run.")
@click.option("--plan", metavar="ID", default="", help="With --prompts --write: the id that the dry run printed.")
@json_option
@project_option
@click.pass_obj
def phase(
    screen: Screen, /, phase: str | None, words: tuple[str, ...], as_json: bool, project: str, **given: Any
) -> int:
    """List the phases of a task loop, or say what the skills of PHASE contribute to its run.

    Phases are in skills/registry.yaml: that of Lockstep, and that of the project over it.
    """
    _check_options(phase, words, given)
    if given["folder"]:
        return _prompts(screen, project, as_json, given)
    registry = phases.registry_of(project)
    if given["agents"]:
        return _agents(screen, project, registry, given)
    if phase is None:
        return _list(screen, project, registry, as_json)
    if given["prompt"]:
        return _give(screen, project, registry, phase, as_json, given)
    if given["start"]:
        found = registry.phase(phase)
        opened = phases.opened(project, found, given["skill"])
        _tell_replaced(screen, [*registry.settled_of(found), *phases.replaced(project, opened)])
        line = ["--step", "1", "--project", project, *words]
        return script.main(opened.composition.workflow, line, opened.script)
    return _show(screen, project, registry, phase, as_json)


def _tell_replaced(screen: Screen, replaced: list[str]) -> None:
    """Say on standard error what of Lockstep the project has replaced: it may be weaker."""
    for words in replaced:
        screen.say(f"settled: {words}")


def _check_options(phase: str | None, words: tuple[str, ...], given: dict[str, Any]) -> None:
    """Raise UsageError for options that have no use together."""
    ways = [
        name
        for name, option in (("--prompts", "folder"), ("--agents", "agents"), ("--prompt", "prompt"))
        if given[option]
    ]
    ways += ["--start"] if given["start"] else []
    if len(ways) > 1:
        raise UsageError(f"{' and '.join(ways)} are two things", remedy="give one of them")
    way = ways[0] if ways else "PHASE"
    needs = {"--prompt": "a phase", "--start": "a phase"}
    if way in needs and phase is None:
        raise UsageError(f"{way} needs a phase", remedy="lockstep phase lists them")
    if way in ("--prompts", "--agents") and phase is not None:
        raise UsageError(f"{way} is about all phases", remedy=f"leave {phase!r:.80} out")
    allowed = {
        "words": ("--start",),
        "skill": ("--start",),
        "issue": ("--prompt",),
        "reference": ("--prompts",),
        "check": ("--agents",),
        "write": ("--prompts", "--agents"),
        "plan": ("--prompts",),
    }
    for name, where in allowed.items():
        if (words if name == "words" else given[name]) and way not in where:
            shown = "what stands after PHASE" if name == "words" else f"--{name}"
            raise UsageError(f"{shown} goes with {' or '.join(where)}", remedy="lockstep phase --help")


def _list(screen: Screen, project: str, registry: Registry, as_json: bool) -> int:
    faults = registry.check(phases.names(project))
    if as_json:
        found = [_phase_data(one) for one in phases.phases(registry)]
        screen.json({"files": registry.files, "phases": found, "faults": [vars(fault) for fault in faults]})
    else:
        rows = [
            [
                one.name,
                ", ".join(f"{its.skill} ({CORE})" if its.layer == CORE else its.skill for its in one.members),
                f"{_near(one.file, project)}:{one.line}",
            ]
            for one in phases.phases(registry)
        ]
        screen.table(("PHASE", "SKILLS", "WHERE"), rows)
        for words in registry.settled.values():
            screen.say(f"settled: {words[-1]}")
        for fault in faults:
            screen.say(screen.styled("error", "red"), f": {fault}")
            screen.say(f"  do:  {fault.do}")
    return BROKEN_SKILL if faults else PRINTED


def _phase_data(one: Any) -> dict[str, Any]:
    return {**vars(one), "members": [vars(member) for member in one.members]}


def _show(screen: Screen, project: str, registry: Registry, phase: str, as_json: bool) -> int:
    one = registry.phase(phase)
    found = phases.described(project, one)
    found["settled"] = [*registry.settled_of(one), *found["replaced"], *found["settled"]]
    broken = [one["error"] for one in found["members"] if one["error"]]
    if as_json:
        screen.json(found)
        return BROKEN_SKILL if broken else PRINTED
    screen.print(screen.styled(phase, "bold"), f"  {_near(found['file'], project)}:{found['line']}")
    rows = [[str(one["order"]), _named(one), one["layer"], _words(one)] for one in found["members"]]
    screen.table(("ORDER", "SKILL", "LAYER", "CONTRIBUTES"), rows)
    for heading, lines in (("Settled", found["settled"]), ("Start", found["start"])):
        if lines:
            screen.print("")
            screen.print(screen.styled(heading, "bold"))
            for line in lines:
                screen.print(f"  {line}")
    return BROKEN_SKILL if broken else PRINTED


def _named(one: dict[str, Any]) -> str:
    return str(one["skill"]) + (f" (as {one['listed']})" if one["listed"] != one["skill"] else "")


def _words(one: dict[str, Any]) -> str:
    """What a skill contributes, on one line."""
    made = one["contributes"]
    if one["error"]:
        return f"nothing: {one['error']}"
    if "run" in made:
        return f"its run: {counted(made['steps'], 'step')}"
    if not made:
        return "nothing: no run can be opened"
    parts = [f"policy {made['policy']}"] if made["policy"] else []
    parts += [f"tools {' '.join(made['tools'])}"] if made["tools"] else []
    rules = made["rules"]
    parts += [f"{counted(len(rules), 'rule')} ({sum(map(len, rules))} characters a block)"] if rules else []
    return ", ".join(parts) or "nothing"


def _give(screen: Screen, project: str, registry: Registry, phase: str, as_json: bool, given: dict[str, Any]) -> int:
    """Print what the agent is given for a phase, and record which it was."""
    prompt = given["prompt"]
    try:
        data = files.read(prompt, _LIMIT)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"the prompt {prompt} cannot be read: {why}", valid="a file") from error
    chosen, fallback, made = opting.choice(given["issue"], *_of_project(project)), "", ""
    if chosen.layered:
        try:
            made, replaced = _layered(project, registry, phase, data.decode())
            _tell_replaced(screen, replaced)
        except UnicodeDecodeError:
            fallback = "the prompt is not UTF-8 text"
        except LockstepError as error:
            fallback = error.what
    if chosen.near:
        screen.say(f"note: {chosen.near}")
    layered = chosen.layered and not fallback
    used = opting.Given(phase, given["issue"] or "", prompt, layered, chosen.because, fallback)
    try:
        kept = opting.record(project, used)
    except EnvironmentProblem as error:  # the agent gets its prompt all the same
        kept = ""
        screen.say(f"not recorded: {error.what}")
    if as_json:
        screen.json({**vars(used), "text": made if layered else data.decode("utf-8", "replace"), "record": kept})
        return PRINTED
    if fallback:
        screen.say(f"fallback: {prompt} is given as it is, because {fallback}. Recorded in {kept or 'nothing'}")
    if layered:
        return script.emit(made, PRINTED)
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    return PRINTED


def _of_project(project: str) -> tuple[bool | None, str]:
    """The project's setting with its place; None if neither its file nor the user's sets it."""
    one = next(one for one in lockstep_toml.load(project).in_force if one.names == _SETTING)
    return (None if one.place == lockstep_toml.DEFAULT else bool(one.value)), one.place


def _layered(project: str, registry: Registry, phase: str, text: str) -> tuple[str, list[str]]:
    """The slim prompt with how the skills of the phase are used, and in words what the project replaced of them.

    Raises LockstepError if a skill cannot be used.
    """
    one = registry.phase(phase)
    found = phases.described(project, one)
    broken = next((one for one in found["members"] if one["error"]), None)
    if broken:
        raise UsageError(f"the skill {broken['skill']} of the phase {phase} cannot be used: {broken['error']}")
    cores = [one["skill"] for one in found["members"] if one["layer"] == CORE]
    slim = prompts.slimmed(text, _CORE_OF_BLOCK) if _CORE_OF_BLOCK in cores else text
    first, *others = [_as_called(command, project) for command in found["start"]]
    lines = [
        f'<layered_skills phase="{phase}">',
        "Run this first, and do what each printed block says, until one says that the run is done:",
        first,
    ]
    lines += [f"The rules of {', '.join(cores)} hold in every step of it."] if cores else []
    lines += ["After it, in this order:", *others] if others else []
    made = "\n".join([slim.rstrip("\n"), "", *lines, "</layered_skills>", ""])
    return made, [*registry.settled_of(one), *found["replaced"]]


def _as_called(command: str, project: str) -> str:
    """A command of ``lockstep`` as it is called here, for this project, in whatever folder."""
    words = join([*lockstep_command()])
    return command.replace("lockstep", words, 1).replace(" --start", f" --start --project {quote(project)}", 1)


def _prompts(screen: Screen, project: str, as_json: bool, given: dict[str, Any]) -> int:
    """Compare the blocks of prompts, and print or write the slim form of those that are alike."""
    found = prompts.scan(given["folder"], _CORE_OF_BLOCK, given["reference"])
    alike = [one for one in found if one.state == prompts.IDENTICAL]
    plan = prompts.plan(alike)
    if given["write"] and given["plan"] != plan:
        what = f"--plan {given['plan']} is another plan" if given["plan"] else "--write needs the id of a dry run"
        raise RefusedError(what, remedy=f"look at the dry run: lockstep phase --prompts {given['folder']}")
    counts = {
        state: sum(one.state == state for one in found)
        for state in (prompts.IDENTICAL, prompts.DRIFTED, prompts.MISSING, prompts.BROKEN)
    }
    written = prompts.write(alike) if given["write"] else []
    if as_json:
        rows = [
            {
                "path": one.path,
                "state": one.state,
                "why": one.why,
                "drift": one.drift,
                "slim": prompts.diff(one, project),
            }
            for one in found
        ]
        screen.json({**counts, "plan": plan, "written": written, "prompts": rows})
        return PRINTED
    if given["write"]:
        screen.say(
            f"Wrote {counted(len(written), 'prompt')}; {counts[prompts.DRIFTED]} with another block stay as they are."
        )
        return PRINTED
    screen.table(("PROMPT", "BLOCK", "WHY"), [[_near(one.path, project), one.state, one.why] for one in found])
    for one in found:
        for text in (one.drift, prompts.diff(one, project) if one in alike else ""):
            for line in text.splitlines():
                screen.print(line)
    screen.say(", ".join(f"{count} {state}" for state, count in counts.items()) + ". Nothing was written.")
    if alike:
        screen.say(
            f"To take the block out of {len(alike)}: lockstep phase --prompts {given['folder']} --write --plan {plan}"
        )
    return PRINTED


def _agents(screen: Screen, project: str, registry: Registry, given: dict[str, Any]) -> int:
    """Print, check or write the listing of skills in a file."""
    path = os.path.abspath(given["agents"])
    if not paths.is_of_project(path):
        raise RefusedError(f"{path} is a link that leads out of its project", remedy="name the file itself")
    try:
        old = files.read(path, _LIMIT).decode()
    except FileNotFoundError:
        old = ""
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}", valid="a text file") from error
    section = listing.section(phases.listed(project, os.path.dirname(path)), phases.phases(registry))
    new = listing.updated(old, section)
    command = f"lockstep phase --agents {quote(given['agents'])} --write"
    if new == old:
        screen.say("The listing is up to date.")
        return PRINTED
    if given["check"]:
        stale = f"The listing in {given['agents']} is stale"
        screen.say(f"{stale if listing.BEGIN in old else f'{path} has no listing'}. Try: {command}")
        return BROKEN_SKILL
    if not given["write"]:
        for line in prompts.unified(old, new, os.path.basename(path)).splitlines():
            screen.print(line)
        screen.say(f"Nothing was written. To write it: {command}")
        return PRINTED
    try:
        files.write(os.path.realpath(path), new.encode())
    except OSError as error:
        raise EnvironmentProblem(
            f"{path} cannot be written: {error.strerror}", remedy="make its folder writable"
        ) from error
    screen.say(f"Wrote {given['agents']}.")
    return PRINTED


def _near(path: str, project: str) -> str:
    relative = os.path.relpath(os.path.abspath(path), project)
    return path if relative.startswith("..") else relative

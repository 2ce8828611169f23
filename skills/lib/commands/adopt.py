"""``lockstep adopt``."""

from __future__ import annotations

import os
from typing import Any

import click

from skills.lib import paths, terminal
from skills.lib.blocks.command_line import quote
from skills.lib.commands.console import prompts
from skills.lib.commands.console.findings import print_findings
from skills.lib.commands.console.options import examples, json_option
from skills.lib.commands.console.screen import Screen, counted
from skills.lib.commands.new import entry_script
from skills.lib.errors import BROKEN_SKILL, PRINTED, RefusedError, UsageError, did_you_mean, nearest
from skills.lib.graphfile.reader import LIMIT
from skills.lib.hosts import skills
from skills.lib.layers.adopting import accepting, drafting, existing, placing, writing
from skills.lib.layers.adopting.drafting import Draft
from skills.lib.layers.adopting.outline import Step, Way
from skills.lib.skillfile import discover
from skills.lib.skillfile.source import FILE_NAME

# How many skills below a folder are named.
_NAMED = 10


@click.command(
    epilog=examples(
        "lockstep adopt .claude/skills/debugging --dry-run  # which steps it would have, and what is left out",
        "lockstep adopt .claude/skills/debugging  # write the draft beside its SKILL.md",
        "lockstep adopt .claude/skills/debugging --from 'The Process'  # which of several structures it is",
        "lockstep adopt .claude/skills/debugging --accept  # make the corrected draft the skill's workflow",
    )
)
@click.argument("path", type=click.Path())
@click.option("--from", "heading", metavar="HEADING", default="", help="Where the procedure stands: a heading or line.")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@click.option("--accept", is_flag=True, help="Make the draft the workflow of the skill. It takes a person.")
@click.option("--yes", is_flag=True, help="Accept without being asked.")
@json_option
@click.pass_obj
def adopt(screen: Screen, path: str, heading: str, dry_run: bool, accept: bool, yes: bool, as_json: bool) -> int | None:
    """Make the draft of a workflow from the SKILL.md of the skill at PATH, by rules and without a model.

    The draft is a graph to correct: each guess is marked in it, and what is in no step is listed. SKILL.md is never
    changed and no file overwritten. The draft is no workflow until a person accepts it.
    """
    folder = _folder(path)
    if accept:
        if heading or dry_run or as_json:
            raise UsageError("--accept takes the draft as it is", remedy=f"lockstep adopt {quote(path)} --accept")
        return _accept(screen, folder, yes)
    made = drafting.draft(folder, heading)
    existing.check(folder, made)
    contents = writing.files(made, entry_script(made.name))
    _check_size(folder, made, contents[writing.WORKFLOW])
    placing.check(folder, contents)
    if not dry_run:
        placing.write(folder, contents)
    if as_json:
        screen.json({**_as_data(made), "folder": folder, "written": not dry_run, "files": contents})
    else:
        _show(screen, made, folder, list(contents), dry_run)
    return None


def _accept(screen: Screen, folder: str, yes: bool) -> int:
    """Make the draft of a skill its workflow, if a person says so and its graph has no error."""
    terminal.require_person("accepting the draft of a workflow is a person's")
    draft = accepting.look(folder)
    print_findings(screen, draft.findings)
    if draft.errors:
        screen.say(f"The draft stays a draft: {counted(len(draft.errors), 'error')} to correct in {draft.file}.")
        return BROKEN_SKILL
    marks = "no guess is marked" if not draft.guesses else f"{draft.guesses} marked as guessed"
    screen.print(f"{draft.file}: {counted(len(draft.workflow.steps), 'step')}, {marks}.")
    if not yes and not prompts.confirmed("Shall this be the workflow of the skill?"):
        raise RefusedError("it was not accepted, and nothing was changed")
    for written in accepting.accept(draft):
        screen.print(f"Wrote {os.path.relpath(written)}")
    screen.print("")
    screen.print(f"An agent begins if {FILE_NAME} says (SKILL_DIR is the absolute path of the skill's folder):")
    screen.print(f"  {writing.begin(folder)}")
    return PRINTED


def _folder(path: str) -> str:
    """The folder of the one skill that a path means. Raises UsageError if it means none, or several."""
    if os.path.basename(path) == FILE_NAME and os.path.lexists(path):
        return os.path.dirname(path) or "."
    if os.path.lexists(os.path.join(path, FILE_NAME)):  # reading it says what else it may be than a file
        return path
    if not os.path.isdir(path):
        what = f"{path!r:.200} is not the folder of a skill{did_you_mean(_meant(path))}"
        raise UsageError(what, valid=f"a folder with a {FILE_NAME}")
    below = [os.path.relpath(skill.path) for skill in discover(path)]
    named = ", ".join(below[:_NAMED]) + (f" and {len(below) - _NAMED} more" if len(below) > _NAMED else "")
    raise UsageError(
        f"{path} has no {FILE_NAME}",
        valid=named or f"a folder with a {FILE_NAME}",
        remedy=f"lockstep adopt {quote(below[0])}" if below else "",
    )


def _meant(path: str) -> str:
    """The folder of the project's skill whose name is nearly the last part of a path; empty if there is none."""
    known = {skill.path.name: os.path.relpath(skill.path) for skill in skills.find(paths.project_root())}
    return known.get(nearest(os.path.basename(os.path.normpath(path)), known), "")


def _check_size(folder: str, made: Draft, workflow: str) -> None:
    """Raise RefusedError if the draft would be larger than a workflow.yaml may be."""
    size = len(workflow.encode())
    if size > LIMIT:
        what = f"the draft would have {counted(len(made.steps), 'step')} in {size:,} bytes"
        raise RefusedError(
            f"{what}, and a {writing.WORKFLOW} has at most {LIMIT:,}; nothing was written",
            valid="a procedure of fewer steps, or with shorter titles, checklists and rules",
            remedy=f"lockstep adopt {quote(folder)} --from HEADING for a part of it; or put what repeats into one step",
        )


def _as_data(made: Draft) -> dict[str, Any]:
    """What a program wants to know of a draft."""
    outline = made.outline
    return {
        "skill": made.name,
        "rule": outline.rule,
        "heading": outline.heading,
        "line": outline.line,
        "steps": [
            {
                "id": step.id,
                "title": step.title,
                "lines": writing.ranges(step.lines),
                "next": {way.outcome: way.target for way in step.ways} or None,
                "fields": list(step.fields),
                "forbidden": step.forbidden,
                "person": step.asks or None,
                "resource": f"resources/{step.resource}" if step.resource else None,
                "guesses": step.guesses,
            }
            for step in made.steps
        ],
        "tools": list(made.tools),
        "forbidden": made.forbidden,
        "forbidden_lines": writing.ranges(made.forbidden_lines),
        "left_out": [{"lines": [left.first, left.last], "what": left.what} for left in made.left_out],
        "guesses": outline.guesses,
        "notes": made.notes,
        "begin": writing.begin(made.skill.folder),
    }


def _show(screen: Screen, made: Draft, folder: str, paths: list[str], dry_run: bool) -> None:
    outline = made.outline
    under = f" under {outline.heading!r}" if outline.heading else ""
    where = "" if outline.rule == drafting.WHOLE else f", line {outline.line}"
    screen.print(
        screen.styled(f"{counted(len(made.steps), 'step')} by {outline.rule}{under}{where}", "bold"),
        f": {made.guesses or 'no'} {'guess' if made.guesses == 1 else 'guesses'} to look at.",
    )
    following = [*(step.id for step in made.steps[1:]), None]
    rows = [
        [step.id, writing.spans(step.lines), _leads(step, target), "; ".join(step.guesses)]
        for step, target in zip(made.steps, following, strict=True)
    ]
    screen.table(("STEP", FILE_NAME, "LEADS TO", "GUESSED"), rows)
    for guess in outline.guesses:
        screen.print(f"guess: {guess}")
    for note in made.notes:
        screen.print(f"note: {note}")
    screen.print("")
    screen.print(screen.styled("In no step", "bold"))
    screen.table(
        ("LINES", "WHAT"), [[writing.spans(range(one.first, one.last + 1)), one.what] for one in made.left_out]
    )
    screen.print("")
    screen.print(screen.styled(f"{'Would write' if dry_run else 'Wrote'} in {folder}", "bold"))
    for path in paths:
        screen.print(f"  {path}")
    screen.print("")
    if dry_run:
        return
    screen.print(screen.styled("Next", "bold"))
    shown = quote(folder)
    rows = [
        [
            f"${{EDITOR:-vi}} {quote(os.path.join(folder, writing.WORKFLOW))}",
            "correct it, and the texts in workflow.md",
        ],
        [f"lockstep validate {shown}", "check it"],
        [f"lockstep adopt {shown} --accept", "make it the skill's workflow; until then it is a draft, and ignored"],
    ]
    screen.table(("COMMAND", "WHAT FOR"), rows)
    screen.print("")
    screen.print(f"{FILE_NAME} is not changed. Once the draft is accepted, an agent begins if {FILE_NAME} says:")
    screen.print(f"  {writing.begin(made.skill.folder)}")


def _leads(step: Step, following: str | None) -> str:
    """Where a step leads, in words."""
    ways = step.ways or [Way("ok", following, "")]
    if len(ways) == 1 and ways[0].outcome == "ok":
        return f"-> {ways[0].target or 'the end'}"
    return ", ".join(f"{way.outcome} -> {way.target or 'the end'}" for way in ways)

"""``lockstep migrate``."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from skills.lib import migration as engine
from skills.lib.commands import skeleton
from skills.lib.commands.console import findings
from skills.lib.commands.console.options import examples, json_option
from skills.lib.commands.console.screen import Screen
from skills.lib.commands.lookup import checking
from skills.lib.errors import BROKEN_SKILL, PRINTED, REFUSED, EnvironmentProblem, UsageError
from skills.lib.migration import files, reading
from skills.lib.migration.refusals import Book
from skills.lib.runtime.loading import SUFFIX
from skills.lib.skillfile.discovery import SKIPPED, is_entry_script
from skills.lib.workflow.validation.finding import Finding

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@dataclass
class Result:
    """What came of one script; ``refused`` and ``findings`` are both told as findings."""

    path: str
    made: engine.Migration | None = None
    changes: list[files.Change] = field(default_factory=list)
    refused: list[Finding] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    backup: str = ""

    @property
    def broken(self) -> bool:
        """Whether what was made has an error."""
        return any(found.severity == "error" for found in self.findings)

    @property
    def status(self) -> str:
        """The result in a word, for programs."""
        if self.refused:
            return "refused"
        if self.made is None:
            return "nothing-to-do"
        return "written" if self.backup else "broken" if self.broken else "would-write"


@click.command(
    epilog=examples(
        "lockstep migrate skills/my-skill  # show what would become of its legacy scripts",
        "lockstep migrate skills/my-skill/scripts/my_skill.py --write  # write it; the old script stays as .legacy",
        "lockstep migrate old.py --max-iterations 3=5  # step 3 repeats at most 5 times",
        "lockstep migrate old.py > old.patch  # the diff, to read or to apply",
    )
)
@click.argument("path", type=click.Path())
@click.option("--write", is_flag=True, help="Write the files; without it nothing is changed.")
@click.option("--name", metavar="NAME", help="The Workflow's name (default: the script's own).")
@click.option(
    "--max-iterations", "bounds", metavar="STEP=N", multiple=True, help="The bound of a loop that has none in the code."
)
@json_option
@click.pass_obj
def migrate(screen: Screen, path: str, write: bool, name: str | None, bounds: tuple[str, ...], as_json: bool) -> int:
    """Turn the legacy skill script PATH, or each one in the folder PATH, into a Workflow.

    The script is read, never run. Shows the new files as a diff: the graph, its texts, and the entry in place of the
    script. What cannot be told from the source is refused with its line, and nothing is written. Exit code 0 if all of
    it could be told, 3 if not, 5 if the graph that comes of it is not valid.
    """
    scripts = list(_scripts(path))
    if name is not None and len(scripts) > 1:
        raise UsageError(f"--name for {len(scripts)} scripts", remedy="give the path of one of them")
    results = [_migrated(screen, script, name, _bounds(bounds)) for script in scripts]
    for result in results if write else ():
        if result.made is not None and not result.broken:
            _write(screen, result)
    if as_json:
        screen.json({"scripts": [_data(result) for result in results]})
    else:
        for result in results:
            _show(screen, result)
        if not results:
            screen.say(f"Nothing to migrate: no legacy script is found under {path}.")
    if any(result.refused for result in results):
        return REFUSED
    return BROKEN_SKILL if any(result.broken for result in results) else PRINTED


def _scripts(path: str) -> Iterator[str]:
    """The script that a path is, or the legacy scripts below it."""
    if os.path.isfile(path):
        yield os.path.realpath(path)
        return
    if not os.path.isdir(path):
        raise UsageError(f"{path} does not exist", valid="a legacy skill script, or a folder that holds some")
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(names):
            script = os.path.realpath(os.path.join(folder, name))
            # A pipe or a device has no end to read to.
            if name.endswith(".py") and os.path.isfile(script) and not _is_migrated(script) and _is_legacy(script):
                yield script


def _is_migrated(script: str) -> bool:
    return script.endswith(SUFFIX) or is_entry_script(Path(script))


def _is_legacy(script: str) -> bool:
    try:
        text = reading.decoded(_read(script))
        return ("--step" in text or "@skill" in text) and reading.is_legacy(reading.parsed(text, Book()))
    except (UsageError, EnvironmentProblem, engine.Unprovable):
        return False


def _migrated(screen: Screen, script: str, name: str | None, bounds: Mapping[str, int]) -> Result:
    """What becomes of a script, checked as far as it can be before anything is written."""
    result = Result(script)
    if _is_migrated(script):
        return result
    raw = _read(script)
    text = reading.decoded(raw)
    stem = os.path.basename(script).removesuffix(".py")
    try:
        result.made = engine.migrate(text, stem, name, bounds)
    except engine.Unprovable as error:
        result.refused = [
            Finding("unprovable", "error", stem, script, one.line, one.what, one.why, one.do) for one in error.refusals
        ]
        return result
    entry = _entry(script, result.made.name)
    result.changes = files.changes(script, text, entry, result.made.workflow, result.made.prompts)
    files.check(result.changes, raw)
    result.findings = _validated(screen, result.changes)
    return result


def _write(screen: Screen, result: Result) -> None:
    result.backup = files.write(result.changes, _read(result.path))
    root = _root(result.path)
    whole = os.path.isfile(os.path.join(root, "SKILL.md"))
    result.findings = checking.check(screen, [root if whole else result.path]).findings


def _validated(screen: Screen, changes: list[files.Change]) -> list[Finding]:
    """What validation finds in the new files, put into a copy of the scripts folder."""
    script = changes[-1].path
    root = _root(script)
    with tempfile.TemporaryDirectory(prefix="lockstep-migrate-") as base:
        # The skill's folder keeps its name: handlers, and with them the fingerprint, are named after it.
        copy = os.path.join(os.path.realpath(base), os.path.basename(root) or "skill")
        if os.path.isdir(os.path.join(root, "scripts")) and os.path.dirname(script) != root:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(os.path.join(root, "scripts"), os.path.join(copy, "scripts"), ignore=ignored)
        else:
            os.mkdir(copy)
        for change in changes:
            with open(os.path.join(copy, os.path.relpath(change.path, root)), "w", encoding="utf-8") as file:
                file.write(change.new)
        found = checking.check(screen, [os.path.join(copy, os.path.relpath(script, root))]).findings
    return [replace(one, file=os.path.join(root, os.path.relpath(one.file, copy))) for one in found]


def _root(script: str) -> str:
    """The skill's folder, which holds ``scripts``; for a script that is in none its own folder."""
    folder = os.path.dirname(script)
    while os.path.basename(folder) != "scripts":
        if os.path.dirname(folder) == folder:
            return os.path.dirname(script)
        folder = os.path.dirname(folder)
    return os.path.dirname(folder)


def _entry(script: str, name: str) -> str:
    """The thin entry that every skill has, for this script's place."""
    stem = os.path.basename(script).removesuffix(".py")
    text = skeleton.files(stem, os.path.dirname(script))[f"scripts/{stem.replace('-', '_')}.py"][1]
    deeper = max(os.path.relpath(script, _root(script)).count(os.sep) - 1, 0)
    text = text.replace(f"Entry of the {stem} skill", f"Entry of the {name} skill")
    text = text.replace(f'"{stem.replace("-", "_")}_workflow"', f'"{stem}_workflow"')
    return text.replace("range(4)", f"range({4 + deeper})")


def _bounds(given: tuple[str, ...]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in given:
        step, equals, number = one.partition("=")
        if not (step and equals and number.isascii() and number.isdigit() and 0 < int(number) < 1_000):
            raise UsageError(
                f"--max-iterations {one!r:.80}", valid="STEP=N, a step's number or id and 1 to 999", remedy="3=5"
            )
        found[step] = int(number)
    return found


def _read(script: str) -> bytes:
    try:
        with open(script, "rb") as file:
            return file.read(reading.LIMIT + 1)
    except OSError as error:
        raise EnvironmentProblem(f"{script} cannot be read: {error.strerror}") from error


def _show(screen: Screen, result: Result) -> None:
    shown = os.path.relpath(result.path)
    shown = result.path if shown.startswith("..") else shown
    if result.status == "nothing-to-do":
        screen.say(f"Nothing to do: {shown} is a Workflow already.")
        return
    if result.refused:
        findings.print_findings(screen, result.refused)
        count = len(result.refused)
        screen.say(screen.styled("Refused", "red"), f": {count} thing{'s' * (count > 1)} in {shown} cannot be proved.")
        return
    assert result.made is not None
    for change in result.changes if not result.backup else ():
        for line in change.diff():
            screen.print(screen.styled(line, _COLOURS.get(line[0], "")))
    findings.print_findings(screen, result.findings)
    for note in result.made.notes:
        screen.say(f"note: {note}")
    if result.broken:
        screen.say(screen.styled("Not valid", "red"), f": nothing of {shown} is written.")
    elif result.backup:
        for change in result.changes:
            screen.say(f"wrote {os.path.relpath(change.path)}")
        screen.say(f"kept the old script as {os.path.relpath(result.backup)}")
        root = _root(result.path)
        if not os.path.isfile(os.path.join(root, "SKILL.md")):
            lacks = f"{os.path.relpath(root)} has no SKILL.md, by which an agent finds it"
            screen.say(f"note: {lacks}; lockstep new shows how one is written")
    else:
        screen.say(f"Nothing is written yet: {shown} with --write becomes the Workflow {result.made.name}.")


def _data(result: Result) -> dict[str, Any]:
    """The result as plain JSON data."""
    made = result.made
    nodes = made.nodes if made else ()
    steps = [
        {
            "number": node.number,
            "id": node.id,
            "title": node.said.title,
            "next": {outcome.value: nodes[end - 1].id if end else None for outcome, end in node.outcomes.items()},
            "max_iterations": node.bound,
        }
        for node in nodes
    ]
    return {
        "path": result.path,
        "status": result.status,
        "name": made.name if made else None,
        "steps": steps,
        "files": [{"path": change.path, "diff": "\n".join(change.diff())} for change in result.changes],
        "backup": result.backup or None,
        "notes": list(made.notes) if made else [],
        "refusals": [finding.to_data() for finding in result.refused],
        "findings": [finding.to_data() for finding in result.findings],
    }

"""One legacy script in, the new files out; or every reason why not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from skills.lib.errors import UsageError
from skills.lib.migration.execution import Explored, Way, every_way
from skills.lib.migration.graph import Node, build
from skills.lib.migration.parameters import Placed, deciders, place
from skills.lib.migration.printing import Reader, Said
from skills.lib.migration.reading import Legacy, is_legacy, parsed, read
from skills.lib.migration.refusals import Book
from skills.lib.migration.sections import write_prompts
from skills.lib.migration.tables import Seen
from skills.lib.migration.values import Parameter
from skills.lib.migration.writing import write_workflow
from skills.lib.workflow.types import Dispatch

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# The steps of a script that does not say how many it has are counted up to this.
COUNTED = 100


@dataclass(frozen=True)
class Migration:
    """A Workflow that was made of a legacy script: its name, its steps, the text of its two files.

    ``notes`` say what is another thing than before, for whoever reads the diff.
    """

    name: str
    nodes: tuple[Node, ...]
    workflow: str
    prompts: str
    notes: tuple[str, ...]


def migrate(text: str, stem: str, name: str | None = None, bounds: Mapping[str, int] | None = None) -> Migration:
    """Make a Workflow of the script ``stem.py`` with this source; ``bounds`` holds loop bounds by step.

    Raises Unprovable with every refusal, UsageError for a source that is no legacy skill script or a bad name.
    """
    book = Book()
    tree = parsed(text, book)
    if not is_legacy(tree):
        raise UsageError(
            f"{stem}.py is no legacy skill script",
            valid="a main function with @skill, or one with --step that prints STEPS or by the formatters",
        )
    try:
        return _migrated(read(tree, book), book, stem, name, bounds or {})
    except RecursionError:
        book.refuse(1, "the script is nested too deeply", "it cannot be followed", "move it by hand")
        book.close()
        raise


def _migrated(legacy: Legacy, book: Book, stem: str, name: str | None, bounds: Mapping[str, int]) -> Migration:
    chosen = name or legacy.name or stem.replace("_", "-")
    if not _NAME.fullmatch(chosen) or len(chosen) > 64:
        raise UsageError(
            f"{chosen!r:.100} is not a name for a workflow",
            valid="a-z, 0-9 and single hyphens between them, at most 64 characters",
            remedy="lockstep migrate PATH --name my-skill",
        )
    followed = not len(book)
    total = _total(legacy, book)
    explored = {step: every_way(legacy, book, step, total) for step in range(1, total + 1)}
    seen = [_seen(legacy, book, step, total, explored[step], followed) for step in explored]
    book.close()
    whole = [one for one in seen if one is not None]
    nodes = build(whole, bounds, book)
    parameters: dict[str, Parameter] = {}
    for one in explored.values():
        parameters |= one.parameters
    placed = place(parameters, nodes, whole, book)
    book.close()
    prompts = write_prompts(chosen, nodes)
    workflow = write_workflow(chosen, legacy.description, nodes, placed, prompts)
    return Migration(chosen, tuple(nodes), workflow, prompts.text(), tuple(_notes(nodes, placed)))


def _total(legacy: Legacy, book: Book) -> int:
    """How many steps there are; where the script does not say it, the last that prints something."""
    most = max(legacy.step_lines, default=0)
    if legacy.total:
        if most > legacy.total:
            line = legacy.step_lines[most]
            do = "raise total_steps, or take the step out"
            book.refuse(line, f"STEPS has step {most}, and total_steps is {legacy.total}", "it is never printed", do)
        return legacy.total
    total = most
    while total < COUNTED:
        scratch = Book()
        ways = every_way(legacy, scratch, total + 1, total + 1 if most else COUNTED).ways
        if len(scratch) or not any(way.printed and not way.failed for way in ways):
            break
        total += 1
    if not total:
        do = "give total_steps in @skill, or the steps in STEPS"
        book.refuse(legacy.main, "main prints no step that can be told", "its steps are not found", do)
    return total


def _seen(legacy: Legacy, book: Book, step: int, total: int, explored: Explored, followed: bool) -> Seen | None:
    """What the ways through a step say; None, with a note in the book, where they cannot be told.

    Where the module could not be followed whole, only texts that cannot be told are looked for.
    """
    reader = Reader(legacy, book, step, total)
    if not (explored.whole and followed):
        for way in explored.ways:
            reader.look(way)
        return None
    found: list[tuple[Way, Said]] = []
    for way in explored.ways:
        if way.failed and None in way.values.values():
            continue  # a parameter that the script asks for, where the new form has it required
        if way.failed:
            shown = ", ".join(f"--{name.replace('_', '-')} {value}" for name, value in way.values.items())
            what = f"step {step} ends in an error" + (f" for {shown}" if shown else "")
            book.refuse(way.line, what, "a step of a Workflow has no such end", "take it out, or let choices refuse it")
            continue
        said = reader.said(way)
        if said is not None:
            found.append((way, said))
    if not found:
        return None
    for way, said in found[1:]:
        if said.words() != found[0][1].words():
            shown = ", ".join(f"--{name.replace('_', '-')}" for name in way.values)
            do = "make it two steps, or write one text for both"
            book.refuse(said.line, f"what step {step} says depends on {shown}", "a step has one text", do)
            return None
    return Seen(step, tuple(found), explored.parameters, explored.literals)


def _notes(nodes: list[Node], placed: Placed) -> Iterator[str]:
    """What is another thing than before."""
    for one in placed.run:
        decides = one.name not in placed.shown
        yield f"{one.flag} is given once, when a run is opened" + ("" if decides else "; every step shows it")
    for node in nodes:
        step = f"step {node.number}"
        for one in dict.fromkeys(deciders(node.decision)):
            if one not in placed.run:
                yield f"{step}: {one.flag} is given on leaving the step, not on entering it"
        if node.bound is not None:
            yield f"{step}: at most {node.bound} iterations, counted by the engine"
        if node.checkpoint and node.gate is None and not isinstance(node.said.dispatch, Dispatch):
            yield f"{step}: the review is done by a quality-reviewer sub-agent, item by item"
        if node.gate is not None:
            yield f"{step}: the gate reads the verdict from the ledger, not from --qr-status"

"""The standing of a tree's skills in words: MIGRATION_STATUS.md, and a table for a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skills.lib.commands.console.screen import one_line
from skills.lib.commands.queries.inventory import Standing

FILE = "MIGRATION_STATUS.md"
SECTION = "skills"
HEADINGS = ("skill", "purpose", "workflows (steps)", "gates", "transitions tested", "SKILL.md", "sealed")
MEANING = (
    "A transition is one route of a graph: a step with an outcome. Tested are those that a test of this tree takes by\n"
    "the commands that the steps print: those on the walks of `skills.lib.testing.every_transition`, as pytest\n"
    "collects them. Whether they pass is for the test run to say. Sealed: the workflow ships the proof that its graph\n"
    "is valid."
)
_NEW = f"""# Migration status

What stands between the two marks is made by `lockstep status --write`.

<!-- {SECTION} -->

<!-- /{SECTION} -->
"""


def summary(standings: Sequence[Standing]) -> str:
    """How many skills are Workflows, and what those hold, in one sentence."""
    there = sum(one.migrated for one in standings)
    numbers = {
        name: sum(one.total(name) for one in standings)
        for name in ("steps", "reviews", "questions", "transitions", "tested")
    }
    workflows = sum(bool(entry.name) for one in standings for entry in one.workflows)
    return (
        f"{there} of {len(standings)} skills are Workflows: {_many(workflows, 'workflow')}, "
        f"{_many(numbers['steps'], 'step')}, {_many(numbers['reviews'], 'review loop')}, "
        f"{_many(numbers['questions'], 'question')} to a person; "
        f"{numbers['tested']} of {numbers['transitions']} transitions are taken by tests."
    )


def rows(standings: Sequence[Standing], named: int | None = None) -> list[list[str]]:
    """One row for each skill, as HEADINGS name its cells; of a skill with more than ``named`` workflows, the number."""
    return [
        [one.name, one.purpose, _state(one, named), _gates(one), _tested(one), _valid(one), _sealed(one)]
        for one in standings
    ]


def page(old: str, standings: Sequence[Standing]) -> str:
    """The page with its generated section made anew; ValueError where it has no such section. An empty one is begun."""
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---" * len(HEADINGS) + "|"]
    lines += ["| " + " | ".join(_cell(text) for text in row) + " |" for row in rows(standings)]
    return section(old or _NEW, SECTION, f"{summary(standings)}\n\n{MEANING}\n\n" + "\n".join(lines))


def section(text: str, name: str, content: str) -> str:
    """The text with what stands between ``<!-- name -->`` and ``<!-- /name -->`` replaced; ValueError without them."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)", re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"there is no section {name}")
    return pattern.sub(lambda found: f"{found[1]}\n{content}\n{found[2]}", text, count=1)


def _state(one: Standing, named: int | None) -> str:
    if one.path is None:
        return "not yet"
    if not one.workflows:
        return "no workflow"
    if one.migrated and named is not None and len(one.workflows) > named:
        return f"{len(one.workflows)} workflows ({one.total('steps')})"
    names = ", ".join(f"{entry.name} ({entry.steps})" for entry in one.workflows if entry.name)
    return names if one.migrated else "; ".join(part for part in (names, "broken") if part)


def _gates(one: Standing) -> str:
    counts = [_many(number, word) for word in ("review", "question") if (number := one.total(f"{word}s"))]
    return ", ".join(counts)


def _tested(one: Standing) -> str:
    return f"{one.total('tested')} of {one.total('transitions')}" if one.workflows else ""


def _valid(one: Standing) -> str:
    if one.path is None:
        return ""
    return _many(one.faults, "error") if one.faults else "valid"


def _sealed(one: Standing) -> str:
    if not one.workflows:
        return ""
    number, of = one.total("sealed"), len(one.workflows)
    return "yes" if number == of else f"{number} of {of}" if number else "no"


def _many(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _cell(text: str) -> str:
    """The text as one cell of a Markdown table, whatever it holds."""
    return one_line(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")

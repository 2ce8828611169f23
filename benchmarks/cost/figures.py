"""``python -m benchmarks cost``: what a run of each skill costs its agents, and README's table of it."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.cost import texts
from benchmarks.cost.agent import Cost, measured
from benchmarks.report import Cell, Figures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.options import Options

README = Path(__file__).resolve().parents[2] / "README.md"
BEGIN, END = "<!-- cost -->", "<!-- /cost -->"
# What a run may cost, in characters read and typed together. A bound is lowered with what it bounds, and not raised.
BUDGETS = {
    "code-quality": 9_500,
    "codebase-analysis": 33_500,
    "decision-critic": 28_500,
    "deepthink": 105_500,
    "doc-sync": 41_500,
    "incoherence": 123_500,
    "leon-writing-style": 39_500,
    "planner": 314_500,
    "planner-quick": 115_000,
    "problem-analysis": 30_500,
    "prompt-engineer": 37_500,
    "refactor": 60_500,
    "safe-shell-search": 5_500,
    "solution-design": 59_500,
    "task-spec-check": 5_000,
}
# A quick look leaves out those that take long.
SLOW = ("planner", "planner-quick")
COLUMNS = (
    *("skill", "commands", "read", "of it repeated", "typed", "largest parts"),
    *("plain read", "plain typed", "times the plain way", "bound"),
)


def figures(options: Options) -> list[Figures]:
    """Walk each skill, or with ``quick`` those that are soon walked."""
    skills = [name for name in texts.walks() if not (options.quick and name in SLOW)]
    costs = []
    with options.progress("cost", len(skills)) as tick:
        for name in skills:
            costs.append(cost(name))
            tick()
    return [_by_skill(costs), _by_part(costs), _parts_of_skills(costs)]


@cache
def cost(skill: str) -> Cost:
    """The cost of one walk of a skill; it is the same each time."""
    return measured(skill)


def row(found: Cost) -> list[Cell]:
    """The row of a skill, by COLUMNS."""
    meter = found.meter
    first, second = [f"{part} {_percent(count, meter.read)}" for part, count in meter.sections.most_common(2)]
    share = _percent(meter.repeated.total(), meter.read)
    return [
        *(found.skill, meter.commands, meter.read, share, meter.typed, f"{first}, {second}"),
        *(found.plain_read, found.plain_typed, round(found.times, 1), BUDGETS[found.skill]),
    ]


def readme_table(costs: Sequence[Cost]) -> str:
    """README's table in Markdown."""
    head = ["skill", "commands", "read", "of it repeated", "typed", "largest parts of what is read", "the plain way"]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for found in costs:
        name, commands, read, share, typed, parts, *_ = row(found)
        plain = f"{_thousands(found.plain_read)} and {_thousands(found.plain_typed)}: {found.times:.1f} times"
        cells = [f"{name}", f"{commands}", _thousands(read), f"{share}", _thousands(typed), f"{parts}", plain]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def write_readme() -> None:
    """Put the table into README in place of the present one."""
    before, _, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    table = readme_table([cost(name) for name in texts.walks()])
    README.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def _by_skill(costs: Sequence[Cost]) -> Figures:
    notes = [
        "Characters, of one honest run of each skill with all of its sub-agents. The plain way: the skill as one",
        "document of prose, read once, and the answer, typed once. The bound is of read and typed together.",
    ]
    return Figures("What a run costs its agents", COLUMNS, [row(found) for found in costs], notes)


def _by_part(costs: Sequence[Cost]) -> Figures:
    sections: Counter[str] = Counter()
    repeated: Counter[str] = Counter()
    for found in costs:
        sections.update(found.meter.sections)
        repeated.update(found.meter.repeated)
    rows: list[list[Cell]] = [
        [part, count, _percent(count, sections.total()), _percent(repeated[part], count)]
        for part, count in sections.most_common()
    ]
    notes = [
        "Files are those that a block hands to its reader, scripts what a step says to run; frame is a block's head."
    ]
    return Figures("What is read, by part", ["part", "characters", "share", "of it repeated"], rows, notes)


def _parts_of_skills(costs: Sequence[Cost]) -> Figures:
    rows: list[list[Cell]] = [
        [found.skill, part, count, found.meter.repeated[part]]
        for found in costs
        for part, count in found.meter.sections.most_common(6)
    ]
    return Figures("The six largest parts of each skill", ["skill", "part", "characters", "of it repeated"], rows)


def _percent(part: int, whole: int) -> str:
    return f"{round(100 * part / whole)} %" if whole else "-"


def _thousands(count: Cell) -> str:
    assert isinstance(count, int)
    return f"{count / 1000:,.1f} k" if count < 10_000 else f"{count / 1000:,.0f} k"

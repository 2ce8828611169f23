"""Loops that a script ends by counting: at which pass, and whether its count is that of the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skills.lib.migration.printing import To
from skills.lib.migration.refusals import Book
from skills.lib.migration.tables import Seen, Table
from skills.lib.migration.values import Parameter, Shifted


def limit(
    seen: Seen, counter: Parameter, tables: Sequence[tuple[Any, Table]], book: Book
) -> tuple[int, int, int | None] | None:
    """The step that is repeated, the pass at which the counter ends that, and where it then leads.

    None, with a note in the book, where the counter does not end one loop.
    """
    below = tables[0][1]
    at, above = next(((count, table) for count, table in tables if table != below), (None, below))
    ends = {(below[key], above[key]) for key in below if below[key] != above[key]}
    steady = all(table == (below if at is None or count < at else above) for count, table in tables)
    if at is None or not steady or len(ends) != 1 or type(counter.default) is not int:
        what = f"the count of {counter.flag} in step {seen.number}"
        do = "give it default=1 and compare it once, as in `iteration >= 5`"
        book.refuse(seen.said.line, what, "which pass is the last is not told", do)
        return None
    ((loop, last),) = ends
    if loop is None or loop > seen.number:
        what = f"the count of {counter.flag} leads step {seen.number} on, not back"
        book.refuse(seen.said.line, what, "only a loop is counted", "decide by a parameter with choices")
        return None
    if loop in above.values():
        what = f"the count of {counter.flag} ends the loop of step {seen.number} for some values only"
        do = f"end it for all, or say --max-iterations {seen.number}=N and take the count out"
        book.refuse(seen.said.line, what, "for the others it may go on for ever", do)
        return None
    return loop, int(at) - counter.default + 1, last


def check(
    number: int, loop: int, counter: str, seen: Sequence[Seen], reached: Mapping[int, set[int]], book: Book
) -> None:
    """Note where the count of a script is not that of the engine, which counts how often the step is entered.

    ``reached`` says which steps follow from each. The commands of the loop must raise the count by one, every other
    leave it alone; and the step must not come again once it was left.
    """
    remedy = f"say --max-iterations {number}=N, and the engine counts"
    flag = "--" + counter.replace("_", "-")
    for one in seen:
        if number not in reached[one.number] and one.number != number:
            continue
        inside = one.number == number or one.number in reached[number]
        default = one.parameters[counter].default
        for way, said in one.ways:
            value = said.carried.get(counter)
            raised = isinstance(value, Shifted) and value.by == 1
            kept = isinstance(value, Parameter) or (not inside and value in (None, default, str(default)))
            if way.failed or (one.number == number and said.onward != To(loop)):
                continue
            if not (raised if one.number == number else kept):
                wanted = "raise" if one.number == number else "keep"
                what = f"the next command of step {one.number} does not {wanted} {flag}"
                book.refuse(said.line, what, f"the passes of step {number} are then not what it counts", remedy)
    own = next(one for one in seen if one.number == number)
    ends = {said.onward.step for _, said in own.ways if isinstance(said.onward, To)} - {loop, None}
    again = [end for end in ends if end == number or number in reached[end or 0]]
    if again:
        what = f"step {number} comes again after step {again[0]}"
        book.refuse(own.said.line, what, "the script then counts anew, and the engine goes on counting", remedy)

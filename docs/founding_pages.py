"""The pages of docs/founding/: what each founding document asks for, row by row, and the tests that show it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = "docs/founding"
_ROW = re.compile(r"\| (?P<id>[A-Z]-\d\d(?:\.\d)?) \| (?P<what>.+) \| (?P<waits>.*?) ?\|")
_HEAD = """# {title}

{about}

Each row is one of [the requirements](../requirements.md). The tests beside it carry its id, and the suite fails on a
row without a passing test. This page is made from both.

| id | what holds | shown by |
|---|---|---|
"""
# By the letter of their rows: the name of the page, its title, and what a reader finds where.
PAGES = {
    "F": (
        "forced-skills.md",
        "Forced skills",
        "A session cannot leave its skill: [the agent](../agent.md#settings) has a switch for each way.",
    ),
    "P": (
        "plans.md",
        "Planner, optimizer, evaluator",
        "A skill is planned, approved, executed and checked, with [the gateway](../gateway.md) for commands.",
    ),
    "A": (
        "autonomous-execution.md",
        "Autonomous execution",
        "A skill runs without a person in the loop: [the agent](../agent.md). A row with a second number is an "
        "acceptance criterion of the row above.",
    ),
    "L": (
        "layered-skills.md",
        "Layered skills",
        "A phase of a runner has skills in [layers](../layers.md): core skills that hold in the run of an adapter.",
    ),
}


def page(letter: str) -> str:
    """The page of the rows with that letter."""
    _, title, about = PAGES[letter]
    tests = _tests()
    lines = [_HEAD.format(title=title, about=about)]
    for line in (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8").splitlines():
        row = _ROW.fullmatch(line)
        if row and row["id"][0] == letter:
            shown = "<br>".join(f"[{name}](../../tests/{name}): {count}" for name, count in sorted(tests[row["id"]]))
            lines.append(f"| {row['id']} | {row['what']} | {shown or 'not yet'} |\n")
    return "".join(lines)


def _tests() -> dict[str, list[tuple[str, int]]]:
    """Of each row the files of its tests, with how many test functions are there."""
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for path in sorted((ROOT / "tests").glob("**/test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
        tests = [one for one in functions if one.name.startswith("test_")]
        counts: dict[str, int] = defaultdict(int)
        for statement in tree.body:
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "pytestmark":
                for row in _rows(statement.value):
                    counts[row] += len(tests)
        for test in tests:
            for row in {row for decorator in test.decorator_list for row in _rows(decorator)}:
                counts[row] += 1
        for row, count in counts.items():
            found[row].append((path.relative_to(ROOT / "tests").as_posix(), count))
    return found


def _rows(node: ast.expr) -> list[str]:
    """The rows that a mark names, alone or in a list of marks."""
    return [
        str(argument.value)
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.req"
        for argument in call.args
        if isinstance(argument, ast.Constant)
    ]

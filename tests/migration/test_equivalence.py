"""Random legacy skills and their Workflows say the same and lead the same way."""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from skills.lib.migration import Migration, Unprovable, migrate
from skills.lib.runtime import loading
from skills.lib.workflow.core import StepContext, Workflow
from skills.lib.workflow.types import Outcome

pytestmark = pytest.mark.req("W-14")

# Every character that a block can hold, Markdown's and Python's own among them more often.
CHARACTERS = st.one_of(
    st.sampled_from("#`-*'\"\\{}<>&\n \t\r\u2028é"),
    st.characters(codec="utf-8", exclude_characters="\ufffe\uffff", exclude_categories=("Cs", "Cc")),
)
TEXTS = st.one_of(
    st.sampled_from(["", "## next", "```", "```\n## in a fence\n```", " led", "trailed ", "\n", "PROMPTS[", "'''"]),
    st.text(CHARACTERS, max_size=40),
).filter(lambda text: not re.search(r"--step[ =]", text))
STEPS = st.lists(st.tuples(TEXTS, st.lists(TEXTS, max_size=4)), min_size=1, max_size=6)
LINEAR = """
from shared import format_step_output, skill

STEPS = {steps!r}


@skill(name="linear", total_steps={total})
def main(step: int = None, total_steps: int = None):
    info = STEPS[step]
    print(format_step_output(step, total_steps, info["title"], info["actions"], script=__file__))
"""


def registered(made: Migration) -> Workflow:
    with tempfile.TemporaryDirectory() as base:
        scripts = Path(base, made.name, "scripts")
        scripts.mkdir(parents=True)
        (scripts / "x_workflow.py").write_text(made.workflow, encoding="utf-8")
        (scripts / "x_prompts.md").write_text(made.prompts, encoding="utf-8")
        return loading.load_workflow(str(scripts / "x_workflow.py"))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_a_linear_skill_keeps_its_titles_its_texts_and_its_order(steps: list[tuple[str, list[str]]]) -> None:
    table = {number: {"title": title, "actions": actions} for number, (title, actions) in enumerate(steps, 1)}
    workflow = registered(migrate(LINEAR.format(steps=table, total=len(table)), "legacy"))
    assert [step.title for step in workflow.steps] == [title for title, _ in steps]
    assert ["\n".join(step.actions) for step in workflow.steps] == ["\n".join(actions) for _, actions in steps]
    ids = [step.id for step in workflow.steps]
    assert [dict(step.next) for step in workflow.steps] == [{"ok": end} for end in [*ids[1:], None]]


LEVELS = ("low", "medium", "high")
MOODS = ("calm", "wild", "none of these")
COUNT = 5
BRANCHING = """
import argparse
import sys

MOST = {most}
STEPS = {{
    1: {{"title": "A", "actions": ["Do A."]}},
    2: {{"title": "B", "actions": ["Do B."]}},
    3: {{"title": "C", "actions": ["Do C."]}},
    4: {{"title": "D", "actions": ["Do D."]}},
    5: {{"title": "E", "actions": ["Do E."]}},
}}


def following(step, args):
{rules}
    return step + 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--step", type=int, required=True)
    parser.add_argument("--total-steps", type=int, default=5)
    parser.add_argument("--level", choices=["low", "medium", "high"])
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("--mood", default="none of these")
    parser.add_argument("--passes", type=int, default=1)
    args = parser.parse_args()
    info = STEPS[args.step]
    print("STEP", args.step, info["title"])
    for action in info["actions"]:
        print(action)
    onward = following(args.step, args)
    if onward > args.total_steps:
        print("DONE")
        return
    passes = args.passes + 1 if onward == args.step else 1
    print(f"NEXT: python3 {{sys.argv[0]}} --step {{onward}} --passes {{passes}}")


if __name__ == "__main__":
    main()
"""
CONDITIONS = st.one_of(
    st.sampled_from(LEVELS).map(lambda level: f"args.level == {level!r}"),
    st.sampled_from(LEVELS).map(lambda level: f"args.level != {level!r}"),
    st.sampled_from(
        ["args.level in ('low', 'high')", "not args.deep", "args.deep", "args.level == 'low' and args.deep"]
    ),
    st.sampled_from(["args.mood == 'calm'", "args.mood in ('calm', 'wild')", "args.deep or args.mood == 'wild'"]),
    st.sampled_from(["args.passes < MOST and args.level == 'low'", "args.passes < MOST and not args.deep"]),
)
RULES = st.lists(st.tuples(st.integers(1, COUNT), CONDITIONS, st.integers(0, 3), st.booleans()), min_size=1, max_size=6)


def source_of(rules: list[tuple[int, str, int, bool]], most: int) -> str:
    lines = [
        f"    if step == {step} and ({condition}):\n        return {step if again else min(step + ahead, COUNT + 1)}"
        for step, condition, ahead, again in rules
    ]
    return BRANCHING.format(rules="\n".join(lines), most=most)


def migrated(source: str) -> tuple[Migration | None, set[str]]:
    """The migration, with a bound for each loop that asks for one; None where something else is refused."""
    bounds: dict[str, int] = {}
    while True:
        try:
            return migrate(source, "legacy", bounds=bounds), set(bounds)
        except Unprovable as error:
            asked = {found[1] for one in error.refusals if (found := re.search(r"--max-iterations (\d)=N", one.do))}
            if not asked or asked <= set(bounds):
                return None, set(bounds)
            bounds |= dict.fromkeys(asked, 9)


def legacy_target(main: Any, step: int, values: dict[str, Any], passes: int) -> int | None:
    """Where the running legacy script sends its agent."""
    words = ["--step", str(step), "--passes", str(passes), "--level", values["level"], "--mood", values["mood"]]
    before, sys.argv = sys.argv, ["legacy.py", *words, *(["--deep"] if values["deep"] else [])]
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            main()
    finally:
        sys.argv = before
    found = re.search(r"NEXT: python3 legacy.py --step (\d)", out.getvalue())
    return int(found[1]) if found else None


def new_target(workflow: Workflow, step: int, values: dict[str, Any], limited: bool) -> int | None:
    """Where the Workflow's step leads on the same values; ``limited`` at the entry that its bound ends."""
    one = workflow.steps[step - 1]
    outcome = next(iter(one.next))
    if callable(one.handler):
        found = one.handler(StepContext(values, values))
        assert isinstance(found, Outcome)
        outcome = one.at_limit if found is Outcome.ITERATE and limited else found
    end = one.next[outcome]
    return workflow.number(end) if end else None


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(RULES, st.integers(2, 4))
def test_every_step_leads_where_the_running_script_leads(rules: list[tuple[int, str, int, bool]], most: int) -> None:
    source = source_of(rules, most)
    made, bounded = migrated(source)
    if made is None:
        return
    names: dict[str, Any] = {"__name__": "legacy", "__file__": "legacy.py"}
    exec(source, names)
    workflow = registered(made)
    for step, level, deep, mood in product(range(1, COUNT + 1), LEVELS, (False, True), MOODS):
        values = {"level": level, "deep": deep, "mood": mood}
        entries = [(1, False)]
        limit = workflow.steps[step - 1].max_iterations
        if limit and str(step) not in bounded:
            entries += [(limit - 1, False), (limit, True)]
        for passes, limited in entries:
            event(f"bounded: {limit is not None}, at its limit: {limited}")
            expected = legacy_target(names["main"], step, values, passes)
            assert new_target(workflow, step, values, limited) == expected, (made.workflow, step, values, passes)


@pytest.mark.parametrize("rules, steps", [([(2, "args.passes < MOST and args.level == 'low'", 0, True)], 1), ([], 0)])
def test_the_random_skills_are_not_all_refused(rules: list[tuple[int, str, int, bool]], steps: int) -> None:
    made, bounded = migrated(source_of(rules, 3) if rules else source_of([(5, "args.deep", 1, False)], 3))
    assert made is not None
    assert bounded == set()
    assert sum(node.bound is not None for node in made.nodes) == steps

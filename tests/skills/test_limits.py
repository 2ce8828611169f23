"""Each limit that a prompt or a help text states is held by a bound or by a check, or it limits nothing recorded."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from skills.lib.runtime import loading
from skills.lib.testing.transitions import entry_scripts
from skills.lib.workflow.core import Workflow
from skills.lib.workflow.requirements import Field
from tests.fixtures import warm_python
from tests.skills.follower import SKILLS
from tests.skills.limits import Stated, in_help, in_prompts


class Bound(NamedTuple):
    """Held by the bounds of a field, which are these."""

    workflow: str
    field: str
    minimum: int | None
    maximum: int | None


class Rounds(NamedTuple):
    """Held by the limit of a loop."""

    workflow: str
    step: str
    most: int


class Refused(NamedTuple):
    """Held by a check, which refuses these values with these words; rows stand as JSON."""

    script: str
    values: tuple[str | list[str], ...]
    says: str


class NoRecord(NamedTuple):
    """Limits nothing that is recorded."""

    why: str


Held = Bound | Rounds | Refused | NoRecord

ADVICE = NoRecord("says how to work, and what is recorded may be more or less")
SUBJECT = NoRecord("speaks of the matter at hand, and limits nothing")
WORDS = "word " * 2_000

HELD: dict[Stated, Held] = {
    Stated("codebase-analysis/codebase_analysis, scope", "fewer than some fifteen files"): ADVICE,
    Stated("codebase-analysis/codebase_analysis, deepen", "one to three questions"): ADVICE,
    Stated("codebase-analysis/codebase_analysis, deepen (again)", "one to three questions"): ADVICE,
    Stated("codebase-analysis/codebase_analysis, deepen (again)", "four rounds are the most"): Rounds(
        "codebase-analysis", "deepen", 4
    ),
    Stated("codebase-analysis/codebase_analysis, synthesize", "at most 700 words"): Refused(
        "codebase-analysis/scripts/make_report.py",
        ("{path}", WORDS, "[]", "[]", "x", "[]", "x", "[]", "[]", "[]", "[]", "x", "low"),
        "it has 2,000 words, at most 700",
    ),
    Stated("decision-critic/decision_critic, extract", "one to five points"): Refused(
        "decision-critic/scripts/check_decision.py",
        ("points", [*(f"C{at}*: It is {at} so." for at in range(1, 7)), "A1: It is not so.", "K1: So it is (stated)"]),
        "6 points bear load: mark 1 to 5 of them",
    ),
    Stated("decision-critic/decision_critic, question", "at least one for"): Refused(
        "decision-critic/scripts/check_decision.py",
        ("questions", ["C1: x", "A1*: y"], ["How many are there? | x | C1 | upheld | refuted"]),
        "no question tests A1, which is load-bearing",
    ),
    Stated("decision-critic/decision_critic, verdict", "one sentence"): NoRecord("says when REVISE applies"),
    Stated("deepthink/deepthink, plan", "three to six sub"): Bound("deepthink", "design.perspectives", 3, 6),
    Stated("deepthink/deepthink, revise", "more than six"): ADVICE,
    Stated("deepthink/perspective, gather", "more than ten that"): ADVICE,
    Stated("deepthink/deepthink, gate", "four rounds at most"): Rounds("deepthink", "gate", 4),
    Stated("deepthink/deepthink, refine (forbidden)", "five passes are the most"): Rounds("deepthink", "refine", 5),
    Stated("deepthink/perspective, answer", "one to six claims"): Bound("deepthink-perspective", "answer.claims", 1, 6),
    Stated("doc-sync/doc_sync, discover", "up to eight documents"): Refused(
        "doc-sync/scripts/check_docs.py",
        ("areas", "repo", ".", [". | do they hold? | 1.md"], []),
        "one area for 10 documents, and it is right for up to 8",
    ),
    Stated("incoherence/incoherence_deep_dive, judge", "two to four"): Refused(
        "incoherence/scripts/check_incoherence.py",
        ("judgement", "gap", ["a | x | README.md | none"], "a: because"),
        "give two to four",
    ),
    Stated("incoherence-deep-dive, judge.check", "two to four lettered"): Bound(
        "incoherence-deep-dive", "judge.options", None, 4
    ),
    Stated("incoherence/incoherence, survey", "up to twenty places"): Bound("incoherence", "survey.sources", 1, 20),
    Stated("incoherence/incoherence, dimensions", "two or three dimensions"): ADVICE,
    Stated("incoherence/incoherence, candidates", "more than twelve keep"): Bound(
        "incoherence", "candidates.joined", None, 12
    ),
    Stated("incoherence/incoherence, batch", "at most four at"): Bound("incoherence", "batch.entries", None, 4),
    Stated("incoherence/incoherence, entries", "at most 650 characters"): Refused(
        "incoherence/scripts/check_incoherence.py",
        (
            *("batch", ["I1"], [], ["I1 | drift | SHOULD | x"], '[{"candidate": "I1 | x | A1"}]', []),
            ["I1: it differs\na) this\nb) " + WORDS[:650] + "\nRecommended: a"],
        ),
        "at most 650",
    ),
    Stated("incoherence/incoherence, plan", "at most six"): Bound("incoherence", "plan.items", 1, 6),
    Stated("incoherence/incoherence, collect", "six waves at most"): Rounds("incoherence", "collect", 6),
    Stated("incoherence/incoherence_reconcile, apply", "at least one for"): Refused(
        "incoherence/scripts/check_incoherence.py",
        ("changes", "W1 | I1 | 1.md, 2.md | say so | seen", "applied", ["1.md | unchanged: it says so"]),
        "2.md: named by the item, not by a change",
    ),
    Stated("leon-writing-style/leon_writing_style, settle", "three to five points"): ADVICE,
    Stated("leon-writing-style/leon_writing_style, read", "300 words"): SUBJECT,
    Stated("leon-writing-style/leon_writing_style, read", "three to ten finds"): ADVICE,
    Stated("leon-writing-style/leon_writing_style, read", "fewer than three"): ADVICE,
    Stated("leon-writing-style/leon_writing_style, read", "at most four"): Refused(
        "leon-writing-style/scripts/check_text.py",
        ("finds", ["T1, T2, T3, T4, R1 | x", f"none | {', '.join(f'T{at}' for at in range(5, 13))}"], "1.md"),
        "5 families and rules; 4 at most fall upon one passage",
    ),
    Stated("leon-writing-style/leon_writing_style, consolidate", "three to five things"): ADVICE,
    Stated("leon-writing-style/leon_writing_style, consolidate", "two to eight marks"): Bound(
        "leon-writing-style", "consolidate.marks", 2, 8
    ),
    Stated("leon-writing-style/leon_writing_style, consolidate", "one sentence"): SUBJECT,
    Stated("leon-writing-style/leon_writing_style, consolidate", "two paragraphs"): SUBJECT,
    Stated("leon-writing-style/leon_writing_style, refine", "three sentences"): SUBJECT,
    Stated("leon-writing-style/leon_writing_style, refine", "within five of"): SUBJECT,
    Stated("leon-writing-style/leon_writing_style, check", "five entries"): Bound(
        "leon-writing-style", "check.checks", 5, 5
    ),
    Stated("planner/planner, approaches", "two or three ways"): Bound("planner", "approaches.approaches", 2, 3),
    Stated("planner/planner, approaches", "two or three entries"): Bound("planner", "approaches.approaches", 2, 3),
    Stated("planner/planner, milestones", "at least two reasons"): ADVICE,
    Stated("planner/planner, assumptions", "at most twelve"): Bound("planner", "assumptions.assumptions", None, 12),
    Stated("planner/planner_quick, size", "two or three minutes"): ADVICE,
    Stated("planner/planner_quick, size", "more than eight mean"): NoRecord("more of them propose the full way"),
    Stated("planner/planner_quick, quick-settle", "two or three that"): Bound(
        "planner", "quick-settle.approaches", 2, 3
    ),
    Stated("planner/qr/plan_quick, read", "two or three in"): ADVICE,
    Stated("planner/qr/implementation_code, probe", "two or three likeliest"): ADVICE,
    Stated("planner/tw/plan_scrub, write", "one sentence"): SUBJECT,
    Stated("problem-analysis/problem_analysis, observe", "at most 400 characters"): Refused(
        "problem-analysis/scripts/check_analysis.py",
        ("pass", [], [], [], ["E1: ran it -> " + WORDS[:400] + " For H1"], "low"),
        "characters, at most 400",
    ),
    Stated("problem-analysis/problem_analysis, observe", "five passes at most"): Rounds(
        "problem-analysis", "investigate", 5
    ),
    Stated("prompt-engineer/ecosystem, triage", "two to twelve paths"): Refused(
        "prompt-engineer/scripts/check_prompts.py", ("begin", "new", ["1.md"], "yes", "2", "12"), "takes 2 to 12"
    ),
    Stated("prompt-engineer-ecosystem, triage.files", "2 to 12"): Bound(
        "prompt-engineer-ecosystem", "triage.files", None, 12
    ),
    Stated("prompt-engineer/ecosystem, understand", "two entries"): Bound(
        "prompt-engineer-ecosystem", "understand.handoffs", 2, 30
    ),
    Stated("prompt-engineer/ecosystem, understand", "more than one prompt"): SUBJECT,
    Stated("prompt-engineer/greenfield, triage", "one to six"): Refused(
        "prompt-engineer/scripts/check_prompts.py", ("begin-new", "new", [], "yes", "1", "6"), "takes 1 to 6"
    ),
    Stated("prompt-engineer-greenfield, triage.files", "1 to 6"): Bound(
        "prompt-engineer-greenfield", "triage.files", None, 6
    ),
    Stated("prompt-engineer/greenfield, requirements", "three to fifteen entries"): Bound(
        "prompt-engineer-greenfield", "requirements.requirements", 3, 15
    ),
    Stated("prompt-engineer/greenfield, understand", "two to eight entries"): Bound(
        "prompt-engineer-greenfield", "understand.difficulties", 2, 8
    ),
    Stated("prompt-engineer/greenfield, design", "at least one"): Bound(
        "prompt-engineer-greenfield", "design.rejected", 1, 2
    ),
    Stated("prompt-engineer/problem, triage", "one to six paths"): Refused(
        "prompt-engineer/scripts/check_prompts.py", ("begin", "new", [], "yes", "1", "6"), "takes 1 to 6"
    ),
    Stated("prompt-engineer-problem, triage.files", "1 to 6"): Bound(
        "prompt-engineer-problem", "triage.files", None, 6
    ),
    Stated("prompt-engineer/problem, understand", "two to six steps"): Bound(
        "prompt-engineer-problem", "understand.mechanism", 2, 6
    ),
    Stated("prompt-engineer/prompt_steps, cases", "two to eight inputs"): Bound(
        "prompt-engineer-ecosystem", "assess.cases", 2, 8
    ),
    Stated("prompt-engineer/single_prompt, understand", "two to eight inputs"): Bound(
        "prompt-engineer-single-prompt", "understand.cases", 2, 8
    ),
    Stated("solution-design/solution_design, reflect", "up to seven sub"): NoRecord("there are seven perspectives"),
    Stated("solution-design/solution_design, synthesize", "two to four whole"): Bound(
        "solution-design", "synthesize.built", 2, 4
    ),
    Stated("solution-design, synthesize ok", "two to four candidates"): Bound(
        "solution-design", "synthesize.built", 2, 4
    ),
    Stated("solution-design/solution_design, challenge", "at least one for"): Refused(
        "solution-design/scripts/check_design.py",
        ("attacks", ["K1 x | x | x | x", "K2 x | x | x | x"], ["R1 | x | x"], ["K1 | x | holds"], ["K1 | R1 yes"]),
        "attacks: K2 has none",
    ),
    Stated("solution-design/solution_design, output", "at most 700 words"): Refused(
        "solution-design/scripts/make_design.py",
        (
            *("{path}", WORDS, ["x | x"], "x", "x", "x", [], "x", [], [], ["K1 x | x | x | x"], []),
            *("K1", "x", "x", [], [], [], []),
        ),
        "it has 2,003 words, at most 700",
    ),
}


@cache
def shipped() -> dict[str, Workflow]:
    """Each workflow of the skills by its name."""
    scripts = [script for skill in sorted(SKILLS.glob("*/SKILL.md")) for script in entry_scripts(skill.parent)]
    return {workflow.name: workflow for workflow in (loading.workflow_of_script(str(script)) for script in scripts)}


def named(limit: Stated) -> str:
    """The id of a test."""
    return f"{limit.where}: {limit.words}"


def test_each_stated_limit_is_in_the_table_and_no_other() -> None:
    stated = [*in_prompts(), *(limit for workflow in shipped().values() for limit in in_help(workflow))]
    assert sorted(set(stated) - set(HELD)) == []
    assert sorted(set(HELD) - set(stated)) == []
    assert len(stated) > 40
    assert [limit for limit, count in Counter(stated).items() if count > 1] == []


@pytest.mark.parametrize("limit", [limit for limit, held in HELD.items() if isinstance(held, Bound)], ids=named)
def test_a_limit_is_the_bound_of_its_field(limit: Stated) -> None:
    held = HELD[limit]
    assert isinstance(held, Bound)
    step, _, name = held.field.partition(".")
    [field] = [
        part for part in shipped()[held.workflow].step(step).requires if isinstance(part, Field) and part.name == name
    ]
    assert (field.minimum, field.maximum) == (held.minimum, held.maximum)


@pytest.mark.parametrize("limit", [limit for limit, held in HELD.items() if isinstance(held, Rounds)], ids=named)
def test_a_limit_of_rounds_is_that_of_the_loop(limit: Stated) -> None:
    held = HELD[limit]
    assert isinstance(held, Rounds)
    assert shipped()[held.workflow].step(held.step).max_iterations == held.most


@pytest.mark.parametrize("limit", [limit for limit, held in HELD.items() if isinstance(held, Refused)], ids=named)
def test_what_exceeds_a_limit_is_refused_by_a_check(limit: Stated, tmp_path: Path) -> None:
    held = HELD[limit]
    assert isinstance(held, Refused)
    for at in range(1, 9):
        (tmp_path / f"{at}.md").write_text("text\n", encoding="utf-8")
    (tmp_path / "long.md").write_text(WORDS, encoding="utf-8")
    sections = ("Problem", "Design", "Why", "Alternatives", "Risks", "Steps", "Perspectives")
    design = "".join(f"## {name}\n{WORDS if name == 'Why' else 'short'}\n" for name in sections)
    (tmp_path / "design.md").write_text(design, encoding="utf-8")
    values = [value if isinstance(value, str) else json.dumps(value) for value in held.values]
    done = warm_python.run(SKILLS / held.script, *values, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert held.says in done.stdout

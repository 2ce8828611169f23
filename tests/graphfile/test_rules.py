"""Rules as outcomes: what holds, what is recorded with it, and what is told of rules that make no sense."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skills.lib.graphfile.compiling import GraphFile
from skills.lib.graphfile.reader import GraphFileError
from skills.lib.model.rules import Rules
from skills.lib.model.steps import Workflow
from skills.lib.model.types import Outcome, StepContext
from skills.lib.validation.validator import validate

Compile = Callable[..., GraphFile]
Problems = Callable[..., list[str]]

# A step `frame-up` before, and one step of the rules with a field of each kind.
STEPS = """name: tea-time
params:
  guest: {{choices: [ann, bob]}}
  sure: {{step: judge, choices: [low, high]}}
steps:
  frame-up:
    do: Frame.
    requires: [{{field: verdict, choices: [good, bad]}}, {{field: rows, type: list}}]
  judge:
    do: Judge.
    requires:
      - kind: {{choices: [green, black, none]}}
      - note: {{required: false}}
      - points: {{type: list}}
      - cups: {{type: int}}
      - hot: {{type: bool}}
      - data: {{type: json}}
    next: {{ok: end, iterate: judge}}
    max_iterations: 5
{rules}"""
OWN: dict[str, Any] = {"kind": "green", "points": ["a", "b", "a"], "cups": 3, "hot": True}
OWN["data"] = {"size": 2, "to": ["x"]}
EARLIER: dict[str, Any] = {"verdict": "good", "rows": []}


def rules_of(compiled: Compile, rules: str) -> Rules:
    text = "".join(f"    {line}\n" for line in rules.splitlines())
    handler = compiled(STEPS.format(rules=text)).workflow.steps[1].handler
    assert isinstance(handler, Rules)
    return handler


def outcome_of(compiled: Compile, rule: str, own: dict[str, Any] = OWN, iteration: int = 1) -> bool:
    quoted = rule.replace("'", "''")
    rules = rules_of(compiled, f"outcomes: {{ok: '{quoted}', iterate: else}}")
    state = {"frame-up": EARLIER, "judge": own}
    found, made = rules(StepContext({"guest": "ann", "sure": "high"}, own, state, "judge", iteration))
    assert made == {}
    return found is Outcome.OK


@pytest.mark.req("E-05")
@pytest.mark.parametrize(
    "rule, holds",
    [
        ('kind == "green"', True),
        ('kind != "green"', False),
        ('kind in ["black", "green"]', True),
        ('kind not in ["black", "green"]', False),
        ('"a" in points', True),
        ('"z" not in points', True),
        ('"ree" in kind', True),
        ("cups > 2", True),
        ("cups < 3", False),
        ("cups <= 3 and cups >= 3", True),
        ("1 < cups < 3", False),
        ("points", True),
        ("hot", True),
        ("not hot", False),
        ("frame-up.rows", False),
        ("not frame-up.rows", True),
        ("note", False),
        ('note == "x"', False),
        ('note != "x"', True),
        ("exists(note)", False),
        ("count(points) == 3", True),
        ("count(distinct(points)) == 2", True),
        ("count(frame-up.rows) == 0", True),
        ('frame-up.verdict == "good"', True),
        ('guest == "ann" and sure == "high"', True),
        ("iteration == 1", True),
        ("data.size == 2", True),
        ('data["to"]', True),
        ("data.none", False),
        ('any(x == "b" for x in points)', True),
        ('all(x == "b" for x in points)', False),
        ('starts(kind, "gr") and lower("A") == "a"', True),
        ('(kind == "black" or cups == 3) and not (hot and cups == 4)', True),
        ("data > 1", False),
        ("not data > 1", True),
        ("data.to < 4", False),
    ],
)
def test_a_rule_holds_or_not(compiled: Compile, rule: str, holds: bool) -> None:
    assert outcome_of(compiled, rule) is holds


def test_the_first_rule_that_holds_decides(compiled: Compile) -> None:
    rules = rules_of(
        compiled, "outcomes:\n  - iterate: cups > 5\n  - ok: cups > 3\n  - iterate: cups > 1\n  - ok: else"
    )
    found = [rules(StepContext({}, {"cups": cups}, {}, "judge"))[0] for cups in (9, 5, 3, 0)]
    assert found == [Outcome.ITERATE, Outcome.OK, Outcome.ITERATE, Outcome.OK]


@pytest.mark.req("E-05")
def test_keep_appends_replaces_filters_bounds_and_cuts(compiled: Compile) -> None:
    rules = rules_of(
        compiled,
        """outcomes: {ok: count(log) > 5, iterate: else}
keep:
  log: {append: ["Round {iteration}, {sure}: {points}", "{points}"]}
  none: {append: "{points}", where: 'it == "z"'}
  some: {append: "{points}", where: 'it in ["a"]'}
  top: {take: "{points}", first: 2}
  few: {take: "{points}", first: cups, cut: 1}
  same: "{frame-up.verdict}"
  said: "{kind} of {cups}: {hot}, {note}."
""",
    )
    own: dict[str, Any] = {"kind": "green", "points": ["one", "two", "a"], "cups": 1, "hot": True, "log": ["before"]}
    state = {"frame-up": EARLIER, "judge": own}
    found, made = rules(StepContext({"sure": "low"}, own, state, "judge", 2))
    assert found is Outcome.ITERATE
    assert made == {
        "log": ["before", "Round 2, low: one / two / a", "one", "two", "a"],
        "some": ["a"],
        "top": ["one", "two"],
        "few": ["o"],
        "same": "good",
        "said": "green of 1: true, .",
    }
    assert own["log"] == ["before"]


GATHERED = """name: tea-time
steps:
  ask:
    do: Ask.
    dispatch:
      agent: explore
      task: Read {target}.
      targets: [a, b]
      requires: [{field: rows, type: list}, {field: note, required: false}]
      gather:
        rows: "{rows}"
        made: {take: {of: "{target}", rows: "{rows}", note: "{note}"}}
        lost: {take: "{target} | {reason}", of: lost}
        all: {take: "{status}", of: all, first: 2}
    outcomes: {ok: rows, fail: else}
    next: {ok: end, fail: null}
"""


@pytest.mark.req("E-05")
def test_gather_makes_lists_of_what_sub_agents_reported(compiled: Compile) -> None:
    handler: Any = compiled(GATHERED).workflow.steps[0].handler
    results = [
        {"child": "1", "target": "a", "status": "done", "values": {"rows": ["r1", "r2"], "note": "n"}},
        {"child": "2", "target": "b", "status": "lost", "reason": "gone"},
        {"child": "3", "target": "c", "status": "done", "values": {"rows": ["r3"]}},
    ]
    assert handler.then(StepContext({}, {"results": results}, {}, "ask")) == (
        Outcome.OK,
        {
            "rows": ["r1", "r2", "r3"],
            "made": [{"of": "a", "rows": ["r1", "r2"], "note": "n"}, {"of": "c", "rows": ["r3"]}],
            "lost": ["b | gone"],
            "all": ["done", "lost"],
        },
    )
    assert handler.then(StepContext({}, {"results": results[1:2]}, {}, "ask"))[0] is Outcome.FAIL


@pytest.mark.req("E-05")
def test_rules_stand_in_the_data_of_a_workflow_and_work_when_it_is_made_anew(compiled: Compile) -> None:
    made = compiled(GATHERED).workflow

    def refuse(name: str) -> Any:
        raise AssertionError(f"{name} was looked up")

    again = Workflow.restored(made.to_data(), refuse)
    assert again.fingerprint == made.fingerprint
    handler: Any = again.steps[0].handler
    results = [{"target": "a", "status": "done", "values": {"rows": ["r"]}}]
    assert handler.then(StepContext({}, {"results": results}, {}, "ask"))[0] is Outcome.OK


@pytest.mark.parametrize(
    "rule, told",
    [
        ("kinds == 1", "judge records no 'kinds'; did you mean kind? -> an earlier step's value is STEP.NAME"),
        ("frame-up.verdit", "the step frame-up records no 'verdit'; did you mean frame-up.verdict?"),
        ('verdict == "good"', "judge records no 'verdict'; did you mean frame-up.verdict? -> an earlier step's value"),
        ('kind == "gren"', "kind is never 'gren'; did you mean green?"),
        ('kind in ["gren"]', "kind is never 'gren'; did you mean green?"),
        ("kind == 3", 'kind is of type text and never equals 3 -> write "3"'),
        ('cups == "3"', "cups is of type int and never equals '3' -> write 3 without quotes"),
        ('points == "a"', "points is of type list and never equals 'a' -> write 'a' in points"),
        ("points > 3", "points is of type list, which is neither more nor less than anything -> write count(points)"),
        ("3 in cups", "nothing is in cups: it is of type int -> compare cups with =="),
        ("kind = 3", "the rule `kind = 3` is no expression: invalid syntax"),
        ("kind && hot", "the rule `kind && hot` is no expression: invalid syntax -> write and"),
        ("len(points) > 1", "the rule `len(points) > 1` calls len, which is no function -> use count"),
        ("clock(kind)", "a rule has no function clock"),
        ("$user", "a rule has no $: that is of a policy"),
        ("__import__(kind)", "a rule has no function __import__"),
        ("conut(points) > 1", "a rule has no function conut; did you mean count?"),
        ("kind.lower()", "a rule has no function kind.lower; did you mean lower?"),
        ("count(points, 2) > 1", "the rule `count(points, 2) > 1` calls count() with 2 arguments -> count() takes 1"),
        ("kind.x.__class__", "kind is of type text and has nothing inside"),
        ("(lambda: 1)()", "a rule has no function lambda: 1"),
    ],
)
def test_a_rule_that_makes_no_sense_is_told_with_its_line(problems: Problems, rule: str, told: str) -> None:
    quoted = rule.replace("'", "''")
    found = problems(STEPS.format(rules=f"    outcomes:\n      ok: '{quoted}'\n      iterate: else\n"))
    assert len(found) == 1
    assert found[0].startswith(f"workflow.yaml:21: {told}"), found[0]


def test_a_function_that_is_none_is_told_with_the_functions_of_rules(
    compiled: Compile,
) -> None:
    with pytest.raises(GraphFileError) as raised:
        compiled(STEPS.format(rules="    outcomes:\n      ok: conut(points) > 1\n      iterate: else\n"))
    assert raised.value.problems[0].valid == "all, any, count, distinct, exists, lower, max, min, starts, sum"


@pytest.mark.parametrize(
    "rules, told",
    [
        (['iterate: kind == "black"', 'ok: kind != "black"'], None),
        (["ok: hot", "iterate: not hot"], None),
        (['ok: kind == "green"', 'iterate: kind == "black"'], "it may be that no rule holds, and then the step cannot"),
        (["ok: cups > 1"], "it may be that no rule holds"),
        (['ok: kind in ["green", "black", "none"]', "iterate: else"], "no run comes to the rule of iterate: the rules"),
        (
            ['ok: kind == "green" and kind == "black"', "iterate: else"],
            "no run comes to the rule of ok: it never holds",
        ),
        (["ok: else", "iterate: hot"], "no run comes to this rule: the one above is `else`"),
        (["ok: cups > 1", "iterate: cups > 2", "ok: else"], None),  # numbers prove nothing
        (['ok: cups > 1 or kind == "green"', 'iterate: kind != "green"'], None),
        (["ok: note", "iterate: not note"], None),
        (['ok: frame-up.verdict == "good"', 'iterate: frame-up.verdict == "bad"'], "it may be that no rule holds"),
    ],
)
def test_what_finite_choices_prove_of_rules(
    compiled: Compile, problems: Problems, rules: list[str], told: str | None
) -> None:
    text = STEPS.format(rules="    outcomes:\n" + "".join(f"      - {rule}\n" for rule in rules))
    if told is None:
        assert compiled(text).workflow.name == "tea-time"
    else:
        assert told in " ".join(problems(text))


@pytest.mark.req("E-07")
def test_a_rule_of_a_word_without_a_route_is_told_with_its_line(compiled: Compile, problems: Problems) -> None:
    rules = "    outcomes:\n      okk: hot\n      iterate: else\n"
    assert problems(STEPS.format(rules=rules)) == [
        "workflow.yaml:21: judge ends by 'okk', for which it has no route; did you mean ok? "
        "-> a route in next, or one of these words"
    ]
    served = STEPS.format(rules="    outcomes:\n      more: hot\n      iterate: else\n")
    assert compiled(served.replace("next: {ok: end, ", "next: {default: end, ")).workflow.name == "tea-time"


def test_a_wrong_name_in_keep_is_told(problems: Problems) -> None:
    keep = "    keep:\n      log: {append: '{pionts}'}\n      x: {first: 3}\n      y: {take: a, apend: b}\n"
    assert problems(STEPS.format(rules=keep.replace("keep:", "outcomes: {ok: hot, iterate: else}\n    keep:"))) == [
        "workflow.yaml:22: judge records no 'pionts'; did you mean points? -> an earlier step's value is STEP.NAME",
        "workflow.yaml:23: keep says of x what is recorded",
        "workflow.yaml:24: keep has no 'apend'; did you mean append?",
    ]


@pytest.mark.req("E-05", "E-07")
def test_a_word_that_a_rule_gives_is_named_by_it(compiled: Compile) -> None:
    text = STEPS.format(rules="    outcomes: {ok: hot, more-cups: cups > 3, fail: else}\n")
    routes = "next: {ok: end, iterate: judge}\n    max_iterations: 5"
    routed = compiled(text.replace(routes, "next: {ok: end, more-cups: frame-up, fail: judge}")).workflow
    assert "word-named-once" not in [finding.rule for finding in validate(routed)]

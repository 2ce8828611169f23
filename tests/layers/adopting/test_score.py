"""The score of a draft: what it counts, and what it forgives."""

from __future__ import annotations

from typing import Any

from tests.layers.adopting.score import Agreement, agreement, uncovered

SOURCE = """---
name: x
---
# X

## Step 1: Cut
- [ ] sharp
Never rush.

## Step 2: Ask the user
Wait.

## Notes
old
"""
INTENDED: dict[str, Any] = {
    "rule": "headings",
    "result": "draft",
    "tools": ["read"],
    "steps": [
        {"id": "cut", "title": "Cut", "lines": [[6, 8]]},
        {"id": "ask", "title": "Ask the user", "lines": [[10, 11]]},
    ],
    "routes": {"cut": {"ok": "ask"}, "ask": {"ok": None}},
    "persons": ["ask"],
    "forbidden": [{"line": 8, "text": "Never rush."}],
    "fields": [{"line": 7, "text": "sharp"}],
}
GRAPH: dict[str, Any] = {
    "rule": "graph",
    "result": "draft",
    "steps": [
        {"id": "a", "title": "Run it", "lines": []},
        {"id": "b", "title": "Green?", "lines": []},
    ],
    "ends": [{"id": "z", "title": "Done", "lines": []}],
    "routes": {"a": {"ok": "b"}, "b": {"yes": "z", "no, red again": "a"}},
    "persons": [],
    "forbidden": [],
    "fields": [],
}


def step(name: str, title: str, ways: dict[str, str | None], lines: tuple[int, int] | None = None, **more: Any) -> Any:
    plain = {"person": False, "bounded": False, "forbidden": [], "fields": [], "tools": ["read"]}
    return {"id": name, "title": title, "next": ways, "lines": [list(lines)] if lines else [], **plain, **more}


def draft(*steps: Any, result: str = "draft", **more: Any) -> dict[str, Any]:
    return {"result": result, "steps": list(steps), "resources": [], "left_out": [], **more}


CUT = step("one", "Cut", {"ok": "two"}, (6, 8), forbidden=["Never rush."], fields=["sharp"])
ASK = step("two", "Ask the user", {"ok": None, "fail": "one"}, (10, 11), person=True, bounded=True)


def test_a_draft_that_is_as_intended() -> None:
    assert agreement(INTENDED, draft(CUT, ASK), SOURCE) == Agreement(True, True, True, True, True, True)
    assert agreement(INTENDED, draft(CUT, ASK), SOURCE).as_intended


def test_steps_in_another_order_are_other_steps() -> None:
    found = agreement(INTENDED, draft(ASK, CUT), SOURCE)

    assert (found.steps, found.as_intended) == (False, False)


def test_a_step_too_many_or_too_few_is_counted() -> None:
    more = step("three", "Notes", {"ok": None}, (13, 14))

    assert not agreement(INTENDED, draft(CUT, ASK, more), SOURCE).steps
    assert not agreement(INTENDED, draft(CUT), SOURCE).steps


def test_a_missing_person_is_counted() -> None:
    found = agreement(INTENDED, draft(CUT, ASK | {"person": False}), SOURCE)

    assert (found.steps, found.persons, found.as_intended) == (True, False, False)


def test_details_are_shares_beside_the_verdict() -> None:
    found = agreement(INTENDED, draft(CUT | {"lines": [[6, 6]], "forbidden": [], "tools": []}, ASK), SOURCE)

    assert found.as_intended
    assert (found.lines, found.forbidden, found.fields, found.tools) == (3 / 5, 0.0, 1.0, False)


def test_a_loop_needs_a_bound() -> None:
    assert not agreement(INTENDED, draft(CUT, ASK | {"bounded": False}), SOURCE).loops


def test_labels_become_outcomes_and_marks_of_the_end_may_stay_or_go() -> None:
    run = step("run-it", "Run it", {"ok": "green"})
    green = step("green", "Green?", {"yes": None, "no-red-again": "run-it"}, bounded=True)
    kept = step("green", "Green?", {"yes": "done", "no": "run-it"}, bounded=True)

    assert agreement(GRAPH, draft(run, green), "").as_intended
    assert agreement(GRAPH, draft(run, kept, step("done", "Done", {"ok": None})), "").as_intended


def test_an_end_that_became_a_fail_is_counted() -> None:
    run = step("run-it", "Run it", {"ok": "green"})
    green = step("green", "Green?", {"fail": None, "no": "run-it"}, bounded=True)

    assert not agreement(GRAPH, draft(run, green), "").routes


def test_a_graph_begins_where_it_was_meant_to() -> None:
    green = step("green", "Green?", {"yes": None, "no": "run-it"}, bounded=True)

    assert not agreement(GRAPH, draft(green, step("run-it", "Run it", {"ok": "green"})), "").steps


def test_an_ambiguous_case_wants_the_refusal_with_both_headings() -> None:
    intended = {"rule": "list", "result": "ambiguous", "rivals": ["To add", "To remove"], "steps": []}

    assert agreement(intended, draft(result="ambiguous", rivals=["To remove", "To add"]), "").as_intended
    assert not agreement(intended, draft(result="ambiguous", rivals=["To add"]), "").as_intended
    assert not agreement(intended, draft(CUT), "").as_intended


def test_no_procedure_is_one_step() -> None:
    intended = {"rule": "none", "result": "one-step", "steps": []}

    assert agreement(intended, draft(CUT, result="one-step"), "").as_intended
    assert not agreement(intended, draft(CUT, ASK, result="one-step"), "").as_intended


def test_lines_that_went_nowhere_are_listed() -> None:
    assert uncovered(SOURCE, draft(CUT, ASK)) == [4, 13, 14]
    assert uncovered(SOURCE, draft(CUT, ASK) | {"left_out": [[4, 4], [13, 13]], "resources": [[14, 14]]}) == []


def test_a_form_feed_ends_no_line() -> None:
    assert uncovered("a\x0cb\u2028c\nd\r\ne\rf\n", draft()) == [1, 2, 3, 4]

"""Review items, the one severity schedule, and the construct that builds a whole loop."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.lib.workflow import quality
from skills.lib.workflow.quality import (
    banner,
    blocking,
    blocking_severities,
    check_same,
    read_items,
    review_loop,
    state,
    verdict,
)
from skills.lib.workflow.types import AgentRole, Dispatch, Gate, Outcome, QRState, QRStatus, Severity


def item(severity: str = "MUST", status: str = "FAIL", name: str = "a", **fields: Any) -> dict[str, Any]:
    return {"id": name, "scope": "s", "check": "c", "severity": severity, "status": status, "finding": "f", **fields}


@pytest.mark.req("W-10")
@pytest.mark.parametrize(
    "level, words",
    [
        (1, "MUST SHOULD"),
        (2, "MUST SHOULD"),
        (3, "MUST SHOULD"),
        (4, "MUST"),
        (5, "MUST"),
        (6, "MUST"),
        (99, "MUST"),
    ],
)
def test_what_blocks_at_each_level(level: int, words: str) -> None:
    assert blocking_severities(level) == frozenset(Severity(word) for word in words.split())


@pytest.mark.req("W-10")
@pytest.mark.parametrize("status, blocks", [("PASS", False), ("FAIL", True), ("TODO", True)])
def test_a_todo_blocks_like_a_fail(status: str, blocks: bool) -> None:
    items = [item(status=status)]
    assert bool(blocking(items, 9)) == blocks
    assert verdict(items, 9) is (QRStatus.FAIL if blocks else QRStatus.PASS)


def test_a_review_without_items_is_no_review() -> None:
    assert verdict([], 1) is QRStatus.FAIL


@given(
    items=st.lists(
        st.tuples(st.sampled_from(("MUST", "SHOULD", "COULD")), st.sampled_from(("PASS", "FAIL", "TODO"))),
        min_size=1,
        max_size=6,
    ),
    iteration=st.integers(1, 12),
)
def test_what_blocks_never_grows_and_a_must_always_blocks(items: list[tuple[str, str]], iteration: int) -> None:
    reviewed = [item(severity, status, f"i{at}") for at, (severity, status) in enumerate(items)]
    now, later = blocking(reviewed, iteration), blocking(reviewed, iteration + 1)
    assert all(entry in now for entry in later)
    open_musts = [entry for entry in reviewed if entry["severity"] == "MUST" and entry["status"] != "PASS"]
    assert all(entry in later for entry in open_musts)
    assert (verdict(reviewed, iteration) is QRStatus.PASS) == (not now)


def test_items_are_read_strictly() -> None:
    assert read_items([item(name=" a ", check=" c ")]) == [item()]
    assert read_items([{"id": "x", "check": "c", "severity": "COULD", "status": "PASS"}]) == [
        {"id": "x", "scope": "", "check": "c", "severity": "COULD", "status": "PASS", "finding": ""}
    ]


def test_an_item_without_an_id_is_given_one() -> None:
    given = {"check": "c", "severity": "MUST", "status": "PASS", "place": "src/a.py:3"}
    assert [entry["id"] for entry in read_items([given, {**given, "id": "own"}, given])] == ["R1", "own", "R3"]


def test_of_an_item_that_is_verified_again_only_what_was_found_is_reported() -> None:
    known = [{"id": "x", "scope": "all", "check": "c", "severity": "MUST"}]
    assert read_items([{"id": "x", "status": "PASS", "finding": "it is there now"}], known) == [
        {**known[0], "status": "PASS", "finding": "it is there now"}
    ]


@pytest.mark.parametrize(
    "value, words",
    [
        ([], "give a JSON array of at least one item"),
        ({"id": "a"}, "give a JSON array"),
        (["a"], "item 1: 'a' is not an object"),
        ([item(), item()], "item 2: the id a is given twice"),
        ([item(name="a b")], "item 1: the id 'a b' is not one"),
        ([item(name="ä")], "is not one"),
        ([item(name="x" * 65)], "is not one"),
        ([item(severity="must")], "severity 'must' is not one of MUST, SHOULD, COULD"),
        ([item(severity="CRITICAL")], "severity 'CRITICAL'"),
        ([item(status="OK")], "status 'OK' is not one of PASS, FAIL, TODO"),
        ([item(check=" ")], "check is empty"),
        ([item(finding="")], "finding is empty; say what is wrong, or what is still to do"),
        ([item(status="TODO", finding=" ")], "finding is empty"),
        ([item(note="x")], "note is not part of it"),
        ([item(scope=3)], "scope is not a text"),
    ],
)
def test_an_item_that_is_none_says_which_and_how(value: Any, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        read_items(value)


@pytest.mark.parametrize(
    "reported, words",
    [
        ([item(name="b")], "missing: a; unknown: b"),
        ([item(), item(name="b"), item(name="c")], "unknown: b, c"),
        ([item("COULD")], "item a: severity is MUST since the first review, not COULD"),
    ],
)
def test_a_re_verification_keeps_to_the_items(reported: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        check_same(reported, [item()])
    check_same([item(status="PASS")], [item()])


@pytest.mark.req("W-05", "W-10")
def test_the_state_of_a_checkpoint_is_what_the_ledger_has() -> None:
    assert state(None) == QRState(1, False, None)
    assert state({"iteration": 2, "status": "fail", "items": []}) == QRState(3, True, "fail")
    assert state({"iteration": 1, "status": "pass", "items": []}) == QRState(2, False, "pass")


@pytest.mark.req("W-10", "W-12")
@pytest.mark.parametrize(
    "review, judged, words",
    [
        (None, False, "Review of d: iteration 1 of 5, first review."),
        ({"iteration": 1, "status": "fail"}, False, "Review of d: iteration 2 of 5, re-verification, with fresh eyes."),
        ({"iteration": 1, "status": "fail"}, True, "Review of d: iteration 1 of 5, reviewed, verdict fail."),
        ({"iteration": 6, "status": "pass"}, True, "Review of d: iteration 6 of 6, reviewed, verdict pass."),
    ],
)
def test_the_banner_says_checkpoint_iteration_and_mode(review: Any, judged: bool, words: str) -> None:
    assert banner("d", review, 5, judged) == words


@pytest.mark.req("W-10")
def test_one_construct_builds_the_whole_loop() -> None:
    review, gate = review_loop("design", work="write", passed="ship")
    assert (review.id, gate.id) == ("design-review", "design-gate")
    assert isinstance(review.handler, Dispatch)
    assert review.handler.agent is AgentRole.QUALITY_REVIEWER
    assert review.checkpoint == "design"
    assert review.next == {Outcome.OK: "design-gate"}
    assert gate.handler == Gate("design", quality.BOUND)
    assert gate.next == {Outcome.OK: "ship", Outcome.FAIL: "write"}
    assert quality.BOUND == 5


@pytest.mark.req("W-10")
def test_the_checkpoint_of_a_loop_cannot_be_left_out() -> None:
    review, gate = review_loop(
        "d", work="w", passed=None, reviewer=Dispatch("developer", targets=["a"], checkpoint="other"), bound=2
    )
    assert review.checkpoint == "d"
    assert isinstance(review.handler, Dispatch)
    assert review.handler.targets == ("a",)
    assert gate.gate == Gate("d", 2)

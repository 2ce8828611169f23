"""The examples, told as stories: what an agent does, and what the guard answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skills.lib.guard.decisions import Allow, Deny, Look
from skills.lib.guard.guard import Guard
from tests.guard.guarded import example, policy

pytestmark = pytest.mark.req("G-01")

BOB = {"username": "bob"}


def answer(guard: Guard, tool: str, **arguments: Any) -> str:
    """The answer to a call by its name."""
    return type(guard.decide(tool, arguments)).__name__


def test_a_push_waits_for_tests_of_this_content() -> None:
    guard = Guard([example("coding")])
    push = {"args": ["origin", "main"], "branch": "main", "tree": "first"}
    look = guard.decide("shell(git push)", push)
    assert isinstance(look, Look)
    assert look.missing == ("tests.passed", "tests.at")
    assert look.tools == ("shell(make test)",)

    guard.learn("shell(make test)", {"tree": "first"}, True, {"exit": 0, "output": "12 passed"})
    assert answer(guard, "shell(git push)", **push) == "Allow"

    stale = guard.decide("shell(git push)", {**push, "tree": "second"})
    assert isinstance(stale, Deny)
    assert stale.rule == "shell(git push)"
    assert stale.reason == 'tests.at == $tree is FALSE: tests.at is "first", $tree is "second"'
    assert stale.tools == ("shell(make test)",)

    guard.learn("shell(make test)", {"tree": "second"}, True, {"exit": 1, "output": "1 failed"})
    assert answer(guard, "shell(git push)", **push) == "Deny"
    guard.learn("shell(make test)", {"tree": "second"}, True, {"exit": 0, "output": ""})
    assert answer(guard, "shell(git push)", **{**push, "tree": "second"}) == "Allow"


def test_a_forced_push_only_off_the_main_branch() -> None:
    guard = Guard([example("coding")])
    guard.learn("shell(make test)", {"tree": "t"}, True, {"exit": 0, "output": ""})
    forced = {"args": ["--force"], "tree": "t"}
    assert answer(guard, "shell(git push)", **forced, branch="main") == "Deny"
    assert answer(guard, "shell(git push)", **forced, branch="topic") == "Allow"
    assert answer(guard, "shell(git push)", **forced) == "Look"


def test_tests_whose_exit_nobody_reported_prove_nothing() -> None:
    guard = Guard([example("coding")])
    guard.learn("shell(make test)", {"tree": "t"}, True, "12 passed")
    look = guard.decide("shell(git push)", {"args": [], "branch": "main", "tree": "t"})
    assert isinstance(look, Look)
    assert look.missing == ("tests.passed", "tests.at")


def test_one_deploy_after_a_person_approved() -> None:
    guard = Guard([example("coding")])
    assert answer(guard, "shell(deploy)") == "Look"
    guard.learn("answer", {"by": "agent"}, True, "yes")
    assert answer(guard, "shell(deploy)") == "Deny"
    guard.learn("answer", {"by": "person"}, True, "yes")
    assert answer(guard, "shell(deploy)") == "Allow"
    assert answer(guard, "shell(deploy)") == "Deny"
    guard.learn("shell(deploy)", {}, False, "no connection")
    assert answer(guard, "shell(deploy)") == "Allow"
    guard.learn("shell(deploy)", {}, True, {"exit": 0, "output": ""})
    assert answer(guard, "shell(deploy)") == "Deny"


def test_an_edit_takes_an_approval_back() -> None:
    guard = Guard([example("coding")])
    guard.learn("answer", {"by": "person"}, True, "yes")
    guard.learn("edit", {"path": "a.py"}, True, "ok")
    assert answer(guard, "shell(deploy)") == "Look"


def test_a_tool_without_a_rule_is_allowed() -> None:
    assert answer(Guard([example("coding")]), "shell(git add)", args=["-A"]) == "Allow"


def safe(guard: Guard, username: str) -> str:
    return answer(guard, "set_safety_box", username=username)


def test_a_safety_box_for_the_user_who_logged_in() -> None:
    guard = Guard([example("bank")])
    assert safe(guard, "bob") == "Look"
    guard.learn("login_user", {**BOB, "identification": "x"}, True, "True")
    guard.learn("authenticate_admin_password", BOB, True, True)
    guard.learn("get_account_balance", BOB, True, "500.0")
    assert safe(guard, "bob") == "Look"
    guard.learn("internal_get_credit_score", BOB, True, 700)
    assert safe(guard, "bob") == "Allow"
    assert safe(guard, "eve") == "Deny"
    guard.learn("deposit_funds", {**BOB, "amount": 5}, True, True)
    assert safe(guard, "bob") == "Look"
    guard.learn("get_account_balance", BOB, True, 200)
    assert safe(guard, "bob") == "Deny"
    guard.learn("logout_user", BOB, True, True)
    deny = guard.decide("set_safety_box", BOB)
    assert isinstance(deny, Deny)
    assert deny.need == "session.user == $username"


def test_a_complete_listing_proves_what_is_absent() -> None:
    guard = Guard([example("bank")])
    guard.learn("login_user", BOB, True, True)
    guard.learn("authenticate_admin_password", BOB, True, True)
    listing = {"accounts": {"bob": {"balance": 900.0, "credit_score": 710, "address": "x"}, "al": {"balance": 5}}}
    guard.learn("internal_get_database", {}, True, json.dumps(listing))
    assert safe(guard, "bob") == "Allow"
    needs = {one.need: one.value for one in guard.explain("set_safety_box", {"username": "al"})}
    assert needs["accounts[$username].credit_score > %minimum_credit_score"] == "FALSE"


@pytest.mark.parametrize("result", [False, "False"])
def test_a_login_that_gave_false_proves_no_user(result: Any) -> None:
    guard = Guard([example("bank")])
    guard.learn("login_user", BOB, True, result)
    assert guard.explain("set_safety_box", BOB)[0].value == "UNKNOWN"


def test_a_failed_login_proves_no_user() -> None:
    guard = Guard([example("bank")])
    guard.learn("login_user", BOB, False, "wrong password")
    assert guard.explain("set_safety_box", BOB)[0].value == "UNKNOWN"


def test_a_check_that_gave_false_proves_that_there_is_none() -> None:
    guard = Guard([example("bank")])
    guard.learn("internal_check_username_exist", BOB, True, "False")
    assert guard.explain("set_safety_box", BOB)[2].value == "FALSE"


@pytest.mark.parametrize(
    "registered, expected", [("2024-11-01", "Allow"), ("2025-06-01", "Deny"), ("2024-10-01", "Deny"), ("soon", "Deny")]
)
def test_a_vehicle_is_renewed_in_its_window(registered: str, expected: str) -> None:
    guard = Guard([example("dmv")])
    renew = {**BOB, "plate_num": "X1"}
    guard.learn("internal_get_interaction_time", {}, True, "2024-10-12T15:00:00")
    guard.learn("internal_get_vehicle_details", renew, True, {"insurance_status": "valid", "reg_date": registered})
    values = [one.value for one in guard.explain("renew_vehicle", renew)]
    assert values == ["UNKNOWN", "TRUE", "TRUE", "TRUE" if expected == "Allow" else "FALSE"]


@pytest.mark.parametrize("amount, expected", [(100, "Allow"), (2000, "Deny"), (6000, "Deny")])
def test_a_claim_below_what_is_left_of_the_cover(amount: int, expected: str) -> None:
    guard = Guard([example("healthcare")])
    details = {"type": "Health", "coverage_amount": 2500, "authorized_providers": ["p2"]}
    claims = [{"amount": 1000, "status": "approved"}, {"amount": 9000, "status": "denied"}]
    guard.learn("get_policy_details", BOB, True, details)
    guard.learn("get_claim_history", BOB, True, json.dumps(claims))
    guard.learn("get_provider_details", {"provider_id": "p1"}, True, {"service_type": "Health"})
    values = [one.value for one in guard.explain("submit_claim", {**BOB, "amount": amount, "provider_id": "p1"})]
    assert ("FALSE" in values) is (expected == "Deny")
    assert values[0] == "UNKNOWN"


def test_a_provider_in_the_list_needs_no_details() -> None:
    guard = Guard([example("healthcare")])
    guard.learn("get_policy_details", BOB, True, {"type": "Health", "authorized_providers": ["p2"]})
    (last,) = guard.explain("submit_claim", {**BOB, "amount": 1, "provider_id": "p2"})[-1:]
    assert last.value == "TRUE"


@pytest.mark.req("G-08")
def test_two_policies_both_hold() -> None:
    guard = Guard([example("coding"), example("bank")])
    assert isinstance(guard.decide("shell(git push)", {}), Look)
    assert isinstance(guard.decide("set_safety_box", BOB), Look)
    assert isinstance(guard.decide("another", {}), Allow)


def test_one_policy_learns_nothing_from_the_effects_of_another() -> None:
    narrow = policy("tools: {push: {needs: [tests.passed]}, test: {changes: {tests.passed: result.exit == 0}}}")
    claims = policy("tools: {read: {changes: {tests.passed: 'true'}}}", "other.yaml")
    guard = Guard([narrow, claims])
    guard.learn("read", {}, True, "text")
    assert answer(guard, "push") == "Look"

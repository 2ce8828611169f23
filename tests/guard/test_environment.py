"""A bank that refuses what its procedure forbids, and agents that do anything: the guard is never wrong about it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from skills.lib.guard.decisions import Allow, Deny, Look
from skills.lib.guard.guard import Guard
from tests.guard.guarded import example

pytestmark = pytest.mark.req("G-01")

USERS = ("ann", "bob", "eve")


class Bank:
    """The strict environment; a call gives whether it was accepted, and its result."""

    def __init__(self, accounts: dict[str, dict[str, Any]]) -> None:
        self.accounts = accounts
        self.user = ""
        self.admins: set[str] = set()

    def call(self, tool: str, given: dict[str, Any]) -> tuple[bool, Any]:
        user, accounts = given.get("username", ""), self.accounts
        if tool == "internal_get_database":
            return True, json.dumps({"accounts": accounts})
        if tool == "internal_check_username_exist":
            return True, str(user in accounts)
        if user not in accounts:
            return False, "there is no such account"
        if tool == "login_user":
            if given["password"] == "right":
                self.user = user
            return True, self.user == user
        if tool == "logout_user":
            self.user, self.admins = "", set()
            return True, True
        if tool == "internal_get_credit_score":
            return True, accounts[user]["credit_score"]
        if tool == "deposit_funds":
            accounts[user]["balance"] += given["amount"]
            return True, "True"
        return self.restricted(tool, user, given)

    def restricted(self, tool: str, user: str, given: dict[str, Any]) -> tuple[bool, Any]:
        """The calls for the user who logged in."""
        if self.user != user:
            return False, "log in first"
        if tool == "get_account_balance":
            return True, str(self.accounts[user]["balance"])
        if tool == "authenticate_admin_password":
            if given["password"] == "right":
                self.admins.add(user)
                return True, "True"
            return False, "False"
        return self.accepts(user), self.accepts(user)

    def accepts(self, user: str) -> bool:
        """Whether the procedure of a safety box is met."""
        account = self.accounts.get(user, {"balance": 0, "credit_score": 0})
        rich = account["balance"] >= 300 and account["credit_score"] > 600
        return rich and self.user == user and user in self.admins


accounts = st.fixed_dictionaries(
    {"balance": st.sampled_from([0, 290, 300, 900]), "credit_score": st.sampled_from([600, 700])}
)
calls = st.tuples(
    st.sampled_from(
        "login_user authenticate_admin_password internal_get_credit_score get_account_balance set_safety_box"
        " internal_check_username_exist internal_get_database deposit_funds logout_user".split()
    ),
    st.sampled_from(["bob", "bob", "bob", *USERS]),
    st.sampled_from(["right", "right", "right", "wrong"]),
)


def told_everything(user: str) -> list[tuple[str, str, str]]:
    """What a compliant agent does before it sets a safety box."""
    steps = "login_user authenticate_admin_password get_account_balance internal_get_credit_score".split()
    return [(tool, user, "right") for tool in steps]


@given(
    st.dictionaries(st.sampled_from(USERS), accounts, min_size=1), st.lists(calls, max_size=12), st.sampled_from(USERS)
)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_allow_and_deny_are_right_and_a_compliant_agent_is_not_asked(
    known: dict[str, dict[str, Any]], made: list[tuple[str, str, str]], user: str
) -> None:
    bank, guard = Bank(known), Guard([example("bank")])
    for tool, username, password in [*made, *told_everything(user), ("set_safety_box", user, "")]:
        given = {"username": username, "password": password, "amount": 10}
        answer = guard.decide(tool, given)
        if tool == "set_safety_box":
            accepts = username in bank.accounts and bank.accepts(username)
            event(f"{type(answer).__name__}, {'accepted' if accepts else 'refused'}")
            assert not (isinstance(answer, Allow) and not accepts)
            assert not (isinstance(answer, Deny) and accepts)
        ok, result = bank.call(tool, given)
        guard.learn(tool, given, ok, result)
    last = guard.decide("set_safety_box", {"username": user})
    if user in bank.accounts:
        assert not isinstance(last, Look)
        assert isinstance(last, Allow) is bank.accepts(user)

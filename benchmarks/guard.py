"""What a decision of the guard costs in process, by a policy of 100 tools with four needs each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchmarks.report import Cell, Figures
from benchmarks.timing import medians
from skills.lib import compact_json
from skills.lib.guard.decisions import Allow, Deny, Look
from skills.lib.guard.guard import Guard
from skills.lib.guard.policy import Policy, compile_policy

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.options import Options

TOOLS, ACCOUNTS, AT_MOST = 100, 50, 100
ROUNDS, QUICK_ROUNDS, CALLS = 41, 5, 200


def text() -> str:
    """A policy: each tool needs a session, two facts about the account that the call names, and a free choice."""
    tools: dict[str, Any] = {
        "login": {"changes": {"session.user": "$user"}},
        "list": {"shows": {"accounts": "result"}},
    }
    for number in range(TOOLS):
        tools[f"tool{number}"] = {
            "needs": [
                "session.user == $user",
                f"accounts[$user].limits.tool{number} >= $amount",
                "all(claim.amount < %most for claim in accounts[$user].claims if claim.open)",
                "$kind in accounts[$user].kinds or starts($kind, 'free')",
            ],
            "changes": {f"accounts[$user].last.tool{number}": "$amount"},
        }
    return json.dumps({"params": {"most": 5000}, "tools": tools})


def accounts() -> dict[str, Any]:
    """What the listing shows."""
    limits = {f"tool{number}": 300 for number in range(TOOLS)}
    claims = [{"amount": 100 * number, "open": number % 2 == 0} for number in range(10)]
    return {f"user{number}": {"limits": limits, "claims": claims, "kinds": ["a", "b"]} for number in range(ACCOUNTS)}


def figures(options: Options) -> list[Figures]:
    """Time decisions of each kind, what a result teaches, and the decision of a process that has just begun."""
    compiled = compile_policy(text(), "policy.yaml")
    file = compact_json.ordered(compiled)
    guard = Guard([Policy(compiled)])
    guard.learn("login", {"user": "user7"}, True, None)
    guard.learn("list", {}, True, accounts())
    facts = guard.facts()
    call = {"user": "user7", "amount": 5, "kind": "b"}

    def answers(kind: type, given: dict[str, Any]) -> Callable[[], object]:
        if not isinstance(guard.decide("tool50", given), kind):
            raise RuntimeError(f"{given} is not answered by {kind.__name__}")
        return lambda: guard.decide("tool50", given)

    timed: dict[str, tuple[Callable[[], object], int | None]] = {
        "decide: allow": (answers(Allow, call), AT_MOST),
        "decide: deny": (answers(Deny, {**call, "amount": 500}), AT_MOST),
        "decide: look first": (answers(Look, {"user": "user7", "amount": 5}), AT_MOST),
        "learn": (lambda: guard.learn("tool50", call, True, None), None),
        "read the compiled policy and decide": (
            lambda: Guard([Policy(compact_json.loads(file))], facts).decide("tool50", call),
            None,
        ),
    }
    rows: list[list[Cell]] = []
    with options.progress("guard", 1) as tick:
        rounds = QUICK_ROUNDS if options.quick else ROUNDS
        took = medians({name: function for name, (function, _) in timed.items()}, rounds, CALLS // 4)
        for name, (_, at_most) in timed.items():
            rows.append([name, took[name] * 1000, "" if at_most is None else at_most])
        tick()
    notes = [f"{TOOLS} tools with 4 needs each, {ACCOUNTS} accounts with {TOOLS} limits each in the picture."]
    return [Figures("Guard", ["in process", "microseconds", "at most"], rows, notes)]

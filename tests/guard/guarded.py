"""What tests ask a guard: the value of one expression, and policies of the examples."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

from skills.lib.guard.explaining import Explained
from skills.lib.guard.guard import Guard
from skills.lib.guard.policy import Policy, compile_policy

EXAMPLES = Path(__file__).resolve().parent.parent / "fixtures" / "guard" / "examples.yaml"


def policy(text: str, file: str = "policy.yaml") -> Policy:
    """A policy as a hook has it: compiled, written as JSON, read again."""
    return Policy(json.loads(json.dumps(compile_policy(text, file))))


@cache
def example(name: str) -> Policy:
    """A policy of the examples."""
    found = yaml.safe_load(EXAMPLES.read_text(encoding="utf-8"))[name]
    return policy(yaml.safe_dump(found), f"{name}.yaml")


def of_data(**fields: Any) -> Policy:
    """A policy of Python values."""
    return policy(json.dumps(fields))


def asked(
    need: str, facts: dict[str, str] | None = None, arguments: dict[str, Any] | None = None, **params: Any
) -> Explained:
    """What is said of one need: ``facts`` are effects (place: value) that come before it, in order."""
    tools: dict[str, Any] = {"call": {"needs": [need]}}
    for number, (place, value) in enumerate((facts or {}).items()):
        tools[f"fact{number}"] = {"changes": {place: value}}
    guard = Guard([of_data(params=params, tools=tools)])
    for number in range(len(facts or {})):
        guard.learn(f"fact{number}", arguments or {}, True, None)
    (explained,) = guard.explain("call", arguments or {})
    return explained


def value(
    need: str, facts: dict[str, str] | None = None, arguments: dict[str, Any] | None = None, **params: Any
) -> str:
    """TRUE, FALSE or UNKNOWN."""
    return asked(need, facts, arguments, **params).value


def joined(one: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Expressions that join others: ``and``, ``or``, ``not``, and one or another by a third."""
    return st.one_of(
        st.builds("({} and {})".format, one, one),
        st.builds("({} or {})".format, one, one),
        st.builds("(not {})".format, one),
        st.builds("({} if {} else {})".format, one, one, one),
    )

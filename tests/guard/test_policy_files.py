"""Policies as files: what is refused, in which words and where."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from skills.lib.errors import EnvironmentProblem
from skills.lib.guard.faults import PolicyError
from skills.lib.guard.policy import Policy, compile_policy
from tests.guard.guarded import EXAMPLES

pytestmark = pytest.mark.req("G-03")

BROKEN = {
    "empty": "",
    "list": "- a\n",
    "no-yaml": "tools: {a: {needs: [x[$y] == 1]}}\ntools: [",
    "unquoted-key": "tools:\n  get:\n    shows: {accounts[$user]: result}\n",
    "two-documents": "tools: {}\n---\ntools: {}\n",
    "tag": "tools: !!python/object:os.system {}\n",
    "alias": "tools: &a {}\nparams: *a\n",
    "merge": "tools:\n  a: {<<: 1}\n",
    "twice": "tools:\n  push: {}\n  push: {}\n",
    "field": "tool:\n  push: {}\n",
    "rule-field": "tools:\n  push:\n    need: [a]\n",
    "mode": "mode: dney\n",
    "tools-list": "tools: [push]\n",
    "rule-text": "tools: {push: allow}\n",
    "effects-list": "tools:\n  a:\n    shows: [b]\n",
    "syntax": "tools:\n  push:\n    needs:\n      - tests.passed\n      - tests.at = $tree\n",
    "function": "tools:\n  push:\n    needs: ['exist(a)']\n",
    "arguments": "tools:\n  push:\n    needs: ['inside(a)']\n",
    "parameter": "params: {minimum: 5}\ntools:\n  push:\n    needs: ['a > %minimun']\n",
    "lambda": "tools:\n  push:\n    needs: ['(lambda: 1)() == 1']\n",
    "is": "tools:\n  push:\n    needs: ['a is null']\n",
    "power": "tools:\n  push:\n    needs: ['9 ** 9 ** 9 == 1']\n",
    "attribute-call": "tools:\n  push:\n    needs: ['a.b.format(1)']\n",
    "place": "tools:\n  push:\n    shows: {'1 + 1': result}\n",
    "ampersands": "tools:\n  push:\n    needs: ['a && b']\n",
    "bars": "tools:\n  push:\n    needs: ['a == \"&&\" || b']\n",
    "mark": "tools:\n  push:\n    needs: ['!a']\n",
    "question": "tools:\n  push:\n    needs: ['a ? b : c']\n",
    "two-dots": "tools:\n  push:\n    needs: ['exists(..)']\n",
    "tab": "tools:\n\tpush: {}\n",
    "number-need": "tools:\n  push:\n    needs: [5]\n",
    "deep": "tools:\n  push:\n    needs: ['" + "(" * 300 + "a" + ")" * 300 + "']\n",
    "deep-not": "tools:\n  push:\n    needs: ['" + "not " * 60 + "a']\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_policy_that_is_none(name: str, snapshot: SnapshotAssertion) -> None:
    with pytest.raises(PolicyError) as caught:
        compile_policy(BROKEN[name], "policy.yaml")
    assert caught.value.lines()[0].startswith("policy.yaml")
    assert "\n".join(caught.value.lines()) == snapshot


def test_nested_brackets_alone_are_no_depth() -> None:
    compile_policy("tools: {a: {needs: ['" + "(" * 30 + "a" + ")" * 30 + "']}}", "p")


@pytest.mark.parametrize(
    "need",
    [
        "a.class.from == 1",
        "a['b c'].d[\"e.f\"] == $x[0]",
        ".['class'] == 1 and exists(.a)",
        "not .a and 1 if .5 < a else .b",
        "'$x' == \"%y\" and '.a' in $b",
        "(a\n  and b)",
        'a == "it\'s"',
        "-1 < a < - b",
        "any(x.id == $id for x in orders if x.open and key != 'y')",
    ],
)
def test_what_the_language_has(need: str) -> None:
    compile_policy(json.dumps({"tools": {"call": {"needs": [need]}}}), "p")


def test_a_need_may_stand_alone_and_a_rule_may_be_empty() -> None:
    compiled = compile_policy("tools:\n  a:\n    needs: x == 1\n  b:\n  c: {}\n", "p")
    policy = Policy(compiled)
    assert policy.tools == ("a", "b", "c")
    rule = policy.rule("a")
    assert rule is not None
    assert [(need[0], need[1]) for need in rule.needs] == [("x == 1", 3)]
    assert policy.rule("d") is None


def test_plain_values_of_yaml() -> None:
    text = "params: {a: 5, b: 1.5, c: yes, d: true, e: null, f: '5', g: [1, {h: x}], i: 1e400}\n"
    compiled = compile_policy(text, "p")
    expected = {"a": 5, "b": 1.5, "c": "yes", "d": True, "e": None, "f": "5", "g": [1, {"h": "x"}], "i": "1e400"}
    assert compiled["params"] == expected


def test_a_compiled_policy_is_sealed() -> None:
    compiled = json.loads(json.dumps(compile_policy("tools: {a: {needs: [x]}}\n", "p")))
    Policy(compiled)
    for name, value in {"mode": "report", "tools": {}, "params": {"x": 1}, "format": 0, "counted": ["a"]}.items():
        changed = copy.deepcopy(compiled)
        changed[name] = value
        with pytest.raises(EnvironmentProblem, match="was changed, or is of another version"):
            Policy(changed)


def compiles(text: str) -> bool:
    """True if a text is a policy, False if it is refused with its file named; any other error is a bug."""
    try:
        Policy(compile_policy(text, "p"))
    except PolicyError as error:
        if not error.lines()[0].startswith("p"):
            raise
        return False
    return True


@given(st.text(max_size=40) | st.text("ab.[]()$%'\"=<>!+-*/ \n,0anotifelse", max_size=30))
@settings(max_examples=150, deadline=None)
def test_any_text_is_an_expression_or_a_policy_error(text: str) -> None:
    data: Any = json.dumps({"tools": {"call": {"needs": [text]}}})
    assert compiles(data) in (True, False)


@given(st.text(max_size=60) | st.text("tols: {}[]-&*!|>'\"#\n\t%@`,?~0a", max_size=40))
@settings(max_examples=100, deadline=None)
def test_any_text_is_a_policy_or_a_policy_error(text: str) -> None:
    assert compiles(text) in (True, False)


COSTLY = {
    *("yaml", "ast", "re", "dataclasses", "enum", "typing", "inspect", "pathlib", "subprocess", "json", "datetime"),
    *("click", "rich", "networkx", "shlex", "functools", "collections", "keyword", "difflib", "hashlib", "warnings"),
}


def test_a_decision_needs_nothing_but_cheap_modules_of_the_standard_library(tmp_path: Path) -> None:
    """Compiled here; decided and learned in a Python without site packages."""
    import yaml

    coding = yaml.safe_load(EXAMPLES.read_text(encoding="utf-8"))["coding"]
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(compile_policy(yaml.safe_dump(coding), "coding.yaml")), encoding="utf-8")
    code = f"""
import sys
before = set(sys.modules)
sys.path.insert(0, {str(Path(__file__).parent.parent.parent)!r})
from skills.lib import compact_json
from skills.lib.guard.guard import Guard
from skills.lib.guard.policy import Policy
guard = Guard([Policy(compact_json.loads(open({str(file)!r}).read()))])
call = {{"tree": "t", "args": ["origin"], "branch": "main"}}
told = [type(guard.decide("shell(git push)", call)).__name__]
guard.learn("shell(make test)", call, True, {{"exit": 0, "output": ""}})
told.append(type(guard.decide("shell(git push)", call)).__name__)
print(*told, *sorted(set(sys.modules) - before))
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    look, allow, *modules = done.stdout.split()
    assert (look, allow) == ("Look", "Allow")
    assert not COSTLY & set(modules)

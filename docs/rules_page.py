"""The reference of the rules, made from their docstrings: the page docs/rules.md."""

from __future__ import annotations

import re
from typing import Any

from skills.lib.validation.rule import GRAPH, SECTIONS, SOURCE, TREE, Rule, allow_key
from skills.lib.validation.rules import rules_of

_HEAD = """# Validation rules

Every finding names its rule, its severity, the place as `skill:step:outcome`, file and line, what is wrong, why it
matters and what to do. An error makes a workflow invalid: it cannot be registered, or `lockstep validate` fails. A
warning is printed and changes nothing.

A finding is waived at its step, with a reason: `StepDef(..., allow={"rule-name": "the reason"})`. If a rule can find
several things at one step, the key names the one that is meant, as `rule-name:value`, and the others remain.
What stops a run or opens a gate cannot be waived. `lockstep validate` counts what was waived; `--format json` and
`sarif` list it.

This page is made from the files of the rules."""


def reference() -> str:
    """The page docs/rules.md."""
    parts = [_HEAD]
    for scope in (GRAPH, SOURCE, TREE):
        rules: list[Rule[Any]] = rules_of(scope)
        table = "\n".join(f"| [`{rule.name}`](#{rule.name}) | {rule.severity} | {rule.title} |" for rule in rules)
        parts.append(
            f"## {scope.title}\n\n{scope.about}\n\n| rule | severity | what it finds |\n|---|---|---|\n{table}"
        )
        for rule in rules:
            head = f"### {rule.name}\n\n{rule.title} ({rule.severity}; {_waiver(rule)})"
            parts.append(f"{head}\n\n{_demoted(rule.text)}")
    return "\n\n".join(parts) + "\n"


def _waiver(rule: Rule[Any]) -> str:
    """How a finding of the rule is waived, in words."""
    if not rule.of_step:
        return "about no single step: it is not waived"
    if rule.stops:
        return "it cannot be waived"
    return f"waived as `{allow_key(rule.name, rule.finds.upper().replace(' ', '_'))}`"


def _demoted(text: str) -> str:
    return re.sub(rf"^## (?=(?:{'|'.join(SECTIONS)})$)", "#### ", text, flags=re.MULTILINE)

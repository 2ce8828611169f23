"""The reference of the rules, made from their own files; docs/rules.md is what ``reference`` returns."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from types import ModuleType

from skills.lib.validation import rules
from skills.lib.validation.finding import OF_NO_STEP, STOPPING, Severity, allow_key

_SECTIONS = ("What it does", "Why it is bad", "Example", "Use instead")
_SCOPES = (
    (
        "Graph rules",
        rules.GRAPH_RULES,
        "These look at the workflow alone. They run when a workflow is registered, and what they found good is sealed.",
    ),
    (
        "Source rules",
        rules.SOURCE_RULES,
        "These read the sources of handlers and the files that a workflow names. They run in `lockstep validate`.",
    ),
    (
        "Tree rules",
        rules.TREE_RULES,
        "These look at a folder of skills as a whole. They run in `lockstep validate`.",
    ),
)
_HEAD = """# Validation rules

Every finding names its rule, its severity, the place as `skill:step:outcome`, file and line, what is wrong, why it
matters and what to do. An error makes a workflow invalid: it cannot be registered, or `lockstep validate` fails. A
warning is told and changes nothing.

A finding is waived at its step, with a reason: `StepDef(..., allow={"rule-name": "the reason"})`. If a rule can find
several things at one step, the key names the one that is meant, as `rule-name:value`, and the others are still told.
What stops a run or opens a gate cannot be waived. `lockstep validate` counts what was waived; `--format json` and
`sarif` list it.

This page is made from the files of the rules."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What is told about a rule: ``text`` is its whole description in Markdown, ``does`` and ``why`` parts of it."""

    name: str
    severity: Severity
    title: str
    does: str
    why: str
    example: str
    instead: str
    text: str


def describe(modules: tuple[ModuleType, ...]) -> list[Rule]:
    """The rules of these modules, described."""
    return [_rule(module) for module in modules]


def every_rule() -> list[Rule]:
    """Every rule, in the order of the registry."""
    return describe(rules.RULES)


def reference() -> str:
    """The page docs/rules.md."""
    parts = [_HEAD]
    for title, modules, about in _SCOPES:
        described = describe(modules)
        table = "\n".join(f"| [`{rule.name}`](#{rule.name}) | {rule.severity} | {rule.title} |" for rule in described)
        parts.append(f"## {title}\n\n{about}\n\n| rule | severity | what it finds |\n|---|---|---|\n{table}")
        for rule in described:
            head = f"### {rule.name}\n\n{rule.title} ({rule.severity}; {_waiver(rule.name)})"
            parts.append(f"{head}\n\n{_demoted(rule.text)}")
    return "\n\n".join(parts) + "\n"


def _waiver(rule: str) -> str:
    """How a finding of the rule is waived, in words."""
    if rule in OF_NO_STEP:
        return "about no single step: it is not waived"
    if rule in STOPPING:
        return "it cannot be waived"
    value = getattr(rules.BY_NAME[rule], "VALUE", "").upper().replace(" ", "_")
    return f"waived as `{allow_key(rule, value)}`"


def _rule(module: ModuleType) -> Rule:
    title, _, text = (inspect.getdoc(module) or "").partition("\n")
    sections = dict(zip(_SECTIONS, _split(text), strict=True))
    return Rule(
        module.RULE,
        module.SEVERITY,
        title.strip(),
        _flat(sections["What it does"]),
        _flat(sections["Why it is bad"]),
        _code(sections["Example"]),
        _code(sections["Use instead"]),
        text.strip(),
    )


def _split(text: str) -> list[str]:
    pattern = "|".join(rf"## {re.escape(name)}" for name in _SECTIONS)
    return [part.strip() for part in re.split(rf"^(?:{pattern})$", text, flags=re.MULTILINE)[1:]]


def _flat(text: str) -> str:
    return " ".join(text.split())


def _code(section: str) -> str:
    """What stands between the first fence and the last: an example in Markdown has fences of its own."""
    return section.partition("\n")[2].rpartition("\n```")[0] + "\n"


def _demoted(text: str) -> str:
    return re.sub(r"^## (?=(?:What it does|Why it is bad|Example|Use instead)$)", "#### ", text, flags=re.MULTILINE)

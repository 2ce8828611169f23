"""The rules, a module for each theme; ``RULES`` has every rule by name."""

from __future__ import annotations

from importlib import import_module

from skills.lib.validation.rule import RULES as RULES
from skills.lib.validation.rule import Rule, Scope, View

# The order in which findings about one step are listed, and the rules in docs/rules.md. All rules of a module look at
# the same: those of the first modules at the workflow's data alone, and what they found good is sealed.
THEMES = (
    *("workflow", "ids", "routes", "loops", "outcomes", "words", "limits", "evidence", "dispatch", "values", "context"),
    *("reviews", "verdicts", "properties", "texts", "waivers"),
    *("handlers", "unread", "references", "policies", "prompts"),
    *("children", "skills"),
)
for theme in THEMES:
    import_module(f"{__name__}.{theme}")


def rules_of(scope: Scope[View]) -> list[Rule[View]]:
    """The rules of a scope, in their order."""
    return [rule for rule in RULES.values() if rule.scope is scope]

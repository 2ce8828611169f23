"""The identity of the graph rules: a seal is good for one set of them."""

from __future__ import annotations

import os
import sys

from skills.lib import passing, schema
from skills.lib.compact_json import digest
from skills.lib.validation.rule import GRAPH
from skills.lib.validation.rules import RULES, rules_of

# The modules of this room that graph rules are built on; a change in how findings are printed leaves seals good.
FOUNDATION = (
    "graph",
    "outcomes",
    "rule",
    "state_flow",
    "templates",
    "topology",
    "validator",
    "view",
)
# What the rule on schemas is built on, beside the validator.
SCHEMA = ("keywords", "patterns")


def rules_digest() -> str:
    """16 hex digits over the sources of the graph rules and of what they are built on, and the names of all rules."""
    here = os.path.dirname(__file__)
    files = [os.path.join(here, f"{name}.py") for name in FOUNDATION]
    files += [os.path.join(os.path.dirname(str(schema.__file__)), f"{name}.py") for name in SCHEMA]
    files += [str(passing.__file__)]
    graph_rules = rules_of(GRAPH)
    files += {str(sys.modules[rule.check.__module__].__file__) for rule in graph_rules}
    sources = {"/".join(file.split(os.sep)[-2:]): _source(file) for file in files}
    return digest([sources, [rule.name for rule in graph_rules], sorted(RULES)])[:16]


def _source(file: str) -> str:
    """The text with plain line ends, however it was checked out."""
    with open(file, encoding="utf-8") as source:
        return source.read()

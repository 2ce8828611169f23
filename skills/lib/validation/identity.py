"""The identity of the graph rules: a seal is good for one set of them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

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
    # As text, which has plain line ends however a file was checked out.
    sources = {"/".join(file.split(os.sep)[-2:]): Path(file).read_text(encoding="utf-8") for file in files}
    return digest([sources, [rule.name for rule in graph_rules], sorted(RULES)])[:16]

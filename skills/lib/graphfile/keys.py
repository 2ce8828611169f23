"""The names that each mapping of a ``workflow.yaml`` may have; docs/workflow-yaml.md says what each means."""

from __future__ import annotations

WORKFLOW = (
    "name", "title", "description", "unchecked", "output", "start", "closing", "tools", "forbidden", "reverify",
    "policy", "params", "lists", "steps", "always", "ends", "draft",
)  # fmt: skip
STEP = (
    "title", "do", "repeat", "forbidden", "needs", "requires", "next", "when", "outcomes", "keep", "handler",
    "max_iterations", "at_limit", "tools", "allow", "fresh", "model", "automatic", "person", "dispatch", "gate",
)  # fmt: skip
PARAM = ("type", "choices", "minimum", "maximum", "default", "required", "step", "help", "waives")
FIELD = ("type", "choices", "minimum", "maximum", "required", "help", "waives")
FILE = ("file", "schema", "help")
RUN = ("run", "timeout", "help", "severity", "records", "may_fail")
PERSON = ("question", "choices", "at_terminal")
GATE = ("checkpoint", "bound", "stale")
DISPATCH = (
    "agent", "script", "task", "targets", "tasks", "context", "params", "model", "checkpoint", "cap", "checks",
    "covers", "requires", "gather", "handler",
)  # fmt: skip
CHECK = ("kind", "severity", "text", "over")
KEEP = ("append", "take", "where", "first", "cut")
GATHER = ("take", "of", "where", "first", "cut")
ALWAYS = ("before", "passes", "never-ends-failed")
# Texts of these mappings are numbers.
NUMBERS = {"minimum": False, "maximum": False, "timeout": False, "bound": True, "cap": True, "max_iterations": True}
SWITCHES = ("required", "may_fail", "at_terminal", "fresh", "automatic")
# Where a route leads if it ends the run.
ENDS = ("null", "~", "end", "")

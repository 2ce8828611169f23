"""A policy: compiled once, and read at a decision by the standard library alone."""

from __future__ import annotations

from skills.lib.compact_json import loads
from skills.lib.guard.compiled import FORMAT, Rule, seal_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def compile_policy(text: str, file: str) -> dict[str, Any]:
    """The compiled form of a policy's YAML text: JSON values, sealed by a checksum.

    Raises PolicyError with file and line; EnvironmentProblem if PyYAML is not installed.
    """
    from skills.lib.guard.compiling import compile_text  # ast and PyYAML: never at a decision

    return compile_text(text, file)


class Policy:
    """A compiled policy; the rule of a tool is decoded when that tool is called."""

    def __init__(self, compiled: Mapping[str, Any]) -> None:
        """Raises EnvironmentProblem if the compiled form is of another version, or was changed."""
        if compiled.get("format") != FORMAT or compiled.get("seal") != seal_of(compiled):
            from skills.lib.errors import EnvironmentProblem

            raise EnvironmentProblem(
                f"the compiled policy {compiled.get('file', '')} was changed, or is of another version",
                remedy="compile it again: lockstep policy check FILE",
            )
        self.file: str = compiled["file"]
        self.id: str = compiled["source"]
        self.mode: str = compiled["mode"]
        self.params: dict[str, Any] = compiled["params"]
        self.start: list[list[Any]] = compiled["start"]
        self.reads: dict[str, Any] = compiled["reads"]
        self.provenance: bool = compiled["provenance"]
        self.counted: list[str] | None = compiled["counted"]
        self._tools: dict[str, str] = compiled["tools"]
        self._rules: dict[str, Rule] = {}

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools that have a rule."""
        return tuple(self._tools)

    def rule(self, tool: str) -> Rule | None:
        """The rule of a tool; None if the policy says nothing of it."""
        rule = self._rules.get(tool)
        if rule is None and tool in self._tools:
            rule = self._rules[tool] = Rule(tool, loads(self._tools[tool]))
        return rule

    def shell_rules(self) -> list[tuple[str, list[str]]]:
        """The rules on shell commands: each name, and the leading words that it stands for."""
        names = [name for name in self._tools if name.startswith("shell(") and name.endswith(")")]
        return [(name, name[len("shell(") : -1].split()) for name in names]

    def counts(self, tool: str) -> bool:
        """True if a rule asks how often this tool was called."""
        return self.counted is None or tool in self.counted

"""A folder of skills as the tree rules see it: their SKILL.md files, and the workflows that their scripts register."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from skills.lib import paths
from skills.lib.model.types import Dispatch
from skills.lib.runtime.loading import CHOICE
from skills.lib.skillfile import SkillFolder, discover
from skills.lib.validation.locations import Lines

if TYPE_CHECKING:
    from skills.lib.model.steps import Registered, StepDef


class TreeView:
    """The skills under ``root`` and the registered workflows; the file names say which script runs which."""

    def __init__(self, root: str, registered: Iterable[Registered]) -> None:
        self.root = root
        self.registered = sorted(registered, key=lambda entry: (entry.file, entry.workflow.name))

    @cached_property
    def skills(self) -> list[SkillFolder]:
        """Every skill folder, by path."""
        return discover(self.root)

    @cached_property
    def _by_file(self) -> dict[str, list[Registered]]:
        found: dict[str, list[Registered]] = {}
        for entry in self.registered:
            found.setdefault(os.path.realpath(entry.file), []).append(entry)
        return found

    def run_by(self, script: str) -> list[Registered]:
        """The workflows that a script ``x.py`` runs: those of its graph, or its own."""
        for file in (paths.graph_of(script), script):
            if os.path.realpath(file) in self._by_file:
                return self._by_file[os.path.realpath(file)]
        return []

    def walked_from(self, entry: Registered, step: StepDef) -> list[Registered]:
        """The workflows that the step's sub-agents walk: those of the script that its Dispatch names."""
        if not isinstance(step.handler, Dispatch) or not step.handler.script:
            return []
        return self.run_by(os.path.normpath(os.path.join(os.path.dirname(entry.file), step.handler.script)))

    def chosen_by(self, script: str) -> tuple[str, dict[str, str]] | None:
        """The flag of an entry script that chooses among scripts, and its choices; None for any other script."""
        module = script.removesuffix(".py") + CHOICE
        if not os.path.isfile(module):
            return None
        for call in Lines(module).calls_of("Choice"):
            try:
                name, scripts = (ast.literal_eval(argument) for argument in call.args[:2])
                folder = os.path.dirname(script)
                return f"--{name}", {word: os.path.join(folder, file) for word, file in scripts.items()}
            except (ValueError, TypeError, AttributeError, SyntaxError, RecursionError):  # it is computed
                return None
        return None

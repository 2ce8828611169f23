"""The texts of a workflow, and the sections of the prompts file that they come from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from skills.lib.errors import LockstepError
from skills.lib.model.steps import StepDef
from skills.lib.model.types import Dispatch, Person, Rendered
from skills.lib.prompts import read_prompts
from skills.lib.record import Record

# Words that a text has, and the file and line where they stand; neither is known outside of the prompts file.
Said = tuple[str, str | None, int | None]


class Sections:
    """The sections of the prompts file beside a workflow's module, with their lines; none if it reads no file."""

    def __init__(self, module: str, *, read: bool) -> None:
        self.file = ""
        self.texts: Mapping[str, str] = {}
        try:
            prompts = read_prompts(module) if read else None
        except LockstepError:  # unresolved-resource finds it
            return
        if prompts is not None:
            self.file, self.texts = prompts.file, prompts

    def line_of(self, title: str) -> int:
        """The line of the section's title."""
        return self._lines[title]

    def find(self, texts: Iterable[str], pattern: re.Pattern[str]) -> Iterator[Said]:
        """The words that the pattern finds in the texts, each once. A text that a formatter made is not searched."""
        seen: set[str] = set()
        for text in texts:
            for found in () if isinstance(text, Rendered) else pattern.finditer(text):
                if found[0] not in seen:
                    seen.add(found[0])
                    yield found[0], *self._location(text, found[0])

    def _location(self, text: str, words: str) -> tuple[str | None, int | None]:
        for title, section in self.texts.items():
            if words in section and section in text:
                at = self.line_of(title)
                first = next(number for number, line in enumerate(self._source[at:], at + 1) if line.strip())
                return self.file, first + section.count("\n", 0, section.index(words))
        return None, None

    @cached_property
    def _source(self) -> list[str]:
        with open(self.file, encoding="utf-8") as file:
            return file.read().split("\n")

    @cached_property
    def _lines(self) -> dict[str, int]:
        lines: dict[str, int] = {}
        fenced = False
        for number, line in enumerate(self._source, 1):
            if line.startswith("## ") and not fenced:
                lines[line[3:].strip()] = number
            fenced ^= line.lstrip().startswith("```")
        return lines


def texts_of(step: StepDef) -> Iterator[str]:
    """The texts of a step for those who read its block: the agent, its sub-agents, a person."""
    yield from (*step.actions, *step.repeat, *step.forbidden, *step.when.values())
    yield from (spec.help for spec in step.requires)
    if isinstance(step.handler, Dispatch):
        yield from (step.handler.task, *step.handler.tasks, step.handler.context)
    elif isinstance(step.handler, Person):
        yield step.handler.question


def every_text(value: object) -> Iterator[str]:
    """Every text anywhere in a workflow, or in a part of it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Record):
        yield from every_text(value.fields())
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from every_text(item)
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from every_text(item)

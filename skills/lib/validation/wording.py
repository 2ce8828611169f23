"""What a workflow says: the texts of its steps, and the sections of the prompts file that they come from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from skills.lib.errors import LockstepError
from skills.lib.model.steps import StepDef
from skills.lib.model.types import Dispatch, Person, Rendered
from skills.lib.prompts import read_prompts
from skills.lib.record import Record

_FENCE = "```"


@dataclass(frozen=True, slots=True)
class Said:
    """Words that a text has, and the file and line where they stand; neither is known outside of the prompts file."""

    words: str
    place: tuple[str | None, int | None]


class Sections:
    """The sections of the prompts file beside a workflow's module, with their lines; none where it reads no file."""

    def __init__(self, module: str, *, read: bool) -> None:
        self.file = ""
        self.texts: Mapping[str, str] = {}
        try:
            prompts = read_prompts(module) if read else None
        except LockstepError:  # unresolved-resource tells it
            return
        if prompts is not None:
            self.file, self.texts = prompts.file, prompts

    def line_of(self, title: str) -> int:
        """The line of the section's title."""
        return self._lines[title]

    def first(self, texts: Iterable[str], pattern: re.Pattern[str]) -> Said | None:
        """The first of what the pattern finds in the texts; what a formatter made is not looked at."""
        return next(self.every(texts, pattern), None)

    def every(self, texts: Iterable[str], pattern: re.Pattern[str]) -> Iterator[Said]:
        """What the pattern finds in the texts, the same words once."""
        seen: set[str] = set()
        for text in texts:
            for found in () if isinstance(text, Rendered) else pattern.finditer(text):
                if found[0] not in seen:
                    seen.add(found[0])
                    yield Said(found[0], self._place(text, found[0]))

    def _place(self, text: str, words: str) -> tuple[str | None, int | None]:
        for title, section in self.texts.items():
            if words in section and section in text:
                return self.file, self._first_line(title) + section.count("\n", 0, section.index(words))
        return None, None

    def _first_line(self, title: str) -> int:
        """The line on which the section's text begins."""
        at = self.line_of(title)
        while not self._source[at].strip():
            at += 1
        return at + 1

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
            fenced ^= line.lstrip().startswith(_FENCE)
        return lines


def texts_of(step: StepDef) -> Iterator[str]:
    """What a step says to whoever reads its block: the agent, its sub-agents, a person."""
    yield from (*step.actions, *step.repeat, *step.forbidden, *step.when.values())
    yield from (spec.help for spec in step.requires)
    if isinstance(step.handler, Dispatch):
        yield from (step.handler.task, *step.handler.tasks, step.handler.context)
    elif isinstance(step.handler, Person):
        yield step.handler.question


def every_text(value: object) -> Iterator[str]:
    """Every text that stands anywhere in a workflow."""
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

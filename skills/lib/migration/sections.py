"""The texts of the steps as sections of a Markdown file, and what each step's actions are written as."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from skills.lib.migration.graph import Node
from skills.lib.migration.sources import call, quoted
from skills.lib.migration.values import Made


@dataclass
class Prompts:
    """The sections of the Markdown file, and for each step what its actions are written as."""

    name: str
    sections: dict[str, str] = field(default_factory=dict)
    actions: dict[str, list[str]] = field(default_factory=dict)

    def text(self) -> str:
        """The whole file."""
        head = (
            f"# The prompts of {self.name}\n\n"
            "Each section is the text of one step. What an agent reads is the section alone.\n"
        )
        return head + "".join(f"\n## {title}\n\n{text}\n" for title, text in self.sections.items())


def write_prompts(name: str, nodes: Sequence[Node]) -> Prompts:
    """Put the texts of every step into sections; one that Markdown cannot hold exactly stays in the module."""
    prompts = Prompts(name)
    for node in nodes:
        prompts.actions[node.id] = [
            item for part in _groups(node.said.actions) for item in _written(prompts, node, part)
        ]
    return prompts


def _groups(actions: Sequence[Any]) -> Iterator[list[str] | Made]:
    texts: list[str] = []
    for action in actions:
        if isinstance(action, Made):
            yield texts
            texts = []
            yield action
        else:
            texts.append(action)
    yield texts


def _written(prompts: Prompts, node: Node, part: list[str] | Made) -> Iterator[str]:
    """Items of the step's actions for one run of texts, or for one call of a formatter."""
    if isinstance(part, Made):
        yield call(part.name, part.given, indent=12)
        return
    start, end = 0, len(part)
    while start < end and not part[start]:
        start += 1
    while end > start and not part[end - 1]:
        end -= 1
    yield from ['""'] * start
    if start < end:
        text = "\n".join(part[start:end])
        if _fits(text):
            count = sum(title == node.id or title.startswith(f"{node.id} (") for title in prompts.sections)
            title = node.id if not count else f"{node.id} ({count + 1})"
            prompts.sections[title] = text
            yield f"PROMPTS[{quoted(title)}]"
        else:
            yield from [quoted(one) for one in part[start:end]]
    yield from ['""'] * (len(part) - end)


def _fits(text: str) -> bool:
    """Whether a section of Markdown gives exactly this text again."""
    fenced = False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif line.startswith("## ") and not fenced:
            return False
    return text == text.strip() and not fenced and "\r" not in text

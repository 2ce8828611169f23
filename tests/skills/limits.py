"""Finds the limits that prompts and help texts of skills state: counts, and lengths in words or characters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from skills.lib.workflow.requirements import Artifact, Command
from tests.skills.follower import SKILLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skills.lib.workflow.core import Workflow

_N = (
    r"(?:\d[\d,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty"
    r"|sixty|a\ hundred)"
)
_LIMIT = re.compile(
    rf"""
    \b(?:at\ most|at\ least|up\ to|no\ more\ than|not\ more\ than|fewer\ than|less\ than|more\ than|under|within|over)
        \ (?:about\ |some\ )?{_N}\b(?:\ [a-z]+)?
    | \b{_N}\ (?:to|or)\ {_N}\b(?:\ [a-z]+)?
    | \b{_N}\ (?:\w+\ )?(?:characters?|words?|sentences?|entries|paragraphs?|pages?)\b | \bhalf\ a\ page\b
    | \b{_N}\ \w+\ (?:are\ the\ most|at\ most)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_EXAMPLE = re.compile(r"\s*(?:Good|Too weak|Too far|Example)\b")


class Stated(NamedTuple):
    """A limit as a text states it: where the text is, by its file and section or by its step, and the words."""

    where: str
    words: str


def in_prompts() -> Iterator[Stated]:
    """The limits of every prompt of the shipped skills."""
    for file in sorted([*SKILLS.glob("*/scripts/**/*_prompts.md"), *SKILLS.glob("*/workflow.md")]):
        name = file.relative_to(SKILLS).as_posix().replace("/scripts/", "/").removesuffix("_prompts.md")
        name = name.replace("/workflow.md", "/" + file.parent.name.replace("-", "_"))
        for section in file.read_text(encoding="utf-8").split("\n## ")[1:]:
            title, _, text = section.partition("\n")
            for match in _LIMIT.finditer(_instructions(text)):
                yield Stated(f"{name}, {title}", match[0].lower())


def in_help(workflow: Workflow) -> Iterator[Stated]:
    """The limits of the help texts of a workflow, and of the words for when each outcome is right."""
    texts = [(f"--{arg.name}", arg.help) for arg in workflow.params]
    for step in workflow.steps:
        for part in step.requires:
            name = "check" if isinstance(part, (Artifact, Command)) else part.name
            texts.append((f"{step.id}.{name}", part.help))
        texts += [(f"{step.id} {outcome.value}", words) for outcome, words in step.when.items()]
    for name, text in texts:
        for match in _LIMIT.finditer(_instructions(text)):
            yield Stated(f"{workflow.name}, {name}", match[0].lower())


def _instructions(text: str) -> str:
    """A text on one line, without its quotations and the lines that give an example."""
    lines = re.sub(r'"[^"]*"', " ", text).split("\n")
    return " ".join(" ".join(line for line in lines if not _EXAMPLE.match(line)).split())

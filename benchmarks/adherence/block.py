"""What an agent reads of one printed document."""

from __future__ import annotations

import re
from typing import NamedTuple

from lxml import etree

from skills.lib.testing import commands

# What STATE says of steps that were walked through.
WALKED = re.compile(
    r" Gate \S+ (?:passed|failed|was not passed[^.]*)\.(?: Review of \S+: [^.]*\.)?| \S+ was skipped: [^.]*\."
    r"| Step \S+ was done by the engine\."
)
STEPS = re.compile(
    r" Gate (\S+) (?:passed|failed|was not passed)| (\S+) was skipped: it had nothing"
    r"| Step (\S+) was done by the engine"
)
# What comes and goes, and what a brief block, or the end of a sub-agent, leaves out.
PASSING = re.compile(
    r"\n *(?:<(?P<section>NOTICE|BRIEF|CONTEXT|RESULT|NEXT)\b.*?</(?P=section)>|<file>[^\n]*</file>|</?RECORD/?>)"
    r'| tools="[^"]*"',
    re.DOTALL,
)


class Printed(NamedTuple):
    """What one call gave: its exit code, standard output and standard error."""

    exit_code: int
    text: str
    errors: str = ""


class Child(NamedTuple):
    """A sub-agent as the dispatching block names it; ``command`` is empty once it has ended."""

    id: str
    status: str
    command: list[str]


class Block:
    """One printed document; a call that printed none (a usage error) has the tag ``error``."""

    def __init__(self, printed: Printed) -> None:
        self.printed = printed
        self.exit_code, self.text, self.errors = printed
        # The values that a brief block leaves out, as its reader remembers them.
        self.remembered: dict[str, str] = {}
        self.root = etree.fromstring(self.text.encode()) if self.text.startswith("<") else etree.Element("error")
        self.tag = str(self.root.tag)
        self.id = str(self.root.get("id", ""))
        self.run = str(self.root.get("run", ""))
        self.code = str(self.root.get("code", ""))
        self.iteration = int(self.root.get("iteration", "1"))
        self.next = self.command("NEXT")
        self.outcomes = {str(way.get("name")): str(way.get("to")) for way in self.root.iterfind("INVOKE_AFTER/outcome")}
        self.chooses = self.root.find("INVOKE_AFTER/outcome[@flag]") is not None

    @property
    def accepted(self) -> bool:
        """True if the call printed a block of the run, or its end."""
        return self.exit_code == 0 and self.tag in ("step", "waiting", "done")

    @property
    def stable(self) -> str:
        """The text without what comes and goes, each value of CONTEXT, printed or remembered, and where NEXT leads."""
        values = sorted(f"{name}: {text}" for name, text in self.context.items())
        return "\n".join([PASSING.sub("", self.text), *values, self._onward])

    @property
    def walked(self) -> list[str]:
        """The steps that were walked through on the way to this block."""
        return ["".join(found) for found in STEPS.findall(self.words("STATE"))]

    @property
    def banner(self) -> str:
        """STATE without what it says of steps that were walked through: what the present step is."""
        return WALKED.sub("", self.words("STATE"))

    @property
    def _onward(self) -> str:
        """What the NEXT command does, in its short form or its long one."""
        run, turn = flag_value(self.next, "--run"), flag_value(self.next, "--turn")
        line = " ".join(self.next)
        fields = sorted(re.findall(r"FILL_(\w+)", line))
        return f"{run} {turn} {fields}" if run else line

    @property
    def context(self) -> dict[str, str]:
        """The values of CONTEXT, printed or remembered, by ``step.name``."""
        shown = {
            ".".join(str(value.get(name)) for name in ("step", "name") if value.get(name)): value.text or ""
            for value in self.root.iterfind("CONTEXT/value")
        }
        return shown if self.tag == "done" else {**self.remembered, **shown}

    def words(self, tag: str) -> str:
        """The text of the first element of that tag; of CONTEXT what is remembered too."""
        if tag == "CONTEXT":
            return "\n".join(self.context.values())
        element = self.root.find(tag)
        return "" if element is None else "".join(str(part) for part in element.itertext())

    def command(self, tag: str) -> list[str]:
        """The command in the first element of that tag, as the arguments of the long one."""
        return commands.argv(self.words(tag))

    def reported(self) -> list[dict[str, str]]:
        """What RECORD asks for: each field and parameter with its attributes, ``flag`` for a parameter."""
        return [dict(entry.attrib.items()) for entry in self.root.iterfind("RECORD/*[@name]")]  # type: ignore[arg-type]

    def artifacts(self) -> list[str]:
        """The paths of the files that RECORD asks for."""
        return [str(entry.get("path")) for entry in self.root.iterfind("RECORD/artifact")]

    @property
    def dispatches(self) -> bool:
        """True if this step starts sub-agents."""
        return self.root.find("DISPATCH") is not None

    def children(self) -> list[Child]:
        """The sub-agents of this step, in order."""
        return [
            Child(str(child.get("id")), str(child.get("status")), commands.argv(child.findtext("command") or ""))
            for child in self.root.iterfind("DISPATCH/child")
        ]

    @property
    def by_person(self) -> bool:
        """True if only a person at a terminal can answer."""
        question = self.root.find("QUESTION")
        return question is not None and question.get("by") != "agent"

    @property
    def choices(self) -> list[str]:
        """The answers that the question admits."""
        question = self.root.find("QUESTION")
        return [] if question is None else str(question.get("choices", "")).split("|")


def flag_value(argv: list[str], flag: str) -> str | None:
    """The value of a flag in a command, if it is there."""
    return argv[argv.index(flag) + 1] if flag in argv else None


def with_flag(argv: list[str], flag: str, value: str) -> list[str]:
    """The command with the flag set to that value, appended if it was not there."""
    if flag not in argv:
        return [*argv, flag, value]
    at = argv.index(flag)
    return [*argv[: at + 1], value, *argv[at + 2 :]]


def without_flag(argv: list[str], flag: str) -> list[str]:
    """The command without the flag and its value."""
    if flag not in argv:
        return argv
    at = argv.index(flag)
    return [*argv[:at], *argv[at + 2 :]]

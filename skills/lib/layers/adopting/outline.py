"""What was made of a SKILL.md: steps with the ways between them, and what each of them rests on."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Way:
    """How a step ends: the word for it, the step that follows (None is the end), and when it is the right one."""

    outcome: str
    target: str | None
    when: str


@dataclass(slots=True)
class Step:
    """A step of a draft.

    ``lines`` are all those of SKILL.md that it is made of, and ``body`` those that its text is. Without ``ways`` the
    following step comes next. ``guesses`` say what was concluded and not read.

    ``fields`` are reported, each with what it is; ``checklist`` is one list with as many entries. ``asks`` is the
    question for a person; ``answers`` are its choices with the words of the ways that they lead to, none if any text is
    an answer. ``bound`` is how often the step may be entered before a person decides. ``text`` is what the agent reads,
    or if ``resource`` names a file, what stands in that.
    """

    id: str
    title: str
    lines: set[int] = field(default_factory=set)
    body: set[int] = field(default_factory=set)
    ways: list[Way] = field(default_factory=list)
    guesses: list[str] = field(default_factory=list)
    forbidden: list[str] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    checklist: list[str] = field(default_factory=list)
    asks: str = ""
    answers: dict[str, str] = field(default_factory=dict)
    bound: int = 0
    text: str = ""
    resource: str = ""


@dataclass(slots=True)
class Outline:
    """The steps that one structure of a SKILL.md gives.

    ``rule`` says by which rule, ``heading`` under which heading and ``line`` where it begins. ``drawn`` are the lines
    of a graph that say how the steps follow each other. ``guesses`` concern the whole.
    """

    rule: str
    heading: str
    line: int
    steps: list[Step]
    drawn: range = range(0)
    guesses: list[str] = field(default_factory=list)

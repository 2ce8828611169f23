"""The words and values of a workflow: outcomes, roles, routing, dispatch.

Enum costs 3 ms at start-up (docs/architecture.md), on a step that has about 8 to spend; so a small base does what this
package needs of it.
"""

from __future__ import annotations

from skills.lib.field_checks import (
    EMPTY,
    TEXTS,
    check_count,
    check_list,
    check_mapping,
    check_records,
    check_text,
    check_texts,
    coerce,
    shown,
)
from skills.lib.record import Record as Record  # a name of this face, too

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from dataclasses import KW_ONLY
    from enum import StrEnum as Vocabulary
    from typing import Any

    Targets = Callable[["StepContext"], Sequence[str]]
    Then = Callable[["StepContext"], "Outcome | tuple[Outcome, dict[str, Any]]"]
else:

    class _Words(type):
        """Makes each NAME = "value" of a class body the one instance of that word."""

        def __new__(mcs, name, bases, body):
            words = {key: body[key] for key in body if key.isupper()}
            for key in words:
                del body[key]
            cls = super().__new__(mcs, name, bases, body)
            cls._words = {}
            for key, value in words.items():
                word = str.__new__(cls, value)
                word.name, word.value = key, value
                type.__setattr__(cls, key, word)
                cls._words[value] = word
            return cls

        def _missing_(cls, value):
            raise ValueError(f"{value!r} is not a {cls.__name__}: use one of {', '.join(cls._words)}")

        def __call__(cls, value):
            word = cls._words.get(value)
            if word is None and isinstance(value, str):
                word = cls._words.get(value.lower()) or cls._words.get(value.upper())
            return cls._missing_(value) if word is None else word

        def __iter__(cls):
            return iter(cls._words.values())

        def __len__(cls):
            return len(cls._words)

        def __contains__(cls, value):
            return value in cls._words

        def __setattr__(cls, key, value):
            if key != "_words":
                raise AttributeError(f"{cls.__name__} is a closed vocabulary")
            super().__setattr__(key, value)

    class Vocabulary(str, metaclass=_Words):
        """A closed set of words: each is a string, compared and stored as one."""

        def __repr__(self):
            return f"{type(self).__name__}.{self.name}"

        def __reduce__(self):
            return type(self), (self.value,)


# Flags of every step script: a parameter of a workflow cannot take one of these names.
RESERVED_FLAGS = frozenset(
    "step total-steps run turn project record record-file erratum outcome answer lost replace reason"
    " qr-status qr-iteration qr-fail stateless new help version".split()
)


class Rendered(str):
    """Rendered XML, which is printed as it is; a plain string beside it is escaped.

    An f-string around it yields a plain string, which is escaped: the safe default.
    """

    __slots__ = ()


class Element(Record):
    """A piece of a document before rendering: a tag, attributes, and text, rendered XML or elements inside.

    An attribute of None is left out. ``prose`` puts the content on lines of its own; other text is printed exactly as
    it is.
    """

    tag: str
    attributes: Mapping[str, object]
    children: tuple[Element | str, ...]
    prose: bool

    def __init__(
        self, tag: str, attributes: Mapping[str, object] | None = None, *children: Element | str, prose: bool = False
    ) -> None:
        given = {name: value for name, value in (attributes or {}).items() if value is not None}
        self._set(tag=tag, attributes=given, children=children, prose=prose)


class Outcome(Vocabulary):
    """Why a step ended: one of five words, or a word of the workflow's own such as ``Outcome("more-tasks")``.

    DEFAULT is the route of declared outcomes that have no route of their own. A word of its own is ``[a-z][a-z0-9-]*``,
    at most 24 characters; the five alone are counted by ``len`` and listed by ``list``.
    """

    OK = "ok"
    FAIL = "fail"
    SKIP = "skip"
    ITERATE = "iterate"
    DEFAULT = "default"

    @classmethod
    def _missing_(cls, value: object) -> Outcome:
        if not is_own_word(value):
            five, own = ", ".join(cls), "a word of its own (a-z, 0-9 and -, a letter first, at most 24 characters)"
            raise ValueError(f"{value!r:.80} is not an Outcome: use one of {five}, or {own}")
        word = str.__new__(cls, value)
        word.value = value  # type: ignore[misc, assignment]  # it is not the value of an enum
        return word

    def __repr__(self) -> str:
        return f"Outcome.{self.upper()}" if self in _STANDARD else f"Outcome({str(self)!r})"

    @property
    def is_own(self) -> bool:
        """True for a word of the workflow's own."""
        return self not in _STANDARD


def is_own_word(value: object) -> bool:
    """True if ``value`` has the form of a workflow's own outcome, and is none of the five."""
    if not isinstance(value, str) or not 0 < len(value) <= 24 or value in _STANDARD:
        return False
    return value.isascii() and value[0].isalpha() and value.islower() and value.replace("-", "").isalnum()


_STANDARD = frozenset(Outcome)


class AgentRole(Vocabulary):
    """The sub-agents that a step may dispatch."""

    QUALITY_REVIEWER = "quality-reviewer"
    DEVELOPER = "developer"
    TECHNICAL_WRITER = "technical-writer"
    EXPLORE = "explore"
    GENERAL_PURPOSE = "general-purpose"
    ARCHITECT = "architect"
    DEBUGGER = "debugger"


class Confidence(Vocabulary):
    """How sure an agent is of a finding, in rising order."""

    EXPLORING = "exploring"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CERTAIN = "certain"


class QRStatus(Vocabulary):
    """The verdict of a quality review."""

    PASS = "pass"
    FAIL = "fail"


class ItemStatus(Vocabulary):
    """The state of one review item; a TODO blocks like a FAIL."""

    TODO = "TODO"
    PASS = "PASS"
    FAIL = "FAIL"


class Severity(Vocabulary):
    """How recoverable a defect is: MUST cannot be undone later, SHOULD costs, COULD is taste."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    COULD = "COULD"


class StepContext(Record):
    """What a handler may read: parameters, this step's state, the state of every step, the iteration, the reviews.

    ``reviews`` has each checkpoint's ``iteration`` (reviews since it passed), ``status``, ``items`` and ``passed``.
    """

    workflow_params: Mapping[str, Any] = EMPTY
    step_state: Mapping[str, Any] = EMPTY
    run_state: Mapping[str, Mapping[str, Any]] = EMPTY
    step_id: str = ""
    iteration: int = 1
    reviews: Mapping[str, Mapping[str, Any]] = EMPTY


class Check(Record):
    """One kind of check that every reviewer of a checkpoint makes, with the severity of its failure.

    ``over`` holds its targets: texts, the name ``step.field`` of a recorded list, or a function evaluated on entering
    the step. A text "target | what must be so" says more of one. Without targets it is made once, over all.
    """

    kind: str
    severity: Severity | str
    text: str
    over: Sequence[str] | Targets = ()

    @property
    def _label(self) -> str:
        return f"Check {shown(self.kind)}"

    def _check(self) -> None:
        where = f"Check {self.kind}"
        kind, over = self.kind, self.over
        if not (kind.isascii() and kind.replace("-", "a").isalnum() and kind[:1].isalpha() and len(kind) <= 40):
            what = f"{shown(kind)} is not a kind (letters, digits and -, a letter first, at most 40)"
            raise ValueError(f"{where}: {what}")
        self._set(severity=coerce(Severity, self.severity, where))
        if not isinstance(over, str) and not callable(over):
            self._set(over=check_texts(over, f"{where} over"))


class Dispatch(Record):
    """Sub-agents to start on entering a step: one, a template over targets, or distinct tasks.

    ``script`` (relative to the skill's scripts folder) puts the sub-agents in script mode: each walks that script's
    workflow as a child run. Without it they are free-form: each gets ``task`` and reports a result.
    ``context`` is said to all of them. ``targets`` makes one child per target: strings, the name ``step.field`` of a
    recorded list, or a function evaluated on entering the step. No target at all, on a step with a SKIP route, starts
    none and ends the step with SKIP. ``tasks`` makes one child per distinct task. ``params`` are run parameters for
    script mode. Task, context and params may name the child's ``{target}``, a run parameter ``{name}`` and a recorded
    value ``{step.field}``. ``then`` is a function evaluated on leaving, when every child is accounted for: it reads
    their ``results`` in the step's state and says how the step ends. ``requires`` holds the Fields that each free-form
    sub-agent reports beside its result; ``results`` has their values. ``checkpoint`` makes the children reviewers of
    that checkpoint; ``checks`` are those that each must make, and ``covers`` names the files that the verdict is about:
    paths, globs such as ``src/**``, or recorded fields as ``{step.field}``. ``cap`` bounds the number of children;
    reviewers of targets that are removed come on top.
    """

    agent: AgentRole | str
    script: str | None = None
    task: str = ""
    _: KW_ONLY
    targets: Sequence[str] | Targets = ()
    tasks: tuple[str, ...] | list[str] = ()
    context: str = ""
    params: Mapping[str, str] = EMPTY
    model: str | None = None
    checkpoint: str | None = None
    cap: int = 16
    then: Then | None = None
    checks: Sequence[Check] = ()
    covers: Sequence[str] = ()
    requires: Sequence[Any] = ()

    def _check(self) -> None:
        targets = self.targets
        if not isinstance(targets, str) and not callable(targets):
            targets = check_texts(check_list(targets, "Dispatch targets", TEXTS), "Dispatch targets")
        tasks = check_texts(check_list(self.tasks, "Dispatch tasks", "tasks=['…']"), "Dispatch tasks")
        if targets and tasks:
            raise ValueError("Dispatch: give targets (one template, many targets) or tasks (distinct), not both")
        if self.then is not None and (self.checkpoint or not callable(self.then)):
            raise ValueError("Dispatch: then is a function, and a checkpoint's verdict is decided by its items alone")
        if self.script is None and not self.task and not tasks:
            self._set(task="Do what this step asks and report the result.")
        self._set(
            agent=coerce(AgentRole, self.agent, "Dispatch agent"),
            targets=targets,
            tasks=tasks,
            params=_params(self.params),
            cap=check_count(self.cap, "Dispatch cap"),
            checks=_checks(self.checks),
            requires=check_list(self.requires, "Dispatch requires", "requires=[Field('cause')]"),
        )


def _checks(checks: Sequence[Check]) -> tuple[Check, ...]:
    example = "checks=[Check('kind', 'MUST', 'what must be so')]"
    found: tuple[Check, ...] = check_records(checks, "Dispatch checks", example, Check, "a Check")
    kinds = [check.kind for check in found]
    if len(set(kinds)) < len(kinds):
        twice = next(kind for kind in kinds if kinds.count(kind) > 1)
        raise ValueError(f"Dispatch checks: the kind {shown(twice)} stands twice; one answer could not tell them apart")
    return found


def _params(params: Mapping[str, str] | None) -> dict[str, str]:
    given = dict(check_mapping(params, "Dispatch params", "params={'name': 'value or {placeholder}'}"))
    for name, value in given.items():
        check_text(name, "Dispatch params: the name")
        if not isinstance(value, str):
            raise TypeError(f"Dispatch params {name}: {shown(value)} is not text; write {str(value)!r:.80}")
    return given


class Person(Record):
    """A question that a person answers; each choice leads to an outcome.

    The question may name a run parameter as ``{name}`` and a recorded value as ``{step.field}``. On a step with
    requirements the question is put once they are met: the agent prepares it, and it may name what it then recorded.
    With ``at_terminal`` an answer that the agent passes on counts only if a prompt of the person has it; else it takes
    ``lockstep answer``. An answer of ``reasons`` is given with a reason, in more than a word.
    """

    question: str
    choices: Mapping[str, Outcome] = EMPTY
    at_terminal: bool = False
    reasons: Sequence[str] = ()

    def _check(self) -> None:
        given = check_mapping(self.choices, "Person choices", "{'yes': Outcome.OK}, or use person('…', ['yes', 'no'])")
        choices = {
            check_text(name, "Person choice"): coerce(Outcome, outcome, f"Person choice {name}")
            for name, outcome in given.items()
        }
        reasons = check_texts(check_list(self.reasons, "Person reasons", "['no']"), "Person reasons")
        if unknown := [name for name in reasons if name not in choices]:
            raise ValueError(f"Person reasons: {shown(unknown[0])} is none of the choices {', '.join(choices)}")
        self._set(choices=choices, reasons=tuple(reasons))


def person(
    question: str, choices: Sequence[str] | Mapping[str, Outcome | str] = (), *, at_terminal: bool = False
) -> Person:
    """Put a question to a person; a list of choices leads to OK whichever is taken, none admits any text."""
    if not hasattr(choices, "items"):
        listed = check_list(choices, "person choices", "['yes', 'no']")
        choices = dict.fromkeys(check_texts(listed, "person choices"), Outcome.OK)
    return Person(question, choices, at_terminal)  # type: ignore[arg-type]


# Completed reviews after which a person decides (requirement W-10).
BOUND = 5


class Gate(Record):
    """The stop condition of a review loop: reads the verdict of ``checkpoint`` from the ledger.

    ``bound`` is the number of completed reviews, and of fallen verdicts, after which a person decides (requirement
    W-10; BOUND by default). ``stale`` is the step that a run goes back to when the files that the review covers were
    changed since: from the gate, and from every step that would end the run.
    """

    checkpoint: str
    bound: int = BOUND
    stale: str | None = None

    def _check(self) -> None:
        self._set(bound=check_count(self.bound, "Gate bound"))


class Before(Record):
    """A property of all paths: no run comes to the step ``then`` without having passed the step ``first``."""

    first: str
    then: str


class Passes(Record):
    """A property of all paths: no run ends without having passed the step, but by FAIL."""

    step: str


class NeverEndsFailed(Record):
    """A property of all paths: no run ends while the last verdict of the checkpoint is FAIL, but by FAIL itself."""

    checkpoint: str


class Choice(Record):
    """Which script of a skill its common entry runs: the words of a flag, each with the file of a script beside it."""

    name: str
    scripts: Mapping[str, str]
    help: str = ""

    def _check(self) -> None:
        if self.name in RESERVED_FLAGS:
            raise ValueError(f"Choice: --{self.name} is a flag of every step script, choose another name")

    @property
    def flag(self) -> str:
        """The command-line flag that chooses."""
        return "--" + self.name


def is_word(kind: type[Any], value: object) -> bool:
    """True if ``value`` is exactly a word of the vocabulary ``kind``."""
    return any(value == word for word in kind)

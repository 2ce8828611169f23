"""The words and values of a workflow: outcomes, roles, routing, dispatch.

Enum costs 3 ms at start-up and a dataclass 9 (lessons measured in docs/architecture.md), on a step
that has about 8 to spend; so the two small bases below do what this package needs of them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from enum import StrEnum as Vocabulary
    from typing import Any

    from skills.lib.workflow.bare import BranchRouting as BranchRouting
    from skills.lib.workflow.bare import GateConfig as GateConfig
    from skills.lib.workflow.bare import LinearRouting as LinearRouting
    from skills.lib.workflow.bare import QRState as QRState
    from skills.lib.workflow.bare import Routing as Routing
    from skills.lib.workflow.bare import Step as Step
    from skills.lib.workflow.bare import TerminalRouting as TerminalRouting
    from skills.lib.workflow.core import StepContext

    Targets = Callable[[StepContext], Sequence[str]]
    Then = Callable[[StepContext], "Outcome | tuple[Outcome, dict[str, Any]]"]
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

        def __call__(cls, value):
            word = cls._words.get(value)
            if word is None and isinstance(value, str):
                word = cls._words.get(value.lower()) or cls._words.get(value.upper())
            if word is None:
                raise ValueError(f"{value!r} is not a {cls.__name__}: use one of {', '.join(cls._words)}")
            return word

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


class Value:
    """A frozen record: slots, equality by value, a readable repr."""

    __slots__ = ()

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be deleted")

    def fields(self) -> dict[str, object]:
        """Every field by name, in the order of declaration."""
        slots: tuple[str, ...] = self.__slots__
        return {name: getattr(self, name) for name in slots}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.fields() == other.fields()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        body = ", ".join(f"{name}={value!r}" for name, value in self.fields().items())
        return f"{type(self).__name__}({body})"

    def __reduce__(self) -> tuple[object, ...]:
        return _revive, (type(self), self.fields())


def _revive(cls: type[Value], fields: dict[str, object]) -> Value:
    value = object.__new__(cls)
    value._set(**fields)
    return value


class Block(str):
    """A rendered XML fragment that stands as it is; a plain string beside it is escaped.

    An f-string around a block yields a plain string, which is escaped: the safe default.
    """

    __slots__ = ()


class Element(Value):
    """A piece of a document before rendering: a tag, attributes, and text, blocks or elements inside.

    ``prose`` sets the content on lines of its own; otherwise the text stands exactly as it is.
    """

    __slots__ = ("tag", "attributes", "children", "prose")
    tag: str
    attributes: Mapping[str, object]
    children: tuple[Element | str, ...]
    prose: bool

    def __init__(
        self,
        tag: str,
        attributes: Mapping[str, object] | None = None,
        *children: Element | str,
        prose: bool = False,
    ) -> None:
        self._set(tag=tag, attributes=dict(attributes or {}), children=children, prose=prose)


class Outcome(Vocabulary):
    """Why a step ended; DEFAULT is the route of declared outcomes that have no route of their own."""

    OK = "ok"
    FAIL = "fail"
    SKIP = "skip"
    ITERATE = "iterate"
    DEFAULT = "default"


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


def coerce(kind: type[Any], value: object, what: str) -> Any:
    """Return ``value`` as a word of ``kind``; raise ValueError that names ``what`` and the valid words."""
    try:
        return kind(value)
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None
    except TypeError:  # it cannot be looked up: a list, a mapping
        words: Any = kind
        valid = ", ".join(words)
        raise TypeError(f"{what}: {shown(value)} is not a {kind.__name__}: use one of {valid}") from None


_TEXTS = "a list of texts"


def shown(value: object) -> str:
    """``value`` as an error message names it, cut if it is long."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def check_text(value: object, what: str) -> str:
    """Return ``value`` if it is text; raise TypeError that names ``what`` if it is not."""
    if isinstance(value, str):
        return value
    raise TypeError(f"{what}: {shown(value)} is not text")


def check_optional_text(value: object, what: str) -> str | None:
    """Return ``value`` if it is text or None; raise TypeError that names ``what`` if it is neither."""
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"{what}: {shown(value)} is not text, and not None")


def check_list(value: Any, what: str, example: str) -> tuple[Any, ...]:
    """Return the entries of a list; raise TypeError for one text, a mapping or a single value in place of a list."""
    if not isinstance(value, (str, bytes, dict)):
        try:
            return tuple(value)
        except TypeError:
            pass
    raise TypeError(f"{what}: {shown(value)} is not a list; write {example}")


def check_texts(value: Sequence[str] | str, what: str) -> tuple[str, ...]:
    """Return the texts of a list, a single text as a list of one; raise TypeError that names ``what`` for others."""
    texts = value if type(value) is tuple else (value,) if isinstance(value, str) else check_list(value, what, _TEXTS)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"{what}: {shown(text)} is not text")
    return texts


def check_mapping(value: Any, what: str, example: str) -> Mapping[Any, Any]:
    """Return ``value`` if it is a mapping, an empty one for None; raise TypeError that shows what to write."""
    if value is None:
        return {}
    if hasattr(value, "items"):
        return value  # type: ignore[no-any-return]
    raise TypeError(f"{what}: {shown(value)} is not a mapping; write {example}")


def check_count(value: object, what: str) -> int:
    """Return ``value`` if it is a whole number of 1 or more; raise TypeError or ValueError that names ``what``."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what}: {shown(value)} is not a whole number of 1 or more")
    if value < 1:
        raise ValueError(f"{what}: {value} is not a whole number of 1 or more")
    return value


class Check(Value):
    """One kind of check that every reviewer of a checkpoint makes, with the severity of its failure.

    ``over`` holds its targets: texts, the name ``step.field`` of a recorded list, or a function evaluated on entering
    the step. A text "target | what must be so" says more of one. Without targets it is made once, over all.
    """

    __slots__ = ("kind", "severity", "text", "over")
    kind: str
    severity: Severity
    text: str
    over: tuple[str, ...] | str | Targets

    def __init__(
        self, kind: str, severity: Severity | str, text: str, over: Sequence[str] | str | Targets = ()
    ) -> None:
        where = f"Check {check_text(kind, 'Check kind')}"
        if not (kind.isascii() and kind.replace("-", "a").isalnum() and kind[:1].isalpha() and len(kind) <= 40):
            raise ValueError(
                f"{where}: {shown(kind)} is not a kind (letters, digits and -, a letter first, at most 40)"
            )
        self._set(
            kind=kind,
            severity=coerce(Severity, severity, where),
            text=check_text(text, f"{where} text"),
            over=over if isinstance(over, str) or callable(over) else check_texts(over, f"{where} over"),
        )


class Dispatch(Value):
    """Sub-agents to start on entering a step: one, a template over targets, or distinct tasks.

    ``script`` (relative to the skill's scripts folder) puts the sub-agents in script mode: each walks that script's
    workflow as a child run. Without it they are free-form: each gets ``task`` and reports a result.
    ``context`` is said to all of them. ``targets`` makes one child per target: strings, the name ``step.field`` of a
    recorded list, or a function evaluated on entering the step. No target at all, on a step with a SKIP route, starts
    none and ends the step with SKIP. ``tasks`` makes one child per distinct task. ``params`` are run parameters for
    script mode. Task, context and params may name the child's ``{target}``, a run parameter ``{name}`` and a recorded
    value ``{step.field}``. ``then`` is a function evaluated on leaving, when every child is accounted for: it reads
    their ``results`` in the step's state and says how the step ends. ``checkpoint`` makes the children reviewers of
    that checkpoint; ``checks`` are those that each must make, and ``covers`` names the files that the verdict is about:
    paths, globs such as ``src/**``, or recorded fields as ``{step.field}``. ``cap`` bounds the number of children;
    reviewers of targets that are removed come on top.
    """

    __slots__ = (
        "agent",
        "script",
        "task",
        "targets",
        "tasks",
        "context",
        "params",
        "model",
        "checkpoint",
        "cap",
        "then",
        "checks",
        "covers",
    )
    agent: AgentRole
    script: str | None
    task: str
    targets: tuple[str, ...] | str | Targets
    tasks: tuple[str, ...]
    context: str
    params: Mapping[str, str]
    model: str | None
    checkpoint: str | None
    cap: int
    then: Then | None
    checks: tuple[Check, ...]
    covers: tuple[str, ...]

    def __init__(
        self,
        agent: AgentRole | str,
        script: str | None = None,
        task: str = "",
        *,
        targets: Sequence[str] | str | Targets = (),
        tasks: Sequence[str] = (),
        context: str = "",
        params: Mapping[str, str] | None = None,
        model: str | None = None,
        checkpoint: str | None = None,
        cap: int = 16,
        then: Then | None = None,
        checks: Sequence[Check] = (),
        covers: Sequence[str] = (),
    ) -> None:
        if script is None and not task and not tasks:
            task = "Do what this step asks and report the result."
        if not isinstance(targets, str) and not callable(targets):
            targets = check_texts(check_list(targets, "Dispatch targets", _TEXTS), "Dispatch targets")
        if targets and tasks:
            raise ValueError("Dispatch: give targets (one template, many targets) or tasks (distinct), not both")
        if then is not None and (checkpoint or not callable(then)):
            raise ValueError("Dispatch: then is a function, and a checkpoint's verdict is decided by its items alone")
        self._set(
            agent=coerce(AgentRole, agent, "Dispatch agent"),
            script=check_optional_text(script, "Dispatch script"),
            task=check_text(task, "Dispatch task"),
            targets=targets,
            tasks=check_texts(check_list(tasks, "Dispatch tasks", "tasks=['…']"), "Dispatch tasks"),
            context=check_text(context, "Dispatch context"),
            params=_params(params),
            model=check_optional_text(model, "Dispatch model"),
            checkpoint=check_optional_text(checkpoint, "Dispatch checkpoint"),
            cap=check_count(cap, "Dispatch cap"),
            then=then,
            checks=_checks(checks),
            covers=check_texts(covers, "Dispatch covers"),
        )


def _checks(checks: Sequence[Check]) -> tuple[Check, ...]:
    found = check_list(checks, "Dispatch checks", "checks=[Check('kind', 'MUST', 'what must be so')]")
    for check in found:
        if not isinstance(check, Check):
            raise TypeError(f"Dispatch checks: {shown(check)} is not a Check")
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


class Person(Value):
    """A question that a person answers; each choice leads to an outcome.

    The question may name a run parameter as ``{name}`` and a recorded value as ``{step.field}``. On a step with
    requirements the question is put once they are met: the agent prepares it, and it may name what it then recorded.
    With ``at_terminal`` an answer relayed by the agent is refused: it takes ``lockstep answer``.
    """

    __slots__ = ("question", "choices", "at_terminal")
    question: str
    choices: Mapping[str, Outcome]
    at_terminal: bool

    def __init__(
        self, question: str, choices: Mapping[str, Outcome | str] | None = None, at_terminal: bool = False
    ) -> None:
        example = "{'yes': Outcome.OK}, or use person('…', ['yes', 'no'])"
        given = check_mapping(choices, "Person choices", example).items()
        coerced = {
            check_text(name, "Person choice"): coerce(Outcome, outcome, f"Person choice {name}")
            for name, outcome in given
        }
        self._set(question=check_text(question, "Person question"), choices=coerced, at_terminal=bool(at_terminal))


def person(
    question: str, choices: Sequence[str] | Mapping[str, Outcome | str] = (), *, at_terminal: bool = False
) -> Person:
    """Put a question to a person; a list of choices leads to OK whichever is taken, none admits any text."""
    if not hasattr(choices, "items"):
        listed = check_list(choices, "person choices", "['yes', 'no']")
        choices = dict.fromkeys(check_texts(listed, "person choices"), Outcome.OK)
    return Person(question, choices, at_terminal)  # type: ignore[arg-type]


class Gate(Value):
    """The stop condition of a review loop: reads the verdict of ``checkpoint`` from the ledger.

    ``bound`` is the number of completed reviews, and of fallen verdicts, after which a person decides (requirement
    W-10; five by default). ``stale`` is the step that a run goes back to when the files that the review covers were
    changed since: from the gate, and from every step that would end the run.
    """

    __slots__ = ("checkpoint", "bound", "stale")
    checkpoint: str
    bound: int
    stale: str | None

    def __init__(self, checkpoint: str, bound: int = 5, stale: str | None = None) -> None:
        self._set(
            checkpoint=check_text(checkpoint, "Gate checkpoint"),
            bound=check_count(bound, "Gate bound"),
            stale=check_optional_text(stale, "Gate stale"),
        )


class Before(Value):
    """A property of all paths: no run comes to the step ``then`` without having passed the step ``first``."""

    __slots__ = ("first", "then")
    first: str
    then: str

    def __init__(self, first: str, then: str) -> None:
        self._set(first=check_text(first, "Before first"), then=check_text(then, "Before then"))


class Passes(Value):
    """A property of all paths: no run ends without having passed the step, but by FAIL."""

    __slots__ = ("step",)
    step: str

    def __init__(self, step: str) -> None:
        self._set(step=check_text(step, "Passes step"))


class NeverEndsFailed(Value):
    """A property of all paths: no run ends while the last verdict of the checkpoint is FAIL, but by FAIL itself."""

    __slots__ = ("checkpoint",)
    checkpoint: str

    def __init__(self, checkpoint: str) -> None:
        self._set(checkpoint=check_text(checkpoint, "NeverEndsFailed checkpoint"))


def is_word(kind: type[Any], value: object) -> bool:
    """Whether ``value`` is exactly a word of the vocabulary ``kind``."""
    return any(value == word for word in kind)


# What only an author's own script and the review loop use; a module of its own, so that a step does not load it.
_BARE = frozenset("QRState GateConfig LinearRouting BranchRouting TerminalRouting Routing Step".split())


def __getattr__(name: str) -> Any:
    if name in _BARE:
        from skills.lib.workflow import bare

        return getattr(bare, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

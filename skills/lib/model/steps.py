"""A workflow: one graph of steps, held as data."""

from __future__ import annotations

from skills.lib.compact_json import digest as digest
from skills.lib.errors import UsageError
from skills.lib.field_checks import (
    EMPTY,
    check_list,
    check_mapping,
    check_optional_text,
    check_records,
    check_text,
    check_texts,
    coerce,
    shown,
)
from skills.lib.model.as_data import plain, plain_fields
from skills.lib.model.requirements import Arg, Artifact, Command, Field, Requirement
from skills.lib.model.types import (
    RESERVED_FLAGS,
    AgentRole,
    Before,
    Dispatch,
    Gate,
    NeverEndsFailed,
    Passes,
    Person,
    QRStatus,
)
from skills.lib.model.types import Outcome as Outcome  # a name of this module too (requirement W-01)
from skills.lib.model.types import StepContext as StepContext
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from dataclasses import KW_ONLY
    from typing import Any

    from skills.lib.model.layers import Layer

    Handler = Callable[["StepContext"], "Outcome | tuple[Outcome, dict[str, Any]]"]

# What an agent works with, by the same names on every host (skills/lib/hosts has the names that each host uses).
TOOLS = ("read", "search", "edit", "write", "shell", "web", "agent", "ask")


class StepDef(Record):
    """One step: what to do, what must be true to leave it, and where each outcome leads.

    ``next`` maps an Outcome to a step id, or to None for the end. ``handler`` is a function evaluated on leaving, or
    a Dispatch, Person or Gate. ``needs`` names what earlier steps recorded (``step.field``) and run parameters to show.
    ``requires`` holds Field, Artifact and Command. ``when`` says in words when each outcome is the right one.
    ``repeat`` replaces ``actions`` from the second entry on. At entry ``max_iterations`` an ITERATE becomes
    ``at_limit``. ``outcomes`` declares what the handler returns. ``tools`` names what the agent may use in this step
    (TOOLS; ``shell(git push)`` is that command alone, ``mcp(github.get_issue)`` that tool of an MCP server,
    ``tool(lookup)`` one of the program that runs the agent): a host's hook, if installed, denies all others; none named
    allows all. ``allow`` waives a finding of a validation rule on
    this step, with the reason: by the rule's name, or as ``rule:value`` if the rule can find several things at one
    step. ``fresh`` asks the program that runs an agent to give the step a conversation of its own, and ``model``
    names the model for it; a printed block has neither. The engine itself leaves an ``automatic`` step as a run enters
    it, with nothing reported; the agent is asked only if that is refused.
    """

    id: str
    title: str = ""
    actions: Sequence[str] = ()
    next: Mapping[Outcome, str | None] = EMPTY
    handler: Handler | Dispatch | Person | Gate | None = None
    _: KW_ONLY
    needs: Sequence[str] = ()
    requires: Sequence[Requirement] = ()
    when: Mapping[Outcome, str] = EMPTY
    repeat: Sequence[str] = ()
    forbidden: Sequence[str] = ()
    max_iterations: int | None = None
    at_limit: Outcome = Outcome.OK
    outcomes: Sequence[Outcome] = ()
    tools: Sequence[str] = ()
    allow: Mapping[str, str] | None = None
    fresh: bool | None = None
    model: str | None = None
    automatic: bool | None = None

    @property
    def _label(self) -> str:
        return f"step {shown(self.id)}"

    def _check(self) -> None:
        where, handler, limit = self._label, self.handler, self.max_iterations
        if handler is not None and not callable(handler) and not isinstance(handler, (Dispatch, Person, Gate)):
            raise TypeError(f"{where}: handler is a function, a Dispatch, a Person or a Gate, not {shown(handler)}")
        if isinstance(handler, Person) and limit is not None:
            raise ValueError(f"{where}: max_iterations bounds no answers; a person is heard however often it takes")
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
            raise TypeError(f"{where} max_iterations: {shown(limit)} is not a whole number")
        _check_tools(self.tools, where)
        if self.fresh is not None or self.model is not None:
            from skills.lib.model import step_checks  # no printed block has them

            step_checks.check_session(self.fresh, self.model, None if self.asks_later else handler, where)
        if self.automatic is not None:
            from skills.lib.model import step_checks  # few steps are

            step_checks.check_automatic(self.automatic, handler, self.requires, len(self.next), where)
        self._set(
            fresh=self.fresh or None,  # the form as data has no False
            automatic=self.automatic or None,
            next=_routes(self.next, f"{where} next"),
            requires=_requirements(self.requires, where, handler),
            when=_by_outcome(self.when, f"{where} when", "{Outcome.OK: 'all is done'}", check_text),
            at_limit=coerce(Outcome, self.at_limit, f"{where} at_limit"),
            outcomes=_outcomes(self.outcomes, f"{where} outcomes"),
            allow=dict(check_mapping(self.allow, f"{where} allow", "{'rule-name': 'the reason'}")),
        )
        if isinstance(handler, Dispatch) and handler.requires:
            from skills.lib.model import step_checks  # few sub-agents have fields of their own

            step_checks.check_fields_of_child(handler, self.checkpoint, where)

    @property
    def function(self) -> Handler | None:
        """The function that says how the step ends, if one does: the handler, or what a Dispatch does then."""
        if isinstance(self.handler, Dispatch):
            return self.handler.then
        return self.handler if callable(self.handler) else None

    @property
    def asks_later(self) -> bool:
        """True if a person is asked once the agent has met the step's requirements."""
        return isinstance(self.handler, Person) and bool(self.requires)

    @property
    def checkpoint(self) -> str | None:
        """The checkpoint whose reviewers this step dispatches; a reviewer's step with a FAIL route is its own gate."""
        if not isinstance(self.handler, Dispatch):
            return None
        if self.handler.checkpoint:
            return self.handler.checkpoint
        judges = self.handler.agent is AgentRole.QUALITY_REVIEWER and not self.handler.then
        return self.id if judges and Outcome.FAIL in self.next else None

    @property
    def gate(self) -> Gate | None:
        """The gate that this step is, if it is one: a Gate, or a reviewer's dispatch with its own FAIL route."""
        if isinstance(self.handler, Gate):
            return self.handler
        checkpoint = self.checkpoint
        if checkpoint is None or Outcome.FAIL not in self.next:
            return None
        return Gate(checkpoint, stale=self.id if self.covers else None)

    @property
    def records(self) -> tuple[str, ...]:
        """The names that leaving the step records: its fields, and the commands whose output is kept."""
        names = [
            spec.name if isinstance(spec, Field) else spec.records
            for spec in self.requires
            if isinstance(spec, (Field, Command))
        ]
        return tuple(name for name in names if name)

    @property
    def covers(self) -> tuple[str, ...]:
        """The files that the reviewers of this step judge, as its Dispatch names them; empty if it names none."""
        return tuple(self.handler.covers) if isinstance(self.handler, Dispatch) else ()

    def route(self, outcome: Outcome) -> tuple[str | None] | None:
        """The target of ``outcome`` as a one-tuple (its own route, else DEFAULT's), or None if there is no route.

        DEFAULT serves a word of the workflow's own only if ``outcomes``, a rule or a choice of the Person declares it.
        """
        if outcome in self.next:
            return (self.next[outcome],)
        if Outcome.DEFAULT in self.next and (not outcome.is_own or outcome in self.declared):
            return (self.next[Outcome.DEFAULT],)
        return None

    @property
    def declared(self) -> tuple[Outcome, ...]:
        """The outcomes that ``outcomes`` names, else those of rules, or the choices of the Person."""
        if isinstance(self.handler, Person):
            return tuple(self.handler.choices.values())
        # Rules are told by their attribute: steps of a graph in Python do not import them.
        return tuple(self.outcomes) or tuple(sorted(getattr(self.function, "outcomes", ())))


class Workflow(Record):
    """A named graph of steps; the first is the start unless ``start`` says otherwise.

    ``params`` holds the Arg of the run and of leaving a step; ``output`` is ``xml`` or ``text``. ``closing`` says what
    is to be done once the run is at its end; it may name a run parameter as ``{name}``. ``tools`` are those of every
    step that names none of its own; ``forbidden`` are rules of every step, beside its own. ``reverify`` is the step at
    which a reviewer begins that verifies the items of an earlier review again. ``always`` holds properties of all
    paths, which validation proves: Before, Passes, NeverEndsFailed. ``unchecked`` is what no check of this workflow
    tells, such as "whether the text is good"; ``done`` lists it. ``policy`` is the name of a YAML file beside the
    script, which says when tools may be called during the whole run; hosts' hooks enforce it. ``ends`` says of a word
    of the workflow's own whether a run that ends by it is a ``pass`` or a ``fail``. ``layers`` are the core skills
    that a run was opened with (``skills.lib.model.layers``); no workflow is registered with them.
    """

    name: str
    steps: tuple[StepDef, ...]
    title: str
    description: str
    params: tuple[Arg, ...]
    start: str
    output: str
    closing: str
    tools: tuple[str, ...]
    forbidden: tuple[str, ...]
    reverify: str | None
    always: tuple[Before | Passes | NeverEndsFailed, ...]
    unchecked: str
    policy: str
    ends: dict[Outcome, QRStatus]
    layers: tuple[Layer, ...]
    _by_id: dict[str, StepDef]
    _fingerprint: str

    def __init__(
        self,
        name: str,
        *steps: StepDef,
        title: str = "",
        description: str = "",
        params: Sequence[Arg] = (),
        start: str | None = None,
        output: str = "xml",
        closing: str = "",
        tools: Sequence[str] = (),
        forbidden: Sequence[str] = (),
        reverify: str | None = None,
        always: Sequence[Before | Passes | NeverEndsFailed] = (),
        unchecked: str = "",
        policy: str = "",
        ends: Mapping[Outcome | str, QRStatus | str] = EMPTY,
        layers: Sequence[Layer] = (),
    ) -> None:
        where = f"workflow {shown(name)}"
        if output not in ("xml", "text"):
            raise ValueError(f"{where} output: {shown(output)} is not one of xml, text")
        params = check_records(params, f"{where} params", "params=[Arg('topic')]", Arg, "an Arg")
        for arg in params:
            if arg.flag[2:] in RESERVED_FLAGS:
                raise ValueError(f"{where}: {arg.flag} is a flag of every step script, choose another name")
        for at, step in enumerate(steps, 1):
            if not isinstance(step, StepDef):
                unpack = "; unpack it with *" if isinstance(step, (list, tuple)) else ""
                raise TypeError(f"{where}: argument {at} after the name is {shown(step)}, not a StepDef{unpack}")
            if step.automatic and params:
                from skills.lib.model import step_checks  # few steps are

                step_checks.check_automatic_params(step.id, params, where)
            asks_at_once = isinstance(step.handler, Person) and not step.asks_later
            if asks_at_once and any(arg.step == step.id for arg in params):
                raise ValueError(
                    f"{where}: {step.id} asks a person as it is entered, and nothing is reported there; "
                    "give it a Field in requires, or take the parameter from another step"
                )
        self._set(
            name=check_text(name, "workflow name"),
            steps=steps,
            title=check_text(title, f"{where} title"),
            description=check_text(description, f"{where} description"),
            params=params,
            start=check_text(start, f"{where} start") if start is not None else (steps[0].id if steps else ""),
            output=output,
            closing=check_text(closing, f"{where} closing"),
            tools=_check_tools(check_texts(tools, f"{where} tools"), where),
            forbidden=check_texts(forbidden, f"{where} forbidden"),
            reverify=check_optional_text(reverify, f"{where} reverify"),
            always=check_records(
                always or (),
                f"{where} always",
                "always=[Passes('review')]",
                (Before, Passes, NeverEndsFailed),
                "a Before, a Passes or a NeverEndsFailed",
            ),
            unchecked=check_text(unchecked, f"{where} unchecked"),
            policy=_check_policy(check_text(policy, f"{where} policy"), where),
            ends=_ends(ends, f"{where} ends"),
            layers=tuple(layers),
            _by_id={step.id: step for step in reversed(steps)},
            _fingerprint="",
        )

    def step(self, step_id: str) -> StepDef:
        """The step of that id; UsageError names the valid ones."""
        try:
            return self._by_id[step_id]
        except KeyError:
            raise UsageError(
                f"{self.name} has no step {step_id!r}", valid=", ".join(step.id for step in self.steps)
            ) from None

    def has(self, step_id: object) -> bool:
        """True if a step has that id."""
        return step_id in self._by_id

    def ends_failed(self, outcome: Outcome, is_child: bool = False) -> bool:
        """True if a run that comes to its end by this outcome has failed.

        A sub-agent's run has failed if its last word is none of the five, and ``ends`` does not say what it means.
        """
        if outcome in self.ends:
            return self.ends[outcome] is QRStatus.FAIL
        return outcome is Outcome.FAIL or (is_child and outcome.is_own)

    def number(self, step_id: str) -> int:
        """The position of a step, 1 to n."""
        return next(at for at, step in enumerate(self.steps, 1) if step.id == step_id)

    def tools_of(self, step: StepDef) -> tuple[str, ...]:
        """What the agent may use in a step; none named is all."""
        tools = tuple(step.tools or self.tools)
        if self.layers:
            from skills.lib.model import layers  # few runs have them

            return layers.narrowed(tools, self.layers)
        return tools

    def forbidden_in(self, step: StepDef) -> tuple[str, ...]:
        """What is to be left alone in a step: its own rules, then those of every step and of layers; each once."""
        layered = [rule for layer in self.layers for rule in layer.forbidden]
        return tuple(dict.fromkeys([*step.forbidden, *self.forbidden, *layered]))

    def run_params(self) -> tuple[Arg, ...]:
        """The parameters fixed when a run opens."""
        return tuple(arg for arg in self.params if arg.step is None)

    def step_params(self, step_id: str) -> tuple[Arg, ...]:
        """The parameters reported on leaving that step."""
        return tuple(arg for arg in self.params if arg.step == step_id)

    def to_data(self) -> dict[str, Any]:
        """The workflow as plain JSON data; callables stand as ``module:name``."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "start": self.start,
            "output": self.output,
            **{name: list(rule) for name, rule in (("tools", self.tools), ("forbidden", self.forbidden)) if rule},
            **{name: getattr(self, name) for name in _OPTIONAL if getattr(self, name)},
            **{
                name: [plain(one) for one in getattr(self, name)]
                for name in ("always", "layers")
                if getattr(self, name)
            },
            **({"ends": plain(self.ends)} if self.ends else {}),
            "params": [plain(arg) for arg in self.params],
            "steps": [plain_fields(step) for step in self.steps],
        }

    @classmethod
    def from_data(
        cls, data: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]] = EMPTY, commands: bool = False
    ) -> Workflow:
        """Build a workflow from ``to_data``'s form, which anybody may have written, and validate it.

        Nothing that the data names is imported: a function is taken from ``functions``, by its name in the data. A
        step that runs a Command is refused unless ``commands``, and so is a text that no block can hold. Raises
        SkillError, which names the step, and InvalidWorkflow with every finding.
        """
        from skills.lib.model import foreign_data  # no step reads anybody's data

        workflow = cls.restored(data, foreign_data.one_of(functions))
        foreign_data.check(workflow, commands)
        return workflow

    @classmethod
    def restored(cls, data: Mapping[str, Any], resolve: Callable[[str], Callable[..., Any]]) -> Workflow:
        """The workflow whose ``to_data`` this is, not validated; ``resolve`` turns the name of a function into it.

        Raises SkillError for data of another form.
        """
        from skills.lib.model import from_data  # no step reads data

        workflow: Workflow = from_data.restored(data, resolve, cls, StepDef)
        return workflow

    @property
    def fingerprint(self) -> str:
        """32 hex digits over the canonical form: the same graph and texts have the same fingerprint anywhere."""
        if not self._fingerprint:
            self._set(_fingerprint=digest(self.to_data()))
        return self._fingerprint


_OPTIONAL = ("closing", "reverify", "unchecked", "policy")


class Registered(Record):
    """A registered workflow and the file that registered it."""

    workflow: Workflow
    file: str


REGISTRY: dict[str, Registered] = {}


def _routes(value: Any, where: str) -> dict[Outcome, str | None]:
    example = shown(value) if isinstance(value, str) else "'the-id-of-a-step'"
    return _by_outcome(value, where, f"{{Outcome.OK: {example}}}: next maps outcomes to step ids", _target)


def _target(value: object, where: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"{where}: {shown(value)} is not a step id, and not None for the end")


def _ends(value: Any, where: str) -> dict[Outcome, QRStatus]:
    found = _by_outcome(value, where, "ends={'not-needed': 'pass'}", lambda one, what: coerce(QRStatus, one, what))
    for word in found:
        if not word.is_own:
            raise ValueError(f"{where}: {word} has its own meaning at the end, which ends cannot change")
    return found


def _by_outcome(value: Any, where: str, example: str, check: Callable[[object, str], Any]) -> dict[Outcome, Any]:
    """The entries of a mapping by outcome; TypeError or ValueError for other keys or values."""
    if value is None:
        return {}
    given = check_mapping(value, where, example)
    found = {coerce(Outcome, key, where): check(entry, where) for key, entry in given.items()}
    if len(found) < len(given):
        raise ValueError(f"{where}: one outcome stands twice among {', '.join(map(shown, given))}")
    return found


def _outcomes(value: Sequence[Outcome | str], where: str) -> tuple[Outcome, ...]:
    given = (value,) if isinstance(value, str) else check_list(value, where, "a list of outcomes")
    return tuple(coerce(Outcome, outcome, where) for outcome in given)


def _requirements(value: Any, where: str, handler: object) -> tuple[Requirement, ...]:
    """The requirements of a step; ValueError for a Field of a name under which the engine itself records something."""
    what, example = f"{where} requires", f"requires=[{type(value).__name__}(…)]"
    kinds = (Field, Artifact, Command)
    requires = check_records(value, what, example, kinds, "a Field, an Artifact or a Command")
    own: tuple[str, ...] = ("results",) if isinstance(handler, Dispatch) else ()
    if isinstance(handler, (Person, Gate)):
        own = ("answer", "answered_by", "reason")
    if any(isinstance(spec, Field) and spec.type == "answers" for spec in requires):
        own += ("items",)
    for spec in requires:
        name = spec.name if isinstance(spec, Field) else spec.records if isinstance(spec, Command) else ""
        if name in own:
            raise ValueError(f"{where} requires: the engine records {name!r} of this step, choose another name")
    return requires


def _check_policy(name: str, where: str) -> str:
    if name:
        from skills.lib.model import step_checks  # few workflows have one

        step_checks.check_policy(name, where)
    return name


def _check_tools(tools: Sequence[str], where: str) -> tuple[str, ...]:
    for tool in tools:
        if tool not in TOOLS:
            from skills.lib.model import step_checks  # few are named by more than a word

            step_checks.check_tool(tool, TOOLS, where)
    return tuple(tools)

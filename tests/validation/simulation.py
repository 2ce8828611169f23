"""An independent judge of workflows: it walks every path of the graph, and knows nothing of the rules.

What it finds are harms: a run that stops, goes round for ever, reads what is not there, waits for evidence that nobody
can give, passes a gate without a verdict of its own, or asks for what nobody uses.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jsonschema

from skills.lib.engine import inputs
from skills.lib.engine.decision import Refused
from skills.lib.model import values
from skills.lib.model.rules import Rules
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.requirements import Arg, Artifact, Command, Field
from skills.lib.workflow.types import AgentRole, Dispatch, Gate, Outcome, Person

END = None
BRACES = re.compile(r"(?<!\$)\{([A-Za-z]\w*(?:[.-]\w+)*)\}")
QUOTED = re.compile(r"`([A-Za-z][\w-]*)\.([A-Za-z]\w*)`")
WRITING = ("edit", "write", "shell")
RESERVED = ("next", "done", "current", "end", "none", "null")
States = dict[str, list[tuple[frozenset[str], dict[str, str]]]]


@dataclass(frozen=True)
class Harm:
    """What goes wrong; ``steps`` are those at which a finding is right, or the name of the workflow itself."""

    kind: str
    detail: str
    steps: frozenset[str] = field(compare=False)


@dataclass(frozen=True)
class World:
    """What surrounds a workflow: as it was meant, its file, and the workflows of the skill by the file of each."""

    original: Workflow
    file: str
    family: Mapping[str, Workflow]


def harms(workflow: Workflow, world: World) -> set[Harm]:
    """Everything that goes wrong with a workflow."""
    return set(_Judge(workflow, world).all())


@cache
def source_of(function: Any) -> str:
    """The text of a function and of those of its module that it calls; of rules, their data with names in quotes."""
    if isinstance(function, Rules):
        return repr(function.fields()).replace("'", '"')
    text = inspect.getsource(function)
    module = sys.modules[function.__module__]
    for _ in range(2):
        for name in dict.fromkeys(re.findall(r"\b(\w+)\(", text)):
            called = getattr(module, name, None)
            if inspect.isfunction(called) and called.__module__ == function.__module__:
                body = inspect.getsource(called)
                if body not in text:
                    text += body
    return text


class _Judge:
    def __init__(self, workflow: Workflow, world: World) -> None:
        self.workflow, self.world = workflow, world
        self.steps = {step.id: step for step in reversed(workflow.steps)}
        self.run_params = {arg.name: arg for arg in workflow.params if arg.step is None}

    def all(self) -> Iterator[Harm]:
        yield from self.names()
        if self.workflow.start not in self.steps:
            yield self.harm("no start", self.workflow.start, "")
            return
        states, walked = self.walk()
        yield from walked
        yield from self.endings(set(states))
        yield from self.endless(set(states))
        yield from self.params()
        for step_id in states:
            step = self.steps[step_id]
            yield from self.reading(step, states[step_id])
            yield from self.leaving(step)
            yield from self.evidence(step, states[step_id])
            yield from self.texts(step)
            if isinstance(step.handler, Dispatch):
                yield from self.dispatching(step, step.handler)
        yield from self.unread()

    def harm(self, kind: str, detail: object, *steps: str) -> Harm:
        places = (step if ":" in step else f"{self.workflow.name}:{step}".rstrip(":") for step in steps)
        return Harm(kind, f"{self.workflow.name} {detail}", frozenset(places))

    # -- names

    def names(self) -> Iterator[Harm]:
        ids = [step.id for step in self.workflow.steps]
        for step_id in set(ids):
            if ids.count(step_id) > 1:
                yield self.harm("two steps of one id", step_id, step_id)
            if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,63}", step_id) or step_id.lower() in RESERVED:
                yield self.harm("an id that commands cannot name", step_id, step_id)
            alike = [other for other in ids if other != step_id and other.lower() == step_id.lower()]
            if alike:
                yield self.harm("ids that differ in case", sorted([step_id, *alike]), step_id, *alike)

    def params(self) -> Iterator[Harm]:
        seen: dict[tuple[str | None, str], int] = defaultdict(int)
        for arg in self.workflow.params:
            where = arg.step if arg.step in self.steps else ""
            if arg.step is not None and arg.step not in self.steps:
                yield self.harm("a parameter that nobody asks for", arg.name, "")
            seen[arg.step, arg.name] += 1
            yield from self.spec(arg, where or "")
        for (step_id, name), count in seen.items():
            fields = [spec.name for spec in self.fields(step_id)] if step_id else []
            if count > 1 or name in fields or (step_id and name in self.run_params):
                yield self.harm("one name for two values", name, step_id or "")
        closing = set(BRACES.findall(self.workflow.closing))
        for name in closing - set(self.run_params):
            yield self.harm("a name in closing that nothing fills", name, "")

    def fields(self, step_id: str | None) -> list[Field]:
        step = self.steps.get(step_id or "")
        return [spec for spec in step.requires if isinstance(spec, Field)] if step else []

    def step_args(self, step_id: str) -> list[Arg]:
        return [arg for arg in self.workflow.params if arg.step == step_id]

    # -- the graph

    def meant(self, step: StepDef) -> StepDef | None:
        """The step as its author meant it: of the same id, or of the same function."""
        for other in self.world.original.steps:
            if other.id == step.id:
                return other
        return next((one for one in self.world.original.steps if one.function and one.function is step.function), None)

    def outcomes(self, step: StepDef) -> set[Outcome]:
        """How the step can end, whether or not it has routes for that."""
        handler, meant = step.handler, self.meant(step)
        if isinstance(handler, Gate):
            return {Outcome.OK, Outcome.FAIL}
        if isinstance(handler, Person):
            return set(handler.choices.values()) or {Outcome.OK}
        if step.function:
            given = set(meant.next if meant else step.next)
            if Outcome.ITERATE in given and step.max_iterations:
                given.add(step.at_limit)
            if step.max_iterations == 1:
                given.discard(Outcome.ITERATE)
            return given
        if isinstance(handler, Dispatch):
            given = {Outcome.OK} | ({Outcome.FAIL} & set(step.next))
            return given | ({Outcome.SKIP} if self.may_be_empty(step, handler) else set())
        if Outcome.ITERATE in step.next and step.max_iterations:
            return {*step.next, step.at_limit}
        return set(step.next)

    def may_be_empty(self, step: StepDef, dispatch: Dispatch) -> bool:
        """Whether the step may come to have nothing to hand out, and was meant to be skipped then."""
        meant = self.meant(step)
        if isinstance(dispatch.targets, str) and dispatch.targets:
            spec = self.declared(dispatch.targets)
            if spec is not None and spec.minimum:
                return False
        dynamic = bool(dispatch.targets) and not isinstance(dispatch.targets, tuple)
        return dynamic and Outcome.SKIP in (meant or step).next

    def targets(self, step: StepDef) -> dict[Outcome, str | None]:
        """Where each outcome that can be given leads, as far as it leads to a step or the end."""
        found = {}
        for outcome in self.outcomes(step):
            route = step.route(outcome)
            if route is not None and (route[0] is END or route[0] in self.steps):
                found[outcome] = route[0]
        return found

    def walk(self) -> tuple[States, set[Harm]]:
        """Every step with what may have been left, and which verdicts stand, when it is entered."""
        found: set[Harm] = set()
        states: States = defaultdict(list)
        seen = set()
        stack: list[tuple[str, frozenset[str], tuple[tuple[str, str], ...]]] = [(self.workflow.start, frozenset(), ())]
        while stack:
            here = stack.pop()
            if here in seen:
                continue
            seen.add(here)
            step_id, left, verdicts = here[0], here[1], dict(here[2])
            states[step_id].append((left, verdicts))
            step = self.steps[step_id]
            for outcome, target in self.targets(step).items():
                after = self.verdicts_after(step, outcome, verdicts, found)
                if after is None:
                    continue
                if target is END:
                    failed = [
                        name for name, verdict in after.items() if verdict in ("failed", "failed, then worked on")
                    ]
                    for name in [name for name, verdict in after.items() if verdict in ("fresh", "stale")]:
                        made = [one.id for one in self.workflow.steps if one.checkpoint == name]
                        found.add(self.harm("the end with a verdict that no gate has read", name, step_id, *made))
                    if failed:
                        gates = [one.id for one in self.workflow.steps if one.gate and one.gate.checkpoint in failed]
                        found.add(self.harm("the end after a failed review", sorted(failed), step_id, *gates))
                else:
                    stack.append((target, left | {step_id}, tuple(sorted(after.items()))))
        return states, found

    def verdicts_after(
        self, step: StepDef, outcome: Outcome, verdicts: dict[str, str], found: set[Harm]
    ) -> dict[str, str] | None:
        """The verdicts once the step is left by that outcome; None if the gate lets nothing pass."""
        after = dict(verdicts)
        if step.checkpoint and outcome is not Outcome.SKIP:
            if after.get(step.checkpoint) == "failed":
                gates = [one.id for one in self.workflow.steps if one.gate and one.gate.checkpoint == step.checkpoint]
                found.add(
                    self.harm("a review of work that nobody has touched since it failed", step.id, step.id, *gates)
                )
            after[step.checkpoint] = "fresh"
        elif self.changes(step):
            worked_on = {"fresh": "stale", "failed": "failed, then worked on"}
            after = {name: worked_on.get(verdict, verdict) for name, verdict in after.items()}
        gate = step.gate
        if not gate:
            return after
        verdict = after.get(gate.checkpoint, "none")
        near = [one.id for one in self.workflow.steps if one.checkpoint == gate.checkpoint]
        if verdict != "fresh":
            between = [one.id for one in self.workflow.steps if verdict == "stale" and self.changes(one)]
            found.add(self.harm(f"a gate with a verdict that is {verdict}", step.id, step.id, *near, *between))
        if verdict == "none":
            return None
        after[gate.checkpoint] = "failed" if outcome is Outcome.FAIL else "used"
        return after

    def changes(self, step: StepDef) -> bool:
        """Whether the work that is reviewed can be changed at the step."""
        if isinstance(step.handler, Dispatch):
            return not step.checkpoint and step.handler.agent not in (AgentRole.EXPLORE, AgentRole.QUALITY_REVIEWER)
        tools = self.workflow.tools_of(step)
        may = not tools or any(tool.startswith(WRITING) for tool in tools)
        return may and not isinstance(step.handler, (Gate, Person)) and bool("".join(step.actions).strip())

    def endings(self, reached: set[str]) -> Iterator[Harm]:
        """Steps that no run comes to, and those from which none comes to the end."""
        lost = [step.id for step in self.workflow.steps if step.id not in reached]
        for step_id in lost:
            led = [one.id for one in self.world.original.steps if step_id in one.next.values()]
            yield self.harm("a step that no run comes to", step_id, *lost, *led)
        before: dict[str | None, set[str]] = defaultdict(set)
        for step_id in reached:
            for target in self.targets(self.steps[step_id]).values():
                before[target].add(step_id)
        ending: set[str] = set()
        stack = list(before[END])
        while stack:
            step_id = stack.pop()
            if step_id not in ending:
                ending.add(step_id)
                stack.extend(before[step_id])
        doomed = reached - ending
        if doomed:
            yield self.harm("no way to the end", sorted(doomed), *doomed, "")

    def endless(self, reached: set[str]) -> Iterator[Harm]:
        """Loops that neither a limit, a gate nor a person ends."""
        free: dict[str, set[str]] = defaultdict(set)
        for step_id in reached:
            step = self.steps[step_id]
            if step.gate or isinstance(step.handler, (Gate, Person)):
                continue
            for outcome, target in self.targets(step).items():
                limited = outcome in (Outcome.ITERATE, Outcome.FAIL) and (step.max_iterations or 0) > 0
                if target is not END and not limited:
                    free[step_id].add(target)
        for step_id in sorted(reached):
            round_ = self.around(step_id, free)
            if round_:
                yield self.harm("a loop that nothing ends", sorted(round_), *round_)

    def around(self, origin: str, free: Mapping[str, set[str]]) -> set[str]:
        """The steps that lead to a step and to which it leads, if it leads to itself."""
        ahead, stack = set(), list(free.get(origin, ()))
        while stack:
            step_id = stack.pop()
            if step_id not in ahead:
                ahead.add(step_id)
                stack.extend(free.get(step_id, ()))
        if origin not in ahead:
            return set()
        return {origin} | {one for one in ahead if origin in self._ahead(one, free)}

    def _ahead(self, origin: str, free: Mapping[str, set[str]]) -> set[str]:
        ahead, stack = set(), list(free.get(origin, ()))
        while stack:
            step_id = stack.pop()
            if step_id not in ahead:
                ahead.add(step_id)
                stack.extend(free.get(step_id, ()))
        return ahead

    # -- values

    def declared(self, key: str) -> Arg | Field | None:
        source, dot, name = key.rpartition(".")
        if not dot:
            return self.run_params.get(name)
        return next((spec for spec in self.asked(source) if spec.name == name), None)

    def asked(self, step_id: str) -> list[Arg | Field]:
        return [*self.fields(step_id), *self.step_args(step_id)]

    def recorded(self, step_id: str) -> set[str]:
        """What leaving a step records, but for what its function adds."""
        step = self.steps[step_id]
        names = {spec.name for spec in self.asked(step_id)}
        if isinstance(step.handler, Dispatch):
            names |= {"results", "answer", "answered_by", "reason"}
        if isinstance(step.handler, (Person, Gate)):
            names |= {"answer", "answered_by", "reason"}
        return names

    def records(self, step_id: str, name: str) -> bool:
        step = self.steps.get(step_id)
        if step is None:
            return False
        return name in self.recorded(step_id) or (bool(step.function) and f'"{name}":' in source_of(step.function))

    def reads(self, step: StepDef) -> Iterator[tuple[str, str]]:
        """What a step reads, and whether as it is entered or left."""
        handler = step.handler
        yield from ((key, "entering") for key in step.needs)
        for spec in step.requires:
            texts = (spec.path,) if isinstance(spec, Artifact) else spec.argv if isinstance(spec, Command) else ()
            yield from ((key, "leaving") for key in _named(texts))
        if isinstance(handler, Dispatch):
            texts = (handler.task, *handler.tasks, handler.context, *handler.params.values())
            yield from ((key, "entering") for key in _named(texts))
            if isinstance(handler.targets, str) and handler.targets:
                yield handler.targets, "entering"
        if isinstance(handler, Person):
            yield from ((key, "leaving" if step.asks_later else "entering") for key in _named((handler.question,)))

    def calls(self, step: StepDef) -> Iterator[tuple[str, str]]:
        """What the functions of a step read by subscript."""
        functions: list[tuple[Any, str]] = [(step.function, "leaving")]
        if isinstance(step.handler, Dispatch) and callable(step.handler.targets):
            functions.append((step.handler.targets, "entering"))
        for function, moment in functions:
            if not function:
                continue
            text = source_of(function)
            for source, name in re.findall(r'run_state\["([\w-]+)"\]\["(\w+)"\]', text):
                yield f"{source}.{name}", moment
            for name in re.findall(r'step_state\["(\w+)"\]', text):
                yield f"{step.id}.{name}", moment
            for name in re.findall(r'workflow_params\["(\w+)"\]', text):
                yield name, moment
            if re.search(r"\bstate\b.* = .*step_state", text):  # the state under another name
                for name in re.findall(r"\bstate\[[\"'](\w+)[\"']\]", text):
                    yield f"{step.id}.{name}", moment

    def reading(self, step: StepDef, entered: list[tuple[frozenset[str], dict[str, str]]]) -> Iterator[Harm]:
        for key, moment in (*self.reads(step), *self.calls(step)):
            if key == "target" and isinstance(step.handler, Dispatch):
                if not step.handler.targets:
                    yield self.harm("a value that is not there", f"{step.id} {key}", step.id)
                continue
            source, dot, name = key.rpartition(".")
            if not dot:
                late = moment == "leaving" and name in self.recorded(step.id)
                if name not in self.run_params and not late:
                    yield self.harm("a value that is not there", f"{step.id} {key}", step.id)
                continue
            own = source == step.id and moment == "leaving"
            there = [own or source in left for left, _ in entered]
            if not self.records(source, name) or not any(there):
                yield self.harm("a value that is never there", f"{step.id} {key}", step.id)
            elif not all(there):
                yield self.harm("a value that is not there", f"{step.id} {key}", step.id)
            elif values.is_secret(name) and not own:
                yield self.harm("a value that is not kept", f"{step.id} {key}", step.id)

    def unread(self) -> Iterator[Harm]:
        """What is asked for and used by nobody."""
        keys, text = set(), ""
        for step in self.workflow.steps:
            keys |= {key for key, _ in self.reads(step)} | {f"{step.id}.{key}" for key, _ in self.reads(step)}
            functions = [step.function, getattr(step.handler, "targets", None)]
            text += "".join(source_of(one) for one in functions if callable(one))
        keys |= set(BRACES.findall(self.workflow.closing))
        read = set(re.findall(r'"(\w+)"(?!\w*:)', text))
        for step in self.workflow.steps:
            if END in step.next.values():
                continue
            names = [spec.name for spec in self.fields(step.id) if spec.type != "items"]
            names += [arg.name for arg in self.step_args(step.id)]
            for name in names:
                if f"{step.id}.{name}" not in keys and name not in read:
                    readers = [one.id for one in self.world.original.steps if f"{step.id}.{name}" in one.needs]
                    yield self.harm("a value that nobody uses", f"{step.id}.{name}", step.id, *readers)
        for name in self.run_params:
            if name not in keys and name not in read:
                yield self.harm("a value that nobody uses", name, self.workflow.start, "")

    # -- leaving a step

    def leaving(self, step: StepDef) -> Iterator[Harm]:
        given = self.outcomes(step)
        if not step.next:
            yield self.harm("a step without a way out", step.id, step.id)
        for outcome in given if step.next else ():
            route = step.route(outcome)
            if route is None:
                yield self.harm("an outcome that leads nowhere", f"{step.id} {outcome}", step.id)
        for outcome, target in step.next.items():
            if target is not END and target not in self.steps:
                yield self.harm("a route to no step", f"{step.id} {outcome} {target}", step.id)
            if outcome is not Outcome.DEFAULT and outcome not in given:
                gates = [one.id for one in self.workflow.steps if one.gate and one.gate.checkpoint == step.checkpoint]
                yield self.harm("a route that no run takes", f"{step.id} {outcome}", step.id, *gates)
        limit = step.max_iterations
        if limit is not None and limit < 1:
            yield self.harm("a limit that is none", step.id, step.id)
        elif limit is not None and {Outcome.ITERATE, Outcome.FAIL} & (given | set(step.next)):
            if step.at_limit is Outcome.ITERATE or step.route(step.at_limit) is None:
                yield self.harm("a limit that leads nowhere", step.id, step.id)
        elif limit is not None and step.route(Outcome.ITERATE) is None:
            yield self.harm("a limit of nothing", step.id, step.id)
        if isinstance(step.handler, Person):
            for choice in step.handler.choices:
                if not choice.strip() or choice.startswith("FILL_"):
                    yield self.harm("an answer that cannot be given", f"{step.id} {choice}", step.id)

    # -- evidence

    def evidence(self, step: StepDef, entered: list[tuple[frozenset[str], dict[str, str]]]) -> Iterator[Harm]:
        tools = self.workflow.tools_of(step)
        can_write = not tools or any(tool.startswith(WRITING) for tool in tools) or isinstance(step.handler, Dispatch)
        names = [spec.name for spec in self.fields(step.id)]
        for name in set(names):
            if names.count(name) > 1:
                yield self.harm("one name for two values", f"{step.id} {name}", step.id)
        for spec in step.requires:
            if isinstance(spec, Field):
                yield from self.spec(spec, step.id)
            elif isinstance(spec, Artifact):
                if not can_write:
                    yield self.harm("a file that nobody may write", f"{step.id} {spec.path}", step.id)
                if os.path.isabs(spec.path) or os.path.normpath(spec.path).startswith(".."):
                    yield self.harm("a file outside of the project", f"{step.id} {spec.path}", step.id)
                if spec.schema is not None and not _is_schema(spec.schema):
                    yield self.harm("a schema that is none", f"{step.id} {spec.path}", step.id)
            else:
                can_write = True
                program = spec.argv[0]
                beside = os.path.join(os.path.dirname(self.world.file), program)
                if program.endswith(".py") and os.sep not in program and not os.path.isfile(beside):
                    yield self.harm("a command that is not there", f"{step.id} {program}", step.id)
                if program in ("true", ":", "echo"):
                    yield self.harm("a command that proves nothing", f"{step.id} {spec.argv}", step.id)

    def spec(self, spec: Arg | Field, step_id: str) -> Iterator[Harm]:
        if spec.minimum is not None and spec.maximum is not None and spec.minimum > spec.maximum:
            yield self.harm("a range of nothing", f"{step_id} {spec.name}", step_id)
            return
        for choice in spec.choices:
            given = choice if spec.type != "list" else f'["{choice}"]'
            try:
                values.read(spec, given)
            except ValueError:
                yield self.harm("a choice that is refused", f"{step_id} {spec.name}", step_id)
        if len(set(spec.choices)) < len(spec.choices):
            yield self.harm("a choice that stands twice", f"{step_id} {spec.name}", step_id)

    # -- texts

    def texts(self, step: StepDef) -> Iterator[Harm]:
        if not step.title.strip():
            yield self.harm("no title", step.id, step.id)
        alike = [other.id for other in self.workflow.steps if other.title == step.title]
        if len(alike) > 1:
            yield self.harm("one title for two steps", step.title, *alike)
        if not isinstance(step.handler, (Dispatch, Gate, Person)) and not "".join(step.actions).strip():
            yield self.harm("nothing to do", step.id, step.id)
        if sum(map(len, step.actions)) > 10_000:
            yield self.harm("a block that hosts cut", step.id, step.id)
        if step.handler is None and not step.gate and len(step.next) > 1:
            for outcome in step.next:
                if not step.when.get(outcome, "").strip():
                    yield self.harm("an outcome without words", f"{step.id} {outcome}", step.id)
        for outcome in step.when:
            if outcome not in step.next and step.next:
                yield self.harm("words without an outcome", f"{step.id} {outcome}", step.id)
        for source, name in QUOTED.findall("\n".join((*step.actions, *step.repeat))):
            if source in self.steps and not self.records(source, name) and name not in ("md", "json", "py", "txt"):
                yield self.harm("a name that is nothing", f"{step.id} {source}.{name}", step.id)
        shown = step.needs or any(one.gate and one.next.get(Outcome.FAIL) == step.id for one in self.workflow.steps)
        items = any(spec.type == "items" for one in self.workflow.steps for spec in self.fields(one.id))
        if re.search(r"\bCONTEXT\b", "\n".join((*step.actions, *step.repeat))) and not shown and not items:
            yield self.harm("words about what is not shown", step.id, step.id)

    # -- sub-agents

    def dispatching(self, step: StepDef, dispatch: Dispatch) -> Iterator[Harm]:
        tools = self.workflow.tools_of(step)
        if tools and "agent" not in tools:
            yield self.harm("sub-agents that nobody may start", step.id, step.id)
        least = len(dispatch.tasks)
        if isinstance(dispatch.targets, tuple):
            least = max(least, len(dispatch.targets))
        elif isinstance(dispatch.targets, str) and dispatch.targets:
            spec = self.declared(dispatch.targets)
            least = int((spec.minimum if spec and spec.required else None) or 0)
            if spec is not None and spec.type in ("text", "int", "float", "bool"):
                yield self.harm("sub-agents for what is no list", step.id, step.id)
        if least > dispatch.cap:
            yield self.harm("more sub-agents than may be started", step.id, step.id)
        meant = self.meant(step)
        dynamic = callable(dispatch.targets) and meant is not None and Outcome.SKIP in meant.next
        if dynamic and Outcome.SKIP not in step.next:
            yield self.harm("nothing to hand out, and no way on", step.id, step.id)
        if not dispatch.script:
            if dispatch.params:
                yield self.harm("parameters that nobody takes", step.id, step.id)
            return
        path = os.path.normpath(os.path.join(os.path.dirname(self.world.file), dispatch.script))
        if not os.path.isfile(path):
            yield self.harm("a script that is not there", f"{step.id} {dispatch.script}", step.id)
            return
        child = self.world.family.get(path.removesuffix(".py") + "_workflow.py")
        if child is None:
            return
        for given in self.samples(step, dispatch, child):
            try:
                inputs.parameters(child.run_params(), given)
            except Refused as refused:
                why = re.sub(r"\W+", " ", refused.why)[:60]
                yield self.harm("sub-agents that never begin", f"{step.id} {why}", step.id)
        for one in child.steps:
            if isinstance(one.handler, Dispatch):
                yield self.harm("sub-agents of sub-agents", one.id, f"{child.name}:{one.id}", step.id)

    def samples(self, step: StepDef, dispatch: Dispatch, child: Workflow) -> Iterator[dict[str, str]]:
        """Parameters that the sub-agents may be given: each value that a placeholder can stand for, once."""
        dynamic = bool(dispatch.targets) and not isinstance(dispatch.targets, tuple)
        plain = {
            name: self.filled(step, template, self.fitting(template, child, name, dynamic))
            for name, template in dispatch.params.items()
        }
        yield {name: text for name, text in plain.items() if text.strip()}
        for name, template in dispatch.params.items():
            for key in _named((template,)):
                if key != "target" and self.declared(key) is None:
                    continue  # what a function records may be anything
                written = dispatch.targets if isinstance(dispatch.targets, tuple) else ()
                for sample in _samples(self.declared(key)) if key != "target" else written:
                    text = self.filled(step, template, {key: sample})
                    given = {**plain, name: text}
                    yield {one: text for one, text in given.items() if text.strip()}

    def fitting(self, template: str, child: Workflow, name: str, dynamic: bool) -> dict[str, str]:
        """Values that the parameter accepts, for names of which nothing is known: a function makes them."""
        spec = next((arg for arg in child.run_params() if arg.name == name), None)
        unknown = [key for key in _named((template,)) if (dynamic if key == "target" else self.declared(key) is None)]
        return dict.fromkeys(unknown, _samples(spec)[0])

    def filled(self, step: StepDef, template: str, told: Mapping[str, str]) -> str:
        assert isinstance(step.handler, Dispatch)
        targets = step.handler.targets

        def value(found: re.Match[str]) -> str:
            key = found[1]
            if key in told:
                return told[key]
            if key == "target":
                return targets[0] if isinstance(targets, tuple) and targets else "x"
            return next(iter(_samples(self.declared(key))))

        return BRACES.sub(value, template)


def _named(texts: Iterable[str]) -> list[str]:
    return [name for text in texts for name in BRACES.findall(text)]


def _samples(spec: Arg | Field | None) -> list[str]:
    """Values that a specification admits, as they are put into a text; the empty one if it may be left out."""
    if spec is None:
        return ["x"]
    least = int(spec.minimum or 1)
    if spec.choices:
        found = list(spec.choices)
    elif spec.type == "list":
        found = ["[" + ", ".join(['"x"'] * least) + "]"]
    elif spec.type in ("int", "float"):
        found = [str(bound) for bound in (spec.minimum, spec.maximum) if bound is not None] or ["1"]
    else:
        found = {"bool": ["true", "false"], "json": ["{}"], "items": ["[]"]}.get(spec.type, ["x" * least])
    missing = not spec.required and (isinstance(spec, Field) or not str(spec.default or "").strip())
    return [*found, ""] if missing else found


def _is_schema(schema: Mapping[str, Any]) -> bool:
    try:
        jsonschema.Draft202012Validator.check_schema(dict(schema))
    except jsonschema.SchemaError:
        return False
    return True

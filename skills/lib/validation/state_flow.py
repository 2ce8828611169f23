"""The values that steps and runs write and read, and if each is written before it is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from skills.lib.errors import nearest
from skills.lib.model.requirements import Artifact, Command, Field
from skills.lib.model.steps import StepDef
from skills.lib.model.types import Dispatch, Gate, Person

if TYPE_CHECKING:
    from skills.lib.validation.graph import Graph
    from skills.lib.validation.handlers import Handlers

# A variable of a shell, ${NAME}, is none.
PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Za-z]\w*(?:[.-]\w+)*)\}", re.ASCII)
# What the engine itself keeps for a step, by what decides how the step ends.
_ANSWERED = frozenset(("answer", "answered_by", "reason"))
_KEPT: dict[type, frozenset[str]] = {
    Dispatch: frozenset(("results",)) | _ANSWERED,
    Person: _ANSWERED,
    Gate: _ANSWERED,
}
TARGETS = "targets of its Dispatch"
TEXTS = "the texts of its Dispatch"
_PARAMS = "params of its Dispatch"
Moment = Literal["entering", "leaving"]


@dataclass(frozen=True, slots=True)
class Read:
    """One read of ``key`` by a step: ``source`` names in words the part that reads it, ``moment`` when.

    ``params_only`` looks among parameters alone. A read of a handler has the ``file`` and ``line`` of its source, one
    of a requirement its place among them as ``part``.
    """

    step: int
    key: str
    source: str
    moment: Moment
    params_only: bool = False
    file: str | None = None
    line: int | None = None
    part: int | None = None


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A read of a value that no path has written, the reason, and the name that was probably meant."""

    read: Read
    why: str
    near: str


class StateFlow:
    """Answers for the values of a workflow; with the sources of its ``handlers`` also for what these write."""

    def __init__(self, graph: Graph, handlers: Handlers | None = None) -> None:
        self.graph = graph
        self.handlers = handlers
        workflow = graph.workflow
        self.run_params = {arg.name for arg in workflow.run_params()}
        self.step_params: dict[str, set[str]] = {}
        for arg in workflow.params:
            if arg.step is not None:
                self.step_params.setdefault(arg.step, set()).add(arg.name)

    @cached_property
    def reads(self) -> list[Read]:
        """Every read that the data of the steps declares."""
        return [read for at, step in self.graph.distinct for read in _reads(at, step)]

    def unwritten(self, reads: Iterable[Read]) -> Iterator[Unwritten]:
        """The reads of values that no path to them writes."""
        pairs = []
        for read in reads:
            problem = self._unknown(read)
            if problem:
                yield problem
            elif (writer := self._writer(read)) is not None and not self._comes_before(writer, read):
                pairs.append((writer, read))
        leads = self.graph.leads_to(((writer, read.step) for writer, read in pairs))
        for writer, read in pairs:
            leads_there = (writer, read.step) in leads and writer in self.graph.reachable
            if read.step in self.graph.reachable and not leads_there:
                writes, reads_it = self.graph.name(writer), self.graph.name(read.step)
                yield Unwritten(read, f"no path leads from {writes}, which writes it, to {reads_it}", "")

    def missed(self, reads: Iterable[Read]) -> Iterator[tuple[Read, int]]:
        """The reads of values that some path has written and another has not, with the writer.

        A value that a loop brings back to a step which always comes before its writer, and is listed before it in
        the workflow, is meant to be missing at first.
        """
        pairs = []
        for read in reads:
            writer = None if self._unknown(read) else self._writer(read)
            if writer is None or self._comes_before(writer, read) or self._is_given_again(writer, read):
                continue
            if read.step <= writer and self.graph.passes(read.step, writer):
                continue
            pairs.append((writer, read))
        leads = self.graph.leads_to(((writer, read.step) for writer, read in pairs))
        for writer, read in pairs:
            if (writer, read.step) in leads and {writer, read.step} <= self.graph.reachable:
                yield read, writer

    def writes(self, at: int) -> frozenset[str] | None:
        """The names that leaving a step writes; None if a function may write any."""
        step = self.graph.steps[at]
        own: frozenset[str] | None = frozenset()
        if step.function:
            own = self.handlers.by_step[at].writes if self.handlers else None
        if own is None:
            return None
        return frozenset(
            set(step.records) | own | self.step_params.get(step.id, set()) | _KEPT.get(type(step.handler), frozenset())
        )

    def _is_given_again(self, writer: int, read: Read) -> bool:
        """True if the read is of statements, in place of which a reviewer that verifies again is given their items."""
        name = read.key.rpartition(".")[2]
        fields = (spec for spec in self.graph.steps[writer].requires if isinstance(spec, Field))
        return len(self.graph.starts) > 1 and any(spec.name == name and spec.type == "statements" for spec in fields)

    def _comes_before(self, writer: int, read: Read) -> bool:
        if writer == read.step:
            return read.moment == "leaving"
        return self.graph.passes(writer, read.step)

    def _writer(self, read: Read) -> int | None:
        """The step that writes the value when it is left; None for a value of the run or of the reading step itself."""
        source, dot, _ = read.key.rpartition(".")
        return self.graph.index[source] if dot else None

    def _unknown(self, read: Read) -> Unwritten | None:
        source, dot, name = read.key.rpartition(".")
        if read.source in (_PARAMS, TEXTS) and read.key == "target":
            handler = self.graph.steps[read.step].handler
            has_targets = isinstance(handler, Dispatch) and bool(handler.targets)
            return None if has_targets else Unwritten(read, "the Dispatch has no targets", "")
        if dot:
            return self._unknown_value(read, source, name)
        if read.source == TARGETS:
            return Unwritten(read, "a recorded list is named as step.field", "")
        step = self.graph.steps[read.step]
        known = set(self.run_params)
        if read.moment == "leaving":
            known |= self.step_params.get(step.id, set())
        if read.moment == "leaving" and not read.params_only:
            # A command knows the outputs of those before it.
            known |= {
                spec.name if isinstance(spec, Field) else spec.records
                for at, spec in enumerate(step.requires)
                if isinstance(spec, Field) or (isinstance(spec, Command) and (read.part is None or at < read.part))
            }
        if read.key in known:
            return None
        for step_id, names in self.step_params.items():
            if read.key in names:
                why = f"it is reported on leaving {step_id}, and kept with that step"
                return Unwritten(read, why, f"{step_id}.{read.key}")
        return Unwritten(read, "the workflow has no run parameter of that name", nearest(read.key, sorted(known)))

    def _unknown_value(self, read: Read, source: str, name: str) -> Unwritten | None:
        at = self.graph.index.get(source)
        if at is None:
            near = self.graph.nearest(source)
            return Unwritten(read, f"there is no step {source}", f"{near}.{name}" if near else "")
        written = self.writes(at)
        if written is None or name in written:
            return None
        near = nearest(name, sorted(written - _ANSWERED or written))
        return Unwritten(
            read, f"{source} writes {', '.join(sorted(written)) or 'nothing'}", f"{source}.{near}" if near else ""
        )


def _reads(at: int, step: StepDef) -> Iterator[Read]:
    for need in step.needs:
        yield Read(at, need, "needs", "entering")
    for part, spec in enumerate(step.requires):
        if isinstance(spec, Artifact):
            yield from _placeholders(at, (spec.path,), "the path of its Artifact", part=part)
        elif isinstance(spec, Command):
            yield from _placeholders(at, spec.argv, "its Command", part=part)
    if isinstance(step.handler, Dispatch):
        if isinstance(step.handler.targets, str) and step.handler.targets:
            yield Read(at, step.handler.targets, TARGETS, "entering")
        for check in step.handler.checks:
            if isinstance(check.over, str) and check.over not in ("", "{target}"):
                yield Read(at, check.over, TARGETS, "entering")
        yield from _placeholders(at, step.handler.covers, "covers of its Dispatch", "entering")
        yield from _placeholders(at, step.handler.params.values(), _PARAMS, "entering")
        texts = (step.handler.task, *step.handler.tasks, step.handler.context)
        yield from _placeholders(at, texts, TEXTS, "entering")
    elif isinstance(step.handler, Person):
        moment: Moment = "leaving" if step.asks_later else "entering"
        yield from _placeholders(at, (step.handler.question,), "the question of its Person", moment)


def _placeholders(
    at: int, texts: Iterable[str], source: str, moment: Moment = "leaving", part: int | None = None
) -> Iterator[Read]:
    return (Read(at, name, source, moment, part=part) for name in placeholders(texts))


def placeholders(texts: Iterable[str]) -> list[str]:
    """The names in braces, each once."""
    return list(dict.fromkeys(name for text in texts for name in PLACEHOLDER.findall(text)))

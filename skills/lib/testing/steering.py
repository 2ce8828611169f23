"""Finds what to report so that a step ends with the wanted outcome, by asking the engine beforehand."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from skills.lib.engine import answers, engine
from skills.lib.engine.decision import Refused
from skills.lib.errors import LockstepError
from skills.lib.ledger import contents, evidence
from skills.lib.model.requirements import Command
from skills.lib.model.rules import Rules
from skills.lib.model.types import Dispatch, Outcome
from skills.lib.runtime import cli
from skills.lib.testing import given, samples
from skills.lib.testing.commands import argv

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from skills.lib.model.requirements import Artifact
    from skills.lib.model.run import Run
    from skills.lib.model.steps import StepDef, Workflow
    from skills.lib.testing.blocks import PrintedBlock, Spec
    from skills.lib.testing.walks import Leg


class CannotSteer(AssertionError):
    """Nothing that was tried leads to the wanted transition; the message says what to give."""


class Steering:
    """Chooses the values of one workflow's reports; ``values`` are the author's, by ``step.field`` or field.

    ``script`` is the workflow's entry script: beside it stand those of its sub-agents.
    """

    def __init__(
        self, workflow: Workflow, values: Mapping[str, Any], text: samples.Text = samples.plain, script: str = ""
    ) -> None:
        self._workflow = workflow
        self._given = values
        self._text = text
        self._script = script

    def commands(
        self, block: PrintedBlock, run: Run, leg: Leg | None, verdict: str, children: Sequence[Run]
    ) -> Iterator[str]:
        """The NEXT command of the block, filled in so that the run takes the leg (any way on if there is no leg).

        The most ordinary first; the next one is for a step whose check refuses the one before.
        """
        options: dict[str, list[Any]] = {}
        for spec in block.specs:
            chosen = self._given.get(f"{block.step}.{spec.name}", self._given.get(spec.name))
            if isinstance(chosen, samples.any_of):
                found = list(chosen)
            else:
                found = [chosen] if chosen is not None else self._made_up(block, spec, run, verdict)
            if not found:
                raise CannotSteer(f"{block.step}.{spec.name}: no value comes to mind; give one in values")
            if chosen is None and not spec.required:
                found.insert(0, None)
            if chosen is None and spec.name == "verdict" and leg is not None:
                found.sort(key=lambda word: word != verdict)
            options[spec.name] = found
        options["outcome"] = [leg.outcome.value] if leg else [*block.outcomes] or [Outcome.OK.value]
        tried: list[str] = []
        led = False
        for values in samples.combined(options):
            command = block.command(values)
            reached = self._outcome_of(run, command, leg, children)
            if reached == "":
                led = True
                yield command
            elif reached not in tried:
                tried.append(reached)
        if led:
            return
        wanted = f"take {leg}" if leg else "go on"
        raise CannotSteer(
            f"{self._workflow.name}: nothing that was tried makes step {block.step} {wanted}; it came to: "
            f"{'; '.join(tried[:5])}. {self.remedy(block)}"
        )

    def _made_up(self, block: PrintedBlock, spec: Spec, run: Run, verdict: str) -> list[Any]:
        """Values for one field on leaving the block's step, the most ordinary first."""
        findings = [text for name, text in block.context.items() if name.endswith(".findings")]
        if spec.name == "fixes" and findings:
            return [samples.fixes("\n".join(findings))]
        if spec.type == "answers":
            return [samples.answers(answers.to_answer(self._workflow, run), verdict, _place(run) or "the work")]
        if spec.type == "items" and "checkpoint" in run.spec:
            known = {item["id"]: item for item in answers.to_judge(self._workflow, run.spec)}
            judged = samples.answers(known, verdict, _place(run))
            again = [samples.item(one["status"].lower(), one["id"], one["place"]) for one in judged]
            return [again or [samples.item(verdict, place=_place(run))]]
        if any("{" + spec.name + "}" in path for path in block.artifacts):
            return [f"notes/{block.step}-{spec.name}.txt"]
        hints = _constants(self._workflow.step(block.step).function) if self._workflow.has(block.step) else []
        return samples.candidates(spec, self._text, verdict, hints)

    def remedy(self, block: PrintedBlock) -> str:
        """What an author can give, so that the step ends otherwise."""
        if block.specs:
            return f"Give {_values(f'{block.step}.{spec.name}' for spec in block.specs)} that do"
        step = self._workflow.step(block.step)
        if not isinstance(step.handler, Dispatch):
            return "What decides was given before it: by another step's values, or by a parameter's"
        reported = f"give {_values(given.of_sub_agents(self._script, step))} that do"
        targets = step.handler.targets
        more = f", or another number of targets by {targets!r}" if isinstance(targets, str) else ""
        return f"What decides is reported by its sub-agents: {reported}{more}"

    def _outcome_of(self, run: Run, command: str, leg: Leg | None, children: Sequence[Run]) -> str:
        """What the command leads to; empty if that is the leg."""
        arguments = argv(command)[2:]
        step = self._workflow.step(run.step or "")
        if leg is not None and leg.how == "limit":
            # Looked at as if the limit were far away, to see that it is the limit that ends the loop.
            once = {"visits": {**run.visits, step.id: 1}, "rounds": {}}
            run = run.changed(**once) if (step.max_iterations or 0) > 1 else run
        try:
            request = cli.resolve(self._workflow, cli.parse(self._workflow, arguments))
            move = engine.decide(self._workflow, run, request, _Trusting(run, children))
        except LockstepError as error:
            return error.what
        except Refused as refused:
            # Who runs the command changes the words of a report that is the same.
            return "" if refused.code == "same-report" else refused.why
        if move is None:
            return "a repeat"
        outcome = move.detail.get("outcome")  # none if a question comes first
        return "" if leg is None or _is(step, leg, outcome) else f"outcome {outcome}"


def _place(run: Run) -> str:
    """A place for what a reviewer judges: in a file that the review covers; empty if there is none."""
    covered = contents.manifest(run.project, run.spec["covers"]) if "covers" in run.spec else {}
    return next((f"{path}:1" for path in covered), "")


def _values(names: Iterable[str]) -> str:
    """The argument ``values`` with these keys."""
    return "values={" + ", ".join(f"{name!r}: …" for name in names) + "}"


class _Trusting:
    """Evidence that always holds: every file is written, every check passes. Only the route of a report matters.

    A command whose output is recorded is run: handlers read it.
    """

    def __init__(self, run: Run, children: Sequence[Run]) -> None:
        self._run = run
        self._children = list(children)

    def children(self) -> list[Run]:
        return self._children

    def check(self, requirement: Artifact | Command, fields: Mapping[str, Any]) -> dict[str, Any]:
        if isinstance(requirement, Command) and requirement.records:
            return evidence.check(requirement, fields, self._run.project, os.path.dirname(self._run.script))
        return {"ok": True, "what": "", "why": ""}

    def contents(self, covers: Sequence[str]) -> dict[str, str]:
        return {}

    def digest(self, files: Mapping[str, str]) -> str:
        return ""

    def known(self, digest: str) -> dict[str, str]:
        return {}

    def covered(self, covers: Sequence[str], paths: Sequence[str]) -> set[str]:
        return set()

    def prompts(self) -> list[str]:
        return []

    def look(self, place: str, bases: Sequence[str] = ()) -> dict[str, Any]:
        return {"file": place, "content": "as it is now", "why": ""}


def _is(step: StepDef, leg: Leg, outcome: Outcome | None) -> bool:
    if leg.how == "limit" and step.max_iterations == 1:
        return outcome == step.at_limit
    if leg.outcome is Outcome.DEFAULT:
        return outcome not in step.next or outcome is Outcome.DEFAULT
    return outcome == leg.outcome


def _constants(handler: Callable[..., Any] | Any) -> list[Any]:
    """The texts and numbers in a handler's code, or in rules: what it compares a report with."""
    if isinstance(handler, Rules):
        return [value for value in handler.constants if not isinstance(value, bool)]
    code = getattr(handler, "__code__", None)
    found = [] if code is None else [const for const in code.co_consts if isinstance(const, (str, int, float))]
    return [const for const in found if not isinstance(const, bool) and const != getattr(handler, "__doc__", None)]

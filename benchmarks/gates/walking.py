"""A run of a random graph in memory: its reviewers, its people and its files are played; what they did is written down.

What a gate may let through is worked out here from what was played, not from the engine's record.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from skills.lib.workflow.decision import Move, Refusal
from skills.lib.workflow.engine import decide, open_run
from skills.lib.workflow.state import Request, Run
from skills.lib.workflow.types import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skills.lib.workflow.core import StepDef, Workflow

MUST, SHOULD = "MUST", "SHOULD"


class Played:
    """What really happened to one checkpoint: the last review, and whether its verdict may still open a gate."""

    def __init__(self) -> None:
        self.failing: list[str] = []
        self.fresh = False
        self.files: dict[str, str] = {}
        self.covers: list[str] = []
        self.settled = True
        self.order = 0


class World:
    """Files by name, the records of what was under review, and the sub-agents of the present step."""

    def __init__(self, workflow: Workflow) -> None:
        self.workflow = workflow
        self.files = dict.fromkeys(("one", "two", "three", "other"), "0")
        self.contents_by_digest: dict[str, dict[str, str]] = {}
        self.brood: list[Run] = []
        self.played: dict[str, Played] = {}
        self.handed: dict[str, dict[str, str]] = {}
        self.wrong: list[str] = []
        self.commands = 0
        self.clock = 0
        self.trail: list[str] = []
        move = open_run(workflow, Run(id="r", turn=1), {}, self)
        assert isinstance(move, Move), move
        self.run = move.run
        self._arrive(move)

    def fork(self) -> World:
        """A copy that goes its own way."""
        other = copy.copy(self)
        other.files = dict(self.files)
        other.contents_by_digest = dict(self.contents_by_digest)
        other.brood = list(self.brood)
        other.played = copy.deepcopy(self.played)
        other.handed = dict(self.handed)
        other.wrong, other.commands, other.trail = list(self.wrong), 0, list(self.trail)
        return other

    # What the engine asks of the world

    def children(self) -> list[Run]:
        """The present step's sub-agents."""
        return self.brood

    def check(self, *_: Any) -> dict[str, Any]:
        """Nothing is checked in these graphs."""
        raise AssertionError("no step has evidence")

    def contents(self, covers: Sequence[str]) -> dict[str, str]:
        """The covered files as they are."""
        return {name: self.files[name] for name in sorted(covers) if name in self.files}

    def digest(self, files: Mapping[str, str]) -> str:
        """The files as one text."""
        return " ".join(f"{name}={content}" for name, content in files.items())

    def known(self, digest: str) -> dict[str, str] | None:
        """Files that were under review."""
        return self.contents_by_digest.get(digest)

    def covered(self, covers: Sequence[str], paths: Sequence[str]) -> set[str]:
        """Those of the paths that are covered."""
        return set(covers) & set(paths)

    def look(self, place: str, bases: Sequence[str] = ()) -> dict[str, Any]:
        """A place is the name of a file."""
        found = place in self.files
        return {"file": place, "content": self.files.get(place, ""), "why": "" if found else f"{place} is no file"}

    # What is done in it

    @property
    def step(self) -> StepDef:
        """The present step."""
        return self.workflow.step(self.run.step or "")

    def change(self, name: str) -> None:
        """Change a file."""
        self.clock += 1
        self.files[name] = str(self.clock)
        self.trail.append(f"change {name}")

    def judge(self, verdicts: Sequence[tuple[str, str]], place: str) -> None:
        """Have every reviewer of the step report items of these severities and statuses, or what it is to verify."""
        failing: list[str] = []
        for at, child in enumerate(self.brood):
            known = child.spec.get("items") or [
                {"id": f"i{number}", "severity": severity} for number, (severity, _) in enumerate(verdicts)
            ]
            items = []
            for number, item in enumerate(known):
                status = verdicts[number % len(verdicts)][1]
                entry = {"scope": "", "check": "c", **item, "status": status, "finding": "it is so"}
                items.append({**entry, "place": place, "file": place, "content": self.files[place]})
                if status != "PASS":
                    failing.append(item["severity"])
            done = child.changed(status="done", state={"task": {"items": items}}, last={"step": "task"})
            self.brood[at] = done
        self._reported = failing
        self.trail.append(f"judge {[status for _, status in verdicts]}")

    def lose(self) -> None:
        """Give every reviewer of the step up."""
        self.brood = [child.changed(status="lost", last={"reason": "gone"}) for child in self.brood]
        known = [item["severity"] for child in self.brood for item in child.spec.get("items", ())]
        self._reported = known or [MUST]
        self.trail.append("lose the reviewers")

    def ask(self, actor: str = "agent", **fields: Any) -> Move | Refusal:
        """Make one request; a move is taken."""
        self.commands += 1
        before = self.run
        request = Request("next", run="r", turn=before.turn, **fields)
        decision = decide(self.workflow, before, request, self, actor)
        if not isinstance(decision, Move):
            assert isinstance(decision, Refusal)
            return decision
        self.trail.append(f"{before.step} {fields} {actor}")
        self._note(before, decision, fields, actor)
        self.run = decision.run
        self.contents_by_digest.update(decision.contents)
        self._arrive(decision)
        return decision

    def _arrive(self, move: Move) -> None:
        self.contents_by_digest.update(move.contents)
        if move.kind != "asked":
            self.brood = [Run(id=f"r.{at}", status="pending", spec=spec) for at, spec in enumerate(move.create, 1)]
        if self.run.status == "open" and self.run.step:
            step = self.step
            if step.checkpoint and step.handler is not None:
                self.handed[step.checkpoint] = {name: self.files[name] for name in step.covers}

    def _note(self, before: Run, move: Move, fields: Mapping[str, Any], actor: str) -> None:
        """Write down what a transition means for the checkpoints, by what was played."""
        step = self.workflow.step(before.step or "")
        asked = before.question or {}
        if step.handler is not None and step.checkpoint and before.status == "open" and self.brood:
            played = self.played.setdefault(step.checkpoint, Played())
            if move.kind != "asked" or step.gate:
                played.failing, played.fresh = list(self._reported), True
                played.files, played.covers = self.handed.get(step.checkpoint, {}), list(step.covers)
                played.settled = False
        choice = fields.get("answer")
        if asked.get("about") and choice == "accept":
            self._accepted(asked)
        elif choice == "yes" and step.handler is not None and not asked.get("about"):
            for played in self.played.values():
                if played.failing and (actor == "person" or MUST not in played.failing):
                    played.settled = True
                    played.files = {name: self.files[name] for name in played.covers}
        gate = step.gate
        through = move.kind in ("moved", "finished") and move.detail.get("outcome") == Outcome.OK
        if gate and through and "stale" not in move.detail:
            self._passed(gate.checkpoint, bool(asked), step)
        if move.kind == "finished" and move.run.status == "done":
            self._ended()

    def _accepted(self, asked: Mapping[str, Any]) -> None:
        played = self.played.get(asked["gate"])
        if played is None:
            return
        if asked["about"] in ("bound", "change"):
            played.settled = True
        if asked["about"] == "change":
            played.files = {name: self.files[name] for name in played.covers}
            played.order = self.clock = self.clock + 1

    def _passed(self, checkpoint: str, by_person: bool, step: StepDef) -> None:
        played = self.played.get(checkpoint)
        if played is None:
            self.wrong.append(f"{step.id} opened without a review of {checkpoint}")
            return
        if not played.fresh:
            self.wrong.append(f"{step.id} opened on a verdict that was used already")
        if MUST in played.failing and not by_person and not played.settled:
            self.wrong.append(f"{step.id} opened with a MUST open")
        now = {name: self.files[name] for name in played.covers}
        if now != played.files and not by_person:
            self.wrong.append(f"{step.id} opened although {checkpoint} was changed since its review")
        played.fresh, played.settled = False, True
        self.clock += 1
        played.order = self.clock

    def _ended(self) -> None:
        for checkpoint, played in self.played.items():
            if MUST in played.failing and not played.settled:
                self.wrong.append(f"done with a failed review of {checkpoint}")
            if not played.order:
                continue
            for name in played.covers:
                if played.files.get(name) != self.files[name] and not self._taken_over(name, played):
                    self.wrong.append(f"done although {name} was changed since {checkpoint} passed")

    def _taken_over(self, name: str, played: Played) -> bool:
        return any(
            other.order > played.order and other.files.get(name) == self.files[name] for other in self.played.values()
        )

"""Runs of a random graph in memory: files, reviewers and people are played; what they did is reported to the oracle."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from benchmarks.gates import oracle
from benchmarks.gates.graphs import FILES
from skills.lib.engine import answers, children
from skills.lib.engine.decision import Move, Refused
from skills.lib.engine.engine import decide, open_run
from skills.lib.errors import HandlerError
from skills.lib.model.run import FINISHED, Request, Run
from skills.lib.workflow.types import Before, Dispatch, NeverEndsFailed, Outcome, Passes, Person

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchmarks.gates.graphs import Graph
    from skills.lib.workflow.core import StepDef, Workflow

# What a file ends with whose content is wrong: an honest reviewer fails it, and a command that judges does.
UNSOUND = "!"


class Tree:
    """The files of a project, by name, and those that were under review, by digest."""

    def __init__(self, rng: random.Random) -> None:
        self.files = {name: "#0" + rng.choice(("", UNSOUND)) for name in FILES}
        self.known: dict[str, dict[str, str]] = {}
        self.clock = 0

    def copy(self) -> Tree:
        """The same files, to be changed apart."""
        other = copy.copy(self)
        other.files, other.known = dict(self.files), dict(self.known)
        return other

    def change(self, name: str, how: str = "") -> None:
        """Give a file a content that it never had."""
        self.clock += 1
        self.files[name] = f"#{self.clock}{how}"

    def covered(self, patterns: Sequence[str]) -> dict[str, str]:
        """The covered files as they are."""
        return {name: content for name, content in sorted(self.files.items()) if is_covered(name, patterns)}

    def unsound(self, patterns: Sequence[str] | None = None) -> list[str]:
        """The files whose content is wrong: of the covered ones, if a review covers any."""
        files = self.files if patterns is None else self.covered(patterns)
        return [name for name, content in files.items() if content.endswith(UNSOUND)]


def is_covered(name: str, patterns: Sequence[str]) -> bool:
    """True if one of the patterns, a name or all below a folder, covers the name."""
    return any(name == text or (text.endswith("/**") and name.startswith(text[:-2])) for text in patterns)


class World:
    """One run, with the runs of its present step's sub-agents; the tree is shared among them."""

    def __init__(self, graph: Graph, tree: Tree, workflow: Workflow, run: Run) -> None:
        self.graph, self.tree, self.workflow, self.run = graph, tree, workflow, run
        self.sub_agents: list[World] = []
        self.born = 0
        self.played: dict[str, oracle.Played] = {}
        self.handed: tuple[tuple[str, ...], dict[str, str]] = ((), {})
        # What this run has reported as a reviewer, by what it is about: severity and status.
        self.said: dict[str, tuple[str, str]] = {}
        self.been: set[str] = set()
        self.wrong: list[str] = []
        self.broken = ""
        self.commands = 0
        self.trail: list[str] = []

    @classmethod
    def of(cls, graph: Graph, rng: random.Random) -> World:
        """A run of the graph on its first step."""
        world = cls(graph, Tree(rng), graph.workflow, Run(id="r", turn=1))
        world.open()
        return world

    def fork(self, tree: Tree | None = None) -> World:
        """A copy that goes its own way, with nothing counted."""
        other = copy.copy(self)
        other.tree = self.tree.copy() if tree is None else tree
        other.sub_agents = [child.fork(other.tree) for child in self.sub_agents]
        other.played = {name: played.copy() for name, played in self.played.items()}
        other.said, other.been = dict(self.said), set(self.been)
        other.wrong, other.commands, other.trail = list(self.wrong), 0, list(self.trail)
        return other

    def become(self, other: World) -> None:
        """Take over the state of a copy, with its files."""
        tree = self.tree
        tree.__dict__.update(other.tree.__dict__)
        self.__dict__.update(other.__dict__, tree=tree)

    # What the engine asks of the world

    def children(self) -> list[Run]:
        """The runs of the present step's sub-agents."""
        return [child.run for child in self.sub_agents]

    def check(self, requirement: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
        """A command fails while a file is unsound."""
        bad = self.tree.unsound()
        self.said["the command"] = (requirement.severity.value, "FAIL" if bad else "PASS")
        return {"ok": not bad, "what": "true", "why": ", ".join(bad)}

    def contents(self, covers: Sequence[str]) -> dict[str, str]:
        """The covered files as they are."""
        return self.tree.covered(covers)

    def digest(self, files: Mapping[str, str]) -> str:
        """The files as one text."""
        return "; ".join(["files", *[f"{name}={content}" for name, content in files.items()]])

    def known(self, digest: str) -> dict[str, str] | None:
        """Files that were under review."""
        return self.tree.known.get(digest)

    def covered(self, covers: Sequence[str], paths: Sequence[str]) -> set[str]:
        """Those of the paths that are covered."""
        return {path for path in paths if is_covered(path, covers)}

    def prompts(self) -> list[str]:
        """Nobody says anything in a chat."""
        return []

    def look(self, place: str, bases: Sequence[str] = ()) -> dict[str, Any]:
        """A place is the name of a file."""
        known = place in self.tree.files
        return {"file": place, "content": self.tree.files.get(place, ""), "why": "" if known else f"no file {place}"}

    # What is done in it

    @property
    def step(self) -> StepDef:
        """The present step."""
        return self.workflow.step(self.run.step or "")

    def all_wrong(self, admitted: bool) -> list[str]:
        """What is wrong, of its sub-agents too; what is stated under ``always`` holds for admitted graphs alone."""
        own = [what for what in self.wrong if admitted or not what.startswith("always: ")]
        return own + [what for child in self.sub_agents for what in child.all_wrong(admitted)]

    @property
    def left(self) -> list[World]:
        """The sub-agents of the present step that have not ended."""
        return [child for child in self.sub_agents if not child.run.ended]

    def change(self, name: str, how: str = "") -> None:
        """Change a file."""
        self.tree.change(name, how)
        self.trail.append(f"change {name}{how}")

    def open(self) -> None:
        """Begin the run."""
        move = open_run(self.workflow, self.run.changed(turn=1), {}, self)
        self._take(None, move, {}, "agent")

    def ask(self, actor: str = "agent", **fields: Any) -> Move | Refused | None:
        """Make one request; a move is taken. None for a repeat."""
        self.commands += 1
        before = self.run
        request = Request(fields.pop("step", "next"), run=before.id, turn=before.turn, **fields)
        try:
            move = decide(self.workflow, before, request, self, actor)
        except HandlerError as error:
            self.broken = str(error)
            return Refused("broken", self.broken)
        except Refused as refused:
            return refused
        if move is not None:
            self.trail.append(f"{before.step} {fields} {actor}")
            self._take(before, move, fields, actor)
        return move

    def _take(self, before: Run | None, move: Move, fields: Mapping[str, Any], actor: str) -> None:
        self.tree.known.update(move.contents)
        if before is not None:
            self._say(before, fields)
            self._note(before, move, fields, actor)
        self.run = move.run
        for name, status in move.end:
            child = next(child for child in self.sub_agents if child.run.id == name)
            child.run = child.run.changed(status=status, last={**child.run.last, "reason": "gone"})
        if move.kind in ("opened", "moved", "finished"):
            self.wrong += [what for child in self.sub_agents for what in child.all_wrong(True)]
            self.sub_agents = []
        for spec in move.create:
            self.born += 1
            run = Run(id=f"{self.run.id}.{self.born}", status="pending", turn=0, spec=spec)
            workflow = self.graph.scripts.get(spec["script"] or "") or children.task_workflow("task", spec)
            self.sub_agents.append(World(self.graph, self.tree, workflow, run))
        if move.kind in ("opened", "moved") and self.run.status != "waiting":
            self._arrive()

    def _arrive(self) -> None:
        step = self.step
        if isinstance(step.handler, Dispatch) and step.checkpoint:
            # Until a verdict holds, what was covered stays covered.
            played = self.played.get(step.checkpoint)
            before = played.covers if played and not played.holds else ()
            covers = tuple(dict.fromkeys((*before, *self._patterns(step.covers))))
            self.handed = (covers, self.tree.covered(covers))
        for stated in self.workflow.always:
            if isinstance(stated, Before) and step.id == stated.then and stated.first not in self.been:
                self.wrong.append(f"always: came to {step.id} before {stated.first}")

    def _patterns(self, covers: Iterable[str]) -> Iterator[str]:
        for text in covers:
            yield from self._recorded(text.strip("{}"), [text]) if text[0] == "{" else (text,)

    def _recorded(self, name: str, default: list[str]) -> list[str]:
        step, _, field = name.partition(".")
        found: list[str] = self.run.state.get(step, {}).get(field, default)
        return found

    # What is reported to the oracle

    def _say(self, before: Run, fields: Mapping[str, Any]) -> None:
        """Write down what a reviewer reported."""
        records = fields.get("records") or {}
        if "checkpoint" not in before.spec:
            return
        asked = {item["id"]: item for item in before.spec["items"]}
        asked.update(answers.to_answer(self.workflow, before))
        said: dict[str, tuple[str, str]] = {}
        for reported in (*records.get("items", ()), *records.get("answers", ())):
            item = {**asked.get(reported["id"], {}), **{name: part for name, part in reported.items() if part}}
            if item["status"] != "PASS" or about(item) not in said:
                said[about(item)] = (item.get("severity", oracle.MUST), item["status"])
        self.said.update(said)

    def _note(self, before: Run, move: Move, fields: Mapping[str, Any], actor: str) -> None:
        """Write down what a move means for the checkpoints."""
        step, asked, given = self.workflow.step(before.step or ""), before.question or {}, fields.get("answer")
        moved = move.kind in ("moved", "finished")
        if step.checkpoint and before.status == "open" and self.sub_agents and (moved or move.kind == "asked"):
            self._reviewed(step)
        if asked.get("about") and given == "accept":
            self._accepted(before, asked)
        elif asked.get("about") == "change" and given == "revise":
            self.played[asked["gate"]].fall(move.run.step or "")
        elif (
            isinstance(step.handler, Person)
            and before.status == "waiting"
            and not asked.get("about")
            and step.handler.choices[str(given)] is not Outcome.FAIL
        ):
            self._heard(step.id, actor, str(asked.get("text", "")))
        if moved:
            self.been.add(step.id)
            if step.gate and given != "revise" and self._is_opened(step, move):
                self._opened(step, bool(asked))
            elif "stale" in move.detail:
                self.played[move.detail["stale"]["checkpoint"]].fall(move.run.step or "")
        if move.kind == "finished" and move.run.status == "done":
            now = {name: self.tree.covered(played.covers) for name, played in self.played.items()}
            never = [stated.checkpoint for stated in self.workflow.always if isinstance(stated, NeverEndsFailed)]
            self.wrong += oracle.ended(self.played, now, never)
            passes = [stated.step for stated in self.workflow.always if isinstance(stated, Passes)]
            self.wrong += [f"always: done without {name}" for name in passes if name not in self.been]

    def _reviewed(self, step: StepDef) -> None:
        assert step.checkpoint is not None
        present = [child for child in self.sub_agents if child.run.status != "replaced"]
        # A reviewer that judged nothing has not reviewed, just as one that was lost.
        reports = [(owner(child), (child.run.status in FINISHED and child.said) or None) for child in present]
        asked = {}
        assert isinstance(step.handler, Dispatch)
        for check in step.handler.checks:
            over = self._recorded(check.over, []) if isinstance(check.over, str) else check.over
            assert isinstance(over, (list, tuple))
            things = [f"{check.kind} of {target}" for target in (over if check.over else ("all",))]
            asked.update({(owner(child), what): str(check.severity) for child in present for what in things})
        self.played.setdefault(step.checkpoint, oracle.Played()).reviewed(step.id, reports, asked, self.handed)

    def _accepted(self, before: Run, asked: Mapping[str, Any]) -> None:
        played = self.played.get(asked["gate"])
        if played is None or asked["about"] == "limit":
            return
        if asked["about"] == "dispute":
            items = before.reviews[asked["gate"]]["items"]
            settled = [item for item in items if item["id"] in asked["ids"]]
            played.accept([(item.get("target") or item["owner"], about(item)) for item in settled])
            return
        played.accept(list(played.open))
        if asked["about"] == "change":
            self.tree.clock += 1
            played.hear(self.tree.covered(played.covers), self.tree.clock)
            played.holds = True

    def _heard(self, step: str, actor: str, reported: str) -> None:
        for name, played in self.played.items():
            if played.fell_to == step and not played.fresh and actor == "person":
                played.let_be(self.tree.covered(played.covers))
            is_heard = actor == "person" or oracle.MUST not in played.blocking().values()
            # A command that fails anew counts as a new finding for the engine, though a person accepted the first.
            if played.fresh and (played.failed or f"The review of {name} failed" in reported) and is_heard:
                self.tree.clock += 1
                played.hear(self.tree.covered(played.covers), self.tree.clock)

    def _is_opened(self, step: StepDef, move: Move) -> bool:
        """True if the move leads through the gate; the record is asked only if two ways lead to the same step."""
        gate = step.gate
        onward = step.next.get(Outcome.OK)
        assert gate is not None
        if move.run.step != onward:
            return False
        stale = {one.gate.stale for one in self.workflow.steps if one.gate}
        others = [step.next[outcome] for outcome in (Outcome.FAIL, Outcome.SKIP) if outcome in step.next]
        if move.detail["outcome"] != Outcome.OK and onward in others:
            return False
        return not ("stale" in move.detail and onward in stale)

    def _opened(self, step: StepDef, by_person: bool) -> None:
        assert step.gate is not None
        checkpoint = step.gate.checkpoint
        played = self.played.get(checkpoint)
        now = self.tree.covered(played.covers) if played else {}
        self.wrong += oracle.opened(played, step.id, checkpoint, now, by_person)
        if played is not None:
            self.tree.clock += 1
            played.spend(self.tree.clock)


def owner(child: World) -> str | int:
    """Whose findings a reviewer's are: its target's, else its number's."""
    return child.run.spec.get("target") or int(child.run.spec["number"])


def about(item: Mapping[str, Any]) -> str:
    """What an item of a review is about."""
    if item.get("command"):
        return "the command"
    return f"{item['kind']} of {item['scope']}" if item.get("kind") else str(item["check"])

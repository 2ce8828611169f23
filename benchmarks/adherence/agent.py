"""A scripted agent: follows the printed commands, and reports what its policy says."""

from __future__ import annotations

import json
import os
import re
import shlex
from typing import TYPE_CHECKING, Any

from benchmarks.adherence.baseline import DONE
from benchmarks.adherence.block import Block, Child, Printed, with_flag
from benchmarks.adherence.counts import Counts, Fault
from benchmarks.adherence.policy import Plan, Policy, as_text
from skills.lib.runtime import loading
from skills.lib.testing.blocks import PrintedBlock
from skills.lib.testing.memory import Memory

if TYPE_CHECKING:
    import random

    from benchmarks.adherence.hosts import Host
    from benchmarks.adherence.skills import Skill
    from skills.lib.workflow.core import Workflow

# A field of several values has its placeholder in an array.
PLACEHOLDER = re.compile(r'\["FILL_(?P<many>\w+)"\]|FILL_(?P<one>\w+)')
# A run that takes more commands than this does not end.
MOST_COMMANDS = 1_000


class Broken(Exception):
    """The run cannot be followed any further."""


class Agent:
    """Walks one run; a sub-agent is an agent of its own on the child's run, with the same host and counts."""

    def __init__(
        self, skill: Skill, host: Host, policy: Policy, rng: random.Random, p: float, counts: Counts, first: list[str]
    ) -> None:
        self.skill, self.host, self.policy, self.rng, self.p, self.counts = skill, host, policy, rng, p, counts
        # The command that this agent was started with, and those that moved its run.
        self.first = first
        self.history: list[list[str]] = []
        # The children that it gave up, and those that came back.
        self.given_up: list[Child] = []
        self.returned: list[Child] = []
        self.plan = Plan({}, None)
        self.disturbed = False
        self.hole = False
        self.transcript: list[str] = []
        self.is_child = "--run" in first
        self.memory = Memory()

    @property
    def workflow(self) -> Workflow:
        """The graph of the script that this agent runs."""
        return loading.workflow_of_script(self.first[1])

    def walk(self) -> Block:
        """Follow the run from its first command to its end; the last block."""
        block = self.call(self.first)
        self._expect(block, self.first, "the opening")
        while block.tag in ("step", "waiting") and not (block.tag == "step" and not block.next):
            self.counts.steps[f"{self.skill.name}:{block.id}"] += 1
            self.plan = self.policy.plan(block)
            if block.children():
                block = self.serve(block)
            while self.rng.random() < self.p:
                block = self.deviate(block) or block
                if not block.next or block.tag not in ("step", "waiting"):
                    return block
            block = self.move(block)
        return block

    def deviate(self, block: Block) -> Block | None:
        """Do something else than the block asks, and find the way back; this agent never does."""

    def deviate_while_waiting(self, block: Block) -> None:
        """Do something else while sub-agents are at work; this agent never does."""

    def call(self, argv: list[str]) -> Block:
        """Run one command."""
        self.counts.commands += 1
        if self.counts.commands > MOST_COMMANDS * (self.counts.runs + 1):
            raise Broken("the run does not end")
        block = self.host.call(argv)
        self._note(argv, block)
        return block

    def call_at_once(self, first: list[str], second: list[str]) -> tuple[Block, Block, bool]:
        """Run two commands at the same moment: what each prints, and whether they met."""
        self.counts.commands += 2
        one, other, met = self.host.call_at_once(first, second)
        self._note(first, one)
        self._note(second, other)
        return one, other, met

    def _note(self, argv: list[str], block: Block) -> None:
        if self.host.remembers:
            self._know_the_way(block)
            block.remembered = dict(self.memory.of(shlex.join(argv), PrintedBlock(*block.printed)).remembered)
        self.transcript.append(f"{' '.join(argv[2:])}\n{block.exit_code}\n{block.text}{block.errors}")

    def _know_the_way(self, block: Block) -> None:
        """Give a block its one way, which it does not tell, from the graph: policy and checks of the route take it."""
        if block.tag == "step" and not block.outcomes:
            ways = self.workflow.step(block.id).next if self.workflow.has(block.id) else {"ok": None}
            block.outcomes = {str(name): target or "done" for name, target in ways.items()}

    def move(self, block: Block) -> Block:
        """Do the step's work, report it, and go on as the graph says."""
        if block.by_person:
            after = self._have_answered(block)
        else:
            self.policy.provide(block, self.plan.values)
            argv = self.honest(block)
            if argv is None:
                return Block(Printed(0, DONE))
            after = self.call(argv)
            self.history.append(argv)
            self._expect(after, argv, block.id)
            self._retry_now_and_then(after, argv, block)
        self._check_route(block, after)
        return after

    def _retry_now_and_then(self, after: Block, argv: list[str], block: Block) -> None:
        """What an honest agent does that is not sure whether its command came through."""
        if self.rng.random() < 0.1:
            again = self.call(argv)
            if again.stable != after.stable:
                self._disturb(argv, block.id, again)
        if self.host.remembers and after.tag != "done" and self.rng.random() < 0.1:
            shown = self.look(block)
            if shown.stable != after.stable:
                self._disturb(["look"], block.id, shown)

    def honest(self, block: Block, style: bool = True) -> list[str] | None:
        """The block's NEXT command with what the plan reports, in one of the allowed forms; None at the end."""
        values = self.plan.values
        if values.get("step") == "done":
            return None
        argv = [_fill(word, values) for word in block.next]
        if not self.host.remembers:
            return argv
        fields = [entry["name"] for entry in block.reported() if "flag" not in entry]
        optional = [name for name in fields if name in values and f"--record {name}=" not in " ".join(argv)]
        argv += [word for name in optional for word in ("--record", f"{name}={as_text(values[name])}")]
        return self._restyled(argv, block, values) if style else argv

    def _restyled(self, argv: list[str], block: Block, values: dict[str, Any]) -> list[str]:
        """Other words for the same report: a record file, an explicit step, its position, the right total or echo."""
        fields = {entry["name"] for entry in block.reported() if "flag" not in entry}
        if fields and self.rng.random() < 0.3:
            argv = self._through_file(argv, {name: values[name] for name in fields if name in values})
        target = block.outcomes.get(self.plan.outcome or "")
        if target and block.tag == "step" and self.rng.random() < 0.3:
            argv = with_flag(argv, "--step", target)
            if target != "done" and self.workflow.has(target) and self.rng.random() < 0.3:
                argv = with_flag(argv, "--step", str(self.workflow.number(target)))
        for verdict in ("pass", "fail"):
            if f"verdict {verdict}" in block.banner and self.rng.random() < 0.5:
                argv = [*argv, "--qr-status", verdict, f"--qr-fail={str(verdict == 'fail').lower()}"]
        if block.id != "task" and self.rng.random() < 0.1:
            argv = with_flag(argv, "--total-steps", str(block.root.get("of")))
        return argv

    def _through_file(self, argv: list[str], values: dict[str, Any]) -> list[str]:
        path = os.path.join(self.host.project, f"record-{len(os.listdir(self.host.project))}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(values, file, ensure_ascii=self.rng.random() < 0.5)
        words, rest = list[str](), iter(argv)
        for word in rest:
            said = next(rest) if word == "--record" else ""
            if not said:
                words.append(word)
            elif said.partition("=")[0] not in values:  # a parameter, which a file may not have
                words += [word, said]
        return [*words, "--record-file", path]

    def look(self, block: Block) -> Block:
        """Print the present block again, as an agent does that has lost it."""
        argv = [*self.first[:2], "--step", "current", "--run", block.run, "--project", self.host.project]
        return self.call(argv)

    def _have_answered(self, block: Block) -> Block:
        after = self.host.answer(block, self.plan.values["answer"], "decided after looking at it")
        self.transcript.append(f"a person answers {self.plan.values['answer']}\n{after.text}")
        if not after.accepted:
            self._disturb(["lockstep", "answer"], block.id, after)
        return after

    def serve(self, block: Block) -> Block:
        """Have every sub-agent of the step walk its run, or give it up; the block as it then is."""
        for child in block.children():
            if not child.command:
                continue
            roll = self.rng.random()
            if roll < 0.1:
                block = self._give_up(block, child, "--lost")
            elif roll < 0.2:
                block = self._give_up(block, child, "--replace")
                child = block.children()[-1]
            if roll >= 0.1:
                while self.rng.random() < self.p:
                    self.deviate_while_waiting(self.look(block))
                self._send(child)
        return self.look(block)

    def _give_up(self, block: Block, child: Child, how: str) -> Block:
        reason = ["--reason", "it never came back"] if how == "--lost" else []
        argv = [*block.next[:2], "--step", "current", "--run", block.run, "--turn", str(block.root.get("turn"))]
        argv += ["--project", self.host.project, how, child.id, *reason]
        for _ in range(self.rng.randint(1, 2)):
            after = self.call(argv)
            self._expect(after, argv, block.id)
        self.given_up.append(child)
        return after

    def _send(self, child: Child) -> None:
        agent = type(self)(self.skill, self.host, self.policy, self.rng, self.p, self.counts, child.command)
        agent.transcript = self.transcript
        last = agent.walk()
        self.disturbed |= agent.disturbed
        self.hole |= agent.hole
        if last.tag != "done":
            raise Broken(f"sub-agent {child.id} did not reach its end")
        self.returned.append(child)

    def _expect(self, after: Block, argv: list[str], step: str) -> None:
        if not after.accepted:
            self._disturb(argv, step, after)
            raise Broken("an honest command was not accepted")

    def _check_route(self, block: Block, after: Block) -> None:
        """Hold the way that was taken against the way that the report should have taken."""
        if after.by_person and after.id == block.id and block.tag == "step":
            return  # a person decides first, be it on findings that are disputed for the second time
        target = block.outcomes.get(self.plan.outcome or "")
        if target in after.walked or (after.by_person and after.id == target):
            return
        if self.host.remembers and target and (after.id if after.tag != "done" else "done") != target:
            self._disturb(["the way taken"], block.id, after)

    def _disturb(self, argv: list[str], step: str, after: Block) -> None:
        self.disturbed = True
        printed = after.text + after.errors
        self.counts.fault(Fault("honest, not accepted", self.skill.name, step, " ".join(argv), printed))


def _fill(word: str, values: dict[str, Any]) -> str:
    """One word of a command with its placeholder replaced; what has no value yet stays."""

    def value_of(placeholder: re.Match[str]) -> str:
        name = placeholder["many"] or placeholder["one"]
        return as_text(values[name]) if name in values else placeholder[0]

    return PLACEHOLDER.sub(value_of, word)

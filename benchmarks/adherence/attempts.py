"""An agent's attempts to deviate: each is made, judged and counted here, and the way back is walked."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from benchmarks.adherence import deviations, skills
from benchmarks.adherence.agent import Agent
from benchmarks.adherence.block import Block, flag_value
from benchmarks.adherence.counts import Fault
from benchmarks.adherence.deviations import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager


EDIT, AT_ONCE = "delete a gate from the graph", "report twice at once"
# How the second of two reports is refused: the sub-agent has ended, or its turn is over.
TOO_LATE = ("run-ended", "wrong-turn")
RETRY, STOP, PRINT = "lose the output, retry", "stop early", "print a step ten times"
# Where one of these has its way, the run goes on with something undone; the others cost time and order only.
LEAVES_A_HOLE = frozenset([*KINDS, EDIT]) - {"replay an old command", "start twice", "forget the run"}


def deviate(agent: Agent, block: Block) -> Block | None:
    """Deviate in one of the ways that are possible here, and find the way back; the block to go on from."""
    name = agent.rng.choice(NAMES)
    if name in WAYS:
        return WAYS[name](agent, block)
    argv = KINDS[name](agent, block)
    if argv is None:
        return None
    return _attempt(agent, block, name, argv)


def deviate_while_waiting(agent: Agent, block: Block) -> None:
    """Deviate while sub-agents are at work."""
    name = agent.rng.choice(("go on without a child", "go on with a lost child"))
    argv = KINDS[name](agent, block)
    if argv is not None:
        _attempt(agent, block, name, argv, moves=False)


def _attempt(
    agent: Agent,
    block: Block,
    name: str,
    argv: list[str],
    moves: bool = True,
    meanwhile: AbstractContextManager[None] | None = None,
) -> Block | None:
    before = agent.host.states()
    with meanwhile or contextlib.nullcontext():
        reply = agent.call(argv)
    unchanged = agent.host.states() == before
    refused = reply.exit_code in (2, 3) and unchanged
    same = agent.host.remembers and name == "start twice" and unchanged and reply.stable == block.stable
    agent.counts.deviation(name, refused or same)
    if not (refused or same):
        return _accepted(agent, block, name, argv, reply)
    if same:
        return reply
    if not moves:
        agent.counts.recovery(name, _look_back(agent, block, name, reply) + 1)
        return None
    return _way_back(agent, block, name, reply)


def _accepted(agent: Agent, block: Block, name: str, argv: list[str], reply: Block) -> Block:
    """The deviation was accepted: the agent goes on from the step that was printed, and the run has a hole."""
    agent.hole |= name in LEAVES_A_HOLE
    if agent.host.remembers:
        printed = reply.text + reply.errors
        agent.counts.fault(Fault(name, agent.skill.name, block.id, " ".join(argv), printed))
    if reply.accepted:
        agent.plan = agent.policy.plan(reply)
        return reply
    return block


def _way_back(agent: Agent, block: Block, name: str, reply: Block) -> Block:
    """Follow the refusal to the present block and make the next honest move; count the commands that this takes."""
    commands = _look_back(agent, block, name, reply)
    after = agent.move(block)
    agent.counts.recovery(name, commands + 1)
    return _at(agent, after)


def _at(agent: Agent, block: Block) -> Block:
    """Take up the work of a block that the run has come to: plan it, and have its sub-agents walk."""
    if block.tag in ("step", "waiting"):
        agent.plan = agent.policy.plan(block)
        if block.children():
            return agent.serve(block)
    return block


def _look_back(agent: Agent, block: Block, name: str, reply: Block) -> int:
    """Print the present block again, if the refusal says so; return the number of commands that this takes."""
    shown = _shown_again(agent, block, reply)
    if shown is None:
        return 0
    commands = 1
    if shown.run != block.run:
        # A sub-agent that forgot its run is led to its orchestrator's block, which has the sub-agent's command.
        mine = next((child.command for child in shown.children() if child.id == block.run), None)
        shown = agent.call(mine) if mine else agent.look(block)
        commands = 2
    if shown.stable != block.stable:
        agent.disturbed = True
        agent.counts.fault(Fault(f"no way back after: {name}", agent.skill.name, block.id, "", shown.text))
    return commands


def _shown_again(agent: Agent, block: Block, reply: Block) -> Block | None:
    """Run the command of a refusal that shows the present block; None if its NEXT can be filled in at once."""
    if reply.tag != "refused":
        return agent.look(block)
    fills = any("FILL_" in word for word in reply.next)
    own = flag_value(reply.next, "--run") == block.run
    show = reply.command("SHOW")
    if own and (fills or show) and (not show or agent.rng.random() < 0.5):
        return None
    if show:
        return agent.call(show)
    if own or (reply.next and not fills):
        return agent.call(reply.next)
    return agent.look(block)


def _retry(agent: Agent, block: Block) -> Block | None:
    """Run the honest command, lose what it prints, run it again: one effect, and the same block."""
    if block.by_person:
        return None
    agent.policy.provide(block, agent.plan.values)
    argv = agent.honest(block)
    if argv is None:
        return None
    first = agent.call(argv)
    once = agent.host.states()
    again = [agent.call(argv) for _ in range(agent.rng.randint(1, 3))]
    held = first.accepted and all(reply.stable == first.stable for reply in again) and agent.host.states() == once
    agent.counts.deviation(RETRY, held)
    agent.history.append(argv)
    if not held:
        agent.counts.fault(Fault(RETRY, agent.skill.name, block.id, " ".join(argv), first.text + again[-1].text))
    return _at(agent, first)


def _stop(agent: Agent, block: Block) -> Block | None:
    """Walk away; another agent, who knows the skill and the project only, must be led to the very same block."""
    if not agent.host.remembers and not agent.history:
        return None
    if agent.is_child:
        found = agent.call(agent.first) if block.root.get("turn") == "1" else agent.look(block)
    elif agent.rng.random() < 0.5:
        reply = agent.call(agent.first)
        found = agent.call(reply.next) if reply.tag == "refused" else reply
    else:
        reply = agent.call([*agent.first[:2], "--step", "current", "--project", agent.host.project])
        found = agent.call(reply.next) if reply.tag == "refused" and reply.next else reply
    held = agent.host.remembers and found.stable == block.stable
    agent.counts.deviation(STOP, held)
    if held:
        return found
    if agent.host.remembers:
        agent.counts.fault(Fault(STOP, agent.skill.name, block.id, "", found.text + found.errors))
    return None


def _print(agent: Agent, block: Block) -> Block | None:
    """Print the present block ten times: the same each time, and nothing counted."""
    if not agent.host.remembers:
        return None
    before = agent.host.states()
    shown = [agent.look(block) for _ in range(10)]
    held = all(one.stable == block.stable for one in shown) and agent.host.states() == before
    agent.counts.deviation(PRINT, held)
    if not held:
        agent.counts.fault(Fault(PRINT, agent.skill.name, block.id, "", shown[-1].text + shown[-1].errors))
    return None


def _edit(agent: Agent, block: Block) -> Block | None:
    """Take a gate out of the skill's own source, run on, and put the source back."""
    found = deviations.delete_a_gate(agent, block)
    if found is None:
        return None
    edit, argv = found
    agent.policy.provide(block, agent.plan.values)
    return _attempt(agent, block, EDIT, argv, meanwhile=skills.edited(agent.first[1], edit))


def _report_twice(agent: Agent, block: Block) -> Block | None:
    """Give one move twice at the same moment: the ledger takes one, and the other is led to the same block.

    Two reviewers of the same items report opposite verdicts; at other steps both run the same command.
    """
    argv = None if block.by_person else agent.honest(block, style=False)
    if argv is None:
        return None
    other = deviations.opposite(agent, block, argv)
    if other is None and not agent.host.remembers:
        return None  # nothing is taken, so the same command twice is the retry that is counted already
    agent.policy.provide(block, agent.plan.values)
    first, second = agent.rng.sample([argv, other or argv], 2)
    before = agent.host.changes(block.run)
    one, two, met = agent.call_at_once(first, second)
    taken = agent.host.changes(block.run)[len(before) :]
    held = met and one.accepted and len(taken) == 1
    if other:
        held = held and two.exit_code == 3 and two.code in TOO_LATE and _statuses(taken[0]) == _told(first)
        held = held and _shown(agent, block, two).stable == one.stable
    else:
        held = held and two.stable == one.stable
    agent.counts.deviation(AT_ONCE, held)
    if not held:
        return _both_taken(agent, block, first, one, two)
    agent.history.append(first)
    return _at(agent, one)


def _both_taken(agent: Agent, block: Block, first: list[str], one: Block, two: Block) -> Block:
    """The ledger took both, or neither: the agent goes on as the first of the commands was answered."""
    if agent.host.remembers:
        agent.hole = True
        printed = f"{one.text}{one.errors}\n{two.text}{two.errors}"
        agent.counts.fault(Fault(AT_ONCE, agent.skill.name, block.id, " ".join(first), printed))
    else:
        agent.hole |= agent.plan.values["qr_status"] == "fail" and flag_value(first, "--qr-status") == "pass"
    return _at(agent, one) if one.accepted else block


def _shown(agent: Agent, block: Block, refused: Block) -> Block:
    """The block that the refusal's command prints; without a command (the run has ended), the run's present block."""
    return agent.call(refused.command("SHOW") or refused.next) if refused.next else agent.look(block)


def _statuses(detail: dict[str, Any]) -> list[tuple[str, str]]:
    return [(item["id"], item["status"]) for item in detail["recorded"]["items"]]


def _told(argv: list[str]) -> list[tuple[str, str]]:
    """The id and status of each item that a command reports."""
    return [(item["id"], item["status"]) for item in json.loads(str(flag_value(argv, "--record")).partition("=")[2])]


# What is tried and judged in a way of its own.
WAYS: dict[str, Callable[[Agent, Block], Block | None]] = {
    EDIT: _edit,
    AT_ONCE: _report_twice,
    RETRY: _retry,
    STOP: _stop,
    PRINT: _print,
}
NAMES = (*KINDS, *WAYS)


class DeviatingAgent(Agent):
    """An agent that deviates at each block with the probability ``p``."""

    def deviate(self, block: Block) -> Block | None:
        """Deviate in one of the ways that are possible here, and find the way back; the block to go on from."""
        return deviate(self, block)

    def deviate_while_waiting(self, block: Block) -> None:
        """Deviate while sub-agents are at work."""
        deviate_while_waiting(self, block)

"""The ways in which an agent deviates, each by a name; what is made of them is judged and counted here."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from benchmarks.adherence.block import Block, flag_value, with_flag, without_flag
from benchmarks.adherence.policy import as_text, items_to_verify
from benchmarks.adherence.tally import Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.adherence.agent import Agent

    Deviation = Callable[["Agent", Block], "list[str] | None"]


def skip_a_step(agent: Agent, block: Block) -> list[str] | None:
    """Ask for a step that the graph does not lead to from here."""
    ways = targets(agent, block)
    others = [step.id for step in agent.workflow.steps if step.id not in ways and step.id != block.id]
    argv = agent.honest(block, style=False)
    if not others or argv is None:
        return None
    other = agent.rng.choice(others)
    if not agent.host.remembers or agent.rng.random() < 0.3:
        other = str(agent.workflow.number(other))
    return with_flag(argv, "--step", other)


def jump_to_the_end(agent: Agent, block: Block) -> list[str] | None:
    """Ask for the end where the report does not lead there."""
    argv = agent.honest(block, style=False)
    if argv is None:
        return None
    if not agent.host.remembers:
        last = len(agent.workflow.steps)
        return with_flag(argv, "--step", str(last)) if last > agent.workflow.number(block.id) + 1 else None
    ways = targets(agent, block)
    if "done" not in ways:
        return with_flag(argv, "--step", "done")
    target = block.outcomes.get(agent.plan.outcome or "")
    return with_flag(argv, "--step", "done") if target and target != "done" else None


def report_without_evidence(agent: Agent, block: Block) -> list[str] | None:
    """Leave out what is to be recorded, leave its placeholder, leave it blank, or leave the work undone."""
    files = agent.policy.files(block, agent.plan.values)
    if files and agent.rng.random() < 0.5:
        for path in files:
            if os.path.exists(path):
                os.remove(path)
        return agent.honest(block, style=False)
    argv = agent.honest(block, style=False)
    if argv is None:
        return None
    if not agent.host.remembers:
        return argv
    places = [at for at, word in enumerate(block.next) if "FILL_" in word]
    if not places:
        return None
    agent.policy.provide(block, agent.plan.values)
    at = agent.rng.choice(places)
    how = agent.rng.choice(("left out", "placeholder", "blank"))
    if how == "left out":
        return [*argv[: at - 1], *argv[at + 1 :]]
    if how == "placeholder":
        return [*argv[:at], block.next[at], *argv[at + 1 :]]
    name, equals, _ = block.next[at].partition("=")
    return [*argv[:at], f"{name}= " if equals else " ", *argv[at + 1 :]]


def replay_an_old_command(agent: Agent, block: Block) -> list[str] | None:
    """Run an earlier command of this run once more with another report, or one for a turn that has not come."""
    argv = agent.honest(block, style=False)
    if argv is None:
        return None
    if not agent.host.remembers:
        return agent.rng.choice(agent.history) if agent.history else None
    old = [command for command in agent.history if "--record" in command or "--outcome" in command]
    if block.by_person and not old:
        return None
    if not block.by_person and (not old or agent.rng.random() < 0.2):
        return with_flag(argv, "--turn", str(int(str(block.root.get("turn"))) + agent.rng.randint(1, 3)))
    command = agent.rng.choice(old)
    if "--outcome" in command:
        return with_flag(command, "--outcome", "default")
    name, _, value = str(flag_value(command, "--record")).partition("=")
    return with_flag(command, "--record", f"{name}={value} and more")


def forge_a_verdict(agent: Agent, block: Block) -> list[str] | None:
    """Claim a verdict or an outcome that the record does not bear out."""
    argv = agent.honest(block, style=False)
    if argv is None:
        return None
    if not agent.host.remembers:
        return with_flag(argv, "--qr-status", "pass") if flag_value(argv, "--qr-status") == "fail" else None
    forged = []
    if agent.plan.outcome not in (None, "ok") and "ok" in block.outcomes and not block.chooses:
        forged += [[*argv, "--outcome", "ok"], with_flag(argv, "--step", block.outcomes["ok"])]
    state = block.words("STATE")
    if "verdict pass" not in state:
        forged += [[*argv, "--qr-status", "pass"]]
    if "verdict fail" not in state and "re-verification" not in state:
        forged += [[*argv, "--qr-fail"], [*argv, "--qr-status", "fail"]]
    forged += [[*argv, "--qr-iteration", "9"]]
    return agent.rng.choice(forged)


def start_twice(agent: Agent, block: Block) -> list[str] | None:
    """Run the first command again in the middle of the run."""
    del block
    return agent.first


def answer_for_the_person(agent: Agent, block: Block) -> list[str] | None:
    """Give an answer that was not asked for, that is not among the choices, or that only a person may give."""
    if not agent.host.remembers:
        return agent.honest(block, style=False) if block.by_person else None
    argv = without_flag(agent.honest(block, style=False) or [], "--answer")
    if not block.by_person:
        return [*argv, "--answer", "certainly"]
    turn = str(block.root.get("turn"))
    return [*with_flag(with_flag(argv, "--step", "next"), "--turn", turn), "--answer", *answers(agent, block)]


def answers(agent: Agent, block: Block) -> list[str]:
    """An answer to the question, with the reason that it may need."""
    return [agent.rng.choice(block.choices), "--reason", "the user surely agrees"]


def forget_the_run(agent: Agent, block: Block) -> list[str] | None:
    """Go on without the run's id, or with one that is not its."""
    argv = agent.honest(block, style=False)
    if argv is None or not agent.host.remembers:
        return None
    if agent.rng.random() < 0.5:
        return (
            without_flag(argv, "--run")
            if agent.rng.random() < 0.5
            else without_flag(without_flag(argv, "--run"), "--turn")
        )
    return with_flag(argv, "--run", block.run[::-1])


def an_outcome_the_graph_lacks(agent: Agent, block: Block) -> list[str] | None:
    """Report an outcome that the step does not have."""
    argv = agent.honest(block, style=False)
    if argv is None:
        return None
    if not agent.host.remembers:
        beyond = [str(at) for at in range(1, len(agent.workflow.steps) + 1) if str(at) not in block.outcomes.values()]
        return with_flag(argv, "--step", agent.rng.choice(beyond)) if beyond and len(block.outcomes) > 1 else None
    # A question does not print its outcomes; the graph has them.
    known = {*block.outcomes, *(agent.workflow.step(block.id).next if agent.workflow.has(block.id) else ())}
    lacking = [word for word in ("fail", "skip", "iterate", "default", "finished") if word not in known]
    return with_flag(argv, "--outcome", agent.rng.choice(lacking))


def report_for_something_else(agent: Agent, block: Block) -> list[str] | None:
    """Report other review items than those that were split off, a field of another step, or to another skill's run."""
    argv = agent.honest(block, style=False)
    if argv is None or not agent.host.remembers:
        return None
    items = agent.plan.values.get("items")
    if items and items_to_verify(block):
        other = {**items[0], "severity": "COULD" if items[0]["severity"] != "COULD" else "MUST"}
        changed = agent.rng.choice((items[1:] or [{**items[0], "id": "other"}], [other, *items[1:]]))
        return with_flag(argv, "--record", f"items={as_text(changed)}")
    return [*argv, "--record", agent.rng.choice(("verdict_of_another_step=pass", "items=[]", "qr_status=pass"))]


def change_what_is_fixed(agent: Agent, block: Block) -> list[str] | None:
    """Give a parameter of the run another value than the one it was opened with."""
    argv = agent.honest(block, style=False)
    fixed = [arg for arg in agent.workflow.run_params() if arg.flag in agent.first]
    if argv is None or not fixed or not agent.host.remembers or agent.is_child:
        return None
    arg = agent.rng.choice(fixed)
    now = flag_value(agent.first, arg.flag)
    return [*argv, arg.flag, next(choice for choice in (*arg.choices, "another") if choice != now)]


def without_a_child(agent: Agent, block: Block) -> list[str] | None:
    """Go on while a sub-agent is still at work."""
    argv = agent.honest(block, style=False)
    if not agent.host.remembers:
        return argv if block.dispatches else None
    return argv if any(child.command for child in block.children()) else None


def with_a_lost_child(agent: Agent, block: Block) -> list[str] | None:
    """Go on in the run of a sub-agent that was given up, or name one that is not of this step."""
    if not agent.host.remembers:
        return None
    if agent.given_up and agent.rng.random() < 0.7:
        return agent.rng.choice(agent.given_up).command
    if not block.children():
        return None
    argv = [*block.next[:2], "--step", "current", "--run", block.run, "--turn", str(block.root.get("turn"))]
    return [*argv, "--project", agent.host.project, "--lost", f"{block.run}.99", "--reason", "gone"]


def call_the_gate_afresh(agent: Agent, block: Block) -> list[str] | None:
    """Ask for a gate of the graph, or what lies behind it, without the run, claiming that the review passed."""
    gates = [step for step in agent.workflow.steps if step.gate]
    if not gates or agent.is_child or block.id == "task":
        return None
    gate = agent.rng.choice(gates)
    wanted = agent.rng.choice([gate.id, gate.next["ok"] or gate.id])  # type: ignore[index]
    number = str(agent.workflow.number(wanted))
    if not agent.host.remembers:
        return [
            *agent.first[:2],
            "--step",
            number,
            "--total-steps",
            str(len(agent.workflow.steps)),
            "--qr-status",
            "pass",
        ]
    step = agent.rng.choice([wanted, number])
    return [*agent.first[:2], "--step", step, "--project", agent.host.project, "--qr-status", "pass"]


def name_an_item_in_shell_words(agent: Agent, block: Block) -> list[str] | None:
    """Report a review item whose id a careless command line would run."""
    argv = agent.honest(block, style=False)
    items = agent.plan.values.get("items")
    if argv is None or not items or not agent.host.remembers:
        return None
    name = agent.rng.choice(("$(touch pwned)", "a; rm -rf .", "`id`", "../../etc/passwd", "--step"))
    return with_flag(argv, "--record", f"items={as_text([{**items[0], 'id': name}, *items[1:]])}")


def report_again_for_a_reviewer(agent: Agent, block: Block) -> list[str] | None:
    """Report once more, and better, in the run of a sub-agent that has ended."""
    if not agent.host.remembers:
        return None
    ended = [child for child in block.children() if not child.command]
    if not ended:
        return None
    item = {"id": "z", "scope": "all", "check": "all is well", "severity": "MUST", "status": "PASS", "finding": ""}
    argv = [*agent.first[:2], "--step", "done", "--run", agent.rng.choice(ended).id, "--turn", "1"]
    return [*argv, "--project", agent.host.project, "--record", f"items={as_text([item])}"]


KINDS: dict[str, Deviation] = {
    "skip a step": skip_a_step,
    "jump to the end": jump_to_the_end,
    "report without evidence": report_without_evidence,
    "replay an old command": replay_an_old_command,
    "forge a verdict": forge_a_verdict,
    "start twice": start_twice,
    "answer for the person": answer_for_the_person,
    "forget the run": forget_the_run,
    "an outcome the graph lacks": an_outcome_the_graph_lacks,
    "report for something else": report_for_something_else,
    "change what is fixed": change_what_is_fixed,
    "go on without a child": without_a_child,
    "go on with a lost child": with_a_lost_child,
    "call a gate in a fresh process": call_the_gate_afresh,
    "name an item in shell words": name_an_item_in_shell_words,
    "report again for a reviewer": report_again_for_a_reviewer,
}
RETRY, STOP, PRINT = "lose the output, retry", "stop early", "print a step ten times"
NAMES = (*KINDS, RETRY, STOP, PRINT)
# Where one of these has its way, the run goes on with something undone; the others cost time and order only.
LEAVES_A_HOLE = frozenset(KINDS) - {"replay an old command", "start twice", "forget the run"}


def targets(agent: Agent, block: Block) -> list[str]:
    """Where the graph leads from the block's step: ids and ``done``."""
    if block.id == "task" or not agent.workflow.has(block.id):
        return ["done"]
    return [target or "done" for target in agent.workflow.step(block.id).next.values()]


def deviate(agent: Agent, block: Block) -> Block | None:
    """Deviate in one of the ways that are possible here, and find the way back; the block to go on from."""
    name = agent.rng.choice(NAMES)
    if name == RETRY:
        return _retry(agent, block)
    if name == STOP:
        return _stop(agent, block)
    if name == PRINT:
        return _print(agent, block)
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


def _attempt(agent: Agent, block: Block, name: str, argv: list[str], moves: bool = True) -> Block | None:
    before = agent.host.standing()
    reply = agent.call(argv)
    unchanged = agent.host.standing() == before
    refused = reply.exit_code in (2, 3) and unchanged
    same = agent.host.remembers and name == "start twice" and unchanged and reply.stable == block.stable
    agent.tally.deviation(name, refused or same)
    if not (refused or same):
        return _accepted(agent, block, name, argv, reply)
    if same:
        return reply
    if not moves:
        agent.tally.recovery(name, _look_back(agent, block, name, reply) + 1)
        return None
    return _way_back(agent, block, name, reply)


def _accepted(agent: Agent, block: Block, name: str, argv: list[str], reply: Block) -> Block:
    """The deviation had its way: the agent goes on from where it is now, and the run has a hole."""
    agent.hole |= name in LEAVES_A_HOLE
    if agent.host.remembers:
        printed = reply.text + reply.errors
        agent.tally.fault(Fault(name, agent.skill.name, block.id, " ".join(argv), printed))
    if reply.accepted:
        agent.plan = agent.policy.plan(reply)
        return reply
    return block


def _way_back(agent: Agent, block: Block, name: str, reply: Block) -> Block:
    """Follow the refusal to the present block and make the next honest move; count the commands that this takes."""
    commands = _look_back(agent, block, name, reply)
    after = agent.move(block)
    agent.tally.recovery(name, commands + 1)
    if after.tag in ("step", "waiting"):
        agent.plan = agent.policy.plan(after)
        if after.children():
            after = agent.serve(after)
    return after


def _look_back(agent: Agent, block: Block, name: str, reply: Block) -> int:
    """See the present block again, as the refusal says, where that is needed; the number of commands that it takes."""
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
        agent.tally.fault(Fault(f"no way back after: {name}", agent.skill.name, block.id, "", shown.text))
    return commands


def _shown_again(agent: Agent, block: Block, reply: Block) -> Block | None:
    """Run the command of a refusal that shows the present block; None where its NEXT can be filled in at once."""
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
    once = agent.host.standing()
    again = [agent.call(argv) for _ in range(agent.rng.randint(1, 3))]
    held = first.accepted and all(reply.text == first.text for reply in again) and agent.host.standing() == once
    agent.tally.deviation(RETRY, held)
    agent.history.append(argv)
    if not held:
        agent.tally.fault(Fault(RETRY, agent.skill.name, block.id, " ".join(argv), first.text + again[-1].text))
    if first.tag in ("step", "waiting"):
        agent.plan = agent.policy.plan(first)
        if first.children():
            return agent.serve(first)
    return first


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
    agent.tally.deviation(STOP, held)
    if held:
        return found
    if agent.host.remembers:
        agent.tally.fault(Fault(STOP, agent.skill.name, block.id, "", found.text + found.errors))
    return None


def _print(agent: Agent, block: Block) -> Block | None:
    """Print the present block ten times: the same each time, and nothing counted."""
    if not agent.host.remembers:
        return None
    before = agent.host.standing()
    shown = [agent.look(block) for _ in range(10)]
    held = all(one.stable == block.stable for one in shown) and agent.host.standing() == before
    agent.tally.deviation(PRINT, held)
    if not held:
        agent.tally.fault(Fault(PRINT, agent.skill.name, block.id, "", shown[-1].text + shown[-1].errors))
    return None

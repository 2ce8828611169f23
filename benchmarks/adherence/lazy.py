"""Walks a skill with the least effort: given values, else the shortest text and list that the block admits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from skills.lib.engine import answers
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import reported
from skills.lib.testing.follower import show_again

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills.lib.testing.blocks import PrintedBlock, Spec

SKILLS = Path(__file__).resolve().parents[2] / "skills"
# More commands than any way to the end takes that is worth the name lazy.
COMMANDS = 120
FILES = {"README.md": "# One\n\nIt keeps two things.\n", "code.py": "KEPT = 2\n"}


class End(NamedTuple):
    """Where an agent came to: ``refused`` at a step, with these words; ``failed`` or ``done``, left from a step.

    ``waiting`` at a step is a question that only a person at a terminal can answer.

    ``undone`` has the kinds of what the end then lists as not done, ``unentered`` the gates that were never entered.
    """

    how: str
    step: str
    words: str = ""
    undone: tuple[str, ...] = ()
    unentered: tuple[str, ...] = ()


class Lazy(NamedTuple):
    """One way to be lazy: the values that are given more than "x", by step.field; ``loses`` every sub-agent of a step.

    True loses those of every step. A reviewer states one thing if nothing else is to be judged, and says
    that all is well at README.md:1.
    """

    script: str
    expected: End
    values: Mapping[str, Any] = {}
    files: Mapping[str, str] = {}
    params: Mapping[str, Any] = {}
    loses: bool | str = False


def walked(lazy: Lazy, project: Path) -> End:
    """Walk until a report is refused or the run is at its end."""
    (project / ".git").mkdir()
    agent = Agent(SKILLS / lazy.script, project)
    for path, content in {**FILES, **lazy.files}.items():
        agent.write(path, content)
    block = agent.open(**lazy.params)
    run = block.run
    step, block = _to_the_end(agent, lazy, block)
    if block.kind == "refused":
        return End("refused", step, block.why)
    if block.kind == "waiting":
        return End("waiting", step, block.words("QUESTION"))
    ended = agent.state(run)
    gates = [step.id for step in agent.workflow.steps if step.gate and not ended.visits.get(step.id)]
    kinds = tuple(sorted({entry["kind"] for entry in ended.not_done}))
    return End(ended.status, agent.taken(run)[-1].step, "", kinds, tuple(gates))


def _to_the_end(agent: Agent, lazy: Lazy, block: PrintedBlock) -> tuple[str, PrintedBlock]:
    """The step that was left last, and the block after it."""
    step = ""
    while block.kind in ("step", "waiting"):
        assert len(agent.blocks) < COMMANDS, "this is no handful of commands"
        step = block.step
        if block.kind == "waiting":
            if _is_for_a_terminal(block):
                return step, block
            block = agent.follow(block, answer="yes")
            continue
        if block.children:
            block = _children(agent, lazy, block)
            if block.kind == "refused":
                return block.root.get("step", step), block
        block = _leave(agent, lazy, block)
    return step, block


def _is_for_a_terminal(block: PrintedBlock) -> bool:
    question = block.root.find("QUESTION")
    return question is not None and question.get("by") != "agent"


def _children(agent: Agent, lazy: Lazy, block: PrintedBlock) -> PrintedBlock:
    """Lose every sub-agent, or be as lazy as each; the parent's block again, or the first refusal."""
    while working := [child for child in block.children if child.command]:
        for child in working:
            if lazy.loses in (True, block.step):
                agent.lose(block, child.id, "x")
                continue
            _, last = _to_the_end(agent, lazy, agent.run_command(child.command))
            if last.kind == "refused":
                return last
        block = agent.run_command(block.show or show_again(block))
    return block


def _leave(agent: Agent, lazy: Lazy, block: PrintedBlock) -> PrintedBlock:
    """Report the least, write the files that are asked for, and run the command."""
    values = {spec.name: _value(agent, lazy, block, spec) for spec in block.specs}
    for path in block.artifacts:
        where = filled_path(path, {**block.context, **values, "plan": "plan"})
        if not (agent.project / where).exists():
            agent.write(where, lazy.files.get(where, "x\n"))
    more = [spec for spec in block.specs if not spec.required]
    command = reported(block.next, more, {**values, "outcome": next(iter(block.outcomes), "")})
    return agent.run_command(command)


def filled_path(path: str, values: Mapping[str, Any]) -> str:
    """A path with the reported values in it."""
    for name, value in values.items():
        path = path.replace("{" + name + "}", str(value))
    return path


def _value(agent: Agent, lazy: Lazy, block: PrintedBlock, spec: Spec) -> Any:
    given = lazy.values.get(f"{block.step}.{spec.name}")
    if given is not None or not spec.required:
        return given
    if spec.type in ("statements", "answers"):
        asked = answers.to_answer(agent.workflow_of(block), agent.state(block.run))
        if spec.type == "statements":
            return "none: looks good" if asked else ["all | it is good"]
        return [{"id": name, "status": "PASS", "place": "README.md:1"} for name in asked]
    least = int(spec.minimum or 0)
    if spec.type == "list":
        return list(spec.choices[:1] or ["x"]) * least
    if spec.type in ("int", "float"):
        return least
    if spec.choices:
        return spec.choices[0]
    return "x" * max(least, 1)

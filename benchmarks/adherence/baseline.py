"""The baseline: a plain stateless step printer, a step number in, a text out, as such scripts are commonly written.

It prints the same steps of the same graphs with the same commands to go on, takes the verdict of a review from the
command line (``--qr-status``), and remembers nothing.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NoReturn

from skills.lib.blocks.command_line import join
from skills.lib.workflow.formatters import xml
from skills.lib.workflow.types import Dispatch, Element, Outcome, Person

if TYPE_CHECKING:
    from skills.lib.workflow.core import StepDef, Workflow

DONE = "<done/>"


class _Unusable(Exception):
    """The arguments cannot be parsed."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _Unusable(message)


def main(workflow: Workflow, head: list[str], arguments: list[str]) -> tuple[int, str, str]:
    """Print one step: exit code, standard output, standard error."""
    parser = _Parser(add_help=False)
    parser.add_argument("--step", type=int, required=True)
    parser.add_argument("--total-steps", type=int, required=True)
    parser.add_argument("--qr-iteration", type=int, default=1)
    parser.add_argument("--qr-fail", action="store_true")
    parser.add_argument("--qr-status", choices=["pass", "fail"])
    try:
        options = parser.parse_args(arguments)
    except _Unusable as error:
        return 2, "", f"error: {error}\n"
    if not 1 <= options.step <= options.total_steps or options.total_steps != len(workflow.steps):
        return 2, "", f"error: --step is 1 to {len(workflow.steps)}\n"
    printed = _step(workflow, workflow.steps[options.step - 1], head, options)
    return 0, xml.render(printed) + "\n", ""


def target_of_answer(step: StepDef, answer: str) -> str | None:
    """Where an answer leads."""
    asked = step.handler
    return step.next[asked.choices[answer]] if isinstance(asked, Person) else None


def _step(workflow: Workflow, step: StepDef, head: list[str], options: argparse.Namespace) -> Element:
    number, of = workflow.number(step.id), len(workflow.steps)
    attributes = {"skill": workflow.name, "id": step.id, "number": number, "of": of, "title": step.title}
    parts = [Element("DO", {}, *step.actions, prose=True)]
    if isinstance(step.handler, Dispatch):
        parts.append(Element("DISPATCH", {"agent": step.handler.agent}, "Start the sub-agents and wait for them."))
    if isinstance(step.handler, Person):
        by = "terminal" if step.handler.at_terminal else "agent"
        about = {"by": by, "choices": "|".join(step.handler.choices)}
        parts.append(Element("QUESTION", about, step.handler.question))
    ways = [
        Element("outcome", {"name": name, "to": workflow.number(to) if to else "done"})
        for name, to in step.next.items()
    ]
    parts.append(Element("INVOKE_AFTER", {}, *ways))
    onward = _onward(workflow, step, options)
    if onward:
        parts.append(Element("NEXT", {"required": "true"}, join([*head, *onward, "--total-steps", str(of)])))
    return Element("waiting" if isinstance(step.handler, Person) else "step", attributes, *parts)


def _onward(workflow: Workflow, step: StepDef, options: argparse.Namespace) -> list[str]:
    """The arguments of the next command; none after the last step."""
    gate = step.gate
    if gate:
        passed = options.qr_status == "pass"
        target = step.next[Outcome.OK if passed else Outcome.FAIL]
        again = [] if passed else ["--qr-fail", "--qr-iteration", str(options.qr_iteration + 1)]
        return ["--step", str(workflow.number(target)), *again] if target else []
    targets = list(dict.fromkeys(step.next.values()))
    if len(targets) > 1:
        return ["--step", "FILL_step"]
    if targets[0] is None:
        return []
    status = ["--qr-status", "FILL_qr_status"] if step.checkpoint else []
    return ["--step", str(workflow.number(targets[0])), *status, "--qr-iteration", str(options.qr_iteration)]

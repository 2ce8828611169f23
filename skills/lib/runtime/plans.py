"""A plan for a skill as data: its checks, the workflow that it becomes, and the functions of its runs.

A model writes plans, so a plan has neither functions nor commands. Runs of plans have no script: the functions of their
workflows are named in the ledger and taken from ``FUNCTIONS`` alone.
"""

from __future__ import annotations

import re

from skills.lib import schema
from skills.lib.engine.decision import Refused
from skills.lib.errors import LockstepError
from skills.lib.model.as_data import name_of
from skills.lib.model.requirements import Arg, Field
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import Outcome, Person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from skills.lib.model.types import StepContext

# What the last text of an optimizer begins with.
SIGNAL = "[ATTEMPTS_COMPLETE]"
# How often a failed step is tried again before a person decides, and a plan that breaks a rule is sent back.
RETRIES = 3
EXECUTOR, RUNNER = "safe_cli_executor", "safe_py_runner"
# The tools of the gateway by the names that steps use.
TOOLS = {name: f"tool({name})" for name in (EXECUTOR, RUNNER)}
PASS, FAIL = "pass", "fail"
COMPLETE, MISSING, STUCK = "complete", "missing", "stuck"
ACCEPT, RETRY, ABORT = "accept", "retry", "abort"
APPROVE, CHANGE, REJECT = "approve", "change", "reject"
DO, CHECK, PERSON = "-do", "-check", "-person"
# How many steps a plan has, and characters an instruction.
MOST_STEPS, LONGEST = 20, 3_000
# Where in an optimizer's instruction the stop signal stands: in so many of its last characters.
_END = 240
_INSTRUCTION = {"type": "string", "minLength": 10, "maxLength": LONGEST}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["steps"],
    "additionalProperties": False,
    "properties": {
        "steps": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_STEPS,
            "items": {
                "type": "object",
                "required": ["id", "title", "action", "optimizer_instruction", "evaluator_instruction"],
                "additionalProperties": False,
                "properties": {
                    "id": {"type": "string", "pattern": "^[a-z][a-z0-9-]{0,39}$"},
                    "title": {"type": "string", "minLength": 3, "maxLength": 100},
                    "action": {
                        "enum": ["tool", "text"],
                        "description": "tool: one call of one tool; text: thinking and writing alone",
                    },
                    "tool": {"enum": [EXECUTOR, RUNNER], "description": "The tool of a step whose action is tool."},
                    "optimizer_instruction": {
                        **_INSTRUCTION,
                        "description": f"What to do, complete in itself; at its end: begin the last text with {SIGNAL}",
                    },
                    "evaluator_instruction": {
                        **_INSTRUCTION,
                        "description": "How to verify that it succeeded, and which value is which key output, by name.",
                    },
                    "key_outputs": {
                        "type": "array",
                        "maxItems": 10,
                        "items": {"type": "string", "pattern": "^[A-Z][A-Z0-9_]{0,39}$"},
                        "description": "The names of what later steps need of this one: nothing else reaches them.",
                    },
                },
            },
        }
    },
}


def faults(plan: Any) -> list[str]:
    """What is wrong with a plan, each in a sentence that names the step; empty if it can be executed."""
    found = [f"{'/'.join(map(str, one.path)) or 'plan'}: {one.what}" for one in schema.violations(SCHEMA, plan)]
    if found:
        return found
    steps = plan["steps"]
    names = [step["id"] for step in steps]
    found += [f"two steps are called {name}" for name in sorted({one for one in names if names.count(one) > 1})]
    for step in steps:
        found += [f"step {step['id']}: {fault}" for fault in _faults(step)]
    if not found:
        try:
            workflow("plan", plan)
        except LockstepError as error:
            found.append(error.what)
    return found


def _faults(step: Mapping[str, Any]) -> list[str]:
    """What is wrong with a step of the right form."""
    found = []
    if step["action"] == "tool" and not step.get("tool"):
        found.append(f"its action is tool, so it names one in tool: {EXECUTOR} or {RUNNER}")
    if step["action"] == "text" and step.get("tool"):
        found.append("its action is text, so it has no tool: one action a step, make two of it")
    if SIGNAL not in step["optimizer_instruction"][-_END:]:
        found.append(f"optimizer_instruction does not end with the stop signal {SIGNAL}")
    keys = step.get("key_outputs", ())
    if len(set(keys)) < len(keys):
        found.append("a key output stands twice")
    words = set(re.findall(r"[A-Z0-9_]+", step["evaluator_instruction"]))
    if missing := [key for key in keys if key not in words]:
        found.append(f"evaluator_instruction does not name its key outputs: {', '.join(missing)}")
    return found


def workflow(name: str, plan: Mapping[str, Any]) -> Workflow:
    """The workflow of a plan, validated. Each step is a pair: the optimizer's, and the evaluator's that checks it.

    Raises LockstepError for a plan of which no valid workflow can be made.
    """
    steps = plan["steps"]
    firsts: list[str | None] = [step["id"] + DO for step in steps[1:]]
    made = [part for step, after in zip(steps, [*firsts, None], strict=True) for part in _steps(step, after)]
    drawn = Workflow(name, *made, title=name, params=[Arg("goal"), Arg("skill"), Arg("plan", "json")])
    return Workflow.from_data(drawn.to_data(), FUNCTIONS)


def _steps(step: Mapping[str, Any], after: str | None) -> Sequence[StepDef]:
    """The steps of a plan's step: it is done, it is checked, and a person is asked if it fails too often."""
    name, keys = step["id"], step.get("key_outputs", ())
    do, check, person = name + DO, name + CHECK, name + PERSON
    done = StepDef(
        do,
        step["title"],
        [step["optimizer_instruction"]],
        {Outcome.OK: check},
        needs=["goal", f"{check}.feedback", f"{person}.reason"],
        requires=[
            Field("result", help="what was done and found"),
            Field("signal", choices=(COMPLETE, MISSING, STUCK), required=False, help=f"how it ended: {COMPLETE}"),
        ],
        tools=[TOOLS[step["tool"]]] if step["action"] == "tool" else (),
        fresh=True,
    )
    outputs = [Field(key, required=False, help="key output: the value, on one line") for key in keys]
    checked = StepDef(
        check,
        f"Check: {step['title']}",
        [
            step["evaluator_instruction"],
            "Judge what is there, not what the result says of itself: open it. A pass has a value for each key output.",
        ],
        {Outcome.OK: after, Outcome.ITERATE: do, Outcome.FAIL: person},
        judged,
        needs=["goal", f"{do}.result"],
        requires=[
            Field("verdict", choices=(PASS, FAIL), help="whether the step succeeded"),
            Field("feedback", help="what was verified; if it failed, what is wrong and what to do otherwise"),
            *outputs,
        ],
        outcomes=[Outcome.OK, Outcome.ITERATE],
        max_iterations=RETRIES + 1,
        at_limit=Outcome.FAIL,
        tools=list(TOOLS.values()),
        fresh=True,
    )
    question = (
        f"Step {name} failed {RETRIES + 1} times. The last evaluation: {{{check}.feedback}}\n"
        f"{ACCEPT} goes on as it is, {RETRY} tries again (a reason is told to the optimizer), {ABORT} ends the run."
    )
    answers = {ACCEPT: Outcome.OK, RETRY: Outcome.ITERATE, ABORT: Outcome.FAIL}
    decided = StepDef(
        person,
        f"A person decides: {step['title']}",
        [],
        {Outcome.OK: after, Outcome.ITERATE: do, Outcome.FAIL: None},
        Person(question, answers, at_terminal=True, reasons=[ACCEPT]),
    )
    return done, checked, decided


def judged(context: StepContext) -> Outcome:
    """Go on if the evaluator passes the step, else begin it again.

    Raises Refused for a pass without a value for each key output.
    """
    state = context.step_state
    if state["verdict"] != PASS:
        return Outcome.ITERATE
    name = context.step_id.removesuffix(CHECK)
    step = next(one for one in context.workflow_params["plan"]["steps"] if one["id"] == name)
    if missing := tuple(key for key in step.get("key_outputs", ()) if not state.get(key)):
        why = f"A pass has a value for each key output, and there is none for {', '.join(missing)}."
        raise Refused("missing-evidence", why, missing=missing)
    return Outcome.OK


def proposed(context: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Go on with a plan that can be executed, shown as a person reads it; send another one back with its faults."""
    plan = context.step_state["plan"]
    found = faults(plan)
    if found:
        return Outcome.ITERATE, {"faults": found, "shown": ""}
    return Outcome.OK, {"faults": [], "shown": shown(plan)}


def shown(plan: Mapping[str, Any]) -> str:
    """A plan as a person reads it who is to approve it: each step with what it does, by which tool, and its check."""
    lines = []
    for number, step in enumerate(plan["steps"], 1):
        lines += [f"{number}. {step['title']} ({step['id']}): {step.get('tool') or 'text, no tool'}"]
        lines += [f"   do:    {_indented(step['optimizer_instruction'])}"]
        lines += [f"   check: {_indented(step['evaluator_instruction'])}"]
        lines += [f"   keeps: {', '.join(step['key_outputs'])}"] if step.get("key_outputs") else []
    return "\n".join(lines)


def _indented(text: str) -> str:
    return "\n          ".join(text.strip().splitlines())


FUNCTIONS: dict[str, Callable[[StepContext], Any]] = {name_of(one): one for one in (judged, proposed)}

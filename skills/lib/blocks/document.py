"""What a block says: the guidance layer, which turns a run into a document for a formatter to render.

Re-reading what a run is for improves what is done with it (Xu et al., 2023), and an agent may have lost everything
that was printed before; so each document is complete in itself.
"""

from __future__ import annotations

from skills.lib.blocks.parts import clipped, context_elements, limit_met, notice
from skills.lib.model.requirements import Artifact, Command, Field
from skills.lib.model.run import FIXES, Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.texts import ANSWER_SHAPE, ITEM_SHAPE, JUDGED_SHAPE, number
from skills.lib.model.types import Dispatch, Element, Gate, Outcome, Person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.blocks.command_line import CommandLine
    from skills.lib.blocks.parts import Offloaded
    from skills.lib.model.requirements import Arg

# How much is printed of a question.
QUESTION_LIMIT = 3_000
ANSWER = "'FILL_answer'"
DECIDING = (
    "A person decides before anything goes on: change nothing meanwhile. Have them run the command in ANSWER. accept "
    "goes on with what is open, revise sends it back to be fixed, abandon ends the run."
)
ASKING = (
    "What this step had to prepare is recorded. Put the question below to the person as it stands, wait, and pass the "
    "answer on as it is given; what they say besides goes into --reason. Neither answer it yourself nor go on without "
    "it."
)


def step_document(
    workflow: Workflow,
    run: Run,
    command_line: CommandLine,
    brood: Sequence[Run] = (),
    notices: Sequence[Element] = (),
    offloaded: Offloaded | None = None,
    at_once: int | None = None,
) -> Element:
    """The block of the run's present step; ``offloaded`` has the context values that stand in files.

    ``at_once`` is how many sub-agents may work at a time; None is all of them.
    """
    step = workflow.step(run.step or "")
    parts = [Element("STATE", {}, _state(workflow, run, step)), *notices]
    if "limit" in run.last:
        parts.append(notice(limit_met(run)))
    if step.asks_later and run.status == "open":
        parts.append(notice("Leaving this step puts a question to a person; the run then waits for the answer."))
    context = context_elements(workflow, run, step, offloaded or {})
    if context:
        parts.append(Element("CONTEXT", {}, *context))
    parts.append(Element("DO", {}, *_actions(run, step), prose=True))
    if isinstance(step.handler, Dispatch) and run.status == "open":
        from skills.lib.blocks import dispatching

        parts.append(dispatching.dispatch_element(run, step.handler, command_line, brood, at_once))
    if run.status == "waiting":
        parts += [*_forbidden(workflow, step), *_waiting(workflow, run, command_line)]
        return Element("waiting", _attributes(workflow, run, step), *parts)
    record = _record(workflow, step, _answers_findings(workflow, run, step), run)
    if record:
        parts.append(Element("RECORD", {}, *record))
    parts += _forbidden(workflow, step)
    parts.append(Element("INVOKE_AFTER", {}, *_ways(step), *_stale_ways(workflow, run, step)))
    parts.append(Element("NEXT", {"required": "true"}, next_command(workflow, run, command_line)))
    return Element("step", _attributes(workflow, run, step), *parts)


def next_command(
    workflow: Workflow, run: Run, command_line: CommandLine, given: Mapping[str, str] | None = None
) -> str:
    """The one command that goes on from where the run stands, with a placeholder for each value to fill in.

    ``given`` says what to report in place of that, as it is written in a shell: the text of each field and parameter by
    its name, and what follows ``--record-file``, ``--outcome``, ``--answer`` or ``--reason``.
    """
    if run.status == "waiting":
        if (run.question or {}).get("at_terminal"):
            return command_line.step("current", run, turn=False)
        return command_line.step("next", run) + _flagged(given or {"--answer": ANSWER}, "--answer", "--reason")
    step = workflow.step(run.step or "")
    ways = list(dict.fromkeys(step.next.values()))
    certain = len(ways) == 1 and not step.asks_later and not (ways[0] is None and _stale_ways(workflow, run, step))
    target = (ways[0] or "done") if certain else "next"
    words = to_fill_in(workflow, run, step) if given is None else given
    command = command_line.step(target, run)
    for arg in workflow.step_params(step.id):
        if arg.name in words:
            command += f" {arg.flag} {words[arg.name]}"
    command += _flagged(words, "--record-file")
    for field in step.requires:
        if isinstance(field, Field) and field.name in words:
            command += f" --record {field.name}={words[field.name]}"
    if FIXES in words:
        command += f" --record {FIXES}={words[FIXES]}"
    return command + _flagged(words, "--erratum", "--outcome")


def to_fill_in(workflow: Workflow, run: Run, step: StepDef) -> dict[str, str]:
    """A placeholder for each value that leaving the step requires, as ``next_command`` takes them."""
    specs: list[Arg | Field] = [*workflow.step_params(step.id)]
    specs += [spec for spec in step.requires if isinstance(spec, Field)]
    words = {spec.name: placeholder(spec) for spec in specs if spec.required}
    if _answers_findings(workflow, run, step):
        words[FIXES] = f"'FILL_{FIXES}'"
    return {**words, "--outcome": "FILL_outcome"} if reports_outcome(step) else words


def _flagged(words: Mapping[str, str], *flags: str) -> str:
    return "".join(f" {flag} {words[flag]}" for flag in flags if flag in words)


def _answers_findings(workflow: Workflow, run: Run, step: StepDef) -> bool | None:
    """True if leaving the step must answer findings in the record, False if it may, None if none is open there."""
    if not run.reviews:
        return None
    from skills.lib.engine import fixes

    items = fixes.asks(workflow, run, step)
    # Who sends sub-agents goes on by what the last of them printed, and sees no RECORD again.
    return (isinstance(step.handler, Dispatch) or fixes.must_be_answered(items)) if items else None


def _stale_ways(workflow: Workflow, run: Run, step: StepDef) -> list[Element]:
    """Where a verdict leads that fell with its files, from a step that decides on it or ends the run."""
    if not run.handed:
        return []
    from skills.lib.engine import verdicts

    own = step.gate.checkpoint if step.gate else None
    names = [own] if own else [name for name, review in run.reviews.items() if review.get("passed")]
    ends = own or None in step.next.values()
    ways = []
    for name in names if ends else ():
        gate = verdicts.gate_of(workflow, name)
        if gate and gate.stale and name in run.handed:
            told = f"if a file that the review of {name} covers was changed since"
            ways.append(Element("stale", {"to": gate.stale}, told))
    return ways


def standing(workflow: Workflow, run: Run, command_line: CommandLine) -> dict[str, Any]:
    """Where an open run stands, for a program that holds the agent to it: the step, its tools, the way on."""
    step = workflow.step(run.step or "")
    return {
        "run": run.id,
        "parent": run.parent,
        "workflow": run.workflow,
        "project": command_line.project,
        "python": command_line.python,
        "script": run.script or command_line.script,
        "step": step.id,
        "title": step.title,
        "turn": run.turn,
        "status": run.status,
        "tools": list(workflow.tools_of(step)),
        "next": next_command(workflow, run, command_line),
    }


def reports_outcome(step: StepDef) -> bool:
    """Whether the agent says how the step ended: nothing computes it, and there is more than one way."""
    return step.handler is None and len(step.next) > 1


def placeholder(spec: Arg | Field) -> str:
    """What stands for a value that is still to be filled in, quoted where it will need quotes."""
    text = f"FILL_{spec.name}"
    words = spec.choices and spec.type == "text" and not any(char.isspace() for word in spec.choices for char in word)
    return text if words or spec.type in ("int", "float", "bool") else f"'{text}'"


def _attributes(workflow: Workflow, run: Run, step: StepDef) -> dict[str, object]:
    attributes: dict[str, object] = {
        "protocol": "1",
        "skill": workflow.name,
        "id": step.id,
        "number": workflow.number(step.id),
        "of": len(workflow.steps),
        "title": step.title or step.id,
        "run": run.id,
        "turn": run.turn,
    }
    if run.iteration > 1 or step.max_iterations:
        attributes["iteration"] = run.iteration
    tools = workflow.tools_of(step)
    if tools:
        attributes["tools"] = " ".join(tools)
    return attributes


def _state(workflow: Workflow, run: Run, step: StepDef) -> str:
    words = f"{workflow.title or workflow.name}: step {workflow.number(step.id)} of {len(workflow.steps)}"
    checkpoint = step.gate.checkpoint if step.gate else step.checkpoint
    if run.iteration <= (step.max_iterations or 0):
        words += f", iteration {run.iteration} of at most {step.max_iterations}"
    elif run.iteration > 1 and not checkpoint:
        words += f", iteration {run.iteration}"
    words += "."
    if "checkpoint" in run.spec:
        from skills.lib.engine import quality

        words += f" {quality.mode(run.spec)}"
    if checkpoint:
        from skills.lib.engine import quality, verdicts
        from skills.lib.model.review_loop import BOUND

        gate = step.gate or verdicts.gate_of(workflow, checkpoint)
        bound = gate.bound if gate else BOUND
        judged = isinstance(step.handler, Gate) or run.status == "waiting"
        words += " " + quality.banner(checkpoint, run.reviews.get(checkpoint), bound, judged)
    return words


def _actions(run: Run, step: StepDef) -> list[Element | str]:
    if run.status == "waiting" and "gate" in (run.question or {}):
        return [DECIDING]
    if step.asks_later and run.status == "waiting":
        return [ASKING]
    texts = step.repeat if step.repeat and run.iteration > 1 else step.actions
    return list(texts) or [f"Do what the title says: {step.title or step.id}."]


def _waiting(workflow: Workflow, run: Run, command_line: CommandLine) -> list[Element]:
    question = run.question or {}
    at_terminal = bool(question.get("at_terminal"))
    attributes: dict[str, object] = {"by": "terminal" if at_terminal else "agent"}
    if question.get("choices"):
        attributes["choices"] = "|".join(question["choices"])
    text = clipped(question.get("text", ""), QUESTION_LIMIT)
    if len(question.get("text", "")) > QUESTION_LIMIT:
        text += f"\nThe values in it are shown whole by: {command_line.person('trace', run.id, '--values')}"
    parts = [Element("QUESTION", attributes, text)]
    if at_terminal:
        parts.append(Element("ANSWER", {}, command_line.answer(run, reason="gate" in question)))
    parts.append(Element("NEXT", {"required": "true"}, next_command(workflow, run, command_line)))
    return parts


def _record(
    workflow: Workflow, step: StepDef, answers_findings: bool | None = None, run: Run | None = None
) -> list[Element]:
    fields = [spec for spec in step.requires if isinstance(spec, Field)]
    if answers_findings is not None and all(spec.name != "fixes" for spec in fields):
        from skills.lib.engine import fixes

        fields.append(Field(FIXES, "list", required=answers_findings, help=fixes.HELP))
    parts = [Element("field", _spec(field), field.help) for field in fields]
    parts += [Element("param", {"flag": arg.flag, **_spec(arg)}, arg.help) for arg in workflow.step_params(step.id)]
    for artifact in [spec for spec in step.requires if isinstance(spec, Artifact)]:
        about = {"path": artifact.path, "schema": "true"} if artifact.schema else {"path": artifact.path}
        parts.append(Element("artifact", about, artifact.help))
    for command in [spec for spec in step.requires if isinstance(spec, Command)]:
        about = {"command": " ".join(command.argv), "timeout": number(command.timeout)}
        parts.append(Element("check", about, command.help))
    if fields:
        text = (
            "Values with quotes or several lines: write them as one JSON object to a file, and give "
            "--record-file FILE in place of the --record arguments."
        )
        types = {field.type for field in fields}
        forms = "A list is a JSON array of texts. " if types & {"list", "statements"} else ""
        if types & {"items", "answers"}:
            forms += _judged(workflow, run, types)
        parts.append(Element("file", {}, forms + text))
    return parts


def _judged(workflow: Workflow, run: Run | None, types: set[str]) -> str:
    """How the items or answers of a review are written; of a reviewer's run, for what it is to judge."""
    is_review = run is not None and "checkpoint" in run.spec
    forms = ""
    if "items" in types:
        again = is_review and run is not None and run.spec.get("items")
        forms = f"Items are a JSON array, {f'one for each given: {JUDGED_SHAPE}' if again else f'each {ITEM_SHAPE}'}. "
    if "answers" in types:
        from skills.lib.engine import answers

        told = answers.form(workflow, run) if run is not None and is_review else ""
        forms += told or f"Answers are a JSON array, each {ANSWER_SHAPE}. "
    return forms


def _spec(spec: Arg | Field) -> dict[str, object]:
    attributes: dict[str, object] = {
        "name": spec.name,
        "type": spec.type,
        "required": "true" if spec.required else "false",
    }
    if spec.choices:
        attributes["choices"] = "|".join(spec.choices)
    if spec.minimum is not None:
        attributes["min"] = number(spec.minimum)
    if spec.maximum is not None:
        attributes["max"] = number(spec.maximum)
    return attributes


def _forbidden(workflow: Workflow, step: StepDef) -> list[Element]:
    rules = [Element("rule", {}, rule) for rule in workflow.forbidden_in(step)]
    return [Element("FORBIDDEN", {}, *rules)] if rules else []


def _ways(step: StepDef) -> list[Element]:
    choose = reports_outcome(step)
    ways = []
    for outcome, target in step.next.items():
        attributes: dict[str, object] = {"name": outcome.value, "to": target or "done"}
        if choose:
            attributes["flag"] = f"--outcome {outcome}"
        text = step.when.get(outcome, "")
        if outcome is Outcome.ITERATE and step.max_iterations:
            text += f"{' ' if text else ''}(at most {step.max_iterations} iterations, then {step.at_limit})"
        ways.append(Element("outcome", attributes, text))
    return ways


def look_document(workflow: Workflow, step: StepDef, command_line: CommandLine) -> Element:
    """A step to look at: no run, no turn, nothing recorded, and no gate that closes."""
    run = Run(workflow=workflow.name, step=step.id, visits={step.id: 1})
    attributes = {
        name: value for name, value in _attributes(workflow, run, step).items() if name not in ("run", "turn")
    }
    words = "Printed without a ledger, to look at: nothing is recorded and no gate closes. --step 1 opens a run."
    parts = [Element("STATE", {}, _state(workflow, run, step)), notice(words)]
    if isinstance(step.handler, Person):
        parts.append(notice(f"In a run, a person is asked here: {step.handler.question}"))
    parts.append(Element("DO", {}, *_actions(run, step), prose=True))
    record = _record(workflow, step)
    if record:
        parts.append(Element("RECORD", {}, *record))
    parts += _forbidden(workflow, step)
    parts.append(Element("INVOKE_AFTER", {}, *_ways(step)))
    gated = isinstance(step.handler, (Gate, Dispatch, Person))
    onward = [target for target in step.next.values() if target and target != step.id]
    command = command_line.start() if gated or not onward else command_line.look(onward[0])
    parts.append(Element("NEXT", {"required": "true"}, command))
    return Element("step", {**attributes, "stateless": "true"}, *parts)

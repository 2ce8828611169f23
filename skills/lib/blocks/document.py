"""What a block says: turns a run into the document of its present step, for a renderer.

Re-reading what a run is for improves what is done with it (Xu et al., 2023), and an agent may have lost everything
that was printed before; so each document is complete in itself.
"""

from __future__ import annotations

from skills.lib import compact_json
from skills.lib.blocks import parts, xml
from skills.lib.blocks.command_line import STORED, quote, with_report
from skills.lib.model.requirements import Arg, Field, Requirement
from skills.lib.model.run import FIXES, Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.texts import ANSWER_SHAPE, ITEM_SHAPE, JUDGED_SHAPE
from skills.lib.model.types import BOUND, Dispatch, Element, Gate, Outcome, Person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.blocks.command_line import CommandLine

# How much is printed of a question.
QUESTION_LIMIT = 3_000
DECIDING = (
    "A person decides before anything goes on: change nothing meanwhile. Put the question below to them as it stands, "
    "and wait. accept goes on with what is open, revise sends it back to be fixed, abandon ends the run."
)
BY_A_PERSON = (
    "Only their own word counts: what they say here in the chat, with the words of a choice, and you then pass on by "
    "NEXT; or the command in ANSWER, which they run at a terminal."
)
ASKING = (
    "What this step had to prepare is recorded. Put the question below to the person as it stands, wait, and pass the "
    "answer on as it is given; what they say besides goes into --reason. Neither answer it yourself nor go on without "
    "it."
)
# How the values of fields are given to a command; who calls tools is told another way.
TO_A_FILE = (
    "Values with quotes or several lines: write them as one JSON object to a file, and give --record-file FILE in "
    "place of the --record arguments."
)


def step_document(
    workflow: Workflow,
    run: Run,
    command_line: CommandLine,
    children: Sequence[Run] = (),
    notices: Sequence[Element] = (),
    max_parallel: int | None = None,
) -> Element:
    """The block of the run's present step; at most ``max_parallel`` sub-agents work at a time, None means all."""
    step = workflow.step(run.step or "")
    notices = [*notices, *map(parts.notice, parts.limits_met(run))]
    if step.asks_later and run.status == "open":
        notices.append(
            parts.notice("Leaving this step puts a question to a person; the run then waits for the answer.")
        )
    dispatch = record = None
    if run.status == "waiting":
        onward = _waiting(workflow, run, command_line)
    else:
        if isinstance(step.handler, Dispatch) and run.status == "open":
            from skills.lib.blocks import dispatching  # few steps start sub-agents

            dispatch = dispatching.dispatch_element(run, step.handler, command_line, children, max_parallel)
        command = next_command(workflow, run, command_line)
        record = _record(workflow, step, run, command_line.is_short(command) and workflow.output != "text")
        onward = [*_onward(workflow, run, step), parts.next_element(command)]
    return parts.assemble(
        "waiting" if run.status == "waiting" else "step",
        _attributes(workflow, run, step),
        _state(workflow, run, step),
        [command_line.with_program(text) for text in _actions(run, step)],
        notices,
        parts.context(workflow, run, step),
        dispatch,
        record,
        parts.forbidden(workflow.forbidden_in(step)),
        onward,
    )


def next_command(
    workflow: Workflow,
    run: Run,
    command_line: CommandLine,
    given: Mapping[str, Any] | None = None,
    files: Sequence[str] = (),
) -> str:
    """The one command that goes on from the run's present step, with a placeholder for each value to fill in.

    ``given`` has instead what to report: the value of each field and parameter by its name, and that of ``--outcome``,
    ``--answer``, ``--reason`` or ``--erratum`` (a list); None is to be filled in. ``files`` are record files.
    """
    if run.status == "waiting":
        return command_line.step("next", run) + _flagged(given or to_answer(run), "--answer", "--reason")
    step = workflow.step(run.step or "")
    ways = list(dict.fromkeys(step.next.values()))
    certain = len(ways) == 1 and not step.asks_later and not (ways[0] is None and _stale_ways(workflow, run, step))
    values = to_fill_in(workflow, run, step) if given is None else given
    command = command_line.step((ways[0] or "done") if certain else "next", run)
    specs: list[Arg | Field] = [*workflow.step_params(step.id)]
    specs += [spec for spec in step.requires if isinstance(spec, Field)]
    if FIXES in values and all(spec.name != FIXES for spec in specs):
        specs.append(Field(FIXES, "list"))
    specs = [spec for spec in specs if spec.name in values]
    named = "".join(f" --record-file {quote(path)}" for path in files)
    flags = _flagged(values, "--erratum", "--outcome")
    if command_line.is_short(command) and workflow.output != "text":
        report = {spec.name: _in_json(spec, values[spec.name]) for spec in specs}
        return with_report(command + named + flags, run.id, report) if report else command + named + flags
    params = [f" {spec.flag} {_in_shell(spec, values[spec.name])}" for spec in specs if isinstance(spec, Arg)]
    fields = [
        f" --record {spec.name}={_in_shell(spec, values[spec.name])}" for spec in specs if isinstance(spec, Field)
    ]
    return "".join([command, *params, named, *fields, flags])


def _in_json(spec: Arg | Field, value: Any) -> Any:
    """A value as a report in JSON has it."""
    if value is not None:
        return value
    return [f"FILL_{spec.name}"] if spec.type == "list" else f"FILL_{spec.name}"


def _in_shell(spec: Arg | Field, value: Any) -> str:
    """A value as a word for the shell."""
    if value is None:
        return placeholder(spec)
    return quote(value if isinstance(value, str) else compact_json.readable(value))


def to_fill_in(workflow: Workflow, run: Run, step: StepDef) -> dict[str, Any]:
    """What leaving the step requires, each as None, as ``next_command`` takes it."""
    specs: list[Arg | Field] = [*workflow.step_params(step.id)]
    specs += [spec for spec in step.requires if isinstance(spec, Field)]
    names = [spec.name for spec in specs if spec.required]
    names += [FIXES] if _answers_findings(workflow, run, step) and FIXES not in names else []
    return dict.fromkeys([*names, "--outcome"] if reports_outcome(step) else names)


def to_answer(run: Run) -> dict[str, Any]:
    """What answers the question of a run, as ``next_command`` takes it; a decision has a reason."""
    return dict.fromkeys(["--answer", "--reason"] if "gate" in (run.question or {}) else ["--answer"])


def _flagged(values: Mapping[str, Any], *flags: str) -> str:
    """Flags with their values as words for the shell; several for a list."""
    words = ""
    for flag in flags:
        if flag in values:
            text = "FILL_outcome" if flag == "--outcome" else f"'FILL_{flag[2:]}'"
            given = values[flag]
            for one in given if isinstance(given, list) else [given]:
                words += f" {flag} {text if one is None else quote(one)}"
    return words


def _answers_findings(workflow: Workflow, run: Run, step: StepDef) -> bool | None:
    """True if leaving the step must answer findings in the record, False if it may, None if none is open there."""
    if not run.reviews:
        return None
    from skills.lib.engine import fixes  # few runs have reviews

    items = fixes.asks(workflow, run, step)
    # Who sends sub-agents goes on by what the last of them printed, and sees no RECORD again.
    return (isinstance(step.handler, Dispatch) or fixes.must_be_answered(items)) if items else None


def _stale_ways(workflow: Workflow, run: Run, step: StepDef) -> list[Element]:
    """Where a run goes if a reviewed file was changed, from a step that decides on the verdict or ends the run."""
    if not run.handed:
        return []
    from skills.lib.engine import verdicts  # few runs have reviews

    own = step.gate.checkpoint if step.gate else None
    names = [own] if own else [name for name, review in run.reviews.items() if review.get("passed")]
    ends = own or None in step.next.values()
    ways = []
    for name in names if ends else ():
        gate = verdicts.gate_of(workflow, name)
        if gate and gate.stale and name in run.handed:
            changed = f"if a file that the review of {name} covers was changed since"
            ways.append(Element("stale", {"to": gate.stale}, changed))
    return ways


def run_status(workflow: Workflow, run: Run, command_line: CommandLine) -> dict[str, Any]:
    """The status of an open run, for a program that holds the agent to it: the step, its tools, the next command."""
    step = workflow.step(run.step or "")
    return {
        "run": run.id,
        "parent": run.parent,
        "workflow": run.workflow,
        "project": command_line.project,
        "python": command_line.python,
        "script": run.script or command_line.script or STORED,
        "step": step.id,
        "title": step.title,
        "turn": run.turn,
        "status": run.status,
        "tools": list(workflow.tools_of(step)),
        "next": next_command(workflow, run, command_line),
        # No command moved the run, although it left steps.
        **({"opened": True} if run.turn > 1 and not run.has_moved else {}),
        **({"policy": workflow.policy} if workflow.policy else {}),
        **({"layers": {one.skill: one.policy for one in workflow.layers if one.policy}} if workflow.layers else {}),
    }


def reports_outcome(step: StepDef) -> bool:
    """True if the agent says how the step ended: nothing computes it, and there is more than one way."""
    return step.handler is None and len(step.next) > 1


def placeholder(spec: Arg | Field) -> str:
    """The placeholder of a value that is still to be filled in, quoted if the value will need quotes."""
    text = f"FILL_{spec.name}"
    words = spec.choices and spec.type == "text" and not any(char.isspace() for word in spec.choices for char in word)
    return text if words or spec.type in ("int", "float", "bool") else f"'{text}'"


def _attributes(workflow: Workflow, run: Run, step: StepDef) -> dict[str, object]:
    return {
        "protocol": "1",
        "skill": workflow.name,
        "id": step.id,
        "number": workflow.number(step.id),
        "of": len(workflow.steps),
        "title": step.title or step.id,
        "run": run.id,
        "turn": run.turn,
        "iteration": run.iteration if run.iteration > 1 or step.max_iterations else None,
        "tools": " ".join(workflow.tools_of(step)) or None,
    }


def _state(workflow: Workflow, run: Run, step: StepDef) -> str:
    words = f"{workflow.title or workflow.name}: step {workflow.number(step.id)} of {len(workflow.steps)}"
    checkpoint = step.gate.checkpoint if step.gate else step.checkpoint
    if run.iteration <= (step.max_iterations or 0):
        words += f", iteration {run.iteration} of at most {step.max_iterations}"
    elif run.iteration > 1 and not checkpoint:
        words += f", iteration {run.iteration}"
    words += "."
    if "left" in run.last:
        from skills.lib.blocks import walked  # few steps are walked through

        words += walked.through(workflow, run)
    if "checkpoint" in run.spec or checkpoint:
        from skills.lib.engine import verdicts  # few steps are of a review

    if "checkpoint" in run.spec:
        words += f" {verdicts.mode(run.spec)}"
    if checkpoint:
        gate = step.gate or verdicts.gate_of(workflow, checkpoint)
        bound = gate.bound if gate else BOUND
        judged = isinstance(step.handler, Gate) or run.status == "waiting"
        words += " " + verdicts.banner(checkpoint, run.reviews.get(checkpoint), bound, judged)
    return words


def _actions(run: Run, step: StepDef) -> list[Element | str]:
    question = (run.question if run.status == "waiting" else None) or {}
    ways = [BY_A_PERSON] if question.get("at_terminal") else []
    if "gate" in question:
        return [DECIDING, *ways]
    if step.asks_later and run.status == "waiting":
        return [ASKING, *ways]
    texts = step.repeat if step.repeat and run.iteration > 1 else step.actions
    return [*(texts or [f"Do what the title says: {step.title or step.id}."]), *ways]


def _waiting(workflow: Workflow, run: Run, command_line: CommandLine) -> list[Element]:
    question = run.question or {}
    at_terminal = bool(question.get("at_terminal"))
    choices = "|".join(question.get("choices") or ()) or None
    attributes = {"by": "person" if at_terminal else "agent", "choices": choices}
    text = parts.clipped(question.get("text", ""), QUESTION_LIMIT)
    if len(question.get("text", "")) > QUESTION_LIMIT:
        text += f"\nThe values in it are shown whole by: {command_line.person('trace', run.id, '--values')}"
    found = [Element("QUESTION", attributes, text)]
    if at_terminal:
        takes_reason = "gate" in question or "reasons" in question
        found.append(Element("ANSWER", None, command_line.answer(run, reason=takes_reason)))
    return [*found, parts.next_element(next_command(workflow, run, command_line))]


def required(workflow: Workflow, run: Run, step: StepDef) -> list[Requirement | Arg]:
    """What leaving the step requires of its run: its requirements, answers to findings, and its parameters."""
    found: list[Requirement | Arg] = [*step.requires]
    answers_findings = _answers_findings(workflow, run, step)
    if answers_findings is not None and all(spec.name != FIXES for spec in found if isinstance(spec, Field)):
        from skills.lib.engine import fixes  # few runs have reviews

        found.append(Field(FIXES, "list", required=answers_findings, help=fixes.HELP))
    return [*found, *workflow.step_params(step.id)]


def _record(workflow: Workflow, step: StepDef, run: Run, in_json: bool) -> Element:
    return parts.record(required(workflow, run, step), writing(workflow, step, run, in_json))


def writing(workflow: Workflow, step: StepDef, run: Run, in_json: bool) -> str:
    """How the fields that a step requires of its run are written; empty if there is nothing to say.

    With ``in_json`` NEXT takes the report as JSON, and shows how texts and lists are written.
    """
    types = {spec.type for spec in required(workflow, run, step) if isinstance(spec, Field)}
    words = "A list is a JSON array of texts. " if types & {"list", "statements"} and not in_json else ""
    if types & {"items", "answers"}:
        words += _judged(workflow, run, types)
    return (words if in_json or not types else f"{words}{TO_A_FILE}").rstrip(" ")


def _judged(workflow: Workflow, run: Run, types: set[str]) -> str:
    """How the items or answers of a review are written; in a reviewer's run, those that it is to judge."""
    is_review = "checkpoint" in run.spec
    forms = ""
    if "items" in types:
        again = is_review and run.spec.get("items")
        forms = f"Items are a JSON array, {f'one for each given: {JUDGED_SHAPE}' if again else f'each {ITEM_SHAPE}'}. "
    if "answers" in types:
        from skills.lib.engine import answers  # only reviewers report these

        form = answers.form(workflow, run) if is_review else ""
        forms += form or f"Answers are a JSON array, each {ANSWER_SHAPE}. "
    return forms


def _onward(workflow: Workflow, run: Run, step: StepDef) -> list[Element]:
    """Where each outcome leads; nothing if there is one way, of which no more is said than NEXT does."""
    ways = [*_ways(workflow, step), *_stale_ways(workflow, run, step)]
    says_more = len(ways) > 1 or any(way.attributes.get("flag") or any(way.children) for way in ways)
    return [Element("INVOKE_AFTER", None, *ways)] if says_more else []


def _at_limit(workflow: Workflow, step: StepDef, outcome: Outcome, before: str) -> str:
    """What ends the loop of ITERATE, or of a word of the workflow's own; empty if the word leads round no loop."""
    then = str(step.at_limit)
    if outcome.is_own:
        from skills.lib.engine import loops  # few workflows have words of their own

        if not loops.leads_back(workflow, step, outcome):
            return ""
        if not loops.leaves_at_limit(workflow, step, outcome):
            then = "a person decides"
    return f"{before}(at most {step.max_iterations} iterations, then {then})"


def _ways(workflow: Workflow, step: StepDef) -> list[Element]:
    choose = reports_outcome(step)
    ways = []
    for name, target in step.next.items():
        text = step.when.get(name, "")
        if step.max_iterations and (name is Outcome.ITERATE or name.is_own):
            text += _at_limit(workflow, step, name, " " if text else "")
        ways.append(parts.outcome(name, target, text, f"--outcome {name}" if choose else None))
    return ways


def render(workflow: Workflow | None, element: Element) -> str:
    """The document as the workflow wants it: XML, or plain text; a refusal is always XML."""
    if workflow is not None and workflow.output == "text" and element.tag != "refused":
        from skills.lib.blocks import text  # few workflows print plain text

        return text.render(element) + "\n"
    return xml.render(element) + "\n"


def look_document(workflow: Workflow, step: StepDef, command_line: CommandLine) -> Element:
    """A step to look at: no run, no turn, nothing recorded, and no gate that closes."""
    run = Run(workflow=workflow.name, step=step.id, visits={step.id: 1})
    attributes = {**_attributes(workflow, run, step), "run": None, "turn": None, "stateless": "true"}
    words = "Printed without a ledger, to look at: nothing is recorded and no gate closes. --step 1 opens a run."
    notices = [parts.notice(words)]
    if isinstance(step.handler, Person):
        notices.append(parts.notice(f"In a run, a person is asked here: {step.handler.question}"))
    gated = isinstance(step.handler, (Gate, Dispatch, Person))
    targets = [target for target in step.next.values() if target and target != step.id]
    command = command_line.start() if gated or not targets else command_line.look(targets[0])
    return parts.assemble(
        "step",
        attributes,
        _state(workflow, run, step),
        [command_line.with_program(text) for text in _actions(run, step)],
        notices,
        record=_record(workflow, step, run, False),
        forbidden=parts.forbidden(workflow.forbidden_in(step)),
        onward=[Element("INVOKE_AFTER", None, *_ways(workflow, step)), parts.next_element(command)],
    )

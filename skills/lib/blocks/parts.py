"""The parts of a block: each element that documents and formatters share, and the recorded values that a step needs."""

from __future__ import annotations

from skills.lib.blocks.command_line import CommandLine, join
from skills.lib.model.requirements import Arg, Artifact, Command, Field, Requirement
from skills.lib.model.run import Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.texts import number, present
from skills.lib.model.types import AgentRole, Element, Person, Rendered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any


# What hosts cut hook and tool output at (lessons measured on four clients).
BLOCK_LIMIT = 10_000
# A check that takes longer says how long it may: hosts cut commands off after two minutes.
QUICK = 60
# The order of RECORD.
_RECORDED = (Field, Arg, Artifact, Command)


def assemble(
    tag: str,
    attributes: Mapping[str, object],
    state: str,
    actions: Sequence[Element | str],
    notices: Sequence[Element] = (),
    context: Element | Rendered | None = None,
    dispatch: Element | None = None,
    record: Element | Rendered | None = None,
    forbidden: Element | Rendered | None = None,
    onward: Sequence[Element | Rendered] = (),
) -> Element:
    """The document of a step, its sections in the order of the grammar; ``onward`` says how it goes on."""
    do = Element("DO", None, *actions, prose=True)
    body = [*filled(context), do, *filled(dispatch, record, forbidden)]
    return Element(tag, attributes, Element("STATE", None, state), *notices, *body, *onward)


def filled(*sections: Element | Rendered | None) -> list[Element | Rendered]:
    """The sections with content: None and an element without children are left out."""
    return [section for section in sections if isinstance(section, Rendered) or (section and section.children)]


def notice(words: str, command: str = "") -> Element:
    """A remark above what is to be done, with the command that it names."""
    return Element("NOTICE", None, *_with_command(words, command))


def value(step: str, name: str, recorded: Any, errata: Sequence[str] = ()) -> Element:
    """A recorded value as a block shows it, with what was found wrong with it since; a run's parameter has no step."""
    attributes = {"step": step or None, "name": name, "erratum": "; ".join(errata) or None}
    return Element("value", attributes, present(recorded))


def record(requirements: Iterable[Requirement | Arg], writing: str = "") -> Element:
    """What to report and what will be checked: fields, then parameters, files and commands.

    ``writing`` says how the values of fields are written.
    """
    required = [_requirement(one) for one in sorted(requirements, key=lambda one: _RECORDED.index(type(one)))]
    return Element("RECORD", None, *required, *([Element("file", None, writing)] if writing else []))


def _requirement(required: Requirement | Arg) -> Element:
    if isinstance(required, Artifact):
        schema = None if required.schema is None else "true"
        return Element("artifact", {"path": required.path, "schema": schema}, required.help)
    if isinstance(required, Command):
        timeout = number(required.timeout) if required.timeout > QUICK else None
        return Element("check", {"command": _shown(required.argv), "timeout": timeout}, required.help)
    tag, flag = ("param", required.flag) if isinstance(required, Arg) else ("field", None)
    attributes = {
        "flag": flag,
        "name": required.name,
        "type": required.type,
        "required": None if required.required else "false",
        "choices": "|".join(required.choices) or None,
        "min": None if required.minimum is None else number(required.minimum),
        "max": None if required.maximum is None else number(required.maximum),
    }
    return Element(tag, attributes, required.help)


def _shown(argv: Sequence[str]) -> str:
    """The command of a check, with … for the recorded values at its end."""
    words = list(argv)
    while len(words) > 1 and words[-1][:1] == "{" and words[-1].find("}") == len(words[-1]) - 1:
        words.pop()
    return join(words) + " …" * (len(words) < len(argv))


def forbidden(rules: Iterable[str]) -> Element:
    """What must not be done."""
    return Element("FORBIDDEN", None, *[Element("rule", None, rule) for rule in rules])


def outcome(name: str, target: object, when: str = "", flag: str | None = None, command: str = "") -> Element:
    """Where an outcome leads (None is the end), when it is the right one, and what reports it."""
    attributes = {"name": name, "to": "done" if target is None else target, "flag": flag}
    return Element("outcome", attributes, *_with_command(when, command))


def next_element(command: str) -> Element:
    """The one command that goes on."""
    return Element("NEXT", {"required": "true"}, command)


def dispatch(
    agent: AgentRole | str, model: str | None, children: int, left: int | None, how: str, *parts: Element
) -> Element:
    """Sub-agents: what to do with them, then what each gets; ``left`` have not ended (None: not counted)."""
    attributes = {"agent": str(agent), "model": model or None, "children": children, "left": left}
    return Element("DISPATCH", attributes, Element("how", None, how), *parts)


def _with_command(words: str, command: str) -> tuple[str | Element, ...]:
    """Words, and the command that they speak of after them."""
    if not command:
        return (words,)
    shown = Element("command", None, command)
    return (f"{words} ", shown) if words else (shown,)


def context_values(workflow: Workflow, run: Run, step: StepDef) -> list[tuple[str, str, str, str]]:
    """What the step needs as (key, step or '', name, text); a value that no step recorded is left out.

    No two values have the same key: a checkpoint may have the name of a step that records findings. Empty for a
    waiting run, unless its step only asks: then the agent needs the values to answer the person.
    """
    if run.status == "waiting" and (step.asks_later or not isinstance(step.handler, Person)):
        return []
    found = []
    given = run.spec.get("values", {})
    for need in dict.fromkeys((*given, *step.needs)):
        source, _, name = need.rpartition(".")
        state = run.state.get(source, {}) if source else run.params
        if need in given:
            state = {name: given[need]}
        if state.get(name) is not None:
            found.append((need, source, name, present(state[name])))
    if "checkpoint" in run.spec:
        from skills.lib.engine import answers, children  # few runs are a reviewer's

        # Without what the earlier review made of them: fresh eyes judge again.
        again = [
            f"{item['id']} ({item['severity']}, {item['scope'] or 'whole'}): {item['check']}"
            for item in answers.to_judge(workflow, run.spec)
        ]
        given_to_review = {
            "items": again,
            "checks": children.to_check(run.spec),
            "accepted": run.spec.get("accepted"),
            "changed": run.spec.get("since"),
        }
        found += [(f"review.given.{name}", "", name, present(one)) for name, one in given_to_review.items() if one]
    if run.reviews:
        from skills.lib.blocks import findings  # few runs have reviews

        found += [
            (f"review.{checkpoint}.findings", checkpoint, "findings", present(lines))
            for checkpoint, lines in findings.to_fix(workflow, run, step)
        ]
    return found


def context(workflow: Workflow, run: Run, step: StepDef) -> Element:
    """The values that the step needs."""
    found = context_values(workflow, run, step)
    values = [value(source, name, text, run.errata.get(key, ())) for key, source, name, text in found]
    return Element("CONTEXT", None, *values)


def is_of_review(key: str) -> bool:
    """True if the key is that of a review's findings, or of items to verify."""
    return key.startswith("review.") and key.count(".") == 2


def clipped(text: str, limit: int) -> str:
    """At most ``limit`` characters of a text; one that is longer is followed by its length."""
    return text if len(text) <= limit else f"{text[:limit]} … ({len(text):,} characters)"


def child_command(child: Run, command_line: CommandLine) -> str:
    """The command that a sub-agent is given: its first one, or the one that prints its present block."""
    step = "1" if child.status == "pending" else "current"
    return command_line.step(step, child, turn=False)


def limits_met(run: Run) -> list[str]:
    """A sentence for each step that the last request left because its iterations were used up."""
    found = []
    for left in run.last.get("left") or [run.last]:
        if "limit" in left:
            spent = f"{left['limit']} iterations were" if left["limit"] > 1 else "one iteration was"
            found.append(f"{left['step']} was left because its {spent} used up, not because it was done.")
    return found

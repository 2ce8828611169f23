"""Parts of a block: the recorded values that a step needs, notices, the command of a sub-agent."""

from __future__ import annotations

from skills.lib.model.requirements import Field
from skills.lib.model.run import Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.texts import present
from skills.lib.model.types import Element, Person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.blocks.command_line import CommandLine

    # By the key of a value: the file that holds it whole, and the excerpt that the block shows.
    Offloaded = Mapping[str, tuple[str, str]]

# What hosts cut hook and tool output at (lessons measured on four clients).
BLOCK_LIMIT = 10_000


def context_values(workflow: Workflow, run: Run, step: StepDef) -> list[tuple[str, str, str, str]]:
    """What the step needs as (key, step or '', name, text); what no step on the way recorded is left out.

    The key is no other value's: a checkpoint may be called as a step is, and the step may record findings. Empty for a
    run that waits, unless its step does nothing but ask: then the agent needs the values to answer the person.
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
        from skills.lib.engine import answers, children

        given_to_review = {
            "items": children.to_verify(answers.to_judge(workflow, run.spec)),
            "checks": children.to_check(run.spec),
            "accepted": run.spec.get("accepted"),
            "changed": run.spec.get("since"),
        }
        found += [(f"review.given.{name}", "", name, present(told)) for name, told in given_to_review.items() if told]
    if run.reviews:
        found += [
            (f"review.{checkpoint}.findings", checkpoint, "findings", present(told))
            for checkpoint, told in _to_fix(workflow, run, step)
        ]
    return found


def shown_values(workflow: Workflow, run: Run) -> list[tuple[str, str, str, str]]:
    """The values that the run's present block shows, its end too: what may stand in files where the block is long."""
    if run.ended:
        last = run.last.get("step", "")
        return [(f"{last}.{name}", last, name, present(value)) for name, value in result_values(workflow, run, last)]
    return context_values(workflow, run, workflow.step(run.step or ""))


def context_elements(workflow: Workflow, run: Run, step: StepDef, offloaded: Offloaded) -> list[Element]:
    elements = []
    for key, source, name, text in context_values(workflow, run, step):
        elements.append(value_element(source, name, text, offloaded.get(key), run.errata.get(key)))
    return elements


def value_element(
    source: str,
    name: str,
    value: Any,
    offloaded: tuple[str, str] | None = None,
    errata: Sequence[str] | None = None,
) -> Element:
    """A recorded value as a block shows it, with what was found wrong with it since."""
    attributes: dict[str, object] = {"step": source, "name": name} if source else {"name": name}
    if errata:
        attributes["erratum"] = "; ".join(errata)
    text = present(value)
    if offloaded:
        attributes["file"], excerpt = offloaded
        text = f"{excerpt} … ({len(text):,} characters; read the file for all of it)"
    return Element("value", attributes, text)


def is_of_review(key: str) -> bool:
    """True if the key is that of a review's findings, or of items to verify."""
    return key.startswith("review.") and key.count(".") == 2


def _to_fix(workflow: Workflow, run: Run, step: StepDef) -> list[tuple[str, list[str]]]:
    """The blocking findings that sent the run back to this step, by checkpoint; or the files whose verdict fell."""
    from skills.lib.engine import fixes, quality

    found = []
    asked = fixes.asked_at(workflow, run, step)
    for checkpoint, review in run.reviews.items():
        if review.get("sent_back_to") != step.id and checkpoint not in asked:
            continue
        if review.get("passed"):
            lines = [f"{path} was changed after this review passed it" for path in review.get("changed", ())]
        else:
            lines = [
                _finding(fixes.name_of(run, checkpoint, item), item, review.get("upheld", ()))
                for item in quality.blocking_now(review)
            ]
        found += [(checkpoint, lines)] if lines else []
    return found


def _finding(name: str, item: Mapping[str, str], upheld: Sequence[str]) -> str:
    place = f" [{item['place']}]" if item.get("place") else ""
    ruled = ". A person decided that this is right: it is disputed no more." if item["id"] in upheld else ""
    return f"{name} ({item['severity']}) {item['check']}: {item['finding']}{place}{ruled}"


def _without_digest(item: Any) -> Any:
    """An item of a review as a reader wants it: its place says which file, and no digest."""
    if not isinstance(item, dict):
        return item
    return {name: part for name, part in item.items() if name not in ("file", "content", "text", "failed")}


def result_values(workflow: Workflow, run: Run, last: str) -> list[tuple[str, Any]]:
    """What the last step recorded, in the order of its fields: the ledger keeps none, and a repeat prints the same.

    Answers are left out, and what commands judged, for the items of a review say the same and more.
    """
    state = run.state.get(last, {})
    specs = [spec for spec in workflow.step(last).requires if isinstance(spec, Field)] if workflow.has(last) else []
    if "checkpoint" in run.spec and isinstance(state.get("items"), list):
        known = ["judged", *[spec.name for spec in specs if spec.type == "answers"]]
        state = {name: value for name, value in state.items() if name not in known}
        state["items"] = [_without_digest(item) for item in state["items"]]
    names = [spec.name for spec in specs if spec.name in state]
    return [(name, state[name]) for name in [*names, *sorted(set(state) - set(names))]]


def clipped(text: str, limit: int) -> str:
    """A text of at most ``limit`` characters whole; of a longer one as many, and how long it is."""
    return text if len(text) <= limit else f"{text[:limit]} … ({len(text):,} characters)"


def notice(words: str, command: str = "") -> Element:
    """A remark above what is to be done, with the command it speaks of."""
    if not command:
        return Element("NOTICE", {}, words)
    return Element("NOTICE", {}, f"{words} ", Element("command", {}, command))


def child_command(child: Run, command_line: CommandLine) -> str:
    """The command that a sub-agent is given: its first, or the one that shows where it stands."""
    step = "1" if child.status == "pending" else "current"
    return command_line.step(step, child, turn=False)


def limit_met(run: Run) -> str:
    """That the step left last ended for want of iterations."""
    step, limit = run.last["step"], run.last["limit"]
    spent = f"{limit} iterations were" if limit > 1 else "one iteration was"
    return f"{step} was left because its {spent} used up, not because it was done."

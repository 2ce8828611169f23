"""The brief block: the reply to an accepted report, without what its reader has just seen or typed.

Nothing is stored for it. By induction from the last full block, a reader knows every value that the answered block
had in CONTEXT, whether it was printed there or left out.
"""

from __future__ import annotations

from skills.lib.blocks import document, parts
from skills.lib.model import values
from skills.lib.model.requirements import Arg, Field
from skills.lib.model.types import Element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from skills.lib.model.run import Request, Run
    from skills.lib.model.steps import Workflow

    Shown = tuple[object, ...]

# The block of each turn that is a multiple of this is full, as the first one is.
EVERY = 5
# A shorter value is printed again: its name alone takes hardly less.
SHORT = 40
# The fewest characters that are worth the line that says what is left out.
WORTH_IT = 180
# Types whose values the engine numbers or completes: what is kept is not what was reported.
_COMPLETED = ("items", "statements", "answers")


def may_be(before: Run, after: Run) -> bool:
    """True if the block after a report may be brief: the run moved on, and not to or past a fifth turn.

    It is full if a person answered before: who reports now may not have seen the block that came of that.
    """
    left = [str(one.get("step")) for one in before.last.get("left") or [before.last]]
    was_answered = any("answered_by" in before.state.get(step, {}) for step in left)
    return before.turn // EVERY == after.turn // EVERY and before.turn < after.turn and not was_answered


def shortened(
    element: Element,
    workflow: Workflow,
    before: Run,
    after: Run,
    request: Request,
    is_offloaded: Callable[[str, str], bool],
    command: str,
) -> Element:
    """The block of ``after`` without what the request reported, or what the block of ``before`` showed.

    ``is_offloaded`` says of the key and text of a value whether that block gave it by a file. ``command`` prints the
    whole block. The block stays as it is if too little would be left out.
    """
    known = _seen(workflow, before, is_offloaded) | _reported(workflow, before, after, request)
    attributes, tools = dict(element.attributes), element.attributes.get("tools")
    known_help = _known_help(workflow, before)
    inside: list[Element] = []
    names, saved, what = [], 0, []
    if tools and tools == " ".join(workflow.tools_of(workflow.step(before.step or ""))):
        what, saved = ["tools"], len(str(attributes.pop("tools")))
    for section in _elements(element):
        if section.tag == "CONTEXT":
            every = [_name(one) for one in _elements(section)]
            left_out = [
                one for one in _elements(section) if _is_known(one, known, after) and every.count(_name(one)) == 1
            ]
            names = [_name(one) for one in left_out]
            saved += sum(len(str(one.children[0])) for one in left_out)
            section = _without(section, left_out)
        elif section.tag == "RECORD":
            help_again = [one for one in _elements(section) if one.tag == "file" and one.children[0] in known_help]
            what += ["how fields are written"] * bool(help_again)
            saved += sum(len(str(one.children[0])) for one in help_again)
            section = _without(section, help_again)
        inside.append(section)
    if saved < WORTH_IT:
        return element
    words = f"Left out, as you have it: {', '.join([*['these values'] * bool(names), *what])}. All: "
    first = Element("BRIEF", {"context": " ".join(names) or None}, words, Element("command", None, command))
    kept = [one for one in inside if one.children or one.tag not in ("CONTEXT", "RECORD")]
    return Element(element.tag, attributes, first, *kept, prose=element.prose)


def end(
    element: Element,
    workflow: Workflow,
    before: Run,
    after: Run,
    request: Request,
    is_told: bool,
    command: str,
) -> Element:
    """The end of a run without what the request reported; ``is_told`` leaves out all of RESULT.

    That is for a sub-agent whose orchestrator's next block says what its run came to. ``command`` prints the whole
    block. It stays as it is if too little would be left out.
    """
    known = _reported(workflow, before, after, request)
    if after.parent and not is_told:
        return element  # whoever started the sub-agent reads this, and reported nothing of it
    results = [value for one in _elements(element) if one.tag == "RESULT" for value in _elements(one)]
    left_out = [value for value in results if is_told or _is_known(value, known, after)]
    if sum(len(str(value.children[0])) for value in left_out) < WORTH_IT:
        return element
    names = None if is_told else " ".join([_name(value) for value in left_out])
    words = "RESULT is left out: the orchestrator's next block has it." if is_told else "Left out, as you reported it."
    first = Element("BRIEF", {"result": names}, f"{words} All: ", Element("command", None, command))
    inside = [_without(one, left_out) if one.tag == "RESULT" else one for one in _elements(element)]
    kept = [one for one in inside if one.children or one.tag != "RESULT"]
    return Element(element.tag, element.attributes, first, *kept)


def _known_help(workflow: Workflow, before: Run) -> list[str]:
    """How fields are written, as blocks of the run said before."""
    steps = [workflow.step(step) for step in before.visits if workflow.has(step)]
    return [document.writing(workflow, step, before, in_json) for step in steps for in_json in (False, True)]


def _seen(workflow: Workflow, before: Run, is_offloaded: Callable[[str, str], bool]) -> set[Shown]:
    """What the reader of a run's block knows of CONTEXT, but for what a file holds."""
    step = workflow.step(before.step or "")
    return {
        _shown(parts.value(source, name, text, before.errata.get(key, ())))
        for key, source, name, text in parts.context_values(workflow, before, step)
        if not is_offloaded(key, text)
    }


def _reported(workflow: Workflow, before: Run, after: Run, request: Request) -> set[Shown]:
    """The values that the request gave and the run has as they were given."""
    step = workflow.step(before.step or "")
    given, kept = {**request.params, **request.records}, after.state.get(step.id, {})
    specs: list[Arg | Field] = [*workflow.step_params(step.id)]
    specs += [one for one in step.requires if isinstance(one, Field)]
    found = set()
    for spec in specs:
        if spec.name in given and spec.name in kept and spec.type not in _COMPLETED:
            try:
                is_same = values.read(spec, given[spec.name]) == kept[spec.name]
            except ValueError:
                continue
            if is_same:
                found.add(_shown(parts.value(step.id, spec.name, kept[spec.name])))
    return found


def _shown(value: Element) -> Shown:
    return (*value.attributes.items(), *value.children)


def _is_known(value: Element, known: set[Shown], after: Run) -> bool:
    """True for a value that need not be printed; the findings that a review sent back always are."""
    is_finding = value.attributes["name"] == "findings" and value.attributes.get("step") in after.reviews
    return _shown(value) in known and len(str(value.children[0])) >= SHORT and not is_finding


def _name(value: Element) -> str:
    return ".".join([str(value.attributes[name]) for name in ("step", "name") if name in value.attributes])


def _elements(section: Element) -> list[Element]:
    return [one for one in section.children if isinstance(one, Element)]


def _without(section: Element, left_out: list[Element]) -> Element:
    kept = [one for one in section.children if not any(one is other for other in left_out)]
    return Element(section.tag, section.attributes, *kept)

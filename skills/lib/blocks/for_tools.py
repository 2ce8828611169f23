"""The block of a step for who calls tools in process: without what only a shell needs."""

from __future__ import annotations

from skills.lib.blocks import parts
from skills.lib.blocks.document import TO_A_FILE
from skills.lib.model.types import Element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_ABOUT = (
    "NEXT is a call of the tool {tool}. Where a text speaks of a command that goes on, of --record or of "
    "--record-file, it means this tool; --outcome is its argument outcome, any other --flag an entry of parameters."
)
_FIELDS = "Give each field as an entry of record: a text of any length as it is, a list as a JSON array."
_CHILDREN = "The sub-agents of this step were run for you. Their results are recorded: {ended}."


def block(element: Element, tool: str, speaks_of_commands: bool = True) -> Element:
    """The document of a step with a call of ``tool`` in place of commands, by the same grammar.

    Sub-agents are run by the program that reads it. If the step's texts speak of commands it says what these mean.
    """
    inside = list(_inside(element, tool))
    if speaks_of_commands:
        inside.insert(1, parts.notice(_ABOUT.format(tool=tool)))
    return Element(element.tag, element.attributes, *inside, prose=element.prose)


def _inside(element: Element, tool: str) -> Iterator[Element | str]:
    records, outcomes = _named(element, "RECORD", "field", "param"), _named(element, "INVOKE_AFTER", "outcome")
    for child in element.children:
        tag = child.tag if isinstance(child, Element) else ""
        if not isinstance(child, Element) or tag not in ("RECORD", "INVOKE_AFTER", "NEXT", "DISPATCH", "ANSWER"):
            yield child
        elif tag == "DISPATCH":
            yield parts.notice(_CHILDREN.format(ended=_ended(child)))
        elif tag == "NEXT":
            chosen = any(isinstance(way, Element) and way.attributes.get("flag") for way in outcomes)
            yield parts.next_element(_call(tool, records, chosen))
        elif tag != "ANSWER":
            yield Element(tag, child.attributes, *[_without_flag(one) for one in child.children])


def _call(tool: str, records: list[Element], chosen: bool) -> str:
    """The call that goes on, with a placeholder for each value to fill in."""
    words = []
    for name, tag in (("record", "field"), ("parameters", "param")):
        asked = [one for one in records if one.tag == tag and one.attributes.get("required") != "false"]
        inside = ", ".join(f'"{one.attributes["name"]}": {_placeholder(one)}' for one in asked)
        words += [f"{name}={{{inside}}}"] if asked else []
    return f"{tool}({', '.join([*words, *(['outcome=FILL_outcome'] if chosen else [])])})"


def _placeholder(spec: Element) -> str:
    text = f"FILL_{spec.attributes['name']}"
    return f'"{text}"' if spec.attributes["type"] == "text" else text


def _without_flag(child: Element | str) -> Element | str:
    """An entry without the flag of a command; how fields are written in place of how a file is."""
    if not isinstance(child, Element):
        return child
    if child.tag == "file":
        return Element(child.tag, child.attributes, writing(child, _FIELDS))
    return Element(child.tag, {**child.attributes, "flag": None}, *child.children, prose=child.prose)


def writing(file: Element, fields: str) -> str:
    """How the values of fields are written, with ``fields`` in place of how they are given to a command."""
    return "".join(one for one in file.children if isinstance(one, str)).removesuffix(TO_A_FILE) + fields


def _named(element: Element, tag: str, *names: str) -> list[Element]:
    """The elements of these names in the section of a document."""
    sections = [one for one in element.children if isinstance(one, Element) and one.tag == tag]
    return [one for section in sections for one in section.children if isinstance(one, Element) and one.tag in names]


def _ended(dispatch: Element) -> str:
    """How many of the sub-agents ended how."""
    statuses = [
        str(one.attributes["status"])
        for one in dispatch.children
        if isinstance(one, Element) and one.tag == "child" and "status" in one.attributes
    ]
    counts = [f"{statuses.count(status)} {status}" for status in dict.fromkeys(statuses)]
    return ", ".join(counts) or "none was needed"

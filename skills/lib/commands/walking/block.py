"""A printed document drawn for a person: panels and headings in place of tags; commands are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lxml import etree
from rich import box
from rich.panel import Panel
from rich.text import Text

from skills.lib.commands.console.screen import Screen, clean, one_line
from skills.lib.model import values
from skills.lib.model.requirements import Field
from skills.lib.model.types import Element, Rendered

WIDTH = 100
_COLOURS = {"step": "cyan", "waiting": "yellow", "done": "green", "refused": "red"}
# The walk runs these commands itself, and asks for what a placeholder stands for.
_LEFT_OUT = ("NEXT", "ANSWER", "SHOW", "file", "how", "lost", "replace", "command")


def print_block(screen: Screen, element: Element) -> None:
    """Print a document as one panel."""
    body = Text("\n").join(_parts(element))
    width = min(WIDTH, screen.out.width)
    shape = box.ROUNDED if screen.unicode else box.ASCII
    title = Text(screen.drawable(f" {_title(element)} "), "bold")
    panel = Panel(body, box=shape, title=title, title_align="left", border_style=_COLOURS[element.tag], width=width)
    screen.out.print(panel)


def text_of(part: Element | str) -> str:
    """All text in a part of a document, for a reader: clean, a ready-made block without its tags."""
    if isinstance(part, Element):
        return "\n".join(text_of(child) for child in part.children)
    return clean(_without_tags(part) if isinstance(part, Rendered) else part)


def _title(element: Element) -> str:
    about = element.attributes
    if element.tag == "refused":
        return f"Refused: {about.get('code')}"
    if element.tag == "done":
        return f"{one_line(about.get('skill', ''))}: {about.get('status', 'done')}"
    iteration = f", iteration {about['iteration']}" if "iteration" in about else ""
    return f"Step {about.get('number')} of {about.get('of')}: {one_line(about.get('title', ''))}{iteration}"


def _parts(element: Element) -> Iterator[Text]:
    for child in element.children:
        if isinstance(child, str):
            yield Text(text_of(child))
        elif child.tag not in _LEFT_OUT:
            heading, content = _SECTIONS.get(child.tag, (child.tag.capitalize(), _plain))
            style = "dim" if child.tag == "STATE" else "yellow" if child.tag == "NOTICE" else ""
            if heading:
                yield Text(f"\n{heading}", "bold")
            for line in content(child):
                yield Text(line, style)


def _plain(element: Element) -> Iterator[str]:
    yield text_of(element)


def _values(element: Element) -> Iterator[str]:
    for value in _elements(element):
        name = ".".join(str(value.attributes[key]) for key in ("step", "name") if key in value.attributes)
        lines = text_of(value).split("\n")
        yield f"  {one_line(name)}: {lines[0]}" if len(lines) == 1 else "\n    ".join([f"  {one_line(name)}:", *lines])


def _items(element: Element) -> Iterator[str]:
    for item in _elements(element):
        yield f"  - {text_of(item)}"


def _records(element: Element) -> Iterator[str]:
    for spec in _elements(element):
        if spec.tag in _LEFT_OUT:
            continue
        about = spec.attributes
        name = one_line(about.get("flag") or about.get("name") or about.get("path") or about.get("command", ""))
        said = text_of(spec)
        yield f"  {name} ({one_line(_expected(spec))}){f': {said}' if said else ''}"


def _expected(spec: Element) -> str:
    """What a value, a file or a command of the step must be, in words."""
    about = spec.attributes
    if spec.tag == "artifact":
        return "a file that meets its JSON Schema" if "schema" in about else "a file"
    if spec.tag == "check":
        return f"a command that exits 0 within {about['timeout']} s"
    low, high = (float(str(about[key])) if key in about else None for key in ("min", "max"))
    choices = str(about["choices"]).split("|") if "choices" in about else ()
    field = Field(str(about["name"]), str(about["type"]), choices=choices, minimum=low, maximum=high)
    return values.expectation(field) + ("" if about.get("required") == "true" else ", optional")


def _children(element: Element) -> Iterator[str]:
    for child in _elements(element):
        if child.tag == "child":
            target = f" ({one_line(child.attributes['target'])})" if "target" in child.attributes else ""
            yield f"  {child.attributes.get('id')}{target}: {child.attributes.get('status')}"


def _outcomes(element: Element) -> Iterator[str]:
    for way in _elements(element):
        said = text_of(way)
        yield f"  {way.attributes.get('name')} -> {one_line(way.attributes.get('to', ''))}{f': {said}' if said else ''}"


def _question(element: Element) -> Iterator[str]:
    yield f"  {text_of(element)}"
    if element.attributes.get("choices"):
        yield f"  ({one_line(element.attributes['choices']).replace('|', ', ')})"


def _elements(element: Element) -> Iterator[Element]:
    return (child for child in element.children if isinstance(child, Element))


_SECTIONS: dict[str, tuple[str, Callable[[Element], Iterator[str]]]] = {
    "STATE": ("", _plain),
    "NOTICE": ("", _plain),
    "CONTEXT": ("Known so far", _values),
    "DO": ("Do", _plain),
    "DISPATCH": ("Sub-agents", _children),
    "QUESTION": ("Question", _question),
    "RECORD": ("Report", _records),
    "FORBIDDEN": ("Leave alone", _items),
    "INVOKE_AFTER": ("Then", _outcomes),
    "RESULT": ("Result", _values),
    "ORCHESTRATOR": ("The orchestrator", _plain),
    "ASKED": ("", lambda element: iter(())),
    "STANDS": ("", _plain),
    "WHY": ("Why", _plain),
    "VALID": ("Valid", _items),
}


def _without_tags(block: str) -> str:
    """A rendered fragment as lines: each element's name and attributes, its text below."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(f"<block>{block}</block>".encode(), parser)
    except etree.XMLSyntaxError:
        return block
    return "\n".join(_outline(root, -1))


def _outline(node: etree._Element, depth: int) -> Iterator[str]:
    indent = "  " * depth
    if depth >= 0:
        about = ", ".join(str(value) for value in node.attrib.values())
        yield f"{indent}{str(node.tag).replace('_', ' ').lower()}{f' ({about})' if about else ''}:"
    for text, child in [(node.text, None), *[(child.tail, child) for child in node]]:
        if child is not None:
            yield from _outline(child, depth + 1)
        for line in (text or "").strip().split("\n"):
            if line.strip():
                yield f"{indent}  {line.strip()}"

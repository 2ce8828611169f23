"""A printed block drawn for a person: panels and headings in place of tags; commands are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lxml import etree
from rich import box
from rich.panel import Panel
from rich.text import Text

from skills.lib.commands.console.screen import Screen, clean, one_line
from skills.lib.model import values
from skills.lib.model.requirements import Field
from skills.lib.testing.blocks import PrintedBlock, Spec

WIDTH = 100
_COLOURS = {"step": "cyan", "waiting": "yellow", "done": "green", "refused": "red"}
# The walk runs these commands itself, and asks for the value of each placeholder.
_LEFT_OUT = ("NEXT", "ANSWER", "SHOW", "file", "how", "lost", "replace", "command")


def print_block(screen: Screen, printed: PrintedBlock) -> None:
    """Print a block as one panel."""
    body = Text("\n").join(_parts(printed))
    width = min(WIDTH, screen.out.width)
    shape = box.ROUNDED if screen.unicode else box.ASCII
    title = Text(screen.drawable(f" {_title(printed)} "), "bold")
    panel = Panel(body, box=shape, title=title, title_align="left", border_style=_COLOURS[printed.kind], width=width)
    screen.out.print(panel)


def field_of(spec: Spec) -> Field:
    """The field that a block describes, for what reads and checks its values."""
    return Field(
        spec.name,
        spec.type,
        required=spec.required,
        choices=spec.choices,
        minimum=spec.minimum,
        maximum=spec.maximum,
        help=spec.help,
    )


def _title(printed: PrintedBlock) -> str:
    about = {name: str(value) for name, value in printed.root.items()}
    if printed.kind == "refused":
        return f"Refused: {printed.code}"
    if printed.kind == "done":
        return f"{one_line(about.get('skill', ''))}: {about.get('status', 'done')}"
    iteration = f", iteration {about['iteration']}" if "iteration" in about else ""
    return f"Step {about.get('number')} of {about.get('of')}: {one_line(about.get('title', ''))}{iteration}"


def _parts(printed: PrintedBlock) -> Iterator[Text]:
    for part in printed.root:
        tag = str(part.tag)
        if tag in _LEFT_OUT:
            continue
        heading, content = _SECTIONS.get(tag, (tag.capitalize(), _plain))
        style = "dim" if tag == "STATE" else "yellow" if tag == "NOTICE" else ""
        if heading:
            yield Text(f"\n{heading}", "bold")
        lines = _records(printed) if tag == "RECORD" else content(part)
        for line in lines:
            yield Text(line, style)


def _text(part: etree._Element) -> str:
    """All text of a part, clean."""
    return clean("".join(str(text) for text in part.itertext()))


def _plain(part: etree._Element) -> Iterator[str]:
    yield _text(part)


def _notice(part: etree._Element) -> Iterator[str]:
    """The words of a notice, and the command that it is about on a line of its own."""
    yield "\n".join([clean(part.text or ""), *map(_text, part)])


def _prose(part: etree._Element) -> Iterator[str]:
    """The text of a step; the elements of formatters in it are outlined."""
    pieces = [part.text or ""]
    for child in part:
        pieces += [*_outline(child), child.tail or ""]
    yield clean("\n".join(text.rstrip().removeprefix("\n") for text in pieces if text.strip()))


def _outline(node: etree._Element, indent: str = "") -> Iterator[str]:
    """An element as lines: its name and attributes, its text below."""
    about = ", ".join(str(value) for value in node.attrib.values())
    yield f"{indent}{str(node.tag).replace('_', ' ').lower()}{f' ({about})' if about else ''}:"
    yield from _set_in(node.text, indent)
    for child in node:
        yield from _outline(child, indent + "  ")
        yield from _set_in(child.tail, indent)


def _set_in(text: str | None, indent: str) -> Iterator[str]:
    return (f"{indent}  {line.strip()}" for line in (text or "").split("\n") if line.strip())


def _values(part: etree._Element) -> Iterator[str]:
    for value in part:
        name = one_line(".".join(str(value.get(key)) for key in ("step", "name") if key in value.attrib))
        lines = _text(value).split("\n")
        yield f"  {name}: {lines[0]}" if len(lines) == 1 else "\n    ".join([f"  {name}:", *lines])


def _items(part: etree._Element) -> Iterator[str]:
    return (f"  - {_text(item)}" for item in part)


def _records(printed: PrintedBlock) -> Iterator[str]:
    """What the step asks to report, and the files and commands that are checked."""
    wanted = []
    for spec in printed.specs:
        optional = "" if spec.required else ", optional"
        wanted.append((spec.flag or spec.name, values.expectation(field_of(spec)) + optional, spec.help))
    for part in printed.root.iterfind("RECORD/artifact"):
        a_file = "a file that meets its JSON Schema" if "schema" in part.attrib else "a file"
        wanted.append((part.get("path", ""), a_file, _text(part)))
    for part in printed.root.iterfind("RECORD/check"):
        exits = "a command that exits 0" + (f" within {part.get('timeout')} s" if "timeout" in part.attrib else "")
        wanted.append((part.get("command", ""), exits, _text(part)))
    for name, expected, said in wanted:
        yield f"  {one_line(name)} ({one_line(expected)}){f': {clean(said)}' if said else ''}"


def _children(part: etree._Element) -> Iterator[str]:
    for child in part.iterfind("child"):
        target = f" ({one_line(child.get('target', ''))})" if "target" in child.attrib else ""
        yield f"  {child.get('id')}{target}: {child.get('status')}"


def _outcomes(part: etree._Element) -> Iterator[str]:
    for way in part:
        said = _text(way)
        yield f"  {way.get('name')} -> {one_line(way.get('to', ''))}{f': {said}' if said else ''}"


def _question(part: etree._Element) -> Iterator[str]:
    yield f"  {_text(part)}"
    if part.get("choices"):
        yield f"  ({one_line(part.get('choices', '')).replace('|', ', ')})"


_SECTIONS: dict[str, tuple[str, Callable[[etree._Element], Iterator[str]]]] = {
    "STATE": ("", _plain),
    "NOTICE": ("", _notice),
    "CONTEXT": ("Known so far", _values),
    "DO": ("Do", _prose),
    "DISPATCH": ("Sub-agents", _children),
    "QUESTION": ("Question", _question),
    "RECORD": ("Report", _plain),
    "FORBIDDEN": ("Leave alone", _items),
    "INVOKE_AFTER": ("Then", _outcomes),
    "RESULT": ("Result", _values),
    "ORCHESTRATOR": ("The orchestrator", _plain),
    "VALID": ("Valid", _items),
}

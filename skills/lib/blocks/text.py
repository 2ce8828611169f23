"""The renderer of a document as plain text, for workflows with ``output="text"``.

Lockstep's own lines begin in the first column. Every line of a text from elsewhere is indented, so that no recorded
text can look like a section.
"""

from __future__ import annotations

from skills.lib.blocks.xml import COMMANDS, check_characters
from skills.lib.model.types import Element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

INDENT = "  "
_LINE_ENDS = "\n\r\x85\u2028\u2029"


def render(element: Element) -> str:
    """Return a document as plain text: a headline, then one section per part, its content indented.

    Raises UsageError for a character that XML 1.0 does not have: both kinds of output admit the same texts.
    """
    lines = [_headline(element)]
    for child in element.children:
        if isinstance(child, Element):
            lines += ["", _heading(child), *_content(child, INDENT)]
        else:
            lines += ["", *indented(child)]
    return "\n".join(lines)


def _headline(element: Element) -> str:
    given = element.attributes
    place = ""
    if "number" in given:
        place = f" {_word(given['number'])} of {_word(given.get('of', '?'))}"
    head = f"{element.tag.upper()}{place}"
    if given.get("title"):
        head += f": {_word(given['title'])}"
    known = ("number", "of", "title", "protocol")
    return _plain_label({key: value for key, value in given.items() if key not in known}, head)


def _heading(element: Element) -> str:
    head = element.tag.replace("_", " ")
    if element.tag == "NEXT" and element.attributes.get("required"):
        return f"{head} (required):"
    return f"{_plain_label(element.attributes, head)}:"


def _content(element: Element, indent: str) -> list[str]:
    if element.tag in COMMANDS:
        return command_lines("".join(map(str, element.children)), indent)
    lines: list[str] = []
    for child in element.children:
        if isinstance(child, Element):
            lines += _part(child, indent)
        elif len(element.children) == 1 or element.prose:
            lines += indented(child, indent)
        elif child.strip(" "):
            lines += indented(child.strip(" "), indent)  # beside a command: the spaces around it are not content
    return lines


def _part(element: Element, indent: str) -> list[str]:
    if element.tag in ("rule", "choice"):
        return item_lines("".join(map(str, element.children)), indent)
    label = _LABELS.get(element.tag, _plain_label)(element.attributes, element.tag)
    content = _content(element, indent + INDENT)
    if len(content) == 1 and element.tag not in COMMANDS and isinstance(element.children[0], str):
        said = content[0][len(indent) + 2 :]
        if not said:  # a recorded value is empty; of anything else there is no more to say
            return [f"{indent}{label}{':' if element.tag == 'value' else ''}"]
        return [f"{indent}{label}: {said}"]
    return [f"{indent}{label}{':' if content else ''}", *content]


def _plain_label(given: Mapping[str, object], tag: str) -> str:
    """The name of an element with its attributes in parentheses."""
    rest = [f"{key} {_word(value)}" for key, value in given.items()]
    return f"{tag} ({', '.join(rest)})" if rest else tag


def _value_label(given: Mapping[str, object], tag: str) -> str:
    step = given.get("step")
    name = _word(given["name"]) if step is None else f"{_word(step)}.{_word(given['name'])}"
    facts = [
        f"{word} {_word(given[key])}" for key, word in (("file", "whole in"), ("erratum", "but:")) if given.get(key)
    ]
    return f"{name} ({', '.join(facts)})" if facts else name


def _field_label(given: Mapping[str, object], tag: str) -> str:
    facts = [_word(given["flag"])] if given.get("flag") else []
    facts.append(_word(given.get("type", "text")))
    facts.append("optional" if given.get("required") in (False, "false") else "required")
    if given.get("choices"):
        facts.append("one of " + _word(given["choices"]))
    facts += [f"{name} {_word(given[name])}" for name in ("min", "max") if name in given]
    return f"{_word(given['name'])} ({', '.join(facts)})"


def _outcome_label(given: Mapping[str, object], tag: str) -> str:
    flag = f" with {_word(given['flag'])}" if given.get("flag") else ""
    return f"{_word(given['name'])} -> {_word(given['to'])}{flag}"


_LABELS: dict[str, Callable[[Mapping[str, object], str], str]] = {
    "value": _value_label,
    "field": _field_label,
    "param": _field_label,
    "outcome": _outcome_label,
}


def item_lines(text: str, indent: str = INDENT) -> list[str]:
    """The lines of one item of a list, behind a dash."""
    first, *others = indented(text, indent + "  ")
    return [f"{indent}- {first[len(indent) + 2 :]}", *others]


def command_lines(text: str, indent: str = INDENT) -> list[str]:
    """A command as a list of its one line."""
    check_characters(text, "command")
    # An indent would change an argument of several lines, so each line end is written out: $'\n' is known to bash, zsh
    # and POSIX.1-2024. Only a single-quoted argument has one.
    for character in _LINE_ENDS:
        if character in text:
            written = character.encode("unicode_escape").decode().replace(r"\x", r"\u00")
            text = text.replace(character, f"'$'{written}''")
    return [indent + text]


def indented(text: str, indent: str = INDENT) -> list[str]:
    """The lines of a text, each indented."""
    check_characters(text, "text")
    # splitlines knows every line end that a viewer may know: CR, NEL, U+2028 and U+2029 too.
    return [indent + line if line else "" for line in text.splitlines()] or [""]


def _word(value: object) -> str:
    return one_line(("true" if value else "false") if isinstance(value, bool) else str(value))


def one_line(text: str) -> str:
    """The text with a space for each line end."""
    check_characters(text, "text")
    return " ".join(text.splitlines())

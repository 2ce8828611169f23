"""Plain text: the renderer of a document for workflows with ``output="text"``, and formatters for simple skills.

A line that begins in the first column is Lockstep's own. Whatever came from elsewhere stands indented, on every line,
so that no recorded text can pass for a section.
"""

from __future__ import annotations

from skills.lib.blocks.xml import COMMANDS, check_characters
from skills.lib.errors import UsageError
from skills.lib.model.types import Element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["format_text_gate", "format_text_list", "format_text_next", "format_text_output", "format_text_resource"]

_INDENT = "  "
_LINE_ENDS = "\n\r\x85\u2028\u2029"


def render(element: Element) -> str:
    """Return a document as plain text: a headline, then one section per part, its content indented.

    Raises UsageError for a character that XML 1.0 does not have: both kinds of output admit the same texts.
    """
    lines = [_headline(element)]
    for child in element.children:
        if isinstance(child, Element):
            lines += ["", _heading(child), *_content(child, _INDENT)]
        else:
            lines += ["", *_indented(child, _INDENT)]
    return "\n".join(lines)


def format_text_output(
    step: int,
    total: int,
    title: str,
    actions: Sequence[str] | str,
    brief: str = "",
    next_title: str | None = None,
) -> str:
    """Print a step of a simple skill: what it is about, what to do, and the title of the step that follows.

    Without ``next_title`` the step is the last. Raises UsageError for a step that the total does not have.
    """
    from skills.lib.blocks.formatters.fragments import position, whole

    whole(step, "step")
    position(step, total)
    lines = [f"STEP {step} of {total}: {_one_line(title)}"]
    if brief:
        lines += ["", "BRIEF:", *_indented(brief, _INDENT)]
    lines += ["", "DO:"]
    for action in (actions,) if isinstance(actions, str) else actions:
        lines += _indented(action, _INDENT)
    onward = "Nothing: this is the last step." if next_title is None else f"Step {step + 1}: {_one_line(next_title)}"
    return "\n".join([*lines, "", "NEXT:", _INDENT + onward])


def format_text_list(heading: str, items: Sequence[str] | str) -> str:
    """Print a list under a heading, one item to a dash: rules, things to check, what is expected."""
    from skills.lib.blocks.formatters.fragments import texts

    lines = [_one_line(heading) + ":"]
    for item in texts(items, "items"):
        lines += _item(item, _INDENT)
    return "\n".join(lines)


def format_text_resource(name: str, content: str) -> str:
    """Embed a reference text in place, every line of it behind a bar.

    Source of the second reading: Xu et al. 2023, "Re-Reading Improves Reasoning in Large Language Models" (RE2),
    arXiv 2309.06275.
    """
    heading = f"RESOURCE {_one_line(name)} (read it, then the task, then it again):"
    return "\n".join([heading, *_indented(content, _INDENT + "| ")])


def format_text_next(command: Sequence[str]) -> str:
    """Print the one command that goes on, every argument quoted for the shell."""
    from skills.lib.blocks.formatters.commands import command_line

    return "\n".join(["NEXT (required):", *_command(command_line(command), _INDENT)])


def format_text_gate(question: str, choices: Mapping[str, Sequence[str]]) -> str:
    """Print a question whose answer decides the way on, with the command of each choice."""
    if not choices:
        raise UsageError("choices is empty", remedy="give at least one choice and its command")
    from skills.lib.blocks.formatters.commands import command_line

    lines = ["GATE:", *_indented(question, _INDENT)]
    for choice, command in choices.items():
        lines += ["", f"ON {_one_line(choice)}:", *_command(command_line(command), _INDENT)]
    return "\n".join(lines)


def _headline(element: Element) -> str:
    given = element.attributes
    place = ""
    if given.get("number") is not None:
        place = f" {_word(given['number'])} of {_word(given.get('of', '?'))}"
    head = f"{element.tag.upper()}{place}"
    if given.get("title"):
        head += f": {_word(given['title'])}"
    known = ("number", "of", "title", "protocol")
    rest = [f"{key} {_word(value)}" for key, value in given.items() if key not in known and value is not None]
    return f"{head} ({', '.join(rest)})" if rest else head


def _heading(element: Element) -> str:
    head = element.tag.replace("_", " ")
    if element.tag == "NEXT" and element.attributes.get("required"):
        return f"{head} (required):"
    rest = [f"{key} {_word(value)}" for key, value in element.attributes.items() if value is not None]
    return f"{head} ({', '.join(rest)}):" if rest else f"{head}:"


def _content(element: Element, indent: str) -> list[str]:
    if element.tag in COMMANDS:
        return _command("".join(str(child) for child in element.children), indent)
    lines: list[str] = []
    for child in element.children:
        if isinstance(child, Element):
            lines += _part(child, indent)
        elif len(element.children) == 1 or element.prose:
            lines += _indented(child, indent)
        elif child.strip(" "):
            lines += _indented(child.strip(" "), indent)  # beside a command: the spaces around it are not content
    return lines


def _part(element: Element, indent: str) -> list[str]:
    if element.tag in ("rule", "choice"):
        return _item("".join(str(child) for child in element.children), indent)
    label = _LABELS.get(element.tag, _plain_label)(element.attributes, element.tag)
    content = _content(element, indent + _INDENT)
    if len(content) == 1 and element.tag not in COMMANDS and isinstance(element.children[0], str):
        said = content[0][len(indent) + 2 :]
        if not said:  # a recorded value is empty; of anything else there is no more to say
            return [f"{indent}{label}{':' if element.tag == 'value' else ''}"]
        return [f"{indent}{label}: {said}"]
    return [f"{indent}{label}{':' if content else ''}", *content]


def _plain_label(given: Mapping[str, object], tag: str) -> str:
    rest = [f"{key} {_word(value)}" for key, value in given.items() if value is not None]
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
    facts += [f"{name} {_word(given[name])}" for name in ("min", "max") if given.get(name) is not None]
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


def _item(text: str, indent: str) -> list[str]:
    first, *others = _indented(text, indent + "  ")
    return [f"{indent}- {first[len(indent) + 2 :]}", *others]


def _command(text: str, indent: str) -> list[str]:
    check_characters(text, "command")
    # An indent would change an argument of several lines, so each line end is written out: $'\n' is known to bash, zsh
    # and POSIX.1-2024. Only a single-quoted argument has one.
    for character in _LINE_ENDS:
        if character in text:
            written = character.encode("unicode_escape").decode().replace(r"\x", r"\u00")
            text = text.replace(character, f"'$'{written}''")
    return [indent + text]


def _indented(text: str, indent: str) -> list[str]:
    check_characters(text, "text")
    # splitlines knows every line end that a viewer may know: CR, NEL, U+2028 and U+2029 too.
    return [indent + line if line else "" for line in text.splitlines()] or [""]


def _word(value: object) -> str:
    return _one_line(("true" if value else "false") if isinstance(value, bool) else str(value))


def _one_line(text: str) -> str:
    check_characters(text, "text")
    return " ".join(text.splitlines())

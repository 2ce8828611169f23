"""The one place where text becomes XML: the renderer of documents and fragments."""

from __future__ import annotations

from skills.lib.errors import UsageError
from skills.lib.model.texts import check_characters as check_characters  # a name of this module too
from skills.lib.model.types import Element, Rendered

# An agent copies what it sees: the text of these elements is not escaped, but put in CDATA if XML needs it.
COMMANDS = frozenset(("NEXT", "ANSWER", "SHOW", "command", "choice", "lost", "replace"))


def escape(text: str) -> Rendered:
    """Return ``text`` as element content: a parser reads the same text back.

    Raises UsageError for a character that XML 1.0 does not have.
    """
    check_characters(text, "text")
    return Rendered(_escape(text))


def render(element: Element) -> Rendered:
    """Return the element as XML: nested elements indented by two spaces, text exactly as it is.

    True and False of an attribute become true and false. Raises UsageError for a character that XML 1.0 does not have,
    TypeError for a child that is neither text nor an Element.
    """
    document = _element(element, "")
    try:
        check_characters(document, "document")
    except UsageError:
        _blame(element)
        raise
    return Rendered(document)


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("]]>", "]]&gt;").replace("\r", "&#13;")


def _attribute(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return text.replace("\n", "&#10;").replace("\t", "&#9;").replace("\r", "&#13;")


def _command(text: str) -> str:
    if _escape(text) == text:
        return text
    # A parser reads a bare carriage return as a line feed, in CDATA too; so it is written between two sections.
    body = text.replace("]]>", "]]]]><![CDATA[>").replace("\r", "]]>&#13;<![CDATA[")
    return f"<![CDATA[{body}]]>"


def _element(element: Element, indent: str) -> str:
    tag = element.tag
    head = tag
    for name, value in element.attributes.items():
        text = ("true" if value else "false") if isinstance(value, bool) else str(value)
        head += f' {name}="{_attribute(text)}"'
    children = element.children
    if not children:
        return f"{indent}<{head}/>"
    if tag in COMMANDS:
        return f"{indent}<{head}>{_command(''.join(children))}</{tag}>"  # type: ignore[arg-type]  # text alone
    if not element.prose and any(isinstance(child, str) and not isinstance(child, Rendered) for child in children):
        body = _inline(children, tag)
        return f"{indent}<{head}>{body}</{tag}>" if body else f"{indent}<{head}/>"
    deeper = "" if element.prose else indent + "  "
    body = "\n".join([_child(child, deeper, tag) for child in children])
    return f"{indent}<{head}>\n{body}\n{indent}</{tag}>"


def _inline(children: tuple[Element | str, ...], tag: str) -> str:
    # Neighbouring texts are escaped as one: the three characters of "]]>" may come from two of them.
    body, text = "", ""
    for child in children:
        if isinstance(child, str) and not isinstance(child, Rendered):
            text += child
        else:
            body += _escape(text) + _child(child, "", tag)
            text = ""
    return body + _escape(text)


def _child(child: Element | str, indent: str, tag: str) -> str:
    if isinstance(child, Element):
        return _element(child, indent)
    if isinstance(child, str):
        return child if isinstance(child, Rendered) else _escape(child)
    raise TypeError(f"<{tag}> holds {child!r}: give text, Rendered or an Element")


def _blame(element: Element) -> None:
    """Raise UsageError that names the element or attribute with the character."""
    for name, value in element.attributes.items():
        check_characters(str(value), f"attribute {name} of <{element.tag}>")
    for child in element.children:
        if isinstance(child, Element):
            _blame(child)
        else:
            check_characters(child, f"text of <{element.tag}>")

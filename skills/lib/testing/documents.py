"""Read what Lockstep prints the way a strict reader would: well-formed, and by the published grammar."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lxml import etree

from skills.lib.blocks import xml

SCHEMA = Path(xml.__file__).with_name("lockstep.rng")
LIMIT = 1_000_000  # bytes; a block of a workflow stays under 10,000 characters, an author's resource may be longer


class DocumentError(AssertionError):
    """A printed document that its reader could not take: what is wrong, and the line (from 1) that holds it."""

    def __init__(self, what: str, line: int, document: str) -> None:
        shown = document.split("\n")[line - 1 : line]
        super().__init__(f"line {line}: {what}" + "".join(f"\n  {text[:200]}" for text in shown))
        self.line = line


def parse(document: str) -> etree._Element:
    """Return the root of a document that is well-formed and valid against the grammar.

    Raises DocumentError for any other, for one over LIMIT bytes, and for one that begins with anything but its root
    element: no declaration, no DOCTYPE.
    """
    root = parse_well_formed(document)
    schema = _schema()
    if not schema.validate(root):
        error = schema.error_log[0]
        raise DocumentError(error.message, error.line, document)
    return root


def parse_well_formed(document: str) -> etree._Element:
    """Return the root of a well-formed document of any kind; raise DocumentError as ``parse`` does."""
    if not (document[:1] == "<" and document[1:2].isalpha()):
        raise DocumentError("the document does not begin with its root element", 1, document)
    try:
        data = document.encode()
    except UnicodeEncodeError as error:
        line = document.count("\n", 0, error.start) + 1
        raise DocumentError("a lone surrogate is not a character", line, "") from None
    if len(data) > LIMIT:
        raise DocumentError(f"the document has {len(data):,} bytes, more than {LIMIT:,}", 1, document)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, encoding="utf-8")
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise DocumentError(error.msg or "not well-formed", error.lineno or 1, document) from None


@cache
def _schema() -> etree.RelaxNG:
    return etree.RelaxNG(etree.parse(str(SCHEMA)))

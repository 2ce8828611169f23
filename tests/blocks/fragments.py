"""A part of a document, read inside a step."""

from __future__ import annotations

from lxml import etree

from skills.lib.testing.blocks import parse


def parse_fragment(fragment: str) -> etree._Element:
    """Return the DO element of a step that holds just this fragment, once that step is valid."""
    head = '<step number="1" of="1" title="Fragment"><STATE>Step 1 of 1.</STATE><DO>'
    do = parse(f"{head}{fragment}</DO></step>").find("DO")
    assert do is not None  # the grammar requires it
    return do

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from lxml import etree

from skills.lib.errors import UsageError
from skills.lib.workflow.formatters.xml import check_characters, escape, render
from skills.lib.workflow.types import Element, Outcome, Rendered
from tests.blocks.strategies import TEXTS

pytestmark = pytest.mark.req("W-06")


@given(TEXTS)
def test_escaped_text_is_read_back_as_the_same_text(text: str) -> None:
    root = etree.fromstring(render(Element("a", {"b": text}, text)).encode())
    assert root.text == text
    assert root.get("b") == text
    assert etree.fromstring(f"<a>{escape(text)}</a>".encode()).text == text


@given(TEXTS, TEXTS)
def test_a_command_is_read_back_as_the_same_text(first: str, second: str) -> None:
    root = etree.fromstring(render(Element("NEXT", {"required": True}, first, second)).encode())
    assert root.text == first + second


@given(TEXTS, TEXTS, TEXTS)
def test_mixed_content_keeps_every_text(first: str, second: str, third: str) -> None:
    element = Element("a", None, first, second, Element("b", {"c": second}, third), third)
    root = etree.fromstring(render(element).encode())
    assert (root.text, root[0].text, root[0].get("c"), root[0].tail) == (first + second, third, second, third)


def test_the_end_of_cdata_is_escaped_if_two_texts_make_it() -> None:
    assert render(Element("a", None, "x]]", "> y")) == "<a>x]]&gt; y</a>"
    assert render(Element("a", None, "x -> y")) == "<a>x -> y</a>"


def test_a_command_is_printed_as_it_is_to_be_copied() -> None:
    assert render(Element("command", None, "make test && echo 'a > b'")) == (
        "<command><![CDATA[make test && echo 'a > b']]></command>"
    )
    assert render(Element("NEXT", None, "make test > log")) == "<NEXT>make test > log</NEXT>"


def test_the_end_of_cdata_and_a_carriage_return_split_a_command() -> None:
    assert render(Element("lost", None, "a]]>b\rc")) == ("<lost><![CDATA[a]]]]><![CDATA[>b]]>&#13;<![CDATA[c]]></lost>")


def test_nested_elements_are_indented_and_prose_is_not() -> None:
    element = Element(
        "step",
        {"title": 'a "b"', "iteration": None, "required": True, "last": False, "outcome": Outcome.OK},
        Element("DO", None, "one", Rendered("<x>&amp;</x>"), "two & three", prose=True),
        Element("CONTEXT", None, Element("value", {"name": "n"}, " exact\n")),
        Element("empty"),
        Element("blank", None, ""),
    )
    assert render(element) == (
        '<step title="a &quot;b&quot;" required="true" last="false" outcome="ok">\n'
        "  <DO>\n"
        "one\n"
        "<x>&amp;</x>\n"
        "two &amp; three\n"
        "  </DO>\n"
        "  <CONTEXT>\n"
        '    <value name="n"> exact\n'
        "</value>\n"
        "  </CONTEXT>\n"
        "  <empty/>\n"
        "  <blank/>\n"
        "</step>"
    )


def test_only_a_block_stands_as_it_is() -> None:
    block = Rendered("<b/>")
    assert render(Element("a", None, block, prose=True)) == "<a>\n<b/>\n</a>"
    assert render(Element("a", None, f"{block}", prose=True)) == "<a>\n&lt;b/>\n</a>"


@pytest.mark.parametrize(
    "character, name",
    [
        ("\0", "U+0000"),
        ("\x0b", "U+000B"),
        ("\x1b", "U+001B"),
        ("\ufffe", "U+FFFE"),
        ("\uffff", "U+FFFF"),
        ("\ud83d", "U+D83D"),
    ],
)
def test_a_character_that_xml_does_not_have_is_named_with_its_position(character: str, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_characters("äb" + character + "c", "--record problem")
    assert caught.value.what == f"--record problem: {name} at position 2 is a character that XML 1.0 does not have"
    with pytest.raises(UsageError, match="text of <b>: U\\+"):
        render(Element("a", None, Element("b", None, character)))
    with pytest.raises(UsageError, match="attribute c of <b>: U\\+"):
        render(Element("a", None, Element("b", {"c": character})))
    with pytest.raises(UsageError):
        escape(character)


def test_characters_at_the_edges_of_xml_pass() -> None:
    check_characters("\t\n\r \x7f\x85\ud7ff\ue000\ufffd\U00010000\U0001fffe\U0010ffff", "text")


@pytest.mark.parametrize("children, prose", [((3,), False), (("x", None), False), ((3,), True)])
def test_a_child_that_is_no_text_is_refused_by_name(children: tuple[Any, ...], prose: bool) -> None:
    with pytest.raises(TypeError, match=r"<a> holds (3|None): give text, Rendered or an Element"):
        render(Element("a", None, *children, prose=prose))


@pytest.mark.req("W-22")
def test_formatters_load_nothing_costly() -> None:
    code = (
        "import sys; before = set(sys.modules)\n"
        "import skills.lib.workflow.formatters.xml, skills.lib.workflow.formatters.text\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    printed = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = set(printed.split())
    assert not loaded & {"collections", "dataclasses", "enum", "inspect", "json", "re", "shlex", "subprocess", "typing"}
    assert not loaded & {"skills.lib.engine", "skills.lib.ledger", "skills.lib.runtime"}

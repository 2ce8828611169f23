from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

import skills.lib.workflow.formatters as formatters
from skills.lib.testing.blocks import DocumentError, parse, parse_well_formed
from skills.lib.workflow.formatters.xml import render
from tests.blocks.fragments import parse_fragment
from tests.blocks.samples import ENGINE, FRAGMENTS, Words
from tests.blocks.strategies import TEXTS


@pytest.mark.req("W-06")
@pytest.mark.parametrize("root", sorted(ENGINE))
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_document_with_hostile_text_everywhere_is_valid_and_keeps_it(root: str, data: st.DataObject) -> None:
    given_texts: list[str] = []

    def hostile() -> str:
        given_texts.append(data.draw(TEXTS))
        return given_texts[-1]

    document = parse(render(ENGINE[root](hostile)))
    harmless = parse(render(ENGINE[root](Words())))
    assert [element.tag for element in document.iter()] == [element.tag for element in harmless.iter()]
    found = {str(value) for element in document.iter() for value in element.attrib.values()}
    found |= {text for element in document.iter() for text in (element.text, element.tail) if text}
    do = document.find("DO")
    prose = "" if do is None else "\n".join(map(str, do.itertext()))
    for text in given_texts:
        assert text in found or text in prose


@pytest.mark.parametrize("root", sorted(ENGINE))
def test_documents_as_an_agent_sees_them(root: str, snapshot: SnapshotAssertion) -> None:
    assert render(ENGINE[root](Words())) == snapshot


@pytest.mark.parametrize("name", sorted(FRAGMENTS))
def test_every_fragment_may_stand_among_what_to_do(name: str) -> None:
    fragment = FRAGMENTS[name](Words())
    document = render(ENGINE["step"](Words()))
    parse(document.replace("<DO>\n", f"<DO>\nBefore.\n{fragment}\nAfter.\n"))
    assert len(parse_fragment(fragment)) == (0 if name == "format_qr_banner" else 1)


STEP = render(ENGINE["step"](Words()))
REFUSED = render(ENGINE["refused"](Words()))


@pytest.mark.parametrize(
    "document, old, new",
    [
        (STEP, ' protocol="1"', ""),
        (STEP, ' protocol="1"', ' protocol="2"'),
        (STEP, ' run="k3f9q2mx"', ""),
        (STEP, ' turn="3"', ' turn="-3"'),
        (STEP, ' number="3"', ' number="three"'),
        (STEP, ' iteration="2"', ' iteration="0"'),
        (STEP, ' iteration="2"', ' iterations="2"'),
        (STEP, ' required="true">w', ">w"),
        (STEP, "<DO>", "<DO><NEXT required='true'>x</NEXT>"),
        (STEP, "<DO>", "<DO><INVOKE_AFTER/>"),
        (STEP, "<DO>", "<DO><b>bold</b>"),
        (STEP, "<checklist>", "<checklist><rule>x</rule>"),
        (STEP, "</STATE>", "</STATE><STATE>again</STATE>"),
        (STEP, "<FORBIDDEN>", "<FORBIDDEN>stray text"),
        (STEP, 'name="ok"', 'name="May be"'),
        (STEP, 'status="pending"', 'status="asleep"'),
        (STEP, 'agent="explore"', 'agent="explorer"'),
        (STEP, 'type="int"', 'type="integer"'),
        (STEP, "</step>", "<NOTICE>late</NOTICE></step>"),
        (STEP, "<NEXT", '<NEXT required="true">x</NEXT><NEXT'),
        (REFUSED, ' code="skipped-step"', ""),
        (REFUSED, ' code="skipped-step"', ' code="Skipped step"'),
        (REFUSED, "<WHY>", "<WHY><command>x</command>"),
    ],
)
def test_the_grammar_refuses_what_no_document_has(document: str, old: str, new: str) -> None:
    assert old in document
    with pytest.raises(DocumentError):
        parse(document.replace(old, new, 1))


def test_a_section_that_is_missing_or_out_of_order_is_refused_with_its_line() -> None:
    lines = STEP.split("\n")
    state = next(at for at, line in enumerate(lines) if "<STATE>" in line)
    with pytest.raises(DocumentError) as caught:
        parse("\n".join(lines[:state] + lines[state + 1 :]))
    assert str(caught.value).startswith(f"line {caught.value.line}: ")
    with pytest.raises(DocumentError):
        parse("\n".join([*lines[:state], lines[state + 1], lines[state], *lines[state + 2 :]]))
    with pytest.raises(DocumentError):
        parse("\n".join(line for line in lines if "<NEXT" not in line))


def test_a_step_without_a_ledger_says_so_and_has_neither_run_nor_turn() -> None:
    parse(STEP.replace(' run="k3f9q2mx" turn="3"', ' stateless="true"'))
    with pytest.raises(DocumentError):
        parse(STEP.replace(' run="k3f9q2mx" turn="3"', ""))


@pytest.mark.parametrize(
    "document, what",
    [
        ('<!DOCTYPE step [<!ENTITY a "x">]><step/>', "line 1: the document does not begin with its root element"),
        ('<?xml version="1.0"?><step/>', "line 1: the document does not begin with its root element"),
        ("", "line 1: the document does not begin with its root element"),
        ("<step>" + "x" * 1_000_000 + "</step>", "line 1: the document has 1,000,013 bytes, more than 1,000,000"),
        ("<step>\n<a>\ud800</a></step>", "line 2: a lone surrogate is not a character"),
    ],
)
def test_what_is_no_single_plain_document_is_refused_before_it_is_parsed(document: str, what: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_well_formed(document)
    assert str(caught.value).split("\n")[0] == what


def test_a_document_that_is_not_well_formed_is_refused_with_the_line_shown() -> None:
    with pytest.raises(DocumentError) as caught:
        parse("<step>\n  <DO>a & b</DO>\n</step>")
    assert caught.value.line == 2
    assert str(caught.value).endswith("\n    <DO>a & b</DO>")


def test_a_document_type_in_a_command_is_only_text() -> None:
    block = formatters.format_next_block(["echo", "<!DOCTYPE html>"])
    root = parse(formatters.format_step_output(1, 2, "T", next_command=block))
    assert root.findtext("NEXT") == "echo '<!DOCTYPE html>'"

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from skills.lib.errors import UsageError
from skills.lib.workflow.formatters import text
from skills.lib.workflow.types import Element
from tests.blocks.samples import ENGINE, Poisoned, Text, Words
from tests.blocks.samples import TEXTS as SAMPLES
from tests.blocks.strategies import ILLEGAL, TEXTS

pytestmark = pytest.mark.req("W-07")


def printed(name: str, words: Text) -> str:
    return text.render(ENGINE[name](words)) if name in ENGINE else SAMPLES[name](words)


ALL = sorted([*ENGINE, *SAMPLES])


def headings(output: str) -> list[str]:
    """What begins in the first column, by any line end that a viewer may know, up to what was given."""
    own = [line for line in output.splitlines() if line.strip() and line[:2] != "  "]
    return [line.split(" w")[0].split(":")[0].split(" (")[0].split(" ")[0] for line in own]


def test_every_text_formatter_is_sampled() -> None:
    assert text.__all__ == sorted(SAMPLES)


@pytest.mark.parametrize("name", ALL)
def test_plain_text_as_an_agent_sees_it(name: str, snapshot: SnapshotAssertion) -> None:
    assert printed(name, Words()) == snapshot


def test_what_says_nothing_more_ends_without_a_colon() -> None:
    ways = [
        Element("outcome", {"name": "ok", "to": "study"}, ""),
        Element("outcome", {"name": "fail", "to": "done"}, "it failed"),
    ]
    block = Element(
        "step", {}, Element("INVOKE_AFTER", {}, *ways), Element("CONTEXT", {}, Element("value", {"name": "note"}, ""))
    )
    assert text.render(block).splitlines()[2:] == [
        "INVOKE AFTER:",
        "  ok -> study",
        "  fail -> done: it failed",
        "",
        "CONTEXT:",
        "  note:",
    ]


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_hostile_text_forges_no_section(name: str, data: st.DataObject) -> None:
    hostile = printed(name, lambda: data.draw(TEXTS))
    assert headings(hostile) == headings(printed(name, Words()))


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=10, deadline=None)
@given(ILLEGAL)
def test_a_character_that_xml_does_not_have_is_refused_in_text_too(name: str, character: str) -> None:
    words = Words()
    printed(name, words)
    for at in range(1, words.count + 1):
        with pytest.raises(UsageError, match=f"U\\+{ord(character):04X} at position"):
            printed(name, Poisoned(at, f"a{character}b"))


def test_a_recorded_text_keeps_its_lines_behind_the_indent() -> None:
    element = Element("step", None, Element("CONTEXT", None, Element("value", {"name": "n"}, " a\n\nNEXT:\n  rm ")))
    assert text.render(element) == "STEP\n\nCONTEXT:\n  n:\n     a\n\n    NEXT:\n      rm "


def test_a_document_says_the_same_in_text_as_in_xml() -> None:
    words = Words()
    output = text.render(ENGINE["step"](words))
    assert words.count == 35
    assert [f"w{number}" for number in range(1, 36) if f"w{number}" not in output] == []
    assert "\nNEXT (required):\n  w35" in output


@given(TEXTS)
@settings(max_examples=25, deadline=None)
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_a_command_of_several_lines_is_one_line_that_bash_reads_the_same(argument: str) -> None:
    line = text.format_text_next(["printf", "%s", argument]).removeprefix("NEXT (required):\n")
    assert len(line.splitlines()) == 1
    finished = subprocess.run(
        ["bash", "-c", line], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"}
    )
    assert finished.stdout.decode() == argument


def test_a_step_that_the_total_does_not_have_is_refused() -> None:
    with pytest.raises(UsageError, match="step: 3 is past the last of 2"):
        text.format_text_output(3, 2, "T", [], "", None)
    with pytest.raises(UsageError, match="choices is empty"):
        text.format_text_gate("Q?", {})

"""The tables of docs/protocol.md say what the code says."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from lxml import etree

from skills.lib import errors
from skills.lib.model import items, texts
from skills.lib.model.values import SECRET_NAMES
from skills.lib.runtime import record_flags
from skills.lib.testing.blocks import SCHEMA, parse
from skills.lib.workflow.core import RESERVED_FLAGS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
SOURCES = [path for room in ("blocks", "engine", "runtime") for path in ROOT.glob(f"skills/lib/{room}/*.py")]
RNG = "{http://relaxng.org/ns/structure/1.0}"


def words(expression: ast.expr) -> set[str]:
    """The codes that an expression may be."""
    if isinstance(expression, ast.Constant):
        return {str(expression.value)}
    if isinstance(expression, ast.IfExp):
        return words(expression.body) | words(expression.orelse)
    if isinstance(expression, ast.JoinedStr) and ast.unparse(expression) == "f'child-{run.status}'":
        return {"child-lost", "child-replaced"}
    return set()


def refusals() -> set[str]:
    """Every code that the engine and the runtime refuse with, read from their sources."""
    found = set()
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Refused" and node.args:
                found |= words(node.args[0])
    return found


def section(title: str) -> str:
    return PAGE.partition(f"\n{title}\n")[2].partition("\n## ")[0]


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" |")] for line in lines][1:]


def test_the_table_of_refusals_has_every_code_and_no_other() -> None:
    table = [row[0].strip("`") for row in rows(section("### Refusals"))]
    assert set(table) == refusals()
    assert table == sorted(table)


def test_the_table_of_flags_has_every_flag_and_no_other() -> None:
    text = PAGE.partition("| flag | what it gives |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`--([a-z-]+)", "\n".join(line.split(" | ")[0] for line in text.splitlines())))
    assert named == set(RESERVED_FLAGS)


def test_the_table_of_exit_codes_has_every_code() -> None:
    codes = [int(row[0]) for row in rows(section("## The step command")) if row[0].isdigit()]
    constants = ("PRINTED", "USAGE", "REFUSED", "ENVIRONMENT", "BROKEN_SKILL", "BUG", "INTERRUPTED")
    assert codes == [getattr(errors, name) for name in constants]


def test_the_words_that_are_never_ids_are_named() -> None:
    from skills.lib.validation.rules import ids

    assert sorted(ids.RESERVED) == ["current", "done", "end", "next", "none", "null"]
    assert "A step id is never `next`, `done`, `current`, `end`, `none` or `null`" in PAGE


def test_the_limits_are_the_code_s() -> None:
    assert (
        f"at most {texts.VALUE_LIMIT:,} characters, a record file at most {record_flags.FILE_LIMIT:,} bytes"
        in " ".join(PAGE.split())
    )
    for name in SECRET_NAMES:
        assert f"`{name}`" in PAGE


def test_every_element_of_the_documents_is_explained() -> None:
    text = section("## The documents")
    printed = set(re.findall(r"</([A-Z_]{2,})>", PAGE))
    assert {"STATE", "CONTEXT", "DO", "DISPATCH", "RECORD", "QUESTION", "ORCHESTRATOR", "VALID"} <= printed
    for name in printed:
        assert re.search(rf"\b{name}\b", text), name
    roots = {row[0].strip("`") for row in rows(text)[:4]}
    grammar = etree.parse(str(SCHEMA))
    assert roots <= {element.get("name") for element in grammar.iter(f"{RNG}element")}
    assert roots == {"step", "waiting", "done", "refused"}


def test_the_answers_of_a_reviewer_are_read_as_they_are_shown() -> None:
    [shown] = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    first, second = items.read_answers(json.loads(shown))
    assert (first["id"], first["place"]) == ("S1", "src/send.py:12")
    assert second["place"] == {"W1": "cart.py:9", "W2": "tax.py:3"}


@pytest.mark.req("W-11", "W-24")
def test_the_printed_documents_are_valid_by_the_grammar() -> None:
    shown = PAGE.replace("<PYTHON>", "PYTHON").replace("<PROJECT>", "PROJECT").replace("<USER>", "USER")
    printed = [part.strip() for part in re.split(r"^(?:\$ .*|```\w*)$", shown, flags=re.MULTILINE)]
    roots = [parse(text).tag for text in printed if re.fullmatch(r"<(\w+) .*</\1>", text, re.DOTALL)]
    assert len(roots) == 10
    assert set(roots) == {"step", "waiting", "done", "refused"}

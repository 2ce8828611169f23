from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

import skills.lib.workflow.formatters as formatters
from skills.lib.testing.blocks import parse
from tests.blocks.fragments import parse_fragment

DOCS = Path(__file__).parents[2] / "docs" / "formatters.md"
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```(xml|text)\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)


def test_the_page_has_an_example_for_every_formatter() -> None:
    assert len(EXAMPLES) == DOCS.read_text(encoding="utf-8").count("```python")
    called = {name for code, _, _ in EXAMPLES for name in re.findall(r"\b(format_\w+)\(", code)}
    assert set(formatters.__all__) <= called


@pytest.mark.req("W-06", "W-07", "W-12")
@pytest.mark.parametrize("code, kind, output", EXAMPLES)
def test_the_example_prints_what_stands_under_it(code: str, kind: str, output: str) -> None:
    stdout = io.StringIO()
    with contextlib.redirect_stdout(stdout):
        exec(compile(code, str(DOCS), "exec"), {})
    assert stdout.getvalue() == output
    if kind == "xml" and not output.startswith(("<step", "<RECORD", "<INVOKE_AFTER", "<NEXT")):
        parse_fragment(output)
    for document in re.findall(r"<step .*?</step>", output, re.DOTALL):
        parse(document)

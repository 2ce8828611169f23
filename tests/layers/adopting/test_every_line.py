"""Every line of a SKILL.md is in a step, a resource, a rule or the list of what is left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from skills.lib.errors import RefusedError
from skills.lib.layers.adopting import drafting, writing

HEAD = "---\nname: any-skill\ndescription: Any skill\n---\n"
_WORD = re.compile(r"\w+")
# What counts steps and marks a checklist, or how a heading and an answer begin, is not part of a text.
_COUNTING = set("Step Phase 1 2 3 x yes no".split())

_LINES = [
    *("# Any skill", "## Process", "## Steps", "## Examples", "### Step 1: Read", "### Step 2 - Write it", "Phase 3"),
    *(
        "### 1. First",
        "### 2. Second",
        "1. do this",
        "2. **Then** that",
        "   more of it",
        "- never guess",
        "- [ ] ticked",
    ),
    *("- plain", "  - nested", "Never:", "- Skip it", "Do not stop.", "", "", "```", "```dot", "````markdown", "~~~"),
    *("digraph p {", 'a -> b; b -> c [label="yes"]; b -> a', "}", "```mermaid", "flowchart TD", "A --> B{ok?}"),
    *(
        "B -->|no| A",
        "B -->|yes| C",
        "> quoted",
        "| a | b |",
        "|---|---|",
        "***",
        "Setext",
        "=====",
        "    code",
        "\ttab",
    ),
    *("Ask the user to approve.", "**Step 1: bold**", "<div>", "</div>", "[x]: http://x", "text with {braces}", "é ü"),
]


def check(body: str, folder: Path) -> None:
    """Assert that every line of the body that says something is in the draft."""
    folder.mkdir(exist_ok=True)
    (folder / "SKILL.md").write_text(HEAD + body, encoding="utf-8")
    try:
        made = drafting.draft(folder)
    except RefusedError:
        return
    files = writing.files(made, "")
    left = {line for one in made.left_out for line in range(one.first, one.last + 1)}
    used = set().union(*(step.lines for step in made.steps), made.forbidden_lines)
    said = set(_WORD.findall(" ".join(files.values())))
    for number, line in enumerate((HEAD + body).split("\n"), 1):
        if line.strip():
            assert number in left | used, f"line {number} is nowhere: {line!r}"
            if number in used - left - set(made.outline.drawn):
                assert set(_WORD.findall(line)) - said <= _COUNTING, f"line {number} was lost: {line!r}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("skills") / "any-skill"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(_LINES), max_size=40).map("\n".join))
@example("Never:\n- [ ] ticked")
def test_no_line_is_lost(folder: Path, body: str) -> None:
    check(body, folder)


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=200))
def test_no_text_is_lost(folder: Path, body: str) -> None:
    check(body, folder)

"""The listing of skills and phases in AGENTS.md."""

from __future__ import annotations

import pytest

from skills.lib.errors import UsageError
from skills.lib.layers import listing
from skills.lib.layers.listing import BEGIN, END, Listed
from skills.lib.layers.registry import Member, Phase

pytestmark = pytest.mark.req("L-05")
SKILLS = [Listed("a", "Does a.\n  Use it when b.", "skills/a/SKILL.md"), Listed("c-d", "Does c", "x/SKILL.md")]
PHASES = [Phase("check", (Member("a", "a", "core"), Member("c-d", "c-d", "adapter")), "registry.yaml", 3)]
SECTION = f"""{BEGIN}
## Skills

- a: Does a. (file: skills/a/SKILL.md)
- c-d: Does c (file: x/SKILL.md)

## Phases

The skills of each phase in order. `lockstep phase PHASE` says what each contributes.

- check: a (core), c-d (adapter)
{END}
"""


def test_the_listing_has_each_skill_in_a_sentence_and_each_phase_in_order() -> None:
    assert listing.section(SKILLS, PHASES) == SECTION
    assert listing.listed_in(f"# Mine\n\n{SECTION}- b: not listed\n") == ["a", "c-d"]


def test_only_what_stands_between_the_marks_is_replaced() -> None:
    text = f"# Mine\n\n{BEGIN}\nold\n{END}\n\nMore of mine.\n"
    assert listing.updated(text, SECTION) == f"# Mine\n\n{SECTION}\nMore of mine.\n"
    assert listing.updated("# Mine\n", SECTION) == f"# Mine\n\n{SECTION}"
    assert listing.updated("", SECTION) == SECTION
    assert listing.updated(SECTION, SECTION) == SECTION


@pytest.mark.parametrize("text", [f"{BEGIN}\n", f"{END}\n{BEGIN}\n", f"{SECTION}{SECTION}"])
def test_half_a_listing_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="the listing of skills"):
        listing.updated(text, SECTION)

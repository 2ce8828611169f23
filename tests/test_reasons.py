"""What counts as a reason, wherever a report gives one."""

from __future__ import annotations

import pytest

from skills.lib.checks import is_reason


@pytest.mark.parametrize(
    "text",
    [
        "the line is right",
        "It is 7",
        "a test",
        "vendored code",
        "ne pas ici",
        "会計の都合",
        "same as A1, twice",
        "no: F2 holds",
    ],
)
def test_a_reason_says_more_than_a_word(text: str) -> None:
    assert is_reason(text)


@pytest.mark.parametrize(
    "text", ["", "  ", "no", "no no", "No, no.", "- -", "x X x", "never... NEVER", "?! no", "n/a", "否"]
)
def test_one_word_is_no_reason_however_often_it_is_said(text: str) -> None:
    assert not is_reason(text)

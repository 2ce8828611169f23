"""The picture of two refusals: what it shows, how it shortens lines, and that it needs nothing from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "refusal.svg"


def test_the_picture_shows_two_refusals_with_their_reasons() -> None:
    text = " ".join("".join(str(part) for part in etree.parse(PICTURE).getroot().itertext()).split())
    assert re.findall(r'<refused.*?code="([a-z-]+)"', text) == ["skipped-step", "missing-evidence"]
    assert "<WHY>From gate the graph has no way to step report.</WHY>" in text
    assert "TIMEOUT = 30" in text
    assert "shop/cart.py:3: `TIMEOUT = 5` is not in that line" in text


def test_the_picture_is_small_and_loads_nothing() -> None:
    drawn = PICTURE.read_text(encoding="utf-8")
    assert len(drawn.encode()) < 60_000
    assert set(re.findall(r"url\((.)", drawn)) == {"#"}
    assert re.findall(r"https?://[^\"]*", drawn) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"href|@import|<script|<image", drawn)


def test_the_picture_has_the_path_of_no_machine() -> None:
    assert not re.search(r"/(?:home|tmp|usr|work)/|--project", PICTURE.read_text(encoding="utf-8"))


def test_a_mark_stands_for_the_lines_that_are_left_out(recording: Any) -> None:
    assert list(recording.selected(["a 1", "x", "y", "b 2", "c 3", "z"], ["a", "b", "c"])) == [
        "a 1 […]",
        "b 2",
        "c 3 […]",
    ]


def test_a_line_that_is_no_longer_printed_is_an_error(recording: Any, transcript: Any) -> None:
    with pytest.raises(transcript.TranscriptError, match="no longer printed:\n<WHY>"):
        list(recording.selected(["a", "b"], ["a", "<WHY>"]))


@pytest.mark.parametrize(
    "line, shown",
    [
        ("<a>" + "word " * 30 + "</a>", "<a>" + "word " * 18 + "[…]</a>"),
        ("word " * 30, "word " * 19 + "[…]"),
        ("w" * 100, "w" * 100),
    ],
)
def test_a_long_line_is_cut_between_words_and_keeps_its_closing_tag(recording: Any, line: str, shown: str) -> None:
    assert recording.shortened(line.rstrip()) == shown
    assert len(shown) <= recording.WIDTH

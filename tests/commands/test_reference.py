from __future__ import annotations

from pathlib import Path

from skills.lib.commands.reference import reference

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(), "make docs writes it anew"

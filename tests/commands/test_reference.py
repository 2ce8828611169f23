from __future__ import annotations

import runpy

from tests.fixtures.skill import ROOT


def test_the_page_is_current() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "command_page.py"))["reference"]()
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == made, "make docs writes it anew"

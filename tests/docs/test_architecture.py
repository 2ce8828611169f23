"""docs/architecture.md names every room, and the floors in their order."""

from __future__ import annotations

from pathlib import Path

from tests.test_floors import ALLOWED, LIB, floor

PAGE = (LIB.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_every_room_is_on_the_page() -> None:
    rooms = {path.name.removesuffix(".py") for path in LIB.iterdir() if path.suffix == ".py" or list(path.glob("*.py"))}
    assert {room for room in rooms if f"`{room}`" not in PAGE} == {"__init__"}


def test_the_floors_stand_on_the_page_from_the_top_down() -> None:
    rows = [line.split("`")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    told = [row for row in rows if (Path(LIB) / row).is_dir()]
    for at, row in enumerate(told):
        assert not ALLOWED[row] & set(told[:at]), f"{row} stands below a room that it imports"
    assert set(told) == {floor(f"skills.lib.{path.name}") for path in LIB.iterdir() if list(path.glob("*.py"))}

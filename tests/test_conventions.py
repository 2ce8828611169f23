from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skills.lib.conventions import convention_names, get_convention
from skills.lib.errors import UsageError

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.req("W-16")
@pytest.mark.parametrize("name", ["severity", "severity.md"])
def test_gives_the_text_of_the_one_source(name: str) -> None:
    assert get_convention(name) == (ROOT / "conventions" / "severity.md").read_text(encoding="utf-8").strip()


def test_knows_the_conventions_there_are() -> None:
    assert convention_names() == [
        "diff-format",
        "documentation",
        "intent-markers",
        "severity",
        "structural",
        "temporal",
    ]


@pytest.mark.parametrize("name", convention_names())
def test_each_convention_is_a_titled_page(name: str) -> None:
    text = get_convention(name)
    assert text.startswith("# ")
    assert 20 <= len(text.splitlines()) <= 80
    assert len(text) < 6_000  # several of them must fit a step of 10,000 characters beside its own text


@pytest.mark.parametrize(
    "name",
    ["", ".md", "../README", "/etc/passwd", "severity/../temporal", "Severity", "sevérity", "severity\n", "a\0b"],
)
def test_any_other_name_is_refused_with_the_valid_ones(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        get_convention(name)
    assert caught.value.valid == "diff-format, documentation, intent-markers, severity, structural, temporal"


def test_the_nearest_name_is_offered() -> None:
    with pytest.raises(UsageError) as caught:
        get_convention("severty")
    assert caught.value.lines() == [
        "there is no convention 'severty'",
        "  valid: diff-format, documentation, intent-markers, severity, structural, temporal",
        "  try:   did you mean severity?",
    ]


@pytest.mark.parametrize("place", ["conventions", "skills/conventions"])
@pytest.mark.req("W-16")
def test_is_found_beside_the_package_and_inside_it(tmp_path: Path, place: str) -> None:
    for name in ("__init__.py", "lib/__init__.py", "lib/errors.py", "lib/conventions.py"):
        target = tmp_path / "skills" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "skills" / name, target)
    (tmp_path / place).mkdir()
    (tmp_path / place / "house.md").write_text("# House\n", encoding="utf-8")
    code = "from skills.lib.conventions import get_convention; print(get_convention('house'))"
    printed = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert printed.stdout == "# House\n"

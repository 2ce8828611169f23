from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skills.lib.conventions import convention_names, convention_sections, get_convention
from skills.lib.errors import UsageError

ROOT = Path(__file__).resolve().parent.parent
CATALOGUES = ("code-quality-baseline", "code-quality-coherence", "code-quality-drift")
NAMES = (
    "code-quality-baseline, code-quality-coherence, code-quality-drift, diff-format, documentation, intent-markers, "
    "severity, structural, temporal"
)


@pytest.mark.req("W-16")
@pytest.mark.parametrize("name", ["severity", "severity.md"])
def test_gives_the_text_of_the_one_source(name: str) -> None:
    assert get_convention(name) == (ROOT / "conventions" / "severity.md").read_text(encoding="utf-8").strip()


def test_knows_the_conventions_there_are() -> None:
    assert convention_names() == [
        "code-quality-baseline",
        "code-quality-coherence",
        "code-quality-drift",
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
    assert len(text.splitlines()) >= 20
    # Several must fit a step of 10,000 characters beside its own text; those of code quality go in by section.
    assert len(text) < (9_000 if name in CATALOGUES else 3_000)
    assert all(len(get_convention(name, section)) < 1_500 for section in convention_sections(name))


@pytest.mark.parametrize("name, count", [(CATALOGUES[0], 10), (CATALOGUES[1], 8), (CATALOGUES[2], 7)])
def test_each_smell_says_what_holds_how_to_look_and_from_which_point_it_counts(name: str, count: int) -> None:
    smells = convention_sections(name)
    assert len(smells) == count
    for smell in smells:
        text = get_convention(name, smell)
        marks = [line.split("**")[1] for line in text.splitlines() if line.startswith("- **")]
        assert marks == ["Principle:", "Detect:", "Violations:", "Exceptions:", "Threshold:"], smell
        assert text.startswith(f"## {smell}\n")


def test_no_smell_stands_in_two_of_them() -> None:
    smells = [smell for name in CATALOGUES for smell in convention_sections(name)]
    assert len(smells) == len(set(smells)) == 25


def test_one_section_is_given_by_its_heading_with_what_stands_under_it() -> None:
    text = get_convention("intent-markers", section="Form")
    assert text == (
        "## Form\n\n`:MARKER: what; why`: one line where it fits, the marker first. A marker without a reason is a "
        "finding in itself, of\nseverity MUST: it asks to be trusted and gives nothing to check."
    )
    assert get_convention("diff-format", "Rules").count("\n## ") == 0


def test_an_unknown_section_is_refused_with_the_valid_ones() -> None:
    with pytest.raises(UsageError) as caught:
        get_convention("severity", "Categorys")
    assert caught.value.lines() == [
        "there is no section of severity 'Categorys'; did you mean Categories?",
        "  valid: Categories, What blocks",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".md",
        "../README",
        "/etc/passwd",
        "severity/../temporal",
        "Severity",
        "sevérity",
        "severity\n",
        "a\0b",
        "severity.x/../../y",
    ],
)
def test_any_other_name_is_refused_with_the_valid_ones(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        get_convention(name)
    assert caught.value.valid == NAMES


def test_the_nearest_name_is_offered() -> None:
    with pytest.raises(UsageError) as caught:
        get_convention("severty")
    assert caught.value.lines() == [
        "there is no convention 'severty'; did you mean severity?",
        f"  valid: {NAMES}",
    ]


@pytest.mark.parametrize("place", ["conventions", "skills/conventions"])
@pytest.mark.req("W-16")
def test_is_found_beside_the_package_and_inside_it(tmp_path: Path, place: str) -> None:
    for name in (
        "__init__.py",
        "lib/__init__.py",
        "lib/errors.py",
        "lib/paths.py",
        "lib/prompts.py",
        "lib/conventions.py",
    ):
        target = tmp_path / "skills" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "skills" / name, target)
    (tmp_path / place).mkdir()
    (tmp_path / place / "house.md").write_text("# House\n", encoding="utf-8")
    code = "from skills.lib.conventions import get_convention; print(get_convention('house'))"
    printed = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert printed.stdout == "# House\n"

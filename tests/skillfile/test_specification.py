from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.skillfile import SpecProblem, check_specification


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    return folder


def problems(folder: Path, fields: str, body: str = "Run the script.\n") -> list[tuple[int, str, str]]:
    found = check_specification(write(folder, f"---\n{fields}\n---\n{body}"))
    return [(problem.line, problem.severity, problem.what) for problem in found]


GOOD = "name: code-review\ndescription: Reviews code. Use when a change is to be read."


def test_a_complete_skill_has_no_problem(tmp_path: Path) -> None:
    fields = (
        f"{GOOD}\nlicense: MIT\ncompatibility: Python 3.11\nmetadata:\n  version: 1.0\nallowed-tools: Read Bash(git:*)"
    )
    assert problems(tmp_path / "code-review", fields) == []


def test_allowed_tools_may_be_a_list(tmp_path: Path) -> None:
    assert problems(tmp_path / "code-review", GOOD + "\nallowed-tools:\n  - Read\n  - Bash(git:*)") == []


FIELDS = {
    "both missing": (
        "license: MIT",
        [(1, "error", "the frontmatter has no description"), (1, "error", "the frontmatter has no name")],
    ),
    "a name in capitals": (
        "name: Code-Review\ndescription: d",
        [
            (2, "error", "'Code-Review' is not a skill name"),
            (2, "error", "the name is 'Code-Review', the folder is 'code-review'"),
        ],
    ),
    "a blank description": (
        'name: code-review\ndescription: "  "',
        [(3, "error", "the description is blank")],
    ),
    "an angle bracket": (
        "name: code-review\ndescription: Use for <tags>",
        [(3, "error", "the description has an angle bracket")],
    ),
    "a description of 1,025 characters": (
        "name: code-review\ndescription: " + "d" * 1025,
        [(3, "error", "the description has 1,025 characters, 1,024 are allowed")],
    ),
    "a description that is a list": (
        "name: code-review\ndescription: [d]",
        [(3, "error", "description is not text")],
    ),
    "an unknown field": (
        GOOD + "\nversion: 1",
        [(4, "error", "'version' is not a field of the specification")],
    ),
    "an empty license": (GOOD + "\nlicense:", [(4, "error", "license is not text")]),
    "a compatibility of 501 characters": (
        GOOD + "\ncompatibility: " + "c" * 501,
        [(4, "error", "compatibility has 501 characters, 500 are allowed")],
    ),
    "metadata that is text": (GOOD + "\nmetadata: x", [(4, "error", "metadata is not a mapping from text to text")]),
    "metadata that is nested": (
        GOOD + "\nmetadata:\n  a:\n    b: c",
        [(4, "error", "metadata is not a mapping from text to text")],
    ),
    "allowed-tools that is a mapping": (
        GOOD + "\nallowed-tools:\n  Read: yes",
        [(4, "error", "allowed-tools is neither one text nor a list of texts")],
    ),
}


@pytest.mark.parametrize("what", FIELDS)
def test_tells_each_departure(tmp_path: Path, what: str) -> None:
    fields, expected = FIELDS[what]
    assert problems(tmp_path / "code-review", fields) == expected


@pytest.mark.parametrize("name", ["-a", "a-", "a--b", "a_b", "a b", "ä", "a.b", '"a\\n"', "A"])
def test_odd_names_are_refused(tmp_path: Path, name: str) -> None:
    found = problems(tmp_path / "x", f"name: {name}\ndescription: d")
    assert any(what.endswith("is not a skill name") for _, _, what in found)


@pytest.mark.parametrize("name", ["a", "7", "a-b-c", "x" * 64])
def test_good_names_are_accepted(tmp_path: Path, name: str) -> None:
    assert problems(tmp_path / name, f"name: {name}\ndescription: d") == []


def test_a_name_of_65_characters_is_too_long(tmp_path: Path) -> None:
    name = "x" * 65
    assert problems(tmp_path / name, f"name: {name}\ndescription: d") == [
        (2, "error", "the name has 65 characters, 64 are allowed")
    ]


def test_a_body_of_500_lines_is_a_warning_and_499_is_none(tmp_path: Path) -> None:
    assert problems(tmp_path / "code-review", GOOD, "line\n" * 499) == []
    assert problems(tmp_path / "code-review", GOOD, "line\n" * 500) == [
        (5, "warning", "the body has 500 lines; the specification recommends fewer than 500")
    ]


def test_the_nearest_field_is_offered(tmp_path: Path) -> None:
    found = check_specification(write(tmp_path / "code-review", f"---\n{GOOD}\nlicence: MIT\n---\n"))
    assert [(problem.what, problem.do) for problem in found] == [
        ("'licence' is not a field of the specification; did you mean license?", "write license")
    ]


def test_a_file_that_cannot_be_read_is_one_problem(tmp_path: Path) -> None:
    found = check_specification(write(tmp_path / "x", "---\nname: x\nname: y\n---\n"))
    assert found == [
        SpecProblem(
            3,
            "SKILL.md the frontmatter has the key 'name' twice",
            "a host that cannot read the file does not offer the skill",
            "keep one of them",
        )
    ]


def test_the_folder_may_be_given_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write(tmp_path / "code-review", f"---\n{GOOD}\n---\n"))
    assert check_specification(".") == []

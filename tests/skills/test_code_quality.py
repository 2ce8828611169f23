"""code-quality: the verdict follows from what was kept, and no finding stands without its words."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.skills.follower import SKILLS, Follower
from tests.skills.samples.code_quality import ASPECTS, FILES, VALUES

SCRIPT = SKILLS / "code-quality/scripts/code_quality.py"
CHECK = SCRIPT.with_name("check_review.py")
EXAMINED = [f"{aspect} | all three lines of data.txt:1" for aspect in ASPECTS]


@pytest.mark.parametrize(
    "severity, standing, verdict", [("MUST", "kept", "fail"), ("MUST", "dropped", "pass"), ("SHOULD", "kept", "pass")]
)
def test_the_verdict_is_fail_if_a_must_was_kept(severity: str, standing: str, verdict: str, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "data.txt").write_text(FILES["data.txt"])
    follower = Follower("code-quality/scripts/code_quality.py", tmp_path)
    block = follower.begin("--subject", "the three lines")
    given = {
        **VALUES,
        "review.findings": [VALUES["review.findings"][0].replace("MUST", severity)],
        "doubt.kept": [f"F1 | {standing} | the caller at data.txt:3 decides"],
        "review.intent": "to be three lines; data.txt:1 says so",
    }
    for step in ("review", "doubt"):
        mine = {name.partition(".")[2]: value for name, value in given.items() if name.startswith(f"{step}.")}
        block = follower.follow(block, mine)
    assert (block.kind, block.result["verdict"]) == ("done", verdict)
    lines = block.result["report"].splitlines()
    told = f"- {severity}, correctness, data.txt:2: the total is wrong by one (kept: the caller at data.txt:3 decides)"
    assert lines[0] == f"Verdict: {verdict}."
    assert lines[2] == (told if standing == "kept" else "No finding.")


def faults(project: Path, *values: str | list[str]) -> list[str]:
    """What the check says of these values."""
    (project / "data.txt").write_text("one\ntwo\nthree\n")
    words = [value if isinstance(value, str) else json.dumps(value) for value in values]
    done = subprocess.run([sys.executable, str(CHECK), *words], cwd=project, capture_output=True, text=True, timeout=60)
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    "finding, told",
    [
        ("F1 | correctness | MUST | data.txt:2 | `two` | wrong by one", []),
        ("F2 | style | BAD | data.txt:2 | `two` | wrong by one", [
            "'F2 | style | BAD | data.txt:2 | `two` | wrong by one': it is finding F1",
            "F2: the aspect is one of correctness, readability, maintainability, security",
            "F2: the severity is one of MUST, SHOULD, COULD",
        ]),
        ("F1 | security | MUST | data.txt:9 | `two` | wrong by one", ["F1: data.txt:9: the file has 3 lines"]),
        ("F1 | security | MUST | other.txt:1 | `x` | wrong by one", ["F1: other.txt:1: that file is not in scope"]),
        ("F1 | security | MUST | data.txt:1 | `two` | wrong by one", [
            "F1: data.txt:1: `two` is not in that line; line 2 has it"
        ]),
        ("F1 | security | MUST | data.txt:1 | one | wrong by one", [
            "F1: data.txt:1: quote the words of that line between backquotes"
        ]),
    ],
)  # fmt: skip
def test_a_finding_has_an_aspect_a_severity_and_the_words_of_its_place(
    finding: str, told: list[str], tmp_path: Path
) -> None:
    (tmp_path / "other.txt").write_text("x\n")
    assert faults(tmp_path, "findings", ["data.txt"], [finding], EXAMINED) == told


def test_every_aspect_was_examined_and_every_finding_is_settled_and_reported(tmp_path: Path) -> None:
    finding = ["F1 | correctness | MUST | data.txt:2 | `two` | wrong by one"]
    assert faults(tmp_path, "findings", ["data.txt"], [], EXAMINED[:3]) == [
        "examined: say what was looked at for security, with path:line"
    ]
    assert faults(tmp_path, "findings", ["data.txt"], finding, EXAMINED[1:]) == []
    assert faults(tmp_path, "findings", ["data.txt"], finding, "{examined}") == [
        f"examined: say what was looked at for {aspect}, with path:line" for aspect in ASPECTS[1:]
    ]
    for nowhere in ("all of it was read", "data.txt:9 was looked at"):
        assert faults(tmp_path, "findings", ["data.txt"], [], [*EXAMINED[:3], f"security | {nowhere}"]) == [
            "examined: say what was looked at for security, with path:line"
        ]
    assert faults(tmp_path, "findings", ["data.txt", "./data.txt"], [], EXAMINED) == ["data.txt is named twice"]
    assert faults(tmp_path, "findings", ["gone.txt"], [], EXAMINED)[0].startswith("gone.txt: no such file")
    assert faults(tmp_path, "report", finding, EXAMINED, []) == ["finding F1 is missing"]
    dropped = ["F1 | dropped | yes"]
    assert faults(tmp_path, "kept", finding, dropped) == ["F1: say why, with the path:line that decides"]
    for why in ("it still looks wrong", "data.txt:9"):
        assert faults(tmp_path, "kept", finding, [f"F1 | kept | {why}"]) == [
            "F1: name the path:line that decides, as it can be opened"
        ]
    kept = ["F1 | kept | the caller at data.txt:3 decides"]
    assert faults(tmp_path, "kept", finding, kept) == []


def test_the_report_has_what_was_kept_the_most_severe_first(tmp_path: Path) -> None:
    findings = [
        "F1 | readability | COULD | data.txt:1 | `one` | says nothing",
        "F2 | security | MUST | data.txt:2 | `two` | a | b",
        "F3 | security | SHOULD | data.txt:3 | `three` | dropped later",
    ]
    kept = ["F1 | kept | data.txt:1", "F2 | kept | data.txt:2", "F3 | dropped | data.txt:3 says otherwise"]
    [printed] = faults(tmp_path, "report", findings, EXAMINED[:1], kept)
    assert json.loads(printed) == (
        "Verdict: fail.\n\n- MUST, security, data.txt:2: a | b (kept: data.txt:2)\n"
        "- COULD, readability, data.txt:1: says nothing (kept: data.txt:1)\n\n"
        "Examined, and nothing found:\n- correctness | all three lines of data.txt:1"
    )

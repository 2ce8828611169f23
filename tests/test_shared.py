"""Legacy skill scripts run as they stand: the names of ``shared``, ``@skill``, and one note that says what is next."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from lxml import etree

from skills.lib.testing.blocks import parse
from tests.fixtures.legacy.tree import install, tree

pytestmark = pytest.mark.req("W-14")

HEAD = """\
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "planner" / "scripts"))
"""
SAME = (
    HEAD
    + """
import shared
from shared import QRState, GateConfig, format_step_output, format_gate_step
from shared.domain import FlatCommand, BranchCommand, NextCommand, GuidanceResult
from skills.lib import conventions
from skills.lib.workflow import formatters, legacy, types
from skills.lib.workflow.formatters import text

for name in shared.__all__:
    home = next(one for one in (types, formatters, text, legacy, conventions, shared.domain) if hasattr(one, name))
    assert getattr(shared, name) is getattr(home, name), name
assert set(formatters.__all__) < set(shared.__all__)
assert NextCommand == FlatCommand | BranchCommand
print("the same", len(shared.__all__) > 50)
"""
)


def call(
    script: Path, *words: str, flags: tuple[str, ...] = (), env: dict[str, str] | None = None
) -> tuple[int, str, str]:
    """The exit code, output and errors of a script."""
    command = [sys.executable, *flags, str(script), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=script.parent, env=env)
    return done.returncode, done.stdout, done.stderr


def notes(errors: str) -> int:
    return len(re.findall("LegacyWarning", errors))


def test_every_name_of_shared_is_the_object_of_the_library(tmp_path: Path) -> None:
    code, out, errors = call(install(tmp_path, "same", SAME))
    assert (code, out) == (0, "the same True\n"), errors


@pytest.mark.parametrize("folder", [".claude/skills/other/scripts", "elsewhere"])
def test_the_scripts_folder_of_the_planner_is_enough(tmp_path: Path, folder: str) -> None:
    path = str(tree(tmp_path) / "planner" / "scripts")
    script = tmp_path / folder / "other.py"
    script.parent.mkdir(parents=True)
    script.write_text(f"import sys\nsys.path.insert(0, {path!r})\nfrom shared import QRState\nprint(QRState(2))\n")
    code, out, errors = call(script)
    assert (code, out) == (0, "QRState(iteration=2, failed=False, status=None)\n"), errors


def test_a_linear_legacy_skill_is_walked_by_its_printed_commands(tmp_path: Path) -> None:
    script = install(tmp_path, "release_check")
    code, out, errors = call(script, "--step", "1", "--total-steps", "3")
    assert code == 0, errors
    assert notes(errors) == 1
    titles = [parse(out).get("title")]
    while (onward := parse(out).findtext("NEXT")) is not None:
        _, out, _ = call(script, *shlex.split(onward)[2:])
        titles.append(parse(out).get("title"))
    assert titles == ["Read the changes", "Look for what breaks", "Decide"]


def test_a_legacy_loop_ends_by_confidence_or_by_its_bound(tmp_path: Path) -> None:
    script = install(tmp_path, "bug_hunt")

    def following(*words: str) -> str:
        code, out, errors = call(script, "--step", "2", "--total-steps", "4", *words)
        assert code == 0, errors
        return out.splitlines()[-1].partition(" --step ")[2]

    assert following("--confidence", "low") == "2 --total-steps 4 --confidence FILL_confidence --iteration 2"
    assert following("--confidence", "high") == "3 --total-steps 4"
    assert following("--confidence", "low", "--iteration", "4") == "3 --total-steps 4"


def test_the_note_stands_once_with_the_line_of_the_script_and_both_ways_on(tmp_path: Path) -> None:
    script = install(tmp_path, "release_check")
    _, out, errors = call(script, "--step", "3")
    [note] = [line for line in errors.splitlines() if "Warning" in line]
    assert note.startswith(f"{script}:13: LegacyWarning: shared is the older layer: ")
    assert "import from skills.lib.workflow.types and skills.lib.workflow.formatters" in note
    assert "docs/migrating.md" in note
    assert "Warning" not in out


def test_the_note_is_shown_for_a_module_too(tmp_path: Path) -> None:
    script = install(tmp_path, "outer", HEAD + "import inner\nimport again\nprint('done')\n")
    (script.parent / "inner.py").write_text("from shared import Step\n")
    (script.parent / "again.py").write_text("from shared import skill\n\nskill('x', 1)(lambda step: None)\n")
    code, out, errors = call(script)
    assert (code, out, notes(errors)) == (0, "done\n", 1)
    assert f"{script.parent / 'inner.py'}:1: LegacyWarning" in errors


@pytest.mark.parametrize("category", ["ignore", "ignore::DeprecationWarning"])
def test_the_note_can_be_silenced_as_usual(tmp_path: Path, category: str) -> None:
    script = install(tmp_path, "release_check")
    assert call(script, "--step", "1", flags=("-W", category))[2] == ""
    assert call(script, "--step", "1", env={"PYTHONWARNINGS": category})[2] == ""


def test_the_note_can_be_made_an_error(tmp_path: Path) -> None:
    code, _, errors = call(install(tmp_path, "release_check"), "--step", "1", flags=("-W", "error::DeprecationWarning"))
    assert code == 1
    assert "LegacyWarning: shared is the older layer" in errors.splitlines()[-1]


@pytest.mark.parametrize(
    "words, what",
    [
        ((), "the following arguments are required: --step"),
        (("--step", "two"), "argument --step: invalid int value: 'two'"),
        (("--step", "0"), "--step 0 is no step of release-check: use 1 to 3"),
        (("--step", "4", "--total-steps", "3"), "--step 4 is no step of release-check: use 1 to 3"),
        (("--step", "1", "--total-steps", "7"), "--total-steps 7 is wrong: release-check has 3"),
        (("--step", "1", "--confidance", "low"), "unrecognized arguments: --confidance low"),
    ],
)
def test_a_wrong_command_line_is_reported_with_exit_code_2(tmp_path: Path, words: tuple[str, ...], what: str) -> None:
    code, out, errors = call(install(tmp_path, "release_check"), *words)
    assert (code, out) == (2, "")
    assert errors.splitlines()[-1] == f"release_check.py: error: {what}"


def test_a_skill_that_parses_its_own_flags_keeps_them(tmp_path: Path) -> None:
    script = install(tmp_path, "bug_hunt")
    code, _, errors = call(script, "--step", "2", "--total-steps", "4", "--confidence", "sure")
    assert code == 2
    assert "argument --confidence: invalid choice: 'sure'" in errors
    assert call(script, "--step", "5", "--confidence", "low")[2].splitlines()[-1] == (
        "bug_hunt.py: error: --step 5 is no step of bug-hunt: use 1 to 4"
    )


DECORATED = """
from skills.lib.workflow.legacy import LegacySkill, skill

STEPS = {1: {"title": "One", "actions": ["Do."]}}


@skill(name="told", total_steps=1)
def main(step: int = None, total_steps: int = None, target: str = "all", deep: bool = False, count: "int" = 1):
    '''Says what it was given.'''
    print(step, total_steps, repr(target), deep, repr(count))


if __name__ == "__main__":
    main()
    main(9, 9)
    assert main.legacy_skill == LegacySkill("told", 1, "", main.legacy_skill.main)
    assert main.legacy_skill.steps is STEPS
    print(main.__name__, main.__doc__)
"""


def test_further_parameters_are_flags_and_what_was_given_can_be_read(tmp_path: Path) -> None:
    script = install(tmp_path, "told", "import sys\nsys.path.insert(0, sys.argv.pop(1))\n" + DECORATED)
    root = str(tree(tmp_path).parent)
    code, out, errors = call(script, root, "--step", "1", "--deep", "--count", "3")
    assert code == 0, errors
    assert out == "1 1 'all' True 3\n9 9 'all' False 1\nmain Says what it was given.\n"
    assert f"{script}:9: LegacyWarning: @skill is the older form of a skill: " in errors


@pytest.mark.parametrize("total", [0, -1, True, "3", None])
def test_a_skill_has_a_number_of_steps(total: object) -> None:
    from skills.lib.workflow.legacy import skill

    with pytest.raises(ValueError, match="is not a whole number of 1 or more"):
        skill("x", total)  # type: ignore[arg-type]


GUIDANCE = (
    HEAD
    + """
from shared import BranchCommand, FlatCommand, GuidanceResult, format_forbidden, format_guidance
from skills.lib.errors import UsageError

actions = ["Do <it>.", format_forbidden(["Do not rest."])]
first = GuidanceResult("Work", actions, FlatCommand("python3 'a b.py' --step 2"))
second = GuidanceResult("Review", "Look.", BranchCommand(["x.py", "--step", "4"], "x.py --step=1 --qr-fail"))
for step, guidance in enumerate([first, second, {"title": "End", "actions": ["Tell."], "next": None}], 1):
    print(format_guidance(guidance, step, 3), end="\\n\\0\\n")
for wrong in (
    lambda: FlatCommand("python3 'x"),
    lambda: FlatCommand([]),
    lambda: format_guidance({"actions": []}, 1, 1),
    lambda: format_guidance(GuidanceResult("A", [], BranchCommand("x.py", "x.py --step 2")), 1, 2),
):
    try:
        wrong()
    except UsageError as error:
        print(error.what)
try:
    first.title = "x"
except AttributeError as error:
    print(error)
print(hash(first) == hash(GuidanceResult(first.title, first.actions, first.next_command)), hasattr(first, "__dict__"))
"""
)


def test_guidance_is_printed_by_the_bare_formatters(tmp_path: Path) -> None:
    code, out, errors = call(install(tmp_path, "guided", GUIDANCE))
    assert code == 0, errors
    *documents, rest = out.split("\n\0\n")
    work, review, end = [parse(document) for document in documents]
    assert _next(work) == "python3 'a b.py' --step 2"
    assert work.findtext("DO/FORBIDDEN/rule") == "Do not rest."
    assert [(one.get("name"), one.get("to"), one.findtext("command")) for one in review.iter("outcome")] == [
        ("pass", "4", "x.py --step 4"),
        ("fail", "1", "x.py --step=1 --qr-fail"),
    ]
    assert _next(end) is None
    assert rest.splitlines() == [
        'command "python3 \'x" is not a line for the shell: No closing quotation',
        "the command is empty",
        "the guidance has no title",
        "x.py names no --step",
        "GuidanceResult is frozen: title cannot be changed",
        "True False",
    ]


def _next(document: etree._Element) -> str | None:
    return document.findtext("NEXT")

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from skills.lib.runtime import loading
from skills.lib.testing import every_walk
from skills.lib.testing.documents import parse
from skills.lib.testing.transitions import check_walk
from tests.commands.conftest import Command, Shown
from tests.fixtures.legacy.tree import install
from tests.fixtures.skill import ROOT

pytestmark = pytest.mark.req("W-14")
TWO = """import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "planner" / "scripts"))

from shared import format_step_output, skill

STEPS = {1: {"title": "One", "actions": ["Do."]}, 2: {"title": "Two", "actions": ["Tell."]}}


@skill(name="two", total_steps=2)
def main(step: int = None, total_steps: int = None):
    print(format_step_output(step, total_steps, **STEPS[step], script=__file__))


if __name__ == "__main__":
    main()
"""


def written(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.is_file()}


def call(script: Path, *words: str) -> Shown:
    """Run a script as an agent does."""
    command = [sys.executable, "-W", "ignore", str(script), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return Shown(done.returncode, done.stdout, done.stderr)


def test_the_diff_is_shown_and_nothing_is_changed(cli: Command, project: Path, snapshot: SnapshotAssertion) -> None:
    script = install(project, "two", TWO)
    before = written(script.parent)
    shown = cli("migrate", ".claude/skills/two")
    assert shown.code == 0
    assert written(script.parent) == before
    assert shown.out == snapshot
    assert shown.err == (
        "Nothing is written yet: .claude/skills/two/scripts/two.py with --write becomes the Workflow two.\n"
    )


def test_the_diff_can_be_applied(cli: Command, project: Path) -> None:
    script = install(project, "bug_hunt")
    patch = cli("migrate", str(script)).out
    subprocess.run(["git", "apply", "-p1", "-"], cwd=project, input=patch, text=True, check=True)
    applied = written(script.parent)
    subprocess.run(["git", "apply", "-R", "-p1", "-"], cwd=project, input=patch, text=True, check=True)
    assert cli("migrate", str(script), "--write").code == 0
    assert {name: text for name, text in written(script.parent).items() if not name.endswith(".legacy")} == applied


@pytest.mark.parametrize(
    "name, words", [("release_check", []), ("bug_hunt", []), ("reviewed", []), ("unprovable/unbounded", ["2=3"])]
)
def test_what_is_written_is_valid_and_every_transition_can_be_taken(
    cli: Command, project: Path, tmp_path: Path, name: str, words: list[str]
) -> None:
    script = install(project, name)
    bounds = [part for word in words for part in ("--max-iterations", word)]
    shown = cli("migrate", str(script), "--write", *bounds)
    assert shown.code == 0, shown.err
    assert cli("validate", str(script), "--strict").code == 0
    for number, walk in enumerate(every_walk(loading.workflow_of_script(str(script)))):
        place = tmp_path / f"walk{number}"
        place.mkdir()
        check_walk(script, walk, place)


def test_each_step_says_what_it_said(cli: Command, project: Path) -> None:
    script = install(project, "release_check")

    def said() -> list[tuple[str | None, str]]:
        found = []
        for step in ("1", "2", "3"):
            block = parse(call(script, "--step", step, *stateless).out)
            do = block.find("DO")
            assert do is not None
            texts = [str(text).strip() for text in do.itertext() if str(text).strip()]
            found.append((block.get("title"), "\n".join(texts)))
        return found

    stateless: list[str] = []
    before = said()
    assert cli("migrate", str(script), "--write").code == 0
    stateless = ["--stateless"]
    assert said() == before
    assert before[1][1].startswith('For each line, say what a user has to change. "Nothing" is an answer.\n\nA flag')
    assert before[1][1].endswith('Do not fix anything.\nDo not read <generated> files.\nOne line for each commit\n'
                                 'Each says what breaks, or "nothing"')  # fmt: skip


def test_a_printed_loop_says_the_same_lines(cli: Command, project: Path) -> None:
    script = install(project, "bug_hunt")
    before = call(script, "--step", "2", "--total-steps", "4", "--confidence", "low").out.splitlines()
    assert cli("migrate", str(script), "--write").code == 0
    after = call(script, "--step", "2", "--stateless").out
    assert parse(after).get("title") == "Narrow it down"
    assert parse(after).findtext("DO") == "\n" + "\n".join(before[2:4]) + "\n  "
    assert before[2] == "- Halve what is suspect: the input, the commits, the code that runs."


def test_the_old_script_stays_and_the_new_one_is_the_entry_of_every_skill(cli: Command, project: Path) -> None:
    script = install(project, "bug_hunt")
    old = script.read_bytes()
    shown = cli("migrate", str(script), "--write")
    assert shown.out == ""
    assert script.with_name("bug_hunt.py.legacy").read_bytes() == old
    shipped = (ROOT / "skills" / "problem-analysis" / "scripts" / "problem_analysis.py").read_text(encoding="utf-8")
    expected = shipped.replace("problem_analysis", "bug_hunt").replace("problem-analysis", "bug-hunt")
    assert script.read_text(encoding="utf-8") == expected
    folder = ".claude/skills/bug-hunt"
    assert shown.err.splitlines()[-5:] == [
        f"wrote {folder}/scripts/bug_hunt_workflow.py",
        f"wrote {folder}/scripts/bug_hunt_prompts.md",
        f"wrote {folder}/scripts/bug_hunt.py",
        f"kept the old script as {folder}/scripts/bug_hunt.py.legacy",
        f"note: {folder} has no SKILL.md, by which an agent finds it; lockstep new shows how one is written",
    ]


def test_a_skill_without_a_skill_md_is_looked_at_by_its_path(cli: Command, project: Path) -> None:
    script = install(project, "bug_hunt")
    folder = ".claude/skills/bug-hunt"
    assert cli("migrate", folder, "--write").code == 0
    checked = cli("validate", folder)
    assert checked.code == 0
    assert checked.out + checked.err == (
        f"Nothing is wrong in 1 workflow.\nnote: {folder} has no SKILL.md, by which an agent finds it\n"
    )
    refused = cli("walk", folder)
    assert refused.code == 2
    assert "is not a skill: it has no SKILL.md" in refused.err
    assert f"try:   {folder}/scripts/bug_hunt.py" in refused.err
    assert cli("walk", f"{folder}/scripts/bug_hunt.py", "--step", "1").code == 0
    (script.parents[1] / "SKILL.md").write_text("---\nname: bug-hunt\ndescription: Hunts bugs.\n---\n\nRun it.\n")
    assert "no SKILL.md" not in cli("validate", folder).err


def test_a_script_in_a_folder_below_climbs_one_further_and_runs(cli: Command, project: Path) -> None:
    script = install(project, "two", TWO)
    deeper = script.parent / "qr" / "my_check.py"
    deeper.parent.mkdir()
    script.rename(deeper)
    assert cli("migrate", str(deeper), "--write", "--name", "two-check").code == 0
    text = deeper.read_text(encoding="utf-8")
    assert "for _ in range(5):" in text
    assert text.startswith('"""Entry of the two-check skill;')
    assert text.endswith("main(__file__)\n")
    shown = call(deeper, "--step", "1", "--project", str(project))
    assert '<step protocol="1" skill="two-check" id="one" number="1" of="2" title="One"' in shown.out


def test_a_migrated_skill_has_nothing_to_migrate(cli: Command, project: Path) -> None:
    script = install(project, "release_check")
    assert cli("migrate", str(script), "--write").code == 0
    after = written(script.parent)
    for path in (str(script), str(script.with_name("release_check_workflow.py"))):
        again = cli("migrate", path, "--write")
        assert (again.code, again.out) == (0, "")
        assert again.err.startswith("Nothing to do: ")
        assert again.err.endswith(" is a Workflow already.\n")
    assert cli("migrate", ".claude", "--write").err == "Nothing to migrate: no legacy script is found under .claude.\n"
    assert written(script.parent) == after


def test_every_refusal_is_told_in_one_pass_and_nothing_is_written(
    cli: Command, project: Path, stable: Callable[[str], str], snapshot: SnapshotAssertion
) -> None:
    script = install(project, "unprovable/many")
    before = written(script.parent)
    shown = cli("migrate", str(script), "--write")
    assert shown.code == 3
    assert shown.err == "Refused: 6 things in .claude/skills/many/scripts/many.py cannot be proved.\n"
    assert written(script.parent) == before
    assert stable(shown.out) == snapshot


def test_json_tells_steps_files_notes_and_refusals(cli: Command, project: Path) -> None:
    hunt, many = install(project, "bug_hunt"), install(project, "unprovable/many")
    install(project, "plain", "print('no skill')\n")
    shown = cli("migrate", ".claude", "--json")
    assert shown.code == 3
    one, other = json.loads(shown.out)["scripts"]
    assert (one["path"], one["status"], one["name"]) == (str(hunt), "would-write", "bug-hunt")
    assert one["steps"][1] == {
        "number": 2,
        "id": "narrow-it-down",
        "title": "Narrow it down",
        "next": {"iterate": "narrow-it-down", "ok": "prove-the-cause"},
        "max_iterations": 4,
    }
    assert [Path(file["path"]).name for file in one["files"]] == [
        "bug_hunt_workflow.py",
        "bug_hunt_prompts.md",
        "bug_hunt.py",
    ]
    assert one["notes"][0] == "step 2: --confidence is given on leaving the step, not on entering it"
    assert (other["path"], other["status"], other["files"]) == (str(many), "refused", [])
    assert [(found["rule"], found["line"]) for found in other["refusals"]][:2] == [
        ("unprovable", 17),
        ("unprovable", 22),
    ]


@pytest.mark.parametrize("name", ["two_workflow.py", "two_prompts.md", "two.py.legacy"])
def test_nothing_that_is_there_is_overwritten(cli: Command, project: Path, name: str) -> None:
    script = install(project, "two", TWO)
    script.with_name(name).write_text("mine", encoding="utf-8")
    before = written(script.parent)
    shown = cli("migrate", str(script), "--write")
    assert shown.code == 3
    assert f"{name} exists already, and nothing is overwritten" in shown.err
    assert written(script.parent) == before


@pytest.mark.parametrize("after", range(8))
def test_a_write_that_is_interrupted_leaves_the_old_skill_or_the_new_one(
    cli: Command, project: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    script = install(project, "two", TWO)
    real, left = os.replace, iter(range(after))

    def replace(old: str, new: str) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        real(old, new)
        if next(left, None) is None:
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", replace)
    assert cli("migrate", str(script), "--write").code == (130 if after < 8 else 0)
    monkeypatch.undo()
    is_new = script.read_text(encoding="utf-8") != TWO
    assert is_new == (after >= 7)
    shown = call(script, "--step", "1", *(["--stateless"] if is_new else []))
    assert parse(shown.out).get("title") == "One"
    assert not list(script.parent.glob("*.part"))
    if is_new:
        assert script.with_name("two.py.legacy").read_text(encoding="utf-8") == TWO
        assert (script.parent / "two_workflow.py").exists()
    else:
        assert cli("migrate", str(script), "--write").code == 0


def test_a_folder_that_cannot_be_written_leaves_the_script(
    cli: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = install(project, "two", TWO)

    def refuse(old: str, new: str) -> None:
        raise PermissionError(13, "Permission denied", new)

    monkeypatch.setattr(os, "replace", refuse)
    shown = cli("migrate", str(script), "--write")
    assert shown.code == 4
    assert "two_workflow.py cannot be written: Permission denied" in shown.err
    assert script.read_text(encoding="utf-8") == TWO


def test_a_graph_that_is_not_valid_is_not_written(cli: Command, project: Path) -> None:
    script = install(project, "two", TWO.replace('"Do."', f'"{"Do all of it. " * 800}"'))
    before = written(script.parent)
    shown = cli("migrate", str(script), "--write")
    assert shown.code == 5
    assert "error[long-block] two:one" in shown.out
    assert ".claude/skills/two/scripts/two_workflow.py" in shown.out
    assert shown.err.endswith("Not valid: nothing of .claude/skills/two/scripts/two.py is written.\n")
    assert written(script.parent) == before


def test_a_skill_md_that_no_longer_fits_is_told_after_writing(cli: Command, project: Path) -> None:
    script = install(project, "two", TWO)
    head = "---\nname: two\ndescription: Use when a test asks for two.\n---\n\n# Two\n\n"
    page = script.parents[1] / "SKILL.md"
    page.write_text(f"{head}```\npython3 scripts/two.py --step 1 --total-steps 5\n```\n", encoding="utf-8")
    shown = cli("migrate", ".claude/skills/two", "--write")
    assert shown.code == 5
    assert "error[skill-command] two" in shown.out
    assert script.with_name("two_workflow.py").exists()


@pytest.mark.parametrize(
    "words, what",
    [
        (["nowhere"], "nowhere does not exist"),
        (["note.py"], "note.py is no legacy skill script"),
        ([".", "--name", "x"], "--name for 2 scripts"),
        ([".claude/skills/two", "--name", "My Skill"], "'My Skill' is not a name for a workflow"),
        ([".claude/skills/two", "--max-iterations", "2"], "--max-iterations '2'"),
        ([".claude/skills/two", "--max-iterations", "2=0"], "--max-iterations '2=0'"),
        (["bytes.py"], "the script is not Python source"),
    ],
)
def test_what_cannot_be_understood_is_a_usage_error(cli: Command, project: Path, words: list[str], what: str) -> None:
    install(project, "two", TWO)
    install(project, "release_check")
    (project / "note.py").write_text("print('a note')\n", encoding="utf-8")
    (project / "bytes.py").write_bytes(b"\xff\xfe\x00main\n")
    shown = cli("migrate", *words)
    assert (shown.code, shown.out) == (2, "")
    assert what in shown.err


def test_the_script_is_read_and_never_run(cli: Command, project: Path) -> None:
    witness = project / "witness"
    side = f"from pathlib import Path\nPath({str(witness)!r}).write_text('ran')\n"
    script = install(project, "two", side + TWO)
    assert cli("migrate", str(script)).code == 3
    assert not witness.exists()


def test_the_page_about_migrating_is_as_its_commands_make_it() -> None:
    command = [sys.executable, str(ROOT / "docs" / "generate.py"), "--check", "docs/migrating.md"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_migrated_loop_is_followed_by_its_printed_commands(cli: Command, project: Path) -> None:
    script = install(project, "bug_hunt")
    assert cli("migrate", str(script), "--write").code == 0
    shown = call(script, "--step", "1", "--project", str(project))
    for confidence in ("", "low", "medium", "low", "low"):
        onward = parse(shown.out).findtext("NEXT") or ""
        shown = call(script, *shlex.split(onward.replace("FILL_confidence", confidence))[2:])
    assert parse(shown.out).get("id") == "prove-the-cause"


def test_a_folder_with_a_pipe_in_it_is_searched_to_its_end(cli: Command, project: Path) -> None:
    os.mkfifo(project / "pipe.py")
    (project / "endless.py").symlink_to("/dev/zero")
    assert cli("migrate", ".").err.startswith("Nothing to migrate")

"""One entry for several scripts: the flag chooses, and a run is its own script's from then on."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from skills.lib.errors import UsageError
from skills.lib.runtime.choosing import choose
from skills.lib.runtime.cli import HelpRequested, read
from skills.lib.workflow.choice import Choice
from tests.fixtures.skill import install, source_of
from tests.runtime.calls import OPEN_ENDED
from tests.skills.follower import SKILLS, Follower

CHOICE = Choice("scope", {"one-prompt": "one.py", "many": "many.py"}, help="Two scopes.")


@pytest.mark.parametrize(
    "given, chosen, rest",
    [
        (["--step", "1", "--scope", "many"], "many.py", ["--step", "1"]),
        (["--scope=one-prompt", "--step", "1"], "one.py", ["--step", "1"]),
        (["--scope", "many", "--help"], "many.py", ["--help"]),
        (["--step", "current", "--run", "x"], "one.py", ["--step", "current", "--run", "x"]),
        (["--step", "current", "--run=x", "--scope", "many"], "many.py", ["--step", "current", "--run=x"]),
    ],
)
def test_the_flag_is_taken_out_and_names_the_script(given: list[str], chosen: str, rest: list[str]) -> None:
    assert choose("/skill/scripts/x.py", CHOICE, read(given)) == (f"/skill/scripts/{chosen}", read(rest))


@pytest.mark.parametrize(
    "given, what, remedy",
    [
        ([], "--scope is missing", "give --scope; --help says what each is"),
        (["--scope"], "--scope is missing", "give --scope; --help says what each is"),
        (["--scope", "one-promt"], "there is no scope 'one-promt'", "--scope one-prompt"),
    ],
)
def test_nothing_is_served_without_a_choice(given: list[str], what: str, remedy: str) -> None:
    with pytest.raises(UsageError) as raised:
        choose("/skill/scripts/x.py", CHOICE, read(given))
    assert (raised.value.what, raised.value.valid, raised.value.remedy) == (what, "one-prompt, many", remedy)


def test_help_lists_what_can_be_chosen() -> None:
    with pytest.raises(HelpRequested, match=r"Two scopes\.(.|\n)*x\.py --scope one-prompt --help\n"):
        choose("/skill/scripts/x.py", CHOICE, read(["--help"]))


def test_a_flag_of_every_script_cannot_choose() -> None:
    with pytest.raises(ValueError, match="--step is a flag of every step script"):
        Choice("step", {"a": "a.py"})


def test_a_run_that_was_opened_by_the_common_entry_is_its_own_scripts(tmp_path: Path) -> None:
    agent = Follower("prompt-engineer/scripts/prompt_engineer.py", tmp_path, shell=True)
    block = agent.begin("--scope", "ecosystem")
    assert (block.root.get("skill"), block.root.get("of")) == ("prompt-engineer-ecosystem", "8")
    assert str(SKILLS / "prompt-engineer/scripts/ecosystem.py") in block.next
    refused = agent.run(
        f"{shlex.join([sys.executable, str(agent.script)])} --step current --run {block.root.get('run')}"
    )
    assert (refused.exit_code, refused.root.get("code")) == (3, "other-workflow")
    assert agent.run(refused.next).text == block.text


def test_a_missing_choice_ends_with_the_code_of_usage(tmp_path: Path) -> None:
    script = SKILLS / "prompt-engineer/scripts/prompt_engineer.py"
    done = subprocess.run(
        [sys.executable, str(script), "--step", "1"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("lockstep: --scope is missing\n")


@pytest.mark.parametrize("source", ["OTHER = 1\n", "CHOICE = {'one': 'one.py'}\n"])
def test_a_common_entry_without_a_choice_is_a_broken_skill(tmp_path: Path, project: Path, source: str) -> None:
    script = install(tmp_path, "unchosen", source_of("unchosen", OPEN_ENDED))
    (script.parent / "unchosen_workflow.py").unlink()
    (script.parent / "unchosen_choice.py").write_text(source, encoding="utf-8")
    done = subprocess.run([sys.executable, script, "--step", "1"], cwd=project, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (5, "")
    assert "unchosen_choice.py has no CHOICE" in done.stderr

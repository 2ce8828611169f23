"""The machinery that runs a page: sessions, elisions, fixed words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

SKILL = """from skills.lib.workflow.core import StepDef, Workflow, register_workflow
from skills.lib.workflow.types import Outcome

register_workflow(Workflow("one", StepDef("only", "Only", ["Do it."], {Outcome.OK: None})))
"""
ENTRY = """import os, sys
from skills.bootstrap import main
main(__file__)
"""


def page(*fences: str) -> str:
    return "\n".join(fences)


def console(*lines: str) -> str:
    return "```console\n" + "".join(f"{line}\n" for line in lines) + "```\n"


def test_a_file_is_there_for_the_commands_after_it(transcript: Any) -> None:
    before = page("<!-- file: notes/a.txt -->\n\n```text\nhello\n```\n", console("$ cat notes/a.txt"))
    assert transcript.replay(before) == before.replace("a.txt\n```\n", "a.txt\nhello\n```\n")


def test_the_exit_code_of_one_command_is_there_for_the_next(transcript: Any) -> None:
    assert transcript.replay(console("$ false", "$ echo $?")) == console("$ false", "$ echo $?", "1")


def test_paths_and_run_ids_are_shown_as_fixed_words_and_can_be_used(transcript: Any) -> None:
    before = page(
        f"<!-- file: skills/one/scripts/one_workflow.py -->\n\n```python\n{SKILL}```\n",
        f"<!-- file: skills/one/scripts/one.py -->\n\n```python\n{ENTRY}```\n",
        console(
            "$ python3 skills/one/scripts/one.py --step 1",
            "$ <PYTHON> <PROJECT>/skills/one/scripts/one.py --step done --run k3f9q2mx --turn 1 --project <PROJECT>",
        ),
    )
    after = transcript.replay(before)
    assert ' run="k3f9q2mx" turn="1">' in after
    assert '<NEXT required="true"><USER>/step k3f9q2mx 1</NEXT>' in after
    assert '<done protocol="1" skill="one" run="k3f9q2mx" turn="2" status="done">' in after
    assert transcript.replay(after) == after


def test_a_line_in_the_middle_is_left_out_if_the_page_leaves_it_out(transcript: Any) -> None:
    before = console("$ printf 'a\\nb\\nc\\nd\\n'", "a", "[…]", "d")
    assert transcript.replay(before) == before


def test_what_stands_around_an_elision_is_compared(transcript: Any) -> None:
    assert transcript.elided(["x", "[…]"], ["a", "b"]) == ["a", "[…]"]
    assert transcript.elided(["a", "[…]", "c", "x"], ["a", "b", "c", "d", "e"]) == ["a", "[…]", "c", "d", "e"]
    with pytest.raises(transcript.TranscriptError, match="not printed any more:\nz"):
        transcript.elided(["a", "[…]", "z"], ["a", "b"])


def test_output_stands_in_the_fence_that_follows_an_example_at_once(transcript: Any) -> None:
    before = '```python\nprint("hi")\n```\n\n```text\nold\n```\n'
    assert transcript.replay(before) == before.replace("old", "hi")
    apart = '```python\nprint("hi")\n```\n\nWords.\n\n```text\nold\n```\n'
    assert transcript.replay(apart) == apart


def test_a_longer_fence_holds_shorter_ones(transcript: Any) -> None:
    before = "<!-- file: a.md -->\n\n````markdown\n```console\n$ echo no\n```\n````\n"
    assert transcript.replay(page(before, console("$ grep -c echo a.md"))).endswith("a.md\n1\n```\n")


def test_a_traceback_is_never_taken_for_output(transcript: Any) -> None:
    with pytest.raises(transcript.TranscriptError, match="a command fails"):
        transcript.replay(console("$ python3 -c 1/0"))


def test_a_session_has_nothing_of_the_users(transcript: Any, tmp_path: Path) -> None:
    session = transcript.Session(tmp_path)
    session.prepare()
    assert session.command("echo $HOME $LOCKSTEP_HOME; pwd; ls -A") == ["<TEMP>/home", "<PROJECT>", ".git"]

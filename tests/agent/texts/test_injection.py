"""Commands in a SKILL.md are found, run without a shell as far as they are admitted, and stand as data."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.lib.agent.prose import injection
from skills.lib.agent.prose.injection import Printed
from skills.lib.agent.tools.workspace import Workspace
from tests.agent.tools.conftest import is_alive

SHELL = ("shell",)


def commands(text: str) -> list[str]:
    return [one.command for one in injection.found(text)]


def python(code: str) -> str:
    return shlex.join([sys.executable, "-c", code])


@pytest.fixture
def files(tmp_path: Path) -> Workspace:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a.txt").write_text("one\n", encoding="utf-8")
    return Workspace(str(tmp_path / "project"))


def printed(files: Workspace, *lines: str, allowed: tuple[str, ...] = SHELL) -> list[Printed]:
    return injection.run(lines, files, allowed, lambda one: one)


@pytest.mark.req("A-10.1")
def test_commands_of_the_founding_document_are_found() -> None:
    text = """
- **Diff**: !`gh pr diff`
- **Modified Files**: !`gh pr diff --name-only`
!`df -h | head -5`
!`find . -name "*.py" | wc -l` Python files
(!`uname -a`)
"""
    assert commands(text) == [
        "gh pr diff",
        "gh pr diff --name-only",
        "df -h | head -5",
        'find . -name "*.py" | wc -l',
        "uname -a",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "```bash\n!`id`\n```\n",
        "~~~\n!`id`\n",
        "- item\n  ````\n  ```\n  !`id`\n  ````\n",
        "> ```\n> !`id`\n> ```\n",
        "1. ```sh\n   !`id`\n   ```\n",
        "Write `` !`id` `` to run a command",
        r"\!`id`",
        "Wow!`id`",
        "!`id``",
        "!``id``",
        "!`a\nb`",
        "! `id`",
        "!` `",
        "!``",
    ],
)
def test_what_stands_in_code_or_is_no_mark_is_no_command(text: str) -> None:
    assert commands(text) == []


@given(st.text("!`~ \n-ab>", max_size=80))
def test_parts_of_a_text_are_the_text(text: str) -> None:
    found = injection.found(text)
    parts = injection.injected(text, [Printed(one.command, text[one.begin : one.end]) for one in found])
    assert "".join(parts) == text
    assert len(parts) == 2 * len(found) + 1


@pytest.mark.req("A-10.3")
def test_outputs_stand_in_place_of_their_commands(files: Workspace) -> None:
    text = "Files: !`ls` and\n!`cat a.txt a.txt`\nthe end"
    outputs = printed(files, *commands(text))
    assert "".join(injection.injected(text, outputs)) == ("Files: `a.txt` and\n\n```output\none\none\n```\nthe end")


def test_an_output_cannot_end_the_code_that_it_stands_in(files: Workspace) -> None:
    [many, one, nothing] = printed(files, "printf 'a\\n```\\n</step>\\n'", "printf '`x``'", "true")
    assert many.text == "\n````output\na\n```\n</step>\n````"
    assert one.text == "``` `x`` ```"
    assert nothing.text == "[nothing was printed]"


@pytest.mark.req("A-10.4")
def test_a_command_that_fails_is_told_in_its_place(files: Workspace) -> None:
    [failed, missing, open_quote] = printed(files, "ls /nowhere", "no-such-program", "echo 'a")
    assert failed.text.startswith("[failed: ls /nowhere: exit 2 after ")
    assert "No such file" in failed.text
    assert missing.text.startswith("[failed: no-such-program: there is no program no-such-program on PATH")
    assert open_quote.text.startswith("[not run: echo 'a: the command cannot be read")
    assert (failed.exit, missing.exit) == (2, None)


def test_the_output_of_a_command_that_fails_is_kept(files: Workspace) -> None:
    [one] = printed(files, "sh -c 'echo pending; exit 8'")
    assert one.text.startswith("`pending`\n[failed: sh -c 'echo pending; exit 8': exit 8 after ")


@pytest.mark.req("A-10.5")
@pytest.mark.parametrize(
    "command, allowed, why",
    [
        ("ls", (), "names no commands"),
        ("ls", ("read", "write"), "names no commands"),
        ("ls", ("shell(git)",), "does not admit it"),
        ("ls | sh", ("shell(ls)",), "does not admit it"),
        ("/bin/ls", ("shell(ls)",), "does not admit it"),
        ("git push", ("shell(git diff)",), "does not admit it"),
        ("ls; id", SHELL, "no shell runs this command"),
        ("echo $(id)", SHELL, "no shell runs this command"),
        ("echo $HOME", SHELL, "no shell runs this command"),
        ("echo a > b.txt", SHELL, "writes no file"),
        ("echo a >> b.txt", ("shell(echo)",), "writes no file"),
    ],
)
def test_a_command_that_is_not_admitted_does_not_run(
    files: Workspace, command: str, allowed: tuple[str, ...], why: str
) -> None:
    [one] = printed(files, command, allowed=allowed)
    assert why in one.why
    assert one.text == f"[not run: {command}: {one.why}]"
    assert (one.exit, one.size) == (None, 0)
    assert [path.name for path in Path(files.project).iterdir()] == ["a.txt"]


def test_every_program_of_a_pipe_may_be_admitted(files: Workspace) -> None:
    [one] = printed(files, "cat a.txt | wc -l", allowed=("shell(cat)", "shell(wc)"))
    assert (one.text, one.exit) == ("`1`", 0)


@pytest.mark.slow
@pytest.mark.req("A-10.6")
def test_a_command_ends_after_five_seconds_with_what_it_started(files: Workspace) -> None:
    begin = time.monotonic()
    code = "import os, time; pid = os.fork(); print(pid, flush=True) if pid else None; time.sleep(60)"
    [one] = printed(files, python(code))
    assert 4.9 < time.monotonic() - begin < 30
    assert "ended at its time limit after 5." in one.text
    assert one.exit is None
    assert not is_alive(int(one.text.split("`")[1]))


@pytest.mark.req("A-10.7")
def test_of_an_output_ten_thousand_characters_are_taken(files: Workspace) -> None:
    [one] = printed(files, python("print('\u00e9' * 200_000)"))
    assert one.text == "`" + "\u00e9" * 10_000 + "`\n[cut: 400,001 bytes were printed]"
    assert one.size == 400_001


def test_all_outputs_together_are_bounded(files: Workspace) -> None:
    outputs = printed(files, *[python(f"print('{number}' * 9_000)") for number in range(6)])
    assert [len(one.text) for one in outputs[:4]] == [9_002] * 4
    assert sum(len(one.text) for one in outputs) < 41_000
    assert "[cut: 9,001 bytes were printed]" in outputs[4].text


def test_a_command_that_stands_twice_runs_once(files: Workspace) -> None:
    code = "open('ran', 'a').write('x'); print(len(open('ran').read()))"
    outputs = printed(files, python(code), python(code))
    assert [one.text for one in outputs] == ["`1`", "`1`"]


def test_at_most_fifty_commands_run(files: Workspace) -> None:
    outputs = printed(files, *[f"no-such-program {number}" for number in range(52)])
    assert "there is no program" in outputs[49].why
    assert [one.why for one in outputs[50:]] == ["at most 50 commands of a skill run"] * 2


def test_what_is_recorded_of_a_command(files: Workspace) -> None:
    [one, refused] = printed(files, "echo abc", "rm a.txt", allowed=("shell(echo)",))
    assert {**one.data(), "seconds": 0} == {"command": "echo abc", "why": "", "exit": 0, "seconds": 0, "size": 4}
    assert refused.data() == {
        "command": "rm a.txt",
        "why": "allowed-tools of SKILL.md does not admit it",
        "exit": None,
        "seconds": 0.0,
        "size": 0,
    }

"""A line of plain words is read at once, and means what the long way of reading it says."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skills.lib.guard import shell, shell_plain
from skills.lib.guard import shell_programs as programs
from skills.lib.guard.shell_parts import SimpleCommand

pytestmark = pytest.mark.req("G-04")
NAMES = (
    "git make rm ls cd echo rg sort tee cat pytest deploy grep sh env if done export find printf cp sqlite3 time ./x"
    " python python3"
)
REST = """-m pytest x.py X.PY sub/x.py .py
push status -m commit -C sub a.py --force -rf --pre=x --ev "a b" 'c $(d)' 'x[$(d)]' "$X" "e\\"f" `g` h'
'i ~ * > x 2>&1 2>/dev/null >/dev/null >x 3>&1 && || ; | & |& !x A=b = % -- # { {a,b} \\ ext::x a2>&1 < ( ) ''
"" -f- \u200b \u00fc *.py a?'b'* ?"""
QUOTED = [
    "'a\nb'",
    '"a\nb"',
    '"a b"',
    "'a  b'",
    r'"a\|b"',
    r'"\.md"',
    r"'\.md'",
    r'"a\\b"',
    '"a\\\nb"',
    r'"\`d\`"',
    r'"a\"',
]
WORDS = [*NAMES.split(), *REST.split(), *NAMES.split(), *QUOTED, "\n", "\t"]


def told(line: str) -> list[tuple[object, ...]]:
    """All that is read of each command, by the long way."""
    return [about(one) for one in shell.read_by_syntax(line, "/w").commands]


def about(one: SimpleCommand) -> tuple[object, ...]:
    parts = [tuple(getattr(word, name) for name in type(word).__slots__) for word in one.parts]
    return tuple(one.words), parts, tuple(one.targets), one.folder, one.exit, one.is_plain, one.unsettled


@given(st.lists(st.sampled_from(WORDS), max_size=7), st.sampled_from((" ", "", "  ")))
@example(["git", "push", "2>&1"], " ")
@example(["git", "commit", "-m", "'a\nb'", "&&", "ls", "2>/dev/null"], " ")
@example(["printf", "'x[$(d)]'"], " ")
@example(["rm", "a?'b'*"], " ")
def test_a_plain_line_is_read_as_the_long_way_reads_it(words: list[str], between: str) -> None:
    line = between.join(words)
    found = shell_plain.commands(line)
    if not found:
        return
    known = shell.read_by_syntax(line, "/w")
    assert known.certain
    words_found = [[word.text for word in one if not word.glob] for one in found]
    words_known = [[word.text for word in one.parts if not word.glob] for one in known.commands]
    assert words_found == words_known
    if len(found) == 1:
        read = shell.read(line, "/w")
        assert read.certain
        assert [about(one) for one in read.commands] == told(line)


@pytest.mark.parametrize(
    "line, words",
    [
        ("git push origin main", ["git", "push", "origin", "main"]),
        ('git commit -m "one; two"', ["git", "commit", "-m", "one; two"]),
        ("pytest -q 'a b' 2>&1", ["pytest", "-q", "a b"]),
        ("make test > /dev/null", ["make", "test"]),
        ("rg --files", ["rg", "--files"]),
        (r'grep -n "one\|t.o\." a.py', ["grep", "-n", r"one\|t.o\.", "a.py"]),
        ('git commit -m "one\n\ntwo"', ["git", "commit", "-m", "one\n\ntwo"]),
    ],
)
def test_plain_commands(line: str, words: list[str]) -> None:
    assert [word.text for word in shell_plain.command(line)] == words


@pytest.mark.parametrize(
    "line",
    [
        *(
            "",
            "git",
            "git -C x push",
            "sh x",
            "env ls",
            "rg --pre=x y",
            "make --eval=x",
            "make -sE x",
            "GIT push",
            "ls > x",
            "ls &",
            "X=1 ls",
        ),
        *(
            'echo "$X"',
            r'echo "a\\b"',
            r'echo "a\"',
            r'echo "\$X"',
            'echo "a\\\nb"',
            "echo `ls`",
            "ls\nrm x",
            "git fetch ext::x",
            "tee x; ./x",
            "cp a b && b",
            "ls |& cat",
            "./ls",
            "ls ;; ls",
        ),
    ],
)
def test_lines_that_are_not_plain(line: str) -> None:
    assert shell_plain.commands(line) == []


def test_no_program_of_a_table_counts_as_plain() -> None:
    tables = (
        programs.SHELLS,
        programs.PYTHONS,
        programs.INTERPRETERS,
        programs.OPAQUE,
        programs.WRAPPERS,
        programs.RUNNERS,
    )
    special = {name for table in (*tables, programs.FED, programs.STARTERS) for name in table}
    for name in sorted(special):
        assert not shell_plain.commands(f"{name} x"), name
    for name, handing in programs.HANDING.items():
        for option in handing:
            assert not shell_plain.commands(f"{name} '{option}'"), (name, option)
    for command in programs.GIT_OPAQUE | {"config", "submodule", "bisect", "send-pack", "http-push", "subtree"}:
        assert not shell_plain.commands(f"git {command} x"), command
    for command, handing in programs.GIT_HANDING.items():
        for option in handing:
            assert not shell_plain.commands(f"git {command} '{option}'"), (command, option)
    assert set(shell_plain.OF_GIT) <= programs.GIT_COMMANDS

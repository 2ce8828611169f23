"""What lines of a shell are taken as, and what a real bash does with them: nothing slips past a rule."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from skills.lib.guard import shell

pytestmark = pytest.mark.req("G-04")
LINES = Path(__file__).with_name("shell_lines.yaml")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "guard-shell.md"
PUSH = ("git", "push")
# A git that notes each push, and does what real git does with aliases and with the commands that run others.
GIT = """#!/bin/sh
name= value=
while :; do
    case "$1" in
        -c) case "$2" in
                [aA][lL][iI][aA][sS].*) name=${2%%=*}; name=${name#*.}; value=${2#*=} ;;
                core.pager=*|core.fsmonitor=*) value=${2#*=}; [ "$3" != push ] && eval "$value" ;;
            esac; shift 2 || exit 1 ;;
        -C|--git-dir|--work-tree|--namespace) shift 2 || exit 1 ;;
        -*) shift ;;
        *) break ;;
    esac
done
if [ -n "$name" ] && [ "$1" = "$name" ]; then
    shift
    case "$value" in '!'*) eval "${value#?}"; exit ;; esac
    set -- $value "$@"
fi
case "$1" in
    p) [ -e LOG.alias ] && set -- push ;;
    config) case "$2" in alias.p) : > LOG.alias ;; esac ;;
    submodule) shift; while [ $# -gt 0 ] && [ "$1" != foreach ]; do shift; done; shift
        case "$1" in -*) shift ;; esac; [ $# -gt 0 ] && eval "$*"; exit ;;
    bisect) [ "$2" = run ] && { shift 2; "$@"; }; exit ;;
    rebase) case "$2" in --exec|-x) eval "$3" ;; --exec=*) eval "${2#--exec=}" ;; esac ;;
    difftool) [ "$2" = -x ] && eval "$3" ;;
    subtree) [ "$2" = push ] && set -- push ;;
esac
[ "$GIT_PAGER$PAGER" ] && [ "$1" = log ] && eval "${GIT_PAGER:-$PAGER}"
[ "$1" = push ] && echo pushed >> LOG
exit 0
"""
TOOLS = (
    "env xargs find timeout nohup nice setsid stdbuf ionice flock taskset cat tee sort head tail cut tr wc sed awk bash"
    " sh dash python3 perl tar split true false ls grep touch mkdir uname dirname basename sleep date seq printf echo"
)


@pytest.fixture(scope="session")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Runs a line in a real bash, with a git that notes a push; returns True if there was one."""
    place = tmp_path_factory.mktemp("shell")
    programs, log = place / "bin", place / "log"
    programs.mkdir()
    (programs / "git").write_text(GIT.replace("LOG", str(log)))
    (programs / "git").chmod(0o755)
    for name in TOOLS.split():
        if found := shutil.which(name):
            (programs / name).symlink_to(found)

    def run(line: str) -> bool:
        folder = place / "work"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "sub").mkdir(parents=True)
        for name in ("file", "push", "script.sh", "script", "script.py"):
            (folder / name).write_text("git push\n" if name.startswith("script") else "x\n")
        (folder / "script.py").write_text("import os\nos.system('git push')\n")
        (folder / "script.sh").chmod(0o755)
        for old in (log, Path(f"{log}.alias")):
            old.unlink(missing_ok=True)
        with subprocess.Popen(
            ["/bin/bash", "-c", line],
            cwd=folder,
            env={"PATH": str(programs), "HOME": str(folder), "X": "git push", "SUB": "push", "GIT": "git"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                process.wait(5)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, 9)
        return log.exists()

    return run


def taken(line: str) -> str:
    """What a line is taken as for the rule ``shell(git push)``."""
    read = shell.read(line, "/")
    found = read.matches(PUSH)
    if not read.certain or not all(match.certain for match in found):
        return "look"
    return "match" if found else "none"


def classes() -> list[dict[str, Any]]:
    """The classes of lines that are written down."""
    found: list[dict[str, Any]] = yaml.safe_load(LINES.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("of", classes(), ids=lambda of: of["class"])
def test_each_line_is_taken_as_it_is_written_down(of: dict[str, Any]) -> None:
    expected = {line: kind for kind in ("match", "look", "none") for line in of.get(kind, ())}
    assert {line: taken(line) for line in expected} == expected


def test_many_lines_are_written_down() -> None:
    lines = [line for of in classes() for kind in ("match", "look", "none") for line in of.get(kind, ())]
    assert len(lines) > 800
    assert len(set(lines)) > 0.98 * len(lines)


def test_no_line_that_is_taken_as_none_pushes_in_a_real_bash(bash: Any) -> None:
    lines = [line for of in classes() for line in of.get("none", ())]
    assert [line for line in lines if bash(line)] == []


def test_a_real_bash_pushes_by_most_lines_that_match(bash: Any) -> None:
    """So the lines are what they are said to be; some name programs that are not installed here."""
    lines = [line for of in classes() for line in of.get("match", ())]
    assert sum(bash(line) for line in lines) > 0.6 * len(lines)


def test_the_fake_git_notes_a_push(bash: Any) -> None:
    assert [
        bash("git push"),
        bash("git -C sub -c a=b push x"),
        bash("git -c alias.x=push x"),
        bash("bash script.sh"),
    ] == [True] * 4
    assert not any([bash("git status push"), bash("echo git push"), bash("cat script.sh")])


# Pieces of lines around a push; every one of them is closed.
WORDS = st.sampled_from(
    [
        "git",
        "push",
        '"git"',
        "g''it",
        "\\git",
        "$GIT",
        "$X",
        "$SUB",
        "pu\\sh",
        "p?sh",
        "{git,push}",
        "$(echo push)",
        "`echo git`",
        "-C sub",
        "-c a=b",
        "-c alias.x=push",
        "x",
        "--no-pager",
        "''",
        "$'pu\\x73h'",
        "origin",
        "\\\n",
    ]
)
WRAPPED = st.sampled_from(
    [
        "{}",
        "{} ",
        "env {}",
        "env A=1 {}",
        "env -i PATH=$PATH {}",
        "nice -n 5 {}",
        "timeout 5 {}",
        "nohup {}",
        "command {}",
        "exec {}",
        "echo x | xargs {}",
        "echo x | xargs -I % {}",
        "find . -maxdepth 0 -exec {} \\;",
        "time {}",
        "! {}",
        "({})",
        "{{ {}; }}",
        "if {}; then :; fi",
        "for i in 1; do {}; done",
        "while {}; do break; done",
        "$({})",
        "`{}`",
        "echo $({})",
        'echo "$({})"',
        "cat <({})",
        "cd sub && {}",
        "true; {}",
        "false || {}",
        "{} &",
        "{} | cat",
        ": && {}",
        ": \n{}",
        "{} > out",
        "> out {}",
        "2>&1 {}",
        "A=1 {}",
        "eval '{}'",
        'eval "{}"',
        "sh -c '{}'",
        'bash -c "{}"',
        "cat <<E\n$({})\nE",
        "cat <<'E'\n{}\nE",
        "sh <<'E'\n{}\nE",
        "f() {{ {}; }}; f",
        "# {}",
        "echo '{}'",
        'echo "{}"',
        "case x in x) {};; esac",
        "[[ x ]] && {}",
        "set -- {}; $@",
        'set -- {}; "$@"',
        "A='{}'; $A",
        "trap '{}' EXIT",
        "echo '{}' | sh",
        "shopt -s expand_aliases\nalias g='{}'\ng",
        "coproc {}",
        "git submodule foreach '{}'",
        "{}; :",
        "sed -n '1e {}' file",
        "awk 'BEGIN {{ system(\"{}\") }}'",
        "printf x | sed 's/x/{}/e'",
        "a=({})",
        "echo {} #",
    ]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(WORDS, min_size=1, max_size=4), st.lists(WRAPPED, max_size=3))
@example(["git", "push"], ["echo '{}'", "echo $({})"])
@example(["git", "-c alias.x=push", "x"], ["for i in 1; do {}; done"])
@example(["$X"], [])
def test_a_line_that_pushes_in_a_real_bash_matches_or_is_not_certain(
    bash: Any, words: list[str], around: list[str]
) -> None:
    line = " ".join(words)
    for one in around:
        line = one.format(line)
    if taken(line) == "none":
        assert not bash(line)


SIGNS = st.text(alphabet="gitpush \\\"'$(){}`;|&<>\n!#*-=~", max_size=24)


@settings(max_examples=300, deadline=None)
@given(SIGNS)
def test_any_text_can_be_read(text: str) -> None:
    read = shell.read(text, "/")
    for found in (*read.matches(PUSH), *read.matches(("rm",)), *read.matches(("git",))):
        assert isinstance(found.value("args"), tuple)
        assert isinstance(found.value("paths"), tuple)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SIGNS, SIGNS)
def test_signs_around_a_push_hide_none_from_the_rule(bash: Any, before: str, after: str) -> None:
    line = f"{before}git push{after}"
    if taken(line) == "none":
        assert not bash(line)


def rows() -> str:
    """The table of docs/guard-shell.md: each class with what it is taken as, and its first short line of each kind."""
    found = ["| class | taken as | matches | not certain | does not match |", "|---|---|---|---|---|"]
    for of in classes():
        shown = []
        for kind in ("match", "look", "none"):
            lines = [line for line in of.get(kind, ()) if len(line) < 40 and not set(line) & set("|`")]
            plain = [line for line in lines if line.isascii() and line.isprintable()]
            escaped = [line.encode("unicode_escape").decode() for line in lines]
            shown.append(f"`{(plain or escaped)[0]}`" if lines else "")
        found.append(f"| {of['class']} | {of['taken']} | {' | '.join(shown)} |")
    return "\n".join(found) + "\n"


def test_the_page_has_the_table_of_the_classes() -> None:
    assert rows() in PAGE.read_text(encoding="utf-8")

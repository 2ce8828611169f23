"""What a rule gets of a command: arguments, paths, folder, exit code; and which evidence it is."""

from __future__ import annotations

import os
import shlex
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.lib.guard import shell
from skills.lib.guard.shell_matching import Match

pytestmark = pytest.mark.req("G-04")


def only(line: str, rule: str, folder: str = "/w") -> Match:
    """The one match of a rule with a line."""
    (found,) = shell.read(line, folder).matches(rule.split())
    return found


def matches(line: str, rule: str) -> bool | None:
    """True if a line matches a rule for certain, None if perhaps."""
    found = shell.read(line, "/").matches(rule.split())
    return bool(found) if all(match.certain for match in found) else None


@pytest.mark.parametrize(
    "line, rule, args",
    [
        ("git push", "git push", ()),
        ("git -C a --no-pager push -f origin main", "git push", ("-f", "origin", "main")),
        ("git push origin '--force' \"a b\"", "git push", ("origin", "--force", "a b")),
        ("git push $X origin", "git push", (None, "origin")),
        ('git push "--force$X"', "git push", (None,)),
        ("git push * :x*", "git push", (None, ":x*")),
        ("git push {a,b} x", "git push", (None, "x")),
        ("git push > log x 2>&1", "git push", ("x",)),
        ("git push", "git", ("push",)),
        ("rm -rf -- a", "rm", ("-rf", "--", "a")),
        ("docker --context x push img", "docker push", ("--context", "x", "img")),
        ("make -j4 test X=1", "make test", ("-j4", "X=1")),
        ("make lint test", "make test", ("lint",)),
        ("env A=1 nice make test", "make test", ()),
        ("python -m pytest -q", "pytest", ("-q",)),
        ("python3 tools/deploy.py now", "deploy.py", ("now",)),
        ('tool \'a\nb\' "c\\"d"', "tool", ("a\nb", 'c"d')),
    ],
)
def test_the_arguments_after_the_words_of_a_rule(line: str, rule: str, args: tuple[str | None, ...]) -> None:
    assert only(line, rule).value("args") == args


@pytest.mark.parametrize(
    "line, rule, answer",
    [
        ("npm publish", "npm publish", True),
        ("npm --tag x publish", "npm publish", True),
        ("npm install publish", "npm publish", False),
        ("npm publ", "npm publish", None),
        ("npm run publish", "npm publish", False),
        ("/opt/bin/Deploy.EXE", "deploy", True),
        ("./deploy now", "deploy", True),
        ("deploy now", "./deploy", True),
        ("deploys", "deploy", False),
        ("git remote add x y", "git remote add", True),
        ("git remote -v add x y", "git remote add", True),
        ("git remote show", "git remote add", False),
        ("kubectl -n prod delete pod x", "kubectl delete", True),
        ("kubectl get delete", "kubectl delete", False),
        ("terraform $X", "terraform apply", None),
        ("git push origin --force", "git push --force", True),
        ("git push --forc origin", "git push --force", True),
        ("git push origin", "git push --force", False),
        ("git push $X", "git push --force", None),
        ("rm -r -f x", "rm -rf", True),
        ("rm -fvr x", "rm -rf", True),
        ("rm -r x", "rm -rf", False),
        ("sudo rm x", "sudo", True),
        ("sudo rm x", "rm", True),
        ("just lint deploy", "just deploy", True),
    ],
)
def test_which_commands_a_rule_matches(line: str, rule: str, answer: bool | None) -> None:
    assert matches(line, rule) is answer


def test_a_script_is_certain_only_for_a_rule_that_names_it() -> None:
    line = shell.read("bash scripts/deploy.sh now", "/w")
    assert not line.certain
    assert line.scripts == (("scripts/deploy.sh", "now"),)
    assert not line.is_certain([("git", "push"), ("make", "deploy.sh")])
    assert line.is_certain([("git", "push"), ("deploy.sh",)])
    assert line.is_certain([("deploy.sh", "now")])
    assert not line.is_certain([("deploy.sh", "later")])
    assert line.matches(("deploy.sh",))[0].args == ("now",)
    assert not shell.read("bash deploy.sh; eval x", "/w").is_certain([("deploy.sh",)])
    assert shell.read("./deploy.sh now", "/w").matches(("deploy.sh",))[0].args == ("now",)


def test_the_activation_of_a_virtual_environment_is_certain(tmp_path: Path) -> None:
    line = ". .venv/bin/activate && pytest"
    assert not shell.read(line, str(tmp_path)).certain
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("")
    assert shell.read(line, str(tmp_path)).certain
    assert not shell.read(". .venv/bin/other", str(tmp_path)).certain


@pytest.mark.parametrize(
    "content, certain",
    [
        (b"#!/bin/sh\nmake\n", False),
        (b"#! /usr/bin/env -S bash -e\n", False),
        (b"make\n", False),
        (b"#!/usr/bin/env python3\n", True),
        (b"#!/usr/bin/node\n", True),
        (b"\x7fELF\0\0", True),
        (b"", True),
    ],
)
def test_a_program_that_a_shell_reads_is_a_script(tmp_path: Path, content: bytes, certain: bool) -> None:
    (tmp_path / "run").write_bytes(content)
    line = shell.read("./run now", str(tmp_path))
    assert line.certain is certain
    assert line.is_certain([("run",)])
    assert line.matches(("run", "now"))[0].certain
    assert shell.read("run now", str(tmp_path)).certain


def test_a_script_that_the_line_writes_is_not_certain_for_any_rule(tmp_path: Path) -> None:
    for line in ("echo make > run.sh; bash run.sh", "cp a run; ./run", "echo 1 > x.py && python x.py"):
        assert not shell.read(line, str(tmp_path)).is_certain([("run.sh",), ("run",), ("x.py",)]), line
    assert shell.read("echo 1 > x.py && python y.py", str(tmp_path)).certain


CERTAIN_ON_WINDOWS = [
    "git push origin",
    "git push origin && make test",
    'git commit -m "fix: the push of a thing"',
    "git.exe push",
    r"python tests\run.py --quick -v",
    "Get-ChildItem -Recurse src",
    "docker-compose.exe up -d",
    "npm run build",
]
NOT_CERTAIN_ON_WINDOWS = [
    *("echo %X%", "a; b", "echo ^a", "echo a `; git push", "git status # & git push", "git st`atus", "& git status"),
    *("git pu,sh", "git 'x' | ls", "git $x", "git (echo push)", "git @x", "echo {git push}", "git status > x"),
    *('git "" push', '"git" status', 'git "a b\\" push', 'git a"b"', 'git "a', 'git "$x"', 'git "a\u201d; git push"'),
    *("git -c.push x", "git -a:push", "git\tstatus", "git status\ngit push", "git\u00a0status", "git \u2013x", ""),
    *("Start-Process git push", "saps git push", "iex x", "icm git push", "foreach git push", "return git push"),
    *("if x git push", "for git push", "start git push", "call git push", "Invoke-Expression x", "New-Alias g git"),
    *("sl sub", "Set-Location sub && git push"),
    *("pwsh -Command git push", "cmd /c git push", "powershell git push", ". x", "x.ps1", r".\deploy.ps1", "7 push"),
]


def test_few_lines_of_the_shells_of_windows_are_certain() -> None:
    for kind in ("windows", "powershell"):
        for line in CERTAIN_ON_WINDOWS:
            assert shell.read(line, "/w", kind).certain, (kind, line)
        for line in NOT_CERTAIN_ON_WINDOWS:
            assert not shell.read(line, "/w", kind).certain, (kind, line)


def test_powershell_alone_reads_words_in_single_quotes() -> None:
    line = shell.read("git commit -m 'push & go'", "/w", "powershell")
    assert line.certain
    assert [list(command.words) for command in line.commands] == [["git", "commit", "-m", "push & go"]]
    assert not shell.read("git commit -m 'push & go'", "/w", "windows").certain
    for text in ("a\u2019; git push", 'a" push "b', "it''s"):
        assert not shell.read(f"git commit -m '{text}'", "/w", "powershell").certain, text


def test_a_certain_line_of_windows_matches_as_any_other() -> None:
    line = shell.read("cd sub && GIT.exe -C x push origin", "/w", "windows")
    [found] = line.matches(("git", "push"))
    assert (found.certain, found.args, found.command.folder) == (True, ("origin",), "/w/sub")
    assert shell.read("git status && git push", "/w", "windows").matches(("git", "push"))


@pytest.mark.parametrize(
    "line, branch",
    [
        ("git push -f origin", "main"),
        ("git push -f origin dev", "dev"),
        ("git push -fo ci.skip origin", None),
        ("git push -fo ci.skip origin dev", None),
        ("git push -f --push-o ci.skip origin", None),
        ("git push -f --rep origin other", None),
        ("git push -f --push-option=ci.skip origin dev", "dev"),
        ("git push -f origin dev:main", "main"),
        ("git push -f origin dev main", None),
    ],
)
def test_the_branch_that_is_pushed_to(tmp_path: Path, line: str, branch: str | None) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (found,) = shell.read(line, str(tmp_path)).matches(("git", "push"))
    assert found.value("branch") == branch


@pytest.mark.parametrize(
    "line, paths",
    [
        ("rm -rf a ./b ../c /d/../e", ["W/a", "W/b", "c", "/e"]),
        ("rm a > out 2>/dev/null", ["W/a", "W/out"]),
        ("rm -- -a", ["W/-a"]),
        ("rm 'a b' c\\ d", ["W/a b", "W/c d"]),
        ("rm $X a", [None, "W/a"]),
        ("rm ~/a '~/b' ~root/c", ["HOME/a", "W/~/b", None]),
        ("rm *.pyc a/b*", ["W/*.pyc", "W/a/b*"]),
        ("rm .* */x ../*", [None, None, "*"]),
        ("rm a{b,c}", [None]),
        ("cd sub && rm a", ["W/sub/a"]),
        ("cd sub; rm a", [None]),
        ("cd sub; rm /a", ["/a"]),
        ("cd $X && rm a /b", [None, "/b"]),
        ("cd .. && rm a", ["a"]),
        ("(cd sub && ls); rm a", [None]),
        ("cd sub | rm a", [None]),
        ("pushd sub && rm a", [None]),
        ("env -C sub rm a", [None]),
        ("sudo rm /a", ["/a"]),
        ("find . -exec rm {} +", [None, "W/+"]),
        ("echo a | xargs rm", [None]),
        ("rm --target=/a -o/b -I../c --name=x", ["/a", "/b", "c"]),
        ("rm of=/a if=b", ["/a", "W/if=b"]),
        ("rm https://example.com/x file:///a", ["/a"]),
        ("rm link/a", ["/etc/a"]),
        ("rm a=b/c d=e/f", ["W/b/c", "/etc/c", "W/e/f"]),
        ("rm x://../../e", ["e"]),
        ("rm y://../../e W/a", ["W/W/a"]),
        ("cd -P deep/.. && rm a", ["a"]),
        ("cd deep/.. && rm a", ["W/a"]),
        ("set -P; cd deep/.. && rm a", [None]),
        ("set -o physical && cd deep && rm a", [None]),
        ("setopt chase_links; cd deep/.. && rm a", [None]),
        ("rm '' a", ["W/a"]),
        ("rm", []),
    ],
)
def test_the_paths_of_a_command(tmp_path: Path, line: str, paths: list[str | None]) -> None:
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "link").symlink_to("/etc")
    (folder / "a=b").symlink_to("/etc")
    (folder / "x:").mkdir()
    (folder / "deep").symlink_to(tmp_path / "other")
    (tmp_path / "other").mkdir()
    above, home = os.path.realpath(tmp_path), os.path.expanduser("~")

    def full(path: str | None) -> str | None:
        if path is None or path[0] == "/":
            return path
        place = path.replace("HOME", os.path.realpath(home))
        return place if place[0] == "/" else f"{above}/{'w' + place[1:] if place[0] == 'W' else place}"

    (found,) = shell.read(line, str(folder)).matches(("rm",))
    expected = [full(path) for path in paths]
    if line.startswith("find"):
        expected = expected[:1]
    assert found.value("paths") == tuple(expected)


@pytest.mark.parametrize(
    "line, code, known",
    [
        ("make test", 0, 0),
        ("make test", 2, 2),
        ("make test > log 2>&1", 1, 1),
        ("time make test", 1, 1),
        ("timeout 9 make test", 124, 124),
        ("make test\n", 1, 1),
        ("cd sub && make test", 0, 0),
        ("cd sub && make test", 1, None),
        ("make test && echo ok", 0, 0),
        ("echo a; make test", 1, 1),
        ("make test; echo a", 0, None),
        ("make test || true", 0, None),
        ("make test | tail -5", 0, None),
        ("set -o pipefail; make test | tail -5", 0, 0),
        ("set -eo pipefail; make test | tail -5", 1, None),
        ("yes | make test", 1, 1),
        ("! make test", 0, None),
        ("make test &", 0, None),
        ("make test & wait", 0, None),
        ("if make test; then echo a; fi", 0, None),
        ("(make test)", 0, None),
        ("echo $(make test)", 0, None),
        ("find . -exec make test \\;", 0, None),
        ("echo a | xargs make test", 0, None),
        ("make test", None, None),
        ("exit 0; make test", 0, None),
        ("exit; make test", 0, None),
        ("[ -d x ] && exit; make test", 0, None),
        ("exit 0 && make test", 0, None),
        ("exec true; make test", 0, None),
        ("setsid make test", 0, None),
        ("setsid -w make test", 0, 0),
        ("sudo -b make test", 0, None),
        ("sudo -n make test", 0, 0),
        ("flock -nE 0 lock make test", 0, None),
        ("exec > log; make test", 2, 2),
        ("set -n; make test", 0, None),
        ("set -o noexec; make test", 0, None),
        ("set -eu; make test", 2, 2),
        ("trap 'exit 0' EXIT; make test", 0, None),
        ("cd x || exit 1; make test", 0, 0),
        ("cd x || exit 1; make test", 1, None),
        ("cd x || exit 256; make test", 0, None),
    ],
)
def test_the_exit_code_of_a_command_in_a_line(line: str, code: int | None, known: int | None) -> None:
    assert only(line, "make test").command.result_exit(code) == known


@pytest.mark.parametrize(
    "line, answer",
    [
        ("make test", True),
        ("make -j4 test", True),
        ("env CI=1 make test", True),
        ("make -n test", False),
        ("make test -in", False),
        ("make --dry-run test", False),
        ("make test --ignore-errors", False),
        ("make test $X", False),
        ("PATH=/tmp make test", False),
        ("export PATH=/tmp; make test", False),
        ("MAKEFLAGS=-n make test", False),
        ("find . -exec make test \\;", False),
        ("bash -c 'make test'", False),
        ("make -Oline -kj 4 test", True),
        ("make --no-print-directory test", True),
        ("make -kt test", False),
        ("make --touch test", False),
        ("make --ig test", False),
        ("make -C ../other test", False),
        ("make --directory=../other test", False),
        ("make -fother.mk test", False),
        ("make test -o test", False),
        ("make test PYTEST=true", False),
        ("X=true make -e test", False),
        ("env MAKEFLAGS=-i make test", False),
        ("export GNUMAKEFLAGS=-n; make test", False),
    ],
)
def test_what_is_evidence(line: str, answer: bool) -> None:
    assert only(line, "make test").is_plain is answer


@pytest.mark.parametrize(
    "rule, line, answer",
    [
        ("pytest", "pytest -q -n4 -p no:cacheprovider -rs", True),
        ("pytest", "python -m pytest --tb=short --cov=x --color=yes", True),
        ("pytest", "pytest --co", False),
        ("pytest", "pytest -qh", False),
        ("pytest", "pytest -V", False),
        ("pytest", "pytest --fixtures", False),
        ("pytest", "pytest --setup-plan", False),
        ("pytest", "pytest --rootdir=../other", False),
        ("pytest", "pytest --override-ini=addopts=--co", False),
        ("pytest", "pytest -oaddopts=--co", False),
        ("pytest", "pytest -o xfail_strict=true", True),
        ("go test", "go test -count=0 ./...", False),
        ("go test", "go test --list=. ./...", False),
        ("npm test", "npm test -- --coverage", True),
        ("npm test", "npm --prefix ../other test", False),
        ("npm test", "npm test -C ../other", False),
        ("npm test", "npm test --if-present", False),
        ("npm test", "npm_config_script_shell=true npm test", False),
        ("tox", "tox -q", True),
        ("tox", "tox -l", False),
        ("make -C web test", "make -C web test", True),
        ("make test CI=1", "make test CI=1", True),
        ("make test --dry-run", "make test -n", False),
    ],
)
def test_what_is_evidence_for_other_programs(rule: str, line: str, answer: bool) -> None:
    assert [found.is_plain for found in shell.read(line, "/w").matches(rule.split())] in ([answer], [])


@pytest.mark.parametrize(
    "line, passing",
    [
        ("make test", ""),
        ("sed -i s/a/b/ f; make test", ""),
        ("timeout 60 make test > log", ""),
        ("make test && echo ok | cat", ""),
        ("make test && git add -A && git commit -m x", "head"),
        ("set -o pipefail; make test | tee log", ""),
        ("make test && sed -i s/a/b/ f", "branch head tree"),
        ("make test && git stash pop", "branch head tree"),
        ("make test && echo a > f", "tree"),
        ("make test && > f", "tree"),
    ],
)
def test_what_a_line_may_change_after_a_command_is_not_known_when_it_has_run(line: str, passing: str) -> None:
    found = only(line, "make test")
    assert found.command.passing == set(passing.split())
    assert all(found.value(name, has_run=True) is None for name in passing.split())


@pytest.mark.parametrize(
    "line, certain",
    [
        ("ln -s ../out l; rm l/f", False),
        ("ln -s ../out l && rm -r l/", False),
        ("ln -s ../out && rm out/f", False),
        ("ln -sfn ../out d; rm -r d/*", False),
        ("ln -s ../out l && ls l/", True),
        ("ln -s ../out l; rm l", True),
        ("printf x > new.mk; make -f new.mk", False),
        ("printf x > GNUmakefile && make", False),
        ("printf x > .git/hooks/post-commit && git commit", False),
        ("printf x > .git/info/exclude && git status", True),
        ("echo x > log; make test", True),
        ("CDPATH=.. cd out && rm f", False),
        ("export CDPATH=..; cd out && rm f", False),
        ("make -E 'x: ; rm f' x", False),
        ("make -sE'x: ; rm f' x", False),
        ("make .DEFAULT_GOAL=x", False),
    ],
)
def test_a_line_that_makes_what_it_uses_is_not_certain(line: str, certain: bool) -> None:
    assert shell.read(line, "/w").certain is certain


@pytest.mark.parametrize(
    "line, changed",
    [
        ("git push", ""),
        ("git add -A && git push", ""),
        ("ls | head && git push", ""),
        ("git commit -m x && git push", "head"),
        ("git checkout main && git push", "branch head tree"),
        ("sed -i s/a/b/ f && git push", "branch head tree"),
        ("echo a > f && git push", "tree"),
        ("echo a > /dev/null; git push", ""),
        ("git push; make", ""),
        ("make & git push", "branch head tree"),
        ("for x in 1 2; do git push; make; done", "branch head tree"),
        ("git push $(make)", "branch head tree"),
    ],
)
def test_what_a_line_may_change_before_a_command_is_not_known(line: str, changed: str) -> None:
    found = only(line, "git push")
    assert found.command.unsettled == set(changed.split())
    assert all(found.value(name) is None for name in changed.split())


def test_words_that_no_shell_reads() -> None:
    line = shell.of_words(["git", "push", "a; rm b", "$X", "*"], "/w")
    assert line.certain
    (found,) = line.matches(("git", "push"))
    assert found.args == ("a; rm b", "$X", "*")
    assert line.matches(("rm",)) == []
    assert not shell.of_words(["bash", "-c", "git push"], "/w").certain


def test_the_words_of_a_rules_name() -> None:
    assert shell.rule_words("shell(git push)") == ("git", "push")
    assert shell.rule_words("shell(rm)") == ("rm",)
    assert shell.rule_words("edit") == shell.rule_words("mcp(a.b)") == shell.rule_words("shell(rm") == ()


def test_a_long_or_deep_line_is_not_certain() -> None:
    assert not shell.read("echo " + "a" * 300_000, "/").certain
    assert not shell.read("echo " + "$(echo " * 50 + ")" * 50, "/").certain
    assert not shell.read("env " * 30 + "git push", "/").certain


@pytest.mark.parametrize(
    "line",
    [
        "git push;" * 20_000,
        "`git push` " * 15_000,
        "find . " + "-exec find " * 15_000,
        "bash -c " * 20_000,
        "eval " * 39_000,
        "xargs " * 30_000,
        "PAGER='git push' " * 11_000 + "git log",
        "git " + "-c alias.x=y " * 14_000,
        "sed 'x" + "e" * 190_000 + "'" + " $X",
    ],
    ids=lambda line: line[:12],
)
def test_a_line_that_is_made_to_take_long_is_read_in_time(line: str) -> None:
    started = time.monotonic()
    read = shell.read(line, "/")
    assert all(match.value("args") is not None for match in read.matches(("git", "push"))[:9])
    assert not read.certain or line.startswith("sed")
    assert time.monotonic() - started < 15


@given(st.lists(st.text(max_size=6), min_size=1, max_size=4))
def test_quoted_words_come_back(words: list[str]) -> None:
    given = [word.replace("\0", "") for word in words]
    line = shell.read(shlex.join(["tool", *given]), "/w")
    assert line.matches(("tool",))[0].args == tuple(given)

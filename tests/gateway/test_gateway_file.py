"""What a gateway file may say; every mistake is told with its file, its line and the nearest name."""

from __future__ import annotations

import contextlib
import os
import random
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skills.lib.errors import EnvironmentProblem, RefusedError, UsageError
from skills.lib.gateway import Gateway
from skills.lib.gateway.fields import GatewayFileError
from skills.lib.gateway.gateway import project_file, shipped_file
from tests.gateway.conftest import Setup

pytestmark = pytest.mark.req("P-07")

GOOD = """\
limits: {seconds: 60, output: 200k, memory: 1G, cpu: 30, processes: 64}
commands:
  test:
    about: Run the tests of a folder.
    argv: [pytest, -q, ["-k", "{name}"], "--junit={report}", "{folder}"]
    params:
      name: {pattern: '[A-Za-z_ ]+', optional: true}
      report: {path: write, default: build/report.xml}
      folder: {path: read, default: tests}
    env: {CI: '1'}
  count:
    argv: ["{python}", -c, "import sys; print(len(sys.argv))", "{words}"]
    params: {words: {pattern: '-?[a-z]+', many: true}}
    limits: {seconds: 0.5}
"""


def told(setup: Setup, text: str) -> str:
    with pytest.raises(EnvironmentProblem) as caught:
        project_file(str(setup.project), text.encode())
    return "\n".join(caught.value.lines()).replace(str(setup.project) + "/", "")


def test_a_good_file_is_read(setup: Setup) -> None:
    file = project_file(str(setup.project), GOOD.encode())
    test, count = file.commands["test"], file.commands["count"]
    assert test.argv == ("pytest", "-q", ("-k", "{name}"), "--junit={report}", "{folder}")
    assert (test.setting.limits.seconds, test.setting.limits.output) == (60, 200_000)
    assert (test.setting.limits.memory, test.setting.limits.cpu, test.setting.limits.processes) == (10**9, 30, 64)
    assert (count.setting.limits.seconds, count.setting.limits.memory) == (0.5, 10**9)
    assert test.setting.env == {"CI": "1"}
    assert [one.optional for one in test.parameters.values()] == [True, False, False]


def test_the_argument_list_is_the_template_with_the_values(setup: Setup) -> None:
    gateway = setup.trust(GOOD.replace("pytest", "env"))
    root = str(setup.project)
    bare = gateway.prepare("test", {})
    assert bare.argv[1:] == ("-q", f"--junit={root}/build/report.xml", f"{root}/tests")
    full = gateway.prepare("test", {"name": "a or b", "folder": "docs\\guide.md"})
    assert full.argv[1:] == ("-q", "-k", "a or b", f"--junit={root}/build/report.xml", f"{root}/docs/guide.md")
    assert gateway.run("count", {"words": ["a", "-b", "c"]}).output == "4\n"


# A command with one parameter, which stands on line 5.
B = "commands:\n  a:\n    argv: [x, '{b}']\n    params:\n      b: "
MISTAKES = [
    ("comands: {}\n", "lockstep.gateway.yaml:1: 'comands' is not known here; did you mean commands?"),
    ("commands:\n  a:\n    argv: [x]\n    parms: {}\n", ":4: 'parms' is not known here; did you mean params?"),
    (B.replace("{b}", "{bb}") + "{pattern: x}\n", ":3: {bb} is no parameter; did you mean b?"),
    (B.replace("'{b}'", "y") + "{pattern: x}\n", ":5: argv has no {b}"),
    (B + "{about: x}\n", ":5: b has no pattern"),
    (B + "\n        pattern: '(x'\n", ":6: the pattern (x cannot be used: the group at 0 is not closed"),
    (B + "{pattern: 'x)|(y'}\n", ":5: the pattern x)|(y cannot be used"),
    (B + "{pattern: '(?=x)'}\n", "there is no lookaround"),
    (B + "{pattern: x, default: y}\n", ":5: 'y' does not match x"),
    (B + "{pattern: x, many: yes}\n", ":5: many is 'yes'\n  valid: true, false"),
    (B + "{path: wirte}\n", ":5: there is no use 'wirte' of a path\n  valid: read, write"),
    (B + "{path: script}\n", ":5: there is no use 'script' of a path\n  valid: read, write"),
    (B.replace("[x, '{b}']", "['{b}']") + "{pattern: x}\n", ":3: {b} stands for the program"),
    (B.replace("'{b}'", "'--y={b}'") + "{pattern: x, many: true}\n", ":3: {b} stands for many words"),
    (B.replace("  b: ", "  project: ") + "{pattern: x}\n", ":5: 'project' is no name of a parameter"),
    ("commands:\n  a: {}\n", ":2: a has no argv"),
    ("commands:\n  a: {argv: make test}\n", ":2: argv is no list whose first word is a program"),
    ("commands:\n  a: {does: read_file}\n", ":2: there is no operation 'read_file'"),
    ("commands:\n  A b: {argv: [x]}\n", ":2: 'A b' is no name of a command"),
    ("commands:\n  read_file: {argv: [x]}\n", ":2: read_file is a command of Lockstep"),
    ("commands:\n  a: {argv: [x]}\n  a: {argv: [y]}\n", ":3:3: the gateway file has the key 'a' twice"),
    ("commands: [a]\n", ":1: commands is no mapping"),
    ("commands:\n  a: {argv: [x], limits: {seconds: soon}}\n", ":2: seconds is 'soon', no number"),
    ("commands:\n  a: {argv: [x], limits: {seconds: 0}}\n", ":2: the time is no number of seconds above 0"),
    ("commands:\n  a: {argv: [x], limits: {output: 1}}\n", ":2: the output is bounded by 1k to 10M"),
    ("commands:\n  a: {argv: [x], limits: {second: 1}}\n", ":2: 'second' is not known here; did you mean seconds?"),
    ("commands:\n  a: {argv: [x], env: {'A B': c}}\n", ":2: 'A B' is no name of a variable"),
    ("runners: {.py: {env_vars: [PYTHONPATH]}}\n", ":1: PYTHONPATH changes what a program loads"),
    ("runners: {.py: {env_vars: [LD_PRELOAD]}}\n", "so a caller may not set it\n  try:   set it with env"),
    ("runners: {.rb: {limits: {seconds: 5}}}\n", ":1: argv has no word {script} after the program"),
    ("runners: {.rb: {argv: ['{script}']}}\n", ":1: argv has no word {script} after the program"),
    ("runners: {rb: {argv: [ruby, '{script}']}}\n", ":1: 'rb' is no suffix of scripts"),
    ("runners: {.rb: {argv: [ruby, '{script}', '{args}']}}\n", ":1: {args} is not known here"),
    ("blocked:\n  - ok\n  - '['\n", ":3: the pattern [ cannot be used: the class at 0 is not closed"),
    ("commands:\n  a:\n    argv: [x]\n    blocked:\n      - ok\n      - '['\n", ":6: the pattern [ cannot be used"),
    ("roots: [nowhere]\ncommands:\n  a: {argv: [x]}\n", ":3: none of the roots of a is a folder"),
    ("commands:\n" + "".join(f"  a{n}: {{argv: [x]}}\n" for n in range(501)), ":1: there are 501 commands"),
    ("blocked: [" + ", ".join(f"'{n}a{{4000}}'" for n in range(30)) + "]\n", "have more than 100,000 parts"),
    (B + "{pattern: '[ab]*a[ab]{2000}', default: " + "ab" * 40_000 + "}\n", ":5: to match 'abab"),
    ("", "the gateway file is empty"),
    ("- a\n", "the gateway file is not a mapping of fields"),
    ("a: &b c\n", "the gateway file has an anchor (&)"),
    ("a: !!python/name:os.system\n", "the gateway file has a tag (!)"),
    ('commands: {a: {argv: [x, "\\u0007"]}}\n', "U+0007"),
]


def test_what_is_blocked_for_many_commands_is_compiled_once(setup: Setup) -> None:
    blocked = ", ".join(f"a{n}" for n in range(10_000))
    commands = "".join(f"  c{n}: {{argv: [x]}}\n" for n in range(500))
    begin = time.process_time()
    gateway = setup.trust(f"blocked: [{blocked}]\ncommands:\n{commands}")
    assert len(gateway.command("c499").blocked) == 10_000
    assert time.process_time() - begin < 8


@pytest.mark.parametrize("part", ["params: {x: {pattern: '[ab]*a[ab]{400}'}}", "params: {x: {pattern: '[ab]*'}}"])
def test_a_value_that_takes_a_pattern_too_long_is_refused(setup: Setup, part: str) -> None:
    gateway = setup.trust(f"commands: {{a: {{argv: [echo, '{{x}}'], blocked: ['a[ab]{{400}}c'], {part}}}}}\n")
    chosen = random.Random(1)
    value = "".join(chosen.choice("ab") for _ in range(90_000))
    begin = time.process_time()
    with pytest.raises(RefusedError, match="takes too long"):
        gateway.prepare("a", {"x": value})
    assert time.process_time() - begin < 8


@pytest.mark.parametrize("text, message", MISTAKES)
def test_a_mistake_is_told_with_its_line(setup: Setup, text: str, message: str) -> None:
    assert message in told(setup, text)


def with_x(argv: str) -> str:
    """A gateway file with one command, whose parameter is x."""
    return f"commands:\n  a:\n    argv: {argv}\n    params: {{x: {{pattern: x}}}}\n"


@pytest.mark.parametrize(
    "argv",
    [
        "[sh, -c, 'make {x}']",
        "[bash, -lc, '{x}']",
        "[/bin/bash, -c, 'echo {x}']",
        "['{python}', -c, '{x}']",
        "['{python}', '-Ic', 'print({x})']",
        "[python3.12, -c, '{x}']",
        "[node, -e, '{x}']",
        "[node, '--eval={x}']",
        "[perl, -ne, '{x}']",
        "[env, '{x}']",
        "[sudo, '{x}']",
        "[xargs, '{x}']",
        "[awk, '{x}']",
        "[ssh, host, ls, '{x}']",
        "[watch, -n, '1', ls, '{x}']",
        "[nice, sh, -c, '{x}']",
        "[cmd, /c, '{x}']",
        "[powershell, -Command, '{x}']",
        "[find, ., -exec, '{x}', ';']",
        "[ruby, [-e, '{x}']]",
    ],
)
def test_a_value_is_never_program_text(setup: Setup, argv: str) -> None:
    assert ":3: {x} would be read as program text, so a value could run anything" in told(setup, with_x(argv))


@pytest.mark.parametrize(
    "argv",
    [
        "[sh, scripts/build.sh, '{x}']",
        "['{python}', -c, 'import sys; print(sys.argv)', '{x}']",
        "[grep, -e, '{x}']",
        "[nice, '-n', '{x}', make]",
        "[timeout, '{x}', make]",
        "[git, commit, -m, '{x}']",
        "[make, -C, '{x}']",
        "[python3, -m, pytest, -k, '{x}']",
    ],
)
def test_a_value_that_is_an_argument_is_taken(setup: Setup, argv: str) -> None:
    assert "a" in project_file(str(setup.project), with_x(argv).encode()).commands


@pytest.mark.parametrize(
    "pattern, value, passes",
    [
        ("[a-z]+", "abc", True),
        ("[a-z]+", "abc\n", False),
        ("[a-z]+", "abc d", False),
        ("a|b", "ab", False),
        ("a|b", "b", True),
        (".*", "-x", False),
        ("[-a-z]*", "-x", False),
        ("-x|all", "-x", True),
        ("(?:-n|-v)", "-v", True),
        ("\\-{1,2}[a-z]+", "--x", True),
        (".*", "a\nb", False),
        (".*", "", True),
        ("(a+)+b", "a" * 60, False),
    ],
)
def test_a_pattern_is_matched_with_the_whole_value(setup: Setup, pattern: str, value: str, passes: bool) -> None:
    gateway = setup.trust(f"commands: {{a: {{argv: [echo, '{{x}}x'], params: {{x: {{pattern: '{pattern}'}}}}}}}}\n")
    if passes:
        assert gateway.prepare("a", {"x": value}).argv[1] == value + "x"
    else:
        with pytest.raises(RefusedError):
            gateway.prepare("a", {"x": value})


def test_checks_come_in_their_order(setup: Setup) -> None:
    """Each call has the faults of all later checks too, and is refused for the first."""
    gateway = setup.trust(
        "blocked: [bad]\n"
        "commands: {a: {argv: [echo, '{x}', '{y}'], params: {x: {pattern: '[^!]*'}, y: {path: read}}}}\n"
    )
    for values, error in (
        ({"x": "-bad!", "y": "../bad"}, "does not match its pattern"),
        ({"x": "-bad", "y": "../bad"}, "begins with -"),
        ({"x": "bad", "y": "../bad"}, "outside of"),
        ({"x": "bad", "y": "README.md"}, "the line has what is blocked"),
    ):
        with pytest.raises(RefusedError, match=error):
            gateway.run("a", values)
    with pytest.raises(UsageError, match="the gateway has no command 'b'"):
        gateway.run("b", {"x": "-bad!"})


def test_where_the_project_lies_blocks_nothing(tmp_path: Path) -> None:
    project = tmp_path / "my%20project ~ $(x)"
    project.mkdir()
    (project / "a.txt").write_text("x", encoding="utf-8")
    assert Gateway(str(project)).run("read_file", {"path": "a.txt"}).output == "x"


def test_a_folder_that_holds_projects_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home" / "me"
    (home / "work").mkdir(parents=True)
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    monkeypatch.setenv("HOME", str(home))
    for folder in ("/", str(home), str(home.parent), str(shared)):
        with pytest.raises(RefusedError, match="what works there would reach too much"):
            Gateway(folder)
    assert Gateway(str(home / "work")).run("list_files", {}).ok


def test_every_shipped_command_says_what_it_is_for() -> None:
    file = shipped_file()
    assert list(file.commands) == [
        *("list_files", "read_file", "make_directory", "tree", "copy_file", "move_file", "python_run", "script_run")
    ]
    assert [name for name, one in file.commands.items() if not one.about] == []
    assert {suffix: one.setting.limits.seconds for suffix, one in file.runners.items()} == {
        ".py": 120,
        ".js": 120,
        ".sh": 120,
    }
    assert {one.setting.limits.seconds for name, one in file.commands.items() if not name.endswith("_run")} == {10}


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=200) | st.text("commands: argv{}[]'\"-\n  params:pattern,x!&*|>#%@`", max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    with contextlib.suppress(GatewayFileError):
        project_file("/nowhere", text.encode("utf-8", "surrogatepass"))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20), max_size=5))
def test_values_are_words_and_their_braces_are_left_alone(words: list[str]) -> None:
    if not _GATEWAY:
        _GATEWAY.append(Gateway(tempfile.mkdtemp(dir=os.environ["XDG_CACHE_HOME"])))
    text = ["{script}", "{python}", *words]
    prepared = _GATEWAY[0].prepare("python_run", {"script": "scripts/write_txt.py", "args": text})
    assert list(prepared.argv[4:]) == text


_GATEWAY: list[Gateway] = []

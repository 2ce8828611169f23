"""The command as a whole: help, version, typos, exit codes, colour, pipes, locales."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from skills.lib.commands.console.app import SUBCOMMANDS
from tests.commands.conftest import Command, Walker
from tests.fixtures import skill
from tests.fixtures.terminal import at_terminal

ROOT = Path(__file__).resolve().parents[2]


def call(*words: str, env: dict[str, str] | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, str(ROOT / "skills" / "__main__.py"), *words],
        capture_output=True,
        env={**os.environ, **(env or {})},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )


def test_help_names_every_subcommand(cli: Command, snapshot: SnapshotAssertion) -> None:
    shown = cli("--help")
    assert shown.code == 0
    assert all(f"  {name} " in shown.out for name in SUBCOMMANDS)
    assert "0 done, 1 something is wrong (doctor), 2 usage" in " ".join(shown.out.split())
    assert shown.out == snapshot


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_subcommand_has_help_with_examples(name: str, cli: Command) -> None:
    shown = cli(name, "--help")
    assert shown.code == 0
    assert "Examples:" in shown.out
    assert f"lockstep {name}" in shown.out.partition("Examples:")[2]


def test_version_is_the_packages(cli: Command) -> None:
    from skills import __version__

    assert cli("--version").out == f"lockstep {__version__}, protocol 1\n"


def test_both_ways_in_are_the_same_command() -> None:
    by_path = call("--version")
    by_name = subprocess.run(
        [sys.executable, "-m", "skills", "--version"], capture_output=True, cwd=ROOT, timeout=60, check=True
    )
    assert by_path.stdout == by_name.stdout
    assert by_path.returncode == 0


def test_an_interpreter_without_the_libraries_says_what_to_install() -> None:
    done = subprocess.run(
        [sys.executable, "-S", str(ROOT / "skills" / "__main__.py"), "list"],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 4
    assert b"click is not installed" in done.stderr
    assert b"try:   pip install /path/to/lockstep" in done.stderr


def test_a_typo_offers_the_nearest_subcommand(cli: Command, snapshot: SnapshotAssertion) -> None:
    shown = cli("validat")
    assert shown.code == 2
    assert "lockstep validate" in shown.err
    assert (shown.out, shown.err) == snapshot


@pytest.mark.parametrize(
    "words, said",
    [
        (["runs", "--al"], "no such option"),
        (["show"], "missing argument"),
        (["graph", "x", "--format", "png"], "'png' is not one of"),
        (["runs", "--project", "nowhere"], "is not a folder"),
        (["prune", "--older", "-1"], "-1"),
        (["prune", "--older", "nan"], "--older is no number of days"),
    ],
)
def test_what_cannot_be_understood_is_a_usage_error(words: list[str], said: str, cli: Command) -> None:
    shown = cli(*words)
    assert shown.code == 2
    assert said in shown.err
    assert "Traceback" not in shown.err
    assert shown.out == ""


def test_a_bug_is_one_line_and_a_log(cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from skills.lib.commands.queries import runs

    def fail(_: str) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(runs, "open_records", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    shown = cli("runs")
    assert shown.code == 70
    assert shown.err.count("\n") == 1
    log = Path(shown.err.strip().rpartition(" ")[2])
    assert "ZeroDivisionError" in log.read_text(encoding="utf-8")


def test_an_interrupt_is_130(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    from skills.lib.commands.queries import runs

    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(runs, "open_records", interrupt)
    assert cli("runs").code == 130


def test_an_interrupt_while_it_starts_is_130() -> None:
    program = """
import sys

class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == "rich":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
from lockstep.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program, "list"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "lockstep: interrupted\n")


def test_piped_output_has_no_colour_and_cuts_nothing(cli: Command, installed: Callable[..., Path]) -> None:
    long = "a-title-that-is-much-longer-than-any-terminal-is-wide-" * 4
    source = skill.source_of("wide", f"StepDef('one', {long!r}, 'Do.', {{'ok': None}})")
    installed("wide", source)
    shown = cli("show", "wide")
    assert "\x1b" not in shown.out
    assert long in shown.out


def test_force_color_colours_a_pipe_and_no_color_wins(cli: Command, installed: Callable[..., Path]) -> None:
    installed("plain")
    assert "\x1b[1m" in cli("show", "plain", env={"FORCE_COLOR": "1"}).out
    assert "\x1b" not in cli("show", "plain", env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).out
    assert "\x1b" not in cli("--no-color", "show", "plain", env={"FORCE_COLOR": "1"}).out


def test_a_terminal_gets_colour_and_no_color_takes_it(installed: Callable[..., Path]) -> None:
    installed("plain")
    assert "\x1b[1m" in at_terminal("list", "skills")[1]
    assert "\x1b" not in at_terminal("list", "skills", env={"NO_COLOR": "1"})[1]
    assert "\x1b" not in at_terminal("--no-color", "list", "skills")[1]


def test_a_reader_that_goes_away_is_no_error(installed: Callable[..., Path]) -> None:
    installed("plain")
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "skills" / "__main__.py"), "show", "plain", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 0


@pytest.mark.parametrize("env", [{"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}])
def test_the_c_locale_prints(env: dict[str, str], installed: Callable[..., Path]) -> None:
    installed("odd", skill.source_of("odd", "StepDef('one', 'Größe → 大', 'Do.', {'ok': None, 'fail': 'one'})"))
    for words in (["show", "odd"], ["graph", "odd"], ["walk", "odd", "--step", "1"]):
        done = call(*words, env=env)
        assert done.returncode == 0, done.stderr
        assert done.stderr == b""
    assert not set("│╭▼".encode()) & set(call("graph", "odd", env={**env, "PYTHONIOENCODING": "ascii"}).stdout)


def test_hostile_text_is_shown_and_not_obeyed(
    cli: Command, installed: Callable[..., Path], walker: Callable[[Path], Walker]
) -> None:
    script = installed("part")
    run = walker(script).start(what="[/] [red]x[/red] :smile: \u202eevil")
    shown = cli("trace", run.id)
    assert shown.code == 0
    assert "[/] [red]x[/red] :smile: ?evil" in shown.out


def test_a_step_title_cannot_move_the_cursor(cli: Command, installed: Callable[..., Path]) -> None:
    installed("sly", skill.source_of("sly", "StepDef('one', 'up \\x1b[2A [/b]', 'Do.', {'ok': None})"))
    shown = cli("show", "sly")
    assert "up ?[2A [/b]" in shown.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_that_names_the_command(shell: str, cli: Command) -> None:
    shown = cli("completion", shell)
    assert shown.code == 0
    assert "_LOCKSTEP_COMPLETE" in shown.out


def completed(words: str, at: int) -> list[str]:
    env = {"_LOCKSTEP_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(at)}
    return [line.partition(",")[2] for line in call(env=env).stdout.decode().split()]


def test_completion_knows_subcommands_skills_and_runs(
    installed: Callable[..., Path], walker: Callable[[Path], Walker]
) -> None:
    run = walker(installed("part")).start(what="x")
    assert completed("lockstep st", 1) == ["stats"]
    assert completed("lockstep show par", 2) == ["part"]
    assert completed(f"lockstep trace {run.id[:3]}", 2) == [run.id]


def test_completion_in_a_project_without_a_ledger_is_silent(project: Path) -> None:
    assert completed("lockstep trace x", 2) == []


def test_an_unknown_option_is_reported_with_the_valid_ones_and_only_a_near_one_is_guessed(cli: Command) -> None:
    assert cli("prune", "--days", "9").err == (
        "lockstep: lockstep prune: no such option '--days'\n"
        "  valid: --older, --unreadable, --dry-run, --yes, --project, --help\n"
        "  try:   lockstep prune --help\n"
    )
    shown = cli("runs", "--al").err
    assert shown.startswith("lockstep: lockstep runs: no such option '--al'; did you mean --all?\n")
    assert shown.endswith("  try:   lockstep runs --help\n")


def test_a_misspelt_choice_offers_the_nearest(cli: Command) -> None:
    assert "did you mean json?" in cli("validate", "--format", "jsn").err
    assert "did you mean" not in cli("validate", "--format", "pdf").err


def test_a_missing_choice_is_reported_on_one_line(cli: Command) -> None:
    assert cli("completion").err == (
        "lockstep: lockstep completion: missing argument '{bash|zsh|fish}'\n"
        "  valid: bash, zsh, fish\n"
        "  try:   lockstep completion --help\n"
    )


@pytest.mark.parametrize(
    "words, lists",
    [
        (["trace"], "lockstep runs"),
        (["pause"], "lockstep runs"),
        (["abandon", "--reason", "enough"], "lockstep runs"),
        (["show"], "lockstep list"),
        (["graph"], "lockstep list"),
        (["export"], "lockstep list"),
    ],
)
def test_without_its_argument_a_subcommand_names_what_lists_them(words: list[str], lists: str, cli: Command) -> None:
    shown = cli(*words)
    assert (shown.code, shown.out) == (2, "")
    assert shown.err.endswith(f"\n  try:   {lists}, which lists them; or lockstep {words[0]} --help\n")


def test_of_another_missing_word_the_help_is_named(cli: Command) -> None:
    assert cli("new").err.endswith("missing argument 'NAME'\n  try:   lockstep new --help\n")


@pytest.mark.parametrize(
    "words, said, remedy",
    [
        (["trace", "k3f9q2mx", "--html"], "lockstep trace: option '--html' requires an argument", "lockstep trace"),
        (
            ["--no-color", "agent", "submit", "--user"],
            "lockstep agent submit: option '--user'",
            "lockstep agent submit",
        ),
        (["trace", "--json=1", "k3f9q2mx"], "lockstep trace: option '--json' does not take a value", "lockstep trace"),
        (["--no-color=1"], "lockstep: option '--no-color' does not take a value", "lockstep"),
    ],
)
def test_an_option_with_a_value_too_few_or_too_many_names_its_command(
    cli: Command, words: list[str], said: str, remedy: str
) -> None:
    shown = cli(*words)
    assert (shown.code, shown.err.startswith(f"lockstep: {said}")) == (2, True)
    assert shown.err.endswith(f"  try:   {remedy} --help\n")


def test_a_group_without_a_command_or_with_a_misspelt_one_names_its_commands(cli: Command) -> None:
    bare, typo = cli("policy"), cli("policy", "chek")
    assert (bare.code, bare.out, bare.err) == (
        2,
        "",
        "lockstep: lockstep policy: a command is missing\n"
        "  valid: check, explain, new\n"
        "  try:   lockstep policy --help\n",
    )
    assert (typo.code, typo.err) == (
        2,
        "lockstep: lockstep policy: there is no command 'chek'; did you mean check?\n"
        "  valid: check, explain, new\n"
        "  try:   lockstep policy --help\n",
    )


def test_a_word_in_the_place_of_a_number_is_no_number(cli: Command) -> None:
    assert cli("runs", "--limit", "many").err == (
        "lockstep: lockstep runs: invalid value for '--limit': 'many' is not a valid integer\n"
        "  try:   lockstep runs --help\n"
    )


def test_a_question_that_is_left_ends_its_line(project: Path, tmp_path: Path) -> None:
    code, shown = at_terminal("install", env={"HOME": str(tmp_path), "PATH": ""}, keys=b"\x04")
    assert code == 130
    assert shown.splitlines()[-2:] == ["For which hosts? [codex]: ", "lockstep: interrupted"], shown

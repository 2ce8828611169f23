"""Which calls failed as commands: a program that answers "no", or reports what it was asked to check, did its work."""

from __future__ import annotations

from collections.abc import Collection

from skills.lib.layers.replaying.events import Call
from skills.lib.layers.replaying.lines import Command, git_subcommand, last, name_of, read
from skills.lib.layers.replaying.searching import GREPS

# Exit codes that are answers, by program.
_ONE = frozenset((1,))
ANSWERS: dict[str, frozenset[int]] = {
    **dict.fromkeys(GREPS, _ONE),
    **dict.fromkeys("diff cmp test [ [[ which type command hash pgrep expr".split(), _ONE),
    **dict.fromkeys("pytest py.test unittest tox nox coverage".split(), _ONE),
    **dict.fromkeys("npm npx pnpm yarn bun node-test vitest jest mocha ava karma playwright".split(), _ONE),
    **dict.fromkeys("ruff black isort flake8 pylint mypy pyright prettier eslint shellcheck biome".split(), _ONE),
    **dict.fromkeys("go gradle gradlew mvn mvnw dotnet rspec bazel sbt mix".split(), _ONE),
    **dict.fromkeys("tsc phpunit".split(), frozenset((1, 2))),
    "cargo": frozenset((1, 101)),
    "ctest": frozenset((8,)),
    **dict.fromkeys("make gmake".split(), frozenset((1, 2))),
    **dict.fromkeys("just ninja task".split(), _ONE),
}
# Commands of git that answer with 1.
_OF_GIT = frozenset("diff grep check-ignore merge-base show-ref ls-files rev-parse diff-index diff-files".split())
# What xargs ends with if a program that it started ended with another code than 0.
_OF_XARGS = 123
# What programs print that had nothing to run; their exit code is that of a check that failed.
_NOTHING_RUN = (
    "*** No rule to make target",
    "*** No targets specified",
    "Missing script:",
    'error Command "',
    "no test files",
    "Justfile does not contain recipe",
)


def why(call: Call, checks: Collection[str] = ()) -> str:
    """How a call failed; empty if it did not, or if its exit code is an answer.

    ``checks`` are lines that check something of the task: any exit code but 126 and 127 is their answer.
    """
    if call.was_denied:
        return ""
    if not call.was_known:
        return f"{call.tool} is no tool here"
    if not call.ok:
        return f"{call.tool} failed: {_first(call.output)}"
    if call.exit in (None, 0):
        return ""
    if _is_answer(call, checks):
        return ""
    return f"exit {call.exit}: {call.command}"


def _is_answer(call: Call, checks: Collection[str]) -> bool:
    code = call.exit
    assert code is not None
    if code in (126, 127) or any(text in call.output for text in _NOTHING_RUN):
        return False
    if " ".join(call.command.split()) in checks:
        return True
    line = read(call.command)
    found = last(line)
    answers = [_answers(command, code, call.output) for command in found]
    return bool(answers) and (all(answers) if line.is_certain else any(answers))


def _answers(command: Command, code: int, output: str) -> bool:
    """True if a code may be what a command answers."""
    if not command.programs:
        return False
    words = command.programs[-1]
    if name_of(words) == "cd":
        return "cd: " not in output and "can't cd" not in output
    expected = _ONE if git_subcommand(words) in _OF_GIT else ANSWERS.get(name_of(words), frozenset())
    if name_of(command.programs[0]) == "xargs" and 1 in expected:
        return code == _OF_XARGS
    return code in expected


def _first(text: str) -> str:
    """The first line of a text that has something in it."""
    return next((line.strip() for line in text.split("\n") if line.strip()), "it says nothing")[:200]

"""docs/guard.md: its policies compile, its commands and its program run, its tables name all that there is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from skills.lib.commands.console.app import lockstep
from skills.lib.guard.checking import check
from skills.lib.guard.compiling import FIELDS, RULE_FIELDS
from skills.lib.guard.functions import ARITY
from skills.lib.guard.policy import Policy, compile_policy
from skills.lib.guard.replaying import FIELDS as OF_A_RECORD
from skills.lib.guard.replaying import read_records

pytestmark = pytest.mark.req("G-06")

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "guard.md").read_text(encoding="utf-8")


def fences(kind: str) -> list[str]:
    """The blocks of that kind, in their order."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)


def named(text: str) -> set[str]:
    """The words in backquotes at the beginning of the rows of tables."""
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    return {word for row in rows for word in re.findall(r"`(\w+)", row)}


@pytest.mark.parametrize("text", fences("yaml"))
def test_its_policies_have_no_findings(text: str) -> None:
    assert check(Policy(compile_policy(text, "policy.yaml"))) == []


def test_its_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "lockstep.policy.yaml").write_text(fences("yaml")[0], encoding="utf-8")
    (tmp_path / "session.jsonl").write_text(fences("json")[0], encoding="utf-8")
    commands = [shlex.split(line, comments=True) for line in fences("text")[0].splitlines()]
    assert len(commands) == 4
    for program, *words in commands:
        assert program == "lockstep"
        result = CliRunner().invoke(lockstep, words)
        assert result.exit_code == 0, (words, result.output)


def test_its_program_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bank.yaml").write_text(fences("yaml")[0], encoding="utf-8")
    scope: dict[str, object] = {}
    exec(fences("python")[0], scope)
    assert type(scope["answer"]).__name__ == "Look"


def test_its_records_are_records() -> None:
    assert len(read_records(fences("json")[0].splitlines(), "session.jsonl")) == 2


def test_its_tables_name_every_field_and_function() -> None:
    assert set(FIELDS) | set(RULE_FIELDS) | set(OF_A_RECORD) <= named(PAGE)
    assert set(re.findall(r"`(\w+)\(", PAGE)) >= set(ARITY)

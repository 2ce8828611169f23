"""What is kept of a command that is run as evidence: its program, its surroundings, its last lines, removed tests."""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skills.lib.ledger import Ledger, command
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock
from tests.fixtures import small_project
from tests.fixtures.ledgers import build
from tests.fixtures.skill import install, source_of

Check = Callable[..., Agent]


@pytest.fixture
def check(tmp_path: Path, project: Path, request: pytest.FixtureRequest) -> Check:
    """An agent of a skill with one step, which runs this command as evidence."""

    def make(*argv: str, fields: str = "") -> Agent:
        name = "a" + "".join(char for char in request.node.name if char.isalnum())[:40].lower()
        requires = f"[{fields}Command({list(argv)!r}, 20)]"
        steps = f'StepDef("one", "One", "Do.", {{Outcome.OK: None}}, requires={requires})'
        return Agent(install(tmp_path, name, source_of(name, steps)), project)

    return make


def kept(agent: Agent, block: PrintedBlock, **values: str) -> dict[str, Any]:
    """Leave the one step, and the last evidence that the ledger then has."""
    agent.follow(block, **values)
    ledger = Ledger(str(agent.project / ".lockstep"), create=False)
    found: dict[str, Any] = ledger.events(block.run)[-1].detail["evidence"][-1]
    ledger.close()
    return found


def script(folder: Path, name: str, text: str) -> Path:
    """A program in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_the_program_that_a_command_found_is_kept(
    check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = script(tmp_path / "fake", "suite", "echo all passed")
    agent = check("suite", "-q")
    block = agent.open()
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    found = kept(agent, block)
    assert (found["ok"], found["exit"], found["output"]) == (True, 0, "all passed\n")
    assert found["program"] == str(fake)
    assert found["search_paths"] == {"path": os.environ["PATH"]}


def test_a_program_of_the_project_and_a_script_of_the_skill_are_named_by_their_paths(check: Check) -> None:
    own = check("./bin/suite")
    script(own.project / "bin", "suite", "exit 0")
    found = kept(own, own.open())
    assert found["program"] == str(own.project / "bin" / "suite")
    assert "search_paths" not in found


def test_another_pythonpath_than_at_the_opening_is_kept(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/lib/of/before")
    agent = check("true")
    block = agent.open()
    monkeypatch.delenv("PYTHONPATH")
    assert kept(agent, block)["search_paths"] == {"pythonpath": ""}


def test_a_run_that_was_opened_without_its_search_paths_has_none_compared(check: Check) -> None:
    from skills.lib.ledger import evidence
    from skills.lib.workflow.requirements import Command

    found = evidence.check(Command(["true"]), {}, str(check("true").project))
    assert (found["ok"], "search_paths" in found) == (True, False)


def test_the_last_lines_are_kept_whole_and_without_colours(check: Check) -> None:
    text = r"i=0; while [ $i -lt 400 ]; do printf '\033[1;31mline %s of many\033[0m\r\n' $i; i=$((i+1)); done; exit 1"
    agent = check("sh", "-c", text)
    found = kept(agent, agent.open())
    lines = found["output"].splitlines()
    assert lines[-1] == "line 399 of many"
    assert all(line == f"line {number} of many" for number, line in enumerate(lines, 400 - len(lines)))
    assert 1_400 < len(found["output"]) <= 1_500


@pytest.mark.parametrize(
    "printed, output",
    [
        (r"a\n\033]0;title\007b\n\033(Bc", "a\nb\nc"),
        (r"10 %%\r50 %%\r100 %%\r\nend\r", "100 %\nend"),
        (r"\001 \033[38;5;196mred\033[m \377", "? red \ufffd"),
        (r"\033[2K\033[1A<b> & ]]>", "<b> & ]]>"),
    ],
)
def test_what_a_terminal_would_not_show_is_left_out(check: Check, printed: str, output: str) -> None:
    agent = check("sh", "-c", f"printf '{printed}'; exit 1")
    block = agent.open()
    refused = agent.follow(block)
    assert refused.code == "missing-evidence"
    assert refused.why.endswith(f" ended with 1, not 0. Its output ends:\n{output}")


def test_a_command_that_fails_without_a_word_is_said_to(check: Check) -> None:
    agent = check("false")
    refused = agent.follow(agent.open())
    assert refused.why == "false ended with 1, not 0. It printed nothing."


def test_one_line_that_is_too_long_is_cut(check: Check) -> None:
    agent = check("sh", "-c", "head -c 100000 /dev/zero | tr '\\0' x; exit 1")
    assert kept(agent, agent.open())["output"] == "x" * 1_500


def test_a_command_is_asked_for_no_colours(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    agent = check("sh", "-c", "echo $NO_COLOR/$FORCE_COLOR/$HOME")
    assert kept(agent, agent.open())["output"] == f"1//{os.environ['HOME']}\n"


def test_a_secret_in_the_output_or_the_program_is_not_kept(check: Check) -> None:
    agent = check("{token}", fields='Field("token"), ')
    block = agent.open()
    secret = str(script(agent.project, "s3kr1t", "echo $0"))
    found = kept(agent, block, token=secret)
    assert found["ok"]
    assert "s3kr1t" not in str(found)


def test_a_secret_in_the_reason_that_a_command_cannot_be_run_is_not_kept(check: Check) -> None:
    agent = check("{token}", fields='Field("token"), ')
    block = agent.follow(agent.open(), token="./s3kr1t/nothing")
    assert block.kind == "refused"
    assert "cannot be run: No such file or directory" in block.text
    assert "s3kr1t" not in block.text
    assert "s3kr1t" not in str(agent.events(block.run)[-1].detail)


@pytest.mark.parametrize("secret", ["abc\r\ndefghijkl", "abc\rdefghijkl", "abc\x85defghijkl", "abc\tdefghijkl"])
def test_a_secret_with_control_characters_is_not_kept_as_it_is_echoed(check: Check, secret: str) -> None:
    agent = check("printf", "%s\\n", "{token}", fields='Field("token"), ')
    found = kept(agent, agent.open(), token=secret)
    assert found["ok"]
    assert "defghijkl" not in str(found)


def test_a_list_of_secrets_is_not_kept_as_it_is_echoed(check: Check) -> None:
    agent = check("printf", "%s\\n", "{tokens}", fields='Field("tokens", type="list"), ')
    found = kept(agent, agent.open(), tokens='["s3kr1t one", "s3kr1t \\"two\\""]')
    assert found["ok"]
    assert "s3kr1t" not in str(found)


# What is read of the output begins some 12,000 bytes before its end; a colour code has five.
@pytest.mark.parametrize("colours", [2_000, 2_392, 2_396, 2_400, 2_404, 2_408, 2_412])
def test_a_secret_that_is_cut_at_the_beginning_of_the_read_output_is_not_kept(check: Check, colours: int) -> None:
    secret = "abcdefghij" * 4
    program = "import sys; print('x' * 9 + sys.argv[1], end=(chr(27) + '[31m') * int(sys.argv[2]))"
    agent = check(sys.executable, "-c", program, "{token}", str(colours), fields='Field("token"), ')
    found = kept(agent, agent.open(), token=secret)
    assert found["ok"]
    assert "hij" not in str(found)


@pytest.mark.parametrize(
    "lines, times, output",
    [
        (3, 1, "KEPT\nall is well\n"),
        (400, 1, "KEPT\nall is well\n"),
        (2_000, 1, "KEPT\nall is well\n"),
        (400, 30, "KEPT"),
        (2_000, 2, "KEPT"),
    ],
)
def test_a_secret_of_many_lines_is_not_kept_if_only_its_end_is_read(
    check: Check, lines: int, times: int, output: str
) -> None:
    secret = "\n".join(f"s3kr1t{at}" for at in range(lines))
    program = "import sys; print((sys.argv[1] + chr(10)) * int(sys.argv[2]) + 'all is well')"
    agent = check(sys.executable, "-c", program, "{token}", str(times), fields='Field("token"), ')
    found = kept(agent, agent.open(), token=secret)
    assert found["output"] == output.replace("KEPT", "(not kept: named like a secret)")
    assert "s3kr1t" not in str(found)


def test_what_a_command_says_after_much_output_and_a_secret_is_kept(check: Check) -> None:
    program = "import sys; print(('x' * 99 + chr(10)) * 300 + sys.argv[1] + ' is wrong')"
    agent = check(sys.executable, "-c", program, "{token}", fields='Field("token"), ')
    found = kept(agent, agent.open(), token="s3kr1t" * 200)
    assert found["output"].endswith("x\n(not kept: named like a secret) is wrong\n")
    assert 1_400 < len(found["output"]) <= 1_500


@pytest.fixture
def shop(project: Path) -> Path:
    """The project with a committed shop in it."""
    return small_project.make(project)


def test_test_files_that_the_diff_deletes_are_kept(check: Check, shop: Path) -> None:
    for path in ("tests/test_orders.py", "src/shop.spec.ts", "go/shop_test.go", "java/ShopTest.java", "docs/latest.md"):
        small_project.write(shop, {path: "x"})
    small_project.git(shop, "add", ".")
    small_project.git(shop, "commit", "-qm", "More tests")
    agent = check("true")
    block = agent.open()
    small_project.git(shop, "rm", "-q", "tests/test_orders.py")
    small_project.git(shop, "rm", "-q", "--cached", "tests/test_prices.py")
    for path in ("src/shop.spec.ts", "go/shop_test.go", "java/ShopTest.java", "docs/latest.md"):
        (shop / path).unlink()
    found = kept(agent, block)
    assert found["ok"]
    assert found["removed_tests"] == [
        "go/shop_test.go",
        "java/ShopTest.java",
        "src/shop.spec.ts",
        "tests/test_orders.py",
    ]


def test_nothing_is_said_of_tests_if_none_is_removed(check: Check, shop: Path) -> None:
    (shop / "README.md").unlink()
    agent = check("true")
    assert "removed_tests" not in kept(agent, agent.open())


def test_looking_for_removed_tests_runs_nothing_that_the_project_configures(shop: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    program = script(tmp_path, "planted", f"touch {mark}; cat")
    (shop / ".gitattributes").write_text("* filter=planted diff=planted\n")
    for name in ("core.fsmonitor", "filter.planted.clean", "filter.planted.process", "diff.planted.command"):
        small_project.git(shop, "config", name, str(program))
    (shop / "tests" / "test_prices.py").unlink()
    (shop / "shop" / "prices.py").write_text("other\n")
    assert command.removed_tests(str(shop)) == ["tests/test_prices.py"]
    assert not mark.exists()


def test_a_bare_repository_that_lies_in_the_project_is_not_asked(tmp_path: Path) -> None:
    bare = tmp_path / "clone" / "inner"
    small_project.make(tmp_path / "clone")
    small_project.git(tmp_path / "clone", "init", "-q", "--bare", "inner")
    assert command.removed_tests(str(bare)) == []


def test_git_that_is_not_there_or_hangs_is_no_obstacle(
    check: Check, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "tests" / "test_prices.py").unlink()
    monkeypatch.setattr(command, "PATIENCE", 0.2)
    agent = check("/bin/sh", "-c", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert "removed_tests" not in kept(agent, agent.open())
    script(tmp_path / "empty", "git", "exec /bin/sleep 60")
    again = Agent(agent.script, agent.project)
    assert "removed_tests" not in kept(again, again.open())


@pytest.mark.parametrize(
    "path, is_one",
    [
        *(
            (path, True)
            for path in ("test_a.py", "a_test.go", "a.test.tsx", "src/a-spec.js", "spec/a.rb", "ATest.java")
        ),
        *((path, True) for path in ("Tests/Helper.cs", "TestA.cs", "x/__tests__/a.js", "tests.py")),
        *((path, False) for path in ("latest.py", "contest/a.py", "a.py", "inspect.js", "Testament.md", "attest.go")),
    ],
)
def test_a_test_is_known_by_its_name_or_its_folder(path: str, is_one: bool) -> None:
    assert command.is_test(path) is is_one


def test_a_run_of_an_older_ledger_is_proved_by_a_command(project: Path) -> None:
    build.install_skills(project)
    folder = Path(build.__file__).parent / "v1"
    (project / ".lockstep" / "runs.db").write_bytes(gzip.decompress((folder / "runs.db.gz").read_bytes()))
    kinds = {one["kind"]: one["run"] for one in json.loads((folder / "runs.json").read_text())}
    agent = build.agent("tour", project)
    run = kinds["to prove by a file and a command"]
    block = agent.run_command(f"python {agent.script} --step current --run {run} --project {project}")
    agent.write("proof.txt", "x")
    assert agent.follow(block, file="proof.txt").kind == "waiting"
    found = agent.events(run)[-1].detail["evidence"][-1]
    assert (found["ok"], found["exit"], "search_paths" in found) == (True, 0, False)

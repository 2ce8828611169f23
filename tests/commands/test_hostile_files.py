"""What a cloned project may bring in place of a skill's files: links out of it, FIFOs, devices, sizes, odd names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import skills
from tests.commands.conftest import SKILL_MD, Command, Shown

SECRET = "topsecretvalue"
# How long (seconds) a command may take, whatever the project holds.
BOUND = 20
COMMANDS = ("validate", "list", "show a", "graph a", "walk a --step 1", "runs --skill a", "runs --skill no-such")


@pytest.fixture
def call(project: Path) -> Callable[..., Shown]:
    """Call ``lockstep`` in a process of its own, which is killed if it hangs."""

    def call(*words: str, env: dict[str, str] | None = None) -> Shown:
        command = [sys.executable, "-P", str(Path(skills.__file__).parent / "__main__.py"), *words]
        done = subprocess.run(
            command,
            cwd=project,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=BOUND,
            check=False,
        )
        return Shown(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))

    return call


@pytest.fixture
def folder(project: Path) -> Path:
    """A skill without a script."""
    folder = project / "skills" / "a"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL_MD.format(name="a"), encoding="utf-8")
    return folder


def replace(path: Path, kind: str) -> None:
    """Put a FIFO, a socket or a link to a device in the place of a file."""
    path.unlink(missing_ok=True)
    if kind == "a FIFO":
        os.mkfifo(path)
    else:
        path.symlink_to(kind)


@pytest.mark.parametrize("form", ["text", "github", "json", "sarif"])
def test_validate_prints_nothing_of_a_skill_md_that_is_a_link_out_of_its_folder(
    form: str, call: Callable[..., Shown], folder: Path
) -> None:
    replace(folder / "SKILL.md", "/proc/self/environ")
    shown = call("validate", "--format", form, env={"AAA": SECRET})
    assert shown.code == 5
    assert "is a link that leads out of its folder" in shown.out
    assert SECRET not in shown.out + shown.err
    assert "PATH=" not in shown.out + shown.err


@pytest.mark.parametrize("command", ["validate", "show", "graph", "walk"])
@pytest.mark.parametrize("text", [f"{SECRET} = oh no\n", f"{SECRET}\n"])
def test_a_module_that_is_a_link_out_of_the_project_is_not_loaded(
    command: str, text: str, cli: Command, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text(text)
    module = folder / "scripts" / "a_workflow.py"
    module.symlink_to(tmp_path / "secret")
    shown = cli(command, str(module))
    assert shown.code == 5
    assert "is a link that leads out of its project" in shown.out + shown.err
    assert SECRET not in shown.out + shown.err


def test_a_module_that_is_a_link_within_the_project_is_loaded(
    cli: Command, installed: Callable[..., Path], folder: Path
) -> None:
    script = installed("plain")
    (folder / "scripts" / "a_workflow.py").symlink_to(script.with_name("plain_workflow.py"))
    assert "Workflow plain" in cli("show", str(folder / "scripts" / "a_workflow.py")).out


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", ["a FIFO", "/dev/zero"])
def test_what_is_no_regular_file_is_not_waited_for(
    command: str, kind: str, call: Callable[..., Shown], folder: Path
) -> None:
    for name in ("SKILL.md", "scripts/a.py", "scripts/a_workflow.py"):
        replace(folder / name, kind)
    shown = call(*command.split())
    assert shown.code in (0, 2, 5)
    assert "a bug in Lockstep" not in shown.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_link_that_leads_to_itself_is_passed_over(command: str, call: Callable[..., Shown], folder: Path) -> None:
    for place in (folder, folder / "scripts"):
        (place / "around").symlink_to("around")
    shown = call(*command.split())
    assert shown.code in (0, 2, 5)
    assert "a bug in Lockstep" not in shown.err
    assert "cannot be listed" not in shown.out


def test_a_module_that_is_a_fifo_is_said_to_be_no_regular_file(cli: Command, folder: Path) -> None:
    os.mkfifo(folder / "scripts" / "a_workflow.py")
    assert "a_workflow.py is not a regular file" in cli("list", "skills").out


@pytest.mark.parametrize("command", ["list skills", "show plain", "validate"])
def test_a_seal_that_is_a_fifo_is_no_seal(
    command: str, call: Callable[..., Shown], installed: Callable[..., Path]
) -> None:
    folder = installed("plain").parent
    os.mkfifo(folder / "plain.seal")
    os.mkfifo(folder / "plain_choice.py")
    assert call(*command.split()).code == 0


def test_a_module_of_two_gigabytes_is_not_read(cli: Command, folder: Path) -> None:
    module = folder / "scripts" / "a_workflow.py"
    for path in (module, folder / "scripts" / "a.py"):
        path.touch()
        os.truncate(path, 2 << 30)
    shown = cli("show", "a")
    assert shown.code == 5
    assert f"{module} is larger than 1,000,000 bytes" in shown.err
    assert cli("runs", "--skill", "no-such").code == 2


@pytest.mark.parametrize("text", ["\n" * 200_000, "```bash\n/" + "scripts/" * 110_000 + "\n```\n"])
def test_a_long_file_of_one_pattern_is_searched_in_time(text: str, cli: Command, folder: Path) -> None:
    with open(folder / "SKILL.md", "a", encoding="utf-8") as file:
        file.write(text)
    (folder / "scripts" / "x.py").write_text(text, encoding="utf-8")
    (folder / "scripts" / "a_workflow.py").write_text("x = 1\n", encoding="utf-8")
    begin = time.monotonic()
    cli("list", "skills")
    cli("validate")
    assert time.monotonic() - begin < BOUND


@pytest.mark.parametrize("command", ["validate", "list", "show a", "runs --skill no-such", "export a --to copy"])
def test_folders_nested_1500_deep_are_an_error_that_says_how_deep_is_searched(
    command: str, call: Callable[..., Shown], folder: Path
) -> None:
    before = os.getcwd()
    os.chdir(folder / "scripts")
    for _ in range(1_500):
        os.mkdir("d")
        os.chdir("d")
    try:
        os.chdir(before)
        shown = call(*command.split())
    finally:
        # pytest could not: shutil.rmtree goes down by recursion.
        subprocess.run(["rm", "-rf", folder / "scripts"], check=True)
    assert shown.code in (0, 2, 3, 5)
    assert "a bug in Lockstep" not in shown.err
    if command in ("validate", "list"):
        assert "cannot be listed: it is more than 100 levels down" in shown.out


@pytest.mark.parametrize("form", ["text", "github", "json", "sarif"])
def test_a_name_that_is_not_utf_8_is_reported_in_every_form(
    form: str, call: Callable[..., Shown], project: Path
) -> None:
    odd = Path(os.fsdecode(os.fsencode(project / "skills") + b"/odd\xff"))
    odd.mkdir(parents=True)
    (odd / "SKILL.md").write_text(SKILL_MD.format(name="a"), encoding="utf-8")
    shown = call("validate", "--format", form)
    assert shown.code == 5
    assert "odd" in shown.out
    if form == "json":
        assert json.loads(shown.out)["findings"][0]["rule"] == "skill-specification"
    if form == "sarif":
        [run] = json.loads(shown.out)["runs"]
        [location] = run["results"][0]["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] == "skills/odd%FF/SKILL.md"


@pytest.mark.parametrize("words", [["-P", "-m", "lockstep"], ["-P", "-m", "skills"]])
def test_a_python_that_is_called_with_p_runs_no_module_of_the_working_directory(
    project: Path, words: list[str]
) -> None:
    for name in ("lockstep", "skills", "click"):
        (project / name).mkdir()
        (project / name / "__init__.py").write_text("raise SystemExit('the project ran')\n", encoding="utf-8")
    path = str(Path(skills.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, *words, "--version"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=BOUND,
        check=False,
    )
    assert done.stdout.startswith("lockstep ")
    assert "the project ran" not in done.stdout + done.stderr

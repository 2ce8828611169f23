"""The task list, the CI run and the workflow file agree with each other."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
TARGETS = ("demo", "test", "test-all", "lint", "types", "bench", "docs", "docs-check", "validate")


def dry(*targets: str) -> str:
    # Run by `make test`, it is not to speak as a make within a make does.
    of_make = ("MAKELEVEL", "MAKEFLAGS", "MFLAGS", "JOBS")
    alone = {name: value for name, value in os.environ.items() if name not in of_make}
    command = ["make", "-n", *targets]
    return subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("target", TARGETS)
def test_every_task_sets_up_first(target: str) -> None:
    first, second, *_ = dry(target).splitlines()
    assert first == ".ci/setup"
    assert second.startswith(".venv/bin/")


@pytest.mark.parametrize("target", TARGETS)
def test_what_a_task_runs_is_there(target: str) -> None:
    for path in re.findall(r"^\.venv/bin/python ([\w/]+\.py)", dry(target), re.MULTILINE):
        assert (ROOT / path).is_file(), path
    for module in re.findall(r"^\.venv/bin/python -m (benchmarks)", dry(target), re.MULTILINE):
        assert (ROOT / module / "__main__.py").is_file(), module


def test_the_ci_run_is_all_the_checks_and_ends_with_the_tests() -> None:
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.findall(r"^make --no-print-directory (.*)$", run, re.MULTILINE) == [
        "setup",
        "lint",
        "types",
        "validate",
        "test-all",
    ]
    assert "set -euo pipefail\n" in run


def test_only_the_quick_run_leaves_tests_out() -> None:
    assert dry("test").splitlines()[-1] == '.venv/bin/python -m pytest -n 3 -m "not slow"'
    assert dry("test-all").splitlines()[-1] == ".venv/bin/python -m pytest -n 3"


def test_the_workflow_does_what_the_ci_run_does_on_every_python() -> None:
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    job = yaml.safe_load(text)["jobs"]["run"]
    assert job["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert job["steps"][-1]["run"] == ".ci/run"


@pytest.mark.parametrize("script", [".ci/run", ".ci/setup"])
def test_the_scripts_are_executable_and_parse(script: str) -> None:
    assert os.access(ROOT / script, os.X_OK)
    subprocess.run(["bash", "-n", str(ROOT / script)], check=True)


@pytest.mark.parametrize("red", ["", "types", "test-all"])
def test_the_ci_run_fails_exactly_if_one_of_its_checks_does(red: str, tmp_path: Path) -> None:
    (tmp_path / ".ci").mkdir()
    (tmp_path / "bin").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    programs = {f".ci/{name}": "exit 1" for name in ("clients", "conformance", "postgres", "chromium")}
    programs["bin/make"] = f'echo "$2" >> calls; [ "$2" != "{red}" ]'
    for path, body in programs.items():
        (tmp_path / path).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / path).chmod(0o755)
    run = subprocess.run(
        [".ci/run"],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode == 0) == (red == ""), run.stderr
    assert (tmp_path / "calls").read_text().split()[-1] == (red or "test-all")
    assert not list(tmp_path.glob("tmp.*"))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "setup", tmp_path / ".ci" / "setup")
    (tmp_path / "pyproject.toml").write_text("# a project\n")
    (tmp_path / "bin").mkdir()
    return tmp_path


def stand_in(folder: Path, name: str, version: str) -> None:
    """A Python of that version: it notes its calls, and makes a .venv with a copy of itself."""
    script = folder / "bin" / name
    script.write_text(
        "#!/bin/sh\n"
        'echo "$(basename "$0") $*" >> calls\n'
        'case "$*" in\n'
        f'    *version_info*) [ "{version}" -ge 311 ] ;;\n'
        '    "-m venv"*) mkdir -p .venv/bin; cp "$0" .venv/bin/python ;;\n'
        "esac\n"
    )
    script.chmod(0o755)


def setup(folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{folder / 'bin'}:/usr/bin:/bin"
    (folder / "calls").write_text("")
    no_pythons(folder)
    return subprocess.run([".ci/setup"], cwd=folder, env={"PATH": path}, capture_output=True, text=True, check=False)


def no_pythons(folder: Path) -> None:
    """Put a Python that is too old in the place of each that the test does not have."""
    for name in ("python3.14", "python3.13", "python3.12", "python3.11", "python3", "python"):
        if not (folder / "bin" / name).exists():
            stand_in(folder, name, "0")


def installs(folder: Path) -> list[str]:
    calls = (folder / "calls").read_text().splitlines()
    return [call for call in calls if "version_info" not in call and "--version" not in call]


def test_set_up_takes_the_newest_python_and_installs_once(checkout: Path) -> None:
    stand_in(checkout, "python3.13", "313")
    stand_in(checkout, "python3.12", "312")
    assert setup(checkout).returncode == 0
    assert installs(checkout) == [
        "python3.13 -m venv --clear .venv",
        "python -m pip install --quiet --disable-pip-version-check --editable .[test,dev]",
    ]
    assert setup(checkout).stdout == ""
    assert installs(checkout) == []


def test_set_up_installs_again_when_the_project_file_changed(checkout: Path) -> None:
    stand_in(checkout, "python3", "311")
    assert setup(checkout).returncode == 0
    (checkout / "pyproject.toml").touch()
    assert setup(checkout).returncode == 0
    assert installs(checkout) == []
    (checkout / "pyproject.toml").write_text("# another\n")
    assert setup(checkout).returncode == 0
    assert [call.split()[:4] for call in installs(checkout)] == [["python", "-m", "pip", "install"]]


def test_set_up_says_what_is_missing(checkout: Path) -> None:
    stand_in(checkout, "python3", "310")
    done = setup(checkout)
    assert done.returncode == 1
    assert done.stderr.startswith("lockstep: needs Python 3.11 or later with the venv module, and found none on PATH\n")
    assert not (checkout / ".venv").exists()


def test_two_commands_at_once_set_up_once(checkout: Path) -> None:
    stand_in(checkout, "python3.12", "312")
    script = checkout / "bin" / "python3.12"
    script.write_text(script.read_text().replace("esac", '    "-m pip"*) sleep 1 ;;\nesac'))
    no_pythons(checkout)
    (checkout / ".ci" / ".setup-lock").symlink_to("999999999")  # of a process that was killed
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda _: setup(checkout), range(3)))
    assert [one.returncode for one in done] == [0, 0, 0]
    assert len([one for one in done if one.stdout]) == 1
    assert sorted(path.name for path in (checkout / ".ci").iterdir()) == ["setup"]


def test_a_failed_install_is_tried_again(checkout: Path) -> None:
    stand_in(checkout, "python3.12", "312")
    script = checkout / "bin" / "python3.12"
    whole = script.read_text()
    script.write_text(whole.replace("esac", '    "-m pip"*) exit 1 ;;\nesac'))
    assert setup(checkout).returncode == 1
    (checkout / ".venv" / "bin" / "python").write_text(whole)
    assert setup(checkout).returncode == 0
    assert [call.split()[2] for call in installs(checkout)] == ["pip"]

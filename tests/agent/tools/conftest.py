"""A project with a few files, and the tools of a session in it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skills.lib.agent.tools import essential_tools, project_tools
from skills.lib.errors import LockstepError

if TYPE_CHECKING:
    from skills.lib.agent.tools import Result, Tool

CODE = "def f(x):\n    return x + 1\n\n\ndef g(y):\n    return y\n"


class Session:
    """The tools of one session, by their names."""

    def __init__(self, project: Path, **options: Any) -> None:
        self.project = project
        home = str(project / ".lockstep")
        made = [*project_tools(str(project), home, **options), *essential_tools(home, "run-1")]
        self.tools: dict[str, Tool] = {tool.name: tool for tool in made}

    def result(self, name: str, **arguments: Any) -> Result:
        return self.tools[name].call(arguments)

    def call(self, name: str, **arguments: Any) -> str:
        return self.result(name, **arguments).text

    def fault(self, name: str, **arguments: Any) -> str:
        """The message of a call that fails."""
        with pytest.raises(LockstepError) as raised:
            self.tools[name].call(arguments)
        return "\n".join(raised.value.lines())

    def text(self, path: str) -> str:
        return (self.project / path).read_bytes().decode()


def is_alive(pid: int) -> bool:
    """True if a process is still there after five seconds."""
    until = time.monotonic() + 5
    while runs(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return runs(pid)


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A session in a project that has files around it."""
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / ".lockstep").mkdir(mode=0o700)
    (project / "src/a.py").write_text(CODE, encoding="utf-8")
    (project / "README.md").write_text("# Readme\n", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("the secret\n", encoding="utf-8")
    return Session(project)

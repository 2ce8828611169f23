"""What the hook imports: an event of no run nothing, an allowed call little, and the ledger only if needed."""

from __future__ import annotations

import compileall
import functools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.skill import ROOT
from tests.hosts.hook.hooked import Host

pytestmark = [pytest.mark.req("H-02"), pytest.mark.usefixtures("own_project")]
# What an allowed call may import beyond what the interpreter does; each module costs a tenth of a millisecond or more.
OPEN = {
    "__future__",
    "_json",
    "gc",
    "skills",
    "skills.lib",
    "skills.lib.compact_json",
    "skills.lib.errors",
    "skills.lib.files",
    "skills.lib.hosts",
    "skills.lib.hosts.hook",
    "skills.lib.hosts.hook.decision",
    "skills.lib.hosts.hook.event",
    "skills.lib.hosts.hook.shell_calls",
    "skills.lib.hosts.hook.shell_commands",
    "skills.lib.hosts.hook.sessions",
    "skills.lib.hosts.hook.tools",
    "skills.lib.shell_words",
    "skills.lib.status_files",
    "skills.lib.paths",
}


@functools.cache
def compile_library() -> None:
    """Have the bytecode that the hook's first call leaves: without it the hook imports a module by its packages."""
    assert compileall.compile_dir(ROOT / "skills" / "lib", quiet=1)


def imported(command: list[str], **options: Any) -> set[str]:
    """The modules that a Python process imports."""
    compile_library()
    done = subprocess.run([*command], capture_output=True, text=True, timeout=60, check=False, **options)
    assert done.returncode in (0, 2), done.stderr
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def test_what_the_hook_imports(tmp_path: Path) -> None:
    host = Host(tmp_path)
    interpreter = [sys.executable, "-IS", "-X", "importtime"]
    bare = imported([*interpreter, "-c", "import os"])
    hook = [*interpreter, *host.starts[2:], "--host", "claude"]
    environment = {**os.environ, "LOCKSTEP_STATE": str(host.state)}

    def of(tool: str, session: str = host.session, **given: str) -> set[str]:
        event = Host.event(session, host.project, {"tool_name": tool, "tool_input": given})
        return imported(hook, input=event, env=environment, cwd=host.project) - bare

    assert of("Read") == set()
    block = host.at("look")
    assert of("Read", "another") == set()
    assert of("Read") == OPEN
    of("Bash", command=block.next)  # the first command of a run is asked for a signature
    assert of("Bash", command=block.next) == OPEN
    assert "skills.lib.ledger.ledger" in of("Write")
    for costly in ("re", "json", "enum", "typing", "pathlib", "subprocess", "dataclasses", "sqlite3"):
        assert costly not in of("Write"), costly

"""The tools that agents are given: named commands, and scripts of the project and its skills."""

from __future__ import annotations

from skills.lib import paths
from skills.lib.gateway.gateway import Gateway, GatewayResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def safe_cli_executor(command: str, *, project: str = "", **params: str | Sequence[str]) -> GatewayResult:
    """Run a named command of the gateway with these parameters, and return its result.

    ``project`` is the project's root (default: found from the working directory). Raises UsageError, RefusedError or
    EnvironmentProblem if the command was not run.
    """
    return Gateway(project or paths.project_root()).run(command, params)


def safe_py_runner(
    script: str,
    args: Sequence[str] = (),
    env_vars: Mapping[str, str] | None = None,
    stdin_text: str = "",
    *,
    project: str = "",
) -> GatewayResult:
    """Run a Python script below ``scripts/`` or ``skills/SKILL/``, and return its result.

    ``env_vars`` may have the names that the runner lists. Write files with ``scripts/write_file.py``, which takes their
    content from ``stdin_text``. Raises UsageError, RefusedError or EnvironmentProblem if the script was not run.
    """
    gateway = Gateway(project or paths.project_root())
    return gateway.run("python_run", {"script": script, "args": list(args)}, env_vars, stdin_text)

"""The tools that agents are given: named commands, and scripts of the project and its skills."""

from __future__ import annotations

from skills.lib import paths
from skills.lib.gateway.gateway import Gateway, GatewayResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def safe_cli_executor(command: str, /, **params: str | Sequence[str]) -> GatewayResult:
    """Run a named command with these parameters in the project of the working directory, and return its result.

    The parameters may come from a model: none of them names another project (``Gateway(project).run`` is for that).
    Raises UsageError, RefusedError or EnvironmentProblem if the command was not run.
    """
    return Gateway(paths.project_root()).run(command, params)


def safe_py_runner(
    script: str,
    args: Sequence[str] = (),
    env_vars: Mapping[str, str] | None = None,
    stdin_text: str | None = None,
) -> GatewayResult:
    """Run a Python script below ``scripts/`` or ``skills/SKILL/`` of the working directory's project; its result.

    ``env_vars`` may have the names that the runner lists. Write files with ``scripts/write_file.py``, which takes their
    content from ``stdin_text``. Raises UsageError, RefusedError or EnvironmentProblem if the script was not run.
    """
    return Gateway(paths.project_root()).run_python(script, args, env_vars, stdin_text)

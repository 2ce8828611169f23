"""The command gateway: named commands with a pattern for each parameter, and runners of scripts, without a shell."""

from skills.lib.gateway.functions import safe_cli_executor, safe_py_runner
from skills.lib.gateway.gateway import Gateway, GatewayResult

__all__ = ["Gateway", "GatewayResult", "safe_cli_executor", "safe_py_runner"]

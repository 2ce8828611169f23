"""What a host starts for each event: ``python -IS run_hook.py --host NAME [--stops N] [--deadline SECONDS]``.

Kept small, for its bytecode is not cached; that of early.py beside it is, which is loaded without any package.
"""

import os
import sys


def main() -> None:
    """Serve the event on standard input, and exit."""
    try:
        from _frozen_importlib_external import SourceFileLoader

        early = type(sys)("lockstep_early")
        early.__file__ = os.path.join(os.path.dirname(os.path.realpath(__file__)), "early.py")
        SourceFileLoader(early.__name__, early.__file__).exec_module(early)
    except Exception as error:
        block_tools(error)
    early.main()


def block_tools(error: Exception) -> None:
    """Exit: with 2 and a reason if a tool is to be used and some session follows a run or a policy; else with 0."""
    raw = sys.stdin.buffer.read() if sys.stdin else b""
    base = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    state = os.environ.get("LOCKSTEP_STATE") or os.path.join(base, "lockstep")
    kept = [os.path.join(state, name) for name in ("sessions", "facts")]
    is_tool = b'"PreToolUse"' in raw or b'"BeforeTool"' in raw
    if not is_tool or not any(os.path.isdir(folder) and os.listdir(folder) for folder in kept):
        os._exit(0)
    text = f"Lockstep's hook does not work here ({error!r:.300}; pip install --force-reinstall /path/to/lockstep helps)"
    os.write(2, f"{text}\n".encode("utf-8", "replace"))
    os._exit(2)


if __name__ == "__main__":
    main()

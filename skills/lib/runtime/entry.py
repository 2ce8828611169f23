"""The way in from a script's head: load the graph, serve the call, leave without tearing the interpreter down."""

from __future__ import annotations

import os
import sys

from skills.lib.errors import LockstepError, tell
from skills.lib.runtime import loading, script


def run(path: str, module: str) -> None:
    """Serve the call and exit the process with its code."""
    output, sys.stdout = sys.stdout, sys.stderr  # what a module prints is not part of the document
    try:
        workflow = loading.load_workflow(os.path.join(os.path.dirname(path), module + ".py"))
    except LockstepError as error:
        tell(error.message())
        leave(error.exit_code)
    finally:
        sys.stdout = output
    leave(script.main(workflow, sys.argv[1:], path, exiting=True))


def leave(code: int) -> None:
    """Exit at once: an ordinary exit spends a millisecond on freeing what the process frees anyway.

    A tracer that reports at exit (coverage) is let do so.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass
    if sys.gettrace() is not None or "coverage" in sys.modules:
        sys.exit(code)
    os._exit(code)

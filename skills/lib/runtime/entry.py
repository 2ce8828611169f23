"""The way in from a script's head: load the graph, serve the call, leave without tearing the interpreter down."""

from __future__ import annotations

import os
import sys

from skills.lib.errors import PRINTED, LockstepError, SkillError, tell
from skills.lib.runtime import loading, script
from skills.lib.workflow import cli


def run(path: str, module: str) -> None:
    """Serve the call and exit the process with its code."""
    argv = sys.argv[1:]
    output, sys.stdout = sys.stdout, sys.stderr  # what a module prints is not part of the document
    try:
        if not module.endswith("_workflow"):
            path, argv = _chosen(path, module, argv)
            module = os.path.basename(path)[: -len(".py")] + "_workflow"
        workflow = loading.load_workflow(os.path.join(os.path.dirname(path), module + ".py"))
    except cli.HelpRequested as asked:
        sys.stdout = output
        leave(script.emit(f"{asked}\n", PRINTED))
    except LockstepError as error:
        tell(error.message())
        leave(error.exit_code)
    finally:
        sys.stdout = output
    leave(script.main(workflow, argv, path, exiting=True))


def _chosen(path: str, module: str, argv: list[str]) -> tuple[str, list[str]]:
    """The script that the common entry of several hands over to."""
    from skills.lib.runtime import choosing
    from skills.lib.workflow.choice import Choice

    file = os.path.join(os.path.dirname(path), module + ".py")
    choice = getattr(loading.load_module(file), "CHOICE", None)
    if not isinstance(choice, Choice):
        raise SkillError(
            f"{file} has no CHOICE", remedy='put one in it: CHOICE = Choice("flag", {"word": "script.py"})'
        )
    return choosing.choose(path, choice, argv)


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

"""The way in from a script's head: load the graph, serve the call, leave without tearing the interpreter down."""

from __future__ import annotations

import os
import sys

from skills.lib.errors import PRINTED, LockstepError, SkillError, tell
from skills.lib.runtime import cli, loading, script


def run(path: str) -> None:
    """Serve the call of the script at ``path`` and exit the process with its code."""
    argv = sys.argv[1:]
    output, sys.stdout = sys.stdout, sys.stderr  # what a module prints is not part of the document
    try:
        if not os.path.isfile(path[: -len(".py")] + loading.SUFFIX):
            path, argv = _chosen(path, argv)
        workflow = loading.workflow_of_script(path)
    except cli.HelpRequested as asked:
        sys.stdout = output
        leave(script.emit(f"{asked}\n", PRINTED))
    except LockstepError as error:
        tell(error.message())
        leave(error.exit_code)
    finally:
        sys.stdout = output
    leave(script.main(workflow, argv, path, exiting=True))


def _chosen(path: str, argv: list[str]) -> tuple[str, list[str]]:
    """The script that the common entry of several hands over to, with its arguments; else ``path`` itself."""
    file = path[: -len(".py")] + loading.CHOICE
    if not os.path.isfile(file):
        return path, argv
    from skills.lib.model.choice import Choice
    from skills.lib.runtime import choosing

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

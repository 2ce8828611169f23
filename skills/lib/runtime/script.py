"""One call of a step script: parse, decide, commit, print."""

from __future__ import annotations

import os
import sys

from skills.lib import launcher, paths, status_files
from skills.lib.blocks import document, parts
from skills.lib.blocks.command_line import here
from skills.lib.errors import (
    INTERRUPTED,
    PRINTED,
    EnvironmentProblem,
    LockstepError,
    UsageError,
    tell,
)
from skills.lib.model.texts import check_text
from skills.lib.runtime import cli, loading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from skills.lib.model.run import Request
    from skills.lib.model.steps import Workflow
    from skills.lib.runtime.project import Response
    from skills.lib.runtime.runner import Runner

    T = TypeVar("T")


def run(path: str) -> None:
    """Serve the call of the script at ``path`` and exit the process with its code."""
    leave(exit_code(lambda: _load_and_print(path)))


def _load_and_print(path: str) -> int:
    words = cli.read(sys.argv[1:])
    try:
        workflow, path, words = quietly(lambda: _loaded(path, words))
    except cli.HelpRequested as requested:
        return emit(f"{requested}\n", PRINTED)
    return _print(workflow, words, path, exiting=True)


def _loaded(path: str, words: list[cli.Word]) -> tuple[Workflow, str, list[cli.Word]]:
    """The workflow of the script, or of the one that it hands over to, with the path and the words for that one."""
    graph = paths.graph_of(path)
    if graph.endswith(paths.MODULE) and not os.path.isfile(graph):
        from skills.lib.runtime import choosing  # most scripts have a graph of their own

        path, words = choosing.chosen(path, words)
    return loading.workflow_of_script(path), path, words


def quietly(serve: Callable[[], T]) -> T:
    """What ``serve`` returns. What a skill prints meanwhile goes to standard error: it is no part of the document.

    This is for a process that serves one call: the output of every thread is changed.
    """
    output, sys.stdout = sys.stdout, sys.stderr
    try:
        return serve()
    finally:
        sys.stdout = output


def leave(code: int) -> None:
    """Exit at once: an ordinary exit spends a millisecond on freeing what the process frees anyway.

    Under a tracer that reports at exit (coverage) the exit is an ordinary one.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass
    if sys.gettrace() is not None or "coverage" in sys.modules:
        sys.exit(code)
    os._exit(code)


def main(
    workflow: Workflow, argv: Sequence[str] | None = None, script: str | None = None, exiting: bool = False
) -> int:
    """Serve one call of a step script and return its exit code; the document goes to standard output.

    ``exiting`` says that the process ends right after, and the ledger need not be closed.
    """
    words = cli.read(sys.argv[1:] if argv is None else argv)
    return exit_code(lambda: _print(workflow, words, os.path.abspath(script or sys.argv[0]), exiting))


def exit_code(serve: Callable[[], int]) -> int:
    """Serve a call and return its exit code; an error is written to standard error, a bug to a log."""
    try:
        return serve()
    except LockstepError as error:
        tell(error.message())
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return silence_output()
    except Exception:
        from skills.lib.runtime import bugs  # a step does without

        return bugs.report()


def _print(workflow: Workflow, words: Sequence[cli.Word], script: str, exiting: bool) -> int:
    try:
        return _print_request(workflow, cli.request_of(workflow, words), script, exiting)
    except cli.HelpRequested as requested:
        return emit(f"{requested}\n", PRINTED)
    except UsageError as error:
        tell(error.message() + _way_back(workflow, words, error, script))
        return error.exit_code


def _print_request(workflow: Workflow, request: Request, script: str, exiting: bool) -> int:
    command_line = here(script, project_at(request.project))
    if request.stateless:
        request = cli.resolve(workflow, request)
        if request.step in ("next", "done", "current"):
            raise UsageError(f"--stateless prints a step, and {request.step} depends on a run", remedy="name the step")
        step = workflow.step(request.step)
        return emit(document.render(workflow, document.look_document(workflow, step, command_line)), PRINTED)
    from skills.lib.runtime.runner import Runner  # it brings SQLite, which a stateless step does without

    if request.run is not None and status_files.is_id(request.run):
        place = (command_line.python, script, command_line.project)
        if launcher.has_other_interpreter(command_line.launcher, request.run, *place):
            from skills.lib import launching  # the interpreter of a run seldom changes

            launching.enter(command_line.launcher, request.run, place)
    runner = Runner(command_line)
    try:
        response = quietly(lambda: _response(runner, workflow, request))
        return emit(render_response(response, runner), response.exit_code)
    finally:
        runner.close(exiting)


def _response(runner: Runner, workflow: Workflow, request: Request) -> Response:
    if request.run is not None:
        if request.new:
            raise UsageError("--new opens a run, and --run names one", remedy="give one of the two")
        return runner.serve(workflow, request.run, request, brief=True)
    request = cli.resolve(workflow, request)
    # Step 1 begins a run, even if the workflow starts at another step than its first.
    if (request.typed == "1" or request.step == workflow.start) and not _is_under_way(request):
        return runner.start(workflow, request.params, request.new)
    from skills.lib.engine.decision import Refused  # a stateless step does without the engine

    why = f"--step {request.step} needs --run: only --step 1 begins without one."
    if request.step == workflow.start:
        why = "What this reports belongs to a run, and it names none: --step 1 begins one, with parameters alone."
    return runner.refuse(workflow, None, request, Refused("no-run", why))


def _is_under_way(request: Request) -> bool:
    """True if the request has what only a run that is under way can have."""
    reported = (request.turn, request.outcome, request.answer, request.lost, request.replace, request.qr_status)
    behind = request.qr_fail or request.qr_iteration not in (None, 1)
    return bool(request.records or behind) or any(value is not None for value in reported)


def render_response(response: Response, runner: Runner) -> str:
    """The text of a response. Context that makes the block too long goes to files, which the block names."""
    run, text = response.run, response.text
    if len(text) <= parts.BLOCK_LIMIT or response.exit_code != PRINTED or run is None or not status_files.is_id(run.id):
        return text
    from skills.lib.runtime import offload  # few blocks are too long

    return offload.shortened(response, text, runner.home)


def emit(text: str, code: int) -> int:
    """Write UTF-8 in any locale, and return the code; EnvironmentProblem if the output is closed or its disk full."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except (OSError, AttributeError) as error:  # a closed output is None
        raise EnvironmentProblem(
            f"standard output cannot be written: {getattr(error, 'strerror', None) or 'it is closed'}",
            remedy="run the same command again: it prints the same block",
        ) from error
    return code


def _way_back(workflow: Workflow, words: Sequence[cli.Word], error: UsageError, script: str) -> str:
    """How to see the block of the run that a wrong command names; empty if it names none.

    A report that is no JSON is kept in a file, to be put right there.
    """
    flags = dict(words)
    run_id = flags.get("run") or ""
    try:
        project = os.path.realpath(flags.get("project") or paths.project_root())
    except (OSError, ValueError):
        return ""
    has_ledger = os.environ.get("LOCKSTEP_LEDGER_URL") or os.path.exists(os.path.join(paths.home(project), "runs.db"))
    if not status_files.is_id(run_id) or not has_ledger:
        return ""
    from skills.lib.runtime import way_back  # few commands are wrong

    return way_back.text(workflow, words, error, here(script, project))


def project_at(given: str | None) -> str:
    """The resolved root of the project that --project names, or that the working directory is in."""
    if given is not None and not os.path.isdir(given):
        raise UsageError(f"--project {given!r:.200} is not a folder", remedy="give the project's root folder")
    try:
        root = paths.project_root() if given is None else os.path.realpath(given)
    except OSError as error:
        raise UsageError(
            f"the working directory cannot be used: {error.strerror}", remedy="give the project's root with --project"
        ) from error
    # Every document names it, so what cannot be printed is refused before a run is opened there.
    check_text(root, "the path of the project")
    return root


def silence_output() -> int:
    """Say nothing more to a reader that went away, nor let the interpreter complain at exit; the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return PRINTED

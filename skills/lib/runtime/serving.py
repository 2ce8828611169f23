"""Serves a run that a command names: by its script, or by the definition in the ledger if no script is there."""

from __future__ import annotations

import sys

from skills.lib import paths
from skills.lib.blocks.command_line import here, join
from skills.lib.engine import children
from skills.lib.errors import PRINTED, EnvironmentProblem, UsageError
from skills.lib.ledger import Ledger
from skills.lib.runtime import cli, loading, script, stored
from skills.lib.runtime.runner import Runner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.model.run import Run
    from skills.lib.model.steps import Workflow


def runner_for(run: Run, project: str, actor: str = "agent", path: str | None = None) -> tuple[Runner, Workflow]:
    """The runner that serves a run, and its workflow; ``path`` is that of its script if that was moved.

    A workflow that is in no file is rebuilt from the ledger; its Commands are not run then. Raises EnvironmentProblem
    if the skill is there and nothing shows that this user ever ran it: no code runs because a ledger names it.
    """
    path = run.script if path is None else path
    is_there = stored.has_graph(path)
    is_trusted = is_there and stored.may_load(run, path, project)
    if is_there and not is_trusted and not run.ended:
        own = join([sys.executable, path, "--step", "current", "--run", run.id, "--project", project])
        raise EnvironmentProblem(
            f"nothing shows that the skill of run {run.id} was run on this machine, and the ledger may be anybody's: "
            f"{path} is not loaded",
            remedy=f"if you know the skill, its own command: {own}",
        )
    command_line = here(path if is_trusted else "", project)
    runner = Runner(command_line, actor)
    try:
        if run.parent and not run.spec.get("script"):
            return runner, children.task_workflow(run.workflow, run.spec)
        if is_trusted:
            return runner, script.quietly(lambda: loading.workflow_of_script(path))
        runner.runs_commands = False
        return runner, stored.rebuilt(run, runner.ledger)
    except BaseException:
        runner.close()
        raise


def main() -> None:
    """Serve the call of the step script that runs without a script of their own have in common, and exit."""
    script.leave(script.exit_code(lambda: _serve(cli.read(sys.argv[1:]))))


def _serve(words: list[cli.Word]) -> int:
    flags = dict(words)
    run_id = flags.get("run")
    if not run_id:
        what = "--run is missing: this script opens no run, it serves those whose workflow is in no file"
        raise UsageError(what, remedy="lockstep runs")
    project = script.project_at(flags.get("project"))
    with Ledger(paths.home(project), create=False) as ledger:
        run = ledger.run(run_id)
    if run is None:
        raise UsageError(f"the ledger of {project} has no run {run_id!r:.80}", remedy="take the id from the block")
    runner, workflow = runner_for(run, project)
    try:
        request = cli.request_of(workflow, words)
        response = script.quietly(lambda: runner.advance(workflow, run.id, request, brief=True))
        return script.emit(script.render_response(response, runner), response.exit_code)
    except cli.HelpRequested as requested:
        return script.emit(f"{requested}\n", PRINTED)
    finally:
        runner.close(exiting=True)

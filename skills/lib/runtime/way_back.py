"""What a wrong command is told besides: how its run goes on, and where a report is kept that is no JSON."""

from __future__ import annotations

import contextlib

from skills.lib import paths
from skills.lib.errors import EnvironmentProblem, LockstepError
from skills.lib.ledger import Ledger
from skills.lib.model.requirements import Field
from skills.lib.model.run import Run
from skills.lib.model.values import is_secret
from skills.lib.runtime import offload, record_flags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.lib.blocks.command_line import CommandLine
    from skills.lib.errors import UsageError
    from skills.lib.model.steps import Workflow
    from skills.lib.runtime.cli import Word

# Flags that the command has anyway, and words that are none.
_NAMED = ("", "step", "run", "turn", "project")


def text(workflow: Workflow, words: Sequence[Word], error: UsageError, command_line: CommandLine) -> str:
    """The command that prints the present block of the run that the words name, and what was kept of a report."""
    flags = dict(words)
    turn = flags.get("turn") or "0"
    run_id = flags["run"] or ""
    run = Run(
        id=run_id,
        workflow=workflow.name,
        script=_script_of(run_id, workflow, command_line),
        project=command_line.project,
        turn=int(turn) if turn.isascii() and turn.isdigit() else 0,
    )
    kept = _kept(workflow, run, error)
    line = "Nothing was changed. The present block of the run, with its NEXT command, is printed again by:"
    found = f"  {line}\n  {command_line.step('current', run, turn=False)}\n"
    if not kept:
        return found
    others = [word for word in words if word[0] not in _NAMED and word != ("record-file", "-")]
    more = [part for flag, value in others for part in (f"--{flag}", *([] if value is None else [value]))]
    again = command_line.step("next", run, *more, "--record-file", kept)
    return f"  What was reported is kept in a file. Put it right there, then run:\n  {again}\n{found}"


def _script_of(run_id: str, workflow: Workflow, command_line: CommandLine) -> str:
    """The script of a run of another workflow, as the ledger has it; else the called one."""
    known = None
    with contextlib.suppress(LockstepError), Ledger(paths.home(command_line.project), create=False) as ledger:
        known = ledger.run(run_id)
    if known is None or not known.script or known.workflow == workflow.name:
        return command_line.script
    return command_line.place_of(known.script)


def _kept(workflow: Workflow, run: Run, error: UsageError) -> str:
    """The path of the file with a report from standard input that is no JSON; empty if there is none.

    A workflow with a field for a secret has none: what is in the report cannot be told.
    """
    if not isinstance(error, record_flags.NotJson) or not error.report.strip():
        return ""
    fields = [spec for step in workflow.steps for spec in step.requires if isinstance(spec, Field)]
    if any(is_secret(field.name) for field in fields):
        return ""
    try:
        return offload.write(paths.home(run.project), run, f"refused-{run.turn}.json", error.report)
    except EnvironmentProblem:
        return ""

"""What ``--help`` of a step script prints."""

from __future__ import annotations

from skills.lib import compact_json
from skills.lib.model import values
from skills.lib.model.requirements import Field
from skills.lib.model.steps import Workflow
from skills.lib.model.types import Dispatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def help_text(workflow: Workflow) -> str:
    """What ``--help`` prints: the steps, the parameters, the other flags, and examples."""
    lines = [f"{workflow.title or workflow.name}: prints one step of the workflow {workflow.name}.", ""]
    if workflow.description:
        lines += [workflow.description, ""]
    lines += ["Begin:  --step 1" + "".join(f" {arg.flag} …" for arg in workflow.run_params() if arg.required)]
    lines += ["Go on:  run the command that stands in NEXT of the block that was printed"]
    lines += ["Lost:   --step current without --run refuses, and lists the open runs; lockstep resume does, too", ""]
    lines += ["Steps"]
    lines += [f"  {at:2}  {step.id:24} {step.title}" for at, step in enumerate(workflow.steps, 1)]
    if workflow.params:
        lines += ["", "Parameters"]
        for arg in workflow.params:
            when = f"on leaving {arg.step}" if arg.step else "fixed when the run opens"
            need = "" if arg.required or arg.default is None else f", default {_shown(arg.default)}"
            why = f"waives {arg.waives}: a reason of more than a word" if arg.waives else values.expectation(arg)
            lines.append(f"  {arg.flag:24} {why} ({when}{need})")
            if arg.help:
                lines.append(f"  {'':24} {arg.help}")
    examples = _of_reviews(workflow)
    if examples:
        lines += ["", "Reviews", *[f"  {example}" for example in examples]]
    lines += ["", _FLAGS]
    return "\n".join(lines)


def _of_reviews(workflow: Workflow) -> list[str]:
    """An example of each report that the workflow's reviews request, and what it is; empty without reviews."""
    types = {spec.type for step in workflow.steps for spec in step.requires if isinstance(spec, Field)}
    reviews = [step for step in workflow.steps if step.checkpoint]
    for step in reviews:
        if isinstance(step.handler, Dispatch) and not step.handler.script:
            types.add("answers" if step.handler.checks else "items")
    lines = [line for kind in ("statements", "items", "answers") if kind in types for line in _EXAMPLES[kind]]
    return [*lines, *(_EXAMPLES["fixes"] if reviews else ())]


_EXAMPLES = {
    "statements": (
        "A reviewer states what must be so; the engine numbers it (S1, S2, …):",
        """  --record statements='["src/a.py | each total is rounded once"]'""",
    ),
    "items": (
        "A reviewer reports each thing that it judged:",
        """  --record items='[{"check": "each total is rounded once", "severity": "MUST", "status": "FAIL", """
        """"place": "src/a.py:3", "finding": "it is rounded twice"}]'""",
    ),
    "answers": (
        "A reviewer answers each statement, item and check; a check with several targets has a place for each:",
        """  --record answers='[{"id": "S1", "status": "FAIL", "place": "src/a.py:3", "severity": "MUST", """
        """"finding": "it is rounded twice"}, """
        """{"id": "keeps", "status": "PASS", "place": {"W1": "src/a.py:9", "W2": "src/b.py:1"}}]'""",
    ),
    "fixes": (
        "Work answers each finding whose file it did not change:",
        """  --record fixes='["S1 | changed | src/a.py", "S2 | disputed | the line is what was asked for"]'""",
    ),
}


def _shown(default: Any) -> str:
    return default if isinstance(default, str) and default else compact_json.readable(default)


_FLAGS = """Flags of every step script
  --step STEP              a step's id or position, next, done, or current (prints the present block again)
  --run ID --turn N        the run and the turn this command belongs to, as printed
  --project DIR            the project's root (default: the nearest folder with .lockstep or .git)
  --record NAME=VALUE      what the step asks to record; repeat it for each
  --record-file F.json     the same as one JSON object in a file (- reads standard input); --record overrides it
  --erratum STEP.FIELD=NOTE  says what proved wrong with a recorded value; it is shown beside it from then on, until
                             another value is recorded. PARAMETER=NOTE is about a parameter of the run.
  --outcome WORD           how the step ended, where the block asks for it
  --answer TEXT            a person's answer, where the run waits for one
  --lost ID --reason TEXT  gives up on a sub-agent that never came back; --replace ID starts another
  --qr-status --qr-iteration --qr-fail   echo of a review's state, refused where the ledger differs
  --total-steps N          accepted, and must be right
  --new                    opens another run although one with the same parameters is open
  --stateless              prints a step to look at: no run, no ledger, no gate ever closes
Exit codes
  0 printed, 2 usage, 3 refused, 4 environment, 5 the skill is broken, 70 a bug of Lockstep, 130 interrupted"""

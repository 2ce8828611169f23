"""Builds the command that a refusal prints: it repeats each value of the refused command that fits."""

from __future__ import annotations

import os

from skills.lib import compact_json, status_files
from skills.lib.blocks import document
from skills.lib.blocks.command_line import quote
from skills.lib.blocks.refused import printed
from skills.lib.engine import inputs
from skills.lib.errors import EnvironmentProblem
from skills.lib.model import values
from skills.lib.model.requirements import Arg, Command, Field
from skills.lib.model.run import FIXES, Request
from skills.lib.model.types import Outcome, is_word
from skills.lib.reasons import is_reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from skills.lib.engine.decision import Refusal
    from skills.lib.model.run import Run
    from skills.lib.model.steps import StepDef, Workflow
    from skills.lib.runtime.project import Project

# A command repeats so many characters of values. If there are more, it names a record file that has all of them.
GIVEN_BACK = 2_000


def next_command(project: Project, workflow: Workflow, run: Run, request: Request, refusal: Refusal) -> str:
    """The command that goes on: the values of the refused request that fit, and a placeholder for each other value."""
    words: dict[str, str] | None = None
    if request.turn == run.turn:
        if request.lost and refusal.code == "no-reason":
            return project.command_line.step("current", run, "--lost", request.lost) + " --reason 'FILL_reason'"
        if request.lost or request.replace:
            return project.command_line.step("current", run, turn=False)
        words = _answer(run, request) if run.status == "waiting" else _reports(project, workflow, run, request, refusal)
    return document.next_command(workflow, run, project.command_line, words)


def _reports(
    project: Project, workflow: Workflow, run: Run, request: Request, refusal: Refusal
) -> dict[str, str] | None:
    """The reports of the refused request, by flag or by the name of a field, as ``document.next_command`` takes them.

    None if they are too long for a command and cannot be written to a file: then every value is a placeholder again.
    """
    step = workflow.step(run.step or "")
    fitting, words = _sorted(workflow, run, step, request)
    if not any(name in words for name in (*request.records, *request.params)):
        for spec in _rejected(workflow, step, refusal, fitting):
            del fitting[spec.name]
            words[spec.name] = document.placeholder(spec)
    filed = {
        name: path for name, path in request.filed.items() if name in fitting and fitting[name] == request.records[name]
    }
    # What is wrong in its file is put right there, or by the record that is to be filled in.
    files = [quote(path) for path in dict.fromkeys(filed.values())]
    fitting = {name: raw for name, raw in fitting.items() if name not in filed}
    texts = {name: quote(_text(raw)) for name, raw in fitting.items()}
    if sum(map(printed, texts.values())) > GIVEN_BACK:
        try:
            files.append(_file(project, run, fitting))
        except EnvironmentProblem:
            return None
        texts = {}
    if files:
        words["--record-file"] = " --record-file ".join(files)
    return {**words, **texts}


def _rejected(workflow: Workflow, step: StepDef, refusal: Refusal, fitting: Collection[str]) -> list[Arg | Field]:
    """The values that were refused though each of them fits: the same command would be refused again.

    These are what a check of the skill read, answers and items as a whole, and a report that was made before.
    """
    every: list[Arg | Field] = [*workflow.step_params(step.id)]
    every += [spec for spec in step.requires if isinstance(spec, Field)]
    given = [spec for spec in every if spec.name in fitting]
    if refusal.code in ("bad-value", "other-items"):
        return [spec for spec in given if spec.type in ("answers", "items")]
    if refusal.code == "missing-evidence" and refusal.evidence:
        checks = [spec for spec in step.requires if not isinstance(spec, Field)]
        failed = checks[len(refusal.evidence) - 1]
        # A command that is no script of the skill looks at the project, which may be put right instead.
        if not isinstance(failed, Command) or not failed.argv[0].endswith(".py"):
            return []
        given = [spec for spec in given if any(f"{{{spec.name}}}" in word for word in failed.argv)]
    elif refusal.code != "same-report":
        return []
    return [spec for spec in given if not spec.choices] or given


def _sorted(workflow: Workflow, run: Run, step: StepDef, request: Request) -> tuple[dict[str, Any], dict[str, str]]:
    """The values that fit, as they were given; and a placeholder for each value that does not fit or is missing."""
    fields: list[Arg | Field] = [spec for spec in step.requires if isinstance(spec, Field)]
    if run.reviews and FIXES in request.records and not any(spec.name == FIXES for spec in fields):
        fields.append(Field(FIXES, "list"))
    named = {spec.name for spec in fields}
    fitting, words = {}, document.to_fill_in(workflow, run, step)
    for spec in (*workflow.step_params(step.id), *fields):
        given = request.records if spec.name in named else {**request.records, **request.params}
        if spec.name not in given:
            continue
        if spec.name == FIXES and isinstance(spec, Field) and run.reviews:
            from skills.lib.engine import fixes

            entries = fixes.given_back(run, given[FIXES])
            if entries:
                fitting[FIXES] = entries
                words.pop(FIXES, None)
            elif fixes.open_findings(run):
                words[FIXES] = document.placeholder(spec)
            continue
        # A secret is neither printed nor written.
        if inputs.fits(workflow, run, step, spec, given[spec.name]) and not values.is_secret(spec.name):
            fitting[spec.name] = given[spec.name]
            words.pop(spec.name, None)
        else:
            words[spec.name] = document.placeholder(spec)
    kept = [
        f"{name}={note if is_reason(note) else 'FILL_note'}"
        for name, note in request.errata.items()
        if name in run.recorded or name in run.params
    ]
    if kept:
        words["--erratum"] = " --erratum ".join(map(quote, kept))
    outcome = request.outcome or ""
    if "--outcome" in words and is_word(Outcome, outcome) and Outcome(outcome) in step.next:
        words["--outcome"] = outcome
    return fitting, words


def _answer(run: Run, request: Request) -> dict[str, str]:
    """The answer and the reason of the request, if they can be used, as ``next_command`` takes them."""
    choices = tuple((run.question or {}).get("choices", ()))
    answer, reason = request.answer or "", request.reason or ""
    words = {"--answer": document.ANSWER}
    if answer.strip() and not values.is_placeholder(answer, "answer") and (not choices or answer in choices):
        words["--answer"] = quote(answer)
    if reason.strip() and not values.is_placeholder(reason, "reason"):
        words["--reason"] = quote(reason)
    return words if sum(map(printed, words.values())) <= GIVEN_BACK else {"--answer": document.ANSWER}


def _text(raw: Any) -> str:
    """The value as text for a command line."""
    return raw if isinstance(raw, str) else compact_json.readable(raw)


def _file(project: Project, run: Run, fitting: dict[str, Any]) -> str:
    """Write the values as a record file beside the ledger, and return its path, quoted."""
    from skills.lib.runtime import offload

    if not status_files.is_id(run.id):
        raise EnvironmentProblem(f"{run.id!r:.40} is no name for a folder")
    path = os.path.join(offload.folder(project.command_line.project, run), f"refused-{run.turn}.json")
    offload.write(path, compact_json.readable(fitting) + "\n")
    return quote(path)

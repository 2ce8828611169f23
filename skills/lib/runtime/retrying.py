"""Builds the command that a refusal prints: it repeats each value of the refused command that fits."""

from __future__ import annotations

import os

from skills.lib import compact_json, markers
from skills.lib.blocks import document
from skills.lib.blocks.command_line import quote
from skills.lib.blocks.refused import printed
from skills.lib.engine import inputs
from skills.lib.errors import EnvironmentProblem
from skills.lib.model import values
from skills.lib.model.requirements import Arg, Field
from skills.lib.model.run import FIXES, Request
from skills.lib.model.types import Outcome, is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.engine.decision import Refusal
    from skills.lib.model.run import Run
    from skills.lib.model.steps import StepDef, Workflow
    from skills.lib.runtime.project import Project

# A command repeats so many characters of values. If there are more, it names a record file that has all of them.
GIVEN_BACK = 2_000


def next_command(project: Project, workflow: Workflow, run: Run, asked: Request | str, refusal: Refusal) -> str:
    """The command that goes on: the values of the refused request that fit, and a placeholder for each other value."""
    if isinstance(asked, str) or asked.turn != run.turn:
        return document.next_command(workflow, run, project.command_line)
    if asked.lost or asked.replace:
        if refusal.code == "no-reason" and asked.lost:
            return project.command_line.step("current", run, "--lost", asked.lost) + " --reason 'FILL_reason'"
        return project.command_line.step("current", run, turn=False)
    if run.status == "waiting":
        return document.next_command(workflow, run, project.command_line, _answer(run, asked))
    step = workflow.step(run.step or "")
    fitting, words = _sorted(workflow, run, step, asked)
    filed = {
        name: path for name, path in asked.filed.items() if name in fitting and fitting[name] == asked.records[name]
    }
    files = dict.fromkeys(filed.values())
    if files:  # what is wrong in its file is put right there, or by the record that is to be filled in
        words["--record-file"] = " --record-file ".join(map(quote, files))
        fitting = {name: raw for name, raw in fitting.items() if name not in filed}
    texts = {name: quote(_text(raw)) for name, raw in fitting.items()}
    if sum(map(printed, texts.values())) <= GIVEN_BACK:
        return document.next_command(workflow, run, project.command_line, {**words, **texts})
    try:
        path = " --record-file ".join([*map(quote, files), _file(project, run, fitting)])
        return document.next_command(workflow, run, project.command_line, {**words, "--record-file": path})
    except EnvironmentProblem:  # the folder cannot be written: every value is a placeholder again
        return document.next_command(workflow, run, project.command_line)


def _sorted(workflow: Workflow, run: Run, step: StepDef, asked: Request) -> tuple[dict[str, Any], dict[str, str]]:
    """The values that fit, as they were given; and a placeholder for each value that does not fit or is missing."""
    fields: list[Arg | Field] = [spec for spec in step.requires if isinstance(spec, Field)]
    if run.reviews and FIXES in asked.records and not any(spec.name == FIXES for spec in fields):
        fields.append(Field(FIXES, "list"))
    named = {spec.name for spec in fields}
    fitting, words = {}, document.to_fill_in(workflow, run, step)
    for spec in (*workflow.step_params(step.id), *fields):
        given = asked.records if spec.name in named else {**asked.records, **asked.params}
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
    kept = [f"{name}={note}" for name, note in asked.errata.items() if name in run.recorded or name in run.params]
    if kept:
        words["--erratum"] = " --erratum ".join(map(quote, kept))
    outcome = asked.outcome or ""
    if "--outcome" in words and is_word(Outcome, outcome) and Outcome(outcome) in step.next:
        words["--outcome"] = outcome
    return fitting, words


def _answer(run: Run, asked: Request) -> dict[str, str]:
    """The answer and the reason of the request, if they can be used, as ``next_command`` takes them."""
    choices = tuple((run.question or {}).get("choices", ()))
    answer, reason = asked.answer or "", asked.reason or ""
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

    if not markers.is_id(run.id):
        raise EnvironmentProblem(f"{run.id!r:.40} is no name for a folder")
    path = os.path.join(offload.folder(project.command_line.project, run), f"refused-{run.turn}.json")
    offload.write(path, compact_json.readable(fitting) + "\n")
    return quote(path)

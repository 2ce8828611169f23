"""Refusals: why, what would be valid, and the command that goes on; each is noted in the run's ledger.

The command repeats each value of the refused command that fits.
"""

from __future__ import annotations

from skills.lib import compact_json, status_files
from skills.lib.blocks import document, parts
from skills.lib.blocks.command_line import quote
from skills.lib.blocks.refused import LOST, printed, refusal_data, refused_document
from skills.lib.engine import inputs
from skills.lib.engine.decision import Refused
from skills.lib.errors import REFUSED, EnvironmentProblem
from skills.lib.field_checks import is_reason
from skills.lib.ledger import listing, open_runs
from skills.lib.model import values
from skills.lib.model.requirements import Arg, Command, Field
from skills.lib.model.run import FIXES, Request, Run
from skills.lib.runtime.project import Project, Response

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from skills.lib.model.steps import Workflow

# How many characters of parameters a refused opening repeats in the command that goes on: of each, and of all.
REPEATED, REPEATED_TOGETHER = 1_000, 2_000
# A command repeats so many characters of reports. If there are more, it names a record file that has all of them.
GIVEN_BACK = 2_000
# How many sub-agents are listed for an agent that lost its run, and how many characters of what each is for.
LISTED, ABOUT = 8, 80
# How many of the open runs are listed for it, if there is room: the last moved.
MOST_LISTED = 20
# A run is refused that this script does not serve.
_ELSEWHERE = ("other-project", "other-workflow")
# Refusals after which the present block is shown: it lists the sub-agents that are left, with their commands.
_SHOWS_CHILDREN = ("unaccounted-child", "unknown-child", "child-ended")
# Refusals of a sub-agent's first command after which the same command may still be right.
_BEGINS_LATER = ("skipped-step", "run-ended", "agents-busy")


def refuse(project: Project, workflow: Workflow, run: Run | None, request: Request, refusal: Refused) -> Response:
    """The response that refuses a request: why, and the command that goes on. It is noted with the run, if it has one.

    ``run`` is the run that was found, for an opening the one that is open already; None if there is none.
    """
    asked = asked_for(request)
    if run is None and refusal.code == "missing-parameter" and _has_sub_agents(project, request):
        why = f"{refusal.why} If this is for a run that is open, --run is missing."
        refusal = Refused("no-run", why, missing=("run",))
    if refusal.code in LOST:
        refusal, next_line, meant = _listing_runs(project, workflow, request, refusal)
        return _response(project, workflow, None, asked, refusal, next_line, runs=meant)
    if run is None:
        again = _start_line(project, workflow, request.params, request.new, kept=refusal.code != "bad-targets")
        return _response(project, workflow, None, "--step 1", refusal, again)
    if refusal.code in _ELSEWHERE:
        return _response(project, workflow, None, asked, refusal, _own_command(project, run, refusal))
    show = "" if run.ended else project.command_line.step("current", run, turn=False)
    if refusal.code in ("already-open", "other-opening"):
        return _response(project, workflow, run, "--step 1, to open a run", refusal, show)
    if refusal.code == "definition-changed":
        if run.parent:  # the run has no command that goes on: another sub-agent takes its place
            return _response(project, workflow, run, asked, refusal)
        return _response(project, workflow, run, asked, refusal, _start_line(project, workflow, run.params, True), show)
    if run.status == "pending":
        return _response(project, workflow, run, asked, refusal, show if refusal.code in _BEGINS_LATER else "")
    if run.ended or refusal.code in _SHOWS_CHILDREN:
        return _response(project, workflow, run, asked, refusal, show)
    next_line = _retry(project, workflow, run, request, refusal)
    return _response(project, workflow, run, asked, refusal, next_line, show if show != next_line else "")


def asked_for(request: Request) -> str:
    """The request in words, for a refusal."""
    words = f"--step {request.typed or request.step}"
    if request.run:
        words += f" --run {request.run}"
    if request.turn is not None:
        words += f" --turn {request.turn}"
    given = [*request.params, *request.records]
    if given:
        words += f", reporting {', '.join(sorted(given))}"
    for flag, value in (("outcome", request.outcome), ("answer", request.answer), ("qr-status", request.qr_status)):
        if value is not None:
            words += f", --{flag} {value[:200]}"
    return words


def _response(
    project: Project,
    workflow: Workflow,
    run: Run | None,
    asked: str,
    refusal: Refused,
    next_line: str = "",
    show: str = "",
    runs: Sequence[str] = (),
) -> Response:
    if run is not None and not (project.is_void is not None and project.is_void()):
        detail = {"code": refusal.code, "why": refusal.printed, "asked": asked, "evidence": list(refusal.evidence)}
        noted = {**detail, "step": run.step, **project.who}
        project.ledger.note(run.id, run.turn, "refused", project.actor, noted)
    document = refused_document(workflow, run, refusal, asked, next_line, show)
    return Response(document, REFUSED, run, workflow, refusal_data(workflow, run, refusal, runs))


def _own_command(project: Project, run: Run, refusal: Refused) -> str:
    """The command that shows a run by its own script, or in its own project."""
    if refusal.code == "other-workflow" and run.turn == 0 and not run.script:
        return ""  # only a program begins it
    if refusal.code == "other-workflow":
        return parts.child_command(run, project.command_line)
    fields = {**project.command_line.fields(), "project": run.project}
    return type(project.command_line)(**fields).step("current", run, turn=False)  # type: ignore[arg-type]


def _listing_runs(
    project: Project, workflow: Workflow, request: Request, refusal: Refused
) -> tuple[Refused, str, list[str]]:
    """The refusal of an agent that lost its run, with the commands of the runs that it may have meant; NEXT; their ids.

    If sub-agents are at work the agent may be any of them: then there is no NEXT.
    """
    known: list[Run] = []
    children: list[str] = []
    more = ""
    if project.has_ledger():
        found = listing.last_moved(project.ledger, MOST_LISTED, workflow.name)
        elsewhere = {run.id for run in found if _is_elsewhere(project, run)}
        known = [run for run in found if run.id not in elsewhere]
        roots = {*open_runs.ids(project.ledger, workflow.name)} - elsewhere
        children = _sub_agents(project, roots, request.run)
        if len(roots) > len(known):
            more = f" {len(roots) - len(known)} more runs of this skill are open."
    opening = _start_line(project, workflow, request.params, request.new)
    if not known and not children:
        return refusal, opening, []
    meant = [*children, *[run.id for run in known]]
    commands = [project.command_line.step("current", other, turn=False) for other in known]
    order = ", the last moved first" if len(known) > 1 else ""
    if not children:
        how = f"VALID has the command of each open run of this skill{order}; its last opens another.{more}"
        return _with_commands(refusal, how, *commands, opening), commands[0], meant
    how = (
        f"Sub-agents are at work, so take the command of your own run from VALID: first those of the "
        f"sub-agents, each with what it is for, then those of the open runs of this skill{order}, then one "
        f"that opens another run. If none is yours, stop and say so.{more}"
    )
    if len(children) > LISTED:
        how += f" {len(children) - LISTED} more sub-agents are not listed."
    listed = project.ledger.runs(children[:LISTED])
    lines = [f"{parts.child_command(child, project.command_line)}  # {_about(child)}" for child in listed]
    return _with_commands(refusal, how, *lines, *commands, opening), "", meant


def _with_commands(refusal: Refused, how: str, *commands: str) -> Refused:
    """The refusal with commands as what is valid, without those that this script does not have."""
    valid = tuple(filter(None, commands))
    return Refused(refusal.code, refusal.why, valid, of="commands", missing=refusal.missing, how=how)


def _has_sub_agents(project: Project, request: Request) -> bool:
    """True if sub-agents are at work that this script serves: one of them may have lost its run's id."""
    return not request.new and project.has_ledger() and bool(_sub_agents(project, (), request.run))


def _about(child: Run) -> str:
    """A sub-agent's run and what it is for, on one line: a shell comment after its command."""
    task = " ".join((child.spec.get("target") or child.spec.get("task") or "").split())
    return f"sub-agent {child.id}, {child.status}" + (f": {parts.clipped(task, ABOUT)}" if task else "")


def _sub_agents(project: Project, roots: Collection[str], wanted: str | None) -> list[str]:
    """The ids of the sub-agents at work of these runs, and of this script; nearest to the wanted run first."""
    family = (wanted or "").rpartition(".")[0]
    found = [
        run_id
        for run_id in listing.sub_agents(project.ledger)
        if run_id.partition(".")[0] in roots or _is_of_script(project, project.ledger.run(run_id))
    ]
    numbers = {run_id: [(len(part), part) for part in run_id.split(".")[1:]] for run_id in found}
    return sorted(found, key=lambda one: (one.rpartition(".")[0] != family, one.partition(".")[0], numbers[one]))


def _is_of_script(project: Project, child: Run | None) -> bool:
    """True if the script that was called serves a sub-agent's run."""
    if child is None or _is_elsewhere(project, child):
        return False
    return project.command_line.place_of(child.script) == project.command_line.script


def _is_elsewhere(project: Project, run: Run) -> bool:
    return project.is_elsewhere(run)


def _start_line(
    project: Project, workflow: Workflow, given: Mapping[str, Any], new: bool | None = False, kept: bool = True
) -> str:
    """The command that opens a run: each given parameter that fits, and a placeholder for each other one.

    Unless ``kept``, each given parameter is a placeholder too.
    """
    words, missing, room = [], "", REPEATED_TOGETHER
    for arg in workflow.run_params():
        value = given.get(arg.name)
        text = None if value is None else _text(value)
        size = printed(quote(text or ""))
        fits = size <= min(REPEATED, room) and kept and not values.is_secret(arg.name)
        if text is not None and fits and inputs.fits_parameter(arg, text):
            words += [arg.flag, text]
            room -= size
        elif arg.required or text is not None:
            missing += f" {arg.flag} {document.placeholder(arg)}"
    words += ["--new"] if new else []
    if workflow.layers:  # its script alone would open a run without them
        return project.command_line.start_phase(workflow.layers[0].phase, workflow.name, *words) + missing
    return project.command_line.start(*words) + missing


def _retry(project: Project, workflow: Workflow, run: Run, request: Request, refusal: Refused) -> str:
    """The command that goes on: the values of the refused request that fit, and a placeholder for each other value.

    Every value is a placeholder if the request is of another turn, or if too much was reported for a command and no
    file can be written.
    """
    command_line, is_asked = project.command_line, run.status == "waiting"
    if request.turn != run.turn:
        return document.next_command(workflow, run, command_line)
    if request.lost and refusal.code == "no-reason":
        return command_line.step("current", run, "--lost", request.lost) + " --reason 'FILL_reason'"
    if request.lost or request.replace:
        return command_line.step("current", run, turn=False)
    fitting, words = _answer(run, request) if is_asked else _sorted(workflow, run, request)
    if not is_asked and not any(name in words for name in (*request.records, *request.params)):
        for spec in _rejected(workflow, run, refusal, fitting):
            del fitting[spec.name]
            words[spec.name] = None
    # What is wrong in its file is put right there, or by the record that is to be filled in.
    filed = {name: path for name, path in request.filed.items() if fitting.get(name, ...) == request.records[name]}
    files = list(dict.fromkeys(filed.values()))
    fitting = {name: raw for name, raw in fitting.items() if name not in filed}
    if sum(printed(quote(_text(raw))) for raw in fitting.values()) > GIVEN_BACK:
        path = "" if is_asked else _file(project, run, fitting)
        if not path:
            return document.next_command(workflow, run, command_line)
        files.append(path)
        fitting = {}
    return document.next_command(workflow, run, command_line, {**words, **fitting}, files)


def _rejected(workflow: Workflow, run: Run, refusal: Refused, fitting: Collection[str]) -> list[Arg | Field]:
    """The values that were refused though each of them fits: the same command would be refused again.

    These are what a check of the skill read, answers and items as a whole, and a report that was made before.
    """
    step = workflow.step(run.step or "")
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


def _sorted(workflow: Workflow, run: Run, request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
    """The reported values that fit, as they were given; and the others, None for what does not fit or is missing."""
    step = workflow.step(run.step or "")
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
            from skills.lib.engine import fixes  # few runs have reviews

            entries = fixes.given_back(run, given[FIXES])
            if entries:
                fitting[FIXES] = entries
            elif fixes.open_findings(run):
                words[FIXES] = None
            continue
        # A secret is neither printed nor written.
        if inputs.fits(workflow, run, step, spec, given[spec.name]) and not values.is_secret(spec.name):
            fitting[spec.name] = given[spec.name]
        else:
            words[spec.name] = None
    kept = [
        f"{name}={note if is_reason(note) else 'FILL_note'}"
        for name, note in request.errata.items()
        if name in run.recorded or name in run.params
    ]
    if kept:
        words["--erratum"] = kept
    outcome = request.outcome or ""
    if "--outcome" in words and outcome in step.next:
        words["--outcome"] = outcome
    return fitting, {name: word for name, word in words.items() if name not in fitting}


def _answer(run: Run, request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
    """The answer and the reason of the request, if they can be used; and what is to be filled in."""
    choices = tuple((run.question or {}).get("choices", ()))
    fitting = {
        flag: text
        for flag, text in (("--answer", request.answer), ("--reason", request.reason))
        if text and text.strip() and not values.is_placeholder(text, flag[2:])
    }
    if choices and fitting.get("--answer") not in choices:
        fitting.pop("--answer", None)
    return fitting, document.to_answer(run)


def _text(raw: Any) -> str:
    """The value as text for a command line."""
    return raw if isinstance(raw, str) else compact_json.readable(raw)


def _file(project: Project, run: Run, fitting: dict[str, Any]) -> str:
    """Write the values as a record file beside the ledger, and return its path; empty if it cannot be written."""
    from skills.lib.runtime import offload  # few reports are too long for a command

    if not status_files.is_id(run.id):
        return ""
    try:
        text = compact_json.readable(fitting) + "\n"
        return offload.write(project.home, run, f"refused-{run.turn}.json", text)
    except EnvironmentProblem:
        return ""

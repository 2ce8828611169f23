"""Runs each case with each temperament, and counts what was reached."""

from __future__ import annotations

import logging
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage

from benchmarks.adherence.hosts import own_ledgers
from benchmarks.recovery import policies
from benchmarks.recovery.cases import MODEL_FAULTS, Case, ProviderError
from benchmarks.recovery.tasks import CASES
from benchmarks.report import Cell, Figures
from skills.lib import paths
from skills.lib.agent.agent import Agent
from skills.lib.agent.models.retries import Retries
from skills.lib.agent.models.retrying_model import RetryingModel
from skills.lib.agent.tools import of as tools_of
from skills.lib.agent.watching.activity import Activity, path_in
from tests.agent.scripted import ScriptedModel

if TYPE_CHECKING:
    from benchmarks.options import Options

Policy = Callable[[list[BaseMessage], policies.Tools], AIMessage]
TEMPERAMENTS: dict[str, Policy] = {
    "learns": policies.learner,
    "repeats itself": policies.repeater,
    "gives up early": policies.quitter,
}
# So many model calls a run may make.
BUDGET = 15
_ENDS = ("done", "stopped")


class Seen(NamedTuple):
    """What a run of a case came to."""

    case: Case
    status: str
    calls: int
    failed: int
    is_made: bool
    has_part: bool
    is_told: bool

    @property
    def in_order(self) -> bool:
        """True if the session ended by itself within its budget, and the run is done or open to go on."""
        return self.status in _ENDS and self.calls <= BUDGET

    @property
    def is_recovered(self) -> bool:
        """True if the run is done, and its files hold what they are to hold."""
        return self.status == "done" and self.is_made

    @property
    def is_claimed(self) -> bool:
        """True if the model said that all is done, and it is not."""
        return self.status == "done" and not self.is_made


def figures(options: Options) -> list[Figures]:
    """Run all cases, or every fourth one, with each temperament."""
    cases = CASES[::4] if options.quick else CASES
    seen: dict[str, list[Seen]] = {}
    with options.progress("recovery", len(TEMPERAMENTS) * len(cases)) as tick:
        for name, policy in TEMPERAMENTS.items():
            seen[name] = []
            for case in cases:
                seen[name].append(run(case, policy))
                tick()
    return [_reached(seen), _kinds(seen), _missed(seen)]


def run(case: Case, policy: Policy) -> Seen:
    """One case in a project of its own."""
    log = logging.getLogger("lockstep.agent")
    was, log.disabled = log.disabled, True
    try:
        with own_ledgers(), tempfile.TemporaryDirectory(prefix="lockstep-recovery-") as folder:
            project = Path(folder, "project")
            skill = _laid_out(case, project)
            model = ScriptedModel(answer=_failing(policy, case.model_faults))
            tools = [
                *tools_of(str(project), paths.home(str(project)), readable=[skill]),
                *(one() for one in case.tools),
            ]
            agent = Agent(str(project), _asked_again(model), tools=tools)
            ended = agent.advance(agent.start(skill, f"Do {case.name}."))
            with Activity(path_in(agent.home)) as activity:
                results = activity.rows(ended.run, kind="result")
                calls = activity.count(ended.run, kind="model")
            return Seen(
                case,
                ended.status,
                calls,
                sum(not row.data["ok"] for row in results),
                _holds(project, case.makes) if case.makes else False,
                _holds(project, case.part),
                bool(ended.objectives) and any(one["status"] == "done" for one in ended.objectives),
            )
    finally:
        log.disabled = was


def _laid_out(case: Case, project: Path) -> str:
    """Write the files of a case; the folder of its skill."""
    skill = project / "skills" / "task"
    (project / ".git").mkdir(parents=True)
    lines = "\n".join(f"{number}. {text}" for number, text in enumerate(case.instructions, 1))
    head = f"---\nname: task\ndescription: Does {case.name}, when somebody asks for it.\n---\n\n# Task\n\n"
    files = {**case.files, "@SKILL.md": f"{head}{lines}\n\nReport each of them.\n"}
    for name, content in files.items():
        path = skill / name[1:] if name.startswith("@") else project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if name.endswith(".sh"):
            path.chmod(0o644)
    return str(skill)


def _failing(policy: Policy, faults: Sequence[str]) -> Policy:
    """The policy, at a provider that fails before it answers; "" is an answer."""
    left = list(faults)

    def answer(messages: list[BaseMessage], tools: policies.Tools) -> AIMessage:
        if left and (fault := left[0] if left[0] == "quota" else left.pop(0)):
            raise ProviderError(*MODEL_FAULTS[fault])
        return policy(messages, tools)

    return answer


def _asked_again(model: ScriptedModel) -> RetryingModel:
    """The model as Lockstep asks every provider: again after what passes. Nobody waits here."""
    clock = iter(range(1_000_000))
    retries = Retries(clock=lambda: float(next(clock)) / 1_000, sleep=lambda seconds: None)
    return RetryingModel(inner=model, model_name="scripted", key="", timeout=600, retries=retries, secrets=())


def _holds(project: Path, wanted: Any) -> bool:
    """True if each file has its text."""
    found = {name: project / name for name in wanted}
    return all(
        os.path.isfile(path) and wanted[name] in path.read_text(encoding="utf-8", errors="replace")
        for name, path in found.items()
    )


def _share(of: Sequence[Seen], is_so: Callable[[Seen], bool]) -> str:
    """How many of them are so, in words."""
    count = sum(map(is_so, of))
    return f"{count} of {len(of)} ({100 * count / len(of):.0f} %)" if of else "-"


def _reached(seen: dict[str, list[Seen]]) -> Figures:
    rows: list[list[Cell]] = []
    for name, all_of_it in seen.items():
        faults = [one for one in all_of_it if one.case.solvable and one.case.kind != "no fault"]
        hopeless = [one for one in all_of_it if not one.case.solvable]
        simple = [one for one in all_of_it if one.case.kind == "no fault"]
        rows.append(
            [
                name,
                _share(faults, lambda one: one.is_recovered),
                _share(all_of_it, lambda one: one.is_recovered),
                _share(hopeless, lambda one: one.has_part and one.is_told),
                _share(all_of_it, lambda one: one.in_order),
                sum(one.is_claimed for one in all_of_it),
                mean(one.calls for one in simple),
                max(one.calls for one in all_of_it),
            ]
        )
    columns = [
        "temperament", "recovered", "all tasks done", "unsolvable with partial results", "ended in order",
        "said to be done and not done", "model calls of a simple task", "most model calls",
    ]  # fmt: skip
    notes = [
        "A task is done if its files hold what they are to hold and the run is done. All tasks are those with a fault, "
        "those that cannot be done, and those without a fault. A model that says it is done and is not is believed: "
        "Lockstep looks up places, not contents.",
    ]
    return Figures("Recovery from failures", columns, rows, notes)


def _kinds(seen: dict[str, list[Seen]]) -> Figures:
    kinds = list(dict.fromkeys(one.case.kind for one in seen["learns"] if one.case.solvable))
    rows: list[list[Cell]] = []
    for kind in kinds:
        of_it = {name: [one for one in runs if one.case.kind == kind] for name, runs in seen.items()}
        done = [f"{sum(one.is_made and one.status == 'done' for one in runs)}" for runs in of_it.values()]
        rows.append([kind, len(of_it["learns"]), *done])
    return Figures("Recovery by kind", ["kind", "tasks", *seen], rows, ["How many tasks were done."])


def _missed(seen: dict[str, list[Seen]]) -> Figures:
    lost = [one for one in seen["learns"] if one.case.solvable and not one.is_recovered]
    rows: list[list[Cell]] = [[one.case.kind, one.case.name, one.status, one.calls, one.failed] for one in lost]
    ends = Counter(one.status for runs in seen.values() for one in runs)
    notes = [f"Sessions ended: {', '.join(f'{count} {status}' for status, count in ends.items())}."]
    return Figures(
        "What the one that learns did not do", ["kind", "case", "ended", "model calls", "failed calls"], rows, notes
    )

"""The workflow that a skill without a graph is followed by: made as data when its run opens, and kept in the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skills.lib.agent.configuration.settings import SIMPLE
from skills.lib.agent.prose.skill import FORK
from skills.lib.guard.offering import Offer
from skills.lib.model.as_data import NAME
from skills.lib.model.requirements import Arg, Field
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import AgentRole, Dispatch, Outcome
from skills.lib.runtime.objectives import MOST, SHAPE, forked, judged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills.lib.model.run import Run

OBJECTIVES, WORK = "objectives", "work"
# What a sub-agent's run that follows a skill is started by, in place of a script.
SCRIPT = "SKILL.md"
# What each step shows of the run: what it is for, the text of SKILL.md, what lies beside it.
_NEEDS = ("task", "instructions", "files", "role")
_READING = ("read", "search")
# The parameters of a run, each a text but for these.
_TYPES = {"files": "list", "settings": "json"}
_PARAMETERS = ("task", "instructions", "files", "role", "skill_folder", "workspace", "settings")

_FIX = [
    "Read the task and the instructions in CONTEXT; the files that are listed there are read only if you need them.",
    "",
    "Say what this run is to reach: objectives, the things to deliver, each in one sentence that somebody could check.",
    f"Take them from the task and the instructions, in order, 1 to {MOST}. They are fixed from then on: the end of the "
    "run is judged by them, one by one.",
    "",
    "Good: 'summary.txt has the number of rows and the sum of each column of data.csv'.",
    "Too weak: 'process the file'. Do not begin the work in this step.",
]
_DO = [
    "Do the whole task as the instructions in CONTEXT say, with your tools. The files that are listed there are read "
    "when the instructions call for them; scripts are run, not read.",
    "",
    "If something fails, read the error and try another way: other arguments, another tool, a smaller part.",
    "",
    "Then report each objective by its number in their list, from 1: done, partial or not. Its place is the file of "
    "the project that shows it, or answer if the text of result does; it is looked up. Its note says what was done, or "
    "what is missing and why. Reporting part of the work honestly is right; reporting as done what is not is wrong.",
]
_DO_ONCE = [
    "Do the whole task as the instructions in CONTEXT say, in one pass: your next message may call several tools at "
    "once, and the one after it is the report. If no tool is needed, report now. The files that are listed there are "
    "read when the instructions call for them; scripts are run, not read.",
    "",
    "The task is the only objective, number 1. Report it: done, partial or not. Its place is the file of the project "
    "that shows it, or answer if the text of result does; it is looked up. Its note says what was done, or what is "
    "missing and why. Reporting part of the work honestly is right; reporting as done what is not is wrong.",
]
_AGAIN = [
    "Some objectives are not done: CONTEXT has the last report of each. Go on with those as the instructions say, and "
    "try another way than before. What is done stays done.",
    "",
    "Then report every objective again by its number, those that were done before too: done, partial or not, with its "
    "place (a file of the project, or answer) and a note.",
]
_FORKED = ["A sub-agent follows the skill in a conversation of its own. Its result is the result of this run."]
_RESULT = "the answer to the task, in words for the person who gave it: what was found or made, and where it is"
_REPORTED = f"a JSON array with one entry for each objective, as {SHAPE}"


def followed(name: str, settings: Mapping[str, Any]) -> Workflow:
    """The workflow of a skill: objectives and work; work alone in simple mode. ``settings`` are those of the run."""
    tools = tuple(settings.get("tools", ()))
    is_simple = settings.get("execution_mode") == SIMPLE
    again = "work.objectives"
    objectives = StepDef(
        OBJECTIVES,
        "Objectives",
        _FIX,
        {Outcome.OK: WORK},
        needs=_NEEDS,
        requires=[Field("objectives", "list", minimum=1, maximum=MOST, help="each one sentence that can be checked")],
        tools=tuple(tool for tool in _READING if Offer(tools).offers(tool)) or tools,
    )
    work = StepDef(
        WORK,
        "Work",
        _DO_ONCE if is_simple else _DO,
        {Outcome.OK: None, Outcome.ITERATE: WORK},
        judged,
        needs=(*_NEEDS, *(() if is_simple else ("objectives.objectives",)), again),
        requires=[Field("result", help=_RESULT), Field("objectives", "json", help=_REPORTED)],
        repeat=_AGAIN,
        when={Outcome.OK: "every objective is done", Outcome.ITERATE: "an objective is not done"},
    )
    return Workflow(name, *([work] if is_simple else [objectives, work]), title=name, params=_parameters(), tools=tools)


def forking(name: str, model: str) -> Workflow:
    """The workflow of a skill that a sub-agent does: one step, which starts it and takes its result.

    ``model`` is that of the sub-agent, "" if nothing names one.
    """
    dispatch = Dispatch(
        AgentRole.GENERAL_PURPOSE,
        SCRIPT,
        params={parameter: f"{{{parameter}}}" for parameter in _PARAMETERS},
        then=forked,
        model=model or None,
    )
    step = StepDef(
        FORK,
        "Sub-agent",
        _FORKED,
        {Outcome.OK: None, Outcome.FAIL: None},
        dispatch,
        when={Outcome.OK: "the sub-agent is done", Outcome.FAIL: "it was given up"},
    )
    return Workflow(name, step, title=name, params=_parameters())


def is_prose(workflow: Workflow) -> bool:
    """True for a workflow that was made here."""
    return (workflow.has(WORK) and _name(workflow.step(WORK).handler) == _name(judged)) or is_fork(workflow)


def is_fork(workflow: Workflow) -> bool:
    """True for a workflow whose skill a sub-agent does."""
    return workflow.has(FORK) and _name(workflow.step(FORK).function) == _name(forked)


def is_pending_child(run: Run) -> bool:
    """True for the run of a sub-agent that is to follow a skill and has not begun."""
    return run.status == "pending" and run.spec.get("script") == SCRIPT


def _parameters() -> tuple[Arg, ...]:
    return tuple(Arg(name, _TYPES.get(name, "text"), required=name in _REQUIRED) for name in _PARAMETERS)


_REQUIRED = ("instructions", "skill_folder", "workspace", "settings")


def _name(function: Any) -> str:
    own = f"{getattr(function, '__module__', '')}:{getattr(function, '__name__', '')}"
    return str(getattr(function, NAME, own))

"""The graph of task-spec-check: load a task, prove each of its criteria, publish the verdict."""

from __future__ import annotations

from skills.lib.prompts import read_prompts
from skills.lib.workflow.core import StepContext, StepDef, Workflow, register_workflow
from skills.lib.workflow.requirements import Arg, Command, Field
from skills.lib.workflow.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROMPTS = read_prompts(__file__)
CHECK = "check_task.py"
# A checker changes nothing, so it has neither edit nor write.
TOOLS = [
    *("read", "search", "shell", "mcp(pruner.grep)", "mcp(pruner.read)"),
    *("mcp(state.state_get_issue)", "mcp(state.state_get_tasks)", "mcp(state.state_set_task_status)"),
    *("mcp(state.state_update_issue_status)", "mcp(state.state_append_progress)"),
]


def loaded(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Keep of the task what is to be shown."""
    task = ctx.step_state["task"]
    criteria = [f"{one['id']} | {one['text']}" for one in task["criteria"]]
    given = [f"{one['id']} | {' '.join(argv)}" for one in task["criteria"] for argv in one["verify"]]
    return Outcome.OK, {"criteria": criteria, "given": given, "changed": task["changed"], "outside": task["outside"]}


def proved(ctx: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """Look again while only weak evidence keeps the task from passing."""
    judged = ctx.step_state["judged"]
    verdict = judged["verdict"]
    found = [" | ".join([f"{one['id']} {one['verdict']}", *one["findings"]]) for one in verdict["criteria"]]
    found.append(" | ".join([f"files {verdict['files']['verdict']}", *verdict["files"]["findings"]]))
    kept = {"outcome": verdict["outcome"], "found": found, "calls": judged["calls"]}
    if judged["again"]:
        return Outcome.ITERATE, kept
    return (Outcome.OK if verdict["outcome"] == "PASS" else Outcome.FAIL), kept


def publish(step: str, title: str, outcome: Outcome, when: str) -> StepDef:
    """The step that makes a verdict known: state tools are called by the agent, files are written by the engine."""
    return StepDef(
        step,
        title,
        [PROMPTS[step], "", PROMPTS["publish"]],
        {outcome: None},
        needs=["prove.outcome", "prove.found", "prove.calls"],
        requires=[
            Field("answers", "list", maximum=10, help='each "tool | what it answered"; [] without calls'),
            Command(
                [CHECK, "publish", "{profile}", "{load.task}", "{prove.judged}", "{answers}"],
                120,
                help="each tool was called; evidence, feedback and report are written",
                records="written",
            ),
        ],
        when={outcome: when},
    )


WORKFLOW = Workflow(
    "task-spec-check",
    StepDef(
        "load",
        "Load the task",
        PROMPTS["load"],
        {Outcome.OK: "prove"},
        loaded,
        needs=["task", "profile"],
        requires=[
            Field("issue", "json", required=False, help="what the tool for the issue answered; left out without one"),
            Field("tasks", "json", required=False, help="what the tool for the tasks answered; left out without one"),
            Command(
                [CHECK, "load", "{profile}", "{task}", "{base}", "{issue}", "{tasks}"],
                120,
                help="the task meets its schema, and its base is there",
                records="task",
            ),
        ],
        forbidden=PROMPTS["load (forbidden)"].splitlines(),
        when={Outcome.OK: "the task is loaded"},
    ),
    StepDef(
        "prove",
        "Prove each criterion",
        PROMPTS["prove"],
        {Outcome.OK: "passed", Outcome.ITERATE: "prove", Outcome.FAIL: "failed"},
        proved,
        needs=["load.criteria", "load.given", "load.changed", "load.outside", "prove.found"],
        requires=[
            Field("evidence", "json", help="one object for each criterion, as DO says"),
            Command(
                [CHECK, "judge", "{profile}", "{load.task}", "{evidence}", "{prove.judged}"],
                7200,
                help="places are looked up and commands run; what PASS rests on is there",
                records="judged",
            ),
        ],
        repeat=PROMPTS["prove (again)"],
        forbidden=PROMPTS["prove (forbidden)"].splitlines(),
        when={
            Outcome.OK: "each criterion and the files pass",
            Outcome.ITERATE: "a PASS rests on weak evidence: another pass",
            Outcome.FAIL: "a criterion or the files do not pass",
        },
        max_iterations=3,
        at_limit=Outcome.FAIL,
    ),
    publish("passed", "Publish that it passed", Outcome.OK, "it is made known"),
    publish("failed", "Publish that it failed", Outcome.FAIL, "it is made known; the feedback says what is missing"),
    title="Task spec check",
    description="Judges one task by its acceptance criteria and its allowed files.",
    params=[
        Arg("task", default="current", help="the task's id; current for the one that the issue names"),
        Arg("profile", default="default", help="where the state is: default, jeeves, jeeves-parallel, or a .json file"),
        Arg("base", default="", help="the commit before the task's first, unless the task names it"),
    ],
    tools=TOOLS,
    closing=PROMPTS["closing"],
    unchecked="whether lines that name the words of a criterion do what it says; what a state tool really did",
)

register_workflow(WORKFLOW)

"""Work for sub-agents: one, a template over many targets, distinct tasks; and work that is handed on."""

from __future__ import annotations

from skills.lib.blocks import parts
from skills.lib.blocks.formatters.arguments import (
    INTERPRETER,
    command_line,
    elements,
    exactly,
    script_command,
    texts,
    word,
)
from skills.lib.blocks.xml import render
from skills.lib.errors import UsageError
from skills.lib.model.types import AgentRole, Dispatch, Element, Rendered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SCRIPT = (
    "Start one sub-agent. Give it {what}, word for word, and nothing of your own: it runs the command and follows what"
    " is printed."
)
_FREE_FORM = "Start one sub-agent. Give it the task and the context, word for word; it chooses how to work."
_TEMPLATE = "Start one sub-agent for each child, all at once. Give each what stands under its name, word for word."
_PARALLEL = "Start one sub-agent for each task, all at once. Give each the context and its own task, word for word."


def format_subagent_dispatch(
    agent: AgentRole | str,
    script_path: str | None = None,
    step: int | str = 1,
    total_steps: int | None = None,
    context_vars: Mapping[str, str] | None = None,
    free_form: bool = False,
    task: str = "",
    model: str | None = None,
    interpreter: str = INTERPRETER,
) -> Rendered:
    """Dispatch one sub-agent: in script mode it follows a script, in free-form mode it is given a task.

    In script mode ``context_vars`` become options of the command, ``a_name`` as ``--a-name``; in free-form mode they
    are shown by name. Raises UsageError for script mode without a script, and free-form mode without a task.
    """
    if free_form and not task and script_path is None:
        raise UsageError("a free-form dispatch has no task", remedy="give task, the text that the sub-agent receives")
    if not free_form and script_path is None:
        raise UsageError("script mode without a script", remedy="give script_path, or a task and free_form=True")
    how = _FREE_FORM if free_form else _SCRIPT.replace("{what}", "the task and the command" if task else "the command")
    context: list[Element] = []
    options: dict[str, object] = dict(context_vars or {})
    if context_vars and free_form:
        context = [
            Element("CONTEXT", None, *[parts.value("", name, exactly(text)) for name, text in context_vars.items()])
        ]
        options = {}
    command = script_command(script_path, step, total_steps, options, interpreter)
    return _dispatched(agent, model, how, [_child(None, exactly(task), command)], *context)


def format_template_dispatch(
    agent: AgentRole | str,
    targets: Sequence[str],
    template: str = "",
    script_path: str | None = None,
    step: int | str = 1,
    total_steps: int | None = None,
    context_vars: Mapping[str, str] | None = None,
    model: str | None = None,
    interpreter: str = INTERPRETER,
) -> Rendered:
    """Dispatch one sub-agent per target; ``{target}`` in the template and in the variables stands for the target.

    Raises UsageError without a target, and with neither a template nor a script.
    """
    if not template and script_path is None:
        raise UsageError("a template dispatch has nothing to hand out", remedy="give template, script_path or both")
    children = []
    for target in texts(targets, "targets"):
        options = {name: exactly(value).replace("{target}", target) for name, value in (context_vars or {}).items()}
        command = script_command(script_path, step, total_steps, options, interpreter)
        children.append(_child({"target": target}, exactly(template).replace("{target}", target), command))
    return _dispatched(agent, model, _TEMPLATE, children)


def format_parallel_dispatch(
    agent: AgentRole | str, tasks: Sequence[str], context: str = "", model: str | None = None
) -> Rendered:
    """Dispatch one sub-agent per distinct task, with a context that all of them share."""
    children = [_child({"number": at}, exactly(task)) for at, task in enumerate(texts(tasks, "tasks"), 1)]
    shared = [Element("context", None, exactly(context))] if context else []
    return _dispatched(agent, model, _PARALLEL, children, *shared)


def format_handover(
    summary: str,
    done: Sequence[str] | str = (),
    remaining: Sequence[str] | str = (),
    command: Sequence[str] | None = None,
) -> Rendered:
    """Hand work to an agent that knows nothing of it: what it is, what is done and what remains, how to go on."""
    found = [Element("summary", None, exactly(summary))]
    found += elements("done", done, "done") if done else []
    found += elements("remaining", remaining, "remaining") if remaining else []
    if command is not None:
        found.append(Element("command", None, command_line(command)))
    return render(Element("handover", None, *found))


def dispatch_block(dispatch: Dispatch, interpreter: str = INTERPRETER) -> Rendered:
    """Print the Dispatch of an author's Step by the formatter that fits it.

    Raises UsageError if the targets are the name of a recorded list or a function: a bare step has no record.
    """
    if isinstance(dispatch.targets, str) or callable(dispatch.targets):
        raise UsageError(
            f"dispatch targets: {dispatch.targets!r} reads what a run recorded, which a bare step does not have",
            remedy="give the targets as a list, or make the step part of a Workflow",
        )
    if dispatch.tasks:
        return format_parallel_dispatch(dispatch.agent, dispatch.tasks, dispatch.context, dispatch.model)
    task = "\n\n".join(text for text in (dispatch.context, dispatch.task) if text)
    if dispatch.targets:
        return format_template_dispatch(
            dispatch.agent,
            dispatch.targets,
            task,
            dispatch.script,
            context_vars=dispatch.params,
            model=dispatch.model,
            interpreter=interpreter,
        )
    return format_subagent_dispatch(
        dispatch.agent,
        dispatch.script,
        context_vars=dispatch.params,
        free_form=dispatch.script is None,
        task=task,
        model=dispatch.model,
        interpreter=interpreter,
    )


def _child(about: Mapping[str, object] | None, task: str, command: str = "") -> Element:
    inside = [Element("task", None, task)] if task else []
    return Element("child", about, *inside, *([Element("command", None, command)] if command else []))


def _dispatched(
    agent: AgentRole | str, model: str | None, how: str, children: Sequence[Element], *context: Element
) -> Rendered:
    role = word(AgentRole, agent, "agent")
    return render(parts.dispatch(role, model, len(children), None, how, *context, *children))

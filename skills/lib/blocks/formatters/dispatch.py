"""Work for sub-agents: one, a template over many targets, distinct tasks; and work handed on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skills.lib.blocks.formatters.commands import INTERPRETER, command_line, script_arguments
from skills.lib.blocks.formatters.fragments import block, elements, exactly, texts
from skills.lib.errors import UsageError
from skills.lib.field_checks import coerce
from skills.lib.model.types import AgentRole, Dispatch, Element, Rendered

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
    known = dict(context_vars or {})
    script_mode = _SCRIPT.replace("{what}", "the task and the command" if task else "the command")
    parts = [Element("instruction", None, _FREE_FORM if free_form else script_mode)]
    if known and free_form:
        shown = [Element("var", {"name": name}, exactly(value)) for name, value in known.items()]
        parts.append(Element("context", None, *shown))
    if task:
        parts.append(Element("task", None, exactly(task)))
    if script_path is not None:
        options: dict[str, object] = {} if free_form else dict(known)
        arguments = script_arguments(script_path, step, total_steps, options, interpreter)
        parts.append(Element("command", None, command_line(arguments)))
    if free_form and not task and script_path is None:
        raise UsageError("a free-form dispatch has no task", remedy="give task, the text that the sub-agent receives")
    if not free_form and script_path is None:
        raise UsageError("script mode without a script", remedy="give script_path, or a task and free_form=True")
    mode = "free-form" if free_form else "script"
    return block("subagent_dispatch", {"agent": _role(agent), "mode": mode, "model": model}, *parts)


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
        parts = [Element("task", None, exactly(template).replace("{target}", target))] if template else []
        if script_path is not None:
            options: dict[str, object] = {
                name: exactly(value).replace("{target}", target) for name, value in (context_vars or {}).items()
            }
            arguments = script_arguments(script_path, step, total_steps, options, interpreter)
            parts.append(Element("command", None, command_line(arguments)))
        children.append(Element("child", {"target": target}, *parts))
    attributes = {"agent": _role(agent), "model": model, "children": len(children)}
    return block("template_dispatch", attributes, Element("instruction", None, _TEMPLATE), *children)


def format_parallel_dispatch(
    agent: AgentRole | str, tasks: Sequence[str], context: str = "", model: str | None = None
) -> Rendered:
    """Dispatch one sub-agent per distinct task, with a context that all of them share."""
    numbered = enumerate(texts(tasks, "tasks"), 1)
    children = [Element("child", {"number": number}, Element("task", None, exactly(task))) for number, task in numbered]
    parts = [Element("instruction", None, _PARALLEL)]
    if context:
        parts.append(Element("context", None, exactly(context)))
    attributes = {"agent": _role(agent), "model": model, "children": len(children)}
    return block("parallel_dispatch", attributes, *parts, *children)


def format_handover(
    summary: str,
    done: Sequence[str] | str = (),
    remaining: Sequence[str] | str = (),
    command: Sequence[str] | None = None,
) -> Rendered:
    """Hand work to an agent that knows nothing of it: what it is, what is done and what remains, how to go on."""
    parts = [Element("summary", None, exactly(summary))]
    parts += elements("done", done, "done") if done else []
    parts += elements("remaining", remaining, "remaining") if remaining else []
    if command is not None:
        parts.append(Element("command", None, command_line(command)))
    return block("handover", None, *parts)


def dispatch_block(dispatch: Dispatch, interpreter: str = INTERPRETER) -> Rendered:
    """Print the Dispatch of an author's Step by the formatter that fits it.

    Raises UsageError where the targets are the name of a recorded list or a function: a bare step has no record.
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


def _role(agent: AgentRole | str) -> AgentRole:
    try:
        role: AgentRole = coerce(AgentRole, agent, "agent")
    except ValueError as error:
        raise UsageError(str(error)) from None
    return role

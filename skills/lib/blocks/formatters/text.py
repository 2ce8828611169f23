"""Plain text for simple skills: a step, and the parts of one."""

from __future__ import annotations

from skills.lib.blocks.formatters.arguments import check_filled, command_line, position, texts, whole
from skills.lib.blocks.text import INDENT, command_lines, indented, item_lines, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def format_text_output(
    step: int,
    total: int,
    title: str,
    actions: Sequence[str] | str,
    brief: str = "",
    next_title: str | None = None,
) -> str:
    """Print a step of a simple skill: what it is about, what to do, and the title of the step that follows.

    Without ``next_title`` the step is the last. Raises UsageError for a step that the total does not have.
    """
    whole(step, "step")
    position(step, total)
    lines = [f"STEP {step} of {total}: {one_line(title)}"]
    if brief:
        lines += ["", "BRIEF:", *indented(brief)]
    lines += ["", "DO:"]
    for action in (actions,) if isinstance(actions, str) else actions:
        lines += indented(action)
    onward = "Nothing: this is the last step." if next_title is None else f"Step {step + 1}: {one_line(next_title)}"
    return "\n".join([*lines, "", "NEXT:", INDENT + onward])


def format_text_list(heading: str, items: Sequence[str] | str) -> str:
    """Print a list under a heading, one item to a dash: rules, things to check, what is expected."""
    lines = [f"{one_line(heading)}:"]
    for item in texts(items, "items"):
        lines += item_lines(item)
    return "\n".join(lines)


def format_text_resource(name: str, content: str) -> str:
    """Embed a reference text in place, every line of it behind a bar.

    Source of the second reading: Xu et al. 2023, "Re-Reading Improves Reasoning in Large Language Models" (RE2),
    arXiv 2309.06275.
    """
    heading = f"RESOURCE {one_line(name)} (read it, then the task, then it again):"
    return "\n".join([heading, *indented(content, INDENT + "| ")])


def format_text_next(command: Sequence[str]) -> str:
    """Print the one command that goes on, every argument quoted for the shell."""
    return "\n".join(["NEXT (required):", *command_lines(command_line(command))])


def format_text_gate(question: str, choices: Mapping[str, Sequence[str]]) -> str:
    """Print a question whose answer decides how to go on, with the command of each choice."""
    check_filled(choices, "choices", "choice and its command")
    lines = ["GATE:", *indented(question)]
    for choice, command in choices.items():
        lines += ["", f"ON {one_line(choice)}:", *command_lines(command_line(command))]
    return "\n".join(lines)

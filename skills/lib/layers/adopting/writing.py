"""The files of a draft: workflow.yaml with its marks, the texts beside it, the entry script, resources."""

from __future__ import annotations

import json
import os
import re
import textwrap
from typing import TYPE_CHECKING

from skills.lib import paths, prompts
from skills.lib.layers.adopting import markdown
from skills.lib.layers.adopting.drafting import WHOLE
from skills.lib.skillfile.source import FILE_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from skills.lib.layers.adopting.drafting import Draft
    from skills.lib.layers.adopting.outline import Step

WORKFLOW, TEXTS = "workflow.yaml", "workflow.md"
REQUEST = "request"
# A text that needs no quotes in YAML.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.,'()/ -]*[A-Za-z0-9_.)]|[A-Za-z]")
_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
_WIDTH = 116
_DESCRIPTION = 300


def entry_of(folder: str | Path) -> str:
    """The path of the entry script of a skill, below its folder."""
    compiled = os.path.basename(paths.compiled_of(os.path.join(folder, WORKFLOW)))
    return f"scripts/{compiled.removesuffix(paths.COMPILED)}.py"


def files(draft: Draft, entry: str) -> dict[str, str]:
    """Every file of a draft, by its path below the skill's folder; ``entry`` is the text of the entry script."""
    resources = {step.id: step for step in draft.steps if step.resource or not _is_section(step.text)}
    for name, step in resources.items():
        step.resource = step.resource or f"{name}.md"
    found = {
        WORKFLOW: _workflow(draft),
        TEXTS: _texts(draft),
        entry_of(draft.skill.folder): entry,
    }
    for step in resources.values():
        found[f"resources/{step.resource}"] = step.text.rstrip("\n") + "\n"
    return found


def _workflow(draft: Draft) -> str:
    lines = [*_head(draft), "draft: true", f"name: {draft.name}", f"title: {_scalar(_one_line(draft.title))}"]
    lines.append(f"description: {_scalar(_shortened(draft.skill.description, _DESCRIPTION))}")
    lines += ["# Added: each block shows the request, so that no step depends on what the agent remembers.", "params:"]
    lines.append(f'  {REQUEST}: {{help: "what the user asked for, in their own words"}}')
    if draft.tools:
        lines += ["# From allowed-tools: every step has these tools and no other.", "tools:"]
        lines += [f"  - {_scalar(tool)}" for tool in draft.tools]
    if draft.forbidden:
        lines.append("# From lines of SKILL.md outside of the steps: what no step may do.")
        lines += ["forbidden:", *(f"  - {_scalar(rule)}" for rule in draft.forbidden)]
    lines += ["", "steps:"]
    for step, following in zip(draft.steps, [*draft.steps[1:], None], strict=True):
        lines += _step(step, following.id if following else None)
    return "\n".join(lines).rstrip("\n") + "\n"


# How the comment begins and ends that says that a file is a draft.
HEAD, HEAD_ENDS = "# DRAFT of a workflow", "# A person makes it the skill's workflow by: lockstep adopt PATH --accept"


def _head(draft: Draft) -> Iterator[str]:
    """The comment that says what the file is and what is to be looked at."""
    outline = draft.outline
    source = f"line {outline.line}" + (f", under {_one_line(outline.heading)!r}" if outline.heading else "")
    by = "with everything in one step" if outline.rule == WHOLE else f"from its {outline.rule} ({source})"
    yield from _comment(
        f"{HEAD[2:]}, made by lockstep adopt from {FILE_NAME}, {by}. It is a graph to correct and no promise: "
        'each line with "guess" was concluded and not read. Until a person accepts it, it is no workflow.'
    )
    yield HEAD_ENDS
    for guess in outline.guesses:
        yield from _comment(f"guess: {guess}")
    for note in draft.notes:
        yield from _comment(f"note: {note}")
    yield f"# In no step (line of {FILE_NAME}, what stands there):"
    for left in draft.left_out:
        span = f"{left.first}-{left.last}" if left.last > left.first else f"{left.first}"
        yield _cut(f"#   {span:9} {_one_line(left.what)}")


def _step(step: Step, following: str | None) -> Iterator[str]:
    yield f"  {step.id}:  # {FILE_NAME} {spans(step.lines) or 'has no line for it'}"
    for guess in step.guesses:
        yield from _comment(f"guess: {guess}", "    ")
    yield f"    title: {_scalar(_one_line(step.title))}"
    yield f"    needs: [{REQUEST}]"
    yield from _requires(step)
    yield from _ways(step, following)
    if step.bound:
        yield f"    max_iterations: {step.bound}"
    if step.asks:
        yield "    person:"
        yield f"      question: {_scalar(_asked(step.asks))}"
        if step.answers:
            choices = ", ".join(f"{_scalar(answer)}: {_key(word)}" for answer, word in step.answers.items())
            yield f"      choices: {{{choices}}}"
        yield "      at_terminal: true  # only the person's own word counts, not the agent's account of it"
    yield ""


def _requires(step: Step) -> Iterator[str]:
    if step.fields or step.checklist:
        yield "    requires:"
    for name, text in step.fields.items():
        choices = "" if name == "prepared" else 'choices: ["yes", not-applicable], '
        yield f"      - {name}: {{{choices}help: {_quoted(_one_line(text))}}}"
    if step.checklist:
        count = len(step.checklist)
        about = "each entry of the checklist below, and how it is met"
        yield f"      - checklist: {{type: list, minimum: {count}, maximum: {count}, help: {_quoted(about)}}}"


def _ways(step: Step, following: str | None) -> Iterator[str]:
    if len(step.ways) == 1 and step.ways[0].outcome == "ok":
        way = step.ways[0]
        if way.target != following:
            yield f"    next: {way.target or 'null'}"
        if way.when:
            yield f"    when: {_quoted(_one_line(way.when))}"
        return
    if step.ways:
        yield "    next:"
        yield from (f"      {_key(way.outcome)}: {way.target or 'null'}" for way in step.ways)
        yield "    when:"
        yield from (f"      {_key(way.outcome)}: {_quoted(_one_line(way.when))}" for way in step.ways)


def _texts(draft: Draft) -> str:
    parts = [
        f"# The texts of {draft.name}\n\nMade from {FILE_NAME} by lockstep adopt. Each section is the text of a step."
    ]
    for step in draft.steps:
        parts.append(f"## {step.id}\n\n{_said(step)}")
        if step.forbidden:
            parts.append(f"## {step.id} (forbidden)\n\n" + "\n".join(map(_one_line, step.forbidden)))
    return "\n\n".join(parts) + "\n"


def _said(step: Step) -> str:
    """The text of a step as its section has it."""
    if step.resource:
        where = "It is in the folder of the skill: the one above that of the script in NEXT."
        return f"Read `resources/{step.resource}`, whole, and do what it says. {where}"
    text = demoted(step.text) or step.title
    if step.checklist:
        text += "\n\nThe checklist:\n\n" + "\n".join(f"- {_one_line(entry)}" for entry in step.checklist)
    return text


def _is_section(text: str) -> bool:
    """True if a text is read back as it is from its section, and the section after it too."""
    text = demoted(text) or "-"
    return prompts.sections(f"# a\n\n## b\n\n{text}\n\n## c\n\nd\n") == [("b", f"\n{text}\n"), ("c", "\nd\n")]


def demoted(text: str) -> str:
    """The text with headings below the second level only: one of the second begins a section."""
    lines = text.split("\n")
    for block in markdown.read_blocks(text):
        if block.kind == markdown.HEADING and block.level < 3:
            if lines[block.first - 1].lstrip().startswith("#"):
                lines[block.first - 1] = "#" * (3 - block.level) + lines[block.first - 1].lstrip()
            else:
                lines[block.first - 1 : block.last] = [f"### {block.text}", *[""] * (block.last - block.first)]
    return "\n".join(lines).strip()


def begin(folder: str | Path) -> str:
    """The command by which an agent begins, as SKILL.md should have it."""
    return f"python3 \"SKILL_DIR/{entry_of(folder)}\" --step 1 --{REQUEST} 'what the user asked for'"


def ranges(lines: Iterable[int]) -> list[list[int]]:
    """Line numbers as ranges, each with its first and last."""
    found: list[list[int]] = []
    for line in sorted(lines):
        if found and line == found[-1][1] + 1:
            found[-1][1] = line
        else:
            found.append([line, line])
    return found


def spans(lines: Iterable[int]) -> str:
    """Line numbers as a reader has them: ``3-7, 9``."""
    return ", ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in ranges(lines))


def _asked(text: str) -> str:
    """A question without braces, which would name a value."""
    return _one_line(text).replace("{", "(").replace("}", ")")


def _comment(text: str, indent: str = "") -> list[str]:
    prefix = f"{indent}# "
    return textwrap.wrap(
        _one_line(text), _WIDTH, initial_indent=prefix, subsequent_indent=prefix, break_long_words=False
    )


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"


def _shortened(text: str, limit: int) -> str:
    text = _one_line(text)
    return text if len(text) <= limit else text[: text.rfind(" ", 0, limit - 1)] + " …"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _key(word: str) -> str:
    return _quoted(word) if word in _WORDS else word


def _scalar(text: str) -> str:
    """A text as a YAML scalar that every reader takes for a text."""
    return text if _PLAIN.fullmatch(text) and text.lower() not in _WORDS and len(text) < 100 else _quoted(text)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)

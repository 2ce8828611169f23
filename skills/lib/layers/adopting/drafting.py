"""Makes the draft of a workflow from a SKILL.md without one: which structure, which steps, and what is left out."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skills.lib.blocks.command_line import join
from skills.lib.errors import LockstepError, RefusedError, UsageError, did_you_mean, nearest
from skills.lib.layers.adopting import details, names, structures
from skills.lib.layers.adopting.markdown import read_blocks, sections
from skills.lib.layers.adopting.outline import Outline, Step
from skills.lib.model.texts import counted
from skills.lib.skillfile import load_skill, tool_names
from skills.lib.skillfile.specification import NAME, NAME_LIMIT
from skills.lib.validation.rules.texts import LIMIT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skills.lib.layers.adopting.markdown import Section
    from skills.lib.layers.adopting.structures import Candidate
    from skills.lib.skillfile import SkillFile

WHOLE = "no structure"
# What of a block is not its text, its rules and its fields: the frame, the request, the routes.
_AROUND, _PER_RULE, _PER_FIELD = 2_500, 20, 150
_RULES_OF_ALL = 2_000
_KINDS = {structures.GRAPH: details.LABEL, structures.LIST: details.ENTRY, WHOLE: details.WHOLE}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Lines of SKILL.md that are in no step: their heading or first words, and why if that is not plain."""

    first: int
    last: int
    what: str


@dataclass(slots=True)
class Draft:
    """The draft of a workflow.

    ``forbidden`` are rules of every step, which stand in ``forbidden_lines``. ``notes`` are what its reader should know
    beside the guesses.
    """

    skill: SkillFile
    name: str
    title: str
    outline: Outline
    tools: tuple[str, ...] = ()
    forbidden: list[str] = field(default_factory=list)
    forbidden_lines: set[int] = field(default_factory=set)
    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def steps(self) -> list[Step]:
        """The steps, in their order."""
        return self.outline.steps

    @property
    def guesses(self) -> int:
        """How many guesses are marked."""
        return len(self.outline.guesses) + sum(len(step.guesses) for step in self.steps)


def draft(folder: str | Path, heading: str = "") -> Draft:
    """The draft for the skill of a folder, by its one structure or the one under ``heading``, its text or its line.

    Raises SkillFileError for a SKILL.md that cannot be read, RefusedError where two structures rival, and UsageError
    for a heading that has no structure.
    """
    skill = load_skill(folder)
    last_line = skill.body_line + skill.body.count("\n")
    blocks = read_blocks(skill.body, skill.body_line)
    root = sections(blocks, last_line)
    outline, notes = _outline(skill, root, heading)
    made = Draft(skill, _name(skill), _title(skill, root), outline, notes=notes)
    made.tools = _tools(skill, made.notes)
    source = dict(enumerate(skill.body.split("\n"), skill.body_line))
    _name_steps(outline.steps)
    for step in outline.steps:
        step.lines = _trimmed(step.lines, source)
        details.fill_in(step, source, _KINDS.get(outline.rule, details.HEADING))
    details.lead_on(outline.steps)
    _take_rules_of_all(made, source)
    for step in outline.steps:
        if _is_too_long(step, made.forbidden):
            step.resource = f"{step.id}.md"
    made.left_out = _left_out(made, root, source)
    return made


def _outline(skill: SkillFile, root: Section, heading: str) -> tuple[Outline, list[str]]:
    named = _section_of(skill, root, heading) if heading else None
    found, notes = structures.find(root, named)
    if named is not None:
        found = [one for one in found if named in (one.section, *one.section.above())]
        if not found:
            everything, _ = structures.find(root, None)
            valid = ", ".join(_shown(one) for one in everything) or "none: leave --from out"
            raise UsageError(f"under {heading!r:.80} stands nothing that can be steps", valid=valid)
    chosen = structures.best(found, heading != "")
    if len(chosen) > 1:
        remedy = join(["lockstep", "adopt", str(skill.folder), "--from", _choice(chosen[0], chosen)])
        what = f"{skill.path} has {len(chosen)} structures that may be its procedure ({chosen[0].rule})"
        raise RefusedError(what, valid="; ".join(_shown(one) for one in chosen), remedy=remedy)
    if chosen:
        return chosen[0].build(), notes
    return _whole(skill, root), notes


def _section_of(skill: SkillFile, root: Section, heading: str) -> Section:
    """The section of a heading, by its text or its line."""
    wanted = " ".join(heading.lstrip("# ").split()).lower()
    known = [section for section in root.every() if section.heading]
    for section in known:
        if section.title.lower() == wanted or str(section.first) == wanted:
            return section
    near = nearest(wanted, [section.title for section in known])
    what = f"{skill.path} has no heading {heading!r:.80}{did_you_mean(repr(near) if near else '')}"
    raise UsageError(what, valid=", ".join(section.title for section in known)[:1_000])


def _shown(candidate: Candidate) -> str:
    line = candidate.section.first if candidate.section.heading else candidate.line
    return f"{candidate.heading!r} in line {line} ({counted(len(candidate.build().steps), 'step')})"


def _choice(candidate: Candidate, among: Sequence[Candidate]) -> str:
    """How a candidate is chosen: by its heading, or by the line of that if others have the same."""
    if sum(one.heading == candidate.heading for one in among) == 1 and candidate.heading:
        return candidate.heading
    return str(candidate.section.first)


def _whole(skill: SkillFile, root: Section) -> Outline:
    """One step with everything that SKILL.md says."""
    title = _title(skill, root)
    step = Step("", f"Follow {title}")
    lines = range(skill.body_line, skill.body_line + skill.body.count("\n") + 1)
    first = root.below[0].heading if root.below and not root.blocks else None
    named = range(first.first, first.last + 1) if first and first.text == title else range(0)
    step.lines = set(lines)
    step.body = {line for line in lines if line not in named}
    guess = "no procedure was found: SKILL.md is one step, whose tools are held"
    return Outline(WHOLE, "", skill.body_line, [step], guesses=[guess])


def _name(skill: SkillFile) -> str:
    if NAME.fullmatch(skill.name) and len(skill.name) <= NAME_LIMIT:
        return skill.name
    return names.step_id(os.path.basename(os.path.abspath(skill.folder)), (), 1)


def _title(skill: SkillFile, root: Section) -> str:
    first = next((section.title for section in root.every() if section.level == 1 and section.title), "")
    return first or skill.name.replace("-", " ").capitalize()


def _tools(skill: SkillFile, notes: list[str]) -> tuple[str, ...]:
    """What steps may use, as allowed-tools says; none named is all."""
    given = skill.metadata.get("allowed-tools") or skill.metadata.get("allowed_tools") or ""
    if isinstance(given, dict):
        notes.append("allowed-tools is neither one text nor a list: no tools are held")
        return ()
    try:
        found, said = tool_names.read(given if isinstance(given, str) else [str(one) for one in given])
    except LockstepError as error:
        notes.append(f"{error.what}: no tools are held")
        return ()
    notes += said
    return found


def _name_steps(steps: Sequence[Step]) -> None:
    """Give those steps an id that have none."""
    taken = [step.id for step in steps if step.id]
    for number, step in enumerate(steps, 1):
        if not step.id:
            step.id = names.step_id(step.title, taken, number)
            taken.append(step.id)


def _trimmed(lines: set[int], source: dict[int, str]) -> set[int]:
    """The lines without blank ones at their beginning and end, and at that of each gap between them."""
    said = {line for line in lines if source.get(line, "").strip()}
    found, blank = set(said), list[int]()
    for line in sorted(lines):
        if line in said:
            found.update(blank if blank and blank[0] - 1 in said and blank[-1] + 1 == line else ())
            blank = []
        else:
            blank = [*blank, line] if not blank or blank[-1] + 1 == line else [line]
    return found


def _take_rules_of_all(made: Draft, source: dict[int, str]) -> None:
    """Take what stands outside of the steps and must not be done for rules of every step."""
    within = set().union(*(step.lines for step in made.steps)) | {*made.outline.drawn}
    found = details.search([(at, "" if at in within else line) for at, line in source.items()], with_ticks=False)
    if sum(map(len, found.rules)) <= _RULES_OF_ALL:
        made.forbidden, made.forbidden_lines = found.rules, found.lines - within


def _is_too_long(step: Step, forbidden: Sequence[str]) -> bool:
    """True if the block of a step would be too long, or its text would close or open a section of its file."""
    around = _AROUND + sum(len(rule) + _PER_RULE for rule in (*forbidden, *step.forbidden))
    around += sum(len(text) + _PER_FIELD for text in step.fields.values()) + sum(map(len, step.checklist))
    around += sum(len(way.when) + _PER_FIELD for way in step.ways)
    return len(step.text) + around > LIMIT


def _left_out(made: Draft, root: Section, source: dict[int, str]) -> list[LeftOut]:
    """The lines that are in no step and are no rule of every step, by sections."""
    used = set().union(*(step.lines for step in made.steps), made.forbidden_lines)
    drawn = made.outline.drawn
    headings = {section.first: section for section in root.every() if section.heading}
    found = [LeftOut(1, made.skill.body_line - 1, "the frontmatter: name, description and tools are read from it")]
    what, first, last = "", 0, 0
    under = ""
    for at, line in source.items():
        under = headings[at].title if at in headings else under
        if not line.strip():
            continue
        is_out = at not in used
        said = "the graph, which is drawn by the steps" if at in drawn else under or "before the first heading"
        if first and (not is_out or said != what):
            found.append(LeftOut(first, last, what))
            first = 0
        if is_out:
            what, first, last = said, first or at, at
    if first:
        found.append(LeftOut(first, last, what))
    return found

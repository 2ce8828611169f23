"""What holds in a session that follows a skill without a graph, beside what holds in every session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills.lib.agent.configuration.settings import SIMPLE, Settings
from skills.lib.agent.prose import substitution
from skills.lib.agent.prose import workflow as workflows
from skills.lib.agent.prose.settable import FIELDS
from skills.lib.agent.prose.skill import FORK
from skills.lib.agent.prose.workflow import OBJECTIVES, WORK
from skills.lib.model.texts import counted
from skills.lib.model.types import Element
from skills.lib.runtime import objectives

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from skills.lib.model.run import Run
    from skills.lib.model.steps import Workflow

# A simple run has one round of tools, its report, and one more call if that was refused.
_SIMPLE_CALLS = 3
LAST = (
    "This is the last model call of this session. Report now what was reached: done, partial or not for each "
    "objective. No other tool is offered."
)


def of(run: Run, workflow: Workflow) -> Rules | None:
    """The rules of a run; None if its skill has a graph of its own."""
    return Rules(run.params, workflows.is_fork(workflow)) if workflows.is_prose(workflow) else None


class Rules:
    """The rules of one run, by the parameters with which it was opened."""

    def __init__(self, params: Mapping[str, Any], is_fork: bool = False) -> None:
        self.params, self.is_fork = params, is_fork
        self.skill_folder = str(params.get("skill_folder", ""))

    @property
    def model(self) -> str:
        """The model that the skill names; "" if it names none."""
        return str(self._own().get("model", ""))

    def settings(self, base: Settings, overrides: Mapping[str, Any], most: int | None) -> Settings:
        """The settings of the run: those of the skill over ``base``, and those of the command over both.

        The skill sets at most ``most`` model calls.
        """
        own = {name: value for name, value in self._own().items() if name in FIELDS}
        if most and own.get("max_iterations", 0) > most:
            own["max_iterations"] = most
        made = base.changed(**{**own, **overrides})
        if made.execution_mode == SIMPLE:
            return made.changed(max_iterations=min(made.max_iterations, _SIMPLE_CALLS))
        return made

    def text_of(self, run: str) -> Callable[[str, str], str]:
        """A function of a path and the text there: the text as it is read in a run, its variables replaced."""
        own, _, _ = run.partition(".")
        workspace, task = str(self.params.get("workspace", "")), str(self.params.get("task", ""))
        return substitution.in_files(self.skill_folder, substitution.values(self.skill_folder, workspace, own, task))

    def reports_now(self, step: str, made: int, settings: Settings) -> bool:
        """True if a model call after ``made`` others may only report ``step``: it is the last, or the pass is over."""
        if step != WORK or made < 1:
            return False
        return settings.execution_mode == SIMPLE or made >= settings.max_iterations - 1

    def report_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The schema of a report with the form of the objectives' entries in it, if it takes any."""
        fields = schema["properties"].get("record", {}).get("properties", {})
        if "result" in fields and "objectives" in fields:
            fields["objectives"] |= objectives.SCHEMA
        return schema

    def shown(self, element: Element, state: Mapping[str, Mapping[str, Any]]) -> Element:
        """The block of a step with the objectives by their numbers, each with how it was last reported, if it was."""
        lines = "\n".join(_line(one, WORK in state) for one in self.entries(state))

        def numbered(context: Element) -> Element:
            first = next((one for one in context.children if _lists_objectives(one)), None)
            inside = [one for one in context.children if one is first or not _lists_objectives(one)]
            named = {"step": OBJECTIVES, "name": OBJECTIVES}
            inside = [Element("value", named, lines) if one is first else one for one in inside]
            return Element(context.tag, context.attributes, *inside, prose=context.prose)

        def shown(one: Element | str) -> Element | str:
            return numbered(one) if isinstance(one, Element) and one.tag == "CONTEXT" else one

        return Element(element.tag, element.attributes, *map(shown, element.children), prose=element.prose)

    def partial(self, run: Run) -> str:
        """What of the run is done, as "3 of 5 objectives are done", with the others."""
        done, count = objectives.counted(run.state, run.params)
        return f"{done} of {counted(count, 'objective')} {'is' if done == 1 or count == 1 else 'are'} done"

    def entries(self, state: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The objectives of a run as they were last reported; those that never were are ``not`` done."""
        own = state.get(WORK) or state.get(FORK) or {}
        if own.get("objectives"):
            return [dict(one) for one in own["objectives"]]
        texts: Sequence[str] = state.get(OBJECTIVES, {}).get("objectives") or ()
        return [
            {"number": number, "objective": text, "status": "not", "place": "", "note": ""}
            for number, text in enumerate(texts, 1)
        ]

    def result(self, state: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """What the last report says in words, and where the record of a sub-agent is."""
        own = state.get(WORK) or state.get(FORK) or {}
        return {name: own[name] for name in ("result", "record") if name in own}

    def _own(self) -> Mapping[str, Any]:
        given = self.params.get("settings")
        return given if isinstance(given, dict) else {}


def _lists_objectives(one: Element | str) -> bool:
    """True for a value of a block that has the objectives: as they were fixed, or as they were last reported."""
    return isinstance(one, Element) and one.attributes.get("name") == "objectives" and "step" in one.attributes


def _line(entry: Mapping[str, Any], is_reported: bool) -> str:
    """An objective on a line, with its status, place and note once it was reported."""
    about = "; ".join(text for text in (entry["place"], entry["note"]) if text)
    return f"{entry['number']}. {entry['objective']}" + (f": {entry['status']} ({about})" if is_reported else "")

"""The steps of a ``workflow.yaml`` as the model has them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from skills.lib.errors import did_you_mean, nearest
from skills.lib.graphfile import keys, proving, requirements, rules
from skills.lib.graphfile.names import Names, Records, records
from skills.lib.graphfile.reader import At, Missing, Reader
from skills.lib.graphfile.texts import FORBIDDEN, REPEAT, Texts
from skills.lib.model.requirements import Arg, Requirement
from skills.lib.model.rules import Rules
from skills.lib.model.steps import StepDef
from skills.lib.model.types import Check, Dispatch, Gate, Outcome, Person, person

# What turns ``file.py:function`` into the function.
Find = Callable[[str], Callable[..., Any]]
HANDLERS = ("person", "dispatch", "gate", "handler")


@dataclass
class Draft:
    """A step as far as it is read before the others are known."""

    id: str
    at: At
    given: dict[str, Any]
    requires: list[Requirement] = field(default_factory=list)
    next: dict[str, str | None] = field(default_factory=dict)


class Steps:
    """Makes the steps; ``params`` and ``lists`` are those of the workflow."""

    def __init__(self, reader: Reader, texts: Texts, params: list[Arg], lists: dict[str, list[str]], find: Find):
        self.reader = reader
        self.texts = texts
        self.params = params
        self.lists = lists
        self.find = find

    def made(self, value: Any) -> list[StepDef]:
        """The steps in their order; what is wrong is noted."""
        reader = self.reader
        given = reader.mapping(value, ("steps",), "steps")
        drafts = []
        for number, (name, entry) in enumerate(given.items()):
            following = list(given)[number + 1] if number + 1 < len(given) else None
            try:
                drafts.append(self._draft(name, entry, following))
            except Missing:
                continue
        known = {draft.id: self._records(draft) for draft in drafts}
        steps = []
        for draft in drafts:
            try:
                steps.append(self._step(draft, known))
            except Missing:
                continue
        return steps

    def _draft(self, name: str, value: Any, following: str | None) -> Draft:
        reader, at = self.reader, ("steps", name)
        if name in keys.ENDS:
            reader.fail(at, f"{name!r} is the end of a run, and no name for a step", remedy="choose another name")
        if name in keys.STEP and value and not isinstance(value, dict):
            reader.fail(at, f"{name!r} stands beside the steps, not in one", remedy="indent it more than its step's id")
        given = reader.known({} if value in ("", "null") else value, at, keys.STEP, f"the step {name}")
        draft = Draft(name, at, given)
        if "requires" in given:
            draft.requires = requirements.requires(reader, given["requires"], (*at, "requires"), self.lists)
        draft.next = self._routes(draft, following)
        return draft

    def _routes(self, draft: Draft, following: str | None) -> dict[str, str | None]:
        """Where each outcome leads: OK to the following step if nothing is said."""
        if "next" not in draft.given:
            return {"ok": following}
        value, at = draft.given["next"], (*draft.at, "next")
        if isinstance(value, str):
            return {"ok": _target(value)}
        found: dict[str, str | None] = {}
        for outcome, target in self.reader.mapping(value, at, "next").items():
            found[outcome] = _target(self.reader.text(target, (*at, outcome), f"the target of {outcome}"))
        return found

    def _records(self, draft: Draft) -> Records:
        given = draft.given
        kind = next((one for one in HANDLERS if one in given), "")
        made = [*_names(given.get("keep")), *_names((_mapping(given.get("dispatch"))).get("gather"))]
        is_open = "handler" in given or "handler" in _mapping(given.get("dispatch"))
        own = [arg for arg in self.params if arg.step == draft.id]
        return records(draft.requires, own, made, kind, is_open)

    def _step(self, draft: Draft, known: dict[str, Records]) -> StepDef:
        reader, at, given = self.reader, draft.at, draft.given
        handler = self._handler(draft, known)
        fields: dict[str, Any] = {}
        for name in ("max_iterations",):
            if name in given:
                fields[name] = int(reader.number(given[name], (*at, name), name, whole=True))
        for name in ("at_limit", "model"):
            if name in given:
                fields[name] = reader.text(given[name], (*at, name), name)
        for name in ("fresh", "automatic"):
            if name in given:
                fields[name] = reader.switch(given[name], (*at, name), name)
        for name in ("needs", "tools"):
            if name in given:
                fields[name] = requirements.spread(reader, given[name], (*at, name), name, self.lists)
        if "allow" in given:
            waived = reader.mapping(given["allow"], (*at, "allow"), "allow")
            fields["allow"] = {rule: reader.text(why, (*at, "allow", rule), rule) for rule, why in waived.items()}
        declared = given.get("outcomes")
        if isinstance(declared, list) and all(isinstance(word, str) for word in declared):
            fields["outcomes"] = reader.texts(declared, (*at, "outcomes"), "outcomes")
        return reader.made(
            at,
            StepDef,
            draft.id,
            reader.text(given.get("title", ""), (*at, "title"), "title"),
            tuple(self._actions(draft)),
            draft.next,
            handler,
            requires=draft.requires,
            when=self._when(draft),
            repeat=tuple(self._said(draft, "repeat", REPEAT)),
            forbidden=[line for text in self._said(draft, "forbidden", FORBIDDEN) for line in text.splitlines()],
            **fields,
        )

    def _actions(self, draft: Draft) -> list[str]:
        found = self._said(draft, "do", "{}")
        if not found and "do" not in draft.given and not any(kind in draft.given for kind in HANDLERS[:3]):
            file = os.path.basename(self.texts.file)
            remedy = f"write a section `## {draft.id}` in {file}, or do: and the text"
            self.reader.note(draft.at, f"the step {draft.id} says nothing", remedy=remedy)
        return found

    def _said(self, draft: Draft, key: str, title: str) -> list[str]:
        """The texts of a step under a key, else of the section of that title."""
        self.texts.titles.add(title.format(draft.id))
        if key in draft.given:
            return self.texts.texts(self.reader, draft.given[key], (*draft.at, key), key)
        found = self.texts.find(title.format(draft.id))
        return [] if not found else [found]

    def _when(self, draft: Draft) -> dict[str, str]:
        value, at = draft.given.get("when"), (*draft.at, "when")
        if value is None:
            return {}
        if isinstance(value, str):
            if len(draft.next) > 1:
                valid = ", ".join(draft.next)
                self.reader.fail(at, "which outcome does `when` speak of? write a line for each", valid)
            return {next(iter(draft.next), "ok"): _one_line(value)}
        entries = self.reader.mapping(value, at, "when").items()
        return {word: _one_line(self.reader.text(text, (*at, word), "when")) for word, text in entries}

    def _handler(self, draft: Draft, known: dict[str, Records]) -> Any:
        reader, given, at = self.reader, draft.given, draft.at
        kinds = [kind for kind in HANDLERS if kind in given]
        if len(kinds) > 1:
            reader.fail((*at, kinds[1]), f"the step {draft.id} has {' and '.join(kinds)}", "one of them")
        decides = self._rules(draft, known)
        if kinds and kinds[0] != "dispatch" and decides is not None:
            reader.fail((*at, kinds[0]), f"the step {draft.id} has rules and a {kinds[0]}: one says how it ends")
        if "person" in given:
            return self._person(given["person"], (*at, "person"))
        if "gate" in given:
            return self._gate(given["gate"], (*at, "gate"))
        if "dispatch" in given:
            return self._dispatch(given["dispatch"], (*at, "dispatch"), decides)
        if "handler" in given:
            place = (*at, "handler")
            return reader.made(place, self.find, reader.text(given["handler"], place, "handler"))
        return decides

    def _rules(self, draft: Draft, known: dict[str, Records]) -> Rules | None:
        declared = draft.given.get("outcomes")
        given = draft.given
        if isinstance(declared, list) and all(isinstance(word, str) for word in declared):
            given = {key: value for key, value in given.items() if key != "outcomes"}
        run = {arg.name: arg for arg in self.params if arg.step is None}
        own = {arg.name: arg for arg in self.params if arg.step == draft.id}
        names = Names(draft.id, known, run, own)
        only = next(iter(draft.next)) if len(draft.next) == 1 else ""
        before = len(self.reader.problems)
        made = rules.compiled(self.reader, names, given, draft.at, only)
        if made is not None and "outcomes" in given and len(self.reader.problems) == before:
            places = [place for place, _, _ in rules.pairs(self.reader, given["outcomes"], (*draft.at, "outcomes"))]
            triples = [(at, str(outcome), node) for at, (outcome, _, node) in zip(places, made.rules, strict=True)]
            proving.check(self.reader, names, triples)
            for at, outcome, _ in triples:
                if outcome not in draft.next and Outcome.DEFAULT not in draft.next:
                    what = f"{draft.id} ends by {outcome!r}, for which it has no route"
                    near = did_you_mean(nearest(outcome, draft.next))
                    self.reader.note(at, what + near, ", ".join(draft.next), "a route in next, or one of these words")
        return made

    def _person(self, value: Any, at: At) -> Person:
        reader = self.reader
        given = reader.known(value, at, keys.PERSON, "person")
        question = reader.text(given.get("question", ""), (*at, "question"), "question").rstrip("\n")
        choices: Any = given.get("choices", [])
        if isinstance(choices, dict):
            choices = {name: reader.text(word, (*at, "choices", name), name) for name, word in choices.items()}
        else:
            choices = reader.texts(choices, (*at, "choices"), "choices")
        at_terminal = "at_terminal" in given and reader.switch(
            given["at_terminal"], (*at, "at_terminal"), "at_terminal"
        )
        return reader.made(at, person, question, choices, at_terminal=at_terminal)

    def _gate(self, value: Any, at: At) -> Gate:
        given = {"checkpoint": value} if isinstance(value, str) else value
        known = self.reader.known(given, at, keys.GATE, "gate")
        return self.reader.made(at, Gate, **requirements.options(self.reader, known, at, "the gate"))

    def _dispatch(self, value: Any, at: At, decides: Rules | None) -> Dispatch:
        reader = self.reader
        given = dict(reader.known(value, at, keys.DISPATCH, "dispatch"))
        given.pop("gather", None)
        found: dict[str, Any] = {"then": decides}
        handler = given.pop("handler", None)
        if handler is not None:
            if decides is not None:
                reader.fail((*at, "handler"), "the step has rules and a handler: one says how it ends")
            place = (*at, "handler")
            found["then"] = reader.made(place, self.find, reader.text(handler, place, "handler"))
        for name in ("tasks", "covers"):
            if name in given:
                found[name] = requirements.spread(reader, given.pop(name), (*at, name), name, self.lists)
        if "targets" in given:
            found["targets"] = self._targets(given.pop("targets"), (*at, "targets"))
        if "checks" in given:
            entries = reader.items(given.pop("checks"), (*at, "checks"), "checks")
            found["checks"] = [self._check(entry, place) for place, entry in entries]
        if "requires" in given:
            place = (*at, "requires")
            found["requires"] = requirements.requires(reader, given.pop("requires"), place, self.lists)
        if "params" in given:
            params = reader.mapping(given.pop("params"), (*at, "params"), "params")
            found["params"] = {name: reader.text(text, (*at, "params", name), name) for name, text in params.items()}
        for name in ("task", "context"):
            if name in given:
                found[name] = "\n".join(self.texts.texts(reader, given.pop(name), (*at, name), name))
        found |= requirements.options(reader, given, at, "dispatch")
        if "agent" not in found:
            reader.fail(at, "dispatch names no agent", remedy="agent: explore")
        return reader.made(at, Dispatch, **found)

    def _targets(self, value: Any, at: At) -> Any:
        """A recorded list as STEP.NAME, a function as FILE.py:FUNCTION, or the targets themselves."""
        if isinstance(value, str) and ".py:" in value:
            return self.reader.made(at, self.find, value)
        if isinstance(value, str) and not value.startswith("$"):
            return str(value)
        return requirements.spread(self.reader, value, at, "targets", self.lists)

    def _check(self, value: Any, at: At) -> Check:
        reader = self.reader
        given = dict(reader.known(value, at, keys.CHECK, "a check"))
        over = self._targets(given.pop("over"), (*at, "over")) if "over" in given else ()
        missing = [name for name in keys.CHECK[:3] if name not in given]
        if missing:
            reader.fail(at, f"a check has no {missing[0]}", ", ".join(keys.CHECK))
        return reader.made(at, Check, **requirements.options(reader, given, at, "a check"), over=over)


def _target(text: str) -> str | None:
    return None if text in keys.ENDS else str(text)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _names(value: Any) -> list[str]:
    return list(_mapping(value))

"""Which outcomes a step can give, as far as its data says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from skills.lib.model.steps import StepDef
from skills.lib.model.types import Dispatch, Gate, Outcome, Person

_VERDICTS = frozenset((Outcome.OK, Outcome.FAIL))
_OK = frozenset((Outcome.OK,))
_DECIDES = {type(None): "the agent", Dispatch: "its Dispatch", Gate: "its Gate", Person: "its Person"}


def possible(step: StepDef) -> frozenset[Outcome] | None:
    """Every outcome that the step can end with; None if its data does not say (an agent or function decides)."""
    handler = step.handler
    if isinstance(handler, Gate):
        return _VERDICTS
    if isinstance(handler, Dispatch) and not handler.then:
        return with_skip(step, _VERDICTS if Outcome.FAIL in step.next else _OK)
    if isinstance(handler, Person):
        return frozenset(handler.choices.values()) or _OK
    if handler is None or not step.outcomes:
        return None
    return with_skip(step, with_limit(step, frozenset(step.outcomes)))


def with_skip(step: StepDef, outcomes: frozenset[Outcome]) -> frozenset[Outcome]:
    """``outcomes``, with SKIP if the Dispatch may have no target and the step has a SKIP route."""
    if isinstance(step.handler, Dispatch) and Outcome.SKIP in step.next:
        targets = step.handler.targets
        if callable(targets) or (isinstance(targets, str) and targets):
            return outcomes | {Outcome.SKIP}
    return outcomes


def with_limit(step: StepDef, outcomes: frozenset[Outcome]) -> frozenset[Outcome]:
    """``outcomes``, with the outcome that replaces ITERATE if iterations are limited."""
    if is_limited(step) and Outcome.ITERATE in outcomes:
        return outcomes | {step.at_limit}
    return outcomes


def is_limited(step: StepDef) -> bool:
    """True if ITERATE of this step turns into ``at_limit`` in the end. A limit that cannot work counts as one."""
    return step.max_iterations is not None and (step.handler is None or step.function is not None)


def certain(step: StepDef) -> tuple[Outcome, ...]:
    """The outcomes that need a way out; a person's answers and a gate's FAIL have rules of their own."""
    if isinstance(step.handler, (Dispatch, Gate)) and not step.function:
        return tuple(dict.fromkeys((Outcome.OK, *step.outcomes)))
    return tuple(step.outcomes)


def never_given(step: StepDef) -> Iterator[tuple[Outcome, str]]:
    """The routes for outcomes that the step never gives, each with the reason in words."""
    can = possible(step)
    for outcome in step.next if can is not None else ():
        if can is not None and outcome not in can and outcome is not Outcome.DEFAULT:
            yield outcome, f"{kind(step)} gives {listed(can)}, never {outcome.value}"


def shadowed(step: StepDef) -> Iterator[tuple[Outcome, str]]:
    """The routes for which another route or a limit leaves no outcome, each with the reason in words."""
    if Outcome.DEFAULT in step.next and len(step.next) > 1:
        can = possible(step)
        left = (can if can is not None else set(step.outcomes or Outcome) - {Outcome.DEFAULT}) - set(step.next)
        if not left:
            yield Outcome.DEFAULT, "every outcome that the step can give has a route of its own"
    if step.max_iterations == 1 and Outcome.ITERATE in step.next and is_limited(step):
        can = possible(step)
        if can is None or Outcome.ITERATE in can:
            yield Outcome.ITERATE, "max_iterations is 1, so the first ITERATE already counts as " + step.at_limit.value


def misspelt(step: StepDef) -> dict[Outcome, Outcome]:
    """The words of its own that are one letter away from a standard word without a route, each with that word."""
    named = (*step.next, *step.when, *step.declared, *step.outcomes, step.at_limit)
    words = [word for word in dict.fromkeys(named) if word.is_own and sum(map(str.isalpha, word)) >= 4]
    meant = [word for word in Outcome if word not in step.next] if words else []
    return {word: near for word in words for near in meant if _are_one_letter_apart(word, near)}


def _are_one_letter_apart(one: str, other: str) -> bool:
    """True if a letter more, less, changed or swapped with its neighbour makes one word the other."""
    if abs(len(one) - len(other)) > 1 or one == other:
        return False
    at = next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        len(min(one, other, key=len)),
    )
    rest, rest_other = one[at:], other[at:]
    if len(one) == len(other):
        swapped = rest[:2] == rest_other[1::-1] and rest[2:] == rest_other[2:]
        return swapped or rest[1:] == rest_other[1:]
    return rest[1:] == rest_other or rest == rest_other[1:]


def named_once(step: StepDef) -> list[Outcome]:
    """The words of its own that stand in ``next`` alone, if nothing but the agent or a function gives them."""
    if possible(step) is not None:
        return []
    return [
        word for word in step.next if word.is_own and not step.when.get(word, "").strip() and word not in step.declared
    ]


def ending_words(steps: Iterable[StepDef]) -> list[Outcome]:
    """The words of its own by which a run may come to its end."""
    return list(
        dict.fromkeys(
            word
            for step in steps
            for word in (*step.next, *step.declared)
            if word.is_own and step.route(word) == (None,)
        )
    )


def kind(step: StepDef) -> str:
    """What decides how the step ends, in words."""
    return _DECIDES.get(type(step.handler), "its handler")


def listed(outcomes: frozenset[Outcome] | tuple[Outcome, ...]) -> str:
    """The outcomes in their fixed order, as a sentence names them."""
    names = [*[word.value for word in Outcome if word in outcomes], *sorted(word for word in outcomes if word.is_own)]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1] if names else "none"

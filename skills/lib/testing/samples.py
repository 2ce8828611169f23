"""Makes up values for what a block asks to report, from nothing but what the block says of them."""

from __future__ import annotations

import posixpath
import re
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from skills.lib.model.values import fits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from skills.lib.testing.blocks import Spec

    Text = Callable[[str], str]

# So many combinations are looked at before a handler counts as one that cannot be steered.
COMBINATIONS = 20_000
# The first line of a finding; further lines of its text are set in.
_FINDING = re.compile(r"^- (\S+) \((?:MUST|SHOULD|COULD)\) ", re.MULTILINE)
_CHOICE = re.compile(r"\{([^{},]*),[^{}]*\}")
# What a handler compares a value of each type with.
_HINTED: dict[str, Any] = {"text": str, "int": int, "float": (int, float)}
_WILDCARDS = [
    (re.compile(pattern), name)
    for pattern, name in ((r"\*\*/", ""), (r"\*\*", "sample.txt"), (r"\*", "sample"), (r"\?", "s"))
] + [(re.compile(r"\[([^!\]])[^\]]*\]"), r"\1")]


class any_of(tuple[Any, ...]):
    """Several values for one field, to be tried in turn until the handler gives the wanted outcome.

    >>> any_of("draft", "final")
    any_of('draft', 'final')
    """

    __slots__ = ()

    def __new__(cls, *values: Any) -> any_of:
        return super().__new__(cls, values)

    def __repr__(self) -> str:
        return f"any_of({', '.join(map(repr, self))})"


def plain(name: str) -> str:
    """A text for a field of that name."""
    return f"What was found for {name.replace('_', ' ')}."


def item(verdict: str, name: str = "check-1", place: str = "") -> dict[str, str]:
    """The one review item that the scripted reviewer splits off, passed or failed; later by the name that it has."""
    finding = "it is as it should be" if verdict == "pass" else "not as it should be"
    status = "PASS" if verdict == "pass" else "FAIL"
    return {
        "id": name,
        "scope": "all",
        "check": "it is as asked",
        "severity": "MUST",
        "status": status,
        "finding": finding,
        **({"place": place} if place else {}),
    }


def path(covers: str) -> str:
    """A path that a pattern of a review covers: src/sample.txt for src/**."""
    found = _CHOICE.sub(lambda choice: choice[1], covers)
    for wildcard, name in _WILDCARDS:
        found = wildcard.sub(name, found)
    named = "." in posixpath.basename(found) or posixpath.basename(found) != posixpath.basename(covers)
    return posixpath.normpath(found if named and found not in (".", "..") else f"{found}/sample.txt")


def answers(stubs: Mapping[str, Mapping[str, str]], verdict: str, place: str) -> list[dict[str, Any]]:
    """An answer to each thing that a reviewer is to judge, by id; for the verdict fail, one of the gravest fails.

    ``stubs`` has what is known of each: a severity that is given, and the kind and scope of a check.
    """
    made = []
    gravest = [name for name, stub in stubs.items() if stub.get("severity", "MUST") == "MUST"] or list(stubs)
    for name, stub in stubs.items():
        fails = verdict == "fail" and name == gravest[0]
        answer: dict[str, Any] = {"id": name, "status": "FAIL" if fails else "PASS", "place": place}
        answer["finding"] = "not as it should be" if fails else "it is as it should be"
        if "severity" not in stub:
            answer["severity"] = "MUST"
        made.append(answer)
    return made


def fixes(findings: str) -> list[str]:
    """An answer to each of the findings that a block shows: it was fixed."""
    return [f"{name} | changed | it was fixed" for name in _FINDING.findall(findings)]


def candidates(spec: Spec, text: Text = plain, verdict: str = "pass", hints: Sequence[Any] = ()) -> list[Any]:
    """Values that ``spec`` admits, the most ordinary first; ``hints`` are further ones to try if they fit."""
    made = [value for value in _made(spec, text, verdict) if fits(spec, value)]
    if not spec.choices:
        of_the_type = [hint for hint in hints if isinstance(hint, _HINTED.get(spec.type, ()))]
        made += [hint for hint in of_the_type if hint not in made and fits(spec, hint)]
    return made


def combined(options: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Every combination of the options, those that differ from the ordinary values in few places first."""
    ordinary = {name: values[0] for name, values in options.items()}
    varied = [name for name, values in options.items() if len(values) > 1]
    seen = 0
    for count in range(len(varied) + 1):
        for names in combinations(varied, count):
            for values in product(*[options[name][1:] for name in names]):
                yield {**ordinary, **dict(zip(names, values, strict=True))}
                seen += 1
                if seen == COMBINATIONS:
                    return


def _made(spec: Spec, text: Text, verdict: str) -> list[Any]:
    low = max(int(spec.minimum or 0), 1)
    if spec.type == "items":
        return [[item(verdict)]]
    if spec.type == "statements":
        return [[f"all | it is so: {text('the statement')}"]]
    if spec.choices and spec.type == "list":
        return [list(spec.choices[:count]) for count in {low: 0, len(spec.choices): 0} if count] + [
            [choice] for choice in spec.choices if low == 1
        ]
    if spec.choices:
        return list(spec.choices)
    if spec.type == "list":
        entries = [text(f"{spec.name} {at}") for at in range(1, int(spec.maximum or low) + 1)]
        return [entries[:low], *([[]] if not spec.minimum else []), entries]
    if spec.type in ("int", "float"):
        numbers = [spec.minimum, spec.maximum, 1, 0, 2, 10, 100]
        return [int(number) if spec.type == "int" else number for number in numbers if number is not None]
    if spec.type == "bool":
        return [True, False]
    if spec.type == "json":
        return [{"sample": spec.name}, True, False, []]
    return [_sized(text(spec.name), spec)]


def _sized(text: str, spec: Spec) -> str:
    low, high = int(spec.minimum or 0), int(spec.maximum or len(text) + (spec.minimum or 0))
    return (text + " again" * (max(0, low - len(text)) // 6 + 1) if len(text) < low else text)[: max(high, 1)]

"""How far a draft agrees with the graph that was intended for a prose skill: plain data in, plain data out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Data = dict[str, Any]
LONGEST_WORD = 24


class Agreement(NamedTuple):
    """What of a draft is as intended; the last four are shares from 0 to 1, of what was intended."""

    result: bool
    steps: bool
    routes: bool
    persons: bool
    loops: bool
    tools: bool
    titles: float = 1.0
    lines: float = 1.0
    forbidden: float = 1.0
    fields: float = 1.0

    @property
    def as_intended(self) -> bool:
        """True if result, steps, routes, persons and loops agree. The rest is reported beside it."""
        return self.result and self.steps and self.routes and self.persons and self.loops


def agreement(intended: Data, drafted: Data, source: str) -> Agreement:
    """Compare a draft with the intended graph of `source`; README.md says what is compared how."""
    result = drafted["result"] == intended["result"]
    if intended["result"] != "draft" or not result:
        one = intended["result"] != "one-step" or len(drafted["steps"]) == 1
        rivals = {_plain(one) for one in intended.get("rivals", ())} <= {
            _plain(one) for one in drafted.get("rivals", ())
        }
        same = result and one and rivals
        return Agreement(same, same, same, same, same, _same_tools(intended, drafted))
    pairs = _pairs(intended, drafted)
    steps = _same_steps(intended, drafted, pairs)
    return Agreement(
        result=True,
        steps=steps,
        routes=steps and _same_routes(intended, drafted, pairs),
        persons=steps and _same_persons(intended, drafted, pairs),
        loops=not _unbounded_loop(drafted["steps"]),
        tools=_same_tools(intended, drafted),
        titles=_share(_words(a["title"]) & _words(b["title"]) or a["title"] == b["title"] for a, b in pairs),
        lines=_share_of_lines(pairs, source),
        forbidden=_share_of_texts(intended["forbidden"], drafted["steps"], "forbidden"),
        fields=_share_of_texts(intended["fields"], drafted["steps"], "fields"),
    )


def uncovered(source: str, drafted: Data) -> list[int]:
    """The non-blank lines of the body, counted from 1, that no step, no resource and no left-out part holds."""
    parts = [step["lines"] for step in drafted["steps"]] + [drafted["resources"], drafted["left_out"]]
    held = {line for ranges in parts for line in _numbers(ranges)}
    return [number for number in _body(source) if number not in held]


def source_lines(source: str) -> list[str]:
    """The lines as Markdown counts them: a form feed or a U+2028 ends none."""
    return re.split(r"\r\n|\n|\r", source)


def _body(source: str) -> list[int]:
    """The numbers of the non-blank lines below the front matter."""
    lines = source_lines(source.removeprefix("\ufeff"))
    start = lines.index("---", 1) + 1 if lines[0].strip() == "---" and "---" in lines[1:] else 0
    return [number for number, line in enumerate(lines, 1) if number > start and line.strip()]


def _numbers(ranges: Iterable[Sequence[int]]) -> set[int]:
    return {line for first, last in ranges for line in range(first, last + 1)}


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _words(text: str) -> set[str]:
    return set(_plain(text).split())


def _pairs(intended: Data, drafted: Data) -> list[tuple[Data, Data]]:
    """Steps that are the same: of a graph by the title, else by the line where they begin."""
    if intended["rule"] == "graph":
        by_title = {_plain(step["title"]): step for step in drafted["steps"]}
        return [(one, by_title[key]) for one in intended["steps"] if (key := _plain(one["title"])) in by_title]
    by_line = {step["lines"][0][0]: step for step in drafted["steps"] if step["lines"]}
    return [(one, by_line[one["lines"][0][0]]) for one in intended["steps"] if one["lines"][0][0] in by_line]


def _marks(intended: Data, drafted: Data) -> list[Data]:
    """The drafted steps that are marks of a start or an end: a draft may keep them or not."""
    titles = {_plain(one["title"]) for one in intended.get("ends", ())}
    return [step for step in drafted["steps"] if _plain(step["title"]) in titles]


def _same_steps(intended: Data, drafted: Data, pairs: list[tuple[Data, Data]]) -> bool:
    marks = {step["id"] for step in _marks(intended, drafted)}
    order = [step["id"] for step in drafted["steps"] if step["id"] not in marks]
    paired = [drafted_step["id"] for _, drafted_step in pairs]
    if len(pairs) != len(intended["steps"]) or sorted(order) != sorted(paired):
        return False
    return order[0] == paired[0] if intended["rule"] == "graph" else order == paired


def _same_routes(intended: Data, drafted: Data, pairs: list[tuple[Data, Data]]) -> bool:
    ends = {one["id"] for one in intended.get("ends", ())}
    names: dict[str, str | None] = {two["id"]: one["id"] for one, two in pairs}
    names |= dict.fromkeys((step["id"] for step in _marks(intended, drafted)), None)
    maybe = {*intended["persons"], *intended.get("maybe_persons", ())}
    for one, two in pairs:
        wanted = {word: None if to in ends else to for word, to in intended["routes"][one["id"]].items()}
        given = {word: names.get(to, to) if to is not None else None for word, to in two["next"].items()}
        if one["id"] in maybe:
            linear = intended["rule"] != "graph"
            same = set(wanted.values()) <= set(given.values()) and (
                linear or set(given.values()) <= set(wanted.values())
            )
        elif len(wanted) == 1:
            same = list(wanted.values()) == list(given.values())
        else:
            same = len(wanted) == len(given) and all(
                any(_same_word(word, other) and given[other] == to for other in given) for word, to in wanted.items()
            )
        if not same:
            return False
    return True


def _same_word(label: str, word: str) -> bool:
    """True if `word` is the outcome for `label`: its words joined by hyphens, or the first of them."""
    slug = re.sub(r"[^a-z0-9]+", "-", label.casefold()).strip("-")
    return label == "*" or word == slug[:LONGEST_WORD].rstrip("-") or f"{slug}-".startswith(f"{word}-")


def _same_persons(intended: Data, drafted: Data, pairs: list[tuple[Data, Data]]) -> bool:
    maybe = set(intended.get("maybe_persons", ()))
    return all(
        bool(two["person"]) == (one["id"] in intended["persons"]) for one, two in pairs if one["id"] not in maybe
    )


def _unbounded_loop(steps: Sequence[Mapping[str, Any]]) -> bool:
    """True if a step can be reached again without passing a step that has a bound."""
    free = {step["id"]: set(step["next"].values()) for step in steps if not step["bounded"]}
    changed = True
    while changed:
        left = {name: targets & free.keys() for name, targets in free.items()}
        free = {name: targets for name, targets in left.items() if targets}
        changed = free != left
    return bool(free)


def _same_tools(intended: Data, drafted: Data) -> bool:
    if "tools" not in intended:
        return True
    return all(sorted(step["tools"]) == sorted(intended["tools"]) for step in drafted["steps"])


def _share(verdicts: Iterable[object]) -> float:
    found = [bool(one) for one in verdicts]
    return sum(found) / len(found) if found else 1.0


def _share_of_lines(pairs: list[tuple[Data, Data]], source: str) -> float:
    body = set(_body(source))
    return _share(line in _numbers(two["lines"]) for one, two in pairs for line in _numbers(one["lines"]) & body)


def _share_of_texts(wanted: list[Data], steps: list[Data], key: str) -> float:
    given = [_plain(text) for step in steps for text in step[key]]
    return _share(
        any(_plain(one["text"]) in text or (text and text in _plain(one["text"])) for text in given) for one in wanted
    )

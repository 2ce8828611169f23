"""The forms in which a reviewer's block asks for what it judges."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from benchmarks.cost.joined import JOINED_CHECKS
from benchmarks.cost.texts import Missing

if TYPE_CHECKING:
    from benchmarks.cost.texts import Point
    from skills.lib.testing.blocks import Spec


def items_in(text: str) -> list[tuple[str, str]]:
    """The id and scope of each item or finding in a text of CONTEXT, such as "- C-01 (SHOULD, M-001): …"."""
    return re.findall(r"(?m)^(?:- )?(\S+) \((?:MUST|SHOULD|COULD)(?:, )?([^)]*)\)", text)


def place_in(line: str) -> str:
    """The file of the place with which a finding in CONTEXT ends, such as "… [docs/store.md:3]"; empty without one."""
    found = re.search(r"\[([^\[\]]+?)(?::[0-9-]+)?\]$", line)
    return found[1] if found else ""


def is_at(place: str, path: str) -> bool:
    """True if the file of a place is that path, or the end of it."""
    return bool(place) and f"/{path}".endswith(f"/{place}")


def without_folder(answers: list[Any], folder: str) -> list[Any]:
    """Answers whose places do not name the folder that they begin with."""

    def short(place: Any) -> Any:
        if isinstance(place, dict):
            return {target: short(one) for target, one in place.items()}
        return place.removeprefix(folder)

    return [{**one, "place": short(one["place"])} if "place" in one else one for one in answers]


def checks_in(text: str) -> dict[str, list[str]]:
    """Each kind of check in a text of CONTEXT with its targets; "all" if it names none."""
    found: dict[str, list[str]] = {}
    kind = ""
    for line in re.sub(r"(?m)^- ", "", text).splitlines():
        head = re.match(r"(\S+) \((?:MUST|SHOULD|COULD)\)(.*)", line)
        if head:
            kind = head[1]
            named = head[2].partition(" Targets: ")[2]
            # Targets that are told each with what must be so stand on lines of their own.
            found[kind] = [] if head[2].endswith(":") else named.split(", ") if named else ["all"]
        elif kind and line.startswith("  "):
            found[kind].append(line.strip().partition(": ")[0])
    return found


def point_of(name: str, scope: str, points: list[Point]) -> Point:
    """The point that a thing to judge is about: by id, by its check's kind and target, or by a statement's number."""
    by_id = {point.id: point for point in points}
    if name in by_id:
        return by_id[name]
    for joined, former in JOINED_CHECKS.items():
        name = re.sub(rf"^{joined}\b", former, name)
    kind = name if any(point.kind == name for point in points) else name.rpartition("-")[0]
    of_kind = [point for point in points if point.kind and point.kind == kind]
    fitting = [point for point in of_kind if scope in (point.scope, *point.targets)]
    if of_kind:
        return (fitting or of_kind)[0]
    stated = [point for point in points if point.step]
    if name[:1] == "S" and name[1:].isdigit() and int(name[1:]) <= len(stated):
        return stated[int(name[1:]) - 1]
    raise Missing(f"no text judges {name} ({scope})")


def formed(spec: Spec, name: str, point: Point, number: int, *, again: bool = False) -> Any:
    """One judgement in the form of its field, as it stands in the review of that number."""
    judged = point.judged(number)
    status, place, finding = judged["status"], judged["place"], judged["finding"]
    if spec.type == "answers":
        answer = {"id": name, "status": status, "place": place}
        # The severity of an item that is judged again is known.
        severity = {} if again else {"severity": point.severity}
        return {**answer, **severity, **({"finding": finding} if finding else {})}
    if spec.name == "answers":
        return f"{name} | {point.scope} | {point.check} | {status} | {place}: {finding}"
    row = {"id": name, "scope": point.scope, "check": point.check, "severity": point.severity, "status": status}
    return {**row, "finding": finding, "place": place}


def checked(kind: str, targets: list[str], points: list[Point], number: int) -> list[dict[str, Any]]:
    """The answers to a check: targets that fare alike share one."""
    judged = {target: point_of(kind, target, points).judged(number) for target in targets}
    return shared([(target, {**one, "id": kind}) for target, one in judged.items()])


def shared(answers: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Answers about targets of checks; those with the same id, status and finding are one, with the place of each."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for target, answer in answers:
        finding = {"finding": answer["finding"]} if answer.get("finding") else {}
        one = {"id": answer["id"], "status": answer["status"], **finding, "place": {}}
        key = answer["id"], answer["status"], answer.get("finding", "")
        found.setdefault(key, one)["place"][target] = answer["place"]
    return list(found.values())


def of_one_check(items: list[tuple[str, str]], points: list[Point]) -> dict[str, str]:
    """The items to judge again, each an id and a scope, of checks that have several: the check of each."""
    kinds = {name: name.rpartition("-")[0] for name, scope in items if point_of(name, scope, points).kind}
    return {name: kind for name, kind in kinds.items() if [*kinds.values()].count(kind) > 1}

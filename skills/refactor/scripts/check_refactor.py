"""Checks what refactor records: places, one row per id, and work items whose ids and order hold.

Called in the project's root as ``KIND VALUE...``, where each value is a JSON array of rows ("cell | cell | …"), for
``items`` a file, the ids of its items, a text and two such arrays; prints each fault and ends with 1 if there is one.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from typing import Any

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)

import skills.lib.checks as checks

SEVERITIES = ("MUST", "SHOULD", "COULD")
RULINGS = ("refactor", "leave", "ask")
SIZES = ("small", "medium", "large")
TEXTS = ("id", "title", "cause", "intent", "change", "gain", "risk", "proof", "size")
RELATIONS = ("requires", "obsoletes", "conflicts")
LISTS = ("clusters", "findings", "places", *RELATIONS)

_ITEM_ID = re.compile(r"W[1-9]\d*")

Rows = list[str]


def path_faults(rows: Rows) -> list[str]:
    """Every row whose first cell is no path of the project."""
    return [f"{row[:60]!r}: {why}" for row in rows if (why := checks.path_fault(checks.cells(row)[0].strip("`")))]


def place_faults(rows: Rows) -> list[str]:
    """Every row that does not begin with a place that can be opened, and every fragment that is not at its place."""
    found = []
    for at, row in enumerate(rows, 1):
        why = checks.location_fault(checks.cells(row)[0])
        faults = [why] if why else checks.quotation_faults(row)
        found += [f"row {at}, {row[:60]!r}: {fault}" for fault in faults]
    return found


def sign_faults(signs: Rows) -> list[str]:
    """Every sign without its number, how to search for it, or what would excuse it."""
    form = "sign | how to search for it | what would excuse it"
    return [
        f"{row[:60]!r}: write S{at}: {form}"
        for at, row in enumerate(signs, 1)
        if not row.startswith(f"S{at}:") or len(parts := checks.cells(row)) < 3 or not all(parts[:3])
    ]


def search_faults(signs: Rows, searched: Rows, candidates: Rows) -> list[str]:
    """Every sign that was not searched for, every search without its hits, and every candidate without a place."""
    known = [row.partition(":")[0] for row in signs]
    given = ids(searched)
    found = [f"sign {name} was not searched for" for name in known if name not in given]
    found += [f"{name:.20} is no sign of this run" for name in dict.fromkeys(given) if name not in known]
    for row in searched:
        parts = checks.cells(row)
        if len(parts) < 3 or not parts[1] or not re.search(r"\d|\bno(ne|thing)?\b", parts[-1]):
            found.append(f"{row[:60]!r}: write S1 | the search as it was run | how many hits, as a number")
    return found + place_faults(candidates)


def finding_faults(rows: Rows, candidates: Rows, dismissed: Rows) -> list[str]:
    """Every finding without a place, a severity and what it is measured by; every candidate that no row speaks of."""
    found = place_faults(rows)
    for at, row in enumerate(rows, 1):
        parts, where = checks.cells(row), f"row {at}, {row[:60]!r}"
        if len(parts) < 4 or not all(parts[:4]):
            form = "path:line | severity | what is so | how it passes the threshold"
            found.append(f"{where}: {len(parts)} parts; write {form}")
        if len(parts) > 1 and parts[1] not in SEVERITIES:
            found.append(f"{where}: {parts[1][:20]!r} is not a severity; use one of {', '.join(SEVERITIES)}")
    named = "\n".join([*rows, *dismissed]).replace("`", "")
    places = dict.fromkeys(map(checks.location, candidates))
    silent = [place for place in places if not re.search(re.escape(place) + r"(?!\d)", named)]
    return found + [f"the candidate {place} is in no finding and not dismissed" for place in silent]


def triage_faults(findings: Rows, triaged: Rows) -> list[str]:
    """Every finding without its one row, and every row that does not say what becomes of it."""
    found = checks.coverage(ids(findings), ids(triaged), "finding")
    for row in triaged:
        parts = checks.cells(row)
        if parts[1:2] == ["keep"]:
            if len(parts) < 4 or parts[2] not in SEVERITIES or checks.says_little(parts[3], 2):
                found.append(
                    f"{row[:60]!r}: write F1 | keep | one of {', '.join(SEVERITIES)} | what you saw at the place"
                )
        elif parts[1:2] != ["drop"] or len(parts) < 3 or checks.says_little(parts[2], 2):
            found.append(
                f"{row[:60]!r}: write F1 | keep | severity | what you saw, or F1 | drop | why, not in one word"
            )
    return found


def cluster_faults(holding: Rows, clusters: Rows) -> list[str]:
    """Every finding that is not in exactly one cluster, and every cluster without cause and reason."""
    found = [f"the id {name} is given twice" for name in checks.repeated(ids(clusters))]
    members: list[str] = []
    for row in clusters:
        parts = checks.cells(row)
        if len(parts) < 4 or not all(parts[:4]):
            found.append(f"{row[:60]!r}: write C1 | F1 F2 | root cause | what shows that it is one cause")
            continue
        members += parts[1].replace(",", " ").split()
    return found + checks.coverage(ids(holding), members, "finding")


def weighed_faults(clusters: Rows, weighed: Rows) -> list[str]:
    """Every cluster without its one ruling and a reason."""
    found = checks.coverage(ids(clusters), ids(weighed), "cluster")
    for row in weighed:
        parts = checks.cells(row)
        if len(parts) < 3 or parts[1] not in RULINGS or checks.says_little(parts[2], 2):
            found.append(f"{row[:60]!r}: write C1 | one of {', '.join(RULINGS)} | the reason, with a place")
        elif parts[1] == "ask" and "?" not in parts[2]:
            found.append(f"{row[:60]!r}: the reason to ask is a question to the user, with its question mark")
        elif parts[1] != "ask" and not checks.names_location(row):
            found.append(f"{row[:60]!r}: the reason names no place that can be opened, as path:line")
    return found


def item_faults(file: str, recorded: Rows, pick: str, holding: Rows, weighed: Rows) -> list[str]:
    """Every fault of the work items' file."""
    content = json.loads(checks.text(file))
    if not isinstance(content, dict) or not isinstance(content.get("items"), list):
        return ['the file holds {"pick": …, "items": […]}']
    found = [] if content.get("pick") == pick else [f"pick is to be, letter for letter: {pick}"]
    items, left = content["items"], content.get("left", [])
    if not is_texts(left) or not all(len(checks.cells(row)) > 1 and checks.cells(row)[1] for row in left):
        return [*found, 'left is a list of texts, each "C2 | why no item serves it"']
    if not items and not left:
        found.append("the file holds no item")
    for at, item in enumerate(items, 1):
        found += form_faults(item, f"item {at}")
    if found:
        return found
    wanted = [parts[0] for parts in map(checks.cells, weighed) if parts[1] == "refactor"]
    names = [item["id"] for item in items]
    found = [f"the id {name} is given twice" for name in checks.repeated(names)]
    if sorted(recorded) != sorted(names):
        found.append(f"work_items is to name the items of the file, each once: {', '.join(names) or 'none'}")
    served = {cluster for item in items for cluster in item["clusters"]}
    found += [f"{name} in left is not ruled refactor" for name in ids(left) if name not in wanted]
    found += [f"{name} is in left, and an item serves it" for name in ids(left) if name in served]
    open_ones = [name for name in wanted if name not in served and name not in ids(left)]
    found += [f"no item serves {name}, which is ruled refactor" for name in open_ones]
    for item in items:
        found += citation_faults(item, ids(holding), wanted)
        found += relation_faults(item, names)
    return found or order_faults({item["id"]: item for item in items})


def form_faults(item: Any, where: str) -> list[str]:
    """What an item lacks or has too much, by its keys."""
    if not isinstance(item, dict):
        return [f"{where} is not an object"]
    where = f"{where} ({item.get('id', 'no id')})"
    found = [f"{where}: {name} is missing or not a text" for name in TEXTS if not is_text(item.get(name))]
    found += [f"{where}: {name} is missing or not a list of texts" for name in LISTS if not is_texts(item.get(name))]
    found += [f"{where}: {name!r} is no key of an item; take it out" for name in item if name not in (*TEXTS, *LISTS)]
    if is_text(item.get("id")) and not _ITEM_ID.fullmatch(item["id"]):
        found.append(f"{where}: an id is W and a number, such as W1")
    if is_text(item.get("size")) and item["size"] not in SIZES:
        found.append(f"{where}: size is one of {', '.join(SIZES)}")
    return found


def citation_faults(item: Mapping[str, Any], holding: Rows, wanted: Rows) -> list[str]:
    """What an item cites that is not there, and what it fails to cite."""
    name = item["id"]
    found = [f"{name} cites no {kind}" for kind in ("clusters", "findings", "places") if not item[kind]]
    found += [
        f"{name} cites {one}, which is not a finding that holds" for one in item["findings"] if one not in holding
    ]
    found += [f"{name} serves {one}, which is not ruled refactor" for one in item["clusters"] if one not in wanted]
    faults = [(place, checks.location_fault(place)) for place in item["places"]]
    return found + [f"{name}, {place!r:.80}: {why}" for place, why in faults if why]


def relation_faults(item: Mapping[str, Any], names: Rows) -> list[str]:
    """Relations of an item to itself, to nothing, or of two kinds to one other."""
    others = [(other, relation) for relation in RELATIONS for other in item[relation]]
    found = [f"{item['id']} {relation} {other}, which is no item" for other, relation in others if other not in names]
    found += [f"{item['id']} {relation} itself" for other, relation in others if other == item["id"]]
    twice = checks.repeated(other for other, _ in others)
    return found + [f"{item['id']} names {other} in two relations; decide for one" for other in twice]


def order_faults(items: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Circles of what items require or obsolete, and items that require what excludes or is excluded."""
    for relation in ("requires", "obsoletes"):
        circle = cycle({name: item[relation] for name, item in items.items()})
        if circle:
            return [f"{relation} goes round in a circle: {' -> '.join(circle)}; strike one of these"]
    found = []
    for name in items:
        needed = {name, *closure(name, items)}
        for one in sorted(needed):
            for relation in ("obsoletes", "conflicts"):
                hit = sorted(needed.intersection(items[one][relation]))
                found += [f"{name} needs {one} and {other}, but {one} {relation} {other}" for other in hit]
    return found


def closure(name: str, items: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Everything that an item requires, directly or through another."""
    found: set[str] = set()
    ahead = list(items[name]["requires"])
    while ahead:
        one = ahead.pop()
        if one not in found:
            found.add(one)
            ahead += items[one]["requires"]
    return found


def cycle(ways: Mapping[str, Rows]) -> list[str]:
    """A circle as the names along it, the first again at its end; empty where there is none."""
    done: set[str] = set()
    for start in ways:
        path, trail = [start], [iter(ways[start])]
        while trail:
            one = next(trail[-1], None)
            if one is None:
                done.add(path.pop())
                trail.pop()
            elif one in path:
                return [*path[path.index(one) :], one]
            elif one not in done:
                path.append(one)
                trail.append(iter(ways[one]))
    return []


def ids(rows: Rows) -> list[str]:
    """The first cell of each row."""
    return [checks.cells(row)[0] for row in rows]


def is_text(value: object) -> bool:
    """Whether it is a text with something in it."""
    return isinstance(value, str) and bool(value.strip())


def is_texts(value: object) -> bool:
    """Whether it is a list of texts, perhaps empty."""
    return isinstance(value, list) and all(is_text(entry) for entry in value)


CHECKS: dict[str, tuple[checks.Check, str]] = {
    "paths": (path_faults, "rows"),
    "signs": (sign_faults, "rows"),
    "search": (search_faults, "rows rows rows"),
    "findings": (finding_faults, "rows rows rows"),
    "triage": (triage_faults, "rows rows"),
    "clusters": (cluster_faults, "rows rows"),
    "weighed": (weighed_faults, "rows rows"),
    "items": (item_faults, "text rows text rows rows"),
}

if __name__ == "__main__":
    sys.exit(checks.run("check_refactor.py", CHECKS, sys.argv[1:]))

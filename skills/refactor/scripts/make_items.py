"""Makes the file of the work items of refactor from what was recorded.

Called in the project's root as ``ITEMS EDITS STRIKE LEFT PATH KEPT KEPT_LEFT FILE PICK UNREAD HOLDING CLUSTERS``: the
items of this round and of those before as JSON, rows as JSON arrays, texts; what was never recorded is its name in
braces. Prints each fault and ends with 1 if there is one; else writes the file, and prints its path as JSON.
Called as ``kept ITEMS EDITS STRIKE KEPT`` it prints the items as they are then, as JSON.
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

from check_refactor import ids  # type: ignore[import-not-found]  # beside this script, in no package

import skills.lib.checks as checks

SIZES = ("small", "medium", "large")
TEXTS = ("id", "title", "change", "gain", "risk", "proof", "size")
RELATIONS = ("requires", "obsoletes", "conflicts")
LISTS = ("clusters", "places")
FOLDER = ".lockstep/refactor"
VALUES = 12
# The parts of a cluster.
CAUSE, RULING, REASON = 2, 4, 5

_ITEM_ID = re.compile(r"W[1-9]\d*")
_EDIT = re.compile(r'\s*"(?P<old>.+?)"\s*->\s*"(?P<new>.*)"\s*', re.DOTALL)
_UNSAID = re.compile(r"\{[\w.-]+\}")

Rows = list[str]
Item = Mapping[str, Any]


class Recorded:
    """What a run recorded; a value that it never recorded is empty. ``left`` keeps the rows of the round before."""

    def __init__(self, values: list[str]) -> None:
        new, edits, strike, left, path, kept, kept_left, file, pick, unread, holding, clusters = map(said, values)
        self.kept, self.edit_faults = edited(json.loads(kept or "[]"), json.loads(edits or "[]"))
        self.new = completed(json.loads(new or "[]"), self.kept)
        self.strike: Rows = json.loads(strike or "[]")
        self.left: Rows = json.loads(left or kept_left or "[]")
        self.path, self.file, self.pick = path, file, pick
        self.unread: Rows = json.loads(unread)
        self.holding: Rows = json.loads(holding)
        self.clusters = {cells[0]: cells for cells in map(checks.cells, json.loads(clusters))}

    @property
    def wanted(self) -> Rows:
        """The clusters that are ruled refactor."""
        return [name for name, parts in self.clusters.items() if parts[RULING] == "refactor"]


def faults(run: Recorded) -> list[str]:
    """Every fault of what this round reports, and of the items as they stand after it."""
    if not isinstance(run.new, list):
        return ["items is a JSON array of work items"]
    found = [fault for at, item in enumerate(run.new, 1) for fault in form_faults(item, f"item {at}")]
    found += run.edit_faults + [fault for item in run.kept for fault in form_faults(item, "an edited item")]
    if not all(checks.is_reason(" ".join(checks.cells(row)[1:])) for row in run.left):
        found.append('left: write "C2 | why no item serves it", in more than a word')
    if found:
        return found
    given = [item["id"] for item in run.new]
    found = [f"the id {name} is given twice" for name in checks.repeated(given)]
    found += [f"strike: {name} is no item" for name in run.strike if name not in items_of(run, struck=True)]
    items = items_of(run)
    if not items and not run.left:
        found.append("there is no item")
    served = {cluster for item in items.values() for cluster in item["clusters"]}
    found += [f"{name} in left is not ruled refactor" for name in ids(run.left) if name not in run.wanted]
    found += [f"{name} is in left, and an item serves it" for name in ids(run.left) if name in served]
    open_ones = [name for name in run.wanted if name not in served and name not in ids(run.left)]
    found += [f"no item serves {name}, which is ruled refactor" for name in open_ones]
    for item in items.values():
        found += citation_faults(item, run.wanted)
        found += relation_faults(item, list(items))
    return found or order_faults(items)


def said(value: str) -> str:
    """A value, or nothing for one that was never recorded."""
    return "" if _UNSAID.fullmatch(value) else value


def edited(items: list[Item], edits: Rows) -> tuple[list[Item], list[str]]:
    """The items of earlier rounds with the edits of this one, and the faults of the edits."""
    known: dict[str, dict[str, Any]] = {item["id"]: dict(item) for item in items}
    found = []
    for row in edits:
        name, _, edit = (part.strip() for part in row.partition("|"))
        match = _EDIT.fullmatch(edit)
        if name not in known or match is None:
            found.append(f'edits {row[:60]!r}: write W1 | "old words" -> "new words", of an item of an earlier round')
            continue
        if match["old"] == match["new"]:
            found.append(f"edits {row[:60]!r}: the new words are the old ones; leave it out, or change them")
            continue
        places = [part for part in TEXTS[1:] for _ in range(known[name][part].count(match["old"]))]
        if len(places) == 1:
            known[name][places[0]] = known[name][places[0]].replace(match["old"], match["new"])
        else:
            found.append(
                f"edits {row[:60]!r}: the old words stand {len(places)} times in {name}; quote them so that it is one"
            )
    return list(known.values()), found


def completed(new: Any, kept: list[Item]) -> Any:
    """The items of this round; one of an earlier round has from there what it does not give anew."""
    if not isinstance(new, list):
        return new
    known = {item["id"]: item for item in kept}
    return [{**known.get(str(item.get("id")), {}), **item} if isinstance(item, dict) else item for item in new]


def items_of(run: Recorded, struck: bool = False) -> dict[str, Item]:
    """The items of all rounds by id, the later for the earlier; without those that are struck, unless ``struck``."""
    items = {item["id"]: {**dict.fromkeys(RELATIONS, ()), **item} for item in [*run.kept, *run.new]}
    return {name: item for name, item in items.items() if struck or name not in run.strike}


def content(run: Recorded) -> str:
    """The file: each item with what its clusters say, what was searched and what not, and what stays as it is."""
    items = []
    for item in items_of(run).values():
        served = [run.clusters[name] for name in item["clusters"]]
        held = ids(run.holding)
        items.append(
            {
                "id": item["id"],
                "title": item["title"],
                "clusters": item["clusters"],
                "findings": [one for parts in served for one in re.split(r"[\s,]+", parts[1]) if one in held],
                "places": item["places"],
                "cause": "; ".join(parts[CAUSE] for parts in served),
                "intent": "; ".join(" | ".join(parts[REASON:]) for parts in served),
                **{name: item[name] for name in TEXTS[2:]},
                **{name: list(item[name]) for name in RELATIONS},
            }
        )
    stays = [" | ".join([row[0], *row[RULING:]]) for row in run.clusters.values() if row[RULING] != "refactor"]
    rest = {name: rows for name, rows in (("left", run.left), ("stays", stays), ("unread", run.unread)) if rows}
    return json.dumps({"pick": run.pick, "items": items, **rest}, ensure_ascii=False, indent=1) + "\n"


def form_faults(item: Any, where: str) -> list[str]:
    """What an item lacks or has too much, by its keys."""
    if not isinstance(item, dict):
        return [f"{where} is not an object"]
    where = f"{where} ({item.get('id', 'no id')})"
    found = [f"{where}: {name} is missing or not a text" for name in TEXTS if not is_text(item.get(name))]
    found += [f"{where}: {name} is missing or not a list of texts" for name in LISTS if not is_texts(item.get(name))]
    found += [f"{where}: {name} is not a list of texts" for name in RELATIONS if not is_texts(item.get(name, []))]
    known = (*TEXTS, *LISTS, *RELATIONS)
    found += [f"{where}: {name!r} is no key of an item; take it out" for name in item if name not in known]
    if is_text(item.get("id")) and not _ITEM_ID.fullmatch(item["id"]):
        found.append(f"{where}: an id is W and a number, such as W1")
    if is_text(item.get("size")) and item["size"] not in SIZES:
        found.append(f"{where}: size is one of {', '.join(SIZES)}")
    return found


def citation_faults(item: Item, wanted: Rows) -> list[str]:
    """What an item cites that is not there, and what it fails to cite."""
    name = item["id"]
    found = [f"{name} cites no {kind}" for kind in LISTS if not item[kind]]
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


def is_text(value: object) -> bool:
    """Whether it is a text with something in it."""
    return isinstance(value, str) and bool(value.strip())


def is_texts(value: object) -> bool:
    """Whether it is a list of texts, perhaps empty."""
    return isinstance(value, list) and all(is_text(entry) for entry in value)


def kept_now(new: str, edits: str, strike: str, kept: str) -> list[Item]:
    """The items as they are after this round; what is at fault in them is told by the other call."""
    before, _ = edited(json.loads(kept or "[]"), json.loads(edits or "[]"))
    items = {item["id"]: item for item in before}
    items.update(
        {str(item.get("id")): item for item in completed(json.loads(new or "[]"), before) if isinstance(item, dict)}
    )
    return [item for name, item in items.items() if name not in json.loads(strike or "[]")]


def main(arguments: list[str]) -> int:
    """Print the faults, or write the file and print its path; 0 if it is written. Print the items with ``kept``."""
    if arguments[:1] == ["kept"] and len(arguments) == 5:
        print(json.dumps(kept_now(*map(said, arguments[1:]))))
        return 0
    if len(arguments) != VALUES:
        print("usage: make_items.py VALUE…")
        return 2
    try:
        run = Recorded(arguments)
        found = faults(run)
        if not found:
            free = f"{FOLDER}/{checks.slug(run.pick, 6) or 'items'}"
            print(json.dumps(checks.write_new(content(run), free, ".json", run.path, run.file)))
    except (OSError, ValueError) as error:
        found = [f"the work items cannot be written: {error}"]
    return checks.report(found) if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

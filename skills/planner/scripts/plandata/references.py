"""What the schema cannot say: ids that must be one of a kind, references that must lead somewhere, paths, and stages.

Every function takes a plan of any shape and looks at what has the right form in it, so that one pass finds everything.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from skills.lib.checks import always_passes

from .faults import Fault, nearest
from .form import pointer
from .places import path_fault
from .waves import cycle

if TYPE_CHECKING:
    from collections.abc import Iterator

_DOCUMENTS = (".md", ".markdown", ".rst", ".adoc", ".asciidoc", ".org", ".tex")
_DOCUMENT_NAMES = ("readme", "license", "licence", "notice", "authors", "contributing", "changelog", "changes", "news")


def entries(holder: Any, name: str, at: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a list with the pointer of each."""
    found = holder.get(name) if isinstance(holder, dict) else None
    for number, entry in enumerate(found if isinstance(found, list) else ()):
        if isinstance(entry, dict):
            yield at + pointer(name, number), entry


def texts(holder: Any, name: str, at: str = "") -> Iterator[tuple[str, str]]:
    """The texts of a list with the pointer of each."""
    found = holder.get(name) if isinstance(holder, dict) else None
    for number, entry in enumerate(found if isinstance(found, list) else ()):
        if isinstance(entry, str):
            yield at + pointer(name, number), entry


def reference_faults(plan: Any) -> list[Fault]:
    """Every fault of ids, references and paths."""
    decisions = [str(entry.get("id")) for _, entry in entries(plan, "decisions")]
    milestones = {str(entry.get("id")): entry for _, entry in entries(plan, "milestones")}
    found = list(_twice(plan))
    for at, entry in entries(plan.get("context") if isinstance(plan, dict) else None, "files", "/context"):
        found += _path(at + "/path", entry.get("path"))
    for at, one in entries(plan, "milestones"):
        found += _milestone(at, one, decisions, milestones)
    if not found:
        circle = cycle(
            [
                {"id": name, "depends_on": [other for _, other in texts(one, "depends_on")]}
                for name, one in milestones.items()
            ]
        )
        if circle:
            what = f"milestones depend on each other in a circle: {' -> '.join(circle)}"
            found.append(Fault("/milestones", what, "cut one of these dependencies"))
    return found


def draft_faults(plan: Any) -> list[Fault]:
    """What a plan lacks before code can be written for it."""
    found = [
        Fault(f"{at}/{name}", f"{one.get('id')} is a {one.get('kind')} milestone and has none")
        for at, one in entries(plan, "milestones")
        for name in (("acceptance", "tests", "intent") if one.get("kind") == "code" else ("acceptance",))
        if one.get(name) == []
    ]
    codes = any(one.get("kind") == "code" for _, one in entries(plan, "milestones"))
    testing = plan.get("testing") if isinstance(plan, dict) else None
    commands = testing.get("commands") if isinstance(testing, dict) else None
    if codes and isinstance(commands, dict) and commands.get("test") == []:
        what = "there is no test command, and a milestone changes code"
        found.append(Fault("/testing/commands/test", what, 'lists of arguments, such as ["python", "-m", "unittest"]'))
    return found + list(_proofs_of_nothing(commands))


def _proofs_of_nothing(commands: Any) -> Iterator[Fault]:
    for kind, listed in commands.items() if isinstance(commands, dict) else ():
        for number, argv in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(argv, list) and argv and all(isinstance(word, str) for word in argv) and always_passes(argv):
                what = f"{' '.join(argv)[:120]!r} ends with 0 whatever was done, and proves nothing"
                yield Fault(pointer("testing", "commands", kind, number), what, "a command that fails if the work does")


def is_document(path: str) -> bool:
    """Whether a file is for readers alone, so that changing it needs no review of code."""
    name = os.path.basename(path).lower()
    stem, ending = os.path.splitext(name)
    return ending in _DOCUMENTS or (ending in ("", ".txt") and stem in _DOCUMENT_NAMES)


def _twice(plan: Any) -> Iterator[Fault]:
    kinds = [list(entries(plan, name)) for name in ("decisions", "rejected", "constraints", "risks", "milestones")]
    inside = list(entries(plan, "milestones"))
    kinds += [[pair for at, one in inside for pair in entries(one, name, at)] for name in ("intent", "changes")]
    for pairs in kinds:
        first: dict[str, str] = {}
        for at, entry in pairs:
            name = entry.get("id")
            if isinstance(name, str) and name in first:
                yield Fault(at + "/id", f"{name} is taken by {first[name]}", "an id that nothing else has")
            elif isinstance(name, str):
                first[name] = at


def _path(at: str, path: Any) -> list[Fault]:
    why = path_fault(path) if isinstance(path, str) and path else ""
    return [Fault(at, f"{path!r:.120} is no path of the project: {why}")] if why else []


def _milestone(
    at: str, one: dict[str, Any], decisions: list[str], milestones: dict[str, dict[str, Any]]
) -> Iterator[Fault]:
    files = [path for _, path in texts(one, "files")]
    seen: set[str] = set()
    for where, path in texts(one, "files", at):
        yield from _path(where, path)
        if path.casefold() in seen:
            yield Fault(where, f"{path!r:.120} stands twice in the files of {one.get('id')}")
        seen.add(path.casefold())
        if one.get("kind") == "documentation" and not is_document(path):
            what = f"{path!r:.120} is no document, so this milestone is not one of documentation"
            yield Fault(where, what, "kind code, or files such as docs/guide.md")
    for where, name in texts(one, "depends_on", at):
        yield from _dependency(where, one, name, milestones)
    for where, intent in entries(one, "intent", at):
        yield from _file(where, intent, one, files)
        for place, name in texts(intent, "decisions", where):
            if name not in decisions:
                yield Fault(place, f"there is no decision {name!r:.40}", nearest(name, decisions))
    changed: set[str] = set()
    for where, change in entries(one, "changes", at):
        yield from _file(where, change, one, files)
        path = str(change.get("file"))
        if path in changed:
            yield Fault(where + "/file", f"{one.get('id')} has two changes of {path!r:.120}; join them")
        changed.add(path)


def _dependency(where: str, one: dict[str, Any], name: str, milestones: dict[str, dict[str, Any]]) -> Iterator[Fault]:
    others = [other for other in milestones if other != one.get("id")]
    if name not in others:
        what = "depends on itself" if name == one.get("id") else f"depends on {name!r:.40}, which is no milestone"
        yield Fault(where, f"{one.get('id')} {what}", nearest(name, others))
    elif one.get("kind") == "code" and milestones[name].get("kind") == "documentation":
        what = f"{one.get('id')} changes code and depends on {name}, which is of documentation and comes after all code"
        yield Fault(where, what, "milestones of code")


def _file(where: str, entry: dict[str, Any], one: dict[str, Any], files: list[str]) -> Iterator[Fault]:
    path = entry.get("file")
    if isinstance(path, str) and path and path not in files:
        yield Fault(where + "/file", f"{path!r:.120} is not among the files of {one.get('id')}", nearest(path, files))

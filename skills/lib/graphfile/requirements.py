"""The parameters of a ``workflow.yaml`` and what its steps require, as the model has them."""

from __future__ import annotations

from typing import Any

from skills.lib.graphfile import keys
from skills.lib.graphfile.reader import At, Missing, Reader, plain
from skills.lib.model.requirements import TYPES, Arg, Artifact, Command, Field, Requirement


def options(reader: Reader, given: dict[str, Any], at: At, what: str) -> dict[str, Any]:
    """The entries of a mapping as its class takes them: numbers, switches, lists of texts, and texts."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        place = (*at, name)
        try:
            if name in keys.NUMBERS:
                found[name] = reader.number(value, place, f"{name} of {what}", whole=keys.NUMBERS[name])
            elif name in keys.SWITCHES:
                found[name] = reader.switch(value, place, f"{name} of {what}")
            elif name == "choices":
                found[name] = tuple(reader.texts(value, place, f"choices of {what}"))
            elif name == "type":
                found[name] = reader.word(value, place, TYPES, "the type")
            elif name == "default":
                found[name] = str(value) if given.get("type", "text") == "text" else plain(value)
            else:
                found[name] = reader.text(value, place, f"{name} of {what}").rstrip("\n")
        except Missing:
            continue
    return found


def params(reader: Reader, value: Any) -> list[Arg]:
    """The parameters of the workflow."""
    made = []
    for name, entry in reader.mapping(value, ("params",), "params").items():
        at = ("params", name)
        try:
            given = {"help": entry} if isinstance(entry, str) else entry
            known = reader.known(given, at, keys.PARAM, f"the parameter {name}")
            made.append(reader.made(at, Arg, name, **options(reader, known, at, f"the parameter {name}")))
        except Missing:
            continue
    return made


def requires(reader: Reader, value: Any, at: At, lists: dict[str, list[str]]) -> list[Requirement]:
    """What must be true to leave a step, in order."""
    made = []
    for place, entry in reader.items(value, at, "requires"):
        try:
            made.append(_requirement(reader, entry, place, lists))
        except Missing:
            continue
    return made


def _requirement(reader: Reader, entry: Any, at: At, lists: dict[str, list[str]]) -> Requirement:
    if isinstance(entry, str):
        return reader.made(at, Field, str(entry))
    found = reader.mapping(entry, at, "an entry of requires")
    if "file" in found:
        return _file(reader, found, at)
    if "run" in found:
        return _run(reader, found, at, lists)
    if "field" in found:
        name = reader.text(found["field"], (*at, "field"), "field")
        rest = reader.known({key: found[key] for key in found if key != "field"}, at, keys.FIELD, f"the field {name}")
        return reader.made(at, Field, name, **options(reader, rest, at, f"the field {name}"))
    if len(found) != 1:
        valid = "a field (`name: {…}`), `file: path` or `run: [program, argument]`"
        reader.fail(at, "an entry of requires names one thing", valid, "begin each with a dash of its own")
    ((name, about),) = found.items()
    given = {"help": about} if isinstance(about, str) and about else about or {}
    rest = reader.known(given, (*at, name), keys.FIELD, f"the field {name}")
    return reader.made((*at, name), Field, name, **options(reader, rest, (*at, name), f"the field {name}"))


def _file(reader: Reader, given: dict[str, Any], at: At) -> Artifact:
    known = reader.known(given, at, keys.FILE, "a file of requires")
    schema = known.pop("schema", None)
    if schema is not None:
        schema = plain(reader.mapping(schema, (*at, "schema"), "schema"))
    found = options(reader, known, at, "a file of requires")
    if "file" not in found:
        raise Missing
    return reader.made(at, Artifact, found.pop("file"), schema=schema, **found)


def _run(reader: Reader, given: dict[str, Any], at: At, lists: dict[str, list[str]]) -> Command:
    known = reader.known(given, at, keys.RUN, "a command of requires")
    argv = spread(reader, known.pop("run"), (*at, "run"), "run", lists)
    return reader.made(at, Command, argv, **options(reader, known, at, "a command of requires"))


def spread(reader: Reader, value: Any, at: At, what: str, lists: dict[str, list[str]]) -> list[str]:
    """A list of texts, in which ``$name`` stands for the entries of a named list."""
    found: list[str] = []
    for place, entry in reader.items(value, at, what):
        text = reader.text(entry, place, f"an entry of {what}")
        if not text.startswith("$"):
            found.append(text)
        elif text[1:] in lists:
            found += lists[text[1:]]
        else:
            reader.word(text[1:], place, list(lists), "the list")
    return found


def lists(reader: Reader, value: Any) -> dict[str, list[str]]:
    """The named lists; one may name those before it."""
    found: dict[str, list[str]] = {}
    for name, entry in reader.mapping(value, ("lists",), "lists").items():
        found[name] = spread(reader, entry, ("lists", name), f"the list {name}", found)
    return found

"""What the text of a failure names that may be tried instead: by its form, without knowing any failure."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

Tools = list[dict[str, Any]]
_ASSIGNED = re.compile(r"\b([a-z_]+)=(\"[^\"\n]*\"|'[^'\n]*'|[\w.-]+)")
_MEANT = re.compile(r"did you mean:? [\"'`]?([^\s\"'`?]+)[\"'`]?\?", re.IGNORECASE)
_QUOTED = re.compile(r"[\"'`]([^\"'`\n]{1,200})[\"'`]")
_CHOICES = re.compile(r"(?:choose from|one of|valid:|available:|known:|allowed:)\s*(.+)", re.IGNORECASE)
_PASSING = re.compile(
    r"\b(?:try (?:it )?again|again (?:later|in)|retry|temporar\w+|come back|timed? ?out|busy)\b", re.IGNORECASE
)
_BOUND = re.compile(r"(?:at most|not more than|up to|maximum(?: of)?) (\d[\d,]*)", re.IGNORECASE)
_RANGE = re.compile(r"\b(\d[\d,]*) to (\d[\d,]*)\b")
_SUCH_AS = re.compile(r"such as ([^\n.:]+)")
_SCRIPT = re.compile(r"([\w./-]+\.(?:py|sh|js))\b(.*)")
_PATHLIKE = re.compile(r"[\w./-]*\.\w{1,5}")


class Call(NamedTuple):
    """A call of a tool."""

    tool: str
    arguments: dict[str, Any]

    def changed(self, **values: Any) -> Call:
        """The call with other values of some arguments."""
        return Call(self.tool, {**self.arguments, **values})

    def replaced(self, old: str, new: str) -> Call:
        """The call with a text in place of another, wherever that stands."""
        values = {
            name: value.replace(old, new) if isinstance(value, str) else value for name, value in self.arguments.items()
        }
        return Call(self.tool, values)


def alternatives(failure: str, call: Call, tools: Tools, system: str, about: str) -> list[Call]:
    """The calls that the text of a failure names, in the order in which they are to be tried.

    ``system`` is what lists the files of the skill, ``about`` what the call was for.
    """
    schema = _schema(call.tool, tools)
    found = [
        *_named_commands(failure, tools),
        *_meant(failure, call),
        *_renamed(call, schema, failure),
        *_assigned(failure, call, schema),
        *_chosen(failure, call),
        *_bounded(failure, call, schema),
        *_such_as(failure, call, tools),
        *_listed_scripts(failure, call, system, about),
        *([call] if _PASSING.search(failure) else []),
    ]
    distinct: list[Call] = []
    for one in found:
        if one not in distinct and (one != call or _PASSING.search(failure)):
            distinct.append(one)
    return distinct


def looks(failure: str, call: Call, tools: Tools) -> list[Call]:
    """Calls of the reading tools that the failure names by their names, with what it says of their arguments."""
    found = []
    for tool in tools:
        name, properties = tool["name"], tool["parameters"].get("properties", {})
        if name not in ("read", "search") or not re.search(rf"\b{name}\b", failure):
            continue
        said = [*_ASSIGNED.findall(failure), *re.findall(r'\b(glob) ("[^"]*")', failure)]
        arguments = {given: _value(value, properties[given]) for given, value in said if given in properties}
        path = _path_of(call)
        if name == "read" and path:
            found.append(Call(name, {"path": path, **arguments}))
        elif "glob" in properties and path:
            stem, end = os.path.splitext(os.path.basename(path))
            folder = {"path": path} if "is a folder" in failure else {}
            globs = [arguments["glob"]] if "glob" in arguments else [f"**/*{stem}*", f"**/*{end}" if end else "**/*"]
            found += [Call(name, {**folder, "glob": glob}) for glob in globs]
    missing = [text for text in _QUOTED.findall(failure) if "No such file" in failure and _has(call, text)]
    lister = next((tool for tool in tools if "glob" in tool["parameters"].get("properties", {})), None)
    if missing and lister is not None:
        found.append(Call(lister["name"], {"glob": f"**/*{os.path.splitext(missing[-1])[1]}"}))
    return found


def takes_from(listing: str, failed: Call, failure: str) -> list[Call]:
    """The failed call with the names of a list in place of the one that is not there, the nearest first."""
    missing = next((text for text in reversed(_QUOTED.findall(failure)) if _has(failed, text)), "")
    names = [line.split(":")[0].strip() for line in listing.splitlines() if line.strip() and not line.startswith("[")]
    wrong = _path_of(failed) if not missing or not _has(failed, missing) else missing
    if not wrong or not names:
        return [failed]  # a file that was read may be written now
    near = difflib.get_close_matches(os.path.basename(wrong), [os.path.basename(name) for name in names], 3, 0.3)
    ordered = [name for one in near for name in names if os.path.basename(name) == one] or names[:3]
    return [failed.replaced(wrong, name) for name in dict.fromkeys(ordered) if name != wrong]


def _named_commands(failure: str, tools: Tools) -> Iterator[Call]:
    """Commands that stand in the text between backticks, or a whole call of a tool."""
    offered = [tool["name"] for tool in tools]
    for text in re.findall(r"`([^`\n]+)`", failure):
        if "shell" in offered and " " in text and text.isprintable():
            yield Call("shell", {"command": text})


def _meant(failure: str, call: Call) -> Iterator[Call]:
    for meant in _MEANT.findall(failure):
        head = failure[: failure.index(meant)]
        words = [*reversed(_QUOTED.findall(head)), *reversed(re.findall(r"[\w./-]+", head))]
        wrong = next((word for word in words if word != meant and _has(call, word) and len(word) > 2), "")
        near = difflib.get_close_matches(meant, words, 1, 0.5)
        wrong = near[0] if near and _has(call, near[0]) else wrong
        if wrong:
            yield call.replaced(wrong, meant)


def _renamed(call: Call, schema: dict[str, Any], failure: str) -> Iterator[Call]:
    """The call with the names that its tool knows, if the failure names them."""
    unknown = [name for name in call.arguments if name not in schema]
    free = [name for name in schema if name not in call.arguments and re.search(rf"\b{name}\b", failure)]
    missing = [name for name in free if re.search(rf"\b{name} is missing", failure)] or free
    if unknown and missing:
        yield Call(
            call.tool, {missing[0] if name == unknown[0] else name: value for name, value in call.arguments.items()}
        )
        kept = {name: value for name, value in call.arguments.items() if name not in unknown}
        yield Call(call.tool, kept)


def _assigned(failure: str, call: Call, schema: dict[str, Any]) -> Iterator[Call]:
    for name, value in _ASSIGNED.findall(failure):
        if name in schema:
            yield call.changed(**{name: _value(value, schema[name])})


def _chosen(failure: str, call: Call) -> Iterator[Call]:
    """The call with each of the choices in place of the value that the failure quotes."""
    for line in _CHOICES.findall(failure):
        head = failure[: failure.index(line)]
        names = [name.strip(" '\"`.)") for name in re.split(r", | or |\|", line)]
        if any(" " in name for name in names):  # a sentence
            continue
        wrong = next((word for word in reversed(_QUOTED.findall(head)) if _has(call, word)), "")
        if wrong:
            near = difflib.get_close_matches(wrong, names, 1, 0.4)
            yield from (call.replaced(wrong, name) for name in [*near, *names][:4])


def _bounded(failure: str, call: Call, schema: dict[str, Any]) -> Iterator[Call]:
    numbers = {name: value for name, value in call.arguments.items() if isinstance(value, int)}
    bounds = [int(text.replace(",", "")) for text in _BOUND.findall(failure)]
    bounds += [int(high.replace(",", "")) for _, high in _RANGE.findall(failure)]
    for name, value in numbers.items():
        yield from (call.changed(**{name: bound}) for bound in bounds if bound < value)


def _such_as(failure: str, call: Call, tools: Tools) -> Iterator[Call]:
    """The programs that the failure names for the shell, with the path of the call."""
    path = _path_of(call)
    if path and re.search(r"\bshell\b", failure) and any(tool["name"] == "shell" for tool in tools):
        for text in _SUCH_AS.findall(failure):
            for program in re.split(r", | or ", text):
                yield Call("shell", {"command": f"{program.strip()} {path}"})


def _listed_scripts(failure: str, call: Call, system: str, about: str) -> Iterator[Call]:
    """The scripts that a list names for the same thing, if a program or a script of the call is not there."""
    command = str(call.arguments.get("command", ""))
    if not command or not re.search(r"no program|No such file|not found|No module", failure):
        return
    words = {word.lower() for word in re.findall(r"[A-Za-z]{5,}", about)}
    operands = [word for word in command.split()[1:] if "/" in word or "." in word]
    for path, rest in _SCRIPT.findall(system):
        if words & {word.lower() for word in re.findall(r"[A-Za-z]{5,}", rest)} and path not in command:
            program = {"py": "python", "sh": "sh", "js": "node"}[path.rpartition(".")[2]]
            yield call.changed(command=" ".join([program, path, *operands]))


def _path_of(call: Call) -> str:
    """The path that a call is about."""
    if "path" in call.arguments:
        return str(call.arguments["path"])
    texts = [str(value) for value in call.arguments.values() if isinstance(value, str) and len(value) < 400]
    found = [path for text in texts for path in text.split() if _PATHLIKE.fullmatch(path)]
    return found[-1] if found else ""


def _has(call: Call, text: str) -> bool:
    return any(isinstance(value, str) and text in value for value in call.arguments.values())


def _value(text: str, spec: dict[str, Any]) -> Any:
    plain = text.strip("\"'")
    return int(plain) if spec.get("type") == "integer" and plain.isdigit() else plain


def _schema(tool: str, tools: Tools) -> dict[str, Any]:
    return next((dict(one["parameters"].get("properties", {})) for one in tools if one["name"] == tool), {})

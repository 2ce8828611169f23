"""Makes a Workflow of a ``workflow.yaml`` and its texts, and the JSON that steps are printed from."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from shlex import quote
from typing import Any

from skills.lib import paths
from skills.lib.errors import LockstepError, SkillError, did_you_mean, nearest
from skills.lib.graphfile import compiled_json, keys, requirements
from skills.lib.graphfile.reader import At, GraphFileError, Missing, Problem, Reader, read
from skills.lib.graphfile.steps import Steps
from skills.lib.graphfile.texts import CLOSING, Texts
from skills.lib.model.foreign_data import check_characters
from skills.lib.model.steps import Workflow
from skills.lib.model.types import Before, NeverEndsFailed, Passes
from skills.lib.prompts import read_text
from skills.lib.runtime import compiled, loading
from skills.lib.skillfile.source import SkillFileError


class GraphFile:
    """A compiled ``workflow.yaml``: the workflow, the files that it was made of, and the line of every entry."""

    def __init__(self, reader: Reader, workflow: Workflow, sources: Sequence[str]) -> None:
        self.file = reader.file
        self.workflow = workflow
        self.sources = sources
        self.line = reader.line

    @property
    def target(self) -> str:
        """The path of the JSON that steps are printed from."""
        return paths.compiled_of(self.file)

    def to_json(self) -> str:
        """The JSON that steps are printed from, with a digest of each file that it was made of."""
        folder = os.path.dirname(self.target)
        digests = {
            os.path.relpath(path, folder).replace(os.sep, "/"): compiled.digest_of(path) for path in self.sources
        }
        return compiled_json.to_json(self.workflow.to_data(), digests)


def compile_file(file: str, find: Callable[[str], Callable[..., Any]] | None = None, drafts: bool = False) -> GraphFile:
    """Compile a ``workflow.yaml``. Raises GraphFileError with everything that is wrong, by file and line.

    A draft is refused unless ``drafts``, which is for whoever looks at it. The graph itself is not validated:
    ``registration.require`` does that. A handler that the file names is imported, unless ``find`` gives it.
    """
    file = os.path.abspath(file)
    reader = read(file)
    fields = reader.known(reader.fields, (), keys.WORKFLOW, "a workflow")
    if not drafts:
        _refuse_draft(reader, fields)
    texts = _texts(reader, file)
    try:
        workflow = _workflow(reader, fields, texts, find or _finder(file))
    except Missing:
        workflow = None
    if not reader.problems:
        reader.problems += texts.unused()
    reader.done()
    assert workflow is not None
    reader.made((), check_characters, workflow.to_data())
    reader.done()
    return GraphFile(reader, workflow, [file, *texts.sources])


def lines_of(file: str) -> Callable[[At], int]:
    """What finds the line of an entry of a ``workflow.yaml``; 0 for every entry of one that cannot be read."""
    try:
        return read(file).line
    except GraphFileError:
        return lambda at: 0


def _refuse_draft(reader: Reader, fields: dict[str, Any]) -> None:
    if "draft" in fields and reader.switch(fields["draft"], ("draft",), "draft"):
        folder = os.path.dirname(reader.file)
        skill = quote(min(folder, os.path.relpath(folder), key=len))
        reader.note(
            ("draft",),
            "this is a draft that no person has accepted",
            remedy=f"read it and correct it, then: lockstep adopt {skill} --accept",
        )
        reader.done()


def _texts(reader: Reader, file: str) -> Texts:
    folder = os.path.dirname(file)
    parts = file.split(os.sep)
    if "scripts" in parts[:-1]:
        folder = os.sep.join(parts[: len(parts) - 1 - parts[::-1].index("scripts")])
    try:
        return Texts(file, folder)
    except SkillFileError as error:
        problem = Problem(str(error.path), error.line or 1, error.cause, "", error.remedy)
        raise GraphFileError([problem]) from error


def _finder(file: str) -> Callable[[str], Callable[..., Any]]:
    """What finds a function that is written as ``file.py:function``: the file is beside the entry script."""
    folder = os.path.dirname(paths.compiled_of(file))

    def find(name: str) -> Callable[..., Any]:
        module, _, function = name.partition(":")
        if not module.endswith(".py") or os.path.basename(module) != module or not function.isidentifier():
            valid = "FILE.py:FUNCTION, the file in the skill's scripts folder"
            raise SkillError(f"{name[:80]!r} is no handler", valid=valid)
        path = os.path.join(folder, module)
        if not os.path.isfile(path):
            known = [one for one in (os.listdir(folder) if os.path.isdir(folder) else []) if one.endswith(".py")]
            near = did_you_mean(nearest(module, known))
            raise SkillError(f"there is no {module[:60]} in scripts/{near}", valid=", ".join(sorted(known)))
        try:
            return loading.function_in(path, function)
        except LockstepError as error:
            raise SkillError(error.what, valid=error.valid, remedy=error.remedy) from error

    return find


def _workflow(
    reader: Reader, fields: dict[str, Any], texts: Texts, find: Callable[[str], Callable[..., Any]]
) -> Workflow:
    if "name" not in fields:
        reader.note((), "the workflow has no name", remedy="name: " + os.path.basename(os.path.dirname(reader.file)))
    if "steps" not in fields:
        reader.fail((), "the workflow has no steps", remedy="write `steps:` and each step's id below it")
    lists = requirements.lists(reader, fields["lists"]) if "lists" in fields else {}
    params = requirements.params(reader, fields["params"]) if "params" in fields else []
    given: dict[str, Any] = {"params": params}
    for name in ("title", "description", "unchecked", "start", "output", "reverify", "policy"):
        if name in fields:
            given[name] = " ".join(reader.text(fields[name], (name,), name).split())
    if "tools" in fields:
        given["tools"] = requirements.spread(reader, fields["tools"], ("tools",), "tools", lists)
    if "forbidden" in fields:
        said = texts.texts(reader, fields["forbidden"], ("forbidden",), "forbidden")
        given["forbidden"] = [line for text in said for line in text.splitlines()]
    closing = fields.get("closing")
    if closing is not None:
        given["closing"] = "\n".join(texts.texts(reader, closing, (CLOSING,), CLOSING))
    elif texts.find(CLOSING):
        given["closing"] = texts.sections[CLOSING]
    if "always" in fields:
        given["always"] = _always(reader, fields["always"])
    if "ends" in fields:
        words = reader.mapping(fields["ends"], ("ends",), "ends")
        given["ends"] = {word: reader.text(means, ("ends", word), f"the end {word}") for word, means in words.items()}
    steps = Steps(reader, texts, params, lists, find).made(fields["steps"])
    reader.done()
    return reader.made((), Workflow, reader.text(fields["name"], ("name",), "name"), *steps, **given)


def _always(reader: Reader, value: Any) -> list[Before | Passes | NeverEndsFailed]:
    """The properties of all paths: ``before: [first, then]``, ``passes: step``, ``never-ends-failed: checkpoint``."""
    found: list[Before | Passes | NeverEndsFailed] = []
    for at, entry in reader.items(value, ("always",), "always"):
        given = reader.known(entry, at, keys.ALWAYS, "an entry of always")
        for name, of in given.items():
            place = (*at, name)
            if name == "before":
                pair = reader.texts(of, place, name)
                if len(pair) != 2:
                    reader.fail(place, "before names two steps", remedy="before: [first, then]")
                found.append(Before(*pair))
            elif name == "passes":
                found.append(Passes(reader.text(of, place, name)))
            else:
                found.append(NeverEndsFailed(reader.text(of, place, name)))
    return found


def is_current(file: str) -> bool:
    """True if the JSON of a ``workflow.yaml`` is there and says what the file and its texts say."""
    found = compile_file(file)
    try:
        return read_text(found.target) == found.to_json()
    except SkillError:
        return False

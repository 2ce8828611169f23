"""Skills by name or path, and the workflows that their modules register."""

from __future__ import annotations

import ast
import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import skills
from skills.lib import files, paths
from skills.lib.errors import LockstepError, SkillError, UsageError, did_you_mean, nearest
from skills.lib.graphfile.compiling import compile_file
from skills.lib.graphfile.reader import GraphFileError, read
from skills.lib.hosts.install import source
from skills.lib.model.steps import Workflow
from skills.lib.model.types import Dispatch, Gate, Person
from skills.lib.runtime import loading
from skills.lib.skillfile import SkillFolder, discover
from skills.lib.skillfile.discovery import SCRIPT_LIMIT, graphs_in
from skills.lib.validation import locations, registration

FOLDERS = paths.SKILL_FOLDERS
# What a skill is to a project, the first before the next: a copy has its original somewhere else.
_OWN, _HIDDEN, _COPY, _SHIPPED = range(4)
_GRAPH = f"{paths.MODULE} module or {paths.YAML}"
_NUMBERS = {2: "two", 3: "three"}


@dataclass(frozen=True)
class Loaded:
    """A workflow module of a skill: its workflow, or the error that it raised; its entry script, if it has one."""

    file: str
    script: str | None
    workflow: Workflow | None
    error: LockstepError | None

    def require(self) -> Workflow:
        """The workflow; raises the error of a broken module."""
        if self.workflow is None:
            assert self.error is not None
            raise self.error
        return self.workflow


def shipped() -> str:
    """The folder of the skills that come with Lockstep."""
    return os.path.dirname(os.path.abspath(skills.__file__))


def find(project: str, path: str | None = None) -> list[SkillFolder]:
    """The skills under ``path``; without one those of the project and the shipped ones, each once.

    A folder that is no project (a home, a root) is not searched through: only its folders of skills are.
    """
    if path is not None:
        return discover(path)
    roots = [project]
    if not any(os.path.exists(os.path.join(project, mark)) for mark in (".lockstep", ".git")):
        roots = [folder for name in FOLDERS if os.path.isdir(folder := os.path.join(project, name))]
    found: dict[str, SkillFolder] = {}
    for root in (*roots, shipped()):
        for skill in discover(root):
            found.setdefault(os.path.realpath(skill.path), skill)
    return list(found.values())


def load(skill: SkillFolder, validated: bool = True) -> list[Loaded]:
    """Every workflow of a skill, the one named like the skill first; ``validated=False`` admits invalid graphs."""
    scripts = {str(script) for script in skill.scripts}
    found = []
    for module in skill.workflows:
        script = _script_of(module)
        found.append(load_file(str(module), script if script in scripts else None, validated))
    return sorted(found, key=lambda one: one.workflow is None or one.workflow.name != skill.name)


def load_file(file: str, script: str | None, validated: bool = True) -> Loaded:
    """The workflow of one module; what the module prints while it is loaded goes to standard error.

    A module that is no regular file, is larger than SCRIPT_LIMIT, or is a link out of its project is not loaded.
    """
    try:
        yaml = paths.yaml_of(file)
        _require_loadable(yaml or file)
        with contextlib.redirect_stdout(sys.stderr), _registration(validated), _working_directory():
            workflow = _compiled(yaml, file) if yaml else loading.load_workflow(file)
            return Loaded(file, script, workflow, None)
    except LockstepError as error:
        return Loaded(file, script, None, error)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        what = f"{file} cannot be imported: {type(error).__name__}"
    return Loaded(file, script, None, SkillError(what, remedy="let it only register its workflow"))


def _compiled(yaml: str, file: str) -> Workflow:
    """The workflow that a workflow.yaml says now; steps are printed from the JSON that was compiled of it."""
    workflow = compile_file(yaml, drafts=not registration.demanded).workflow
    registration.require(workflow, file)
    return workflow


def _require_loadable(file: str) -> None:
    """SkillError for a module that is not loaded. Its content is not looked at: it may be a secret of the user."""
    remedy = "put the module itself there"
    if not paths.is_of_project(file):
        raise SkillError(f"{file} is a link that leads out of its project", remedy=remedy)
    if not os.path.lexists(file):
        return  # loading says what is missing
    if not os.path.isfile(file):
        raise SkillError(f"{file} is not a regular file", remedy=remedy)
    if os.path.getsize(file) > SCRIPT_LIMIT:
        raise SkillError(f"{file} is larger than {SCRIPT_LIMIT:,} bytes", remedy="keep long texts in its _prompts.md")


def _working_directory() -> contextlib.AbstractContextManager[None]:
    """Come back to the working directory, wherever a module goes while it is loaded."""
    try:
        return contextlib.chdir(os.getcwd())
    except FileNotFoundError:  # it was removed
        return contextlib.nullcontext()


def one(project: str, name: str, validated: bool = True) -> Loaded:
    """The one workflow that a skill's name, a workflow's name or a path means.

    Raises UsageError with the nearest name for an unknown one, and the error of a module that does not load.
    """
    if os.path.exists(name) and (os.sep in name or name.endswith((".py", ".yaml")) or name in (".", "..")):
        return _at_path(name, validated)
    folder = folder_of(project, name, missing_ok=True)
    if folder is None:
        return _by_workflow(project, name, validated)
    found = load(folder, validated)
    if not found:
        raise UsageError(f"the skill {name} has no workflow: {folder.path} holds no {_GRAPH}")
    if len(found) > 1 and not (found[0].workflow and found[0].workflow.name == name):
        names = [entry.workflow.name for entry in found if entry.workflow]
        raise UsageError(
            f"the skill {name} has {len(found)} workflows", valid=", ".join(names), remedy="name one of them"
        )
    return found[0]


def folder_of(project: str, name: str, missing_ok: bool = False) -> SkillFolder | None:
    """The folder of the skill of that name, or at that path; UsageError names the nearest if there is none.

    With ``missing_ok`` a file, or a name that no skill has, is None: it may be a workflow's.
    """
    if missing_ok and os.path.isfile(name):
        return None
    if os.sep in name or name in (".", ".."):
        if not os.path.exists(name):
            raise _missing(name)
        found = [skill for skill in discover(name) if skill.path == Path(name)]
        if found:
            return found[0]
        scripts = map(_script_of, modules_in(name))
        remedy = next((script for script in scripts if os.path.isfile(script)), "lockstep list")
        raise UsageError(f"{name} is not a skill: it has no SKILL.md", remedy=remedy)
    every = find(project)
    named = [skill for skill in every if skill.name == name]
    if named:
        return meant(project, name, named)
    if missing_ok:
        return None
    raise unknown(name, [skill.name for skill in every])


def _missing(path: str) -> UsageError:
    """The error for a path at which nothing is, with the nearest name in its folder."""
    above, name = os.path.split(path.rstrip(os.sep))
    try:
        near = nearest(name, os.listdir(above or "."))
    except OSError:
        near = ""
    meant = os.path.join(above, near) if near else ""
    return UsageError(f"there is no {path}{did_you_mean(meant)}", remedy="lockstep list, which lists the skills")


def meant(project: str, name: str, found: Sequence[SkillFolder]) -> SkillFolder:
    """The one of several skills that a name means: a project's own before those of hosts, copies and shipped ones.

    UsageError names them all if that does not settle it.
    """
    first = min(_distance(project, skill) for skill in found)
    nearest = [skill for skill in found if _distance(project, skill) == first]
    if len(nearest) > 1 and first < _COPY:
        raise UsageError(
            f"{_NUMBERS.get(len(nearest), len(nearest))} skills are called {name}",
            valid=", ".join(str(skill.path) for skill in nearest),
            remedy="give the path of the one that is meant",
        )
    return nearest[0]


def _distance(project: str, skill: SkillFolder) -> int:
    """How far a skill is from being the project's own."""
    path = str(skill.path)
    if not path.startswith(os.path.join(project, "")):
        return _SHIPPED
    if source.is_copy(path):
        return _COPY
    return _HIDDEN if f"{os.sep}." in path.removeprefix(project) else _OWN


def unknown(name: str, names: Sequence[str]) -> UsageError:
    """The error for a name that no skill has; the nearest one is offered."""
    what = f"there is no skill {name!r:.80}{did_you_mean(nearest(name, names))}"
    return UsageError(what, valid=", ".join(sorted(set(names))) or "none found", remedy="lockstep list")


def sources(project: str) -> dict[str, str]:
    """The folder of each skill that can be installed, by its name: the shipped ones, and the project's own.

    A project's skill with the name of a shipped one is left out. If a project has two skills of one name, the one in a
    host's hidden folder is left out.
    """
    found = shipped_sources()
    own = [str(skill.path) for skill in find(project)]
    for folder in sorted(own, key=lambda folder: f"{os.sep}." in folder.removeprefix(project)):
        if not source.is_copy(folder):
            found.setdefault(os.path.basename(folder), folder)
    return found


def shipped_sources() -> dict[str, str]:
    """The folder of each skill that comes with Lockstep."""
    return {skill.name: str(skill.path) for skill in find(shipped(), shipped())}


def chosen_sources(project: str, names: Sequence[str]) -> dict[str, str]:
    """The folders of the skills of these names or paths; UsageError for an unknown one, or for two of one name."""
    known = shipped_sources()
    found: dict[str, str] = {}
    for name in names:
        if name in known:
            folder = known[name]
        else:
            given = folder_of(project, name)
            assert given is not None
            name, folder = given.name, str(given.path)
        if found.setdefault(name, folder) != folder:
            raise UsageError(f"two skills are called {name}: {found[name]} and {folder}", remedy="give one of them")
    return found


def check_name(project: str, name: str, besides: Iterable[str] = ()) -> None:
    """UsageError, with the nearest name, unless it is a skill's, a workflow's, or one of ``besides``.

    Nothing is imported: a name is no reason to run what the project's modules do.
    """
    every = find(project)
    names = [skill.name for skill in every]
    if name in (*names, *besides):
        return
    workflows = [found for skill in every for module in skill.workflows for found in _written_names(module)]
    if name not in workflows:
        raise unknown(name, [*names, *workflows, *besides])


def _written_names(module: Path) -> list[str]:
    """The names of workflows that a module or YAML file gives as plain texts; none if it cannot be parsed."""
    yaml = paths.yaml_of(str(module))
    if yaml:
        try:
            name = read(yaml).fields.get("name")
        except GraphFileError:
            return []
        return [str(name)] if isinstance(name, str) else []
    try:
        tree = ast.parse(files.read(module, SCRIPT_LIMIT))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    return [
        first.value
        for call in calls
        if getattr(call.func, "id", getattr(call.func, "attr", "")) == "Workflow"
        and isinstance(first := call.args[0], ast.Constant)
        and isinstance(first.value, str)
    ]


def modules_in(folder: str) -> list[Path]:
    """The workflow modules in the ``scripts`` of a folder, whether or not it has a SKILL.md."""
    return [file for file in graphs_in(Path(folder)) if file.is_file() or paths.yaml_of(str(file))]


def handed_out(workflows: Mapping[str, Workflow]) -> set[str]:
    """The entry scripts whose workflows another one of the same skill has its sub-agents walk, by real path.

    ``workflows`` has the workflows of a skill by their entry scripts.
    """
    return {
        os.path.realpath(os.path.join(os.path.dirname(script), step.handler.script))
        for script, workflow in workflows.items()
        for step in workflow.steps
        if isinstance(step.handler, Dispatch) and step.handler.script
    }


def _script_of(module: str | Path) -> str:
    """The entry script beside a workflow module, whether it exists or not."""
    name = str(module)
    return name.removesuffix(paths.MODULE if name.endswith(paths.MODULE) else paths.COMPILED) + ".py"


def module_of(path: str) -> str:
    """The graph that a path means: its own, or that of an entry script or YAML file; UsageError for another file."""
    if paths.is_graph(path):
        return path
    if os.path.basename(path) == paths.YAML or path.endswith("_" + paths.YAML):
        return paths.compiled_of(path)
    module = paths.graph_of(path)
    if path.endswith(".py") and (os.path.isfile(module) or paths.yaml_of(module)):
        return module
    raise UsageError(f"{path} is neither a skill, an entry script nor a {_GRAPH}", remedy="lockstep list")


def kind(handler: object) -> str:
    """What a step's handler makes of it: gate, person, dispatch, or step."""
    if isinstance(handler, Gate):
        return "gate"
    if isinstance(handler, Person):
        return "person"
    return "dispatch" if isinstance(handler, Dispatch) else "step"


def _at_path(path: str, validated: bool) -> Loaded:
    if os.path.isdir(path):
        folder = folder_of("", os.path.join(path, "").rstrip(os.sep) or os.sep)
        assert folder is not None
        found = load(folder, validated)
        if len(found) != 1 and not (found and found[0].workflow and found[0].workflow.name == folder.name):
            modules = ", ".join(entry.file for entry in found) or "none"
            raise UsageError(f"{path} has {len(found)} workflows", valid=modules, remedy="give the path of one module")
        return found[0]
    module = module_of(path)
    script = _script_of(module)
    return load_file(module, script if os.path.isfile(script) else None, validated)


def _by_workflow(project: str, name: str, validated: bool) -> Loaded:
    every = find(project)
    loaded = [
        (skill, entry, entry.workflow.name) for skill in every for entry in load(skill, validated) if entry.workflow
    ]
    named = [skill for skill, _, workflow in loaded if workflow == name]
    if not named:
        raise unknown(name, [*(skill.name for skill in every), *(workflow for _, _, workflow in loaded)])
    one = meant(project, name, named)
    return next(entry for skill, entry, workflow in loaded if skill is one and workflow == name)


@contextlib.contextmanager
def _registration(validated: bool) -> Iterator[None]:
    """Let an invalid graph register, so that it can be drawn, or all of its findings shown with their lines."""
    before = registration.demanded
    registration.demanded = validated
    try:
        with contextlib.nullcontext() if validated else locations.remembered():
            yield
    finally:
        registration.demanded = before

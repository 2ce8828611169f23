"""Where things are: the project's root, its ledger, the user's cache; by os.path, because pathlib costs 5 ms."""

from __future__ import annotations

import os

# The folder of a project's ledger, unless LOCKSTEP_HOME names another.
FOLDER = ".lockstep"
# Beside the ledger: values that are too long for a block.
CONTEXT = "context"
# The ends of the names of a graph's module and of a compiled graph, and the name of what that is compiled of.
MODULE, COMPILED, YAML = "_workflow.py", "_workflow.json", "workflow.yaml"
# Where hosts look for the skills of a project.
SKILL_FOLDERS = ("skills", ".claude/skills", ".agents/skills")
# What programs make anew: no content of a project, unless git tracks it.
MADE = frozenset(
    "__pycache__ node_modules .venv venv .tox .nox .mypy_cache .ruff_cache .pytest_cache .hypothesis".split()
)
# The beginning of each script that an installation wrote.
INSTALLED = b"# Written by lockstep install"
# How often a path is resolved anew, as many as the links that Linux follows in one.
_MOST_LINKS = 40


def project_root(start: str | None = None) -> str:
    """The nearest folder from ``start`` (default: the working directory) up that has .lockstep or .git, else it.

    The user's home folder and a shared folder such as /tmp hold many projects: they are the root of none below them.
    """
    start = os.path.realpath(start or os.getcwd())
    folder = start
    while folder == start or not holds_projects(folder):
        if os.path.isdir(os.path.join(folder, FOLDER)) or os.path.exists(os.path.join(folder, ".git")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return start


def holds_projects(folder: str) -> bool:
    """True for the user's home folder, and for a folder in which everybody may make files (the sticky bit is set)."""
    try:
        mode = os.stat(folder).st_mode
    except OSError:
        return False
    return bool(mode & 0o1000) or folder == os.path.realpath(os.path.expanduser("~"))


def home(project: str, given: str = "") -> str:
    """The folder of the ledger and its companions: the given one, else LOCKSTEP_HOME, else .lockstep.

    A relative one is in the project.
    """
    return os.path.join(project, given or os.environ.get("LOCKSTEP_HOME") or FOLDER)


def link_in(home: str, *below: str) -> str:
    """The first link among the ledger's folder and the folders below it that are named; empty if there is none.

    Whoever wrote the project may have put it there, to have something written or read elsewhere. Only a folder that the
    user names, by LOCKSTEP_HOME, may be a link itself.
    """
    if not os.environ.get("LOCKSTEP_HOME") and os.path.islink(home):
        return home
    for name in below:
        home = os.path.join(home, name)
        if os.path.islink(home):
            return home
    return ""


def search_paths() -> dict[str, str]:
    """Where programs and modules are looked for (PATH and PYTHONPATH), as text that can be kept and printed."""
    found = {"path": os.environ.get("PATH", ""), "pythonpath": os.environ.get("PYTHONPATH", "")}
    return {name: "".join(char if char.isprintable() else "?" for char in path) for name, path in found.items()}


def folder_of(pattern: str) -> str:
    """The folder that all paths of a glob lie in, empty for the project; the path itself if it is no glob."""
    at = min((pattern.find(char) for char in "*?[{" if char in pattern), default=-1)
    return pattern if at < 0 else pattern[:at].rpartition("/")[0]


def state() -> str:
    """The folder of what Lockstep keeps for a user (LOCKSTEP_STATE, or lockstep/ in XDG_STATE_HOME or ~/.local/state).

    A relative XDG_STATE_HOME is none, as its specification has it: it would be another folder in each project.
    """
    given = os.environ.get("LOCKSTEP_STATE")
    if given:
        return given
    base = os.environ.get("XDG_STATE_HOME", "")
    base = base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "lockstep")


def data() -> str:
    """The user's data folder of Lockstep; a relative setting is none, as it would lead elsewhere in each project."""
    given = os.environ.get("LOCKSTEP_DATA", "")
    if os.path.isabs(given):
        return given
    base = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_DATA_HOME", "")
    return os.path.join(
        base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".local", "share"), "lockstep"
    )


def cache() -> str:
    """The user's cache folder for Lockstep; XDG_CACHE_HOME is respected if it is absolute, as its standard demands."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    base = base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "lockstep")


def bytecode() -> str:
    """The folder for the bytecode of modules outside of the library."""
    return os.path.join(os.path.abspath(cache()), "bytecode")


def library() -> str:
    """The folder that holds the package of this library, with a separator at its end."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


def of_skill(path: str) -> str:
    """The file of a skill at ``path`` or, if it is not there, that of the shipped skill of the same name.

    An installed skill has its graph, its texts and thin scripts. The rest of its code is with the library.
    """
    return path if os.path.exists(path) else _shipped(path) or path


def of_layer(script: str, project: str, skill: str, file: str) -> str:
    """The file of a core skill whose layer a run of ``script`` has."""
    beside = os.path.dirname(script.rpartition(f"{os.sep}scripts{os.sep}")[0])
    found = core(script, project, skill) or os.path.join(beside, skill)
    return of_skill(os.path.join(found, "scripts", file))


def core(script: str, project: str, skill: str) -> str:
    """The folder of a core skill for a run of ``script``: beside its skill, shipped, or of the project; or ""."""
    beside = os.path.dirname(script.rpartition(f"{os.sep}scripts{os.sep}")[0])
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [os.path.join(folder, skill) for folder in (beside, package)]
    folders += [os.path.join(project, folder, skill) for folder in SKILL_FOLDERS]
    return next((folder for folder in folders if os.path.isfile(os.path.join(folder, "SKILL.md"))), "")


def helper_of_skill(path: str) -> str:
    """The helper script of a skill that ``path`` means; for an installed shipped skill, always that of the library.

    A file of that name in the folder of an installed skill is no part of the installation.
    """
    shipped = _shipped(path)
    return shipped if shipped and _is_installed(path) else of_skill(path)


def _shipped(path: str) -> str:
    """The file of the shipped skill that has the name of the one at ``path``; empty if there is none."""
    skill, mark, below = path.rpartition(f"{os.sep}scripts{os.sep}")
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    shipped = os.path.join(package, os.path.basename(skill), "scripts", below)
    return shipped if mark and os.path.exists(shipped) else ""


def _is_installed(path: str) -> bool:
    """True if ``path``, a file of a skill's scripts, is in the folder of a skill that an installation wrote."""
    skill = path.rpartition(f"{os.sep}scripts{os.sep}")[0]
    entry = os.path.join(skill, "scripts", os.path.basename(skill).replace("-", "_") + ".py")
    try:
        with open(entry, "rb") as file:
            return file.read(len(INSTALLED)) == INSTALLED
    except OSError:
        return False


def scripts(file: str) -> str:
    """The folder of the skill's scripts that a helper script ``file`` of it serves: LOCKSTEP_SCRIPTS, else its own.

    The two differ if the skill is installed: its helpers are with the library (see ``of_skill``).
    """
    return os.environ.get("LOCKSTEP_SCRIPTS") or os.path.dirname(os.path.realpath(file))


def real(path: str) -> str:
    """The path with every link followed. Raises UsageError if its links have no end.

    Behind a loop of links ``os.path.realpath`` follows none: ``loop/../out`` becomes ``out``, which may be a link.
    """
    from skills.lib.errors import UsageError  # the hook needs it seldom

    for _ in range(_MOST_LINKS):
        before, path = path, os.path.realpath(path)
        if path == before:
            return path
    raise UsageError(f"{path!r:.200} leads through links without an end", valid="a path without a loop of links")


def within(root: str, path: str) -> str:
    """The resolved form of ``path`` under ``root``; UsageError if it leads outside, links followed."""
    resolved = real(os.path.join(root, path))
    if resolved.startswith(root + os.sep):
        return resolved
    base = os.path.realpath(root)
    if resolved != base and not resolved.startswith(base.rstrip(os.sep) + os.sep):
        from skills.lib.errors import UsageError

        raise UsageError(f"{path!r} leads outside {base}", valid="a path under that folder")
    return resolved


def graph_of(script: str) -> str:
    """The file with the graph of an entry script ``x.py``: ``x_workflow.py`` beside it, or ``x_workflow.json``.

    That JSON is compiled of a ``workflow.yaml``; it may not be there yet, and a module that is missing is no file.
    """
    stem = script.removesuffix(".py")
    module, compiled = stem + MODULE, stem + COMPILED
    if os.path.isfile(module) or not (os.path.isfile(compiled) or yaml_of(compiled)):
        return module
    return compiled


def is_graph(file: str) -> bool:
    """True for the name of a graph's file; ``x_workflow.py`` is a script if it has a graph of its own."""
    if not file.endswith(MODULE):
        return file.endswith(COMPILED)
    own = graph_of(file)
    return not (os.path.isfile(own) or yaml_of(own))


def compiled_of(source: str) -> str:
    """The JSON that a YAML file with a graph is compiled to.

    ``x/workflow.yaml`` becomes ``x/scripts/x_workflow.json``, ``y_workflow.yaml`` becomes ``y_workflow.json``.
    """
    source = os.path.abspath(source)
    if source.endswith("_" + YAML):
        return source[: -len("_" + YAML)] + COMPILED
    folder = os.path.dirname(source)
    return os.path.join(folder, "scripts", os.path.basename(folder).replace("-", "_") + COMPILED)


def yaml_of(compiled: str) -> str:
    """The YAML file that compiled JSON is made of; empty if it is not there, and for a module."""
    if not compiled.endswith(COMPILED):
        return ""
    beside = compiled[: -len(COMPILED)] + "_" + YAML
    if os.path.isfile(beside):
        return beside
    above = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(compiled))), YAML)
    return above if compiled_of(above) == os.path.abspath(compiled) and os.path.isfile(above) else ""


def has_own_graph(script: str) -> bool:
    """True if the graph that is loaded for a script is beside the script itself, the links of both followed."""
    graph = graph_of(script)
    ending = MODULE if graph.endswith(MODULE) else COMPILED
    return os.path.realpath(graph) == os.path.realpath(script).removesuffix(".py") + ending


def is_of_project(file: str) -> bool:
    """True unless a link at ``file`` leads out of the project that its folder, links followed, is in."""
    return not os.path.islink(file) or is_within(project_root(os.path.dirname(os.path.abspath(file))), file)


def is_within(root: str, path: str) -> bool:
    """True if ``path``, its links followed, is under ``root``."""
    from skills.lib.errors import UsageError

    try:
        within(root, path)
    except (UsageError, ValueError, OSError):
        return False
    return True

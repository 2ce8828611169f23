"""Loads the module that holds a skill's graph, under a name that no other skill has."""

from __future__ import annotations

import _imp
import _thread  # threading brings functools and collections
import os
import sys

from skills.lib import paths
from skills.lib.errors import SkillError
from skills.lib.model.steps import REGISTRY, Workflow

TYPE_CHECKING = False
if TYPE_CHECKING:
    import importlib._bootstrap_external as external
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

else:
    # The same code as importlib.util's, which brings contextlib and collections along: 3 ms.
    import _frozen_importlib_external as external

SUFFIX = paths.MODULE
# A script ``x.py`` with a file ``x_choice.py`` beside it hands over to the script that a flag chooses.
CHOICE = "_choice.py"
# By module: two copies of a skill may be loaded in one process, and the registry keeps one workflow of a name.
_LOADED: dict[ModuleType, Workflow] = {}
# By path: compiled graphs, each with the time and size of its file.
_COMPILED: dict[str, tuple[tuple[int, int], Workflow]] = {}
# Held while a module is loaded: another thread that wants it waits until it is whole.
_LOADING = _thread.RLock()

# The folder of this library, whose bytecode is beside its sources as for any other package.
_LIBRARY = paths.library()


class _Loader(external.SourceFileLoader):
    """Loads a skill's module; its bytecode is kept in the user's cache.

    Bytecode beside the source may have come with a cloned project, and need not be made from that source.
    """

    def get_data(self, path: str) -> bytes:
        return super().get_data(self._in_cache(path))

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        super().set_data(self._in_cache(path), data, _mode=_mode)

    def _in_cache(self, path: str) -> str:
        """Where the bytecode of that path is kept; the path itself for the source, and if the user names a folder."""
        if path == self.path or sys.pycache_prefix is not None or self.path.startswith(_LIBRARY):
            return path
        folder = os.path.splitdrive(os.path.dirname(self.path))[1].lstrip(os.sep)
        return os.path.join(paths.bytecode(), folder, os.path.basename(path))


# The folders of loaded modules, where an import statement finds modules by ``_finder``; in ``scripts`` at any depth.
_FOLDERS: set[str] = set()
_SCRIPTS = f"{os.sep}scripts{os.sep}"


def _finder(folder: str) -> external.FileFinder:
    """What finds the modules of a skill's folder for an import statement; ImportError for any other folder."""
    if folder.startswith(_LIBRARY) or _folder_of(folder) not in _FOLDERS:
        raise ImportError
    extensions = (external.ExtensionFileLoader, _imp.extension_suffixes())
    return external.FileFinder(folder, (_Loader, external.SOURCE_SUFFIXES), extensions)


def _folder_of(folder: str) -> str:
    """The folder ``scripts`` around a folder; itself if there is none."""
    real = os.path.realpath(folder) + os.sep
    before, mark, _ = real.rpartition(_SCRIPTS)
    return before + mark or real


def _find_modules_of(folder: str) -> None:
    """Let import statements load the modules of a skill's folder as ``_Loader`` does."""
    own = _folder_of(folder)
    if own in _FOLDERS or own.startswith(_LIBRARY):
        return
    _FOLDERS.add(own)
    if _finder not in sys.path_hooks:
        sys.path_hooks.insert(0, _finder)
    others = (_LIBRARY, os.path.dirname(os.__file__), sys.prefix + os.sep)
    for known in list(sys.path_importer_cache):  # Python has looked for the library in the folder of the script
        if not known.startswith(others) and _folder_of(known) == own:
            del sys.path_importer_cache[known]


def module_name(path: str) -> str:
    """The unique name for a module file of a skill: ``lockstep_skill.<skill>.<path below it>``.

    It holds no absolute path, so that a handler has the same name, and the graph the same fingerprint, anywhere.
    """
    parts = os.path.abspath(path)[: -len(".py")].split(os.sep)
    below = next((at for at in range(len(parts) - 1, 0, -1) if parts[at] == "scripts"), len(parts) - 1)
    return ".".join(["lockstep_skill", *parts[max(below - 1, 0) :]])


def load_module(path: str) -> ModuleType:
    """Import the file under its unique name and return the module; SkillError says what is wrong in the skill."""
    with _LOADING:
        return _module(os.path.abspath(path))


def _module(path: str) -> ModuleType:
    name = module_name(path)
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == path:
        return known
    if not os.path.isfile(path):
        from skills.lib.runtime import missing_graph  # only a graph that is not there needs it

        raise SkillError(f"{path} is missing", remedy=missing_graph.remedy(path))
    loader = _Loader(name, path)
    spec = external.spec_from_file_location(name, path, loader=loader)
    module = type(sys)(name)
    module.__spec__, module.__file__, module.__loader__ = spec, path, loader
    sys.modules[name] = module
    _find_modules_of(os.path.dirname(path))
    try:
        loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        from skills.lib.runtime import suggestions  # only a module that cannot be loaded needs them

        suggestions.raise_explained(error, path)
        raise
    return module


def load_workflow(path: str) -> Workflow:
    """The workflow that a module file registers, or compiled JSON holds; SkillError if a module registers not one."""
    path = os.path.abspath(path)
    with _LOADING:
        if path.endswith(paths.COMPILED):
            return _compiled(path)
        module = load_module(path)
        if module in _LOADED:
            return _LOADED[module]
        found = [entry.workflow for entry in list(REGISTRY.values()) if os.path.abspath(entry.file) == path]
        if len(found) != 1:
            remedy = "end it with register_workflow(WORKFLOW)"
            raise SkillError(f"{path} registers {len(found)} workflows", valid="one", remedy=remedy)
        _LOADED[module] = found[0]
        return found[0]


def _compiled(path: str) -> Workflow:
    """The workflow of compiled JSON, which is loaded again once the file has changed."""
    try:
        about = os.stat(path)
        state = (about.st_mtime_ns, about.st_size)
    except OSError:  # loading says what is missing
        state = (0, 0)
    known = _COMPILED.get(path)
    if known is None or known[0] != state:
        from skills.lib.runtime import compiled  # most graphs are Python modules

        known = _COMPILED[path] = state, compiled.load(path, lambda name: _named(path, name))
    return known[1]


def _named(path: str, name: Any) -> Callable[..., Any]:
    """The function that compiled JSON names, which is in a file beside it; SkillError for any other."""
    module, _, function = name.partition(":") if isinstance(name, str) else ("", "", "")
    file = os.path.join(os.path.dirname(path), module.rpartition(".")[2] + ".py")
    if module_name(file) != module or file == path.removesuffix(paths.COMPILED) + ".py":  # that runs a step
        raise SkillError(f"{path} names the function {name!r:.120}, which is in no file beside it")
    return function_in(file, function)


def function_in(file: str, function: str) -> Callable[..., Any]:
    """The function of that name in a file of handlers. SkillError for another file, or a link out of the folder."""
    if os.path.dirname(os.path.realpath(file)) != os.path.realpath(os.path.dirname(file)):
        raise SkillError(f"{file} is a link that leads out of its folder", remedy="put the file itself there")
    found: Any = getattr(load_module(file), function, None)
    if not callable(found) or getattr(found, "__module__", "") != module_name(file):
        raise SkillError(f"{file} has no function {function!r:.80}", remedy="def decide(ctx): return Outcome.OK")
    return found  # type: ignore[no-any-return]


def workflow_of_script(script: str) -> Workflow:
    """The workflow of an entry script: ``x.py`` has its graph in ``x_workflow.py`` or ``x_workflow.json`` beside it."""
    if not script:
        raise SkillError("the run has no script: its workflow is in no file")
    return load_workflow(paths.graph_of(script))

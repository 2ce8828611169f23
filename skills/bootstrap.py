r"""Starts a step script: checks the Python, then hands over. Parses on any Python, so that it can say what it needs.

Every script under ``scripts/`` has the same head; only N, the number of folders up to the one that holds ``skills/``,
differs: 4 for ``skills/<skill>/scripts/x.py``, 5 one folder deeper.

    import os
    import sys

    root = os.path.realpath(__file__)
    for _ in range(4):
        root = os.path.dirname(root)
    if root not in sys.path:
        sys.path.insert(0, root)

    try:
        from skills.bootstrap import main
    except ImportError:
        try:  # another package skills is nearer on the path
            from lockstep.bootstrap import main
        except ImportError:
            sys.stderr.write("lockstep: the package lockstep-skills is not installed for %s\n" % sys.executable)
            sys.stderr.write("  try:   a Python that has it, such as .venv/bin/python; or pip install /path/to/lockstep\n")
            sys.exit(4)

    main(__file__)
"""

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # for the comments: annotations of this kind parse on any Python
    from collections.abc import Sequence  # noqa: F401
    from importlib.machinery import ModuleSpec  # noqa: F401


def main(script, module=""):
    # type: (str, str) -> None
    """Run the script ``x.py`` by the graph in ``x_workflow.py`` beside it, and exit with its code.

    ``module`` is no longer read: older heads name the graph's module there.
    """
    try:
        check_python()
        if sys.dont_write_bytecode and sys.pycache_prefix is None:
            # Without any bytecode cache a step takes three times as long; this one stays out of the tree.
            base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
            sys.pycache_prefix = os.path.join(base, "lockstep", "bytecode")
            sys.dont_write_bytecode = False
        # A call lives for milliseconds and keeps little: collecting garbage would cost more than it frees.
        gc.disable()
        sys.meta_path.insert(0, _Finder)
        from skills.lib.runtime.script import run

        run(os.path.realpath(script))
    except KeyboardInterrupt:
        os._exit(130)


# Packages whose __init__.py has a docstring alone: a step does not read it.
_PLAIN = frozenset("skills.lib.%s" % name for name in ("blocks", "engine", "model", "validation", "workflow"))


class _Finder:
    """Finds the modules of this library by their names alone: Python would list their folders, which costs half a millisecond."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        # type: (str, Sequence[str] | None, object) -> ModuleSpec | None
        """What Python's own finder returns for a module of ours; None for any other module."""
        if not name.startswith("skills.") or not path:
            return None
        import _frozen_importlib_external as external  # Python's own, and loaded

        place = os.path.join(path[0], name.rpartition(".")[2])
        if name in _PLAIN:
            spec = type(sys.__spec__)(name, None, is_package=True)
            spec.submodule_search_locations = [place]
            return spec
        for file, below in ((place + ".py", None), (os.path.join(place, "__init__.py"), [place])):
            try:
                os.stat(file)
            except OSError:
                continue
            loader = external.SourceFileLoader(name, file)
            return external.spec_from_file_location(name, file, loader=loader, submodule_search_locations=below)
        return None


def run_helper(script, name):
    # type: (str, str) -> None
    """Run the helper ``<skill>/scripts/<name>.py`` that came with Lockstep, for an installed skill's ``script``."""
    check_python()
    helper = os.path.join(os.path.dirname(os.path.realpath(__file__)), *name.split("/"))
    os.environ["LOCKSTEP_SCRIPTS"] = os.path.dirname(os.path.realpath(script))
    sys.path.insert(0, os.path.dirname(helper))
    import runpy

    runpy.run_path(helper, run_name="__main__")


def check_python():
    # type: () -> None
    """Exit with 4, and say what is needed, if this Python cannot run Lockstep."""
    if sys.version_info < (3, 11):
        found = ".".join([str(part) for part in sys.version_info[:3]])
        sys.stderr.write("lockstep: needs Python 3.11 or later, and this is %s (%s)\n" % (found, sys.executable))
        sys.stderr.write("  try:   run the same command with python3.11 or later in place of the interpreter\n")
        sys.exit(4)

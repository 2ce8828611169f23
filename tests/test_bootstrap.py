"""Entry scripts on every Python of this machine: too old ones say so, the others print the first step."""

from __future__ import annotations

import ast
import os
import pwd
import re
import subprocess
import sys
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from skills import bootstrap
from skills.lib import paths
from skills.lib.runtime import loading
from skills.lib.testing import Agent
from skills.lib.testing.commands import text_of
from tests.fixtures import skill
from tests.skills.samples import samples_of

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = sorted(
    path
    for path in ROOT.glob("skills/*/scripts/**/*.py")
    if re.search(r"^main\(__file__\)", path.read_text(encoding="utf-8"), re.MULTILINE)
)
NAMES = ["python2.7", *(f"python3.{minor}" for minor in range(6, 15))]

SERVING = [path for path in SCRIPTS if os.path.isfile(paths.graph_of(str(path)))]
# One script of each depth: what any interpreter makes of it, it makes of the others, whose heads are the same.
KINDS = list({len(path.parts): path for path in reversed(SERVING)}.values())


@cache
def interpreters() -> dict[tuple[int, int], str]:
    """The real interpreters by version, from PATH and from pyenv in the user's home, not the test's."""
    home = os.environ.get("PYENV_ROOT") or os.path.join(pwd.getpwuid(os.getuid()).pw_dir, ".pyenv")
    candidates = [*NAMES, *(str(path) for path in sorted(Path(home, "versions").glob("*/bin/python")))]
    found = {}
    code = "import sys; print('%d %d %s' % (sys.version_info[0], sys.version_info[1], sys.executable))"
    for candidate in candidates:
        try:
            printed = subprocess.run([candidate, "-c", code], capture_output=True, text=True, timeout=20, check=True)
        except (OSError, subprocess.SubprocessError):
            continue
        major, minor, executable = printed.stdout.strip().split(" ", 2)
        found[int(major), int(minor)] = executable
    return found


def old() -> list[str]:
    return [path for version, path in sorted(interpreters().items()) if version < (3, 11)]


def new() -> list[str]:
    return [path for version, path in sorted(interpreters().items()) if version >= (3, 11)]


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)


def head(script: Path) -> str:
    """The lines after the docstring, with N left open."""
    source = script.read_text(encoding="utf-8")
    docstring = ast.parse(source).body[0]
    assert isinstance(docstring, ast.Expr), f"{script} has no docstring"
    lines = "\n".join(source.splitlines()[docstring.end_lineno :]).strip()
    return re.sub(r"range\(\d+\)", "range(N)", lines)


def test_a_module_of_the_library_is_found_where_python_finds_it() -> None:
    library = ROOT / "skills" / "lib"
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sorted(library.rglob("*.py"))]
    for name in {name.removesuffix(".__init__") for name in names} - bootstrap._PLAIN:
        folder = [os.path.join(ROOT, *name.split(".")[:-1])]
        found, pythons = bootstrap._Finder.find_spec(name, folder), PathFinder.find_spec(name, folder)
        assert found is not None
        assert pythons is not None
        for attribute in ("name", "origin", "cached", "has_location", "parent", "submodule_search_locations"):
            assert getattr(found, attribute) == getattr(pythons, attribute), name
        assert type(found.loader) is type(pythons.loader)


@pytest.mark.parametrize("name", sorted(bootstrap._PLAIN))
def test_a_package_that_is_not_read_has_a_docstring_alone(name: str) -> None:
    folder = ROOT.joinpath(*name.split("."))
    (docstring,) = ast.parse((folder / "__init__.py").read_text(encoding="utf-8")).body
    assert isinstance(docstring, ast.Expr)
    found = bootstrap._Finder.find_spec(name, [str(folder.parent)])
    assert found is not None
    assert (found.loader, found.submodule_search_locations) == (None, [str(folder)])


@pytest.mark.parametrize("name", ["skills.lib.no_such_module", "skills.decision-critic", "other.lib", "json.decoder"])
def test_any_other_module_is_left_to_python(name: str) -> None:
    """A folder without __init__.py is one of them."""
    assert bootstrap._Finder.find_spec(name, [os.path.join(ROOT, *name.split(".")[:-1])]) is None


def test_there_are_entry_scripts() -> None:
    assert len(SCRIPTS) >= 4


@pytest.mark.req("W-13")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_entry_script_has_the_documented_head(script: Path) -> None:
    documented = re.search(r"\n    import os\n(?:    .*\n|\n)+", bootstrap.__doc__ or "")
    assert documented is not None
    lines = "\n".join(line[4:] for line in documented[0].splitlines()).strip()
    lines = lines.replace("range(4)", "range(N)")
    assert head(script) == lines


@pytest.mark.req("W-13")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_n_leads_to_the_root_and_the_graph_is_beside(script: Path) -> None:
    source = script.read_text(encoding="utf-8")
    [number] = re.findall(r"range\((\d+)\)", source)
    assert script.parents[int(number) - 1] == ROOT
    assert script in SERVING or script.with_name(script.stem + loading.CHOICE).is_file()


@pytest.mark.skipif(not old(), reason="no Python before 3.11 on this machine")
@pytest.mark.parametrize("python", old())
@pytest.mark.parametrize("script", KINDS, ids=lambda path: path.stem)
def test_an_old_python_shows_what_is_needed(script: Path, python: str, tmp_path: Path) -> None:
    done = run([python, str(script), "--step", "1"], tmp_path)
    assert "needs Python 3.11 or later" in done.stderr
    assert python in done.stderr
    assert "SyntaxError" not in done.stderr
    assert "Traceback" not in done.stderr
    assert (done.returncode, done.stdout) == (4, "")


def prints_its_first_step(script: Path, python: str, folder: Path) -> bool:
    agent = Agent(script, folder, values=samples_of(script).values)
    arguments = [
        word for name, value in agent.parameters().items() for word in (f"--{name.replace('_', '-')}", text_of(value))
    ]
    done = run([python, str(script), "--step", "1", *arguments], folder)
    # The Commands of an automatic step run while the run is opened.
    said = r"(lockstep: running \S+ .*\n)+" if agent.workflow.steps[0].automatic else ""
    assert done.returncode == 0
    assert re.fullmatch(said, done.stderr)
    assert f' skill="{agent.workflow.name}" ' in done.stdout
    return done.stdout.startswith(("<step ", "<waiting "))


@pytest.mark.req("W-13")
@pytest.mark.parametrize("script", SERVING, ids=lambda path: path.stem)
def test_every_script_prints_its_first_step_from_any_folder(script: Path, tmp_path: Path) -> None:
    assert prints_its_first_step(script, sys.executable, tmp_path)


@pytest.mark.req("W-13")
@pytest.mark.parametrize("python", new())
@pytest.mark.parametrize("script", KINDS, ids=lambda path: path.stem)
def test_a_newer_python_prints_the_first_step(script: Path, python: str, tmp_path: Path) -> None:
    # The test's own Python has networkx and leaves the seal that a bare one needs.
    for interpreter in (sys.executable, python):
        assert prints_its_first_step(script, interpreter, tmp_path)


INTERRUPTED_AT = """
import os, runpy, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job in the background ignores it

def trace(frame, event, argument):
    if frame.f_code.co_name == sys.argv[1]:
        sys.settrace(None)
        os.kill(os.getpid(), signal.SIGINT)
    return None

sys.argv[:] = [sys.argv[2], sys.argv[1]]
script, name = sys.argv
sys.argv[1:] = [name]
sys.settrace(trace)
runpy.run_path(script, run_name="__main__")
"""


@pytest.mark.parametrize("where", ["check_python", "exit_code"])
def test_an_early_interrupt_ends_a_script_without_a_traceback(tmp_path: Path, where: str) -> None:
    done = run([sys.executable, "-c", INTERRUPTED_AT, where, str(SERVING[0])], tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.req("W-13")
def test_a_linked_script_finds_its_root(tmp_path: Path) -> None:
    [script] = [path for path in SCRIPTS if path.stem == "problem_analysis"]
    link = tmp_path / "link.py"
    link.symlink_to(script)
    done = run([sys.executable, str(link), "--step", "1"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert ' skill="problem-analysis" ' in done.stdout


def test_a_script_with_the_older_head_goes_on_working(tmp_path: Path) -> None:
    script = skill.install(tmp_path, "tour")
    older = script.read_text().replace("skills.bootstrap", "skills._bootstrap")
    script.write_text(older.replace("main(__file__)", 'main(__file__, "tour_workflow")'))
    done = run([sys.executable, str(script), "--step", "1", "--stateless"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")

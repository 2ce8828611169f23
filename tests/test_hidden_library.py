"""A repository has a package ``skills`` of its own, which Python finds before Lockstep's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parent.parent
# pytest without the other plugins that are installed here, which take long to import.
LEAN = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
OWN_TEST = """
from skills.mine import double

def test_double():
    assert double(2) == 4
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a regular package ``skills``, which its own test imports."""
    package = tmp_path / "repository" / "skills"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('NAME = "mine"\n')
    (package / "mine.py").write_text("def double(number):\n    return 2 * number\n")
    (package.parent / "test_mine.py").write_text(OWN_TEST)
    (package.parent / ".git").mkdir()
    return package.parent


def python(repository: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Python in the repository, which is first on its path; Lockstep comes after it, as if it were installed."""
    path = os.pathsep.join([str(repository), str(ROOT)])
    environment = {**os.environ, **LEAN, "PYTHONPATH": path}
    environment.pop("LOCKSTEP_HOME", None)
    return subprocess.run(
        [sys.executable, *words], cwd=repository, env=environment, capture_output=True, text=True, timeout=120
    )


def run_tests(repository: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """pytest with the plugin, by its name: it is then loaded before all else, as an installed one is."""
    plugins = ["-p", "no:lockstep", "-p", "lockstep.pytest_plugin", "-p", "no:cacheprovider"]
    return python(repository, "-m", "pytest", "-q", *plugins, *words)


@pytest.fixture
def greet(repository: Path) -> Path:
    """The entry script of a new skill of the repository."""
    made = python(repository, "-m", "lockstep", "new", "greet")
    assert made.returncode == 0, made.stderr
    return repository / "skills" / "greet" / "scripts" / "greet.py"


def test_the_repositorys_own_tests_run(repository: Path) -> None:
    done = run_tests(repository)
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_the_plugin_imports_neither_package(repository: Path) -> None:
    (repository / "skills" / "__init__.py").write_text('raise RuntimeError("imported")\n')
    (repository / "test_other.py").write_text(
        "import sys\n\ndef test_it():\n    assert not [name for name in sys.modules if name.startswith('skills')]\n"
    )
    done = run_tests(repository, "test_other.py")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_skill_of_the_repository_is_served_and_tested(repository: Path, greet: Path) -> None:
    first = python(repository, str(greet), "--step", "1")
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.startswith('<step protocol="1" skill="greet" id="frame"')
    assert python(repository, str(greet), "--version").stdout.startswith("lockstep ")
    (repository / "test_served.py").write_text(
        "def test_served(lockstep):\n    run = lockstep('skills/greet')\n    assert run.start().step == 'frame'\n"
    )
    done = run_tests(repository)
    assert (done.returncode, "4 passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_a_shipped_script_and_the_command_are_served(repository: Path) -> None:
    script = ROOT / "skills" / "problem-analysis" / "scripts" / "problem_analysis.py"
    step = python(repository, str(script), "--step", "1", "--stateless")
    assert (step.returncode, step.stdout.startswith('<step protocol="1" skill="problem-analysis"')) == (0, True)
    listed = python(repository, "-m", "lockstep", "list", "--json")
    assert (listed.returncode, "problem-analysis" in listed.stdout) == (0, True), listed.stderr


def test_both_packages_are_imported_in_one_process(repository: Path) -> None:
    code = (
        "import skills.mine; from lockstep import Workflow; from skills.lib.model.steps import Workflow as same\n"
        "print(skills.NAME, skills.mine.double(2), Workflow is same)"
    )
    assert python(repository, "-c", code).stdout == "mine 4 True\n"


def test_the_example_of_the_documents_runs_there(repository: Path) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    example, _, rest = page.partition("```python\n")[2].partition("```\n\n```text\n")
    done = python(repository, "-c", example)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == rest.partition("```")[0] != ""


HIDING = {
    "a package of its name": "skills/lib/__init__.py",
    "a folder of its name": "skills/lib/notes.txt",
    "a bootstrap": "skills/bootstrap.py",
}


def hides(path: Path) -> str:
    return (
        f"{path} hides Lockstep's own {ROOT / 'skills'}\n"
        "  try:   rename it, or run the command where it is not on Python's path (working directory, PYTHONPATH)\n"
    )


@pytest.mark.parametrize("file", HIDING.values(), ids=HIDING)
def test_a_script_and_an_import_say_what_hides_the_library(repository: Path, greet: Path, file: str) -> None:
    path = repository / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    message = hides(path.parent if path.suffix == ".txt" else path)
    step = python(repository, str(greet), "--step", "1")
    assert (step.returncode, step.stdout, step.stderr) == (4, "", f"lockstep: {message}")
    imported = python(repository, "-c", "from lockstep import Workflow")
    assert imported.stderr.endswith(f"lockstep.library.Hidden: {message}")


def test_only_the_tests_of_skills_fail_if_the_library_is_hidden(repository: Path) -> None:
    hiding = repository / "skills" / "bootstrap.py"
    hiding.write_text("")
    (repository / "test_served.py").write_text("def test_served(lockstep):\n    lockstep('skills/greet')\n")
    done = run_tests(repository)
    assert (done.returncode, "1 failed, 1 passed" in done.stdout) == (1, True), done.stdout + done.stderr
    assert hides(hiding) in done.stdout
    # A command's process is Lockstep's alone: nothing hides the library from it.
    assert python(repository, "-m", "lockstep", "list").returncode == 0


def run_pytest_alone(repository: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command ``pytest``: other than ``python -m pytest`` it does not put the working directory on the path."""
    environment = {**os.environ, **LEAN, "PYTHONPATH": str(ROOT)}
    plugins = ["-p", "no:lockstep", "-p", "lockstep.pytest_plugin", "-p", "no:cacheprovider"]
    command = [sys.executable, "-P", "-m", "pytest", "-q", *plugins, *words]
    return subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, timeout=120)


def test_the_repositorys_package_is_found_though_a_skills_test_comes_first(repository: Path, greet: Path) -> None:
    assert (greet.parents[1] / "tests" / "test_greet.py").is_file()
    for words in ([], ["--rootdir", os.fspath(repository.parent)]):
        done = run_pytest_alone(repository, "-k", "double", "-v", *words)
        assert (done.returncode, "1 passed, 2 deselected" in done.stdout) == (0, True), done.stdout + done.stderr


def test_a_session_finds_lockstep_where_no_package_of_the_repository_hides_it(tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    (tmp_path / "test_it.py").write_text(
        "import skills, skills.lib\n\ndef test_it():\n    assert skills.__version__ == skills.lib.__version__\n"
    )
    done = run_pytest_alone(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


HIDES = {"a package of its name": "skills/lib/__init__.py", "a module": "skills.py"}


@pytest.mark.parametrize("run", [run_tests, run_pytest_alone])
@pytest.mark.parametrize("file", HIDES.values(), ids=HIDES)
def test_the_test_of_a_new_skill_says_what_hides_the_library_and_the_others_run(
    tmp_path: Path, repository: Path, greet: Path, file: str, run: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    if file == "skills.py":
        (repository / "skills").rename(repository / "agent-skills")
        (repository / "test_mine.py").write_text("import skills\n\ndef test_it():\n    assert not skills.__doc__\n")
    hiding = repository / file
    hiding.parent.mkdir(exist_ok=True)
    hiding.write_text("")
    done = run(repository)
    assert (done.returncode, "1 failed, 1 passed" in done.stdout) == (1, True), done.stdout + done.stderr
    assert hides(hiding) in done.stdout
    assert "Traceback" not in done.stdout


def test_a_test_that_imports_skills_lib_says_what_hides_it(repository: Path) -> None:
    hiding = repository / "skills" / "lib" / "__init__.py"
    hiding.parent.mkdir()
    hiding.write_text("")
    (repository / "test_skill.py").write_text("from skills.lib.testing import every_transition\n")
    (repository / "test_own.py").write_text("import skills.lib.own\n")
    done = run_tests(repository, "test_skill.py")
    assert (done.returncode, hides(hiding) in done.stdout) == (1, True), done.stdout + done.stderr
    named = run_tests(repository, "test_skill.py::test_every_transition")
    assert f"Hidden: {hides(hiding).splitlines()[0]}" in named.stdout
    # What Lockstep does not have either is Python's error.
    own = run_tests(repository, "test_own.py")
    assert "ModuleNotFoundError: No module named 'skills.lib.own'" in own.stdout


def test_a_module_of_the_name_hides_the_library(tmp_path: Path) -> None:
    (tmp_path / "skills.py").write_text("")
    done = python(tmp_path, "-c", "from lockstep import Workflow")
    assert f"{tmp_path / 'skills.py'} hides Lockstep's own " in done.stderr
    (tmp_path / "test_none.py").write_text("def test_none():\n    pass\n")
    assert run_tests(tmp_path).returncode == 0


def test_a_package_that_cannot_be_imported_is_not_a_missing_lockstep(repository: Path, greet: Path) -> None:
    (repository / "skills" / "__init__.py").write_text("import nothing_here\n")
    done = python(repository, str(greet), "--step", "1")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == "lockstep: No module named 'nothing_here'\n"


def test_the_library_through_a_link_hides_nothing(repository: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(ROOT)
    paths = f"import sys; sys.path[:0] = [{str(link)!r}, {str(ROOT)!r}]"
    code = f"{paths}; import lockstep; sys.path.pop(0); lockstep.Workflow"
    done = python(repository, "-c", code)
    assert done.returncode == 0, done.stderr

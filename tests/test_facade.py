"""The package ``lockstep``: what programs import, each name the very object of the library."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path

import pytest
from hatchling.build import build_wheel

import lockstep
from skills.lib.hosts.install import export

ROOT = Path(__file__).resolve().parent.parent
BLOCK = next(
    node
    for node in ast.parse(Path(str(lockstep.__file__)).read_text(encoding="utf-8")).body
    if isinstance(node, ast.If)
)
# What a type checker sees: the name and the module that defines it.
TYPED = {
    alias.name: str(node.module) for node in BLOCK.body if isinstance(node, ast.ImportFrom) for alias in node.names
}


def test_the_names_are_sorted_and_a_type_checker_sees_each() -> None:
    assert lockstep.__all__ == sorted(lockstep.__all__) == sorted(TYPED)
    assert dir(lockstep) == lockstep.__all__
    assert {"Workflow", "StepDef", "Outcome", "Field", "Gate", "Runner"} <= set(lockstep.__all__)


@pytest.mark.parametrize("name", lockstep.__all__)
def test_each_name_is_the_object_of_the_library_that_defines_it(name: str) -> None:
    found = getattr(lockstep, name)
    assert found is getattr(import_module(TYPED[name]), name)
    assert found.__module__ == TYPED[name]
    assert found.__doc__


def test_each_name_and_no_other_is_documented() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `(\w+)", page, re.MULTILINE)) == lockstep.__all__


def test_another_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="module 'lockstep' has no attribute 'Workflows'"):
        lockstep.Workflows  # noqa: B018
    with pytest.raises(ImportError):
        exec("from lockstep import Workflows")


def test_the_import_loads_nothing_of_the_library() -> None:
    code = "import sys, lockstep; print([name for name in sys.modules if name.startswith('skills')])"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[]\n"


def test_the_wheel_holds_both_packages_and_names_the_entry_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    wheel = zipfile.ZipFile(tmp_path / build_wheel(os.fspath(tmp_path)))
    names = wheel.namelist()
    for file in (ROOT / "lockstep").iterdir():
        assert not file.is_file() or f"lockstep/{file.name}" in names
    assert "skills/lib/__init__.py" in names
    [points] = [name for name in names if name.endswith("entry_points.txt")]
    assert wheel.read(points).decode().split() == [
        *("[console_scripts]", "lockstep", "=", "lockstep.__main__:main"),
        *("[pytest11]", "lockstep", "=", "lockstep.pytest_plugin"),
    ]


def test_the_library_that_is_imported_already_serves(tmp_path: Path) -> None:
    for name, data in export.vendored().items():
        if not name.startswith("lockstep"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(data)
    code = (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]; import skills, lockstep\n"
        "print(lockstep.__file__); print(sys.modules[lockstep.Workflow.__module__].__file__)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == [str(ROOT / "lockstep" / "__init__.py"), str(tmp_path / "skills/lib/model/steps.py")]

"""The isolation that every test relies on."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path

from skills.lib import paths

REAL_HOME = pwd.getpwuid(os.getuid()).pw_dir


def test_the_real_home_is_out_of_reach(forbidden_home: str) -> None:
    assert Path.home() == Path(forbidden_home)
    assert os.path.realpath(forbidden_home) != os.path.realpath(REAL_HOME)
    assert not os.path.realpath(paths.cache()).startswith(os.path.realpath(REAL_HOME) + os.sep)


def test_subprocesses_are_isolated_too(forbidden_home: str) -> None:
    code = "import os; print(os.path.expanduser('~'))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == forbidden_home


def test_each_test_has_a_ledger_of_its_own_first(own_ledger: Path) -> None:
    own_ledger.mkdir(parents=True)
    assert paths.home("/anywhere") == str(own_ledger)
    assert os.listdir(own_ledger) == []


def test_each_test_has_a_ledger_of_its_own_second(own_ledger: Path) -> None:
    assert not own_ledger.exists()

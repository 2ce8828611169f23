"""Every test runs away from the real home, and the session ends with the requirements and their tests."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest

from skills.lib import launcher, terminal
from skills.lib.ledger.database import Database
from tests.requirements_report import RequirementsReport

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

# Set before anything is collected: importing a test module may already register a workflow, which leaves a seal.
ISOLATED = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
UNSET = ("LOCKSTEP_HOME", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "PYTHONPATH", *terminal.AGENTS)
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
# How many slow tests the session leaves out.
LEFT_OUT = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    home = tempfile.mkdtemp(prefix="lockstep-home-")
    saved = {name: os.environ.get(name) for name in (*ISOLATED, *UNSET, NO_BYTECODE)}

    def restore() -> None:
        for name, value in saved.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        shutil.rmtree(home, ignore_errors=True)

    for name in ISOLATED:
        os.environ[name] = os.path.join(home, name.lower())
        os.mkdir(os.environ[name])
    for name in UNSET:
        os.environ.pop(name, None)
    # Commands are long, so that a test can take one apart; those about short ones switch them on.
    saved[launcher.SWITCH] = os.environ.get(launcher.SWITCH)
    os.environ[launcher.SWITCH] = "off"
    config.add_cleanup(restore)
    config.pluginmanager.register(RequirementsReport(config), "lockstep-requirements")


def pytest_collection_finish() -> None:
    """From here on: tests write a module twice within a second, which its bytecode does not tell apart."""
    sys.dont_write_bytecode = True
    os.environ[NO_BYTECODE] = "1"


def pytest_deselected(items: list[pytest.Item]) -> None:
    stash = items[0].config.stash
    stash[LEFT_OUT] = stash.get(LEFT_OUT, 0) + sum(item.get_closest_marker("slow") is not None for item in items)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Each worker of a parallel session collects the same tests."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    count = config.stash.get(LEFT_OUT, 0)
    if count and "slow" in config.getoption("markexpr"):
        terminalreporter.line(f"{count} slow tests were left out; make test-all runs them, as CI does")


@pytest.fixture(scope="session", autouse=True)
def forbidden_home() -> Iterator[str]:
    """The home that tests have: a folder of this session, where nothing of the user's can be read or harmed."""
    home = os.path.expanduser("~")
    assert os.path.basename(os.path.dirname(home)).startswith("lockstep-home-"), home
    yield home
    assert os.path.expanduser("~") == home, "a test changed HOME and did not put it back"


@pytest.fixture(autouse=True)
def own_ledger(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The ledger's folder of this test (LOCKSTEP_HOME), so that no test sees another's runs or writes in the tree.

    A test about the ledger's place in the project deletes the variable.
    """
    folder = tmp_path_factory.getbasetemp() / "ledgers" / os.urandom(6).hex()
    monkeypatch.setenv("LOCKSTEP_HOME", str(folder))
    return folder


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Children of this test get SIGINT's default: a shell without job control starts what is behind ``&`` without."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def closed_ledgers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close what a test leaves open, as the end of its process would: Python 3.13 warns of the rest."""
    opened: list[Database] = []
    connect = Database.connect

    def remember(database: Database) -> None:
        connect(database)
        opened.append(database)

    monkeypatch.setattr(Database, "connect", remember)
    yield
    for database in opened:
        database.close()

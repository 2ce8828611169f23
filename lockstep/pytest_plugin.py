"""The pytest plugin: a ``lockstep`` fixture that runs a skill in an empty project, through its printed commands.

pytest loads it in every session of its environment: it imports nothing of the library until the fixture is used. A
package ``skills`` of the repository's own is imported before Lockstep's; if it hides the library, tests of skills fail.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from lockstep import library

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from skills.lib.testing.session import Session

library.use()  # tests import skills.lib.testing


class HiddenLibrary(pytest.Item):
    """In place of a test module that could not be imported because another module hides the library: it fails."""

    message = ""

    def runtest(self) -> None:
        """Fail with the message that says which file hides the library, and what to do."""
        raise pytest.fail.Exception(self.message, pytrace=False)

    def reportinfo(self) -> tuple[Path, None, str]:
        """The module, as the headline of the failure."""
        return self.path, None, self.nodeid


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Let tests import the repository's own package ``skills``, whichever test is imported first."""
    folders = str(early_config.rootpath), str(early_config.invocation_params.dir)
    sys.meta_path.insert(0, library.OwnFirst(*folders))


# The form of a wrapper that older versions of pytest know, too.
@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, None]:
    """In place of a test module that finds the library hidden, report a test that fails: all other tests are run."""
    outcome = yield
    call = getattr(outcome.get_result(), "call", None)
    error = call.excinfo.value.__cause__ if call is not None and call.excinfo is not None else None
    # A test that is named by itself would not be found.
    if isinstance(error, library.Hidden) and not any("::" in word for word in collector.config.args):
        test = HiddenLibrary.from_parent(collector, name="lockstep")
        test.message = str(error)
        outcome.force_result(pytest.CollectReport(collector.nodeid, "passed", None, [test]))


@pytest.fixture
def lockstep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str | Path], Session]:
    """Run a skill in an empty project of this test, through the commands that its steps print.

    Called with the path of a skill's folder or entry script, it gives a session::

        def test_a_vague_question_is_asked_back(lockstep):
            run = lockstep("skills/problem-analysis")
            run.start()
            run.next(problem="it is slow", verdict="ask")
            assert run.step == "gate"
            run.command(run.block.next.replace("--step next", "--step report"))
            assert run.refused == "skipped-step"

    ``run.block`` is the printed document, ``run.project`` the folder, ``run.write`` puts a file there.
    """
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)
    monkeypatch.delenv("LOCKSTEP_LEDGER_URL", raising=False)

    def begin(where: str | Path) -> Session:
        try:
            session = library.load("skills.lib.testing.session")
        except library.Hidden as hidden:
            raise pytest.fail.Exception(str(hidden), pytrace=False) from None
        return session.begin(where, tmp_path / "project")  # type: ignore[no-any-return]

    return begin

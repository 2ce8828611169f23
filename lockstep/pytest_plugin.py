"""The pytest plugin: a ``lockstep`` fixture that runs a skill in an empty project, through its printed commands.

pytest loads it in every session of its environment: it imports nothing of the library until the fixture is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lockstep import library

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skills.lib.testing.session import Session

library.use()  # tests import skills.lib.testing


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

    def begin(where: str | Path) -> Session:
        try:
            session = library.load("skills.lib.testing.session")
        except library.Hidden as hidden:
            raise pytest.fail.Exception(str(hidden), pytrace=False) from None
        return session.begin(where, tmp_path / "project")  # type: ignore[no-any-return]

    return begin

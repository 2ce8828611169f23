"""The payloads of the gateway's tests as paths, globs and texts: nothing outside of the project is shown or changed."""

from __future__ import annotations

import contextlib

import pytest

from skills.lib.errors import LockstepError
from tests.agent.tools.conftest import Session
from tests.extent import extent
from tests.gateway.conftest import SECRET, Setup, fill, payloads, setup  # noqa: F401  a fixture


@pytest.mark.slow
def test_no_path_of_a_payload_reaches_what_is_around(setup: Setup) -> None:  # noqa: F811
    session = Session(setup.project)
    before = setup.outside()
    count = 0
    for payload in payloads()[:: extent(4, 1)]:
        text = setup.payload(payload)
        calls = {
            "read": {"path": text},
            "write": {"path": text, "content": "x\n"},
            "edit": {"path": text, "old": "x", "new": "y"},
            "search": {"path": text, "glob": "*"},
        }
        for name, arguments in calls.items():
            with contextlib.suppress(LockstepError):
                assert SECRET not in session.call(name, **arguments), (name, payload)
                count += 1
    assert count > extent(25, 100)
    for text in (setup.payload(one) for one in payloads()[::10]):
        for arguments in ({"glob": text}, {"pattern": text}):
            with contextlib.suppress(LockstepError):
                assert SECRET not in session.call("search", **arguments), text
    assert setup.outside() == before
    assert not setup.canary.exists()
    fill(setup.project)

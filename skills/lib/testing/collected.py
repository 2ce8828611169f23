"""A pytest plugin for ``lockstep status``: writes which routes of which scripts the collected tests walk.

A test walks what its parameters ``script`` and ``walk`` say: those of ``every_transition``, and of a test of one's own
that hands them to ``check_walk``. It is no part of the plugin that is always there.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from skills.lib.testing.walks import Walk

if TYPE_CHECKING:
    import pytest

# The file to write to: {"routes": {script: [[step, route], …]}, "failed": {file: why it cannot be collected}}.
VARIABLE = "LOCKSTEP_COLLECTED"
_FAILED: dict[str, str] = {}


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Keep the last line of why a file cannot be collected."""
    if report.failed:
        _FAILED[report.nodeid] = (report.longreprtext.strip().splitlines() or [""])[-1].removeprefix("E").strip()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write the routes; a test that is deselected is none of ``session.items``."""
    found: dict[str, set[tuple[str, str]]] = {}
    for item in session.items:
        given = getattr(getattr(item, "callspec", None), "params", {})
        script, walk = given.get("script"), given.get("walk")
        if isinstance(script, (str, Path)) and isinstance(walk, Walk):
            routes = {(leg.step, leg.route.value) for leg in walk.legs}
            found.setdefault(os.path.realpath(script), set()).update(routes)
    text = json.dumps({"routes": {script: sorted(routes) for script, routes in found.items()}, "failed": _FAILED})
    Path(os.environ[VARIABLE]).write_text(text, encoding="utf-8")

"""What the scripted agent reports for doc-sync: one document that is true, and one finding that needs a fix."""

from __future__ import annotations

from typing import Any

from skills.lib.testing.samples import any_of

VALUES: dict[str, Any] = {
    "scope": "repo",
    "discover.areas": any_of(
        ["docs | does it hold? | docs/a.md", "code.py | what is not said? | code.py"],
        ["docs | does it hold? | docs/a.md"],
    ),
    "discover.left_out": [],
    "audit.findings": any_of(
        ["D1 | drift | docs/a.md:1 | says one | says two, code.py:1"],
        ["D1 | exempt | docs/a.md:1 | says one | that is so"],
    ),
    "audit.compared": ["docs/a.md:1 | says one | code.py:1 `ONE`"],
    "migrate.undone": ["D1 | the user has to say"],
    "migrate.homes": [],
    "indexes.indexes": [],
    "indexes.exceptions": [],
}
FILES: dict[str, str] = {
    "docs/a.md": "It says one; see [the code](../code.py).\n",
    "code.py": "ONE = 1\n",
}

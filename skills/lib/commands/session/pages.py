"""Opens the HTML pages that a run made in the browser of a person."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skills.lib import paths
from skills.lib.commands.console.screen import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.commands.console.screen import Screen

# More pages are not opened at once.
MOST = 5
_SUFFIXES = (".html", ".htm")


def show(screen: Screen, project: str, outputs: Sequence[Mapping[str, Any]]) -> None:
    """Open the pages among the files that a run made, and say which could not be opened."""
    made = [str(file["path"]) for file in outputs if str(file["path"]).lower().endswith(_SUFFIXES)]
    for path in made[:MOST]:
        screen.say(one_line(f"{path} {'is opened' if _opened(project, path) else 'cannot be opened: no browser does'}"))
    if len(made) > MOST:
        screen.say(f"{len(made) - MOST:,} pages more are not opened")


def _opened(project: str, path: str) -> bool:
    import webbrowser
    from pathlib import Path

    whole = os.path.realpath(os.path.join(project, path))
    return paths.is_within(project, whole) and os.path.isfile(whole) and webbrowser.open(Path(whole).as_uri())

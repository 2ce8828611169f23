"""Walks planner and its executor on a small project: from a change request to a reviewed plan, and on to green tests.

The story is the one that the tests tell: every report of an agent is read off the project's files and off what runs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.fixtures.shop_story.telling import Teller  # noqa: E402
from tests.fixtures.shop_story.walk import REQUEST  # noqa: E402


def main() -> int:
    """Run the demo and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=Path, help="a folder to write planning.html and execution.html into")
    options = parser.parse_args()
    os.environ.pop("LOCKSTEP_HOME", None)
    console = Console(highlight=False, soft_wrap=True)
    with tempfile.TemporaryDirectory(prefix="lockstep-demo-") as temporary:
        story = Teller(console, Path(temporary, "shop")).story
        console.print(Text(f"The request: {REQUEST}\n", style="bold"))
        story.plan()
        console.print(
            Text(f"\nThe plan is approved; its versions: {', '.join(sorted(story.versions))}\n", style="bold")
        )
        story.carry_out()
        console.print()
        for name, run in {"planning": story.planned, "execution": story.carried_out}.items():
            if options.pages:
                options.pages.mkdir(parents=True, exist_ok=True)
                page = (options.pages / f"{name}.html").resolve()
                story.lockstep("trace", run, "--html", str(page), "--force")
                console.print(Text(f"wrote {page}"))
    return 0


if __name__ == "__main__":
    sys.exit(main())

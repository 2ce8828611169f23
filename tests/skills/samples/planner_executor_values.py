"""What the scripted agent reports for the executor and its sub-agents, with plans for each of its ways."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from skills.lib import paths
from skills.lib.engine.decision import Move
from skills.lib.ledger import Ledger
from skills.lib.model.run import Run
from skills.lib.runtime.loading import workflow_of_script
from skills.lib.testing.samples import any_of
from skills.planner.scripts.plandata.form import content_id
from tests.skills.follower import SKILLS

if TYPE_CHECKING:
    from pathlib import Path

# One wave and two of which the files have moved on, one milestone that is there, documents alone, one whose command is
# red until the end, and one whose command changes one of its files.
PLANS = ALONE, TWO, ONE, NONE, RED, DRIFT = [
    f"plans/{name}" for name in ("alone", "two", "one", "none", "red", "drift")
]


def milestone(name: str, path: str, kind: str, after: list[str], known: bool = True) -> dict[str, Any]:
    """A milestone that makes one file of one line, or whose file was changed by nobody knows what."""
    intent = {"id": name.replace("M", "I"), "file": path, "behaviour": "It holds one line.", "decisions": []}
    diff = f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+one = 1\n"
    if not known:
        diff = f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-one = 0\n+one = 1\n"
    return {
        "id": name,
        "title": f"There is {path}",
        "kind": kind,
        "files": [path],
        "requirements": ["It holds one line."],
        "acceptance": ["It can be read."],
        "tests": ["Reading it gives one line."],
        "depends_on": after,
        "intent": [intent],
        "changes": [{"id": name.replace("M", "CH"), "file": path, "diff": diff, "comments": []}],
    }


def plan(*milestones: dict[str, Any], test: str = "") -> str:
    """A whole plan of these milestones, as a saved version holds it; ``test`` is Python that its one command runs."""
    command = [sys.executable, "-c", test] if test else [sys.executable, "-m", "compileall", "-q", "src"]
    whole = {
        "schema": 1,
        "title": "Files of one line",
        "request": "Make files that hold one line each.",
        "context": {"summary": "There are none so far.", "files": [], "patterns": []},
        "testing": {
            "strategy": "Reading them.",
            "commands": {"test": [command], "lint": None, "types": None},
        },
        "decisions": [],
        "rejected": [],
        "constraints": [],
        "risks": [],
        "invisible_knowledge": [],
        "milestones": list(milestones),
    }
    return json.dumps(whole)


def moved(*milestones: dict[str, Any]) -> list[dict[str, Any]]:
    """The same milestones, whose files the plan knows no more."""
    return [milestone(one["id"], one["files"][0], one["kind"], one["depends_on"], known=False) for one in milestones]


FIRST, SECOND = milestone("M-001", "src/one.py", "code", []), milestone("M-002", "src/two.py", "code", ["M-001"])
PAPER = milestone("M-003", "docs/one.md", "documentation", [])

# Red until the run has passed the review of documents.
AT_THE_END = """
from pathlib import Path
passed = b'"from":"implementation-docs-review"'
exit(not any(passed in path.read_bytes() for path in Path('.lockstep').glob('runs.db*')))
"""

# Changes a file of the plan once that is put in.
AFTERWARDS = """
from pathlib import Path
if any(b'"from":"apply"' in path.read_bytes() for path in Path('.lockstep').glob('runs.db*')):
    Path('src/one.py').write_text('one = 1\\n# so\\n')
"""

FILES: dict[str, str] = {
    f"{ALONE}/plan.1.json": plan(*moved(FIRST, PAPER)),
    f"{TWO}/plan.1.json": plan(*moved(FIRST, SECOND, PAPER)),
    f"{ONE}/plan.1.json": plan(FIRST, PAPER),
    f"{NONE}/plan.1.json": plan(*moved(PAPER)),
    f"{RED}/plan.1.json": plan(PAPER, test=AT_THE_END),
    f"{DRIFT}/plan.1.json": plan(FIRST, test=AFTERWARDS),
    **dict.fromkeys(("src/there.py", "src/one.py", "src/two.py", "docs/there.md", "docs/one.md"), "one = 1\n"),
}
VERDICTS, OTHER_VERDICTS = (
    [f"R1 | met | src/{name}.py:1 | it is read", "A1 | open | nobody tried"] for name in ("one", "two")
)


def prepare(project: Path) -> None:
    """Put a finished run of planner into the project's ledger for each of the plans."""
    planner = workflow_of_script(str(SKILLS / "planner" / "scripts" / "planner.py"))
    ledger = Ledger(paths.home(str(project)))
    for at, where in enumerate(PLANS):
        params = {"plan": where, "request": "Make files."}
        run = Run(
            id=f"approve{at}",
            workflow="planner",
            fingerprint=planner.fingerprint,
            script=str(project / "planner.py"),
            project=str(project),
            status="done",
            params=params,
        )
        opened = ledger.commit(None, Move(run, "opened", {}), "agent", planner.to_data())
        content = content_id(json.loads(FILES[f"{where}/plan.1.json"]))
        proof = {"output": f"plan.1.json is at stage documented: 1 milestones, content {content}"}
        ledger.commit(opened, Move(opened, "moved", {"from": "document", "evidence": [proof]}), "agent")
    ledger.close()


OTHERWISE = ["M-003 | one line | none | it is a test"]
PREPARE = {"executor": prepare}
BY_SCRIPT: dict[str, dict[str, Any]] = {
    "executor": {
        # In the order in which the first report that fits is most often the right one for the plan.
        "plan": any_of(ALONE, RED, TWO, DRIFT, ONE, NONE),
        "reconciliation_check": any_of("true", "false"),
        "unapproved": any_of("there is no planner in this test", None),
        "ends": any_of("green", "red"),
        "departures": any_of(OTHERWISE, []),
        "verdicts": any_of(VERDICTS, OTHER_VERDICTS),
        "written": ["src/there.py:1 | why it is one"],
    },
    "reconciliation": {
        "plan": TWO,
        "milestone": "M-001",
        "verdicts": VERDICTS,
    },
    "implementation_code": {"plan": TWO},
    "implementation_docs": {"plan": TWO},
    "post_implementation": {
        "plan": TWO,
        "assignment": "all | wording: it says was",
        "written": ["src/there.py:1 | why it is one"],
    },
}

"""What the scripted agent reports for planner: a small project, a plan with code, and one of documents alone."""

from __future__ import annotations

import json
from typing import Any

from skills.lib.testing.samples import any_of
from tests.skills.samples import planner_executor_values

PLAN, PAPERS, SMALL = "plans/greeting", "plans/papers", "plans/small"
GREET = 'def greet(name):\n    return "Hello, " + name\n'
GREET_AFTER = (
    "def greet(name):\n"
    '    """The greeting for ``name``; nobody in particular is everybody."""\n'
    '    return "Hello, " + (name or "all")\n'
)
TEST = "from src.greet import greet\n\n\ndef test_greet():\n    assert greet('Ada') == 'Hello, Ada'\n"
TEST_AFTER = TEST + "\n\ndef test_nobody():\n    assert greet('') == 'Hello, all'\n"
README = "# Greeting\n\nGreets by name.\n"
README_AFTER = README + "Without a name it greets all.\n"

MANUAL: dict[str, Any] = {
    "id": "M-002",
    "title": "The manual says whom a greeting without a name greets",
    "kind": "documentation",
    "files": ["README.md"],
    "requirements": ["README.md says that a greeting without a name greets all."],
    "acceptance": ["README.md has the sentence."],
    "tests": [],
    "depends_on": [],
    "intent": [],
    "changes": [],
}
CODE: dict[str, Any] = {
    "id": "M-001",
    "title": "A greeting without a name greets all",
    "kind": "code",
    "files": ["src/greet.py", "tests/test_greet.py"],
    "requirements": ["greet('') returns 'Hello, all'."],
    "acceptance": ["greet('') == 'Hello, all' and greet('Ada') == 'Hello, Ada'."],
    "tests": ["tests/test_greet.py: greet('') gives 'Hello, all'."],
    "depends_on": [],
    "intent": [
        {"id": "I-001", "file": "src/greet.py", "behaviour": "An empty name stands for all.", "decisions": ["D-001"]},
        {"id": "I-002", "file": "tests/test_greet.py", "behaviour": "The empty name is tested.", "decisions": []},
    ],
    "changes": [],
}


def plan(*milestones: dict[str, Any]) -> dict[str, Any]:
    """A whole plan of these milestones."""
    return {
        "schema": 1,
        "title": "Greetings without a name",
        "request": "A greeting without a name should greet all.",
        "context": {
            "summary": "greet() puts a name behind a word.",
            "files": [{"path": "src/greet.py", "why": "the one function"}],
            "patterns": ["src/greet.py:1: a function returns a text"],
        },
        "testing": {
            "strategy": "One test of the empty name.",
            "commands": {"test": [["python", "-m", "pytest", "-q"]], "lint": None, "types": None},
        },
        "decisions": [
            {
                "id": "D-001",
                "decision": "An empty name greets all.",
                "reasons": ["The user asked for it."],
                "source": "user-specified",
            }
        ],
        "rejected": [{"id": "R-001", "alternative": "Refuse an empty name.", "reason": "Callers send one today."}],
        "constraints": [],
        "risks": [{"id": "K-001", "risk": "A name of blanks is not empty.", "mitigation": "Accepted: not asked for."}],
        "invisible_knowledge": [],
        "milestones": list(milestones),
    }


DRAFT = plan(CODE, MANUAL)
ONLY_MANUAL = plan(MANUAL)

FILES = {
    "src/greet.py": GREET,
    "tests/test_greet.py": TEST,
    "README.md": README,
    f"{PLAN}/draft.json": json.dumps(DRAFT),
    f"{PLAN}/plan.1.json": json.dumps(DRAFT),
    f"{PLAN}/.changes/M-001/src/greet.py": GREET_AFTER,
    f"{PLAN}/.changes/M-001/tests/test_greet.py": TEST_AFTER,
    f"{PLAN}/.changes/M-001/COMMENTS.json": '{"src/greet.py": ["greet(): whom an empty name stands for"]}',
    f"{PLAN}/.changes/M-002/README.md": README_AFTER,
    f"{SMALL}/draft.json": json.dumps({**plan(CODE), "way": "quick"}),
    f"{SMALL}/.changes/M-001/src/greet.py": GREET_AFTER,
    f"{SMALL}/.changes/M-001/tests/test_greet.py": TEST_AFTER,
    f"{SMALL}/.changes/M-001/COMMENTS.json": '{"src/greet.py": ["greet(): whom an empty name stands for"]}',
    f"{PAPERS}/draft.json": json.dumps(ONLY_MANUAL),
    f"{PAPERS}/.changes/M-002/README.md": README_AFTER,
}
SIZED_BY = ("area", "interface", "data", "dependency", "migration", "security", "undo")
PLACES = [
    "src/greet.py:1 | greet() takes a name | the request lands here",
    "README.md:1-3 | no word of it | to be added",
]
APPROACHES = ["A1 | or in greet() | src/greet.py | none | blanks", "A2 | refuse it | src/ | all | calls"]
VALUES: dict[str, Any] = {
    "request": "A greeting without a name should greet all.",
    "plan": any_of(PLAN, PAPERS, SMALL),
    "testing.strategy": "One test of the empty name in tests/test_greet.py; nothing else changes.",
    "testing.commands": ["test | python -m pytest -q | 1 passed"],
    "approaches.approaches": APPROACHES,
    "quick-settle.approaches": APPROACHES,
    "assumptions.assumptions": ["Q1 | blanks are a name | assumed | if not: strip() in greet()"],
    "quick-settle.assumptions": ["Q1 | blanks are a name | assumed | if not: strip() in greet()"],
    "quick-settle.recommendation": "A1, since callers send an empty name today.",
    "quick-settle.commands": ["test | python -m pytest -q | 1 passed"],
    "quick-settle.strategy": "One test of the empty name in tests/test_greet.py; nothing else changes.",
    "quick-settle.against": any_of([], ["interface | src/greet.py:1 | callers depend on it"]),
    "assumptions.recommendation": "A1, since callers send an empty name today.",
    **{
        f"{step}.statements": [f"plan | it is so, looked at by its {step}"]
        for step in (*("read", "milestones", "structure", "documents", "probe", "gather", "style"),)
    },
    "milestones.code": any_of(["M-001"], []),
    "milestones.documentation": ["M-002"],
    "size.files": ["src/greet.py | the empty name", "tests/test_greet.py | its test"],
    "size.criteria": any_of(
        *(
            [f"{name} | {'yes' if name == dear else 'no'} | seen in src/greet.py:1" for name in SIZED_BY]
            for dear in ("", "interface")
        )
    ),
    "findings": PLACES,
    "patterns": PLACES[:1],
    "constraints": PLACES[1:],
    "fallen": [],
    "checked": ["README.md:1 | it greets | read"],
}
BY_SCRIPT: dict[str, dict[str, Any]] = {
    "fill_changes": {"plan": PLAN, "milestone": "M-001 | C-01: the empty name is not tested"},
    "plan_scrub": {"plan": PLAN, "milestone": "M-002"},
}
BY_SCRIPT.update(planner_executor_values.BY_SCRIPT)
FILES.update(planner_executor_values.FILES)
PREPARE = planner_executor_values.PREPARE

"""What `lockstep adopt` makes of a case of the corpus, as the plain data that the score compares."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from skills.lib.errors import RefusedError
from skills.lib.layers.adopting import drafting, structures, writing

if TYPE_CHECKING:
    from pathlib import Path

    from skills.lib.layers.adopting.drafting import Draft
    from skills.lib.layers.adopting.outline import Step
    from tests.layers.adopting.corpus_cases import Case

_NAME = re.compile(r"^name:\s*['\"]?([^\r\n'\"]+)", re.MULTILINE)
RULES = {
    structures.GRAPH: "graph",
    structures.STEPS: "headings",
    structures.COUNTED: "counted",
    structures.LIST: "list",
    drafting.WHOLE: "none",
}


def put(case: Case, root: Path) -> Path:
    """The folder of a skill with the source of a case as its SKILL.md."""
    match = _NAME.search(case.source)
    folder = root / (match[1].strip() if match else case.name)
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_bytes(case.source.encode())
    return folder


def drafted(folder: Path) -> dict[str, Any]:
    """The draft of a skill as data."""
    try:
        made = drafting.draft(folder)
    except RefusedError as error:
        return {"result": "ambiguous", "rivals": re.findall(r"'([^']*)' in line", error.valid), "steps": []} | {
            "resources": [],
            "left_out": [[1, 1_000_000]],
        }
    writing.files(made, "")
    following = [*(step.id for step in made.steps[1:]), None]
    return {
        "result": "one-step" if made.outline.rule == drafting.WHOLE else "draft",
        "rule": RULES[made.outline.rule],
        "rivals": [],
        "steps": [_step(made, step, target) for step, target in zip(made.steps, following, strict=True)],
        "resources": [],
        "left_out": [[one.first, one.last] for one in made.left_out] + writing.ranges(made.forbidden_lines),
    }


def _step(made: Draft, step: Step, following: str | None) -> dict[str, Any]:
    return {
        "id": step.id,
        "title": step.title,
        "lines": writing.ranges(step.lines),
        "next": {way.outcome: way.target for way in step.ways} or {"ok": following},
        "person": bool(step.asks),
        "bounded": bool(step.bound or step.asks),
        "forbidden": [*step.forbidden, *made.forbidden],
        "fields": [*step.fields.values(), *step.checklist],
        "tools": list(made.tools),
    }

"""A text names a value or a step that does not exist.

## What it does
Reads the texts of a step and reports a name in backquotes, `step.value`, if the step is one of this workflow and
records no such value, or if both are nearly those of one that does; and "step `name`", if a step has nearly that
name. Names of files (`report.md`) are none of these. A step whose handler may record anything is not looked at.

## Why it is bad
The agent looks for a value that no block shows, and guesses.

## Example
```python
WORKFLOW = Workflow(
    "inquiry",
    StepDef("ask", "Ask", "Ask the user.", {Outcome.OK: "report"}, requires=[Field("question")]),
    StepDef("report", "Report", "Answer `ask.questions`.", {Outcome.OK: None}, needs=["ask.question"]),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "inquiry",
    StepDef("ask", "Ask", "Ask the user.", {Outcome.OK: "report"}, requires=[Field("question")]),
    StepDef("report", "Report", "Answer `ask.question`.", {Outcome.OK: None}, needs=["ask.question"]),
)
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skills.lib.validation import wording
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.nearest import Nearest, did_you_mean
from skills.lib.validation.view import GraphView

RULE = "unknown-name"
SEVERITY: Severity = "warning"
VALUE = "name"
SHORT = 4
_NAMED = re.compile(r"\bsteps? `([A-Za-z][\w-]*)`|`([A-Za-z][\w-]*)` steps?\b|`([A-Za-z][\w-]*)\.([A-Za-z]\w*)`")
# A step may be called like a file: these follow the name of one.
_ENDINGS = frozenset(
    "bak c cfg conf cpp css csv db diff env go h html ini java js json jsonl lock log md mjs patch pdf php png py rb rs"
    " rst seal sh sql svg tex toml ts tsv tsx txt xml yaml yml zip".split()
)


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per step and name that is none."""
    for at, step in graph.distinct:
        for said in graph.sections.every(wording.texts_of(step), _NAMED):
            name, meant, instead = _problem(graph, said.words)
            if not meant and not instead:
                continue
            file, line = said.place
            yield graph.finding(
                RULE,
                SEVERITY,
                f"the text of {step.id} names {name}, which is nothing in this workflow"
                + (did_you_mean(meant) if meant else f": {instead}"),
                why="the agent looks for what no block shows, and guesses",
                do=f"write {meant}" if meant else "name what the step records, or leave the name out",
                step=at,
                value=name,
                file=file,
                line=line,
            )


def _problem(graph: GraphView, words: str) -> tuple[str, str, str]:
    """The name, what was probably meant, else what there is; neither for a good name or one that may be anything."""
    found = _NAMED.fullmatch(words)
    named, also, source, name = found.groups() if found else (None, None, None, None)
    step_id = named or also
    if step_id:
        return step_id, "" if step_id in graph.index else graph.nearest.to(step_id) or "", ""
    if not source or not name or name in _ENDINGS:
        return "", "", ""
    at = graph.index.get(source)
    if at is None:
        near = graph.nearest.to(source)
        written = graph.source_flow.writes(graph.index[near]) if near else None
        return f"{source}.{name}", f"{near}.{name}" if written and name in written else "", ""
    written = graph.source_flow.writes(at)
    if written is None or name in written:
        return "", "", ""
    near = Nearest(sorted(written)).to(name)
    # So short a name is rather the ending of a file that is called like the step.
    records = f"{source} records {', '.join(sorted(written)) or 'nothing'}" if len(name) > SHORT else ""
    return f"{source}.{name}", f"{source}.{near}" if near else "", records

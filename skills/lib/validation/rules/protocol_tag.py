"""A text of a step names a tag of the protocol.

## What it does
Reports `<DO>`, `<NEXT>`, `<RECORD>` and the other tags in capitals that blocks are made of, where they stand in what a
step says. Words of other kinds in angle brackets are left alone, and so is what a formatter made.

## Why it is bad
A block is made of these tags. One more inside it, even escaped, looks like a second block or command to the agent that
reads it, and the text is wrong once a block is printed in another form.

## Example
```python
WORKFLOW = Workflow(
    "tea", StepDef("boil", "Boil water", ["Boil water, then run the command in <NEXT>."], next={Outcome.OK: None})
)
```

## Use instead
```python
WORKFLOW = Workflow("tea", StepDef("boil", "Boil water", ["Boil a litre of water."], next={Outcome.OK: None}))
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skills.lib.validation import wording
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "protocol-tag"
SEVERITY: Severity = "warning"
VALUE = "tag"
# Those of the grammar (blocks/lockstep.rng) in capitals: one in small letters may as well be a name to fill in.
TAGS = frozenset(
    "ANSWER ASKED CONTEXT DISPATCH DO FORBIDDEN INVOKE_AFTER NEXT NOTICE NOT_DONE ORCHESTRATOR QUESTION RECORD RESULT"
    " SHOW STANDS STATE VALID WHY".split()
)
_TAG = re.compile(rf"</?(?:{'|'.join(sorted(TAGS))})\b[^<>]*>")


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per step and tag that it names."""
    for at, step in enumerate(graph.steps):
        for found in graph.sections.every(wording.texts_of(step), _TAG):
            file, line = found.place
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{step.id} names the tag {found.words}",
                why="inside a block it looks like a part of another one",
                do="say what is meant in words, without angle brackets",
                step=at,
                value=found.words,
                file=file,
                line=line,
            )

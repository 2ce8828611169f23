"""A section of the prompts file is used nowhere.

## What it does
Reads the prompts file beside a workflow's module, and reports a section whose title the module does not read and whose
text stands nowhere in the graph.

## Why it is bad
It is what half a rename leaves behind: whoever edits it wonders why no agent ever reads the change.

## Example
```python
# beside this file stands tea_prompts.md, with the sections "boil" and "steep"
PROMPTS = read_prompts(__file__)
WORKFLOW = Workflow("tea", StepDef("boil", "Boil water", PROMPTS["boil"], next={Outcome.OK: None}))
```

## Use instead
```python
# beside this file stands tea_prompts.md, with the sections "boil" and "steep"
PROMPTS = read_prompts(__file__)
WORKFLOW = Workflow(
    "tea",
    StepDef("boil", "Boil water", PROMPTS["boil"], next={Outcome.OK: "steep"}),
    StepDef("steep", "Let it steep", PROMPTS["steep"], next={Outcome.OK: None}),
)
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from skills.lib.validation import wording
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "unused-section"
SEVERITY: Severity = "warning"
READER = "read_prompts"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per section that neither the module nor the graph uses."""
    sections = graph.sections
    if not sections.texts:
        return
    titles, computed = _titles_read(graph.lines.tree)
    said = "\n".join(wording.every_text(graph.workflow))
    # A section that is read by a computed title may be filled in before a step says it: one line of it will do.
    enough = any if computed else all
    for title, text in sections.texts.items():
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if title in titles or (enough(line in said for line in lines) if lines else computed):
            continue
        yield graph.finding(
            RULE,
            SEVERITY,
            f"no step uses the section {title!r}",
            why="it is read by nobody: perhaps half a rename",
            do=f'read it where it is meant: PROMPTS["{title}"], or delete it',
            file=sections.file,
            line=sections.line_of(title),
        )


def _titles_read(tree: ast.Module) -> tuple[set[str], bool]:
    """The titles that the module reads, and whether it computes some: then every word that it holds may be one."""
    nodes = list(ast.walk(tree))
    above = {below: node for node in nodes for below in ast.iter_child_nodes(node)}
    readers = [node for node in nodes if _is_reader(node)]
    names = {name for node in readers for name in _assigned(above.get(node))}
    uses: list[ast.AST] = [node for node in readers if not _assigned(above.get(node))]
    uses += [one for one in nodes if isinstance(one, ast.Name) and one.id in names and isinstance(one.ctx, ast.Load)]
    keys = [_key(use, above) for use in uses]
    titles = {key for key in keys if key is not None}
    if None not in keys:
        return titles, False
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}, True


def _is_reader(node: ast.AST) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
    return name == READER


def _assigned(node: ast.AST | None) -> list[str]:
    """The names that an assignment gives its value."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _key(prompts: ast.AST, above: dict[ast.AST, ast.AST]) -> str | None:
    """The title that one use of the prompts looks up, if it is written out."""
    use = above.get(prompts)
    key = use.slice if isinstance(use, ast.Subscript) and use.value is prompts else None
    if isinstance(use, ast.Attribute) and use.attr == "get":
        call = above.get(use)
        key = call.args[0] if isinstance(call, ast.Call) and call.args else None
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None

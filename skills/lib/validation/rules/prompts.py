"""The words of the prompts: sections that are used, and names that mean something."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from skills.lib.errors import did_you_mean, nearest
from skills.lib.model.requirements import Field
from skills.lib.model.types import Outcome
from skills.lib.validation import prompt_texts
from skills.lib.validation.function_source import look_up, parents_of
from skills.lib.validation.locations import Lines
from skills.lib.validation.rule import SOURCE, Problem, rule
from skills.lib.validation.view import GraphView

_CONTEXT = re.compile(r"\bCONTEXT\b")
SHORT = 4
_NAMED = re.compile(r"\bsteps? `([A-Za-z][\w-]*)`|`([A-Za-z][\w-]*)` steps?\b|`([A-Za-z][\w-]*)\.([A-Za-z]\w*)`")
# A step may be called like a file: these follow the name of one.
_ENDINGS = frozenset(
    "bak c cfg conf cpp css csv db diff env go h html ini java js json jsonl lock log md mjs patch pdf php png py rb rs"
    " rst seal sh sql svg tex toml ts tsv tsx txt xml yaml yml zip".split()
)
# Those of the grammar (blocks/lockstep.rng) in capitals: one in small letters may as well be a name to fill in.
TAGS = frozenset(
    "ANSWER ASKED BRIEF CONTEXT DISPATCH DO FORBIDDEN INVOKE_AFTER NEXT NOTICE NOT_DONE ORCHESTRATOR QUESTION RECORD RESULT"
    " SHOW STANDS STATE VALID WHY".split()
)
_TAG = re.compile(rf"</?(?:{'|'.join(sorted(TAGS))})\b[^<>]*>")


@rule("warning", SOURCE, of_step=False)
def unused_section(graph: GraphView) -> Iterator[Problem]:
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
    sections = graph.sections
    if not sections.texts:
        return
    titles, computed = _titles_read(graph.lines)
    said = "\n".join(prompt_texts.every_text(graph.workflow))
    # A section that is read by a computed title may be filled in before a step says it: one line of it will do.
    enough = any if computed else all
    for title, text in sections.texts.items():
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if title in titles or (enough(line in said for line in lines) if lines else computed):
            continue
        yield Problem(
            f"no step uses the section {title!r}",
            why="it is read by nobody: perhaps half a rename",
            do=f'read it where it is meant: PROMPTS["{title}"], or delete it',
            file=sections.file,
            line=sections.line_of(title),
        )


def _titles_read(lines: Lines) -> tuple[set[str], bool]:
    """The titles that the module reads, and True if it computes some: then every word in the module may be one."""
    nodes = list(ast.walk(lines.tree))
    parents = parents_of(nodes)
    readers = lines.calls_of("read_prompts")
    names = {name for node in readers for name in _names_assigned(parents.get(node))}
    uses: list[ast.AST] = [node for node in readers if not _names_assigned(parents.get(node))]
    uses += [one for one in nodes if isinstance(one, ast.Name) and one.id in names and isinstance(one.ctx, ast.Load)]
    keys = [look_up(use, parents)[0] for use in uses]
    titles = {key for key in keys if key is not None}
    if None not in keys:
        return titles, False
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}, True


def _names_assigned(node: ast.AST | None) -> list[str]:
    """The names that an assignment gives its value."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


@rule("warning", SOURCE)
def absent_context(graph: GraphView) -> Iterator[Problem]:
    """A prompt speaks of CONTEXT, and the step shows none.

    ## What it does
    Reports a step whose actions name CONTEXT, that needs nothing, and to which no review leads back with its findings.
    Workflows whose steps record review items are excepted: their runs show the items to verify.

    ## Why it is bad
    CONTEXT holds what a step needs. Without it the agent looks for a part of the block that is not there, and guesses.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "inquiry",
        StepDef("report", "Report", ["Answer the question in CONTEXT."], next={Outcome.OK: None}),
        params=[Arg("question")],
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "inquiry",
        StepDef("report", "Report", ["Answer the question in CONTEXT."], next={Outcome.OK: None}, needs=["question"]),
        params=[Arg("question")],
    )
    ```
    """
    if any(isinstance(spec, Field) and spec.type == "items" for step in graph.steps for spec in step.requires):
        return
    sent_back = {way[0] for step in graph.steps if step.gate and (way := step.route(Outcome.FAIL))}
    for at, step in enumerate(graph.steps):
        if step.needs or step.id in sent_back:
            continue
        for _, file, line in graph.sections.find((*step.actions, *step.repeat), _CONTEXT):
            yield Problem(
                f"{step.id} speaks of CONTEXT, and shows none: it needs nothing",
                why="the agent looks for values that are not there, and guesses",
                do='name what it speaks of: needs=["step.field"], or the name of a parameter',
                step=at,
                file=file,
                line=line,
            )


@rule("warning", SOURCE, finds="name")
def unknown_name(graph: GraphView) -> Iterator[Problem]:
    """A text names a value or a step that does not exist.

    ## What it does
    Reads the texts of a step and reports a name in backquotes, `step.value`, if the step is one of this workflow and
    records no such value, or if both are nearly those of one that does; and "step `name`", if a step has nearly that
    name. Names of files (`report.md`) are none of these. A step whose handler may record any name is passed over.

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
    for at, step in graph.distinct:
        for words, file, line in graph.sections.find(prompt_texts.texts_of(step), _NAMED):
            name, meant, instead = _unknown(graph, words)
            if not meant and not instead:
                continue
            yield Problem(
                f"the text of {step.id} names {name}, which is nothing in this workflow"
                + (did_you_mean(meant) if meant else f": {instead}"),
                why="the agent looks for what no block shows, and guesses",
                do=f"write {meant}" if meant else "name what the step records, or leave the name out",
                step=at,
                value=name,
                file=file,
                line=line,
            )


def _unknown(graph: GraphView, words: str) -> tuple[str, str, str]:
    """The name, the name that was probably meant, and the names there are. Both are empty if the name may be right."""
    found = _NAMED.fullmatch(words)
    named, also, source, name = found.groups() if found else (None, None, None, None)
    step_id = named or also
    if step_id:
        return step_id, "" if step_id in graph.index else graph.nearest(step_id), ""
    if not source or not name or name in _ENDINGS:
        return "", "", ""
    at = graph.index.get(source)
    if at is None:
        near = graph.nearest(source)
        written = graph.source_flow.writes(graph.index[near]) if near else None
        return f"{source}.{name}", f"{near}.{name}" if written and name in written else "", ""
    written = graph.source_flow.writes(at)
    if written is None or name in written:
        return "", "", ""
    near = nearest(name, sorted(written))
    # So short a name is rather the ending of a file that is called like the step.
    records = f"{source} records {', '.join(sorted(written)) or 'nothing'}" if len(name) > SHORT else ""
    return f"{source}.{name}", f"{source}.{near}" if near else "", records


@rule("warning", SOURCE, finds="tag")
def protocol_tag(graph: GraphView) -> Iterator[Problem]:
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
    for at, step in enumerate(graph.steps):
        for tag, file, line in graph.sections.find(prompt_texts.texts_of(step), _TAG):
            yield Problem(
                f"{step.id} names the tag {tag}",
                why="inside a block it looks like a part of another one",
                do="say what is meant in words, without angle brackets",
                step=at,
                value=tag,
                file=file,
                line=line,
            )

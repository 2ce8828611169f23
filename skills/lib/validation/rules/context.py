"""What steps read: values that every path to them has written, and that a run keeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from skills.lib.errors import did_you_mean, nearest
from skills.lib.model.values import NOT_KEPT, SECRET_NAMES, is_secret
from skills.lib.validation.rule import GRAPH, Problem, allow_key, rule
from skills.lib.validation.state_flow import TARGETS, Read, placeholders
from skills.lib.validation.view import GraphView


@rule("error", GRAPH, finds="key")
def read_before_write(graph: GraphView) -> Iterator[Problem]:
    """A step reads what no path has written.

    ## What it does
    Reports an entry of `needs`, a `{placeholder}` of an Artifact, Command, Person or Dispatch (its `task`, `tasks`,
    `context` and `params`), and a list of dispatch targets that no step writes, or that only steps write which no path
    passes before; also a `{placeholder}` of the workflow's `closing` that is no parameter of the run. Braces that are
    plain text are waived by name: `allow={"read-before-write:name": "…"}`.

    ## Why it is bad
    The step is printed without the value, its command runs with a hole in it, or its dispatch is refused.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "inquiry",
        StepDef("ask", "Ask", next={Outcome.OK: "report"}, requires=[Field("question")]),
        StepDef("report", "Report", next={Outcome.OK: None}, needs=["ask.answer"]),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "inquiry",
        StepDef("ask", "Ask", next={Outcome.OK: "report"}, requires=[Field("question")]),
        StepDef("report", "Report", next={Outcome.OK: None}, needs=["ask.question"]),
    )
    ```
    """
    for found in graph.flow.unwritten(graph.flow.reads):
        read = found.read
        yield Problem(
            f"{graph.name(read.step)} reads {read.key} ({read.source}): {found.why}{did_you_mean(found.near)}",
            why="the value is missing when the step is printed or left",
            do=f"read {found.near}" if found.near else "record the value in an earlier step, or do not read it",
            step=read.step,
            value=read.key,
        )
    params = sorted(graph.flow.run_params)
    for name in placeholders((graph.workflow.closing,)):
        if name in params:
            continue
        near = nearest(name, params)
        yield Problem(
            f"closing names {{{name}}}, which is no parameter of the run{did_you_mean(near)}",
            why="closing is filled with the parameters of the run alone: the braces are printed as they stand",
            do=f"write {{{near}}}" if near else "name a parameter of the run, or say it without braces",
            value=name,
        )


@rule("warning", GRAPH, finds="key")
def read_on_some_paths(graph: GraphView) -> Iterator[Problem]:
    """A step reads what not every path has written.

    ## What it does
    Reports a read of a value that one path to the step writes and another does not, with the path that does not. A
    value that a loop brings back to a step before its writer is not reported, if the step is also listed before the writer:
    it is meant to be missing the first time.

    ## Why it is bad
    On that path the step is printed without the value, and the agent has to guess.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "inquiry",
        StepDef(
            "plan",
            "Plan",
            next={Outcome.OK: "design", Outcome.SKIP: "report"},
            when={Outcome.OK: "there is something to design", Outcome.SKIP: "there is not"},
        ),
        StepDef("design", "Design", next={Outcome.OK: "report"}, requires=[Field("shape")]),
        StepDef("report", "Report", next={Outcome.OK: None}, needs=["design.shape"]),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "inquiry",
        StepDef(
            "plan",
            "Plan",
            next={Outcome.OK: "design", Outcome.SKIP: "brief"},
            requires=[Field("aim")],
            when={Outcome.OK: "there is something to design", Outcome.SKIP: "there is not"},
        ),
        StepDef("design", "Design", next={Outcome.OK: "report"}, requires=[Field("shape")]),
        StepDef("report", "Report on the design", next={Outcome.OK: None}, needs=["design.shape"]),
        StepDef("brief", "Report in brief", next={Outcome.OK: None}, needs=["plan.aim"]),
    )
    ```
    """
    for read, writer in graph.flow.missed(graph.flow.reads):
        way = graph.example(graph.start, read.step, avoid=(writer,))
        yield Problem(
            f"{graph.name(read.step)} reads {read.key} ({read.source}), and a path comes there without it{way}",
            why="on that path the value is missing and the agent has to guess",
            do=f"lead every path through {graph.name(writer)}, or say in the step what to do without it, and allow it: "
            f'allow={{"{allow_key("read-on-some-paths", read.key)}": "why"}}',
            step=read.step,
            value=read.key,
        )


@rule("error", GRAPH, stops=True)
def secret_targets(graph: GraphView) -> Iterator[Problem]:
    """A dispatch goes over a list that is never kept.

    ## What it does
    Reports a Dispatch whose `targets` are a recorded list with a name that says that it is a secret: `password`, `token`,
    `api_key` and the like, alone or within a longer name.

    ## Why it is bad
    Such a value is used for the one transition and never kept. Whatever is recorded, the dispatch has no target, and the
    step cannot be entered.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "grammar",
        StepDef("split", "Split the text", next={Outcome.OK: "look-up"}, requires=[Field("tokens", "list")]),
        StepDef(
            "look-up",
            "Look each up",
            next={Outcome.OK: None},
            handler=Dispatch(AgentRole.EXPLORE, task="Look {target} up.", targets="split.tokens"),
        ),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "grammar",
        StepDef("split", "Split the text", next={Outcome.OK: "look-up"}, requires=[Field("words", "list")]),
        StepDef(
            "look-up",
            "Look each up",
            next={Outcome.OK: None},
            handler=Dispatch(AgentRole.EXPLORE, task="Look {target} up.", targets="split.words"),
        ),
    )
    ```
    """
    for read, word in _not_kept(graph, (read for read in graph.flow.reads if read.source == TARGETS)):
        yield Problem(
            f"{graph.name(read.step)} dispatches over {read.key}, which is named like a secret ({word})",
            why="such a value is never kept, so there is never a target",
            do="give the list another name",
            step=read.step,
        )


@rule("warning", GRAPH, finds="key")
def secret_read(graph: GraphView) -> Iterator[Problem]:
    """A step reads a value that is never kept.

    ## What it does
    Reports an entry of `needs` and a `{placeholder}`, of `closing` too, that read a value whose name says that it is a
    secret: `password`, `token`, `api_key` and the like, alone or within a longer name. What a step itself reports may stand
    in its own Artifact and Command.

    ## Why it is bad
    Such a value is used for the one transition, and a note stands in its place afterwards: the block, the sub-agent or the
    command gets the note.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "grammar",
        StepDef("split", "Split the text", next={Outcome.OK: "look-up"}, requires=[Field("tokens", "list")]),
        StepDef("look-up", "Look each up", next={Outcome.OK: None}, needs=["split.tokens"]),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "grammar",
        StepDef("split", "Split the text", next={Outcome.OK: "look-up"}, requires=[Field("words", "list")]),
        StepDef("look-up", "Look each up", next={Outcome.OK: None}, needs=["split.words"]),
    )
    ```
    """
    seen: set[tuple[int, str]] = set()
    for read, word in _not_kept(graph, (read for read in graph.flow.reads if read.source != TARGETS)):
        if (read.step, read.key) in seen:
            continue
        seen.add((read.step, read.key))
        yield Problem(
            f"{graph.name(read.step)} reads {read.key} ({read.source}), which is named like a secret ({word})",
            why=f"such a value is never kept: what is read is the note {NOT_KEPT}",
            do="give it another name if it is no secret; else have it reported anew where it is used",
            step=read.step,
            value=read.key,
        )
    for name in placeholders((graph.workflow.closing,)):
        if name in graph.flow.run_params and is_secret(name):
            yield Problem(
                f"closing names the parameter {name}, which is named like a secret",
                why=f"such a value is never kept: what is printed is the note {NOT_KEPT}",
                do="give it another name if it is no secret; else leave it out of closing",
                value=name,
            )


def _not_kept(graph: GraphView, reads: Iterable[Read]) -> Iterator[tuple[Read, str]]:
    """The reads of values that a run never keeps, each with the word of its name that makes it a secret."""
    for read in reads:
        word = _secret_word(read.key.rpartition(".")[2])
        if word and _is_written(graph, read):
            yield read, word


@cache
def _secret_word(name: str) -> str:
    """The word that makes the name that of a secret; empty if none does."""
    return next((word for word in SECRET_NAMES if word in name.lower()), "")


def _is_written(graph: GraphView, read: Read) -> bool:
    """True if some step or the opening has written it; a step reads what it itself reports as it was given."""
    source, dot, name = read.key.rpartition(".")
    if dot:
        at = graph.index.get(source)
        written = graph.flow.writes(at) if at is not None else frozenset()
        return written is None or name in written
    step = graph.steps[read.step]
    own = set(step.records) | graph.flow.step_params.get(step.id, set())
    return name in graph.flow.run_params and name not in own

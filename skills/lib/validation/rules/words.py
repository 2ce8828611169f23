"""Words of a workflow's own as outcomes: spelt as they are meant, named twice, bounded, with a meaning at the end."""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.errors import did_you_mean, nearest
from skills.lib.model.types import Outcome
from skills.lib.validation import outcomes
from skills.lib.validation.rule import GRAPH, Problem, rule
from skills.lib.validation.rules.loops import first_reached, free_loops, hops_by_word
from skills.lib.validation.view import GraphView


@rule("error", GRAPH, finds="outcome")
def misspelt_outcome(graph: GraphView) -> Iterator[Problem]:
    """An outcome is one letter away from a standard word.

    ## What it does
    Reports a word of the workflow's own, of four letters or more, that one letter more, less, changed or swapped would
    make one of ok, fail, skip, iterate and default, if the step has no route for that standard word.

    ## Why it is bad
    A run takes the word for one of the workflow's own: a step that fails under a misspelt name is no failure.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef(
            "taste",
            "Taste it",
            next={"ok": None, "fial": "sweeten"},
            when={"ok": "it is good", "fial": "it is bitter"},
        ),
        StepDef("sweeten", "Add honey", next={"ok": None}),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef(
            "taste",
            "Taste it",
            next={"ok": None, "fail": "sweeten"},
            when={"ok": "it is good", "fail": "it is bitter"},
        ),
        StepDef("sweeten", "Add honey", next={"ok": None}),
    )
    ```
    """
    for at, step in enumerate(graph.steps):
        for word, meant in outcomes.misspelt(step).items():
            yield Problem(
                f"{step.id} has the outcome {word.value}{did_you_mean(meant.value)}",
                why=f"a run takes it for a word of its own, which means nothing of what {meant.value} means",
                do=f"write {meant.value}, or take a word that differs more",
                step=at,
                outcome=word,
                value=word.value,
            )


@rule("error", GRAPH, finds="outcome")
def word_named_once(graph: GraphView) -> Iterator[Problem]:
    """A word of the workflow's own stands in `next` alone.

    ## What it does
    Reports a route for a word of the workflow's own that neither `when` nor `outcomes` names, if an agent or a function
    decides how the step ends. That holds for the only route of a step, too.

    ## Why it is bad
    The meaning of such a word is what the workflow says of it, and here it says nothing. A slip of the pen in one of two
    places is found; in the only place, it is a new word.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("boil", "Boil water", next={"more-guests": "boil-more", "ok": None}, when={"ok": "there is enough"}),
        StepDef("boil-more", "Boil more", next={"ok": None}),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef(
            "boil",
            "Boil water",
            next={"more-guests": "boil-more", "ok": None},
            when={"more-guests": "somebody has no cup", "ok": "there is enough"},
        ),
        StepDef("boil-more", "Boil more", next={"ok": None}),
    )
    ```
    """
    for at, step in enumerate(graph.steps):
        misspelt = outcomes.misspelt(step)
        unrouted = [word for word in (*step.when, *step.outcomes) if word not in step.next]
        for word in outcomes.named_once(step):
            # The rules when-without-route and unrouted-outcome report the other word of a pair.
            if word in misspelt or nearest(word, unrouted):
                continue
            where, add = (
                ("when", f'when={{{word.value!r}: "…"}}') if step.function is None else ("outcomes", "outcomes")
            )
            yield Problem(
                f"{step.id} -{word.value}-> {step.next[word] or 'end'}: nothing but this route names {word.value}",
                why="the word has the meaning that the workflow gives it, and a misspelt one looks like a new one",
                do=f"say when it is right: {add}"
                if where == "when"
                else f"name it in {add}, as what the function gives",
                step=at,
                outcome=word,
                value=word.value,
            )


@rule("error", GRAPH)
def unbounded_word_loop(graph: GraphView) -> Iterator[Problem]:
    """Nothing bounds a loop that a word of the workflow's own leads round.

    ## What it does
    Reports a cycle with a route for a word of the workflow's own on which no ITERATE, FAIL or own word is bounded by
    `max_iterations` of its step, and no Gate or Person stands.

    ## Why it is bad
    "More to do" is true for ever if nobody counts. At its limit such a loop takes the route of a stated `at_limit` that
    leaves it, or a person is asked; it never becomes OK by itself.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "chores",
        StepDef("pick", "Pick a task", next={"ok": "work"}),
        StepDef(
            "work",
            "Do it",
            next={"more-tasks": "pick", "ok": None},
            when={"more-tasks": "the list has another task", "ok": "it has none"},
        ),
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "chores",
        StepDef("pick", "Pick a task", next={"ok": "work"}),
        StepDef(
            "work",
            "Do it",
            next={"more-tasks": "pick", "ok": None},
            when={"more-tasks": "the list has another task", "ok": "it has none"},
            max_iterations=20,
        ),
    )
    ```
    """
    for part, bounded in free_loops(graph):
        words = hops_by_word(graph, part, bounded)
        if words:
            cycle = graph.cycle(part, skip=bounded, first=first_reached(graph, part))
            node, outcome, _ = words[0]
            step = graph.name(node)
            do = f"set max_iterations on {step}: at the limit a person is asked, or at_limit is taken if it leaves the loop"
            if outcome is Outcome.DEFAULT and graph.steps[node].max_iterations:
                do = f"give each word of {step} that leads round a route of its own: a bound counts only those with one"
            yield Problem(
                f"nothing bounds the loop {graph.printed(cycle)}, which {graph.printed(words[:1])} leads round",
                why="an agent that always finds more to do goes round until its budget is spent",
                do=do,
                step=node,
            )


@rule("error", GRAPH, of_step=False)
def meaning_of_no_end(graph: GraphView) -> Iterator[Problem]:
    """`ends` names a word by which no run ends.

    ## What it does
    Reports an entry of `ends` for a word that leads to the end from no step.

    ## Why it is bad
    The word is misspelt, or its route was changed: the end that was meant has no meaning.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef(
            "boil",
            "Boil water",
            next={"ok": None, "no-leaves": None},
            when={"ok": "it boils", "no-leaves": "there is nothing to brew"},
        ),
        ends={"no-leafs": "fail"},
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef(
            "boil",
            "Boil water",
            next={"ok": None, "no-leaves": None},
            when={"ok": "it boils", "no-leaves": "there is nothing to brew"},
        ),
        ends={"no-leaves": "fail"},
    )
    ```
    """
    known = outcomes.ending_words(graph.steps)
    for word in graph.workflow.ends:
        if word not in known:
            yield Problem(
                f"ends says what {word.value} means at the end, and no step ends by it"
                + did_you_mean(nearest(word, known)),
                why="the end that was meant has no meaning then",
                do="write the word as next has it, or delete the entry",
            )

"""A check of every transition of every workflow, for a skill's own tests."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skills.lib.errors import UsageError
from skills.lib.runtime import loading
from skills.lib.testing import given, samples
from skills.lib.testing.agent import Agent, Taken
from skills.lib.testing.steering import CannotSteer
from skills.lib.testing.walks import Walk, every_walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


def every_transition(
    *where: str | Path,
    values: Mapping[str, Any] | None = None,
    files: Mapping[str, str] | None = None,
    text: samples.Text = samples.plain,
) -> Callable[..., None]:
    """A test that takes every transition of the skills at ``where``, by the commands that their steps print.

    ``where`` is a skill's folder, a folder of skills, or an entry script; a relative path is looked for from the
    working directory and then from the test's folder upward. The whole of a skill's own suite may be::

        from skills.lib.testing import every_transition

        test_transitions = every_transition("skills/my-skill")

    Each case opens a run in an empty project, loops to the bound where there is one, lets reviews pass and fail, has
    the sub-agents do their part, answers questions, and checks each printed document against the grammar and each
    transition against the graph. Reports are made up from what a block asks for; where a handler or a check wants more
    than that, give it::

        test_transitions = every_transition(
            "skills/my-skill",
            values={"draft.path": "notes/draft.md", "judge.mark": any_of("good", "bad")},
            files={"notes/draft.md": "# Draft\\n", "go.mod": "module x\\n"},
        )

    Keys of ``values`` are ``step.field``, or a field's or parameter's name (None leaves a parameter out); keys of
    ``files`` are paths in the project, or the name of the field that holds the path. Files that no step asks for are
    there from the beginning. Raises UsageError where nothing is found at ``where`` and for a key that no step has a use
    for, Unplannable where a route of a graph cannot be taken at all.
    """
    here = Path(sys._getframe(1).f_globals.get("__file__", ".")).resolve().parent
    scripts = [script for place in where for script in entry_scripts(find(place, here))]
    given.check(scripts, values or {}, files or {})
    cases = [
        pytest.param(script, walk, id=f"{script.stem}: {walk}")
        for script in scripts
        for walk in every_walk(loading.workflow_of_script(str(script)))
    ]

    @pytest.mark.parametrize("script, walk", cases)
    def test_transition(script: Path, walk: Walk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("LOCKSTEP_HOME", raising=False)
        try:
            check_walk(script, walk, tmp_path, values=values, files=files, text=text)
        except CannotSteer as error:
            pytest.fail(str(error), pytrace=False)  # the author's own code is none of the frames

    return test_transition


def check_walk(
    script: str | Path,
    walk: Walk,
    project: Path,
    *,
    values: Mapping[str, Any] | None = None,
    files: Mapping[str, str] | None = None,
    text: samples.Text = samples.plain,
) -> Agent:
    """Take one walk in ``project`` and return the agent that took it; AssertionError says where it went astray.

    Where no report leads along the walk, it is begun again with the next choice of each ``any_of`` in turn: what a run
    parameter or an earlier report says may decide a later branch.
    """
    (project / ".lockstep").mkdir(exist_ok=True)
    failed: CannotSteer | None = None
    for chosen in choices(values or {}, [arg.name for arg in loading.workflow_of_script(str(script)).run_params()]):
        agent = Agent(script, project, values=chosen, files=files, text=text)
        for path, content in agent.files.items():
            if "/" in path or "." in path:
                agent.write(path, content)
        try:
            taken = agent.play(walk, *(["--new"] if failed else []))
        except CannotSteer as error:
            failed = failed or error
            continue
        _compare(agent, walk, taken)
        return agent
    assert failed is not None
    raise failed


def choices(values: Mapping[str, Any], parameters: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The values with each combination of the parameters' choices; then, besides, each other choice pinned in turn.

    At last those of the same place in every ``any_of`` together: reports that have to fit each other.
    """
    several = {name: list(found) for name, found in values.items() if isinstance(found, samples.any_of)}
    fixed = {name: found for name, found in several.items() if name in parameters}
    combinations = [dict(zip(fixed, combined, strict=True)) for combined in product(*fixed.values())]
    for combination in combinations:
        yield {**values, **combination}
    for combination in combinations:
        for name in several.keys() - fixed.keys():
            for choice in several[name]:
                yield {**values, **combination, name: choice}
    for at in range(max(map(len, several.values()), default=0)):
        yield {**values, **{name: found[min(at, len(found) - 1)] for name, found in several.items()}}


def _compare(agent: Agent, walk: Walk, taken: list[Taken]) -> None:
    graph = agent.workflow
    planned = []
    for leg in walk.legs:
        step = graph.step(leg.step)
        assert leg.target == step.next[leg.route], f"{leg} is no route of the graph"
        planned.append((leg.step, leg.target))
    assert [(one.step, one.target) for one in taken] == planned
    assert [routed(agent, one) for one in taken] == [leg.route.value for leg in walk.legs]
    for block in agent.blocks:
        assert block.root.get("skill"), block.text


def routed(agent: Agent, taken: Taken) -> str:
    """The entry of the step's routes that a transition took."""
    routes = agent.workflow.step(taken.step).next
    return taken.outcome if taken.outcome in routes else "default"


def entry_scripts(place: Path) -> list[Path]:
    """The entry scripts at a place: those that have their graph beside them; UsageError where there are none."""
    if place.is_file():
        return [place]
    graphs = sorted(place.glob(f"**/scripts/**/*{loading.SUFFIX}"))
    found = [graph.with_name(graph.name.removesuffix(loading.SUFFIX) + ".py") for graph in graphs]
    scripts = [script for script in found if script.is_file()]
    if not scripts:
        raise UsageError(f"{place} holds no skill", valid="a folder with scripts/x.py and scripts/x_workflow.py")
    return scripts


def find(place: str | Path, here: Path | None = None) -> Path:
    """The file or folder that a path means, from the working directory or from ``here`` upward; UsageError for none."""
    here = here or Path.cwd()
    for base in (Path.cwd(), here, *here.parents):
        if (base / place).exists():
            return (base / place).resolve()
    raise UsageError(f"{place} is found neither from {Path.cwd()} nor from {here} upward")

"""A check of every transition of every workflow, for a skill's own tests."""

from __future__ import annotations

import shutil
import sys
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skills.lib import paths
from skills.lib.errors import UsageError
from skills.lib.runtime import loading
from skills.lib.testing import given, samples
from skills.lib.testing.agent import Agent, Taken, sub_agents_verdict
from skills.lib.testing.steering import CannotSteer
from skills.lib.testing.walks import Leg, Walk, every_walk

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from skills.lib.testing.blocks import PrintedBlock

    # The legs of a walk, each with what the step's sub-agents are to find.
    Way = tuple[tuple[Leg, str], ...]


def every_transition(
    *where: str | Path,
    values: Mapping[str, Any] | None = None,
    files: Mapping[str, str] | None = None,
    text: samples.Text = samples.plain,
    setup: Callable[[Path], object] | None = None,
) -> Callable[..., None]:
    """A test that takes every transition of the skills at ``where``, by the commands that their steps print.

    ``where`` is a skill's folder, a folder of skills, or an entry script; a relative path is looked for from the
    working directory and then from the test's folder upward. The whole of a skill's own suite may be::

        from lockstep import every_transition

        test_transitions = every_transition("skills/my-skill")

    Each case opens a run in an empty project, loops to the bound if there is one, lets reviews pass and fail, has
    the sub-agents do their part, answers questions, and checks each printed document against the grammar and each
    transition against the graph. A case that begins as an earlier one goes on from a copy of that one's project.
    Reports are made up from what a block asks for; if a handler or a check wants more than that, give it::

        test_transitions = every_transition(
            "skills/my-skill",
            values={"draft.path": "notes/draft.md", "judge.mark": any_of("good", "bad")},
            files={"notes/draft.md": "# Draft\\n", "go.mod": "module x\\n"},
        )

    Keys of ``values`` are ``step.field``, or a field's or parameter's name (None leaves a parameter out); keys of
    ``files`` are paths in the project, or the name of the field that holds the path. Files that no step asks for are
    there from the beginning. What no file can say, such as a git repository, ``setup`` makes: it is called with the
    folder of each empty project. Raises UsageError if nothing is found at ``where``, and for a key that no step uses;
    Unplannable if a route of a graph cannot be taken at all.
    """
    here = Path(sys._getframe(1).f_globals.get("__file__", ".")).resolve().parent
    scripts = [script for place in where for script in entry_scripts(find(place, here))]
    given.check(scripts, values or {}, files or {})
    walks = {script: every_walk(loading.workflow_of_script(str(script))) for script in scripts}
    cases = [
        pytest.param(script, walk, id=f"{script.stem}: {walk}") for script, found in walks.items() for walk in found
    ]
    shared: dict[Path, SharedBeginnings] = {}

    @pytest.mark.parametrize("script, walk", cases)
    def test_transition(
        script: Path, walk: Walk, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("LOCKSTEP_HOME", raising=False)
        monkeypatch.delenv("LOCKSTEP_LEDGER_URL", raising=False)
        if script not in shared:
            shared[script] = SharedBeginnings(walks[script], tmp_path_factory.mktemp(script.stem), setup)
        try:
            check_walk(script, walk, shared[script], values=values, files=files, text=text)
        except CannotSteer as error:
            pytest.fail(str(error), pytrace=False)  # the author's own code is none of the frames

    return test_transition


class ProjectCopies:
    """A project, and copies of it at points of a run, from which an agent goes on instead of walking there again.

    A run knows its project by path, so a copy is put back in the one folder ``project`` and never used where it lies.
    """

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self._copies = folder
        self._kept: dict[Hashable, tuple[Path, PrintedBlock, list[PrintedBlock]]] = {}

    def clear(self) -> None:
        """Make the project an empty folder."""
        shutil.rmtree(self.project, ignore_errors=True)
        self.project.mkdir()

    def keep(self, point: Hashable, agent: Agent, block: PrintedBlock) -> None:
        """Copy the project as it is when the agent has this block; a point is kept once."""
        if point not in self._kept:
            copy = self._copies / f"copy-{len(self._kept)}"
            shutil.copytree(self.project, copy, symlinks=True)
            self._kept[point] = (copy, block, list(agent.blocks))

    def restore(self, point: Hashable, agent: Agent) -> PrintedBlock | None:
        """Put the copy of that point back, and return the block that the agent then has; None if none was kept."""
        if point not in self._kept:
            return None
        copy, block, blocks = self._kept[point]
        shutil.rmtree(self.project, ignore_errors=True)
        shutil.copytree(copy, self.project, symlinks=True)
        agent.blocks = list(blocks)
        agent.memory.recall(blocks)
        return block


class SharedBeginnings:
    """The walks of one script in one project, each from the last point at which an earlier walk parts from it.

    ``prepare`` puts into the empty project what no report writes.
    """

    def __init__(self, walks: Sequence[Walk], folder: Path, prepare: Callable[[Path], object] | None = None) -> None:
        self.copies = ProjectCopies(folder)
        self._walks = walks
        self._prepare = prepare
        self._parting: set[Way] = set()

    def play(self, agent: Agent, walk: Walk) -> list[Taken]:
        """Take the walk as Agent.play does, from the last point that a walk with the same values has passed."""
        if not self._parting:
            self._parting = _parting([_way(agent, planned) for planned in self._walks])
        way = _way(agent, walk)
        begin, block = self._begin(agent, way)
        for at in range(begin, len(way)):
            block = agent.take(block, walk, at, at + 1)
            if way[: at + 1] in self._parting:
                self.copies.keep((repr(agent.given), way[: at + 1]), agent, block)
        return agent.end(block)

    def _begin(self, agent: Agent, way: Way) -> tuple[int, PrintedBlock]:
        """How many legs are taken, and the block that is then printed."""
        for at in range(len(way), 0, -1):
            block = self.copies.restore((repr(agent.given), way[:at]), agent)
            if block is not None:
                return at, block
        self.copies.clear()
        if self._prepare:
            self._prepare(self.copies.project)
        _furnish(agent)
        return 0, agent.open()


def _way(agent: Agent, walk: Walk) -> Way:
    legs = enumerate(walk.legs, 1)
    return tuple((leg, sub_agents_verdict(agent.workflow, leg, walk.legs[at:])) for at, leg in legs)


def _parting(ways: Sequence[Way]) -> set[Way]:
    """The beginnings after which some of the ways go on differently."""
    onward: dict[Way, set[tuple[Leg, str]]] = {}
    for way in ways:
        for at, leg in enumerate(way):
            onward.setdefault(way[:at], set()).add(leg)
    return {beginning for beginning, legs in onward.items() if len(legs) > 1}


def check_walk(
    script: str | Path,
    walk: Walk,
    project: Path | SharedBeginnings,
    *,
    values: Mapping[str, Any] | None = None,
    files: Mapping[str, str] | None = None,
    text: samples.Text = samples.plain,
) -> Agent:
    """Take one walk in ``project`` and return the agent that took it; AssertionError says which step it did not take.

    If no report leads along the walk, it is begun again with the next choice of each ``any_of`` in turn: what a run
    parameter or an earlier report says may decide a later branch.
    """
    failed: CannotSteer | None = None
    shared = project if isinstance(project, SharedBeginnings) else None
    folder = project.copies.project if isinstance(project, SharedBeginnings) else project
    for chosen in choices(values or {}, [arg.name for arg in loading.workflow_of_script(str(script)).run_params()]):
        agent = Agent(script, folder, values=chosen, files=files, text=text)
        try:
            if shared is not None:
                taken = shared.play(agent, walk)
            else:
                _furnish(agent)
                taken = agent.play(walk, *(["--new"] if failed else []))
        except CannotSteer as error:
            failed = failed or error
            continue
        _compare(agent, walk, taken)
        return agent
    assert failed is not None
    raise failed


def _furnish(agent: Agent) -> None:
    """Put the ledger's folder into the project, and the files that no step asks for."""
    (agent.project / ".lockstep").mkdir(exist_ok=True)
    for path, content in agent.files.items():
        if "/" in path or "." in path:
            agent.write(path, content)


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
    """The entry scripts at a place: those that have their graph beside them; UsageError if there are none."""
    if place.is_file():
        return [place]
    ends = (paths.MODULE, paths.COMPILED)
    below = [graph for end in ends for graph in place.glob(f"**/scripts/**/*{end}")]
    graphs = sorted(graph for graph in below if paths.is_graph(str(graph)))
    found = [graph.with_name(graph.name.removesuffix(ends[0]).removesuffix(ends[1]) + ".py") for graph in graphs]
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

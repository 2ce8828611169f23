"""Compares sessions without a layered skill with sessions that have it: pairs of files of one name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skills.lib.errors import EnvironmentProblem, UsageError
from skills.lib.layers.replaying import counting, tasks
from skills.lib.layers.replaying.counting import FILES, MEASURES, Count, Counter
from skills.lib.layers.replaying.events import Terms
from skills.lib.layers.replaying.reading import Transcript
from skills.lib.layers.replaying.tasks import Task
from skills.lib.record import Record

_ENDINGS = (".jsonl", ".json", ".ndjson")
# More files in a folder than this are another folder than was meant.
_MOST = 10_000


class Side(Record):
    """One session of a pair: its file, the form that it has, and what was counted in it."""

    file: str
    form: str
    is_cut: bool
    count: Count


class Pair(Record):
    """Two sessions of one task."""

    name: str
    baseline: Side
    layered: Side

    def worse(self) -> list[str]:
        """The measures of which the layered session has more."""
        return [name for name in MEASURES if self.layered.count.of(name) > self.baseline.count.of(name)]


class Comparison(Record):
    """Pairs, and the names of sessions that have no partner."""

    pairs: Sequence[Pair]
    only_baseline: Sequence[str]
    only_layered: Sequence[str]

    def worse(self) -> bool:
        """True if the layered session of any pair has more of any measure."""
        return any(pair.worse() for pair in self.pairs)

    def holds(self) -> bool:
        """True if each session has its partner, and none of the layered ones is worse."""
        return bool(self.pairs) and not self.worse() and not self.only_baseline and not self.only_layered

    def knows(self, measure: str) -> bool:
        """False for files outside if no task says which files may be changed."""
        return measure != FILES or any(pair.baseline.count.files_known for pair in self.pairs)

    def sums(self, side: str) -> dict[str, int]:
        """The counts of all baseline or all layered sessions together, by measure."""
        counts = [getattr(pair, side).count for pair in self.pairs]
        return {measure: sum(one.of(measure) for one in counts) for measure in MEASURES}


def compare(baseline: str, layered: str, task: str, terms: Terms) -> Comparison:
    """Compare two files, or the files of two folders by their names; ``task`` names the file of a task of all pairs.

    Raises UsageError for what cannot be read.
    """
    is_folder = os.path.isdir(baseline)
    if is_folder != os.path.isdir(layered):
        raise UsageError(
            f"{baseline if is_folder else layered} is a folder, and {layered if is_folder else baseline} is not",
            remedy="name two sessions, or two folders of sessions",
        )
    given = tasks.read(task) if task else None
    if not is_folder:
        name = os.path.basename(baseline)
        return Comparison([_pair(name, baseline, layered, given, terms)], [], [])
    first, second = sessions(baseline), sessions(layered)
    if not first or not second:
        raise UsageError(
            f"{layered if first else baseline} has no recorded session",
            valid=f"files that end with {', '.join(_ENDINGS)}",
        )
    pairs = [_pair(name, first[name], second[name], given, terms) for name in first if name in second]
    return Comparison(
        pairs, [name for name in first if name not in second], [name for name in second if name not in first]
    )


def sessions(folder: str) -> dict[str, str]:
    """The recorded sessions in a folder and below it, by their names in order. Links to folders are not followed."""
    found: dict[str, str] = {}
    for name, path in sorted(_files(folder)):
        stem = os.path.splitext(name)[0]
        if stem in found:
            raise UsageError(f"{found[stem]} and {path} have one name", remedy="keep one of the two in the folder")
        found[stem] = path
    return found


def _files(folder: str) -> Iterator[tuple[str, str]]:
    def fail(error: OSError) -> None:
        raise EnvironmentProblem(f"{error.filename} cannot be read: {error.strerror}", remedy="make it readable")

    count = 0
    for above, folders, names in os.walk(folder, onerror=fail):
        folders.sort()
        for name in names:
            path = os.path.join(above, name)
            if name.endswith(_ENDINGS) and not name.endswith(tasks.ENDING):
                count += 1
                if count > _MOST:
                    raise UsageError(
                        f"{folder} has more than {_MOST:,} files", remedy="name the folder of the sessions"
                    )
                yield os.path.relpath(path, folder).replace(os.sep, "/"), path


def _pair(name: str, baseline: str, layered: str, given: Task | None, terms: Terms) -> Pair:
    task = given or _task_beside(baseline, layered)
    counters = [_followed(file, task, terms) for file in (baseline, layered)]
    judged = [counter.count().judged for _, counter in counters]
    sides = [
        Side(transcript.file, transcript.form.name if transcript.form else "", transcript.is_cut, counter.count(due))
        for (transcript, counter), due in zip(counters, (judged[1], judged[0]), strict=True)
    ]
    return Pair(name, *sides)


def _followed(file: str, task: Task, terms: Terms) -> tuple[Transcript, Counter]:
    transcript = Transcript(file, terms)
    counter = Counter(task, terms)
    for event in transcript.events():
        counter.take(event)
    return transcript, counter


def _task_beside(baseline: str, layered: str) -> Task:
    """The task of the file beside one of the two sessions. Raises UsageError for two that differ."""
    files = dict.fromkeys(os.path.splitext(session)[0] + tasks.ENDING for session in (baseline, layered))
    found = [(file, tasks.read(file)) for file in files if os.path.exists(file)]
    if len(found) == 2 and found[0][1] != found[1][1]:
        raise UsageError(f"{found[0][0]} and {found[1][0]} say different things", remedy="keep one, or make them equal")
    return found[0][1] if found else Task()


def as_data(found: Comparison) -> Mapping[str, Any]:
    """A comparison for a program."""

    def side(one: Side) -> dict[str, Any]:
        return {"file": one.file, "form": one.form, "is_cut": one.is_cut, **counting.as_data(one.count)}

    pairs = [
        {"name": pair.name, "baseline": side(pair.baseline), "layered": side(pair.layered), "worse": pair.worse()}
        for pair in found.pairs
    ]
    return {
        "holds": found.holds(),
        "sum": {"baseline": found.sums("baseline"), "layered": found.sums("layered")},
        "pairs": pairs,
        "only_baseline": list(found.only_baseline),
        "only_layered": list(found.only_layered),
    }

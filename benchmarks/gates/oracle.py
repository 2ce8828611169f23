"""What a run may be let through, worked out from what was played: nothing here reads the engine's verdicts.

Told of each review what its reviewers reported, of each answer who gave it, and of each file when it was changed. The
rules are those of docs/architecture.md, written a second time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    # Whose finding (a target, else the reviewer's number), and what it is about.
    Key = tuple[str | int, str]
    Files = dict[str, str]

MUST, SHOULD = "MUST", "SHOULD"
# A reviewer that never came back, and had judged nothing before.
UNSEEN = "the review was made"
# A SHOULD blocks the reviews of the first so many states of the work.
SHOULD_BLOCKS = 3


class Played:
    """What really happened to one checkpoint since its last series of reviews began."""

    def __init__(self) -> None:
        self.known: dict[Key, str] = {}
        self.open: dict[Key, str] = {}
        self.accepted: set[Key] = set()
        self.owners: frozenset[str | int] = frozenset()
        self.step = ""
        self.level = 0
        self.fresh = False
        self.begins_anew = False
        self.holds = False
        self.heard = False
        self.failed = False
        # As they were handed to the reviewers, and as the verdict or a person's word holds for them.
        self.handed: Files = {}
        self.files: Files = {}
        self.covers: tuple[str, ...] = ()
        self.order = 0
        # The step that it fell to, with its files.
        self.fell_to = ""

    def copy(self) -> Played:
        """The same, to go its own way."""
        other = Played()
        other.__dict__.update(self.__dict__, known=dict(self.known), open=dict(self.open), accepted=set(self.accepted))
        return other

    def reviewed(
        self,
        step: str,
        reports: Sequence[tuple[str | int, Mapping[str, tuple[str, str]] | None]],
        asked: Mapping[Key, str],
        handed: tuple[tuple[str, ...], Files],
    ) -> None:
        """One more review: what each reviewer said of each thing (None if it was lost), and what each was to judge."""
        if self.begins_anew:
            self.__init__()  # type: ignore[misc]
        covers, files = handed
        # Without files in the record any review may be of other work.
        self.level += not self.level or not covers or files != self.handed
        self.covers, self.handed, self.files = covers, files, files
        self.fresh, self.heard, self.holds = True, False, False
        if step != self.step:
            # What only the reviewers of the other step were to judge, and never did, is left to that step.
            self.open = {key: severity for key, severity in self.open.items() if key in self.known}
            self.step = step
        owners = self.owners = frozenset(owner for owner, _ in reports)
        self.open = {key: severity for key, severity in self.open.items() if key[0] in owners or key[1] != UNSEEN}
        for owner, said in reports:
            if said is None:
                mine = {key: severity for key, severity in self.known.items() if key[0] == owner}
                self.open.update(mine or {(owner, UNSEEN): MUST})
                continue
            self.open.pop((owner, UNSEEN), None)
            for what, (severity, status) in said.items():
                # Another step that reviews the checkpoint may divide what there is among others.
                for key in {(owner, what), *[key for key in self.known if key[1] == what and key[0] not in owners]}:
                    self.known[key] = self.open[key] = severity
                    if status == "PASS":
                        del self.open[key]
        self.open.update({key: severity for key, severity in asked.items() if key not in self.known})
        self.open = {key: severity for key, severity in self.open.items() if key not in self.accepted}
        self.failed = bool(self.blocking())

    def blocking(self) -> dict[Key, str]:
        """What is open and keeps the gate shut."""
        blocks = (MUST, SHOULD) if self.level <= SHOULD_BLOCKS else (MUST,)
        return {key: severity for key, severity in self.open.items() if severity in blocks}

    def accept(self, keys: Iterable[Key]) -> None:
        """A person accepted these findings."""
        for owner, what in keys:
            same = {key for key in self.known if key[1] == what and (key[0] == owner or key[0] not in self.owners)}
            self.accepted |= same | {(owner, what)}
        self.open = {key: severity for key, severity in self.open.items() if key not in self.accepted}

    def hear(self, files: Files, order: int) -> None:
        """A person knew of what is open and let the run go on, with the files as they are."""
        self.heard = True
        self.files = files
        self.order = order

    def spend(self, order: int) -> None:
        """The verdict let the run through a gate."""
        self.fresh, self.begins_anew, self.holds, self.order = False, True, True, order

    def fall(self, to: str) -> None:
        """The verdict fell with its files, and that led to a step."""
        self.fresh, self.begins_anew, self.holds = False, True, False
        self.fell_to = to

    def let_be(self, files: Files) -> None:
        """A person was told of the changed files, and let the run go on with the files as they are."""
        self.files = files


def opened(played: Played | None, gate: str, checkpoint: str, now: Files, by_person: bool) -> list[str]:
    """What is wrong with a gate that let a run through; ``now`` are the covered files as they are."""
    if played is None:
        return [f"{gate} opened without a review of {checkpoint}"]
    found = []
    if not played.fresh:
        found.append(f"{gate} opened on a verdict that was used already")
    if by_person:
        return found
    if played.blocking():
        found.append(f"{gate} opened with {', '.join(sorted(set(played.blocking().values())))} open")
    if now != played.files:
        found.append(f"{gate} opened although {checkpoint} was changed since its review")
    return found


def ended(by_checkpoint: Mapping[str, Played], now: Mapping[str, Files], never: Iterable[str]) -> list[str]:
    """What is wrong with a run that is done; ``never`` are the checkpoints that may not end as failed at all."""
    found = []
    for checkpoint, played in by_checkpoint.items():
        if played.fresh and played.blocking():
            if not played.heard:
                found.append(f"done with a failed review of {checkpoint}")
                continue
            if checkpoint in never:
                found.append(f"always: done on a person's word alone, and {checkpoint} never ends failed")
        files, present = played.files, now[checkpoint]
        differing = [name for name in sorted({*files, *present}) if files.get(name) != present.get(name)]
        found += [
            f"done although {name} was changed since {checkpoint} passed"
            for name in differing
            if not _is_taken_over(name, present, played, by_checkpoint)
        ]
    return found


def _is_taken_over(name: str, present: Files, played: Played, by_checkpoint: Mapping[str, Played]) -> bool:
    """True if a later review passed the file as it is now."""
    return any(
        other.order > played.order and not other.fresh and other.covers and other.files.get(name) == present.get(name)
        for other in by_checkpoint.values()
    )

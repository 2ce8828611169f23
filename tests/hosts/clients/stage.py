"""The session that a test plays."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from skills.lib.ledger import Ledger
from tests.hosts.clients import clients
from tests.hosts.clients.clients import Client, Ended, Room
from tests.hosts.clients.model import Model
from tests.hosts.clients.plays import SEEN, acting, begin, follow
from tests.hosts.clients.serving import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skills.lib.testing.blocks import PrintedBlock
    from tests.hosts.clients.model import Turn
    from tests.hosts.clients.plays import Going, Part, Play
    from tests.hosts.clients.serving import Server


@dataclass
class Stage:
    """One client in its room, with the skills and the hook installed."""

    client: Client
    room: Room
    turns: list[Turn] = field(default_factory=list, repr=False)

    @property
    def project(self) -> Path:
        return self.room.project

    def skill(self, name: str) -> Path:
        """Where an installed skill is."""
        return self.project / ".agents" / "skills" / name

    def play(
        self,
        main: Play,
        delegated: Play | None = None,
        *,
        prompt: str = "Take a guarded look.",
        again: bool = False,
        careful: bool = False,
        tokens: Callable[[Turn], int] = lambda turn: 10,
    ) -> Ended:
        """Start the client on a prompt and play the model until the client ends; the script must not have failed.

        A ``careful`` client would ask a person before it runs a command, and there is none.
        """
        with self._model(main, delegated, tokens) as room:
            arguments = self.client.again(prompt) if again else self.client.command(prompt)
            if careful:
                arguments = [word for word in arguments if word not in self.client.freely]
                arguments = [*self.client.carefully, *arguments]
            return clients.run(self.client, room, arguments)

    @contextlib.contextmanager
    def serving(self, main: Play, delegated: Play | None = None) -> Iterator[Server]:
        """Run the client's server and play the model in all its sessions; the script must not have failed."""
        with self._model(main, delegated) as room, serving(self.client, room) as server:
            yield server

    @contextlib.contextmanager
    def _model(
        self, main: Play, delegated: Play | None = None, tokens: Callable[[Turn], int] = lambda turn: 10
    ) -> Iterator[Room]:
        with Model(acting(main, delegated), tokens) as model:
            room = Room(self.room.home, self.room.project, model.address)
            self.client.settle(room)
            yield room
        self.turns = list(model.turns)
        assert not model.faults, "\n".join(model.faults)

    def runs(self) -> list[tuple[str, str | None, str]]:
        """Each run of the project: its workflow, its step, its status."""
        ledger = Ledger(str(self.project / ".lockstep"))
        try:
            ids = sorted({event.run for event in ledger.events(None)})
            return [(run.workflow, run.step, run.status) for run in ledger.runs(ids)]
        finally:
            ledger.close()

    def sessions(self) -> list[str]:
        """The sessions that the hook has bound to a run."""
        folder = self.room.home / "state" / "lockstep" / "sessions"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def at_look(stage: Stage) -> Part:
    """Begin the guarded skill and go to the step that allows reading and sub-agents."""
    block = yield from begin(stage.client, stage.skill("guarded"))
    block = yield from follow(stage.client, block, SEEN)
    assert block.step == "look"
    return block


def to_the_end(stage: Stage, block: PrintedBlock) -> Going:
    """Follow a run to its end."""
    while block.kind == "step":
        block = yield from follow(stage.client, block, SEEN)
    assert block.kind == "done"

"""What the scripted model does in a test, written as a play.

A play is a generator function: it is given the first turn, yields an action and gets the next turn.
"""

from __future__ import annotations

import html
import re
import shlex
import sys
from typing import TYPE_CHECKING, TypeAlias

from skills.lib.testing.blocks import PrintedBlock, filled
from tests.hosts.clients.model import Say

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from pathlib import Path

    from tests.hosts.clients.clients import Client
    from tests.hosts.clients.model import Action, Turn

Going: TypeAlias = "Generator[Action, Turn, None]"
Play: TypeAlias = "Callable[[Turn], Going]"
Part: TypeAlias = "Generator[Action, Turn, PrintedBlock]"

_DOCUMENT = re.compile(r"<(step|done|refused|waiting)\b.*?</\1>", re.DOTALL)
# What the agent reports to the guarded skill at its steps.
SEEN = {"topic": "the notes", "seen": "one line", "path": "notes.txt", "answer": "One line; it is in notes.txt."}
# What a sub-agent's prompt begins with, so that its conversation is known.
DELEGATED = "Delegated work:"
# A client that goes round in circles is answered that the model has nothing more to do, and then cut off.
MOST_TURNS = 60


def acting(main: Play, delegated: Play | None = None) -> Callable[[Turn], Action]:
    """A script that plays one play in the client's conversation, and another in its sub-agent's."""
    going: dict[Play, Going] = {}
    count = 0

    def script(turn: Turn) -> Action:
        nonlocal count
        count += 1
        assert count <= MOST_TURNS, "the client does not come to an end"
        is_delegated = any(one.role == "user" and DELEGATED in one.text for one in turn.messages)
        play = delegated if delegated and is_delegated else main
        try:
            if play in going:
                return going[play].send(turn)
            going[play] = play(turn)
            return next(going[play])
        except StopIteration:
            return Say("That is all.")

    return script


def block_in(text: str) -> PrintedBlock:
    """The last document of a run in what a model reads; two clients escape what a hook says."""
    text = re.sub(
        r"&lt;(?:step|done|refused|waiting)\b.*", lambda escaped: html.unescape(escaped[0]), text, flags=re.DOTALL
    )
    found = [one[0] for one in _DOCUMENT.finditer(text)]
    assert found, f"no printed document in: {text[:1500]}"
    return PrintedBlock(0, found[-1] + "\n")


def begin(client: Client, folder: Path) -> Part:
    """Load a skill as the client does, and run the command that its SKILL.md gives."""
    turn = yield client.skill(folder.name, folder)
    [command] = re.findall(r'^\s*python3 ("SKILL_DIR/.*)$', turn.output, re.MULTILINE)
    opening = f"{shlex.quote(sys.executable)} {command}".replace("SKILL_DIR", str(folder))
    return (yield from printed(client, opening))


def follow(client: Client, block: PrintedBlock, values: Mapping[str, object]) -> Part:
    """Run a block's NEXT command with these values."""
    return (yield from printed(client, filled(block.next, values)))


def printed(client: Client, command: str) -> Part:
    """Run a command and take the block that it prints.

    On a busy machine a client may hand over a shell's output before there is any; the same command then prints the same
    block, so it is run once more.
    """
    turn = yield client.shell(command)
    if not _DOCUMENT.search(html.unescape(turn.output)):
        turn = yield client.shell(command)
    return block_in(turn.output)

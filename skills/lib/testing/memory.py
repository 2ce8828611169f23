"""What an agent knows of its runs: the last block of each, and what it reported since. Brief blocks count on it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from skills.lib import compact_json
from skills.lib.model.texts import present
from skills.lib.runtime import cli
from skills.lib.testing.commands import argv

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skills.lib.testing.blocks import PrintedBlock


class Memory:
    """Remembers the last block of each run, and nothing that is older."""

    def __init__(self) -> None:
        self._last: dict[str, PrintedBlock] = {}

    def of(self, command: str, block: PrintedBlock) -> PrintedBlock:
        """The block that a command printed, with the values that it leaves out; AssertionError if one is not known."""
        if not _is_block(block):
            return block
        if block.left_out:
            last = self._last.get(block.run)
            assert last is not None, f"a brief block, and no block of run {block.run} came before it:\n{block.text}"
            known = {**last.context, **_reported(command, last)}
            unknown = [name for name in block.left_out if name not in known]
            assert not unknown, f"left out, and never shown nor reported: {', '.join(unknown)}\n{block.text}"
            block = replace(block, remembered={name: known[name] for name in block.left_out})
        if block.kind == "done":
            self._last.pop(block.run, None)
        else:
            self._last[block.run] = block
        return block

    def recall(self, blocks: Iterable[PrintedBlock]) -> None:
        """Know these blocks, as they were remembered, and nothing else."""
        self._last = {block.run: block for block in blocks if _is_block(block)}

    def forget(self, run: str) -> None:
        """Lose what was printed of a run, as an agent does whose context is compacted."""
        self._last.pop(run, None)


def _is_block(block: PrintedBlock) -> bool:
    return block.exit_code == 0 and block.text.startswith("<") and block.kind in ("step", "waiting", "done")


def _reported(command: str, block: PrintedBlock) -> dict[str, str]:
    """What a command reports of the step that a block shows, as a later block shows it."""
    given: dict[str, object] = {}
    for flag, value in cli.read(argv(command)[2:]):
        if flag == "record":
            name, _, text = (value or "").partition("=")
            given[name] = text
        elif flag == "record-file":
            given.update(compact_json.loads(Path(value or "").read_text(encoding="utf-8-sig")))
        else:
            given[flag.replace("-", "_")] = value
    found = {}
    for spec in block.specs:
        said = given.get(spec.name)
        if isinstance(said, str) and spec.type not in ("text", "statements"):
            said = compact_json.loads(said)
        if said is not None:
            found[f"{block.step}.{spec.name}"] = present(said)
    return found

"""Prompt files that carry the same block: which are copies, which have drifted, and each without it."""

from __future__ import annotations

import difflib
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skills.lib import compact_json, files
from skills.lib.errors import UsageError

TAG = "tooling_guidance"
IDENTICAL, DRIFTED, MISSING, BROKEN = "identical", "drifted", "missing", "broken"
_LIMIT = 1_000_000
_MOST = 2_000
_ENDINGS = (".md", ".txt", ".prompt")
_SKIPPED = {".git", ".lockstep", "node_modules", ".venv", "__pycache__"}
_BLOCK = re.compile(rf"<{TAG}>(.*?)</{TAG}>", re.DOTALL)
_MARK = re.compile(rf"</?{TAG}>")


@dataclass(frozen=True)
class Prompt:
    """A prompt file: what its block is (``identical`` …), and the file's text before and without the block."""

    path: str
    state: str
    text: str = ""
    slim: str = ""
    drift: str = ""
    why: str = ""


def scan(folder: str, skill: str, reference: str | None = None) -> list[Prompt]:
    """Every prompt file below a folder. ``reference`` is a file with the block that all should have.

    Without it the block that most files have is the reference. Raises UsageError for a folder that cannot be read.
    """
    if not os.path.isdir(folder):
        raise UsageError(f"{folder} is no folder", valid="the folder of the prompts")
    read = {path: _read(path) for path in _paths(folder)}
    blocks = {path: _block(text) for path, text in read.items() if text is not None}
    wanted = _block_of(reference) if reference else _commonest(block for block in blocks.values() if block)
    return [_prompt(path, text, wanted, skill) for path, text in read.items()]


def slimmed(text: str, skill: str) -> str:
    """A prompt whose block is replaced by one line that names the skill; other texts as they are."""
    return _BLOCK.sub(lambda _: reference_line(skill), text, count=1) if _block(text) else text


def reference_line(skill: str) -> str:
    """What a slim prompt says in place of the block."""
    return f"Follow the skill {skill} for every search, read and shell command."


def diff(prompt: Prompt, root: str) -> str:
    """The unified diff from a prompt to its slim form; empty if nothing changes."""
    return unified(prompt.text, prompt.slim, os.path.relpath(prompt.path, root))


def plan(prompts: Sequence[Prompt]) -> str:
    """A digest of what would be written: another one if any of the files has changed."""
    return compact_json.digest([[one.path, one.text, one.slim] for one in prompts])[:12]


def write(prompts: Sequence[Prompt]) -> list[str]:
    """Write the slim form of each prompt that has one and is as it was; return the paths."""
    written = []
    for one in prompts:
        files.write(os.path.realpath(one.path), one.slim.encode())
        written.append(one.path)
    return written


def _paths(folder: str) -> list[str]:
    found = []
    for where, names, files_of in os.walk(folder):
        names[:] = sorted(name for name in names if name not in _SKIPPED)
        found += [os.path.join(where, name) for name in sorted(files_of) if name.endswith(_ENDINGS)]
        if len(found) > _MOST:
            raise UsageError(f"{folder} has more than {_MOST} prompt files", remedy="name a smaller folder")
    return found


def _read(path: str) -> str | None:
    """The text of a file; None if it is a link, too large or no text."""
    if os.path.islink(path):
        return None
    try:
        return files.read(path, _LIMIT).decode()
    except (OSError, ValueError):
        return None


def _block(text: str) -> str:
    """The whole block of a text with its tags; empty if it has not exactly one."""
    found = _BLOCK.findall(text)
    return f"<{TAG}>{found[0]}</{TAG}>" if len(found) == 1 and len(_MARK.findall(text)) == 2 else ""


def _block_of(reference: str) -> str:
    text = _read(reference)
    block = _block(text) if text is not None else ""
    if not block:
        raise UsageError(f"{reference} has no <{TAG}> block", remedy="name a prompt that has one")
    return block


def _commonest(blocks: Iterable[str]) -> str:
    """The block that most texts have, compared without the space around lines; of several the first."""
    given = list(blocks)
    counts = Counter(map(_plain, given))
    return max(given, key=lambda block: counts[_plain(block)], default="")


def _plain(block: str) -> str:
    return "\n".join(line.strip() for line in block.strip().splitlines())


def _prompt(path: str, text: str | None, wanted: str, skill: str) -> Prompt:
    if text is None:
        return Prompt(path, BROKEN, why="it is a link, too large, or no UTF-8 text")
    block = _block(text)
    if not block:
        marks = len(_MARK.findall(text))
        why = f"it has {marks} tags of {TAG}: one block has two" if marks else ""
        return Prompt(path, BROKEN if marks else MISSING, text, text, why=why)
    state = IDENTICAL if _plain(block) == _plain(wanted) else DRIFTED
    drift = "" if state == IDENTICAL else unified(wanted + "\n", block + "\n", f"<{TAG}> of {os.path.basename(path)}")
    return Prompt(path, state, text, slimmed(text, skill), drift)


def unified(before: str, after: str, name: str) -> str:
    """The unified diff of two texts of that name."""
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

"""Printed texts line by line: which are only the frame of a step, and what a command in one leads to."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from skills.lib.migration.execution import Printed
from skills.lib.migration.values import Parameter, Place, Shifted, Template, Unknown, joined

COMMAND = re.compile(r"--step[ =]")
_HOLE = re.compile("\ue000(\\d+)\ue001")
_LEAD = re.compile(r"\s*(?:[-*•+]|\d+[.)])?\s*")
# What stands around the texts of a step, in any case; a line with any other word is a text.
_FRAME = frozenset(
    "step steps of total phase stage title skill workflow do actions action instructions next run command invoke after"
    " complete completed done end final".split()
)


def is_frame(line: str, *known: str) -> bool:
    """Whether a line has no word but those of a frame and the known texts: the title, the skill's name."""
    bare = _HOLE.sub(" ", line)
    for text in known:
        if text.strip():
            bare = re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", " ", bare, count=1)
    return all(word.lower() in _FRAME for word in re.findall(r"[^\W\d_]+", bare))


def is_command(line: str, *known: str) -> bool:
    """Whether a line holds a step command and, but for a frame before it, nothing else."""
    before = COMMAND.split(line, maxsplit=1)[0]
    words = before.split()
    script = words.pop() if words and (_HOLE.fullmatch(words[-1].strip("\"'`")) or ".py" in words[-1]) else ""
    if script and words and re.fullmatch(r"[\"'`]?(?:\S*python[\d.]*|\ue000\d+\ue001)", words[-1]):
        words.pop()
    if not is_frame(" ".join(words), *known):
        return False
    after_flag = False
    for token in _tokens(line[len(before) :]):
        if token.startswith("--"):
            after_flag = "=" not in token
        elif not after_flag:
            return not token.strip("\"'`.;)")
        else:
            after_flag = False
    return True


def holds_value(value: Any) -> bool:
    """Whether a line shows what a parameter has, and not only the script's own path."""
    parts = value.parts if isinstance(value, Template) else (value,)
    return any(not isinstance(part, (str, Place)) for part in parts)


def shown(value: Any) -> str:
    """A printed value as text, with its unknown parts as numbered holes."""
    text, _ = encoded(value)
    return text if text is not None else "something that is no text"


def readable(line: str) -> str:
    """A line for a reader: unknown parts as an ellipsis, and not too long."""
    return _HOLE.sub("…", line).strip()[:60]


def commands(words: Any) -> tuple[list[int] | str, dict[str, Any]]:
    """The steps that a command leads to, and its other flags; in place of the steps, why they cannot be told."""
    if isinstance(words, (list, tuple)):
        holes: list[Any] = []
        tokens = [_put(word, holes) for word in words]
        if any(isinstance(word, Unknown) for word in holes):
            return next(word.what for word in holes if isinstance(word, Unknown)), {}
    else:
        text, holes = encoded(words)
        if text is None:
            return getattr(words, "what", "it is no text"), {}
        tokens = _tokens(text)
    found: list[int] = []
    carried: dict[str, Any] = {}
    for at, token in enumerate(tokens):
        flag, equals, given = token.partition("=")
        if not flag.startswith("--"):
            continue
        value = given if equals else tokens[at + 1] if at + 1 < len(tokens) else ""
        if flag == "--step":
            if not value.isascii() or not value.isdigit():
                return f"--step {_HOLE.sub('…', value)}", {}
            found.append(int(value))
        else:
            hole = _HOLE.fullmatch(value)
            carried[flag[2:].replace("-", "_")] = holes[int(hole[1])] if hole else value
    return found, carried


def _tokens(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def merged(printed: Iterable[Printed]) -> Iterator[tuple[Any, int]]:
    """What is printed, as whole lines with the source line of each: a print may end in the middle of one."""
    parts: list[Any] = []
    at = 0
    for one in printed:
        at = at if parts else one.line
        if encoded(one.value)[0] is None:
            yield one.value, one.line
            continue
        parts += [one.value, one.end]
        text = joined(parts)
        if shown(text).endswith("\n"):
            yield from ((line, at) for line in lines_of(text)[:-1])
            parts = []
    if parts:
        yield from ((line, at) for line in lines_of(joined(parts)))


def encoded(value: Any) -> tuple[str | None, list[Any]]:
    """A text with its unknown parts as numbered holes; None where it is no text at all."""
    holes: list[Any] = []
    if isinstance(value, (str, Template, Parameter, Shifted, Place)):
        return _put(value, holes), holes
    return None, holes


def _put(value: Any, holes: list[Any]) -> str:
    if isinstance(value, Template):
        return "".join(_put(part, holes) for part in value.parts)
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return str(value)
    holes.append(value)
    return f"\ue000{len(holes) - 1}\ue001"


def lines_of(value: Any) -> list[Any]:
    """A text, with its unknown parts, line by line."""
    if not isinstance(value, Template):
        return value.split("\n") if isinstance(value, str) else [value]
    lines: list[list[Any]] = [[]]
    for part in value.parts:
        first, *others = part.split("\n") if isinstance(part, str) else [part]
        lines[-1].append(first)
        lines += [[other] for other in others]
    return [joined(line) for line in lines]


def position(pieces: Sequence[tuple[Any, int]], lines: Sequence[str]) -> int | None:
    """Where the lines of an action begin, the first perhaps behind the mark of a list."""
    texts = [shown(piece) for piece, _ in pieces]
    for at in range(len(texts) - len(lines) + 1):
        here = texts[at : at + len(lines)]
        lead = here[0][: len(here[0]) - len(lines[0])]
        if here[0].endswith(lines[0]) and _LEAD.fullmatch(lead) and here[1:] == list(lines[1:]):
            return at
    return None

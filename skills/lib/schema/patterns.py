"""Regular expressions of JSON Schema, matched in time linear in the text: no pattern can hang a check.

``re`` tries alternatives one after another, and some patterns make it try 2**n of them on n characters. This matcher
follows all alternatives at once (Thompson, 1968), so it has no back references and no lookaround. The dialect is the
rest of ECMA-262, which JSON Schema recommends: ``\\d`` and ``\\w`` are ASCII, ``$`` is the very end of the text.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Ranges = tuple[tuple[int, int], ...]
    # The characters in the ranges, or if it is true, all others.
    Chars = tuple[Ranges, bool]
    # A set of characters (several Chars, and whether they are excluded), an assertion, a jump, or the end.
    Instruction = tuple[Any, ...]

# How many instructions a compiled pattern may have: a{1000} has 1,000.
SIZE_LIMIT = 5_000
# How many groups may stand inside each other.
DEPTH_LIMIT = 50
# On longer texts no pattern is tried.
TEXT_LIMIT = 1_000_000
_NO_END = -1
_DIGITS: Ranges = ((48, 57),)
_WORD: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACES: Ranges = (
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
)
_LINE_ENDS: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
_CLASSES = {"d": _DIGITS, "w": _WORD, "s": _SPACES}
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "0": 0}
_REPETITIONS = {"*": (0, _NO_END), "+": (1, _NO_END), "?": (0, 1)}
_HEX = frozenset("0123456789abcdefABCDEF")
_SET, _SPLIT, _JUMP, _ASSERT, _MATCH = "set", "split", "jump", "assert", "match"
_START, _END, _BOUNDARY, _INSIDE = 1, 2, 4, 8
_SIGNS: dict[str, Instruction] = {
    ".": (_SET, ((_LINE_ENDS, True),), False),
    "^": (_ASSERT, _START),
    "$": (_ASSERT, _END),
}
_EDGES: dict[str, Instruction] = {"b": (_ASSERT, _BOUNDARY), "B": (_ASSERT, _INSIDE)}


class PatternError(ValueError):
    """A pattern that cannot be used; the message says which part of it, and where."""


class TooMuchWork(Exception):
    """Raised if matching would take more work than was allowed."""


class Work:
    """Work that may be done: ``spend`` counts it, and raises TooMuchWork when all of it is spent."""

    def __init__(self, most: int) -> None:
        self.left = most

    def spend(self, amount: int) -> None:
        """Count work that is done."""
        self.left -= amount
        if self.left < 0:
            raise TooMuchWork


class Pattern:
    """A compiled pattern. Raises PatternError if the text is no pattern of this dialect."""

    def __init__(self, text: str) -> None:
        self._program = _Compiler(text).program
        self._asserts = any(instruction[0] == _ASSERT for instruction in self._program)
        self._closures: dict[tuple[frozenset[int], int], tuple[bool, tuple[int, ...]]] = {}
        self._steps: dict[tuple[frozenset[int], int, str], frozenset[int]] = {}

    @property
    def size(self) -> int:
        """How many instructions the compiled pattern has."""
        return len(self._program)

    def is_found_in(self, text: str, spend: Callable[[int], None] = lambda amount: None) -> bool:
        """True if some part of the text matches; ``spend`` is called with the work that was done, and may raise."""
        states: frozenset[int] = frozenset((0,))
        last = len(text)
        spend(1 + last // 16)
        for at, char in enumerate(text):
            around = self._around(text, at, last)
            step = (states, around, char)
            after = self._steps.get(step)
            if after is None:
                accepted, consuming = self._closure(states, around, spend)
                if accepted:
                    return True
                code = ord(char)
                # A match may begin at any character: the first instruction is always among the states.
                moved = {state + 1 for state in consuming if _holds(self._program[state], code)}
                after = self._steps[step] = frozenset((0, *moved))
                spend(len(consuming))
            states = after
        return self._closure(states, self._around(text, last, last), spend)[0]

    def _around(self, text: str, at: int, last: int) -> int:
        """The assertions that hold before the character at a position."""
        if not self._asserts:
            return 0
        before = at > 0 and _is_in(_WORD, ord(text[at - 1]))
        after = at < last and _is_in(_WORD, ord(text[at]))
        edges = (_START if at == 0 else 0) | (_END if at == last else 0)
        return edges | (_BOUNDARY if before != after else _INSIDE)

    def _closure(
        self, states: frozenset[int], around: int, spend: Callable[[int], None]
    ) -> tuple[bool, tuple[int, ...]]:
        """Whether a match ends here, and the sets of characters that may come next."""
        known = self._closures.get((states, around))
        if known is not None:
            return known
        seen, todo, accepted, consuming = set(states), list(states), False, []
        while todo:
            at = todo.pop()
            kind, *targets = self._program[at]
            if kind == _MATCH:
                accepted = True
                break
            if kind == _SET:
                consuming.append(at)
                continue
            if kind == _ASSERT:
                targets = [at + 1] if around & targets[0] else []
            for target in targets:
                if target not in seen:
                    seen.add(target)
                    todo.append(target)
        spend(len(seen))
        found = self._closures[states, around] = (accepted, tuple(consuming))
        return found


def _holds(instruction: Instruction, code: int) -> bool:
    _, several, excluded = instruction
    return any(_is_in(ranges, code) is not others for ranges, others in several) is not excluded


def _is_in(ranges: Ranges, code: int) -> bool:
    return any(low <= code <= high for low, high in ranges)


class _Compiler:
    """Reads a pattern from left to right and writes its program."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.program: list[Instruction] = self._alternatives()
        if self.at < len(text):
            raise PatternError(f"a ) at {self.at} closes no group")
        self.program.append((_MATCH,))

    # A part of a program has targets relative to its own beginning until it is put in its place.

    def _alternatives(self) -> list[Instruction]:
        parts = [self._sequence()]
        while self._take("|"):
            parts.append(self._sequence())
        found = parts.pop()
        while parts:
            first = parts.pop()
            over = len(first) + 2
            found = [
                (_SPLIT, 1, over),
                *_moved(first, 1),
                (_JUMP, over + len(found)),
                *_moved(found, over),
            ]
            self._check_size(len(found))
        return found

    def _sequence(self) -> list[Instruction]:
        found: list[Instruction] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            found += _moved(self._repeated(), len(found))
            self._check_size(len(found))
        return found

    def _repeated(self) -> list[Instruction]:
        begin = self.at
        part = self._atom()
        times = self._times()
        if times is None:
            return part
        low, high = times
        if self.at < len(self.text) and self.text[self.at] == "?":
            self.at += 1  # lazy: the same texts match
        if self._times() is not None:
            raise PatternError(f"{self.text[begin : self.at]} at {begin} has two repetitions; write a group around one")
        self._check_size(len(part) * max(low, high, 1) + 2)
        return _repeat(part, low, high)

    def _times(self) -> tuple[int, int] | None:
        """The least and the greatest number of repetitions, if a repetition is next; _NO_END is any number."""
        char = self.text[self.at : self.at + 1]
        if char in _REPETITIONS:
            self.at += 1
            return _REPETITIONS[char]
        if char != "{":
            return None
        inside, closed, _ = self.text[self.at + 1 :].partition("}")
        low, comma, high = inside.partition(",")
        if not closed or not _is_count(low) or (high and not _is_count(high)):
            raise PatternError(f"the {{ at {self.at} begins no repetition such as {{2}} or {{0,3}}; write \\{{ for it")
        begin, self.at = self.at, self.at + len(inside) + 2
        least = int(low)
        greatest = least if not comma else int(high) if high else _NO_END
        if greatest != _NO_END and greatest < least:
            raise PatternError(f"{{{inside}}} at {begin} has a maximum below its minimum")
        return least, greatest

    def _atom(self) -> list[Instruction]:
        begin, char = self.at, self.text[self.at]
        self.at += 1
        if char == "(":
            return self._group(begin)
        if char == "[":
            return [self._class(begin)]
        if char in _SIGNS:
            return [_SIGNS[char]]
        if char in "*+?{":
            instead = "; write \\{ for it" if char == "{" else ""
            raise PatternError(f"the {char} at {begin} has nothing before it to repeat{instead}")
        if char == "\\":
            if self.text[self.at : self.at + 1] in _EDGES:
                self.at += 1
                return [_EDGES[self.text[self.at - 1]]]
            return [(_SET, (self._escape(begin),), False)]
        return [(_SET, (_one(ord(char)),), False)]

    def _group(self, begin: int) -> list[Instruction]:
        if self._take("?") and not self._take(":"):
            raise PatternError(
                f"(?{self.text[self.at : self.at + 1]} at {begin} is not supported: "
                "there is no lookaround, no named group and no flag; (?:…) groups"
            )
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            raise PatternError(f"more than {DEPTH_LIMIT} groups stand inside each other")
        found = self._alternatives()
        self.depth -= 1
        if not self._take(")"):
            raise PatternError(f"the group at {begin} is not closed")
        return found

    def _escape(self, begin: int) -> Chars:
        """What an escape outside or inside of a class stands for; the backslash is read."""
        char = self.text[self.at : self.at + 1]
        self.at += 1
        if not char:
            raise PatternError(f"the \\ at {begin} stands at the end, and escapes nothing")
        if char.lower() in _CLASSES:
            return _CLASSES[char.lower()], char.isupper()
        if char in _CONTROLS and not (char == "0" and self.text[self.at : self.at + 1].isdigit()):
            return _one(_CONTROLS[char])
        if char in "xu":
            return _one(self._hexadecimal(begin, 2 if char == "x" else 4))
        if char.isalnum() or char == "_":
            what = "a back reference" if char.isdigit() else f"\\{char}"
            raise PatternError(f"\\{char} at {begin}: {what} is not supported")
        return _one(ord(char))

    def _hexadecimal(self, begin: int, digits: int) -> int:
        found = self.text[self.at : self.at + digits]
        self.at += digits
        if len(found) < digits or not set(found) <= _HEX:
            raise PatternError(f"{self.text[begin : self.at]} at {begin} has not {digits} hexadecimal digits")
        if 0xD800 <= int(found, 16) < 0xE000:
            raise PatternError(f"\\u{found} at {begin} is half of a surrogate pair; write the character itself")
        return int(found, 16)

    def _class(self, begin: int) -> Instruction:
        excluded = self._take("^")
        if self._take("]"):
            raise PatternError(f"the class at {begin} is empty; write \\] if it is to hold a ]")
        several: list[Chars] = []
        while not self._take("]"):
            low = self._member(begin)
            if self.text[self.at : self.at + 1] != "-" or self.text[self.at + 1 : self.at + 2] in ("]", ""):
                several.append(low)
                continue
            self.at += 1
            high = self._member(begin)
            if not (_is_one(low) and _is_one(high) and low <= high):
                raise PatternError(
                    f"the class at {begin} has a range that does not go from one character up to another"
                )
            several.append((((low[0][0][0], high[0][0][0]),), False))
        return (_SET, tuple(several), excluded)

    def _member(self, begin: int) -> Chars:
        if self.at >= len(self.text):
            raise PatternError(f"the class at {begin} is not closed")
        char = self.text[self.at]
        self.at += 1
        if char != "\\":
            return _one(ord(char))
        return _one(8) if self._take("b") else self._escape(self.at - 1)

    def _take(self, char: str) -> bool:
        if self.text[self.at : self.at + 1] != char:
            return False
        self.at += 1
        return True

    def _check_size(self, size: int) -> None:
        if size > SIZE_LIMIT:
            raise PatternError(f"written out it has more than {SIZE_LIMIT:,} parts; bound the length with maxLength")


def _repeat(part: list[Instruction], low: int, high: int) -> list[Instruction]:
    found: list[Instruction] = []
    for _ in range(low):
        found += _moved(part, len(found))
    if high == _NO_END:
        at, over = len(found), len(part) + 2
        return [*found, (_SPLIT, at + 1, at + over), *_moved(part, at + 1), (_JUMP, at)]
    end = len(found) + (high - low) * (len(part) + 1)
    for _ in range(high - low):
        at = len(found)
        found += [(_SPLIT, at + 1, end), *_moved(part, at + 1)]
    return found


def _moved(part: Iterable[Instruction], by: int) -> list[Instruction]:
    """A part of a program as it stands ``by`` places further on."""
    return [
        (instruction[0], *[target + by for target in instruction[1:]])
        if instruction[0] in (_SPLIT, _JUMP)
        else instruction
        for instruction in part
    ]


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 6


def _one(code: int) -> Chars:
    return ((code, code),), False


def _is_one(chars: Chars) -> bool:
    return chars == _one(chars[0][0][0])

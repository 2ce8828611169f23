"""Reads the words of a shell's line: their literal texts, and what of them only the shell knows."""

from __future__ import annotations

from skills.lib.guard.shell_parts import Word
from skills.lib.shell_words import single_quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

NAME_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
NAME = NAME_START | frozenset("0123456789")
_ENDS_WORD = frozenset(" \t\n;&|")
# These are one word each: a folder with a blank in its name would break every other line too.
_FOLDERS = ("$HOME/", "${HOME}/", "$PWD/", "${PWD}/")
# After ${NAME, these begin a text; in any other place a shell may calculate, which can run a command.
_PARAMETER_TEXTS = ("-", "=", "+", "?", ":-", ":=", ":+", ":?", "%", "#", "/", "^", ",")
# What stands for each letter after a backslash in $'…'.
_ESCAPES = dict(zip("abeEfnrtv\\'\"?", "\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))
_HEX = "0123456789abcdefABCDEF"


def may_calculate(text: str) -> bool:
    """True for a text that some programs take for the index of an array, in which a command may stand."""
    return "[" in text and ("$(" in text or "`" in text)


class Unclear(Exception):
    """What a shell makes of the rest of a line cannot be said; the text says why."""


class Scanner:
    """Reads words from a line at ``at``.

    ``commands`` reads those of a substitution, up to its closing parenthesis; ``other`` those of a line that stands
    between backticks.
    """

    def __init__(self, line: str, commands: Callable[[], None], other: Callable[[str], None]) -> None:
        self.line, self.at = line, 0
        self.ends = ("", "")
        self.has_index = False  # whether a text may be the index of an array in which a command stands
        self._commands, self._other = commands, other

    def word(self) -> Word:
        """The word that begins here; nothing is read if none does."""
        line, start = self.line, self.at
        if line[start : start + 1] == "!" and line[start + 1 : start + 2] not in ("", " ", "\t", "\n", "=", ";"):
            raise Unclear("'!' may be of the history")
        parts: list[str] = []
        word, in_braces, after = Word(), False, 0
        word.tilde = line[start : start + 1] == "~"
        while self.at < len(line):
            char = line[self.at]
            if char in _ENDS_WORD or char == ")" or (char in "<>" and line[self.at + 1 : self.at + 2] != "("):
                break
            if char == "(":
                raise Unclear("a parenthesis stands in a word")
            text: str | None
            if char in "'\"\\$`<>":
                text = self._special(word, char)
            elif char.isprintable():
                self.at += 1
                text = char
                word.glob = word.glob or char in "*?["
                in_braces = in_braces or char == "{"
                if in_braces and (char == "," or line.startswith("..", self.at - 1)):
                    text, word.single = None, False
            else:
                raise Unclear("it has a blank or a sign that is none of the shell's")
            if text is None:
                before, behind = self.ends if char == '"' else ("", "")
                word.head = "".join(parts) + before if word.known else word.head
                word.known, after = False, len(parts) + 1
                parts += [before, behind]
            else:
                parts.append(text)
        word.text, word.tail = "".join(parts), "".join(parts[after:])
        word.head = word.text if word.known else word.head
        word.glob = word.glob and word.text != "["  # a program
        self.has_index = self.has_index or (word.quoted and may_calculate(word.text))
        return word

    def _special(self, word: Word, char: str) -> str | None:
        """The text of what begins with a quote, ``$`` or the like; None if only the shell knows it."""
        line = self.line
        if char == "'":
            word.quoted = True
            text, self.at = single_quoted(line, self.at)
            if self.at < 0 or "\0" in text:
                raise Unclear("a quote has no partner")
            return text
        if char == '"':
            word.quoted = True
            self.at += 1
            return self.expansions('"')
        if char == "\\":
            self.at += 2
            if line[self.at - 1 : self.at] == "\n":
                return ""
            word.quoted = True
            if self.at > len(line) or line[self.at - 1] == "\0":
                raise Unclear("a backslash ends it")
            return line[self.at - 1]
        if char in "<>":
            self.at += 2
            self._commands()
            return None
        if char == "`":
            self._backticks(is_quoted=False)
            word.single = False
            return None
        is_folder = line.startswith(_FOLDERS, self.at)
        expanded = self._dollar(word)
        word.single = word.single and (expanded is not None or is_folder)
        return expanded

    def expansions(self, closing: str) -> str | None:
        """The text up to the closing quote, or of a whole here-document; None if a part is not known.

        Then ``ends`` has the text before the first such part and after the last.
        """
        parts: list[str] = []
        unknown: list[int] = []
        while True:
            char = self.line[self.at : self.at + 1]
            if char == closing:
                self.at += 1
                if not unknown:
                    return "".join(parts)
                self.ends = ("".join(parts[: unknown[0]]), "".join(parts[unknown[-1] :]))
                return None
            if char in ("", "\0"):
                raise Unclear("a quote has no partner")
            text: str | None = char
            if char == "\\":
                escaped = self.line[self.at + 1 : self.at + 2]
                self.at += 2 if escaped and escaped in '$`"\\\n' else 1
                text = "" if escaped == "\n" else escaped if escaped and escaped in '$`"\\' else "\\"
            elif char == "$":
                text = self._dollar(None)
            elif char == "`":
                self._backticks(is_quoted=bool(closing))
                text = None
            else:
                self.at += 1
            if text is None:
                unknown.append(len(parts))
            else:
                parts.append(text)

    def _dollar(self, word: Word | None) -> str | None:
        """The text of what ``$`` begins, None if only the shell knows it; without a word it is in double quotes."""
        line = self.line
        self.at += 1
        while line.startswith("\\\n", self.at):
            self.at += 2
        char = line[self.at : self.at + 1]
        if char == "(":
            self.at += 1
            if line.startswith("(", self.at):
                self._arithmetic()
            else:
                self._commands()
            return None
        if char == "{":
            self._parameter()
            return None
        if char == "[":
            raise Unclear("it calculates")
        if word is not None and char == "'":
            word.quoted = True
            return self._escaped_text()
        if word is not None and char == '"':
            word.quoted = True
            return ""
        if char and char in NAME_START:
            while line[self.at : self.at + 1] in NAME:
                self.at += 1
            return None
        if char and (char.isdigit() or char in "@*#?$!-"):
            self.at += 1
            return None
        return "$" if word is None or char == "" or char in _ENDS_WORD else None

    def _arithmetic(self) -> None:
        """Read a calculation with numbers alone: a variable's text could hold a command."""
        end = self.line.find("))", self.at)
        if end < 0 or not set(self.line[self.at + 1 : end]) <= set("0123456789+-*/% ()"):
            raise Unclear("it calculates")
        self.at = end + 2

    def _parameter(self) -> None:
        """Read ``${NAME…}`` if nothing in it can run a command."""
        end = self.line.find("}", self.at)
        if end < 0:
            raise Unclear("an expansion has no end")
        inside = self.line[self.at + 1 : end]
        self.at = end + 1
        length = 1 if inside[:1] == "#" and len(inside) > 1 else 0
        stop = length
        while stop < len(inside) and inside[stop] in NAME:
            stop += 1
        stop = stop if stop > length else stop + 1  # one of the special ones: ${@}
        rest = inside[stop:]
        is_part = rest[:1] == ":" and rest[1:2] not in ("-", "=", "+", "?") and set(rest) <= set("0123456789:- ")
        is_text = rest.startswith(_PARAMETER_TEXTS) and not set(rest) & set("`\\\"'({<>")
        is_all = rest in ("", "[@]", "[*]") or is_part or is_text
        if not is_all or inside[length : length + 1] in ("!", "(", "") or inside[:1] in ("=", "~", "^"):
            raise Unclear("an expansion is not plain")

    def _backticks(self, is_quoted: bool) -> None:
        """Read a command between backticks."""
        parts: list[str] = []
        self.at += 1
        while (char := self.line[self.at : self.at + 1]) != "`":
            if not char:
                raise Unclear("a backtick has no partner")
            escaped = self.line[self.at + 1 : self.at + 2]
            is_escape = char == "\\" and escaped != "" and escaped in ('$`\\"' if is_quoted else "$`\\")
            parts.append(escaped if is_escape else char)
            self.at += 2 if is_escape else 1
        self.at += 1
        self._other("".join(parts))

    def _escaped_text(self) -> str:
        """The text of ``$'…'``."""
        line = self.line
        parts: list[str] = []
        self.at += 1
        while (char := line[self.at : self.at + 1]) != "'":
            if not char:
                raise Unclear("a quote has no partner")
            self.at += 1
            if char != "\\":
                parts.append(char)
                continue
            kind = line[self.at : self.at + 1]
            self.at += 1
            if kind == "'":
                raise Unclear("an escaped quote differs between shells")
            if kind in _ESCAPES:
                parts.append(_ESCAPES[kind])
                continue
            longest, base, allowed = {"x": (2, 16, _HEX), "u": (4, 16, _HEX)}.get(kind, (3, 8, "01234567"))
            self.at -= base == 8
            start = self.at
            while self.at < len(line) and self.at - start < longest and line[self.at] in allowed:
                self.at += 1
            digits = line[start : self.at]
            if not digits or not 0 < int(digits, base) < 128:
                raise Unclear("an escape is not plain")
            parts.append(chr(int(digits, base)))
        self.at += 1
        return "".join(parts)

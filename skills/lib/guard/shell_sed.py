"""Whether a script of sed may run a command: GNU sed has a command and a flag, both ``e``, that do."""

from __future__ import annotations

_BLANKS = " \t"
# Commands that stand alone, those with a number behind them, and those that take the rest of the line, or a label.
_ALONE, _NUMBERED, _TO_LINE_END, _LABELLED = "dDgGhHnNpPxzF=", "qQlL", "rRwW#", ":btTv"
_TEXTS = "aic"
_FLAGS = "gpiImM0123456789"
_ENDS = "\n;}#"


def may_run(script: str) -> bool:
    """True if a script has ``e``, or cannot be read for certain."""
    try:
        return any(_Script(script, knows_brackets).has_e() for knows_brackets in (True, False))
    except IndexError:
        return True  # it ends in the middle


class _Script:
    """Reads a script. Whether a delimiter in brackets ends a pattern, differs between versions of sed."""

    def __init__(self, text: str, knows_brackets: bool) -> None:
        self.text, self.at = text, 0
        self.knows_brackets = knows_brackets

    def has_e(self) -> bool:
        """True if a command is ``e``, has that flag, or is not known. Raises IndexError if the end is missing."""
        while True:
            self._skip(_BLANKS + "\n;}{")
            if self.at >= len(self.text):
                return False
            self._address()
            command = self.text[self.at]
            self.at += 1
            if command == "{":
                continue
            if command in "sy":
                if self._has_flag():
                    return True
            elif command in _TO_LINE_END:
                self._line()
            elif command in _TEXTS:
                self._appended()
            elif command in _LABELLED:
                while self.text[self.at : self.at + 1] not in ("", *_ENDS):
                    self.at += 1
            elif command in _ALONE or command in _NUMBERED:
                self._skip(_BLANKS + (_FLAGS if command in _NUMBERED else ""))
                if self.text[self.at : self.at + 1] not in ("", *_ENDS):
                    return True
            else:
                return True

    def _skip(self, signs: str) -> None:
        while self.text[self.at : self.at + 1] and self.text[self.at] in signs:
            self.at += 1

    def _address(self) -> None:
        """Skip the addresses of a command."""
        while True:
            self._skip(_BLANKS + "0123456789$,+~!")
            if self.text[self.at] not in "/\\":
                return
            delimiter = "/"
            if self.text[self.at] == "\\":
                self.at += 1
                delimiter = self.text[self.at]
            self.at += 1
            self._part(delimiter)
            self._skip("IM")

    def _part(self, delimiter: str) -> None:
        """Skip to behind the next delimiter."""
        in_brackets = False
        while (char := self.text[self.at]) != delimiter or in_brackets:
            if char == "\\" and not in_brackets:
                self.at += 1
            elif char == "[" and self.knows_brackets and not in_brackets:
                in_brackets = True
                self.at += 2 if self.text[self.at + 1] == "^" else 1
                char = self.text[self.at]
            elif char == "]":
                in_brackets = False
            self.at += 1
        self.at += 1

    def _has_flag(self) -> bool:
        """Skip what is substituted by what; True if a flag is ``e``, or not known."""
        delimiter = self.text[self.at]
        self.at += 1
        self._part(delimiter)
        before, self.knows_brackets = self.knows_brackets, False
        self._part(delimiter)
        self.knows_brackets = before
        self._skip(_FLAGS)
        if self.text[self.at : self.at + 1] == "w":
            self._line()
        self._skip(_BLANKS)
        return delimiter in "\\\n" or self.text[self.at : self.at + 1] not in ("", *_ENDS)

    def _line(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def _appended(self) -> None:
        """Skip the text of a, i or c: a line, and the next one after a backslash."""
        self._line()
        while self.text[self.at - 1] == "\\" and self.at < len(self.text):
            self.at += 1
            self._line()

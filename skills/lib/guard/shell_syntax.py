"""The simple commands that a line of a POSIX shell runs, with what is known of each word without running a shell."""

from __future__ import annotations

from skills.lib.shell_words import LONGEST, single_quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# A shell reads deeper lines; nobody writes them.
_DEEPEST = 12
_NAME_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_NAME = _NAME_START | frozenset("0123456789")
_ENDS_WORD = frozenset(" \t\n;&|")
_CONTROLS = ("&&", "||", "|&", ";", "|", "&")
_REDIRECTIONS = ("<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">")
# Reserved words after which a command follows; the first ones open what a later word closes.
_OPENING = frozenset(("if", "while", "until", "{", "begin"))
_GOING_ON = frozenset(("then", "elif", "else", "do", "and", "or", "not", "!"))
_CLOSING = frozenset(("fi", "done", "}"))
# What these begin is not taken apart here.
_UNREAD = frozenset("case select function coproc [[ foreach repeat switch".split())
# After ${NAME, these begin a text; in any other place a shell may calculate, which can run a command.
_PARAMETER_TEXTS = ("-", "=", "+", "?", ":-", ":=", ":+", ":?", "%", "#", "/", "^", ",")
_ESCAPES = {
    "a": 7,
    "b": 8,
    "e": 27,
    "E": 27,
    "f": 12,
    "n": 10,
    "r": 13,
    "t": 9,
    "v": 11,
    "\\": 92,
    "'": 39,
    '"': 34,
    "?": 63,
}


class Unclear(Exception):
    """What a shell makes of the rest of a line cannot be said; the text says why."""


class Word:
    """One word: its literal text, and what of it only the shell knows.

    ``head`` is the text before the first part that is not known. If not ``single``, a shell may make no word of it or
    several. ``glob`` and ``tilde`` say that files or a home folder take the place of what is written.
    """

    __slots__ = ("glob", "head", "known", "quoted", "single", "text", "tilde")

    def __init__(self, text: str = "", known: bool = True, single: bool = True) -> None:
        self.text, self.head = text, text
        self.known, self.single = known, single
        self.quoted = self.glob = self.tilde = False

    def rest(self, at: int) -> Word:
        """The word without its first characters, which are literal."""
        word = Word(self.text[at:], self.known, self.single)
        word.head = self.head[at:]
        word.glob, word.tilde, word.quoted = self.glob, self.text[at : at + 1] == "~", self.quoted
        return word


class Raw:
    """A simple command as it is written: words, the variables set before it, redirections, and what it is joined by."""

    __slots__ = ("after", "before", "closed", "is_fed", "is_negated", "nested", "redirections", "sets", "words")

    def __init__(self, before: str, nested: int) -> None:
        self.before, self.after, self.nested = before, "", nested
        self.words: list[Word] = []
        self.sets: list[tuple[str, Word]] = []
        self.redirections: list[tuple[str, Word]] = []
        self.is_fed = self.is_negated = self.closed = False


class Reader:
    """Reads one line. ``items`` are its commands in their order, with ``(`` and ``)`` around those of a subshell."""

    def __init__(self, line: str, depth: int = 0) -> None:
        if len(line) > LONGEST:
            raise Unclear("it is too long to be read")
        self.line, self.at, self.depth = line, 0, depth
        self.items: list[Raw | str] = []
        self.structured = False
        self._nested = 0
        self._documents: list[tuple[str, bool, bool]] = []

    def read(self, closing: str = "") -> None:
        """Read commands up to the end, or to the closing parenthesis. Raises Unclear."""
        command = Raw("", self._nested)
        while True:
            self._skip_blanks()
            char = self.line[self.at : self.at + 1]
            if char == closing:
                break
            if char in ("", ")"):
                raise Unclear("a parenthesis has no partner")
            if char == "\n" or (char in ";&|" and not self.line.startswith("&>", self.at)):
                command = self._control(command)
            elif char == "#":
                end = self.line.find("\n", self.at)
                self.at = len(self.line) if end < 0 else end
            elif (char in "<>" and self.line[self.at + 1 : self.at + 2] != "(") or char == "&":
                self._redirection(command)
            elif char == "(":
                self._subshell(command)
            else:
                self._word_of(command)
        self.at += len(closing)
        self._end(command, "")
        if self._documents and not closing:
            raise Unclear("a here-document has no end")

    def _control(self, command: Raw) -> Raw:
        """Read the operator that ends a command; returns the next command."""
        if self.line[self.at] == "\n":
            operator = "\n"
        elif self.line.startswith(";;", self.at) or self.line.startswith(";&", self.at):
            raise Unclear("';;' is of a case")
        else:
            operator = next(one for one in _CONTROLS if self.line.startswith(one, self.at))
        self.at += len(operator)
        is_empty = not (command.words or command.closed or command.redirections or command.sets)
        self._end(command, operator)
        if operator == "\n":
            self._read_documents()
            # After an operator a new line is a blank.
            operator = command.before if is_empty and command.before else ";"
        return Raw("|" if operator == "|&" else operator, self._nested)

    def _end(self, command: Raw, operator: str) -> None:
        command.after = "|" if operator == "|&" else operator
        if command.words or command.redirections or command.sets:
            self.items.append(command)

    def _skip_blanks(self) -> None:
        while True:
            if self.line.startswith((" ", "\t"), self.at):
                self.at += 1
            elif self.line.startswith("\\\n", self.at):
                self.at += 2
            else:
                return

    def _subshell(self, command: Raw) -> None:
        if command.words or command.sets or command.closed or self.line.startswith("((", self.at):
            raise Unclear("a parenthesis is no subshell here")
        self.at += 1
        self.structured = True
        self._below(lambda: self.read(")"))
        command.closed = True

    def _below(self, read: Callable[[], None]) -> None:
        """Read what a shell of its own runs."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unclear("it is nested too deep")
        self.items.append("(")
        read()
        self.items.append(")")
        self.depth -= 1

    def _other(self, line: str, is_document: bool = False) -> None:
        """Read a line that stands in this one: what is between backticks, or a here-document."""
        reader = Reader(line, self.depth)
        if is_document:
            reader.expansions("")
        else:
            reader.read()
        self.items += reader.items
        self.structured = self.structured or reader.structured

    def _redirection(self, command: Raw) -> None:
        line = self.line
        if line.startswith("&>", self.at):
            operator = "&>>" if line.startswith("&>>", self.at) else "&>"
        else:
            operator = next(one for one in _REDIRECTIONS if line.startswith(one, self.at))
        self.at += len(operator)
        if operator[-1] == ">" and line.startswith("!", self.at):
            raise Unclear("'>!' differs between shells")
        self._skip_blanks()
        start = self.at
        word = self.word()
        if self.at == start:
            raise Unclear("a redirection has no target")
        if operator in ("<<", "<<-"):
            if not word.known or not word.single or "\n" in word.text:
                raise Unclear("the end of a here-document is not written out")
            self._documents.append((word.text, word.quoted, operator == "<<-"))
        command.is_fed = command.is_fed or operator[0] == "<"
        command.redirections.append((operator, word))

    def _read_documents(self) -> None:
        """Read the here-documents that begin on this line; a shell expands those whose end is not quoted."""
        waiting, self._documents = self._documents, []
        for end, is_quoted, is_indented in waiting:
            lines = []
            while True:
                if self.at >= len(self.line):
                    raise Unclear("a here-document has no end")
                stop = self.line.find("\n", self.at)
                stop = len(self.line) if stop < 0 else stop
                text = self.line[self.at : stop]
                self.at = min(stop + 1, len(self.line))
                if (text.lstrip("\t") if is_indented else text) == end:
                    break
                lines.append(text)
            if not is_quoted:
                self._other("\n".join(lines), is_document=True)

    def _word_of(self, command: Raw) -> None:
        """Read a word of a command, which may be a reserved one, a variable that is set, or the number of a file."""
        word = self.word()
        follows = self.line[self.at : self.at + 1]
        if follows in ("<", ">") and not word.quoted:
            if word.text.isdigit():
                return
            if word.text[:1] == "{" and word.text[-1:] == "}":
                raise Unclear("a variable takes the number of a file")
        if not command.words and not word.quoted and self._is_reserved(command, word):
            return
        if command.closed:
            raise Unclear("a word follows where a command has ended")
        name, equals, _ = word.head.partition("=")
        name = name[:-1] if name[-1:] == "+" else name
        is_name = name[:1] in _NAME_START and name[:1] != "" and _NAME.issuperset(name)
        if equals and is_name and not command.words and not (word.quoted and word.text == word.head == ""):
            command.sets.append((name, word.rest(word.head.index("=") + 1)))
        else:
            command.words.append(word)

    def _is_reserved(self, command: Raw, word: Word) -> bool:
        """Read a reserved word. True if it was one: the next word begins a command."""
        text = word.text if word.known and not word.glob else ""
        if text in _UNREAD:
            raise Unclear(f"what '{text}' begins is not read")
        if text in _CLOSING:
            self._nested -= 1
            command.closed = True
            return True
        if text == "time":
            return self._is_timed()
        if text == "for":
            self._loop()
        elif text in _OPENING:
            self._nested += 1
        elif text not in _GOING_ON:
            return False
        if command.closed and text not in ("then", "do", "else", "elif"):
            raise Unclear("a word follows where a command has ended")
        command.nested = self._nested
        command.is_negated = command.is_negated or text in ("!", "not")
        self.structured = self.structured or text != "!"
        return True

    def _is_timed(self) -> bool:
        """True if ``time`` is the shell's own, which may stand before any command."""
        self._skip_blanks()
        if self.line.startswith(("-p ", "-p\t"), self.at):
            self.at += 3
        return not self.line.startswith("-", self.at)

    def _loop(self) -> None:
        """Read ``for NAME in WORDS``, up to its end."""
        self._nested += 1
        self._skip_blanks()
        name = self.word()
        if not name.known or not name.text:
            raise Unclear("a loop has no name")
        self._skip_blanks()
        while self.line[self.at : self.at + 1] not in ("", "\n", ";"):
            start = self.at
            self.word()
            if self.at == start:
                raise Unclear("the head of a loop is not plain")
            self._skip_blanks()

    def word(self) -> Word:
        """The word that begins here; nothing is read if none does."""
        line, start = self.line, self.at
        if line[start : start + 1] == "!" and line[start + 1 : start + 2] not in ("", " ", "\t", "\n", "=", ";"):
            raise Unclear("'!' may be of the history")
        parts: list[str] = []
        word, in_braces = Word(), False
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
                word.head = "".join(parts) if word.known else word.head
                word.known = False
            else:
                parts.append(text)
        word.text = "".join(parts)
        word.head = word.text if word.known else word.head
        word.glob = word.glob and word.text != "["  # a program
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
            self._below(lambda: self.read(")"))
            return None
        if char == "`":
            self._backticks(is_quoted=False)
            word.single = False
            return None
        expanded = self._dollar(word)
        word.single = word.single and expanded is not None
        return expanded

    def expansions(self, closing: str) -> str | None:
        """The text up to the closing quote, or of a whole here-document; None if a part is not known."""
        parts: list[str] = []
        is_known = True
        while True:
            char = self.line[self.at : self.at + 1]
            if char == closing:
                self.at += 1
                return "".join(parts) if is_known else None
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
                is_known = False
            else:
                parts.append(text)

    def _dollar(self, word: Word | None) -> str | None:
        """The text of what ``$`` begins, None if only the shell knows it; without a word it is in double quotes."""
        line = self.line
        self.at += 1
        char = line[self.at : self.at + 1]
        if char == "(":
            self.at += 1
            if line.startswith("(", self.at):
                self._arithmetic()
            else:
                self._below(lambda: self.read(")"))
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
        if char and char in _NAME_START:
            while line[self.at : self.at + 1] in _NAME:
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
        while stop < len(inside) and inside[stop] in _NAME:
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
        self._below(lambda: self._other("".join(parts)))

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
            if kind in _ESCAPES:
                parts.append(chr(_ESCAPES[kind]))
                continue
            longest, base, allowed = {
                "x": (2, 16, "0123456789abcdefABCDEF"),
                "u": (4, 16, "0123456789abcdefABCDEF"),
            }.get(kind, (3, 8, "01234567"))
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

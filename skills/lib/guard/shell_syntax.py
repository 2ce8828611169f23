"""The simple commands that a line of a POSIX shell runs, with what is known of each word without running a shell."""

from __future__ import annotations

from skills.lib.guard.shell_parts import Word
from skills.lib.guard.shell_word import NAME, NAME_START, Scanner, Unclear, may_calculate
from skills.lib.shell_words import LONGEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# A shell reads deeper and longer lines; nobody writes them.
_DEEPEST, _MOST = 12, 1_000
_CONTROLS = ("&&", "||", "|&", ";", "|", "&")
_REDIRECTIONS = ("<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">")
# Reserved words after which a command follows; the first ones open what a later word closes.
_OPENING = frozenset(("if", "while", "until", "{", "begin"))
_GOING_ON = frozenset(("then", "elif", "else", "do", "and", "or", "not", "!"))
_CLOSING = frozenset(("fi", "done", "}"))
# What these begin is not taken apart here.
_UNREAD = frozenset("case select function coproc foreach repeat switch".split())
# In [[ … ]] these calculate, or take signs in the next word for others; a calculation can run a command.
_CALCULATING = frozenset("-eq -ne -lt -le -gt -ge -v -R =~".split())


class Raw:
    """A simple command as it is written: words, the variables set before it, redirections, and what it is joined by.

    ``descriptors`` has the number before each redirection, or "".
    """

    __slots__ = (
        "after",
        "before",
        "closed",
        "descriptors",
        "is_fed",
        "is_negated",
        "is_split",
        "nested",
        "redirections",
        "sets",
        "words",
    )

    def __init__(self, before: str, nested: int) -> None:
        self.before, self.after, self.nested = before, "", nested
        self.words: list[Word] = []
        self.sets: list[tuple[str, Word]] = []
        self.redirections: list[tuple[str, Word]] = []
        self.descriptors: list[str] = []
        self.is_fed = self.is_negated = self.is_split = self.closed = False


class Reader(Scanner):
    """Reads one line. ``items`` are its commands in their order, with ``(`` and ``)`` around those of a subshell."""

    def __init__(self, line: str, depth: int = 0) -> None:
        if len(line) > LONGEST:
            raise Unclear("it is too long to be read")
        super().__init__(line, self._substitution, self._quoted_line)
        self.depth = depth
        self.items: list[Raw | str] = []
        self.structured = False
        self._nested = 0
        self._documents: list[tuple[str, bool, bool]] = []
        self._descriptor = ""

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
        if operator == "|&" and command.words:
            command.redirections.append((">&", Word("1")))
            command.descriptors.append("2")
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
        self._require_few()

    def _require_few(self) -> None:
        if len(self.items) > _MOST:
            raise Unclear("it has too many commands")

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

    def _substitution(self) -> None:
        """Read the commands of a substitution, up to its closing parenthesis."""
        start, waiting = self.at, self._documents
        self._documents = []
        self._below(lambda: self.read(")"))
        if self._documents or (waiting and "\n" in self.line[start : self.at]):
            raise Unclear("where a here-document of a substitution ends differs between shells")
        self._documents = waiting

    def _quoted_line(self, line: str) -> None:
        """Read the commands of a line that stands between backticks."""
        self._below(lambda: self._read_line(line))

    def _read_line(self, line: str, is_document: bool = False) -> None:
        """Read a line that stands in this one."""
        reader = Reader(line, self.depth)
        if is_document:
            reader.expansions("")
        else:
            reader.read()
        self.items += reader.items
        self._require_few()
        self.structured = self.structured or reader.structured
        self.has_index = self.has_index or reader.has_index

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
            if not word.known or not word.single or "\n" in word.text or "$" in line[start : self.at]:
                raise Unclear("the end of a here-document is not written out")
            self._documents.append((word.text, word.quoted, operator == "<<-"))
        command.is_fed = command.is_fed or operator[0] == "<"
        command.is_split = command.is_split or operator[0] == "&"
        command.redirections.append((operator, word))
        command.descriptors.append(self._descriptor)
        self._descriptor = ""

    def _read_documents(self) -> None:
        """Read the here-documents that begin on this line; a shell expands those whose end is not quoted."""
        waiting, self._documents = self._documents, []
        for end, is_quoted, is_indented in waiting:
            lines: list[str] = []
            while True:
                if self.at >= len(self.line):
                    raise Unclear("a here-document has no end")
                stop = self.line.find("\n", self.at)
                stop = len(self.line) if stop < 0 else stop
                text = self.line[self.at : stop]
                self.at = min(stop + 1, len(self.line))
                if (text.lstrip("\t") if is_indented else text) == end:
                    if lines and lines[-1][-1:] == "\\" and not is_quoted:
                        raise Unclear("the end of a here-document differs between shells")
                    break
                if self.depth and text.lstrip("\t").startswith(end) and ")" in text:
                    raise Unclear("the end of a here-document differs between shells")
                lines.append(text)
            document = "\n".join(lines)
            self.has_index = self.has_index or may_calculate(document)
            if not is_quoted:
                self._read_line(document, is_document=True)

    def _word_of(self, command: Raw) -> None:
        """Read a word of a command, which may be a reserved one, a variable that is set, or the number of a file."""
        word = self.word()
        follows = self.line[self.at : self.at + 1]
        if follows in ("<", ">") and not word.quoted:
            if word.text.isdigit():
                if len(word.text) > 1 or not word.text.isascii():
                    raise Unclear("which number of a file is one differs between shells")
                self._descriptor = word.text
                return
            if word.text[:1] == "{" and word.text[-1:] == "}":
                raise Unclear("a variable takes the number of a file")
        if not command.words and not word.quoted and self._is_reserved(command, word):
            return
        if command.closed:
            raise Unclear("a word follows where a command has ended")
        if command.is_split:
            raise Unclear("what follows '&>' differs between shells")
        if word.text == "}" and not word.quoted:
            raise Unclear("'}' among words differs between shells")
        name, equals, _ = word.head.partition("=")
        name = name[:-1] if name[-1:] == "+" else name
        is_name = name[:1] in NAME_START and name[:1] != "" and NAME.issuperset(name)
        if equals and is_name and not command.words and not (word.quoted and word.text == word.head == ""):
            command.sets.append((name, word.rest(word.head.index("=") + 1)))
        else:
            command.words.append(word)

    def _is_reserved(self, command: Raw, word: Word) -> bool:
        """Read a reserved word. True if it was one: the next word begins a command."""
        text = word.text if word.known and (not word.glob or word.text == "[[") else ""
        if text == "[[":
            self._condition()
            command.closed = self.structured = True
            return True
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

    def _condition(self) -> None:
        """Read ``[[ … ]]`` up to its end."""
        while True:
            self._skip_blanks()
            start = self.at
            if self.line.startswith(("&&", "||"), self.at):
                self.at += 2
                continue
            if self.line.startswith("! ", self.at):
                self.at += 1
                continue
            word = self.word()
            if self.at == start or (word.known and word.text in _CALCULATING):
                raise Unclear("a condition in [[ ]] is not plain")
            if word.text == "]]" and not word.quoted:
                return

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
        start = self.at
        text = self.word().text
        if text != "in":
            self.at = start
            if text and text != "do":
                raise Unclear("the head of a loop is not plain")
            return
        self._skip_blanks()
        while self.line[self.at : self.at + 1] not in ("", "\n", ";"):
            start = self.at
            self.word()
            if self.at == start:
                raise Unclear("the head of a loop is not plain")
            self._skip_blanks()

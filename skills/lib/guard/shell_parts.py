"""The parts of a shell's line: its words, and the simple commands that they make."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

FACTS = frozenset(("branch", "head", "tree"))
_NOTHING: frozenset[str] = frozenset()
# What gives a name its meaning on the program's own system, and is no part of it.
_PROGRAM_ENDINGS = (".exe", ".com", ".cmd", ".bat")


def base(text: str) -> str:
    """The name of a program without its folder, in small letters, and without the ending that Windows gives it."""
    name = text.rpartition("/")[2].rpartition("\\")[2].lower()
    for ending in _PROGRAM_ENDINGS:
        name = name.removesuffix(ending)
    return name


class Word:
    """One word: its literal text, and what of it only the shell knows.

    ``head`` is the text before the first part that is not known, ``tail`` that after the last. If not ``single``, a
    shell may make no word of it or several. ``glob`` and ``tilde`` say that files or a home folder take the place of
    what is written.
    """

    __slots__ = ("glob", "head", "known", "quoted", "single", "tail", "text", "tilde")

    def __init__(self, text: str = "", known: bool = True, single: bool = True) -> None:
        self.text = self.head = self.tail = text
        self.known, self.single = known, single
        self.quoted = self.glob = self.tilde = False

    def rest(self, at: int) -> "Word":
        """The word without its first characters, which are literal."""
        word = Word(self.text[at:], self.known, self.single)
        word.head = self.head[at:]
        word.tail = word.text if self.known else self.tail
        word.glob, word.tilde, word.quoted = self.glob, self.text[at : at + 1] == "~", self.quoted
        return word


class SimpleCommand:
    """A program with its words, as a line starts it, by itself or through others (``env``, ``xargs``).

    ``words`` has None for what only the shell knows: one word, several or none. ``folder`` is where it runs, "" if that
    is not known. ``exit`` is "own" if the exit code of the line is this command's, "zero" if the exit code 0 of the
    line means that this command ended with 0, else "". ``is_plain`` is False if it may be another program than its name
    says. ``unsettled`` has those of branch, head and tree that the line may change before the command runs, ``passing``
    those that it may change after it.
    """

    __slots__ = ("exit", "folder", "is_plain", "parts", "passing", "targets", "unsettled", "words")

    def __init__(
        self,
        words: "Sequence[str | None]",
        parts: "Sequence[Word]",
        targets: "Sequence[Word]",
        folder: str,
        exit: str,
        is_plain: bool,
        unsettled: frozenset[str],
        passing: frozenset[str] = _NOTHING,
    ) -> None:
        self.words = words
        self.parts = parts
        self.targets = targets
        self.folder = folder
        self.exit = exit
        self.is_plain = is_plain
        self.unsettled = unsettled
        self.passing = passing

    def result_exit(self, exit_code: int | None) -> int | None:
        """The exit code of this command, from that of the line; None if it is not known."""
        return exit_code if self.exit == "own" or (self.exit == "zero" and exit_code == 0) else None

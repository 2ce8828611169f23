"""The programs that a simple command starts: the one that it names, and those that one starts in turn."""

from __future__ import annotations

from skills.lib.guard import shell_git, shell_tools
from skills.lib.guard import shell_programs as programs
from skills.lib.guard.shell_parts import Word, base
from skills.lib.guard.shell_starts import (
    LINE,
    RUN,
    VALUE,
    VARIABLE,
    given,
    has,
    has_letter,
    is_python,
    name_of,
    text_of,
    unversioned,
)
from skills.lib.guard.shell_syntax import Reader
from skills.lib.guard.shell_word import Unclear, may_calculate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skills.lib.guard.shell_starts import Start

# So many wrappers in one another, and programs in one command, nobody writes.
_DEEPEST, _MOST = 8, 50
_OF_MAKE = frozenset(("MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS"))
_STEERING = frozenset("ENV SHELL PROMPT_COMMAND HOME PWD CDPATH".split())
# What make reads its file from, if that is open already.
_INPUTS = ("-f", "f-", "=-", "/dev/stdin", "/dev/fd/", "/proc/")
_NAME_SIGNS = frozenset("_-./+@:,~[]")


class Program:
    """A program that a line starts: its words, the name first.

    If not ``keeps``, the exit code of the command that stands in the line is not the program's. If not ``is_plain``,
    another program or a line of text names it.
    """

    __slots__ = ("is_plain", "keeps", "words")

    def __init__(self, words: Sequence[Word], keeps: bool, is_plain: bool) -> None:
        self.words, self.keeps, self.is_plain = tuple(words), keeps, is_plain


class Started:
    """All programs that one simple command starts, and why there may be more.

    A doubt has a reason, and the words of the script that is run, if it is that.
    """

    def __init__(self, is_fed: bool) -> None:
        self.is_fed = is_fed
        self.programs: list[Program] = []
        self.doubts: list[tuple[str, tuple[Word, ...]]] = []
        self.variables: list[str] = []
        self._depth = 0

    def doubt(self, reason: str, script: Sequence[Word] = ()) -> None:
        """Note why the programs that are started are not all known. A script counts as a program of its name too."""
        if (reason, tuple(script)) in self.doubts:
            return
        self.doubts.append((reason, tuple(script)))
        if script and (not self.programs or self.programs[-1].words != tuple(script)):
            self.programs.append(Program(script, keeps=True, is_plain=True))

    def run(self, words: Sequence[Word], keeps: bool = True, is_plain: bool = True) -> None:
        """Add the program that the words name, and those that it starts."""
        if len(self.programs) >= _MOST:
            return self.doubt("it starts too many programs")
        program = Program(words, keeps, is_plain)
        self.programs.append(program)
        first = name_of(words[0])
        if first is None:
            return self.doubt("the program's name is not written out")
        if (
            first.startswith(("=", "~+", "~-"))
            or (first[0] == "@" and "/" not in first)
            or not all(char.isalnum() or char in _NAME_SIGNS for char in first)
        ):
            return self.doubt(f"what {first!r} names differs between shells")
        self._depth += 1
        if self._depth > _DEEPEST:
            return self.doubt("too many programs start one another")
        self._start(base(first), program)
        self._depth -= 1
        return None

    def _start(self, name: str, program: Program) -> None:
        words = program.words
        kind = unversioned(name)
        if name[:4] == "git-" and name[4:] in programs.GIT_COMMANDS:
            self.run((Word("git"), Word(name[4:]), *words[1:]), program.keeps, program.is_plain)
        elif kind in programs.SHELLS:
            self._shell(program)
        elif name in programs.OPAQUE:
            self._opaque(name, words)
        elif name.endswith(programs.SCRIPT_ENDINGS):
            self.doubt("it runs a script", words)
        elif is_python(name):
            self._python(program)
        elif kind in programs.INTERPRETERS and not _is_runner(name, words):
            self._interpreter(program)
        elif name in programs.WRAPPERS:
            self._wrapper(name, programs.WRAPPERS[name], program, 1)
        elif name in programs.RUNNERS:
            self._runner(name, program)
        elif name == "git":
            self._take(shell_git.starts(words))
        else:
            self._take(shell_tools.starts(name, words))
        if (name in programs.HANDING and has(words[1:], programs.HANDING[name])) or (
            name in programs.LETTERS and has_letter(words[1:], *programs.LETTERS[name])
        ):
            self.doubt(f"an option of {name} runs another program")
        if name in programs.HOLDING and any(one in w.text.lower() for w in words[1:] for one in programs.HOLDING[name]):
            self.doubt(f"a word of {name} may hold a command")
        if name in programs.FED and self.is_fed:
            self.doubt(f"{name} reads its commands from a pipe or a document")
        if name in ("make", "gmake") and self.is_fed and any(_is_input(w.text) for w in words[1:]):
            self.doubt("make reads its file from a pipe or a document")
        if name in programs.INDEXING and any(may_calculate(w.text) for w in words[1:]):
            self.doubt("it calculates")

    def _take(self, starts: Iterable[Start]) -> None:
        """Add what a program starts by its words."""
        for kind, text, words in starts:
            if kind == RUN:
                self.run(words, keeps=False, is_plain=False)
            elif kind == LINE:
                self.line(" ".join(word.text for word in words), text)
            elif kind == VALUE:
                self.embedded(words[0], text)
            elif kind == VARIABLE:
                self.setting(text, words[0])
            else:
                self.doubt(text)

    def line(self, text: str, reason: str) -> None:
        """Add the programs of a line that another program hands to a shell; that is never certain."""
        self.doubt(reason)
        for words in words_of_line(text):
            self.run(words, keeps=False, is_plain=False)

    def setting(self, name: str, value: Word) -> None:
        """Note what a variable that is set makes of other words: some hold a command line."""
        self.variables.append(name)
        if name.endswith(programs.LINES) and not name.startswith("GIT_SSH") and name != "PROMPT_COMMAND":
            self.embedded(value, f"the variable {name} holds a command")
        elif name.startswith(programs.STEERING) or name in _STEERING or (name in _OF_MAKE and _may_hold_rule(value)):
            self.doubt(f"the variable {name} changes what other words mean")

    def embedded(self, value: Word, reason: str) -> None:
        """Add the programs of a value that is a command line, if it is one for certain."""
        try:
            reader = Reader(value.text if text_of(value) is not None else "$unknown")
            reader.read()
        except Unclear:
            return self.doubt(reason)
        for raw in reader.items:
            if not isinstance(raw, str):
                for name, one in raw.sets:
                    self.setting(name, one)
                if raw.words:
                    self.run(raw.words, keeps=False, is_plain=False)
        return None

    def _shell(self, program: Program) -> None:
        """A shell reads what is not seen: a script, its standard input; the text after ``-c`` is read to search in."""
        words = program.words
        if len(words) == 2 and words[1].text in ("--version", "--help"):
            return None
        for at, word in enumerate(words[1:], 1):
            text = word.text
            if text[:1] in ("-", "/", "+") and (
                text[1:].rstrip("l").endswith(("c", "C")) or text.lower() == "-command"
            ):
                return self.line(" ".join(one.text for one in words[at + 1 :]), "a shell is given a line")
            if text[:1] != "-" and text_of(word) is not None:
                return self.doubt("it runs a script", words[at:])
        return self.doubt("a shell is given commands that are not seen")

    def _opaque(self, name: str, words: Sequence[Word]) -> None:
        if name in ("source", ".") and len(words) > 1:
            self.doubt("it runs a script", words[1:])
        elif name == "eval":
            self.line(" ".join(word.text for word in words[1:]), "eval runs a line")
        elif not (len(words) == 2 and words[1].text in ("--version", "--help", "-V")):
            self.doubt(f"what {name} runs is not seen")

    def _python(self, program: Program) -> None:
        """A script or a module of Python counts as a program of its own; code does not."""
        words, at = program.words, 1
        while at < len(words):
            text = text_of(words[at])
            if text is None:
                return self.doubt("what Python runs is not written out")
            if text in ("--version", "--help", "-V", "-h"):
                return None
            if text[:1] != "-" or text == "-":
                break
            letters = text[1:]
            for place, letter in enumerate(letters):
                if letter == "m":
                    rest = (
                        words[at + 1 :] if place == len(letters) - 1 else (words[at].rest(place + 2), *words[at + 1 :])
                    )
                    return self._module(rest, program) if rest else None
                if letter in "WX":
                    at += place == len(letters) - 1
                    break
                if letter not in "BbdEhIOPqsSuvV":
                    return self.doubt("what Python runs is not seen")
            at += 1
        if at >= len(words) or words[at].text == "-":
            return self.doubt("what Python runs is not seen")
        return self._script(words[at:], program)

    def _module(self, words: Sequence[Word], program: Program) -> None:
        name = words[0].text.lower()
        if name in programs.READING or (name in programs.RUNNING and has(words[1:], programs.OPEN_FILES)):
            self.doubt("what Python runs is not seen")
        self.run(words, program.keeps, program.is_plain)

    def _interpreter(self, program: Program) -> None:
        words = program.words
        first = text_of(words[1]) if len(words) > 1 else None
        if first in programs.ASKED:
            return None
        if first is None or first[:1] in ("-", "") or first in ("eval", "repl", "exec"):
            return self.doubt(f"what {words[0].text} runs is not seen")
        return self._script(words[1:], program)

    def _script(self, words: Sequence[Word], program: Program) -> None:
        if words[0].text.startswith(programs.OPEN_FILES):
            self.doubt(f"what {program.words[0].text} runs is not seen")
        self.programs.append(Program(words, program.keeps, program.is_plain))

    def _runner(self, name: str, program: Program) -> None:
        """``uv run`` and its like."""
        words, subcommands = program.words, programs.RUNNERS[name]
        first = text_of(words[1]) if len(words) > 1 else ""
        is_nested = first == programs.NESTING.get(name) and any(word.text in subcommands for word in words[2:])
        if is_nested and name == "uv" and words[2].text == "run":
            self.run((Word("uvx"), *words[3:]), program.keeps, program.is_plain)
        elif is_nested or (name in programs.KEEPING and first not in subcommands and not _keeps(name, first)):
            self.doubt(f"what {name} runs is not certain")
        elif name == "mise" and first in subcommands:
            self._behind_dashes(name, program)
        elif name == "hatch" and first in subcommands and len(words) > 2 and ":" in words[2].head:
            self.run((words[2].rest(words[2].head.index(":") + 1), *words[3:]), program.keeps, program.is_plain)
        elif first in subcommands:
            self._wrapper(name, subcommands[first], program, 2)
        elif first is None or (first[:1] == "-" and any(word.text in subcommands for word in words[2:])):
            self.doubt(f"what {name} runs is not certain")

    def _behind_dashes(self, name: str, program: Program) -> None:
        """The program behind ``--``; before it stands what is installed for that program."""
        texts = [text_of(word) for word in program.words]
        if "--" not in texts:
            return self.doubt(f"what {name} runs is not certain")
        rest = program.words[texts.index("--") + 1 :]
        return self.run(rest, program.keeps, program.is_plain) if rest else None

    def _wrapper(self, name: str, wrapper: programs.Wrapper, program: Program, at: int) -> None:
        """Skip the options of a program that starts another."""
        words = program.words
        sets: list[tuple[str, Word]] = []
        replaced = ""
        if name == "command" and len(words) > 1 and words[1].text in ("-v", "-V"):
            return None
        while at < len(words) and _may_be_option(words[at], wrapper):
            text = text_of(words[at])
            used = _option(wrapper, text) if text is not None else 0
            if text == "--":
                at += 1
                break
            if not used:
                return self.doubt(f"what {name} runs is not certain: an option is not known")
            if name == "xargs" and text is not None and text.startswith(("-I", "--replace")):
                replaced = text[2:] or (words[at + 1].text if at + 1 < len(words) else "")
                replaced = replaced if text[:2] == "-I" else text.partition("=")[2] or "{}"
            at += used
        while wrapper.takes_variables and at < len(words) and "=" in words[at].head:
            variable, _, _ = words[at].head.partition("=")
            sets.append((variable, words[at].rest(len(variable) + 1)))
            at += 1
        at += wrapper.operands
        for variable, value in sets:
            self.setting(variable, value)
        inner, keeps = list(words[at:]), program.keeps and wrapper.keeps and _keeps_exit(name, words[1:at])
        if name == "xargs":
            inner = given(inner, replaced)
        if inner and inner[0].text[:1] == "-":
            return self.doubt(f"what {name} runs is not certain")
        return self.run(inner, keeps, program.is_plain) if inner else None


def _is_runner(name: str, words: Sequence[Word]) -> bool:
    """True if the first word of an interpreter says that another program is run."""
    return len(words) > 1 and text_of(words[1]) in programs.RUNNERS.get(name, ())


def _keeps(name: str, first: str | None) -> bool:
    return first is not None and first in programs.KEEPING[name]


def _is_input(text: str) -> bool:
    return text == "-" or text.endswith(_INPUTS[:3]) or any(one in text for one in _INPUTS[3:])


def _may_hold_rule(value: Word) -> bool:
    """True if a variable with options of make may hold a rule or a calculation."""
    return "$" in value.text or "ev" in value.text or not (value.known or value.head[:2] == "-j")


def _keeps_exit(name: str, options: Sequence[Word]) -> bool:
    """True if a wrapper with these options waits for the program, and ends with its exit code."""
    texts = [word.text for word in options]
    if name == "setsid":
        return any(text in ("-w", "--wait") for text in texts)
    letter = {"sudo": "b", "flock": "E"}.get(name)
    return not letter or not any(letter in text for text in texts if text[:1] == "-" and text != "--")


def words_of_line(text: str) -> Iterable[Sequence[Word]]:
    """The words of each command of a line, as far as it can be read."""
    reader: Reader | None = None
    try:
        reader = Reader(text)
        reader.read()
    except Unclear:
        pass
    return [raw.words for raw in (reader.items if reader else ()) if not isinstance(raw, str) and raw.words]


def _option(wrapper: programs.Wrapper, text: str) -> int:
    """How many words an option takes, 0 if it is not known; 1 for the ``--`` that ends them."""
    if text == "--":
        return 1
    if text[:2] == "--":
        name, equals, _ = text[2:].partition("=")
        if name in wrapper.long_valued:
            return 1 if equals else 2
        return 1 if name in wrapper.long_flags else 0
    for at, letter in enumerate(text[1:], 1):
        if letter in wrapper.valued:
            return 2 if at == len(text) - 1 else 1
        if letter not in wrapper.flags:
            return 0
    return 1 if len(text) > 1 else 0


def _may_be_option(word: Word, wrapper: programs.Wrapper) -> bool:
    if text_of(word) is not None:
        return word.text[:1] == "-"
    return not (wrapper.takes_variables and word.single and word.head.partition("=")[1])

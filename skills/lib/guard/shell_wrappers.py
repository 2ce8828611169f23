"""The programs that a simple command starts: the one that it names, and those that one starts in turn."""

from __future__ import annotations

from skills.lib.guard import shell_programs as programs
from skills.lib.guard.shell_syntax import Reader, Unclear, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# So many wrappers in one another nobody writes.
_DEEPEST = 8
_NAME_SIGNS = frozenset("_-./+@:,~[]")
# What gives a name its meaning on the program's own system, and is no part of it.
_PROGRAM_ENDINGS = (".exe", ".com", ".cmd", ".bat")
_SED_FLAGS = frozenset("gpiImMw0123456789")


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
        self._depth = 0

    def doubt(self, reason: str, script: Sequence[Word] = ()) -> None:
        """Note why the programs that are started are not all known."""
        self.doubts.append((reason, tuple(script)))

    def run(self, words: Sequence[Word], keeps: bool = True, is_plain: bool = True) -> None:
        """Add the program that the words name, and those that it starts."""
        program = Program(words, keeps, is_plain)
        self.programs.append(program)
        first = text_of(words[0])
        if first is None or not words[0].single:
            return self.doubt("the program's name is not written out")
        if first.startswith(("=", "@", "~+", "~-")) or not all(char.isalnum() or char in _NAME_SIGNS for char in first):
            return self.doubt(f"what {first!r} names differs between shells")
        self._depth += 1
        if self._depth > _DEEPEST:
            return self.doubt("too many programs start one another")
        self._start(base(first), program)
        self._depth -= 1
        return None

    def _start(self, name: str, program: Program) -> None:
        words = program.words
        if name in programs.SHELLS:
            self._shell(program)
        elif name in programs.OPAQUE:
            self._opaque(name, words)
        elif name.endswith(programs.SCRIPT_ENDINGS):
            self.doubt("it runs a script", words)
        elif is_python(name):
            self._python(program)
        elif name in programs.INTERPRETERS:
            self._interpreter(program)
        elif name in programs.WRAPPERS:
            self._wrapper(name, programs.WRAPPERS[name], program, 1)
        elif name in programs.RUNNERS:
            self._runner(name, program)
        elif name in _SPECIAL:
            _SPECIAL[name](self, program)
        if name in programs.HANDING and _has(words[1:], programs.HANDING[name]):
            self.doubt(f"an option of {name} runs another program")
        if name in programs.FED and self.is_fed:
            self.doubt(f"{name} reads its commands from a pipe or a document")
        if name in programs.INDEXING and any("[" in w.text and ("$(" in w.text or "`" in w.text) for w in words[1:]):
            self.doubt("it calculates")

    def line(self, text: str, reason: str) -> None:
        """Add the programs of a line that another program hands to a shell; that is never certain."""
        self.doubt(reason)
        for words in words_of_line(text):
            self.run(words, keeps=False, is_plain=False)

    def setting(self, name: str, value: Word) -> None:
        """Note what a variable that is set makes of other words: some hold a command line."""
        if name.endswith(programs.LINES) and not name.startswith("GIT_SSH") and name != "PROMPT_COMMAND":
            self.embedded(value, f"the variable {name} holds a command")
        elif name.startswith(programs.STEERING) or name in ("ENV", "SHELL", "PROMPT_COMMAND"):
            self.doubt(f"the variable {name} changes what other words mean")

    def embedded(self, value: Word, reason: str) -> None:
        """Add the programs of a value that is a command line, if it is one for certain."""
        try:
            reader = Reader(value.text if text_of(value) is not None else "$unknown")
            reader.read()
        except Unclear:
            return self.doubt(reason)
        for raw in reader.items:
            if not isinstance(raw, str) and raw.words:
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
                    return self.run(rest, program.keeps, program.is_plain) if rest else None
                if letter in "WX":
                    at += place == len(letters) - 1
                    break
                if letter not in "BbdEhIOPqsSuvV":
                    return self.doubt("what Python runs is not seen")
            at += 1
        if at >= len(words) or words[at].text == "-":
            return self.doubt("what Python runs is not seen")
        return self._script(words[at:], program)

    def _interpreter(self, program: Program) -> None:
        words = program.words
        first = text_of(words[1]) if len(words) > 1 else None
        if first in programs.ASKED:
            return None
        if first is None or first[:1] in ("-", "") or first in ("eval", "repl"):
            return self.doubt(f"what {words[0].text} runs is not seen")
        return self._script(words[1:], program)

    def _script(self, words: Sequence[Word], program: Program) -> None:
        self.programs.append(Program(words, program.keeps, program.is_plain))

    def _runner(self, name: str, program: Program) -> None:
        """``uv run`` and its like."""
        words, subcommands = program.words, programs.RUNNERS[name]
        first = text_of(words[1]) if len(words) > 1 else ""
        if first in subcommands:
            self._wrapper(name, subcommands[first], program, 2)
        elif first is None or (first[:1] == "-" and any(word.text in subcommands for word in words[2:])):
            self.doubt(f"what {name} runs is not certain")

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
        inner = list(words[at:])
        if name == "xargs":
            inner = _given(inner, replaced)
        if inner and inner[0].text[:1] == "-":
            return self.doubt(f"what {name} runs is not certain")
        return self.run(inner, program.keeps and wrapper.keeps, program.is_plain) if inner else None

    def _find(self, program: Program) -> None:
        """``find`` runs what stands after ``-exec`` and its like."""
        words = program.words
        if any(text_of(word) is None and not word.single for word in words[1:] if not word.glob):
            self.doubt("what find runs is not certain")
        for at, word in enumerate(words):
            if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
                end = at + 1
                while end < len(words) and words[end].text not in (";", "+"):
                    end += 1
                if end > at + 1:
                    self.run(_given(list(words[at + 1 : end]), "{}"), keeps=False, is_plain=False)

    def _git(self, program: Program) -> None:
        """git runs an alias, and what some settings and options name."""
        at, settings = git_command(program.words)
        for setting in settings:
            self._git_setting(setting)
        if at < 0:
            return self.doubt("an option of git is not known")
        words = program.words[at:]
        command = text_of(words[0]) if words else ""
        if command is None or (command and command not in programs.GIT_COMMANDS):
            return None  # it matches each rule for git, perhaps
        rest = words[1:]
        if command in programs.GIT_OPAQUE:
            return self.doubt(f"what git {command} runs is not seen")
        if command in programs.GIT_HANDING and _has(rest, programs.GIT_HANDING[command]):
            return self.doubt(f"an option of git {command} runs another program")
        if command in ("rebase", "difftool", "bisect") and any(not word.known and not word.single for word in rest):
            return self.doubt(f"an option of git {command} may run another program")
        if command == "bisect" and len(rest) > 1 and text_of(rest[0]) in ("run", None):
            return self.run(rest[1:], False, False)
        if command == "submodule" and any(text_of(word) in ("foreach", None) for word in rest):
            return self.line(" ".join(word.text for word in rest), "git submodule foreach runs a line")
        same = {"send-pack": "push", "http-push": "push", "subtree": "subtree"}.get(command, "")
        if same == "push" or (command == "subtree" and any(text_of(word) in ("push", None) for word in rest)):
            self.programs.append(Program((Word("git"), Word("push"), *rest), False, False))
        return None

    def _git_setting(self, setting: Word) -> None:
        name, equals, _ = setting.head.partition("=")
        if name.lower() in programs.GIT_LINES and equals:
            return self.embedded(setting.rest(len(name) + 1), f"the setting {name} holds a command")
        if not equals and not setting.known:
            return self.doubt("a setting of git is not written out")
        if not name.lower().startswith(programs.GIT_SETTINGS):
            return self.doubt(f"the setting {name} may run a command")
        return None

    def _sed(self, program: Program) -> None:
        """GNU sed has a command and a flag, both ``e``, that run a line."""
        scripts, is_file = _scripts(program.words, valued="lE", given=("-e", "--expression"), files=("-f", "--file"))
        if is_file or any(text_of(word) is None and not word.known for word in scripts):
            self.doubt("the commands of sed are not written out")
        elif any(_runs_a_line(word.text) for word in scripts):
            self.doubt("a command of sed may run a line")

    def _awk(self, program: Program) -> None:
        """awk can run a line, in a pipe or by ``system``."""
        files = ("-f", "--file", "-i", "-l", "-E", "--exec", "--include", "--load")
        scripts, is_file = _scripts(program.words, valued="Fv", given=("-e", "--source"), files=files)
        texts = [word.text.replace("||", "") for word in scripts]
        if is_file or any(not word.known for word in scripts):
            self.doubt("the program of awk is not written out")
        elif any(sign in text for text in texts for sign in ("system", "|", "getline", "@")):
            self.doubt("what awk runs is not seen")

    def _tar(self, program: Program) -> None:
        """The first word of tar may be a bundle of options without a dash."""
        words = program.words
        if len(words) > 1 and set(words[1].text.lstrip("-")) & set("IF") and words[1].text[:2] != "--":
            self.doubt("an option of tar runs another program")

    def _declaration(self, program: Program) -> None:
        """``export A=B`` sets a variable."""
        for word in program.words[1:]:
            name, equals, _ = word.head.partition("=")
            if word.text[:1] == "-" and set(word.text) & set("in"):
                self.doubt("it declares a variable that is calculated, or another's name")
            elif equals:
                self.setting(name.rstrip("+"), word.rest(len(name) + 1))


_SPECIAL = {
    "find": Started._find,
    "gfind": Started._find,
    "git": Started._git,
    "sed": Started._sed,
    "gsed": Started._sed,
    "awk": Started._awk,
    "gawk": Started._awk,
    "mawk": Started._awk,
    "tar": Started._tar,
    "export": Started._declaration,
    "declare": Started._declaration,
    "typeset": Started._declaration,
    "local": Started._declaration,
    "readonly": Started._declaration,
}


def base(text: str) -> str:
    """The name of a program without its folder, in small letters, and without the ending that Windows gives it."""
    name = text.rpartition("/")[2].rpartition("\\")[2].lower()
    for ending in _PROGRAM_ENDINGS:
        name = name.removesuffix(ending)
    return name


def is_python(name: str) -> bool:
    """True for python, python3.12 and their like."""
    return name in programs.PYTHONS or (name[:7] == "python3" and name[7:8] == "." and name[8:].isdigit())


def text_of(word: Word) -> str | None:
    """The text of a word; None if a shell may make another one of it."""
    return word.text if word.known and not word.glob else None


def git_command(words: Sequence[Word]) -> tuple[int, list[Word]]:
    """Where the subcommand of git stands, and the settings given before it; -1 if an option is not known."""
    at = 1
    settings: list[Word] = []
    while at < len(words):
        word = words[at]
        text = word.text
        name, equals, _ = word.head.partition("=")
        if text == "-c" or (name in programs.GIT_VALUED and not equals):
            if not word.known or at + 1 >= len(words) or not words[at + 1].single:
                return -1, settings
            settings += [words[at + 1]] if text == "-c" else []
            at += 2
        elif (equals and name in programs.GIT_VALUED and word.single) or (word.known and text in programs.GIT_FLAGS):
            at += 1
        elif text[:1] == "-":
            return -1, settings
        else:
            break
    return at, settings


def words_of_line(text: str) -> Iterable[Sequence[Word]]:
    """The words of each command of a line, as far as it can be read."""
    reader: Reader | None = None
    try:
        reader = Reader(text)
        reader.read()
    except Unclear:
        pass
    return [raw.words for raw in (reader.items if reader else ()) if not isinstance(raw, str) and raw.words]


def _has(words: Sequence[Word], options: Sequence[str]) -> bool:
    """True if a word begins with one of these options."""
    return any(word.text.startswith(tuple(options)) for word in words)


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


def _given(words: list[Word], replaced: str) -> list[Word]:
    """The words of a command to which names of files, or what is read, are added."""
    unknown = Word("", known=False, single=False)
    if not words:
        return []
    if not replaced:
        return [*words, unknown]
    return [Word(word.text.partition(replaced)[0], known=False) if replaced in word.text else word for word in words]


def _scripts(words: Sequence[Word], valued: str, given: Sequence[str], files: Sequence[str]) -> tuple[list[Word], bool]:
    """The words that hold a program's own program, and whether a file may hold it."""
    scripts: list[Word] = []
    first, at = True, 1
    while at < len(words):
        word = words[at]
        text = word.text
        at += 1
        option = next((one for one in given if text.startswith(one)), "")
        if text.startswith(tuple(files)):
            return scripts, True
        if text[:2] != "--" and text[:1] == "-" and given[0][1] in text[1:]:
            first = False
            scripts += words[at : at + 1] if text.endswith(given[0][1]) else [word.rest(text.index(given[0][1]) + 1)]
            at += text.endswith(given[0][1])
        elif option:
            first = False
            scripts += [word.rest(len(option) + 1)] if text != option else words[at : at + 1]
        elif text[:1] == "-" and len(text) > 1:
            at += text[1:] != "" and text[-1] in valued and text[:2] != "--"
        elif first:
            first = False
            scripts.append(word)
    return scripts, False


def _runs_a_line(script: str) -> bool:
    """True if a text may be a script of sed with ``e``, the command or the flag."""
    if script[:1] == "s" and script[1:2].isalnum():
        return True
    for at, char in enumerate(script):
        if char != "e":
            continue
        before, after = at - 1, at + 1
        while before >= 0 and script[before] in _SED_FLAGS:
            before -= 1
        while after < len(script) and script[after] in _SED_FLAGS | {"e"}:
            after += 1
        starts = before < 0 or not (script[before].isalnum() or script[before] in "_-.")
        if starts and (after == len(script) or script[after] in " \t\n;}"):
            return True
    return False

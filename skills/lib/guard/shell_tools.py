"""What find, sed, awk, tar and the declarations of a shell start by their words."""

from __future__ import annotations

from skills.lib.guard import shell_programs as programs
from skills.lib.guard import shell_sed
from skills.lib.guard.shell_starts import DOUBT, RUN, VALUE, VARIABLE, given

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skills.lib.guard.shell_parts import Word
    from skills.lib.guard.shell_starts import Start

# Each of find's words may begin a command.
_MOST_OF_FIND = 500
# So many options with values, and other operands, stand before the program that a starter starts.
_MOST_OF_STARTER = 8
# What trap takes in the place of a line.
_NO_LINES = ("-", "", "-p", "-l")
_EXECS = ("-exec", "-execdir", "-ok", "-okdir")


def starts(name: str, words: Sequence[Word]) -> Iterator[Start]:
    """What a program of this name starts; nothing for one that is none of these."""
    if name in ("find", "gfind"):
        yield from _find(words)
    elif name in ("sed", "gsed"):
        yield from _sed(words)
    elif name in ("awk", "gawk", "mawk", "nawk", "original-awk", "goawk"):
        yield from _awk(words)
    elif name in programs.STARTERS:
        operands = [at for at, word in enumerate(words) if at and word.text[:1] != "-"]
        yield from [(RUN, "", words[at:]) for at in operands[:_MOST_OF_STARTER]]
    elif name in ("make", "gmake"):
        if any(word.text[:1] == "-" and word.text[1:2] != "-" and "E" in word.text for word in words[1:]):
            yield DOUBT, f"an option of {name} holds a rule", ()
        files = [
            words[at + 1 : at + 2] for at, word in enumerate(words) if word.text[:1] == "-" and word.text[-1] == "f"
        ]
        if any(not word.known for following in files for word in following):
            yield DOUBT, f"which file {name} reads is not written out", ()
    elif name in ("tar", "gtar", "bsdtar"):
        # The first word may be a bundle of options without a dash.
        if len(words) > 1 and set(words[1].text.lstrip("-")) & set("IF") and words[1].text[:2] != "--":
            yield DOUBT, "an option of tar runs another program", ()
    elif name in ("nc", "ncat", "netcat"):
        if any(_runs_by_netcat(word.text) for word in words[1:]):
            yield DOUBT, f"an option of {name} runs another program", ()
    elif name == "trap":
        line = words[2:3] if len(words) > 1 and words[1].text == "--" else words[1:2]
        if line and (not line[0].known or line[0].text not in _NO_LINES):
            yield VALUE, "trap runs a line", line
    elif name in ("export", "declare", "typeset", "local", "readonly"):
        yield from _declaration(words)


def _runs_by_netcat(text: str) -> bool:
    letters = text[1:] if text[:1] == "-" and text[:2] != "--" else ""
    return bool(set(letters) & set("ec")) or text.startswith(("--e", "--s", "--l"))


def _find(words: Sequence[Word]) -> Iterator[Start]:
    if len(words) > _MOST_OF_FIND or any(not word.known and not word.single for word in words[1:]):
        yield DOUBT, "what find runs is not certain", ()
        words = words[:_MOST_OF_FIND]
    for at, word in enumerate(words):
        if word.text in _EXECS:
            end = at + 1
            while end < len(words) and words[end].text != ";" and not _is_last(words[end - 1 : end + 1]):
                end += 1
            if end > at + 1:
                yield RUN, "", given(list(words[at + 1 : end]), "{}")


def _is_last(words: Sequence[Word]) -> bool:
    """True for the ``{} +`` that ends a command; a + behind another word is one of the command's own."""
    return [word.text for word in words] == ["{}", "+"]


def _sed(words: Sequence[Word]) -> Iterator[Start]:
    """GNU sed has a command and a flag, both ``e``, that run a line."""
    scripts, is_file = _scripts(words, script="e", file="f", valued="l", attached="i", long=("--expression", "--file"))
    if is_file or any(not word.known for word in scripts):
        yield DOUBT, "the commands of sed are not written out", ()
    elif any(shell_sed.may_run(word.text) for word in scripts):
        yield DOUBT, "a command of sed may run a line", ()


def _awk(words: Sequence[Word]) -> Iterator[Start]:
    """awk can run a line, in a pipe or by ``system``."""
    long = ("--source", "--file", "--exec", "--include", "--load")
    scripts, is_file = _scripts(words, script="e", file="filE", valued="Fv", attached="", long=long)
    texts = [word.text.replace("||", "") for word in scripts]
    if is_file or any(not word.known for word in scripts):
        yield DOUBT, "the program of awk is not written out", ()
    elif any(sign in text for text in texts for sign in ("system", "|", "getline", "@")):
        yield DOUBT, "what awk runs is not seen", ()


def _declaration(words: Sequence[Word]) -> Iterator[Start]:
    """``export A=B`` sets a variable."""
    for word in words[1:]:
        name, equals, _ = word.head.partition("=")
        if word.text[:1] == "-" and set(word.text) & set("in"):
            yield DOUBT, "it declares a variable that is calculated, or another's name", ()
        elif equals:
            yield VARIABLE, name.rstrip("+"), (word.rest(len(name) + 1),)


def _scripts(
    words: Sequence[Word], script: str, file: str, valued: str, attached: str, long: Sequence[str]
) -> tuple[list[Word], bool]:
    """The words that hold a program's own program, and whether a file may hold it.

    ``script``, ``file`` and ``valued`` are letters of options with a value, ``attached`` of those with their value
    behind them; the first of the ``long`` options holds a program too, the others name a file.
    """
    scripts: list[Word] = []
    operand, at = None, 1
    while at < len(words):
        word, text = words[at], words[at].text
        at += 1
        if text[:2] == "--" and word.known:
            if text != "--" and text.startswith(tuple(long[1:])):
                return scripts, True
            if text.startswith(long[0]):
                scripts += [word.rest(len(long[0]) + 1)] if "=" in text else words[at : at + 1]
                at += "=" not in text
        elif text[:1] != "-" or text == "-":
            operand = operand or word
        for place, letter in enumerate(text[1:] if text[:1] == "-" and text[:2] != "--" else "", 1):
            is_last = place == len(text) - 1
            if letter in file:
                return scripts, True
            if letter in script:
                scripts += words[at : at + 1] if is_last else [word.rest(place + 1)]
            if letter in script or letter in valued:
                at += is_last
            if letter in script or letter in valued or letter in attached:
                break
    return scripts or ([operand] if operand else []), False

"""What a program starts by its words, as tables and rules for single programs say it; and helpers to read the words."""

from __future__ import annotations

from skills.lib.guard import shell_programs as programs
from skills.lib.guard.shell_parts import Word, base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    # What is started, a text about it, and its words.
    Start = tuple[str, str, Sequence[Word]]

# Another program, whose words these are; a line that a shell gets, with the reason of a doubt; a value that holds a
# line, with the reason if it is not certain; a variable that is set, by its name; a doubt, with its reason.
RUN, LINE, VALUE, VARIABLE, DOUBT = "run", "line", "value", "variable", "doubt"


def is_python(name: str) -> bool:
    """True for python, python3.12 and their like."""
    return unversioned(name) in programs.PYTHONS


def unversioned(name: str) -> str:
    """The name of a shell or an interpreter without its version (``lua5.4``); any other name as it is."""
    plain = name[: next((at for at, char in enumerate(name) if char.isdigit()), len(name))].rstrip("-_.")
    is_known = plain in programs.SHELLS or plain in programs.PYTHONS or plain in programs.INTERPRETERS
    return plain if is_known else name


def text_of(word: Word) -> str | None:
    """The text of a word; None if a shell may make another one of it."""
    return word.text if word.known and not word.glob else None


def name_of(word: Word) -> str | None:
    """The text of a program's name, None if it is not known. In ``"$X/bin/git"`` what is behind the variable counts."""
    is_named = word.known or "/" in word.tail
    return word.tail if is_named and word.single and not word.glob and base(word.tail) else None


def has(words: Sequence[Word], options: Sequence[str]) -> bool:
    """True if a word begins with one of these options."""
    return any(word.text.startswith(tuple(options)) for word in words)


def has_letter(words: Sequence[Word], letters: str, valued: str) -> bool:
    """True if one of these letters is an option in a word of several (``-avze``)."""
    for word in words:
        text = word.text[1:] if word.text[:1] == "-" and word.text[1:2] != "-" else ""
        for letter in text:
            if letter in letters:
                return True
            if letter in valued:
                break
    return False


def given(words: list[Word], replaced: str) -> list[Word]:
    """The words of a command to which names of files, or what is read, are added."""
    unknown = Word("", known=False, single=False)
    if not words:
        return []
    if not replaced:
        return [*words, unknown]
    return [Word(word.text.partition(replaced)[0], known=False) if replaced in word.text else word for word in words]

"""What a command of git runs, where it works, and which branch it pushes to."""

from __future__ import annotations

import os

from skills.lib.guard import shell_programs as programs
from skills.lib.guard.shell_starts import DOUBT, LINE, RUN, VALUE, base, has, text_of
from skills.lib.guard.shell_word import Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skills.lib.guard.shell_starts import Start

_SEVERAL = frozenset(("--all", "--mirror", "--branches", "--tags"))
_STEERING = ("push.default", "remote.", "branch.")
_ASKING = frozenset(
    "--get --get-all --get-regexp --get-urlmatch --list -l --unset --unset-all --remove-section".split()
)
_VALUED = frozenset(("-o", "--push-option", "--repo", "--receive-pack", "--exec"))


def starts(words: Sequence[Word]) -> Iterator[Start]:
    """What git starts: by its settings, by the options of a command, by commands that run others."""
    at, settings = git_command(words)
    for setting in settings:
        yield from _of_setting(setting)
    if at < 0:
        yield DOUBT, "an option of git is not known", ()
    elif at < len(words) and text_of(words[at]) in programs.GIT_COMMANDS:
        yield from _of_command(words[at].text, words[at + 1 :])


def _of_setting(setting: Word) -> Iterator[Start]:
    name, equals, _ = setting.head.partition("=")
    if name.lower() in programs.GIT_LINES and equals:
        yield VALUE, f"the setting {name} holds a command", (setting.rest(len(name) + 1),)
    elif not equals and not setting.known:
        yield DOUBT, "a setting of git is not written out", ()
    elif not _is_harmless(name.lower()):
        yield DOUBT, f"the setting {name} may run a command", ()


def _is_harmless(name: str) -> bool:
    """True if a setting, in small letters, runs nothing."""
    is_remote = name.startswith("remote.") and name.endswith((".url", ".pushurl", ".fetch"))
    return is_remote or name.startswith(programs.GIT_SETTINGS)


def _of_command(command: str, rest: Sequence[Word]) -> Iterator[Start]:
    if any(word.text.startswith("ext::") for word in rest):
        yield DOUBT, "an address of git runs a command", ()
    elif command == "config":
        yield from _of_config(rest)
    elif command in programs.GIT_OPAQUE:
        yield DOUBT, f"what git {command} runs is not seen", ()
    elif command in programs.GIT_HANDING and has(rest, programs.GIT_HANDING[command]):
        yield DOUBT, f"an option of git {command} runs another program", ()
    elif command in ("rebase", "difftool", "bisect") and any(not word.known and not word.single for word in rest):
        yield DOUBT, f"an option of git {command} may run another program", ()
    elif command == "bisect" and len(rest) > 1 and text_of(rest[0]) in ("run", None):
        yield RUN, "", rest[1:]
    elif command == "submodule" and any(text_of(word) in ("foreach", None) for word in rest):
        yield LINE, "git submodule foreach runs a line", rest
    elif command in ("send-pack", "http-push") or (
        command == "subtree" and any(text_of(word) in ("push", None) for word in rest)
    ):
        yield RUN, "", (Word("git"), Word("push"), *rest)


def _of_config(rest: Sequence[Word]) -> Iterator[Start]:
    """``git config NAME VALUE`` sets what another command of git may run; to ask for a value needs no VALUE."""
    at = 0
    while at < len(rest) and (rest[at].text[:1] == "-" or (at == 0 and rest[at].text == "set")):
        if rest[at].text in _ASKING:
            return
        at += 2 if rest[at].text in ("-f", "--file", "--blob", "--type", "--default", "--comment") else 1
    if at + 1 < len(rest) and not (at == 0 and rest[at].text in ("get", "list", "unset")):
        setting = Word(f"{rest[at].text}=")
        setting.known = rest[at].known
        name, _, _ = setting.text.partition("=")
        if rest[at].known and name.lower() in programs.GIT_LINES:
            yield VALUE, f"the setting {name} holds a command", (rest[at + 1],)
        else:
            yield from _of_setting(setting)


def git_command(words: Sequence[Word]) -> tuple[int, list[Word]]:
    """Where the subcommand of git stands, and the settings given before it; -1 if an option is not known."""
    at = 1
    settings: list[Word] = []
    while at < len(words):
        word = words[at]
        name, equals, _ = word.head.partition("=")
        if word.text == "-c" or (name in programs.GIT_VALUED and not equals):
            if not word.known or at + 1 >= len(words) or not words[at + 1].single:
                return -1, settings
            settings += [words[at + 1]] if word.text == "-c" else []
            at += 2
        elif (equals and name in programs.GIT_VALUED and word.single) or _is_flag(word):
            at += 1
        elif word.text[:1] == "-":
            return -1, settings
        else:
            break
    return at, settings


def _is_flag(word: Word) -> bool:
    return word.known and word.text in programs.GIT_FLAGS


def folder_of(words: Sequence[str | None], folder: str) -> str:
    """The folder in which a command works, of git if it is one; "" if it is not known."""
    if not folder or base(words[0] or "") != "git":
        return folder
    for at, word in enumerate(words[1:-1], 1):
        if word is None or word.startswith(("--git-dir", "--work-tree")):
            return ""
        if word == "-C":
            following = words[at + 1]
            if following is None:
                return ""
            folder = os.path.join(folder, following)
        elif word in programs.GIT_COMMANDS:
            break
    return folder


def pushed_branch(args: Sequence[str | None], words: Sequence[Word] = ()) -> str | None:
    """The branch that the arguments of ``git push`` name, "" if they name none, None if several or not known.

    ``words`` are those of the whole command: its settings may say what is pushed where.
    """
    _, settings = git_command(words)
    if any(not one.known or one.text.lower().startswith(_STEERING) for one in settings):
        return None
    if None in args or any(len(word) > 3 and one.startswith(word) for word in args if word for one in _SEVERAL):
        return None
    operands = [word for word in args if word and word[:1] != "-"]
    takes_value = any(word in _VALUED for word in args)
    if len(operands) < 2 and not takes_value:
        return ""
    if len(operands) != 2 or takes_value:
        return None
    target = operands[1].lstrip("+").rpartition(":")[2]
    if target in ("HEAD", "@") and ":" not in operands[1]:
        return ""
    is_plain = target not in ("HEAD", "@", "") and "*" not in target
    return target.removeprefix("refs/").removeprefix("heads/") if is_plain else None

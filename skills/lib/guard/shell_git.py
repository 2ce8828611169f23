"""What a command of git runs: by its settings, by the options of a command, by commands that run others."""

from __future__ import annotations

from skills.lib.guard import shell_programs as programs
from skills.lib.guard.shell_parts import Word
from skills.lib.guard.shell_repository import git_command
from skills.lib.guard.shell_starts import DOUBT, LINE, RUN, VALUE, has, has_letter, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skills.lib.guard.shell_starts import Start

_ASKING = frozenset(
    "--get --get-all --get-regexp --get-urlmatch --list -l --unset --unset-all --remove-section".split()
)


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
    return is_remote or (name.startswith(programs.GIT_SETTINGS) and "::" not in name)  # url.ext::LINE.insteadof


def _of_command(command: str, rest: Sequence[Word]) -> Iterator[Start]:
    if any(word.text.startswith("ext::") for word in rest):
        yield DOUBT, "an address of git runs a command", ()
    elif command == "config":
        yield from _of_config(rest)
    elif command in programs.GIT_OPAQUE:
        yield DOUBT, f"what git {command} runs is not seen", ()
    elif (command in programs.GIT_HANDING and has(rest, programs.GIT_HANDING[command])) or (
        command in programs.GIT_LETTERS and has_letter(rest, *programs.GIT_LETTERS[command])
    ):
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

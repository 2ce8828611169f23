"""The hooks of each host, all to one Python program: entries in a settings file that the user writes too, or a plugin.

A settings file is read, changed and written with the indentation that it has. Its values and their order stay; unusual
spaces do not. Comments, trailing commas and a name that is there twice would be lost, for plain JSON has none: such a
file is refused, and the message says what to add by hand.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from shlex import split
from string import Template
from typing import Any

from skills.lib import compact_json, run_facts
from skills.lib.blocks.command_line import join, quote
from skills.lib.errors import RefusedError
from skills.lib.hosts.hook import openings, sessions
from skills.lib.hosts.install import runtime

# How long a host waits for the hook, in seconds: the hook gives up by itself after five, and then says so.
TIMEOUT = 30
# The events of each host that the hook serves; True if the host wants a pattern for the tools.
_CLAUDE_SHAPED = {
    "PreToolUse": True,
    "PostToolUse": True,
    "UserPromptSubmit": False,
    "SessionStart": False,
    "PreCompact": False,
    "Stop": False,
    "SubagentStop": False,
    "SessionEnd": False,
}
_WITH_FAILURES = {**_CLAUDE_SHAPED, "PostToolUseFailure": True}
EVENTS: dict[str, dict[str, bool]] = {
    "claude": _WITH_FAILURES,
    "codex": _CLAUDE_SHAPED,
    "qwen": _WITH_FAILURES,
    "gemini": {
        "BeforeTool": True,
        "AfterTool": True,
        "BeforeAgent": False,
        "SessionStart": False,
        "AfterAgent": False,
        "SessionEnd": False,
    },
}
# The results of tools, of which policies have a use, and that of a command that opens a run.
RESULTS = ("PostToolUse", "PostToolUseFailure", "AfterTool")
# Codex gives this event no more time, and warns of more; the hook then only forgets a session.
_SHORTER = {("codex", "SessionEnd"): 3}
_IN_MILLISECONDS = frozenset({"qwen", "gemini"})
# The hosts that take an exit code of the shell, such as that of a missing program, for a refusal.
_GUARDED = frozenset({"gemini"})
PLAIN = "make it plain JSON"
_INDENT = re.compile(r"\n([ \t]+)\S")
_MARK = "\ufeff"
PROGRAM = ("lib", "hosts", "hook", "run_hook.py")


def command(host: str, stops: int) -> list[str]:
    """The words that start the runtime's hook; -I and -S keep the user's environment and packages out of it."""
    program = os.path.join(runtime.folder(runtime.version()), "skills", *PROGRAM)
    return [sys.executable, "-IS", program, "--host", host, "--stops", str(stops)]


def command_line(host: str, event: str, stops: int) -> str:
    """The command of an event in a host's settings, for a shell.

    Gemini CLI blocks each prompt if a hook's program is missing. There the command first looks for it: if it is gone, a
    tool is blocked while a session follows a run, and nothing else is. After a tool the shell ends the command unless
    a policy has held for some session of this user, or one may open a run: no Python is started for other results.
    """
    words = command(host, stops)
    line = join(words)
    if os.name == "nt":
        return line
    if event in RESULTS:
        return f"{has_use_for_results(*map(quote, (run_facts.folder(), openings.folder())))} || exit 0; exec {line}"
    if host not in _GUARDED:
        return line
    guard = f"[ -x {quote(words[0])} ] && [ -f {quote(words[2])} ]"
    if not EVENTS[host][event]:
        return f"{guard} || exit 0; exec {line}"
    said = quote(f"Lockstep's hook cannot run, as {words[0]} or {words[2]} is gone: lockstep doctor {host}")
    runs = f'[ -z "$(ls -A {quote(sessions.folder())} 2>/dev/null)" ]'
    return f"{guard} || {{ {runs} && exit 0; echo {said} >&2; exit 2; }}; exec {line}"


def has_use_for_results(facts: str, openings: str) -> str:
    """The test of a shell for the folders of facts of policies and of openings; a variable may have moved both."""
    return f'[ -d {facts} ] || [ -d {openings} ] || [ -n "$LOCKSTEP_STATE$XDG_STATE_HOME" ]'


def words_of(line: str) -> list[str]:
    """The words by which a command in settings starts the hook, without what comes before; ValueError if it is none."""
    words = split(line)
    at = words.index("-IS") - 1
    return words[max(at, 0) :]


def is_ours(hook: Any, host: str) -> bool:
    """True if an entry of a host's settings calls our program for that host."""
    given = hook.get("command") if isinstance(hook, dict) else None
    # An older version has the program in another folder.
    marks = (f"{os.sep}hosts{os.sep}", PROGRAM[-1], f" --host {host}")
    return isinstance(given, str) and all(mark in given for mark in marks)


def plugin(stops: int, allowed: Sequence[str] = ()) -> bytes:
    """The plugin with which opencode calls the hook; it allows the commands that have one of these patterns."""
    template = Path(__file__).with_name("opencode.js.template").read_text(encoding="utf-8")
    words, rules = json.dumps(command("opencode", stops)), json.dumps(list(allowed))
    return Template(template).substitute(command=words, timeout=TIMEOUT * 1000, allowed=rules).encode()


def new_entries(host: str, stops: int) -> dict[str, dict[str, Any]]:
    """The entry of each event."""
    factor = 1000 if host in _IN_MILLISECONDS else 1
    timeouts = {event: _SHORTER.get((host, event), TIMEOUT) * factor for event in EVENTS[host]}
    return {
        event: {
            **({"matcher": "*"} if matched else {}),
            "hooks": [{"type": "command", "command": command_line(host, event, stops), "timeout": timeouts[event]}],
        }
        for event, matched in EVENTS[host].items()
    }


def merged(
    path: str, data: bytes | None, host: str, stops: int, known: Mapping[str, str], force: bool = False
) -> tuple[bytes, dict[str, str], list[str]]:
    """A settings file with our entries in it, the digest of each, and the events whose entry the user changed.

    ``known`` has the digest of each entry as it was written before. An entry that the user changed since stays, unless
    ``force``. RefusedError if the file is not plain JSON or its hooks are of another shape.
    """
    settings = read_settings(path, data)
    events, wanted = settings.setdefault("hooks", {}), new_entries(host, stops)
    yours, seen = list[str](), set()
    for event, groups in events.items():
        for group, hook in list(_ours(groups, host)):
            changed = event in known and compact_json.digest(group) != known[event] and not force
            if event not in wanted or event in seen:
                _take(groups, group, hook)
            elif group != wanted[event] and changed:
                yours.append(event)
            elif len(group["hooks"]) > 1:  # the user put another one beside ours
                hook.update(wanted[event]["hooks"][0])
            else:
                group.clear()
                group.update(wanted[event])
            seen.add(event)
    for event, group in wanted.items():
        if event not in seen:
            events.setdefault(event, []).append(group)
    entries = {event: compact_json.digest(group) for event in events for group, _ in _ours(events[event], host)}
    entries |= {event: known[event] for event in yours}
    return written_settings(settings, data), entries, yours


def unmerged(path: str, data: bytes, host: str) -> tuple[bytes, bool]:
    """A settings file without our entries and the lists that they leave empty, and whether anything is left in it.

    RefusedError if it is not plain JSON.
    """
    settings = read_settings(path, data)
    events = settings.get("hooks", {})
    for event, groups in list(events.items()):
        ours = list(_ours(groups, host))
        for group, hook in ours:
            _take(groups, group, hook)
        if ours and not groups:
            del events[event]
            if not events:
                del settings["hooks"]
    return written_settings(settings, data), bool(settings)


def states(path: str, data: bytes | None, host: str, known: Mapping[str, str]) -> dict[str, str]:
    """Each event of the manifest: current, changed or missing."""
    events = read_settings(path, data).get("hooks", {})
    found = {event: compact_json.digest(group) for event in events for group, _ in _ours(events[event], host)}
    words = {True: "current", False: "changed"}
    return {event: words[found[event] == digest] if event in found else "missing" for event, digest in known.items()}


def written(path: str, data: bytes | None, host: str, known: Mapping[str, str]) -> set[str]:
    """The commands of those entries of the manifest that are in the settings as they were written."""
    events = read_settings(path, data).get("hooks", {})
    ours = [(event, group, hook) for event in events for group, hook in _ours(events[event], host)]
    return {hook["command"] for event, group, hook in ours if known.get(event) == compact_json.digest(group)}


def read_settings(path: str, data: bytes | None) -> dict[str, Any]:
    """A settings file as data; RefusedError if it is not plain JSON, or its hooks are of another shape."""
    try:
        text = (b"{}" if data is None else data).decode("utf-8").removeprefix(_MARK)
        settings = json.loads(text, object_pairs_hook=_unique, parse_float=_exact, parse_constant=_no_number)
        json.dumps(settings, ensure_ascii=False).encode()
    except UnicodeError:
        raise RefusedError(f"{path} is not UTF-8 text", remedy=PLAIN) from None
    except (ValueError, RecursionError) as error:
        raise RefusedError(
            f"{path} is not plain JSON ({error}): writing it anew would lose what you wrote", remedy=PLAIN
        ) from error
    if not isinstance(settings, dict):
        raise RefusedError(f"{path} holds no JSON object", remedy=PLAIN)
    events = settings.get("hooks", {})
    if not isinstance(events, dict) or not all(isinstance(groups, list) for groups in events.values()):
        raise RefusedError(f"{path}: hooks is not a list of entries for each event", remedy=PLAIN)
    return settings


def _exact(text: str) -> float:
    """A number that is written as it was read, but for the form of its exponent. Raises ValueError for any other."""
    number = float(text)
    if Decimal(repr(number) if abs(number) != float("inf") else "NaN") != Decimal(text):
        raise ValueError(f"the number {text:.60} has more digits than can be kept")
    return number


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict[str, Any]()
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the name {name!r:.60} stands there twice")
        found[name] = value
    return found


def written_settings(settings: dict[str, Any], like: bytes | None) -> bytes:
    """Settings as JSON in the manner of the file as it was: its byte order mark, indentation and line ends."""
    text = "{}\n" if like is None else like.decode("utf-8")
    mark, text = text[: text.startswith(_MARK)], text.removeprefix(_MARK)
    if json.loads(text) == settings:
        return (mark + text).encode()  # with its own spaces
    found, is_one_line = _INDENT.search(text), "\n" not in text.strip() and json.loads(text) != {}
    shown = json.dumps(settings, indent=found[1] if found else None if is_one_line else 2, ensure_ascii=False)
    end = text[len(text.rstrip()) :]
    return (mark + shown.replace("\n", "\r\n" if "\r\n" in text else "\n") + end).encode()


def _ours(groups: list[Any], host: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Our entries in the list of an event: the entry, and the hook in it that calls our program."""
    for group in groups:
        inner = group.get("hooks") if isinstance(group, dict) else None
        for hook in inner if isinstance(inner, list) else ():
            if is_ours(hook, host):
                yield group, hook
                break


def _take(groups: list[Any], group: dict[str, Any], hook: dict[str, Any]) -> None:
    """Take our hook out of an entry, and remove the entry unless the user put more into it."""
    group["hooks"] = [other for other in group["hooks"] if other is not hook]
    if not group["hooks"]:
        groups[:] = [other for other in groups if other is not group]

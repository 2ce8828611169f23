"""The hooks of each host, all to one Python program, and how they stand in its settings."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

from skills.lib import compact_json
from skills.lib.errors import RefusedError
from skills.lib.hosts import places
from skills.lib.hosts.install import jsontext
from skills.lib.hosts.install.record import Merged
from skills.lib.workflow.caller import join

# How long a host waits for the hook, in seconds: the hook gives up by itself after five, and then says so.
TIMEOUT = 30
# The events of each host that the hook serves; True where the host wants a pattern for the tools.
_CLAUDE_SHAPED = {
    "PreToolUse": True,
    "UserPromptSubmit": False,
    "SessionStart": False,
    "PreCompact": False,
    "Stop": False,
    "SubagentStop": False,
    "SessionEnd": False,
}
EVENTS: dict[str, dict[str, bool]] = {
    "claude": _CLAUDE_SHAPED,
    "codex": _CLAUDE_SHAPED,
    "qwen": _CLAUDE_SHAPED,
    "gemini": {
        "BeforeTool": True,
        "BeforeAgent": False,
        "SessionStart": False,
        "AfterAgent": False,
        "SessionEnd": False,
    },
}
# Codex gives this event no more, and warns of more; the hook then only forgets a session.
_SHORTER = {("codex", "SessionEnd"): 3}
_IN_MILLISECONDS = frozenset({"qwen", "gemini"})
_OURS = "run_hook.py"
PLAIN = "make it plain JSON"
# The name of the settings file itself among the containers that a merge made.
WHOLE = ""


@dataclass(frozen=True, slots=True)
class Merge:
    """What a merge makes of a settings file, and what an uninstallation has to know of it.

    ``entries`` has the digest of each event's entry as we wrote it, ``made`` the names of the containers that were not
    there before, outermost first ("" is the file itself). ``yours`` are events whose entry the user changed. ``blanks``
    has what stood between the brackets of each container that was there and empty.
    """

    text: str
    entries: dict[str, str]
    made: tuple[str, ...]
    yours: tuple[str, ...] = ()
    blanks: dict[str, str] = field(default_factory=dict)


def command(host: str, stops: int) -> list[str]:
    """The words that start the hook; -I and -S keep the user's environment and packages out of it."""
    words = [sys.executable, "-IS", places.hook_program(), "--host", host]
    return [*words, "--stops", str(stops)]


def plugin(stops: int) -> bytes:
    """The plugin with which opencode calls the hook."""
    template = Path(__file__).with_name("opencode.js.template").read_text(encoding="utf-8")
    words = command("opencode", stops)
    filled = Template(template).substitute(command=json.dumps(words), timeout=TIMEOUT * 1000)
    return filled.encode()


def groups(host: str, stops: int) -> dict[str, dict[str, Any]]:
    """The entry of each event."""
    told, factor = join(command(host, stops)), 1000 if host in _IN_MILLISECONDS else 1
    found = {}
    for event, matched in EVENTS[host].items():
        timeout = _SHORTER.get((host, event), TIMEOUT) * factor
        hook = {"type": "command", "command": told, "timeout": timeout}
        found[event] = {**({"matcher": "*"} if matched else {}), "hooks": [hook]}
    return found


def merged(path: str, text: str | None, host: str, stops: int, told: Merged, force: bool = False) -> Merge:
    """A settings file with our entries in it, in the place of those that were there.

    ``told`` is what the manifest has of an earlier merge. An entry that the user changed stays, unless ``force``.
    RefusedError where the file is not plain JSON or its hooks are of another shape.
    """
    wanted, before = groups(host, stops), told.entries
    containers = [name for name in told.made if text is not None]
    containers += _found_again(path, text, host) if text is not None and not told.entries else []
    blanks = {name: blank for name, blank in told.blanks.items() if text is not None}
    if text is None:
        text, containers = "{}\n", [WHOLE]
    else:
        blanks |= _blanks(path, text, wanted, containers)
    if _object(path, text).get("hooks") is None:
        text = jsontext.inserted(text, _object(path, text), {}, "hooks")
        containers.append("hooks")
    text, yours = _renewed(path, text, host, wanted, {} if force else before)
    for event, group in wanted.items():
        if any(event == found for found, _, _ in _ours(path, text, host)):
            continue
        hooks = _require(_hooks(path, text))
        if event in hooks.names:
            text = jsontext.inserted(text, _require(hooks.get(event)), group)
        else:
            text = jsontext.inserted(text, hooks, [group], event)
            containers.append(f"hooks.{event}")
    entries = {event: compact_json.digest(group) for event, _, group in _ours(path, text, host)}
    entries |= {event: before[event] for event in yours}
    return Merge(text, entries, tuple(dict.fromkeys(containers)), tuple(yours), blanks)


def _found_again(path: str, text: str, host: str) -> list[str]:
    """The containers that hold nothing but entries of ours, which an installation without a record made."""
    hooks = _hooks(path, text)
    if hooks is None or not hooks.items:
        return []
    own = [event for event, _, group in _ours(path, text, host) if len(group["hooks"]) == 1]
    events = [f"hooks.{name}" for name in hooks.names if len(hooks.value[name]) == own.count(name) > 0]
    return [*(["hooks"] if len(events) == len(hooks.names) else []), *events]


def _blanks(path: str, text: str, wanted: dict[str, dict[str, Any]], made: list[str]) -> dict[str, str]:
    """What stands between the brackets of each container that entries are put into, where it is empty and not ours."""
    found = {}
    for name in (WHOLE, "hooks", *(f"hooks.{event}" for event in wanted)):
        node = _container(path, text, name)
        if node is not None and not node.items and isinstance(node.value, dict | list) and name not in made:
            found[name] = text[node.start + 1 : node.end - 1]
    return found


def _container(path: str, text: str, name: str) -> jsontext.Node | None:
    """The container of that name, as ``made`` and ``blanks`` have it; None where there is none."""
    if name == WHOLE:
        return _object(path, text)
    hooks = _hooks(path, text)
    return hooks if hooks is None or "." not in name else hooks.get(name.rpartition(".")[2])


def _renewed(
    path: str, text: str, host: str, wanted: dict[str, dict[str, Any]], before: dict[str, str]
) -> tuple[str, list[str]]:
    """The text with each entry of ours as it is wanted, and the events whose entry the user changed."""
    yours: list[str] = []
    seen = set()
    for event, at, group in _ours(path, text, host):
        if event not in wanted or event in seen:
            continue
        seen.add(event)
        if group == wanted[event]:
            continue
        if event in before and compact_json.digest(group) != before[event]:
            yours.append(event)
            continue
        node = _require(_require(_hooks(path, text)).get(event)).items[at]
        if len(group["hooks"]) > 1:  # the user put another one beside ours
            inner = _require(node.get("hooks"))
            own = next(number for number, hook in enumerate(group["hooks"]) if _is_ours(hook, host))
            text = jsontext.replaced(text, inner.items[own], wanted[event]["hooks"][0])
        else:
            text = jsontext.replaced(text, node, wanted[event])
    # Two of one event, or one that is served no more: what an earlier version left.
    for number, (event, at, _) in reversed(list(enumerate(_ours(path, text, host)))):
        earlier = [found for found, _, _ in _ours(path, text, host)[:number]]
        if event not in wanted or event in earlier:
            text = _taken(path, text, event, at, host)
    return text, yours


def unmerged(path: str, text: str, host: str, told: Merged) -> str | None:
    """A settings file without our entries and without the containers that we made; None where nothing is left.

    RefusedError where it is not plain JSON any more.
    """
    for event, at, _ in reversed(_ours(path, text, host)):
        text = _taken(path, text, event, at, host)
    for name in reversed([name for name in told.made if name]):
        outer = _hooks(path, text) if "." in name else _object(path, text)
        key = name.rpartition(".")[2]
        found = outer.get(key) if outer is not None else None
        if outer is not None and found is not None and not found.items and isinstance(found.value, dict | list):
            text = jsontext.removed(text, outer, outer.names.index(key))
    for name, blank in told.blanks.items():
        node = _container(path, text, name)
        if node is not None and not node.items and isinstance(node.value, dict | list):
            text = jsontext.filled(text, node, blank)
    return None if WHOLE in told.made and not _object(path, text).items else text


def are_in(data: bytes) -> bool:
    """Whether a settings file that cannot be read as JSON has the name of our program in it."""
    return _OURS.encode() in data


def state(path: str, text: str | None, host: str, before: dict[str, str]) -> dict[str, str]:
    """Each event of the manifest: current, changed or missing."""
    found = {event: group for event, _, group in _ours(path, text or "{}", host)}
    return {
        event: "missing"
        if event not in found
        else "current"
        if compact_json.digest(found[event]) == told
        else "changed"
        for event, told in before.items()
    }


def _ours(path: str, text: str, host: str) -> list[tuple[str, int, Any]]:
    """Our entries: the event, the place in its list, the entry."""
    found = []
    hooks = _hooks(path, text)
    for event, groups_node in zip(hooks.names, hooks.items, strict=True) if hooks else ():
        if not isinstance(groups_node.value, list):
            continue
        found += [(event, at, group) for at, group in enumerate(groups_node.value) if _calls_us(group, host)]
    return found


def _taken(path: str, text: str, event: str, at: int, host: str) -> str:
    """The text without our hook in that entry; the entry goes too, unless the user put more into it."""
    events = _require(_require(_hooks(path, text)).get(event))
    group = _require(events.items[at].get("hooks"))
    ours = [number for number, hook in enumerate(group.value) if _is_ours(hook, host)]
    if len(ours) == len(group.value):
        return jsontext.removed(text, events, at)
    return jsontext.removed(text, group, ours[0])


def _calls_us(group: Any, host: str) -> bool:
    inner = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(inner, list) and any(_is_ours(hook, host) for hook in inner)


def _is_ours(hook: Any, host: str) -> bool:
    told = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(told, str) and f"{os.sep}hosts{os.sep}{_OURS}" in told and f" --host {host}" in told


def _object(path: str, text: str) -> jsontext.Node:
    try:
        node = jsontext.parse(text)
    except jsontext.NotPlain as error:
        raise RefusedError(
            f"{path}, {error}: entries cannot be edited without losing something of yours",
            remedy=PLAIN,
        ) from error
    if not isinstance(node.value, dict):
        raise RefusedError(f"{path} holds no JSON object", remedy=PLAIN)
    return node


def _hooks(path: str, text: str) -> jsontext.Node | None:
    """The object of hooks in the settings; None where there is none."""
    node = _object(path, text).get("hooks")
    if node is None:
        return None
    lists = isinstance(node.value, dict) and all(isinstance(value, list) for value in node.value.values())
    if not lists:
        raise RefusedError(f"{path}: hooks is not a list of entries for each event", remedy=PLAIN)
    return node


def _require(node: jsontext.Node | None) -> jsontext.Node:
    """The node, which the caller has just seen there."""
    assert node is not None
    return node

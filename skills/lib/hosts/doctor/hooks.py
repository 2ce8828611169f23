"""Checks of the hooks in a host's settings: are they ours and current, do they run, and does the host trust them?

Settings may be anything that a clone brings along: only a regular file is read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from shlex import quote
from typing import Any

from skills.lib import files
from skills.lib.blocks.command_line import join
from skills.lib.errors import LockstepError
from skills.lib.hosts.doctor import host as hosts
from skills.lib.hosts.doctor import machine, skills
from skills.lib.hosts.doctor.examination import LATER, DoctorContext, Result, converse, ok, problem, texts_in, warning
from skills.lib.hosts.install import installing, manifest
from skills.lib.hosts.install.changes import digest
from skills.lib.hosts.install.hooks import PROGRAM, words_of
from skills.lib.hosts.install.locations import Locations
from skills.lib.hosts.install.manifest import Manifest
from skills.lib.hosts.known_hosts import KNOWN

_LIMIT = 20_000_000
_PROGRAM = os.sep + PROGRAM[-1]


def entries(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether the hooks are in the host's settings as they were written."""
    if host == "agents":
        return
    places = hosts.places(context, host)
    odd = [place for place in places if _is_odd(place.hooks)]
    for place in odd:
        yield problem(
            f"the settings of hooks ({place.scope}) are no regular file, and are not read", place.hooks, "move it away"
        )
    found = [(place, one) for place in places if (one := manifest.installed(place)) is not None]
    for place, one in found:
        if one.hooks and place not in odd:
            yield _installed(context, place, one)
    if any(one.hooks for _, one in found):
        yield from _switched_off(host, places)
    elif found:
        place, one = found[0]
        wanted = [f"--skill {quote(name)}" for name in one.skills]
        yield warning(
            "skills are installed without hooks: steps are printed, and nothing is enforced",
            remedy=hosts.command(context, "install", place, *wanted, "--hooks"),
        )


def _installed(context: DoctorContext, place: Locations, found: Manifest) -> Result:
    """Whether the plugin, or each of the entries that a manifest names, is there and as it was written."""
    scope, upgrade = place.scope, hosts.command(context, "upgrade", place)
    if not place.is_merged:
        if _read(place.hooks) is None:
            return problem(f"the plugin ({scope}) is gone", place.hooks, upgrade)
        return ok(f"the plugin is installed ({scope})", place.hooks)
    states = installing.hook_states(place, found)
    missing = sorted(event for event, state in states.items() if state == "missing")
    if missing or not states:
        return problem(f"hooks are missing ({scope}): {', '.join(missing) or 'all of them'}", place.hooks, upgrade)
    changed = sorted(event for event, state in states.items() if state == "changed")
    if changed:
        return warning(f"hooks ({scope}) are changed by you: {', '.join(changed)}", place.hooks, f"{upgrade} --force")
    return ok(f"{len(states)} hooks are installed ({scope})", place.hooks)


def call(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether the command in the settings does the hook's work: its Python, its program, its modules.

    A command in a project's settings is only started if an installation wrote it.
    """
    for place in hosts.places(context, host):
        for words in _commands(place):
            calls, remedy = f"the hooks ({place.scope}) call", hosts.command(context, "upgrade", place)
            if os.path.isfile(words[0]) and os.path.isfile(words[2]) and not _is_written(place, words):
                yield warning(
                    f"{calls} a program that no installation wrote there, so it was not started: {' '.join(words[:3])}",
                    place.hooks,
                    f"look at it; {hosts.command(context, 'upgrade', place, '--force')} replaces it",
                )
                continue
            found = machine.version_of(context, words[0]) if os.path.isfile(words[2]) else machine.OLDEST
            if found is None or not os.path.isfile(words[0]):
                yield problem(f"{calls} a Python that is not there: {words[0]}", place.hooks, remedy)
            elif found < machine.OLDEST:
                shown = ".".join(map(str, found))
                yield problem(f"{calls} Python {shown}, and need 3.11 or later", place.hooks, remedy)
            else:
                yield machine.hook_answer(words)


def _is_written(place: Locations, words: tuple[str, ...]) -> bool:
    """True if an installation wrote a command into the settings, or they are the user's own."""
    if place.scope == "user":
        return True
    try:
        found = manifest.installed(place)
        if found is None:
            return False
        if place.is_merged:
            return any(line.endswith(join(words)) for line in installing.hook_commands(place, found))
    except LockstepError:  # another check reports it
        return False
    return digest(_read(place.hooks) or b"") in found.files.get(place.hooks, ())


def trust(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether the host will run the hooks: Codex skips, without a word, those that its user has not trusted."""
    placed = {place.scope: place.hooks for place in hosts.places(context, host) if _commands(place)}
    program = context.program(host)
    if host == "codex" and program:
        yield from _codex_trust(context, program, placed)
    elif host == "gemini" and program and "project" in placed and _is_distrusted(context, program):
        yield problem(
            "gemini does not run the hooks (project): it does not trust the folder",
            placed["project"],
            f"cd {quote(context.project)} && gemini, then /permissions, and trust the folder",
        )
    elif placed and KNOWN[host].confirm:
        yield ok(KNOWN[host].confirm)


def _is_distrusted(context: DoctorContext, program: str) -> bool:
    return skills.is_distrusted(context.ask(program, *KNOWN["gemini"].list_skills, seconds=LATER))


def _codex_trust(context: DoctorContext, program: str, placed: dict[str, str]) -> Iterator[Result]:
    """What Codex says of our hooks; ``placed`` are the settings that have some, by scope."""
    known = _codex_hooks(context, program)
    if known is None:
        if placed:
            yield warning("codex did not say which hooks it trusts", program, "codex, then /hooks")
        return
    ours = [hook for hook in known if PROGRAM[-1] in str(hook.get("command"))]
    sources = sorted({str(hook.get("source")) for hook in ours})
    start = f"cd {quote(context.project)} && codex"
    for scope, path in placed.items():
        if scope not in sources:
            yield problem(
                f"codex does not load the hooks ({scope}): it does not trust the project",
                path,
                f"{start}, and trust the folder; then /hooks",
            )
    untrusted = [one for one in ours if one.get("trustStatus") not in ("trusted", "managed") or not one.get("enabled")]
    if untrusted:
        events = ", ".join(sorted({str(hook.get("eventName")) for hook in untrusted}))
        yield problem(
            f"codex skips hooks that are not trusted: {events}",
            str(untrusted[0].get("sourcePath")),
            f"{start}, then /hooks, and trust them",
        )
    elif ours:
        yield ok(f"codex trusts all {len(ours)} hooks")
    if len(sources) > 1:
        what = f"the hooks are loaded from {len(sources)} places, and each call runs all: {', '.join(sources)}"
        yield warning(what, remedy="keep one: lockstep uninstall codex, or codex plugin remove lockstep@lockstep")


def _codex_hooks(context: DoctorContext, program: str) -> list[dict[str, Any]] | None:
    """What Codex knows of hooks in the project; None if it does not say."""
    client = {"clientInfo": {"name": "lockstep", "title": "Lockstep", "version": "1"}}
    messages = [
        {"id": 0, "method": "initialize", "params": client},
        {"method": "initialized"},
        {"id": 1, "method": "hooks/list", "params": {"cwds": [context.project]}},
    ]
    lines = [json.dumps(message).encode() for message in messages]
    answer = converse((program, "app-server"), LATER, lines, lambda line: _value(line, ("id",)) == 1, context.project)
    try:
        data = json.loads(answer or b"")["result"]["data"]
        return [hook for one in data for hook in one["hooks"] if isinstance(hook, dict)]
    except (ValueError, KeyError, TypeError):
        return None


def _commands(place: Locations) -> list[tuple[str, ...]]:
    """The different commands by which settings, or a plugin of ours, call the hook."""
    text = (_read(place.hooks) or b"").decode("utf-8", "replace").removeprefix("\ufeff")
    commands: list[list[str]] = []
    try:
        for line in texts_in(json.loads(text)):
            with suppress(ValueError):  # a line that is no command
                commands.append(words_of(line) if PROGRAM[-1] in line else [])
    except RecursionError:  # nobody wrote that
        return []
    except ValueError:  # the plugin has the words of the command as a list on one line
        for line in text.splitlines():
            with suppress(ValueError, RecursionError):
                commands.append(list(texts_in(json.loads(line[line.find("[") : line.rfind("]") + 1]))))
    ours = [words for words in commands if words[1:2] == ["-IS"] and words[2:] and words[2].endswith(_PROGRAM)]
    return sorted({tuple(words) for words in ours})


def _switched_off(host: str, places: list[Locations]) -> Iterator[Result]:
    """A warning for each settings file, of either scope, that switches all hooks of a host off."""
    switch = KNOWN[host].switch
    if switch is None:
        return
    keys, value = switch
    paths = [place.hooks for place in places]
    if host == "claude":  # the project's settings for all who work in it
        paths.insert(1, os.path.join(os.path.dirname(paths[0]), "settings.json"))
    for path in dict.fromkeys(paths):
        if _value(_read(path), keys) is value:
            key = ".".join(keys)
            yield warning(
                f"hooks are installed, and {key} in these settings switches all of them off",
                path,
                f"take {key} out of it",
            )


def _value(data: bytes | None, keys: tuple[str, ...]) -> Any:
    """The value in JSON under these keys, each inside the one before; None if there is nothing."""
    try:
        found: Any = json.loads((data or b"{}").decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _read(path: str) -> bytes | None:
    """A regular file's content; None for anything else, which could have no end, or wait for a writer."""
    try:
        return files.read(path, _LIMIT)
    except (OSError, ValueError):
        return None


def _is_odd(path: str) -> bool:
    """True if something is there that is no regular file, links followed."""
    return os.path.exists(path) and not os.path.isfile(path)

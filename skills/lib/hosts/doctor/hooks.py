"""Checks of the hooks in a host's settings: are they ours and current, do they run, and does the host trust them?

Settings may be anything that a clone brings along: only a regular file is read.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from shlex import quote, split
from typing import Any

from skills.lib.hosts.doctor import installed, machine, skills
from skills.lib.hosts.doctor.context import LATER, DoctorContext
from skills.lib.hosts.doctor.probe import converse, texts_in
from skills.lib.hosts.doctor.result import Result, ok, problem, warning
from skills.lib.hosts.install import installing, manifest
from skills.lib.hosts.install.hooks import PROGRAM
from skills.lib.hosts.install.manifest import Manifest
from skills.lib.hosts.known_hosts import KNOWN, SCOPES

_LIMIT = 20_000_000


def entries(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether the hooks stand in the host's settings as they were written."""
    if host == "agents":
        return
    places = {scope: installed.place(context, host, scope) for scope in SCOPES}
    odd = [scope for scope, place in places.items() if _is_odd(place.hooks)]
    for scope in odd:
        what = f"the settings of hooks ({scope}) are no regular file, and are not read"
        yield problem(what, places[scope].hooks, "move it away")
    found = {scope: one for scope, place in places.items() if (one := manifest.installed(place)) is not None}
    for scope, one in found.items():
        if not one.hooks or scope in odd:
            continue
        path = places[scope].hooks
        if places[scope].is_merged:
            yield _merged(context, host, scope, one)
        elif _read(path) is None:
            yield problem(f"the plugin ({scope}) is gone", path, installed.command(context, "upgrade", host, scope))
        else:
            yield ok(f"the plugin is installed ({scope})", path)
    if any(one.hooks for one in found.values()):
        for path, key in _switched_off(context, host):
            what = f"hooks are installed, and {key} in these settings switches all of them off"
            yield warning(what, path, f"take {key} out of it")
    elif found:
        scope, one = next(iter(found.items()))
        wanted = [f"--skill {quote(name)}" for name in one.skills]
        remedy = installed.command(context, "install", host, scope, *wanted, "--hooks")
        yield warning("skills are installed without hooks: steps are printed, and nothing is enforced", "", remedy)


def _merged(context: DoctorContext, host: str, scope: str, found: Manifest) -> Result:
    place = installed.place(context, host, scope)
    states = installing.hook_states(place, found)
    missing = sorted(event for event, state in states.items() if state == "missing")
    if missing or not states:
        what = f"hooks are missing ({scope}): {', '.join(missing) or 'all of them'}"
        return problem(what, place.hooks, installed.command(context, "upgrade", host, scope))
    changed = sorted(event for event, state in states.items() if state == "changed")
    if changed:
        remedy = installed.command(context, "upgrade", host, scope, "--force")
        return warning(f"hooks ({scope}) are changed by you: {', '.join(changed)}", place.hooks, remedy)
    return ok(f"{len(states)} hooks are installed ({scope})", place.hooks)


def call(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether the command in the settings does the hook's work: its Python, its program, its modules."""
    for scope in SCOPES:
        path = installed.place(context, host, scope).hooks
        for words in _commands(_read(path)):
            found = machine.version_of(context, words[0])
            remedy = installed.command(context, "upgrade", host, scope)
            if found is None:
                yield problem(f"the hooks ({scope}) call a Python that is not there: {words[0]}", path, remedy)
            elif found < machine.OLDEST:
                shown = ".".join(map(str, found))
                yield problem(f"the hooks ({scope}) call Python {shown}, and need 3.11 or later", path, remedy)
            else:
                yield machine.hook_answer(words)


def trust(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether the host will run the hooks: Codex skips, without a word, those that its user has not trusted."""
    placed = [scope for scope in SCOPES if _commands(_read(installed.place(context, host, scope).hooks))]
    program = context.program(host)
    if host == "codex" and program:
        yield from _codex_trust(context, program, placed)
    elif host == "gemini" and program and "project" in placed and _is_distrusted(context, program):
        path = installed.place(context, host, "project").hooks
        remedy = f"cd {quote(context.project)} && gemini, then /permissions, and trust the folder"
        yield problem("gemini does not run the hooks (project): it does not trust the folder", path, remedy)
    elif placed and KNOWN[host].confirm:
        yield ok(KNOWN[host].confirm)


def _is_distrusted(context: DoctorContext, program: str) -> bool:
    return skills.is_distrusted(context.ask(program, *KNOWN["gemini"].list_skills, seconds=LATER))


def _codex_trust(context: DoctorContext, program: str, placed: list[str]) -> Iterator[Result]:
    known = _codex_hooks(context, program)
    if known is None:
        if placed:
            yield warning("codex did not say which hooks it trusts", program, "codex, then /hooks")
        return
    ours = [hook for hook in known if PROGRAM[-1] in str(hook.get("command"))]
    sources = {str(hook.get("source")) for hook in ours}
    start = f"cd {quote(context.project)} && codex"
    for scope in placed:
        if scope not in sources:
            what = f"codex does not load the hooks ({scope}): it does not trust the project"
            path = installed.place(context, "codex", scope).hooks
            yield problem(what, path, f"{start}, and trust the folder; then /hooks")
    untrusted = [one for one in ours if one.get("trustStatus") not in ("trusted", "managed") or not one.get("enabled")]
    if untrusted:
        events = ", ".join(sorted({str(hook.get("eventName")) for hook in untrusted}))
        where = str(untrusted[0].get("sourcePath"))
        yield problem(
            f"codex skips hooks that are not trusted: {events}", where, f"{start}, then /hooks, and trust them"
        )
    elif ours:
        yield ok(f"codex trusts all {len(ours)} hooks")
    if len(sources) > 1:
        what = f"the hooks are loaded from {len(sources)} places, and each call runs all: {', '.join(sorted(sources))}"
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


def _commands(data: bytes | None) -> list[list[str]]:
    """The different commands by which settings, or a plugin of ours, call the hook."""
    text = (data or b"").decode("utf-8", "replace").removeprefix("\ufeff")
    # Settings hold a command line; the plugin has the words of the command as a list on one line.
    try:
        commands = [_words(line) for line in texts_in(json.loads(text))]
    except ValueError:
        commands = [list(texts_in(_list_in(line))) for line in text.splitlines()]
    found = {tuple(words) for words in commands if words[1:2] == ["-IS"] and _is_hook(words)}
    return [list(words) for words in sorted(found)]


def _words(line: str) -> list[str]:
    try:
        return split(line) if PROGRAM[-1] in line else []
    except ValueError:
        return []


def _list_in(line: str) -> object:
    try:
        return json.loads(line[line.find("[") : line.rfind("]") + 1]) if PROGRAM[-1] in line else None
    except ValueError:
        return None


def _is_hook(words: list[str]) -> bool:
    return len(words) >= 3 and words[2].endswith(os.sep + PROGRAM[-1])


def _switched_off(context: DoctorContext, host: str) -> Iterator[tuple[str, str]]:
    """Each settings file, of either scope, that switches all hooks of a host off: its path, and the key."""
    switch = KNOWN[host].switch
    if switch is None:
        return
    keys, value = switch
    paths = [installed.place(context, host, scope).hooks for scope in SCOPES]
    if host == "claude":  # the project's settings for all who work in it
        paths.insert(1, os.path.join(os.path.dirname(paths[0]), "settings.json"))
    for path in dict.fromkeys(paths):
        if _value(_read(path), keys) is value:
            yield path, ".".join(keys)


def _value(data: bytes | None, keys: tuple[str, ...]) -> Any:
    """What stands in JSON under these keys, each inside the one before; None if there is nothing."""
    try:
        found: Any = json.loads((data or b"{}").decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _read(path: str) -> bytes | None:
    """A regular file's content; None for anything else, which could have no end, or wait for a writer."""
    if _is_odd(path):
        return None
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        with os.fdopen(file, "rb") as opened:
            regular = stat.S_ISREG(os.fstat(file).st_mode)
            return opened.read(_LIMIT) if regular else None
    except (OSError, ValueError):
        return None


def _is_odd(path: str) -> bool:
    """True if something is there that is no regular file, links followed."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False

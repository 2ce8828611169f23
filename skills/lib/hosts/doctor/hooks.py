"""Checks of the hooks in a host's settings: whether they are ours and current, whether they run, whether the host
trusts them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from shlex import join, quote, split
from typing import TYPE_CHECKING, Any

from skills.lib.hosts.doctor import machine, settings, skills
from skills.lib.hosts.doctor.context import LATER, PROGRAMS, SCOPES, DoctorContext
from skills.lib.hosts.doctor.installed import command
from skills.lib.hosts.doctor.probe import converse, texts_in
from skills.lib.hosts.doctor.result import Result, ok, problem, warning

if TYPE_CHECKING:
    from skills.lib.hosts.install.manifest import Manifest

_OURS = "run_hook.py"
# How a user confirms that the hooks of a host are at work, where it cannot be asked.
_CONFIRM = {
    "claude": "Claude Code cannot be asked: begin a session and look at /hooks",
    "opencode": "opencode has no trust to give: it loads the plugin when it starts",
    "qwen": "Qwen Code cannot be asked: begin a session and look at /hooks",
    "gemini": "Gemini CLI loads them; in a session, /hooks shows them",
}


def entries(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether the hooks stand in the host's settings as they were written."""
    if host not in PROGRAMS:
        return
    odd = [scope for scope in SCOPES if settings.is_odd(context.place(host, scope).hooks)]
    for scope in odd:
        what = f"the settings of hooks ({scope}) are no regular file, and are not read"
        yield problem(what, context.place(host, scope).hooks, "move it away")
    found = {scope: told for scope in SCOPES if (told := context.manifest(host, scope)) is not None}
    for scope, told in found.items():
        place = context.place(host, scope)
        if not told.hooks or scope in odd:
            continue
        data = settings.read(place.hooks)
        if place.is_merged:
            yield _merged(context, host, scope, told)
        elif data is None:
            yield problem(f"the plugin ({scope}) is gone", place.hooks, command(context, "upgrade", host, scope))
        else:
            yield ok(f"the plugin is installed ({scope})", place.hooks)
    if any(told.hooks for told in found.values()):
        for path, key in settings.switched_off(context, host):
            what = f"hooks are installed, and {key} in these settings switches all of them off"
            yield warning(what, path, f"take {key} out of it")
    if found and not any(told.hooks for told in found.values()):
        scope, told = next(iter(found.items()))
        remedy = command(
            context, "install", host, scope, *(f"--skill {quote(name)}" for name in told.skills), "--hooks"
        )
        yield warning("skills are installed without hooks: steps are printed, and nothing is enforced", "", remedy)


def _merged(context: DoctorContext, host: str, scope: str, manifest: Manifest) -> Result:
    from skills.lib.hosts.install import installing

    place = context.place(host, scope)
    path, state = place.hooks, installing.hook_states(place, manifest)
    missing = sorted(event for event, found in state.items() if found == "missing")
    if missing or not state:
        what = f"hooks are missing ({scope}): {', '.join(missing) or 'all of them'}"
        return problem(what, path, command(context, "upgrade", host, scope))
    changed = sorted(event for event, found in state.items() if found == "changed")
    if changed:
        remedy = command(context, "upgrade", host, scope, "--force")
        return warning(f"hooks ({scope}) are changed by you: {', '.join(changed)}", path, remedy)
    return ok(f"{len(state)} hooks are installed ({scope})", path)


def call(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether the command that stands in the settings does the hook's work: its Python, its program, its modules."""
    if host not in PROGRAMS:
        return
    for scope in SCOPES:
        path = context.place(host, scope).hooks
        for words in _commands(settings.read(path)):
            found = machine.version_of(context, words[0])
            remedy = command(context, "upgrade", host, scope)
            if found is None:
                yield problem(f"the hooks ({scope}) call a Python that is not there: {words[0]}", path, remedy)
            elif found < machine.OLDEST:
                shown = ".".join(map(str, found))
                yield problem(f"the hooks ({scope}) call Python {shown}, and need 3.11 or later", path, remedy)
            else:
                yield machine.hook_answer(words)


def trust(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether the host will run the hooks: Codex skips, without a word, those that its user has not trusted."""
    placed = [scope for scope in SCOPES if list(_commands(settings.read(context.place(host, scope).hooks)))]
    program = context.program(host)
    if host == "codex" and program:
        yield from _codex_trust(context, program, placed)
    elif host == "gemini" and program and "project" in placed:
        yield _gemini_trust(context, program)
    elif placed and host in _CONFIRM:
        yield ok(_CONFIRM[host])


def _gemini_trust(context: DoctorContext, program: str) -> Result:
    answer = context.ask(program, *skills.ASKED["gemini"], seconds=LATER)
    if skills.is_distrusted(answer):
        path = context.place("gemini", "project").hooks
        remedy = f"cd {quote(context.project)} && gemini, then /permissions, and trust the folder"
        return problem("gemini does not run the hooks (project): it does not trust the folder", path, remedy)
    return ok(_CONFIRM["gemini"])


def _codex_trust(context: DoctorContext, program: str, placed: list[str]) -> Iterator[Result]:
    known = _codex_hooks(context, program)
    if known is None:
        if placed:
            yield warning("codex did not say which hooks it trusts", program, "codex, then /hooks")
        return
    ours = [hook for hook in known if _OURS in str(hook.get("command"))]
    sources = {str(hook.get("source")) for hook in ours}
    for scope in placed:
        if scope not in sources:
            yield problem(
                f"codex does not load the hooks ({scope}): it does not trust the project",
                context.place("codex", scope).hooks,
                f"cd {quote(context.project)} && codex, and trust the folder; then /hooks",
            )
    untrusted = [
        hook for hook in ours if hook.get("trustStatus") not in ("trusted", "managed") or not hook.get("enabled")
    ]
    if untrusted:
        events = ", ".join(sorted({str(hook.get("eventName")) for hook in untrusted}))
        where = str(untrusted[0].get("sourcePath"))
        remedy = f"cd {quote(context.project)} && codex, then /hooks, and trust them"
        yield problem(f"codex skips hooks that are not trusted: {events}", where, remedy)
    elif ours:
        yield ok(f"codex trusts all {len(ours)} hooks")
    if len(sources) > 1:
        what = f"the hooks are loaded from {len(sources)} places, and each call runs all: {', '.join(sorted(sources))}"
        yield warning(what, remedy="keep one: lockstep uninstall codex, or codex plugin remove lockstep@lockstep")


def _codex_hooks(context: DoctorContext, program: str) -> list[dict[str, Any]] | None:
    """What Codex knows of hooks in the project; None where it does not say."""
    client = {"clientInfo": {"name": "lockstep", "title": "Lockstep", "version": "1"}}
    messages = [
        {"id": 0, "method": "initialize", "params": client},
        {"method": "initialized"},
        {"id": 1, "method": "hooks/list", "params": {"cwds": [context.project]}},
    ]
    lines = [json.dumps(message).encode() for message in messages]
    answer = converse((program, "app-server"), LATER, lines, lambda line: _id_of(line) == 1, cwd=context.project)
    try:
        data = json.loads(answer or b"")["result"]["data"]
        return [hook for one in data for hook in one["hooks"] if isinstance(hook, dict)]
    except (ValueError, KeyError, TypeError):
        return None


def _id_of(line: bytes) -> object:
    try:
        data = json.loads(line)
    except ValueError:
        return None
    return data.get("id") if isinstance(data, dict) else None


def _commands(data: bytes | None) -> Iterator[list[str]]:
    """The different commands by which settings, or a plugin of ours, call the hook."""
    texts = [text for text in _strings(data) if _OURS in text]
    told = set()
    for text in texts:
        try:
            words = split(text)
        except ValueError:
            continue
        if len(words) >= 3 and words[2].endswith(os.sep + _OURS) and words[1] == "-IS":
            told.add(tuple(words))
    yield from (list(words) for words in sorted(told))


def _strings(data: bytes | None) -> Iterator[str]:
    """Every text of a JSON file; of another file the list of words on a line of it, joined as a shell has them."""
    text = (data or b"").decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        yield from texts_in(json.loads(text))
        return
    except ValueError:
        pass
    for line in text.splitlines():
        start, end = line.find("["), line.rfind("]")
        if _OURS in line and 0 <= start < end:
            yield from _joined(line[start : end + 1])


def _joined(listed: str) -> Iterator[str]:
    try:
        words = json.loads(listed)
    except ValueError:
        return
    if isinstance(words, list) and all(isinstance(word, str) for word in words):
        yield join(words)

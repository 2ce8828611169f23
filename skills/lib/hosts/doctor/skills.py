"""Checks of the skills in the folders of a host: do they start, and does the host itself see them?"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from shlex import quote

from skills.lib.errors import BROKEN_SKILL, ENVIRONMENT, PRINTED, USAGE
from skills.lib.hosts.doctor import installed
from skills.lib.hosts.doctor.context import LATER, SOON, DoctorContext
from skills.lib.hosts.doctor.probe import Answer, ask, texts_in
from skills.lib.hosts.doctor.result import Result, ok, problem, warning
from skills.lib.hosts.install import manifest
from skills.lib.hosts.known_hosts import KNOWN, SCOPES
from skills.lib.skillfile import SkillFileError, load_skill

# What a copy needs that nobody installed.
_PACKAGE = "pip install lockstep-skills, or a self-contained copy"
_GEMINI = re.compile(r"^([a-z0-9-]+) \[Enabled\]", re.MULTILINE)
_CODEX = re.compile(r"^- (?:[a-z0-9-]+:)?([a-z0-9-]+): ", re.MULTILINE)


def _scripts(context: DoctorContext, host: str, scope: str) -> dict[str, str]:
    """Each name in a host's folder that has a SKILL.md, with the path that its entry script should have."""
    folder = installed.place(context, host, scope).skills
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return {}
    described = [name for name in names if os.path.isfile(os.path.join(folder, name, "SKILL.md"))]
    return {name: os.path.join(folder, name, "scripts", name.replace("-", "_") + ".py") for name in described}


def _startable(context: DoctorContext, host: str, scope: str) -> dict[str, str]:
    """The skills of Lockstep's kind in a host's folder, installed or put there otherwise, with their entry scripts."""
    return {name: script for name, script in _scripts(context, host, scope).items() if os.path.isfile(script)}


def _without_script(context: DoctorContext, host: str, scope: str) -> Iterator[tuple[str, str]]:
    """Each skill of Lockstep's kind whose entry script is missing: its name, and its SKILL.md.

    A skill is of that kind if a manifest has it, or if its SKILL.md gives the command of a step.
    """
    for name, script in _scripts(context, host, scope).items():
        if os.path.isfile(script):
            continue
        path = os.path.join(os.path.dirname(os.path.dirname(script)), "SKILL.md")
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        given = re.search(rf"scripts/{re.escape(os.path.basename(script))}\W+--step\b", text)
        if given or installed.renewal(context, host, scope, name):
            yield name, path


def there(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether each skill that the manifest names is there, and each has its script and can be read as a skill."""
    for scope in SCOPES:
        place = installed.place(context, host, scope)
        found, known = _startable(context, host, scope), manifest.installed(place)
        missing = sorted(set(known.skills) - set(found)) if known is not None else []
        if missing:
            remedy = installed.command(context, "upgrade", host, scope)
            yield problem(f"not where {host} looks ({scope}): {', '.join(missing)}", place.skills, remedy)
        for name, path in _without_script(context, host, scope):
            if name not in missing and installed.reports_on(context, host, scope, name):
                remedy = installed.renewal(context, host, scope, name)
                remedy = remedy or f"rm {quote(path)}, or put its scripts beside it"
                yield problem(f"{name}: SKILL.md is there, and the script that it names is not", path, remedy)
        for name in found:
            try:
                load_skill(os.path.join(place.skills, name))
            except SkillFileError as error:
                if installed.reports_on(context, host, scope, name):
                    yield problem(f"{name}: {error.what}", os.path.join(place.skills, name, "SKILL.md"), error.remedy)
        if found and not missing:
            yield ok(f"{len(found)} skill{'' if len(found) == 1 else 's'} ({scope}): {', '.join(found)}", place.skills)


def start(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether each skill prints a first step with the Python that SKILL.md names: its modules and seals are good."""
    program = context.python()
    if not program:
        return
    for scope in SCOPES:
        found = _startable(context, host, scope)
        reasons = {name: _why_not(context, program, script) for name, script in found.items()}
        for name, reason in reasons.items():
            if reason and installed.reports_on(context, host, scope, name):
                remedy = installed.renewal(context, host, scope, name)
                remedy = remedy or f"{_PACKAGE}: lockstep export {quote(name)}"
                yield problem(f"{name} does not start: {reason}", found[name], remedy)
        if found and not any(reasons.values()):
            yield ok(f"each of them ({scope}) prints its first step", program)


def _why_not(context: DoctorContext, program: str, script: str) -> str:
    """Why a script does not print its first step; empty if it does."""
    words = (program, script, "--step", "1", "--stateless")
    if words not in context.remembered:
        # An empty cache: a seal that is not shipped is not found elsewhere by luck.
        with tempfile.TemporaryDirectory(prefix="lockstep-doctor-") as cache:
            environment = {"XDG_CACHE_HOME": cache, "PYTHONDONTWRITEBYTECODE": "1"}
            context.remembered[words] = ask(words, SOON, cwd=cache, env=environment)
    answer = context.remembered[words]
    if answer.code in (PRINTED, USAGE):
        return ""
    if answer.code in (ENVIRONMENT, BROKEN_SKILL):
        return answer.last_words().removeprefix("lockstep: ")
    return answer.why or answer.err.strip().rpartition("\n")[2][:300] or f"it ended with {answer.code}"


def seen(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether the host lists the skills in its folders; it is asked without a model."""
    program, asked = context.program(host), KNOWN[host].list_skills
    expected = sorted({name for scope in SCOPES for name in _startable(context, host, scope)})
    if not program or not expected:
        return
    if not asked:
        yield ok(f"{host} cannot be asked which skills it sees; in a session, /skills shows them")
        return
    answer = context.ask(program, *asked, seconds=LATER)
    if answer.code != 0:
        yield warning(f"{host} did not say which skills it sees: {answer.why or answer.last_words()}", program)
        return
    listed = _names(host, answer.out + answer.err)
    missing = [name for name in expected if name not in listed]
    if not missing:
        yield ok(f"{host} itself sees {'it' if len(expected) == 1 else f'all {len(expected)}'}")
        return
    what, change = f"{host} does not see: {', '.join(missing)}", f"cd {quote(context.project)} && "
    remedy = change + " ".join((host, *asked))
    if is_distrusted(answer):
        what, remedy = f"{what}; it does not trust the folder", f"{change}{host}, then /permissions, and trust it"
    yield problem(what, installed.place(context, host, "project").skills, remedy)


def is_distrusted(answer: Answer) -> bool:
    """True if Gemini CLI said that it leaves a project's skills and hooks out."""
    return "folder is not trusted" in answer.err + answer.out


def _names(host: str, said: str) -> set[str]:
    """The names of the skills in a host's answer."""
    if host == "gemini":
        return set(_GEMINI.findall(said))
    try:
        data, _ = json.JSONDecoder().raw_decode(said, max(said.find("["), 0))
    except ValueError:
        return set()
    if host == "opencode":
        return {str(one.get("name")) for one in data if isinstance(one, dict)}
    return {name for text in texts_in(data) for name in _CODEX.findall(text)}

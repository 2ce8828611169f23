"""Checks of the skills in the folders of a host: do they start, and does the host itself see them?"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from skills.lib.errors import BROKEN_SKILL, ENVIRONMENT, PRINTED, USAGE
from skills.lib.hosts.doctor import host as hosts
from skills.lib.hosts.doctor.examination import (
    LATER,
    Answer,
    DoctorContext,
    Result,
    counted,
    ok,
    problem,
    texts_in,
    warning,
)
from skills.lib.hosts.install import manifest, source
from skills.lib.hosts.install.locations import Locations
from skills.lib.hosts.known_hosts import KNOWN
from skills.lib.skillfile import SkillFileError, load_skill
from skills.lib.skillfile.source import FILE_LIMIT, read_bytes

# What a copy needs that nobody installed.
_PACKAGE = "pip install /path/to/lockstep, or a self-contained copy"
_GEMINI = re.compile(r"^([a-z0-9-]+) \[Enabled\]", re.MULTILINE)
_CODEX = re.compile(r"^- (?:[a-z0-9-]+:)?([a-z0-9-]+): ", re.MULTILINE)


def _scripts(place: Locations) -> dict[str, str]:
    """Each name in a host's folder that has a SKILL.md, with the path that its entry script should have."""
    folder = place.skills
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return {}
    described = [name for name in names if os.path.isfile(os.path.join(folder, name, "SKILL.md"))]
    return {name: os.path.join(folder, name, "scripts", name.replace("-", "_") + ".py") for name in described}


def _startable(place: Locations) -> dict[str, str]:
    """The skills of Lockstep's kind in a host's folder, installed or put there otherwise, with their entry scripts."""
    return {name: script for name, script in _scripts(place).items() if os.path.isfile(script)}


def _without_script(context: DoctorContext, place: Locations) -> Iterator[tuple[str, str]]:
    """Each skill of Lockstep's kind whose entry script is missing: its name, and its SKILL.md.

    A skill is of that kind if a manifest has it, or if its SKILL.md gives the command of a step.
    """
    for name, script in _scripts(place).items():
        if os.path.isfile(script):
            continue
        path = os.path.join(place.skills, name, "SKILL.md")
        try:
            text = read_bytes(Path(path), FILE_LIMIT).decode("utf-8", "replace")
        except SkillFileError:  # nothing of Lockstep's kind
            continue
        given = re.search(rf"scripts/{re.escape(os.path.basename(script))}\W+--step\b", text)
        if given or hosts.renewal(context, place, name):
            yield name, path


def there(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether each skill that the manifest names is there, and each has its script and can be read as a skill."""
    for place in hosts.places(context, host):
        found, known = _startable(place), manifest.installed(place)
        missing = sorted(set(known.skills) - set(found)) if known is not None else []
        if missing:
            remedy = hosts.command(context, "upgrade", place)
            yield problem(f"not where {host} looks ({place.scope}): {', '.join(missing)}", place.skills, remedy)
        for name, path in _without_script(context, place):
            if name not in missing and hosts.reports_on(context, place, name):
                remedy = hosts.renewal(context, place, name) or f"rm {quote(path)}, or put its scripts beside it"
                yield problem(f"{name}: SKILL.md is there, and the script that it names is not", path, remedy)
        for name in found:
            try:
                load_skill(os.path.join(place.skills, name))
            except SkillFileError as error:
                if hosts.reports_on(context, place, name):
                    yield problem(f"{name}: {error.what}", os.path.join(place.skills, name, "SKILL.md"), error.remedy)
        if found and not missing:
            yield ok(f"{counted(len(found), 'skill')} ({place.scope}): {', '.join(found)}", place.skills)


def start(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether each skill prints a first step with the Python that SKILL.md names: its modules and seals are good.

    In a project only skills that an installation wrote are started: any other may have come with a clone.
    """
    program = context.python()
    if not program:
        return
    for place in hosts.places(context, host):
        found = _startable(place)
        is_user = place.scope == "user"
        known = {name for name, script in found.items() if is_user or hosts.is_written(context, place, script)}
        reasons = {
            name: _why_not(context, program, script) if name in known else _lacks(context, program, script)
            for name, script in found.items()
        }
        for name, reason in reasons.items():
            if reason and hosts.reports_on(context, place, name):
                remedy = _way_back(context, place, name, reason)
                yield problem(f"{name} does not start: {reason}", found[name], remedy)
        others = [name for name in found if name not in known and not reasons[name]]
        if others:
            yield ok(f"not started, as no installation wrote them ({place.scope}): {', '.join(others)}", place.skills)
        if known and not any(reasons.values()):
            yield ok(f"each of them ({place.scope}) prints its first step", program)


def _way_back(context: DoctorContext, place: Locations, name: str, reason: str) -> str:
    """What to do about a skill that does not start; an upgrade seals an edited graph, and does not correct one."""
    edited, renewal = hosts.edited(context, place, name), hosts.renewal(context, place, name)
    if edited and renewal and "has no seal" not in reason:
        forced = "" if renewal.endswith(" --force") else " --force"
        return f"correct what you changed in {quote(edited)}; or discard your edits: {renewal}{forced}"
    return renewal or f"{_PACKAGE}: lockstep export {quote(name)}"


def _lacks(context: DoctorContext, program: str, script: str) -> str:
    """What a skill lacks that was copied alone, found out without starting it; empty if nothing."""
    if source.is_copy(os.path.dirname(os.path.dirname(script))):
        return ""
    with tempfile.TemporaryDirectory(prefix="lockstep-doctor-") as empty:
        answer = context.ask(program, "-c", "import skills.bootstrap", cwd=empty)
    return "" if answer.code == 0 else f"the package lockstep-skills is not installed for {program}"


def _why_not(context: DoctorContext, program: str, script: str) -> str:
    """Why a script does not print its first step; empty if it does."""
    # An empty cache: a seal that is not shipped is not found elsewhere by luck.
    with tempfile.TemporaryDirectory(prefix="lockstep-doctor-") as cache:
        environment = {"XDG_CACHE_HOME": cache, "PYTHONDONTWRITEBYTECODE": "1"}
        answer = context.ask(program, script, "--step", "1", "--stateless", cwd=cache, env=environment)
    if answer.code in (PRINTED, USAGE):
        return ""
    if answer.code in (ENVIRONMENT, BROKEN_SKILL):
        return answer.last_words().removeprefix("lockstep: ")
    return answer.why or answer.err.strip().rpartition("\n")[2][:300] or f"it ended with {answer.code}"


def seen(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether the host lists the skills in its folders; it is asked without a model."""
    program, asked = context.program(host), KNOWN[host].list_skills
    places = hosts.places(context, host)
    expected = sorted({name for place in places for name in _startable(place)})
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
    missing = ", ".join(name for name in expected if name not in listed)
    if not missing:
        yield ok(f"{host} itself sees {'it' if len(expected) == 1 else f'all {len(expected)}'}")
        return
    what, remedy = f"{host} does not see: {missing}", " ".join((host, *asked))
    if is_distrusted(answer):
        what, remedy = f"{what}; it does not trust the folder", f"{host}, then /permissions, and trust it"
    yield problem(what, places[0].skills, f"cd {quote(context.project)} && {remedy}")


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

"""Checks of the skills that lie where a host looks: whether they start, and whether the host itself sees them."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from shlex import quote

from skills.lib.errors import BROKEN_SKILL, ENVIRONMENT, PRINTED, USAGE
from skills.lib.hosts.doctor import sharing
from skills.lib.hosts.doctor.context import LATER, SCOPES, SOON, DoctorContext
from skills.lib.hosts.doctor.installed import command
from skills.lib.hosts.doctor.probe import Answer, ask, texts_in
from skills.lib.hosts.doctor.result import Result, ok, problem, warning

# How a host says, without a model, which skills it sees.
ASKED = {
    "codex": ("debug", "prompt-input", "x"),
    "opencode": ("--pure", "debug", "skill"),  # with plugins it would first bring what they need
    "gemini": ("skills", "list"),
}
# What a copy needs that nobody installed.
_PACKAGE = "pip install lockstep-skills, or a self-contained copy"
_GEMINI = re.compile(r"^([a-z0-9-]+) \[Enabled\]", re.MULTILINE)
_CODEX = re.compile(r"^- (?:[a-z0-9-]+:)?([a-z0-9-]+): ", re.MULTILINE)


def lying(context: DoctorContext, host: str, scope: str) -> dict[str, str]:
    """The skills of Lockstep's kind in a host's folder, installed or put there otherwise: name -> entry script."""
    return {name: script for name, script in _scripts(context, host, scope) if os.path.isfile(script)}


def _scripts(context: DoctorContext, host: str, scope: str) -> Iterator[tuple[str, str]]:
    """Each name in a host's folder that has a SKILL.md, and where its entry script belongs."""
    folder = context.place(host, scope).skills
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        if os.path.isfile(os.path.join(folder, name, "SKILL.md")):
            yield name, os.path.join(folder, name, "scripts", name.replace("-", "_") + ".py")


def _without_script(context: DoctorContext, host: str, scope: str) -> Iterator[tuple[str, str]]:
    """Each skill of Lockstep's kind whose entry script is gone: its name, and its SKILL.md.

    It is one where a manifest has it, or where its SKILL.md gives the command of a step.
    """
    for name, script in _scripts(context, host, scope):
        if os.path.isfile(script):
            continue
        place = os.path.join(os.path.dirname(os.path.dirname(script)), "SKILL.md")
        with open(place, encoding="utf-8", errors="replace") as file:
            text = file.read()
        given = re.search(rf"scripts/{re.escape(os.path.basename(script))}\W+--step\b", text)
        if given or sharing.renewal(context, host, scope, name):
            yield name, place


def there(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether each skill that the manifest names is there, and each has its script and can be read as a skill."""
    from skills.lib.skillfile import SkillFileError, load_skill

    for scope in SCOPES:
        found = lying(context, host, scope)
        told = context.manifest(host, scope)
        folder = context.place(host, scope).skills
        missing = sorted(set(told.skills) - set(found)) if told is not None else []
        if missing:
            remedy = command(context, "upgrade", host, scope)
            yield problem(f"not where {host} looks ({scope}): {', '.join(missing)}", folder, remedy)
        for name, place in _without_script(context, host, scope):
            if name not in missing and sharing.is_told_under(context, host, scope, name):
                remedy = sharing.renewal(context, host, scope, name)
                remedy = remedy or f"rm {quote(place)}, or put its scripts beside it"
                yield problem(f"{name}: SKILL.md is there, and the script that it names is not", place, remedy)
        for name in found:
            try:
                load_skill(os.path.join(folder, name))
            except SkillFileError as error:
                if sharing.is_told_under(context, host, scope, name):
                    yield problem(f"{name}: {error.what}", os.path.join(folder, name, "SKILL.md"), error.remedy)
        if found and not missing:
            yield ok(f"{len(found)} skill{'' if len(found) == 1 else 's'} ({scope}): {', '.join(found)}", folder)


def start(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether each skill prints a first step with the Python that SKILL.md names: its modules and seals are good."""
    program = context.python()
    if not program:
        return
    for scope in SCOPES:
        found = lying(context, host, scope)
        failed = 0
        for name, script in found.items():
            reason = _why_not(context, program, script)
            if reason:
                failed += 1
                if sharing.is_told_under(context, host, scope, name):
                    remedy = sharing.renewal(context, host, scope, name) or f"{_PACKAGE}: lockstep export {quote(name)}"
                    yield problem(f"{name} does not start: {reason}", script, remedy)
        if found and not failed:
            yield ok(f"each of them ({scope}) prints its first step", program)


def _why_not(context: DoctorContext, program: str, script: str) -> str:
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
    """Whether the host lists the skills that lie where it looks; asked without a model."""
    program = context.program(host)
    expected = sorted({name for scope in SCOPES for name in lying(context, host, scope)})
    if not program or not expected:
        return
    if host not in ASKED:
        yield ok(f"{host} cannot be asked which skills it sees; in a session, /skills shows them")
        return
    answer = context.ask(program, *ASKED[host], seconds=LATER)
    if answer.code != 0:
        yield warning(f"{host} did not say which skills it sees: {answer.why or answer.last_words()}", program)
        return
    missing = [name for name in expected if name not in _names(host, answer.out + answer.err)]
    if missing:
        what = f"{host} does not see: {', '.join(missing)}"
        there = f"cd {quote(context.project)} && "
        remedy = there + " ".join((host, *ASKED[host]))
        if is_distrusted(answer):
            what, remedy = f"{what}; it does not trust the folder", f"{there}{host}, then /permissions, and trust it"
        yield problem(what, context.place(host, "project").skills, remedy)
    else:
        yield ok(f"{host} itself sees {'it' if len(expected) == 1 else f'all {len(expected)}'}")


def is_distrusted(answer: Answer) -> bool:
    """Whether Gemini CLI said that it leaves a project's skills and hooks out."""
    return "folder is not trusted" in answer.err + answer.out


def _names(host: str, said: str) -> set[str]:
    """The names of the skills in a host's answer."""
    if host == "gemini":
        return set(_GEMINI.findall(said))
    start = said.find("[")
    try:
        data, _ = json.JSONDecoder().raw_decode(said, max(start, 0))
    except ValueError:
        return set()
    if host == "opencode":
        return {str(one.get("name")) for one in data if isinstance(one, dict)}
    return {name for text in texts_in(data) for name in _CODEX.findall(text)}

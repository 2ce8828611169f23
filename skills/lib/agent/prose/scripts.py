"""Checks the scripts of a skill before a run of it opens: what of them cannot run, or may not."""

from __future__ import annotations

import ast
import os
import stat
import sys
import warnings

from skills.lib import files as reading
from skills.lib.agent.prose.supporting import is_script
from skills.lib.errors import EnvironmentProblem, RefusedError
from skills.lib.gateway import processes, variables
from skills.lib.gateway.specs import Limits
from skills.lib.guard.offering import SHELL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skills.lib.agent.prose.skill import ProseSkill

# A larger script is not checked (bytes), and no more scripts of a skill than so many.
LARGEST, MOST = 1_000_000, 30
# The programs that run scripts of a suffix, and how the first of them checks one without running it.
INTERPRETERS = {
    ".py": ("python", "python3"),
    ".sh": ("bash", "sh"),
    ".bash": ("bash",),
    ".js": ("node",),
    ".mjs": ("node",),
    ".ts": ("node", "deno", "bun"),
    ".rb": ("ruby",),
    ".pl": ("perl",),
}
_CHECKS = {".sh": ("bash", "-n"), ".bash": ("bash", "-n"), ".js": ("node", "--check"), ".mjs": ("node", "--check")}
_LIMITS = Limits(seconds=5, output=4_000)
_SAID = 200


def faults(skill: ProseSkill, project: str) -> list[str]:
    """What is wrong with the scripts of a skill, in sentences: none of it keeps the skill from being followed."""
    found = [file.path for file in skill.files if file.is_script or is_script(file.path)]
    said = [f"{path}: {fault}" for path in found[:MOST] for fault in _faults(skill.folder, path, project)]
    return said + list(_not_admitted(skill, found))


def _faults(folder: str, path: str, project: str) -> Iterator[str]:
    whole = os.path.join(folder, path)
    try:
        about = os.stat(whole)
        if not os.path.realpath(whole).startswith(os.path.join(folder, "")):
            yield "it is a link out of the skill"
        elif not stat.S_ISREG(about.st_mode):
            yield "it is no regular file"
        elif about.st_size > LARGEST:
            yield f"it has {about.st_size:,} bytes, and at most {LARGEST:,} are checked"
        elif path.endswith(".py"):
            yield from _of_python(reading.read(whole, LARGEST), path)
        elif os.path.splitext(path)[1] in _CHECKS:
            yield from _of_program(whole, project)
    except OSError as error:
        yield f"it cannot be read: {error.strerror or error}"


def _of_python(data: bytes, path: str) -> Iterator[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data, path)
    except SyntaxError as error:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        yield f"line {error.lineno or 1}: it is no Python {version}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        yield f"it is no Python that can be read: {error or type(error).__name__}"


def _of_program(whole: str, project: str) -> Iterator[str]:
    """What the interpreter of a script says of it; nothing if it is not here."""
    program, option = _CHECKS[os.path.splitext(whole)[1]]
    folders = processes.search_path(project, own=False)
    try:
        argv = [processes.program(program, project, folders), option, whole]
        ended = processes.run(argv, project, variables.environment((), {}, {}, folders), _LIMITS, b"", project)
    except (EnvironmentProblem, RefusedError):
        return
    if ended.exit:
        said = " ".join(ended.errors.decode("utf-8", "replace").replace(whole, os.path.basename(whole)).split())
        yield f"{program} {option} finds a fault: {said[:_SAID]}"


def _not_admitted(skill: ProseSkill, scripts: Sequence[str]) -> Iterator[str]:
    """Which scripts no command that allowed-tools admits can run."""
    if not skill.tools or SHELL in skill.tools:
        return
    begins = {name[len(SHELL) + 1 : -1].split()[0] for name in skill.tools if name.startswith(f"{SHELL}(")}
    for suffix in dict.fromkeys(os.path.splitext(path)[1] for path in scripts):
        runs = INTERPRETERS.get(suffix, ())
        if runs and not begins & {*runs}:
            count = sum(path.endswith(suffix) for path in scripts)
            what = f"{count} scripts {suffix}" if count > 1 else f"1 script {suffix}"
            yield f"allowed-tools admits no program for {what}: Bash({runs[0]}:*) would"

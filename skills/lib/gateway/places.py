"""Where the gateway may read, write and run: paths as given made into resolved paths below a root, or refused."""

from __future__ import annotations

import os
import sys
import unicodedata

from skills.lib import paths
from skills.lib.errors import RefusedError, UsageError
from skills.lib.gateway import links
from skills.lib.gateway.specs import PUT, SCRIPT, WRITE, is_windows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# The project's own gateway file, and its policy: what decides here.
GATEWAY_FILE, POLICY_FILE = "lockstep.gateway.yaml", "lockstep.policy.yaml"
# Folders and files that git, node, Lockstep or an agent host obeys.
_OBEYED = (
    *("node_modules", ".git", ".lockstep", ".claude", ".codex", ".gemini", ".qwen", ".opencode", ".agents"),
    *("opencode.json", "opencode.jsonc", ".mcp.json", GATEWAY_FILE, POLICY_FILE),
)
# What makes a folder a skill, wherever it is: lockstep mcp imports its graph.
_SKILL_FILE = "SKILL.md"
# The folders below a project from which scripts are run: scripts/, and each folder in skills/.
SCRIPTS, SKILLS = "scripts", "skills"
# A folder of a skill that may be written. Nothing in it is run.
SCRATCH = "tmp"
# How many folders deep below the project something is written.
DEPTH = 100
# The four scripts of Lockstep itself, by the names under which a project would have them.
SHIPPED = ("write_file.py", "write_json.py", "write_txt.py", "write_md.py")
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$", *[f"{kind}{n}" for kind in ("com", "lpt") for n in "0123456789"]]
)


def normalised(path: str, windows: bool) -> str:
    """A path with the separators of the system: backslashes on Windows, slashes elsewhere."""
    return path.replace("/", "\\") if windows else path.replace("\\", "/")


def is_device(path: str) -> bool:
    """True if a part of a path names a device of Windows, or another file than it seems to: it ends in dot or blank."""
    parts = path.replace("\\", "/").split("/")
    names = [part for part in parts if part not in ("", ".", "..")]
    return any(one.partition(".")[0].rstrip().lower() in _DEVICES or one[-1] in ". " for one in names)


def shipped_scripts() -> str:
    """The folder of the scripts that come with Lockstep."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripts")


class Places:
    """The places of one project; ``executed`` are files in it that its own commands run, relative to the project."""

    def __init__(self, project: str, executed: Sequence[str] = ()) -> None:
        self.project = os.path.realpath(project)
        named = [os.path.normpath(os.path.join(self.project, one)) for one in executed]
        # The link that a command names too: who moves it away, or a folder that it is in, changes what runs.
        self.executed = [path for one in named for path in (one, os.path.realpath(one))]

    def root(self, name: str) -> str:
        """The resolved folder of a root of a gateway file."""
        return os.path.realpath(os.path.join(self.project, normalised(name, is_windows())))

    def resolve(self, given: str, use: str, roots: Sequence[str]) -> str:
        """The resolved path of a value. Raises RefusedError if it may not be used in this way.

        A link counts as its target. A path that is not there is resolved as far as its folders are. What is PUT into a
        folder that is there has another path, which its operation resolves again.
        """
        path = normalised(given, is_windows())
        if "\0" in path or (is_windows() and is_device(path)):
            raise RefusedError(f"{given!r:.200} is no path of a file")
        if use == SCRIPT:
            return self.script(path)
        resolved = _resolved(os.path.join(self.project, path), given)
        if not any(is_below(resolved, self.root(root)) for root in roots):
            inside = ", ".join(self.root(root) for root in roots)
            raise RefusedError(
                f"{given!r:.200} leads to {resolved}, outside of {inside}", valid=f"a path below {inside}"
            )
        if use == WRITE or (use == PUT and not os.path.isdir(resolved)):
            if resolved.count(os.sep) - self.project.count(os.sep) > DEPTH:
                raise RefusedError(f"{given!r:.80} is more than {DEPTH} folders deep", remedy="give a shorter path")
            self.require_writable(resolved)
        return resolved

    def require_writable(self, path: str) -> None:
        """RefusedError if a resolved path is, holds or is in a place that the gateway does not write."""
        why = self._why_kept(path)
        if why:
            raise RefusedError(
                f"the gateway does not write {path}: {why}",
                remedy=f"write elsewhere; what a skill makes goes into {SKILLS}/SKILL/{SCRATCH}/",
            )

    def script(self, path: str) -> str:
        """The resolved path of a script that may be run: one of Lockstep's, or in scripts/ or skills/SKILL/."""
        meant = os.path.join(self.project, path)
        shipped = self._shipped(os.path.normpath(meant))
        if shipped:
            return shipped
        resolved = _resolved(meant, path)
        shipped = self._shipped(resolved)
        if shipped:
            return shipped
        if not list(self._runner_roots(resolved)):
            raise RefusedError(
                f"{path!r:.200} is in no folder from which scripts are run",
                valid=f"a script below {SCRIPTS}/ or {SKILLS}/SKILL/, but not in {SKILLS}/SKILL/{SCRATCH}/",
            )
        if not os.path.isfile(resolved):
            raise UsageError(f"there is no script {path!r:.200}", remedy="list_files path=scripts shows what there is")
        return resolved

    def _shipped(self, path: str) -> str:
        """The script of Lockstep that an absolute path names, however the path was written; empty if none."""
        folder, name = os.path.split(path)
        if not is_same_name(folder, os.path.join(self.project, SCRIPTS)):
            return ""
        return next((os.path.join(shipped_scripts(), one) for one in SHIPPED if is_same_name(name, one)), "")

    def skill_of(self, script: str) -> str:
        """The folder of the skill that a resolved script belongs to; empty if none."""
        scripts = os.path.join(self.project, SCRIPTS)
        return next((root for root in self._runner_roots(script) if root != scripts), "")

    def _runner_roots(self, resolved: str) -> Iterator[str]:
        """The folders from which a resolved script may be run: scripts/, or the skill that it is in."""
        first, *below = os.path.relpath(resolved, self.project).split(os.sep)
        if first == SCRIPTS and below:
            yield os.path.join(self.project, SCRIPTS)
        elif first == SKILLS and len(below) > 1 and not is_same_name(below[1], SCRATCH):
            yield os.path.join(self.project, SKILLS, below[0])

    def _why_kept(self, path: str) -> str:
        """Why a resolved path is not written; empty if it may be."""
        if may_be_below(self.project, path):
            return "it is the project's folder, or holds it"
        why = self._why_kept_by_names(path)
        if why:
            return why
        for place in (paths.home(self.project), paths.state(), paths.data(), paths.library(), *self._of_programs()):
            real = os.path.realpath(place)
            if not may_be_below(self.project, real) and (may_be_below(path, real) or may_be_below(real, path)):
                return f"{real} is Lockstep's, or has programs that run"
        if any(may_be_below(file, path) for file in self.executed):
            return f"{GATEWAY_FILE} names it as what runs"
        led_to = links.led_to(self.project, lambda link: bool(self._why_kept_by_names(link)), _holds)
        link = next((link for place, link in led_to.items() if _holds(place, path) or _holds(path, place)), "")
        if link:
            return f"the link {os.path.relpath(link, self.project)} leads there, which is not written either"
        return ""

    def _why_kept_by_names(self, path: str) -> str:
        """Why a path is not written, by the names of the folders that it is in; empty if they do not say."""
        is_inside = may_be_below(path, self.project)
        parts = [part for part in path.split(os.sep)[len(self.project.split(os.sep)) if is_inside else 0 :] if part]
        obeyed = [part for part in parts if any(is_same_name(part, name) for name in _OBEYED)]
        if obeyed:
            return f"git, node, Lockstep or an agent host obeys what is in {obeyed[0]}"
        if is_inside and is_same_name(parts[0], SCRIPTS):
            return f"scripts are run from {SCRIPTS}/"
        if is_inside and is_same_name(parts[0], SKILLS) and parts[2:3] != [SCRATCH]:
            return f"scripts are run from each folder in {SKILLS}/"
        if any(is_same_name(part, _SKILL_FILE) for part in parts):
            return f"scripts of a folder with a {_SKILL_FILE} are run"
        if is_inside and self._is_of_a_skill(parts):
            return f"it is in the folder of a skill, which has a {_SKILL_FILE}"
        if is_inside and self._has_above(parts, "pyvenv.cfg"):
            return "it is in a virtual environment, whose programs run"
        return ""

    def _of_programs(self) -> Iterator[str]:
        """The folders of the Python that runs scripts, and those of PATH."""
        yield from (sys.prefix, sys.base_prefix, os.path.dirname(sys.executable))
        yield from [one for one in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(one)]

    def _is_of_a_skill(self, parts: Sequence[str]) -> bool:
        """True if a folder between the project and a path has a SKILL.md, and the path is not in its scratch folder."""
        for count in range(1, len(parts) + 1):
            folder = os.path.join(self.project, *parts[:count])
            is_scratch = parts[count : count + 1] == [SCRATCH]
            if os.path.lexists(os.path.join(folder, _SKILL_FILE)) and not is_scratch:
                return True
        return False

    def _has_above(self, parts: Sequence[str], name: str) -> bool:
        """True if a path is a folder between the project and it with a file of this name, or is in one."""
        folders = (os.path.join(self.project, *parts[:count]) for count in range(1, len(parts) + 1))
        return any(os.path.lexists(os.path.join(folder, name)) for folder in folders)


def _resolved(path: str, given: str) -> str:
    try:
        found = os.path.realpath(path)
        # Behind a loop of links, parts are left as they are that may be links themselves.
        if os.path.realpath(found) == found and not os.path.islink(found):
            return found
    except (OSError, ValueError) as error:
        raise RefusedError(f"{given!r:.200} cannot be resolved: {error}") from None
    raise RefusedError(f"{given!r:.200} leads through a loop of links", remedy="give a path without links")


def is_below(path: str, folder: str) -> bool:
    """True if a resolved path is a folder or in it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def may_be_below(path: str, folder: str) -> bool:
    """True if a resolved path is a folder or in it, or may be for a file system that takes some names for the same."""
    return is_below(_folded(path), _folded(folder))


def _holds(folder: str, path: str) -> bool:
    return may_be_below(path, folder)


def is_same_name(name: str, other: str) -> bool:
    """True if two names of files are the same, or may be for some file systems."""
    return _folded(name) == _folded(other)


def _folded(path: str) -> str:
    return unicodedata.normalize("NFKC", path).casefold() if not path.isascii() else path.lower()

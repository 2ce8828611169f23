"""What a task changed since its base, and what of it the task may not change.

The base is a commit; compared are the files as they lie there, with the untracked ones, and what is committed since or
staged and was put back there alone: it would become a part of the history all the same. A file that was renamed is
one that is gone and one that is new, so both names count.
"""

from __future__ import annotations

import os
import re
import stat
from typing import NamedTuple, NoReturn

from skills.lib.git import Git
from skills.lib.ledger import contents
from skills.lib.paths import FOLDER

from .task import TaskProblem

# How many files a task may change.
MOST = 1_000
_SHORT = 12
# How the names of files end that a workflow keeps as its state.
_OF_STATE = (".json", ".jsonl", ".md", ".txt", ".log", ".yaml", ".yml", ".toml")
# The base that is HEAD as the run begins.
OPENING = "opening"
_POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\n")
_LARGEST_POINTER = 1_024


class Base(NamedTuple):
    """The commit that a task's work is compared with, and who named it: task, parameter or opening."""

    commit: str
    named_by: str

    def __str__(self) -> str:
        how = {"task": "named by the task", "parameter": "given with --base", "opening": "HEAD as the run began"}
        return f"{self.commit} ({how[self.named_by]})"


def base_of(project: str, task_base: str, given: str) -> Base:
    """The base of a task: the one that it names, else the one that is given, else HEAD. Raises TaskProblem."""
    git = Git(project)
    head = _commit(git, "HEAD")
    if not head:
        raise TaskProblem("the project is no git checkout with a commit, so nobody can say what the task changed")
    named = _ancestor(git, task_base, "the task's base") if task_base else ""
    wanted = _ancestor(git, given, "--base") if given != OPENING else ""
    if named and wanted and named != wanted:
        raise TaskProblem(f"--base {given[:80]} is not the task's base {task_base[:80]}; begin without --base")
    if named:
        return Base(named, "task")
    return Base(wanted, "parameter") if wanted else Base(head, "opening")


def _ancestor(git: Git, revision: str, what: str) -> str:
    commit = _commit(git, revision)
    if not commit:
        raise TaskProblem(f"{what} {revision[:80]} is no commit of this repository; git log shows the commits")
    if git.output("merge-base", "--is-ancestor", commit, "HEAD") is None:
        raise TaskProblem(f"{what} {revision[:80]} is no ancestor of HEAD; name the commit that the work began at")
    return commit


def between(project: str, revision: str, commit: str, state: str) -> list[str]:
    """The paths, but for those of the state, that a commit has otherwise than an ancestor; none if it is none."""
    git = Git(project)
    first = _commit(git, revision)
    if not first or git.output("merge-base", "--is-ancestor", first, commit) is None:
        return []
    printed = (
        git.output("diff-tree", "-r", "--no-renames", "--name-only", "--relative", "-z", first, commit, "--") or b""
    )
    return [path for path in os.fsdecode(printed).split("\0")[:-1] if not _is_state(path, state)]


def _commit(git: Git, revision: str) -> str:
    found = git.output("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    return (found or b"").decode("ascii", "replace").strip()


def changed(project: str, base: str, state: str) -> list[str]:
    """Each change since the base as "how path (id)", by path; the files of the workflow's state are none.

    Raises GitProblem, and TaskProblem if there are more than MOST.
    """
    then = _tree(project, base)
    now = contents.manifest(project, ["."])
    found = []
    for path in sorted({*then, *now}):
        if _is_state(path, state) or (path not in now and path in _left_out(project)):
            continue
        before, after = then.get(path, ""), now.get(path, "")
        if before == after.partition(":")[0] or (before and after and _is_same(project, path, before)):
            continue
        how = "added" if not before else "deleted" if not after else "modified"
        found.append(f"{how} {path}" + (f" ({after.partition(':')[0][:_SHORT]}{after[40:42]})" if after else ""))
    shown = {path_of(change) for change in found}
    found += [
        f"{how} {path}"
        for path, how in _recorded(project, base).items()
        if path not in shown and not _is_state(path, state)
    ]
    found.sort(key=path_of)
    if len(found) > MOST:
        raise TaskProblem(
            f"{len(found):,} files differ from {base[:_SHORT]}, and one task changes at most {MOST:,}: see the base"
        )
    return found


def files(project: str, state: str) -> set[str]:
    """The paths that are compared with the base: those that git has or would take, but for those of the state."""
    return {path for path in contents.manifest(project, ["."]) if not _is_state(path, state)}


def hidden(project: str, base: str, state: str) -> list[str]:
    """The files below the state's folder, at the base or now, that are no state by their names."""
    paths = {*_tree(project, base), *contents.manifest(project, ["."])}
    return sorted(path for path in paths if path.startswith(f"{state}/") and not path.lower().endswith(_OF_STATE))


def path_of(change: str) -> str:
    """The path in a row of ``changed``."""
    how, _, path = change.partition(" ")
    return re.sub(r" \([0-9a-f+x:large]+\)$", "", path) if how in ("added", "modified") else path


def outside(project: str, changes: list[str], allowed: list[str]) -> list[str]:
    """A finding for each change that the globs do not allow, and for each link that leads out of the project."""
    paths = [path_of(change) for change in changes]
    fine = contents.covered(project, allowed, paths) if allowed else set()
    found = []
    for change, path in zip(changes, paths, strict=True):
        how = change.partition(" ")[0]
        if path not in fine:
            near = [one for one in allowed if contents.covered(project, [one.lower()], [path.lower()])]
            more = f"; it differs in upper and lower case from {near[0]}" if near else ""
            found.append(f"{path} was {how}, and filesAllowed does not have it{more}")
        elif os.path.islink(os.path.join(project, path)) and not _leads_inside(project, path):
            target = os.readlink(os.path.join(project, path))
            found.append(f"{path} was {how}: it is a link to {target}, which is no place of the project")
    return found


def _leads_inside(project: str, path: str) -> bool:
    top = os.path.realpath(project)
    real = os.path.realpath(os.path.join(top, path))
    return real.startswith(top + os.sep) and ".git" not in os.path.relpath(real, top).split(os.sep)


def _is_state(path: str, state: str) -> bool:
    return path.startswith((f"{state}/", f"{FOLDER}/"))


def _tree(project: str, base: str, below: str = "") -> dict[str, str]:
    """The id of each file at a commit, by its path; those of a repository in the project stand below its path."""
    printed = Git(os.path.join(project, below)).output("ls-tree", "-r", "-z", base)
    if printed is None:
        # A repository in the project without that commit: it is compared with nothing, so all of it counts as new.
        return {} if below else _no_tree(base)
    found = {}
    for row in os.fsdecode(printed).split("\0")[:-1]:
        head, _, path = row.partition("\t")
        mode, kind, name = head.split(" ")
        if kind == "commit":
            found.update(_submodule(project, below + path, name))
        else:
            found[below + path] = name + ("+x" if mode == "100755" else "")
    return found


def _no_tree(base: str) -> NoReturn:
    raise TaskProblem(f"git does not show what the commit {base[:_SHORT]} has; run git fsck")


def _submodule(project: str, path: str, commit: str) -> dict[str, str]:
    """The files of a submodule at its commit; none of one that is not checked out, where nothing can be changed."""
    if not os.path.lexists(os.path.join(project, path, ".git")):
        return {}
    return _tree(project, commit, f"{path}/")


def _recorded(project: str, base: str) -> dict[str, str]:
    """How each path differs from a commit outside of the working tree, ``staged`` or ``committed``; no submodules."""
    words = ("--no-renames", "--name-only", "--relative", "--ignore-submodules=all", "-z")
    found: dict[str, str] = {}
    for how, command, commits in (
        ("staged", ("diff-index", "--cached"), (base,)),
        ("committed", ("diff-tree", "-r"), (base, "HEAD")),
    ):
        printed = Git(project).output(*command, *words, *commits, "--")
        if printed is None:
            _no_tree(base)
        found.update(dict.fromkeys(os.fsdecode(printed).split("\0")[:-1], how))
    return found


def _left_out(project: str) -> set[str]:
    """The paths that a sparse checkout leaves out of the working tree."""
    if project not in _SPARSE:
        git = Git(project)
        is_sparse = git.output("config", "--type=bool", "--get", "core.sparseCheckout") == b"true\n"
        printed = (git.output("ls-files", "-t", "-z") if is_sparse else None) or b""
        rows = os.fsdecode(printed).split("\0")
        _SPARSE[project] = {row[2:] for row in rows if row[:2] == "S "}
    return _SPARSE[project]


_SPARSE: dict[str, set[str]] = {}


def _is_same(project: str, path: str, before: str) -> bool:
    """True if a file has the content of a blob in another form: other line ends, or in place of an LFS pointer."""
    full = os.path.join(project, path)
    try:
        status = os.lstat(full)
        if not stat.S_ISREG(status.st_mode) or status.st_size > contents.HASHED:
            return False
        mode = "+x" if status.st_mode & stat.S_IXUSR else ""
        with open(full, "rb") as file:
            content = file.read()
    except OSError:
        return False
    plain = content.replace(b"\r\n", b"\n")
    if contents.blob_id(len(plain), [plain]) + mode == before:
        return True
    pointer = Git(os.path.dirname(full)).output("cat-file", "blob", before.partition("+")[0])
    match = _POINTER.match(pointer) if pointer and len(pointer) < _LARGEST_POINTER else None
    if match is None or before.endswith("+x") != bool(mode):
        return False
    from hashlib import sha256

    return sha256(content).hexdigest() == match[1].decode()

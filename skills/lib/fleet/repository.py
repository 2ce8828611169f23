"""The git repository of a project: worktrees that runs are followed in, kept as commits of a ref for each run.

Nothing of the user's is touched: not the index, not a branch, no hook, no program that the configuration names.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Collection

from skills.lib import files
from skills.lib.errors import EnvironmentProblem, RefusedError
from skills.lib.git import Git
from skills.lib.ledger.contents import without_filters
from skills.lib.record import Record

REFS = "refs/lockstep"
# How long the git calls of one snapshot, or of one checkout, may take together, in seconds.
_TIMEOUT = 300.0
# How often a ref is tried again that another process moved meanwhile.
_TRIES = 20
# How long it is waited after a checkout that failed, in seconds.
_PAUSES = (0.2, 0.5, 1.0, 2.0)
# No path is longer (bytes).
_LONGEST = 10_000
_SETTINGS = {
    "advice.addEmbeddedRepo": "false",
    "advice.detachedHead": "false",
    "core.checkStat": "default",
    "core.fileMode": "true",
    "core.safecrlf": "false",
    "core.splitIndex": "false",
    "core.trustctime": "true",
    "gc.auto": "0",
}
_IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Lockstep"), ("EMAIL", "lockstep@localhost"))
}


class Worktree(Record):
    """A worktree: the folder, its own folder in the repository, and the project in it."""

    folder: str
    admin: str
    project: str


class Repository:
    """The repository around a project. Raises RefusedError outside of one."""

    def __init__(self, project: str) -> None:
        self.project = os.path.realpath(project)
        words = ("rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir", "--show-prefix")
        found = (Git(self.project).output(*words) or b"").decode("utf-8", "surrogateescape").split("\n")
        if len(found) < 3:
            raise RefusedError(
                f"{self.project} is in no git repository, and the runs of a fleet are kept as commits",
                remedy=f"git -C {self.project} init, or lockstep agent run, which needs none",
            )
        self.top, self._common, self._prefix = found[:3]

    def snapshot(self, folder: str, index: str, run: str, message: str) -> str:
        """Commit the files of a folder to the ref of a run, and return the commit; the same one if nothing changed.

        ``index`` is a file that is kept between the snapshots of a folder, so that only what changed is read.
        Raises EnvironmentProblem if git cannot do it.
        """
        git = self._git(folder, GIT_INDEX_FILE=index)
        self._run(git, "add", "--all", "--", ".")
        tree = self._run(git, "write-tree")
        for _ in range(_TRIES):
            tip = self.tip(run)
            if tip and self._text(git, "rev-parse", "--verify", f"{tip}^{{tree}}") == tree:
                return tip
            parents = ("-p", tip) if tip else ()
            commit = self._run(git, "commit-tree", tree, *parents, "-m", message)
            if git.output("update-ref", f"{REFS}/{run}", commit, tip or "0" * len(commit)) is not None:
                return commit
        raise self._failed(folder, f"update-ref {REFS}/{run}")

    def begin(self, run: str) -> str:
        """Commit the project as it is, with what is not committed, to the ref of a run; the commit."""
        with tempfile.TemporaryDirectory(prefix="lockstep-") as folder:
            index = os.path.join(folder, "index")
            own = self._text(Git(self.project), "rev-parse", "--path-format=absolute", "--git-path", "index")
            if own and os.path.isfile(own):
                shutil.copyfile(own, index)
            if not self.tip(run):
                head = self._text(Git(self.project), "rev-parse", "--verify", "-q", "HEAD^{commit}")
                if head:
                    self._git(self.top).output("update-ref", f"{REFS}/{run}", head, "0" * len(head))
            return self.snapshot(self.top, index, run, f"lockstep {run}: as it was submitted")

    def tip(self, run: str) -> str:
        """The commit that the ref of a run has; "" if there is none."""
        return self._text(self._git(self.top), "rev-parse", "--verify", "-q", f"{REFS}/{run}")

    def forget(self, runs: Collection[str]) -> None:
        """Remove the refs of these runs. Their commits go as git removes what nothing refers to."""
        git, gone = self._git(self.top), set(runs)
        for line in self._text(git, "for-each-ref", "--format=%(refname) %(objectname)", REFS).splitlines():
            name, _, commit = line.partition(" ")
            if name.removeprefix(f"{REFS}/") in gone:
                self._run(git, "update-ref", "--no-deref", "-d", name, commit)

    def has(self, commit: str) -> bool:
        """True if the commit is in the repository with its files."""
        return self._git(self.top).output("cat-file", "-e", f"{commit}^{{tree}}") is not None

    def check_out(self, commit: str, folder: str, index: str) -> Worktree:
        """Make a worktree of a commit in a folder, in place of what is there, and the index for its snapshots.

        The git of a worker that was killed may go on in the same folder for a moment, so it is tried more than once.
        """
        os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
        words = ("worktree", "add", "--quiet", "--force", "--detach", folder, commit)
        for pause in _PAUSES:
            shutil.rmtree(folder, ignore_errors=True)
            if self._git(self.top).output(*words) is not None:
                break
            time.sleep(pause)
        else:
            raise self._failed(self.top, "worktree add")
        with open(os.path.join(folder, ".git"), encoding="utf-8", errors="surrogateescape") as file:
            admin = file.read().removeprefix("gitdir:").strip()
        shutil.copyfile(os.path.join(admin, "index"), index)
        return self.worktree(folder, admin)

    def worktree(self, folder: str, admin: str) -> Worktree:
        """The worktree in a folder, by its own folder in the repository."""
        return Worktree(folder, admin, os.path.join(folder, self._prefix).rstrip(os.sep))

    def remove(self, tree: Worktree) -> None:
        """Remove a worktree; the commits stay."""
        shutil.rmtree(tree.folder, ignore_errors=True)
        if self._is_of(tree):
            shutil.rmtree(tree.admin, ignore_errors=True)

    def _is_of(self, tree: Worktree) -> bool:
        """True if a worktree's own folder in the repository is that of its folder, and of no other worktree."""
        if os.path.dirname(os.path.realpath(tree.admin)) != os.path.realpath(os.path.join(self._common, "worktrees")):
            return False
        try:
            named = os.fsdecode(files.read(os.path.join(tree.admin, "gitdir"), _LONGEST)).strip()
        except (OSError, ValueError):
            return False
        return os.path.realpath(os.path.dirname(named)) == os.path.realpath(tree.folder)

    def _git(self, folder: str, **variables: str) -> Git:
        """git with the files of a folder, whatever the folder says of its repository."""
        git = Git(
            folder,
            ("--git-dir", self._common, "--work-tree", folder),
            deadline=time.monotonic() + _TIMEOUT,
            variables={**_IDENTITY, **variables},
        )
        filters = git.output("config", "-z", "--get-regexp", r"^filter\.") or b""
        git.settings = {**_SETTINGS, **without_filters(filters)}
        return git

    def _run(self, git: Git, *words: str) -> str:
        printed = git.output(*words)
        if printed is None:
            raise self._failed(git.folder, words[0])
        return printed.decode("utf-8", "surrogateescape").strip()

    def _text(self, git: Git, *words: str) -> str:
        return (git.output(*words) or b"").decode("utf-8", "surrogateescape").strip()

    def _failed(self, folder: str, what: str) -> EnvironmentProblem:
        return EnvironmentProblem(
            f"git {what} failed in {folder}",
            remedy=f"run git -C {folder} status, and see that there is room on the disk and no file is locked",
        )

"""The folders of one worker: a worktree for each run that it follows, and what the worktree goes on from."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence

from skills.lib import compact_json, files
from skills.lib.agent.kept import removal
from skills.lib.errors import EnvironmentProblem
from skills.lib.fleet.places import refuse
from skills.lib.fleet.repository import Repository, Worktree
from skills.lib.status_files import is_id

_NOTE = ".json"
# No note is longer (bytes).
_LONGEST = 10_000


class MissingWorktree(EnvironmentProblem):
    """The commit that a run goes on from is not in the repository of this machine."""


class RunFolder:
    """The worktree of a run; ``made`` are the commits that its files go on from, the last two of them."""

    def __init__(self, run: str, path: str, tree: Worktree, made: Sequence[str]) -> None:
        self.run, self.tree, self.made = run, tree, list(made)
        self._path = path

    @property
    def index(self) -> str:
        """The index for snapshots."""
        return f"{self._path}.index"

    def note(self, commit: str) -> None:
        """Keep that the files were committed: either this commit or the one before is that of the run's last move."""
        if self.made[-1:] != [commit]:
            self.made = [*self.made[-1:], commit]
        text = compact_json.dumps({**self.tree.fields(), "made": self.made})
        files.write(f"{self._path}{_NOTE}", text.encode("utf-8", "surrogateescape"))


class Folders:
    """The folders of one worker below ``place``, which is its own alone."""

    def __init__(self, repository: Repository, place: str) -> None:
        self._repository, self.place = repository, place
        self._runs = os.path.join(place, "runs")
        refuse(next(filter(os.path.islink, (place, self._runs)), ""))
        os.makedirs(self._runs, mode=0o700, exist_ok=True)

    def prepare(self, run: str, commit: str) -> RunFolder:
        """The folder of a run whose last move was made with that commit.

        The folder that is there is gone on with if its files come from that commit, with the conversation of the run.
        Otherwise another worker has moved the run since: both are begun anew. Raises MissingWorktree if the
        repository does not have the commit.
        """
        found = self._known(run)
        if found is not None and commit in found.made and os.path.isdir(found.tree.project):
            return found
        if not self._repository.has(commit):
            raise MissingWorktree(
                f"the worktree of run {run} is the commit {commit}, which {self._repository.top} does not have",
                remedy=f"fetch it: git fetch REMOTE refs/lockstep/{run}:refs/lockstep/{run}, and submit the run again",
            )
        self.remove(run)
        path = os.path.join(self._runs, run)
        made = RunFolder(run, path, self._repository.check_out(commit, path, f"{path}.index"), [commit])
        made.note(commit)
        return made

    def remove(self, run: str) -> None:
        """Remove the folder of a run and its conversation; the commits stay."""
        path = os.path.join(self._runs, run)
        if found := self._known(run):
            self._repository.remove(found.tree)
        if os.path.islink(path):
            files.remove(path)
        shutil.rmtree(path, ignore_errors=True)
        for end in (".index", ".index.lock", _NOTE):
            files.remove(f"{path}{end}")
        self._forget_conversations(run)

    def runs(self) -> Iterator[str]:
        """The runs that have a folder."""
        for name in sorted(os.listdir(self._runs)):
            if name.endswith(_NOTE) and is_id(name.removesuffix(_NOTE)):
                yield name.removesuffix(_NOTE)

    def _known(self, run: str) -> RunFolder | None:
        """The folder by its note; of a note that the project brought nothing leads elsewhere."""
        path = os.path.join(self._runs, run)
        if os.path.islink(path) or os.path.islink(f"{path}.index"):
            return None
        try:
            data = compact_json.load_object(files.read(f"{path}{_NOTE}", _LONGEST).decode("utf-8", "surrogateescape"))
            tree = self._repository.worktree(path, str(data["admin"]))
            return RunFolder(run, path, tree, [str(one) for one in data["made"]])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _forget_conversations(self, run: str) -> None:
        path = os.path.join(self.place, "agent", "checkpoints.db")
        threads = [run]
        if os.path.isfile(path):
            with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path, timeout=10)) as found:
                sql = "SELECT DISTINCT thread_id FROM checkpoints WHERE substr(thread_id,1,?)=?"
                threads += [name for (name,) in found.execute(sql, (len(run) + 1, f"{run}."))]
        removal.forget_conversations(path, threads)

"""The hook in this process, twice: with what is decided before the library is loaded, and by the library alone."""

from __future__ import annotations

import contextlib
import fcntl
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skills.lib.blocks.command_line import CommandLine
from skills.lib.guard.policy import compile_policy
from skills.lib.hosts.hook import (
    decision,
    early,
    event,
    facts,
    guarding,
    learning,
    policy_only,
    policy_texts,
    quick,
    sessions,
)
from skills.lib.hosts.hook.followed import Followed
from skills.lib.model.run import Request
from skills.lib.runtime import Runner, loading
from tests.fixtures.skill import source_of

# What the hook answers: the exit code, and what it wrote.
Said = tuple[int, str]
NAMES = ("quick", "long")
_STEPS = """
    StepDef("begin", "Begin", "Begin.", {Outcome.OK: "work"}),
    StepDef("work", "Work", "Work.", {Outcome.OK: None}, tools=["read", "shell(rm)", "shell(git)", "write"]),
    """


class Pair:
    """Two sessions of one host in one project, which are told the same: one is answered by the library alone."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, policy: str, host: str) -> None:
        self.project = folder / "project"
        self.state = folder / "state"
        self.host = host
        self.is_exact = True  # False once damage was done that only the library looks for
        self.quick = 0  # how many events were answered before the library
        self._patch = patch
        self._written: list[str] = []
        self._runs: dict[str, str] = {}
        (self.project / "sub").mkdir(parents=True)
        subprocess.run(["git", "init", "-q", "-b", "main", self.project], check=True)
        self.edit("one\n")
        (self.project / "out").symlink_to(folder)
        (self.project / "link").symlink_to(self.project / "lockstep.policy.yaml")
        self.change(policy)
        patch.setenv("LOCKSTEP_STATE", str(self.state))
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.setattr(policy_texts, "compile_apart", lambda text, _: compile_policy(text.decode(), policy_name()))
        patch.setattr(facts, "PATIENCE", 0)
        for module in (event, decision):
            patch.setattr(module, "write", lambda _, text: self._written.append(text))

    def change(self, policy: str) -> None:
        """Write the policy, and wait until an index of it is kept."""
        (self.project / policy_name()).write_text(policy)
        settle()

    def edit(self, text: str) -> None:
        """Change the content of the working tree."""
        (self.project / "a.py").write_text(text)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Another process holds the facts of both sessions."""
        with contextlib.ExitStack() as opened:
            for path in (self.state / "facts").glob("*"):
                fcntl.flock(opened.enter_context(path.open("rb")), fcntl.LOCK_EX)
            yield

    def follow(self, names: tuple[str, ...]) -> None:
        """Have each of these sessions follow a run of its own, which is at a step that allows some tools."""
        for name in names:
            script = str(self.project.parent / f"in_{name}" / "scripts" / f"in_{name}.py")
            if name not in self._runs:
                self._runs[name] = self._opened(script, f"in_{name}")
            about: Followed = {"run": self._runs[name], "project": str(self.project), "script": script, "signed": True}
            sessions.bind(event.name_of(self.host, name), None, about)

    def leave(self) -> None:
        """Have no session follow a run."""
        for name in sessions.names():
            sessions.forget(name)

    def _opened(self, script: str, skill: str) -> str:
        """The id of a run of a new skill, which was moved to its second step."""
        graph = Path(script.removesuffix(".py") + loading.SUFFIX)
        graph.parent.mkdir(parents=True)
        graph.write_text(source_of(skill, _STEPS))
        workflow = loading.load_workflow(str(graph))
        with contextlib.closing(Runner(CommandLine(sys.executable, script, str(self.project)))) as runner:
            opened = runner.start(workflow, {}).run
            assert opened is not None
            runner.advance(workflow, opened.id, Request("work", run=opened.id, turn=1))
            return opened.id

    def facts(self, session: str) -> list[bytes]:
        """The lines of the facts of a session, and whether some were put aside."""
        found = sorted(path for path in (self.state / "facts").glob("*") if f"-{session}." in path.name)
        return [line for path in found for line in (path.suffix[:9].encode(), *path.read_bytes().splitlines())]

    def damage(self, at: int, given: bytes) -> None:
        """Write some bytes into the facts of both sessions at a place, counted from the end."""
        self.is_exact = False
        for path in (self.state / "facts").glob("*"):
            data = path.read_bytes()
            place = max(0, len(data) - at)
            path.write_bytes(data[:place] + given + data[place + len(given) :] if given else data[:place])

    def tell(self, about: dict[str, Any]) -> tuple[Said, Said]:
        """What both sessions are told of an event: the one that may be quick, and the library."""
        common = {"cwd": str(self.project), "hook_event_name": "PreToolUse"}
        raws = [
            json.dumps({"session_id": name, **common, **about}, ensure_ascii=len(about) % 2 == 0).encode()
            for name in NAMES
        ]
        quickly = self._quickly(raws[0])
        with self._patch.context() as patch:
            for module in (guarding, learning):
                patch.setattr(module, "is_unconcerned", lambda *_: False)
            slowly = self._answer(lambda: decision.main(raws[1], {"--host": self.host}, _watched()))
        return self._unnamed(quickly), self._unnamed(slowly)

    def _unnamed(self, said: Said) -> Said:
        """An answer without the names of its session and of the run that this follows."""
        code, text = said
        for name in NAMES:
            about = {f"-{name}.": "-SESSION.", f"-{name}*": "-SESSION*", f"in_{name}": "SKILL"}
            for given, shown in {**about, self._runs.get(name, "RUN"): "RUN"}.items():
                text = text.replace(given, shown)
        return code, text

    def _quickly(self, raw: bytes) -> Said:
        followed = early.kept("sessions")
        if early.is_without_use(raw, followed, early.kept("facts")):
            return 0, ""
        if not early.is_of_policies(raw, followed):
            return self._answer(lambda: decision.main(raw, {"--host": self.host}, _watched()))
        before = self.facts("quick")
        if early.is_quick(raw, self.host, early.kept("facts")):
            self.quick += 1
            return 0, ""
        assert self.facts("quick") == before  # whoever comes next finds nothing that was begun

        def serve() -> int:
            try:
                code = policy_only.serve(raw, {"--host": self.host}, _watched())
            except Exception:
                code = None
            return decision.main(raw, {"--host": self.host}, _watched()) if code is None else code

        return self._answer(serve)

    def _answer(self, serve: Any) -> Said:
        self._written.clear()
        return serve(), "".join(self._written)


def settle() -> None:
    """Wait until a file that was just written could not change without its times showing it."""
    time.sleep(quick.SETTLED * 1.2 / 1e9)


def policy_name() -> str:
    """The name of a project's policy."""
    return quick.POLICIES[0]


def _watched() -> dict[str, bool]:
    return {"open": False, "policy": True, "unread": True}

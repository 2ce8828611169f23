"""A host in a repository with a policy: it asks before each call, and says what each gave."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from tests.hosts.hook.hooked import GUARDED, Answer, Host
from tests.hosts.hook.quick_differences import settle

SILENT = Answer(0, "", "")
CODING = """
params: {worktree: .}
tools:
  edit: {changes: {approval: forget}}
  shell(make test): {changes: {tests.passed: "result.exit == 0", tests.at: "$tree"}}
  shell(git push): {needs: ["tests.passed", "tests.at == $tree", "'--force' not in $args or $branch != 'main'"]}
  shell(rm): {needs: ["all(inside(p, %worktree) for p in $paths)", "len($paths) > 0"]}
  shell(deploy): {needs: ["calls('shell(deploy)') < 1"]}
"""


class Guarded(Host):
    """A host in a repository with a policy, which says what each command gave."""

    def __init__(
        self,
        folder: Path,
        policy: str = CODING,
        name: str = "claude",
        source: str = GUARDED,
        project: str = "project",
    ) -> None:
        super().__init__(folder, name, project, source)
        self.calls = 0
        self.policy = self.project / "lockstep.policy.yaml"
        self.policy.write_text(policy)
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(self.project)]
        (self.project / "a.py").write_text("one\n")
        for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "x"]):
            subprocess.run([*git, *words], check=True, capture_output=True)
        settle()

    def ask(self, tool: str, **given: Any) -> Answer:
        """What the hook says to a call with an id of its own."""
        self.calls += 1
        event = {"tool_name": tool, "tool_input": given, "tool_use_id": f"toolu_{self.calls}"}
        return self.tell(event)

    def tell_result(self, tool: str, given: dict[str, Any], exit_code: int | None = 0, **response: Any) -> Answer:
        """Report the result of the last call."""
        event: dict[str, Any] = {"tool_name": tool, "tool_input": given, "tool_use_id": f"toolu_{self.calls}"}
        if exit_code:
            failed = {
                "hook_event_name": "PostToolUseFailure",
                "error": f"Exit code {exit_code}\nno",
                "is_interrupt": False,
            }
            return self.tell({**event, **failed})
        said = {"stdout": "", "stderr": "", "interrupted": exit_code is None, **response}
        return self.tell({**event, "hook_event_name": "PostToolUse", "tool_response": said})

    def call(self, tool: str, exit_code: int | None = 0, **given: Any) -> Answer:
        """A call that must be allowed, and its result."""
        assert self.ask(tool, **given) == SILENT
        return self.tell_result(tool, given, exit_code)

    def shell(self, line: str, exit_code: int | None = 0) -> Answer:
        return self.call("Bash", exit_code, command=line)

    def denied(self, line: str) -> str:
        """The reason for which a command line is denied."""
        answer = self.ask("Bash", command=line)
        assert (answer.code, answer.said) == (2, ""), answer
        return answer.reason

"""Sessions that the clients themselves recorded, a scripted model in the model's place; instructions are left out.

Each did the same: it searched by a tool and by the shell, read a file that is there and one that is not, mistyped a
command, wrote a new file, called a tool that does not exist, and stated a verdict.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.commands.queries.transcripts import HostTerms, of_host
from skills.lib.layers.replaying import counting
from skills.lib.layers.replaying.counting import CLAIMS, ERRORS, FILES, MEASURES, SEARCHES
from skills.lib.layers.replaying.reading import Transcript
from skills.lib.layers.replaying.tasks import Task

pytestmark = pytest.mark.req("L-07")
RECORDED = Path(__file__).parent / "recorded"
TASK = Task(files=("src/retry.py",))
NOTHING = dict.fromkeys(MEASURES, 0)


def counted(file: str) -> tuple[str, counting.Count]:
    """The form of a recorded session, and what is counted in it."""
    transcript = Transcript(str(RECORDED / file), HostTerms())
    found = counting.count(transcript.events(), TASK, HostTerms())
    assert transcript.form is not None
    return transcript.form.name, found


@pytest.mark.parametrize(
    "file, form, calls, expected",
    [
        # Codex has no tool that searches, and read no file that is not there.
        ("codex.jsonl", "codex", 6, {ERRORS: 2, FILES: 1}),
        ("codex-code-mode.jsonl", "codex", 5, {ERRORS: 1, FILES: 1}),
        ("codex-exec.jsonl", "codex exec", 5, {ERRORS: 1, FILES: 1}),
        ("gemini.jsonl", "gemini", 9, {ERRORS: 3, SEARCHES: 1, FILES: 1}),
        # It prints no exit code, so nobody knows that the mistyped command failed.
        ("gemini-stream.jsonl", "gemini stream", 9, {ERRORS: 2, SEARCHES: 1, FILES: 1}),
        ("opencode.json", "opencode", 9, {ERRORS: 3, SEARCHES: 1, FILES: 1}),
        ("opencode-run.jsonl", "opencode run", 9, {ERRORS: 3, SEARCHES: 1, FILES: 1}),
        ("qwen.jsonl", "qwen", 9, {ERRORS: 3, SEARCHES: 1, FILES: 1}),
        ("qwen-stream.jsonl", "qwen stream", 9, {ERRORS: 3, SEARCHES: 1, FILES: 1}),
    ],
)
def test_what_a_client_recorded_is_counted(file: str, form: str, calls: int, expected: dict[str, int]) -> None:
    found_form, found = counted(file)
    assert found_form == form
    assert found.calls == calls
    assert found.judged == {"1"}
    shown = [f"{one.measure} {one.number} {one.what}" for one in found.findings]
    assert {measure: found.of(measure) for measure in MEASURES} == {**NOTHING, **expected}, shown


@pytest.mark.parametrize("client", ["codex", "codex-code", "gemini", "opencode", "qwen"])
def test_a_call_that_the_hook_denied_is_no_failure_and_shows_nothing(client: str) -> None:
    _, found = counted(f"denied-{client}.jsonl")
    assert (found.calls, found.denied) == (3, 2)
    assert {measure: found.of(measure) for measure in MEASURES} == {**NOTHING, CLAIMS: 1}


def test_a_policy_is_asked_about_the_calls_that_a_client_recorded() -> None:
    calls = [(one.tool, one.arguments.get("command")) for _, one in of_host(str(RECORDED / "qwen.jsonl"))]
    assert calls == [
        ("search", None),
        ("search", None),
        ("read", None),
        ("read", None),
        ("shell", "grep -rn backoff src"),
        ("shell", "git statsu"),
        ("write", None),
        ("edit", None),
        ("nosuch", None),
    ]

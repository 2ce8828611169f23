"""safe-shell-search: what its policy lets a shell search for, what its checks refuse, and how short its SKILL.md is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from skills.lib.guard.decisions import Allow, Deny, Look
from skills.lib.guard.guard import Guard
from skills.lib.guard.policy import Policy, compile_policy
from skills.lib.skillfile import load_skill
from tests.skills.follower import SKILLS, Follower, Values

pytestmark = pytest.mark.req("L-02")
SKILL = SKILLS / "safe-shell-search"
POLICY = SKILL / "scripts/policy.yaml"
CHECK = SKILL / "scripts/check_search.py"
ALLOWED = """\
rg -m 20 needle src
rg --max-count=5 needle
rg -il needle
rg --files -g '*.py'
git grep -l needle
git ls-files '*limit*'
git log -S needle -n 5 --oneline
grep -n needle src/a.py
grep -e bar x
make test 2>&1 | grep -v ok
find . -maxdepth 2 -name needle
find . -name '*.pyc' -delete
ls -la src
ag -l needle
ack --max-count=5 needle
rgrep -m 5 needle src
zgrep needle old.log.gz
fd -d 2 needle
fd --max-results=20 needle
fdfind -1 needle
tree -L 2
cat src/a.py
cat -n a.py > b.txt
sed -n '10,40p' src/a.py
echo x | cat
make test"""
DENIED = """\
grep -rn needle .
grep needle -R src
grep --recursive needle
grep -d recurse needle .
egrep -ir needle .
find . -name needle
find . -name '*.py' -exec grep needle {} +
find . | xargs grep needle
rg -n needle src
rg needle | head -20
git grep needle
ag needle
ack needle src
rgrep needle .
ggrep -r needle .
zgrep -R needle .
ugrep -r needle
fd needle
fdfind needle src
gfind . -name needle
ls -R
ls -lR src
tree
cat a.py b.py
cat src/**/*.py
bash -c 'grep -r needle .'
make test; grep -r needle .
cd src && find . -type f"""


@pytest.fixture(scope="module")
def policy() -> Policy:
    return Policy(compile_policy(POLICY.read_text(encoding="utf-8"), "policy.yaml"))


@pytest.mark.parametrize("line", ALLOWED.splitlines())
def test_a_bounded_search_and_ordinary_work_are_allowed(line: str, policy: Policy, tmp_path: Path) -> None:
    assert Guard([policy], folder=str(tmp_path)).decide("shell", {"command": line}) == Allow()


@pytest.mark.parametrize("line", DENIED.splitlines())
def test_a_search_without_a_bound_is_denied(line: str, policy: Policy, tmp_path: Path) -> None:
    assert isinstance(Guard([policy], folder=str(tmp_path)).decide("shell", {"command": line}), Deny)


def test_a_cat_of_what_only_a_shell_knows_is_no_allowance(policy: Policy, tmp_path: Path) -> None:
    assert isinstance(Guard([policy], folder=str(tmp_path)).decide("shell", {"command": "cat *.py"}), Look)


def faults(project: Path, *values: str | list[str]) -> list[str]:
    """What the check says of these values."""
    (project / "a.py").write_text("one\nclass RateLimiter:\n")
    words = [value if isinstance(value, str) else json.dumps(value) for value in values]
    done = subprocess.run([sys.executable, str(CHECK), *words], cwd=project, capture_output=True, text=True, timeout=60)
    assert done.returncode == (0 if done.stdout.startswith('"') else 1), done.stderr
    return done.stdout.splitlines()


def proof(project: Path, verdict: str, searches: list[str], findings: list[str], *before: list[str]) -> list[str]:
    """What the check says of a pass with these, after earlier searches and findings."""
    return faults(project, "proof", verdict, "as it was asked", searches, findings, *before)


EMPTY = ["Limiter | 0", "rg rate.?limit | . | 0"]
HIT = ["class | . | 1"]
FOUND = "a.py:2 | `class RateLimiter:` | it exists"


def test_a_finding_is_a_place_with_the_words_that_stand_there(tmp_path: Path) -> None:
    assert proof(tmp_path, "open", HIT, ["a.py:1 | `class RateLimiter:` | it exists"]) == [
        "a.py:1: `class RateLimiter:` is not in that line; line 2 has it"
    ]
    assert proof(tmp_path, "open", HIT, ["a.py:1 | `one` | x", ":2 | `two` | y"]) == [
        "a.py:2: `two` is not in that line; quote the line letter for letter"
    ]
    [gone] = proof(tmp_path, "open", HIT, ["b.py:1 | `x` | it exists"])
    assert gone.endswith("no such file or folder; paths are relative to the project's root")
    [bare] = proof(tmp_path, "open", HIT, ["a.py:2 | it exists | so it seems"])
    assert "write path:line | `the words that stand there` | what it shows" in bare


def test_a_search_has_its_parts_and_the_number_of_its_hits(tmp_path: Path) -> None:
    assert proof(tmp_path, "open", ["looked around"], []) == ["'looked around': write pattern | hits; no part is empty"]
    assert proof(tmp_path, "open", ["x | . | many"], []) == ["'x | . | many': end it with the number of hits"]


def test_absence_is_shown_by_two_searches_without_a_hit(tmp_path: Path) -> None:
    assert proof(tmp_path, "absent", EMPTY[1:], [], EMPTY[:1], []) == [
        json.dumps(
            "as it was asked\n\nVerdict: absent.\n\nSearched (pattern | folder | hits):\n"
            "- Limiter | 0\n- rg rate.?limit | . | 0"
        )
    ]
    assert proof(tmp_path, "absent", EMPTY[:1], [], EMPTY[:1], []) == [
        "1 searches found nothing, and 2 show that something is absent: the verdict is open"
    ]
    told = "1 searches found nothing, and 2 show that something is absent: the verdict is open"
    for one, other in (
        ("Limiter | 0", "Limiter | . | 0"),
        ("a|b | src | 0", "a | b | ./src/ | 0"),
        ("Limiter | src | 0", "Limiter|src/ |0"),
    ):
        assert proof(tmp_path, "absent", [one, other], []) == [told]
        assert proof(tmp_path, "absent", [one], [], [other], []) == [told]
    assert proof(tmp_path, "absent", ["Limiter | src|0", "Limiter |src | 0"], []) == [
        "'Limiter | src | 0' is given twice"
    ]
    assert proof(tmp_path, "absent", HIT, []) == [
        "0 searches found nothing, and 2 show that something is absent: the verdict is open"
    ]


def test_found_rests_on_a_finding_which_the_report_names(tmp_path: Path) -> None:
    report = (
        f"as it was asked\n\nVerdict: found.\n\nRead:\n- {FOUND}\n\n"
        "Searched (pattern | folder | hits):\n- class | . | 1"
    )
    assert proof(tmp_path, "found", HIT, [FOUND]) == [json.dumps(report)]
    assert proof(tmp_path, "found", HIT, [], [], [FOUND]) == [json.dumps(report)]
    assert proof(tmp_path, "found", HIT, []) == ["nothing that was read proves it: the verdict is absent or open"]
    assert faults(tmp_path, "proof", "found", "so so so so so so", HIT, [FOUND]) == ["answer says too little"]


def test_an_open_question_is_searched_three_times_more_with_the_shell(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.py").write_text("one\nclass RateLimiter:\n")
    agent = Follower("safe-shell-search/scripts/safe_shell_search.py", tmp_path)
    block = agent.begin("--question", "Is there a limiter?")
    assert "shell" not in str(block.root.get("tools")).split()
    values: Values = {
        "searches": HIT,
        "findings": [FOUND, ":1 | `one` | no"],
        "verdict": "open",
        "answer": "Search for rate next.",
    }
    for at in range(3):
        block = agent.follow(block, values if at == 0 else {**values, "searches": [f"rg rate{at} | . | 0"]})
        assert (block.at, block.context["search.answer"]) == ("widen", "Search for rate next.")
        # A brief block leaves the tools out that the one before named.
        assert at or "shell" in str(block.root.get("tools")).split()
    assert block.context["widen.found"] == f"- {FOUND}\n- a.py:1 | `one` | no\n- {FOUND}\n- a.py:1 | `one` | no"
    done = agent.follow(block, {**values, "searches": ["rg rate3 | . | 0"]})
    assert (done.kind, done.result["verdict"]) == ("done", "open")


def test_its_skill_file_is_short() -> None:
    for name in ("safe-shell-search", "code-quality"):
        skill = load_skill(SKILLS / name)
        assert len((SKILLS / name / "SKILL.md").read_text(encoding="utf-8").splitlines()) < 200
        assert len(skill.description.split()) < 100

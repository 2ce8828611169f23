"""doc-sync, walked as an agent, its explorers and its reviewer walk it: over a small store with planted drift."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skills.lib.blocks.command_line import join, lockstep_command
from skills.lib.skillfile.commands import commands_in
from skills.lib.skillfile.document import load_skill
from skills.lib.skillfile.specification import check_specification
from tests.fixtures import warm_python
from tests.skills.follower import SKILLS, Block, Follower, Values, commands

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

SCRIPT = "doc-sync/scripts/doc_sync.py"
CHECK = SKILLS / "doc-sync/scripts/check_docs.py"

FILES = {
    "README.md": "# Store\n\nKeeps records. To add a store of your own, write `src/mine.py`.\n",
    "CLAUDE.md": "| what | contents | read when |\n|---|---|---|\n| `src/` | Code | changing it |\n"
    "| `setup.cfg` | Settings | building |\n",
    "CHANGELOG.md": "- `src/locks.py` is gone\n",
    "docs/storage.md": "# Storage\n\nA lock is held for 30 s, see `src/locks.py`.\n\n"
    "We changed the writer to replace files; see [writing](writing.md#order).\n",
    "src/CLAUDE.md": "# Index\n\n| File | What | When |\n| --- | --- | --- |\n"
    "| `lock.py` | Locks | changing who writes |\n",
    "src/lock.py": "EXPIRY = 5\n",
    "src/write.py": "import os\n\n\ndef write(path, text):\n    with open(path + '.part', 'w') as part:\n"
    "        part.write(text)\n    os.replace(path + '.part', path)\n",
}
FOUND = [
    "CLAUDE.md:3: the index leaves out `docs/`",
    "CLAUDE.md:4: the index names `setup.cfg`, which is not in the root",
    "README.md:3: `src/mine.py` is no file or folder of the project",
    "docs/storage.md:3: `src/locks.py` is no file or folder of the project",
    "docs/storage.md:5: the link to writing.md#order leads to no file",
    "src/CLAUDE.md:5: the index leaves out `write.py`",
]
WRITER = "README.md, docs/, src/ | does what is said of locks and of writing hold? | docs/storage.md"
DOCS_HOLD, SRC_HOLDS = "docs/ | do they hold? | docs/storage.md", "src/ | what is not said? | src/lock.py"
INDEXES = "CLAUDE.md, src/ | do the indexes match their folders? | CLAUDE.md"
MAP: Values = {
    "rules": "An index file is named CLAUDE.md.",
    "areas": [WRITER, INDEXES],
    "left_out": ["CHANGELOG.md | history of releases"],
}
DRIFT_REPORT = "DRIFT: docs/storage.md:3 | 30 s | 5 s, src/lock.py:1\nINVISIBLE: src/write.py:5 | readers take no lock"
INDEX_REPORT = "DRIFT: CLAUDE.md:4 | setup.cfg | there is none"
FINDINGS = [
    "D1 | index | CLAUDE.md:3-4 | leaves out docs/, names setup.cfg | a row for docs/, none for setup.cfg",
    "D2 | exempt | README.md:3 | names src/mine.py | the file that the reader is about to make",
    "D3 | drift | docs/storage.md:3 | 30 s, src/locks.py | 5 s, src/lock.py:1",
    "D4 | temporal | docs/storage.md:5 | tells of a change | files are replaced whole, src/write.py:7",
    "D5 | index | src/CLAUDE.md:5 | leaves out write.py | a row for it",
    "D6 | invisible | src/write.py:5 | nobody says why readers need no lock | README or docs/storage.md",
]
SETTLED: Values = {"homes": ["D6 | docs/storage.md"]}
INDEXED: Values = {
    "indexes": ["CLAUDE.md | docs/ added, setup.cfg struck", "src/CLAUDE.md | write.py added"],
}
NOTE = "docs/storage.md claimed a lock of 30 s; it is 5 s (src/lock.py:1). Whoever tuned by it: look again."
REPORTED: Values = {"note": NOTE}
REPORT = f"""{NOTE}

Mended:
- D3: docs/storage.md on: 5 s, src/lock.py:1 (was: 30 s, src/locks.py)
- D4: docs/storage.md on: files are replaced whole, src/write.py:7 (was: tells of a change)
- D6: docs/storage.md on: README or docs/storage.md (was: nobody says why readers need no lock)
- D1: CLAUDE.md:3-4: a row for docs/, none for setup.cfg
- D5: src/CLAUDE.md:5: a row for it

Indexes:
- CLAUDE.md | docs/ added, setup.cfg struck
- src/CLAUDE.md | write.py added

Right, though a script complains:
- D2 | exempt | README.md:3 | names src/mine.py | the file that the reader is about to make

Not looked at:
- CHANGELOG.md | history of releases"""
MENDED = (
    "# Storage\n\nA lock is held for 5 s, see `src/lock.py`.\n\n"
    "Readers take no lock: a file is replaced whole (`src/write.py`).\n"
)
# What a reviewer looks at beside the lock: of each finding, of each document, of each index, and over all.
TRUE = {"D4": "src/write.py:7", "D6": "src/write.py:5"}
NOW = {"docs/storage.md": "docs/storage.md:1", "CLAUDE.md": "CLAUDE.md:3", "src/CLAUDE.md": "src/CLAUDE.md:5"}
ROWS = {"CLAUDE.md": "CLAUDE.md:4", "src/CLAUDE.md": "src/CLAUDE.md:6"}
WHOLE = ("whole", "written")
FAULT = "docs/storage.md:3 says 50 s, src/lock.py:1 says 5"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small store whose documents have drifted."""
    (tmp_path / ".git").mkdir()
    put(tmp_path, FILES)
    return tmp_path


@pytest.fixture
def agent(project: Path) -> Follower:
    """An agent whose working directory is a folder of the project, not its root."""
    return Follower(SCRIPT, project / "src")


@pytest.fixture
def audit(agent: Follower) -> Block:
    """The audit of the whole project, after both explorers have reported."""
    return explored(agent, agent.follow(agent.begin(), MAP))


def put(project: Path, files: dict[str, str]) -> None:
    for path, content in files.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(content, encoding="utf-8")


def explored(agent: Follower, survey: Block) -> Block:
    """Have both explorers report, and run what the last one says."""
    first, second = commands(survey)
    agent.follow(agent.run(first), {"result": DRIFT_REPORT})
    return agent.run(agent.follow(agent.run(second), {"result": INDEX_REPORT}).next)


def answer(name: str, place: str | dict[str, str], status: str = "PASS", finding: str = "") -> dict[str, object]:
    """One answer of a reviewer."""
    return {"id": name, "status": status, "place": place, "finding": finding}


def first_answers() -> list[dict[str, object]]:
    """What the reviewer finds: the lock is wrong, and all else is well."""
    return [
        answer("true", {"D3": "docs/storage.md:3"}, "FAIL", FAULT),
        *(answer(name, places) for name, places in {"true": TRUE, "now": NOW, "index": ROWS}.items()),
        answer("excepted", "README.md:3"),
        *(answer(name, "docs/storage.md:5") for name in WHOLE),
    ]


def second_answers() -> list[dict[str, object]]:
    """What the reviewer finds of the same items once the lock is put right."""
    places = [*TRUE.values(), *NOW.values(), *ROWS.values(), "README.md:3", *("docs/storage.md:5" for _ in WHOLE)]
    names = ["true-2", "true-3", "now-1", "now-2", "now-3", "index-1", "index-2", "excepted-1"]
    rest = zip([*names, *(f"{name}-1" for name in WHOLE)], places, strict=True)
    fixed = answer("true-1", "src/lock.py:1", finding="docs/storage.md:3 says 5 s now")
    return [fixed, *(answer(name, place) for name, place in rest)]


def review(agent: Follower, block: Block, answers: list[dict[str, object]]) -> Block:
    """Be the reviewer, and go through the gate."""
    (command,) = commands(block)
    return agent.run(agent.follow(agent.run(command), {"answers": json.dumps(answers)}).next)


def fix_indexes(project: Path) -> None:
    """Do what the step on indexes asks for."""
    row = "| `docs/` | Guides | changing what users rely on |\n"
    put(
        project,
        {
            "CLAUDE.md": FILES["CLAUDE.md"].replace("| `setup.cfg` | Settings | building |\n", row),
            "src/CLAUDE.md": FILES["src/CLAUDE.md"] + "| `write.py` | Writing of files | changing how files appear |\n",
        },
    )


def check(project: Path, kind: str, *values: str | list[str]) -> tuple[int, list[str]]:
    """The exit code of the check script and the lines that it prints."""
    given = [value if isinstance(value, str) else json.dumps(value) for value in values]
    done = warm_python.run(CHECK, kind, *given, cwd=project)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def stable(block: Block) -> str:
    """The block without what differs from run to run; a child's id is its run's with a number."""
    run = (block.root.get("run") or "").partition(".")[0]
    return block.stable().replace(run, "RUN").replace(os.environ["LOCKSTEP_HOME"], "HOME")


@pytest.mark.req("W-04", "W-10", "W-18")
def test_a_run_leads_from_drift_to_documents_that_are_true(agent: Follower, audit: Block, project: Path) -> None:
    assert DRIFT_REPORT.splitlines()[0] in audit.context["survey.results"]
    assert audit.context["discover.faults"].splitlines() == [f"- {fault}" for fault in FOUND]
    migrate = agent.follow(audit, {"findings": FINDINGS})
    unmended = agent.follow(migrate, SETTLED)
    assert "D3: docs/storage.md is as it was at the audit; mend it" in unmended.words("WHY")
    with (project / "docs/storage.md").open("a", encoding="utf-8") as document:
        document.write("\n \n")
    assert "D3: docs/storage.md is as it was at the audit" in agent.follow(unmended, SETTLED).words("WHY")
    put(project, {"docs/storage.md": MENDED.replace("5 s", "50 s")})
    indexes = agent.follow(unmended, SETTLED)
    assert indexes.context["migrate.faults"].splitlines() == [f"- {FOUND[at]}" for at in (0, 1, 2, 5)]
    early = agent.follow(indexes, INDEXED)
    assert (early.exit_code, early.root.get("code")) == (3, "missing-evidence")
    assert FOUND[1] in early.words("WHY")
    fix_indexes(project)
    failed = review(agent, agent.follow(early, INDEXED), first_answers())
    assert (failed.at, failed.root.get("iteration")) == ("migrate", "2")
    assert failed.context["documents.findings"] == (
        "- true-1 (MUST) what the document now says there is so by the code: "
        f"docs/storage.md on: 5 s, src/lock.py:1: {FAULT} [docs/storage.md:3]"
    )
    unchanged = agent.follow(agent.follow(failed, {}), INDEXED)
    assert "true-1 (docs/storage.md is as the reviewer saw it)" in unchanged.words("WHY")
    put(project, {"docs/storage.md": MENDED})
    indexes = agent.run(unchanged.words("SHOW"))
    assert indexes.context["indexes.indexes"].endswith("src/CLAUDE.md | write.py added")
    again = agent.follow(indexes, INDEXED)
    assert "iteration 2 of 5, re-verification" in again.words("STATE")
    report = review(agent, again, second_answers())
    done = agent.follow(report, REPORTED)
    assert (done.at, done.result) == ("done", {"note": NOTE, "report": REPORT})
    assert (project / "docs/storage.md").read_text(encoding="utf-8") == MENDED
    assert check(project, "list", "repo", ".") == (1, [FOUND[2]])


@pytest.mark.req("W-04")
def test_the_reviewer_learns_what_was_left_to_the_user(agent: Follower, audit: Block, project: Path) -> None:
    migrate = agent.follow(audit, {"findings": FINDINGS})
    put(project, {"docs/storage.md": MENDED})
    indexes = agent.follow(migrate, {**SETTLED, "undone": ["D3 | src/lock.py:1 is wrong, the user decides"]})
    fix_indexes(project)
    told = agent.run(commands(agent.follow(indexes, INDEXED))[0]).context["checks"].splitlines()
    kind, _, rest = FINDINGS[2].partition(" | ")[2].partition(" | ")
    at = told.index(
        "- left (SHOULD): it was rightly left: the code would have to change, or the reason holds. Targets:"
    )
    assert told[at + 1] == f"  D3: {kind} | {rest} | left: src/lock.py:1 is wrong, the user decides"
    assert [line.split(":")[0] for line in told if line.startswith("  D")] == ["  D4", "  D6", "  D3", "  D2"]


def to_review(
    agent: Follower, audit: Block, project: Path, indexed: Values = INDEXED, findings: list[str] = FINDINGS
) -> Block:
    """The reviewer's task, once everything is put right."""
    migrate = agent.follow(audit, {"findings": findings})
    put(project, {"docs/storage.md": MENDED})
    indexes = agent.follow(migrate, SETTLED)
    fix_indexes(project)
    return agent.run(commands(agent.follow(indexes, indexed))[0])


@pytest.mark.req("S-02")
def test_each_finding_and_each_changed_document_is_checked(agent: Follower, audit: Block, project: Path) -> None:
    task = to_review(agent, audit, project)
    told = task.context["checks"].splitlines()
    assert told[:5] == [
        "- true (MUST): what the document now says there is so by the code. Targets:",
        "  D3: docs/storage.md on: 5 s, src/lock.py:1",
        "  D4: docs/storage.md on: files are replaced whole, src/write.py:7",
        "  D6: docs/storage.md on: README or docs/storage.md",
        "- now (MUST): no statement of it, changed or not, is false by the code."
        " Targets: CLAUDE.md, docs/storage.md, src/CLAUDE.md",
    ]
    one = agent.follow(task, {"answers": json.dumps([answer("index", ROWS, "FAIL", "x")])})
    assert one.exit_code == 3
    assert "no answer to true-1, true-2, true-3, now-1, now-2, now-3, excepted-1" in one.words("WHY")


def test_bars_in_a_finding_are_left_to_what_is_right(agent: Follower, audit: Block, project: Path) -> None:
    barred = "D3 | drift | docs/storage.md:3 | says `30 s | src/locks.py` | 5 s, `src | lock`, src/lock.py:1 | in short"
    task = to_review(agent, audit, project, findings=[*FINDINGS[:2], barred, *FINDINGS[3:]])
    told = task.context["checks"].splitlines()
    assert told[1] == "  D3: docs/storage.md on: 5 s, `src | lock`, src/lock.py:1 | in short"


@pytest.mark.req("S-01")
@pytest.mark.parametrize("path", ["docs/storage.md", "README.md"])
def test_a_document_that_changes_after_its_review_is_reviewed_again(
    agent: Follower, audit: Block, project: Path, path: str
) -> None:
    task = to_review(agent, audit, project)
    passed = [answer("true", {**TRUE, "D3": "src/lock.py:1"}), *first_answers()[2:]]
    report = agent.run(agent.follow(task, {"answers": json.dumps(passed)}).next)
    assert report.at == "report"
    put(project, {path: (project / path).read_text(encoding="utf-8") + "A lock is for ever.\n"})
    again = agent.follow(report, REPORTED)
    assert (again.at, again.exit_code) == ("documents-review", 0)


@pytest.mark.req("W-18")
def test_what_the_agent_sees(agent: Follower, audit: Block, snapshot: SnapshotAssertion) -> None:
    migrate = agent.follow(audit, {"findings": FINDINGS})
    for name, block in {"audit": audit, "migrate": migrate}.items():
        assert stable(block) == snapshot(name=name)
        assert len(block.text) <= 10_000, name


@pytest.mark.req("W-04")
def test_each_area_has_an_explorer(agent: Follower) -> None:
    survey = agent.follow(agent.begin("--scope", "repo"), MAP)
    assert [child.get("target") for child in survey.root.iterfind("DISPATCH/child")] == [WRITER, INDEXES]
    explorer = agent.run(commands(survey)[0])
    assert WRITER in explorer.words("DO")
    assert INDEXES not in explorer.text


@pytest.mark.req("W-03")
@pytest.mark.parametrize(
    "arguments, areas, fault",
    [
        (["--scope", "file", "--path", "docs/storage.md"], [DOCS_HOLD, SRC_HOLDS], FOUND[3]),
        (["--scope", "file", "--path", "./src/lock.py"], [f"docs, {SRC_HOLDS}", SRC_HOLDS], FOUND[5]),
        (["--scope", "directory", "--path", "docs"], [f"src,{DOCS_HOLD}"], FOUND[3]),
    ],
)
def test_one_file_or_one_area_needs_no_sub_agent(
    agent: Follower, arguments: list[str], areas: list[str], fault: str
) -> None:
    audit = agent.follow(agent.begin(*arguments), {**MAP, "areas": areas})
    assert audit.at == "audit"
    assert "survey.results" not in audit.context
    missing = agent.follow(audit, {"findings": []})
    assert fault in missing.words("WHY")
    assert FOUND[0] not in missing.words("WHY")


@pytest.mark.req("W-03")
def test_if_the_documents_are_true_the_report_follows_at_once(agent: Follower, project: Path) -> None:
    fix_indexes(project)
    put(project, {"docs/storage.md": MENDED})
    audit = agent.follow(agent.begin(), {**MAP, "areas": [". | does all hold? | README.md"]})
    exempt = FINDINGS[1].replace("D2", "D1")
    unread = agent.follow(audit, {"findings": [exempt]})
    assert "nothing is to be done, so that compared says what was looked at" in unread.words("WHY")
    report = record_file(agent, audit, {"findings": [exempt], "compared": COMPARED})
    assert (report.at, report.context["audit.compared"].count("\n")) == ("report", 3)
    done = agent.follow(report, {"note": "All that the documents say of locks and of writing is so by the code."})
    assert done.result["report"].endswith("\n".join(["Compared:", *[f"- {row}" for row in COMPARED]]))


ROOT_LEFT_OUT = [f"{name}.md | it is old" for name in ("README", "CLAUDE", "CHANGELOG")]
COMPARED = [
    "README.md:3 | the reader writes src/mine.py | none: nobody has written it yet",
    "CLAUDE.md:3 | src/ holds the code | src/lock.py:1",
    "docs/storage.md:3 | a lock is held for 5 s | src/lock.py:1 `EXPIRY = 5`",
    "src/CLAUDE.md:5 `lock.py` | holds the locks | src/lock.py:1",
]


def record_file(agent: Follower, block: Block, values: dict[str, list[str]]) -> Block:
    """Record the values, optional ones too, by the file that RECORD offers."""
    file = agent.folder.parent / ".git" / "values.json"
    file.write_text(json.dumps(values), encoding="utf-8")
    command, _, _ = block.next.partition(" --record ")
    return agent.run(f"{command} --record-file {shlex.quote(str(file))}")


@pytest.mark.parametrize(
    "compared, wanted",
    [
        (COMPARED, []),
        (
            [],
            ["nothing is to be done, so that compared says what was looked at: a statement of 4 more of the documents"],
        ),
        (COMPARED[:2], ["nothing is to be done, so that compared says what was looked at: a statement of 2 more"]),
        (["README.md | x | src/lock.py:1", *COMPARED[1:]], ["'README.md | x | src/lock.py:1': this is not path:line"]),
        (
            ["src/lock.py:1 | five | README.md:1", *COMPARED],
            ["'src/lock.py:1 | five | README.md:1': this is no document"],
        ),
        (
            ["README.md:1 | x | README.md:3", *COMPARED[1:]],
            ["'README.md:1 | x | README.md:3': a document does not decide"],
        ),
        (
            ["README.md:1 |  | src/lock.py:1", *COMPARED[1:]],
            ["'README.md:1 |  | src/lock.py:1': there is no statement"],
        ),
        (
            ["README.md:9 | x | src/lock.py:1", *COMPARED[1:]],
            ["'README.md:9 | x | src/lock.py:1': the file has 3 lines"],
        ),
        (["README.md:1 | x | src/lock.py:1 `= 6`", *COMPARED[1:]], ["src/lock.py:1: `= 6` is not in that line"]),
        (
            [f"{COMPARED[0].split(' |')[0]} | x | none: no", *COMPARED[1:]],
            [f"'{COMPARED[0].split(' |')[0]} | x | none: no': say why, in more than a word; write document:line"],
        ),
        ([f"{row.split(' |')[0]} | x | none: so it is" for row in COMPARED], ["compared: no row names the place that"]),
    ],
)
def test_if_nothing_is_wrong_each_document_was_compared(project: Path, compared: list[str], wanted: list[str]) -> None:
    fix_indexes(project)
    put(project, {"docs/storage.md": MENDED})
    exempt = [FINDINGS[1].replace("D2", "D1")]
    code, lines = check(project, "audit", "repo", ".", list(MAP["left_out"]), exempt, compared)
    assert (code, [line[: len(start)] for line, start in zip(lines, wanted, strict=True)]) == (bool(wanted), wanted)


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"areas": [DOCS_HOLD]}, "README.md is in no area and not left out"),
        ({"areas": ["doc/ | ? | x", ". | ? | x"]}, "doc: no such file or folder"),
        ({"areas": ["docs/"]}, "'docs/': write paths | what to find out | first file to open"),
        ({"areas": [". | ? | README.md"]}, "'. | ? | README.md': write paths | what to find out | first file"),
        ({"areas": [". | does it hold? | here"]}, "'. | does it hold? | here': here is no file to open first"),
        ({"left_out": ["CHANGELOG.md"]}, "'CHANGELOG.md': write path | why it is left out"),
        ({"left_out": ["CHANGELOG.md | no"]}, "'CHANGELOG.md | no': write path | why it is left out, in more than a"),
        ({"left_out": [". | nobody reads it"]}, "'. | nobody reads it' leaves out the whole scope"),
        ({"left_out": ["GONE.md | it is gone"]}, "GONE.md: no such file or folder"),
        (
            {"left_out": ["docs | for users", "src | of no use", *ROOT_LEFT_OUT]},
            "every document in scope is left out, and nothing would be compared: keep one at least",
        ),
    ],
)
def test_every_document_is_in_an_area_or_left_out(agent: Follower, changes: Values, why: str) -> None:
    begun = agent.begin()
    refused = agent.follow(begun, {**MAP, **changes})
    assert (refused.exit_code, refused.root.get("code")) == (3, "missing-evidence")
    assert why in refused.words("WHY")
    assert agent.follow(refused, MAP).at == "survey"


@pytest.mark.req("W-04")
def test_many_documents_are_more_than_one_area(agent: Follower, project: Path) -> None:
    put(project, {f"docs/part{at}.md": "A part.\n" for at in range(5)})
    begun = agent.begin()
    alone = agent.follow(begun, {**MAP, "areas": [". | do they hold? | README.md"]})
    assert "one area for 9 documents, and it is right for up to 8: cut it in two or more" in alone.words("WHY")
    assert agent.follow(begun, MAP).at == "survey"
    whole = agent.begin("--scope", "file", "--path", "README.md", "--new")
    assert agent.follow(whole, {**MAP, "areas": [". | does it hold? | README.md"], "left_out": []}).at == "audit"


@pytest.mark.parametrize(
    "scope, path, why",
    [
        ("file", "docs", "--path docs is not a file. A run keeps its parameters"),
        ("file", "gone.md", "--path gone.md is not a file. A run keeps its parameters"),
        ("repo", "docs", "--path docs is a part, and --scope is repo. A run keeps its parameters"),
        ("directory", "README.md", "--path README.md is not a directory. A run keeps its parameters"),
        ("directory", ".", "--path . is the whole project, and --scope is directory. A run keeps its parameters"),
        ("directory", "../..", "--path ../.. lies outside the project. A run keeps its parameters"),
    ],
)
def test_a_path_that_does_not_fit_its_scope_is_reported(agent: Follower, scope: str, path: str, why: str) -> None:
    refused = agent.follow(agent.begin("--scope", scope, "--path", path), MAP)
    assert why in refused.words("WHY")
    assert "lockstep abandon RUN --reason" in refused.words("WHY")


def test_an_audit_that_passes_over_what_the_script_finds_is_refused(agent: Follower, audit: Block) -> None:
    refused = agent.follow(audit, {"findings": FINDINGS[2:4]})
    assert (refused.exit_code, refused.root.get("code")) == (3, "missing-evidence")
    for fault in (FOUND[0], FOUND[1], FOUND[2], FOUND[5]):
        assert f"no finding holds the line of {fault}" in refused.words("WHY")
    assert FOUND[3] not in refused.words("WHY")
    assert agent.follow(refused, {"findings": FINDINGS}).at == "migrate"


@pytest.mark.parametrize(
    "row, why",
    [
        ("D9 | drift | README.md:1 | wrong", "write D1 | one of index, link, drift"),
        ("D9 | style | README.md:1 | wrong | right", "write D1 | one of index, link, drift"),
        ("D9 | drift | README.md | wrong | right", "D9, 'README.md': this is not path:line"),
        ("D9 | drift | READ.md:1 | wrong | right", "D9, 'READ.md:1': no such file in the project"),
        ("D9 | drift | ../../etc/passwd:1 | wrong | right", "no such file in the project"),
        ("D9 | drift | README.md:4 | wrong | right", "D9, 'README.md:4': the file has 3 lines"),
        ("D1 | drift | README.md:1 | wrong | right", "the id D1 is given twice"),
        ("D9 | drift | README.md:3 | `Keeps rows.` | right", "README.md:3: `Keeps rows.` is not in that line"),
        ("D9 | drift | README.md:1 `Keeps` | wrong | right", "README.md:1: `Keeps` is not in that line; line 3 has it"),
    ],
)
def test_a_finding_of_the_audit_has_all_its_parts(project: Path, row: str, why: str) -> None:
    code, lines = check(project, "audit", "repo", ".", [], [*FINDINGS, row], [])
    assert (code, len(lines)) == (1, 1)
    assert why in lines[0]


@pytest.mark.parametrize(
    "undone, homes, why",
    [
        ([], [], "D6 is missing: give D6 | path of the document in homes"),
        ([], ["D6 | docs/gone.md"], "D6: docs/gone.md is no file of the project"),
        ([], ["D6 | README.md"], "D6: README.md is as it was at the audit; mend it"),
        ([], ["D6 | docs/storage.md", "D3 | README.md"], "D3: README.md is as it was at the audit"),
        (
            ["D1 | it is right so"],
            ["D6 | docs/storage.md"],
            "'D1 | it is right so': this is no finding, or of kind index",
        ),
        (["D9 | it is right so"], ["D6 | docs/storage.md"], "'D9 | it is right so': this is no finding"),
        (["D6 | no"], [], "'D6 | no': write D1 | why it is left, in more than a word"),
        (["D6 | it is right", "D6 | so it is"], [], "undone: D6 is given twice"),
    ],
)
def test_every_finding_is_mended_in_its_document_or_left(
    project: Path, undone: list[str], homes: list[str], why: str
) -> None:
    before = json.loads(check(project, "digests", "repo", ".", FINDINGS)[1][0])
    put(project, {"docs/storage.md": MENDED})
    code, lines = check(project, "settled", FINDINGS, json.dumps(before), undone, homes, [], [])
    assert code == 1
    assert lines[0].startswith(why)
    kept = ["D6 | docs/storage.md"]
    assert check(project, "settled", FINDINGS, json.dumps(before), [], [], [], kept) == (0, [])
    left = [f"D{at} | the user has to say" for at in (3, 4, 6)]
    assert check(project, "settled", FINDINGS, json.dumps(before), left, [], [], []) == (0, [])


def test_a_document_that_is_taken_away_has_changed(project: Path) -> None:
    finding = ["D1 | misplaced | docs/storage.md:1 | nobody looks here | README.md"]
    before = check(project, "digests", "repo", ".", finding)[1][0]
    (project / "docs/storage.md").unlink()
    assert check(project, "settled", finding, before, [], [], [], []) == (0, [])


@pytest.mark.parametrize(
    "exceptions, wanted",
    [
        (["README.md | src/mine.py | an example"], []),
        (["./README.md | `src/mine.py` | an example"], []),
        ([], [FOUND[2]]),
        (["README.md | src/mine.py"], ["'README.md | src/mine.py': write document | words as", FOUND[2]]),
        (["README.md | src/mine.py | no"], ["'README.md | src/mine.py | no': write document | words as", FOUND[2]]),
        (
            ["README.md | src/mine.py | an example", "README.md | src/ours.py | another one"],
            ["README.md: src/ours.py is no fault; strike the exception"],
        ),
    ],
)
def test_what_remains_is_excepted_word_for_word(project: Path, exceptions: list[str], wanted: list[str]) -> None:
    fix_indexes(project)
    put(project, {"docs/storage.md": MENDED})
    code, lines = check(project, "remaining", "repo", ".", [], [], [], exceptions)
    assert (code, len(lines)) == (bool(wanted), len(wanted))
    assert all(line.startswith(start) for line, start in zip(lines, wanted, strict=True))


@pytest.mark.parametrize(
    "rows, wanted",
    [
        (list(INDEXED["indexes"]), []),
        (["docs/ | one row"], ["'docs/ | one row': write path | rows added, changed, struck"]),
        (["GONE.md | one row"], ["'GONE.md | one row': write path | rows added, changed, struck"]),
        (["CLAUDE.md"], ["'CLAUDE.md': write path | rows added, changed, struck"]),
        (["CLAUDE.md | one", "./CLAUDE.md | two"], ["CLAUDE.md is given twice"]),
    ],
)
def test_each_index_that_was_touched_has_one_row(project: Path, rows: list[str], wanted: list[str]) -> None:
    fix_indexes(project)
    put(project, {"docs/storage.md": MENDED})
    lines = check(project, "remaining", "repo", ".", [], [FINDINGS[1]], rows, [])[1]
    assert [line[: len(start)] for line, start in zip(lines, wanted, strict=True)] == wanted


@pytest.mark.parametrize(
    "finding, wanted",
    [
        (FINDINGS[1], []),
        ("D2 | exempt | README.md:1-3 | `src/mine.py` | the reader makes it", []),
        ("D2 | exempt | README.md:9 | src/mine.py is an example | lines move", []),
        ("D2 | exempt | CLAUDE.md:3 | src/mine.py | another document", [FOUND[2]]),
        ("D2 | exempt | README.md:3 | src/mine.pyc | other words", [FOUND[2]]),
        ("D2 | drift | README.md:3 | src/mine.py | is no exemption", [FOUND[2]]),
    ],
)
def test_what_the_audit_exempts_need_not_be_excepted_again(project: Path, finding: str, wanted: list[str]) -> None:
    fix_indexes(project)
    put(project, {"docs/storage.md": MENDED})
    assert check(project, "remaining", "repo", ".", [], [finding], [], []) == (bool(wanted), wanted)


def test_an_exemption_says_the_words_that_it_is_about(project: Path) -> None:
    vague = "D2 | exempt | README.md:3 | an example | the reader makes it"
    wanted = ["D2: put in what is exempt, word for word: src/mine.py"]
    assert check(project, "audit", "file", "README.md", [], [vague], []) == (1, wanted)
    assert check(project, "audit", "file", "README.md", [], [FINDINGS[1]], COMPARED[:1])[1] == [
        "compared: no row names the place that decides a statement"
    ]
    read = ["README.md:3 | keeps records | src/write.py:4"]
    assert check(project, "audit", "file", "README.md", [], [FINDINGS[1]], read) == (0, [])
    silent = FINDINGS[1].replace("the file that the reader is about to make", "so")
    assert check(project, "audit", "file", "README.md", [], [silent], read) == (
        1,
        ["D2: say in the last part why that is right, in more than a word"],
    )


def test_an_exemption_says_all_the_words_at_its_lines(project: Path) -> None:
    put(project, {"README.md": "See `src/mine.py` and `src/yours.py`.\n"})
    one = "D1 | exempt | README.md:1 | names src/mine.py | the reader makes it"
    code, lines = check(project, "audit", "file", "README.md", [], [one], [])
    assert (code, lines) == (1, ["D1: put in what is exempt, word for word: src/yours.py"])


def test_the_script_finds_what_was_planted(project: Path) -> None:
    assert check(project, "list", "repo", ".") == (1, FOUND)
    assert check(project, "list", "directory", "docs") == (1, FOUND[3:5])
    assert check(project, "list", "file", "README.md") == (1, FOUND[2:3])
    assert check(project, "list", "file", "src/lock.py") == (1, FOUND[5:])
    assert check(project, "list", "file", "src/CLAUDE.md") == (1, FOUND[5:])
    put(project, {"docs/storage.md": MENDED})
    assert check(project, "list", "directory", "docs") == (0, ["nothing is wrong in 1 document"])
    (project / ".gitignore").write_text("/src\n", encoding="utf-8")
    assert FOUND[2] not in check(project, "list", "repo", ".")[1]


OTHER = "| command | does |\n|---|---|\n| `make` | y |\n"
INDEX = "| what | contents | read when |\n|---|---|---|\n"


@pytest.mark.parametrize(
    "path, text, wanted",
    [
        ("a.md", "[x](src/lock.py) [y](/src/lock.py#L1) ![z](../x.png)", ["the link to ../x.png leads outside"]),
        ("a.md", "[x](https://x.org/y) [y](#here) [z](mailto:a@b.c) <http://x.org>", []),
        ("a.md", "[x]: gone.md\n[^1]: gone.md\n", ["the link to gone.md leads to no file"]),
        ("a.md", "[x](docs/a%20b.md 'title')", ["the link to docs/a%20b.md leads to no file"]),
        ("a.md", "```\n[x](gone.md) `src/gone.py`\n```\n`[x](gone.md)`", []),
        ("docs/a.md", "[x](../src/lock.py) [y](lock.py)", ["the link to lock.py leads to no file"]),
        ("a.md", "`src/gone.py:12` and `gone.py::test`", ["`gone.py::test` is no file", "`src/gone.py:12` is no file"]),
        ("a.md", "`lock.py` `lock.py:1` `./src/lock.py` `src/` `src`", []),
        ("a.md", "`and/or` `application/json` `text.strip` `--x.py` `a b.py` `*.py`", []),
        ("a.md", "`path/to/x.py` `x.rs` `/etc/x.py` `..`", []),
        ("a.md", "`src/locker`", ["`src/locker` is no file or folder of the project"]),
        ("history.md", "`src/gone.py` [x](gone.md)", ["the link to gone.md leads to no file"]),
        ("src/AGENTS.md", INDEX + "| `*.py` | all | ever |\n", []),
        ("src/AGENTS.md", INDEX + "| [`locks`](lock.py), `write.py` | all | ever |\n", []),
        ("src/AGENTS.md", INDEX + "| `lock.py` | x | y |\n\n" + OTHER, ["the index leaves out `write.py`"]),
        ("src/AGENTS.md", "Run `make`.\n\n" + OTHER, []),
        ("src/notes.md", INDEX + "| `gone` | x | y |\n", []),
    ],
)
def test_faults_of_a_document_are_named(project: Path, path: str, text: str, wanted: list[str]) -> None:
    put(project, {path: text})
    code, lines = check(project, "remaining", "file", path, [], [], [], [])
    assert (code, len(lines)) == (bool(wanted), len(wanted))
    for line, start in zip(lines, wanted, strict=True):
        assert line.partition(": ")[2].startswith(start)


def test_what_git_ignores_is_no_part_of_the_project(tmp_path: Path) -> None:
    git = ["git", "-c", "init.defaultBranch=main"]
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True, timeout=60)
    put(tmp_path, {**FILES, ".gitignore": "out/\n", "out/x.md": "[x](gone.md)", "docs/é.md": "[x](gone.md)"})
    code, lines = check(tmp_path, "list", "repo", ".")
    assert (code, [line for line in lines if line not in FOUND]) == (
        1,
        ["docs/é.md:1: the link to gone.md leads to no file"],
    )
    assert [line for line in FOUND if line not in lines] == []


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The store as a git checkout, beside which other things may lie."""
    subprocess.run(["git", "init", "-q", str(tmp_path / "clone")], check=True, timeout=60)
    put(tmp_path / "clone", FILES)
    return tmp_path / "clone"


def test_a_hostile_project_runs_no_program_while_its_files_are_listed(clone: Path, tmp_path: Path) -> None:
    evil = planted(tmp_path / "evil", tmp_path / "ran")
    subprocess.run(["git", "config", "core.fsmonitor", str(evil)], cwd=clone, check=True, timeout=60)
    assert check(clone, "list", "repo", ".") == (1, FOUND)
    assert not (tmp_path / "ran").exists()


def test_a_bare_repository_in_the_project_is_not_asked(clone: Path, tmp_path: Path) -> None:
    bare = clone / "inner"
    evil = planted(tmp_path / "evil", tmp_path / "ran")
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True, timeout=60)
    for name, value in (("core.fsmonitor", str(evil)), ("core.worktree", "."), ("core.bare", "false")):
        subprocess.run(["git", "--git-dir", str(bare), "config", name, value], check=True, timeout=60)
    put(bare, FILES)
    (bare / ".git").mkdir()
    assert check(bare, "list", "file", "docs/storage.md") == (1, FOUND[3:5])
    (bare / ".git").rmdir()
    assert check(bare, "list", "file", "docs/storage.md") == (1, FOUND[3:5])
    assert check(clone, "list", "file", "docs/storage.md") == (1, FOUND[3:5])
    assert not (tmp_path / "ran").exists()


def test_a_git_of_the_project_is_not_run(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted(clone / "git", tmp_path / "ran")
    monkeypatch.setenv("PATH", f"{clone}{os.pathsep}.{os.pathsep}{os.environ['PATH']}")
    assert check(clone, "list", "file", "docs/storage.md") == (1, FOUND[3:5])
    assert not (tmp_path / "ran").exists()


def test_a_git_that_does_not_end_is_reported(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted(tmp_path / "bin" / "git", tmp_path / "ran").write_text("#!/bin/sh\nexec cat /dev/zero\n", encoding="utf-8")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    code, lines = check(clone, "list", "repo", ".")
    assert (code, lines[0].startswith("this cannot be checked: git printed more than 268,435,456 bytes")) == (1, True)
    assert lines[1] == "  try:   see that the git that comes first on PATH is git itself"


def planted(path: Path, mark: Path) -> Path:
    """A program that leaves a mark when it runs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\ntouch {mark}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_the_check_says_how_it_is_called(project: Path) -> None:
    code, lines = check(project, "nothing")
    assert (code, lines[0].startswith("usage: check_docs.py list SCOPE PATH | ")) == (2, True)
    assert check(project, "settled", "[", "{}", "[]", "[]", "[]", "[]")[0] == 1


def test_many_complaints_are_cut_and_counted_and_a_list_is_whole(project: Path) -> None:
    put(project, {"a.md": "".join(f"[x](gone{at}.md)\n" for at in range(30))})
    code, lines = check(project, "remaining", "file", "a.md", [], [], [], [])
    assert (code, len(lines), lines[-1]) == (1, 26, "and 5 more")
    assert len(check(project, "list", "file", "a.md")[1]) == 30


@pytest.mark.req("W-15")
def test_skill_file_meets_the_specification_and_its_command_opens_a_run(agent: Follower) -> None:
    folder = SKILLS / "doc-sync"
    assert check_specification(folder) == []
    (command,) = commands_in(load_skill(folder))
    opened = agent.shell(
        command.command.replace("SKILL_DIR", str(folder)).replace("python3", shlex.quote(sys.executable), 1)
    )
    assert (opened.at, opened.context) == ("discover", {"scope": "repo", "path": "."})


@pytest.mark.req("W-03")
def test_a_command_in_the_text_of_a_step_is_one_that_can_be_run(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SKILLS / SCRIPT), "--step", "1"], cwd=project, capture_output=True, text=True, check=True
    )
    program = join(lockstep_command())
    assert f"`{program} abandon RUN --reason TEXT`" in done.stdout
    assert "`lockstep " not in done.stdout

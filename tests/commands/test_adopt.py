from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from skills.lib.agent.prose import opening
from skills.lib.testing.agent import Agent
from tests.commands.conftest import Command

REVIEWING = """---
name: reviewing
description: Reviews one change before it is merged.
allowed-tools: Read, Grep, Bash(git diff:*)
---

# Reviewing

Never merge what you have not read.

## Process

### Step 1: Read the change

Read the whole diff.

- Do not skim.

### Step 2: Check it

- [ ] Tests pass
- [ ] Docs are true

### Step 3: Report

Write down what you found. Ask the user to approve the report.

## Background

Reviews find what tests do not.
"""
DRAWN = """---
name: drawn
description: Works by a graph.
---

## Process

```dot
digraph {
  write [label="Write"]; good [label="Good?" shape=diamond]; send [label="Send" shape=doublecircle];
  write -> good; good -> write [label="no"]; good -> send [label="yes"];
}
```
"""
RIVALS = """---
name: rivals
description: Has two procedures.
---

# Rivals

## Release process

1. Build it
2. Publish it

## Rollback process

1. Stop it
2. Put the old one back
"""


@pytest.fixture
def skill(project: Path) -> Path:
    return made(project, "reviewing", REVIEWING)


def made(project: Path, name: str, text: str) -> Path:
    folder = project / "skills" / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    return folder


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.req("E-06")
def test_a_draft_says_what_it_is_and_what_comes_next(cli: Command, skill: Path, snapshot: SnapshotAssertion) -> None:
    shown = cli("adopt", "skills/reviewing")
    assert (shown.code, shown.err) == (0, "")
    assert files(skill) == ["SKILL.md", "scripts/reviewing.py", "workflow.md", "workflow.yaml"]
    assert (skill / "SKILL.md").read_text(encoding="utf-8") == REVIEWING
    assert shown.out == snapshot(name="output")
    assert (skill / "workflow.yaml").read_text(encoding="utf-8") == snapshot(name="workflow.yaml")
    assert (skill / "workflow.md").read_text(encoding="utf-8") == snapshot(name="workflow.md")


def test_a_dry_run_writes_nothing(cli: Command, skill: Path) -> None:
    shown = cli("adopt", "skills/reviewing", "--dry-run")
    assert shown.code == 0
    assert "Would write in skills/reviewing" in shown.out
    assert files(skill) == ["SKILL.md"]


def test_a_program_reads_the_steps_and_the_files(cli: Command, project: Path) -> None:
    made(project, "drawn", DRAWN)
    data = json.loads(cli("adopt", "skills/drawn", "--dry-run", "--json").out)
    assert (data["rule"], data["heading"], data["line"], data["written"]) == ("graph", "Process", 8, False)
    assert [(step["id"], step["lines"], step["next"]) for step in data["steps"]] == [
        ("write", [[10, 11]], {"ok": "good"}),
        ("good", [[10, 11]], {"no": "write", "yes": "send"}),
        ("send", [[10, 10]], {"ok": None}),
    ]
    assert [entry["lines"] for entry in data["left_out"]] == [[1, 4], [6, 6], [8, 9], [12, 13]]
    assert sorted(data["files"]) == ["scripts/drawn.py", "workflow.md", "workflow.yaml"]


@pytest.mark.parametrize(
    "before, asked, fields",
    [("", True, False), ("Look at it once more. ", True, True), ("Do not ask, or: ", False, False)],
)
def test_a_question_is_for_a_person_also_if_a_list_has_its_answers(
    cli: Command, project: Path, before: str, asked: bool, fields: bool
) -> None:
    said = f"{before}Ask the user whether to merge"
    text = f"## Process\n\n1. Read it\n2. {said}:\n   - yes: merge it\n   - no: stop\n3. Report\n"
    made(project, "merging", f"---\nname: merging\ndescription: Merges.\n---\n\n{text}")
    draft = json.loads(cli("adopt", "skills/merging", "--dry-run", "--json").out)
    graph = yaml.safe_load(draft["files"]["workflow.yaml"])
    step = list(graph["steps"].values())[1]
    assert ("person" in step, "prepared" in str(step.get("requires"))) == (asked, fields)
    guess = "a person is asked, as the sentence before its last list says"
    assert (guess in " ".join(draft["files"]["workflow.yaml"].replace("#", "").split())) is asked


def test_two_structures_are_for_the_user_to_choose_from(cli: Command, project: Path) -> None:
    folder = made(project, "rivals", RIVALS)
    shown = cli("adopt", "skills/rivals")
    assert shown.code == 3
    assert shown.err == (
        "lockstep: skills/rivals/SKILL.md has 2 structures that may be its procedure (ordered list)\n"
        "  valid: 'Release process' in line 8 (2 steps); 'Rollback process' in line 13 (2 steps)\n"
        "  try:   lockstep adopt skills/rivals --from 'Release process'\n"
    )
    assert files(folder) == ["SKILL.md"]
    chosen = cli("adopt", "skills/rivals", "--from", "rollback process", "--json")
    assert [step["title"] for step in json.loads(chosen.out)["steps"]] == ["Stop it", "Put the old one back"]


@pytest.mark.parametrize(
    "heading, error",
    [
        ("Rolback process", "has no heading 'Rolback process'; did you mean 'Rollback process'?"),
        ("99", "has no heading '99'"),
    ],
)
def test_a_heading_that_is_not_there_is_told(cli: Command, project: Path, heading: str, error: str) -> None:
    made(project, "rivals", RIVALS)
    shown = cli("adopt", "skills/rivals", "--from", heading)
    assert shown.code == 2
    assert error in shown.err


def test_nothing_is_overwritten(cli: Command, skill: Path) -> None:
    (skill / "scripts").mkdir()
    (skill / "scripts" / "reviewing.py").write_text("print('mine')\n")
    shown = cli("adopt", "skills/reviewing")
    assert shown.code == 3
    assert "scripts/reviewing.py exists already, and nothing is overwritten" in shown.err
    assert files(skill) == ["SKILL.md", "scripts/reviewing.py"]
    assert (skill / "scripts" / "reviewing.py").read_text() == "print('mine')\n"


def test_a_second_draft_is_refused(cli: Command, skill: Path) -> None:
    cli("adopt", "skills/reviewing")
    shown = cli("adopt", "skills/reviewing")
    assert shown.code == 3
    assert "workflow.yaml is there already, and nothing is overwritten" in shown.err


@pytest.mark.req("E-06")
@pytest.mark.parametrize("words", [[], ["--dry-run"]])
def test_a_draft_that_would_be_too_large_to_read_is_told_at_once(cli: Command, project: Path, words: list[str]) -> None:
    steps = "".join(f"### Step {at}: Look at part {at}\n\nRead it.\n\n" for at in range(1, 801))
    folder = made(project, "long", f"---\nname: long\ndescription: L.\n---\n# Long\n\n## Process\n\n{steps}")
    shown = cli("adopt", "skills/long", *words)
    assert shown.code == 3
    assert "lockstep: the draft would have 800 steps in " in shown.err
    assert "bytes, and a workflow.yaml has at most 64,000; nothing was written\n" in shown.err
    assert "  try:   lockstep adopt skills/long --from HEADING for a part of it" in shown.err
    assert files(folder) == ["SKILL.md"]


@pytest.mark.parametrize("given", ["skills/pipe", "skills/pipe/SKILL.md"])
def test_a_named_pipe_or_a_dangling_link_in_the_place_of_skill_md_is_told(
    cli: Command, project: Path, given: str
) -> None:
    file = project / "skills" / "pipe" / "SKILL.md"
    file.parent.mkdir(parents=True)
    os.mkfifo(file)
    shown = cli("adopt", given)
    assert (shown.code, shown.err) == (
        5,
        "lockstep: skills/pipe/SKILL.md: is not a regular file\n  try:   replace it with a plain file\n",
    )
    file.unlink()
    file.symlink_to("nowhere")
    shown = cli("adopt", given)
    assert shown.code == 5
    assert "skills/pipe/SKILL.md: cannot be opened: No such file" in shown.err


def test_a_workflow_in_python_is_named_and_kept(cli: Command, skill: Path) -> None:
    (skill / "scripts").mkdir()
    (skill / "scripts" / "check_workflow.py").write_text("register_workflow(WORKFLOW)\n")
    shown = cli("adopt", "skills/reviewing")
    assert shown.code == 3
    assert shown.err == (
        "lockstep: reviewing has a workflow already: scripts/check_workflow.py registers one\n"
        "  try:   lockstep show reviewing; or move it away, to make another\n"
    )


@pytest.mark.req("E-06")
def test_a_script_that_only_has_the_name_of_a_workflow_is_told_and_stays(cli: Command, skill: Path) -> None:
    (skill / "scripts").mkdir()
    script = skill / "scripts" / "publish_workflow.py"
    script.write_text("print('mine')\n")
    os.mkfifo(skill / "scripts" / "odd_workflow.py")
    shown = cli("adopt", "skills/reviewing")
    assert (shown.code, shown.err) == (0, "")
    note = "scripts/publish_workflow.py has the name of a workflow's module, and registers no workflow of Lockstep"
    assert f"note: {note}: lockstep list and validate call it broken until it is renamed: git mv" in shown.out
    assert "scripts/odd_workflow.py has the name" in shown.out
    assert script.read_text() == "print('mine')\n"
    assert (skill / "workflow.yaml").is_file()


def test_a_script_that_would_be_taken_for_the_graph_of_the_draft_is_refused(cli: Command, skill: Path) -> None:
    (skill / "scripts").mkdir()
    (skill / "scripts" / "reviewing_workflow.py").write_text("print('mine')\n")
    shown = cli("adopt", "skills/reviewing")
    assert shown.code == 3
    assert "scripts/reviewing.py would take it for its graph" in shown.err
    assert "git mv scripts/reviewing_workflow.py scripts/reviewing_steps.py" in shown.err
    assert files(skill) == ["SKILL.md", "scripts/reviewing_workflow.py"]


def test_an_adopted_question_takes_the_word_of_a_person(cli: Command, skill: Path, person: None) -> None:
    """An agent that answers in their place is refused; a person at a terminal is heard without any hook."""
    cli("adopt", "skills/reviewing")
    cli("adopt", "skills/reviewing", "--accept", "--yes")
    agent = Agent(skill / "scripts" / "reviewing.py", Path.cwd())
    block = agent.open()
    block = agent.follow(agent.follow(block), tests_pass="yes", docs_are_true="yes")
    block = agent.follow(block, prepared="what was found")
    refused = agent.follow(block, answer="yes")
    assert refused.code == "person-needed"
    assert cli("answer", block.run, "yes").code == 0
    assert agent.show(block.run).kind == "done"


def test_a_link_out_of_the_skill_is_not_followed(cli: Command, skill: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (skill / "scripts").symlink_to(tmp_path / "elsewhere")
    shown = cli("adopt", "skills/reviewing")
    assert shown.code == 3
    assert "leads out of the skill" in shown.err
    assert os.listdir(tmp_path / "elsewhere") == []
    assert not (skill / "workflow.yaml").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(cli: Command, skill: Path) -> None:
    skill.chmod(0o555)
    shown = cli("adopt", "skills/reviewing")
    skill.chmod(0o755)
    assert shown.code == 4
    assert "cannot be written" in shown.err
    assert files(skill) == ["SKILL.md"]


def test_a_draft_that_is_stopped_halfway_leaves_nothing(
    cli: Command, skill: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(path: str, *_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("skills.lib.layers.adopting.placing.os.makedirs", stopped)
    assert cli("adopt", "skills/reviewing").code == 130
    assert files(skill) == ["SKILL.md"]


@pytest.mark.parametrize(
    "edge, way",
    [("b -> a", 'more: "there is more to do"'), ('b -> a [label="next ticket"]', 'next-ticket: "next ticket"')],
)
def test_a_loop_without_a_way_out_gets_one_and_keeps_its_label(
    cli: Command, project: Path, edge: str, way: str
) -> None:
    graph = f'digraph {{ a [label="Take one"]; b [label="Do it"]; a -> b; {edge}; }}'
    text = f"---\nname: loops\ndescription: Loops.\n---\n## Process\n\n```dot\n{graph}\n```\n"
    skill = made(project, "loops", text)
    assert cli("adopt", str(skill)).code == 0
    word = way.partition(":")[0]
    drafted = (skill / "workflow.yaml").read_text(encoding="utf-8")
    assert f"next:\n      {word}: take-one\n      finished: null" in drafted
    assert f'when:\n      {way}\n      finished: "all is done"' in drafted


def test_what_is_written_halfway_is_taken_back(cli: Command, skill: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: str, *_: object) -> None:
        raise OSError(28, "No space left on device", path)

    monkeypatch.setattr("skills.lib.layers.adopting.placing.os.makedirs", full)
    shown = cli("adopt", "skills/reviewing")
    assert shown.code == 4
    assert "cannot be written: No space left on device" in shown.err
    assert files(skill) == ["SKILL.md"]


@pytest.mark.parametrize(
    "path, error",
    [
        ("nowhere", "'nowhere' is not the folder of a skill"),
        ("reviewing", "'reviewing' is not the folder of a skill; did you mean skills/reviewing?"),
        ("skills/reveiwing", "'skills/reveiwing' is not the folder of a skill; did you mean skills/reviewing?"),
        ("skills", "skills has no SKILL.md"),
    ],
)
def test_a_path_that_is_no_skill_is_told(cli: Command, skill: Path, path: str, error: str) -> None:
    shown = cli("adopt", path)
    assert shown.code == 2
    assert error in shown.err


def test_a_file_that_is_too_large_or_has_terminal_codes_is_told(cli: Command, project: Path) -> None:
    large = made(project, "large", REVIEWING + "x" * 10_000_000)
    codes = made(project, "codes", REVIEWING.replace("# Reviewing", "# Re\x1b[2Jviewing"))
    for folder, why in ((large, "is larger than 1,000,000 bytes"), (codes, "holds the control character U+001B")):
        shown = cli("adopt", str(folder))
        assert shown.code == 5
        assert why in shown.err
        assert files(folder) == ["SKILL.md"]


def test_an_id_is_never_what_another_reader_of_yaml_takes_for_true_or_false(cli: Command, project: Path) -> None:
    made(project, "switch", "---\nname: switch\ndescription: S.\n---\n## Step 1: yes\n\na\n\n## Step 2: Off\n\nb\n")

    steps = json.loads(cli("adopt", "skills/switch", "--dry-run", "--json").out)["steps"]
    assert [step["id"] for step in steps] == ["step-yes", "step-off"]


def test_a_title_keeps_the_brackets_at_its_end(cli: Command, project: Path) -> None:
    body = "## Step 1: Gather (5 minutes)\n\na\n\n## Step 2) Ship it:\n\nb\n"
    made(project, "brackets", f"---\nname: brackets\ndescription: B.\n---\n{body}")

    steps = json.loads(cli("adopt", "skills/brackets", "--dry-run", "--json").out)["steps"]
    assert [step["title"] for step in steps] == ["Gather (5 minutes)", "Ship it"]


def test_a_graph_under_the_heading_of_a_procedure_may_begin_with_its_one_action(cli: Command, project: Path) -> None:
    graph = 'digraph { run -> green; green [shape=diamond]; green -> merge [label="yes"]; green -> stop [label="no"] }'
    text = f"---\nname: merging\ndescription: M.\n---\n# X\n\n## Workflow\n\n```dot\n{graph}\n```\n"
    made(project, "merging", text)

    steps = json.loads(cli("adopt", "skills/merging", "--dry-run", "--json").out)["steps"]
    assert {step["id"]: step["next"] for step in steps}["green"] == {"yes": "merge", "no": None}


def test_deep_nesting_is_one_step(cli: Command, project: Path) -> None:
    text = (
        "---\nname: deep\ndescription: Deep.\n---\n"
        + "> " * 3_000
        + "x\n"
        + "".join("  " * at + "- y\n" for at in range(200))
    )
    made(project, "deep", text)
    data = json.loads(cli("adopt", "skills/deep", "--json").out)
    assert [step["id"] for step in data["steps"]] == ["follow-deep"]


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a person at the terminal."""
    monkeypatch.setattr("skills.lib.terminal.is_there", lambda: True)


@pytest.mark.req("E-06")
def test_a_person_makes_the_draft_the_workflow(cli: Command, skill: Path, person: None) -> None:
    cli("adopt", "skills/reviewing")
    shown = cli("adopt", "skills/reviewing", "--accept", given="y\n")
    assert shown.code == 0, shown.err
    assert "workflow.yaml: 3 steps, 2 marked as guessed." in shown.out
    assert files(skill) == [
        "SKILL.md",
        "scripts/reviewing.py",
        "scripts/reviewing.seal",
        "scripts/reviewing_workflow.json",
        "workflow.md",
        "workflow.yaml",
    ]
    text = (skill / "workflow.yaml").read_text(encoding="utf-8")
    assert text.startswith("# Made from SKILL.md by lockstep adopt, and accepted by a person.\n# In no step")
    assert "draft" not in text.lower()
    listed = cli("list", ".").out.splitlines()
    assert [line.split()[:3] for line in listed[1:]] == [["reviewing", "reviewing", "3"]]
    block = cli("walk", "./skills/reviewing", "--step", "check-it").out
    assert "tests_pass" in block
    assert cli("validate", "skills/reviewing").err.startswith("0 errors")
    again = cli("adopt", "skills/reviewing", "--accept")
    assert again.code == 3
    assert "is no draft: it is the skill's workflow already" in again.err


@pytest.mark.parametrize("host", ["CLAUDECODE", "CODEX_THREAD_ID"])
def test_an_agent_does_not_accept_a_draft(cli: Command, skill: Path, person: None, host: str) -> None:
    cli("adopt", "skills/reviewing")
    shown = cli("adopt", "skills/reviewing", "--accept", "--yes", env={host: "1"})
    assert shown.code == 3
    assert "accepting the draft of a workflow is a person's" in shown.err
    assert "draft: true" in (skill / "workflow.yaml").read_text(encoding="utf-8")


def test_a_draft_with_an_error_stays_a_draft(cli: Command, skill: Path, person: None) -> None:
    cli("adopt", "skills/reviewing")
    file = skill / "workflow.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("fail: report", "fail: reprot"), encoding="utf-8")
    shown = cli("adopt", "skills/reviewing", "--accept", "--yes")
    assert shown.code == 5
    assert "report -fail-> reprot: there is no step 'reprot'; did you mean report?" in shown.out
    assert "The draft stays a draft: 1 error to correct" in shown.err
    assert "draft: true" in file.read_text(encoding="utf-8")


def test_nothing_is_accepted_without_a_yes_or_a_draft(cli: Command, skill: Path, person: None) -> None:
    missing = cli("adopt", "skills/reviewing", "--accept")
    assert missing.code == 3
    assert "no draft to accept" in missing.err
    cli("adopt", "skills/reviewing")
    refused = cli("adopt", "skills/reviewing", "--accept", given="\n")
    assert refused.code == 3
    assert "it was not accepted, and nothing was changed" in refused.err
    mixed = cli("adopt", "skills/reviewing", "--accept", "--dry-run")
    assert mixed.code == 2
    assert "draft: true" in (skill / "workflow.yaml").read_text(encoding="utf-8")


@pytest.mark.req("E-06")
def test_until_then_a_draft_is_looked_at_and_not_run(cli: Command, skill: Path, project: Path) -> None:
    cli("adopt", "skills/reviewing")
    found = cli("validate", "skills/reviewing")
    assert found.code == 0
    assert "the workflow is a draft that no person has accepted" in found.out
    assert "report" in cli("graph", "./skills/reviewing", "--format", "mermaid").out
    script = skill / "scripts" / "reviewing.py"
    command = [sys.executable, str(script), "--step", "1", "--request", "x"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=project, timeout=60, check=False)
    assert run.returncode == 5
    assert "workflow.yaml is a draft that no person has accepted" in run.stderr
    assert "--accept" in run.stderr
    walked = cli("walk", "./skills/reviewing", "--step", "report")
    assert walked.code == 5
    assert "draft" in walked.err


def test_a_session_follows_the_prose_while_the_workflow_is_a_draft(cli: Command, skill: Path, project: Path) -> None:
    cli("adopt", "skills/reviewing")
    found = opening.found(str(project), "reviewing")
    assert found is not None
    assert "workflow.yaml is a draft that nobody accepted: it is ignored, and SKILL.md is followed" in found.notes

"""prompt-engineer, walked as an agent walks it: real prompts improved, by printed commands, in all four scopes."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skills.lib.runtime import loading
from skills.lib.skillfile.commands import commands_in
from skills.lib.skillfile.document import load_skill
from skills.lib.skillfile.specification import check_specification
from tests.fixtures import warm_python
from tests.skills.follower import SKILLS, Block, Follower, Values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syrupy.assertion import SnapshotAssertion

FOLDER = SKILLS / "prompt-engineer"
SCRIPTS = FOLDER / "scripts"
RUN = ".lockstep/prompts/job"
STEPS = {
    "single_prompt": ["triage", "understand", "plan", "refine", "approve", "execute"],
    "ecosystem": ["triage", "assess", "understand", "verify", "plan", "refine", "approve", "execute"],
    "greenfield": ["triage", "requirements", "understand", "design", "refine", "approve", "execute"],
    "problem": ["triage", "diagnose", "understand", "target", "refine", "approve", "execute"],
}

TRIAGE_PROMPT = """You are a world-class support expert.
Read the mail: {mail}
Don't be too long. Give the label: billing, bug or other.
Always give one label.
Give all labels that fit.
"""
WRITE_PROMPT = """You get severity and steps.
Write the reply to {customer}.
"""
CASES = [
    "made up: 'charged twice, and it crashes' | one label, billing | two labels (expected)",
    "made up: 'it crashes' | bug | bug (expected)",
]
TASK: Values = {
    "request": "Please improve prompts/triage.md, it sometimes gives two labels.",
    "files": ["prompts/triage.md"],
    "reader": "unknown model; src/send.py fills in {mail}; the queue reads the label",
    "folder": RUN,
    "fits": "yes",
}
FAULTS: Values = {
    "purpose": "Given a customer's mail, it yields one label that puts the mail into a queue.",
    "cases": CASES,
    "findings": [
        'prompts/triage.md | "Give all labels that fit." | clashes with the line before; case 1 gets two labels',
        'prompts/triage.md | "Don\'t be too long." | no limit that can be seen; case 1 yields a paragraph',
    ],
    "parts": [
        'prompts/triage.md | "You are a world-class" | a voice that nothing reads | none found',
        'prompts/triage.md | "Read the  mail: {mail}" | brings the input in | every mail',
    ],
    "keep": ["{mail}", "billing, bug or other"],
}
PLAN: Values = {"rejected": ["chain-of-thought | the label is a look-up, and the queue reads one word"]}
CLASH = {
    "id": "C1",
    "file": "prompts/triage.md",
    "technique": "one-precedence",
    "quote": "Always give one label.\nGive all labels that fit.\n",
    "replacement": "Give one label. If several fit, billing goes before bug, and bug before other.\n",
    "why": "case 1; costs a sentence",
}
LENGTH = {
    "id": "C2",
    "file": "prompts/triage.md",
    "technique": "verifiable-criteria",
    "quote": "Don't be too long.",
    "replacement": "Answer with the label alone.",
    "why": "case 1; costs nothing",
}
ROLE = {
    "id": "C3",
    "file": "prompts/triage.md",
    "technique": "role-limits",
    "quote": "You are a world-class support expert.\n",
    "replacement": "",
    "why": "no case needs it",
}
STOOD = {
    1: "'two rules can apply to one input' describes what stands in case 1",
    2: "'two readers would judge one output differently' describes what stands in case 1",
    3: "'You are a world-class support expert.' bears on no case",
}
VERDICTS: Values = {"verdicts": [f"C1 | {STOOD[1]} | kept", f"C2 | {STOOD[2]} | kept", f"C3 | {STOOD[3]} | kept"]}
SUMMARY: Values = {}
IMPROVED = """Read the mail: {mail}
Answer with the label alone. Give the label: billing, bug or other.
Give one label. If several fit, billing goes before bug, and bug before other.
"""
DONE: Values = {"traced": ['1 | "billing goes before bug"', '2 | "Give one label."']}
TOLD = (
    f"Written: prompts/triage.md (C1, C2, C3). The old texts lie under {RUN}/before. No model was run on the new ones."
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with weak prompts."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "triage.md").write_text(TRIAGE_PROMPT, encoding="utf-8")
    (tmp_path / "prompts" / "write.md").write_text(WRITE_PROMPT, encoding="utf-8")
    return tmp_path


@pytest.fixture
def agent(project: Path) -> Follower:
    return Follower("prompt-engineer/scripts/single_prompt.py", project)


@pytest.fixture
def planning(agent: Follower) -> Block:
    """The single prompt's plan step, first entry."""
    return follow_all(agent, agent.begin(), TASK, FAULTS)


@pytest.fixture
def asking(agent: Follower, planning: Block, project: Path) -> Block:
    """The question, with three changes planned and kept."""
    write_plan(project, CLASH, LENGTH, ROLE)
    return follow_all(agent, planning, PLAN, VERDICTS, SUMMARY)


def follow_all(agent: Follower, block: Block, *values: Values) -> Block:
    for reported in values:
        block = agent.follow(block, reported)
        assert block.exit_code == 0, block.text
    return block


def answer(agent: Follower, block: Block, word: str, reason: str = "") -> Block:
    reply = agent.follow(block, {"answer": word}) if not reason else None
    return reply or agent.run(block.next.replace("FILL_answer", word) + f" --reason '{reason}'")


def write_plan(project: Path, *changes: dict[str, Any]) -> None:
    folder = project / RUN
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plan.json").write_text(json.dumps(changes), encoding="utf-8")


def prompt(project: Path, name: str = "triage") -> str:
    return (project / "prompts" / f"{name}.md").read_text(encoding="utf-8")


def check(project: Path, *arguments: str | Sequence[str]) -> tuple[int, str]:
    """Run the check script as a step does; lists stand as JSON."""
    words = [word if isinstance(word, str) else json.dumps(word) for word in arguments]
    done = warm_python.run(SCRIPTS / "check_prompts.py", *words, cwd=project)
    assert done.stderr == ""
    return done.returncode, done.stdout


def stable(block: Block) -> str:
    return block.stable().replace(os.environ["LOCKSTEP_HOME"], "HOME")


@pytest.mark.req("W-18")
@pytest.mark.parametrize("script", STEPS)
def test_the_scopes_have_their_steps(script: str) -> None:
    workflow = loading.workflow_of_script(str(SCRIPTS / f"{script}.py"))
    assert workflow.name == f"prompt-engineer-{script.replace('_', '-')}"
    assert [step.id for step in workflow.steps] == STEPS[script]
    assert all(any("material" in rule for rule in step.forbidden) for step in workflow.steps)


@pytest.mark.req("W-18")
def test_a_weak_prompt_is_improved_after_the_user_had_the_plan_revised(agent: Follower, project: Path) -> None:
    block = follow_all(agent, agent.begin(), TASK, FAULTS)
    write_plan(project, CLASH, LENGTH)
    two: Values = {"verdicts": [f"C1 | {STOOD[1]} | kept", f"C2 | {STOOD[2]} | kept"]}
    block = follow_all(agent, block, PLAN, two, SUMMARY)
    assert block.at == "waiting"
    assert prompt(project) == TRIAGE_PROMPT

    block = answer(agent, block, "revise", "Take the world-class line out too.")
    assert (block.at, block.context["approve.reason"]) == ("plan", "Take the world-class line out too.")
    write_plan(project, CLASH, LENGTH, ROLE)
    block = follow_all(agent, block, PLAN, VERDICTS, SUMMARY)
    assert prompt(project) == TRIAGE_PROMPT

    execute = answer(agent, block, "yes")
    assert execute.at == "execute"
    assert prompt(project) == TRIAGE_PROMPT
    done = agent.follow(execute, DONE)
    assert (done.at, done.result["told"]) == ("done", TOLD)
    assert prompt(project) == IMPROVED
    assert (project / RUN / "before/prompts/triage.md").read_text() == TRIAGE_PROMPT
    assert (project / RUN / "changes.diff").read_text() == (
        "--- a/prompts/triage.md\n"
        "+++ b/prompts/triage.md\n"
        "@@ -1,5 +1,3 @@\n"
        "-You are a world-class support expert.\n"
        " Read the mail: {mail}\n"
        "-Don't be too long. Give the label: billing, bug or other.\n"
        "-Always give one label.\n"
        "-Give all labels that fit.\n"
        "+Answer with the label alone. Give the label: billing, bug or other.\n"
        "+Give one label. If several fit, billing goes before bug, and bug before other.\n"
    )


@pytest.mark.req("W-18")
def test_what_is_seen_before_and_after_the_answer(agent: Follower, asking: Block, snapshot: SnapshotAssertion) -> None:
    assert "- C1 | prompts/triage.md | one-precedence | case 1; costs a sentence" in asking.words("QUESTION")
    assert stable(asking) == snapshot(name="question")
    execute = answer(agent, asking, "yes")
    assert execute.context["approve.answer"] == "yes"
    assert stable(execute) == snapshot(name="execute")


def test_the_plan_is_given_every_technique_with_its_trigger(planning: Block) -> None:
    lines = planning.words("DO").rstrip().splitlines()
    assert "   one-precedence: two rules can apply to one input and ask for different things." in lines
    assert sum(line.startswith("   ") and line.endswith(".") and ": " in line for line in lines[-23:]) == 23


def test_stop_changes_nothing(agent: Follower, asking: Block, project: Path) -> None:
    done = answer(agent, asking, "stop")
    assert (done.at, prompt(project)) == ("done", TRIAGE_PROMPT)


def test_nothing_is_done_without_an_answer(agent: Follower, asking: Block, project: Path) -> None:
    run = asking.root.get("run")
    for step in ("execute", "next"):
        called = shlex.join([sys.executable, str(agent.script)])
        command = f"{called} --step {step} --run {run} --turn {asking.root.get('turn')}"
        refused = agent.run(f"{command} --project {project}")
        assert (refused.exit_code, refused.root.get("code")) == (3, "unanswered")
    refused = answer(agent, asking, "sure")
    assert (refused.exit_code, refused.root.get("code")) == (3, "bad-value")
    assert prompt(project) == TRIAGE_PROMPT


def test_what_was_dropped_is_not_made(agent: Follower, planning: Block, project: Path) -> None:
    write_plan(project, CLASH, LENGTH, ROLE)
    verdicts = [f"C1 | {STOOD[1]} | kept", f"C2 | {STOOD[2]} | dropped", f"C3 | {STOOD[3]} | dropped"]
    block = follow_all(agent, planning, PLAN, {"verdicts": verdicts}, SUMMARY)
    follow_all(agent, answer(agent, block, "yes"), DONE)
    assert prompt(project) == TRIAGE_PROMPT.replace(CLASH["quote"], CLASH["replacement"])


def test_a_fixed_change_is_checked_again_and_dropping_all_ends_the_run(
    agent: Follower, planning: Block, project: Path
) -> None:
    write_plan(project, CLASH)
    block = follow_all(agent, planning, PLAN, {"verdicts": [f"C1 | {STOOD[1]} | mended"]})
    assert (block.at, block.root.get("iteration")) == ("refine", "2")
    assert block.context["refine.verdicts"] == f"- C1 | {STOOD[1]} | mended"
    done = agent.follow(block, {"verdicts": [f"C1 | {STOOD[1]} | dropped"]})
    assert (done.at, prompt(project)) == ("done", TRIAGE_PROMPT)


def test_the_check_of_techniques_has_the_entries_of_those_that_the_plan_uses(
    agent: Follower, planning: Block, project: Path
) -> None:
    write_plan(project, CLASH)
    refine = follow_all(agent, planning, PLAN)
    entry = refine.context["plan.entries"]
    assert entry.startswith(f"- {CLASH['technique']}\n  Use when: ")
    assert ("\n  Not when: " in entry, entry.count("Use when: "), "Source: " in entry) == (True, 1, False)


def test_a_prompt_without_faults_is_left_alone(agent: Follower) -> None:
    block = follow_all(agent, agent.begin(), TASK)
    nothing = agent.follow(block, {**FAULTS, "findings": []})
    assert "no fault was found, so that held says why: for each of the 2 cases" in nothing.words("WHY")
    held = [
        'prompts/triage.md | "Always give one label." | case 1: one label',
        'prompts/triage.md | "billing, bug or other" | case 2: bug is among them',
    ]
    assert (
        "does not stand in" in agent.follow(block, {**FAULTS, "findings": [], "held": [held[0], HELD_WRONG]}, True).text
    )
    done = agent.follow(block, {**FAULTS, "findings": [], "held": held}, True)
    assert (done.at, done.result["findings"]) == ("done", "")


HELD_WRONG = 'prompts/triage.md | "Be brief." | case 2'


@pytest.mark.parametrize(
    "cases, why",
    [
        (CASES, "2 cases"),
        (["a normal ticket", CASES[1]], "case 1, 'a normal ticket': write input | what is right | what comes today"),
        ([CASES[0].rpartition("|")[0], CASES[1]], "write input | what is right | what comes today; run or not"),
        ([CASES[0], CASES[0].upper()], "case 2: its input is that of an earlier case"),
    ],
)
def test_a_case_has_its_input_and_what_is_right(project: Path, cases: list[str], why: str) -> None:
    code, told = check(project, "cases", cases, "3")
    assert (code, why in told) == (int(cases != CASES), True), told


@pytest.mark.parametrize("files", [["prompts/none.md"], []])
def test_another_scope_ends_the_run_at_once(agent: Follower, files: list[str]) -> None:
    done = agent.follow(agent.begin(), {**TASK, "files": files, "fits": "greenfield"})
    assert (done.at, done.result["fits"]) == ("done", "greenfield")


@pytest.mark.parametrize(
    "folder, files, why",
    [
        (RUN, ["prompts/none.md"], "prompts/none.md cannot be read: No such file"),
        (RUN, [], "0 prompts; this scope takes 1 to 2"),
        (RUN, ["prompts/write.md"] * 2, "prompts/write.md stands 2 times in files"),
        (RUN, ["../else.md"], "../else.md lies outside the project"),
        ("prompts", ["prompts/triage.md"], "prompts/triage.md lies in the run's own folder"),
        (".", ["prompts/triage.md"], ". lies outside the project"),
    ],
)
def test_a_task_that_does_not_hold_is_refused(project: Path, folder: str, files: list[str], why: str) -> None:
    code, told = check(project, "begin", folder, files, "yes", "1", "2")
    assert (code, why in told) == (1, True), told


def test_a_folder_with_the_old_prompts_of_another_run_is_refused(agent: Follower, asking: Block) -> None:
    refused = agent.follow(agent.begin("--new"), TASK)
    assert "holds the changes and the old prompts of an earlier run" in refused.words("WHY")


@pytest.mark.parametrize(
    "traced, why",
    [
        (['1 | "billing goes before bug"'], "case 2 has no passage"),
        (['1, 2 | "billing goes before bug"', '2 | "always two"'], "case 2: 'always two' stands in no prompt under"),
        (['1 | "billing goes before bug"', '7 | "Give one label."'], "the form is the number of a case, 1 to 2"),
    ],
)
def test_each_case_is_traced_to_a_passage_of_the_new_text(
    agent: Follower, project: Path, asking: Block, traced: list[str], why: str
) -> None:
    execute = answer(agent, asking, "yes")
    padded = traced * 2 if len(traced) == 1 else traced
    assert why in agent.follow(execute, {"traced": padded}).words("WHY")
    assert prompt(project) == TRIAGE_PROMPT
    assert agent.follow(execute, DONE).at == "done"


def test_a_change_that_was_dropped_is_told_with_the_answer_that_refuted_it(
    agent: Follower, planning: Block, project: Path
) -> None:
    write_plan(project, CLASH, ROLE)
    verdicts: Values = {"verdicts": [f"C1 | {STOOD[1]} | kept", "C3 | 'world-class' is what case 2 needs | dropped"]}
    asked = follow_all(agent, planning, PLAN, verdicts, SUMMARY)
    assert (
        "- dropped | C3, role-limits | 'world-class' is what case 2 needs\n- rejected | chain-of-thought |"
        in asked.words("QUESTION")
    )
    assert agent.follow(answer(agent, asked, "yes"), DONE).result["told"].startswith("Written: prompts/triage.md (C1).")


def test_a_fault_that_quotes_what_is_not_there_is_refused(agent: Follower) -> None:
    block = follow_all(agent, agent.begin(), TASK)
    findings = ['"Be brief." | no limit', "Read | no quotation marks"]
    refused = agent.follow(block, {**FAULTS, "findings": findings})
    assert "entry 1: 'Be brief.' does not stand in prompts/triage.md" in refused.words("WHY")
    assert "entry 2, 'Read | no quotation marks': the form is" in refused.words("WHY")


@pytest.mark.parametrize(
    "changes, why",
    [
        ([], "holds none"),
        ([{**CLASH, "quote": "Always give a label."}], "line 4 is near: 'Always give one label.'"),
        ([{**CLASH, "quote": "label"}], "stands 3 times in prompts/triage.md; quote more around it"),
        ([{**CLASH, "technique": "chain-of-thoughts"}], "the nearest is chain-of-thought"),
        ([{**CLASH, "file": "prompts/write.md"}], "none of this run's prompts: prompts/triage.md"),
        ([{**CLASH, "replacement": CLASH["quote"]}], "quote and replacement are the same"),
        ([{**CLASH, "why": " "}], "entry 1: why is missing"),
        ([{**CLASH, "cost": "none"}], "cost: no part of a change"),
        ([{key: CLASH[key] for key in CLASH if key != "replacement"}], "an empty text takes the passage out"),
        ([{**CLASH, "finding": 1}], "entry 1: finding 1: this run has no findings; or leave it out, and give quote"),
        ([{"technique": "one-precedence"}], "quote is missing, or no text; give it, or in finding the number"),
        ([CLASH, {**LENGTH, "id": "C1"}], "C1 stands 2 times as an id"),
        ([CLASH, {**LENGTH, "quote": "other.\nAlways"}], "C2 and C1 change the same words"),
        ([{**LENGTH, "quote": "billing, bug or other"}], "'billing, bug or other' is to be kept"),
    ],
)
def test_a_plan_that_does_not_fit_its_prompt_is_refused(project: Path, changes: list[dict[str, Any]], why: str) -> None:
    write_plan(project, *changes)
    code, told = check(project, "plan", RUN, ["prompts/triage.md"], ["{mail}", "billing, bug or other"])
    assert (code, why in told) == (1, True), told


def test_a_change_takes_its_place_from_the_finding_that_it_answers_and_tells_the_user_of_it(
    agent: Follower, planning: Block, project: Path
) -> None:
    both = {"technique": "one-precedence", "quote": CLASH["quote"], "replacement": CLASH["replacement"], "finding": 1}
    length = {"technique": "verifiable-criteria", "replacement": "Answer with the label alone.", "finding": 2}
    write_plan(project, both, length)
    verdicts: Values = {"verdicts": ["C1 | 'bug before other' leaves one | kept", f"C2 | {STOOD[2]} | kept"]}
    asked = follow_all(agent, planning, PLAN, verdicts, SUMMARY)
    told = [line for line in asked.words("QUESTION").splitlines() if line.startswith("- C")]
    assert told == [
        "- C1 | prompts/triage.md | one-precedence | clashes with the line before; case 1 gets two labels",
        "- C2 | prompts/triage.md | verifiable-criteria | no limit that can be seen; case 1 yields a paragraph",
    ]
    follow_all(agent, answer(agent, asked, "yes"), DONE)
    assert prompt(project) == f"You are a world-class support expert.\n{IMPROVED}"


def test_a_fault_needs_a_part_that_is_to_stay(agent: Follower) -> None:
    block = follow_all(agent, agent.begin(), TASK)
    refused = agent.follow(block, {**FAULTS, "parts": []})
    assert "parts is empty: of each passage that a change may touch" in refused.words("WHY")


def test_a_refused_plan_goes_on_once_it_is_fixed(agent: Follower, planning: Block, project: Path) -> None:
    write_plan(project, {**CLASH, "quote": "Always give a label."})
    refused = agent.follow(planning, PLAN)
    assert (refused.exit_code, refused.root.get("code")) == (3, "missing-evidence")
    assert "C1: 'Always give a label.' does not stand in prompts/triage.md; line 4 is near" in refused.words("WHY")
    write_plan(project, CLASH)
    assert agent.follow(refused, PLAN).at == "refine"


@pytest.mark.parametrize(
    "verdicts, why",
    [
        (["C1 | kept"], "id | answer | one of kept, mended, dropped"),
        (["C1 | it is good | kept"], "verdict C1 quotes no words of its change or of its technique's entry"),
        (["C1 | 'it is good' | kept"], "verdict C1 quotes no words of its change or of its technique's entry"),
        (["C1 | ' ' | kept"], "quote those that decide, of the entry two at least"),
        (["C1 | 'two' | kept"], "quote those that decide, of the entry two at least"),
        (["C1 | 'Use when' holds | kept"], "quote those that decide, of the entry two at least"),
        ([f"C1 | {STOOD[1]} | good"], "one of kept, mended, dropped"),
        ([f"C1 | {STOOD[1]} | kept"], "C2 of plan.json has no verdict"),
        (
            [f"C1 | {STOOD[1]} | kept", f"C2 | {STOOD[2]} | kept", f"C9 | {STOOD[1]} | kept"],
            "plan.json has no such change",
        ),
        ([f"C1 | {STOOD[1]} | kept", f"C1 | {STOOD[1]} | kept"], "C1 has two verdicts"),
    ],
)
def test_a_change_without_its_verdict_is_refused(project: Path, verdicts: list[str], why: str) -> None:
    write_plan(project, CLASH, LENGTH)
    code, told = check(project, "build", RUN, ["prompts/triage.md"], [], verdicts)
    assert (code, why in told) == (1, True), told
    assert not (project / RUN / "changes.diff").exists()


def test_a_prompt_changed_before_the_yes_is_noticed(agent: Follower, planning: Block, project: Path) -> None:
    write_plan(project, CLASH)
    block = follow_all(agent, planning, PLAN, {"verdicts": [f"C1 | {STOOD[1]} | kept"]})
    changed = TRIAGE_PROMPT.replace(CLASH["quote"], CLASH["replacement"])
    (project / "prompts/triage.md").write_text(changed, encoding="utf-8")
    refused = agent.follow(block, SUMMARY)
    assert "C1: 'Always give one label." in refused.words("WHY")
    assert "does not stand in prompts/triage.md" in refused.words("WHY")


def test_only_what_was_approved_is_written(agent: Follower, asking: Block, project: Path) -> None:
    execute = answer(agent, asking, "yes")
    edited = {
        "prompts/triage.md": "prompts/triage.md was edited since the user said yes; nothing was written",
        f"{RUN}/changes.diff": f"do not give the approved {RUN}/changes.diff",
        f"{RUN}/before/prompts/triage.md": f"do not give the approved {RUN}/changes.diff",
    }
    for path, why in edited.items():
        approved = (project / path).read_text(encoding="utf-8")
        (project / path).write_text(f"edited\n{approved}", encoding="utf-8")
        before = prompt(project)
        assert why in agent.follow(execute, DONE).words("WHY")
        assert prompt(project) == before
        (project / path).write_text(approved, encoding="utf-8")
    assert agent.follow(execute, DONE).at == "done"
    assert prompt(project) == IMPROVED


@pytest.mark.req("W-18")
def test_a_handover_is_changed_on_both_sides(project: Path) -> None:
    agent = Follower("prompt-engineer/scripts/ecosystem.py", project)
    files = ["prompts/triage.md", "prompts/write.md"]
    gives = {
        "id": "C1",
        "file": "prompts/triage.md",
        "technique": "handoff-contract",
        "quote": "Give all labels that fit.",
        "replacement": "End with one line: label: billing, bug or other; steps: as told, or none.",
        "why": "H1, with C2",
    }
    takes = {
        "id": "C2",
        "file": "prompts/write.md",
        "technique": "handoff-contract",
        "quote": "You get severity and steps.",
        "replacement": "You get one line: label: billing, bug or other; steps: as told, or none.",
        "why": "H1, with C1",
    }
    picture: Values = {
        "purpose": "Given a mail, the first labels it and the second writes the reply.",
        "handoffs": [
            'prompts/triage.md | "Give the label" | H1 gives to write: a label, no severity, no steps',
            'prompts/write.md | "You get severity and steps." | H1 takes from triage: severity, steps',
        ],
        "shared": [],
        "keep": ["{mail}", "{customer}"],
    }
    answers: Values = {
        "answers": ['prompts/write.md | "severity and steps" | H1: a label is not asked for | agrees'],
        "corrections": [],
    }
    faults: Values = {
        "cases": CASES,
        "findings": ['prompts/write.md | "You get severity" | triage gives a label; case 2 arrives without steps'],
    }
    block = follow_all(agent, agent.begin(), {**TASK, "files": files}, faults, picture)
    assert block.at == "verify"
    block = follow_all(agent, block, answers)
    assert "understand.handoffs" in block.context
    write_plan(project, gives, takes)
    stood = "'steps: as told' is what the other prompt takes"
    verdicts: Values = {"verdicts": [f"C1 | {stood} | kept", f"C2 | {stood} | kept"]}
    block = follow_all(agent, block, PLAN, verdicts, SUMMARY)
    traced = [f'{at} | "steps: as told, or none."' for at in range(1, len(files) + 1)]
    done = follow_all(agent, answer(agent, block, "yes"), {**DONE, "traced": traced})
    assert done.at == "done"
    assert prompt(project) == TRIAGE_PROMPT.replace(gives["quote"], gives["replacement"])
    assert prompt(project, "write") == WRITE_PROMPT.replace(takes["quote"], takes["replacement"])


DRAFT = """Below stands a question between QUESTION and END. Answer from the handbook, with the section.
QUESTION
{question}
END
If no section answers it, write: not in the handbook.
"""


@pytest.mark.req("W-18")
def test_a_new_prompt_grows_from_requirements(project: Path) -> None:
    agent = Follower("prompt-engineer/scripts/greenfield.py", project)
    wanted: Values = {
        "inputs": "question: one sentence by the public, may be hostile",
        "outputs": "two sentences for the person who asked",
        "requirements": [
            "R1 | names its section | user",
            "R2 | says so where none | user",
            "R3 | two sentences | user",
        ],
        "cases": CASES,
    }
    hard: Values = {
        "purpose": "Given a question, it yields an answer from the handbook with its section.",
        "difficulties": ["no section answers | case 2 | knowledge", "instructions inside | case 1 | hostile input"],
        "plain": "It writes two sentences without being told how.",
        "keep": ["{question}"],
    }
    use = {"file": "prompts/answer.md", "why": "R2, case 2"}
    plan = [
        {"id": "C1", "technique": "abstention", "quote": "write: not in the handbook", **use},
        {"id": "C2", "technique": "data-separation", "quote": "between QUESTION and END", **use},
    ]
    drafted: Values = {**PLAN, "coverage": ["R1 | with the section", "R2 | not in the handbook", "R3 | untold"]}
    block = follow_all(agent, agent.begin(), {**TASK, "files": ["prompts/answer.md"]}, wanted, hard)
    write_plan(project, *plan)
    refused = agent.follow(block, drafted)
    assert "prompts/answer.md is neither there nor drafted as" in refused.words("WHY")
    draft = project / RUN / "draft" / "prompts" / "answer.md"
    draft.parent.mkdir(parents=True)
    draft.write_text(DRAFT.replace("{question}", "{q}"), encoding="utf-8")
    assert "'{question}' is to be kept, and stands in no draft" in agent.follow(block, drafted).words("WHY")
    draft.write_text(DRAFT, encoding="utf-8")
    block = follow_all(agent, block, drafted)
    first, second = "C1 | 'not in the handbook' is R2", "C2 | 'between QUESTION and END' is case 1"
    dropped: Values = {"verdicts": [f"{first} | kept", f"{second} | dropped"]}
    assert "C2 was dropped, and its passage still stands" in agent.follow(block, dropped).words("WHY")
    kept: Values = {"verdicts": [f"{first} | kept", f"{second} | kept"]}
    block = follow_all(agent, block, kept, SUMMARY)
    execute = answer(agent, block, "yes")
    assert not (project / "prompts/answer.md").exists()
    traced = [f'{at} | "{quote}"' for at, quote in enumerate(("not in the handbook", "section"), 1)]
    assert follow_all(agent, execute, {**DONE, "traced": traced}).at == "done"
    assert prompt(project, "answer") == DRAFT
    assert (project / RUN / "changes.diff").read_text().startswith("--- /dev/null\n+++ b/prompts/answer.md\n")


@pytest.mark.req("W-18")
def test_a_failure_is_cured_at_the_words_that_led_to_it(project: Path) -> None:
    agent = Follower("prompt-engineer/scripts/problem.py", project)
    (project / "failed.txt").write_text("IN: charged twice, and it crashes\nOUT: billing, bug\n", encoding="utf-8")
    diagnosis: Values = {
        "transcript": "failed.txt",
        "failure": "Two labels came; one should have come, for the queue takes one.",
        "cause": "Two rules apply and the later won; nothing in the mail asks for two. Not run.",
        "findings": [
            'prompts/triage.md | "Give all labels that fit." | stands last, so it won over the line before',
            'failed.txt | "OUT: billing, bug" | both labels came',
        ],
        "cases": CASES,
    }
    chain: Values = {
        "purpose": "Given a customer's mail, it yields one label for the queue.",
        "mechanism": ["the mail has two problems", "'Give all labels that fit.' applies last, so both come"],
        "dependents": ['prompts/triage.md | "Always give one label." | every mail'],
        "keep": ["{mail}"],
    }
    block = follow_all(agent, agent.begin(), {**TASK, "request": "It gave two labels, why?"}, diagnosis, chain)
    assert block.at == "target"
    write_plan(project, CLASH)
    block = follow_all(agent, block, PLAN, {"verdicts": [f"C1 | {STOOD[1]} | kept"]}, SUMMARY)
    assert follow_all(agent, answer(agent, block, "yes"), DONE).at == "done"
    assert prompt(project) == TRIAGE_PROMPT.replace(CLASH["quote"], CLASH["replacement"])


def test_a_cause_outside_the_prompt_ends_without_change(project: Path) -> None:
    agent = Follower("prompt-engineer/scripts/problem.py", project)
    (project / "failed.txt").write_text("IN: \nOUT: other\n", encoding="utf-8")
    elsewhere: Values = {
        "transcript": "failed.txt",
        "failure": "The label was other; the mail that was sent was empty.",
        "cause": "The mail never reached the prompt: {mail} was empty in the transcript.",
        "findings": [],
        "cases": CASES,
    }
    diagnose = follow_all(agent, agent.begin(), TASK)
    nowhere = agent.follow(diagnose, elsewhere)
    assert "findings is empty, so that cause names where it is seen" in nowhere.words("WHY")
    elsewhere["cause"] = "The mail never reached the prompt: it is empty in the transcript, failed.txt:1."
    done = follow_all(agent, diagnose, elsewhere)
    assert (done.at, done.result["cause"]) == ("done", elsewhere["cause"])


def test_line_ends_and_the_mode_of_a_file_stay(project: Path) -> None:
    file = project / "prompts/triage.md"
    file.write_bytes(TRIAGE_PROMPT.replace("\n", "\r\n").encode())
    file.chmod(0o640)
    write_plan(project, CLASH)
    task = (RUN, ["prompts/triage.md"], ["{mail}"], [f"C1 | {STOOD[1]} | kept"])
    assert check(project, "build", *task)[0] == 0
    for _ in range(2):
        assert check(project, "apply", *task) == (0, "written: prompts/triage.md\n")
    wanted = TRIAGE_PROMPT.replace(CLASH["quote"], CLASH["replacement"])
    assert file.read_bytes() == wanted.replace("\n", "\r\n").encode()
    assert file.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    "arguments, code, told",
    [
        ([], 2, "Checks what prompt-engineer reports"),
        (["quotes"], 2, "Checks what prompt-engineer reports"),
        (["quotes", "[1"], 2, "an argument is not JSON"),
        (["keep", ["{mail}"], ["prompts/triage.md"]], 0, "1 strings"),
        (["keep", ["{post}"], ["prompts/triage.md"]], 1, "'{post}' stands in none of the prompts"),
        (["plan", "none", ["prompts/triage.md"], []], 1, "none/plan.json cannot be read"),
        (["quotes", [f'{"/etc/hosts"} | "localhost" | outside']], 1, "/etc/hosts lies outside the project"),
        (["quotes", ['prompts/triage.md | "Read the mail" | x'] * 12 + ["bad"] * 12], 1, "and 2 more"),
    ],
)
def test_the_check_script_says_what_is_wrong(
    project: Path, arguments: list[str | list[str]], code: int, told: str
) -> None:
    returned, printed = check(project, *arguments)
    assert (returned, told in printed) == (code, True), printed


def test_every_technique_has_its_trigger_limits_cost_source_and_example() -> None:
    text = (FOLDER / "resources" / "techniques.md").read_text(encoding="utf-8")
    entries = text.split("\n## ")[1:]
    assert len(entries) == 23
    for entry in entries:
        heads = [line.partition(":")[0] for line in entry.splitlines()[1:] if line[:1].strip()]
        assert heads == ["Use when", "Not when", "Cost", "Source", "Before", "After"], entry
        assert "arXiv" in entry.partition("\nSource: ")[2]


def test_the_skill_file_leads_to_the_common_entry() -> None:
    skill = load_skill(FOLDER)
    assert check_specification(FOLDER) == []
    named = [command.command.rpartition("/")[2] for command in commands_in(skill)]
    assert named == ['prompt_engineer.py" --step 1 --scope single-prompt']

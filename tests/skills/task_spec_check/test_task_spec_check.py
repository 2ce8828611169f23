"""task-spec-check beside its verdicts: where the state is, who is told, and what two runs at once do to each other."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.skills.follower import SKILLS, Block, Follower
from tests.skills.task_spec_check.planted import DATA, SCRIPT, evidence, planted, run, state

TASK = {
    "id": "T1",
    "acceptanceCriteria": ["README.md names the discount of 10 percent"],
    "filesAllowed": ["src/**", "tests/**", "README.md"],
}
OTHER = {**TASK, "id": "T2", "acceptanceCriteria": ["`RATE` in `src/billing.py` is 25"]}
PROVED = {"C1": ["readme"]}
NOT_PROVED = {"C1": "FAIL: README.md:1 names no discount"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The planted project with the work done, and two tasks."""
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)
    found = planted({"files": {"src/billing.py": "RATE = 25\n"}}, tmp_path)
    state(found, [TASK, OTHER])
    return found


@pytest.fixture
def jeeves(project: Path) -> Path:
    """The same project, its state where Jeeves has it."""
    (project / ".lockstep-task").rename(project / ".jeeves")
    return project


def loaded(project: Path, *words: str, **values: str) -> Block:
    """The block after the task was loaded, or what says why it is not."""
    agent = Follower(SCRIPT, project)
    block = agent.begin(*words)
    return agent.run(with_records(block, values)) if block.at == "load" else block


def with_records(block: Block, values: dict[str, str]) -> str:
    """NEXT with values that it has no place for, as they may be left out."""
    more = [f"--record {name}='{value}'" for name, value in values.items()]
    return " ".join([block.next, *more])


def judged(project: Path, block: Block, given: dict[str, Any]) -> Block:
    """The block after the evidence was reported."""
    return Follower(SCRIPT, project).follow(block, {"evidence": evidence({}, given, block.turn)})


def published(project: Path, block: Block, answers: list[str]) -> Block:
    """The block after the tools' answers were reported."""
    return Follower(SCRIPT, project).follow(block, {"answers": answers})


def read(project: Path, path: str) -> Any:
    return json.loads((project / path).read_text(encoding="utf-8"))


def answers() -> dict[str, str]:
    """What the state's tools answer."""
    return {"issue": json.dumps({"status": {"currentTaskId": "T1"}}), "tasks": json.dumps({"tasks": [TASK, OTHER]})}


@pytest.mark.req("L-03")
def test_the_state_of_jeeves_is_told_by_its_tools(jeeves: Path) -> None:
    block = judged(jeeves, loaded(jeeves, "--profile", "jeeves", **answers()), PROVED)
    assert block.at == "passed"
    assert '- state_set_task_status {"taskId": "T1", "status": "passed"}' in block.context["prove.calls"]
    assert '"currentTaskId": "T2", "taskPassed": true' in block.context["prove.calls"]
    refused = published(jeeves, block, ["state_set_task_status | ok"])
    assert "tool state_update_issue_status is missing" in refused.why
    assert not (jeeves / ".jeeves/phase-report.json").exists()
    names = ("state_set_task_status", "state_update_issue_status", "state_append_progress")
    done = published(jeeves, block, [f"{name} | ok" for name in names])
    assert done.kind == "done"
    assert read(jeeves, ".jeeves/phase-report.json") == {
        "schemaVersion": 1,
        "phase": "task_spec_check",
        "outcome": "passed",
        "statusUpdates": {"taskPassed": True, "taskFailed": False, "hasMoreTasks": True, "allTasksComplete": False},
        "reasons": [f"1 of 1 criteria are proved; base {base(jeeves)} (HEAD as the run began)"],
        "evidenceRefs": ["README.md:3"],
    }
    assert sorted(os.listdir(jeeves / ".jeeves")) == ["issue.json", "phase-report.json", "task-evidence", "tasks.json"]


def base(project: Path) -> str:
    return run(project, "git", "rev-parse", "HEAD")


def test_a_tool_that_was_not_called_is_named(jeeves: Path) -> None:
    refused = loaded(jeeves, "--profile", "jeeves")
    assert "issue: record what state_get_issue answers, as JSON" in refused.why
    assert "tasks: record what state_get_tasks answers, as JSON" in refused.why


def test_an_answer_that_is_not_what_the_files_have_is_refused(jeeves: Path) -> None:
    easier = {**TASK, "acceptanceCriteria": ["README.md is there"]}
    given = {**answers(), "tasks": json.dumps({"tasks": [easier, OTHER]})}
    refused = loaded(jeeves, "--profile", "jeeves", **given)
    assert ".jeeves/tasks.json has another task T1 than was reported" in refused.why


@pytest.mark.req("L-03")
def test_feedback_is_there_after_a_fail_and_gone_after_a_pass(project: Path) -> None:
    feedback = project / ".lockstep-task/T1/task-feedback.md"
    failed = judged(project, loaded(project), NOT_PROVED)
    assert (failed.kind, failed.root.get("status")) == ("done", "failed")
    assert failed.result["found"] == "- C1 FAIL | README.md:1 names no discount\n- files PASS"
    assert feedback.read_text(encoding="utf-8") == (
        "# Task Feedback: T1\n\n## Failed Criteria\n\n- C1 FAIL: README.md names the discount of 10 percent\n"
        "  - README.md:1 names no discount\n\n## Files\n\n- as allowed\n\n## Base\n\n"
        f"Compared with {base(project)} (HEAD as the run began).\n"
    )
    assert read(project, ".lockstep-task/T1/status.json")["status"] == "failed"
    passed = judged(project, loaded(project), PROVED)
    assert (passed.kind, passed.root.get("status")) == ("done", "done")
    assert passed.words("STATE").endswith("Step passed was done by the engine.")
    assert not feedback.exists()
    assert read(project, ".lockstep-task/T1/status.json")["status"] == "passed"
    progress = (project / ".lockstep-task/T1/progress.md").read_text(encoding="utf-8")
    assert [line for line in progress.splitlines() if line.startswith("- [")] == [
        "- [ ] C1 FAIL (high): README.md names the discount of 10 percent",
        "- [x] C1 PASS (medium): README.md names the discount of 10 percent",
    ]


@pytest.mark.req("L-03")
def test_two_tasks_are_checked_side_by_side_and_share_no_file(project: Path) -> None:
    first, second = loaded(project, "--task", "T1"), loaded(project, "--task", "T2")
    rate = {"C1": [{"type": "code", "location": "src/billing.py:1", "quote": "RATE = 25"}]}
    passed, failed = judged(project, second, rate), judged(project, first, NOT_PROVED)
    assert [block.root.get("status") for block in (passed, failed)] == ["done", "failed"]
    names = ["evidence.json", "phase-report.json", "progress.md", "status.json"]
    assert sorted(os.listdir(project / ".lockstep-task/T1")) == [*names, "task-feedback.md"]
    assert sorted(os.listdir(project / ".lockstep-task/T2")) == names
    assert read(project, ".lockstep-task/T1/phase-report.json")["outcome"] == "failed"
    assert read(project, ".lockstep-task/T2/phase-report.json")["outcome"] == "passed"


def test_a_profile_whose_paths_would_meet_takes_one_task_at_a_time(jeeves: Path) -> None:
    loaded(jeeves, "--profile", "jeeves", **answers())
    refused = loaded(jeeves, "--profile", "jeeves", "--task", "T2", **answers())
    assert "checks task T1 in this project, and both would write .jeeves/phase-report.json" in refused.why
    parallel = loaded(jeeves, "--profile", "jeeves-parallel", "--task", "T2", **answers())
    assert parallel.at == "prove"


@pytest.mark.parametrize(
    "tasks, why",
    [
        ([{**TASK, "acceptanceCriteria": []}], "$.tasks.tasks[0].acceptanceCriteria"),
        ([{"id": "T1", "acceptanceCriteria": ["it is so"]}], "filesAllowed"),
        ([{**TASK, "id": "../T1"}], "$.tasks.tasks[0].id"),
        ([{**TASK, "filesAllowed": ["/etc/*"]}], "$.tasks.tasks[0].filesAllowed[0]"),
        ([{**TASK, "filesAllowed": ["src/../../x"]}], "src/../../x leads out of the project"),
        ([TASK, {**TASK, "id": "t1"}], "two tasks are called t1"),
        ([OTHER], "there is no task T1; there are T2"),
        ([{**TASK, "base": "nowhere"}], "the task's base nowhere is no commit of this repository"),
    ],
)
def test_a_task_that_cannot_be_judged_is_refused_with_the_place(
    project: Path, tasks: list[dict[str, Any]], why: str
) -> None:
    state(project, tasks)
    assert why in loaded(project).why


def committed(project: Path, tasks: list[dict[str, Any]]) -> str:
    """The commit of the project with these tasks in it."""
    state(project, tasks)
    run(project, "git", "add", "-Af", ".")
    run(project, "git", "commit", "-qm", "more")
    return run(project, "git", "rev-parse", "HEAD")


def test_the_base_of_a_task_is_not_moved_behind_its_own_work(project: Path) -> None:
    first = run(project, "git", "rev-parse", "HEAD")
    run(project, "git", "checkout", "-q", "--", ".")
    (project / "forbidden.py").write_text("x = 1\n")
    work = committed(project, [{**TASK, "base": first}, OTHER])
    told = f"base of T1 was {first[:12]} at the base {work[:12]}, and changes in between, as of forbidden.py, would not"
    state(project, [{**TASK, "base": work}, OTHER])
    assert told in loaded(project).why
    state(project, [TASK, OTHER])
    assert told in loaded(project, "--base", work).why
    state(project, [{**TASK, "base": first}, OTHER])
    assert "forbidden.py was added" in loaded(project).words("CONTEXT")


def test_a_base_is_moved_to_the_commit_that_has_nothing_but_the_tasks(project: Path) -> None:
    run(project, "git", "checkout", "-q", "--", ".")
    first = run(project, "git", "rev-parse", "HEAD")
    tasks = committed(project, [{**TASK, "base": first}, OTHER])
    state(project, [{**TASK, "base": tasks}, OTHER])
    assert loaded(project).at == "prove"


def test_a_task_is_not_changed_by_its_own_work(project: Path) -> None:
    run(project, "git", "add", "-f", ".lockstep-task")
    run(project, "git", "commit", "-qm", "state")
    state(project, [{**TASK, "filesAllowed": ["**"]}, OTHER])
    assert "filesAllowed of T1 is not what it was at the base" in loaded(project).why


def test_a_base_that_is_not_the_task_s_is_refused(project: Path) -> None:
    run(project, "git", "commit", "-qam", "work")
    state(project, [{**TASK, "base": "HEAD~1"}])
    assert "--base HEAD is not the task's base HEAD~1" in loaded(project, "--base", "HEAD").why
    assert "--base -x is no commit" in loaded(project, "--base=-x").why


PROFILE = json.loads((SKILLS / "task-spec-check/resources/profiles/default.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "profile, why",
    [
        ({**PROFILE, "report": "report.json"}, "report is report.json, which leads out of .lockstep-task/"),
        ({**PROFILE, "report": ".lockstep-task/../x.json"}, "which leads out of .lockstep-task/"),
        ({**PROFILE, "report": PROFILE["evidence"]}, "two files are .lockstep-task/{task}/evidence.json"),
        ({name: path for name, path in PROFILE.items() if name != "status"}, "without tools, it needs status"),
        ({**PROFILE, "colour": "red"}, "colour"),
    ],
)
def test_a_profile_of_the_project_is_checked(project: Path, profile: dict[str, Any], why: str) -> None:
    (project / ".lockstep-task/own.json").write_text(json.dumps(profile), encoding="utf-8")
    assert why in loaded(project, "--profile", ".lockstep-task/own.json").why


def test_the_state_of_a_profile_of_the_project_hides_no_code(project: Path) -> None:
    own = {
        name: path.replace(".lockstep-task", "src") if isinstance(path, str) else path for name, path in PROFILE.items()
    }
    state(project, [TASK, OTHER], folder="src")
    (project / "src/own.json").write_text(json.dumps(own), encoding="utf-8")
    told = loaded(project, "--profile", "src/own.json").why
    assert "src/__init__.py lies in src/, whose files are not compared with the base" in told


def test_an_unknown_profile_is_refused_with_those_that_are_there(project: Path) -> None:
    assert (
        "use default, jeeves, jeeves-parallel, or a .json file of the project" in loaded(project, "--profile", "x").why
    )


def test_a_profile_that_does_not_fit_is_told_with_those_whose_issue_is_there(jeeves: Path) -> None:
    told = loaded(jeeves).why
    assert ".lockstep-task/issue.json is not there; begin with --profile jeeves or --profile jeeves-parallel" in told
    (jeeves / ".jeeves").rename(jeeves / "state")
    assert ".lockstep-task/issue.json is not there; see which --profile fits" in loaded(jeeves).why


def test_nothing_is_written_if_a_path_leads_out_of_the_project(project: Path, tmp_path: Path) -> None:
    block = loaded(project)
    (tmp_path / "elsewhere").mkdir()
    (project / ".lockstep-task/T1").symlink_to(tmp_path / "elsewhere")
    passed = judged(project, block, PROVED)
    assert passed.at == "passed"
    assert "a part of it is a link" in Follower(SCRIPT, project).run(passed.next).why
    assert os.listdir(tmp_path / "elsewhere") == []


def test_the_rows_of_the_cases_are_evidence_by_the_schema() -> None:
    import jsonschema

    schema = json.loads((SKILLS / "task-spec-check/resources/evidence.schema.json").read_text(encoding="utf-8"))
    one = {"criterion": "C1", "verdict": "PASS", "confidence": "high", "evidence": [*DATA["rows"].values()]}
    jsonschema.validate([one], schema)


@pytest.mark.parametrize(
    "rows, why",
    [
        (["README.md:3 has it"], "row 1, 'README.md:3 has it': it begins with criterion, verdict and confidence"),
        (["C1 PASS sure | file | README.md"], "it begins with criterion, verdict and confidence"),
        (["C1 PASS high | code | README.md:3"], 'write "… | code | place | quote"'),
        (["C1 PASS high | test | a.py:1 | pytest -q a.py"], 'write "… | test | place | program and arguments | quote"'),
        (["C1 PASS high|file|"], 'write "… | file | place"'),
        (["C1 PASS high | command"], 'write "… | command | program and arguments | [output]"'),
        (["C1 PASS high | tests | a.py:1 | x"], "'tests' is no kind of evidence; there are test, command, code"),
        (["C1 PASS high | command | pytest 'a"], 'the command "pytest \'a" cannot be read: No closing quotation'),
        (["C1 PASS high | command | pytest -q && true"], "name one program with its arguments; there is no shell"),
        (["C1 PASS high | file | README.md", "C1 FAIL high | no"], "row 2: another row of C1 has another verdict"),
        (["C1 FAIL high | file | README.md"], "C1: say in finding what is wrong or could not be found out, and where"),
        ([], "criterion C1 is missing"),
    ],
)
def test_a_row_that_says_nothing_of_its_criterion_is_refused(project: Path, rows: list[str], why: str) -> None:
    refused = Follower(SCRIPT, project).follow(loaded(project), {"evidence": rows})
    assert refused.kind == "refused"
    assert why in refused.why


@pytest.mark.parametrize("path", [".lockstep-task/test_made.py", "build/test_made.py", "build/../build/test_made.py"])
def test_a_file_that_is_not_compared_with_the_base_is_no_evidence(project: Path, path: str) -> None:
    (project / ".git/info/exclude").write_text("build/\n", encoding="utf-8")
    state(project, [{**TASK, "acceptanceCriteria": ["`greet` refuses an empty name with ValueError"]}, OTHER])
    block = loaded(project)
    (project / "build").mkdir()
    made = 'def test_greet_refuses_an_empty_name():\n    assert "ValueError"\n'
    (project / path).write_text(made, encoding="utf-8")
    row = f"C1 PASS high | test | {path}:1-2 | python3 -m pytest -q {path} | def test_greet_refuses_an_empty_name"
    refused = Follower(SCRIPT, project).follow(block, {"evidence": [row]})
    assert refused.kind == "refused"
    assert "test_made.py is not compared with the base: git ignores it, or it is of the state" in refused.why
    (project / "tests").mkdir(exist_ok=True)
    (project / "link").symlink_to("tests")
    (project / "tests/test_kept.py").write_text(made, encoding="utf-8")
    again = Follower(SCRIPT, project)
    row = row.replace(path, "link/test_kept.py")
    assert again.follow(again.begin("--new"), {"evidence": [row]}).kind != "refused"


def test_a_quote_may_have_bars_and_a_criterion_several_rows(project: Path) -> None:
    (project / "README.md").write_text("# Cart\n\nA discount | of 10 | percent.\n", encoding="utf-8")
    rows = [
        "C1 FAIL high | code | README.md:3 | A discount | of 10 | percent",
        "C1 FAIL high | README.md:3 is no sentence",
        "C1 FAIL high | it has bars",
    ]
    failed = Follower(SCRIPT, project).follow(loaded(project), {"evidence": rows})
    assert failed.result["found"] == "- C1 FAIL | README.md:3 is no sentence it has bars\n- files PASS"


def test_a_criterion_with_a_command_of_the_task_needs_no_row(project: Path) -> None:
    given = {"text": "the tests pass", "verify": [["python3", "-m", "unittest", "-q"]]}
    state(project, [{**TASK, "acceptanceCriteria": [given]}, OTHER])
    passed = Follower(SCRIPT, project).follow(loaded(project), {"evidence": []})
    assert passed.result["found"] == "- C1 PASS\n- files PASS"
    state(project, [{**TASK, "acceptanceCriteria": [{**given, "verify": [["python3", "greet.py"]]}]}, OTHER])
    failed = Follower(SCRIPT, project).follow(loaded(project), {"evidence": []})
    assert failed.result["found"].startswith("- C1 FAIL | python3 greet.py: ended with 1")


def test_an_opening_that_loaded_the_task_is_repeated_until_evidence_was_given(project: Path) -> None:
    agent = Follower(SCRIPT, project)
    first, again = agent.begin(), agent.begin()
    assert (again.run, again.at, again.turn) == (first.run, "prove", 2)
    assert agent.follow(again, {"evidence": evidence({}, {"C1": ["file"]}, 2)}).at == "prove"
    assert agent.begin().code == "already-open"

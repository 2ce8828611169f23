"""planner's executor, walked as an agent and its sub-agents walk it, in a small real project with real edits."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skills.lib import paths
from skills.lib.ledger import Ledger
from skills.lib.testing.agent import Agent, Taken
from skills.lib.workflow.decision import Move
from skills.lib.workflow.state import Run
from tests.fixtures import small_project
from tests.fixtures.small_project import DONE, plan, plan_data, save_plan, write
from tests.skills.follower import SKILLS

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from skills.lib.testing.blocks import Block

SCRIPTS = SKILLS / "planner" / "scripts"
WHERE = "plans/shop"
WAVES = {"code": [["M-001"], ["M-002"]], "documentation": [["M-003"]]}
CSV = {
    "id": "one-cell",
    "scope": "M-002",
    "check": "a name with a comma stays one cell, and none is run as a formula",
    "severity": "MUST",
    "status": "FAIL",
    "finding": "shop/export.py:6 joins by commas; 'Lovelace, Ada' becomes two cells. Use the csv module.",
}
GREEN = {
    "id": "commands",
    "scope": "all",
    "check": "the plan's commands end with 0",
    "severity": "MUST",
    "status": "PASS",
    "finding": "",
}
COMPARED = [
    "M-001 R1 | met | shop/prices.py:8 | rounded once",
    "M-001 A1 | met | tests/test_prices.py:14 | runs",
    "M-002 R1 | met | shop/export.py:6 | a row for each",
    "M-002 R2 | not | shop/export.py:6 | a comma splits a name",
    "M-002 A1 | not | shop/export.py:6 | two cells",
]
END = {
    "summary": "Discounts are taken off the sum, and orders can be had as CSV; five tests pass.",
    "departures": [],
    "lessons": ["The first export was written without its tests | apply the plan's change before writing"],
    "open": ["D-002 was assumed | the accountant"],
}


class Crew:
    """An agent that carries out a plan, and its sub-agents."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.agent = Agent(SCRIPTS / "executor.py", root)
        self.run = ""

    def begin(
        self, where: str = WHERE, waves: object = WAVES, unapproved: str | None = "a test", **parameters: object
    ) -> Block:
        """Open a run, and record the waves."""
        reason = {} if unapproved is None else {"unapproved": unapproved}
        block = self.agent.open("--new", plan=where, **reason, **parameters)
        self.run = block.run
        return self.agent.follow(block, waves=json.dumps(waves))

    def work(self, block: Block, *workers: list[dict[str, Any]]) -> Block:
        """Have each sub-agent make its reports, and run what the last of them says comes next."""
        last = block
        for child, reports in zip(block.children, workers, strict=True):
            last = self.agent.run_command(child.command)
            for report in reports:
                assert last.exit_code == 0, last.text
                last = self.agent.follow(last, **report)
            assert last.kind == "done", last.text + last.errors
        return self.agent.run_command(last.next)

    def ways(self) -> list[str]:
        """The transitions of the run, as the ledger has them."""
        return [told(taken) for taken in self.agent.taken(self.run)]


def told(taken: Taken) -> str:
    return f"{taken.step} -{taken.outcome}-> {taken.target or 'done'}"


def judged(status: str, verdicts: list[str], missing: list[str]) -> list[dict[str, Any]]:
    """The reports of a reviewer who reconciles."""
    return [
        {"claims": ["R1 | it rounds once | a test with three lines"]},
        {"seen": ["R1 | shop/prices.py:6 | it rounds each line"]},
        {"ran": []},
        {"status": status, "verdicts": verdicts, "missing": missing},
    ]


FIRST_OPEN = judged("PARTIAL", ["R1 | met | shop/prices.py:6 | -", "A1 | open | costs 6"], ["total() must round once"])
SECOND_OPEN = judged("NOT", ["R1 | open | -", "R2 | open | -", "A1 | open | absent"], ["shop/export.py is not there"])


def reviewed(*items: dict[str, str]) -> list[dict[str, Any]]:
    """The reports of the reviewer of code."""
    return [
        {"changed": ["shop/export.py | M-002 | to_csv() is new"]},
        {"ran": ["python -m unittest discover | 3 ran, OK"]},
        {"compared": COMPARED},
        {"found": ["MUST | M-002 | shop/export.py:6 | commas are not quoted | a name becomes two cells"]},
        {"items": list(items)},
    ]


def documented(*files: str) -> list[dict[str, Any]]:
    """The reports of the technical writer."""
    return [
        {"due": ["README.md | document | when the discount is rounded"]},
        {"comments": []},
        {"knowledge": []},
        {"documents": [f"{path}:3 | says it now" for path in files]},
        {"indexes": []},
        {"files": list(files), "ran": ["python -m unittest discover | OK"], "summary": "The README tells of both."},
    ]


def read(*items: dict[str, str]) -> list[dict[str, Any]]:
    """The reports of the reviewer of documents."""
    return [
        {"statements": ["README.md:5 | a discount is rounded once"]},
        {"verified": ["README.md:5 | true | shop/prices.py:8"], "ran": ["python -m unittest discover | OK"]},
        {"found": []},
        {"items": list(items)},
    ]


def result(text: str) -> list[dict[str, Any]]:
    return [{"result": text}]


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small project with its plan, to be copied."""
    folder = small_project.make(tmp_path_factory.mktemp("pattern"))
    save_plan(folder, WHERE)
    return folder


@pytest.fixture
def root(pattern: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small project with its plan, under git, and with its ledger inside."""
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)
    return Path(shutil.copytree(pattern, tmp_path / "shop"))


@pytest.fixture
def crew(root: Path) -> Crew:
    return Crew(root)


@pytest.mark.req("W-04", "W-10", "W-18")
def test_a_plan_is_carried_out_reviewed_mended_documented_and_run_green(crew: Crew, root: Path) -> None:
    block = crew.begin()
    assert (block.step, [child.target for child in block.children]) == ("reconcile", ["M-001", "M-002"])
    block = crew.work(block, FIRST_OPEN, SECOND_OPEN)

    assert [child.target for child in block.children] == ["M-001 | in part there, missing: total() must round once"]
    assert plan_data(root, "apply", WHERE, "M-001") == "written: shop/prices.py\nwritten: tests/test_prices.py\n"
    block = crew.work(block, result("DONE: total() rounds once"))

    assert (block.step, block.root.get("iteration")) == ("implement", "2")
    assert [child.target for child in block.children] == ["M-002"]
    write(root, {"shop/export.py": small_project.HASTY_EXPORT})
    block = crew.work(block, result("DONE: to_csv() is there"))

    assert block.step == "implementation-code-review"
    block = crew.work(block, reviewed(GREEN, CSV))
    block = crew.agent.run_command(block.next)
    assert block.step == "implement"
    [mending] = block.children
    assert mending.target == f"M-002 | one-cell: {CSV['finding']}"
    refused = subprocess.run(
        [sys.executable, str(SCRIPTS / "plan_data.py"), "apply", WHERE, "M-002"],
        cwd=root,
        capture_output=True,
        text=True,
    )
    assert refused.returncode == 1
    assert "CH-003 shop/export.py: it is to be created and is there already, with another content" in refused.stdout
    write(root, DONE["M-002"])
    block = crew.work(block, result("DONE: names are quoted"))

    assert block.step == "implementation-code-review"
    again = crew.agent.run_command(block.children[0].command)
    assert again.context["items"].splitlines() == [
        "- commands (MUST, all): the plan's commands end with 0",
        f"- one-cell (MUST, M-002): {CSV['check']}",
    ]
    assert CSV["finding"] not in again.text
    block = crew.work(block, reviewed(GREEN, {**CSV, "status": "PASS", "finding": ""}))
    block = crew.agent.run_command(block.next)

    assert (block.step, [child.target for child in block.children]) == ("document", ["all"])
    assert plan_data(root, "apply", WHERE, "M-003") == "written: README.md\n"
    block = crew.work(block, documented("README.md"))
    block = crew.work(block, read(GREEN))
    block = crew.agent.run_command(block.next)
    assert block.step == "retrospective"
    assert "M-002 | one-cell" in block.context["implement.log"]

    # Of another size than what it is mended to: Python tells sources of one second apart by that alone.
    write(root, {"tests/test_export.py": small_project.TEST_EXPORT.replace("Ada,8", "Ada,80")})
    red = crew.agent.follow(block, **END)
    assert (red.exit_code, red.code) == (3, "missing-evidence")
    assert "FAILED test: " in red.why
    assert "passed lint: " in red.why
    assert "2 commands, 1 failed" in red.why
    write(root, DONE["M-002"])
    done = crew.agent.follow(block, **END)
    assert (done.exit_code, done.kind) == (0, "done")

    assert crew.ways() == [
        "waves -ok-> reconcile",
        "reconcile -ok-> implement",
        "implement -iterate-> implement",
        "implement -ok-> implementation-code-review",
        "implementation-code-review -ok-> implementation-code-gate",
        "implementation-code-gate -fail-> implement",
        "implement -ok-> implementation-code-review",
        "implementation-code-review -ok-> implementation-code-gate",
        "implementation-code-gate -ok-> document",
        "document -ok-> implementation-docs-review",
        "implementation-docs-review -ok-> implementation-docs-gate",
        "implementation-docs-gate -ok-> retrospective",
        "retrospective -ok-> done",
    ]
    [last] = [event for event in crew.agent.events(crew.run) if event.kind == "finished"]
    assert [(proof["what"], proof["exit"]) for proof in last.detail["evidence"]] == [
        (f"executor_approval.py {WHERE} a test", 0),
        (f"project_checks.py {WHERE}", 0),
    ]
    assert "passed test: " in last.detail["evidence"][1]["output"]
    for files in DONE.values():
        for path, text in files.items():
            assert (root / path).read_text() == text
    assert small_project.tests_pass(root)


@pytest.mark.req("W-18")
def test_what_agent_and_developer_see(crew: Crew, snapshot: SnapshotAssertion) -> None:
    first = crew.agent.open(plan=WHERE)
    wave = crew.begin(reconciliation_check=False)
    wave = crew.agent.run_command(wave.next)
    developer = crew.agent.run_command(wave.children[0].command)
    for name, block in {"waves": first, "implement": wave, "developer": developer}.items():
        assert len(block.text) < 10_000
        assert shown(block) == snapshot(name=name)


def shown(block: Block) -> str:
    """What stands in DO, CONTEXT and FORBIDDEN: nothing of it differs from machine to machine."""
    rules = "\n".join(f"- {rule.text}" for rule in block.root.iterfind("FORBIDDEN/rule"))
    return f"{block.words('DO')}\n{json.dumps(block.context, indent=1)}\n{rules}"


def test_a_plan_of_documents_alone_goes_without_code_and_its_review(crew: Crew, root: Path) -> None:
    save_plan(root, "plans/papers", "M-003")
    block = crew.begin("plans/papers", {"code": [], "documentation": [["M-003"]]})
    assert block.step == "document"
    write(root, DONE["M-003"])
    block = crew.work(block, documented("README.md"))
    block = crew.work(block, read(GREEN))
    block = crew.agent.run_command(block.next)
    assert crew.agent.follow(block, **END).kind == "done"
    assert crew.ways()[:2] == ["waves -skip-> document", "document -ok-> implementation-docs-review"]


def test_what_is_satisfied_is_not_written_again_and_all_of_it_is_confirmed(crew: Crew, root: Path) -> None:
    write(root, {**DONE["M-001"], **DONE["M-002"]})
    block = crew.begin()
    met = judged("SATISFIED", ["R1 | met | shop/prices.py:8 | once", "A1 | met | tests/test_prices.py:14 | runs"], [])
    both = [f"R{at} | met | shop/export.py:13 | as asked" for at in (1, 2)]
    block = crew.work(block, met, judged("SATISFIED", [*both, "A1 | met | tests/test_export.py:15 | runs"], []))
    assert [child.target for child in block.children] == ["confirm"]
    block = crew.work(block, result("DONE: nothing was to be written"))
    assert block.step == "implementation-code-review"


def test_without_the_check_every_milestone_is_taken_for_undone(crew: Crew) -> None:
    block = crew.begin(reconciliation_check=False)
    assert (block.step, block.children) == ("reconcile", [])
    block = crew.agent.run_command(block.next)
    assert (block.step, [child.target for child in block.children]) == ("implement", ["M-001"])
    assert crew.ways() == ["waves -ok-> reconcile", "reconcile -skip-> implement"]


def test_a_milestone_whose_developers_are_lost_comes_once_more_and_then_goes_to_the_review(crew: Crew) -> None:
    block = crew.agent.run_command(crew.begin(reconciliation_check=False).next)
    targets = []
    for _ in range(3):
        targets += [child.target for child in block.children]
        lost = crew.agent.lose(block, block.children[0].id)
        block = crew.agent.run_command(lost.next)
    # Lost twice, M-001 is given up; M-002 then has its own two tries.
    assert targets == ["M-001", "M-001", "M-002"]
    assert [child.target for child in block.children] == ["M-002"]
    block = crew.work(block, result("DONE: to_csv() is there"))
    assert block.step == "implementation-code-review"


@pytest.mark.parametrize(
    "scopes, targets",
    [
        (["M-002"], ["M-002 | item-0: wrong"]),
        (["M-001, M-002"], ["M-001, M-002 | item-0: wrong"]),
        (["M-001", "M-002", "all"], ["M-001, M-002, all findings | item-0: wrong; item-1: wrong; item-2: wrong"]),
        (["all"], ["all findings | item-0: wrong"]),
        (["M-003"], ["all findings | item-0: wrong"]),
    ],
)
def test_findings_go_to_the_developers_of_their_milestones(crew: Crew, scopes: list[str], targets: list[str]) -> None:
    block = crew.agent.run_command(crew.begin(reconciliation_check=False).next)
    for _ in range(2):
        block = crew.work(block, result("DONE: written"))
    items = [{**CSV, "id": f"item-{at}", "scope": scope, "finding": "wrong"} for at, scope in enumerate(scopes)]
    block = crew.agent.run_command(crew.work(block, reviewed(*items)).next)
    assert [child.target for child in block.children] == targets


def test_findings_of_one_wave_are_mended_side_by_side(crew: Crew, root: Path) -> None:
    text = plan("M-001", "M-002")
    text["milestones"][1]["depends_on"] = []
    save_plan(root, "plans/wide", text=text)
    block = crew.begin("plans/wide", {"code": [["M-001", "M-002"]], "documentation": []}, reconciliation_check=False)
    block = crew.agent.run_command(block.next)
    block = crew.work(block, result("DONE: one"), result("DONE: two"))
    items = [{**CSV, "id": f"of-{name}", "scope": name, "finding": "wrong"} for name in ("M-001", "M-002")]
    block = crew.agent.run_command(crew.work(block, reviewed(*items)).next)
    assert [child.target for child in block.children] == ["M-001 | of-M-001: wrong", "M-002 | of-M-002: wrong"]


def test_a_reviewer_that_was_lost_is_no_finding_to_mend(crew: Crew) -> None:
    block = crew.agent.run_command(crew.begin(reconciliation_check=False).next)
    for _ in range(2):
        block = crew.work(block, result("DONE: written"))
    lost = crew.agent.lose(block, block.children[0].id)
    block = crew.agent.run_command(crew.agent.run_command(lost.next).next)
    assert (block.step, [child.target for child in block.children]) == ("implement", ["confirm"])


def test_nothing_begins_with_other_waves_than_the_plan_has(crew: Crew) -> None:
    block = crew.begin(waves={"code": [["M-002", "M-001"]], "documentation": [["M-003"]]})
    assert (block.exit_code, block.code) == (3, "missing-evidence")
    assert f"the waves of plan.2.json are {json.dumps(WAVES)}; record exactly these" in block.why


def test_nothing_begins_where_the_tree_is_not_as_planned(crew: Crew, root: Path) -> None:
    write(root, {"shop/prices.py": "def total(lines):\n    return 0\n"})
    block = crew.begin()
    assert block.code == "missing-evidence"
    assert "CH-001 (M-001) does not fit shop/prices.py" in block.why


# Approval


def approve(root: Path, where: str, status: str = "done", workflow: str = "planner") -> None:
    """Put a run of planner into the project's ledger."""
    ledger = Ledger(paths.home(str(root)))
    run = Run(
        id="abcdefgh",
        workflow=workflow,
        script="planner.py",
        project=str(root),
        params={"plan": where, "request": "x"},
        status=status,
        turn=20,
    )
    opened = ledger.commit(None, Move(run, "opened", {}), "agent", {})
    proof = {"kind": "command", "ok": True, "output": plan_data(root, "check", WHERE, "--stage", "documented")}
    ledger.commit(opened, Move(opened, "moved", {"from": "document", "evidence": [proof]}), "agent")
    ledger.close()


@pytest.mark.parametrize("where", [WHERE, "./plans/../plans/shop/"])
def test_a_plan_that_a_finished_planner_approved_is_carried_out(crew: Crew, root: Path, where: str) -> None:
    approve(root, where)
    assert crew.begin(unapproved=None).step == "reconcile"


def test_a_plan_that_was_changed_since_it_was_approved_is_not_carried_out(crew: Crew, root: Path) -> None:
    approve(root, WHERE)
    changed = json.loads((root / WHERE / "plan.2.json").read_text(encoding="utf-8"))
    changed["testing"]["commands"]["test"] = [["true"]]
    (root / "changed.json").write_text(json.dumps(changed), encoding="utf-8")
    plan_data(root, "save", WHERE, "changed.json")
    refused = crew.begin(unapproved=None)
    assert refused.code == "missing-evidence"
    assert "was changed since run abcdefgh of planner approved it: plan.3.json is not what was approved" in refused.why
    assert "plan_data.py save plans/shop plans/shop/plan.2.json takes that one back" in refused.why
    plan_data(root, "save", WHERE, f"{WHERE}/plan.2.json")
    assert crew.begin(unapproved=None).step == "reconcile"


@pytest.mark.parametrize(
    "where, status, workflow", [("plans/other", "done", "planner"), (WHERE, "open", "planner"), (WHERE, "done", "x")]
)
def test_a_plan_that_no_finished_planner_approved_takes_a_reason(
    crew: Crew, root: Path, where: str, status: str, workflow: str
) -> None:
    approve(root, where, status, workflow)
    block = crew.begin(unapproved=None)
    assert block.code == "missing-evidence"
    assert "no finished run of planner in this project approved the plan in plans/shop" in block.why
    assert crew.begin(unapproved="The user read it.").step == "reconcile"


# The checks


def script(name: str, root: Path, *words: str) -> tuple[int, str]:
    """What a check script says in the project's root."""
    command = [sys.executable, str(SCRIPTS / name), *words]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    "status, verdicts, missing, why",
    [
        ("SATISFIED", ["R1 | met | shop/prices.py:6 | x", "A1 | met | shop/prices.py:6 | x"], [], ""),
        ("PARTIAL", ["R1 | met | shop/prices.py:6-7 | x", "A1 | open | x"], ["x"], ""),
        ("PARTIAL", ["R1 | met | shop/prices.py:60 | x", "A1 | open | x"], ["x"], "shop/prices.py has 6 lines"),
        ("PARTIAL", ["R1 | met | ../x.py:1 | x", "A1 | open | x"], ["x"], "../x.py is no file of the project"),
        ("PARTIAL", ["R1 | met | it works", "A1 | open | x"], ["x"], "what is met begins with path:line"),
        ("NOT", ["R1 | open | x"], ["x"], "there is no verdict on A1"),
        ("NOT", ["R1 | open | x", "A1 | open | x", "A2 | open | x"], ["x"], "A2 is not one of R1, A1"),
        ("NOT", ["R1 | open | x", "R1 | open | x", "A1 | open | x"], ["x"], "R1 has a verdict already"),
        ("NOT", ["R1 | maybe | x", "A1 | open | x"], ["x"], "verdict 1, 'R1 | maybe | x': write it as id | met |"),
        ("SATISFIED", ["R1 | open | x", "A1 | open | x"], [], "0 of 2 are met, which is NOT, not SATISFIED"),
        ("NOT", ["R1 | open | x", "A1 | open | x"], [], "say under missing what is still to be done"),
    ],
)
def test_a_judgement_follows_from_its_verdicts(
    root: Path, status: str, verdicts: list[str], missing: list[str], why: str
) -> None:
    words = [WHERE, "M-001", status, json.dumps(verdicts), json.dumps(missing)]
    code, said = script("qr/reconciliation_check.py", root, *words)
    assert code == (1 if why else 0)
    assert why in said


def test_a_review_of_code_leaves_no_promise_out_and_names_milestones(root: Path) -> None:
    assert script("qr/implementation_check.py", root, WHERE, "compared", json.dumps(COMPARED)) == (0, "")
    less = [*COMPARED[:3], "M-002 R2 | perhaps | x.py:1 | y"]
    assert script("qr/implementation_check.py", root, WHERE, "compared", json.dumps(less)) == (
        1,
        "'M-002 R2 | perhaps | x.py:1 | y': after the first bar stands met or not\n"
        "no line compares M-002 A1; begin one with each, such as 'M-001 R1 | met | path:line | what is so'\n",
    )
    items = [{**CSV, "scope": "M-001, M-003"}, {**CSV, "scope": "M-009"}, {**CSV, "scope": ""}]
    code, said = script("qr/implementation_check.py", root, WHERE, "items", json.dumps(items))
    assert code == 1
    assert said.splitlines() == [
        "item one-cell: a scope is all, or ids of milestones (M-001, M-002, M-003); M-009 is none",
        "item one-cell: a scope is all, or ids of milestones (M-001, M-002, M-003); it is empty",
    ]


def test_what_a_writer_names_must_be_there(root: Path) -> None:
    good = json.dumps(["shop/prices.py:6 | why", "`README.md` | x", "shop/orders.py"])
    assert script("tw/post_implementation_check.py", root, good, "[]") == (0, "")
    code, said = script("tw/post_implementation_check.py", root, json.dumps(["README.md:99 | x", "none.md", "| x"]))
    assert code == 1
    assert said.splitlines() == [
        "'README.md:99 | x': README.md has 5 lines",
        "'none.md': none.md is no file of the project",
        "'| x': it does not begin with a path, or path:line, and a bar",
    ]


def test_project_checks_name_what_failed_and_how(root: Path) -> None:
    text = plan("M-003")
    text["testing"]["commands"] = {
        "test": [[sys.executable, "-c", "print('all well')"], [sys.executable, "-c", "raise SystemExit('too bad')"]],
        "lint": [["no-such-program-here", "--all"]],
        "types": [[sys.executable, "-c", "import time; time.sleep(60)"]],
    }
    save_plan(root, "plans/red", "M-003", text=text)
    code, said = script("project_checks.py", root, "plans/red", "2")
    assert code == 1
    assert "\ntoo bad\n" in said
    assert "\nall well\n" not in said
    ends = [line.rpartition(": ")[2] for line in said.splitlines() if line.startswith(("passed", "FAILED"))]
    assert ends == ["ended with 0", "ended with 1", "'no-such-program-here'", "did not end within 2 s"]
    assert said.splitlines()[-1] == "4 commands, 3 failed"


def test_project_checks_say_what_they_want(root: Path) -> None:
    assert script("project_checks.py", root)[0] == 2
    assert script("project_checks.py", root, WHERE, "soon")[0] == 2
    code, said = script("project_checks.py", root, "plans/none")
    assert (code, said) == (2, f"project_checks.py: there is no folder 'plans/none' under {root}; save makes one\n")

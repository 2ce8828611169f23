"""refactor, walked as an agent, its explorers and its reviewer walk it: over a small shop with planted smells."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skills.lib.skillfile.commands import commands_in
from skills.lib.skillfile.document import load_skill
from skills.lib.skillfile.specification import check_specification
from tests.fixtures import warm_python
from tests.skills.follower import SKILLS, Block, Follower, Values, commands

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

SCRIPT = "refactor/scripts/refactor.py"
CHECK = SKILLS / "refactor/scripts/check_refactor.py"
MAKE = SKILLS / "refactor/scripts/make_items.py"
ERRORS, TWO_WAYS = "Error handling", "Two ways to do one thing"
PICK = f"seed 1: {ERRORS}, {TWO_WAYS}"

CART = """from decimal import ROUND_HALF_EVEN, Decimal


def total(lines):
    return sum(lines, Decimal(0)).quantize(Decimal("0.01"), ROUND_HALF_EVEN)
"""
INVOICE = """from decimal import ROUND_HALF_UP, Decimal


def total(lines):
    return sum(lines, Decimal(0)).quantize(Decimal("0.01"), ROUND_HALF_UP)
"""
LOAD = """def read(rows):
    orders = []
    for row in rows:
        try:
            orders.append(int(row))
        except ValueError:
            pass
    return orders
"""
FILES = {
    "shop/cart.py": CART,
    "shop/invoice.py": INVOICE,
    "shop/load.py": LOAD,
    "README.md": "# Shop\n\nPrices orders.\n",
}

ERROR_FINDING = "shop/load.py:6-7 | SHOULD | an order that cannot be read is skipped | each error that is lost"
ROUND_FINDING = "shop/cart.py:5 | SHOULD | rounds half even, shop/invoice.py:5 half up | the second way"
NAME_FINDING = "shop/load.py:1 | COULD | rows may be of any kind | the second way"
GROUND: Values = {
    "domain": "Prices the orders of a web shop. Words: order, line, total. Nothing is generated.",
    "files": ["shop/ | all of the code"],
}
SEARCHED: Values = {
    "signs": [
        "one rule, two spellings | grep -rn quantize shop | 2 hits | tests that pin it",
        "a failure that ends in nothing | read each except in shop/load.py | 1 hit | best effort that says so",
    ],
    "candidates": ["shop/cart.py:5", "shop/load.py:6"],
}
UNSEARCHED = "shop/old.py, since it is generated"
TRIAGED: Values = {
    "triaged": [
        "F1 | MUST | an order is gone and nobody sees it, load.py:7 passes",
        "F2 | SHOULD | the two totals of one order differ by a cent",
        "F3 | drop | below the threshold: one way only",
    ],
}
ASKED = "C1 | ask | may an order be dropped? README.md:3 does not say"
CLUSTERS: Values = {
    "clusters": [
        "C1 | F1 | reading has no way to report | the function returns orders and nothing else | ask "
        "| may an order be dropped? README.md:3 does not say",
        "C2 | F2 | no place owns the rounding | both call quantize by themselves | refactor "
        "| no test and no comment asks for two roundings, shop/cart.py:5",
    ],
}
ITEMS_FILE = ".lockstep/refactor/rounding.json"
ITEM: dict[str, Any] = {
    "id": "W1",
    "title": "Give the rounding one home",
    "clusters": ["C2"],
    "places": ["shop/cart.py:5", "shop/invoice.py:4-5"],
    "change": "move the rounding into shop/money.py round_total; cart and invoice call it",
    "gain": "the two totals of one order agree",
    "risk": "one of the two totals changes by a cent",
    "proof": "run the tests",
    "size": "small",
}
PIN: dict[str, Any] = {
    **ITEM,
    "id": "W2",
    "title": "Pin both totals by a test",
    "change": "tests/test_total.py states both totals of an order of 0.125",
    "proof": "the test fails when a rounding is changed",
}


def items(*given: Any, **more: Any) -> dict[str, Any]:
    """The report of these work items."""
    return {"items": json.dumps(given), **more}


WRITTEN: dict[str, Any] = items(ITEM, path=ITEMS_FILE)
# What a reviewer says of one item, and of all.
EACH = {"intent": "README.md:3", "good": "shop/cart.py:5"}
ALL = ("sound", "order")
FAULT = "there is no test of a total at all: say which test notices"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A shop that rounds in two ways and loses orders."""
    (tmp_path / ".git").mkdir()
    for path, content in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content, encoding="utf-8")
    return tmp_path


@pytest.fixture
def agent(project: Path) -> Follower:
    """An agent whose working directory is a folder of the project, not its root."""
    return Follower(SCRIPT, project / "shop")


@pytest.fixture
def exploring(agent: Follower) -> Block:
    """The block that dispatches one explorer for each of two categories."""
    return explorers(agent, "--scope", "shop", "--n", "2", "--seed", "1")


def explorers(agent: Follower, *arguments: str) -> Block:
    """Open a run, and say what the code is for; the block that dispatches explorers."""
    return agent.follow(agent.begin(*arguments), GROUND)


@pytest.fixture
def triage(agent: Follower, exploring: Block) -> Block:
    """The block after both explorers have reported."""
    first, second = commands(exploring)
    explore(agent, first, [ERROR_FINDING])
    return agent.run(explore(agent, second, [ROUND_FINDING, NAME_FINDING]).next)


def picked(block: Block) -> list[str]:
    """The categories that a block dispatches explorers for, in their order."""
    return [child.get("target", "").partition(":")[0] for child in block.root.iterfind("DISPATCH/child")]


def judged(findings: list[str]) -> Values:
    """The findings, and every other candidate dismissed."""
    rest = [f"{place} | below the threshold" for place in SEARCHED["candidates"] if place not in " ".join(findings)]
    return {"findings": findings, "dismissed": rest}


def explore(agent: Follower, command: str, findings: list[str]) -> Block:
    """Walk the two steps of one explorer."""
    return agent.follow(agent.follow(agent.run(command), SEARCHED), judged(findings))


def answer(name: str, place: str | dict[str, str], status: str = "PASS", finding: str = "") -> dict[str, Any]:
    """One answer of a reviewer."""
    return {"id": name, "status": status, "place": place, "finding": finding}


def first_answers(status: str) -> list[dict[str, Any]]:
    """What the reviewer of W1 finds: of the proof as the status says, of all else that it is well."""
    keeps = answer("keeps", "shop/cart.py:5", status, FAULT if status == "FAIL" else "")
    whole = [answer(name, f"{ITEMS_FILE}:1") for name in ALL]
    return [keeps, *(answer(name, place) for name, place in EACH.items()), *whole]


def review(agent: Follower, block: Block, answers: list[dict[str, Any]]) -> Block:
    """Be the reviewer, and go through the gate."""
    (command,) = commands(block)
    return agent.run(agent.follow(agent.run(command), {"answers": json.dumps(answers)}).next)


def to_items(agent: Follower, triage: Block) -> Block:
    """From the triage to the step that writes the work items."""
    block = triage
    for values in (TRIAGED, CLUSTERS):
        block = agent.follow(block, values)
    assert block.at == "synthesize"
    return block


def stable(block: Block) -> str:
    """The block without what differs from run to run; a child's id is its run's with a number."""
    run = (block.root.get("run") or "").partition(".")[0]
    return block.stable().replace(run, "RUN").replace(os.environ["LOCKSTEP_HOME"], "HOME")


@pytest.mark.req("W-04", "W-10", "W-18")
def test_a_run_leads_from_a_scope_to_reviewed_work_items(agent: Follower, triage: Block, project: Path) -> None:
    assert (triage.at, triage.context["explore.pick"]) == ("triage", PICK)
    cluster = agent.follow(triage, TRIAGED)
    synthesize = agent.follow(cluster, CLUSTERS)
    assert [block.at for block in (cluster, synthesize)] == ["cluster", "synthesize"]
    failed = review(agent, agent.follow(synthesize, WRITTEN), first_answers("FAIL"))
    assert (failed.at, failed.root.get("iteration")) == ("synthesize", "2")
    assert failed.context["work-items.findings"] == (
        "- keeps-1 (MUST) what users or callers rely on survives the change, and the proof notices a break: "
        f"{FAULT} [shop/cart.py:5]"
    )
    assert failed.context["synthesize.items_file"] == ITEMS_FILE
    changed = {**ITEM, "requires": ["W2"], "proof": "tests/test_total.py of W2"}
    silent = agent.follow(failed, items(changed, PIN, fixes=["keeps-1 | changed | it is fixed"]))
    assert "nothing answers keeps-1" in silent.words("WHY")
    edits = ['W1 | "run the tests" -> "tests/test_total.py of W2"']
    part = {"id": "W1", "requires": ["W2"]}
    again = agent.follow(failed, items(part, PIN, edits=edits, fixes=[f"keeps-1 | changed | {ITEMS_FILE}"]))
    assert "iteration 2 of 5, re-verification" in again.words("STATE")
    done = review(agent, again, second_answers())
    assert (done.at, done.root.get("status")) == ("done", "done")
    assert {path: (project / path).read_text(encoding="utf-8") for path in FILES} == FILES
    assert json.loads((project / ITEMS_FILE).read_text(encoding="utf-8")) == {
        "pick": PICK,
        "items": [whole(changed), whole(PIN)],
        "stays": [ASKED],
    }
    assert "questions to the user (ruled `ask` in `stays`)" in done.text


def whole(item: dict[str, Any]) -> dict[str, Any]:
    """The item as the file has it."""
    added = {
        "findings": ["F2"],
        "cause": "no place owns the rounding",
        "intent": "no test and no comment asks for two roundings, shop/cart.py:5",
    }
    return {**{key: [] for key in ("requires", "obsoletes", "conflicts")}, **item, **added}


def second_answers() -> list[dict[str, Any]]:
    """What the reviewer finds anew: of W1 and of all by the items' ids, of W2 by the checks' names."""
    first = [answer(f"{name}-1", place) for name, place in EACH.items()]
    keeps = answer("keeps-1", f"{ITEMS_FILE}:1", finding="W2 pins both totals by a test")
    second = [answer(name, {"W2": "shop/invoice.py:5"}) for name in ("keeps", *EACH)]
    return [keeps, *first, *(answer(f"{name}-1", f"{ITEMS_FILE}:1") for name in ALL), *second]


def to_review(agent: Follower, triage: Block, project: Path) -> Block:
    """The review of two work items."""
    return agent.follow(to_items(agent, triage), items({**ITEM, "requires": ["W2"]}, PIN, path=ITEMS_FILE))


@pytest.mark.req("S-02")
def test_each_work_item_is_checked_for_each_kind(agent: Follower, triage: Block, project: Path) -> None:
    task = agent.run(commands(to_review(agent, triage, project))[0])
    kinds = [line.partition(":")[0] for line in task.context["checks"].splitlines()]
    assert kinds == ["- keeps (MUST)", "- intent (MUST)", "- good (SHOULD)", "- sound (MUST)", "- order (SHOULD)"]
    assert task.context["checks"].count("Targets: W1, W2") == 3
    one = agent.follow(task, {"answers": json.dumps([answer("order", f"{ITEMS_FILE}:1", "FAIL", "x")])})
    assert one.exit_code == 3
    assert "no answer to keeps-1, keeps-2, intent-1, intent-2, good-1" in one.words("WHY")
    assert agent.follow(task, {"answers": json.dumps(both())}).at == "done"


def both() -> list[dict[str, Any]]:
    """That all is well with both work items."""
    places = {"W1": "shop/cart.py:5", "W2": "shop/invoice.py:5"}
    return [answer(name, places) for name in ("keeps", *EACH)] + [answer(name, f"{ITEMS_FILE}:1") for name in ALL]


@pytest.mark.req("S-01")
def test_a_work_item_that_changes_under_review_is_reviewed_again(agent: Follower, triage: Block, project: Path) -> None:
    reviewing = to_review(agent, triage, project)
    text = (project / ITEMS_FILE).read_text(encoding="utf-8")
    (project / ITEMS_FILE).write_text(text.replace(ITEM["change"], "something else"), encoding="utf-8")
    assert review(agent, reviewing, both()).at == "work-items-review"


OTHER = ("--scope", "shop", "--n", "1", "--seed", "1", "--new")


@pytest.mark.req("W-18")
def test_what_the_agent_sees(agent: Follower, exploring: Block, triage: Block, snapshot: SnapshotAssertion) -> None:
    for name, block in {
        "explore": exploring,
        "explorer": agent.run(commands(exploring)[0]),
        "explorer's judgement": agent.follow(agent.run(commands(explorers(agent, *OTHER))[0]), SEARCHED),
        "triage": triage,
    }.items():
        assert stable(block) == snapshot(name=name)
        assert len(block.text) <= 10_000, name


@pytest.mark.req("W-18")
@pytest.mark.parametrize(
    "seed, categories",
    [
        ("0", ["Names", "Direction of dependencies", "Types and interfaces"]),
        ("1", ["Error handling", "Two ways to do one thing", "Shape of interfaces"]),
        ("8", ["Dependency rot", "Function size", "Nesting"]),
    ],
)
def test_the_same_seed_picks_the_same_categories(agent: Follower, seed: str, categories: list[str]) -> None:
    three = explorers(agent, "--scope", "shop", "--n", "3", "--seed", seed)
    assert picked(three) == categories
    other_scope = explorers(
        agent, "--scope", "What is in the way of a second tax?", "--n", "2", "--seed", seed, "--new"
    )
    assert picked(other_scope) == categories[:2]


def test_without_a_seed_it_follows_from_the_scope_and_is_shown(agent: Follower) -> None:
    block = explorers(agent, "--scope", "shop", "--n", "1")
    again = explorers(agent, "--scope", " shop ", "--n", "1", "--new")
    other = explorers(agent, "--scope", "README.md", "--n", "1", "--new")
    assert picked(block) == picked(again) == ["Test drift"]
    assert picked(other) == ["Error handling"]
    (command,) = commands(block)
    triage = agent.run(explore(agent, command, []).next)
    assert triage.context["explore.pick"] == "seed 881250: Test drift"
    given = explorers(agent, "--scope", "anything", "--n", "1", "--seed", "881250", "--new")
    assert picked(given) == ["Test drift"]


@pytest.mark.req("W-04")
def test_ten_categories_are_searched_unless_another_number_is_given(agent: Follower) -> None:
    assert len(picked(explorers(agent, "--scope", "."))) == 10
    most = explorers(agent, "--scope", "x" * 300, "--n", "16", "--new")
    assert [found.get("children") for found in most.root.iterfind("DISPATCH")] == ["16"]
    assert len(most.text) <= 10_000
    for number in ("0", "17", "many"):
        assert agent.begin("--scope", ".", "--n", number, "--new").exit_code in (2, 3)


@pytest.mark.req("W-04")
def test_an_explorer_knows_its_category_and_what_the_code_is_for_alone(agent: Follower, exploring: Block) -> None:
    first, second = (agent.run(command) for command in commands(exploring))
    assert set(first.context) == {"category", "domain", "files"}
    assert first.context["category"].startswith(f"{ERRORS}: ")
    assert "Threshold:" in first.context["category"]
    assert TWO_WAYS not in first.text
    assert second.context["category"].startswith(f"{TWO_WAYS}: ")
    assert (second.context["domain"], second.context["files"]) == (GROUND["domain"], f"- {GROUND['files'][0]}")


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "code-quality-baseline"])
def test_a_category_opens_no_file(agent: Follower, name: str) -> None:
    explorer = Follower("refactor/scripts/explore.py", agent.folder)
    begun = explorer.begin("--category", name, "--domain", "x", "--files", "[]")
    assert begun.context["category"] == name
    assert "root:" not in begun.text


@pytest.mark.req("W-04")
def test_a_lost_explorer_leaves_its_category_unsearched_and_is_reported(agent: Follower, exploring: Block) -> None:
    explore(agent, commands(exploring)[0], [ERROR_FINDING])
    lost = exploring.words("DISPATCH/lost").replace("FILL_child", f"{exploring.root.get('run')}.2")
    triage = agent.run(agent.run(lost.replace("FILL_reason", "out of memory")).next)
    assert triage.context["explore.unread"] == f"- {TWO_WAYS}: out of memory"
    assert triage.context["explore.pick"] == f"seed 1: {ERRORS}"
    assert triage.context["explore.findings"] == f"- F1 | {ERRORS} | {ERROR_FINDING}"


@pytest.mark.req("W-04")
def test_a_run_of_which_nothing_was_searched_ends_as_failed(agent: Follower, exploring: Block) -> None:
    block = exploring
    for number in (1, 2):
        lost = block.words("DISPATCH/lost").replace("FILL_child", f"{exploring.root.get('run')}.{number}")
        block = agent.run(lost.replace("FILL_reason", "out of memory"))
    done = agent.run(block.next)
    assert done.words("STATE") == "Refactor failed at explore, after 2 transitions."


def test_findings_are_numbered_and_only_those_that_hold_go_on(agent: Follower, triage: Block) -> None:
    assert triage.context["explore.findings"].splitlines() == [
        f"- F1 | {ERRORS} | {ERROR_FINDING}",
        f"- F2 | {TWO_WAYS} | {ROUND_FINDING}",
        f"- F3 | {TWO_WAYS} | {NAME_FINDING}",
    ]
    cluster = agent.follow(triage, TRIAGED)
    assert cluster.context["triage.holding"].splitlines() == [
        f"- F1 | {ERRORS} | {ERROR_FINDING.replace('SHOULD', 'MUST')}"
        " | seen: an order is gone and nobody sees it, load.py:7 passes",
        f"- F2 | {TWO_WAYS} | {ROUND_FINDING} | seen: the two totals of one order differ by a cent",
    ]


@pytest.mark.req("W-03")
def test_a_run_ends_if_no_finding_holds(agent: Follower, triage: Block) -> None:
    rows = ["F1 | drop | not so", "F2 | drop | not so", "F3 | drop | not so"]
    done = agent.follow(triage, {"triaged": rows})
    assert done.at == "done"
    assert done.result["triaged"] == "- F1 | drop | not so\n- F2 | drop | not so\n- F3 | drop | not so"


@pytest.mark.req("W-03")
def test_a_run_ends_if_nothing_was_found(agent: Follower, exploring: Block) -> None:
    first, second = commands(exploring)
    explore(agent, first, [])
    triage = agent.run(explore(agent, second, []).next)
    assert triage.context["explore.findings"] == ""
    assert agent.follow(triage, {"triaged": []}).at == "done"


@pytest.mark.req("W-03")
def test_a_run_ends_if_everything_is_intended(agent: Follower, triage: Block) -> None:
    cluster = agent.follow(triage, TRIAGED)
    assert cluster.context["explore.pick"] == PICK
    assert "`:PERF:`" in cluster.words("DO")
    rows = ["C1 | F1 | x | y | leave | shop/load.py:6 is best effort", "C2 | F2 | x | y | ask | which one is right?"]
    done = agent.follow(cluster, {"clusters": rows})
    assert (done.at, done.result["clusters"].count("\n")) == ("done", 1)


def test_a_bar_between_backquotes_does_not_end_the_run(agent: Follower, triage: Block) -> None:
    rows = [row.replace("no place owns the rounding", "`a | b` rounds") for row in CLUSTERS["clusters"]]
    assert agent.follow(agent.follow(triage, TRIAGED), {"clusters": rows}).at == "synthesize"


@pytest.mark.parametrize(
    "rows, why",
    [
        (["F1 | drop | no", "F2 | drop | no"], "finding F3 is missing"),
        (["F1 | drop | no", "F2 | drop | no", "F3 | drop | no", "F4 | drop | no"], "F4 is no finding"),
        (["F1 | drop | no", "F1 | drop | no", "F2 | drop | no", "F3 | drop | no"], "finding F1 is given twice"),
        (["F1 | HIGH | seen it there", "F2 | drop | no", "F3 | drop | no"], "one of MUST, SHOULD, COULD"),
        (["F1 | MUST |", "F2 | drop | no", "F3 | drop | no"], "what you saw at the place"),
        (["F1 | maybe | no", "F2 | drop | no", "F3 | drop | no"], "or F1 | drop | why"),
        (["F1 | drop | ", "F2 | drop | no", "F3 | drop | no"], "or F1 | drop | why"),
        (["F1 | drop | no", "F2 | drop | not so", "F3 | drop | not so"], "or F1 | drop | why; not in one word"),
        (["F1 | MUST | agreed", "F2 | drop | not so", "F3 | drop | not so"], "what you saw at the place"),
    ],
)
def test_each_finding_has_one_row_that_says_what_becomes_of_it(project: Path, rows: list[str], why: str) -> None:
    code, lines = check(project, "triage", ["F1 | x", "F2 | x", "F3 | x"], rows)
    assert code == 1
    assert why in lines[0]


def test_a_triage_that_loses_a_finding_is_refused_and_can_be_put_right(agent: Follower, triage: Block) -> None:
    refused = agent.follow(triage, {"triaged": ["F1 | drop | no", "F2 | drop | no"]})
    assert (refused.exit_code, refused.root.get("code")) == (3, "missing-evidence")
    assert "finding F3 is missing" in refused.words("WHY")
    assert agent.follow(refused, TRIAGED).at == "cluster"


@pytest.mark.parametrize(
    "findings, why",
    [
        (["the error is lost"], "it does not begin with path:line"),
        (["shop/lod.py:6 | SHOULD | x | y"], "no such file or folder"),
        (["shop/load.py:9 | SHOULD | x | y"], "the file has 8 lines"),
        (["shop:1 | SHOULD | x | y"], "not a file"),
        (["../../etc/passwd:1 | SHOULD | x | y"], "outside the project"),
        (["shop/load.py:6 | HIGH | x | y"], "'HIGH' is not a severity"),
        (["shop/load.py:6 | SHOULD | x"], "how it passes the threshold"),
        (["shop/load.py:6 `pass` | SHOULD | x | y"], "shop/load.py:6: `pass` is not in that line; line 7 has it"),
        (["shop/load.py:6 | SHOULD | and shop/cart.py:5 `HALF_UP` | y"], "shop/cart.py:5: `HALF_UP` is not in that"),
    ],
)
def test_a_finding_has_a_place_and_a_severity(project: Path, findings: list[str], why: str) -> None:
    code, lines = check(project, "findings", findings, [], [])
    assert code == 1
    assert why in lines[0]


@pytest.mark.parametrize(
    "findings, dismissed, wanted",
    [
        ([ROUND_FINDING], ["shop/load.py:6 | best effort"], []),
        ([ROUND_FINDING.replace(" |", " `ROUND_HALF_EVEN` |", 1)], ["shop/load.py:6 | best effort"], []),
        (["shop/cart.py:5 | SHOULD | two ways, also shop/load.py:6-7 | the second"], [], []),
        ([ROUND_FINDING], [], ["the candidate shop/load.py:6 is in no finding and not dismissed"]),
        (
            [],
            ["shop/cart.py:51 | best effort", "shop/load.py:6 | best effort"],
            ["the candidate shop/cart.py:5 is in no finding and not dismissed"],
        ),
        (
            [],
            ["shop/cart.py:5", "shop/load.py:6 | no"],
            [
                "dismissed 'shop/cart.py:5': write path:line | why it is none, in more than a word",
                "dismissed 'shop/load.py:6 | no': write path:line | why it is none, in more than a word",
            ],
        ),
    ],
)
def test_each_candidate_is_a_finding_or_dismissed(
    project: Path, findings: list[str], dismissed: list[str], wanted: list[str]
) -> None:
    candidates = ["shop/cart.py:5 | rounds", "shop/load.py:6-7 | passes"]
    assert check(project, "findings", findings, candidates, dismissed) == (bool(wanted), wanted)


def test_a_candidate_that_begins_with_its_line_is_in_the_file_of_the_one_before(project: Path) -> None:
    candidates = ["shop/cart.py:1", ":5", "shop/load.py:6", ":7"]
    assert check(project, "search", list(SEARCHED["signs"]), candidates) == (0, [])
    assert check(project, "findings", [ROUND_FINDING], candidates, ["shop/load.py:6-7 | best effort"])[1] == [
        "the candidate shop/cart.py:1 is in no finding and not dismissed",
        "the candidate shop/load.py:7 is in no finding and not dismissed",
    ]
    assert check(project, "search", list(SEARCHED["signs"]), [":5"])[1] == [
        "row 1, ':5': it does not begin with path:line"
    ]
    assert "the file has 5 lines" in check(project, "search", list(SEARCHED["signs"]), ["shop/cart.py:1", ":9"])[1][0]


@pytest.mark.parametrize(
    "signs, wanted",
    [
        (list(SEARCHED["signs"]), []),
        (["x | grep quantize | none | tests", "y | read each | no hit | tests"], []),
        (["x | grep quantize | 2 hits"], ["'x | grep quantize | 2 hits': write sign | the search as it was run | how"]),
        (
            ["x | looked | some | none"],
            ["'x | looked | some | none': write sign | the search as it was run | how many"],
        ),
        (["x | look | 1 | "], ["'x | look | 1 | ': write sign | the search as it was run"]),
    ],
)
def test_a_sign_was_searched_for_and_its_hits_are_counted(project: Path, signs: list[str], wanted: list[str]) -> None:
    lines = check(project, "search", signs, list(SEARCHED["candidates"]))[1]
    assert [line[: len(start)] for line, start in zip(lines, wanted, strict=True)] == wanted


def test_what_an_explorer_did_not_search_is_told(agent: Follower) -> None:
    block = explorers(agent, "--scope", "shop", "--n", "1", "--seed", "1")
    judge = agent.follow(agent.run(commands(block)[0]), SEARCHED)
    triage = agent.run(agent.follow(judge, {**judged([]), "unsearched": UNSEARCHED}).next)
    assert triage.context["explore.unread"] == f"- {ERRORS}, in part: {UNSEARCHED}"


def test_an_explorer_whose_finding_has_no_place_is_refused_and_goes_on(agent: Follower, exploring: Block) -> None:
    block = agent.follow(agent.run(commands(exploring)[0]), SEARCHED)
    refused = agent.follow(block, {"findings": ["the error is lost"], "dismissed": []})
    assert (refused.exit_code, refused.root.get("code")) == (3, "missing-evidence")
    assert "it does not begin with path:line" in refused.words("WHY")
    assert "the candidate shop/cart.py:5 is in no finding and not dismissed" in refused.words("WHY")
    assert agent.follow(refused, judged([ERROR_FINDING])).at == "done"


def test_work_items_that_do_not_hold_together_are_refused(agent: Follower, triage: Block, project: Path) -> None:
    synthesize = to_items(agent, triage)
    refused = agent.follow(synthesize, items({**ITEM, "requires": ["W2"]}, {**PIN, "requires": ["W1"]}))
    assert (refused.exit_code, refused.root.get("code")) == (3, "missing-evidence")
    assert "requires goes round in a circle: W1 -> W2 -> W1" in refused.words("WHY")
    assert not (project / ".lockstep" / "refactor").exists()
    reviewing = agent.follow(synthesize, items(ITEM))
    assert reviewing.at == "work-items-review"
    (file,) = (project / ".lockstep" / "refactor").iterdir()
    assert file.name == "seed-1-error-handling-two-ways.json"


def check(project: Path, kind: str, *values: str | list[str]) -> tuple[int, list[str]]:
    """The exit code of the check script and the lines that it prints."""
    given = [value if isinstance(value, str) else json.dumps(value) for value in values]
    done = warm_python.run(CHECK, kind, *given, cwd=project)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def made(project: Path, given: Any, **others: Any) -> tuple[int, list[str]]:
    """The exit code of the script that makes the file, and the lines that it prints."""
    values: dict[str, Any] = {
        "items": given,
        "edits": "{edits}",
        "strike": [],
        "left": "{left}",
        "path": "items.json",
        "kept": [],
        "kept_left": [],
        "file": "{file}",
        "pick": PICK,
        "unread": [],
        "holding": ["F1 | x", "F2 | x"],
        "clusters": list(CLUSTERS["clusters"]),
    }
    values |= others
    told = [value if isinstance(value, str) else json.dumps(value) for value in values.values()]
    done = warm_python.run(MAKE, *told, cwd=project)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def faults(project: Path, *given: Any) -> list[str]:
    """What is found wrong with these work items."""
    code, lines = made(project, list(given))
    assert code == (lines != ['"items.json"'])
    return lines if code else []


def test_good_work_items_have_no_fault(project: Path) -> None:
    third = {**PIN, "id": "W3", "obsoletes": ["W1"]}
    assert faults(project, {**ITEM, "requires": ["W2"]}, PIN, third) == []


@pytest.mark.parametrize(
    "left, why",
    [
        (["C2 | the export reads both, shop/cart.py:5"], ['"items.json"']),
        (["C2"], ['left: write "C2 | why no item serves it", in more than a word']),
        (["C2 | no"], ['left: write "C2 | why no item serves it", in more than a word']),
        (["C1 | as it was"], ["C1 in left is not ruled refactor", "no item serves C2, which is ruled refactor"]),
        ([], ["there is no item", "no item serves C2, which is ruled refactor"]),
    ],
)
def test_a_cluster_that_the_review_found_better_left_needs_no_item(
    project: Path, left: list[str], why: list[str]
) -> None:
    assert made(project, [], left=left)[1] == why
    assert made(project, [], kept_left=left)[1] == why


def test_a_later_round_changes_adds_and_strikes_items(project: Path) -> None:
    kept = [ITEM, PIN]
    assert made(project, [{"id": "W2", "gain": "more"}], kept=kept, strike=["W1"], path="{path}")[0] == 0
    (file,) = (project / ".lockstep" / "refactor").iterdir()
    assert [(item["id"], item["gain"]) for item in json.loads(file.read_text())["items"]] == [("W2", "more")]
    assert (
        made(project, [{"id": "W3", "gain": "more"}], kept=kept)[1][0] == "item 1 (W3): title is missing or not a text"
    )
    assert made(project, [{"id": "W2", "gain": ""}], kept=kept)[1] == ["item 1 (W2): gain is missing or not a text"]
    assert made(project, [], kept=kept, strike=["W9"])[1] == ["strike: W9 is no item"]
    assert made(project, [], kept=kept, file="items.json") == (0, ['"items.json"'])


@pytest.mark.parametrize(
    "edits, why",
    [
        (['W9 | "the" -> "a"'], 'edits \'W9 | "the" -> "a"\': write W1 | "old words" -> "new words", of an item'),
        (["W1 | the -> a"], 'edits \'W1 | the -> a\': write W1 | "old words" -> "new words", of an item of an earlier'),
        (['W1 | "rounding" -> "x"'], "the old words stand 2 times in W1; quote them so that it is one"),
        (['W1 | "no such words" -> "x"'], "the old words stand 0 times in W1"),
        (['W1 | "run the tests" -> "run the tests"'], "the new words are the old ones; leave it out, or change them"),
        (['W1 | "run the tests" -> ""'], "an edited item (W1): proof is missing or not a text"),
    ],
)
def test_an_edit_quotes_words_that_stand_once_in_an_item(project: Path, edits: list[str], why: str) -> None:
    code, lines = made(project, [], kept=[ITEM], edits=edits)
    assert (code, why in lines[0]) == (1, True)


def test_an_edit_changes_its_words_and_nothing_else(project: Path) -> None:
    edits = ['W1 | "by a cent" -> "by a cent at most"', 'W1 | "run the tests" -> "tests/test_total.py"']
    assert made(project, [], kept=[ITEM, PIN], edits=edits)[0] == 0
    file = json.loads((project / "items.json").read_text(encoding="utf-8"))
    changed = {**ITEM, "risk": "one of the two totals changes by a cent at most", "proof": "tests/test_total.py"}
    assert file["items"] == [whole(changed), whole(PIN)]
    given = [json.dumps(value) for value in ([], edits, ["W2"], [ITEM, PIN])]
    assert json.loads(warm_python.run(MAKE, "kept", *given, cwd=project).stdout) == [changed]


def test_the_file_says_what_was_not_searched_and_what_stays_as_it_is(project: Path) -> None:
    clusters = [
        "C1 | F1 | x | y | leave | documented, README.md:3",
        "C2 | F2 | x | y | refactor | nothing asks for it",
    ]
    assert made(project, [ITEM], unread=[f"{ERRORS}, in part: {UNSEARCHED}"], clusters=clusters)[0] == 0
    file = json.loads((project / "items.json").read_text(encoding="utf-8"))
    assert file["stays"] == ["C1 | leave | documented, README.md:3"]
    assert file["unread"] == [f"{ERRORS}, in part: {UNSEARCHED}"]


@pytest.mark.parametrize(
    "path, why", [("README.md", "README.md is there already"), ("../x.json", "../x.json is outside the project")]
)
def test_the_file_replaces_nothing(project: Path, path: str, why: str) -> None:
    code, lines = made(project, [ITEM], path=path)
    assert (code, lines[0].startswith(f"the work items cannot be written: {why}")) == (1, True)
    assert (project / "README.md").read_text(encoding="utf-8") == FILES["README.md"]


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"size": "tiny"}, "item 1 (W1): size is one of small, medium, large"),
        ({"id": "1"}, "item 1 (1): an id is W and a number, such as W1"),
        ({"proof": " "}, "item 1 (W1): proof is missing or not a text"),
        ({"requires": "W2"}, "item 1 (W1): requires is not a list of texts"),
        ({"owner": "me"}, "item 1 (W1): 'owner' is no key of an item; take it out"),
        ({"places": []}, "W1 cites no places"),
        ({"places": ["shop/money.py:1"]}, "W1, 'shop/money.py:1': no such file or folder; paths are relative"),
        ({"places": ["shop/cart.py:99"]}, "W1, 'shop/cart.py:99': the file has 5 lines"),
        ({"clusters": ["C1", "C2"]}, "W1 serves C1, which is not ruled refactor"),
        ({"requires": ["W7"]}, "W1 requires W7, which is no item"),
        ({"conflicts": ["W1"]}, "W1 conflicts itself"),
        ({"requires": ["W2"], "conflicts": ["W2"]}, "W1 names W2 in two relations; decide for one"),
        ({"id": "W2"}, "the id W2 is given twice"),
    ],
)
def test_a_fault_of_a_work_item_is_named(project: Path, changes: dict[str, Any], why: str) -> None:
    assert any(line.startswith(why) for line in faults(project, {**ITEM, **changes}, PIN))


@pytest.mark.parametrize(
    "requires, relation, why",
    [
        ({"W1": ["W2"], "W2": ["W3"], "W3": ["W1"]}, {}, "requires goes round in a circle: W1 -> W2 -> W3 -> W1"),
        ({"W1": ["W2"], "W2": ["W3"], "W3": ["W2"]}, {}, "requires goes round in a circle: W2 -> W3 -> W2"),
        ({}, {"W1": ("obsoletes", ["W2"]), "W2": ("obsoletes", ["W1"])}, "obsoletes goes round in a circle"),
        ({"W1": ["W2"], "W2": ["W3"]}, {"W3": ("conflicts", ["W1"])}, "W1 needs W3 and W1, but W3 conflicts W1"),
        ({"W1": ["W2", "W3"]}, {"W2": ("obsoletes", ["W3"])}, "W1 needs W2 and W3, but W2 obsoletes W3"),
    ],
)
def test_an_order_that_cannot_be_followed_is_named(
    project: Path, requires: dict[str, list[str]], relation: dict[str, tuple[str, list[str]]], why: str
) -> None:
    given = []
    for name in ("W1", "W2", "W3"):
        item = {**ITEM, "id": name, "requires": requires.get(name, [])}
        if name in relation:
            item[relation[name][0]] = relation[name][1]
        given.append(item)
    assert faults(project, *given)[0].startswith(why)


def test_what_is_no_list_of_work_items_is_refused(project: Path) -> None:
    assert faults(project, "W1") == ["item 1 is not an object"]
    assert made(project, {"id": "W1"})[1] == ["items is a JSON array of work items"]
    assert made(project, "{")[1][0].startswith("the work items cannot be written: ")
    clusters = [f"{name} | F1 | x | y | refactor | x" for name in ("C2", "C9")]
    assert made(project, [ITEM], clusters=clusters)[1] == ["no item serves C9, which is ruled refactor"]


LEAVE = "cause | why | leave | meant so, shop/load.py:6"


@pytest.mark.parametrize(
    "holding, clusters, wanted",
    [
        (["F1 | x", "F2 | x"], [f"C1 | F1 F2 | {LEAVE}"], []),
        (["F1 | x"], [f"C1 | F1, | {LEAVE} | and more"], []),
        (["F1 | x"], ["C1 | F1 | cause | why | ask | who reads it?"], []),
        (["F1 | x", "F2 | x"], [f"C1 | F1 | {LEAVE}"], ["finding F2 is missing"]),
        (["F1 | x"], [f"C1 | F1 | {LEAVE}", f"C2 | F1 | {LEAVE}"], ["finding F1 is given twice"]),
        (["F1 | x"], [f"C1 | F1 | {LEAVE}", f"C2 | F2 | {LEAVE}"], ["F2 is no finding of this run"]),
        (["F1 | x", "F2 | x"], [f"C1 | F1 | {LEAVE}", f"C1 | F2 | {LEAVE}"], ["the id C1 is given twice"]),
        (
            ["F1 | x"],
            ["C1 | F1 | cause | why"],
            ["'C1 | F1 | cause | why': write C1 | F1 F2 | root cause | ", "finding F1 is missing"],
        ),
        (
            ["F1 | x"],
            ["C1 | F1 | c | w | ask | nobody can tell"],
            ["'C1 | F1 | c | w | ask | nobody can tell': the reason to"],
        ),
        (
            ["F1 | x"],
            ["C1 | F1 | c | w | leave | meant so, load.py:6"],
            ["'C1 | F1 | c | w | leave | meant so, load.py:6': the reason names no place that can be opened"],
        ),
        (
            ["F1 | x"],
            ["C1 | F1 | c | w | leave | no"],
            ["'C1 | F1 | c | w | leave | no': its last parts are one of refactor"],
        ),
        (
            ["F1 | x"],
            ["C1 | F1 | c | w | keep | so it is"],
            ["'C1 | F1 | c | w | keep | so it is': its last parts are one"],
        ),
    ],
)
def test_clusters_and_rulings_are_checked_by_id(
    project: Path, holding: list[str], clusters: list[str], wanted: list[str]
) -> None:
    code, lines = check(project, "clusters", holding, clusters)
    assert (code, [line[: len(start)] for line, start in zip(lines, wanted, strict=True)]) == (bool(wanted), wanted)


def test_the_check_says_how_it_is_called(project: Path) -> None:
    code, lines = check(project, "nothing")
    assert code == 2
    assert lines[0].startswith("usage: check_refactor.py paths rows | ")


def test_many_faults_are_cut_and_counted(project: Path) -> None:
    code, lines = check(project, "paths", [f"none{at} | x" for at in range(15)])
    assert (code, len(lines), lines[-1]) == (1, 13, "and 3 more")


@pytest.mark.req("W-15")
def test_skill_file_meets_the_specification_and_its_command_opens_a_run(agent: Follower) -> None:
    folder = SKILLS / "refactor"
    assert check_specification(folder) == []
    (command,) = commands_in(load_skill(folder))
    opened = agent.shell(
        command.command.replace("SKILL_DIR", str(folder)).replace("python3", shlex.quote(sys.executable), 1)
    )
    assert (opened.at, opened.context["scope"]) == ("context", "paths or question")

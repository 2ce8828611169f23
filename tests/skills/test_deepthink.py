"""deepthink, walked as an agent and its sub-agents walk it: one real question, by the printed commands."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skills.lib.skillfile.commands import commands_in
from skills.lib.skillfile.document import load_skill
from skills.lib.skillfile.specification import check_specification
from skills.lib.testing.agent import Agent
from skills.lib.testing.follower import Shell
from skills.lib.testing.transitions import ProjectCopies
from tests.skills.follower import SKILLS, reached, without_places

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from skills.lib.testing.blocks import PrintedBlock

SCRIPT = SKILLS / "deepthink/scripts/deepthink.py"
QUESTION = "Should our parser library, 40 users and one maintainer, promise backward compatibility before 1.0?"

RECORD = (
    "P1 the record | Which releases would a promise have forbidden? | counts in CHANGELOG.md | leaves wishes to others"
)
JOINER = "P2 the joiner | What would a user of 2028 wish for? | walks three users through it | leaves effort to others"
OPPONENT = "P3 the opponent | What does a promise cost the one maintainer? | adds up hours | leaves the users to others"
DRAWN = [f"{RECORD} | Q1", f"{JOINER} | Q2", "P3 the sceptic | Is it bad? | thinks | leaves nothing | Q1"]

CLARIFY: dict[str, Any] = {
    "reading": "Should a parser library with 40 users and one maintainer promise compatibility, and for what part?",
    "use": "The maintainer; the answer becomes a paragraph of the README.",
    "facts": ["40 projects depend on it | user says", "two of three releases broke a name | CHANGELOG.md:1-3"],
    "bounds": "The time before 1.0. Not whether to release 1.0.",
}
ABSTRACT: dict[str, Any] = {
    "general": "When is it worth binding later choices so that a few can rely on them?",
    "principles": [
        "an open option is worth more the less is known | against a promise now | ends where waiting drives users off",
        "what many have built on cannot be taken back | for a promise on data | ends where nobody has stored any",
    ],
    "analogies": [
        "a file format frozen in its third year | few users, one author | promise the data | users hold code here",
        "a city that froze its street numbers | letters keep arriving | numbers outlive | no house moves",
    ],
}
PLAN: dict[str, Any] = {
    "form": "A recommendation and the condition under which it turns.",
    "tests": ["it says what happens at 400 users", "it names the part that is promised"],
    "chosen": "full",
    "parts": [
        "Q1 | Which past releases would it have forbidden? | a count",
        "Q2 | Who would stay for it? | three users",
    ],
    "guess": "Promise the file format alone.",
}
DESIGN: dict[str, Any] = {"perspectives": DRAWN}
REVISE: dict[str, Any] = {
    "faults": ["P3 | 'Is it bad?' can only be answered with yes"],
    "lines": [OPPONENT],
}
SOUND: dict[str, Any] = {
    "checked": [
        "P1 | A1 | opened CHANGELOG.md, counted two",
        "P2 | A1 | walked one through, it holds",
        "P3 | A1 | added them up again, 30",
    ],
    "weak": [],
    "design": "holds",
}
PARTIAL: dict[str, Any] = {**SOUND, "weak": ["P2 | no upgrade was walked through, only wishes"]}
FAILS: dict[str, Any] = {**SOUND, "design": "fails: nobody asks what is promised, only whether"}
AGGREGATE: dict[str, Any] = {
    "conflicts": ["P2 against P3 | the worth of 30 hours | open: ask two users"],
    "insights": ["P2 | users store files and regenerate code | the data is what binds"],
    "gaps": [],
}
SYNTHESIZE: dict[str, Any] = {
    "answer": "Promise the file format and nothing else until a second maintainer has stayed a year.",
    "claims": [
        "S1 | names will change again | P1 | a year without a change",
        "S2 | users store files | P2 | none does",
    ],
}
REFINE: dict[str, Any] = {
    "attack": "The reversal: suppose that a user left for want of a promise on names.",
    "came": "Held: the one who left in May named speed (issue 12 says so).",
    "edits": ['"format and nothing else until" -> "format alone, until"'],
    "claims": ["S1 | names will change again | P1 | a year without", "S2 | users store files | P2 | none does"],
    "open": ["whether 400 users would change it | no, the data binds all the more"],
    "confidence": "certain",
}
OUTPUT: dict[str, Any] = {}
REPORT = """How sure: certain.

Promise the file format alone, until a second maintainer has stayed a year.

What carries it:
- names will change again Rests on: (the record). Refuted by: a year without.
- users store files Rests on: (the joiner). Refuted by: none does.

What was tried against it:
- Pass 1, confidence certain. Tried: The reversal: suppose that a user left for want of a promise on names. Came: \
Held: the one who left in May named speed (issue 12 says so).

Open:
- whether 400 users would change it | no, the data binds all the more"""
STEPS: dict[str, dict[str, Any]] = {
    "clarify": CLARIFY,
    "abstract": ABSTRACT,
    "plan": PLAN,
    "design": DESIGN,
    "revise": REVISE,
    "dispatch": {},
    "gate": SOUND,
    "aggregate": AGGREGATE,
    "synthesize": SYNTHESIZE,
    "refine": REFINE,
    "output": OUTPUT,
}
WORKED: dict[str, dict[str, Any]] = {
    "gather": {
        "turns": "Either most did, or none; the changelog decides.",
        "found": ["F1 | two of three releases broke a name | CHANGELOG.md:1-3"],
    },
    "answer": {
        "other_way": "The design may be finished now; it breaks at the roadmap of June.",
        "claims": ["A1 | two of three releases broke a name | F1"],
    },
    "question": {"questions": ["How many releases took a public name away? | CHANGELOG.md"]},
    "verify": {"answers": ["V1 | observed | two, 0.2 and 0.3 | CHANGELOG.md:1-3"]},
    "report": {
        "standing": ["A1 | upheld | V1"],
        "confidence": "high",
    },
}


@pytest.fixture
def project(copies: ProjectCopies, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library with three releases."""
    monkeypatch.setenv("LOCKSTEP_HOME", str(copies.project / ".lockstep"))
    copies.clear()
    (copies.project / ".git").mkdir()
    changes = "0.3 renamed parse()\n0.2 dropped read()\n0.1 first\n"
    (copies.project / "CHANGELOG.md").write_text(changes, encoding="utf-8")
    return copies.project


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> ProjectCopies:
    """The project, and its copies at the points from which several tests go on."""
    return ProjectCopies(tmp_path_factory.mktemp("deepthink"))


@pytest.fixture
def agent(project: Path) -> Agent:
    """An agent whose commands run in this process."""
    return Agent(SCRIPT, project)


@pytest.fixture
def dispatch(agent: Agent, copies: ProjectCopies) -> PrintedBlock:
    """The block that hands the question to three perspectives."""
    return reached(copies, "dispatch", agent, lambda: come_to(agent, "dispatch"))


@pytest.fixture
def gate(agent: Agent, dispatch: PrintedBlock, copies: ProjectCopies) -> PrintedBlock:
    """The block that judges what the three answered."""
    return reached(copies, "gate", agent, lambda: worked_out(agent, dispatch))


def come_to(agent: Agent, step: str, block: PrintedBlock | None = None, **instead: dict[str, Any]) -> PrintedBlock:
    """Go on from the block, or from a new run, to the step, by the sample of each step or by what stands instead."""
    block = block or agent.open(question=QUESTION)
    while block.step != step:
        assert block.exit_code == 0, block.text + block.errors
        if block.children:
            block = worked_out(agent, block)
        else:
            block = agent.follow(block, **{**STEPS[block.step], **instead.get(block.step, {})})
    return block


def worked_out(
    agent: Agent, dispatch: PrintedBlock, lost: str = "none", said: str = "came to a sound answer"
) -> PrintedBlock:
    """Have every sub-agent do its five steps, or be lost, and run what the orchestrator is then to run."""
    last = dispatch
    for child in dispatch.children:
        name = child.target.split()[0]
        if name == lost:
            last = agent.lose(dispatch, child.id, "the host killed it")
            continue
        last = agent.run_command(child.command)
        for step, values in WORKED.items():
            assert last.step == step, last.text
            answer = {"answer": f"{name} {said}, and says in full what it rests on."} if step == "report" else {}
            last = agent.follow(last, **values, **answer)
    return agent.run_command(last.next)


def stable(block: PrintedBlock) -> str:
    """The block without what differs from run to run."""
    text = without_places(block.text)
    text = text.replace(block.run.partition(".")[0], "RUN").replace(os.environ["LOCKSTEP_HOME"], "HOME")
    return re.sub(r"--project \S+?(?=[ <])", "--project PROJECT", text)


@pytest.mark.req("W-03", "W-04", "W-18")
def test_a_full_run_asks_the_weak_again_keeps_the_rest_and_ends_in_an_answer(
    agent: Agent, dispatch: PrintedBlock
) -> None:
    assert [child.target for child in dispatch.children] == [RECORD, JOINER, OPPONENT]
    gate = worked_out(agent, dispatch, lost="P3", said="answered in round one")
    assert gate.context["dispatch.lost"] == "- P3 | nobody came back: the host killed it"

    again = agent.follow(gate, **{**PARTIAL, "checked": PARTIAL["checked"][:2]})
    assert (again.step, again.root.get("iteration")) == ("dispatch", "2")
    assert [child.target.split("\n")[0] for child in again.children] == [JOINER, OPPONENT]
    asked = agent.run_command(again.children[0].command).context["perspective"]
    assert asked == (
        f"{JOINER}\n\nAsked again. What was missing: no upgrade was walked through, only wishes"
        "\n\nThe earlier answer: P2 answered in round one, and says in full what it rests on."
    )
    lost = agent.run_command(again.children[1].command).context["perspective"]
    assert lost == OPPONENT

    gate = worked_out(agent, again, said="answered in round two")
    assert gate.root.get("iteration") == "2"
    assert re.findall(r"P\d answered in round \w+", gate.context["dispatch.answers"]) == [
        "P1 answered in round one",
        "P2 answered in round two",
        "P3 answered in round two",
    ]
    assert gate.context["dispatch.lost"] == ""
    assert gate.context["gate.sound"] == "- P1 | A1 | opened CHANGELOG.md, counted two"
    aggregate = agent.follow(gate, **SOUND)
    assert (aggregate.step, aggregate.context["gate.verdict"]) == ("aggregate", "pass")
    output = come_to(agent, "output", aggregate)
    assert output.context["refine.current"].startswith("Promise the file format alone")
    done = agent.follow(output, **OUTPUT)
    assert (done.kind, done.result["output.report"]) == ("done", REPORT)
    assert [(one.step, one.outcome) for one in agent.taken(done.run)][5:11] == [
        ("dispatch", "ok"),
        ("gate", "iterate"),
        ("dispatch", "ok"),
        ("gate", "ok"),
        ("aggregate", "ok"),
        ("synthesize", "ok"),
    ]


@pytest.mark.req("W-03", "W-18")
def test_a_quick_run_goes_from_the_plan_to_the_synthesis_in_a_real_shell(project: Path) -> None:
    agent = Agent(SCRIPT, project, call=Shell(project))
    block = agent.open(question=QUESTION, mode="quick")
    seen = [block.step]
    while block.kind == "step":
        chosen = {"chosen": "quick"} if block.step == "plan" else {}
        block = agent.follow(block, **{**STEPS[block.step], **chosen})
        seen.append(block.step or block.kind)
        if block.step == "synthesize":
            assert not [name for name in block.context if name.startswith("aggregate.")]
            assert block.context["plan.parts"].startswith("- Q1 | Which past releases")
    assert seen == ["clarify", "abstract", "plan", "synthesize", "refine", "output", "done"]
    assert ("plan", "skip", "synthesize") in [(one.step, one.outcome, one.target) for one in agent.taken(block.run)]


@pytest.mark.parametrize("given, other", [("quick", "full"), ("full", "quick")])
def test_a_mode_other_than_the_one_given_is_refused(agent: Agent, given: str, other: str) -> None:
    block = agent.open(question=QUESTION, mode=given)
    for values in (CLARIFY, ABSTRACT):
        block = agent.follow(block, **values)
    assert block.context["mode"] == given
    refused = agent.follow(block, **{**PLAN, "chosen": other})
    assert (refused.exit_code, refused.code) == (3, "missing-evidence")
    assert f"chosen is {other}, and this run was opened with --mode {given}: record chosen={given}" in refused.why
    leads_to = {"quick": "synthesize", "full": "design"}[given]
    assert agent.follow(refused, **{**PLAN, "chosen": given}).step == leads_to


@pytest.mark.parametrize("chosen, leads_to", [("quick", "synthesize"), ("full", "design")])
def test_without_a_mode_the_third_step_chooses(agent: Agent, chosen: str, leads_to: str) -> None:
    plan = come_to(agent, "plan")
    assert agent.follow(plan, **{**PLAN, "chosen": chosen}).step == leads_to


@pytest.mark.req("W-04")
def test_a_sub_agent_knows_the_question_and_its_own_line_and_verifies_blind(
    agent: Agent, dispatch: PrintedBlock
) -> None:
    block = agent.run_command(dispatch.children[1].command)
    assert block.context == {
        "reading": CLARIFY["reading"],
        "bounds": CLARIFY["bounds"],
        "perspective": JOINER,
        "facts": "- 40 projects depend on it | user says\n- two of three releases broke a name | CHANGELOG.md:1-3",
    }
    assert int(str(block.root.get("of"))) == 5
    while block.step != "verify":
        assert "Promise the file format" not in block.text
        block = agent.follow(block, **WORKED[block.step])
    assert block.context == {
        "question.asked": "- V1 | How many releases took a public name away? | look in: CHANGELOG.md"
    }


@pytest.mark.req("W-03")
def test_weak_answers_are_asked_for_in_four_rounds_at_most_and_then_named(agent: Agent, dispatch: PrintedBlock) -> None:
    block = dispatch
    asked = []
    while block.step == "dispatch":
        asked.append([child.target.split()[0] for child in block.children])
        block = agent.follow(worked_out(agent, block), **PARTIAL)
    assert asked == [["P1", "P2", "P3"], ["P2"], ["P2"], ["P2"]]
    assert block.step == "aggregate"
    assert block.context["gate.verdict"] == "partial"
    assert block.context["gate.again"] == "- P2 | no upgrade was walked through, only wishes"


@pytest.mark.req("W-03")
def test_a_failed_design_is_drawn_anew_and_what_came_of_it_set_aside(agent: Agent, dispatch: PrintedBlock) -> None:
    gate = worked_out(agent, dispatch, said="answered the old design")
    design = agent.follow(gate, **FAILS)
    assert (design.step, design.root.get("iteration")) == ("design", "2")
    assert design.context["gate.design"] == "fails: nobody asks what is promised, only whether"
    assert design.context["revise.perspectives"].count("\n") == 2
    block = come_to(agent, "dispatch", design)
    assert [child.target for child in block.children] == [RECORD, JOINER, OPPONENT]
    gate = worked_out(agent, block, lost="P1")
    assert "the old design" not in gate.context["dispatch.answers"]
    assert gate.context["dispatch.answers"].count("perspective: ") == 2
    assert gate.context["gate.sound"] == ""


@pytest.mark.req("W-03")
def test_a_design_that_fails_to_the_last_round_is_the_users_to_accept_and_says_so(
    agent: Agent, dispatch: PrintedBlock
) -> None:
    block = dispatch
    rounds = 0
    while block.step == "dispatch":
        rounds += 1
        block = agent.follow(worked_out(agent, block), **FAILS)
        block = block if block.kind == "waiting" else come_to(agent, "dispatch", block)
    assert block.words("QUESTION").startswith("gate ended with fail 4 times.")
    block = agent.answer(block, "accept", "what they say is of use")
    assert (rounds, block.step, block.context["gate.verdict"]) == (4, "aggregate", "fail")
    assert block.context["gate.design"] == "fails: nobody asks what is promised, only whether"


@pytest.mark.req("W-04")
def test_one_lost_when_asked_again_keeps_its_earlier_answer_and_stays_weak(
    agent: Agent, dispatch: PrintedBlock
) -> None:
    gate = worked_out(agent, dispatch, said="answered in round one")
    gate = worked_out(agent, agent.follow(gate, **PARTIAL), lost="P2")
    assert "P2 answered in round one" in gate.context["dispatch.answers"]
    again = agent.follow(gate, **SOUND)
    assert [child.target.split()[0] for child in again.children] == ["P2"]
    assert again.context["gate.again"] == "- P2 | nobody came back: the host killed it"


@pytest.mark.req("W-04")
def test_a_run_in_which_nobody_was_heard_ends_as_failed(agent: Agent, dispatch: PrintedBlock) -> None:
    end = agent.run_command(all_lost(agent, dispatch).next)
    assert (end.kind, end.root.get("status")) == ("done", "failed")


@pytest.mark.req("W-04")
def test_a_later_round_in_which_all_are_lost_goes_on_with_what_was_heard(agent: Agent, gate: PrintedBlock) -> None:
    gate = agent.run_command(all_lost(agent, agent.follow(gate, **PARTIAL)).next)
    assert (gate.step, gate.context["dispatch.answers"].count("perspective: ")) == ("gate", 3)


def all_lost(agent: Agent, block: PrintedBlock) -> PrintedBlock:
    """The block after every sub-agent was given up."""
    for child in block.children:
        left = agent.lose(block, child.id, "no sub-agents today")
    return left


@pytest.mark.req("W-04")
def test_the_gate_is_not_reached_while_a_sub_agent_is_out(agent: Agent, dispatch: PrintedBlock) -> None:
    refused = agent.run_command(dispatch.next)
    assert (refused.exit_code, refused.code) == (3, "unaccounted-child")
    assert refused.valid == [child.id for child in dispatch.children]


@pytest.mark.parametrize(
    "step, wrong, why",
    [
        ("synthesize", {"claims": ["S1 | it will | P1", "S2 | a | b | c"]}, "3 parts; write S1 | claim | rests on"),
        ("refine", {"claims": ["S2 | a | b | c", "S2 | d | e | f"]}, "S2 is given twice"),
        ("refine", {"edits": ['"no such words" -> "others"']}, "the old words stand 0 times in the answer"),
        ("refine", {"edits": ["others"]}, 'write "old words" -> "new words"'),
        ("refine", {"claims": ["names will change", "S2 | d | e | f"]}, "write S1 | claim | rests on"),
        ("refine", {"claims": ["S3 | = | a count"]}, "write S1 | claim | rests on"),
        (
            "plan",
            {"parts": ["Which? | a count", "Q2 | Who? | users"]},
            "begin it with Q1; the form is Q1 | sub-question",
        ),
        ("plan", {"parts": ["Q1 | Which?", "Q2 | Who? | users"]}, "2 parts; write Q1 | sub-question"),
        ("design", {"perspectives": [*DRAWN[:2], "P4 x | y? | z | w | Q1"]}, "begin it with P3"),
        ("design", {"perspectives": [*DRAWN[:2], "P3 x | y? | z | w"]}, "4 parts; write P1 name | its question"),
        (
            "design",
            {"perspectives": [*DRAWN[:2], "P3 The Record | y? | z | w | Q1"]},
            "another perspective has that name",
        ),
        ("design", {"perspectives": [*DRAWN[:2], "P3 | y? | z | w | Q1"]}, "it has no name"),
        ("design", {"perspectives": [*DRAWN[:2], "P3 x | y? | z | w | Q7"]}, "P3: there is no Q7"),
        ("design", {"perspectives": [*DRAWN[:2], "P3 x | y? | z | w | all"]}, "P3 works on no part"),
        ("design", {"perspectives": [DRAWN[0], f"{JOINER} | Q1", DRAWN[2]]}, "Q2 has no perspective; add it"),
        ("design", {"perspectives": DRAWN[:2]}, "2 entries is out of range"),
        ("revise", {"lines": ["P4 x | y? | z"]}, "write P1 name | its question"),
        ("revise", {"lines": ["P4 x | = | z | w | Q1"]}, "write P1 name | its question"),
        ("revise", {"lines": ["P3 | dropped:"]}, "write P3 | dropped: why"),
        ("revise", {"lines": ["P3 | dropped"]}, "write P3 | dropped: why"),
        ("revise", {"lines": [OPPONENT, OPPONENT]}, "lines: P3 is given twice"),
        ("refine", {"claims": ["S2 | dropped:"]}, "claims 'S2 | dropped:': write S2 | dropped: why"),
        ("refine", {"edits": ['"file format" -> "file format"']}, "the new words are the old ones; leave it out"),
        ("revise", {"lines": ["P3 | dropped: twins"]}, "2 perspectives are left"),
        ("revise", {"lines": [OPPONENT, "P2 | = | = | = | Q1"]}, "Q2 has no perspective; add it"),
        ("revise", {"faults": ["P9 | it is vague"]}, "it does not begin with one of P1, P2, P3, all"),
        ("revise", {"lines": []}, 'P3 has a fault and is as it was; change it, or add "P3 | '),
    ],
)
def test_a_plan_or_design_out_of_form_is_refused_and_the_right_one_goes_on(
    agent: Agent, step: str, wrong: dict[str, Any], why: str
) -> None:
    block = come_to(agent, step)
    refused = agent.follow(block, **{**STEPS[step], **wrong})
    assert (refused.exit_code, refused.kind) == (3, "refused")
    assert why in refused.why
    assert agent.follow(refused, **STEPS[step]).exit_code == 0


@pytest.mark.parametrize(
    "wrong, why",
    [
        ({"checked": SOUND["checked"][:2]}, 'P3 has no entry; add "P3 | A1 | what you checked, what came"'),
        ({"checked": [*SOUND["checked"][:2], "P3 | sounds right"]}, "2 parts, and it has 3"),
        ({"checked": [*SOUND["checked"][:2], "P3 | A4 | looked"]}, "the second part is a claim of P3: A1"),
        ({"checked": [*SOUND["checked"], "P9 | claim | looked"]}, "it does not begin with one of P1, P2, P3"),
        ({"weak": ["P2"]}, "1 parts, and it has 2"),
        ({"weak": ["all of them | thin"]}, "it does not begin with one of P1, P2, P3"),
        ({"design": "fails"}, 'write "holds", or "fails: " and why'),
    ],
)
def test_a_judgement_that_leaves_an_answer_out_is_refused(
    agent: Agent, gate: PrintedBlock, wrong: dict[str, Any], why: str
) -> None:
    refused = agent.follow(gate, **{**SOUND, **wrong})
    assert (refused.exit_code, refused.kind) == (3, "refused")
    assert why in refused.why
    assert agent.follow(refused, **SOUND).step == "aggregate"


@pytest.mark.parametrize(
    "step, wrong, why",
    [
        ("gather", {"found": ["two of three | CHANGELOG.md:1-3"]}, "begin it with F1; the form is F1 | fact | source"),
        ("answer", {"claims": ["A1 | two of three"]}, "2 parts; write A1 | claim | rests on"),
        ("question", {"questions": ["How many?"]}, "'How many?': write question | where to look"),
        ("verify", {"answers": ["V2 | observed | two | CHANGELOG.md"]}, "answers: V1 has no entry"),
        (
            "verify",
            {"answers": ["V1 | sure | two | CHANGELOG.md"]},
            "its second part is one of observed, known, unknown",
        ),
        ("report", {"standing": ["A1 | fine | V1"]}, "one of upheld, changed, refuted, open"),
        ("report", {"standing": ["A2 | upheld | V1"]}, "standing: A1 has no entry"),
    ],
)
def test_a_sub_agent_cannot_leave_a_claim_or_a_question_out(
    agent: Agent, dispatch: PrintedBlock, step: str, wrong: dict[str, Any], why: str
) -> None:
    block = agent.run_command(dispatch.children[0].command)
    while block.step != step:
        block = agent.follow(block, **WORKED[block.step])
    values = {
        **WORKED[step],
        **({"answer": "Two of three would have been forbidden, so not."} if step == "report" else {}),
    }
    refused = agent.follow(block, **{**values, **wrong})
    assert (refused.exit_code, refused.kind) == (3, "refused")
    assert why in refused.why
    assert agent.follow(refused, **values).exit_code == 0


@pytest.mark.req("W-03")
@pytest.mark.parametrize("confidence, leads_to", [("certain", "output"), ("high", "refine"), ("exploring", "refine")])
def test_only_certain_ends_the_refinement(agent: Agent, confidence: str, leads_to: str) -> None:
    block = come_to(agent, "refine", plan={"chosen": "quick"})
    assert agent.follow(block, **{**REFINE, "confidence": confidence}).step == leads_to


@pytest.mark.req("W-03")
def test_five_passes_are_the_most_and_the_reply_learns_the_confidence(agent: Agent) -> None:
    block = come_to(agent, "refine", plan={"chosen": "quick"})
    passes = 0
    while block.step == "refine":
        passes += 1
        assert ("This is a further pass" in block.words("DO")) == (passes > 1)
        tried = {"confidence": "medium", "attack": f"Attack {passes}, in earnest.", "edits": []}
        block = agent.follow(block, **{**REFINE, **tried})
    assert (passes, block.step, block.context["refine.confidence"]) == (5, "output", "medium")
    report = agent.follow(block, **OUTPUT).result["output.report"]
    assert report.startswith("How sure: medium: most likely so.")
    assert re.findall(r"Pass \d, confidence medium. Tried: Attack \d", report) == [
        f"Pass {number}, confidence medium. Tried: Attack {number}" for number in (1, 2, 3, 4, 5)
    ]


def test_a_fault_of_a_perspective_is_declined_with_a_reason(agent: Agent) -> None:
    revise = come_to(agent, "revise")
    kept = {"lines": [], "declined": ["P3 | its question is open: a yes has to be shown"]}
    assert agent.follow(revise, **{**REVISE, **kept}).step == "dispatch"


def test_a_revision_names_only_what_changes(agent: Agent) -> None:
    """A part that is = stays, and those that are left out at the end; one is dropped, and one is added."""
    lines = [
        "P3 | = | adds up hours",
        "P2 | dropped: its users are in P4",
        "P4 the users | Who? | asks ten | the rest | Q2",
    ]
    block = agent.follow(come_to(agent, "revise"), **{**REVISE, "lines": lines})
    assert [child.target for child in block.children] == [
        RECORD,
        "P3 the sceptic | Is it bad? | adds up hours | leaves nothing",
        "P4 the users | Who? | asks ten | the rest",
    ]


def test_what_nobody_answered_stays_open_until_a_pass_says_otherwise(agent: Agent, gate: PrintedBlock) -> None:
    gaps = {"gaps": ["nobody asked the users who left | much"]}
    block = agent.follow(agent.follow(gate, **SOUND), **{**AGGREGATE, **gaps})
    block = come_to(agent, "refine", block)
    tried = {name: REFINE[name] for name in ("attack", "came")}
    block = agent.follow(block, **tried, confidence="low")
    assert block.context["refine.left"] == "- nobody asked the users who left | much"
    output = agent.follow(block, **tried, open=[], confidence="certain")
    assert output.context["refine.left"] == ""
    assert "Open:" not in agent.follow(output, **OUTPUT).result["output.report"]


@pytest.mark.req("W-03")
def test_a_pass_keeps_the_answer_and_the_claims_that_it_does_not_name(agent: Agent) -> None:
    block = come_to(agent, "refine", plan={"chosen": "quick"})
    asked = {"attack": "The border: a user who stores nothing.", "came": "S2 broke at one user, S1 held.", "open": []}
    changed = "S2 | users store files for years | one user's disk"
    block = agent.follow(block, **asked, claims=[changed, "S1 | dropped: it does not matter"], confidence="low")
    assert block.context["refine.current"] == SYNTHESIZE["answer"]
    block = agent.follow(
        block, **asked, edits=['"file format" -> "format of files"', '"else" -> "else, no names,"'], confidence="low"
    )
    output = agent.follow(block, **asked, confidence="certain")
    kept = "Promise the format of files and nothing else, no names, until a second maintainer has stayed a year."
    assert output.context["refine.current"] == kept
    report = agent.follow(output, **OUTPUT).result["output.report"]
    assert "- users store files for years Rests on: one user's disk. Refuted by: none does." in report
    assert "names will change again" not in report


@pytest.mark.req("W-04")
def test_a_claim_is_handed_up_with_its_source_and_how_it_stands(agent: Agent, gate: PrintedBlock) -> None:
    claim = "A1 | two of three releases broke a name | CHANGELOG.md:1-3 | upheld | V1; V1: observed | two, 0.2 and 0.3"
    assert claim in gate.context["dispatch.answers"]


@pytest.mark.req("W-18")
def test_what_is_seen_when_weak_ones_are_asked_again(
    agent: Agent, gate: PrintedBlock, snapshot: SnapshotAssertion
) -> None:
    again = agent.follow(gate, **PARTIAL)
    assert stable(gate) == snapshot(name="gate")
    assert stable(again) == snapshot(name="dispatch again")
    assert stable(agent.run_command(again.children[0].command)) == snapshot(name="asked again")


@pytest.mark.req("W-15")
def test_skill_file_meets_the_specification_and_its_command_opens_a_run(agent: Agent) -> None:
    folder = SKILLS / "deepthink"
    assert check_specification(folder) == []
    (command,) = commands_in(load_skill(folder))
    python = command.command.replace("python3", shlex.quote(sys.executable), 1)
    opened = agent.run_command(python.replace("SKILL_DIR", str(folder)))
    assert (opened.step, opened.root.get("of")) == ("clarify", "11")

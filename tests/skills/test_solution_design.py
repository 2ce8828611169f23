"""solution-design, walked as an agent and its sub-agents walk it: one real problem, by the printed commands."""

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
from tests.skills.follower import SKILLS, without_places

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from skills.lib.testing.blocks import PrintedBlock

SCRIPT = SKILLS / "solution-design/scripts/solution_design.py"
PROBLEM = "Some customers get the same order twice. Please add a nightly job that merges duplicates."
SMALL = ["minimal", "removal", "upstream"]
ALL = [*SMALL, "structural", "domain", "stateless", "first-principles"]

CONTEXT: dict[str, Any] = {
    "facts": ["the shop asks again after 5 s | shop.py:2", "accept() stores whatever comes | accept.py:2"],
    "limits": ["C1 | the shop cannot be changed before June | hard, set by its vendor"],
    "effort": "small",
    "stakes": "One function and its table; undone in an hour, and no interface is bound.",
    "also": [],
}
REFLECT: dict[str, Any] = {
    "real_problem": "A customer whose answer takes longer than 5 s is sent the order twice; 30 a month.",
    "behind": ["because the shop repeats its request | shop.py:2", "because nothing tells the two apart | accept.py:2"],
    "assumed": ["a night is soon enough | false: parcels leave at noon"],
    "criteria": ["R1 | one basket is one order | send it twice", "R2 | no order waits longer | time it"],
}
SYNTHESIZE: dict[str, Any] = {
    "ideas": ["I1 | refuse a basket id that is known", "I2 | drop the retry"],
    "disputes": ["removal against minimal | whether the retry is needed | the vendor's log"],
    "learned": ["the basket id is in every request | shop.py:1 | it can serve as key"],
    "built": [
        "K1 refuse and tell | I1 | the same basket on purpose | accept() answers with its order",
        "K2 ask once | I2 | orders that a timeout loses",
        "K3 merge at night | none | parcels that left at noon | a job merges twins",
    ],
}
CHALLENGE: dict[str, Any] = {
    "attacks": [
        "K1 | both requests look before either stores | bends: a unique index refuses the second",
        "K2 | the answer is lost and the customer orders again by hand | breaks: R1",
        "K3 | the second parcel has left when the job runs | Breaks, R1 is not met",
    ],
    "met": ["K1 | R1 yes: the index; R2 yes: 1 ms", "K2 | R1 no; R2 yes", "K3 | R1 no: noon; R2 yes"],
}
SELECT: dict[str, Any] = {
    "choice": "K1",
    "why": "K1 alone meets R1 under every attack, with the unique index as part of it.",
    "against": "A customer who wants the same twice is refused; they can open a second basket.",
    "rejected": [
        "K2 | R1 | a shop that asks",
        "K3 | comes late | parcels that leave late",
    ],
}
OUTPUT: dict[str, Any] = {
    "design": "`accept.py:2` looks the basket up.\n\nOne case: the shop asks again, and finds the order.",
    "steps": ["the index | two at once; dropped again", "the look-up | send it twice; one commit"],
    "unheard": "nobody asked what customers call it",
    "path": ".lockstep/design/twice.md",
}
STEPS = {
    "context": CONTEXT,
    "reflect": REFLECT,
    "explore": {},
    "synthesize": SYNTHESIZE,
    "challenge": CHALLENGE,
    "select": SELECT,
    "output": OUTPUT,
}
PROPOSE: dict[str, Any] = {
    "changes": ["accept.py:2 | 8 lines"],
    "gives_up": "The same basket cannot be ordered twice on purpose.",
    "corrected": ["the shop asks after 5 s | it asks after 4 s | shop.py:2"],
}
DOCUMENT = """# refuse and tell

## Problem

A customer whose answer takes longer than 5 s is sent the order twice; 30 a month.

Asked: Some customers get the same order twice. Please add a nightly job that merges duplicates.

- because the shop repeats its request | shop.py:2
- because nothing tells the two apart | accept.py:2

Any solution must do this:

- R1 | one basket is one order | send it twice
- R2 | no order waits longer | time it
- limit: C1 | the shop cannot be changed before June | hard, set by its vendor

## Design

refuse a basket id that is known; accept() answers with its order. It gives up: the same basket on purpose.

`accept.py:2` looks the basket up.

One case: the shop asks again, and finds the order.

## Why

K1 alone meets R1 under every attack, with the unique index as part of it.

The best argument against it: A customer who wants the same twice is refused; they can open a second basket.

## Alternatives

- K2 ask once: drop the retry. Not taken: R1 (one basket is one order). What would make it right: a shop that asks.
- K3 merge at night: a job merges twins. Not taken: comes late. What would make it right: parcels that leave late.

## Risks

- both requests look before either stores | bends: a unique index refuses the second

## Steps

1. the index | two at once; dropped again
2. the look-up | send it twice; one commit

## Perspectives

Heard: minimal, removal, upstream.

- structural: left out, for the effort that was chosen
- domain: left out, for the effort that was chosen
- stateless: left out, for the effort that was chosen
- first-principles: left out, for the effort that was chosen

nobody asked what customers call it
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A shop and the service that takes its orders."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "shop.py").write_text("def order(basket):\n    retry(5, send, basket.id)\n", encoding="utf-8")
    (tmp_path / "accept.py").write_text("def accept(request):\n    store(request)\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def agent(project: Path) -> Agent:
    """An agent whose commands run in this process."""
    return Agent(SCRIPT, project)


def come_to(agent: Agent, step: str, block: PrintedBlock | None = None, **instead: dict[str, Any]) -> PrintedBlock:
    """Go on from the block, or from a new run, to the step, by the sample of each step or by what stands instead."""
    block = block or agent.open(problem=PROBLEM)
    while block.step != step:
        assert block.exit_code == 0, block.text + block.errors
        if block.children:
            block = proposed(agent, block)
        else:
            block = agent.follow(block, **{**STEPS[block.step], **instead.get(block.step, {})})
    return block


def proposed(agent: Agent, explore: PrintedBlock, lost: str = "none") -> PrintedBlock:
    """Have every sub-agent propose, or be lost, and run what the orchestrator is then to run."""
    last = explore
    for child in explore.children:
        name = child.target.partition(":")[0]
        if name == lost:
            last = agent.lose(explore, child.id, "the host killed it")
            continue
        last = agent.follow(
            agent.run_command(child.command),
            **PROPOSE,
            proposal=f"What {name} proposes is to look the basket up before it is stored.",
        )
    return agent.run_command(last.next)


def asked(explore: PrintedBlock) -> list[str]:
    """The perspectives that are dispatched, in their order."""
    return [child.target.partition(":")[0] for child in explore.children]


def stable(block: PrintedBlock) -> str:
    """The block without what differs from run to run."""
    text = without_places(block.text)
    text = text.replace(block.run.partition(".")[0], "RUN").replace(os.environ["LOCKSTEP_HOME"], "HOME")
    return re.sub(r"--project \S+?(?=[ <])", "--project PROJECT", text)


@pytest.mark.req("W-03", "W-04", "W-18")
def test_a_run_leads_from_a_wish_to_a_checked_design_in_a_real_shell(project: Path) -> None:
    agent = Agent(SCRIPT, project, call=Shell(project))
    explore = come_to(agent, "explore")
    assert asked(explore) == SMALL
    synthesize = proposed(agent, explore)
    assert re.findall(r"What \S+ proposes", synthesize.context["explore.proposals"]) == [
        *("What minimal proposes", "What removal proposes", "What upstream proposes")
    ]
    output = come_to(agent, "output", synthesize)
    assert output.context["context.left_out"] == "- structural\n- domain\n- stateless\n- first-principles"
    done = agent.follow(output, **OUTPUT)
    assert (done.kind, done.result["output.document"]) == ("done", ".lockstep/design/twice.md")
    assert (project / ".lockstep/design/twice.md").read_text(encoding="utf-8") == DOCUMENT
    assert [one.step for one in agent.taken(done.run)] == [
        *("context", "reflect", "explore", "synthesize", "challenge", "select", "output")
    ]


@pytest.mark.req("W-04")
@pytest.mark.parametrize(
    "effort, also, names",
    [
        ("small", [], SMALL),
        ("small", ["stateless", "minimal"], [*SMALL, "stateless"]),
        ("medium", [], [*SMALL, "structural", "domain"]),
        ("large", [], ALL),
        ("large", ["domain"], ALL),
    ],
)
def test_the_effort_decides_which_perspectives_are_asked(
    agent: Agent, effort: str, also: list[str], names: list[str]
) -> None:
    explore = come_to(agent, "explore", context={"effort": effort, "also": also})
    assert asked(explore) == names
    left_out = [name for name in ALL if name not in names]
    output = come_to(agent, "output", explore)
    assert output.context.get("context.left_out", "") == "\n".join(f"- {name}" for name in left_out)


@pytest.mark.req("W-04")
def test_each_perspective_is_given_its_own_guide_and_the_real_problem_alone(agent: Agent) -> None:
    explore = come_to(agent, "explore", context={"effort": "large"})
    begin = {name: (SKILLS / f"solution-design/resources/{name}.md").read_text(encoding="utf-8") for name in ALL}
    for child in explore.children:
        propose = agent.run_command(child.command)
        name = child.target.partition(":")[0]
        assert propose.context == {
            "perspective": f"{name}: {begin[name].partition(chr(10))[2].strip()}",
            "problem": REFLECT["real_problem"],
            "criteria": "- R1 | one basket is one order | send it twice\n- R2 | no order waits longer | time it",
            "facts": "- the shop asks again after 5 s | shop.py:2\n- accept() stores whatever comes | accept.py:2",
            "constraints": "none stated",
            "limits": "- C1 | the shop cannot be changed before June | hard, set by its vendor",
        }
        assert [one for one in ALL if begin[one].splitlines()[2] in propose.text] == [name]
        assert "merges duplicates" not in propose.text
        assert len(propose.text) <= 10_000


@pytest.mark.req("W-04")
def test_a_run_in_which_nobody_proposed_ends_as_failed(agent: Agent) -> None:
    explore = come_to(agent, "explore")
    for child in explore.children:
        left = agent.lose(explore, child.id, "no sub-agents today")
    done = agent.run_command(left.next)
    assert (done.kind, done.words("STATE")) == (
        "done",
        "Solution design failed at explore, after 3 transitions.",
    )


@pytest.mark.req("W-04")
def test_a_lost_perspective_is_named_to_the_end_and_in_the_document(agent: Agent, project: Path) -> None:
    explore = come_to(agent, "explore")
    refused = agent.run_command(explore.next)
    assert (refused.exit_code, refused.code) == (3, "unaccounted-child")
    synthesize = proposed(agent, explore, lost="upstream")
    assert synthesize.context["explore.lost"] == "- upstream | the host killed it"
    assert synthesize.context["explore.proposals"].count("perspective: ") == 2
    output = come_to(agent, "output", synthesize)
    assert output.context["explore.lost"] == "- upstream | the host killed it"
    agent.follow(output, **OUTPUT)
    text = (project / ".lockstep/design/twice.md").read_text(encoding="utf-8")
    assert "Heard: minimal, removal.\n" in text
    assert "- upstream: lost (the host killed it)\n" in text


@pytest.mark.parametrize(
    "step, wrong, why",
    [
        ("context", {"effort": "huge"}, "one of small, medium, large"),
        ("context", {"also": ["security"]}, "is not one of minimal, removal"),
        ("reflect", {"criteria": ["R1 | one basket is one order | send it"]}, "1 entries is out of range"),
        ("context", {"limits": ["no new service | hard, operations"]}, "begin it with C1; the form is C1 | limit"),
        ("reflect", {"criteria": ["R1 | one order", "R2 | no wait | time it"]}, "2 parts; write R1 | what any"),
        ("synthesize", {"ideas": ["I1 | refuse", "drop"]}, "begin it with I2"),
        ("challenge", {"met": [*CHALLENGE["met"][:2], "K3 | all are met"]}, "write R1 yes: by what, or R1 no: why"),
        ("synthesize", {"built": SYNTHESIZE["built"][:1]}, "1 entries is out of range"),
        ("synthesize", {"built": SYNTHESIZE["built"][1:]}, "begin it with K1; the form is K1 name"),
        ("synthesize", {"built": ["K1 a | I1 | c", "K2 a | I2"]}, "2 parts, or an empty one; write K1 name | I1"),
        ("synthesize", {"built": ["K1 a | I1 | c", "K2 | I2 | c"]}, "there is no name after K2"),
        ("synthesize", {"built": ["K1 a | I1 | c", "K2 b | I3 | c"]}, "I3 is none of I1, I2"),
        ("synthesize", {"built": ["K1 a | I1 | c", "K2 b | none | c"]}, "it uses no idea; say in a fourth part"),
        ("synthesize", {"built": ["K1 a | I1 | c", "K2 b | I1 | d"]}, "it is made of what K1 is made of"),
        ("synthesize", {"built": ["K1 a | I1 | c | x | y", "K2 b | I2 | d"]}, "5 parts, or an empty one; write K1"),
        ("challenge", {"attacks": CHALLENGE["attacks"][:2]}, 'K3 has none; add "K3 | what happens | holds"'),
        ("challenge", {"attacks": [*CHALLENGE["attacks"], "K1 | slow | may be"]}, "does not begin with holds, bends"),
        ("challenge", {"attacks": [*CHALLENGE["attacks"], "all | slow | bends"]}, "one of K1, K2, K3 and a |"),
        ("challenge", {"met": CHALLENGE["met"][:2]}, "met: K3 is not there"),
        ("challenge", {"met": [*CHALLENGE["met"], "K9 | R1 no; R2 no"]}, "met: K9 is none of K1, K2, K3"),
        ("challenge", {"met": [*CHALLENGE["met"], "K3 | R1 yes; R2 no"]}, "met: K3 is given twice"),
        (
            "challenge",
            {"met": ["K1, K2, K3 | R1 yes: the index; R2 yes: it is quick"]},
            "K2, K3 is broken, the others are not: give it a row of its own",
        ),
        ("select", {"choice": "K4"}, "choice is K4, and the candidates are K1, K2, K3"),
        ("select", {"choice": "K2", "rejected": ["K1 | a | b", "K3 | a | b"]}, "breaks K2, and none breaks K1"),
        ("select", {"rejected": ["K2 | loses orders | a shop that asks"]}, "rejected: K3 is not there"),
        ("select", {"rejected": ["K2 | R9 | x", "K3 | a | b"]}, "R9 is none of R1, R2; or say why not in words"),
        ("select", {"rejected": ["K2 | R2 | x", "K3 | a | b"]}, "K2 meets R2 by met; say why not in words"),
        ("select", {"rejected": ["K2 | R1", "K3 | a | b"]}, "write K2 | R2, or why not | what would make it right"),
        ("select", {"rejected": [*SELECT["rejected"], "K1 | a | b"]}, "rejected: K1 is the choice"),
    ],
)
@pytest.mark.slow
def test_a_report_out_of_form_is_refused_and_the_right_one_goes_on(
    agent: Agent, step: str, wrong: dict[str, Any], why: str
) -> None:
    block = come_to(agent, step)
    refused = agent.follow(block, **{**STEPS[step], **wrong})
    assert (refused.exit_code, refused.kind) == (3, "refused")
    assert why in refused.why
    assert agent.follow(refused, **STEPS[step]).exit_code == 0


def test_a_correction_of_a_fact_has_its_place(agent: Agent) -> None:
    propose = agent.run_command(come_to(agent, "explore").children[0].command)
    values = {**PROPOSE, "proposal": "Look the basket up before storing it, and answer with the order it became."}
    refused = agent.follow(propose, **{**values, "corrected": ["it is not so"]})
    assert (refused.exit_code, refused.kind) == (3, "refused")
    assert "write fact | what is so | place" in refused.why
    assert agent.follow(refused, **values).kind == "done"


def test_if_every_candidate_breaks_one_may_still_be_chosen(agent: Agent) -> None:
    attacks = [line.replace("bends:", "breaks:") for line in CHALLENGE["attacks"]]
    select = come_to(agent, "select", challenge={"attacks": attacks})
    values = {**SELECT, "choice": "K3", "rejected": ["K1 | a | b", "K2 | a | b"]}
    assert agent.follow(select, **values).step == "output"


@pytest.mark.parametrize(
    "wrong, why",
    [
        ({"design": f"## Steps\n{OUTPUT['design']}"}, "design has a heading; the document has its own"),
        ({"design": "word " * 700}, "words, at most 700: cut what nobody needs"),
        ({"steps": ["implement the design"]}, "write what is done | how it is checked"),
        ({"path": "../twice.md"}, "../twice.md is outside the project"),
        ({"path": "shop.py"}, "shop.py is there already; name another place"),
    ],
)
def test_a_design_out_of_form_or_in_the_wrong_place_is_refused(
    agent: Agent, project: Path, wrong: dict[str, Any], why: str
) -> None:
    output = come_to(agent, "output")
    refused = agent.follow(output, **{**OUTPUT, **wrong})
    assert (refused.exit_code, refused.code) == (3, "missing-evidence")
    assert why in refused.why
    assert (project / "shop.py").read_text(encoding="utf-8").startswith("def order")
    assert agent.follow(output, **OUTPUT).kind == "done"


def test_candidates_that_meet_the_criteria_in_one_way_share_a_row(agent: Agent) -> None:
    challenge = come_to(agent, "challenge")
    shared = ["K2, K3 | R1 no: two orders are left; R2 yes"]
    refused = agent.follow(challenge, **{**CHALLENGE, "met": shared})
    assert "met: K1 is not there" in refused.why
    assert agent.follow(refused, **{**CHALLENGE, "met": [*shared, "K1 | R1 yes; R2 yes"]}).step == "select"


def test_candidates_are_made_of_their_ideas(agent: Agent) -> None:
    challenge = come_to(agent, "challenge")
    assert challenge.context["synthesize.candidates"].splitlines() == [
        "- K1 refuse and tell | refuse a basket id that is known; accept() answers with its order | I1 | the same "
        "basket on purpose",
        "- K2 ask once | drop the retry | I2 | orders that a timeout loses",
        "- K3 merge at night | a job merges twins | none | parcels that left at noon",
    ]


def test_a_bar_in_an_idea_stays_in_its_candidate(agent: Agent) -> None:
    challenge = come_to(agent, "challenge", synthesize={"ideas": ["I1 | refuse | tell | minimal", "I2 | drop"]})
    assert "K1 refuse and tell | refuse; tell; minimal; accept()" in challenge.context["synthesize.candidates"]


def test_constraints_are_shown_if_they_were_given(agent: Agent) -> None:
    given = agent.open(problem=PROBLEM, constraints="No new service, says operations.")
    assert given.context == {"problem": PROBLEM, "constraints": "No new service, says operations."}
    assert agent.open("--new", problem=PROBLEM).context["constraints"] == "none stated"


@pytest.mark.req("W-18")
def test_what_is_seen(agent: Agent, snapshot: SnapshotAssertion) -> None:
    explore = come_to(agent, "explore")
    assert stable(explore) == snapshot(name="explore")
    assert stable(agent.run_command(explore.children[0].command)) == snapshot(name="propose")


@pytest.mark.req("W-15")
def test_skill_file_meets_the_specification_and_its_command_opens_a_run(agent: Agent) -> None:
    folder = SKILLS / "solution-design"
    assert check_specification(folder) == []
    (command,) = commands_in(load_skill(folder))
    python = command.command.replace("python3", shlex.quote(sys.executable), 1)
    opened = agent.run_command(python.replace("SKILL_DIR", str(folder)))
    assert (opened.step, opened.root.get("of")) == ("context", "7")

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
    "wanted": "No customer gets an order twice; a nightly merge is what the user thinks of.",
    "facts": ["the shop asks again after 5 s | shop.py:2", "accept() stores whatever comes | accept.py:2"],
    "limits": ["C1 | the shop cannot be changed before June | hard, set by its vendor"],
    "done_when": ["send the same basket twice within 10 s | one order is stored"],
}
CALIBRATE: dict[str, Any] = {
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
AGGREGATE: dict[str, Any] = {
    "ideas": ["I1 | refuse a basket id that is known | minimal, upstream", "I2 | drop the retry | removal"],
    "disputes": ["removal against minimal | whether the retry is needed | the vendor's log"],
    "learned": ["the basket id is in every request | shop.py:1 | it can serve as key"],
}
SYNTHESIZE: dict[str, Any] = {
    "candidates": [
        "K1 refuse and tell | accept() answers a known basket with its order | I1 | the same basket on purpose",
        "K2 drop the retry | the shop asks once | I2 | orders that a timeout loses",
        "K3 merge at night | a job merges twins | none | parcels that left at noon",
    ],
    "smallest": "K1: eight lines in one function; less would not tell the two requests apart.",
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
        "K2 | loses orders | a shop that asks",
        "K3 | comes after the parcel | parcels that leave in the evening",
    ],
}
OUTPUT: dict[str, Any] = {
    "design": ".lockstep/design/twice.md",
    "summary": "A known basket id is answered with its first order; a unique index refuses the rest.",
}
STEPS = {
    "context": CONTEXT,
    "calibrate": CALIBRATE,
    "reflect": REFLECT,
    "explore": {},
    "aggregate": AGGREGATE,
    "synthesize": SYNTHESIZE,
    "challenge": CHALLENGE,
    "select": SELECT,
    "output": OUTPUT,
}
LOOK: dict[str, Any] = {
    "seen": ["shop.py:2 | asks twice | the source", "accept.py:2 | stores without a look | the place"],
    "levers": ["accept.py:2 | a look-up before storing would tell the two apart"],
}
PROPOSE: dict[str, Any] = {
    "changes": ["accept.py:2 | look the basket up before storing | 8 lines"],
    "meets": ["R1 | yes | the second request finds the first", "R2 | yes | 1 ms"],
    "gives_up": "The same basket cannot be ordered twice on purpose.",
    "fails_when": "Baskets that are ordered again and again, as a subscription would.",
    "fit": "strong",
    "corrected": [],
}
UNHEARD = (
    "Asked: minimal, removal, upstream. Left out for the small effort: structural, domain, stateless, first principles."
)
DOCUMENT = f"""# One basket, one order

## Problem
Parcels leave at noon, so a nightly merge comes too late.
## Design
`accept.py:2` looks the basket up.
## Why
It alone meets both criteria.
## Alternatives
Dropping the retry; merging at night.
```
## Steps
```
## Risks
Two at once: the unique index refuses the second.
## Steps
1. The index. 2. The look-up.
## Perspectives
{UNHEARD}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A shop and the service that takes its orders, with a design already written."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "shop.py").write_text("def order(basket):\n    retry(5, send, basket.id)\n", encoding="utf-8")
    (tmp_path / "accept.py").write_text("def accept(request):\n    store(request)\n", encoding="utf-8")
    write(tmp_path, DOCUMENT)
    return tmp_path


def write(project: Path, document: str) -> None:
    """Write the design's file."""
    (project / ".lockstep" / "design").mkdir(parents=True, exist_ok=True)
    (project / ".lockstep" / "design" / "twice.md").write_text(document, encoding="utf-8")


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
    """Have every sub-agent look and propose, or be lost, and run what the orchestrator is then to run."""
    last = explore
    for child in explore.children:
        if child.target == lost:
            last = agent.lose(explore, child.id, "the host killed it")
            continue
        propose = agent.follow(agent.run_command(child.command), **LOOK)
        last = agent.follow(
            propose, **PROPOSE, proposal=f"What {child.target} proposes is to look the basket up before it is stored."
        )
    return agent.run_command(last.next)


def stable(block: PrintedBlock) -> str:
    """The block without what differs from run to run."""
    text = without_places(block.text)
    text = text.replace(block.run.partition(".")[0], "RUN").replace(os.environ["LOCKSTEP_HOME"], "HOME")
    return re.sub(r"--project \S+?(?=[ <])", "--project PROJECT", text)


@pytest.mark.req("W-03", "W-04", "W-18")
def test_a_run_leads_from_a_wish_to_a_checked_design_in_a_real_shell(project: Path) -> None:
    agent = Agent(SCRIPT, project, call=Shell(project))
    explore = come_to(agent, "explore")
    assert [child.target for child in explore.children] == SMALL
    aggregate = proposed(agent, explore)
    assert re.findall(r"What \S+ proposes", aggregate.context["explore.proposals"]) == [
        *("What minimal proposes", "What removal proposes", "What upstream proposes")
    ]
    output = come_to(agent, "output", aggregate)
    assert output.context["calibrate.left_out"] == "- structural\n- domain\n- stateless\n- first-principles"
    done = agent.follow(output, **OUTPUT)
    assert (done.kind, done.result["output.design"]) == ("done", ".lockstep/design/twice.md")
    assert [one.step for one in agent.taken(done.run)] == [
        *("context", "calibrate", "reflect", "explore", "aggregate", "synthesize", "challenge", "select", "output")
    ]


@pytest.mark.req("W-04")
@pytest.mark.parametrize(
    "effort, also, asked",
    [
        ("small", [], SMALL),
        ("small", ["stateless", "minimal"], [*SMALL, "stateless"]),
        ("medium", [], [*SMALL, "structural", "domain"]),
        ("large", [], ALL),
        ("large", ["domain"], ALL),
    ],
)
def test_the_effort_decides_which_perspectives_are_asked(
    agent: Agent, effort: str, also: list[str], asked: list[str]
) -> None:
    explore = come_to(agent, "explore", calibrate={"effort": effort, "also": also})
    assert [child.target for child in explore.children] == asked
    left_out = [name for name in ALL if name not in asked]
    assert explore.context["calibrate.left_out"] == "\n".join(f"- {name}" for name in left_out)


@pytest.mark.req("W-04")
def test_each_perspective_is_given_its_own_guide_and_the_real_problem_alone(agent: Agent) -> None:
    explore = come_to(agent, "explore", calibrate={"effort": "large"})
    begin = {name: (SKILLS / f"solution-design/resources/{name}.md").read_text(encoding="utf-8") for name in ALL}
    for child in explore.children:
        look = agent.run_command(child.command)
        assert look.context == {
            "perspective": child.target,
            "problem": REFLECT["real_problem"],
            "criteria": "- R1 | one basket is one order | send it twice\n- R2 | no order waits longer | time it",
            "facts": "- the shop asks again after 5 s | shop.py:2\n- accept() stores whatever comes | accept.py:2",
            "limits": "- C1 | the shop cannot be changed before June | hard, set by its vendor",
        }
        propose = agent.follow(look, **LOOK)
        assert propose.context["look.guide"] == begin[child.target].strip()
        assert [name for name in ALL if begin[name].splitlines()[2] in propose.text] == [child.target]
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
        "Solution design failed at explore, after 4 transitions.",
    )


@pytest.mark.req("W-04")
def test_a_lost_perspective_is_named_to_the_end_and_the_design_must_name_it(agent: Agent, project: Path) -> None:
    explore = come_to(agent, "explore")
    refused = agent.run_command(explore.next)
    assert (refused.exit_code, refused.code) == (3, "unaccounted-child")
    aggregate = proposed(agent, explore, lost="upstream")
    assert aggregate.context["explore.lost"] == "- upstream | the host killed it"
    assert aggregate.context["explore.proposals"].count("perspective: ") == 2
    output = come_to(agent, "output", aggregate)
    write(project, DOCUMENT.replace("removal, upstream", "removal"))
    refused = agent.follow(output, **OUTPUT)
    assert "the section ## Perspectives does not name upstream, which was not heard" in refused.why
    write(project, DOCUMENT)
    assert agent.follow(output, **OUTPUT).kind == "done"


@pytest.mark.parametrize(
    "step, wrong, why",
    [
        ("calibrate", {"effort": "huge"}, "one of small, medium, large"),
        ("calibrate", {"also": ["security"]}, "is not one of minimal, removal"),
        ("reflect", {"criteria": ["R1 | one basket is one order | send it"]}, "1 entries is out of range"),
        ("context", {"limits": ["no new service | hard, operations"]}, "begin it with C1; the form is C1 | limit"),
        ("reflect", {"criteria": ["R1 | one order", "R2 | no wait | time it"]}, "2 parts; write R1 | what any"),
        ("aggregate", {"ideas": ["I1 | refuse | minimal", "drop | removal"]}, "begin it with I2"),
        ("challenge", {"met": [*CHALLENGE["met"][:2], "K3 | all are met"]}, "write R1 yes: by what, or R1 no: why"),
        ("synthesize", {"candidates": SYNTHESIZE["candidates"][:1]}, "1 entries is out of range"),
        ("synthesize", {"candidates": SYNTHESIZE["candidates"][1:]}, "begin it with K1; the form is K1 name"),
        (
            "synthesize",
            {"candidates": ["K1 a | b | c | d", "K2 a | b | c"]},
            "3 parts; write K1 name | how it solves it",
        ),
        ("synthesize", {"candidates": ["K1 a | b | c | d", "K2 | b | c | d"]}, "there is no name after K2"),
        ("challenge", {"attacks": CHALLENGE["attacks"][:2]}, 'K3 has none; add "K3 | what happens | holds"'),
        ("challenge", {"attacks": [*CHALLENGE["attacks"], "K1 | slow | may be"]}, "does not begin with holds, bends"),
        ("challenge", {"attacks": [*CHALLENGE["attacks"], "all | slow | bends"]}, "one of K1, K2, K3 and a |"),
        ("challenge", {"met": CHALLENGE["met"][:2]}, "met: K3 is not there"),
        ("select", {"choice": "K4"}, "choice is K4, and the candidates are K1, K2, K3"),
        ("select", {"choice": "K2", "rejected": ["K1 | a | b", "K3 | a | b"]}, "breaks K2, and none breaks K1"),
        ("select", {"rejected": ["K2 | loses orders | a shop that asks"]}, "rejected: K3 is not there"),
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


@pytest.mark.parametrize(
    "meets, why",
    [
        (["R1 | yes | it is found"], 'R2 is not there; add "R2 | yes or no | …"'),
        (["R1 | mostly | it is found", "R2 | yes | 1 ms"], "write R1 | yes or no | by what; the criteria are R1, R2"),
        (["yes, both", "R2 | yes | 1 ms"], "meets: R1 is not there"),
    ],
)
def test_a_proposal_says_of_every_criterion_whether_it_is_met(agent: Agent, meets: list[str], why: str) -> None:
    look = agent.run_command(come_to(agent, "explore").children[0].command)
    propose = agent.follow(look, **LOOK)
    values = {**PROPOSE, "proposal": "Look the basket up before storing it, and answer with the order it became."}
    refused = agent.follow(propose, **{**values, "meets": meets})
    assert (refused.exit_code, refused.kind) == (3, "refused")
    assert why in refused.why
    assert agent.follow(refused, **values).kind == "done"


def test_if_every_candidate_breaks_one_may_still_be_chosen(agent: Agent) -> None:
    attacks = [line.replace("bends:", "breaks:") for line in CHALLENGE["attacks"]]
    select = come_to(agent, "select", challenge={"attacks": attacks})
    values = {**SELECT, "choice": "K3", "rejected": ["K1 | a | b", "K2 | a | b"]}
    assert agent.follow(select, **values).step == "output"


@pytest.mark.parametrize(
    "old, new, why",
    [
        ("## Risks", "### Risks", "there is no section ## Risks"),
        ("## Why\nIt alone meets both criteria.\n", "## Why\n", "the section ## Why is empty"),
        ("stateless, ", "", "## Perspectives does not name stateless"),
        ("first principles", "others", "## Perspectives does not name first-principles"),
        ("## Problem\n", "## Perspectives\nNone.\n## Problem\n", "their order is Problem, Design, Why"),
        ("\n## Steps\n1.", "\n1.", "there is no section ## Steps"),
    ],
)
def test_a_design_with_a_gap_is_refused(agent: Agent, project: Path, old: str, new: str, why: str) -> None:
    output = come_to(agent, "output")
    write(project, DOCUMENT.replace(old, new))
    refused = agent.follow(output, **OUTPUT)
    assert (refused.exit_code, refused.code) == (3, "missing-evidence")
    assert why in refused.why
    write(project, DOCUMENT)
    assert agent.follow(output, **OUTPUT).kind == "done"


def test_constraints_are_shown_if_they_were_given(agent: Agent) -> None:
    given = agent.open(problem=PROBLEM, constraints="No new service, says operations.")
    assert given.context == {"problem": PROBLEM, "constraints": "No new service, says operations."}
    assert agent.open("--new", problem=PROBLEM).context["constraints"] == "none stated"


@pytest.mark.req("W-18")
def test_what_is_seen(agent: Agent, snapshot: SnapshotAssertion) -> None:
    explore = come_to(agent, "explore")
    look = agent.run_command(explore.children[0].command)
    assert stable(explore) == snapshot(name="explore")
    assert stable(agent.follow(look, **LOOK)) == snapshot(name="propose")


@pytest.mark.req("W-15")
def test_skill_file_meets_the_specification_and_its_command_opens_a_run(agent: Agent) -> None:
    folder = SKILLS / "solution-design"
    assert check_specification(folder) == []
    (command,) = commands_in(load_skill(folder))
    python = command.command.replace("python3", shlex.quote(sys.executable), 1)
    opened = agent.run_command(python.replace("SKILL_DIR", str(folder)))
    assert (opened.step, opened.root.get("of")) == ("context", "9")

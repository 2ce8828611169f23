"""The founding document's usage examples of formatters, run as written; what they leave out is filled in."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lxml import etree

import skills
from skills.lib.testing.blocks import parse
from skills.lib.workflow.types import QRState
from tests.blocks.fragments import parse_fragment

pytestmark = pytest.mark.req("W-08")

BOOTSTRAP = """\
import sys
from pathlib import Path

# Add .claude/ to path for skills.* imports
_claude_dir = Path(__file__).resolve().parents[3]
if str(_claude_dir) not in sys.path:
    sys.path.insert(0, str(_claude_dir))
"""

SIMPLE = (
    BOOTSTRAP
    + """
from skills.lib.workflow.formatters.text import format_text_output

def main():
    import argparse
    parser = argparse.ArgumentParser()
    parser.add_argument("--step", type=int, required=True)
    parser.add_argument("--total-steps", type=int, required=True)
    args = parser.parse_args()

    if args.step == 1:
        print(format_text_output(
            step=1,
            total=args.total_steps,
            title="Analyze Problem",
            actions=["Read codebase", "Identify issues"],
            brief="Initial analysis",
            next_title="Propose Solution",
        ))
    elif args.step == 2:
        print(format_text_output(
            step=2,
            total=args.total_steps,
            title="Propose Solution",
            actions=["Design fix", "Document approach"],
            brief="Solution design",
            next_title=None,  # Terminal step
        ))

if __name__ == "__main__":
    main()
"""
)

REVIEWED = (
    BOOTSTRAP
    + """
from skills.lib.workflow.formatters import format_step_output, format_gate_step
from skills.lib.workflow.types import (
    Step, QRState, GateConfig, AgentRole,
    LinearRouting, BranchRouting
)
from skills.lib.workflow.types import TerminalRouting  # filled in

STEPS = {
    1: Step(
        title="Implementation",
        actions=["Write code", "Run tests"],
        routing=LinearRouting(),
    ),
    2: Step(
        title="QR: Review Implementation",
        actions=["Check code quality", "Verify tests"],
        routing=BranchRouting(if_pass=4, if_fail=3),
    ),
    # Step 3 is gate (no entry in STEPS dict)
    4: Step(title="Report", actions=["Report"], routing=TerminalRouting()),  # filled in
}

def main():
    import argparse
    parser = argparse.ArgumentParser()
    parser.add_argument("--step", type=int, required=True)
    parser.add_argument("--total-steps", type=int, required=True)
    parser.add_argument("--qr-iteration", type=int, default=1)
    parser.add_argument("--qr-fail", action="store_true")
    parser.add_argument("--qr-status", type=str, choices=["pass", "fail"])
    args = parser.parse_args()

    qr = QRState(
        iteration=args.qr_iteration,
        failed=args.qr_fail,
        status=args.qr_status,
    )

    if args.step == 3:  # Gate step
        gate = GateConfig(
            qr_name="Implementation Review",
            work_step=1,
            pass_step=4,
            pass_message="Implementation verified",
            self_fix=True,
            fix_target=AgentRole.DEVELOPER,
        )
        print(format_gate_step(
            script=__file__,
            step=3,
            total=args.total_steps,
            title="Gate: Route Based on QR",
            qr=qr,
            gate=gate,
        ))
    else:
        # Regular step
        step_config = STEPS[args.step]
        print(format_step_output(
            step=args.step, total=args.total_steps, script=__file__, qr=qr, **step_config.fields()
        ))

if __name__ == "__main__":
    main()
"""
)


def script(folder: Path, text: str) -> Path:
    """Write a skill's script into a tree of its own that has our library."""
    home = folder / "with space & co" / ".claude" / "skills"
    (home / "my-skill" / "scripts").mkdir(parents=True)
    here = Path(skills.__file__).parent
    shutil.copy(here / "__init__.py", home)
    (home / "lib").symlink_to(here / "lib", target_is_directory=True)
    path = home / "my-skill" / "scripts" / "my_skill.py"
    path.write_text(text, encoding="utf-8")
    return path


def run(arguments: list[str], folder: Path) -> str:
    finished = subprocess.run(
        [sys.executable, *arguments[1:]], capture_output=True, text=True, check=True, cwd=folder, timeout=60
    )
    return finished.stdout


@pytest.mark.req("W-07")
def test_a_simple_skill_prints_its_steps(tmp_path: Path) -> None:
    path = str(script(tmp_path, SIMPLE))
    first = run(["python3", path, "--step", "1", "--total-steps", "2"], tmp_path)
    assert first == (
        "STEP 1 of 2: Analyze Problem\n\nBRIEF:\n  Initial analysis\n\nDO:\n  Read codebase\n  Identify issues\n\n"
        "NEXT:\n  Step 2: Propose Solution\n"
    )
    last = run(["python3", path, "--step", "2", "--total-steps", "2"], tmp_path)
    assert last.endswith("NEXT:\n  Nothing: this is the last step.\n")


def follow(command: str | None, folder: Path) -> etree._Element:
    assert command is not None
    return parse(run(shlex.split(command), folder))


@pytest.mark.req("W-09")
def test_a_skill_with_a_review_loop_is_walked_by_its_printed_commands(tmp_path: Path) -> None:
    path = script(tmp_path, REVIEWED)
    work = follow(shlex.join(["python3", str(path), "--step", "1", "--total-steps", "4"]), tmp_path)
    review = follow(work.findtext("NEXT"), tmp_path)
    assert [outcome.get("to") for outcome in review.iter("outcome")] == ["4", "3"]

    gate = follow(review.findtext("INVOKE_AFTER/outcome[@name='fail']/command"), tmp_path)
    assert (gate.get("verdict"), gate.get("iteration")) == ("fail", "1")
    again = follow(gate.findtext("NEXT"), tmp_path)
    assert (again.get("number"), again.get("iteration")) == ("1", "2")
    review = follow(again.findtext("NEXT"), tmp_path)
    assert review.get("iteration") == "2"

    gate = follow(review.findtext("INVOKE_AFTER/outcome[@name='fail']/command"), tmp_path)
    assert gate.get("iteration") == "2"
    last = follow(review.findtext("INVOKE_AFTER/outcome[@name='pass']/command"), tmp_path)
    assert last.get("number") == "4"
    assert last.find("NEXT") is None


def test_a_gate_of_the_document_prints_its_meaning() -> None:
    from skills.lib.workflow.formatters import format_gate_step
    from skills.lib.workflow.types import AgentRole, GateConfig

    gate = GateConfig(
        qr_name="Implementation Review",
        work_step=1,
        pass_step=4,
        pass_message="Implementation verified",
        self_fix=True,
        fix_target=AgentRole.DEVELOPER,
    )
    root = parse(
        format_gate_step(
            script="script", step=3, total=4, title="Gate: Route Based on QR", qr=QRState(status="pass"), gate=gate
        )
    )
    assert root.get("title") == "Gate: Route Based on QR"
    assert root.findtext("DO") == "\nImplementation verified\n  "
    assert root.findtext("NEXT") == "python3 script --step 4 --total-steps 4"


@pytest.mark.req("W-06")
def test_blocks_and_strings_compose_in_one_action_list() -> None:
    from skills.lib.workflow.formatters import (
        format_expected_output,
        format_forbidden,
        format_state_banner,
        format_step_output,
    )

    actions = [
        format_state_banner("checkpoint_name", iteration=2, mode="re-verify"),
        "",
        "TASK: Fix identified issues",
        "",
        format_forbidden([
            "Do not modify unrelated files",
            "Do not change API contracts",
        ]),
        "",
        format_expected_output([
            "All QR issues resolved",
            "Tests passing",
        ]),
    ]  # fmt: skip
    do = parse(format_step_output(1, 1, "Fix", actions)).find("DO")
    assert do is not None
    assert [element.tag for element in do] == ["state_banner", "FORBIDDEN", "expected_output"]
    assert do[0].tail == "\n\nTASK: Fix identified issues\n\n"
    assert [rule.text for rule in do.iter("rule")] == ["Do not modify unrelated files", "Do not change API contracts"]


@pytest.mark.req("W-04")
def test_a_sub_agent_is_dispatched_in_script_mode() -> None:
    from skills.lib.workflow.formatters import format_subagent_dispatch
    from skills.lib.workflow.types import AgentRole

    actions = [
        "Parallel exploration across dimensions:",
        "",
        format_subagent_dispatch(
            agent=AgentRole.EXPLORE.value,
            script_path="/path/to/explore.py",
            step=1,
            total_steps=2,
            context_vars={"dimension": "naming"},
            free_form=False,  # Script mode - agent follows exact steps
        ),
    ]
    do = parse_fragment("\n".join(actions))
    assert do[0].get("agent") == "explore"
    assert do.findtext("DISPATCH/child/command") == (
        "python3 /path/to/explore.py --step 1 --total-steps 2 --dimension=naming"
    )


@pytest.mark.req("W-12")
def test_the_two_documented_banners() -> None:
    from skills.lib.workflow.formatters import format_qr_banner

    banner = format_qr_banner(qr=QRState(iteration=1), qr_name="Plan Review")
    assert banner == "PLAN REVIEW: Review the work for issues."
    banner = format_qr_banner(
        qr=QRState(iteration=2, failed=True, status="fail"),
        qr_name="Plan Review",
        fresh_review=True,
    )
    assert banner == "PLAN REVIEW (Iteration 2, fresh review): Previous review found issues."


@pytest.mark.req("W-11")
def test_a_reviewers_own_output_tells_the_orchestrator_to_run_the_gate_before_fixing() -> None:
    from skills.lib.workflow.formatters import format_qr_file_output

    gate = ["python3", "planner.py", "--step", "7", "--qr-status=fail"]
    do = parse_fragment(format_qr_file_output("Plan Review", "notes/findings.md", gate))
    assert do.findtext(".//orchestrator_action/command") == "python3 planner.py --step 7 --qr-status=fail"
    assert "Do not fix anything yet" in (do.findtext(".//orchestrator_action/action") or "")

"""Walks problem-analysis on a real question: why an import takes so long on this machine.

What plays the agent is a script: it runs the commands that the steps print, one after another, and nothing else moves
the run. The words that it reports were written beforehand; the measurements in them are made while it runs.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from agent import Agent, Block  # noqa: E402  these need the path set above
from question import Question, environment  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.text import Text  # noqa: E402

SCRIPT = os.path.join(ROOT, "skills", "problem-analysis", "scripts", "problem_analysis.py")
KEPT = os.path.join(ROOT, "build", "demo")
MOST_COMMANDS = 30
INTRODUCTION = """
A skill is a graph of steps. A command prints one step, and with it the command that goes on; a ledger keeps the
state of the run. Below, the skill problem-analysis is walked on a real question: why is `import {module}` slow?
"""
WHO = """
No model is at work here. The agent is a script with prepared answers; it fills them into the printed commands and runs
those. The measurements are real, and made now. A model as the agent is given the same blocks and runs the same
commands. Blocks and commands are shown in short: […] and … stand for what is left out.
"""


def main() -> int:
    """Run the demo and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--module", default="networkx", help="the module whose import is looked into (default: %(default)s)"
    )
    parser.add_argument("--project", help="the folder that keeps the run (default: build/demo, made anew)")
    options = parser.parse_args()
    if not options.module.replace(".", "a").replace("_", "a").isalnum():
        parser.error(f"--module {options.module!r} is not a module's name")
    if options.project is None:
        shutil.rmtree(KEPT, ignore_errors=True)
    project = os.path.abspath(options.project or KEPT)
    os.makedirs(project, exist_ok=True)
    walk(options.module, project, Console(highlight=False))
    return 0


def walk(module: str, project: str, console: Console) -> None:
    """Walk the skill from its opening to its end, then show the run's record."""
    agent, question = Agent(project, console), Question(module)
    for text in (INTRODUCTION, WHO):
        agent.note(text.format(module=module))
        console.print()
    block = agent.run(shlex.join([sys.executable, SCRIPT, "--step", "1", "--project", project]))
    run = block.run
    skipped = False
    while block.kind != "done":
        if agent.commands > MOST_COMMANDS:
            raise SystemExit(f"the run did not end within {MOST_COMMANDS} commands")
        step = block.step
        values = question.values(step)
        agent.show_work(question.work)
        if step == "hypothesize" and not skipped:
            skipped = True
            block = skip_ahead(agent, block, values)
        block = agent.run(agent.fill(block, values))
    show_record(agent, run, project)


def skip_ahead(agent: Agent, block: Block, values: dict[str, str | list[str]]) -> Block:
    """Try to go from the hypotheses straight to the report; the refusal names the way back to the block."""
    agent.note("Now it plays an agent in a hurry: --step report goes into the command that was printed.", "italic red")
    refused = agent.run(agent.fill(block, values).replace("--step investigate", "--step report"))
    if refused.kind != "refused" or refused.exit_code != 3:
        raise SystemExit("skipping ahead was not refused")
    agent.note("Nothing changed, and the refusal says how to go on. SHOW prints the present block again:", "italic red")
    return agent.run(refused.show)


def show_record(agent: Agent, run: str, project: str) -> None:
    """Print what the ledger keeps of the run, and the commands that show more of it."""
    near = os.path.relpath(project)
    kept = ["--project", project if near.startswith("..") else near]
    agent.note(f"{agent.commands} commands. What the ledger keeps of them (lockstep trace, cut at the edge):")
    command = [sys.executable, "-m", "skills", "trace", run, "--project", project]
    done = subprocess.run(command, check=True, cwd=ROOT, env=environment(), capture_output=True, text=True)
    agent.show_cut(done.stdout)
    agent.console.print()
    agent.note("The run is kept. To see all that was recorded, and the graph with the way that was taken:", "bold")
    for words in (["trace", run, "--values"], ["graph", "problem-analysis", "--run", run]):
        agent.console.print(Text(shlex.join([*lockstep(), *words, *kept])), soft_wrap=True)


def lockstep() -> list[str]:
    """The words that call the lockstep of this interpreter from the working directory."""
    beside = os.path.join(os.path.dirname(sys.executable), "lockstep")
    if os.path.isfile(beside):
        near = os.path.relpath(beside)
        return [beside if near.startswith("..") else near]
    return [sys.executable, "-m", "skills"]


if __name__ == "__main__":
    sys.exit(main())

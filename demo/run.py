"""Walks problem-analysis on a real question: why an import takes so long on this machine.

A scripted agent runs the commands that the steps print, one after another, and nothing else moves the run. The question
is real, and so are the measurements that it records.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile

from agent import Agent, Block
from question import Question, environment
from rich.console import Console
from rich.text import Text

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCRIPT = os.path.join(ROOT, "skills", "problem-analysis", "scripts", "problem_analysis.py")
MOST_COMMANDS = 30


def main() -> int:
    """Run the demo and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--module", default="networkx", help="the module whose import is looked into (default: %(default)s)"
    )
    parser.add_argument("--project", help="the folder that keeps the run (default: a temporary one)")
    options = parser.parse_args()
    if not options.module.replace(".", "a").replace("_", "a").isalnum():
        parser.error(f"--module {options.module!r} is not a module's name")
    with tempfile.TemporaryDirectory(prefix="lockstep-demo-") as temporary:
        project = os.path.abspath(options.project or temporary)
        os.makedirs(project, exist_ok=True)
        walk(options.module, project, Console(highlight=False, soft_wrap=False))
    return 0


def walk(module: str, project: str, console: Console) -> None:
    """Walk the skill from its opening to its end, then show the run's record."""
    agent, question = Agent(project, console), Question(module)
    console.print(
        Text(f"A skill, walked by its printed commands alone. The question: why is `import {module}` slow?\n")
    )
    block = agent.run(shlex.join([sys.executable, SCRIPT, "--step", "1", "--project", project]))
    run = str(block.root.get("run"))
    skipped = False
    while block.root.tag != "done":
        if agent.commands > MOST_COMMANDS:
            raise SystemExit(f"the run did not end within {MOST_COMMANDS} commands")
        step = str(block.root.get("id"))
        values = question.values(step)
        agent.show_work(question.work)
        if step == "hypothesize" and not skipped:
            skipped = True
            block = skip_ahead(agent, block, values)
        block = agent.run(agent.fill(block, values))
    show_record(agent, run, project)


def skip_ahead(agent: Agent, block: Block, values: dict[str, str | list[str]]) -> Block:
    """Try to go from the hypotheses straight to the report; the refusal names the way back to the block."""
    agent.note("The agent is in a hurry: it puts --step report into the command that it was given.", "italic red")
    refused = agent.run(agent.fill(block, values).replace("--step investigate", "--step report"))
    if refused.root.tag != "refused" or refused.exit_code != 3:
        raise SystemExit("skipping ahead was not refused")
    agent.note("Nothing changed, and the refusal says how to go on. SHOW prints the present block again:", "italic red")
    return agent.run(refused.words("SHOW"))


def show_record(agent: Agent, run: str, project: str) -> None:
    """Print what the ledger keeps of the run, as ``lockstep trace`` and ``lockstep runs`` show it."""
    agent.note(f"{agent.commands} commands. What the ledger keeps of them:\n")
    for words in (("trace", run), ("runs", "--all")):
        agent.console.print(Text(f"$ lockstep {' '.join(words)}", style="bold"))
        agent.console.file.flush()
        command = [sys.executable, "-m", "skills", *words, "--project", project]
        subprocess.run(command, check=True, cwd=ROOT, env=environment())
        agent.console.print()


if __name__ == "__main__":
    sys.exit(main())

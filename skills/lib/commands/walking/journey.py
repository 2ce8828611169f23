"""A walk from the first block to the last, with the runs of sub-agents on the way."""

from __future__ import annotations

from typing import Any

from skills.lib.commands.console import prompts
from skills.lib.commands.console.screen import Screen, counted
from skills.lib.commands.walking.block import field_of, print_block
from skills.lib.errors import PRINTED, UsageError
from skills.lib.model.steps import Workflow
from skills.lib.testing.blocks import PrintedBlock, filled, placeholders
from skills.lib.testing.follower import AsPerson, Follower, show_again


class Journey:
    """One walk of a person; ``block`` is the last one of the outermost run, None before it is opened."""

    def __init__(self, screen: Screen, project: str, script: str, workflow: Workflow) -> None:
        self.screen = screen
        self.workflow = workflow
        self.follower = Follower(script, project, AsPerson(project))
        self.block: PrintedBlock | None = None

    def begin(self) -> None:
        """Open a run, asking for its parameters, and walk it to its end."""
        while True:
            given = {arg.name: prompts.value(self.screen, arg, arg.flag) for arg in self.workflow.run_params()}
            parameters = {name: raw for name, raw in given.items() if raw is not None}
            block = self.follower.open("--new", **parameters)
            if block.exit_code == PRINTED:
                return self._follow(block)
            print_block(self.screen, block)
            if not given:
                return None

    def go_on(self, run_id: str) -> None:
        """Walk a run on from its present step."""
        self._follow(self.follower.show(run_id))

    def _follow(self, block: PrintedBlock) -> None:
        """Show each block and do what the person says, until the run is at its end."""
        while True:
            print_block(self.screen, block)
            if self.block is None or self.block.run == block.run:
                self.block = block
            if block.kind == "done" or not block.run:
                return
            block = self._next(block)

    def _next(self, block: PrintedBlock) -> PrintedBlock:
        """The block after this one. After a refusal the person is asked again."""
        while True:
            try:
                after = self._answered(block) if block.kind == "waiting" else self._reported(block)
            except UsageError as error:
                self.screen.print(self.screen.styled("\n".join(error.lines()), "red"))
                continue
            if after.exit_code == PRINTED:
                return after
            print_block(self.screen, after)

    def _answered(self, block: PrintedBlock) -> PrintedBlock:
        question = block.root.find("QUESTION")
        choices = "" if question is None else question.get("choices", "")
        answer = prompts.text(self.screen, "Your answer", choices.split("|") if choices else ())
        return self.follower.answer(block, answer, prompts.text(self.screen, "Why (may be left empty)"))

    def _reported(self, block: PrintedBlock) -> PrintedBlock:
        if block.children:
            self._account(block)
        specs = {spec.name: spec for spec in block.specs}
        values: dict[str, Any] = {
            name: prompts.value(self.screen, field_of(spec), spec.flag or name) for name, spec in specs.items()
        }
        if "outcome" in placeholders(block.next) and "outcome" not in specs:
            values["outcome"] = prompts.text(self.screen, "How did the step end?", list(block.outcomes))
        elif not specs:
            prompts.text(self.screen, "Enter when it is done (b leaves)")
        return self.follower.follow(block, **values)

    def _account(self, block: PrintedBlock) -> None:
        """Ask until every sub-agent's run is played, given up or replaced."""
        while working := [child for child in block.children if child.command]:
            child, dispatch = working[0], block.root.find("DISPATCH")
            about = {} if dispatch is None else {name: str(value) for name, value in dispatch.items()}
            left = int(about.get("left", 1))
            what = ", ".join(filter(None, (about.get("agent"), child.target)))
            self.screen.print(f"{counted(left, 'sub-agent')} to account for; next is {child.id} ({what}).")
            choice = prompts.text(self.screen, "Play it, or give it up?", ["play", "lost", "replace"])
            if choice == "play":
                self._follow(self.follower.run_command(child.command))
            else:
                reason = prompts.text(self.screen, "Why") if choice == "lost" else None
                command = filled(block.words(f"DISPATCH/{choice}"), {"child": child.id, "reason": reason})
                after = self.follower.run_command(command)
                if after.exit_code != PRINTED:
                    print_block(self.screen, after)
            block = self.follower.run_command(show_again(block))

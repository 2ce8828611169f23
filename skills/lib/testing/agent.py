"""A scripted agent: knows the last printed block, reports made-up values, and runs the commands that it was given."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from skills.lib import compact_json
from skills.lib.blocks import text as plain_text
from skills.lib.blocks import xml
from skills.lib.blocks.command_line import here
from skills.lib.engine import fixes, verdicts
from skills.lib.engine.children import verdict_of
from skills.lib.ledger import contents
from skills.lib.model import values
from skills.lib.model.requirements import Artifact, Field, fill
from skills.lib.model.steps import StepContext
from skills.lib.model.types import Element, Outcome
from skills.lib.runtime import Runner, cli
from skills.lib.testing import samples
from skills.lib.testing.blocks import PrintedBlock, Spec
from skills.lib.testing.commands import argv
from skills.lib.testing.follower import Follower, show_again
from skills.lib.testing.steering import CannotSteer, Steering
from skills.lib.testing.walks import ASKED, Leg, Walk, shortest_walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from skills.lib.model.run import Request, Run
    from skills.lib.model.steps import StepDef, Workflow
    from skills.lib.testing.follower import ScriptedCaller

# How many reports are tried if a check of the step refuses one: a refusal changes nothing.
TRIES = 20
# Refusals after which another of the given values may do: a check's, and of work that is as its reviewer saw it.
ANOTHER = ("missing-evidence", "unanswered-finding")
# A section of plain text ends before the next line that begins in the first column.
_BRIEF = re.compile(
    r"^BRIEF(?: \((?P<part>context|result) (?P<names>[^)]*)\))?:\n  (?P<words>.*)\n  command:\n    (?P<command>.*)$",
    re.MULTILINE,
)
_NOTICE = re.compile(r"^NOTICE:\n(?:(?: .*)?\n)*", re.MULTILINE)


@dataclass(frozen=True)
class Taken:
    """A transition as the ledger recorded it; the end is None."""

    step: str
    outcome: str
    target: str | None


class Agent(Follower):
    """Walks a skill's script in a project, by the printed commands alone.

    ``values`` are reports by ``step.field`` or field name (an ``any_of`` is tried in turn), ``files`` the contents of
    files by path under the project or by the name of the field that holds the path, ``text`` makes the free texts.
    What neither gives is made up from what the block asks for. Commands run in this process unless ``call`` is another
    caller, such as ``Shell``.
    """

    def __init__(
        self,
        script: str | Path,
        project: str | Path,
        *,
        values: Mapping[str, Any] | None = None,
        files: Mapping[str, str] | None = None,
        text: samples.Text = samples.plain,
        call: ScriptedCaller | None = None,
    ) -> None:
        super().__init__(script, project, call)
        self.given = dict(values or {})
        self.files = dict(files or {})
        self.text = text

    def run_command(self, command: str) -> PrintedBlock:
        """Run one command and keep what it printed; a plain text is kept as its block."""
        block = super().run_command(command)
        if block.exit_code == 0 and not block.text.startswith("<"):
            block = self.blocks[-1] = self.memory.of(command, self._read_text(command, block))
        return block

    def open(self, *words: str, **parameters: Any) -> PrintedBlock:
        """Open a run with these parameters; those that it needs and are not given are made up."""
        return super().open(*words, **{**self.parameters(), **parameters})

    def play(self, walk: Walk, *words: str, **parameters: Any) -> list[Taken]:
        """Open a run, take the legs of the walk one after another, and return the transitions as they were recorded.

        Raises AssertionError if a command is refused, and CannotSteer if no report leads along the walk.
        """
        return self.end(self.reach(walk, len(walk.legs), *words, **parameters))

    def end(self, block: PrintedBlock) -> list[Taken]:
        """The transitions of the run whose last block this is; AssertionError if it is not done."""
        assert (block.exit_code, block.kind) == (0, "done"), block.text + block.errors
        return self.taken(block.run)

    def reach(self, walk: Walk, legs: int, *words: str, **parameters: Any) -> PrintedBlock:
        """Open a run, take so many legs of the walk, and return the block that is then printed; raises as play does."""
        return self.take(self.open(*words, **parameters), walk, 0, legs)

    def take(self, block: PrintedBlock, walk: Walk, begin: int, end: int) -> PrintedBlock:
        """Take the legs of the walk from ``begin`` up to ``end``, and return the block that is then printed."""
        for at in range(begin, end):
            leg = walk.legs[at]
            assert block.exit_code == 0, block.text + block.errors
            if len(self.taken(block.run)) > at:
                continue  # the command before walked through this step
            assert block.step == leg.step, f"at {block.step or block.kind}, and {leg} is next"
            block = self._take(block, leg, walk.legs[at + 1 :])
        return block

    def ask(self, block: PrintedBlock, leg: Leg) -> PrintedBlock:
        """Meet the requirements of a step that then asks a person, and return the block that waits for the answer."""
        return self._report(block, leg, "pass", self.workflow)

    def taken(self, run: str) -> list[Taken]:
        """The transitions of a run, from the ledger."""
        events = [event for event in self.events(run) if event.kind in ("moved", "finished")]
        return [Taken(event.detail["from"], event.detail["outcome"], event.detail["to"]) for event in events]

    def write(self, path: str, content: str) -> None:
        """Write a file of the project."""
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")

    def answer(self, block: PrintedBlock, answer: str, reason: str = "") -> PrintedBlock:
        """Answer as a person at a terminal, and return the block after it; AssertionError if the answer is refused."""
        after = super().answer(block, answer, reason)
        assert after.exit_code == 0, after.why
        return after

    def finish(self, command: str, verdict: str = "pass") -> PrintedBlock:
        """Be a sub-agent: run its command and follow what it prints to its end, with that verdict if it can be had."""
        block = self.run_command(command)
        assert block.exit_code == 0, block.text + block.errors
        workflow = self._workflow_of_run(block.run, command)
        walk = shortest_walk(workflow, Outcome.FAIL if verdict == "fail" else None, block.step)
        for leg in walk.legs:
            block = self._report(block, leg, verdict, workflow)
        assert block.kind == "done", block.text
        return block

    def _read_text(self, command: str, block: PrintedBlock) -> PrintedBlock:
        """The block of a plain text; AssertionError if the text is not that of the block.

        Notices are left out of both: some are printed only once.
        """
        script = argv(command)[1]
        found = re.search(r"\brun (?P<run>[a-z0-9.]+)\b", block.text.partition("\n")[0])
        assert found is not None, block.text
        with closing(Runner(here(script, str(self.project)))) as runner:
            element = runner.state(self._workflow_of_script(script), found["run"]).element
        shown = [part for part in element.children if not isinstance(part, Element) or part.tag != "NOTICE"]
        element = _as_brief(Element(element.tag, element.attributes, *shown, prose=element.prose), block.text)
        assert _NOTICE.sub("", block.text) == plain_text.render(element) + "\n"
        return PrintedBlock(block.exit_code, xml.render(element) + "\n", block.errors)

    def _take(self, block: PrintedBlock, leg: Leg, onward: Sequence[Leg]) -> PrintedBlock:
        if block.kind == "waiting":
            return self._decide(block, leg)
        if block.children:
            block = self._dispatch(block, leg, onward)
        after = self._report(block, leg, "pass", self.workflow)
        step = self.workflow.step(leg.step)
        if step.asks_later:
            return self._decide(after, leg)
        if leg.how in ASKED:
            after = self.answer(after, leg.how, "looked at, and so decided")
        return after

    def _decide(self, block: PrintedBlock, leg: Leg) -> PrintedBlock:
        question = block.root.find("QUESTION")
        assert question is not None, block.text
        if question.get("by") != "agent":
            return self.answer(block, leg.how, "looked at, and so decided" if leg.how in ASKED else "")
        return self.follow(block, answer=leg.how)

    def _dispatch(self, block: PrintedBlock, leg: Leg, onward: Sequence[Leg]) -> PrintedBlock:
        """Play the sub-agents, and take the parent's command from what the last of them printed."""
        verdict = sub_agents_verdict(self.workflow, leg, onward)
        step = self.workflow.step(leg.step)
        lost = verdict == "fail" and self._fails_without(block, step)
        last = again = block
        while working := [child for child in again.children if child.command]:
            for child in working:
                last = self.lose(again, child.id) if lost else self.finish(child.command, verdict)
            again = self.run_command(block.show or show_again(block))  # it may have held commands back
        assert last.next == again.next, "the last sub-agent gives another command than the parent's block"
        if lost:
            return again
        children = self.runs([child.id for child in block.children])
        if verdict == "fail" and not step.checkpoint and not any(verdict_of(child) == "fail" for child in children):
            remedy = Steering(self.workflow, self.given, self.text, self.script).remedy(block)
            raise CannotSteer(f"{self.workflow.name}: no sub-agent of {leg.step} fails. {remedy}")
        return again

    def _fails_without(self, block: PrintedBlock, step: StepDef) -> bool:
        """True if the step's function gives FAIL if every sub-agent is lost."""
        if step.checkpoint or not step.function:
            return False
        run = self.state(block.run)
        lost = [{"target": child.target, "status": "lost", "reason": "lost", "values": {}} for child in block.children]
        state = {**run.state.get(step.id, {}), "results": lost}
        found = step.function(StepContext(run.params, state, run.state, step.id, run.iteration, run.reviews))
        return (found[0] if isinstance(found, tuple) else found) is Outcome.FAIL

    def _report(self, block: PrintedBlock, leg: Leg, verdict: str, workflow: Workflow) -> PrintedBlock:
        run = self.state(block.run)
        children = self.runs(run.children)
        # At the bound, a fail first puts the question to a person.
        step = workflow.step(leg.step)
        wanted = None if step.gate or step.asks_later else leg
        if wanted and leg.how in ASKED:
            outcome = leg.outcome if leg.outcome.is_own else Outcome.FAIL
            wanted = Leg(leg.step, outcome, outcome, leg.target)
        attempts: list[tuple[samples.Text, Sequence[str]]] = [
            (self.text, ANOTHER),
            (lambda name: f"{self.text(name)} Again.", ANOTHER),
            (self.text, [*ANOTHER, "same-report"]),
        ]
        for text, passing_over in attempts:
            steering = Steering(workflow, self.given, text, run.script or self.script)
            commands = steering.commands(block, run, wanted, verdict, children)
            after = self._try(islice(commands, TRIES), run, workflow, workflow.step(block.step), passing_over)
            if after.code != "same-report":
                break
        if after.code == "missing-evidence":
            raise CannotSteer(f"nothing that was tried passes the checks of step {block.step}: {after.why}")
        assert after.exit_code == 0, f"{after.text}{after.errors}"
        return after

    def _try(
        self, commands: Iterable[str], run: Run, workflow: Workflow, step: StepDef, passing_over: Sequence[str]
    ) -> PrintedBlock:
        """The block after the first report that is not refused for one of these codes, else after the last tried."""
        for command in commands:
            request = cli.parse(workflow, argv(command)[2:])
            self._write_artifacts(run, request, step)
            self._write_what_is_reviewed(run, request, workflow, step)
            self._change_what_findings_name(workflow, run, step)
            after = self.run_command(command)
            if after.code not in passing_over:
                break
        return after

    def _write_artifacts(self, run: Run, request: Request, step: StepDef) -> None:
        """Write the files that the block asks for, with the author's content if there is any."""
        known = {**run.recorded, **run.params, **request.params, **request.records}
        for artifact in step.requires:
            if isinstance(artifact, Artifact):
                path = fill(artifact.path, known)
                content = self.files.get(path, self.files.get(artifact.path.strip("{}")))
                if content is None and artifact.schema is None:
                    content = self.text(artifact.path) + "\n"
                elif content is None:
                    content = compact_json.readable(_instance(artifact.schema or {}))
                self.write(path, content)

    def _write_what_is_reviewed(self, run: Run, request: Request, workflow: Workflow, step: StepDef) -> None:
        """Write a file for each review ahead that covers none, so that its reviewers have something to look at."""
        records = request.records
        fields = [spec for spec in step.requires if isinstance(spec, Field) and spec.name in records]
        recorded = {
            spec.name: values.read(spec, records[spec.name]) for spec in fields if values.fits(spec, records[spec.name])
        }
        after = run.changed(state={**run.state, step.id: {**run.state.get(step.id, {}), **request.params, **recorded}})
        for review in verdicts.reviews_ahead(workflow, step.next.values()):
            covers = [text for text in verdicts.patterns(after, review) if text]
            if covers and not contents.manifest(str(self.project), covers):
                path = samples.path(covers[0])
                if path in contents.covered(str(self.project), covers, [path]):
                    self.write(path, self.files.get(path, self.text(path) + "\n"))

    def _change_what_findings_name(self, workflow: Workflow, run: Run, step: StepDef) -> None:
        """Change each file that an open finding names, and nothing that it does, from what its reviewer saw."""
        rounds = max((review["iteration"] for review in run.reviews.values()), default=0)
        for name in {item["file"] for item in fixes.asks(workflow, run, step) if item.get("file")}:
            file = self.project / name
            text = file.read_text(encoding="utf-8") if file.exists() else ""
            file.write_text(_reworked(name, text, rounds), encoding="utf-8")

    def parameters(self) -> dict[str, Any]:
        """What a run is opened with: the parameters of the author (the first of several), and required ones made up."""
        chosen: dict[str, Any] = {}
        for arg in self.workflow.run_params():
            if arg.name in self.given:
                given = self.given[arg.name]
                value = given[0] if isinstance(given, samples.any_of) else given
                if value is not None:
                    chosen[arg.name] = value
            elif arg.required:
                spec = Spec(arg.name, arg.type, True, tuple(arg.choices), arg.minimum, arg.maximum, arg.flag)
                chosen[arg.name] = spec.argument(samples.candidates(spec, self.text)[0])[1]
        return chosen


def _as_brief(element: Element, text: str) -> Element:
    """A full block without what its plain text leaves out, if that is brief."""
    found = _BRIEF.search(text)
    if found is None:
        return element
    names = (found["names"] or "").split()
    gone = [name.rpartition(".")[::2] for name in names]
    words = found["words"]
    tells = "how fields are written" not in words
    attributes = {name: one for name, one in element.attributes.items() if name != "tools" or "tools" not in words}

    def stays(one: Element) -> bool:
        label = (str(one.attributes.get("step", "")), str(one.attributes.get("name")))
        return tells if one.tag == "file" else one.tag != "value" or label not in gone

    inside: list[Element | str] = []
    for part in element.children:
        if isinstance(part, Element) and part.tag in ("CONTEXT", "RECORD", "RESULT"):
            kept = [one for one in part.children if isinstance(one, Element) and stays(one)]
            inside += [Element(part.tag, part.attributes, *kept)] if kept else []
        else:
            inside.append(part)
    command = Element("command", None, found["command"])
    first = Element("BRIEF", {found["part"] or "context": found["names"]}, f"{words} ", command)
    return Element(element.tag, attributes, first, *inside, prose=element.prose)


def sub_agents_verdict(workflow: Workflow, leg: Leg, onward: Sequence[Leg]) -> str:
    """What the sub-agents of a step are to find, so that the walk goes on as planned."""
    step = workflow.step(leg.step)
    if step.gate or not step.checkpoint:
        return "fail" if leg.outcome is Outcome.FAIL or leg.how in ("accept", "revise") else "pass"
    for later in onward:
        gate = workflow.step(later.step).gate
        if gate and gate.checkpoint == step.checkpoint:
            return "fail" if later.outcome is Outcome.FAIL or later.how else "pass"
    return "pass"


def _reworked(name: str, text: str, rounds: int) -> str:
    """A text with one more comment, or with more blanks in front if it is JSON."""
    if text.lstrip()[:1] in ("{", "["):
        return " " * rounds + text
    begin, end = ("<!-- ", " -->") if name.endswith((".md", ".html", ".xml")) else ("# ", "")
    return f"{text.removesuffix(chr(10))}\n{begin}round {rounds}{end}\n"


def _instance(schema: Mapping[str, Any]) -> Any:
    """The simplest value that a plain JSON Schema admits (const, enum, type, required, minimums)."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: _instance(properties.get(name, {"type": "string"})) for name in schema.get("required", ())}
    if kind == "array":
        return [_instance(schema.get("items", {"type": "string"}))] * int(schema.get("minItems", 0))
    if kind == "string":
        return "x" * max(1, int(schema.get("minLength", 1)))
    return {"integer": int(schema.get("minimum", 0)), "number": schema.get("minimum", 0), "boolean": True}.get(kind)

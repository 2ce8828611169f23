"""A scripted honest agent: it does what each block says, reports from the frozen texts, and is each sub-agent too."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.adherence.hosts import own_ledgers
from benchmarks.cost import answers, forms
from benchmarks.cost.meter import PATH, Meter, places
from benchmarks.cost.renamed import MADE, PLACED
from benchmarks.cost.rows import item_edits
from benchmarks.cost.texts import Missing, Texts
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, Spec, filled, placeholders, reported
from skills.lib.testing.commands import argv, takes_report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.cost.texts import Point

PRODUCT = Path(__file__).resolve().parents[2]
SKILLS = PRODUCT / "skills"
# A walk that takes more commands than this does not end.
MOST_COMMANDS = 400
# A report that is longer than this on a command line goes into a file.
LONG = 1_500


class Cost(NamedTuple):
    """What one walk of a skill came to."""

    skill: str
    meter: Meter
    plain_read: int
    plain_typed: int

    @property
    def total(self) -> int:
        """Characters read and typed."""
        return self.meter.read + self.meter.typed

    @property
    def times(self) -> float:
        """How many times the plain way it costs."""
        return self.total / (self.plain_read + self.plain_typed)


class Walk:
    """One tree of runs, on a project of its own."""

    def __init__(self, skill: str, folder: Path) -> None:
        self.texts = Texts(skill)
        self.home = folder
        self.project = folder / "shop"
        self.folder = SKILLS / self.texts.skill
        write(self.project, self.texts.files)
        _commit(self.project)
        write(self.project, self.texts.changed)
        known = [str(self.project / path) for path in (*self.texts.files, *self.texts.changed)]
        names = places(sys.executable, str(PRODUCT), str(self.project), str(folder))
        self.meter = Meter(names, str(self.project), str(self.folder), known)
        self.agent = self._agent(self.texts.opened[0])
        self.plan = str(self.texts.opened[0].get("parameters", {}).get("plan", ""))
        # The folder of the plan in which copies stand, as blocks name it.
        self._changes = "changes"
        self._visits: Counter[tuple[str, str]] = Counter()
        self._stated: dict[str, list[Point]] = {}
        # What each run reported by field: an optional field takes only what is new.
        self._reported: dict[tuple[str, str], list[Any]] = {}
        self._reviews: Counter[tuple[str, str]] = Counter()

    def walk(self) -> int:
        """Open each run, one after the other, and follow it to its end; the characters of their answers."""
        answered = 0
        for opened in self.texts.opened:
            self.agent = self._agent(opened)
            arguments = [sys.executable, self.agent.script, "--step", "1", "--project", str(self.project)]
            for name, value in opened.get("parameters", {}).items():
                arguments += [f"--{name.replace('_', '-')}", str(value)]
            block = self.follow(self.run(shlex.join(arguments)), "")
            if block.kind != "done" or block.root.get("status", "done") != "done":
                raise Missing(f"the run ended otherwise: {block.text}")
            answered += sum(map(len, block.result.values()))
            answered += sum(len(self._content(value)) for value in block.result.values())
            answered += sum(len(self._content(self._named(path, block))) for path in opened.get("answer", ()))
        return answered

    def _agent(self, opened: Mapping[str, Any]) -> Agent:
        """The agent of a run that is opened by a script of the skill."""
        return Agent(self.folder / opened["script"], self.project)

    def run(self, command: str) -> PrintedBlock:
        """Run a command, and count it and what it prints."""
        if self.meter.commands >= MOST_COMMANDS:
            raise Missing(f"the walk takes more than {MOST_COMMANDS} commands")
        self.meter.type(command)
        block = self.agent.run_command(command)
        self.meter.print(block)
        return block

    def follow(self, block: PrintedBlock, target: str) -> PrintedBlock:
        """Follow a run from a block to its end; its last block."""
        first = block.root.get("skill", ""), target
        self._reviews[first] += 1
        while block.kind in ("step", "waiting"):
            if block.kind == "waiting":
                block = self._answer(block, target)
            elif any(child.command for child in block.children):
                block = self._dispatch(block, target)
            else:
                block = self._report(block, target)
        if block.kind == "refused":
            raise Missing(f"{first[0]}: {block.why}\n{self.meter.neutral(block.text)[:1500]}")
        return block

    def _dispatch(self, block: PrintedBlock, target: str) -> PrintedBlock:
        """Be each sub-agent in its turn, then go on by the command that the last of them prints."""
        last = block
        for child in [child for child in block.children if child.command]:
            last = self.follow(self.run(child.command), child.target)
        if "current" in argv(last.next):
            return self.run(last.next)
        return self._report(block, target, last.next)

    def _answer(self, block: PrintedBlock, target: str) -> PrintedBlock:
        answer = self._said(block, target)["answer"]
        question = block.root.find("QUESTION")
        assert question is not None
        if question.get("by") == "agent":
            return self.run(filled(block.next, {"answer": answer}))
        self.meter.type(block.next)
        after = self.agent.answer(block, answer)
        self.meter.print(after)
        return after

    def _report(self, block: PrintedBlock, target: str, command: str = "") -> PrintedBlock:
        """Do the step's work and leave it, by the block's NEXT or another command that leads on."""
        self._visits[self.texts.table(block.root.get("skill", ""), target), block.step] += 1
        said = self._said(block, target)
        for words in said.get("run", ()):
            if all(word in block.words("DO") for word in words[:2] if "/" not in word):
                self._run_script(words)
        step = f"{block.root.get('skill')}.{block.step}"
        written = {} if step in MADE else said.get("writes", {})
        for path, text in written.items():
            place = block.context[PLACED[step]] if step in PLACED else path
            if step in forms.WRITTEN:
                name, formed = forms.WRITTEN[step]
                text = formed(text, self._reported[block.run, name])
            write(self.project, {place: self._typed(place, text, block)})
        wanted = [*block.specs, *_outcome(block)]
        values = {spec.name: self._value(spec, block, target, said) for spec in wanted}
        given = {name: value for name, value in values.items() if value is not None}
        return self.run(self._command(block, command or block.next, given))

    def _typed(self, path: str, text: str, block: PrintedBlock) -> str:
        """The content of a file to write, once its typing is counted; that of the skill's own file is copied."""
        if not text.startswith("@"):
            edited = f"{block.root.get('skill')}.{block.step}" in forms.EDITED
            self.meter.type(forms.edits((self.project / path).read_text(encoding="utf-8"), text) if edited else text)
            return text
        source = self.folder / text[1:]
        self.meter.type(shlex.join(["cp", str(source), path]))
        content = self.meter.references[str(source)] = source.read_text(encoding="utf-8")
        return content

    def _command(self, block: PrintedBlock, command: str, values: Mapping[str, Any]) -> str:
        """The command with these values; what is long or has quotes goes into a record file."""
        if takes_report(command):
            return reported(command, block.specs, values)
        fields = {spec.name: values[spec.name] for spec in block.specs if not spec.flag and spec.name in values}
        text = json.dumps(fields, ensure_ascii=False)
        if fields and ("'" in text or "\\n" in text or len(text) > LONG):
            path = self.home / "record.json"
            path.write_text(text, encoding="utf-8")
            self.meter.type(text)
            others = {name: value for name, value in values.items() if name not in fields}
            return filled(_without_fields(command, str(path)), others)
        there = placeholders(command)
        more = [
            word
            for spec in block.specs
            if spec.name in values and spec.name not in there
            for word in spec.argument(values[spec.name])
        ]
        return " ".join(filter(None, [filled(command, values), shlex.join(more)]))

    def _value(self, spec: Spec, block: PrintedBlock, target: str, said: Mapping[str, Any]) -> Any:
        """What is reported under a name; None for what may be left out and was not said."""
        points = self.texts.points(block.root.get("skill", ""), target)
        if spec.name == "fixes":
            return self._fixes(block, spec.required)
        if (
            points
            and spec.name in ("statements", "answers", "items")
            and (spec.name not in said or spec.type != "list")
        ):
            return self._judged(spec, block, target, points)
        step = f"{block.root.get('skill')}.{block.step}"
        if step == "refactor.synthesize" and spec.name in ("edits", "items"):
            return self._items(spec, block.run, forms.without_derived(said["writes"]))
        if spec.name in forms.OLDER.get(step, {}):
            older, formed = forms.OLDER[step][spec.name]
            names = (older,) if isinstance(older, str) else older
            known = {**block.context, **said}
            if all(name in known for name in names):
                return self._new(spec, block.run, formed(*[known[name] for name in names]))
        if spec.name == "edits" and "answer" in said:
            before = self._reported.setdefault((block.run, "answer"), [])
            rows = forms.sentence_edits(before[-1], said["answer"])
            before.append(said["answer"])
            return rows or None
        if spec.name in said:
            return self._new(spec, block.run, said[spec.name])
        if spec.required:
            raise Missing(
                f"no text says {block.root.get('skill')}.{block.step}.{spec.name} ({spec.type}, for {target!r})"
            )
        return None

    def _new(self, spec: Spec, run: str, value: Any) -> Any:
        """The value; of an optional field only what the run did not report under that name before."""
        if value is None:
            return None
        before = self._reported.setdefault((run, spec.name), [])
        entries = value if isinstance(value, list) else [value]
        new = [forms.changed(entry, before) for entry in entries if entry not in before]
        before += [entry for entry in entries if entry not in before]
        if spec.required:
            return value
        return (new if isinstance(value, list) else value) if new else None

    def _items(self, spec: Spec, run: str, items: list[dict[str, Any]]) -> list[Any] | None:
        """Of work items those that are new; what changed in the words of earlier ones is reported first, as edits."""
        before = self._reported.setdefault((run, "items"), [])
        if spec.name == "edits":
            return item_edits(before, items) or None
        new = [item for item in items if item["id"] not in [one["id"] for one in before]]
        self._reported[run, "items"] = items
        return new or None

    def _judged(self, spec: Spec, block: PrintedBlock, target: str, points: list[Point]) -> Any:
        """What a reviewer states and judges, in the form that the block asks for."""
        number = self._reviews[block.root.get("skill", ""), target]
        again = answers.items_in(block.context.get("items", ""))
        stated = self._stated.setdefault(block.run, [])
        if spec.name == "statements":
            due = [point for point in points if point.step == block.step and not again]
            stated += due
            none = self._said(block, target).get("none", "nothing of what this step is about was changed")
            return [f"{one.scope} | {one.check}" for one in due] if due or spec.type == "list" else f"none: {none}"
        # What a command of the step judges, by how it ends, is not answered.
        again = [(name, scope) for name, scope in again if not name.startswith(f"{block.step}-")]
        asked = [(name, answers.point_of(name, scope, points)) for name, scope in again]
        if spec.type == "answers":
            asked += [(f"S{at}", point) for at, point in enumerate(stated, 1)]
        checks = [*answers.checks_in(block.context.get("checks", "")).items()]
        if not asked and not checks:
            asked = [(point.id, point) for point in points]
        known = {name for name, _ in again}
        together = answers.of_one_check(again, points) if spec.type == "answers" else {}
        found = [
            answers.formed(spec, name, point, number, again=name in known)
            for name, point in asked
            if name not in together
        ]
        kinds = [
            (scope, {**point.judged(number), "id": together[name]})
            for (name, scope), (_, point) in zip(again, asked, strict=False)
            if name in together
        ]
        found += answers.shared(kinds)
        found += [answer for kind, targets in checks for answer in answers.checked(kind, targets, points, number)]
        named = self._named(found, block)
        # A copy's place begins with its milestone, if the block says so.
        is_short = any(f"begins with {whose} milestone, such as" in block.words("DO") for whose in ("the", "its"))
        return answers.without_folder(named, f"{self.plan}/{self._changes}/") if is_short else named

    def _fixes(self, block: PrintedBlock, required: bool) -> list[str] | None:
        """What settles each finding that the block shows, unless the file of its place is the one that was changed."""
        settled: dict[str, str] = {}
        changed = set()
        fixed = [point for point in self.texts.every_point() if point.fixed]
        for line in "\n".join(block.context.values()).splitlines():
            for name, _ in answers.items_in(line):
                told = [self._named(point.fixed, block) for point in fixed if point.is_told_in(line)]
                settled[name] = next(iter(told), "")
                if not required and settled[name] and answers.is_at(answers.place_in(line), settled[name]):
                    changed.add(name)
        # What a command found is settled with the rest.
        others = next(filter(None, settled.values()), "")
        rows = [
            f"{name} | changed | {where or others}" for name, where in settled.items() if others and name not in changed
        ]
        return rows or ([] if required else None)

    def _said(self, block: PrintedBlock, target: str) -> Mapping[str, Any]:
        workflow = block.root.get("skill", "")
        visit = self._visits[self.texts.table(workflow, target), block.step] or 1
        said = self.texts.step(workflow, target, block.step, visit)
        found: Mapping[str, Any] = self._named(said, block)
        return found

    def _named(self, said: Any, block: PrintedBlock) -> Any:
        """What is said, with the plan's folder and that of its copies in place of their names in braces."""
        if isinstance(said, str):
            if ".changes/" in block.text:
                self._changes = ".changes"
            return said.replace("{changes}", f"{self.plan}/{self._changes}").replace("{plan}", self.plan)
        if isinstance(said, list):
            return [self._named(one, block) for one in said]
        if isinstance(said, dict):
            return {self._named(name, block): self._named(one, block) for name, one in said.items()}
        return said

    def _content(self, path: str) -> str:
        """The text of a file that an answer names; empty if it names none."""
        if len(path) > PATH or "\n" in path or not (self.project / path).is_file():
            return ""
        return (self.project / path).read_text(encoding="utf-8")

    def _run_script(self, words: list[str]) -> None:
        """Run a script of the skill as a block says, such as plan_data.py; what it prints is read."""
        argv = [sys.executable, str(self.folder / "scripts" / words[0]), *words[1:]]
        self.meter.type(shlex.join(argv))
        done = subprocess.run(argv, cwd=self.project, capture_output=True, text=True, timeout=120)
        self.meter.show(done.stdout)


def measured(skill: str) -> Cost:
    """Walk a skill, or a further way through one, in a project of its own, and what that came to."""
    folder = Path(tempfile.mkdtemp(prefix="cost-")).resolve()
    try:
        with own_ledgers():
            walk = Walk(skill, folder)
            answered = walk.walk()
            document = sum(len(line) + 1 for line in walk.meter.prose)
            document += sum(map(len, walk.meter.references.values()))
            present = {**walk.texts.files, **walk.texts.changed}
            return Cost(skill, walk.meter, document, answered + _added(walk.project, present, walk.plan))
    finally:
        shutil.rmtree(folder)


def write(root: Path, files: Mapping[str, str]) -> None:
    """Write files of a project."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def _commit(project: Path) -> None:
    settings = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "The shop"]):
        subprocess.run(["git", *settings, *words], cwd=project, check=True, capture_output=True, timeout=60)


def _added(project: Path, before: Mapping[str, str], plan: str) -> int:
    """Characters of the lines that the project's own files have beyond those before, and of its new files."""
    words = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(words, cwd=project, check=True, capture_output=True, text=True, timeout=60).stdout.split()
    count = 0
    for path in listed:
        if plan and path.startswith(f"{plan}/"):
            continue
        lines = Counter(before.get(path, "").splitlines())
        now = Counter((project / path).read_text(encoding="utf-8").splitlines())
        count += sum((len(line) + 1) * more for line, more in (now - lines).items())
    return count


def _outcome(block: PrintedBlock) -> list[Spec]:
    """The outcome as a value to report, if the block asks for it."""
    if "outcome" not in placeholders(block.next):
        return []
    return [Spec("outcome", "text", True, tuple(block.outcomes), None, None, "--outcome")]


def _without_fields(command: str, path: str) -> str:
    """The command with a record file in place of its records, its other placeholders kept."""
    words = shlex.split(command)
    for flag in ("--record", "--record-file"):
        while flag in words:
            at = words.index(flag)
            del words[at : at + 2]
    return shlex.join([*words, "--record-file", path])

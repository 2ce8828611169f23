"""What an agent reports: values that fit what a block asks for, files that exist, and the outcomes that follow.

The expected outcome of a step is worked out here from the skill's description, not by the engine that is measured.
"""

from __future__ import annotations

import json
import os
import random
import re
from typing import Any, NamedTuple

from benchmarks.adherence.block import Block
from benchmarks.adherence.forms import Forms

# Text that breaks a careless quoting.
ODD = ("plain", 'it\'s "quoted" & <odd>', "$(touch pwned) `x` \\ ]]>", "ü — 日本", "two\nlines", "--step done")
FINDING = re.compile(r"^ *- (\S+) \((?:(?!\n *- ).)*", re.MULTILINE | re.DOTALL)
UPHELD = "it is disputed no more"
ITEM = re.compile(r"^ *- (\S+) \((MUST|SHOULD|COULD), ", re.MULTILINE)
LIMIT = re.compile(r"at most (\d+) iterations, then (\w+)")
SECTIONS = ("Answer", "Structure", "Patterns", "Flows", "Decisions", "Context", "Open")
# Every place that a report names, and every string that a text must keep.
PLACE, KEPT = "notes.md", "keep-me"
# What every text has and no draft.
MARKED = ("mark-one", "mark-two")
SURE = ("high", "certain")


class Plan(NamedTuple):
    """What the agent will report of a step, and the outcome that must follow, or None if it cannot be predicted."""

    values: dict[str, Any]
    outcome: str | None


class Policy:
    """Chooses what is reported, by a seeded generator; ``failing`` is the share of verdicts that are bad."""

    def __init__(self, skill: str, project: str, rng: random.Random) -> None:
        self.skill, self.project, self.rng = skill, project, rng
        self.failing = rng.choice((0.1, 0.5, 0.95))
        self.params = self._run_params()
        self._files = self._texts = 0
        self.forms = Forms(skill, rng)

    def plan(self, block: Block) -> Plan:
        """The values of a block, and the outcome that follows from them."""
        made = {entry["name"]: self._value(entry, block) for entry in block.reported() if self._wanted(entry)}
        self._texts += 1
        values = self.forms.values(block, made, f"{self.rng.choice(ODD)} {self._texts}")
        outcome = self._outcome(block, values)
        if block.chooses:
            values["outcome"] = outcome
        if block.tag == "waiting":
            values["answer"] = self.rng.choice(block.choices)
        if not block.run:
            values.update(step=block.outcomes.get(outcome or "", ""), qr_status=self.verdict())
        return Plan(values, outcome)

    def verdict(self) -> str:
        """How a review ends in truth."""
        return "fail" if self.rng.random() < self.failing else "pass"

    def provide(self, block: Block, values: dict[str, Any]) -> None:
        """Make the files that the block asks for."""
        for path in self.files(block, values):
            self._write(path, self._content() + (" ".join(MARKED) if path.endswith(".text.md") else ""))

    def files(self, block: Block, values: dict[str, Any]) -> list[str]:
        """The absolute paths of the files that the block asks for."""
        known = {**block.context, **values}
        paths = [known.get(path[1:-1], path) if path.startswith("{") else path for path in block.artifacts()]
        return [os.path.join(self.project, path) for path in paths]

    def _run_params(self) -> dict[str, str]:
        if self.skill == "decision-critic":
            return {"decision": "Move the nightly build to the new runners, since they are cheaper."}
        if self.skill == "branched":
            return {"mode": self.rng.choice(("quick", "full")), **self.rng.choice(({}, {"team": "other"}))}
        return {}

    def _wanted(self, entry: dict[str, str]) -> bool:
        return entry.get("required") != "false" or self.rng.random() < 0.5

    def _value(self, entry: dict[str, str], block: Block) -> Any:
        name, kind = entry["name"], entry["type"]
        low = int(float(entry.get("min", 1)))
        high = int(float(entry.get("max", low + 3)))
        if "{" + name + "}" in block.artifacts():
            self._files += 1
            return f"work/{name}-{self._files}.md"
        if name == "keep":
            return [KEPT]
        if kind == "items":
            return self._items(block)
        if name == "fixes":
            return [self._fix(found[1], found[0]) for found in FINDING.finditer(block.words("CONTEXT"))]
        if kind == "list":
            choices = entry["choices"].split("|") if "choices" in entry else None
            count = self.rng.randint(low, max(low, min(high, low + 2)))
            return [self.rng.choice(choices) if choices else self._text(name, 1, 80, at) for at in range(count)]
        if "choices" in entry:
            return self.rng.choice(entry["choices"].split("|"))
        if kind in ("int", "float"):
            return self.rng.randint(low, max(low, high))
        if kind == "bool":
            return self.rng.choice((True, False))
        return self._text(name, low, int(float(entry.get("max", 10_000))))

    def _text(self, name: str, low: int, high: int, at: int = 0) -> str:
        place = f"{PLACE}:{at + 1} | " if name == "findings" else ""
        text = f"{place}{name} {self._texts}.{at}: {self.rng.choice(ODD)}"
        return text.ljust(low, ".")[:high]

    def _items(self, block: Block) -> list[dict[str, str]]:
        known = items_to_verify(block)
        if not known:
            # A review that could stop nothing is refused.
            severities = [self.rng.choice(("MUST", "SHOULD"))]
            severities += self.rng.choices(("MUST", "SHOULD", "COULD"), k=self.rng.randint(0, 2))
            known = [(f"i{at}", severity) for at, severity in enumerate(severities)]
        bad = self.verdict() == "fail"
        items = []
        for at, (name, severity) in enumerate(known):
            status = self.rng.choice(("FAIL", "TODO")) if bad and (at == 0 or self.rng.random() < 0.5) else "PASS"
            finding = f"{'it holds now' if status == 'PASS' else 'wrong'}: {self.rng.choice(ODD)}"
            items.append(
                {
                    "id": name,
                    "scope": "all",
                    "check": "it holds",
                    "severity": severity,
                    "status": status,
                    "finding": finding,
                }
            )
        return items

    def _fix(self, name: str, finding: str) -> str:
        how = "changed" if UPHELD in finding else self.rng.choice(("changed", "changed", "disputed"))
        return f"{name} | {how} | it is right now: {self.rng.choice(ODD)}"

    def _outcome(self, block: Block, values: dict[str, Any]) -> str | None:
        """The word of the outcome; None if it depends on more than this block."""
        if len(block.outcomes) == 1:
            return next(iter(block.outcomes))
        if block.chooses or not block.run:
            return self.rng.choice(list(block.outcomes)) if block.outcomes else None
        state = block.banner
        for verdict, outcome in (("verdict pass", "ok"), ("verdict fail", "fail")):
            if verdict in state:
                return None if outcome == "fail" and _at_bound(state) else outcome
        word = self._handled(block, values)
        limit = LIMIT.search(block.words("INVOKE_AFTER"))
        return limit[2] if word == "iterate" and limit and block.iteration >= int(limit[1]) else word

    def _handled(self, block: Block, values: dict[str, Any]) -> str | None:
        """What the handler of the step is described to do."""
        step = (self.skill, block.id)
        if step == ("problem-analysis", "gate"):
            return {"testable": "ok", "ask": "iterate", "nobody": "fail"}[values["verdict"]]
        if step == ("problem-analysis", "investigate"):
            return "ok" if values["confidence"] in SURE else "iterate"
        if step == ("codebase-analysis", "deepen"):
            return "ok" if values["confidence"] in SURE else "iterate"
        if step == ("branched", "plan"):
            return "skip" if self.params["mode"] == "quick" else "ok"
        if step == ("branched", "measure"):
            return "ok" if values["score"] >= 80 else "iterate"
        return None

    def _content(self) -> str:
        self._files += 1
        return self._text_of(self._files)

    def _text_of(self, version: int) -> str:
        places = " ".join(f"`{PLACE}:{line}`" for line in (1, 2, 3))
        sections = "".join(f"## {name}\n\n{KEPT} {places}\n\n" for name in SECTIONS)
        return f"Version {version}\n\n{sections}"

    def _write(self, path: str, text: str) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def prepare(self) -> None:
        """Lay the one source file into the project that reports point at."""
        self._write(os.path.join(self.project, PLACE), "one\ntwo\nthree\n")


def _at_bound(state: str) -> bool:
    found = re.search(r"iteration (\d+) of (\d+), reviewed", state)
    return found is not None and int(found[1]) >= int(found[2])


def items_to_verify(block: Block) -> list[tuple[str, str]]:
    """The id and severity of each item that a re-verification is given."""
    return ITEM.findall(block.words("CONTEXT") + "\n" + block.words("DO"))


def as_text(value: Any) -> str:
    """A value as it is given on a command line."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)

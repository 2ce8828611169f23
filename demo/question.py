"""The demo's question, and how it is answered: measurements of one import, and what each step of the run records."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

# Medians of so many runs; without a bytecode cache a run takes several times as long.
REPEATS, COLD_REPEATS = 9, 3
HYPOTHESES = ("H1", "H2", "H3", "H4")

SEARCH = """
import sys, time
spent = [0.0, 0]
class Timed:
    def __init__(self, finder): self.finder = finder
    def find_spec(self, name, path=None, target=None):
        begin = time.perf_counter()
        try: return self.finder.find_spec(name, path, target)
        finally: spent[0] += time.perf_counter() - begin; spent[1] += 1
sys.meta_path[:] = [Timed(finder) for finder in sys.meta_path]
import {module}
print(spent[0] * 1000, spent[1])
"""
PRELOADED = """
import importlib, time
for name in {others!r}:
    try: importlib.import_module(name)
    except Exception: pass
begin = time.perf_counter()
import {module}
print((time.perf_counter() - begin) * 1000)
"""


class Work(NamedTuple):
    """One piece of the agent's work, for the reader: the command, and what it showed."""

    command: str
    showed: str


class Profile(NamedTuple):
    """What ``-X importtime`` says: modules beyond a bare start, with the milliseconds of each one itself."""

    modules: dict[str, float]

    @property
    def total(self) -> float:
        """The milliseconds of all modules."""
        return sum(self.modules.values())

    @property
    def heaviest(self) -> str:
        """The module that takes longest by itself."""
        return max(self.modules, key=lambda name: self.modules[name])


class Question:
    """Why does an import take so long here? Measures, and turns the figures into the values that a step asks for."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.work: list[Work] = []
        self.import_line = f"import {module}"
        self.passes = 0
        # What has spoken on each hypothesis: whether it is refuted, and the observation.
        self.evidence: dict[str, tuple[bool, str]] = {}

    def values(self, step: str) -> dict[str, str | list[str]]:
        """Do the work of a step and return what it records, by field name; ``work`` then holds what was run."""
        self.work = []
        values: dict[str, str | list[str]] = getattr(self, f"_{step}")()
        return values

    def _gate(self) -> dict[str, str | list[str]]:
        self.bare = self._clock("pass")
        self.small = self._clock("import json")
        self.slow = self._clock(self.import_line)
        self.cost = self.slow - self.bare
        self.test = (
            f'Median of {REPEATS} runs of `python -c "{self.import_line}"` less that of `python -c pass`: '
            f"over {self.cost / 2:.0f} ms is present, under {max(self.small - self.bare, 1) * 2:.0f} ms is gone."
        )
        self.problem = (
            f"On this machine (Python {sys.version.split()[0]}) `{self.import_line}` adds {self.cost:.0f} ms to every "
            f"start of Python; a start itself takes {self.bare:.0f} ms, and no more than that was expected."
        )
        return {
            "problem": self.problem,
            "test": self.test,
            "facts": [
                f"F1: {self.slow:.1f} ms with {self.import_line} (ran `python -c`, median of {REPEATS})",
                f"F2: {self.bare:.1f} ms for `python -c pass` (the same way)",
                f"F3: {self.small:.1f} ms with import json (the same way): not every import is slow",
            ],
            "verdict": "testable",
            "question": "none",
        }

    def _hypothesize(self) -> dict[str, str | list[str]]:
        return {
            "hypotheses": [
                "H1: no bytecode is cached, so every start compiles the sources. Predicts: with an empty cache it "
                "takes just as long.",
                "H2: the files are hard to find (long path, slow disk). Predicts: more than half of the time "
                "passes in the finders.",
                "H3: the import pulls in a long chain of modules, each cheap, and runs every one. Predicts: no module "
                "takes half of the time, and it falls with the number of modules left to run.",
                "H4: one heavy module takes the time. Predicts: one entry of the profile holds half or more.",
            ],
        }

    def _investigate(self) -> dict[str, str | list[str]]:
        self.passes += 1
        if self.passes == 1:
            return self._look_for_the_place()
        return self._switch_the_cache()

    def _look_for_the_place(self) -> dict[str, str | list[str]]:
        self.profile = self._profile()
        heaviest, total = self.profile.heaviest, self.profile.total
        share = self.profile.modules[heaviest] / total
        finding, calls = [float(word) for word in self._run(SEARCH.format(module=self.module)).split()]
        self._note("python -c '…time every find_spec…'", f"{finding:.1f} ms in {calls:.0f} look-ups")
        self.evidence.update(H2=(finding < 0.5 * self.cost, "E2"), H3=(share >= 0.5, "E1"), H4=(share < 0.5, "E1"))
        speaks = "For H3, against H4: none holds half." if share < 0.5 else "For H4, against H3: it holds half."
        self.found = [
            f"E1: ran `python -X importtime` -> {len(self.profile.modules)} modules, {total:.0f} ms; the heaviest by "
            f"itself is {heaviest} with {self.profile.modules[heaviest]:.1f} ms, {share:.0%}. {speaks}",
            f"E2: timed every finder -> {finding:.1f} ms of {self.cost:.0f} ms. "
            + ("Against H2: under half." if self.evidence["H2"][0] else "For H2: half or more."),
        ]
        return self._pass("medium")

    def _switch_the_cache(self) -> dict[str, str | list[str]]:
        self.cold = self._cold()
        others = [name for name in self.profile.modules if not self._is_own(name)]
        own = self.profile.total - sum(self.profile.modules[name] for name in others)
        left = statistics.median(
            float(self._run(PRELOADED.format(others=others, module=self.module))) for _ in range(REPEATS)
        )
        self._note(f"python -c '…{len(others)} modules first, then the import…'", f"{left:.1f} ms are left")
        expected = own / self.profile.total * self.cost
        fits = abs(left - expected) < 0.5 * self.cost
        at = 2 * self.passes - 1
        self.evidence["H1"] = (self.cold > 1.25 * self.slow, f"E{at}")
        again = " again" * (self.passes - 2)
        self.found = [
            f"E{at}: ran it{again} with an empty cache (-X pycache_prefix) -> {self.cold:.0f} ms instead of "
            f"{self.slow:.0f}. "
            + (
                "Against H1: the cache was in use."
                if self.evidence["H1"][0]
                else "For H1: the cache makes no difference."
            ),
            f"E{at + 1}: loaded{again} the {len(others)} modules that are not {self.module}'s own first -> the import "
            f"itself takes {left:.0f} ms; by the profile's shares {expected:.0f} ms were to be left. "
            + ("For H3, which could have failed here." if fits else "H3's prediction was off by more than half."),
        ]
        sure = "high" if len(self._left()) == 1 and fits else "medium"
        return self._pass(sure)

    def _pass(self, confidence: str) -> dict[str, str | list[str]]:
        self.confidence = confidence
        return {"evidence": self.found, "confidence": confidence}

    def _formulate(self) -> dict[str, str | list[str]]:
        count, own = len(self.profile.modules), sum(self._is_own(name) for name in self.profile.modules)
        cause = "Not found: what is left is " + ", ".join(self._left()) + "."
        if self._left() == ["H3"]:
            cause = f"1: a start without them takes {self.bare:.0f} ms [F2]."
        return {
            "chain": [
                f"1. {self.import_line} imports its parts at the top of its package, {own} modules, whether or not the "
                "caller needs them [E1]",
                f"2. these import others, {count} modules in all, and each is run [E1]",
                f"3. every start waits {self.cost:.0f} ms for it [F1, F2]",
            ],
            "root_cause": cause,
            "gaps": "Which of the modules the check needs was not looked at.",
        }

    def _report(self) -> dict[str, str | list[str]]:
        return {"next_step": f"Move `{self.import_line}` into the function that makes the check, and measure again."}

    def _left(self) -> list[str]:
        return [name for name in HYPOTHESES if name not in self.evidence or not self.evidence[name][0]]

    def _is_own(self, name: str) -> bool:
        return name == self.module or name.startswith(self.module + ".")

    def _note(self, command: str, showed: str) -> None:
        self.work.append(Work(command, showed))

    def _run(self, code: str, *options: str, stream: str = "stdout") -> str:
        done = subprocess.run(
            [sys.executable, *options, "-c", code], capture_output=True, text=True, check=True, env=environment()
        )
        return str(getattr(done, stream))

    def _clock(self, code: str) -> float:
        """The median milliseconds of a start that runs this code; the first, which may fill caches, is left out."""
        self._run(code)
        took = statistics.median(self._once(code) for _ in range(REPEATS))
        self._note(f'python -c "{code}"', f"{took:.1f} ms, median of {REPEATS}")
        return took

    def _once(self, code: str, *options: str) -> float:
        begin = time.perf_counter()
        self._run(code, *options)
        return (time.perf_counter() - begin) * 1000

    def _cold(self) -> float:
        with tempfile.TemporaryDirectory() as folder:
            took = statistics.median(
                self._once(self.import_line, "-X", f"pycache_prefix={os.path.join(folder, str(at))}")
                for at in range(COLD_REPEATS)
            )
        self._note(
            f'python -X pycache_prefix=EMPTY -c "{self.import_line}"', f"{took:.1f} ms, median of {COLD_REPEATS}"
        )
        return took

    def _profile(self) -> Profile:
        text = self._run(self.import_line, "-X", "importtime", stream="stderr")
        bare = self._run("pass", "-X", "importtime", stream="stderr")
        before = _self_times(bare)
        profile = Profile({name: took for name, took in _self_times(text).items() if name not in before})
        most = profile.modules[profile.heaviest]
        self._note(
            f'python -X importtime -c "{self.import_line}"',
            f"{len(profile.modules)} modules, {profile.total:.0f} ms, the heaviest {most:.1f}",
        )
        return profile


def environment() -> dict[str, str]:
    """The environment of what the demo runs: bytecode is cached, and nothing is kept outside of the project."""
    kept = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "LOCKSTEP_HOME")
    }
    return {**kept, "LOCKSTEP_LAUNCHER": "off"}


def _self_times(text: str) -> dict[str, float]:
    """Milliseconds of each module itself, of what ``-X importtime`` wrote."""
    found = {}
    for line in text.splitlines():
        own, _, rest = line.removeprefix("import time:").partition("|")
        if line.startswith("import time:") and own.strip().isdigit():
            found[rest.partition("|")[2].strip()] = int(own) / 1000
    return found

"""Looks at one piece of evidence: whether it stands where it says, and what it shows of its criterion.

Evidence that ``proves`` may carry a PASS, ``weak`` evidence cannot, and what ``refutes`` shows the contrary. Evidence
that is not there at all is a fault, which the agent has to correct before anything is judged.
"""

from __future__ import annotations

import os
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from skills.lib import checks
from skills.lib.git import Git

from . import running, terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Run = Callable[[list[str]], running.Ran]

PROVES, WEAK, REFUTES = "proves", "weak", "refutes"
# How many lines one location may have, and how many files are searched for what is to be absent.
LINES, SEARCHED = 80, 20_000
_LOCATION = re.compile(r"(?P<path>[^:`|]+):(?P<first>\d+)(?:-(?P<last>\d+))?")
_ASSERTS = re.compile(
    r"(?i)assert(?!\s*\(?\s*(?:true|1|not\s+false)\s*\)?\s*$)|\bexpect|\braises\b|\bshould\b|\brequire[.(]|\bt\.(?:error|fatal|fail)"
    r"|\bcheck|\bverify|\bmust\w*\(|\bpanic|\bis\(|\bok\(|\bfail\("
)
_TESTS = re.compile(
    r"(?:\bdef|\bfunc(?:\s*\([^)]*\))?|\bfn|\bfunction|\bvoid)\s+(\w+)|\b(?:it|test|describe|specify|scenario)\s*\(?\s*[\"'`](.+?)[\"'`]"
)
# Options by which a runner takes some tests and leaves others.
_SELECTS = frozenset(
    "-k -m -t -g -R -E -run --run --deselect --ignore --grep --filter --testNamePattern --lf --ff --sw "
    "--last-failed".split()
)
_LEAVES_OUT = ("--deselect", "--ignore", "-m", "-E", "-LE", "--lf", "--last-failed", "--sw")
# Others that do nothing but that.
_OMITS = re.compile(r"(?i)-[\w-]*(?:skip|exclude|ignore|deselect)")


class Shown(NamedTuple):
    """What one piece of evidence shows, and why; ``text`` is what of the project it rests on."""

    type: str
    location: str
    shows: str
    why: str
    text: str = ""
    strength: str = "medium"
    exit: int | None = None
    output: str = ""

    def to_data(self) -> dict[str, Any]:
        """The evidence as it is written."""
        found: dict[str, Any] = {"type": self.type, "location": self.location, "shows": self.shows}
        found.update({"why": self.why} if self.why else {})
        return {**found, "exit": self.exit, "output": self.output} if self.type in ("test", "command") else found


def place_faults(row: Mapping[str, Any]) -> list[str]:
    """Why the place of some evidence cannot be opened, or does not have the words quoted; empty if it can."""
    kind, location, quote = row["type"], row.get("location", ""), row.get("quote", "")
    if kind in ("test", "code") or (kind == "command" and location):
        why = _location_fault(location)
        return [why] if why else (_quotation_faults(location, quote) if quote else [])
    if kind == "file":
        path = location.partition(":")[0]
        why = checks.path_fault(path)
        if why or not os.path.isfile(path) or not os.path.getsize(path):
            return [f"{location[:120]}: {why or 'no file with any content'}"]
    if kind == "absence" and not quote and checks.path_fault(location).startswith("outside"):
        return [f"{location[:120]}: {checks.path_fault(location)}"]
    if kind == "absence" and quote and checks.path_fault(location):
        return [f"{location[:120]}: {checks.path_fault(location)}; name the folder or file that was searched"]
    return []


def read_of(row: Mapping[str, Any]) -> list[str]:
    """The file whose lines are evidence, as it is written and without links; none for evidence of another kind."""
    if row["type"] not in ("test", "code", "command") or not row.get("location"):
        return []
    path = row["location"].partition(":")[0]
    return [os.path.normpath(path), os.path.relpath(os.path.realpath(path), os.path.realpath(os.curdir))]


def _location_fault(location: str) -> str:
    match = _LOCATION.fullmatch(location.strip())
    if match is None:
        return f"{location[:120]!r}: write path:line or path:first-last"
    why = checks.location_fault(location)
    if not why and match["last"] and int(match["last"]) - int(match["first"]) >= LINES:
        why = f"name at most {LINES} lines, those that show it"
    return f"{location[:120]}: {why}" if why else ""


def _quotation_faults(location: str, quote: str) -> list[str]:
    text = " ".join("\n".join(lines_at(location)).split())
    if " ".join(quote.split()) in text:
        return [] if len(re.findall(r"\w", quote)) >= 3 else [f"{location[:120]}: quote a word of that line at least"]
    return [f"{location[:120]}: `{quote[:80]}` does not stand there; quote the lines letter for letter"]


def lines_at(location: str) -> list[str]:
    """The lines of a location that can be opened."""
    match = _LOCATION.fullmatch(location.strip())
    assert match is not None
    lines = checks.text(match["path"], "replace").split("\n")
    return lines[int(match["first"]) - 1 : int(match["last"] or match["first"])]


def look(row: Mapping[str, Any], criterion: str, changed: set[str] | None, run: Run) -> Shown:
    """What some evidence shows; ``changed`` are the paths that the task changed, None if it may change nothing."""
    kind = row["type"]
    if kind in ("test", "command"):
        return _of_command(row, criterion, run)
    if kind == "absence":
        return _of_absence(row, criterion)
    path = os.path.normpath(row["location"].partition(":")[0])
    shown = [path] if kind == "file" else [path, *terms.without_comments(path, lines_at(row["location"]))]
    found = Shown(kind, row["location"], PROVES, "", "\n".join(shown))
    if terms.denies(criterion):
        return found._replace(shows=WEAK, why="the criterion says that something is not so, and no line shows that")
    if kind == "file" and not terms.is_static(criterion):
        return found._replace(shows=WEAK, why="that a file is there does not show what the criterion says of it")
    if kind == "code" and not (terms.is_static(criterion) or terms.is_of_document(criterion, path)):
        return found._replace(
            shows=WEAK, why="lines show how it is written, not what it does: name a test and its command"
        )
    if kind == "code" and terms.is_prose(path) and not terms.is_of_document(criterion, path):
        return found._replace(shows=WEAK, why=f"the criterion does not speak of {path}")
    if changed is not None and path not in changed:
        return found._replace(shows=WEAK, why=f"the task did not change {path}, so this stood there before")
    return found


def verify(argv: list[str], run: Run) -> Shown:
    """What a command shows that the task itself gives for a criterion."""
    done = run(argv)
    found = Shown("command", " ".join(argv), PROVES, "", "", "high", done.exit, done.tail)
    nothing = "it ends with 0 whatever was done" if checks.always_passes(argv) else ""
    if nothing or done.why:
        return found._replace(shows=WEAK, why=nothing or done.why)
    return found if done.exit == 0 else found._replace(shows=REFUTES, why=f"ended with {done.exit}")


def _of_command(row: Mapping[str, Any], criterion: str, run: Run) -> Shown:
    argv, place = list(row["command"]), row.get("location", "")
    found = Shown(row["type"], place or " ".join(argv), WEAK, "", "", "medium")
    nothing = running.proves_nothing(argv)
    if nothing:
        return found._replace(why=f"{' '.join(argv)[:120]}: {nothing}")
    done = run(argv)
    found = found._replace(exit=done.exit, output=done.tail)
    if done.why:
        return found._replace(why=f"{' '.join(argv)[:120]} {done.why}")
    if done.exit:
        return found._replace(shows=REFUTES, why=f"{' '.join(argv)[:120]} ended with {done.exit}")
    why = _test_fault(row, criterion, done) if row["type"] == "test" else _command_fault(row, criterion, done)
    is_strong = row["type"] == "test" or _is_named(argv, criterion)
    return found._replace(why=why) if why else found._replace(shows=PROVES, strength="high" if is_strong else "medium")


def _command_fault(row: Mapping[str, Any], criterion: str, done: running.Ran) -> str:
    """Why a command that ended with 0 does not show its criterion; empty if it does."""
    if _is_named(done.argv, criterion):
        return ""
    expect = " ".join(row.get("expect", "").split())
    if not expect:
        return "that it ends with 0 says nothing of the criterion: say what it prints, in expect, or name the test"
    if expect not in " ".join(done.output.split()):
        return f"it does not print {expect[:80]!r}"
    if any(expect in word for word in done.argv):
        return "it prints what it was given"
    return _unshown(criterion, terms.words_of(" ".join(done.argv)), terms.words_of(expect))


def _unshown(criterion: str, called: frozenset[str], printed: frozenset[str]) -> str:
    """What of the fragments and numbers of a criterion neither call nor output shows; one has to be printed alone."""
    parts = [terms.words_of(one) for one in terms.fragments_of(criterion)]
    if not any(part <= printed and not part <= called for part in parts if part):
        return "the criterion does not name what is printed: name a test that shows it"
    left = [" ".join(sorted(part)) for part in parts if not (part <= printed or part <= called)]
    left += [number for number in terms.numbers_of(criterion) if number not in printed]
    return f"call and output do not show {', '.join(left)[:120]}" if left else ""


def _is_named(argv: Iterable[str], criterion: str) -> bool:
    """True if the criterion itself has the command, in backquotes, and denies nothing."""
    wanted = [" ".join(found.split()) for found in re.findall(r"`([^`]+)`", criterion)]
    return " ".join(argv) in wanted and not terms.denies(criterion)


def _test_fault(row: Mapping[str, Any], criterion: str, done: running.Ran) -> str:
    """Why a command that ended with 0 does not show that the test at a place passed; empty if it does."""
    path = os.path.normpath(row["location"].partition(":")[0])
    lines = terms.without_comments(path, lines_at(row["location"]))
    if not running.ran_a_test(done.output):
        return "its output does not say that a test ran and passed"
    if not any(_ASSERTS.search(line.strip()) for line in lines):
        return f"{row['location']} asserts nothing: name all lines of the test"
    if not terms.is_about(criterion, "\n".join([path, *lines])):
        return f"{row['location']} does not mention the criterion: name the test that shows it"
    names = [next(filter(None, found)) for line in lines for found in _TESTS.findall(line)]
    if not names:
        return f"{row['location']} has no beginning of a test: name all lines of it"
    return _unrun(path, names, done)


def _unrun(path: str, names: list[str], done: running.Ran) -> str:
    """Why nobody can tell that a test of these names was run; empty if one can."""
    argv = done.argv
    if any(running.is_reported(name, done.output) for name in names):
        return ""
    stem = os.path.splitext(os.path.basename(path))[0]
    is_named = any(_covers(word, path) for word in argv) or any(stem in word for word in argv if len(stem) > 3)
    if not is_named:
        return f"the command does not name {path}: give it the test, or let it print its name"
    given = running.of_runner(argv)
    left_out = any(word.split("=")[0] in _LEAVES_OUT or _OMITS.match(word) for word in given)
    selects = left_out or any(
        "::" in word or word.split("=")[0] in _SELECTS or _is_dotted(word, stem) for word in given
    )
    chosen = [word for word in given if "not " not in word]
    by_name = _selected(given, names)
    is_chosen = by_name or any(name in word for name in names for word in chosen)
    if (selects and (left_out or not is_chosen)) or running.left_some_out(done.output, by_name):
        return f"tests were selected or skipped, and the output does not name {names[0]} as passed: run it, verbosely"
    return ""


def _covers(word: str, path: str) -> bool:
    """True if an argument is the path, or a folder above it."""
    place = os.path.normpath(word.partition("::")[0].removesuffix("/...") or ".")
    return place not in (".", os.sep) and (path == place or path.startswith(place + "/"))


def _is_dotted(word: str, stem: str) -> bool:
    """True for ``tests.test_cart.CartTest``: a part of a module."""
    return f"{stem}." in word and not word.endswith((f"{stem}.py", f"{stem}.js", f"{stem}.ts"))


def _selected(given: list[str], names: list[str]) -> bool:
    """True if there are selecting options, and the value of each is a part of a name."""
    values = [word for option, word in pairwise(given) if option in _SELECTS - set(_LEAVES_OUT)]
    return bool(values) and all(len(value) > 3 and any(value.strip("^$") in name for name in names) for value in values)


def _of_absence(row: Mapping[str, Any], criterion: str) -> Shown:
    location, quote = os.path.normpath(row["location"]), row.get("quote", "")
    found = Shown("absence", row["location"], PROVES, "", f"{location} {quote}")
    if not terms.denies(criterion):
        return found._replace(shows=WEAK, why="the criterion does not say that anything is absent")
    named = terms.fragments_of(criterion)
    paths = {os.path.normpath(one) for one in named}
    if (quote and " ".join(quote.split()) not in named) or (location not in paths and (location != "." or not quote)):
        return found._replace(
            shows=WEAK, why="search for what the criterion names, where it names it, or in . as a whole"
        )
    if not quote:
        there = os.path.lexists(location)
        return found._replace(shows=REFUTES, why=f"{location} is there") if there else found
    hit = _occurrence(location, quote)
    return found._replace(shows=REFUTES, why=f"`{quote[:80]}` stands at {hit}") if hit else found


def _occurrence(location: str, quote: str) -> str:
    """The first place below a folder, or in a file, that has the words; empty if there is none."""
    names = [location]
    if os.path.isdir(location):
        printed = Git(os.path.abspath(location)).output("ls-files", "-co", "--exclude-standard", "-z") or b""
        names = [os.path.join(location, name) for name in os.fsdecode(printed).split("\0")[:-1]]
    if len(names) > SEARCHED:
        return f"one of {len(names):,} files, of which at most {SEARCHED:,} are searched"
    for name in names:
        try:
            lines = checks.text(name, "replace").split("\n")
        except (OSError, ValueError):
            continue
        for at, line in enumerate(lines, 1):
            if quote in line:
                return f"{os.path.normpath(name)}:{at}"
    return ""

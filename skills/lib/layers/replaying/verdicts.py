"""The verdicts that an agent states, on criteria and on a task, with the evidence that it names for each."""

from __future__ import annotations

import html
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from skills.lib import compact_json
from skills.lib.record import Record

PASS, FAIL, INCONCLUSIVE = "PASS", "FAIL", "INCONCLUSIVE"
# The name of the verdict on the task as a whole.
TASK = ""
_MARKS = {
    **dict.fromkeys(("pass", "passed", "passes", "satisfied"), PASS),
    **dict.fromkeys(("fail", "failed", "fails"), FAIL),
    "inconclusive": INCONCLUSIVE,
}
_MARK = r"(?P<mark>(?i:PASS(?:ED|ES)?|FAIL(?:ED|S)?|INCONCLUSIVE))\b(?!\s*(?:or|/|\|)\s*(?i:PASS|FAIL|INCONCLUSIVE))"
_STATED = re.compile(
    r"(?P<name>[A-Za-z0-9][\w .#-]{0,60}?)(?:\s*\([^()]{0,80}\))?\s*(?:[:|=✅❌]|\u2014|\u2013|-|\u2192|->)+\s*"
    rf"{_MARK}(?P<rest>.*)",
    re.DOTALL,
)
_TURNED = re.compile(
    rf"{_MARK}\s*(?:[:|=]|\u2014|\u2013|-)+\s*(?P<name>[A-Za-z][\w #-]{{0,40}}?\d{{1,4}})\b(?P<rest>.*)", re.DOTALL
)
_OF_TASK = frozenset(
    ("verdict", "overall", "overall verdict", "final verdict", "result", "overall result", "outcome", "task", "status")
)
_NUMBERED = re.compile(r"(?:acceptance )?(?:criterion|criteria|ac|c|#)?[ #_-]*(\d{1,4})")
_NAMED = re.compile(r"[a-z][a-z_]{0,11}[ _-]?\d{1,4}")
# What may follow a verdict in small letters.
_AFTER = (",", ".", ";", ":", "|", " |", " (", " `", " - ", " \u2014", " \u2013", " \u2192")
# What may stand in front of a verdict in a line of Markdown.
_FRONT = re.compile(r"(?:[-*•>#|+\s✅❌⚠️✔✗✘☑]|\[[ xX]\]\s|\d{1,3}[.)]\s)*")
_FENCE = re.compile(r"\s{0,3}(```+|~~~+)\s*(\w*)")
_QUOTED = re.compile(r"`([^`\n]{1,300})`")
_EXTENSIONS = (
    "py pyi js mjs cjs ts tsx jsx go rs java kt rb php c h cc cpp hpp cs swift scala ex exs lua sql sh bash ps1"
    " md rst txt json jsonl yaml yml toml ini cfg conf xml html css scss vue svelte lock proto graphql tf csv svg"
)
_NAME = r"[\w@+-][\w.@+-]*"
_PATH = re.compile(
    rf"(?P<path>(?:/|\.{{1,2}}/)?(?:{_NAME}/)*(?:{_NAME}\.(?:{_EXTENSIONS.replace(' ', '|')})"
    rf"|Makefile|Dockerfile|LICENSE|Justfile|\.[a-z]{{2,12}}))(?P<line>:\d+(?:[-:]\d+)?)?"
)
_IN_TEXT = re.compile(rf"(?<![\w/.:`@+-]){_PATH.pattern}(?![\w/])")
_GONE = re.compile(
    r"\b(?:gone|absent|removed|deleted|missing|no longer|not there|(?:does|do) not exist|no file)\b", re.I
)
# Programs that check or build: a quoted line that begins with one is a command.
_CHECKERS = frozenset(
    "pytest tox nox make npm npx pnpm yarn bun node deno python python3 go cargo mvn gradle ruff mypy pyright"
    " eslint tsc jest vitest mocha ctest bash sh dotnet rspec phpunit git uv poetry docker just bazel".split()
)
_COMMAND_TYPES = frozenset("command test test_run run execution shell build".split())
_LISTS = tuple("criteria criteriaResults criterionResults acceptanceCriteria results verdicts findings".split())
_IDS = ("id", "criterion", "criterionId", "criterion_id", "name")
_VERDICTS = ("verdict", "status", "result", "outcome")
_DEEPEST = 6
# A block of the skill that judges tasks, and its verdicts on the criteria. Its last step is its verdict on the task:
# the id of a step names it, or the end of the run.
_BLOCK = re.compile(r'<(?:step|done) protocol="1" skill="task-spec-check"(?: id="(\w+)"| run=)')
_VALUE = re.compile(r'<value step="(prove|passed|failed)" name="found">([^<]*)</value>')
_JUDGED = re.compile(r"^- (C\d{1,3}) (PASS|FAIL|INCONCLUSIVE)\b", re.M)


class Claim(Record):
    """Something that a verdict names as its evidence: a file that is there, or a command that succeeds.

    ``may_be_gone`` says that the file is named because it is not there, or may be.
    """

    text: str
    is_command: bool
    may_be_gone: bool = False


class Verdict(Record):
    """A verdict on a criterion, or on the TASK."""

    name: str
    mark: str
    claims: tuple[Claim, ...]


def stated_in(
    text: str, has_run: Callable[[str], bool], ids: Collection[str] = (), task: str = ""
) -> Iterator[Verdict]:
    """The verdicts that a text states, in order: lines (``AC1: PASS - src/a.py:3``), rows of a table, or JSON.

    ``has_run`` says whether the session ran a program of a name, ``ids`` names the criteria if they are known, and
    ``task`` is the id of the task.
    """
    found = _json(text)
    if found is not None:
        yield from _structured(found, has_run, ids, task)
        return
    block: list[str] = []
    fence = ""
    name, mark, evidence = "", "", list[str]()
    for line in [*text.split("\n"), ""]:
        opened = _FENCE.match(line)
        if fence or opened:
            if fence and opened and opened[1].startswith(fence):
                data = _json("\n".join(block))
                if data is not None:
                    yield from _structured(data, has_run, ids, task)
                fence, block = "", []
            elif fence:
                block.append(line)
            elif opened:
                fence = opened[1]
            continue
        stated = _line(line, ids, task)
        goes_on = line[:1].isspace() or line.lstrip("-*• ").lower().startswith(("evidence", "proof", "location"))
        if stated is None and mark and line.strip() and goes_on:
            evidence.append(line)
            continue
        if mark:
            yield Verdict(name, mark, _claims(" ".join(evidence), has_run))
            mark = ""
        if stated is not None:
            name, mark, evidence = stated[0], stated[1], [stated[2]]


def checked_in(output: str) -> dict[str, str]:
    """The verdicts of the engine in what a step of task-spec-check prints: it ran the commands and looked up places."""
    block = _BLOCK.search(output)
    if block is None:
        return {}
    part = "CONTEXT" if block[1] else "RESULT"
    head, _, rest = output.partition(f"<{part}>")
    if block.end() > len(head):
        return {}
    found: dict[str, str] = {}
    last = block[1]
    for step, value in _VALUE.findall(rest.partition(f"</{part}>")[0]):
        found |= {id_of(criterion): mark for criterion, mark in _JUDGED.findall(html.unescape(value))}
        last = last or step
    if last in ("passed", "failed"):
        found[TASK] = PASS if last == "passed" else FAIL
    return found


def of_engine(verdict: Mapping[str, Any]) -> dict[str, str]:
    """The verdicts of the engine as the skill's own data have them."""
    entries = verdict.get("criteria")
    rows = [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []
    found = {id_of(str(one.get("id"))): mark_of(one.get("verdict")) for one in rows}
    return {name: mark for name, mark in {**found, TASK: mark_of(verdict.get("outcome"))}.items() if mark}


def id_of(name: str) -> str:
    """The id of a criterion in one spelling: ``AC-1``, ``Criterion 1`` and ``1`` are the same."""
    folded = " ".join(name.lower().split())
    number = _NUMBERED.fullmatch(folded)
    return str(int(number[1])) if number else folded


def mark_of(text: object) -> str:
    """A verdict's word in one spelling; empty for another text."""
    return _MARKS.get(text.strip().lower(), "") if isinstance(text, str) else ""


def _line(line: str, ids: Collection[str], task: str) -> tuple[str, str, str] | None:
    """The criterion, the verdict and the rest of a line that states one."""
    front = _FRONT.match(line)
    text = line[front.end() if front else 0 :].replace("**", "").replace("__", "").strip()
    for found in (_STATED.match(text), _TURNED.match(text)):
        name = _named(found["name"], ids, task) if found is not None else None
        if found is None or name is None:
            continue
        # "Task 3: failed to start" and "AC2: Pass the limit on" are no verdicts.
        is_plain = name != TASK and (not found["rest"].strip() or found["rest"].startswith(_AFTER))
        if found["mark"].isupper() or is_plain:
            return name, _MARKS[found["mark"].lower()], found["rest"]
    return None


def _named(name: str, ids: Collection[str], task: str) -> str | None:
    """The id that a name stands for; TASK for the task, None for a name of nothing that is judged."""
    folded = " ".join(name.lower().split())
    if folded in _OF_TASK or folded.startswith("task ") or (task and folded == task.lower()):
        return TASK
    found = id_of(name)
    if ids:
        return found if found in ids else None
    return found if found.isdigit() or _NAMED.fullmatch(folded) else None


def _structured(
    data: Any, has_run: Callable[[str], bool], ids: Collection[str], task: str, depth: int = 0
) -> Iterator[Verdict]:
    if isinstance(data, list):
        for one in data:
            yield from _structured(one, has_run, ids, task, depth + 1)
        return
    if not isinstance(data, dict) or depth > _DEEPEST:
        return
    lists = [data[name] for name in _LISTS if isinstance(data.get(name), list)]
    for entries in lists:
        for entry in entries:
            yield from _entry(entry, has_run, ids)
    mark = next((mark for name in ("outcome", "verdict") if (mark := mark_of(data.get(name)))), "")
    is_of_task = bool(task) and str(data.get("task", data.get("id", ""))).lower() == task.lower()
    if mark and (lists or "phase" in data or "schemaVersion" in data or is_of_task):
        yield Verdict(TASK, mark, ())
    elif not lists:
        yield from _entry(data, has_run, ids)
    if not lists and not mark:
        for value in data.values():
            inner = _json(value) if isinstance(value, str) else value
            if isinstance(inner, (dict, list)):
                yield from _structured(inner, has_run, ids, task, depth + 1)


def _entry(entry: Any, has_run: Callable[[str], bool], ids: Collection[str]) -> Iterator[Verdict]:
    """The verdict of an object that names a criterion."""
    if not isinstance(entry, dict):
        return
    name = next((str(entry[key]) for key in _IDS if isinstance(entry.get(key), (str, int))), "")
    mark = next((mark for key in _VERDICTS if (mark := mark_of(entry.get(key)))), "")
    if name and mark and (not ids or id_of(name) in ids):
        found = entry.get("evidence")
        items = found if isinstance(found, list) else [found] if found is not None else []
        if not items and ("location" in entry or "command" in entry):
            items = [entry]
        claims = [claim for item in items for claim in _item(item, has_run)]
        yield Verdict(id_of(name), mark, tuple(dict.fromkeys(claims)))


def _item(item: Any, has_run: Callable[[str], bool]) -> tuple[Claim, ...]:
    if isinstance(item, str):
        return _claims(item, has_run) or _claims(f"`{item}`", has_run)
    if not isinstance(item, Mapping):
        return ()
    command = item.get("command")
    if isinstance(command, list):
        command = shlex.join(map(str, command))
    place = next((item[key] for key in ("location", "path", "file") if isinstance(item.get(key), str)), "")
    kind = str(item.get("type", item.get("evidence_type", item.get("evidenceType", "")))).lower()
    if isinstance(command, str) and command.strip():
        return (Claim(_one_line(command), True),)
    if not place.strip():
        return ()
    if kind in _COMMAND_TYPES:
        return (Claim(_one_line(place), True),)
    path = _PATH.fullmatch(place.strip())
    return (Claim(path["path"] if path else place.strip().partition(":")[0], False, kind == "absence"),)


def _claims(text: str, has_run: Callable[[str], bool]) -> tuple[Claim, ...]:
    """What a text names: files, and quoted lines of programs that check something or that the session ran."""
    found: list[Claim] = []
    may_be_gone = _GONE.search(text) is not None
    for quoted in _QUOTED.findall(text):
        path = _PATH.fullmatch(quoted.strip())
        program = _one_line(quoted).partition(" ")[0].rpartition("/")[2]
        if path:
            found.append(Claim(path["path"], False, may_be_gone))
        elif program in _CHECKERS or has_run(program):
            found.append(Claim(_one_line(quoted), True))
    paths = _IN_TEXT.finditer(_QUOTED.sub(" ", text))
    found += [Claim(path["path"], False, may_be_gone) for path in paths if "/" in path["path"] or path["line"]]
    return tuple(dict.fromkeys(found))


def _one_line(text: str) -> str:
    return " ".join(text.strip().removeprefix("$ ").split())


def _json(text: str) -> Any:
    """The object or list that a text is; None for another text."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        found = compact_json.loads(text.strip())
    except ValueError:
        return None
    return found if isinstance(found, (dict, list)) else None

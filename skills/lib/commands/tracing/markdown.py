"""A run in Markdown, for a pull request: what was decided, what reviews found, what was proved, what stayed open."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from skills.lib.commands.console.screen import one_line
from skills.lib.commands.queries.runs import Records, iso, left_undone, skill_of, status_line, undone
from skills.lib.model.texts import counted, shortened
from skills.lib.views import findings

if TYPE_CHECKING:
    from skills.lib.ledger.history import Event
    from skills.lib.model.run import Run

# How much of a value one line shows, in characters, and how many lines a section has before it only counts.
_SHOWN, _LINES = 300, 40
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+!|~$])")
# What GitHub and GitLab make a mention of a person, or a link to an issue.
_REFERENCE = re.compile(r"(?<=[@#!&~])(?=\w)")


def markdown(records: Records, run: Run) -> str:
    """The run as Markdown in which nothing that was recorded is markup, a mention or a link."""
    events = records.events(run.id)
    tree = [one for _, one in records.tree(run)]
    lines = [f"### {_prose(skill_of(run))}: {_prose(status_line(run))}", "", _about(run, events, len(tree) - 1)]
    given = [f"- {_prose(name)}: {_prose(value)}" for name, value in run.params.items()]
    lines += ["", *given] if given else []
    sections = {
        "Decided": list(_decided(events)),
        "Reviewed": list(_reviewed(events)),
        "Proved": list(_proved(records, tree)),
        "Refused on the way": list(_refused(records, tree)),
        "Left open": [_prose(undone(entry)) for entry in left_undone(run, records)],
    }
    for title, found in sections.items():
        if found:
            lines += ["", f"**{title}**", "", *[line if line[0] == " " else f"- {line}" for line in found[:_LINES]]]
        if len(found) > _LINES:
            lines.append(f"- and {len(found) - _LINES} more, in the record of the run")
    return "\n".join(lines) + "\n"


def _about(run: Run, events: list[Event], children: int) -> str:
    moves = sum(event.kind in ("moved", "finished") for event in events)
    parts = [f"Run `{run.id}` of {_prose(run.workflow)}, {counted(moves, 'move')}"]
    parts += [counted(children, "sub-agent")] if children else []
    parts += [f"{iso(events[0].at)} to {iso(events[-1].at)}"] if events else []
    return ", ".join(parts) + "."


def _decided(events: list[Event]) -> Iterator[str]:
    """Each answer of a person, with what was asked."""
    asked: Mapping[str, Any] = {}
    for event in events:
        asked = event.change.get("question") or asked
        answer = event.detail.get("answer")
        if answer is None:
            continue
        step = event.detail.get("from") or asked.get("gate") or ""
        why = f": {_prose(event.detail['reason'])}" if event.detail.get("reason") else ""
        yield f"`{step}` {_prose(asked.get('text', ''))} — **{_prose(answer)}**, {findings.who(event.detail)}{why}"


def _reviewed(events: list[Event]) -> Iterator[str]:
    """Each review with its verdicts, and below it the items that ever failed or are open, with their ends."""
    for checkpoint, done in findings.rounds(events).items():
        verdicts = ", ".join(one.status for one in done)
        found = findings.histories(done)
        failed = [one for one in found if _ever_failed(one)]
        yield f"`{checkpoint}`: {verdicts}; {counted(len(found), 'item')}, {len(failed)} failed at some time"
        for one in failed:
            last = next(entry for entry in reversed(one.entries) if entry and entry.get("status") != "PASS")
            finding = _prose(last.get("finding") or one.item["check"])
            yield f"  - {_prose(one.item['severity'])} {_prose(one.key)}: {finding} — {_prose(one.end)}"


def _ever_failed(item: findings.ItemHistory) -> bool:
    return any(entry is not None and entry.get("status") != "PASS" for entry in item.entries)


def _proved(records: Records, tree: list[Run]) -> Iterator[str]:
    """Each check that held, with how often, in the order in which it first did."""
    held: Counter[tuple[str, str, str]] = Counter()
    for run in tree:
        for event in records.events(run.id):
            for one in event.detail.get("evidence", ()):
                if one.get("ok"):
                    code = f", exit {one['exit']}" if one.get("exit") is not None else ""
                    held[str(event.detail.get("from") or run.step or ""), str(one.get("what", "")), code] += 1
    for (step, what, code), times in held.items():
        yield f"`{one_line(step)}` {_code(what)}{code}" + (f", {times} times" if times > 1 else "")


def _refused(records: Records, tree: list[Run]) -> Iterator[str]:
    counts = Counter(
        str(event.detail.get("code")) for run in tree for event in records.events(run.id) if event.kind == "refused"
    )
    for code, times in counts.most_common():
        yield f"`{one_line(code)}` {times} times" if times > 1 else f"`{one_line(code)}` once"


def _prose(value: object) -> str:
    """A value in one line of text in which nothing is markup, a mention or a link."""
    text = shortened(one_line(value), _SHOWN)
    return _REFERENCE.sub("\N{WORD JOINER}", _MARKUP.sub(r"\\\1", text).replace("://", ":\N{WORD JOINER}//"))


def _code(value: object) -> str:
    """A value as a span of code, whatever ticks it holds."""
    text = shortened(one_line(value), _SHOWN)
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{ticks} {text} {ticks}" if "`" in text else f"`{text}`"

"""A plan as Markdown, for people and for agents that read it whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .waves import waves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def as_markdown(plan: Mapping[str, Any], version: int) -> str:
    """The whole plan; whoever changes it changes the JSON and saves it."""
    context = plan["context"]
    assumed = [one["id"] for name in ("decisions", "constraints") for one in plan[name] if one["source"] == "assumed"]
    parts = [
        f"# {line(plan['title'])}",
        f"Version {version}, written from plan.{version}.json; a change to this file is not read by anything.",
        "Planned by the quick way: one milestone, one review." if plan.get("way") == "quick" else "",
        f"Assumed, confirmed by nobody: {', '.join(assumed)}." if assumed else "",
        _section("Request", _block(plan["request"])),
        _section("Context", _block(context["summary"])),
        _items(f"`{line(one['path'])}`: {line(one['why'])}" for one in context["files"]),
        _section("Patterns", _items(map(line, context["patterns"]))),
        testing_section(plan),
        decision_section(plan["decisions"]),
        rejected_section(plan),
        constraint_section(plan),
        risk_section(plan["risks"]),
        knowledge_section(plan),
        _section("Waves", _items(_waves(plan))),
        *[milestone_markdown(plan, one) for one in plan["milestones"]],
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def testing_section(plan: Mapping[str, Any]) -> str:
    """How the work is proved: the strategy, and the plan's commands."""
    testing = plan["testing"]
    return _section("Testing", _block(testing["strategy"]), _commands(testing["commands"]))


def decision_section(decisions: Iterable[Mapping[str, Any]]) -> str:
    """These decisions with their reasons."""
    return _section("Decisions", _items(map(_decision, decisions)))


def rejected_section(plan: Mapping[str, Any]) -> str:
    """The alternatives that were not taken."""
    rows = (f"{one['id']} {line(one['alternative'])}: {line(one['reason'])}" for one in plan["rejected"])
    return _section("Rejected", _items(rows))


def constraint_section(plan: Mapping[str, Any]) -> str:
    """The constraints with their sources."""
    rows = (f"{one['id']} ({one['source']}) {line(one['text'])}" for one in plan["constraints"])
    return _section("Constraints", _items(rows))


def risk_section(risks: Iterable[Mapping[str, Any]]) -> str:
    """These risks with what meets them."""
    rows = (f"{one['id']} {line(one['risk'])}: {line(one['mitigation'])}" for one in risks)
    return _section("Risks", _items(rows))


def knowledge_section(plan: Mapping[str, Any]) -> str:
    """What code and tests do not show."""
    return _section("Invisible knowledge", _items(map(line, plan["invisible_knowledge"])))


def intent_section(one: Mapping[str, Any]) -> str:
    """What the files of a milestone do afterwards."""
    return _section(f"Made by {one['id']}", _items(map(_intent, one["intent"])))


def milestone_markdown(plan: Mapping[str, Any], one: Mapping[str, Any], cited: bool = False) -> str:
    """One milestone; ``cited`` adds the decisions that it rests on and every constraint."""
    after = ", ".join(one["depends_on"]) or "nothing"
    parts = [
        f"## {one['id']} {line(one['title'])}",
        f"Kind: {one['kind']}. After: {after}. Files: " + ", ".join(f"`{line(path)}`" for path in one["files"]),
        f"Look hardest at: {', '.join(one['flags'])}." if one.get("flags") else "",
        _named("Requirements", map(line, one["requirements"])),
        _named("Acceptance", map(line, one["acceptance"])),
        _named("Tests", map(line, one["tests"])),
        _named("Intent", map(_intent, one["intent"])),
    ]
    if cited:
        names = {name for intent in one["intent"] for name in intent["decisions"]}
        parts.append(_named("Decisions", (_decision(entry) for entry in plan["decisions"] if entry["id"] in names)))
        parts.append(_named("Constraints", (f"{entry['id']} {line(entry['text'])}" for entry in plan["constraints"])))
        parts.append(_named("Invisible knowledge", map(line, plan["invisible_knowledge"])))
    parts += [_change(change) for change in one["changes"]]
    return "\n\n".join(part for part in parts if part)


def _section(title: str, *parts: str) -> str:
    kept = [part for part in parts if part]
    return "\n\n".join([f"## {title}", *kept]) if kept else ""


def _named(title: str, lines: Iterable[str]) -> str:
    body = _items(lines)
    return f"{title}:\n\n{body}" if body else ""


def _items(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _waves(plan: Mapping[str, Any]) -> Iterator[str]:
    for kind in ("code", "documentation"):
        for wave in waves([one for one in plan["milestones"] if one["kind"] == kind]):
            yield f"{kind}: {', '.join(wave)}"


def _decision(one: Mapping[str, Any]) -> str:
    return f"{one['id']} ({one['source']}) {line(one['decision'])} Because: " + "; ".join(map(line, one["reasons"]))


def _intent(one: Mapping[str, Any]) -> str:
    rests = f" ({', '.join(one['decisions'])})" if one["decisions"] else ""
    return f"{one['id']} `{line(one['file'])}`: {line(one['behaviour'])}{rests}"


def _change(one: Mapping[str, Any]) -> str:
    fence = "`" * max(3, *[len(run) + 1 for run in re.findall("`+", one["diff"])], 3)
    head = f"{one['id']} `{line(one['file'])}`"
    diff = f"{fence}diff\n{one['diff'].rstrip(chr(10))}\n{fence}" if one["diff"] else ""
    parts = [head, diff, _items(map(line, one["comments"]))]
    return "\n\n".join(part for part in parts if part)


def _commands(commands: Mapping[str, Any]) -> str:
    return _items(f"{name}: `{' '.join(map(line, argv))}`" for name, kind in commands.items() for argv in kind or ())


def line(text: str) -> str:
    """A text on one line, its blanks kept: what must come out is told by them."""
    return " ".join(part.strip() for part in text.strip().splitlines())


def _block(text: str) -> str:
    """A text with its lines, none of which is taken for a heading of the plan."""
    return "\n".join(f"> {line}".rstrip() for line in text.strip().split("\n"))

"""A plan as Markdown, for people and for agents that read it whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .waves import waves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def as_markdown(plan: Mapping[str, Any], version: int) -> str:
    """The whole plan; whoever changes it changes the JSON and saves it."""
    context, testing = plan["context"], plan["testing"]
    assumed = [one["id"] for name in ("decisions", "constraints") for one in plan[name] if one["source"] == "assumed"]
    parts = [
        f"# {_line(plan['title'])}",
        f"Version {version}, written from plan.{version}.json; a change to this file is not read by anything.",
        "Planned by the quick way: one milestone, one review." if plan.get("way") == "quick" else "",
        f"Assumed, confirmed by nobody: {', '.join(assumed)}." if assumed else "",
        _section("Request", _block(plan["request"])),
        _section("Context", _block(context["summary"])),
        _items(f"`{_line(one['path'])}`: {_line(one['why'])}" for one in context["files"]),
        _section("Patterns", _items(map(_line, context["patterns"]))),
        _section("Testing", _block(testing["strategy"]), _commands(testing["commands"])),
        _section("Decisions", _items(map(_decision, plan["decisions"]))),
        _section(
            "Rejected",
            _items(f"{one['id']} {_line(one['alternative'])}: {_line(one['reason'])}" for one in plan["rejected"]),
        ),
        _section(
            "Constraints", _items(f"{one['id']} ({one['source']}) {_line(one['text'])}" for one in plan["constraints"])
        ),
        _section(
            "Risks", _items(f"{one['id']} {_line(one['risk'])}: {_line(one['mitigation'])}" for one in plan["risks"])
        ),
        _section("Invisible knowledge", _items(map(_line, plan["invisible_knowledge"]))),
        _section("Waves", _items(_waves(plan))),
        *[milestone_markdown(plan, one) for one in plan["milestones"]],
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def milestone_markdown(plan: Mapping[str, Any], one: Mapping[str, Any], cited: bool = False) -> str:
    """One milestone; ``cited`` adds the decisions that it rests on and every constraint."""
    after = ", ".join(one["depends_on"]) or "nothing"
    parts = [
        f"## {one['id']} {_line(one['title'])}",
        f"Kind: {one['kind']}. After: {after}. Files: " + ", ".join(f"`{_line(path)}`" for path in one["files"]),
        f"Look hardest at: {', '.join(one['flags'])}." if one.get("flags") else "",
        _named("Requirements", map(_line, one["requirements"])),
        _named("Acceptance", map(_line, one["acceptance"])),
        _named("Tests", map(_line, one["tests"])),
        _named("Intent", map(_intent, one["intent"])),
    ]
    if cited:
        names = {name for intent in one["intent"] for name in intent["decisions"]}
        parts.append(_named("Decisions", (_decision(entry) for entry in plan["decisions"] if entry["id"] in names)))
        parts.append(_named("Constraints", (f"{entry['id']} {_line(entry['text'])}" for entry in plan["constraints"])))
        parts.append(_named("Invisible knowledge", map(_line, plan["invisible_knowledge"])))
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
    return f"{one['id']} ({one['source']}) {_line(one['decision'])} Because: " + "; ".join(map(_line, one["reasons"]))


def _intent(one: Mapping[str, Any]) -> str:
    rests = f" ({', '.join(one['decisions'])})" if one["decisions"] else ""
    return f"{one['id']} `{_line(one['file'])}`: {_line(one['behaviour'])}{rests}"


def _change(one: Mapping[str, Any]) -> str:
    fence = "`" * max(3, *[len(run) + 1 for run in re.findall("`+", one["diff"])], 3)
    head = f"{one['id']} `{_line(one['file'])}`"
    parts = [head, f"{fence}diff\n{one['diff'].rstrip(chr(10))}\n{fence}", _items(map(_line, one["comments"]))]
    return "\n\n".join(part for part in parts if part)


def _commands(commands: Mapping[str, Any]) -> str:
    return _items(f"{name}: `{' '.join(map(_line, argv))}`" for name, kind in commands.items() for argv in kind or ())


def _line(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


def _block(text: str) -> str:
    """A text with its lines, none of which is taken for a heading of the plan."""
    return "\n".join(f"> {line}".rstrip() for line in text.strip().split("\n"))

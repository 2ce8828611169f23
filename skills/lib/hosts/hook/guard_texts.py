"""What the hook says for a policy: why a call is denied, or what is to be looked at first, and the way out."""

from __future__ import annotations

from skills.lib.guard.decisions import Deny
from skills.lib.hosts.hook import tools
from skills.lib.hosts.hook.looks import Stuck

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.lib.guard.decisions import Look
    from skills.lib.hosts.hook.event import Event

_BY_A_PERSON = "If it must be done all the same, a person does it at a terminal."
# A text of more tools nobody reads.
_MOST = 12


def answer(given: Deny | Look, event: Event) -> str:
    """Why a call is not made now, and what to do."""
    return _without_tags(_answer(given, event))


def _answer(given: Deny | Look, event: Event) -> str:
    if isinstance(given, Deny):
        shows = f" {_tools(given.tools, event.host)} would change that." if given.tools else ""
        return f"denied, because {given.reason} ({given.where}).{shows} {_BY_A_PERSON}"
    if isinstance(given, Stuck):
        return _stuck(given, event)
    if not given.need:  # it is not certain what a command line runs
        from skills.lib.guard.shell import remedy

        doubt = f"{given.reason}, and a rule of {given.rule} may hold for it"
        return f"look first: {doubt} ({given.where}): {remedy(given.reason)}."
    if not given.missing:
        return f"look first: {given.reason} ({given.where}).{_shown_by(given, event)}"
    places = _listed(given.missing)
    are = "is" if len(given.missing) == 1 else "are"
    how = _shown_by(given, event) if _places(given) else ""
    return f"look first: {places} {are} not known yet ({given.where}).{how}{_unsaid(given)}"


def _stuck(given: Stuck, event: Event) -> str:
    if not given.missing:
        from skills.lib.guard.shell import remedy

        why = given.reason if given.need else f"{given.reason}: {remedy(given.reason)}"
        return f"denied, because {why} ({given.where}). {_BY_A_PERSON}"
    places, are = _listed(given.missing), "is" if len(given.missing) == 1 else "are"
    if not _places(given):
        return f"denied, because {places} {are} still not known ({given.where}).{_unsaid(given)} {_BY_A_PERSON}"
    if given.tools == ("answer",):
        why = "no person answered a question of a run that this agent follows"
        return f"denied, because {places} {are} still not known: {why} ({given.where}). {_BY_A_PERSON}"
    shown = f" though {_tools(given.tools, event.host)} should show it" if given.tools else ""
    alone = "its result does not have it."
    if any(name.startswith("shell(") for name in given.tools):
        alone = (
            "its exit code was not seen. Run it alone and as a whole: with no pipe, ; or || after it, not in the "
            "background, without options or names that leave a part out. If the host does not say how it ended: "
            "lockstep gateway run NAME, of a command in lockstep.gateway.yaml, says so itself."
        )
    return f"denied, because {places} {are} still not known{shown} ({given.where}): {alone} {_BY_A_PERSON}"


def _places(given: Look) -> list[str]:
    """What is missing but for arguments, which no tool shows."""
    return [name for name in given.missing if not name.startswith("$")]


def _unsaid(given: Look) -> str:
    """How arguments become known that the call does not say; empty if none is missing."""
    if len(_places(given)) == len(given.missing):
        return ""
    if not given.rule.startswith("shell("):
        return " The call does not have what begins with $: make it with these arguments."
    return (
        " What begins with $ depends on words that only a shell knows, or on what an earlier command of the line "
        "changes: write the words out, in a line of its own."
    )


def _shown_by(given: Look, event: Event) -> str:
    if not (given.tools or given.missing):
        return ""
    if not given.tools:
        return f" No tool of the policy shows it. {_BY_A_PERSON}"
    how = "shows" if len(given.tools) == 1 else "show"
    is_here = any(name.startswith("shell(") and name[6:-1] in event.command for name in given.tools)
    apart = ", in a call of its own before this one" if is_here else ""
    return f" {_tools(given.tools, event.host)} {how} {'it' if len(given.missing) < 2 else 'them'}{apart}."


def protected(tool: str, path: str) -> str:
    """Why a policy or gateway file is not changed."""
    return (
        f"denied, because {tool[:80]} would change {path}, by which it is decided what agents may do: a person edits "
        "it. Propose the change to the user."
    )


def unusable(error: Exception, event: Event) -> str:
    """That a policy, or its facts, cannot be used, and the way out."""
    lines = getattr(error, "lines", None)
    what = "; ".join(line.strip() for line in lines()) if lines else f"{type(error).__name__}: {error}"
    what = _without_tags(" ".join(what.split()))[:2_000]
    return (
        f"denied, because a policy holds here and cannot be used ({what}). Tools that read and search are "
        f"still allowed. A person at a terminal: lockstep doctor says what is wrong. {_BY_A_PERSON}"
    )


def _without_tags(text: str) -> str:
    """A text that holds no tag: what a project writes into its policy is not to look like the host's own words."""
    first, *others = text.split("<")
    return first + "".join([f"< {part}" if part[:1].isalpha() or part[:1] in "/!?" else f"<{part}" for part in others])


def _listed(names: Sequence[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _tools(names: Sequence[str], host: str) -> str:
    """Tools for a reader on a host: a command line as it is run, a tool with the host's own names."""
    shown = []
    for name in names[:_MOST]:
        if name.startswith("shell(") and name.endswith(")"):
            shown.append(f"`{name[len('shell(') : -1]}`")
        elif name == "answer":
            shown.append("a person's answer to a question of the run")
        else:
            shown.append(tools.named([name], host))
    *most, last = shown
    return f"{', '.join(most)} or {last}" if most else last

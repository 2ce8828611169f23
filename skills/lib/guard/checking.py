"""What is wrong with a policy that compiles: needs that can never be TRUE, and names that nothing tells."""

from __future__ import annotations

from skills.lib.compact_json import ordered
from skills.lib.errors import did_you_mean, nearest
from skills.lib.guard.calls import is_of_shell
from skills.lib.guard.comparing import compared
from skills.lib.guard.expressions import Scope, evaluated, place_text
from skills.lib.guard.places import named, overlap, parts, patterns_read, target_pattern
from skills.lib.guard.truth import is_false
from skills.lib.guard.values import ABSENT, UNKNOWN, Fault, Open
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any

    from skills.lib.guard.compiled import Rule
    from skills.lib.guard.policy import Policy

# What the shell adapter gives for a call of a shell rule.
SHELL_ARGUMENTS = ("args", "paths", "branch", "head", "tree")
# What an answer of a person or an agent is, by the names of its arguments.
ANSWER_ARGUMENTS = ("by", "answer", "step")
# What a call of these tools has in every host, beside the host's own arguments.
COMMON_ARGUMENTS = ("path", "paths", "branch", "head", "tree")
_COMMON = ("read", "search", "edit", "write", "web", "agent", "ask")
# Hosts' own arguments of these tools, some of which are named nearly so.
_OF_HOSTS = frozenset(
    "file_path filePath notebook_path absolute_path dir_path pattern query url prompt content".split()
)
# What the result of a shell call has.
SHELL_RESULT = ("exit", "output")


class Finding(Record):
    """Something wrong with a policy: the rule's name, file and line, what is wrong, what to do."""

    name: str
    tool: str
    file: str
    line: int
    what: str
    remedy: str = ""


def check(
    policy: Policy,
    *,
    offered: Collection[str] | None = None,
    parameters: Mapping[str, Collection[str]] | None = None,
    silent: Mapping[str, str] | None = None,
    host: str = "",
) -> list[Finding]:
    """Everything that is wrong with a policy, in the order of its file.

    ``offered`` names the tools that an agent has (default: those of the policy), ``parameters`` the arguments of each
    tool as far as they are known, ``silent`` the tools whose results ``host`` never reports, each with the reason.
    """
    checker = _Checker(policy, offered, parameters or {}, silent or {}, host)
    findings = [finding for tool in policy.tools for finding in checker.tool(tool)]
    return sorted([*checker.start(), *findings], key=lambda finding: finding.line)


class _Checker:
    """The findings of one policy; holds what all rules of it show and change."""

    def __init__(
        self,
        policy: Policy,
        offered: Collection[str] | None,
        parameters: Mapping[str, Collection[str]],
        silent: Mapping[str, str],
        host: str,
    ) -> None:
        self.policy = policy
        self.parameters = parameters
        self.silent = silent
        self.host = host
        rules = [rule for tool in policy.tools if (rule := policy.rule(tool))]
        self.rules = [rule for rule in rules if offered is None or rule.tool in offered]
        # Each place that is made known: its pattern, the text, the tool, the value.
        self.told = [(target_pattern(one[2]), one[0], "", one[3]) for one in policy.start]
        for rule in self.rules:
            self.told += [(target_pattern(one[2]), one[0], rule.tool, one[3]) for one in _effects(rule)]
        self.told = [one for one in self.told if one[3][0] != "forget"]

    def finding(self, name: str, tool: str, line: int, what: str, remedy: str = "") -> Finding:
        return Finding(name, tool, self.policy.file, line, what, remedy)

    def start(self) -> Iterator[Finding]:
        """What is known at the beginning comes from no call."""
        for text, line, place, value, *_ in self.policy.start:
            for name in [*named("arg", place), *named("arg", value), *named("result", value)]:
                what = "result" if name == "result" else f"${name}"
                yield self.finding(
                    "unknown-argument", "start", line, f"start: {text} reads {what}, but there is no call"
                )

    def tool(self, tool: str) -> Iterator[Finding]:
        """The findings of one rule."""
        rule = self.policy.rule(tool)
        if rule is None:
            return
        meant = _meant_by(tool)
        if meant:
            yield self.finding("malformed-tool", tool, rule.line, f"{tool} names no tool", f"write {meant}")
        contradiction = ""
        for text, line, node, *_ in rule.needs:
            reason = self.never_true(text, node)
            contradiction = contradiction or reason
            if reason:
                yield self.finding("never-true", tool, line, f"the need of {tool} can never be TRUE: {reason}")
            yield from self.names(tool, line, node)
            if not reason:
                yield from self.places(tool, text, line, node)
        for text, line, node in [*rule.sinks, *rule.untrusted]:
            yield from self.names(tool, line, node)
            if [text, line, node] in rule.sinks and not any(one.untrusted for one in self.rules):
                what = f"{tool} keeps text from outside off {text}, but no tool is untrusted"
                yield self.finding("unused-sink", tool, line, what, "add `untrusted: true` to the tools that read it")
        nodes = [(line, value) for _, line, _, value, *_ in _effects(rule)]
        for line, field in [(line, field) for line, node in nodes for field in _fields_of_result(node)]:
            if is_of_shell(tool) and field not in SHELL_RESULT:
                what = f"the result of {tool} has no {field}{did_you_mean(nearest(field, SHELL_RESULT))}"
                yield self.finding("unknown-field", tool, line, what, f"use one of {', '.join(SHELL_RESULT)}")
        for text, line, place, value, *_ in _effects(rule):
            yield from self.names(tool, line, value)
            yield from self.names(tool, line, ["list", parts(place)], f"the place {text}")
            yield from self.values(tool, text, line, value)
        clash = "" if contradiction else _clash(rule, self.policy.params)
        if clash:
            yield self.finding("never-true", tool, rule.line, f"the needs of {tool} exclude each other: {clash}")

    def never_true(self, text: str, node: list[Any]) -> str:
        """Why a need is FALSE whatever the picture is; empty if it is not."""
        for word in ("result", "forget", "absent"):
            if _uses(word, node):
                return f"{text} has {word}, which only shows and changes have"
        value = evaluated(node, Scope(Open(), {}, self.policy.params, _AnyCount(), "/"))
        if not is_false(value) or _asks_known(node):
            return ""
        return value.reason if isinstance(value, Fault) else f"{text} is FALSE of any values"

    def names(self, tool: str, line: int, node: list[Any], where: str = "the rule") -> Iterator[Finding]:
        """Arguments that the tool does not have, and tools that nothing else names."""
        own = SHELL_ARGUMENTS if is_of_shell(tool) else ANSWER_ARGUMENTS if tool == "answer" else None
        known = self.parameters.get(tool) or own
        for name in dict.fromkeys(named("arg", node)):
            if known is not None and name not in known:
                near = did_you_mean("$" + near if (near := nearest(name, known)) else "")
                valid = f"use one of {', '.join('$' + one for one in known)}"
                yield self.finding("unknown-argument", tool, line, f"{where} of {tool} reads ${name}{near}", valid)
            elif known is None and tool in _COMMON and name not in (*COMMON_ARGUMENTS, *_OF_HOSTS):
                meant = nearest(name, COMMON_ARGUMENTS)
                what = f"{where} of {tool} reads ${name}{did_you_mean('$' + meant)}"
                valid = f"every host has {', '.join('$' + one for one in COMMON_ARGUMENTS)}"
                if meant:
                    yield self.finding("unknown-argument", tool, line, what, valid)
        for name in _asked_calls(node):
            if name not in self.policy.tools:
                near = did_you_mean(nearest(name, self.policy.tools))
                what = f"calls({name!r}) asks of a tool that the policy does not have{near}"
                yield self.finding("unknown-tool", tool, line, what, f"add `{name}: {{}}` to tools if it is right")

    def places(self, tool: str, text: str, line: int, node: list[Any]) -> Iterator[Finding]:
        """Places that no tool makes known, or only the call itself, or only tools that the host says nothing of."""
        for how, pattern in patterns_read(node):
            sources = {told[2] for told in self.told if _tells(told[0], told[3], how, pattern)}
            place = place_text(list(pattern))
            if not sources:
                near = nearest(place, [told[1] for told in self.told])
                what = f"no tool shows or changes {place}, which {text} reads{did_you_mean(near)}"
                yield self.finding("unknown-place", tool, line, what, _remedy(place, node))
            elif sources == {tool}:
                what = f"only {tool} itself shows or changes {place}, which it needs to know before"
                yield self.finding("unknown-place", tool, line, what, "name the tool that shows it, or a start value")
            elif "" not in sources and sources - {tool} <= set(self.silent):
                reasons = "; ".join(dict.fromkeys(self.silent[one] for one in sorted(sources - {tool})))
                what = f"{self.host} never shows {place}, which {text} reads: {reasons}"
                yield self.finding("silent-host", tool, line, what, "keep this rule for other hosts")

    def values(self, tool: str, place: str, line: int, node: list[Any]) -> Iterator[Finding]:
        """Places that the value of an effect reads and no tool makes known: often a text without quotes."""
        for _, pattern in patterns_read(node):
            if not any(overlap(told[0], pattern) for told in self.told):
                name = place_text(list(pattern))
                what = f"no tool shows or changes {name}, which the value of {place} of {tool} reads"
                yield self.finding("unknown-place", tool, line, what, f"a text has quotes of its own: \"'{name}'\"")


def _meant_by(tool: str) -> str:
    """The name that a name which is no tool's may mean; empty for one that may be a tool's."""
    kind, bracket, rest = tool.partition("(")
    words = rest.removesuffix(")").strip()
    if kind in ("shell", "mcp") and words and rest.endswith(")"):
        return ""
    if bracket and kind.strip().lower() in ("shell", "mcp"):
        example = "git push" if kind.strip().lower() == "shell" else "SERVER.TOOL"
        return f"{kind.strip().lower()}({words or example})"
    if bracket or len(tool.split()) > 1:
        return f"shell({words or tool.strip()})"
    return ""


def _remedy(place: str, node: list[Any]) -> str:
    """What to do about a place that no tool shows: a single word that is compared may be a text, or a constant."""
    if place.lower() in ("true", "false", "null", "none"):
        return f"write {place.lower()}"
    told = "add it to the shows or changes of a tool"
    return f"{told}; a text has quotes of its own: '{place}'" if place in _compared_words(node) else told


def _compared_words(node: list[Any]) -> list[str]:
    """The places of one name that an expression compares."""
    sides = [node[1], *(part for _, part in node[2])] if node[0] == "cmp" else []
    own = [one[2][0] for one in sides if one[0] == "get" and one[1] == ["root"] and len(one[2]) == 1]
    return [word for word in own if isinstance(word, str)] + [w for part in parts(node) for w in _compared_words(part)]


def _fields_of_result(node: list[Any]) -> list[str]:
    """The fields of the result that an expression reads."""
    own = [node[2][0]] if node[0] == "get" and node[1] == ["result"] and isinstance(node[2][0], str) else []
    return own + [field for part in parts(node) for field in _fields_of_result(part)]


def _effects(rule: Rule) -> list[list[Any]]:
    return [*rule.implies, *rule.shows, *rule.changes, *rule.on_false]


def _tells(pattern: list[str | None], value: list[Any], how: str, read: list[str | None]) -> bool:
    """True if an effect tells something that a read asks for; that a place is there tells nothing of what is inside."""
    if not overlap(pattern, read):
        return False
    return value[:2] != ["call", "present"] or (how == "there" and len(read) <= len(pattern))


def _uses(word: str, node: list[Any]) -> bool:
    return node[0] == word or any(_uses(word, part) for part in parts(node))


def _asks_known(node: list[Any]) -> bool:
    """True if a need asks what is known: it may be FALSE now and TRUE later."""
    return node[:2] == ["call", "known"] or any(_asks_known(part) for part in parts(node))


def _asked_calls(node: list[Any]) -> list[str]:
    own = [node[2][0][1]] if node[:2] == ["call", "calls"] and node[2][0][0] == "const" else []
    return [name for name in own if isinstance(name, str)] + [one for part in parts(node) for one in _asked_calls(part)]


class _AnyCount(dict):  # type: ignore[type-arg]
    """Counts of calls that are not known."""

    def get(self, name: Any, default: Any = None) -> Any:
        return UNKNOWN


def _clash(rule: Rule, params: Mapping[str, Any]) -> str:
    """Two needs that exclude each other; empty if none are found. It sees only what is compared with constants."""
    by_place: dict[str, list[tuple[str, str, Any]]] = {}
    for text, _, node, *_ in rule.needs:
        for key, operator, constant in _conditions(node, params):
            by_place.setdefault(key, []).append((text, operator, constant))
    for conditions in by_place.values():
        for text, operator, constant in conditions:
            for other, against, limit in conditions:
                if operator == "==" and compared(against, constant, limit) is False:
                    return f"{text}; {other}"
                if _is_empty_range(operator, constant, against, limit):
                    return f"{text}; {other}"
    return ""


def _is_empty_range(operator: str, low: Any, against: str, high: Any) -> bool:
    """True if nothing is more than ``low`` and less than ``high``."""
    if operator not in (">", ">=") or against not in ("<", "<="):
        return False
    return compared("<=" if (operator, against) == (">=", "<=") else "<", low, high) is False


_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _conditions(node: list[Any], params: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """What must hold for a need to be TRUE, as far as it compares one thing with a constant."""
    if node[0] == "and":
        for part in node[1]:
            yield from _conditions(part, params)
    elif node[0] in ("get", "arg"):
        yield ordered(node), "==", True
    elif node[0] == "not" and node[1][0] in ("get", "arg"):
        yield ordered(node[1]), "==", False
    elif node[0] == "cmp":
        left = node[1]
        for operator, right in node[2]:
            known = [_constant(part, params) for part in (left, right)]
            if operator in _MIRRORED and known[1] is not UNKNOWN and left[0] in ("get", "arg"):
                yield ordered(left), operator, known[1]
            elif operator in _MIRRORED and known[0] is not UNKNOWN and right[0] in ("get", "arg"):
                yield ordered(right), _MIRRORED[operator], known[0]
            left = right


def _constant(node: list[Any], params: Mapping[str, Any]) -> Any:
    """The value of an expression of constants and parameters; UNKNOWN if it reads anything else."""
    value = evaluated(node, Scope(Open(), {}, params, _AnyCount(), "/"))
    return UNKNOWN if isinstance(value, (Fault, Open)) or value is ABSENT else value

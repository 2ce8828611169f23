"""Makes a policy's YAML text into JSON: expressions parsed, places indexed by the tools that show or change them.

Only a compilation imports this module: it needs ``ast`` and PyYAML.
"""

from __future__ import annotations

from typing import Any

from skills.lib.compact_json import checksum, ordered
from skills.lib.errors import did_you_mean, nearest
from skills.lib.guard.compiled import FORMAT, MODES, seal_of
from skills.lib.guard.faults import PolicyError
from skills.lib.guard.parsing import ExpressionError, parse, parse_place
from skills.lib.guard.places import (
    Pattern,
    at_place,
    merged_reads,
    named,
    overlap,
    parts,
    patterns_read,
    target_pattern,
)
from skills.lib.guard.yaml_text import Block, Text, load

FIELDS = ("params", "start", "mode", "tools")
EFFECTS = ("implies", "shows", "changes", "on_false")
RULE_FIELDS = ("needs", *EFFECTS, "untrusted", "sinks")


def compile_text(text: str, file: str) -> dict[str, Any]:
    """The compiled policy: JSON values only, sealed by a checksum. Raises PolicyError with file and line."""
    policy = load(text, file)
    _check_names(policy, FIELDS, file, "a policy")
    mode = policy.get("mode", "deny")
    if mode not in MODES:
        raise PolicyError(
            f"mode {mode!r} is none" + did_you_mean(nearest(str(mode), MODES)),
            file,
            getattr(mode, "line", policy.line),
            valid=", ".join(MODES),
        )
    params = {str(name): _constant(value) for name, value in _block(policy, "params", file).items()}
    compiler = _Compiler(file, params)
    start = compiler.start(_block(policy, "start", file))
    rules = {str(name): compiler.rule(str(name), rule) for name, rule in _block(policy, "tools", file).items()}
    _name_sources(rules)
    _keep_names(rules)
    nodes = [effect[3] for effect in start] + [node for rule in rules.values() for node in _all_nodes(rule)]
    counted = [name for node in nodes for name in _counted(node)]
    reads = merged_reads([read for node in nodes for read in patterns_read(node)])
    for rule in rules.values():
        _name_unsettled(rule, reads)
    compiled = {
        "format": FORMAT,
        "file": file,
        "source": checksum(text.encode("utf-8", "surrogatepass")),
        "mode": str(mode),
        "params": params,
        "start": start,
        "reads": reads,
        "provenance": any(rule.get("sinks") for rule in rules.values()),
        "counted": None if None in counted else sorted(set(counted)),
        "tools": {name: ordered(rule) for name, rule in rules.items()},
    }
    return {**compiled, "seal": seal_of(compiled)}


def _check_names(block: Block, valid: tuple[str, ...], file: str, what: str) -> None:
    for name in block:
        if name not in valid:
            near = did_you_mean(nearest(name, valid))
            raise PolicyError(
                f"{what} has no {name!r:.60}{near}", file, getattr(name, "line", block.line), valid=", ".join(valid)
            )


def _block(policy: Block, name: str, file: str) -> Block:
    """The mapping of that name; an empty one if it is left out."""
    value = policy.get(name)
    if value is None:
        value = Block()
        value.line = policy.line
    if not isinstance(value, Block):
        raise PolicyError(f"{name} is a mapping", file, getattr(value, "line", policy.line))
    return value


def _constant(value: Any) -> Any:
    """A value of the file as plain JSON."""
    if isinstance(value, dict):
        return {str(key): _constant(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_constant(part) for part in value]
    return str(value) if isinstance(value, str) else value


class _Compiler:
    """Compiles rules; knows the file and the parameters."""

    def __init__(self, file: str, params: dict[str, Any]) -> None:
        self.file = file
        self.params = params

    def rule(self, tool: str, rule: Any) -> dict[str, Any]:
        """One tool's rule."""
        rule = {} if rule is None else rule
        if not isinstance(rule, dict):
            raise PolicyError(f"the rule of {tool} is a mapping", self.file, getattr(rule, "line", 0))
        made: dict[str, Any] = {"line": getattr(rule, "line", 0)}
        if not rule:
            return made
        _check_names(rule, RULE_FIELDS, self.file, f"the rule of {tool}")  # type: ignore[arg-type]
        lines = {str(name): getattr(name, "line", 0) for name in rule}
        made["needs"] = self.needs(tool, rule.get("needs"), lines.get("needs", 0))
        for kind in EFFECTS:
            made[kind] = self.effects(rule.get(kind), f"{kind} of {tool}", lines.get(kind, 0))
        for kind in ("untrusted", "sinks"):
            made[kind] = self.listed(rule.get(kind), f"{kind} of {tool}", lines.get(kind, 0))
        return made

    def needs(self, tool: str, needs: Any, at: int) -> list[list[Any]]:
        """Each need: text, line, expression, the places that it reads."""
        if needs is not None and not isinstance(needs, list):
            needs = [needs]
        made = []
        for need in needs or ():
            line = getattr(need, "line", at)
            text = " ".join(str(need).split()) if isinstance(need, str) else "true" if need is True else ""
            text = "false" if need is False else text
            if not text:
                raise PolicyError(f"a need of {tool} is no expression", self.file, line, remedy="write it in quotes")
            node = self.expression(text, line, f"the need of {tool}")
            made.append([text, line, node, patterns_read(node)])
        return made

    def listed(self, values: Any, what: str, at: int) -> list[list[Any]]:
        """Each expression of a list: text, line, expression; ``true`` is the whole result."""
        if values is None or values is False:
            return []
        made = []
        for value in values if isinstance(values, list) else ["result" if values is True else values]:
            if not isinstance(value, str):
                raise PolicyError(f"{what} is a list of expressions", self.file, at)
            line = getattr(value, "line", at)
            made.append([str(value), line, self.expression(str(value), line, what)])
        return made

    def effects(self, block: Any, what: str, at: int = 0) -> list[list[Any]]:
        """Each effect: text of the place, line, place, value, whether it reads the result, names to leave alone."""
        if block is not None and not isinstance(block, dict):
            raise PolicyError(f"{what} is a mapping of places to values", self.file, at)
        made = []
        for place, value in (block or {}).items():
            line = getattr(place, "line", 0)
            target = self.expression(str(place), line, f"the place in {what}", parse_place)
            is_text = isinstance(value, Text)  # a plain str is taken as it is
            node = self.expression(str(value), value.line, f"the value of {place} in {what}") if is_text else None
            node = node or ["const", _constant(value)]
            made.append([str(place), line, target, node, "result" in named("result", node), []])
        return made

    def start(self, block: Block) -> list[list[Any]]:
        """The effects of the beginning. A text that reads what is not known at the beginning is that text."""
        texts = {}
        for place, value in block.items():
            if isinstance(value, Text):
                try:
                    node = parse(value)
                except ExpressionError:
                    node = ["get", ["root"], [str(value)]]
                known = all(any(_is_told(read[1], str(name)) for name in block) for read in patterns_read(node))
                if not known or _is_date(value):
                    texts[str(place)] = str(value)
        effects = self.effects({place: texts.get(str(place), value) for place, value in block.items()}, "start")
        for effect in effects:
            if effect[0] in texts:
                effect[3] = ["const", texts[effect[0]]]
        return effects

    def expression(self, text: str, line: int, what: str, parser: Any = parse) -> list[Any]:
        """The compiled form of a text."""
        try:
            node: list[Any] = parser(text)
        except ExpressionError as error:
            raise PolicyError(f"{what}, {text!r:.120}, {error}", self.file, line, remedy=error.remedy) from None
        for name in named("param", node):
            if name not in self.params:
                raise PolicyError(
                    f"{what} has %{name}, which is no parameter" + did_you_mean(nearest(name, self.params)),
                    self.file,
                    line,
                    valid=", ".join(self.params) or "the policy has no params",
                )
        return node


def _is_told(pattern: Pattern, place: str) -> bool:
    """True if a value at a place tells of another one, whose pattern this is."""
    try:
        return overlap(target_pattern(parse_place(place)), pattern)
    except ExpressionError:
        return False


def _is_date(text: str) -> bool:
    """True for an ISO date, which would be a subtraction."""
    return text[:4].isdigit() and text[4:5] == "-" and text[5:7].isdigit() and text[7:8] in ("-", "")


def _name_sources(rules: dict[str, dict[str, Any]]) -> None:
    """Append to each place that a need reads the tools that make it known; what lists everything, only alone."""
    effects = [
        (tool, target_pattern(effect[2]), effect[3])
        for kind in ("shows", "changes", "implies", "on_false")
        for tool, rule in rules.items()
        for effect in rule.get(kind, ())
    ]
    for rule in rules.values():
        for need in rule.get("needs", ()):
            for read in need[3]:
                sources = [effect for effect in effects if _tells(*effect[1:], *read[:2])]
                exact = [tool for tool, pattern, _ in sources if pattern]
                read.append(list(dict.fromkeys(exact or [tool for tool, *_ in sources])))


def _tells(pattern: Pattern, value: list[Any], how: str, read: Pattern) -> bool:
    """True if an effect can make a place known, other than by taking it away."""
    if value[0] in ("forget", "absent") or not overlap(pattern, read):
        return False
    return value[:2] != ["call", "present"] or (how == "there" and len(read) <= len(pattern))


def _keep_names(rules: dict[str, dict[str, Any]]) -> None:
    """Give each effect on the whole picture the names that other tools show or change: it leaves them alone."""
    for tool, rule in rules.items():
        for kind in EFFECTS:
            for effect in rule.get(kind, ()):
                if not effect[2][2]:
                    others = [one for name, other in rules.items() if name != tool for one in _effects(other)]
                    effect[5] = sorted({str(target_pattern(one[2])[0]) for one in others if one[2][2]})


def _name_unsettled(rule: dict[str, Any], reads: dict[str, Any]) -> None:
    """Give a rule the places that a call makes UNKNOWN, if all of them are written out and some expression reads each.

    What no expression reads is written only if that changes what is known around it.
    """
    places = [(effect[2][2], effect[5]) for effect in rule.get("changes", ())]
    if places and all(all(isinstance(key, str) for key in path) and at_place(reads, path) for path, _ in places):
        rule["unsettled"] = [[path, keep] for path, keep in places]


def _effects(rule: dict[str, Any]) -> list[list[Any]]:
    return [effect for kind in EFFECTS for effect in rule.get(kind, ())]


def _all_nodes(rule: dict[str, Any]) -> list[list[Any]]:
    """Every expression of a rule whose value it needs: needs, values of effects, keys of their places."""
    nodes = [one[2] for kind in ("needs", "untrusted", "sinks") for one in rule.get(kind, ())]
    for kind in EFFECTS:
        for effect in rule.get(kind, ()):
            nodes += [effect[3], *parts(effect[2])]
    return nodes


def _counted(node: list[Any]) -> list[Any]:
    """The names that ``calls`` asks for; None for one that is computed."""
    own = []
    if node[:2] == ["call", "calls"]:
        own = [node[2][0][1] if node[2][0][0] == "const" else None]
    return own + [name for part in parts(node) for name in _counted(part)]

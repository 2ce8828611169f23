"""What is kept of a policy for ``quick``: which calls it says nothing of, and which rules are decided at once."""

from __future__ import annotations

import marshal

from skills.lib import compact_json, files
from skills.lib.hosts.hook import quick

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from skills.lib.guard.compiled import Rule
    from skills.lib.guard.policy import Policy


def keep(path: str, own: str, policy: Policy, about: str) -> None:
    """Keep the rules on commands of a policy, and its index; ``own`` and ``about`` as in ``quick.keep``."""
    if not about:
        return
    rules = marshal.dumps([policy.params, list(_rules(policy))])
    checksum = compact_json.checksum(rules)
    try:
        files.write(quick.rules_of(checksum), rules)
    except OSError:
        return
    quick.keep(path, own, policy.id, [*_names(policy), quick.RULES + checksum], about)


def keep_gateway(path: str) -> None:
    """Keep the index of a gateway file, which is on the tools alone that edit and write, if there is none."""
    if not quick.index(path)[0]:
        try:
            names = _tools_but({"edit", "write"}) | set(_editing(None))
            quick.keep(path, "gateway", "", names, quick.about_file(path))
        except OSError:
            return


def _rules(policy: Policy) -> Iterator[list[Any]]:
    """Each rule on a command: its words, and what ``quick_commands`` needs of it.

    That is its name and the changes that make UNKNOWN what the command changes, both as JSON, its needs, and whether it
    has effects. A rule of which more must be known has its words alone.
    """
    for name, words in policy.shell_rules():
        rule = policy.rule(name)
        if words and rule:
            forgets = ",".join(map(compact_json.dumps, rule.forgets(policy.id)))
            about = [compact_json.dumps(name), forgets, [need[2] for need in rule.needs], _has_effects(rule)]
            yield [words, *(about if _is_quick(policy, rule) else ())]


def _is_quick(policy: Policy, rule: Rule) -> bool:
    """True if the needs of a rule read nothing that was learned, and what it makes UNKNOWN is known beforehand."""
    reads = any(need[3] for need in rule.needs)
    return not (reads or rule.sinks or policy.counts(rule.tool)) and rule.unsettled is not None


def _has_effects(rule: Rule) -> bool:
    """True if a rule learns from the result of a call."""
    return bool(rule.shows or rule.changes or rule.implies or rule.on_false or rule.untrusted)


def _tools_but(rules: set[str]) -> set[str]:
    """The hosts' names of the tools that the table has, but for those that one of these rules is on.

    On some hosts a tool of an MCP server may have the name of a host's own: ``mcp(web.search)`` is ``web_search``.
    """
    from skills.lib.hosts.hook.tools import ALSO, FREE, TABLE

    named = {own: name for name, hosts in TABLE.items() for names in hosts.values() for own in names} | ALSO
    concerned = {own for name, hosts in TABLE.items() if name in rules for names in hosts.values() for own in names}
    free = ({own for own, name in named.items() if name not in rules} | FREE) - concerned - rules
    return {own for own in free if not _is_mcp(own, rules)}


def _is_mcp(own: str, rules: Iterable[str]) -> bool:
    """True if one of these rules is on a tool of an MCP server that some host calls so."""
    from skills.lib.hosts.hook.tools import HOSTS, is_mcp_call

    return any(is_mcp_call(name, host, own) for name in rules if name.startswith("mcp(") for host in HOSTS)


def _names(policy: Policy) -> list[str]:
    """The names of an index: the hosts' of tools that a policy says nothing of, and the programs that it has rules on.

    Tools that change files are none of them: they could change the policy itself.
    """
    from skills.lib.hosts.hook.tools import TABLE

    free = _tools_but({*policy.tools, "edit", "write", "shell"})
    ruled = set(_ruled_names(policy))
    shells = set() if "shell" in policy.tools else {own for names in TABLE["shell"].values() for own in names}
    plain = {f"shell {own}" for own in shells - set(policy.tools) if not _is_mcp(own, policy.tools)}
    return sorted(free | ruled | plain | set(_editing(policy)))


def _ruled_names(policy: Policy) -> Iterator[str]:
    """The names of an index for the rules on commands."""
    for name, words in policy.shell_rules():
        rule = policy.rule(name)
        if words and rule:
            mark = quick.LEARNING if _has_effects(rule) else quick.RULED
            yield f"{mark if _is_quick(policy, rule) else quick.ASKING} {_ruled(words)}"


def _editing(policy: Policy | None) -> Iterator[str]:
    """The names of an index for the tools that edit or write, if all that a policy says of them is known beforehand."""
    from skills.lib.hosts.hook.tools import TABLE

    tools = policy.tools if policy else ()
    for canonical in ("edit", "write"):
        rule = policy.rule(canonical) if policy else None
        if rule and (rule.needs or rule.sinks or rule.on_false or not rule.only_forgets):
            continue
        if policy and policy.counts(canonical):
            continue
        for own in {own for names in TABLE[canonical].values() for own in names}:
            meant = [name for name, hosts in TABLE.items() if any(own in names for names in hosts.values())]
            is_ruled = own in tools or _is_mcp(own, tools)
            if meant == [canonical] and (own == canonical or not is_ruled):
                changes = rule.forgets(policy.id) if policy and rule else []
                listed = [compact_json.dumps(change) for change in changes] or [""] * bool(rule)
                yield "\t".join([f"{quick.EDITING}{own} {canonical}", *listed])


def _ruled(rule: Sequence[str]) -> str:
    """The program that a rule is on, with its command if the rule has one."""
    from skills.lib.guard.shell_parts import base

    return " ".join([base(rule[0]), *[word for word in rule[1:] if word[:1] != "-"][:1]])

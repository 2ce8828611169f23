"""What policies learn: from the results of calls, from people's answers, and from what the user says."""

from __future__ import annotations

import os

from skills.lib.hosts.hook import facts
from skills.lib.hosts.hook.evidence import EDITS, Evidence
from skills.lib.hosts.hook.guarding import is_unconcerned, key_of, policy_of, sources_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from skills.lib.guard.calls import Call
    from skills.lib.guard.compiled import Rule
    from skills.lib.hosts.hook.event import Event
    from skills.lib.hosts.hook.followed import Status
    from skills.lib.hosts.hook.looks import Record
    from skills.lib.hosts.hook.results import Result

# Records of these kinds stay when the facts are written anew.
_KEPT = ("policy", "lost")


def learn(event: Event, statuses: Sequence[Status]) -> None:
    """Keep what the result of a call showed or changed; nothing is said, for a result that is lost only hides."""
    kept = set(facts.names())
    concerned = [one for one in sources_of(event, statuses) if one.facts in kept and not is_unconcerned(event, one)]
    if not concerned:
        return
    from skills.lib.hosts.hook import results
    from skills.lib.hosts.hook.calls import of_event

    is_shell = bool(event.command)
    result = results.of_shell(event.host, event.payload) if is_shell else results.of_tool(event.payload)
    key = key_of(event)
    if is_shell and result.value["exit"] is None:
        result.value["exit"] = _exit_of_gateway(event)
    for source in concerned:
        policy = policy_of(source)
        meant = of_event(event, policy, has_run=True)
        if meant:
            with facts.Facts(source.facts) as opened:
                _learn(Evidence(source, policy, opened, event.trees), meant, key, result)


def _exit_of_gateway(event: Event) -> int | None:
    """How a command of the gateway ended, by what ``lockstep gateway run`` kept; None for any other line."""
    words = event.words
    at = next((number + 1 for number, word in enumerate(words[:2]) if os.path.basename(word) == "lockstep"), 0)
    if not at or words[at : at + 2] != ["gateway", "run"]:
        return None
    from skills.lib import gateway_results, paths  # few hosts leave an exit code out

    return gateway_results.take(words[at:], paths.project_root(event.folder))


def hear(event: Event, statuses: Sequence[Status]) -> None:
    """Keep what the user says, for the policies by which it matters where a value comes from."""
    for source in sources_of(event, statuses):
        policy = policy_of(source)
        if policy.provenance:
            with facts.Facts(source.facts) as opened:
                evidence = Evidence(source, policy, opened, event.trees)
                opened.append(evidence.guard.heard(event.prompt))


def _learn(evidence: Evidence, calls: Sequence[Call], call: str, result: Result) -> None:
    """Keep what the result of an event's calls showed or changed, once: the hook may be installed twice."""
    records = evidence.facts.records
    key = _admitted_key(evidence, call, calls)
    if evidence.has_ended(key) or (call[:1] == "?" and evidence.has_ended(call, "event")):
        return
    evidence.ending = key
    changes: list[Record] = []
    _settle_trees(records, calls, key)
    for number, one in enumerate(calls):
        changes += _learned(evidence, one, f"{key}#{number}", result)
    from skills.lib.guard.compiled import UNKNOWN_FACT  # most results concern no rule

    written = [change for change in changes if "at" in change]
    known = [_place(change["at"]) for change in written if change["is"] != UNKNOWN_FACT]
    tools = [one.rule for one in calls]
    ended = {"kind": "ended", "call": key, "event": call, "ok": result.ok, "tools": tools, "known": known}
    evidence.facts.append([ended, *changes])
    evidence.keep_tree([change["at"] for change in written], calls)
    if evidence.facts.is_long:
        _shorten(evidence)


def _settle_trees(records: Sequence[Record], calls: Sequence[Call], key: str) -> None:
    """Tell on which content a command ran: one that was edited meanwhile is not known.

    A line that may change it after the command has changed nothing if the content is what it was before.
    """
    at = next((at for at, one in enumerate(records) if one.get("kind") == "admitted" and one["call"] == key), None)
    begun: Record = {} if at is None else records[at]
    later = [] if at is None else [one for one in records[at + 1 :] if one.get("kind") in ("admitted", "ended")]
    is_edited = any(tool in EDITS for one in later for tool in one["tools"])
    for number, one in enumerate(calls):
        before = begun.get("trees", {}).get(str(number))
        if isinstance(one.arguments, dict) and is_edited:
            from skills.lib.guard.values import UNKNOWN

            one.arguments["tree"] = UNKNOWN
        elif isinstance(one.arguments, dict) and before and one.tree_now and one.tree_now() == before:
            one.arguments["tree"] = before


def _learned(evidence: Evidence, one: Call, key: str, result: Result) -> list[Record]:
    """The changes by one call; one that may not have run, or not to its end, only makes places UNKNOWN."""
    rule = evidence.policy.rule(one.rule)
    if rule is None:
        return []
    from skills.lib.guard.calls import is_of_shell

    value, ok = result.value, result.ok
    if is_of_shell(one.rule):
        if one.doubt or not one.is_evidence or not ok:
            return _unsettled(evidence, one, rule)
        from skills.lib.guard.values import UNKNOWN

        code = one.exit_of(value["exit"]) if one.exit_of else value["exit"]
        value = {"output": value["output"], "exit": UNKNOWN if code is None else code}
        ok = code in (0, None)
    elif ok and rule.only_forgets and not evidence.policy.counts(one.rule) and not _may_be_false(value):
        return _unsettled(evidence, one, rule)
    return evidence.guard.learn_rule(one.rule, one.arguments, ok, value, key)


def _unsettled(evidence: Evidence, one: Call, rule: Rule) -> list[Record]:
    changes = evidence.unsettled(one, rule)
    evidence.apply(changes)
    return changes


def _may_be_false(value: Any) -> bool:
    """True if a result may say that nothing was changed."""
    return value is False or (isinstance(value, str) and value.strip().lower() == "false")


def _place(keys: list[Any]) -> str:
    from skills.lib.guard.expressions import place_text

    return place_text(keys)


def _admitted_key(evidence: Evidence, call: str, calls: Sequence[Call]) -> str:
    """The id by which a call was admitted; a host without ids ends the first of those tools that has not ended."""
    if not call.startswith("?"):
        same = evidence.with_id(call)
        return str(same[-1]["call"]) if same else call
    records = evidence.facts.records
    tools = [one.rule for one in calls]
    ended = {record["call"] for record in records if record.get("kind") == "ended"}
    digest = call.partition("@")[0]
    for record in [record for record in records if record.get("kind") == "admitted"]:
        if record["call"].startswith(digest) and record["tools"] == tools and record["call"] not in ended:
            return str(record["call"])
    return call


def _shorten(evidence: Evidence) -> None:
    """Write the file anew with what its records come to."""
    from skills.lib.hosts.hook.looks import open_looks  # a file becomes long seldom

    records = evidence.facts.records
    ended = {record["call"] for record in records if record.get("kind") == "ended"}
    kept = [record for record in records if record.get("kind") in _KEPT]
    open_calls = [
        {**record, "forgets": []}
        for record in records
        if record.get("kind") == "admitted" and record["call"] not in ended
    ][-100:]
    latest = [record for record in records if record.get("kind") in ("tree", "answers")]
    last = {(record["kind"], record.get("run")): record for record in latest}
    looks = [{**one, "came": False} for one in open_looks(records)][-20:]
    evidence.facts.rewrite([*kept, *evidence.guard.facts(), *open_calls, *looks, *last.values()])

"""One policy with its facts: decides the calls of an event, and learns from their results.

Records of the file of facts that have a ``kind`` are of the hook, the others are changes of the guard:

    policy    the file, its root and the checksum of its text; the first record
    admitted  a call, with what it makes UNKNOWN until its result comes, and the content of the working tree where the
              line may change it after a command that counts
    ended     the result of that call came
    look      a call was answered by "look first": its rule, the places, the tools that show them
    tree      the content of the working tree when a place was written that an edit makes UNKNOWN
    answers   up to which event of the ledger the answers of people are known
    lost      the file took the place of a damaged one: nothing that was counted is known
"""

from __future__ import annotations

import time

from skills.lib import compact_json
from skills.lib.guard.decisions import Allow, Deny, Look
from skills.lib.guard.expressions import place_text
from skills.lib.guard.guard import Guard
from skills.lib.guard.picture import encoded
from skills.lib.guard.places import overlap, target_pattern
from skills.lib.guard.values import UNKNOWN
from skills.lib.hosts.hook.facts import LOST, forget_old

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from skills.lib.guard.calls import Call
    from skills.lib.guard.policy import Policy
    from skills.lib.hosts.hook.facts import Facts
    from skills.lib.hosts.hook.policies import Source
    from skills.lib.hosts.hook.results import Result

    Record = dict[str, Any]

# How often one rule is answered by "look first" for the same place; then the call is denied.
LOOKS = 2
_EDITS = ("edit", "write")
# Records of these kinds stay when the facts are written anew.
_KEPT = ("policy", "lost")
_UNKNOWN = encoded(UNKNOWN)


class Stuck(Look):
    """A look that led to nothing: a tool that should have shown the places has succeeded, or it was asked for twice."""


class Evidence:
    """A policy and what is known for it; ``facts`` is locked while this is used."""

    __slots__ = ("_edited", "facts", "guard", "policy", "source")

    def __init__(self, source: Source, policy: Policy, facts: Facts) -> None:
        self.source = source
        self.policy = policy
        self.facts = facts
        self._edited: list[list[str | None]] | None = None
        if not facts.records or facts.records[0].get("digest") != policy.id:
            about = {"path": source.path, "root": source.root, "run": source.run, "digest": policy.id}
            lost = [LOST] if LOST in facts.records else []
            if facts.records in ([], [LOST]):
                forget_old()
                facts.rewrite([{"kind": "policy", **about}, *lost])
            else:  # the policy was changed: what was counted stays, what was known was known by other rules
                counts = [record for record in facts.records if "count" in record]
                facts.rewrite([{"kind": "policy", **about}, *lost, *counts])
        self.guard = Guard([policy], self._known(), folder=source.root)

    def decide(self, calls: Sequence[Call], call: str) -> tuple[Allow | Deny | Look, list[Record]]:
        """The strictest answer to the calls of an event, and the records to keep if the event is allowed."""
        same = self._with_id(call)
        if same and same[-1]["tools"] == [one.rule for one in calls] and not self._has_ended(same[-1]["call"]):
            return Allow(), []  # the host asks twice if the hook is installed twice
        call = f"{call}~{len(same)}" if same else call  # some models give an id to several calls
        self._notice_edits(calls)
        answers: list[Allow | Deny | Look] = []
        forgets: list[Record] = []
        for number, one in enumerate(calls):
            answer = self._decided(one, f"{call}#{number}")
            if isinstance(answer, Deny):
                return answer, []
            answers.append(answer)
            forgets += self.guard.unsettled(one.rule, one.arguments)
        look = next((answer for answer in answers if isinstance(answer, Look)), None)
        if look is not None:
            return self._looked(look)
        allowed = [answer for answer in answers if isinstance(answer, Allow)]
        changes = [change for answer in allowed for change in answer.changes]
        reported = next((answer.reported for answer in allowed if answer.reported is not None), None)
        admitted: Record = {"kind": "admitted", "call": call, "tools": [one.rule for one in calls], "forgets": forgets}
        trees = {str(at): one.tree_now() for at, one in enumerate(calls) if one.tree_now and one.is_evidence}
        return Allow((), reported), [{**admitted, "trees": trees} if trees else admitted, *changes]

    def _decided(self, one: Call, key: str) -> Allow | Deny | Look:
        """The answer to one call; a call that is only possible must be told apart first."""
        rule = self.policy.rule(one.rule)
        if rule is None:
            return Allow()
        if one.doubt and rule.needs:
            look = Look(one.rule, "", (), (), one.doubt, f"{self.policy.file}:{rule.line}")
            return Allow((), look) if self.policy.mode == "report" else look
        if one.doubt:
            return Allow()
        need = next((need for need in rule.needs if LOST in self.facts.records and "calls(" in need[0]), None)
        if need is not None and self.policy.mode != "report":
            why = "how often it was called is not known, because the facts of this policy were damaged"
            return Deny(one.rule, need[0], why, (), f"{self.policy.file}:{need[1]}")
        return self.guard.decide_rule(one.rule, one.arguments, key)

    def _looked(self, look: Look) -> tuple[Allow | Deny | Look, list[Record]]:
        """A look with the record of it; a Stuck one if a place of it was asked for before and nothing came of it."""
        before = [one for one in self._open_looks() if (one["rule"], one["need"]) == (look.rule, look.need)]
        same = [
            one for one in before if set(one["missing"]) & set(look.missing) or not (one["missing"] or look.missing)
        ]
        if len(same) < LOOKS and not any(one["came"] for one in same):
            about = {"rule": look.rule, "need": look.need, "missing": list(look.missing), "tools": list(look.tools)}
            return look, [{"kind": "look", **about}]
        if self.policy.mode == "look":  # which only asks to look, and denies nothing
            return Allow((), look), []
        return Stuck(look.rule, look.need, look.missing, look.tools, look.reason, look.where), []

    def _open_looks(self) -> list[Record]:
        """The looks with the places that did not become known since; ``came`` if a tool that shows them succeeded."""
        found: list[Record] = []
        for record in self.facts.records:
            if record.get("kind") == "look":
                found.append({**record, "came": False})
            elif record.get("kind") == "ended":
                for one in found:
                    one["came"] = one["came"] or bool(record["ok"] and set(record["tools"]) & set(one["tools"]))
                    left = [place for place in one["missing"] if not _is_in(place, record["known"])]
                    if left != one["missing"]:
                        one["missing"], one["is_over"] = left, not left
                found = [one for one in found if not one.get("is_over")]
        return found

    def learn(self, calls: Sequence[Call], call: str, result: Result) -> None:
        """Keep what the result of an event's calls showed or changed, once: the hook may be installed twice."""
        key = self._admitted_key(call, calls)
        if self._has_ended(key) or (call[:1] == "?" and self._has_ended(call, "event")):
            return
        self.guard = Guard([self.policy], self._known(but=key), folder=self.source.root)
        changes: list[Record] = []
        self._settle_trees(calls, key)
        for number, one in enumerate(calls):
            changes += self._learned(one, f"{key}#{number}", result)
        written = [change for change in changes if "at" in change]
        known = [place_text(change["at"]) for change in written if change["is"] != _UNKNOWN]
        tools = [one.rule for one in calls]
        ended = {"kind": "ended", "call": key, "event": call, "ok": result.ok, "tools": tools, "known": known}
        self.facts.append([ended, *changes])
        self._keep_tree([change["at"] for change in written], calls)
        if self.facts.is_long:
            self._shorten()

    def _settle_trees(self, calls: Sequence[Call], key: str) -> None:
        """Tell on which content a command ran: one that was edited meanwhile is not known.

        A line that may change it after the command has changed nothing if the content is what it was before.
        """
        records = self.facts.records
        at = next((at for at, one in enumerate(records) if one.get("kind") == "admitted" and one["call"] == key), None)
        begun: Record = {} if at is None else records[at]
        later = [] if at is None else [one for one in records[at + 1 :] if one.get("kind") in ("admitted", "ended")]
        is_edited = any(tool in _EDITS for one in later for tool in one["tools"])
        for number, one in enumerate(calls):
            before = begun.get("trees", {}).get(str(number))
            if isinstance(one.arguments, dict) and is_edited:
                one.arguments["tree"] = UNKNOWN
            elif isinstance(one.arguments, dict) and before and one.tree_now and one.tree_now() == before:
                one.arguments["tree"] = before

    def keep(self, changes: list[Record], about: Record) -> None:
        """Keep changes that the guard has made already, with a record of what they come from."""
        self.facts.append([*changes, about])
        self._keep_tree([change["at"] for change in changes if "at" in change], ())

    def _learned(self, one: Call, key: str, result: Result) -> list[Record]:
        """The changes by one call; one that may not have run, or not to its end, only makes places UNKNOWN."""
        value, ok = result.value, result.ok
        if one.rule.startswith("shell"):
            if one.doubt or not one.is_evidence or not ok:
                changes = self.guard.unsettled(one.rule, one.arguments)
                self.guard.apply(changes)
                return changes
            code = one.exit_of(value["exit"]) if one.exit_of else value["exit"]
            value = {"output": value["output"], "exit": UNKNOWN if code is None else code}
            ok = code in (0, None)
        return self.guard.learn_rule(one.rule, one.arguments, ok, value, key)

    def _known(self, but: str = "") -> list[Record]:
        return known(self.facts.records, but)

    def _admitted_key(self, call: str, calls: Sequence[Call]) -> str:
        """The id by which a call was admitted; a host without ids ends the first of those tools that has not ended."""
        if not call.startswith("?"):
            same = self._with_id(call)
            return str(same[-1]["call"]) if same else call
        tools = [one.rule for one in calls]
        ended = {record["call"] for record in self.facts.records if record.get("kind") == "ended"}
        admitted = [record for record in self.facts.records if record.get("kind") == "admitted"]
        digest = call.partition("@")[0]
        for record in admitted:
            if record["call"].startswith(digest) and record["tools"] == tools and record["call"] not in ended:
                return str(record["call"])
        return call

    def _with_id(self, call: str) -> list[Record]:
        """The admitted calls to which the host gave an id, oldest first."""
        admitted = [record for record in self.facts.records if record.get("kind") == "admitted"]
        return [record for record in admitted if record["call"] == call or record["call"].startswith(f"{call}~")]

    def _has_ended(self, call: str, field: str = "call") -> bool:
        return any(record.get("kind") == "ended" and record[field] == call for record in self.facts.records)

    def _notice_edits(self, calls: Sequence[Call]) -> None:
        """Learn that the working tree was edited, by whatever, if a need reads a place that an edit changes."""
        rules = [self.policy.rule(one.rule) for one in calls if one.rule not in _EDITS]
        reads = [read[1] for rule in rules if rule for need in rule.needs for read in need[3]]
        if not any(overlap(one, other) for one in self._edit_places() for other in reads):
            return
        last = next((record for record in reversed(self.facts.records) if record.get("kind") == "tree"), None)
        if last is None:
            return
        now = self._tree()
        if now is not None and now == last["is"]:
            return
        changes = [change for tool in _EDITS for change in self.guard.learn(tool, {}, True, UNKNOWN) if "at" in change]
        self.facts.append([*changes, {"kind": "tree", "is": now}])

    def _keep_tree(self, written: list[list[Any]], calls: Sequence[Call]) -> None:
        """Keep the content of the working tree if a place was written that an edit changes."""
        is_edit = any(one.rule in _EDITS for one in calls)
        places = self._edit_places() if written and not is_edit else []
        if any(overlap(place, [str(key) for key in path]) for place in places for path in written):
            self.facts.append([{"kind": "tree", "is": self._tree()}])

    def _edit_places(self) -> list[list[str | None]]:
        """The patterns of the places that an edit changes."""
        if self._edited is None:
            rules = [rule for rule in map(self.policy.rule, _EDITS) if rule]
            self._edited = [target_pattern(effect[2]) for rule in rules for effect in rule.changes]
        return self._edited

    def _tree(self) -> str | None:
        from skills.lib.guard import worktree  # few rules ask for it

        return worktree.tree(self.source.root)

    def reads_of(self, calls: Sequence[Call], tool: str) -> bool:
        """True if a need of the calls reads a place that a tool shows or changes."""
        rules = [self.policy.rule(one.rule) for one in calls]
        return any(tool in read[2] for rule in rules if rule for need in rule.needs for read in need[3])

    def _shorten(self) -> None:
        """Write the file anew with what its records come to."""
        ended = {record["call"] for record in self.facts.records if record.get("kind") == "ended"}
        kept = [record for record in self.facts.records if record.get("kind") in _KEPT]
        open_calls = [
            {**record, "forgets": []}
            for record in self.facts.records
            if record.get("kind") == "admitted" and record["call"] not in ended
        ][-100:]
        latest = [record for record in self.facts.records if record.get("kind") in ("tree", "answers")]
        last = {(record["kind"], record.get("run")): record for record in latest}
        looks = [{**one, "came": False} for one in self._open_looks()][-20:]
        self.facts.rewrite([*kept, *self.guard.facts(), *open_calls, *looks, *last.values()])


def known(records: Sequence[Record], but: str = "") -> list[Record]:
    """The changes of the guard, and what the calls make UNKNOWN whose results have not come, ``but`` one."""
    ended = {but, *(record["call"] for record in records if record.get("kind") == "ended")}
    found: list[Record] = []
    for record in records:
        if "kind" not in record:
            found.append(record)
        elif record["kind"] == "admitted" and record["call"] not in ended:
            found += record["forgets"]
    return found


def key_of(event_id: str, host: str, tool: str, arguments: object, when: str) -> str:
    """The key of a call: the host's id, or for a host without ids a digest with the time of its event."""
    return event_id or f"?{compact_json.digest([host, tool, arguments])}@{when or time.time_ns()}"


def _is_in(place: str, known: Sequence[str]) -> bool:
    """True if one of the known places is this one, or around it."""
    return any(place == one or one == "." or place.startswith((f"{one}.", f"{one}[")) for one in known)

"""One policy with its facts: decides the calls of an event. ``learning`` has what it learns from their results.

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

from skills.lib.hosts.hook.facts import LOST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from skills.lib.guard.calls import Call
    from skills.lib.guard.compiled import Rule
    from skills.lib.guard.decisions import Deny, Look
    from skills.lib.guard.guard import Guard
    from skills.lib.guard.policy import Policy
    from skills.lib.hosts.hook.event import Trees
    from skills.lib.hosts.hook.facts import Facts
    from skills.lib.hosts.hook.looks import Decided, Record
    from skills.lib.hosts.hook.policies import Source

EDITS = ("edit", "write")


class Evidence:
    """A policy and what is known for it; ``facts`` is locked while this is used."""

    __slots__ = ("_edited", "_guard", "_pending", "ending", "facts", "policy", "source", "trees")

    def __init__(self, source: Source, policy: Policy, facts: Facts, trees: Trees) -> None:
        self.source = source
        self.policy = policy
        self.facts = facts
        self.trees = trees
        self.ending = ""  # the call whose result is being learned
        self._guard: Guard | None = None
        self._pending: list[Record] = []
        self._edited: list[list[str | None]] | None = None
        if not facts.records or facts.records[0].get("digest") != policy.id:
            self._begin()

    def _begin(self) -> None:
        """Begin the facts, or keep of those by another policy what was counted."""
        facts, source = self.facts, self.source
        about = {"path": source.path, "root": source.root, "run": source.run, "digest": self.policy.id}
        lost = [LOST] if LOST in facts.records else []
        if facts.records in ([], [LOST]):
            from skills.lib.hosts.hook.facts import forget_old

            forget_old()
            facts.rewrite([{"kind": "policy", **about}, *lost])
        else:  # the policy was changed: what was counted stays, what was known was known by other rules
            counts = [record for record in facts.records if "count" in record]
            facts.rewrite([{"kind": "policy", **about}, *lost, *counts])

    @property
    def guard(self) -> Guard:
        """The guard of the policy with all that is known; a rule without needs asks for none."""
        if self._guard is None:
            from skills.lib.guard.guard import Guard

            self._guard = Guard(
                [self.policy], [*known(self.facts.records, self.ending), *self._pending], folder=self.source.root
            )
        return self._guard

    def apply(self, changes: list[Record]) -> None:
        """Have the guard know changes that are not among the facts yet."""
        if self._guard is None:
            self._pending += changes
        else:
            self._guard.apply(changes)

    def decide(self, calls: Sequence[Call], call: str) -> Decided:
        """What stands against the calls of an event, what is only reported, and the records to keep."""
        same = self.with_id(call)
        if same and same[-1]["tools"] == [one.rule for one in calls] and not self.has_ended(same[-1]["call"]):
            return None, None, []  # the host asks twice if the hook is installed twice
        call = f"{call}~{len(same)}" if same else call  # some models give an id to several calls
        self._notice_edits(calls)
        look: Look | None = None
        reported: Deny | Look | None = None
        forgets: list[Record] = []
        changes: list[Record] = []
        for number, one in enumerate(calls):
            rule = self.policy.rule(one.rule)
            if rule is None:
                continue
            against, would, counted = self._decided(one, rule, f"{call}#{number}")
            if against is not None:
                from skills.lib.guard.decisions import Deny

                if isinstance(against, Deny):
                    return against, None, []
                look = look or against
            reported = reported or would
            changes += counted
            forgets += self.unsettled(one, rule)
        if look is not None:
            from skills.lib.hosts.hook import looks  # most calls are allowed

            return looks.answer(self.facts.records, self.policy.mode, look)
        admitted: Record = {"kind": "admitted", "call": call, "tools": [one.rule for one in calls], "forgets": forgets}
        trees = {str(at): one.tree_now() for at, one in enumerate(calls) if one.tree_now and one.is_evidence}
        return None, reported, [{**admitted, "trees": trees} if trees else admitted, *changes]

    def _decided(self, one: Call, rule: Rule, key: str) -> Decided:
        """The decision of one call; a call that is only possible must be told apart first."""
        if one.doubt or (rule.needs and LOST in self.facts.records):
            from skills.lib.hosts.hook import looks

            against = looks.of_doubt(one, rule, self.policy) if one.doubt else looks.of_lost(one, rule, self.policy)
            if one.doubt or against is not None:
                return (None, against, []) if self.policy.mode == "report" else (against, None, [])
        if not (rule.needs or rule.sinks or self.policy.counts(one.rule)):
            return None, None, []
        from skills.lib.guard.decisions import Allow

        answer = self.guard.decide_rule(one.rule, one.arguments, key)
        if isinstance(answer, Allow):
            return None, answer.reported, list(answer.changes)
        return answer, None, []

    def unsettled(self, one: Call, rule: Rule) -> list[Record]:
        """The changes that make UNKNOWN what a call may change."""
        if rule.unsettled is None:
            return self.guard.unsettled(one.rule, one.arguments)
        return rule.forgets(self.policy.id)

    def with_id(self, call: str) -> list[Record]:
        """The admitted calls to which the host gave an id, oldest first."""
        admitted = [record for record in self.facts.records if record.get("kind") == "admitted"]
        return [record for record in admitted if record["call"] == call or record["call"].startswith(f"{call}~")]

    def has_ended(self, call: str, field: str = "call") -> bool:
        """True if the result of a call came: by its id here, or by that of its event."""
        return any(record.get("kind") == "ended" and record[field] == call for record in self.facts.records)

    def _notice_edits(self, calls: Sequence[Call]) -> None:
        """Learn that the working tree was edited, by whatever, if a need reads a place that an edit changes."""
        rules = [self.policy.rule(one.rule) for one in calls if one.rule not in EDITS]
        reads = [read[1] for rule in rules if rule for need in rule.needs for read in need[3]]
        if not reads:
            return
        from skills.lib.guard.places import overlap

        if not any(overlap(one, other) for one in self.edit_places() for other in reads):
            return
        last = next((record for record in reversed(self.facts.records) if record.get("kind") == "tree"), None)
        if last is None:
            return
        now = self.trees.of(self.source.root)
        if now is not None and now == last["is"]:
            return
        from skills.lib.guard.values import UNKNOWN

        changes = [change for tool in EDITS for change in self.guard.learn(tool, {}, True, UNKNOWN) if "at" in change]
        self.facts.append([*changes, {"kind": "tree", "is": now}])

    def keep(self, changes: list[Record], about: Record) -> None:
        """Keep changes that the guard has made already, with a record of what they come from."""
        self.facts.append([*changes, about])
        self.keep_tree([change["at"] for change in changes if "at" in change], ())

    def keep_tree(self, written: list[list[Any]], calls: Sequence[Call]) -> None:
        """Keep the content of the working tree if a place was written that an edit changes."""
        if not written or any(one.rule in EDITS for one in calls):
            return
        from skills.lib.guard.places import overlap

        if any(overlap(place, [str(key) for key in path]) for place in self.edit_places() for path in written):
            self.facts.append([{"kind": "tree", "is": self.trees.of(self.source.root)}])

    def edit_places(self) -> list[list[str | None]]:
        """The patterns of the places that an edit changes."""
        if self._edited is None:
            from skills.lib.guard.places import target_pattern

            rules = [rule for rule in map(self.policy.rule, EDITS) if rule]
            self._edited = [target_pattern(effect[2]) for rule in rules for effect in rule.changes]
        return self._edited

    def reads_of(self, calls: Sequence[Call], tool: str) -> bool:
        """True if a need of the calls reads a place that a tool shows or changes."""
        rules = [self.policy.rule(one.rule) for one in calls]
        return any(tool in read[2] for rule in rules if rule for need in rule.needs for read in need[3])


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

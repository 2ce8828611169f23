"""The guard: ``decide`` whether a tool may be called, ``learn`` from what it gave."""

from __future__ import annotations

import os

from skills.lib.guard.calls import is_line, is_of_shell
from skills.lib.guard.decisions import Allow, Deny, Look, strictest
from skills.lib.guard.expressions import Scope, evaluated
from skills.lib.guard.picture import Picture, decoded, encoded
from skills.lib.guard.truth import is_false
from skills.lib.guard.values import UNKNOWN, Fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from skills.lib.guard.compiled import Rule
    from skills.lib.guard.explaining import Explained
    from skills.lib.guard.policy import Policy
    from skills.lib.guard.provenance import Provenance

    Change = dict[str, Any]


class Guard:
    """Decides by one or more policies, all of which must allow a call; each has a picture of its own.

    ``facts`` are the changes that ``decide`` and ``learn`` of the same session gave, in order. ``folder`` is where
    relative paths begin; ``offered`` names the tools that the agent has (default: all).
    """

    def __init__(
        self,
        policies: Sequence[Policy],
        facts: Iterable[Change] = (),
        *,
        folder: str = "",
        offered: Collection[str] | None = None,
    ) -> None:
        self.policies = list({policy.id: policy for policy in policies}.values())
        self.folder = folder or os.getcwd()
        self.offered = offered
        self.counts: dict[str, int] = {}
        self._pictures: dict[str, Picture] = {}
        self._admitted: dict[str, list[str]] = {}
        self._provenance: dict[str, Provenance] = {}
        for policy in self.policies:
            self._begin(policy)
        for change in facts:
            self._apply(change)

    def _begin(self, policy: Policy) -> None:
        """What is known before the first call."""
        self._pictures[policy.id] = picture = Picture()
        if policy.provenance:
            from skills.lib.guard.provenance import Provenance  # few policies ask where a value comes from

            self._provenance[policy.id] = Provenance()
        for effect in policy.start:
            for path, value, keep in self._learned([effect], self.scope(policy, {}), policy):
                picture.write(path, value, keep)

    @staticmethod
    def _learned(effects: list[list[Any]], scope: Scope, policy: Policy) -> list[tuple[list[Any], Any, list[str]]]:
        from skills.lib.guard.learning import learned  # a decision learns nothing

        return learned(effects, scope, policy.reads)

    def decide(self, tool: str, arguments: Mapping[str, Any], call: str = "") -> Allow | Deny | Look:
        """The answer to a call. An allowed call is counted, once for each ``call`` (the host's id of it).

        A line of a shell (the tool ``shell`` with a ``command``) is taken apart. ``arguments`` is asked only for what
        the rule reads, so that a value may be computed when it is asked for.
        """
        if is_line(tool, arguments):
            from skills.lib.guard import whole_calls  # a hook takes lines apart itself

            whole = whole_calls.answer(self, tool, arguments)
            if not isinstance(whole, Allow):
                return whole
            return Allow(tuple(whole_calls.admit(self, tool, arguments, call)), whole.reported)
        return self.decide_rule(tool, arguments, call)

    def decide_rule(self, tool: str, arguments: Mapping[str, Any], call: str = "") -> Allow | Deny | Look:
        """The answer by the rules of that name alone: for a part of a call that is taken apart already."""
        answer = self.answer(tool, arguments)
        return Allow(tuple(self.admit(tool, call)), answer.reported) if isinstance(answer, Allow) else answer

    def answer(self, tool: str, arguments: Mapping[str, Any]) -> Allow | Deny | Look:
        """The answer to a call, which is not counted: for a part of one that is decided as a whole."""
        return strictest([self._decided(policy, tool, arguments) for policy in self.policies])

    def admit(self, tool: str, call: str = "") -> list[Change]:
        """Count a call that is allowed; the changes are none if no rule asks, or the call is counted already."""
        if not self._counts(tool) or (call and call in self._calls_of(tool)):
            return []
        changes: list[Change] = [{"tool": tool, "call": call, "count": 1}]
        self.apply(changes)
        return changes

    def learn(self, tool: str, arguments: Mapping[str, Any], ok: bool, result: Any, call: str = "") -> list[Change]:
        """The changes of the picture by the result of a call; a call that failed changes only what ``on_false`` says.

        A result in text is read as JSON if it is JSON; of any other value, what JSON does not have is UNKNOWN. For a
        shell call it is ``{"exit": …, "output": …}``.
        """
        from skills.lib.guard.plain_values import plain

        result = plain(result)
        if is_line(tool, arguments):
            from skills.lib.guard import whole_calls

            return whole_calls.learn(self, tool, arguments, ok, result, call)
        return self.learn_rule(tool, arguments, ok, result, call)

    def learn_rule(
        self, tool: str, arguments: Mapping[str, Any], ok: bool, result: Any, call: str = ""
    ) -> list[Change]:
        """The changes by the rules of that name alone, as ``decide_rule``."""
        from skills.lib.guard.learning import parsed_result

        result = parsed_result(tool, result)
        changes: list[Change] = []
        for policy in self.policies:
            rule = policy.rule(tool)
            if rule is not None:
                effects = _effects(rule, tool, ok, result)
                scope = self.scope(policy, arguments, result)
                for path, value, keep in self._learned(effects, scope, policy):
                    changes.append({"policy": policy.id, "at": path, "is": encoded(value), "keep": keep})
                changes += self._from_outside(policy, rule, scope)
        if self._counts(tool):
            admitted = self._calls_of(tool)
            known = call in admitted if call else bool(admitted)
            failed = _has_failed(tool, ok, result)
            if known or not failed:
                step = (-1 if failed else 0) if known else 1
                changes.append({"tool": tool, "call": call, "count": step, "ended": True})
        for change in changes:
            self._apply(change)
        return changes

    def heard(self, text: str) -> list[Change]:
        """The changes by what the user said: a value that stands in it is the user's own, wherever else it stands."""
        changes: list[Change] = []
        for policy, provenance in self._provenance.items():
            new = provenance.new_words(text, provenance.heard)
            changes += [{"policy": policy, "heard": new}] if new else []
        self.apply(changes)
        return changes

    def _from_outside(self, policy: Policy, rule: Rule, scope: Scope) -> list[Change]:
        """The change by what outsiders wrote into a result."""
        provenance = self._provenance.get(policy.id)
        if provenance is None or not rule.untrusted:
            return []
        values = [evaluated(node, scope) for _, _, node in rule.untrusted]
        told = [value for value in values if not isinstance(value, Fault)]
        new = provenance.new_words(told, provenance.outside)
        return [{"policy": policy.id, "outside": new}] if new else []

    def sinks(self, policy: Policy, rule: Rule, arguments: Mapping[str, Any]) -> Look | None:
        """A look if a value that outsiders wrote would reach a place where only the user's own words may go."""
        provenance = self._provenance.get(policy.id)
        for text, line, node in rule.sinks if provenance else ():
            value = evaluated(node, self.scope(policy, arguments))
            if provenance and provenance.comes_from_outside(value):
                from skills.lib.guard.values import shown

                reason = f"{text} is {shown(value)}: outsiders wrote it, and the user did not say it; ask the user"
                return Look(rule.tool, text, (), (), reason, f"{policy.file}:{line}")
        return None

    def unsettled(self, tool: str, arguments: Mapping[str, Any]) -> list[Change]:
        """The changes that make UNKNOWN what a call may change: for one whose result has not come, or says nothing."""
        changes: list[Change] = []
        for policy in self.policies:
            rule = policy.rule(tool)
            effects = [[*effect[:3], ["forget"], *effect[4:]] for effect in rule.changes] if rule else []
            for path, value, keep in self._learned(effects, self.scope(policy, arguments), policy):
                changes.append({"policy": policy.id, "at": path, "is": encoded(value), "keep": keep})
        return changes

    def apply(self, changes: Iterable[Change]) -> None:
        """Make changes that ``unsettled`` gave, or the facts of another guard."""
        for change in changes:
            self._apply(change)

    def explain(self, tool: str, arguments: Mapping[str, Any]) -> list[Explained]:
        """Every need of a call with its value and the reason."""
        from skills.lib.guard.explaining import explained_needs, explained_sink

        found: list[Explained] = []
        for policy in self.policies:
            rule = policy.rule(tool)
            if rule is not None:

                def scope_of(policy: Policy = policy) -> Scope:
                    return self.scope(policy, arguments)

                found += explained_needs(policy.file, rule, scope_of, self.offered)
                look = self.sinks(policy, rule, arguments)
                found += [explained_sink(look)] if look else []
        return found

    def facts(self) -> list[Change]:
        """The changes that make a new guard of these policies know the same: one for each policy, and the counts."""
        pictures = self._pictures.items()
        found: list[Change] = [{"policy": name, "picture": encoded(picture.root)} for name, picture in pictures]
        for name, provenance in self._provenance.items():
            read = {"heard": sorted(provenance.heard), "outside": sorted(provenance.outside)}
            found += [{"policy": name, **read}] if any(read.values()) else []
        for tool, count in self.counts.items():
            found.append({"tool": tool, "call": "", "count": count, "ended": True, "set": True})
            found += [{"tool": tool, "call": call, "count": 0} for call in self._calls_of(tool)]
        return found

    def _decided(self, policy: Policy, tool: str, arguments: Mapping[str, Any]) -> Allow | Deny | Look:
        """The answer of one policy."""
        rule = policy.rule(tool)
        if rule is None or not (rule.needs or rule.sinks):
            return Allow()
        unknown = []
        scope = self.scope(policy, arguments)
        for need in rule.needs:
            value = evaluated(need[2], scope)
            if is_false(value):
                from skills.lib.guard.reasons import deny_of  # most calls are allowed

                return _in_mode(policy.mode, deny_of(policy.file, need, value, scope, self.offered, tool))
            if value is not True:
                unknown.append((need, scope))
            if value is not True or scope.missing:
                scope = self.scope(policy, arguments)
        if unknown:
            from skills.lib.guard.reasons import look_of

            return _in_mode(policy.mode, look_of(policy.file, unknown, self.offered, tool))
        look = self.sinks(policy, rule, arguments)
        return _in_mode(policy.mode, look) if look else Allow()

    def scope(self, policy: Policy, arguments: Mapping[str, Any], result: Any = UNKNOWN) -> Scope:
        """What the expressions of a policy can read."""
        root = self._pictures[policy.id].root
        return Scope(root, arguments, policy.params, self.counts, self.folder, result)

    def shell_rules(self) -> list[tuple[str, list[str]]]:
        """The rules on shell commands of all policies, as those of a policy."""
        return list({name: (name, words) for policy in self.policies for name, words in policy.shell_rules()}.values())

    def _counts(self, tool: str) -> bool:
        return any(policy.counts(tool) for policy in self.policies)

    def _calls_of(self, tool: str) -> list[str]:
        """The ids of the calls of a tool that were admitted and have not ended."""
        return self._admitted.get(tool, [])

    def _apply(self, change: Change) -> None:
        """Make a change. Raises EnvironmentProblem for one that was not written by a guard."""
        try:
            if "heard" in change or "outside" in change:
                provenance = self._provenance.get(change["policy"])
                for name in ("heard", "outside") if provenance else ():
                    getattr(provenance, name).update(change.get(name, ()))
            elif "policy" in change:
                self._apply_to_picture(change)
            else:
                self._apply_to_counts(change["tool"], change["call"], change)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            from skills.lib.errors import EnvironmentProblem

            raise EnvironmentProblem(
                f"a fact of the guard cannot be read: {error}", remedy="begin a new session of the agent"
            ) from error

    def _apply_to_picture(self, change: Change) -> None:
        picture = self._pictures.get(change["policy"])
        if picture is None:
            return  # of a policy that is not there any more, or was changed since
        if "picture" in change:
            picture.root = decoded(change["picture"])
        else:
            picture.write(change["at"], decoded(change["is"]), change["keep"])

    def _apply_to_counts(self, tool: str, call: str, change: Change) -> None:
        count = 0 if change.get("set") else self.counts.get(tool, 0)
        self.counts[tool] = max(count + int(change["count"]), 0)
        admitted = self._admitted.setdefault(tool, [])
        if not change.get("ended"):
            admitted.append(call)
        elif not change.get("set") and (call in admitted or (admitted and not call)):
            admitted.remove(call if call in admitted else admitted[0])


def _in_mode(mode: str, decision: Deny | Look) -> Allow | Deny | Look:
    """The answer as the policy's mode gives it."""
    if mode == "report":
        return Allow((), decision)
    if mode == "look" and isinstance(decision, Deny):
        return Look(decision.rule, decision.need, (), decision.tools, decision.reason, decision.where)
    return decision


def _exit_of(tool: str, result: Any) -> Any:
    """The exit code of a shell call, UNKNOWN if the host did not say it; 0 for any other call."""
    return result.get("exit", UNKNOWN) if is_of_shell(tool) and isinstance(result, dict) else 0


def _has_failed(tool: str, ok: bool, result: Any) -> bool:
    """True if a call changed nothing: it failed, its result is false alone, or a shell command did not end with 0."""
    return not ok or result is False or _exit_of(tool, result) not in (0, UNKNOWN)


def _effects(rule: Rule, tool: str, ok: bool, result: Any) -> list[list[Any]]:
    """The effects of a call that ended so.

    Of a result that is false alone, or an exit code that is not 0, only what reads the result holds, and ``on_false``.
    If the exit code is not known, what does not read it may have happened: it is UNKNOWN.
    """
    code = _exit_of(tool, result)
    if not ok and code in (0, UNKNOWN):
        return rule.on_false
    if _has_failed(tool, ok, result):
        return [*[effect for effect in (*rule.shows, *rule.changes) if effect[4] is True], *rule.on_false]
    effects = [*rule.implies, *rule.shows, *rule.changes]
    if code is UNKNOWN:
        return [effect if effect[4] is True else [*effect[:3], ["forget"], *effect[4:]] for effect in effects]
    return effects

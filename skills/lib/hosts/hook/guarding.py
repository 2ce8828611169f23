"""Policies in the hook: a call is checked by all that hold for it. ``learning`` has what they learn from its result."""

from __future__ import annotations

import os
import time

from skills.lib import compact_json
from skills.lib.hosts.hook import facts, policies, quick
from skills.lib.hosts.hook.event import Denied, Event, text_of
from skills.lib.hosts.hook.policies import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from skills.lib.guard.calls import Call
    from skills.lib.guard.decisions import Deny, Look
    from skills.lib.guard.policy import Policy
    from skills.lib.hosts.hook.followed import Status
    from skills.lib.hosts.hook.looks import Decided

# A policy that cannot be used denies all calls but those that only look.
_LOOKING = ("read", "search", "ask")


def check(event: Event, statuses: Sequence[Status], watched: dict[str, bool]) -> None:
    """Raise Denied if a policy that holds for a call does not allow it, or cannot be used.

    ``statuses`` are those of the runs that the agent follows. ``watched`` as in ``decision.main``.
    """
    for path in policies.protected_near({event.cwd or os.getcwd(): None, event.folder: None}):
        if os.path.basename(path) == policies.GATEWAY and not quick.index(path)[0]:
            from skills.lib.hosts.hook import policy_index

            policy_index.keep_gateway(path)
    if event.targets:
        _check_files(event)
    sources = sources_of(event, statuses)
    watched["open"] = watched["open"] or bool(sources)
    found = [(source, *_loaded(event, source)) for source in sources]
    concerned = [(source, policy, calls) for source, policy, calls in found if policy is not None and calls]
    if not concerned:
        return
    try:
        answer = _decided(event, concerned, statuses)
    except Exception as error:
        raise Denied(_texts().unusable(error, event)) from error
    if answer is not None:
        raise Denied(_texts().answer(answer, event))


def _check_files(event: Event) -> None:
    """Raise Denied if an editing tool would change a policy or gateway file around its path, or what policies know."""
    from skills.lib import paths

    for target in event.targets:
        path = os.path.join(event.folder, os.path.expanduser(target).replace("\0", ""))
        parent, name = os.path.split(path)
        meant = {os.path.realpath(path), os.path.join(os.path.realpath(parent), name)}
        there = policies.protected_near([event.folder, os.path.dirname(path)])
        kept = [paths.state(), paths.cache(), *([event.transcript] if event.transcript else [])]
        is_kept = any((one + os.sep).startswith(os.path.realpath(place) + os.sep) for one in meant for place in kept)
        if is_kept or meant & {*there, *map(os.path.realpath, there)}:
            raise Denied(_texts().protected(event.tool, path))


def sources_of(event: Event, statuses: Sequence[Status]) -> list[Source]:
    """The policies that hold for an event: of projects, of runs, and those that held in this session before."""
    found = {}
    for path in policies.near({event.cwd or os.getcwd(): None, event.folder: None}):
        name = facts.of_session(event.main, path)
        found[name] = Source(path, os.path.dirname(path), name)
    for status in statuses:
        path = policies.of_status(status)
        if path:
            from skills.lib import run_facts

            name = run_facts.name(status["run"], status["project"])
            found[name] = Source(path, status["project"], name, status["run"])
        for layer, path in policies.of_layers(status) if "layers" in status else ():
            from skills.lib import run_facts

            name = run_facts.name(status["run"], status["project"], layer)
            found[name] = Source(path, status["project"], name, status["run"])
    own = event.main + "."
    for name in facts.names():
        if name.startswith(own) and name not in found:
            about = facts.first(name)
            if about:
                found[name] = Source(about["path"], about["root"], name, "", about["digest"])
    return list(found.values())


def _loaded(event: Event, source: Source) -> tuple[Policy | None, list[Call]]:
    """The policy of a source, and the calls of the event that it has rules for.

    Raises Denied if it cannot be used and the call does more than look.
    """
    if is_unconcerned(event, source):
        return None, []
    from skills.lib.hosts.hook.calls import of_event

    try:
        policy = policy_of(source)
        return policy, of_event(event, policy)
    except Exception as error:
        from skills.lib.hosts.hook import tools

        is_looking = bool(event.meant) and event.meant <= frozenset(_LOOKING)
        if event.tool in tools.FREE or tools.is_ours(event.tool) or is_looking:
            return None, []
        raise Denied(_texts().unusable(error, event)) from error


def policy_of(source: Source) -> Policy:
    """The policy of a source. Raises EnvironmentProblem or UsageError if it cannot be read or compiled."""
    policy = policies.known(source)
    if policy is None:
        from skills.lib.hosts.hook import policy_texts  # the text is read once for each state of the file

        policy = policy_texts.load(source)
    return policy


def is_unconcerned(event: Event, source: Source) -> bool:
    """True if the index of a policy says that none of its rules is on a call."""
    return quick.is_unconcerned(event.tool, event.command, quick.index(source.path)[2])


def _decided(
    event: Event,
    concerned: Sequence[tuple[Source, Policy, list[Call]]],
    statuses: Sequence[Status],
) -> Deny | Look | None:
    """What stands against a call; None if all policies allow it, which then count it."""
    from skills.lib.hosts.hook.evidence import Evidence

    key = key_of(event)
    opened: list[facts.Facts] = []
    try:
        decided: list[tuple[Evidence, Decided]] = []
        # Always in the same order: two hooks that wait for each other's files would wait in vain.
        for source, policy, meant in sorted(concerned, key=lambda one: one[0].facts):
            opened.append(facts.Facts(source.facts))
            evidence = Evidence(source, policy, opened[-1].__enter__(), event.trees)
            if statuses and evidence.reads_of(meant, "answer"):  # people answer in runs
                from skills.lib.hosts.hook import answers

                answers.learn(evidence, statuses)
            decided.append((evidence, evidence.decide(meant, key)))
        against = [answer for _, (answer, _, _) in decided if answer is not None]
        for evidence, (answer, reported, records) in decided:
            if records and (not against or answer is not None):
                evidence.facts.append(records)
            if reported is not None:
                from skills.lib.hosts.hook import reports  # few policies only report

                reports.keep(event, reported)
        return strictest(against)
    finally:
        for one in opened:
            one.__exit__()


def strictest(against: Sequence[Deny | Look]) -> Deny | Look | None:
    """The first denial, else the first look; None if there is neither."""
    if not against:
        return None
    from skills.lib.guard.decisions import Deny

    return next((answer for answer in against if isinstance(answer, Deny)), against[0])


def key_of(event: Event) -> str:
    """The key of a call: the host's id, or for a host without ids a digest with the time of its event."""
    if event.call:
        return event.call
    when = text_of(event.payload, "timestamp")
    return f"?{compact_json.digest([event.host, event.tool, event.given])}@{when or time.time_ns()}"


def _texts() -> ModuleType:
    """The texts of answers, which allowed calls do not need."""
    from skills.lib.hosts.hook import guard_texts

    return guard_texts

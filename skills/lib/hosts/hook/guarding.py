"""Policies in the hook: a call is checked by all that hold for it, and their facts learn from its result."""

from __future__ import annotations

import os

from skills.lib import compact_json, paths, run_facts
from skills.lib.hosts.hook import facts, policies, quick
from skills.lib.hosts.hook.event import Denied, Event, text_of, write
from skills.lib.hosts.hook.policies import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from skills.lib.guard.calls import Call
    from skills.lib.guard.decisions import Allow, Deny, Look
    from skills.lib.guard.policy import Policy
    from skills.lib.hosts.hook.evidence import Evidence
    from skills.lib.hosts.hook.followed import Status

# A policy that cannot be used denies all calls but those that only look.
_LOOKING = ("read", "search", "ask")
# A file of reports gets no more once it has so many bytes.
_LONGEST_REPORT = 1_000_000


def check(event: Event, statuses: Sequence[Status], watched: dict[str, bool]) -> None:
    """Raise Denied if a policy that holds for a call does not allow it, or cannot be used.

    ``statuses`` are those of the runs that the agent follows. ``watched`` as in ``decision.main``.
    """
    for path in policies.protected_near([event.cwd or os.getcwd(), event.folder]):
        policies.index_gateway(path)
    _check_files(event)
    sources = _sources(event, statuses)
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


def learn(event: Event, statuses: Sequence[Status]) -> None:
    """Keep what the result of a call showed or changed; nothing is said, for a result that is lost only hides."""
    kept = set(facts.names())
    concerned = [one for one in _sources(event, statuses) if one.facts in kept and not _is_unconcerned(event, one)]
    if not concerned:
        return
    from skills.lib.hosts.hook import calls, results
    from skills.lib.hosts.hook.evidence import Evidence, key_of

    is_shell = bool(event.command)
    result = results.of_shell(event.host, event.payload) if is_shell else results.of_tool(event.payload)
    key = key_of(event.call, event.host, event.tool, event.given, text_of(event.payload, "timestamp"))
    if is_shell and result.value["exit"] is None:
        result.value["exit"] = _exit_of_gateway(event)
    for source in concerned:
        policy = policies.load(source)
        meant = calls.of_event(event, policy, has_run=True)
        if meant:
            with facts.Facts(source.facts) as opened:
                Evidence(source, policy, opened).learn(meant, key, result)


def _exit_of_gateway(event: Event) -> int | None:
    """How a command of the gateway ended, by what ``lockstep gateway run`` kept; None for any other line."""
    words = event.words
    at = next((number + 1 for number, word in enumerate(words[:2]) if os.path.basename(word) == "lockstep"), 0)
    if not at or words[at : at + 2] != ["gateway", "run"]:
        return None
    from skills.lib import gateway_results  # few hosts leave an exit code out

    return gateway_results.take(words[at:], paths.project_root(event.folder))


def hear(event: Event, statuses: Sequence[Status]) -> None:
    """Keep what the user says, for the policies by which it matters where a value comes from."""
    for source in _sources(event, statuses):
        policy = policies.load(source)
        if policy.provenance:
            from skills.lib.hosts.hook.evidence import Evidence

            with facts.Facts(source.facts) as opened:
                evidence = Evidence(source, policy, opened)
                opened.append(evidence.guard.heard(event.prompt))


def _check_files(event: Event) -> None:
    """Raise Denied if an editing tool would change a policy or gateway file around its path, or what policies know."""
    for target in event.targets:
        path = os.path.join(event.folder, os.path.expanduser(target).replace("\0", ""))
        parent, name = os.path.split(path)
        meant = {os.path.realpath(path), os.path.join(os.path.realpath(parent), name)}
        there = policies.protected_near([event.folder, os.path.dirname(path)])
        kept = [paths.state(), paths.cache(), *([event.transcript] if event.transcript else [])]
        is_kept = any((one + os.sep).startswith(os.path.realpath(place) + os.sep) for one in meant for place in kept)
        if is_kept or meant & {*there, *map(os.path.realpath, there)}:
            raise Denied(_texts().protected(event.tool, path))


def _sources(event: Event, statuses: Sequence[Status]) -> list[Source]:
    """The policies that hold for an event: of projects, of runs, and those that held in this session before."""
    found = {}
    for path in policies.near({event.cwd or os.getcwd(): None, event.folder: None}):
        name = facts.of_session(event.main, path)
        found[name] = Source(path, os.path.dirname(path), name)
    for status in statuses:
        path = policies.of_status(status)
        if path:
            name = run_facts.name(status["run"], status["project"])
            found[name] = Source(path, status["project"], name, status["run"])
    for name in facts.names():
        if name.startswith(event.main + ".") and name not in found:
            about = facts.first(name)
            if about:
                found[name] = Source(about["path"], about["root"], name, "", about["digest"])
    return list(found.values())


def _loaded(event: Event, source: Source) -> tuple[Policy | None, list[Call]]:
    """The policy of a source, and the calls of the event that it has rules for.

    Raises Denied if it cannot be used and the call does more than look.
    """
    if _is_unconcerned(event, source):
        return None, []
    from skills.lib.hosts.hook import calls, tools

    try:
        policy = policies.load(source)
        return policy, calls.of_event(event, policy)
    except Exception as error:
        meant = tools.meanings(event.host, event.tool, event.given)
        if event.tool in tools.FREE or tools.is_ours(event.tool) or (meant and meant <= frozenset(_LOOKING)):
            return None, []
        raise Denied(_texts().unusable(error, event)) from error


def _is_unconcerned(event: Event, source: Source) -> bool:
    """True if the index of a policy says that none of its rules is on a call."""
    return quick.is_unconcerned(event.tool, event.command, quick.index(source.path)[1])


def _decided(
    event: Event, concerned: Sequence[tuple[Source, Policy, list[Call]]], statuses: Sequence[Status]
) -> Deny | Look | None:
    """What stands against a call; None if all policies allow it, which then count it."""
    from skills.lib.guard.decisions import Allow, Deny
    from skills.lib.hosts.hook.evidence import Evidence, key_of

    key = key_of(event.call, event.host, event.tool, event.given, text_of(event.payload, "timestamp"))
    opened: list[facts.Facts] = []
    try:
        decided: list[tuple[Evidence, Allow | Deny | Look, list[dict[str, object]]]] = []
        # Always in the same order: two hooks that wait for each other's files would wait in vain.
        for source, policy, meant in sorted(concerned, key=lambda one: one[0].facts):
            opened.append(facts.Facts(source.facts))
            evidence = Evidence(source, policy, opened[-1].__enter__())
            if evidence.reads_of(meant, "answer"):
                from skills.lib.hosts.hook import answers  # few rules ask what a person said

                answers.learn(evidence, statuses)
            decided.append((evidence, *evidence.decide(meant, key)))
        against = [answer for _, answer, _ in decided if not isinstance(answer, Allow)]
        for evidence, answer, records in decided:
            if records and (not against or answer in against):
                evidence.facts.append(records)
            if isinstance(answer, Allow) and answer.reported is not None:
                _report(event, answer.reported)
        return next((answer for answer in against if isinstance(answer, Deny)), against[0] if against else None)
    finally:
        for one in opened:
            one.__exit__()


def _report(event: Event, answer: Deny | Look) -> None:
    """Write down what a policy would have answered that only reports, and say it on standard error."""
    text = _texts().answer(answer, event)
    write(2, f"Lockstep would have answered: {text}\n")
    path = os.path.join(paths.state(), "reports", event.main + ".jsonl")
    line = compact_json.readable({"tool": event.tool, "rule": answer.rule, "answer": text}) + "\n"
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with open(path, "ab", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            if file.tell() < _LONGEST_REPORT:
                file.write(line.encode("utf-8", "replace"))
    except OSError:
        return


def _texts() -> ModuleType:
    """The texts of answers, which allowed calls do not need."""
    from skills.lib.hosts.hook import guard_texts

    return guard_texts

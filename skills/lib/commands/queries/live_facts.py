"""What hooks know for a policy, in a session or for a run, as somebody looks at it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from skills.lib import compact_json, run_facts
from skills.lib.commands.queries import policies
from skills.lib.errors import UsageError
from skills.lib.guard.guard import Guard
from skills.lib.guard.policy import Policy
from skills.lib.hosts.hook import evidence, facts
from skills.lib.hosts.hook.event import name_of
from skills.lib.hosts.hook.tools import HOSTS


def of_session(session: str, policy: Policy, file: str, project: str) -> Guard:
    """A guard with what is known for a policy file in a session of any host. Raises UsageError if nothing is kept."""
    folder, name = os.path.split(os.path.abspath(file))
    path = os.path.join(os.path.realpath(folder), name)
    kept = facts.names()
    found = [facts.of_session(name_of(host, session), path) for host in HOSTS]
    there = [one for one in found if one in kept]
    if not there:
        end = "." + compact_json.digest(path)
        others = sorted(one.removesuffix(end).partition("-")[2] for one in kept if one.endswith(end))
        raise UsageError(
            f"no hook knows anything for {path} in the session {session!r:.100}",
            valid=", ".join(others),
            remedy="the id is that of the host; a call that a rule is on begins the facts of a session",
        )
    return _guard(there[0], policy, project)


def of_run(run: str, project: str) -> Guard:
    """A guard with what is known for the policy of a run's workflow. Raises UsageError if nothing is kept."""
    name = run_facts.name(run, project)
    path = str(_about(name).get("path", ""))
    if not path:
        raise UsageError(
            f"no hook knows anything for the run {run!r:.100} of {project}",
            remedy="lockstep runs lists the runs; a call that a rule of their policy is on begins the facts",
        )
    return _guard(name, policies.read(path), project)


def _about(name: str) -> Mapping[str, Any]:
    return facts.first(name) if name in facts.names() else {}


def _guard(name: str, policy: Policy, project: str) -> Guard:
    with facts.Facts(name) as opened:
        records = list(opened.records)
    if _about(name).get("digest") != policy.id:  # the hook forgets all but counts, too, if the policy was changed
        records = [record for record in records if "count" in record]
    return Guard([policy], evidence.known(records), folder=project)

"""A plain command whose rules read its own words and paths alone: it is decided before the library is loaded.

A command that is certainly allowed is admitted, and of its result is kept that it came: ``guarding`` and ``learning``
do the same for every other call. What would be denied or looked at first is left to them.
"""

import marshal
import os

# The packages of these are not imported if ``early`` has loaded the modules already.
from skills.lib.guard.shell_matching import match
from skills.lib.guard.shell_plain import simple_command
from skills.lib.hosts.hook.quick import RULES, rules_of
from skills.lib.hosts.hook.quick_facts import add, facts_of, is_id, is_open
from skills.lib.hosts.hook.shell_calls import may_concern_lockstep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from skills.lib.guard.shell_matching import Match
    from skills.lib.hosts.hook.quick import Index

    Field = Callable[[bytes], str]

# With these fields a call runs elsewhere, or its arguments are not those of its line.
_OTHERS = (b'"workdir"', b'"directory"', b'"dir_path"', b'"args"', b'"paths"')
# Hosts that report a failed command by an event of its own, or by its exit code.
_PLAIN_RESULTS = ("claude", "codex", "opencode")
_LONGEST = 1_000_000


def is_kept(
    raw: bytes,
    field: "Field",
    line: str,
    host: str,
    session: str,
    policy: str,
    index: "Index",
    state: str,
    load: "Callable[[str], ModuleType]",
) -> bool:
    """True if all that a policy says of a command of a shell, or of its result, is certain, and is kept now.

    ``policy`` is its file; ``field``, ``session`` and ``state`` as in ``quick_edits``; ``load`` loads a module of the
    library.
    """
    name, call, cwd = (field(one) for one in (b"hook_event_name", b"tool_use_id", b"cwd"))
    if os.name != "posix" or may_concern_lockstep(line):
        return False
    is_result = name == "PostToolUse" and host in _PLAIN_RESULTS
    is_whole = raw[:1] == b"{" and raw[-1:] == b"}" and not any(other in raw for other in _OTHERS)
    if not (is_result or name in ("PreToolUse", "BeforeTool")) or not is_whole or not is_id(call):
        return False
    own, digest, names = index
    params, rules = _rules(names)
    command = simple_command(line, cwd)
    if command is None:
        return False
    matched: list[tuple[Match, list[Any]]] = []
    for words, *about in rules:
        one = match(command, words)
        if one and (not one.certain or not about):
            return False
        matched += [(one, about)] if one else []
    if not matched:
        return True
    facts, tools = facts_of(state, host, session, own), ",".join([about[0] for _, about in matched])
    if is_result:
        ended = f'{{"call":"{call}","event":"{call}","kind":"ended","known":[],"ok":true,"tools":[{tools}]}}'
        is_silent = not any(about[3] for _, about in matched)
        return is_silent and add(facts, digest, [ended], lambda data: is_open(data, call))
    if not all(_holds(one, about[2], params, os.path.dirname(policy), load) for one, about in matched if about[2]):
        return False
    forgets = ",".join([about[1] for _, about in matched if about[1]])
    admitted = f'{{"call":"{call}","forgets":[{forgets}],"kind":"admitted","tools":[{tools}]}}'
    return add(facts, digest, [admitted], lambda data: f'"call":"{call}'.encode() not in data)


def _rules(names: "frozenset[str]") -> "tuple[dict[str, Any], list[Any]]":
    """The parameters of a policy whose index has these names, and its rules. Raises ValueError or OSError.

    They are kept as Python keeps bytecode, because reading JSON takes a module more. Other bytes than those that the
    index was made with are not read: they could end the process, and with it the hook, without an answer.
    """
    from _blake2 import blake2b

    (checksum,) = [name.removeprefix(RULES) for name in names if name.startswith(RULES)]
    with open(rules_of(checksum), "rb") as file:
        data = file.read(_LONGEST)
    if blake2b(data, digest_size=16).hexdigest() != checksum:
        raise ValueError(checksum)
    params, rules = marshal.loads(data)  # noqa: S302
    return params, rules


def _holds(
    one: "Match", needs: "list[Any]", params: "dict[str, Any]", root: str, load: "Callable[[str], ModuleType]"
) -> bool:
    """True if the needs of a rule on a command are certainly TRUE."""
    hold = load("skills.lib.guard.plain_needs").hold

    def argument(name: str) -> "list[object] | None":
        if name == "paths":
            load("skills.lib.guard.shell_paths")
        known = one.value(name) if name in ("args", "paths") else None
        return list(known) if isinstance(known, tuple) and None not in known else None

    return bool(hold(needs, argument, params, root))

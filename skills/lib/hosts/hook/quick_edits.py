"""An edit under policies that ask nothing of it, and say at most that it makes places unknown.

What it changes is kept before the library is loaded: ``guarding`` and ``learning`` do the same for every other call.
"""

import os

# The packages of these two are not imported if ``early`` has loaded the modules already.
from skills.lib.hosts.hook.quick import POLICIES, cache, edit_of
from skills.lib.hosts.hook.quick_facts import add, facts_of, is_id, is_open

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skills.lib.hosts.hook.quick import Index

# What hosts call the path of an editing tool, and the folder of a call.
_PATHS = (b"file_path", b"filePath", b"notebook_path", b"absolute_path", b"path")
_FOLDERS = (b"workdir", b"directory", b"dir_path")
_RESULTS = ("PostToolUse", "AfterTool")
# With these fields a result may say that the call failed.
_ERRORS = (b'"isError"', b'"is_error"', b'"error"')
# What may stand before a text and is no part of what it says: blanks, and how JSON writes them.
_BLANKS = b" \t\r\n\\nrtu0123456789abcdef" + bytes(range(0x80, 0x100))


def is_kept(
    raw: bytes, field: "Callable[[bytes], str]", host: str, session: str, found: "Sequence[Index]", state: str
) -> bool:
    """True if all that policies with these indexes say of an edit, or of its result, is kept now.

    ``field`` gives a field of the event as text; ``session`` is the end of the session's name in ``state``.
    """
    raw.decode()
    name, tool, call = field(b"hook_event_name"), field(b"tool_name"), field(b"tool_use_id")
    is_result = name in _RESULTS
    if raw[:1] != b"{" or raw[-1:] != b"}" or (is_result and _may_have_failed(raw)):
        return False
    if not is_result and (name not in ("PreToolUse", "BeforeTool") or _may_be_protected(raw, field, state)):
        return False
    ruled = [(own, digest, edit_of(tool, names)) for own, digest, names in found]
    ruled = [(own, digest, rule) for own, digest, rule in ruled if len(rule) > 1]
    if not ruled:
        return True
    if len(ruled) > 1 or not is_id(call):
        return False
    own, digest, (canonical, *changes) = ruled[0]
    facts = facts_of(state, host, session, own)
    changes = [change for change in changes if change]
    if is_result:
        ended = f'{{"call":"{call}","event":"{call}","kind":"ended","known":[],"ok":true,"tools":["{canonical}"]}}'
        return add(facts, digest, [ended, *changes], lambda data: is_open(data, call))
    admitted = f'{{"call":"{call}","forgets":[{",".join(changes)}],"kind":"admitted","tools":["{canonical}"]}}'
    return add(facts, digest, [admitted], lambda data: f'"call":"{call}'.encode() not in data)


def _may_have_failed(raw: bytes) -> bool:
    """True if a result may say that the call failed, or changed nothing: ``false`` alone, in any text of it."""
    after = raw.partition(b'"tool_response"')[2].lstrip(b" \t\r\n:")
    if any(name in raw for name in _ERRORS) or after[:1] not in (b"{", b"[", b'"') or b"<untrusted" in raw:
        return True
    lowered = raw.lower()
    at = lowered.find(b"false")
    while at >= 0:
        if lowered[max(0, at - 40) : at].rstrip(_BLANKS)[-1:] in (b'"', b""):
            return True
        at = lowered.find(b"false", at + 1)
    return False


def _may_be_protected(raw: bytes, field: "Callable[[bytes], str]", state: str) -> bool:
    """True unless the one path of an edit is in the folder of the call, through no link, and certainly no policy's.

    ``guarding`` says of the others whether they are protected.
    """
    named = [name for name in _PATHS if b'"' + name + b'"' in raw]
    cwd, target = field(b"cwd"), field(named[0]) if len(named) == 1 else ""
    if not target or target[0] == "~" or not os.path.isabs(cwd) or any(b'"' + name + b'"' in raw for name in _FOLDERS):
        return True
    parent, name = os.path.split(os.path.join(cwd, target))
    top, at = os.path.realpath(cwd), os.path.realpath(parent)
    path = os.path.join(at, name)
    if name in ("", ".", "..", *POLICIES) or os.path.islink(path) or not _is_in(at, top):
        return True
    transcript = field(b"transcript_path")
    kept = [state, cache(), *([transcript] if transcript else [])]
    if (b'"transcript_path"' in raw and not transcript) or any(_is_in(path, os.path.realpath(place)) for place in kept):
        return True
    while at != top:
        if any(os.path.lexists(os.path.join(at, name)) for name in POLICIES):
            return True
        at = os.path.dirname(at)
    return False


def _is_in(path: str, folder: str) -> bool:
    return (path + os.sep).startswith(folder.rstrip(os.sep) + os.sep)

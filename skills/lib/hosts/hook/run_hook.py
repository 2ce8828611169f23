"""What a host starts for each event: ``python -IS run_hook.py --host NAME [--stops N] [--deadline SECONDS]``.

Kept small, for its bytecode is not cached: an event that can concern no run ends here, before anything is imported.
"""

import os
import sys

# How long the hook waits for a disk or a lock before it blocks, in seconds; hosts wait longer, and then let go.
DEADLINE = 5.0
# The events that are blocked if the hook itself fails, and the subcommands that are let through then.
HELD = ("PreToolUse", "BeforeTool", "Stop", "SubagentStop", "AfterAgent")
LIFELINES = ("runs", "trace", "abandon")


def sessions() -> "list[str]":
    """The files of the sessions that follow a run, as skills.lib.hosts.hook.sessions keeps them."""
    base = os.environ.get("XDG_STATE_HOME", "")
    base = base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".local", "state")
    state = os.environ.get("LOCKSTEP_STATE") or os.path.join(base, "lockstep")
    try:
        return os.listdir(os.path.join(state, "sessions"))
    except OSError:
        return []


def session_of(raw: bytes) -> str:
    """The id of the session that an event names, as the name of a file has it; "" if it cannot be found at once."""
    if raw.count(b'"session_id"') != 1:
        return ""
    after = raw.partition(b'"session_id"')[2][:200].lstrip(b" \t\r\n:")
    given = after[1:].partition(b'"')[0]
    if after[:1] != b'"' or len(given) > 80 or not given.replace(b"-", b"").replace(b"_", b"").isalnum():
        return ""
    return "".join("=" + char.lower() if char.isupper() else char for char in given.decode())


def is_of_others(raw: bytes, names: "list[str]") -> bool:
    """True if a whole event is of a session that follows no run; what cannot be read may be of any."""
    try:
        raw.decode()
    except ValueError:
        return False
    session = session_of(raw)
    return (
        bool(session)
        and raw[-1:] == b"}"
        and session not in {name.partition(".")[0].partition("-")[2] for name in names}
    )


def deadline(given: str) -> float:
    """The seconds that are given, if they make sense."""
    try:
        seconds = float(given)
    except ValueError:
        return DEADLINE
    return seconds if 0 < seconds <= 60 else DEADLINE


def watch(seconds: float, watched: "dict[str, bool]") -> None:
    """Give up after so many seconds: block while a run is open, else let pass."""
    import time

    time.sleep(seconds)
    if watched["open"]:
        block(f"Lockstep's hook had no answer from the disk or the ledger within {seconds:g} seconds")
    os._exit(0)


def block(what: str) -> None:
    """Exit with 2, and with a reason that needs nothing of the library."""
    text = (
        f"{what}, and a run is open, so nothing goes on unseen. The way out: lockstep runs lists the runs; "
        "lockstep abandon RUN --reason '...' ends one, and frees the session even if the ledger cannot be used. "
        "A person at a terminal: lockstep doctor says what is wrong.\n"
    )
    try:
        os.write(2, text.encode("utf-8", "replace"))
    finally:
        os._exit(2)


def fail(error: BaseException, raw: bytes, names: "list[str]") -> None:
    """Answer if the library cannot be loaded: a tool and a first stop are blocked, a lifeline is not."""
    event: dict[str, object] = {"hook_event_name": "Stop"}
    words: list[str] = []
    try:
        import json

        event = json.loads(raw.decode())
        given = event.get("tool_input")
        line = str(given.get("command")) if isinstance(given, dict) else ""
        words = [] if set(line) & set(";|&<>()`$\n\r{}!#\\*?~") else line.split()
    except Exception as unreadable:
        error = unreadable
    program = words[0].split("/")[-1] if words and "=" not in words[0] else ""
    is_lifeline = program == "lockstep" and words[1:2] != [] and words[1] in LIFELINES
    is_free = is_lifeline or event.get("hook_event_name") not in HELD or event.get("stop_hook_active")
    if not is_free and not is_of_others(raw, names) and names:
        reason = f"{type(error).__name__}: {str(error)[:500]}"
        block(f"Lockstep's hook does not work here ({reason}; pip install --force-reinstall /path/to/lockstep helps)")
    os._exit(0)


def main() -> None:
    """Serve the event on standard input, and exit."""
    names = sessions()
    options = dict(zip(sys.argv[1::2], sys.argv[2::2]))  # noqa: B905  an odd word is left out
    watched = {"open": bool(names)}
    import _thread

    _thread.start_new_thread(watch, (deadline(options.get("--deadline", "")), watched))
    raw = b""
    try:
        with open(0, "rb", closefd=False) as file:
            raw = file.read().strip()
    except OSError:
        pass
    is_named = (
        b"--run" in raw
        or b"lockstep_" in raw
        or (b"--step" in raw and (b"LOCKSTEP_" in raw or b"PYTHON" in raw or b"HOME=" in raw))
    )
    if not is_named and (not names or is_of_others(raw, names)):
        os._exit(0)  # no run is open in its session, and the event names none, nor opens one elsewhere
    root = os.path.realpath(__file__)
    for _ in range(5):
        root = os.path.dirname(root)
    sys.path.insert(0, root)
    try:
        from skills.lib.hosts.hook.decision import main as serve

        code = serve(raw, options, watched)
    except BaseException as error:
        fail(error, raw, names)
    os._exit(code)


if __name__ == "__main__":
    main()

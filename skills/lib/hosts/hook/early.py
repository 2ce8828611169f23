"""The beginning of the hook, which run_hook.py loads by its path.

An event that can concern no run and no policy ends here, before anything is imported.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType

# How long the hook waits for a disk or a lock before it blocks, in seconds; hosts wait longer, and then let go.
DEADLINE = 5.0
# The events that are blocked if the hook itself fails, and the subcommands that are let through then.
HELD = ("PreToolUse", "BeforeTool", "Stop", "SubagentStop", "AfterAgent")
# The events of which a policy is told although it has not held for their session yet.
OF_POLICIES = (b'"PreToolUse"', b'"BeforeTool"', b'"UserPromptSubmit"', b'"BeforeAgent"')
RESULTS = (b"PostToolUse", b"PostToolUseFailure", b"AfterTool")
LIFELINES = ("runs", "trace", "abandon")
# What a project has at its root: its policy, and the commands that it adds to the gateway.
POLICIES = (b"lockstep.policy.yaml", b"lockstep.gateway.yaml")
_FOUND: "list[tuple[bytes, list[str] | None]]" = []
# Packages whose __init__.py has a docstring alone, which is not read, and those whose __init__.py has more.
PLAIN = frozenset(("skills.lib.guard", "skills.lib.hosts", "skills.lib.hosts.hook"))
PACKAGES = frozenset(("skills", "skills.lib"))
# The modules in C that the hook needs, which some Pythons have in files.
IN_C = frozenset(("_blake2", "_json", "fcntl", "select"))
ROOT = os.path.realpath(__file__).rpartition(os.path.join("skills", "lib", "hosts", "hook", ""))[0].rstrip(os.sep)
# The fields that name the folder of a call.
FOLDERS = (b"cwd", b"workdir", b"directory", b"dir_path")


def state() -> str:
    """The folder of what Lockstep keeps for a user, as ``paths.state`` has it."""
    base = os.environ.get("XDG_STATE_HOME", "")
    base = base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.environ.get("LOCKSTEP_STATE") or os.path.join(base, "lockstep")


def kept(folder: str) -> "list[str]":
    """The names of the files in a folder of the user's state.

    ``sessions`` that follow a run, ``facts`` of sessions, and ``openings`` of runs that sessions may be opening.
    """
    try:
        return os.listdir(os.path.join(state(), folder))
    except OSError:
        return []


def field_of(raw: bytes, name: bytes) -> bytes:
    """The text of a field that is in an event only once, with no escape in it; b"" if it cannot be found at once."""
    if raw.count(b'"' + name + b'"') != 1:
        return b""
    after = raw.partition(b'"' + name + b'"')[2][:5_000].lstrip(b" \t\r\n:")
    given, quote, _ = after[1:].partition(b'"')
    return given if after[:1] == quote == b'"' and b"\\" not in given else b""


def fields_of(raw: bytes) -> "Callable[[bytes], str]":
    """What gives a field of an event as ``field_of`` does, as text."""

    def field(name: bytes) -> str:
        return field_of(raw, name).decode()

    return field


def line_of(raw: bytes) -> str:
    """The command line of an event; "" if it cannot be found at once, or has escapes that few lines have."""
    after = raw.partition(b'"command"')[2][:20_000].lstrip(b" \t\r\n:")
    if after[:1] != b'"' or raw.count(b'"command"') != 1 or b"\0" in after or b"\1" in after:
        return ""
    # JSON has neither of these two characters: they stand for a backslash and a quote until all others are read.
    given, end, _ = after[1:].replace(b"\\\\", b"\0").replace(b'\\"', b"\1").partition(b'"')
    given = given.replace(b"\\n", b"\n").replace(b"\\t", b"\t").replace(b"\1", b'"')
    return "" if not end or b"\\" in given else given.replace(b"\0", b"\\").decode()


def session_of(raw: bytes) -> str:
    """The id of the session that an event names, as the name of a file has it; "" if it cannot be found at once."""
    given = field_of(raw, b"session_id")
    if len(given) > 80 or not given.replace(b"-", b"").replace(b"_", b"").isalnum():
        return ""
    return "".join("=" + char.lower() if char.isupper() else char for char in given.decode())


def policies_of(raw: bytes) -> "list[str] | None":
    """The policies and gateway files of a call's folder and those above; None if it cannot be found at once.

    They are looked for once for each event.
    """
    if not _FOUND or _FOUND[0][0] is not raw:
        _FOUND[:] = [(raw, _policies_of(raw))]
    return _FOUND[0][1]


def _policies_of(raw: bytes) -> "list[str] | None":
    places = [field_of(raw, name) for name in FOLDERS if name == b"cwd" or b'"' + name + b'"' in raw]
    if not all(places) or not places[0].startswith(b"/"):
        return None
    found = {}
    for place in places:
        above = os.path.realpath(os.path.join(places[0], place))
        while True:
            for name in POLICIES:
                path = os.path.join(above, name)
                if os.path.lexists(path):
                    found[os.fsdecode(path)] = True
            if above == os.path.dirname(above):
                break
            above = os.path.dirname(above)
    return list(found)


def has_policy(raw: bytes) -> bool:
    """True if a tool is used or a user says something below a folder that has a policy, or where that is not clear."""
    return any(name in raw for name in OF_POLICIES) and policies_of(raw) != []


def is_named(raw: bytes) -> bool:
    """True if an event may name a run, or open one."""
    return any(name in raw for name in (b"--run", b"lockstep_", b"--step", b"/step", b"--start"))


def is_without_use(raw: bytes, followed: "list[str]", facts: "list[str]") -> bool:
    """True if an event concerns no run and no policy: it is of another session, and names no run, nor opens one."""
    if field_of(raw, b"hook_event_name") in RESULTS:  # those of a run's policy are of any session that follows a run
        of_runs = followed if any(name.startswith("run-") for name in facts) else []
        known = [*facts, *of_runs, *kept("openings")]
        return not known or is_of_others(raw, known)
    known = [*followed, *facts]
    return not is_named(raw) and (not known or is_of_others(raw, known)) and not has_policy(raw)


def is_of_policies(raw: bytes, followed: "list[str]") -> bool:
    """True if policies alone may have a say in an event: it names no run, and its session follows none."""
    return not is_named(raw) and (not followed or is_of_others(raw, followed))


def is_of_others(raw: bytes, names: "list[str]") -> bool:
    """True if a whole event is of a session that none of these files is of; what cannot be read may be of any."""
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
    """Give up after so many seconds: block while a run is open or a policy holds, else let pass."""
    import time

    time.sleep(seconds)
    if watched["open"]:
        block(f"Lockstep's hook had no answer from the disk or the ledger within {seconds:g} seconds")
    os._exit(0)


def block(what: str) -> None:
    """Exit with 2, and with a reason that needs nothing of the library."""
    text = (
        f"{what}, and a run is open or a policy holds, so nothing goes on unseen. The way out: lockstep runs lists the "
        "runs; lockstep abandon RUN --reason '...' ends one, and frees the session even if the ledger cannot be used. "
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
    if not is_free and (has_policy(raw) or (names and not is_of_others(raw, names))):
        reason = f"{type(error).__name__}: {str(error)[:500]}"
        block(f"Lockstep's hook does not work here ({reason}; pip install --force-reinstall /path/to/lockstep helps)")
    os._exit(0)


class Library:
    """Finds the modules of the library by their names, and reads their bytecode: Python's own finders take longer.

    What it does not find, or what is out of date, it leaves to them.
    """

    @staticmethod
    def find_spec(name: str, path: "Sequence[str] | None" = None, target: object = None) -> "ModuleSpec | None":
        """What Python's own finders return for a module of the library, or for one in C; None for any other."""
        if name in IN_C:
            return extension(name)
        folder = ROOT if name == "skills" else path[0] if path and name.startswith("skills.") else ""
        if name == "__future__":
            folder = os.path.dirname(getattr(os, "__file__", ""))
        if not folder:
            return None
        place = os.path.join(folder, name.rpartition(".")[2])
        spec: ModuleSpec
        if name in PLAIN:
            spec = type(sys.__spec__)(name, None, is_package=True)
            spec.submodule_search_locations = [place]
            return spec
        file = os.path.join(place, "__init__.py") if name in PACKAGES else place + ".py"
        code = code_of(file)
        if code is None:
            return None
        spec = type(sys.__spec__)(name, Library, origin=file, loader_state=code)  # type: ignore[arg-type]
        spec.has_location = True
        if name in PACKAGES:
            spec.submodule_search_locations = [place]
        return spec

    @staticmethod
    def create_module(spec: object) -> None:
        """Leave it to Python to make the module."""

    @staticmethod
    def exec_module(module: "ModuleType") -> None:
        """Run the code of a module."""
        spec = module.__spec__
        exec(spec.loader_state if spec else "", module.__dict__)  # noqa: S102  as every loader does


def extension(name: str) -> "ModuleSpec | None":
    """What Python's own finder returns for a module in C that has a file of its own: others list two folders first."""
    import _frozen_importlib_external as external
    import _imp

    for folder in sys.path:
        file = f"{folder}/{name}{_imp.extension_suffixes()[0]}"
        if folder.endswith("lib-dynload") and os.path.isfile(file):
            loader = external.ExtensionFileLoader(name, file)
            return external.spec_from_file_location(name, file, loader=loader)
    return None


def code_of(file: str) -> "CodeType | None":
    """The code of a module by its bytecode; None if that is not there, or of another state of the file."""
    import marshal
    from _frozen_importlib_external import MAGIC_NUMBER

    folder, name = os.path.split(file)
    try:
        about = os.stat(file)
        place = f"{folder}/__pycache__/{name[:-3]}.{sys.implementation.cache_tag}.pyc"
        found = os.open(place, os.O_RDONLY)
        try:
            data = os.read(found, os.fstat(found).st_size)
        finally:
            os.close(found)
    except OSError:
        return None
    state = (0, int(about.st_mtime) & 0xFFFFFFFF, about.st_size & 0xFFFFFFFF)
    if data[:16] != MAGIC_NUMBER + b"".join([number.to_bytes(4, "little") for number in state]):
        return None
    code: CodeType = marshal.loads(memoryview(data)[16:])  # noqa: S302  where Python itself reads it
    return code


def load(name: str) -> "ModuleType":
    """A module of the library, loaded once, without the packages around it if its bytecode is there."""
    if name in sys.modules:
        return sys.modules[name]
    file = os.path.join(ROOT, *name.split(".")) + ".py"
    code = code_of(file)
    if code is None:
        sys.path.insert(0, ROOT)
        return __import__(name, fromlist=["name"])
    module = sys.modules[name] = type(sys)(name)
    module.__file__ = file
    try:
        exec(code, module.__dict__)  # noqa: S102
    except BaseException:
        del sys.modules[name]
        raise
    return module


def stop_collecting() -> None:
    """Switch the collection of garbage off: it would go through all that is loaded, and the process ends soon."""
    import gc

    gc.disable()


def is_quick(raw: bytes, host: str, facts: "list[str]") -> bool:
    """True if policies have nothing to say of a call or a result, or if all that they say is kept now."""
    session, policies = session_of(raw), policies_of(raw)
    if not session or not policies:
        return False
    quick = load("skills.lib.hosts.hook.quick")
    tool = field_of(raw, b"tool_name").decode()
    line = "" if b'"chars"' in raw or b'"cmd"' in raw else line_of(raw)  # that is typed into a terminal
    if line:
        load("skills.lib.guard.shell_parts")
        load("skills.lib.guard.shell_plain")
    found = [quick.index(path) for path in policies]
    if not tool or not quick.is_known(session, facts, found):
        return False
    rules = [quick.concerned(tool, line, names) for *_, names in found]
    if not any(one is None or one for one in rules):
        return True
    try:
        if all(quick.edit_of(tool, names) for *_, names in found):
            return is_edit_kept(raw, host, session, found)
        ruled = [at for at, one in enumerate(rules) if one != []]
        return len(ruled) == 1 and is_command_kept(
            raw, quick, line, rules[ruled[0]], host, session, policies[ruled[0]], found[ruled[0]]
        )
    except Exception:  # the library finds the same fault, and says it
        return False


def is_edit_kept(raw: bytes, host: str, session: str, found: "list[tuple[str, str, frozenset[str]]]") -> bool:
    """True if all that policies with these indexes say of an edit, or of its result, is kept now."""
    load("skills.lib.hosts.hook.quick_facts")
    edits = load("skills.lib.hosts.hook.quick_edits")
    return bool(edits.is_kept(raw, fields_of(raw), host, session, found, state()))


def is_command_kept(
    raw: bytes,
    quick: "ModuleType",
    line: str,
    rules: "list[str] | None",
    host: str,
    session: str,
    policy: str,
    index: "tuple[str, str, frozenset[str]]",
) -> bool:
    """True if all that the rules of a policy say of a plain command, or of its result, is kept now."""
    marks = quick.ASKING + (quick.LEARNING if field_of(raw, b"hook_event_name") in RESULTS else "")
    if rules is None or any(name[0] in marks for name in rules):
        return False
    for name in ("guard.shell_matching", "hosts.hook.shell_calls", "hosts.hook.quick_facts"):
        load(f"skills.lib.{name}")
    commands = load("skills.lib.hosts.hook.quick_commands")
    return bool(commands.is_kept(raw, fields_of(raw), line, host, session, policy, index, state(), load))


def serve_policies(raw: bytes, options: "dict[str, str]", watched: "dict[str, bool]") -> "int | None":
    """Serve an event that concerns no run by the policies alone; None if that cannot be done, or failed."""
    try:
        from skills.lib.hosts.hook.policy_only import serve

        return serve(raw, options, watched)
    except Exception:
        watched["open"] = True  # as long as nobody knows better; ``decision`` finds the same fault, and says it
        return None


def main() -> None:
    """Serve the event on standard input, and exit."""
    followed, facts = kept("sessions"), kept("facts")
    options = dict(zip(sys.argv[1::2], sys.argv[2::2]))  # noqa: B905  an odd word is left out
    watched = {"open": bool(followed or facts)}
    import _thread

    _thread.start_new_thread(watch, (deadline(options.get("--deadline", "")), watched))
    raw = b""
    try:
        with open(0, "rb", closefd=False) as file:
            raw = file.read().strip()
    except OSError:
        pass
    if is_without_use(raw, followed, facts):
        os._exit(0)
    code: int | None = None
    sys.meta_path.insert(0, Library)
    try:
        holds = has_policy(raw)
        watched["unread"] = holds and any(name in raw for name in OF_POLICIES[:2])
        watched["policy"] = holds or bool(facts and not is_of_others(raw, facts))
        if watched["policy"] and is_of_policies(raw, followed):
            if is_quick(raw, options.get("--host", "claude"), facts):
                os._exit(0)
            stop_collecting()
            sys.path.insert(0, ROOT)
            code = serve_policies(raw, options, watched)
        if code is None:
            sys.path.insert(0, ROOT)
            stop_collecting()
            from skills.lib.hosts.hook.decision import main as serve

            code = serve(raw, options, watched)
        os._exit(code)
    except BaseException as error:
        fail(error, raw, [*followed, *facts])

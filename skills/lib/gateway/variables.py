"""Variables of a process that the gateway starts: which it gets, and which a caller may never set."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# What every process gets of the caller's environment, if it is there: no secret is among these.
PASSED = (
    *("HOME", "USER", "LOGNAME", "TMPDIR", "TEMP", "TMP", "TZ", "LANG", "LC_ALL", "LC_CTYPE", "TERM"),
    *("SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA"),
)
# By these Lockstep finds what it keeps: its own scripts get them too.
OF_LOCKSTEP = (
    *("LOCKSTEP_HOME", "LOCKSTEP_STATE", "LOCKSTEP_DATA", "LOCKSTEP_LEDGER_URL", "LOCKSTEP_LEDGER_PROJECT"),
    *("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"),
)
# What makes a program load or run something else.
_PREFIXES = ("LD_", "DYLD_", "PYTHON", "NODE_", "NPM_", "GIT_", "PERL", "RUBY", "BASH_", "JAVA_", "LOCKSTEP_", "LUA_")
_NAMES = frozenset(
    "PATH HOME SHELL IFS ENV PS4 PROMPT_COMMAND EDITOR VISUAL PAGER BROWSER MAKEFLAGS MAKEFILES GCONV_PATH LOCPATH"
    " CLASSPATH JDK_JAVA_OPTIONS GEM_HOME GEM_PATH PHPRC COMSPEC PATHEXT SYSTEMROOT WINDIR TMPDIR TEMP TMP ZDOTDIR"
    " SHELLOPTS BASHOPTS GLIBC_TUNABLES MALLOC_CONF HOSTALIASES OPENSSL_CONF SSLKEYLOGFILE VIRTUAL_ENV".split()
)


def is_name(name: str) -> bool:
    """True if a text can be the name of a variable."""
    return name.isidentifier() and name.isascii() and len(name) <= 100


def changes_programs(name: str) -> bool:
    """True if a variable changes what a program loads or runs."""
    return name.upper() in _NAMES or name.upper().startswith(_PREFIXES)


def environment(
    inherit: Sequence[str], fixed: Mapping[str, str], given: Mapping[str, str], search_path: Sequence[str]
) -> dict[str, str]:
    """The environment of a process: a few variables of the caller, those that the gateway file names, those given."""
    passed = {name: os.environ[name] for name in (*PASSED, *inherit) if name in os.environ}
    return {**passed, "NO_COLOR": "1", **fixed, **given, "PATH": os.pathsep.join(search_path)}

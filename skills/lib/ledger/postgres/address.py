"""Which database, and which project in it, a ledger is: LOCKSTEP_LEDGER_URL and LOCKSTEP_LEDGER_PROJECT."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from skills.lib import paths
from skills.lib.compact_json import digest
from skills.lib.errors import LedgerError
from skills.lib.git import Git, GitProblem
from skills.lib.ledger.postgres.driver import psycopg

if TYPE_CHECKING:
    from collections.abc import Mapping

URL, PROJECT = "LOCKSTEP_LEDGER_URL", "LOCKSTEP_LEDGER_PROJECT"
_FORM = "postgresql://<user>:<password>@<host>:<port>/<database>, with % codes for special characters in each part"
_LONGEST_PROJECT = 200
# Seconds within which a server answers, after which a silent connection is probed, and after which it is given up.
_CONNECTING, _IDLE, _GIVEN_UP = 10, 30, 30
# Lengths of the two parts of a schema's name: a name in PostgreSQL has at most 63 bytes.
_READABLE, _UNIQUE = 24, 20
# How a remote is written: https://user@host:port/path, ssh://host/path, user@host:path.
_REMOTE = re.compile(r"(?:(?:https?|ssh|git)://)?(?:[^@/]*@)?(\[[^\]]+\]|[^/:@\s]+)(?::\d+(?=/))?[:/]+([^\s?#]+)")


class Address:
    """Where a project's ledger is, for psycopg and for messages; none of these has the password but ``parameters``."""

    def __init__(self, url: str, project: str) -> None:
        self.project = project
        readable = re.sub(r"[^a-z0-9]+", "_", project.lower()).strip("_")[-_READABLE:]
        self.schema = f"lockstep_{readable}_{digest(project)[:_UNIQUE]}"
        # Writers of one project wait for one another, whichever machine they are on.
        self.lock = int(digest(["ledger", project])[:16], 16) - (1 << 63)
        given = _parsed(url)
        self._secrets = [str(given[name]) for name in ("password", "sslpassword") if given.get(name)]
        self.parameters: dict[str, Any] = {
            "connect_timeout": _CONNECTING,
            "keepalives_idle": _IDLE,
            "tcp_user_timeout": _GIVEN_UP * 1000,
            "application_name": "lockstep",
            **given,
            "client_encoding": "UTF8",
            "options": f"{given.get('options', '')} -c search_path={self.schema}".strip(),
        }
        self.shown = f"of {project} in {_shown(given)}"

    def without_secrets(self, text: str) -> str:
        """The text with a password replaced."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


def of_home(home: str) -> Address:
    """The address of the ledger whose companions are in the folder ``home``, by the environment.

    Raises LedgerError if the environment does not say one that can be.
    """
    return Address(os.environ[URL], _project(home))


def shown() -> str:
    """The URL of the environment as a message may have it. Raises LedgerError if it is none."""
    return _shown(_parsed(os.environ[URL]))


def _parsed(url: str) -> dict[str, Any]:
    # A password with a bare @ or / in it would be taken for a host, and be shown with it.
    rest = url.partition("://")[2]
    authority = re.split(r"[/?]", rest, maxsplit=1)[0]
    if re.match(r"postgres(ql)?://", url) and rest.count("@") == authority.count("@") <= 1:
        try:
            given = dict(psycopg.conninfo.conninfo_to_dict(url))
            if re.fullmatch(r"[\d,]*", str(given.get("port") or "")):
                return given
        except psycopg.Error:  # its text may have a part of the password
            pass
    raise LedgerError(f"{URL} is no URL of a PostgreSQL database", valid=_FORM, remedy=f"put it right, or unset {URL}")


def _shown(given: Mapping[str, Any]) -> str:
    host, port = str(given.get("host") or given.get("service") or "localhost"), given.get("port")
    user = f"{given['user']}@" if given.get("user") else ""
    return f"postgresql://{user}{host}{f':{port}' if port else ''}/{given.get('dbname', '')}"


def _project(home: str) -> str:
    """The name of the project, which is the same on every machine: the given one, else that of its repository."""
    given = os.environ.get(PROJECT, "")
    if given:
        if not given.isprintable() or given != given.strip() or len(given) > _LONGEST_PROJECT:
            valid = f"a name of at most {_LONGEST_PROJECT} printable characters, the same on every machine"
            raise LedgerError(f"{PROJECT} is {given!r:.80}", valid=valid)
        return given
    folder = paths.project_root(os.path.dirname(os.path.abspath(home)))
    found = named_by(_git(folder, "config", "--get", "remote.origin.url"))
    if not found:
        raise LedgerError(
            f"{URL} is set, and nothing names the project of {folder}: it is no clone of a repository with a URL",
            remedy=f"set {PROJECT} to a name, the same on every machine that works on the project",
        )
    below = _git(folder, "rev-parse", "--show-prefix").strip("/")
    return f"{found}//{below}" if below else found


def named_by(remote: str) -> str:
    """The host and the path of a remote's URL, such as github.com/acme/shop; empty for a path of this machine."""
    match = _REMOTE.fullmatch(remote.strip())
    is_path = remote.startswith((".", "/", "~", "file:")) or ("://" not in remote and ":" not in remote)
    if match is None or is_path:
        return ""
    path = match[2].strip("/").removesuffix(".git").strip("/")
    name = f"{match[1].lower()}/{path}"
    return name if path and name.isprintable() and len(name) <= _LONGEST_PROJECT else ""


def _git(folder: str, *words: str) -> str:
    try:
        return (Git(folder).output(*words) or b"").decode("utf-8", "replace").strip()
    except GitProblem:
        return ""

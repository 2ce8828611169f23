"""Who may see the pages: links that work once, each for one role, and the sessions of those who used them.

All pages are below a path that nobody can guess, and the cookie is for that path alone: a browser sends a cookie to
every port of a machine, so that a server which an agent runs beside this one would be sent it too.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterable

from skills.lib.agent.configuration.configured_keys import ROLES
from skills.lib.errors import UsageError

# How many sessions there are at a time; the oldest one ends for a new one.
SESSIONS = 1_000
# Who may do more than look, answer and start.
OPERATORS = ("DEVELOPER", "ADMIN")


class Session:
    """One browser that came by a link: its role, what its forms carry, and the name that its person last gave."""

    def __init__(self, role: str, name: str = "") -> None:
        self.role = role
        self.name = name
        self.form_token = secrets.token_urlsafe(24)

    @property
    def is_operator(self) -> bool:
        """True if this person may pause, abandon and cancel runs."""
        return self.role in OPERATORS


class Access:
    """The links and the sessions of one server; any number of threads may use it."""

    def __init__(self, name: str = "") -> None:
        self.base = f"/{secrets.token_urlsafe(9)}"
        self._name = name
        self._lock = threading.Lock()
        self._links: dict[str, str] = {}
        self._sessions: dict[str, Session] = {}

    def link(self, role: str) -> str:
        """The path of a new link for a role. Raises UsageError for an unknown one."""
        if role not in ROLES:
            raise UsageError(f"there is no role {role!r:.40}", valid=", ".join(ROLES))
        token = secrets.token_urlsafe(24)
        with self._lock:
            self._links[token] = role
        return f"{self.base}/enter/{token}"

    def enter(self, token: str) -> tuple[str, Session] | None:
        """The key of a new session, and the session; None for a link that was used, or never was one."""
        with self._lock:
            role = self._links.pop(token, None)
            if role is None:
                return None
            while len(self._sessions) >= SESSIONS:
                self._sessions.pop(next(iter(self._sessions)))
            key, session = secrets.token_urlsafe(24), Session(role, self._name)
            self._sessions[key] = session
        return key, session

    def session(self, keys: Iterable[str]) -> Session | None:
        """The first session that one of these keys is of; None if there is none."""
        with self._lock:
            return next((self._sessions[key] for key in keys if key in self._sessions), None)

    def leave(self, keys: Iterable[str]) -> None:
        """End the sessions of these keys."""
        with self._lock:
            for key in keys:
                self._sessions.pop(key, None)

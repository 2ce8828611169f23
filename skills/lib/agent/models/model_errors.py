"""Why a model gave no answer: what a provider's library raised, sorted and put in plain words.

The libraries of the providers are known here by the names of their exceptions alone: nothing of them is imported.
"""

from __future__ import annotations

import email.utils
import os
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from skills.lib.errors import EnvironmentProblem
from skills.lib.model.values import is_secret
from skills.lib.record import Record

# Of what a provider says, a message keeps so many characters.
_SAID = 300
# A shorter value of a variable that is named like a secret is no secret: it would stand in many a word.
_SHORTEST = 8


class Kind(Record):
    """A kind of failure: what it means, what a person may try, and whether the model is asked again."""

    words: str
    remedy: str
    again: bool = False


KINDS = {
    "rate-limit": Kind("it limits how often it may be asked", "try again later, or use another model", True),
    "quota": Kind("the account has no credit left", "add credit with the provider, or use another model"),
    "overloaded": Kind("it is overloaded", "try again later, or use another model", True),
    "server": Kind("it has a problem of its own", "try again later", True),
    "timeout": Kind("it took too long", "try again, or allow more time for an answer", True),
    "connection": Kind("it cannot be reached", "check the network and the base URL", True),
    "cut-off": Kind("its answer broke off", "try again; if it stays so, check the base URL, and any proxy", True),
    "authentication": Kind("it does not accept the key", "set {key} to a valid key"),
    "permission": Kind("the key may not use this model", "ask for access to it, or use another model"),
    "not-found": Kind("it does not know the model or the address", "check the name of the model, and the base URL"),
    "too-long": Kind("the conversation is longer than it can read", "use a model that reads more, or a smaller budget"),
    "refused-request": Kind("it refused the request", "see what it says; another model may do"),
    "unreadable": Kind(
        "what it sent is no answer of its protocol", "check the base URL, and the provider in provider:name"
    ),
    "cancelled": Kind("the session was cancelled", "run it again: it goes on where it is"),
}

# What HTTP says, and what a provider writes into an answer that has begun (and so has status 200).
_STATUSES = {
    401: "authentication",
    402: "quota",
    403: "permission",
    404: "not-found",
    408: "timeout",
    409: "server",
    413: "too-long",
    425: "server",
    429: "rate-limit",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}
_TYPES = {
    "api_error": "server",
    "authentication_error": "authentication",
    "billing_error": "quota",
    "insufficient_quota": "quota",
    "invalid_request_error": "refused-request",
    "not_found_error": "not-found",
    "overloaded_error": "overloaded",
    "permission_error": "permission",
    "rate_limit_error": "rate-limit",
    "rate_limit_exceeded": "rate-limit",
    "request_too_large": "too-long",
    "server_error": "server",
    "timeout_error": "timeout",
}
_WORD = re.compile(r"\b\w+(?:_error|_exceeded|_quota)\b")
# By the name of a class of the exception, or of one that led to it; the first that is found counts.
_CLASSES = {
    "ContextOverflowError": "too-long",
    "JSONDecodeError": "cut-off",
    "UnicodeDecodeError": "cut-off",
    "RemoteProtocolError": "cut-off",
    "ReadError": "cut-off",
    "DecodingError": "cut-off",
    "TimeoutException": "timeout",
    "TimeoutError": "timeout",
    "APITimeoutError": "timeout",
    "TransportError": "connection",
    "APIConnectionError": "connection",
    "ConnectionError": "connection",
    "OSError": "connection",
    "ValidationError": "cut-off",
    "APIResponseValidationError": "cut-off",
}


class ModelError(EnvironmentProblem):
    """A model gave no answer: in plain words why, and what a person may try. No key stands in it.

    ``kind`` is a word of KINDS, ``status`` the HTTP status or 0, ``tries`` how often the model was asked.
    """

    def __init__(self, what: str, *, remedy: str = "", kind: str = "server", status: int = 0, tries: int = 1) -> None:
        super().__init__(what, remedy=remedy)
        self.kind = kind
        self.status = status
        self.tries = tries

    @property
    def reason(self) -> str:
        """Why, and what to try, as sentences."""
        return f"{self.what.rstrip('.')}. To go on: {self.remedy}." if self.remedy else self.what


class NoAnswer(Exception):
    """What we ourselves see to be no answer: a kind, and in words what it is."""

    def __init__(self, kind: str, words: str = "") -> None:
        super().__init__(words)
        self.kind = kind


class Failure(Record):
    """What one try came to, if it was no answer: ``said`` is the provider's word, ``detail`` is not."""

    kind: str
    status: int = 0
    said: str = ""
    detail: str = ""
    retry_after: float | None = None
    again: bool = False

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """The failure that an exception of a provider's library, or of LangChain, stands for."""
        if isinstance(error, NoAnswer):
            return cls(error.kind, detail=str(error), again=KINDS[error.kind].again)
        chain = list(_chain(error))
        names = {base.__name__ for one in chain for base in type(one).__mro__}
        response = next((found for one in chain if (found := getattr(one, "response", None)) is not None), None)
        status = next((found for one in chain if isinstance(found := getattr(one, "status_code", None), int)), 0)
        body = next((found for one in chain if (found := getattr(one, "body", None)) is not None), None)
        types = _of_body(body, "code", "type") or _WORD.findall(str(chain[0]))
        kind = _kind(status, types, names)
        headers = getattr(response, "headers", None) or {}
        again = KINDS[kind].again and headers.get("x-should-retry") != "false"
        said = _said(body) or _said(chain[0].args[0] if chain[0].args else None)
        detail = str(chain[-1]) if kind == "connection" else ""
        return cls(kind, 0 if status == 200 else status, said, detail, _retry_after(headers), again)

    def error(self, model: str, key: str, tries: int, seconds: float, secrets: tuple[str, ...]) -> ModelError:
        """The error that a person reads; ``key`` is the variable that holds the key."""
        kind = KINDS[self.kind]
        status = f" (HTTP {self.status})" if self.status else ""
        detail = f" ({masked(self.detail, secrets)})" if self.detail else ""
        asked = f"; it was asked {tries} times in {seconds:.0f} s" if tries > 1 else ""
        waits = f", and says to come back in {self.retry_after:.0f} s" if self.retry_after else ""
        said = f". It said: {masked(self.said, secrets)}" if self.said else ""
        return ModelError(
            f"{model} gave no answer: {kind.words}{status}{detail}{waits}{asked}{said}",
            remedy=kind.remedy.format(key=key),
            kind=self.kind,
            status=self.status,
            tries=tries,
        )


def masked(text: str, secrets: tuple[str, ...] = ()) -> str:
    """``text`` on one line, not too long, without ``secrets``, those of the environment, and what looks like a key."""
    named = [value for name, value in os.environ.items() if is_secret(name) and len(value) >= _SHORTEST]
    for secret in sorted([*secrets, *named], key=len, reverse=True):
        text = text.replace(secret, "***")
    text = re.sub(r"\b(sk|pk|rk|lsv2)[-_][\w-]{6,}|(?i:\bbearer\s+[^\s'\",}]+)", "***", text)
    text = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    return text if len(text) <= _SAID else f"{text[:_SAID]}…"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and those that led to it."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or one.__context__


def _kind(status: int, types: list[str], names: set[str]) -> str:
    if "ContextOverflowError" in names:
        return "too-long"
    said = next((_TYPES[word] for word in types if word in _TYPES), "")
    if said == "quota" or (said and status in (0, 200)):
        return said
    if status >= 400:
        return _STATUSES.get(status, "server" if status >= 500 else "refused-request")
    return next((kind for name, kind in _CLASSES.items() if name in names), "unreadable")


def _of_body(body: object, *keys: str) -> list[str]:
    """The texts of an error's body under ``keys``, of the error in it first."""
    inner = body.get("error") if isinstance(body, Mapping) else None
    levels = [level for level in (inner, body) if isinstance(level, Mapping)]
    return [str(level[key]) for key in keys for level in levels if isinstance(level.get(key), str | int)]


def _said(body: object) -> str:
    """The words of the provider in the body of an error; of a page, its text."""
    words = _of_body(body, "message", "detail", "error")
    if words:
        return words[0]
    return re.sub(r"<[^>]*>", " ", body) if isinstance(body, str) and body.lstrip().startswith("<") else ""


def _retry_after(headers: Mapping[str, Any]) -> float | None:
    """The seconds that the provider asks to wait, as a number or as a date; None if it says nothing readable."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        return seconds if seconds > 0 else None  # also for nan
    try:
        parsed = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
        seconds = parsed.timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return None
    return seconds if seconds > 0 else None

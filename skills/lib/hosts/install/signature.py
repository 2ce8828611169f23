"""Signatures of the manifests in projects, by a key in the user's data folder: which of them this machine wrote.

A cloned project may bring a manifest along. Whoever made it does not have the key.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from skills.lib import paths, status_files, user_key
from skills.lib.errors import EnvironmentProblem

_LENGTH = 64


def of(data: Mapping[str, Any]) -> str:
    """The signature of JSON data; the key is made if there is none. EnvironmentProblem if it cannot be written."""
    try:
        key = _key() or _new_key()
    except OSError as error:
        raise EnvironmentProblem(
            f"{_path()} cannot be written: {error.strerror or error}",
            remedy="make room, or set LOCKSTEP_DATA to another folder, here and where the agent is started",
        ) from error
    return _signed(key, data)


def is_valid(given: object, data: Mapping[str, Any]) -> bool:
    """True if the signature of JSON data was made with this machine's key."""
    key = _key()
    return bool(key) and isinstance(given, str) and hmac.compare_digest(given.encode(), _signed(key, data).encode())


def forget() -> None:
    """Remove the key; the manifests that it signed are then another machine's."""
    with suppress(OSError):
        os.unlink(_path())


def _signed(key: bytes, data: Mapping[str, Any]) -> str:
    return hmac.new(key, json.dumps(data, sort_keys=True).encode(), hashlib.sha256).hexdigest()


def _key() -> bytes:
    """The key; empty if there is none."""
    return status_files.read_key(_path(), _LENGTH).encode()


def _new_key() -> bytes:
    """Make the key, and return the one that is there then."""
    user_key.make_at(_path(), _LENGTH)
    return _key()


def _path() -> str:
    return os.path.join(paths.data(), "key")

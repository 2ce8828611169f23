"""Calls whose results are still to come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skills.lib.layers.replaying.events import Call, Terms

# A host that forgets results would otherwise fill the memory with calls.
_MOST = 10_000


class Pending:
    """The calls of one session that have no result yet, by their ids."""

    def __init__(self, host: str, terms: Terms) -> None:
        self._host, self._terms = host, terms
        self._calls: dict[str, tuple[int, str, Mapping[str, Any]]] = {}

    def begin(self, key: object, number: int, tool: object, arguments: object) -> None:
        """Note a call by its id."""
        given = arguments if isinstance(arguments, dict) else {"input": arguments}
        if isinstance(key, str) and isinstance(tool, str) and len(self._calls) < _MOST:
            self._calls[key] = (number, tool, given)

    def end(self, key: object, number: int, failed: bool, given: Any) -> Call | None:
        """The call of an id with its result; None if there is none that waits."""
        found = self._calls.pop(key, None) if isinstance(key, str) else None
        return self.call(number, found[1], found[2], failed, given) if found else None

    def drop(self, key: object) -> None:
        """Forget a call that another record tells of."""
        if isinstance(key, str):
            self._calls.pop(key, None)

    def left(self) -> Iterator[Call]:
        """The calls that never got a result: nothing is known of what they came to."""
        for number, tool, arguments in self._calls.values():
            yield self.call(number, tool, arguments, False, None)
        self._calls.clear()

    def call(self, number: int, tool: str, arguments: Mapping[str, Any], failed: bool, given: Any) -> Call:
        """A call with what the host gives of its result."""
        terms = self._terms
        kinds = terms.kinds(self._host, tool, arguments)
        command = terms.command(arguments) if "shell" in kinds else ""
        ok, code, output = (
            terms.shell(self._host, failed, given) if "shell" in kinds else (not failed, None, terms.text(given))
        )
        denied = not (ok and code in (0, None)) and terms.is_denied(output)
        return Call(number, tool, kinds, arguments, command, terms.paths(tool, arguments), ok, code, output, denied)

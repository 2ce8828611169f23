"""What a guard would have answered in a recorded session, and what it would know after it."""

from __future__ import annotations

from skills.lib.compact_json import loads
from skills.lib.errors import UsageError, did_you_mean, nearest
from skills.lib.guard import whole_calls
from skills.lib.guard.decisions import Allow, Deny, Look, strictest
from skills.lib.guard.guard import Guard
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from skills.lib.guard.policy import Policy

FIELDS = ("tool", "arguments", "ok", "result", "session", "call", "said")


class Recorded(Record):
    """A call of a recorded session, with its result; without a tool it is what the user ``said``."""

    tool: str
    arguments: Mapping[str, Any]
    ok: bool
    result: Any
    session: str = ""
    call: str = ""
    said: str = ""


class Answered(Record):
    """What the guard answers to a recorded call; ``number`` is its line. ``ok`` is the record's."""

    number: int
    call: Recorded
    answer: Allow | Deny | Look

    @property
    def word(self) -> str:
        """allow, look or deny."""
        return type(self.answer).__name__.lower()


def read_records(lines: Iterable[str], file: str) -> list[tuple[int, Recorded]]:
    """The records of a JSONL text with the number of each line; blank lines are left out.

    Raises UsageError with file and line for a line that is no record.
    """
    return [(number, _record(line, f"{file}:{number}")) for number, line in enumerate(lines, 1) if line.strip()]


def _record(line: str, where: str) -> Recorded:
    try:
        data = loads(line, strict=True)
    except ValueError as error:
        raise UsageError(f"{where}: this is no JSON: {error}", remedy=_EXAMPLE) from None
    said = isinstance(data, dict) and isinstance(data.get("said"), str)
    unknown = [name for name in data if name not in FIELDS] if isinstance(data, dict) else []
    for name in unknown:
        if (near := nearest(name, FIELDS)) or said or "tool" in data:
            what = f"{where}: a record has no {name!r:.60}{did_you_mean(near)}"
            raise UsageError(what, valid=", ".join(FIELDS))
    if not isinstance(data, dict) or not (said or isinstance(data.get("tool"), str)):
        raise UsageError(f"{where}: a record is an object with a tool", remedy=_EXAMPLE)
    arguments, ok = data.get("arguments", {}), data.get("ok", True)
    if not isinstance(arguments, dict) or not isinstance(ok, bool):
        raise UsageError(f"{where}: arguments is an object, and ok is true or false", remedy=_EXAMPLE)
    texts = [data.get(name, "") for name in ("session", "call", "said")]
    if not all(isinstance(text, str) for text in texts):
        raise UsageError(f"{where}: session, call and said are texts", remedy=_EXAMPLE)
    return Recorded(data.get("tool", ""), arguments, ok, data.get("result"), *texts)


_EXAMPLE = '{"tool": "shell", "arguments": {"command": "make test"}, "ok": true, "result": {"exit": 0, "output": ""}}'


class Replay:
    """Follows recorded sessions by one or more policies; each session begins with nothing known."""

    def __init__(self, policies: Sequence[Policy], folder: str) -> None:
        self.policies = policies
        self.folder = folder
        self._session = ""
        self.guards = self._begun()

    def _begun(self) -> list[Guard]:
        return [Guard([policy], folder=self.folder) for policy in self.policies]

    def follow(self, records: Iterable[tuple[int, Recorded]]) -> Iterator[Answered]:
        """The answer to each call, from what the results before it showed; a call that would be denied is learned too.

        The answers are those of mode ``deny``, or of ``look`` where the policy has it, also if the policy only reports.
        """
        for number, record in records:
            if record.session != self._session:
                self._session, self.guards = record.session, self._begun()
            if not record.tool:
                for guard in self.guards:
                    guard.heard(record.said)
                continue
            answer = strictest([self._answer(guard, record) for guard in self.guards])
            if isinstance(answer, Allow):
                for guard in self.guards:
                    whole_calls.admit(guard, record.tool, record.arguments, record.call, live=False)
            yield Answered(number, record, answer)
            for guard in self.guards:
                whole_calls.learn(
                    guard, record.tool, record.arguments, record.ok, record.result, record.call, live=False
                )

    def _answer(self, guard: Guard, record: Recorded) -> Allow | Deny | Look:
        answer = whole_calls.answer(guard, record.tool, record.arguments, live=False)
        return answer.reported if isinstance(answer, Allow) and answer.reported is not None else answer

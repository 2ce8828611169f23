"""Records whose fields are of other kinds than a host writes."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from skills.lib.commands.queries.transcripts import HostTerms
from skills.lib.errors import UsageError
from skills.lib.layers.replaying import counting
from skills.lib.layers.replaying.reading import Transcript
from skills.lib.layers.replaying.tasks import Task

pytestmark = pytest.mark.req("L-07")
RECORDED = sorted(path for path in (Path(__file__).parent / "recorded").iterdir() if "denied" not in path.name)
ODD: list[Any] = [None, 1, "/", [[{}]], {"type": 1}]


def changed(value: Any, name: str, odd: Any) -> Any:
    """A value in which each field of a name has another value."""
    if isinstance(value, dict):
        return {key: odd if key == name else changed(inner, name, odd) for key, inner in value.items()}
    return [changed(inner, name, odd) for inner in value] if isinstance(value, list) else value


def names(value: Any) -> set[str]:
    """The names of all fields in a value."""
    if isinstance(value, dict):
        return set(value).union(*map(names, value.values()))
    return set().union(*map(names, value)) if isinstance(value, list) else set()


@pytest.mark.slow
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
def test_fields_of_other_kinds_do_no_harm(tmp_path: Path, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    records = [json.loads(text)] if path.suffix == ".json" else [json.loads(line) for line in text.splitlines()]
    file = tmp_path / path.name
    for name in sorted(set().union(*map(names, records))):
        for odd in ODD:
            file.write_text("".join(json.dumps(changed(one, name, odd)) + "\n" for one in records), encoding="utf-8")
            with contextlib.suppress(UsageError):
                counting.count(Transcript(str(file), HostTerms()).events(), Task(files=("src/**",)), HostTerms())

"""What is counted in recorded sessions: pairs of sessions with planted faults, in the forms of all hosts.

Each file in ``sessions/`` has a session without and one with a layered skill, and beside each what is to be counted in
it; a measure that is not named is 0. What looks like a fault and is none stands between the faults.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from skills.lib.commands.queries.transcripts import HostTerms
from skills.lib.layers.replaying import comparing
from skills.lib.layers.replaying.counting import MEASURES
from tests.layers.replaying.rendering import FORMS

pytestmark = pytest.mark.req("L-07")
HERE = Path(__file__).parent
PAIRS = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(HERE.glob("sessions/*.yaml"))}
SIDES = ("baseline", "layered")
NOTHING = dict.fromkeys(MEASURES, 0)


def tells(form: str, pair: dict[str, Any]) -> bool:
    """True if a form tells of all that happens in a pair of sessions."""
    silent = FORMS[form][2]
    words = {word for side in SIDES for event in pair[side]["events"] for word in _words(event)}
    return silent.isdisjoint(words)


def _words(event: dict[str, Any]) -> set[str]:
    [(kind, given)] = event.items()
    return {kind, *(given if isinstance(given, dict) else ())}


def compared(tmp_path: Path, form: str, pair: dict[str, Any]) -> comparing.Pair:
    """A pair of sessions in a form, compared."""
    render, ending, _ = FORMS[form]
    for side in SIDES:
        (tmp_path / side).mkdir(parents=True)
        (tmp_path / side / f"one{ending}").write_text(render(pair[side]["events"]), encoding="utf-8")
    if "task" in pair:
        (tmp_path / "baseline" / "one.task.json").write_text(json.dumps(pair["task"]), encoding="utf-8")
    [found] = comparing.compare(str(tmp_path / "baseline"), str(tmp_path / "layered"), "", HostTerms()).pairs
    return found


def test_there_are_sessions_enough() -> None:
    assert 2 * len(PAIRS) >= 44
    for measure in MEASURES:
        assert sum(pair["baseline"].get("counts", {}).get(measure, 0) for pair in PAIRS.values()) >= 5, measure


@pytest.mark.parametrize("name", PAIRS)
def test_each_fault_is_counted_and_nothing_else(tmp_path: Path, name: str) -> None:
    pair = PAIRS[name]
    forms = [form for form in FORMS if tells(form, pair)]
    assert len(forms) >= len(FORMS) - 1
    for form in forms:
        found = compared(tmp_path / form, form, pair)
        for side in SIDES:
            count = getattr(found, side).count
            counted = {measure: count.of(measure) for measure in MEASURES}
            shown = [f"{one.measure} {one.number} {one.what}" for one in count.findings]
            assert counted == {**NOTHING, **pair[side].get("counts", {})}, f"{form}, {side}: {shown}"
            assert count.denied == pair[side].get("denied", 0), f"{form}, {side}"
        assert found.worse() == []

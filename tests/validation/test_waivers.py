"""A waiver is for one finding: what else the rule finds at the step, and what stops a run, is reported all the same."""

from __future__ import annotations

import json

import jsonschema
import pytest

from skills.lib.validation import output
from skills.lib.validation.rule import Finding
from skills.lib.validation.rules import RULES
from skills.lib.validation.validator import validate
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.requirements import Field
from skills.lib.workflow.types import Dispatch, Gate, Outcome
from tests.validation.test_output import SARIF

WAYS: dict[Outcome, str | None] = {Outcome.OK: "look", Outcome.SKIP: "report"}
LATER = "the text says what to do without it"


def _survey(allow: dict[str, str]) -> Workflow:
    """A report that reads two values which a path does not write."""
    return Workflow(
        "survey",
        StepDef("scope", "Scope", next=WAYS, when=dict.fromkeys(WAYS, "it is so")),
        StepDef("look", "Look", next={Outcome.OK: "report"}, requires=[Field("found"), Field("left")]),
        StepDef("report", "Report", next={Outcome.OK: None}, needs=["look.found", "look.left"], allow=allow),
    )


def _told(workflow: Workflow, waived: bool = False) -> list[tuple[str, str, str]]:
    return [(finding.rule, finding.value, finding.waived) for finding in validate(workflow, waived=waived)]


@pytest.mark.req("W-02")
def test_a_waiver_hides_the_value_that_it_names_and_no_other() -> None:
    allow = {"read-on-some-paths:look.found": LATER}
    assert _told(_survey(allow)) == [("read-on-some-paths", "look.left", "")]
    assert _told(_survey(allow), waived=True) == [
        ("read-on-some-paths", "look.found", LATER),
        ("read-on-some-paths", "look.left", ""),
    ]


def test_a_waiver_of_a_whole_rule_is_reported_with_the_keys_to_write() -> None:
    found = validate(_survey({"read-on-some-paths": LATER}))
    assert [finding.rule for finding in found] == ["read-on-some-paths", "read-on-some-paths", "invalid-allow"]
    assert found[2].do == 'write "read-on-some-paths:look.found", "read-on-some-paths:look.left"'


def test_a_waiver_of_a_whole_rule_that_finds_nothing_is_to_be_deleted() -> None:
    (finding,) = validate(Workflow("w", StepDef("a", "A", next={Outcome.OK: None}, allow={"unread-value": LATER})))
    assert finding.rule == "invalid-allow"
    assert finding.do == "delete it: it hides nothing; else write unread-value: and the name that is meant"


def test_a_value_is_not_named_if_a_rule_finds_one_thing_at_a_step() -> None:
    found = validate(Workflow("w", StepDef("a", next={Outcome.OK: None}, allow={"missing-title:a": LATER})))
    assert [(finding.rule, finding.do) for finding in found if finding.severity == "error"] == [
        ("invalid-allow", "write missing-title")
    ]


@pytest.mark.req("W-02")
@pytest.mark.parametrize("key", ["unknown-target", "unknown-target:ok"])
def test_what_stops_a_run_cannot_be_waived(key: str) -> None:
    found = validate(Workflow("w", StepDef("a", "A", next={Outcome.OK: "zz"}, allow={key: LATER}), start="a"))
    assert {finding.rule for finding in found} >= {"unknown-target", "invalid-allow"}
    (told,) = [finding for finding in found if finding.rule == "invalid-allow"]
    assert told.what == "a allows unknown-target, and what it finds stops a run or opens a gate"


def test_a_gate_without_a_way_back_cannot_be_waived() -> None:
    review = StepDef(
        "review", "Review", next={Outcome.OK: "gate"}, handler=Dispatch("quality-reviewer", task="t", checkpoint="c")
    )
    gate = StepDef("gate", "Gate", next={Outcome.OK: None}, handler=Gate("c"), allow={"fail-without-return": LATER})
    found = {finding.rule for finding in validate(Workflow("w", review, gate))}
    assert found >= {"fail-without-return", "invalid-allow"}


def test_what_is_about_no_single_step_cannot_be_waived_by_one() -> None:
    workflow = Workflow("a b", StepDef("a", "A", next={Outcome.OK: None}, allow={"malformed-name": LATER}))
    assert [finding.rule for finding in validate(workflow)] == ["malformed-name", "invalid-allow"]


def test_rules_that_cannot_be_waived_are_errors() -> None:
    assert {rule.severity for rule in RULES.values() if rule.stops} == {"error"}


def test_json_and_sarif_list_what_was_waived_with_the_reason() -> None:
    every = validate(_survey({"read-on-some-paths:look.found": LATER}), waived=True)
    waived, open_ = [one for one in every if one.waived], [one for one in every if not one.waived]
    data = json.loads(output.as_json(open_, None, waived))
    assert (data["errors"], data["warnings"], data["waived"]) == (0, 1, 1)
    assert [(one["rule"], one["value"], one["waived"]) for one in data["waivers"]] == [
        ("read-on-some-paths", "look.found", LATER)
    ]
    assert [Finding(**one) for one in (*data["waivers"], *data["findings"])] == every
    log = json.loads(output.as_sarif(every))
    jsonschema.validate(log, SARIF)
    assert [result.get("suppressions") for result in log["runs"][0]["results"]] == [
        [{"kind": "inSource", "justification": LATER}],
        None,
    ]

"""Findings as text, JSON, SARIF and annotations."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest
from syrupy.assertion import SnapshotAssertion

from skills.lib.validation import output
from skills.lib.validation.rule import Finding
from skills.lib.validation.rules import RULES
from skills.lib.validation.validator import validate
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.types import Outcome

FINDINGS = [
    Finding("dead-end", "error", "w:a", "/p/skills/w.py", 12, "a has no route out", "a run stops", "add one"),
    Finding("missing-title", "warning", "w:b", "", 0, "b has no title", "lists show the id", "give it one"),
    Finding("unknown-target", "error", "w:c,d:ok", "/p/a b,c:%.py", 3, "100%\r\nlost: a, b", "x", "y"),
]

# What code scanning services ask of a log, of the parts that are written here (SARIF 2.1.0, sections 3.13 to 3.52).
SARIF = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "maxItems": 1,
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name", "version", "rules"],
                                "properties": {
                                    "rules": {
                                        "type": "array",
                                        "items": {
                                            "type": "object",
                                            "additionalProperties": False,
                                            "required": ["id", "shortDescription", "fullDescription", "help"],
                                            "properties": {
                                                "id": {"type": "string", "pattern": "^[a-z]+(-[a-z]+)*$"},
                                                "shortDescription": {"$ref": "#/$defs/message"},
                                                "fullDescription": {"$ref": "#/$defs/message"},
                                                "help": {"$ref": "#/$defs/message"},
                                                "defaultConfiguration": {
                                                    "properties": {"level": {"$ref": "#/$defs/level"}}
                                                },
                                            },
                                        },
                                    }
                                },
                            }
                        },
                    },
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
                },
            },
        },
    },
    "$defs": {
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": {
            "type": "object",
            "required": ["text"],
            "additionalProperties": False,
            "properties": {"text": {"type": "string", "minLength": 1}, "markdown": {"type": "string", "minLength": 1}},
        },
        "result": {
            "type": "object",
            "additionalProperties": False,
            "required": ["ruleId", "ruleIndex", "level", "message", "locations"],
            "properties": {
                "ruleId": {"type": "string"},
                "ruleIndex": {"type": "integer", "minimum": 0},
                "level": {"$ref": "#/$defs/level"},
                "message": {"$ref": "#/$defs/message"},
                "suppressions": {
                    "type": "array",
                    "items": {
                        "required": ["kind"],
                        "properties": {
                            "kind": {"enum": ["inSource", "external"]},
                            "justification": {"type": "string", "minLength": 1},
                        },
                    },
                },
                "locations": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {
                            "physicalLocation": {
                                "type": "object",
                                "required": ["artifactLocation"],
                                "properties": {
                                    "artifactLocation": {"required": ["uri"]},
                                    "region": {"properties": {"startLine": {"type": "integer", "minimum": 1}}},
                                },
                            },
                            "logicalLocations": {"type": "array"},
                        },
                    },
                },
            },
        },
    },
}


@pytest.mark.req("W-21")
def test_text_names_place_rule_what_why_and_what_to_do(snapshot: SnapshotAssertion) -> None:
    assert "\n".join(output.lines(FINDINGS, "/p")) == snapshot


@pytest.mark.req("W-21")
def test_json_round_trips() -> None:
    data = json.loads(output.as_json(FINDINGS))
    assert (data["version"], data["errors"], data["warnings"]) == (1, 2, 1)
    assert [Finding(**entry) for entry in data["findings"]] == FINDINGS


def test_json_names_files_from_the_root() -> None:
    data = json.loads(output.as_json(FINDINGS, "/p"))
    assert [entry["file"] for entry in data["findings"]] == ["skills/w.py", "", "a b,c:%.py"]


@pytest.mark.req("W-21")
def test_sarif_is_valid_and_describes_every_rule() -> None:
    log = json.loads(output.as_sarif(FINDINGS, "/p", "1.2.3"))
    jsonschema.validate(log, SARIF)
    (run,) = log["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == list(RULES)
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    first, second, third = run["results"]
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "skills/w.py"},
        "region": {"startLine": 12},
    }
    assert "physicalLocation" not in second["locations"][0]
    assert third["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b%2Cc%3A%25.py"


def test_sarif_of_no_findings_is_valid() -> None:
    log = json.loads(output.as_sarif([]))
    jsonschema.validate(log, SARIF)
    assert log["runs"][0]["results"] == []


@pytest.mark.req("W-21")
def test_annotations_escape_what_ends_a_property_or_a_line() -> None:
    assert list(output.github(FINDINGS, "/p")) == [
        "::error file=skills/w.py,line=12,title=dead-end w%3Aa::a has no route out. a run stops. add one.",
        "::warning title=missing-title w%3Ab::b has no title. lists show the id. give it one.",
        "::error file=a b%2Cc%3A%25.py,line=3,title=unknown-target w%3Ac%2Cd%3Aok::100%25%0D%0Alost: a, b. x. y.",
    ]


def test_a_hostile_id_stays_on_its_line() -> None:
    hostile = Workflow("w", StepDef("a\n::error::\x1b[31m", "T", next={Outcome.OK: None}))
    findings = validate(hostile)
    assert [finding.rule for finding in findings] == ["malformed-id"]
    for text in (*output.lines(findings), *output.github(findings)):
        assert re.search(r"[\x00-\x1f]", text) is None or text.startswith("::error title")
    assert not any("\n" in text for text in (*output.lines(findings), *output.github(findings)))

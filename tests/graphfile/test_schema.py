"""The JSON Schema for editors admits and refuses the files that the reader admits and refuses."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from skills.lib import schema as checker
from skills.lib.graphfile import keys
from skills.lib.graphfile.compiling import GraphFile
from skills.lib.graphfile.reader import GraphFileError
from skills.lib.graphfile.schema import schema
from skills.lib.graphfile.writing import to_yaml
from tests.graphfile.test_writing import everything

SHIPPED = Path(__file__).resolve().parents[2] / "skills"


def cases(file: str) -> dict[str, str]:
    """The files of a text in which each stands below ``=== what it is``."""
    parts = re.split(r"^=== (.+)\n", Path(__file__).with_name(file).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


GOOD, BAD = cases("good_files.txt"), cases("bad_files.txt")


def violations(text: str) -> list[Any]:
    return list(checker.violations(schema(), yaml.safe_load(text)))


@pytest.mark.req("E-05")
@pytest.mark.parametrize("name", GOOD)
def test_a_good_file_is_good_for_both(name: str, compiled: Callable[..., GraphFile]) -> None:
    assert violations(GOOD[name]) == []
    assert compiled(GOOD[name]).workflow.name == "tea"


@pytest.mark.req("E-05")
@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_bad_for_both(name: str, compiled: Callable[..., GraphFile]) -> None:
    with pytest.raises(GraphFileError):
        compiled(BAD[name])
    assert violations(BAD[name])


def test_what_is_shipped_and_what_is_written_is_good() -> None:
    files = [file.read_text(encoding="utf-8") for file in SHIPPED.glob("*/workflow.yaml")]
    assert len(files) >= 2
    for text in (*files, to_yaml(everything())):
        assert violations(text) == []


def test_the_schema_is_a_schema_and_knows_every_key() -> None:
    assert checker.problems(schema()) == []
    defined = schema()["$defs"]
    assert set(schema()["properties"]) == set(keys.WORKFLOW)
    assert set(defined["step"]["anyOf"][1]["properties"]) == set(keys.STEP)
    assert set(defined["field"]["properties"]) == set(keys.FIELD)

"""docs/gateway.md says what the gateway has."""

from __future__ import annotations

import re

import pytest

from skills.lib.gateway.gateway import project_file, shipped_file
from skills.lib.gateway.places import SHIPPED
from tests.fixtures.skill import ROOT
from tests.gateway.conftest import Setup, payloads

pytestmark = pytest.mark.req("P-07")

PAGE = (ROOT / "docs" / "gateway.md").read_text(encoding="utf-8")


def test_the_table_has_the_shipped_commands() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(.+?)` \| (.+) \|$", PAGE.partition("## Commands")[2], re.MULTILINE)
    expected = []
    for command in shipped_file().commands.values():
        shown = [
            f"[{name}{'...' if one.many else ''}]" if one.optional or one.default is not None else name
            for name, one in command.parameters.items()
        ]
        expected.append((command.name, " ".join(shown), command.about))
    assert rows[:8] == expected


def test_the_write_scripts_are_on_the_page() -> None:
    assert re.findall(r"^\| `scripts/(\w+\.py) ", PAGE, re.MULTILINE) == list(SHIPPED)


def test_the_example_of_a_file_is_valid(setup: Setup) -> None:
    [text] = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    file = project_file(str(setup.project), text.encode())
    assert list(file.commands) == ["test", "build"]
    assert file.runners[".py"].setting.limits.seconds == 120
    assert file.runners[".rb"].setting.limits.seconds == 60


def test_the_number_of_payloads_is_the_one_that_is_told() -> None:
    assert f"A test splices {len(payloads())} payloads" in PAGE

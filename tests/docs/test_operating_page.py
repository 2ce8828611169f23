"""The example of docs/operating.md is a file that is read, and each key of it is one that there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skills.lib.agent.configuration.lockstep_toml import Price, load

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "operating.md").read_text(encoding="utf-8")


@pytest.mark.req("A-08.3")
def test_the_example_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [example] = re.findall(r"^```toml\n(.*?)^```\n", PAGE, re.DOTALL | re.MULTILINE)
    (tmp_path / "lockstep.toml").write_text(example, encoding="utf-8")
    monkeypatch.setenv("LOCKSTEP_CONFIG", str(tmp_path))
    found = load(str(tmp_path))
    assert (found.model, found.settings.max_iterations, found.settings.timeout_per_iteration) == ("sonnet", 20, 120.0)
    assert found.visibility.sensitive_tools == {"DATABASE": "HIDDEN"}
    assert found.tool_types == {"shell(reportdb:*)": ("DATABASE",)}
    assert (found.budgets.usd_per_run, found.budgets.usd_per_day, found.budgets.starts_per_hour) == (2.0, 20.0, 30)
    assert found.prices == {"openai:our-own-model": Price(input=0.5, cached_input=0.05, output=2.0)}
    assert found.models == {"sonnet": "openai:gpt-5.6-terra", "custom": "openai:our-own-model"}

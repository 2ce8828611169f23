"""The pages about hosts and the MCP server say what the code, the pins and the tests say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from skills.lib.hosts.hook import tools
from skills.lib.hosts.install import hooks, locations
from skills.lib.hosts.install.locations import Locations
from skills.lib.hosts.known_hosts import HOSTS
from skills.lib.runtime import loading
from tests.hosts.mcp import test_conformance

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "hosts"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
MCP = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
CLIENTS = {
    "codex": "@openai/codex",
    "opencode": "opencode-ai",
    "qwen": "@qwen-code/qwen-code",
    "gemini": "@google/gemini-cli",
}
PINS = json.loads((ROOT / "tests" / "hosts" / "clients" / "package.json").read_text(encoding="utf-8"))["dependencies"]


def page(host: str) -> str:
    return (FOLDER / f"{host}.md").read_text(encoding="utf-8")


def section(text: str, title: str) -> str:
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(text: str) -> list[list[str]]:
    """The rows of the tables of a text, without heads."""
    found = [[cell.strip() for cell in line[1:-1].split("|")] for line in text.splitlines() if line[:2] == "| "]
    return [row for row in found if not set("".join(row)) <= set("-|")]


@pytest.mark.req("H-02")
@pytest.mark.parametrize("host", tools.HOSTS)
def test_a_page_has_the_host_s_tools_as_the_table_has_them(host: str) -> None:
    told = {
        row[0].strip("`"): tuple(re.findall(r"`([^`]+)`", row[1])) for row in rows(section(page(host), "Tool names"))
    }
    told.pop("a step's name", None)
    assert told == {name: hosts[host] for name, hosts in tools.TABLE.items()}


@pytest.mark.req("H-02")
@pytest.mark.parametrize("host", tools.HOSTS)
def test_the_denial_that_a_page_promises_is_the_one_that_is_given(host: str) -> None:
    script = ROOT / "skills" / "decision-critic" / "scripts" / "decision_critic.py"
    step = loading.workflow_of_script(str(script)).steps[1]
    shell = {"claude": "Bash", "codex": "Bash", "opencode": "bash"}.get(host, "run_shell_command")
    said = (
        f"is at the step '{step.title}', which allows: {tools.named(step.tools, host)}. {shell} is not among them here."
    )
    assert said in page(host)
    assert not tools.allows(step.tools, host, shell, {"command": "date"})


@pytest.mark.req("H-07")
@pytest.mark.parametrize("host", CLIENTS)
def test_a_page_names_the_version_that_the_tests_drive(host: str) -> None:
    driven = PINS[CLIENTS[host]]
    assert re.findall(r"^Seen in .* (\d+\.\d+\.\d+), driven by", page(host), re.MULTILINE) == [driven]
    assert f" {driven} |" in README


@pytest.mark.req("H-01")
@pytest.mark.parametrize("host", HOSTS)
def test_the_documented_places_are_those_that_are_used(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    table = rows(section(README, "Where things go"))
    at = next(number for number, row in enumerate(table) if row[0] == f"`{host}`")
    project = locations.locations(host, "project", str(tmp_path / "project"))
    user = locations.locations(host, "user", str(tmp_path / "project"))
    assert [row[1:] for row in table[at : at + 2]] == [
        cells(project, f"{tmp_path}/project/", "", host),
        cells(user, f"{tmp_path}/home/", "~/", host),
    ]


def cells(place: Locations, base: str, shown: str, host: str) -> list[str]:
    """What a row says of these places."""
    ending = "*.toml" if host == "codex" else "*.md"
    paths = (f"{place.skills}/", f"{place.roles}/{ending}" if place.roles else "", place.hooks)
    return [f"`{path.replace(base, shown)}`" if path else "" for path in paths]


@pytest.mark.req("H-02")
@pytest.mark.parametrize("host", ["codex", "claude", "qwen", "gemini"])
def test_a_page_counts_the_events_that_are_registered(host: str) -> None:
    number = {6: "six", 8: "eight", 9: "nine"}[len(hooks.EVENTS[host])]
    assert f"`/hooks`: {number} events call `run_hook.py`" in " ".join(page(host).split())


@pytest.mark.req("H-06")
def test_the_page_of_the_server_leaves_out_what_the_test_leaves_out() -> None:
    told = {row[0].strip("`"): row[1] for row in rows(section(MCP, "Conformance")) if len(row) == 2}
    assert test_conformance.LEFT_OUT.items() <= told.items()
    assert f"| {len(test_conformance.PASSED)}; {len(test_conformance.LEFT_OUT)} are left out |" in MCP
    assert f"| {len(test_conformance.BARE)}: initialize" in MCP
    assert f"| all {len(test_conformance.SKILLS)}: enumeration" in MCP
    pins = (ROOT / "tests" / "hosts" / "mcp" / "package.json").read_text(encoding="utf-8")
    for version in re.findall(r"conformance@([\w.-]+)", pins):
        assert version in section(MCP, "Conformance")


@pytest.mark.req("H-06")
def test_the_page_of_the_server_has_every_tool_with_its_arguments() -> None:
    from skills.lib.hosts.mcp.tools import GATEWAY_TOOLS, TOOLS

    told = {row[0].strip("`"): re.findall(r"`([^`]+)`", row[1]) for row in rows(section(MCP, "Tools")) if len(row) == 3}
    told.pop("tool")
    assert told == {name: list(tool.input_schema["properties"]) for name, tool in {**TOOLS, **GATEWAY_TOOLS}.items()}
